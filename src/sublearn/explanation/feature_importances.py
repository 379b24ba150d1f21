"""Importances of features: what they take from the training loss, what their loss would cost, what they move."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from sublearn._base.parameters import whole
from sublearn.core.model.flat_ensemble import unpack
from sublearn.core.model.flat_tree import feature_decreases, shares
from sublearn.explanation.explaining import explain
from sublearn.explanation.members import Member, answers_of, check_model, estimators_of, members_of, numbers_of
from sublearn.explanation.names import names_for
from sublearn.forest import SLMForest
from sublearn.kernels.layout import Array

OWNER = "importances"
DECREASE, PERMUTATION, SHAPLEY = KINDS = ("decrease", "permutation", "shapley")
LEAST = np.finfo(np.float64).eps  # probability, of which a logarithm is taken


class Importances(NamedTuple):
    """How much each feature counts; see `importances`.

    Attributes
    ----------
    kind : str
        "decrease", "permutation" or "shapley".
    unit : str
        What the values are, in words.
    names : list of str
        Names of the features.
    values : ndarray of shape (n_features,)
        The importances.
    errors : ndarray of shape (n_features,) or None
        Their standard errors, where there are some.
    """

    kind: str
    unit: str
    names: list[str]
    values: Array
    errors: Array | None

    def __str__(self) -> str:
        order = np.argsort(-self.values, kind="stable").tolist()
        width = max(map(len, self.names))
        return "\n".join([self.unit, *(f"{self.names[f]:{width}}  {self._shown(f)}" for f in order)])

    def _shown(self, f: int) -> str:
        value = f"{self.values[f]:.4g}"
        return value if self.errors is None else f"{value} +- {self.errors[f]:.2g}"


def importances(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = DECREASE,
    background: Any = None,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> Importances:
    """Tell how much each feature counts, in one of three ways.

    - "decrease": the share in what all hyperplanes take from the training loss, as `feature_importances_`. A
      hyperplane's part is shared among its features by their squared coefficients, which are over features of about
      equal variance. It needs no data. It is about the training samples, so what was learned by heart counts too, and
      of features that say the same, one may have it all.
    - "permutation": by how much the loss on X grows when the values of a feature are shuffled: the log loss of
      classes, the squared error of numbers. Take samples that were not trained on. Of features that say the same, none
      may count, as the others stand in.
    - "shapley": the mean absolute Shapley value on X, by `explain`: how far a feature moves the answers, be that right
      or wrong.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.
    X : table, default=None
        Samples, as `predict` takes them, for "permutation" and "shapley".
    y : array-like of shape (n_samples,), default=None
        Their classes or numbers, for "permutation".
    kind : {"decrease", "permutation", "shapley"}, default="decrease"
        What is measured.
    background : table, default=None
        For "shapley": the samples that `explain` compares with.
    n_repeats : int, default=5
        For "permutation": how often each feature is shuffled.
    random_state : int, RandomState instance or None, default=0
        What shuffles depend on.

    Returns
    -------
    found : Importances
        Values by features. ``print`` shows them, the largest first.

    Notes
    -----
    Standard errors are those over the samples of X, or of a forest's decreases over its trees; one tree and boosting
    have none of these.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, importances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(X, y)
    >>> print(importances(model))
    share in the decrease of the training loss
    petal length (cm)  1
    sepal length (cm)  0
    sepal width (cm)   0
    petal width (cm)   0
    """
    check_model(model, OWNER)
    if kind not in KINDS:
        raise ValueError(f"kind of {OWNER} must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
    names = names_for(estimators_of(model)[0]._model)
    if kind == DECREASE:
        values, errors = _decreases(model)
        return Importances(kind, "share in the decrease of the training loss", names, values, errors)
    if X is None or (kind == PERMUTATION and y is None):
        needed = "X and y" if kind == PERMUTATION else "X"
        raise ValueError(f"{needed} of {OWNER} must be given with kind={kind!r}; got None.")
    if kind == SHAPLEY:
        values, errors = _shapley(model, X, background)
        return Importances(kind, "mean absolute Shapley value", names, values, errors)
    if not whole(1, None).accepts(n_repeats):
        raise ValueError(f"n_repeats of {OWNER} must be {whole(1, None).words}; got {n_repeats!r}.")
    members = members_of(model, OWNER)
    loss = "squared error" if members[0].model.classes is None else "log loss"
    seed = int(check_random_state(random_state).randint(2**31))
    values, errors = _permutation(model, members, X, y, n_repeats, seed)
    return Importances(kind, f"increase of the {loss} when shuffled", names, values, errors)


def _decreases(model: Any) -> tuple[Array, Array | None]:
    """Shares in the decrease of the loss; of forests with errors."""
    if not isinstance(model, SLMForest) or model._model.ensemble.n_trees < 2:
        return model.feature_importances_, None
    each = [shares(feature_decreases(tree, model._model.maps.features)) for tree in unpack(model._model.ensemble)]
    return model.feature_importances_, np.std(each, axis=0, ddof=1) / np.sqrt(len(each))


def _permutation(model: Any, members: list[Member], X: Any, y: Any, n_repeats: int, seed: int) -> tuple[Array, Array]:
    """Increases of the loss when features are shuffled, and their standard errors over samples."""
    x = numbers_of(model, X)
    targets = _targets(members, y, len(x))
    with estimators_of(model)[0]._workers() as workers:

        def losses(rows: Array) -> Array:
            return _losses(answers_of(members, rows, workers), targets, members[0].model.classes is None)

        before = losses(x)
        growth = np.zeros(x.shape)
        for f in range(x.shape[1]):
            random = np.random.default_rng([seed, f])
            for _ in range(n_repeats):
                shuffled = x.copy()
                shuffled[:, f] = x[random.permutation(len(x)), f]
                growth[:, f] += (losses(shuffled) - before) / n_repeats
    errors = growth.std(axis=0, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.full(x.shape[1], np.nan)
    return growth.mean(axis=0), errors


def _losses(answers: Array, targets: Array, is_number: bool) -> Array:
    """The loss of each sample."""
    if is_number:
        squares: Array = (answers[:, 0] - targets) ** 2
        return squares
    logarithms: Array = -np.log(np.clip(answers[np.arange(len(targets)), targets], LEAST, 1.0))
    return logarithms


def _targets(members: list[Member], y: Any, n: int) -> Array:
    """Numbers, or positions of classes."""
    given = column_or_1d(y)
    if len(given) != n:
        raise ValueError(f"y of {OWNER} must have a target for each of {n} samples; got {len(given)}.")
    classes = members[0].model.classes
    if classes is None:
        numbers: Array = np.asarray(given, np.float64)
        return numbers
    known = {one: i for i, one in enumerate(classes.tolist())}
    positions = [known.get(one, -1) for one in np.asarray(given).tolist()]
    if -1 in positions:
        other = np.asarray(given).tolist()[positions.index(-1)]
        raise ValueError(f"y of {OWNER} must hold classes of the model, {classes.tolist()}; got {other!r}.")
    return np.array(positions, np.int64)


def _shapley(model: Any, X: Any, background: Any) -> tuple[Array, Array]:
    """Mean absolute Shapley values over samples, and outputs, with standard errors over samples."""
    values = np.abs(np.asarray(explain(model, X, background).values))
    each = values if values.ndim == 2 else values.mean(axis=2)
    errors = each.std(axis=0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.full(each.shape[1], np.nan)
    return each.mean(axis=0), errors
