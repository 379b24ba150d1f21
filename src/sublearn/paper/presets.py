"""What the paper says of each parameter: the presets of `sublearn.paper` and the table in the docs come from here.

A parameter is fixed by a sentence or an equation, or the paper searches it for every data set, or it leaves it open;
what is searched or open has a value of ours here. Nothing is imported, so that the presets cost nothing.
"""

from typing import Any, NamedTuple

SAID, SEARCHED, OPEN = "said", "searched", "open"  # by the paper
ANY = "any"  # no matter of the model: threads, seeds, messages


class Pin(NamedTuple):
    """A parameter: its value in the three kinds of models, None of which need have it, and its source."""

    values: dict[str, Any]  # by kind
    standing: str  # SAID, SEARCHED, OPEN or ANY
    place: str  # section or equation of the paper
    words: str  # the paper's own in quotation marks, with letters for symbols, and ours
    only: str = ""  # "classes" or "numbers"


KINDS = ("tree", "forest", "boosting")


def _all(value: Any) -> dict[str, Any]:
    return dict.fromkeys(KINDS, value)


def _trees(value: Any) -> dict[str, Any]:
    return {"tree": value, "forest": value}


def _ensembles(value: Any) -> dict[str, Any]:
    return {"forest": value, "boosting": value}


def _boosting(value: Any) -> dict[str, Any]:
    return {"boosting": value}


