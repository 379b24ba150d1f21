"""The parameters of the estimators: for each one what is allowed, its symbol in the paper and what it does.

Checks, docstrings, the tables of docs/parameters.md, and the values that the algorithm takes all come from here.
"""

import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sublearn.core.boosting import auto
from sublearn.core.boosting.losses import Loss
from sublearn.core.data.codes import HEAVY_TAILS

T = TypeVar("T")
ENDLESS = 1 << 40  # stands for no limit: no data have so many samples, and 64 bits hold twice as much, as kernels need
MOST_MODELS = 64
MOST_TREES = 1_000_000  # nodes of all trees have numbers of 32 bits


def _as_given(value: Any, n_samples: int) -> Any:
    return value


class Rule(NamedTuple):
    """What a value may be: in words, and as a test; and what the algorithm takes for it."""

    words: str
    accepts: Callable[[Any], bool]
    resolve: Callable[[Any, int], Any] = _as_given  # from an accepted value and the number of samples


class Parameter(NamedTuple):
    """One parameter of an estimator."""

    rule: Rule
    symbol: str  # in the paper; empty if it has none there
    text: str


def rule_of(estimator: Any, name: str) -> Rule:
    """The estimator's own rule for a parameter, or the table's."""
    own: dict[str, Rule] = estimator._rules
    return own.get(name) or PARAMETERS[name].rule


def resolve_parameter(estimator: Any, name: str, n_samples: int) -> Any:
    """What the algorithm takes for the value of a parameter, which is allowed."""
    return rule_of(estimator, name).resolve(getattr(estimator, name), n_samples)


def keep_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Set the attributes of an estimator from `locals()` of its __init__, and nothing else, as scikit-learn asks."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def check_parameters(estimator: Any) -> None:
    """Raise ValueError for the first parameter whose value is not allowed."""
    for name in estimator.get_params(deep=False):
        check_parameter(estimator, name)


def check_parameter(estimator: Any, name: str) -> None:
    """Raise ValueError if the value of a parameter is not allowed."""
    rule, value = rule_of(estimator, name), getattr(estimator, name)
    if not rule.accepts(value):
        raise ValueError(f"{name} of {type(estimator).__name__} must be {rule.words}; got {value!r}.")


def documented(estimator: type[T]) -> type[T]:
    """Class decorator: fill {parameters} of the docstring from the table."""
    if estimator.__doc__ is None:  # python -OO
        return estimator
    lines = []
    for name, parameter in inspect.signature(estimator).parameters.items():
        rule = rule_of(estimator, name)
        known = PARAMETERS.get(name, Parameter(rule, "", ""))  # those of a cluster alone are not in the table
        symbol = f" {known.symbol} in the paper." if known.symbol else ""
        lines.append(f"{name} : {rule.words}, default={parameter.default!r}")
        text = getattr(estimator, "_texts", {}).get(name, known.text)
        lines.append(textwrap.indent(textwrap.fill(text + symbol, 90), "    "))
    estimator.__doc__ = estimator.__doc__.replace("{parameters}", "\n    ".join("\n".join(lines).split("\n")))
    return estimator


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        return False


def whole(low: int, high: int | None = None) -> Rule:
    """An int within bounds."""
    words = f"an int of at least {low}" if high is None else f"an int from {low} to {high}"
    return Rule(words, lambda v: _is_whole(v) and v >= low and (high is None or v <= high), lambda v, _: as_whole(v))


def number(low: float, high: float | None = None) -> Rule:
    """A finite number within bounds."""
    words = f"a number of at least {low:g}" if high is None else f"a number from {low:g} to {high:g}"
    return Rule(words, lambda v: _is_number(v) and v >= low and (high is None or v <= high), lambda v, _: float(v))


def one_of(*names: str) -> Rule:
    """One of some strings."""
    return Rule(" or ".join(map(repr, names)), lambda v: isinstance(v, str) and v in names)


def either(*rules: Rule) -> Rule:
    """What one of the rules allows; the first that does so tells what the algorithm takes."""

    def resolve(value: Any, n_samples: int) -> Any:
        return next(rule for rule in rules if rule.accepts(value)).resolve(value, n_samples)

    words = " or ".join(rule.words for rule in rules)
    return Rule(words, lambda v: any(rule.accepts(v) for rule in rules), resolve)


