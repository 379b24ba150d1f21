"""Bad input: a clear error, and nothing half-fitted left behind."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from linked_fits import fit_in_partitions
from sublearn import (
    Loss,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn._base import intake
from sublearn.core.data.codes import encode_samples
from support import assert_same_tree

X, Y = load_iris(return_X_y=True)
TREES = [SLMClassifier, SLMRegressor]
FORESTS = [SLMForestClassifier, SLMForestRegressor]
BOOSTS = [SLMBoostClassifier, SLMBoostRegressor]
ALL = pytest.mark.parametrize("make", [*TREES, *FORESTS, *BOOSTS])
CLASSIFIERS = pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
ENSEMBLES = pytest.mark.parametrize("make", [*FORESTS, *BOOSTS])
BOTH_BOOSTS = pytest.mark.parametrize("make", BOOSTS)


def small(make: Any, **given: Any) -> Any:
    """A model that is fitted soon."""
    if "n_estimators" in make().get_params():
        given = {"n_estimators": 3, **given}
    return make(**given)


# ---- parameters


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("criterion", "squared_error", "'entropy' or 'gini'"),
        ("n_bins", 1, "an int from 2 to 256"),
        ("n_bins", 16.0, "an int from 2 to 256"),
        ("subspace", "best", "'top' or 'drawn'"),
        ("subspace_size", 0, "an int of at least 1"),
        ("n_projections", -1, "an int from 0 to 65536"),
        ("n_coefficients", 0, "None or an int of at least 1, or a sequence of such"),
        ("n_coefficients", [2, 0], "None or an int of at least 1, or a sequence of such"),
        ("n_coefficients", [], "None or an int of at least 1, or a sequence of such"),
        ("selection_decay", -0.1, "a number of at least 0, or a sequence of such"),
        ("selection_decay", "fast", "a number of at least 0, or a sequence of such"),
        ("envelope_height", 128, "a number from 0 to 127"),
        ("envelope_decay", np.nan, "a number of at least 0, or a sequence of such"),
        ("axis_projections", 1, "True or False"),
        ("max_partitions", 0, "an int from 1 to 8"),
        ("max_partitions", 9, "an int from 1 to 8"),
        ("max_partitions", True, "an int from 1 to 8"),
        ("max_cosine", 1.5, "a number from 0 to 1"),
        ("effective_ratio", -1, "a number from 0 to 1"),
        ("draws_per_sample", 0, "None or an int from 1 to 65536"),
        ("draws_per_sample", 2.0, "None or an int from 1 to 65536"),
        ("draws_per_sample", 65537, "None or an int from 1 to 65536"),
        ("racing_samples", 15, "None or an int of at least 16"),
        ("racing_samples", 100.0, "None or an int of at least 16"),
        ("racing_samples", True, "None or an int of at least 16"),
        ("n_finalists", 0, "an int of at least 1"),
        ("n_finalists", None, "an int of at least 1"),
        ("max_depth", 0, "None or an int of at least 1"),
        ("min_samples_split", 1, "an int of at least 2 or a float above 0 and up to 1"),
        ("min_samples_leaf", 0.0, "an int of at least 1 or a float above 0 and up to 1"),
        ("min_weight_fraction_leaf", 0.6, "a number from 0 to 0.5"),
        ("min_loss", -1.0, "a number of at least 0"),
        ("ccp_alpha", -1.0, "a number of at least 0"),
        ("feature_map", "log", "'auto' or 'linear' or 'quantile'"),
        ("class_weight", "heavy", "None or 'balanced' or a dict from class to weight"),
        ("random_state", "seed", "None, an int or a RandomState"),
        ("n_jobs", 0, "None or an int that is not 0"),
    ],
)
def test_parameter_out_of_range_is_named_with_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    message = f"{name} of SLMClassifier must be {allowed}; got {value!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        SLMClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "name", "value", "allowed"),
    [
        (SLMForestClassifier, "n_estimators", 0, "an int from 1 to 1000000"),
        (SLMForestClassifier, "n_estimators", 10.0, "an int from 1 to 1000000"),
        (SLMForestClassifier, "voting", "majority", "'soft' or 'hard'"),
        (SLMForestClassifier, "bootstrap", 1, "True or False"),
        (SLMForestClassifier, "max_samples", 0, "None or an int of at least 1 or a float above 0 and up to 1"),
        (SLMForestRegressor, "max_samples", 1.5, "None or an int of at least 1 or a float above 0 and up to 1"),
        (SLMForestRegressor, "oob_score", "yes", "True or False"),
        (SLMForestRegressor, "warm_start", None, "True or False"),
        (SLMForestRegressor, "criterion", "gini", "'squared_error'"),
        (SLMForestRegressor, "n_estimators", "auto", "an int from 1 to 1000000"),
        (SLMBoostClassifier, "n_estimators", -3, "'auto' or an int from 1 to 1000000"),
        (SLMBoostClassifier, "n_estimators", "Auto", "'auto' or an int from 1 to 1000000"),
        (SLMBoostRegressor, "n_estimators", 0, "'auto' or an int from 1 to 1000000"),
        (SLMBoostClassifier, "learning_rate", 0.0, "'auto' or a number above 0 and up to 1000"),
        (SLMBoostClassifier, "learning_rate", np.inf, "'auto' or a number above 0 and up to 1000"),
        (SLMBoostClassifier, "learning_rate", "fast", "'auto' or a number above 0 and up to 1000"),
        (SLMBoostRegressor, "learning_rate", "Auto", "'auto' or a number above 0 and up to 1000"),
        (SLMBoostRegressor, "learning_rate", True, "'auto' or a number above 0 and up to 1000"),
        (SLMBoostRegressor, "learning_rate", 1e100, "'auto' or a number above 0 and up to 1000"),
        (SLMBoostClassifier, "learning_rate", 1e308, "'auto' or a number above 0 and up to 1000"),
        (SLMBoostClassifier, "n_estimators", 2**63, "'auto' or an int from 1 to 1000000"),
        (SLMForestRegressor, "n_estimators", 2**63, "an int from 1 to 1000000"),
        (SLMBoostRegressor, "min_gain", -1.0, "a number of at least 0"),
        (SLMBoostRegressor, "min_gain", np.nan, "a number of at least 0"),
        (SLMBoostClassifier, "loss", "squared_error", "'log_loss' or a sublearn.Loss"),
        (SLMBoostClassifier, "loss", Loss, "'log_loss' or a sublearn.Loss"),  # the class in the place of an instance
        (SLMBoostClassifier, "l2_regularization", -1.0, "'auto' or a number of at least 0"),
        (SLMBoostClassifier, "min_child_weight", -1.0, "a number of at least 0"),
        (SLMBoostClassifier, "subsample", 0.0, "'auto' or a number above 0 and up to 1"),
        (SLMBoostClassifier, "subsample", 1.1, "'auto' or a number above 0 and up to 1"),
        (SLMBoostClassifier, "init", "mean", "'data' or 'zero'"),
        (SLMBoostClassifier, "early_stopping", "auto", "True or False"),
        (SLMBoostClassifier, "validation_fraction", 1.0, "a number above 0 and below 1"),
        (SLMBoostClassifier, "n_iter_no_change", 0, "an int of at least 1"),
        (SLMBoostClassifier, "callbacks", "print", "None or a callable or a list of such"),
        (SLMBoostClassifier, "callbacks", [None], "None or a callable or a list of such"),
        (SLMBoostClassifier, "verbose", -1, "True or False or an int of at least 0"),
        (SLMBoostRegressor, "quantile", 1.0, "None or a number above 0 and below 1"),
        (
            SLMBoostRegressor,
            "loss",
            "log_loss",
            "'squared_error' or 'absolute_error' or 'quantile' or 'huber' or 'poisson' or 'gamma' or a sublearn.Loss",
        ),
    ],
)
def test_parameter_of_an_ensemble_out_of_range_is_named(make: Any, name: str, value: Any, allowed: str) -> None:
    message = f"{name} of {make.__name__} must be {allowed}; got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make(**{name: value}).fit(X, Y)


@ALL
@pytest.mark.parametrize(
    "value",
    [object(), "nonsense", b"nonsense", np.nan, -0.5, [["nested"]]],
    ids=["object", "text", "bytes", "NaN", "negative", "nested"],
)
def test_every_parameter_is_checked(make: Any, value: Any) -> None:
    for name in make().get_params():
        message = f"^{name} of {make.__name__} must be .+; got {re.escape(repr(value))}.$"
        with pytest.raises(ValueError, match=message):
            make(**{name: value}).fit(X, Y)


def test_criterion_of_the_regressor_is_its_own() -> None:
    with pytest.raises(ValueError, match="criterion of SLMRegressor must be 'squared_error'; got 'gini'"):
        SLMRegressor(criterion="gini").fit(X, Y)


def test_rounds_of_unequal_number_are_refused() -> None:
    with pytest.raises(ValueError, match="sequences of one length; got lengths 2, 3, 1"):
        SLMClassifier(selection_decay=[0.1, 0.2], envelope_decay=[0.1, 0.2, 0.3]).fit(X, Y)


def test_no_candidates_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="no candidate projections; set axis_projections=True"):
        SLMClassifier(axis_projections=False, n_projections=0).fit(X, Y)


def test_coefficients_too_large_to_be_exact_are_refused() -> None:
    wide = np.random.default_rng(0).normal(size=(4, 600))
    with pytest.raises(ValueError, match="coefficients within 65793; got up to 76200"):
        SLMClassifier(subspace_size=600, envelope_height=127.0, envelope_decay=0.0).fit(wide, [0, 1, 0, 1])


# ---- numbers near the ends of what there is


def tree_of(model: Any) -> Any:
    return model.tree_ if hasattr(model, "tree_") else model.ensemble_.nodes


@ALL
@pytest.mark.parametrize(
    ("name", "harmless", "others"),
    [
        ("max_depth", None, {}),
        ("min_samples_split", 1000, {}),
        ("min_samples_leaf", 1000, {}),
        ("subspace_size", 4, {}),
        ("n_coefficients", 4, {}),
        ("racing_samples", None, {}),
        ("n_finalists", 1000, {"racing_samples": 16}),
        ("n_iter_no_change", 1000, {"early_stopping": True}),
        ("n_jobs", 1, {}),
    ],
)
def test_whole_number_beyond_all_others_is_no_limit(make: Any, name: str, harmless: Any, others: Any) -> None:
    if name not in make().get_params():
        return
    others = {**others, "random_state": 0, **({"learning_rate": 0.3} if make in BOOSTS else {})}  # nothing to try
    expected = small(make, **{name: harmless}, **others).fit(X, Y)
    for huge in (2**40, 2**63, np.uint64(2**63), 10**400):
        model = small(make, **{name: huge}, **others).fit(X, Y)
        assert_same_tree(tree_of(model), tree_of(expected))


@pytest.mark.parametrize("make", FORESTS)
def test_more_draws_than_samples_are_refused(make: Any) -> None:
    message = f"max_samples of {make.__name__} must be at most the number of samples, 150; got {2**63}."
    with pytest.raises(ValueError, match=message):
        small(make, bootstrap=True, max_samples=2**63).fit(X, Y)


@ALL
def test_number_that_no_float_can_hold_is_named(make: Any) -> None:
    name = "min_gain" if make in BOOSTS else "min_loss"
    with pytest.raises(ValueError, match=f"{name} of {make.__name__} must be a number"):
        small(make, **{name: 10**400}).fit(X, Y)


EXTREMES = pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300, 1e308])


@EXTREMES
@pytest.mark.parametrize("make", [*TREES, *FORESTS])
def test_trees_ask_for_no_more_than_the_ratios_of_weights(make: Any, size: float) -> None:
    weights = np.where(np.arange(150) % 3, 0.5, 1.0)
    models = [small(make, random_state=0).fit(X, Y, sample_weight=weights * factor) for factor in (1.0, size)]
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), rtol=1e-6)  # weights keep 30 bits


@EXTREMES
@pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier])
def test_trees_ask_for_no_more_than_the_ratios_of_class_weights(make: Any, size: float) -> None:
    models = [
        small(make, random_state=0, class_weight={0: factor, 1: factor / 2, 2: 0.0}).fit(X, Y) for factor in (1.0, size)
    ]
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), rtol=1e-3)  # 1e-320 has few bits


@EXTREMES
@BOTH_BOOSTS
def test_boosting_names_weights_that_are_too_large_or_too_small(make: Any, size: float) -> None:
    message = f"sample_weight of {make.__name__} must have a largest weight from 1e-50 to 1e[+]50; got {size:g}"
    message = message.replace("1e+3", "1e[+]3")
    with pytest.raises(ValueError, match=f"^{message}"):
        small(make).fit(X, Y, sample_weight=np.full(150, size))
    with pytest.raises(ValueError, match=f"^eval_{message}"):
        small(make).fit(X, Y, eval_set=(X, Y), eval_sample_weight=np.full(150, size))


@EXTREMES
def test_boosting_names_class_weights_that_are_too_large_or_too_small(size: float) -> None:
    with pytest.raises(ValueError, match=r"^class_weight of SLMBoostClassifier must have a largest weight from 1e-50"):
        small(SLMBoostClassifier, class_weight={0: size, 1: 0.0, 2: 0.0}).fit(X, Y)


@BOTH_BOOSTS
@pytest.mark.parametrize("size", [1e-49, 1e49])
def test_boosting_takes_weights_within_its_limits(make: Any, size: float) -> None:
    settings = {"l2_regularization": 0.0, "min_child_weight": 0.0, "learning_rate": 0.3, "random_state": 0}
    weights = np.where(np.arange(150) % 3, 0.5, 1.0)
    ours, theirs = (
        small(make, **settings).fit(X, Y, sample_weight=weights * f, eval_set=(X, Y), eval_sample_weight=weights * f)
        for f in (size, 1.0)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    np.testing.assert_allclose(ours.validation_score_, theirs.validation_score_, rtol=1e-6)


@pytest.mark.parametrize(
    "weight", ["heavy", ["heavy"] * 150, [10**400] * 150, np.zeros(150, "datetime64[D]")], ids=range(4)
)
def test_weights_that_are_no_numbers_are_called_by_their_name(weight: Any) -> None:
    with pytest.raises(ValueError, match=r"^sample_weight of SLMClassifier must hold finite numbers"):
        SLMClassifier().fit(X, Y, sample_weight=weight)


# ---- learning too fast


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma"])
def test_numbers_that_run_away_name_the_learning_rate(loss: str) -> None:
    model = SLMBoostRegressor(loss=loss, learning_rate=1000, n_estimators=100, random_state=0)
    message = r"^learning_rate of SLMBoostRegressor must be lower, .*: round \d+ .*; got 1000[.]$"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y + 1.0)
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_run_away_name_the_learning_rate(n_classes: int) -> None:
    y = np.random.default_rng(0).integers(0, n_classes, 150)
    greedy = {"l2_regularization": 0.0, "min_child_weight": 0.0, "min_gain": 0.0}
    with pytest.raises(ValueError, match=r"^learning_rate of SLMBoostClassifier must be lower, or l2_regularization"):
        small(SLMBoostClassifier, learning_rate=1000, n_estimators=100, random_state=0, **greedy).fit(X, y)


@pytest.mark.parametrize("y", [Y, np.random.default_rng(0).integers(0, 2, 150)], ids=["three", "two"])
def test_probabilities_of_a_fast_learner_are_finite(y: Any) -> None:
    model = SLMBoostClassifier(learning_rate=1000, n_estimators=100, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(3 * X)).all()


def test_round_that_ran_away_is_counted_from_the_first_fit_on() -> None:
    model = SLMBoostRegressor(learning_rate=0.1, n_estimators=5, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"round (3|4)\d adds"):
        model.set_params(learning_rate=1000, n_estimators=100).fit(X, Y)
    assert model.n_iter_ == 5


# ---- targets and exposures near the ends of the floats

SIGNAL = X @ [1.0, -2.0, 3.0, 1.0]
AMOUNTS = np.exp(SIGNAL / SIGNAL.max())
LIMITS: dict[str, tuple[Any, float, float]] = {  # targets whose largest is 1, and within what they may be scaled
    **dict.fromkeys(["squared_error", "absolute_error", "quantile", "huber"], (SIGNAL / SIGNAL.max(), 1e-100, 1e100)),
    "poisson": (AMOUNTS / AMOUNTS.max(), 1e-100, 1e100),
    "gamma": (AMOUNTS / AMOUNTS.max(), 1e-99, 1e100),  # each must be within the limits
}


@pytest.mark.parametrize("loss", LIMITS)
def test_targets_just_within_the_limits_are_learned_as_others(loss: str) -> None:
    y, low, high = LIMITS[loss]
    model = small(
        SLMBoostRegressor, loss=loss, n_estimators=30, random_state=0, l2_regularization=0.0, min_child_weight=0.0
    )
    goal = r2_score(y, model.fit(X, y).predict(X))
    assert goal > 0.9
    for scale in (low, high):
        predicted = model.fit(X, y * scale, eval_set=(X, y * scale)).predict(X)
        assert r2_score(y, predicted / scale) == pytest.approx(goal, abs=0.01)
        assert np.isfinite([*model.train_score_, *model.validation_score_]).all()


@pytest.mark.parametrize("loss", LIMITS)
@pytest.mark.parametrize("scale", [1e-300, 0.9e-100, 1.1e100, 1e300])
def test_targets_beyond_the_limits_are_refused_with_their_range(loss: str, scale: float) -> None:
    y = LIMITS[loss][0] * scale
    message = rf"^y must .*from 1e-100 to 1e[+]100.*; SLMBoostRegressor.fit got numbers from {y.min():g} to {y.max():g}"
    model = small(SLMBoostRegressor, loss=loss)
    with pytest.raises(ValueError, match=message.replace("e+", "e[+]")):
        model.fit(X, y)
    with pytest.raises(ValueError, match="in eval_set"):
        model.fit(X, LIMITS[loss][0], eval_set=(X, y))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "huber"])
def test_targets_that_are_all_zero_are_learned(loss: str) -> None:
    assert not small(SLMBoostRegressor, loss=loss).fit(X, 0.0 * Y).predict(X).any()


@pytest.mark.parametrize("make", [SLMRegressor, SLMForestRegressor])
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_trees_learn_targets_of_any_size(make: Any, scale: float) -> None:
    model = small(make, random_state=0)
    y = SIGNAL / SIGNAL.max()
    goal = r2_score(y, model.fit(X, y).predict(X))
    assert r2_score(y, model.fit(X, y * scale).predict(X) / scale) == pytest.approx(goal, abs=1e-6)


def test_targets_that_a_forest_cannot_add_up_are_refused() -> None:
    y = SIGNAL / SIGNAL.max() * 1e307
    with pytest.raises(ValueError, match=r"^y of SLMForestRegressor must lie from -1e[+]300 to 1e[+]300.* to 1e[+]307"):
        SLMForestRegressor().fit(X, y)
    assert np.isfinite(SLMRegressor().fit(X, y).predict(X)).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200, 1e298])
def test_out_of_bag_score_does_not_depend_on_the_size_of_targets(scale: float) -> None:
    model = SLMForestRegressor(n_estimators=30, bootstrap=True, oob_score=True, random_state=0)
    weights = np.where(np.arange(150) % 3, 0.5, 1.0)
    score = model.fit(X, SIGNAL, sample_weight=weights).oob_score_
    model.fit(X, SIGNAL * scale, sample_weight=weights * 1e307)
    assert model.oob_score_ == pytest.approx(score, abs=1e-3)  # weights and targets are rounded otherwise


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
@pytest.mark.parametrize(("scale", "unit"), [(1e-49, 1e-49), (1e49, 1e49), (1e99, 1e-49), (1e-99, 1e49)])
def test_rates_of_exposures_within_the_limits_are_learned(loss: str, scale: float, unit: float) -> None:
    y, exposure = AMOUNTS / AMOUNTS.max(), np.where(np.arange(150) % 2, 1.0, 0.5)
    settings = {"learning_rate": 0.1, "n_estimators": 100, "l2_regularization": 0.0, "min_child_weight": 0.0}
    model = small(SLMBoostRegressor, loss=loss, random_state=0, **settings)
    goal = r2_score(y, model.fit(X, y, exposure=exposure).predict(X, exposure))
    predicted = model.fit(X, y * scale, exposure=exposure * unit).predict(X, exposure * unit)
    assert goal > 0.9
    assert r2_score(y, predicted / scale) == pytest.approx(goal, abs=0.01)


@pytest.mark.parametrize("exposure", [1e-300, 1e-51, 1e51, 1e300])
def test_exposure_beyond_the_limits_is_refused_wherever_it_is_given(exposure: float) -> None:
    given = np.append(np.ones(149), exposure)
    model = small(SLMBoostRegressor, loss="gamma")
    with pytest.raises(ValueError, match=r"^exposure of SLMBoostRegressor must lie from 1e-50 to 1e[+]50; got"):
        model.fit(X, Y + 1, exposure=given)
    with pytest.raises(ValueError, match=r"^eval_exposure of SLMBoostRegressor must lie from 1e-50 to 1e[+]50; got"):
        model.fit(X, Y + 1, exposure=np.ones(150), eval_set=(X, Y + 1), eval_exposure=given)
    with pytest.raises(ValueError, match=r"^exposure of SLMBoostRegressor must lie"):
        model.fit(X, Y + 1, exposure=np.ones(150)).predict(X, exposure=exposure)


# ---- parameters that go with others


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "gamma", Loss()])
def test_quantile_is_refused_by_losses_that_know_none(loss: Any) -> None:
    message = "quantile of SLMBoostRegressor must be None unless the loss is 'quantile' or 'huber'; got 0.9."
    with pytest.raises(ValueError, match=message):
        small(SLMBoostRegressor, loss=loss, quantile=0.9).fit(X, Y + 1)


# ---- parameters changed after the fit


@ALL
def test_wrong_n_jobs_is_named_by_predict_as_by_fit(make: Any) -> None:
    model = small(make).fit(X, Y).set_params(n_jobs="x")
    calls = ["predict", "predict_proba", "apply", "decision_path", "decision_function", "staged_predict"]
    for call in (getattr(model, name) for name in calls if hasattr(model, name)):
        with pytest.raises(
            ValueError, match=f"n_jobs of {make.__name__} must be None or an int that is not 0; got 'x'"
        ):
            next(iter(call(X)))


# ---- data


@ALL
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((np.where(X > 7.5, np.nan, X), Y), None),
        ((np.where(X > 7.5, np.inf, X), Y), "contains infinity"),
        ((X[:0], Y[:0]), "0 sample"),
        ((X[:, :0], Y), "0 feature"),
        ((X[:, 0], Y), "Expected 2D array"),
        ((X[None], Y), "dim 3"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X, np.column_stack([Y, Y])), "y should be a 1d array|must hold one class"),
        ((X, None), "requires y to be passed"),
        ((X.astype(str), Y), None),
        ((np.array([["a", "b"]] * 150), Y), "X contains text such as 'a' in column 0"),
        ((X + 1j, Y), "Complex data not supported"),
    ],
)
def test_bad_data_is_refused(make: Any, data: Any, message: str | None) -> None:
    if message is None:  # numbers written as text are numbers to scikit-learn
        small(make).fit(*data)
        return
    with pytest.raises(ValueError, match=message):
        make().fit(*data)


@ALL
@pytest.mark.parametrize("y", [np.where(Y == 0, np.nan, Y), np.where(Y == 0, np.inf, Y)])
def test_target_without_a_value_is_refused(make: Any, y: Any) -> None:
    with pytest.raises(ValueError, match="y contains"):
        make().fit(X, y)


@CLASSIFIERS
def test_continuous_labels_point_to_the_regressor(make: Any) -> None:
    features, targets = load_diabetes(return_X_y=True)
    other = make.__name__.replace("Classifier", "Regressor")
    message = rf"Unknown label type: continuous.*y holds 442 distinct floats; did you mean {other}\?"
    with pytest.raises(ValueError, match=message):
        make().fit(features, targets + np.linspace(0.1, 0.2, len(targets)))


@ALL
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.eye(150)[3], "sample_weight of .* must not be negative; got -1 for sample 3"),
        (np.zeros(150), "all weights are zero|at least one non-zero number"),
        (np.ones(149), "must hold one number for each of 150 samples; got shape"),
        (np.full(150, np.nan), "sample_weight contains NaN"),
        (np.ones((150, 2)), "must hold one number for each of 150 samples; got shape"),
    ],
)
def test_bad_weights_are_refused(make: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, sample_weight=weights)


@CLASSIFIERS
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({7: 1.0}, "class_weight of SLM.*Classifier must have classes of y as keys; got 7"),
        ({0: -1.0}, "must have finite weights of at least 0"),
        ({0: "heavy"}, "must have finite weights of at least 0"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "not all 0"),
    ],
)
def test_bad_class_weights_are_refused(make: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(class_weight=weights).fit(X, Y)


@ALL
@pytest.mark.parametrize("call", ["predict", "apply"])
def test_bad_samples_to_predict_are_refused(make: Any, call: str) -> None:
    predict = getattr(small(make).fit(X, Y), call)
    with pytest.raises(ValueError, match=f"X has 3 features, but {make.__name__} is expecting 4"):
        predict(X[:, :3])
    with pytest.raises(ValueError, match="contains infinity"):
        predict(np.where(X > 7.5, np.inf, X))
    with pytest.raises(ValueError, match="Expected 2D array"):
        predict(X[0])


@ENSEMBLES
def test_unfitted_model_says_so(make: Any) -> None:
    model = make()
    calls = ["predict", "apply", "predict_proba", "predict_log_proba", "decision_function"]
    for call in filter(lambda name: hasattr(model, name), calls):
        with pytest.raises(NotFittedError):
            getattr(model, call)(X)
    for call in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        if hasattr(model, call):
            with pytest.raises(NotFittedError):
                next(getattr(model, call)(X))
    attributes = ["feature_importances_", *(["estimators_"] if make in FORESTS else [])]
    for attribute in attributes:
        with pytest.raises(NotFittedError):
            getattr(model, attribute)


# ---- what is left behind


@ALL
def test_failed_fit_leaves_the_earlier_model_usable(make: Any) -> None:
    model = small(make, random_state=0).fit(X, Y)
    before = model.predict(X)
    attributes = set(vars(model))
    wide = np.column_stack([X, X])
    cases: list[Any] = [
        ({}, np.full(150, np.nan), None),
        ({}, Y, -np.ones(150)),
        ({"n_bins": 0}, Y, None),
        ({"axis_projections": False, "n_projections": 0, "fitted_projections": 0}, Y, None),
    ]
    for parameters, y, weights in cases:
        with pytest.raises(ValueError):
            model.set_params(**parameters).fit(wide, y, sample_weight=weights)
        model.set_params(**small(make, random_state=0).get_params())
        assert model.n_features_in_ == 4
        assert set(vars(model)) == attributes
        np.testing.assert_array_equal(model.predict(X), before)


@ALL
def test_failed_first_fit_leaves_the_model_unfitted(make: Any) -> None:
    model = make()
    with pytest.raises(ValueError):
        model.fit(X, Y, sample_weight=-np.ones(150))
    assert set(vars(model)) == set(model.get_params())


# ---- growing on


@ENSEMBLES
def test_fewer_trees_than_there_are_cannot_be_grown_on(make: Any) -> None:
    model = make(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    before = model.predict(X)
    message = f"n_estimators of {make.__name__} must be at least 3, the number there is, when warm_start=True; got 2."
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=2).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), before)


@ENSEMBLES
@pytest.mark.parametrize("width", [1, 3, 5, 40])
def test_trees_that_are_kept_go_with_no_other_features(make: Any, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    before = model.predict(X)

    def checked(x: Any, maps: Any, workers: Any) -> Any:
        assert x.shape[1] == len(maps.units)  # a kernel would read beyond the end
        return encode_samples(x, maps, workers)

    monkeypatch.setattr("sublearn.core.data.samples.encode_samples", checked)
    message = f"X of {make.__name__}.fit must have 4 features as before, since warm_start=True .*; got {width}."
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=6).fit(np.resize(X, (len(X), width)), Y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("make", [SLMForestClassifier, SLMBoostClassifier])
@pytest.mark.parametrize("labels", [Y + 1, np.minimum(Y, 1), np.array(["a", "b", "c"])[Y]])
def test_trees_that_are_kept_go_with_no_other_classes(make: Any, labels: Any) -> None:
    model = make(n_estimators=3, warm_start=True, random_state=0).fit(X, Y)
    message = rf"y of {make.__name__}.fit must hold the classes \[0, 1, 2\] as before, since warm_start=True"
    with pytest.raises(ValueError, match=message):
        model.set_params(n_estimators=6).fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, Y) > 0.9


# ---- samples to validate on


@BOTH_BOOSTS
@pytest.mark.parametrize(
    ("eval_set", "message"),
    [
        ("Xy", "eval_set of SLM.* must be one pair .X, y.; got str"),
        (X, "eval_set of SLM.* must be one pair .X, y.; got ndarray"),
        ((X, Y, Y), "eval_set of SLM.* must be one pair .X, y.; got tuple"),
        ((X,), "eval_set of SLM.* must be one pair .X, y.; got tuple"),
        ({"X": X, "y": Y}, "eval_set of SLM.* must be one pair .X, y.; got dict"),
        ([], "eval_set of SLM.* must be one pair .X, y.; got list"),
        ([(X, Y), (X, Y)], "eval_set of SLM.* must be one pair .X, y."),
        ((X, None), "requires y to be passed"),
        ((X[:, :3], Y), "X has 3 features, but SLM.* is expecting 4"),
        ((np.column_stack([X, X]), Y), "X has 8 features, but SLM.* is expecting 4"),
        ((np.where(X > 7.5, np.inf, X), Y), "X contains infinity"),
        ((X, np.where(Y == 0, np.nan, Y)), "y contains NaN"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X[:0], Y[:0]), "0 sample"),
        ((X, np.column_stack([Y, Y])), "y should be a 1d array"),
    ],
)
def test_bad_validation_samples_are_refused(make: Any, eval_set: Any, message: str) -> None:
    model = small(make)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, eval_set=eval_set)
    assert set(vars(model)) == set(model.get_params())


@BOTH_BOOSTS
def test_pair_to_validate_on_may_come_in_a_list(make: Any) -> None:
    model = small(make, random_state=0)
    scores = [model.fit(X, Y, eval_set=given).validation_score_ for given in ((X, Y), [X, Y], [(X, Y)])]
    assert scores[0].tolist() == scores[1].tolist() == scores[2].tolist()
    assert len(scores[0]) == 4


@BOTH_BOOSTS
def test_validation_samples_with_other_names_are_refused(make: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="feature names should match"):
        small(make).fit(frame, Y, eval_set=(frame[["d", "c", "b", "a"]], Y))


@pytest.mark.parametrize(
    ("labels", "given", "unknown"),
    [
        (Y, Y + 1, [3]),
        (Y, np.array(["a", "b", "c"])[Y], ["a", "b", "c"]),
        (np.array(["a", "b", "d"])[Y], ["c"], ["c"]),
        (np.array(["a", "b", "d"])[Y], np.array(["a", 7], object), [7]),
    ],
)
def test_classes_to_validate_on_must_be_known(labels: Any, given: Any, unknown: list[Any]) -> None:
    message = f"eval_set of SLMBoostClassifier.fit must hold classes of y only; got {unknown} too."
    with pytest.raises(ValueError, match=re.escape(message)):
        small(SLMBoostClassifier).fit(X, labels, eval_set=(X[: len(given)], given))


def test_words_to_validate_a_regression_on_are_refused() -> None:
    with pytest.raises(ValueError, match="y contains text such as 'a'"):
        small(SLMBoostRegressor).fit(X, Y, eval_set=(X, np.array(["a", "b", "c"])[Y]))


@BOTH_BOOSTS
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.eye(150)[3], "must not be negative; got -1 for sample 3"),
        (np.zeros(150), "all weights are zero|at least one non-zero number"),
        (np.ones(149), "eval_sample_weight of .* must hold one number for each of 150 samples"),
        (np.full(150, np.nan), "contains NaN"),
    ],
)
def test_bad_weights_to_validate_with_are_refused(make: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(make).fit(X, Y, eval_set=(X, Y), eval_sample_weight=weights)


@BOTH_BOOSTS
def test_weights_to_validate_with_are_called_by_their_name(make: Any) -> None:
    with pytest.raises(ValueError, match=f"^eval_sample_weight of {make.__name__}.fit must not be negative"):
        small(make).fit(X, Y, eval_set=(X, Y), eval_sample_weight=-np.ones(150))


def test_validation_samples_whose_classes_have_no_weight_are_refused() -> None:
    model = small(SLMBoostClassifier, class_weight={0: 0, 1: 1, 2: 1})
    with pytest.raises(ValueError, match="eval_set"):
        model.fit(X, Y, eval_set=(X[:50], Y[:50]))


# ---- the domain of a loss


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", Y - 1.0, "y must not be negative .*; SLMBoostRegressor.fit got numbers from -1 to 1"),
        ("poisson", 0.0 * Y, "y must not be zero everywhere for the loss .poisson"),
        ("gamma", Y, "y must be positive for the loss 'gamma'; SLMBoostRegressor.fit got numbers from 0 to 2"),
        ("gamma", Y - 5, "y must be positive for the loss 'gamma'; SLMBoostRegressor.fit got numbers from -5 to -3"),
    ],
)
def test_numbers_outside_the_domain_of_a_loss_are_refused(loss: str, y: Any, message: str) -> None:
    model = small(SLMBoostRegressor, loss=loss)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize(("loss", "y"), [("poisson", Y - 1.0), ("gamma", Y)])
def test_numbers_to_validate_on_must_be_in_the_domain_too(loss: str, y: Any) -> None:
    with pytest.raises(ValueError, match=f"y must .* for the loss '{loss}'"):
        small(SLMBoostRegressor, loss=loss).fit(X, Y + 1, eval_set=(X, y))


def test_samples_without_weight_may_lie_outside_the_domain() -> None:
    model = small(SLMBoostRegressor, loss="gamma").fit(X, Y, sample_weight=Y > 0, eval_set=(X, Y), eval_sample_weight=Y)
    assert len(model.validation_score_) == 4


def test_rare_counts_may_all_be_on_one_side_of_the_split() -> None:
    y = np.zeros(150)
    y[[20, 70]] = 1.0
    for seed in range(8):  # a tenth of the samples seldom holds one of two
        model = small(SLMBoostRegressor, loss="poisson", early_stopping=True, random_state=seed).fit(X, y)
        assert np.isfinite(model.validation_score_).all()


# ---- exposure


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "huber", Loss()])
def test_exposure_is_refused_by_losses_that_know_no_rate(loss: Any) -> None:
    message = "exposure of SLMBoostRegressor must be None unless the loss is 'poisson' or 'gamma'"
    with pytest.raises(ValueError, match=message):
        small(SLMBoostRegressor, loss=loss).fit(X, Y, exposure=np.ones(150))
    with pytest.raises(ValueError, match=message):
        small(SLMBoostRegressor).fit(X, Y).predict(X, exposure=np.ones(150))


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
@pytest.mark.parametrize(
    "exposure",
    [np.arange(150.0), -np.ones(150), np.zeros(150), np.full(150, np.inf), np.full(150, np.nan), np.ones(149), ["a"]],
    ids=["zero", "negative", "all zero", "infinite", "nan", "short", "word"],
)
def test_bad_exposure_is_refused_wherever_it_is_given(loss: str, exposure: Any) -> None:
    model = small(SLMBoostRegressor, loss=loss)
    with pytest.raises(ValueError):
        model.fit(X, Y + 1, exposure=exposure)
    with pytest.raises(ValueError):
        model.fit(X, Y + 1, eval_set=(X, Y + 1), eval_exposure=exposure)
    assert set(vars(model)) == set(model.get_params())
    model.fit(X, Y + 1, exposure=np.ones(150))
    with pytest.raises(ValueError):
        model.predict(X, exposure=exposure)
    with pytest.raises(ValueError):
        next(model.staged_predict(X, exposure=exposure))


@pytest.mark.parametrize(
    "exposure",
    [np.arange(150.0), np.zeros(150), np.full(150, np.nan), np.ones(149)],
    ids=["zero", "all zero", "nan", "short"],
)
def test_exposure_is_called_by_its_name(exposure: Any) -> None:
    model = small(SLMBoostRegressor, loss="poisson")
    with pytest.raises(ValueError, match=r"exposure") as caught:
        model.fit(X, Y, exposure=exposure)
    assert "weight" not in str(caught.value)


# ---- too few samples


@pytest.mark.parametrize(("make", "n"), [(SLMBoostRegressor, 1), (SLMBoostClassifier, 1), (SLMBoostClassifier, 2)])
def test_early_stopping_tells_that_there_are_too_few_samples(make: Any, n: int) -> None:
    message = f"validation_fraction of {make.__name__} must leave samples.*; got 0.1 of {n} samples: .*an eval_set."
    rows = [0, 50, 100][:n]
    model = small(make, early_stopping=True, validation_fraction=0.1)
    with pytest.raises(ValueError, match=message):
        model.fit(X[rows], Y[rows])
    assert model.fit(X[rows], Y[rows], eval_set=(X[rows], Y[rows])).n_iter_ <= 3


@ALL
def test_too_few_samples_for_the_folds_is_scikit_learns_error(make: Any) -> None:
    rows = [0, 1, 2, 50, 51, 52]
    message = "n_splits=.* cannot be greater than the number of|Cannot have number of splits n_splits=.* greater than"
    with pytest.raises(ValueError, match=message):
        cross_val_score(small(make), X[rows], Y[rows], cv=7)
    with pytest.raises(ValueError, match=message):
        GridSearchCV(small(make), {"max_depth": [1, 2]}, cv=7).fit(X[rows], Y[rows])


@ALL
def test_one_sample_is_enough_to_fit(make: Any) -> None:
    assert small(make).fit(X[:1], [7]).predict(X[:3]).tolist() == [7, 7, 7]


@ALL
def test_more_rows_than_have_numbers_are_refused_in_one_place_alone(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MOST_ROWS", 149)
    with pytest.raises(ValueError, match=f"X of {make.__name__}.fit must have at most 149 rows on one"):
        small(make).fit(X, Y)
    for model in fit_in_partitions(small(make, random_state=0), [0, 80, 150], X, Y):
        assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match=r"In partition 1: .* got 150"):
        fit_in_partitions(small(make), [0, 5, 155], np.concatenate([X[:5], X]), np.concatenate([Y[:5], Y]))