PINS: dict[str, Pin] = {
    "criterion": Pin(
        _trees("entropy"), SAID, "II-B1", '"One convenient choice of the cost function is the entropy value"'
    ),
    "n_bins": Pin(_all(16), SAID, "II-B1", '"The bin number, B, is typically set to 16"'),
    "subspace": Pin(
        {"tree": "top", "forest": "drawn", "boosting": "top"},
        SAID,
        "II-B4; III-A",
        '"find discriminant input subspace"; forest: "a probabilistic selection of D0 dimensions"',
    ),
    "subspace_size": Pin(_all(8), SEARCHED, "IV", '"The hyper-parameters of SLM Baseline" include D0'),
    "n_projections": Pin(_all(64), SEARCHED, "IV", '"The hyper-parameters of SLM Baseline" include p'),
    "selection": Pin(
        _all("round"), SAID, "II-B2", '"By fixing parameters beta, alpha and R in one round of a generation"'
    ),
    "n_coefficients": Pin(
        _all((1, 2, 3, None)),
        OPEN,
        "II-B2",
        '"we may use multiple rounds in the generation process"; that R is one, two, three and all of S0 is ours',
    ),
    "selection_decay": Pin(_all(0.5), SEARCHED, "IV", '"The hyper-parameters of SLM Baseline" include beta'),
    "envelope_height": Pin(
        _all(10.0), SEARCHED, "II-B2; IV", 'A_int is searched; the example: "we may apply alpha_0 as 10"'
    ),
    "envelope_decay": Pin(_all(0.5), SEARCHED, "II-B2; IV", 'alpha is searched; the example: "and alpha as 0.5"'),
    "axis_projections": Pin(
        _all(False), SAID, "II-B2", '"uniformly selected among the candidate integers"; basis vectors are not added'
    ),
    "fitted_projections": Pin(_all(0), SAID, "II-B2", "the same; nothing is fitted"),
    "draws_per_sample": Pin(_all(None), SAID, "II-B4", '"Generate p projection vectors"; no fewer in small nodes'),
    "racing_samples": Pin(
        _all(None),
        SAID,
        "III-A",
        '"all training samples and all feature dimensions are kept as the input at each node splitting"',
    ),
    "n_finalists": Pin(_all(8), ANY, "", "of no effect without races"),
    "max_partitions": Pin(
        _all(2),
        OPEN,
        "II-B3",
        '"terminated by a pre-defined threshold value" alone; the appendix has one to five hyperplanes a node',
    ),
    "max_cosine": Pin(_all(0.5), OPEN, "II-B3", '"a pre-defined threshold value, theta_minimax", which is not told'),
    "effective_ratio": Pin(_all(0.5), OPEN, "II-B3", "which projection vectors are effective is not said"),
    "max_depth": Pin(
        {"tree": None, "forest": None, "boosting": 6},
        OPEN,
        "II-B4",
        "\"the maximum depth of an SLM tree\" is not told; 6 is XGBoost's own, and is searched as XGBoost's is",
    ),
    "min_samples_split": Pin(
        _all(2), SEARCHED, "II-B4; IV", '"the minimum number of samples used in the stopping criterion"'
    ),
    "min_samples_leaf": Pin(_all(1), SAID, "II-B4", "three stopping criteria, and no minimum for children"),
    "min_weight_fraction_leaf": Pin(_trees(0.0), SAID, "II-B4", "the same"),
    "min_loss": Pin(_trees(0.0), OPEN, "II-B4", "the minimum loss function per node, to be chosen; 0 is none"),
    "ccp_alpha": Pin({"tree": 0.0}, SAID, "II-B4", "trees are not pruned"),
    "categorical_features": Pin(_all("from_dtype"), ANY, "", "the paper's sets have numbers alone"),
    "feature_map": Pin(
        _all("linear"), OPEN, "II-B2", "integer coefficients need a scale; features in standard deviations is ours"
    ),
    "n_estimators": Pin(
        {"forest": 20, "boosting": 100},
        SAID,
        "IV",
        '"The number of trees in SLM Forest is set to 20"; Boost: "the same as that of XGBoost", 100',
    ),
    "voting": Pin(
        {"forest": "hard"}, SAID, "III-A", '"takes the majority vote of the individual SLM trees"', "classes"
    ),
    "bootstrap": Pin(
        {"forest": False},
        SAID,
        "III-A; VI-B",
        '"always takes all training samples and the whole feature space into account"',
    ),
    "max_samples": Pin({"forest": None}, SAID, "III-A; VI-B", "the same"),
    "oob_score": Pin({"forest": False}, ANY, "", "of no use without bootstrap samples"),
    "loss": Pin(
        _boosting("log_loss"), SAID, "III-B", '"The log loss and the mean squared error are commonly utilized"'
    ),
    "quantile": Pin(_boosting(None), ANY, "", "of no use with these losses", "numbers"),
    "multiclass": Pin(
        _boosting("separate"),
        OPEN,
        "III-B",
        '"we follow the XGBoost process"; XGBoost grows one tree a class, the paper does not say',
        "classes",
    ),
    "learning_rate": Pin(
        _boosting(0.3), OPEN, "IV", "told of XGBoost alone; 0.3 is its own, and is searched as XGBoost's is"
    ),
    "l2_regularization": Pin(_boosting(0.0), SAID, "III-B, last equation", "no term beside g f + h f^2 / 2"),
    "min_gain": Pin(_boosting(0.0), SAID, "III-B, last equation", "the same"),
    "min_child_weight": Pin(_boosting(0.0), SAID, "II-B4", "three stopping criteria, and no minimum for children"),
    "leaf": Pin(_boosting("constant"), SAID, "III-B", "a leaf adds one number"),
    "effort": Pin(_boosting("usual"), ANY, "", "of no use where rate and rounds are given"),
    "n_models": Pin(_boosting(1), SAID, "III-B", '"the prediction of the ensemble is the sum of all trees"'),
    "subsample": Pin(_boosting(1.0), SAID, "III-B", "the sum goes over all L samples"),
    "init": Pin(_boosting("zero"), SAID, "III-B", '"we initialize the model prediction as 0"'),
    "early_stopping": Pin(_boosting(False), SAID, "III-B", "a fixed number T of trees"),
    "validation_fraction": Pin(_boosting(0.1), ANY, "", "of no use without early stopping"),
    "n_iter_no_change": Pin(_boosting(10), ANY, "", "the same"),
    "callbacks": Pin(_boosting(None), ANY, "", "no matter of the model"),
    "verbose": Pin(_boosting(0), ANY, "", "no matter of the model"),
    "warm_start": Pin(_ensembles(False), ANY, "", "no matter of the model"),
    "class_weight": Pin(_all(None), SAID, "II-B1", "samples count alike", "classes"),
    "random_state": Pin(_all(None), ANY, "", "no matter of the method"),
    "n_jobs": Pin(_all(None), ANY, "", "no matter of the model"),
}
BY_TARGET = {"criterion": "squared_error", "loss": "squared_error"}  # of numbers; both are the estimators' defaults


def preset(kind: str, classes: bool = False) -> dict[str, Any]:
    """What the paper's model of a kind has, for classes and numbers alike, or with what only classes have."""
    wanted = ("", "classes") if classes else ("",)
    return {
        name: pin.values[kind]
        for name, pin in PINS.items()
        if kind in pin.values and pin.standing != ANY and name not in BY_TARGET and pin.only in wanted
    }