def or_sequence(rule: Rule) -> Rule:
    """What a rule allows, or a sequence of such: one value a round of drawing."""

    def accepts(value: Any) -> bool:
        return rule.accepts(value) or (
            isinstance(value, Sequence | np.ndarray)
            and not isinstance(value, str | bytes)
            and np.ndim(value) == 1
            and len(value) > 0
            and all(rule.accepts(v) for v in value)
        )

    return Rule(f"{rule.words}, or a sequence of such", accepts)


def _are_columns(value: Any) -> bool:
    """Whether a value is a sequence of names, or of numbers, or of flags."""
    if not (isinstance(value, Sequence) or hasattr(value, "__array__")) or isinstance(value, str | bytes):
        return False
    if np.ndim(value) != 1:
        return False
    each = value if isinstance(value, Sequence) else np.asarray(value).tolist()
    kinds = {"s" if isinstance(v, str) else "b" if isinstance(v, bool | np.bool_) else _is_whole(v) for v in each}
    return len(kinds) <= 1 and False not in kinds


NONE = Rule("None", lambda v: v is None)
FLAG = Rule("True or False", lambda v: isinstance(v, bool | np.bool_), lambda v, _: bool(v))


def count_or_share(low: int) -> Rule:
    """A count of samples, or a float that is a share of them, as in scikit-learn."""

    def accepts(value: Any) -> bool:
        return value >= low if _is_whole(value) else _is_number(value) and 0 < value <= 1

    def resolve(value: Any, n_samples: int) -> int:
        return max(low, as_count(value, n_samples))

    return Rule(f"an int of at least {low} or a float above 0 and up to 1", accepts, resolve)


def as_count(value: float, n_samples: int) -> int:
    """The count that a count or share stands for."""
    return as_whole(value) if _is_whole(value) else int(np.ceil(value * n_samples))


def as_whole(value: Any) -> int:
    """A whole number of any kind as Python's, at most `ENDLESS`."""
    return min(int(value), ENDLESS)


def as_limit(value: Any) -> int | None:
    """A whole number as Python's, at most `ENDLESS`; None, which stands for no limit, stays."""
    return None if value is None else as_whole(value)


def as_rounds(*values: Any) -> Iterable[tuple[Any, ...]]:
    """Parameters round by round; single values hold for every round."""
    rows = [list(v) if isinstance(v, Sequence | np.ndarray) else [v] for v in values]
    length = max(len(row) for row in rows)
    if any(len(row) not in (1, length) for row in rows):
        raise ValueError(", ".join(str(len(row)) for row in rows))
    return zip(*[row * length if len(row) == 1 else row for row in rows], strict=True)


