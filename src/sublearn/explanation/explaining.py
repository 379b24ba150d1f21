"""`explain`: what the features of single samples have to do with their predictions."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sublearn._base.cores import n_threads
from sublearn._base.estimator import SLMPredictor
from sublearn._base.frames import take_rows
from sublearn._base.parameters import PARAMETERS, whole
from sublearn.core.keys import key_below, keys_below
from sublearn.core.model.fitted import FittedModel
from sublearn.core.parallel import Workers
from sublearn.explanation.additive import credit_raw
from sublearn.explanation.answers import credit_answers
from sublearn.explanation.parts import Credits, Draw, Part, make_parts, members_of
from sublearn.explanation.record import Explanation
from sublearn.export.inequalities import names_of_features
from sublearn.kernels.layout import Array

BACKGROUND, MEMBERS = 1 << 32, 1 << 34  # numbers of keys, see `core.keys`
MOST_DRAWN = 100  # samples of a background that is drawn from X
RAW, PREDICTION = OUTPUTS = ("raw", "prediction")


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    output: str | None = None,
    n_permutations: int = 32,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Explanation:
    """Shapley values of single predictions: what each feature of each sample adds to the mean prediction.

    A prediction is compared with those for the samples of a background. In the game behind the values (Lundberg and
    Lee's interventional one), some features come from the sample and the others from one of the background. A feature
    gets the mean of what its coming changes, over all orders in which features may come and over the background. So
    the values of a sample add up to its prediction minus the mean prediction for the background, and a feature that
    no path uses gets exactly 0. Features that share a hyperplane share by the same game.

    Raw values are exact, unless a path to a leaf uses more than sixteen features, or more than twelve where it has a
    hyperplane of more than four: what ends there is sampled, and the result has its standard errors.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples to explain, as `predict` takes them.
    background : array-like, sparse matrix or data frame, default=None
        Samples to compare with, such as a hundred of the training data. Models do not keep these, so None stands for
        X itself, or for 100 samples drawn from it where it has more.
    output : {"raw", "prediction"}, default=None
        "raw": the sum that trees add up to: log-odds of boosted classifiers, logarithms of means for losses such as
        Poisson's, and for trees and forests their answers themselves. "prediction": what `predict_proba` says, or
        `predict` of a regressor. Where that is no sum over trees, it takes far longer, and it is exact up to ten
        features. None: "raw", or "prediction" for averages whose members are such. An exposure changes no raw value
        but the base value; none is assumed.
    n_permutations : int, default=32
        Orders drawn where values are sampled; half of them are the reverses of the others. An even number from 4 on.
    random_state : int, RandomState instance or None, default=0
        What is drawn: orders, and the background where there is none.
    n_jobs : int, default=None
        Number of threads; None: that of the model. The result does not depend on it.

    Returns
    -------
    explanation : Explanation
        With the fields `values`, `base_values`, `standard_errors` and others; `to_shap` makes it ready for the plots
        of shap.

    See Also
    --------
    Explanation : What is returned.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import SLMBoostRegressor, explain
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SLMBoostRegressor(n_estimators=20, learning_rate=0.1, random_state=0).fit(X, y)
    >>> explanation = explain(model, X[:5], background=X[100:200])
    >>> total = explanation.base_values + explanation.values.sum(axis=1)
    >>> bool(abs(total - model.predict(X[:5])).max() < 1e-9)
    True
    """
    members = members_of(model)
    _check(output, n_permutations, random_state, n_jobs)
    key = _key(random_state)
    draw = Draw(key, n_permutations // 2)
    with Workers(n_threads(members[0][1].n_jobs if n_jobs is None else n_jobs)) as workers:
        members[0][1]._check_samples(X)  # errors of X come first
        if background is None:
            background = _drawn(X, key)
        parts = make_parts(members, X, background, workers)
        chosen = _chosen(output, parts)
        additive = chosen == RAW or all(part.is_additive for part in parts)
        found = _sum_of(parts, draw, workers) if additive else credit_answers(parts, draw, workers)
        base = sum(
            part.weight * (part.raw if additive else part.answer)(part.background, workers).mean(axis=0)
            for part in parts
        )
    return _explanation(members[0][1], X, found, np.asarray(base), chosen, parts[0].background.shape[1])


def _check(output: Any, n_permutations: Any, random_state: Any, n_jobs: Any) -> None:
    if output is not None and output not in OUTPUTS:
        raise ValueError(f"output of explain must be None, 'raw' or 'prediction'; got {output!r}.")
    if not whole(4).accepts(n_permutations) or n_permutations % 2:
        raise ValueError(f"n_permutations of explain must be an even int of at least 4; got {n_permutations!r}.")
    for name, given in (("random_state", random_state), ("n_jobs", n_jobs)):
        rule = PARAMETERS[name].rule
        if not rule.accepts(given):
            raise ValueError(f"{name} of explain must be {rule.words}; got {given!r}.")


def _key(random_state: Any) -> int:
    """64 bits that everything drawn depends on."""
    high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint64)
    return int(high) << 32 | int(low)


def _drawn(X: Any, key: int) -> Any:
    """X as the background, or some of its samples."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n < 2:
        raise ValueError(
            "background of explain must be given where X has a single sample, which has nothing to be compared with; "
            "got None. Give some of the training samples."
        )
    if n <= MOST_DRAWN:
        return X
    return take_rows(
        X, np.sort(np.argsort(keys_below(key_below(key, BACKGROUND), np.arange(n)), kind="stable")[:MOST_DRAWN])
    )


def _chosen(output: str | None, parts: list[Part]) -> str:
    """What is explained."""
    is_sum = len(parts) == 1 or all(part.is_additive for part in parts)
    if output == RAW and not is_sum:
        raise ValueError(
            "output of explain must be None or 'prediction' for an average of models whose predictions are no sums, "
            "such as boosted classifiers: their raw values have no average; got 'raw'."
        )
    return output or (RAW if is_sum else PREDICTION)


def _sum_of(parts: list[Part], draw: Draw, workers: Workers) -> Credits:
    """Weighted sums of the parts' credits, each of orders of its own, so that variances add up."""
    each = [(part.weight, credit_raw(part, _draw_of(draw, number), workers)) for number, part in enumerate(parts)]
    values = sum(weight * one.values for weight, one in each)
    variances = sum(weight**2 * one.variances for weight, one in each)
    return Credits(np.asarray(values), np.asarray(variances), all(one.is_exact for _, one in each))


def _draw_of(draw: Draw, number: int) -> Draw:
    """What is drawn for a part; the first has the key of all."""
    return draw._replace(key=key_below(draw.key, MEMBERS + number)) if number else draw


def _explanation(
    member: SLMPredictor, X: Any, found: Credits, base: Array, output: str, n_background: int
) -> Explanation:
    model, data = member._model, np.asarray(member._check_samples(X), np.float64)
    values, errors = found.values, np.sqrt(found.variances)
    base_values = np.repeat(base[None], len(values), axis=0)
    if values.shape[2] == 1:
        values, errors, base_values = values[:, :, 0], errors[:, :, 0], base_values[:, 0]
    return Explanation(
        values=values,
        base_values=base_values,
        data=data,
        display_data=_displayed(data, model),
        feature_names=names_of_features(model, None, "explain"),
        output_names=_output_names(model, base),
        standard_errors=errors,
        is_exact=found.is_exact,
        output=output,
        n_background=n_background,
    )


def _displayed(data: Array, model: FittedModel) -> Array:
    """The samples with levels in the place of their numbers."""
    if not any(levels is not None for levels in model.levels):
        return data
    shown = data.astype(object)
    for f, levels in enumerate(model.levels):
        if levels is not None:
            names = ["missing" if level is None else level for level in levels]
            shown[:, f] = ["other" if np.isnan(number) else names[int(number)] for number in data[:, f]]
    return shown


def _output_names(model: FittedModel, base: Array) -> list[str] | None:
    """Classes of the outputs: of a single one it is the last."""
    if model.classes is None:
        return None
    return [str(name) for name in model.classes[-len(base) :]]