PARAMETERS = {
    "n_estimators": Parameter(
        whole(1, MOST_TREES),
        "T",
        "Number of trees of a forest, or of rounds of boosting. While `learning_rate` is 'auto' it is a maximum: the "
        f"trial may find that fewer rounds do. Give both to have exactly so many rounds. 'auto': {auto.ROUNDS}.",
    ),
    "effort": Parameter(
        one_of("fast", "usual", "best"),
        "",
        "How much a fit may take, where `learning_rate` is 'auto'. 'fast': nothing is tried, and rounds are few. "
        "'usual': trials find how far to learn, and which of a few settings suits the data. 'best': all settings are "
        f"tried on several parts of the samples, and the answers of {auto.AVERAGED} models are averaged.",
    ),
    "n_models": Parameter(
        either(one_of("auto"), whole(1, MOST_MODELS)),
        "",
        f"Models whose answers are averaged; each has its own draws, and `n_estimators` rounds. 'auto': {auto.MODELS}.",
    ),
    "voting": Parameter(
        one_of("soft", "hard"),
        "",
        "What a tree contributes to the probabilities: the shares of the classes in a sample's leaf, or its one vote "
        "for the largest of them, as in the paper.",
    ),
    "bootstrap": Parameter(
        FLAG,
        "",
        "Whether each tree sees a bootstrap sample, drawn with replacement, in the place of all samples.",
    ),
    "max_samples": Parameter(
        either(NONE, count_or_share(1)),
        "",
        "Draws of a bootstrap sample; None: as many as there are samples, a float is a share of those.",
    ),
    "oob_score": Parameter(
        FLAG,
        "",
        "Whether to predict each training sample by the trees whose bootstrap sample lacks it, and to score that.",
    ),
    "loss": Parameter(
        either(one_of("log_loss"), Rule("a sublearn.Loss", lambda v: isinstance(v, Loss))),
        "gamma",
        "Training loss.",
    ),
    "multiclass": Parameter(
        one_of("shared", "separate"),
        "",
        "Trees of a round for more than two classes. 'shared': one, whose leaves have a value for each class and whose "
        "nodes tell two groups of classes apart, drawn anew every round. 'separate': one for each class, as in the "
        "paper; with K classes a round takes about K times as long.",
    ),
    "quantile": Parameter(
        either(NONE, Rule("a number above 0 and below 1", lambda v: _is_number(v) and 0 < v < 1)),
        "",
        "With the loss 'quantile', the quantile that is predicted; None: 0.5. With 'huber' it is something else: the "
        "share of residuals, the smallest, whose error is squared while the others' is absolute; None: 0.9. Other "
        "losses refuse it.",
    ),
    "learning_rate": Parameter(
        Rule("a number above 0 and up to 1000", lambda v: _is_number(v) and 0 < v <= 1000),
        "",
        "Factor on the values of all leaves. 'auto' finds how far to learn by fast trials, each on most of the samples "
        "and tested on the others. Then all samples are learned from, over `n_estimators` rounds, or over fewer where "
        f"the rate would fall below {auto.LOWEST_RATE:g}. With fewer than {auto.FEW} different samples, or with "
        f"`early_stopping`, nothing is tried. The rate is then {auto.USUAL_RATE:g}, times the rounds of 'auto' / "
        f"`n_estimators` where these are given, up to {auto.HIGHEST_RATE:g}.",
    ),
    "l2_regularization": Parameter(
        number(0.0),
        "",
        "Added to the sum of second derivatives in the denominator of leaf values and gains; 0 in the paper. Leaf "
        "values of 'absolute_error', 'quantile' and 'huber' are quantiles or means of residuals, without it. 'auto': "
        "what the audition finds, usually 1 for classes and 5 for numbers.",
    ),
    "min_gain": Parameter(
        number(0.0),
        "",
        "What a split must gain, in multiples of what an arbitrary split gains by chance. The gain is twice that of "
        "Eq. (obj4). Chance gains the mean squared gradient divided by the mean second derivative. With more than "
        f"{auto.MANY} features chance has more to choose from, and gains 1 + log2(n_features / {auto.MANY}) / 2 "
        "times as much. 0 in the paper.",
    ),
    "min_child_weight": Parameter(
        number(0.0),
        "",
        "Sum of second derivatives, over all classes where there are more than two, that each child needs. Losses "
        "without curvature count the weight. Weights that are not whole numbers count in units of their mean.",
    ),
    "subsample": Parameter(
        Rule("a number above 0 and up to 1", lambda v: _is_number(v) and 0 < v <= 1),
        "",
        "Share of the samples, drawn anew each round by what is in them, that its trees grow from; equal rows are "
        "drawn together. 'auto': what the audition finds, usually all.",
    ),
    "leaf": Parameter(
        one_of("constant", "linear"),
        "",
        "What a leaf answers with: a number, as in the paper, or a linear model over the features of the hyperplanes "
        "nearest above it, six at the most. Values beyond those that the leaf has learned from count as the nearest of "
        "them. Losses whose leaves have values of their own, such as 'absolute_error', have no linear models. 'auto': "
        f"what the audition finds, usually 'linear' with fewer than {auto.SMALL:,} samples and 'constant' with more.",
    ),
    "init": Parameter(
        one_of("data", "zero"),
        "",
        "Raw prediction before the first round: the constant that is best for the data, or 0 as in the paper.",
    ),
    "early_stopping": Parameter(
        FLAG,
        "",
        "Whether to stop when the score on validation samples has not improved for `n_iter_no_change` rounds, and to "
        "keep the rounds up to the best.",
    ),
    "validation_fraction": Parameter(
        Rule("a number above 0 and below 1", lambda v: _is_number(v) and 0 < v < 1),
        "",
        "Share of the samples set aside for early stopping when `fit` is given no `eval_set`.",
    ),
    "n_iter_no_change": Parameter(
        whole(1),
        "",
        "Rounds without improvement after which early stopping stops.",
    ),
    "callbacks": Parameter(
        either(
            NONE,
            Rule(
                "a callable or a list of such",
                lambda v: callable(v) or (isinstance(v, list | tuple) and all(callable(c) for c in v)),
            ),
        ),
        "",
        "Called in turn after each round with a `sublearn.Progress`; one that returns True ends the fit.",
    ),
    "verbose": Parameter(
        either(FLAG, whole(0)),
        "",
        "Whether to show the progress of a fit: a bar where rich is installed, lines otherwise.",
    ),
    "warm_start": Parameter(
        FLAG,
        "",
        "Whether `fit` keeps the trees of the fit before and adds those missing to `n_estimators`. Over the same data "
        "this gives the same model as fitting all at once; a `learning_rate` of 'auto' stays what it was, though.",
    ),
    "criterion": Parameter(
        one_of("entropy", "gini"),
        "L",
        "Loss of a node. Entropy is in bits.",
    ),
    "n_bins": Parameter(
        whole(2, 256),
        "B",
        "Equal-width bins between the smallest and the largest projected value of a node; the boundaries between "
        "them are the thresholds that are tried.",
    ),
    "subspace": Parameter(
        one_of("top", "drawn"),
        "S0",
        "How a node's discriminant subspace is chosen from the ranked features: the best ones, or drawn without "
        "replacement by P_d.",
    ),
    "subspace_size": Parameter(
        whole(1),
        "D0",
        "Number of features in a node's subspace; all features where there are no more.",
    ),
    "n_projections": Parameter(
        whole(0, 65536),
        "p",
        "Candidate projections of a node, shared by the rounds of drawing, the basis vectors apart. When no more "
        "vectors exist all are tried, otherwise so many are drawn, or fewer in small nodes, by `draws_per_sample`.",
    ),
    "draws_per_sample": Parameter(
        either(NONE, whole(1, 65536)),
        "",
        "Candidates that a node may draw for each of its samples, counted as for `min_samples_split`: over few "
        "samples, more would differ by chance alone. What is listed for all nodes, or fitted, is not limited. None: no "
        "limit, as in the paper.",
    ),
    "fitted_projections": Parameter(
        whole(0, 120),
        "",
        "Further candidates of a node that are fitted, not drawn: the pairs of features, among the best 16 of the "
        "subspace, that explain most of the node's targets by least squares, coefficients rounded to integers up to "
        "`envelope_height`. Classes are told apart in two groups. 0: none, as in the paper.",
    ),
    "selection": Parameter(
        one_of("projection", "round"),
        "",
        "When the features of a projection are selected. 'projection': anew for each one, among the features of the "
        "subspace, whose place there is their rank d below. 'round', as in the paper: once for all projections that a "
        "round of drawing has in a node, and d is the rank among all features; where the envelope has few vectors "
        "over those features, all are tried.",
    ),
    "n_coefficients": Parameter(
        or_sequence(either(NONE, whole(1))),
        "R",
        "Number of features that one projection may use; None: all of the subspace. A sequence has one entry a round "
        "of drawing.",
    ),
    "selection_decay": Parameter(
        or_sequence(number(0.0)),
        "beta",
        "How fast the probability of using a feature, P_d = beta_0 exp(-beta d), falls with its rank d. A sequence "
        "has one entry a round of drawing; a subspace that is drawn goes by the first.",
    ),
    "envelope_height": Parameter(
        number(0.0, 127.0),
        "alpha_0",
        "Height of the envelope A_d = alpha_0 exp(-alpha d) that bounds the coefficient of the feature of rank d "
        "to the integers from -floor(A_d) to floor(A_d).",
    ),
    "envelope_decay": Parameter(
        or_sequence(number(0.0)),
        "alpha",
        "How fast the envelope falls with the rank. A sequence has one entry a round of drawing.",
    ),
    "axis_projections": Parameter(
        FLAG,
        "e_d",
        "Whether the features of the subspace are candidates by themselves, so that ordinary splits are always tried.",
    ),
    "max_partitions": Parameter(
        whole(1, 8),
        "q",
        "Hyperplanes of a node at the most; q of them make up to 2^q children.",
    ),
    "max_cosine": Parameter(
        number(0.0, 1.0),
        "theta_minimax",
        "Largest absolute cosine between two hyperplanes of a node.",
    ),
    "effective_ratio": Parameter(
        number(0.0, 1.0),
        "",
        "A further hyperplane must by itself decrease the loss by this share of what the best one does.",
    ),
    "max_depth": Parameter(
        either(NONE, whole(1)),
        "",
        "Largest depth of the tree; None: no limit. 'auto', of boosting: what the audition finds, usually "
        f"{auto.DEPTH}.",
    ),
    "min_samples_split": Parameter(
        count_or_share(2),
        "",
        "Samples a node needs to be split; a float is a share of all. A row whose weight is a whole number counts that "
        "often when all weights are whole numbers.",
    ),
    "min_samples_leaf": Parameter(
        count_or_share(1),
        "",
        "Samples each child needs, counted as for `min_samples_split`. 'auto', of boosting: what the audition finds, "
        f"usually {auto.CONSTANT['min_samples_leaf']}.",
    ),
    "min_weight_fraction_leaf": Parameter(
        number(0.0, 0.5),
        "",
        "Share of the total weight each child needs.",
    ),
    "min_loss": Parameter(
        number(0.0),
        "",
        "A node whose loss is below this is not split.",
    ),
    "racing_samples": Parameter(
        either(NONE, whole(16)),
        "",
        "In a node of at least twice as many samples, features are ranked and candidates tried on so many of them, "
        "evenly drawn, and only the best `n_finalists` on all; None: everything on all samples, as in the paper.",
    ),
    "n_finalists": Parameter(
        whole(1),
        "",
        "Candidates of a race that are tried on all samples.",
    ),
    "n_features_to_select": Parameter(
        either(one_of("elbow"), count_or_share(1)),
        "",
        "Features to keep, the best by rank: so many, or all where there are no more; a float is a share of all, "
        "rounded up. 'elbow': those before the curve of sorted losses bends, which is where it is farthest from the "
        "line between its first point and a useless feature after its last one.",
    ),
    "ccp_alpha": Parameter(
        number(0.0),
        "",
        "Complexity parameter of minimal cost-complexity pruning; 0: the tree is not pruned.",
    ),
    "categorical_features": Parameter(
        either(NONE, one_of("from_dtype"), Rule("a sequence of names, numbers or flags of columns", _are_columns)),
        "",
        "Columns that hold categories. 'from_dtype': those whose type says so, which are category, object and string "
        "of pandas, Categorical, Enum and String of polars, dictionary and string of Arrow. None: no column.",
    ),
    "feature_map": Parameter(
        one_of("auto", "linear", "quantile"),
        "",
        "How features become integer codes: in standard deviations, through quantiles, or whichever suits the "
        f"feature: {HEAVY_TAILS}.",
    ),
    "class_weight": Parameter(
        either(NONE, one_of("balanced"), Rule("a dict from class to weight", lambda v: isinstance(v, dict))),
        "",
        "Factors on the weights of samples by class; 'balanced' gives all classes the same total weight. They enter "
        "losses and leaves, not the counts of samples nor the maps of features.",
    ),
    "random_state": Parameter(
        Rule(
            "None, an int or a RandomState",
            lambda v: v is None or isinstance(v, np.random.RandomState) or (_is_whole(v) and 0 <= v < 2**32),
        ),
        "",
        "Seed of the draws. The same seed gives the same model, bit for bit, for every `n_jobs`.",
    ),
    "n_jobs": Parameter(
        either(NONE, Rule("an int that is not 0", lambda v: _is_whole(v) and v != 0)),
        "",
        "Threads, at most one for each core that the process may use. None: all of these, or as many as "
        "OMP_NUM_THREADS or joblib.parallel_config say; one inside a pool that divides the cores already, such as "
        "joblib's or Dask's. -1: all of them. Small work takes fewer. The model does not depend on it.",
    ),
}
