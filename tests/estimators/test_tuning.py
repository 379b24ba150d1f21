"""tune: what it gives back, what it leaves alone, and that it ends when it should."""

import math
import pickle
import re
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

import sublearn
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    tune,
    tuning,
)
from sublearn._base import progress
from sublearn.tuning import SPACES, Choice, Number, Space, Tuning, Whole

WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
BOTH: list[Any] = [SLMClassifier(random_state=0), SLMRegressor(random_state=0)]
LONG = 1e6  # seconds, where settings are counted instead


@pytest.fixture
def at_most(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets a search go on for so many fits after those of the estimator as it is, whatever the clock says."""

    def limit(n_fits: int) -> None:
        left = [n_fits]
        score = tuning._Search._score

        def counted(self: Any, settings: dict[str, Any], stage: Any) -> float:
            left[0] -= bool(settings)
            return score(self, settings, stage)

        monkeypatch.setattr(tuning._Search, "_score", counted)
        monkeypatch.setattr(tuning._Search, "_time_for", lambda self, stage: left[0] > 0)

    return limit


class Clock:
    """A clock for `tune` that moves only while something is fitted; no fit takes over 1.3 times as long as another."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now, self._patch, self._rng = 0.0, patch, np.random.default_rng(0)
        patch.setattr(tuning, "time", SimpleNamespace(monotonic=lambda: self.now))

    def time_fits_of(self, make: Any) -> None:
        fit = make.fit

        def timed(model: Any, X: Any, y: Any) -> Any:
            self.now += 4e-5 * len(X) * self._rng.uniform(1.0, tuning.RESERVE)
            return fit(model, X, y)

        self._patch.setattr(make, "fit", timed)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def data_of(model: Any) -> Any:
    return WINE if hasattr(model, "predict_proba") else DIABETES


# ---- what comes back ----


@pytest.mark.parametrize(
    "model",
    [
        *BOTH,
        SLMForestClassifier(n_estimators=3, random_state=0),
        SLMForestRegressor(n_estimators=3, random_state=0),
        SLMBoostClassifier(n_estimators=3, learning_rate=0.3, random_state=0),
        SLMBoostRegressor(n_estimators=3, learning_rate=0.3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_result_is_an_ordinary_estimator(model: Any, at_most: Callable[[int], None]) -> None:
    at_most(25)
    X, y = data_of(model)
    given = model.get_params()
    began = time.monotonic()
    found = tune(model, X, y, budget=LONG, verbose=False)
    passed = time.monotonic() - began
    assert type(found) is type(model)
    assert model.get_params() == given
    assert not hasattr(model, "n_features_in_")
    assert found.predict(X).shape == y.shape
    result = found.tuning_
    assert isinstance(result, Tuning)
    assert found.get_params() == given | result.parameters
    assert set(result.parameters) <= set(SPACES[tuning._kind(model)])
    assert result.score >= result.default_score
    assert 1 < result.n_settings <= 26
    assert 0 <= result.n_dropped < result.n_settings
    assert 0 < result.seconds <= passed
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert again.tuning_ == result
    fresh = clone(found)
    assert not hasattr(fresh, "tuning_")
    np.testing.assert_array_equal(fresh.fit(X, y).predict(X), found.predict(X))


def test_default_score_is_that_of_five_folds() -> None:
    X, y = WINE
    seed = int(np.random.RandomState(0).randint(2**31))
    scores = []
    for training, testing in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model = SLMForestClassifier(n_estimators=10, random_state=0).fit(X[training], y[training])
        scores.append(-log_loss(y[testing], model.predict_proba(X[testing])))
    found = tune(SLMForestClassifier(n_estimators=10, random_state=0), X, y, budget=1e-6, verbose=False).tuning_
    assert found.default_score == pytest.approx(np.mean(scores))
    assert found[:2] == ({}, found.default_score)
    X, y = DIABETES
    errors = []
    for training, testing in KFold(5, shuffle=True, random_state=seed).split(X, y):
        tree = SLMRegressor(random_state=0).fit(X[training], y[training])
        errors.append(root_mean_squared_error(y[testing], tree.predict(X[testing])))
    found = tune(SLMRegressor(random_state=0), X, y, budget=1e-6, verbose=False).tuning_
    assert found.default_score == pytest.approx(-np.mean(errors))


def test_better_settings_are_found(at_most: Callable[[int], None]) -> None:
    at_most(40)
    X, y = DIABETES
    found = tune(SLMRegressor(random_state=0), X, y, budget=LONG, verbose=False)
    assert found.tuning_.score > 1.05 * found.tuning_.default_score  # errors, less of them
    assert found.tuning_.parameters


def test_search_is_repeatable(at_most: Callable[[int], None]) -> None:
    found = []
    for _ in range(2):
        at_most(30)
        found.append(tune(SLMRegressor(random_state=3), *DIABETES, budget=LONG, verbose=False))
    assert found[0].tuning_[:5] == found[1].tuning_[:5]
    np.testing.assert_array_equal(found[0].predict(DIABETES[0]), found[1].predict(DIABETES[0]))


# ---- what is searched ----


def test_parameters_that_are_given_stay(at_most: Callable[[int], None]) -> None:
    at_most(30)
    given: dict[str, Any] = {"n_bins": 5, "n_coefficients": 1, "min_samples_leaf": 40}
    found = tune(SLMRegressor(random_state=0, **given), *DIABETES, budget=LONG, verbose=False)
    assert found.get_params() | given == found.get_params()
    assert found.tuning_.parameters.keys() == SPACES["tree"].keys() - given.keys()


def test_space_of_ones_own(at_most: Callable[[int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    at_most(60)
    seen: list[dict[str, Any]] = []
    score = tuning._Search._score

    def noted(self: Any, settings: dict[str, Any], stage: Any) -> float:
        seen.append(settings)
        return score(self, settings, stage)

    monkeypatch.setattr(tuning._Search, "_score", noted)
    space: Space = {
        "n_coefficients": Choice((1, (2, 3), None)),
        "min_samples_leaf": Whole(3, 5),
        "selection_decay": Number(0.5, 0.75),
        "n_bins": Whole(8, 16, log=True),
        "envelope_height": Number(1.0, 4.0, log=True),
    }
    found = tune(SLMRegressor(random_state=0), *DIABETES, budget=LONG, space=space, verbose=False)
    assert found.tuning_.parameters.keys() in (set(), space.keys())
    tried = [settings for settings in seen if settings]
    assert {settings["n_coefficients"] for settings in tried} == {1, (2, 3), None}
    assert {settings["min_samples_leaf"] for settings in tried} == {3, 4, 5}
    for settings in tried:
        assert settings.keys() == space.keys()
        assert 0.5 <= settings["selection_decay"] <= 0.75
        assert 8 <= settings["n_bins"] <= 16
        assert 1.0 <= settings["envelope_height"] <= 4.0


@pytest.mark.parametrize("kind", SPACES)
def test_every_default_space_is_of_parameters_of_its_estimators(kind: str) -> None:
    prefix = {"tree": "SLM", "forest": "SLMForest", "boost": "SLMBoost"}[kind]
    for ending in ("Classifier", "Regressor"):
        model = getattr(sublearn, prefix + ending)()
        assert tuning._kind(model) == kind
        assert tuning._open(model, SPACES[kind]).keys() == SPACES[kind].keys() <= model.get_params().keys()


# ---- scores ----


@pytest.mark.parametrize(("model", "scoring"), [(BOTH[0], "accuracy"), (BOTH[1], "r2"), (BOTH[0], "roc_auc_ovr")])
def test_scoring_by_name(model: Any, scoring: str) -> None:
    found = tune(model, *data_of(model), budget=1e-6, scoring=scoring, verbose=False)
    assert 0.2 < found.tuning_.default_score <= 1.0 or scoring == "r2"
    other = tune(model, *data_of(model), budget=1e-6, verbose=False)
    assert found.tuning_.default_score > other.tuning_.default_score


def test_scoring_by_a_function() -> None:
    found = tune(BOTH[1], *DIABETES, budget=1e-6, scoring=lambda model, X, y: float(len(y)), verbose=False)
    assert found.tuning_.default_score == pytest.approx(len(DIABETES[1]) / 5)


def test_weights_are_for_fitting_and_scoring() -> None:
    X, y = DIABETES
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    others = np.where(weights, y, 1e4)  # what has no weight may be anything
    one, other = (tune(BOTH[1], X, target, weights, budget=1e-6, verbose=False) for target in (y, others))
    assert one.tuning_.default_score == other.tuning_.default_score > -200
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert tune(BOTH[1], X, y, budget=1e-6, verbose=False).tuning_.default_score != one.tuning_.default_score


@pytest.mark.parametrize("model", [*BOTH, SLMBoostRegressor(n_estimators=3, learning_rate=0.3, random_state=0)])
@pytest.mark.parametrize("many", [tuning.MANY, 20])
def test_rows_of_weight_zero_are_absent(
    model: Any, many: int, at_most: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "MANY", many)
    X, y = data_of(model)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    weights[: len(y) // 2] = 0.0
    found = []
    for rows in (slice(None), weights > 0):
        at_most(20)
        found.append(tune(model, X[rows], y[rows], weights[rows], budget=LONG, verbose=False))
    assert found[0].tuning_[:5] == found[1].tuning_[:5]
    assert found[0].tuning_.n_settings > 1
    np.testing.assert_array_equal(found[0].predict(X), found[1].predict(X))


@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_a_few_rows_of_weight_are_enough(model: Any) -> None:
    X, y = data_of(model)
    rows = np.argsort(y, kind="stable")[:6]  # of one class
    weights = np.bincount(rows, minlength=len(y))
    assert math.isfinite(tune(model, X, y, weights, budget=1e-6, verbose=False).tuning_.default_score)
    weights[rows[:2]] = 0
    with pytest.raises(ValueError, match="5 samples whose sample_weight is above 0, to learn from some"):
        tune(model, X, y, weights, verbose=False)


def test_bad_weights_are_refused_as_by_fit() -> None:
    X, y = WINE
    for bad, words in ((-1.0, "must not be negative; got -1 for sample 3"), (math.nan, "contains NaN")):
        weights = np.where(np.arange(len(y)) == 3, bad, 1.0)
        with pytest.raises(ValueError, match=words):
            tune(BOTH[0], X, y, weights, verbose=False)
    with pytest.raises(ValueError, match=r"sample_weight of SLMClassifier\.fit must be positive somewhere"):
        tune(BOTH[0], X, y, np.zeros(len(y)), verbose=False)


def test_rows_of_weight_zero_are_checked_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = WINE
    monkeypatch.setattr(SLMClassifier, "fit", lambda *_: pytest.fail("work was done"))
    with pytest.raises(ValueError, match="contains infinity"):
        tune(BOTH[0], np.where(np.arange(len(y)) == 3, np.inf, X.T).T, y, np.arange(len(y)) != 3, verbose=False)


def test_classes_without_weight_are_not_missed() -> None:
    X, y = WINE
    found = tune(SLMForestClassifier(random_state=0), X, y, np.where(y == 2, 0.0, 1.0), budget=1e-6, verbose=False)
    assert found.classes_.tolist() == [0, 1]
    assert found.tuning_.default_score > -0.5  # they would count as impossible


def test_minus_log_loss_counts_classes_never_seen_as_impossible() -> None:
    X, y = WINE
    model = SLMForestClassifier(n_estimators=5, min_samples_leaf=20, random_state=0).fit(X[y < 2], y[y < 2])
    given = model.predict_proba(X[:3])
    found = tuning._minus_log_loss(model, X[:3], np.array([0, 1, 2]))
    expected = [math.log(given[0, 0]), math.log(max(given[1, 1], 1e-15)), math.log(1e-15)]
    assert found == pytest.approx(np.mean(expected))
    weighted = tuning._minus_log_loss(model, X[:3], np.array([0, 1, 2]), np.array([2.0, 1.0, 0.0]))
    assert weighted == pytest.approx((2 * expected[0] + expected[1]) / 3)


# ---- data ----


def test_table_with_names(at_most: Callable[[int], None]) -> None:
    at_most(5)
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = tune(BOTH[0], X, y, budget=LONG, verbose=False)
    assert found.feature_names_in_.tolist() == X.columns.tolist()
    at_most(5)
    plain = tune(BOTH[0], X.to_numpy(), y.to_list(), budget=LONG, verbose=False)
    assert plain.tuning_[:5] == found.tuning_[:5]
    table = pd.DataFrame(WINE[0], index=np.arange(178) * 7 - 5)  # rows are told by place, not by name
    at_most(5)
    assert tune(BOTH[0], table, y, budget=LONG, verbose=False).tuning_[:5] == found.tuning_[:5]


@pytest.mark.parametrize("n_rare", [1, 2])
def test_rare_classes_are_no_error(n_rare: int, at_most: Callable[[int], None]) -> None:
    at_most(10)
    X, y = WINE
    names = np.where(np.arange(len(y)) < n_rare, "rare", np.array(["a", "b", "c"])[y])
    found = tune(SLMForestClassifier(n_estimators=3, random_state=0), X, names, budget=LONG, verbose=False)
    assert found.classes_.tolist() == ["a", "b", "c", "rare"]
    assert math.isfinite(found.tuning_.score)


def test_rare_classes_are_learned_from_and_never_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = WINE
    names = np.where(np.arange(len(y)) < 4, 9, y)
    for many in (tuning.MANY, 100):
        monkeypatch.setattr(tuning, "MANY", many)
        stages = tuning._Search(BOTH[0], X, names, None, None, 0.0)._stages
        assert len(stages) == (5 if many > len(y) else 2)
        for training, testing in stages:
            assert set(names[training]) == {0, 1, 2, 9}
            assert 9 not in names[testing]
            assert not set(training) & set(testing)


def test_weights_of_rare_classes_are_no_error(at_most: Callable[[int], None]) -> None:
    at_most(5)
    X, y = WINE
    names = np.where(np.arange(len(y)) < 1, 9, y)
    model = SLMClassifier(random_state=0, class_weight={0: 1, 1: 2, 2: 1, 9: 5})
    assert tune(model, X, names, budget=LONG, verbose=False).tuning_.n_settings > 1


# ---- dropping and time ----


def test_bad_settings_are_dropped_after_some_folds(at_most: Callable[[int], None]) -> None:
    at_most(100)
    # leaves of 200 and more predict a mean
    space: Space = {"min_samples_leaf": Choice((2, 4, 8, 200, 300)), "n_bins": Whole(4, 64)}
    found = tune(SLMRegressor(random_state=0), *DIABETES, budget=LONG, space=space, verbose=False).tuning_
    assert found.n_dropped > 0
    # dropped ones leave time for others: five folds each would be 20
    assert found.n_settings > 21


def test_large_sets_are_tried_on_a_part_first(at_most: Callable[[int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MANY", 300)
    sizes: list[int] = []
    fit = SLMRegressor.fit

    def noted(self: Any, X: Any, *rest: Any, **more: Any) -> Any:
        sizes.append(len(X))
        return fit(self, X, *rest, **more)

    monkeypatch.setattr(SLMRegressor, "fit", noted)
    at_most(60)
    found = tune(SLMRegressor(random_state=0), *DIABETES, budget=LONG, verbose=False).tuning_
    n_all, n_first = 353, 71
    assert sizes[:4] == [n_first, n_all, n_first, n_all]
    assert sizes[-1] == 442
    assert set(sizes[:-1]) == {n_first, n_all}
    assert found.n_dropped > 0
    assert sizes.count(n_first) - sizes.count(n_all) >= found.n_dropped
    # the score is that of the larger part
    model = SLMRegressor(random_state=0)
    seed = int(np.random.RandomState(0).randint(2**31))
    X, y = DIABETES
    training, testing = next(KFold(5, shuffle=True, random_state=seed).split(X, y))
    error = root_mean_squared_error(y[testing], model.fit(X[training], y[training]).predict(X[testing]))
    assert found.default_score == pytest.approx(-error)


@pytest.mark.parametrize("budget", [1, 2.5])
def test_budget_holds(budget: float, clock: Clock) -> None:
    clock.time_fits_of(SLMForestRegressor)
    model = SLMForestRegressor(n_estimators=5, random_state=0)
    found = tune(model, *DIABETES, budget=budget, verbose=False).tuning_
    assert found.n_settings > 3
    assert 0.8 * budget < clock.now <= budget
    assert found.seconds == clock.now


def test_estimator_as_it_is_is_tried_however_little_time_there_is() -> None:
    found = tune(BOTH[0], *WINE, budget=1e-9, verbose=False)
    assert (found.tuning_.n_settings, found.tuning_.parameters) == (1, {})
    np.testing.assert_array_equal(found.predict(WINE[0]), clone(BOTH[0]).fit(*WINE).predict(WINE[0]))


# ---- errors ----


def test_other_estimators_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^estimator of tune must be an SLM estimator; got LinearRegression.$"):
        tune(LinearRegression(), *DIABETES)


@pytest.mark.parametrize("budget", [0, -1.0, math.inf, math.nan, "60", None, True])
def test_bad_budgets_are_refused(budget: Any) -> None:
    with pytest.raises(ValueError, match=r"^budget of tune must be a positive number of seconds; got "):
        tune(BOTH[0], *WINE, budget=budget)


@pytest.mark.parametrize("budget", [np.int64(1), np.float32(1.0)])
def test_budgets_of_numpy_are_numbers(budget: Any, clock: Clock) -> None:
    clock.time_fits_of(SLMClassifier)
    assert 0.8 < tune(BOTH[0], *WINE, budget=budget, verbose=False).tuning_.seconds <= 1.0


@pytest.mark.parametrize(("model", "n", "what"), [(BOTH[0], 4, "a class of at least"), (BOTH[1], 4, "at least")])
def test_too_few_samples_are_refused(model: Any, n: int, what: str) -> None:
    with pytest.raises(ValueError, match=rf"^y of tune must have {what} 5 samples, to learn from some"):
        tune(model, WINE[0][:n], np.arange(n), verbose=False)


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("n", [100, 200])
def test_lengths_must_agree(model: Any, n: int) -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tune(model, WINE[0], np.arange(n) % 3, verbose=False)


def test_targets_are_one_column(at_most: Callable[[int], None]) -> None:
    at_most(1)
    assert tune(BOTH[0], WINE[0], WINE[1].tolist(), budget=LONG, verbose=False).tuning_.n_settings >= 1
    with pytest.raises(ValueError, match="1d array"):
        tune(BOTH[0], WINE[0], np.column_stack([WINE[1]] * 2), verbose=False)


def test_equal_numbers_of_another_type_are_defaults() -> None:
    free = tuning._open(SLMBoostRegressor(min_gain=1), SPACES["boost"])
    assert "min_gain" in free


def test_what_is_auto_is_searched_and_what_is_given_is_not() -> None:
    names = {"max_depth", "min_samples_leaf", "l2_regularization", "subsample", "leaf"}
    auto: dict[str, Any] = dict.fromkeys(names, "auto")
    assert names <= tuning._open(SLMBoostClassifier(**auto), SPACES["boost"]).keys()
    given = SLMBoostClassifier(max_depth=6, min_samples_leaf=5, l2_regularization=1, subsample=1, leaf="constant")
    assert names.isdisjoint(tuning._open(given, SPACES["boost"]))
    assert "n_estimators" in tuning._open(SLMBoostRegressor(), {"n_estimators": Whole(10, 20)})
    forest = SLMForestClassifier(feature_map="auto", n_bins=5)
    assert {"feature_map"} == {"feature_map", "n_bins"} & tuning._open(forest, SPACES["forest"]).keys()


@pytest.mark.parametrize(("loss", "has_linear"), [("squared_error", True), ("poisson", True), ("huber", False)])
def test_leaves_are_searched_where_the_loss_leaves_them_open(loss: str, has_linear: bool) -> None:
    assert ("leaf" in tuning._usual_space(SLMBoostRegressor(loss=loss))) == has_linear
    assert "leaf" in tuning._usual_space(SLMBoostClassifier())


def test_losses_with_leaves_of_their_own_are_tuned(at_most: Callable[[int], None]) -> None:
    at_most(20)
    model = SLMBoostRegressor(loss="absolute_error", n_estimators=2, learning_rate=0.5, random_state=0)
    assert tune(model, *DIABETES, budget=LONG, verbose=False).tuning_.n_settings > 4


def test_scorers_must_give_numbers(at_most: Callable[[int], None]) -> None:
    with pytest.raises(ValueError, match="scoring of tune must give numbers; got NaN"):
        tune(BOTH[0], *WINE, scoring=lambda *_: math.nan, verbose=False)
    at_most(5)
    default = SLMClassifier().n_bins

    def score(model: Any, *_: Any) -> float:
        return 1.0 if model.n_bins == default else math.nan

    found = tune(BOTH[0], *WINE, budget=LONG, scoring=score, space={"n_bins": Whole(2, 9)}, verbose=False)
    assert (found.tuning_.parameters, found.tuning_.score) == ({}, 1.0)


def test_scorers_must_take_weights_that_are_given(at_most: Callable[[int], None]) -> None:
    X, y = WINE
    given: dict[str, Any] = {"sample_weight": np.ones(len(y)), "verbose": False, "budget": LONG}
    with pytest.raises(ValueError, match="scoring of tune must take sample_weight where it is given"):
        tune(BOTH[0], X, y, scoring=lambda model, X, y: 1.0, **given)
    for scorer in (lambda model, X, y, sample_weight: 1.0, lambda model, X, y, **_: 1.0, "accuracy"):
        at_most(1)
        assert tune(BOTH[0], X, y, scoring=scorer, **given).tuning_.n_settings >= 1


def test_an_array_is_not_a_default(at_most: Callable[[int], None]) -> None:
    at_most(1)
    model = SLMClassifier(random_state=0, n_coefficients=np.array([2, 3]))
    space: Space = {"n_coefficients": Choice((2, 3)), "n_bins": Whole(2, 9)}
    assert tune(model, *WINE, budget=LONG, space=space, verbose=False).tuning_.parameters.keys() <= {"n_bins"}


def test_unknown_names_in_the_space_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^space of tune must name parameters of SLMClassifier; got 'depth'.$"):
        tune(BOTH[0], *WINE, space={"max_depth": Whole(1, 5), "depth": Whole(1, 5)})


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (
            ["n_bins"],
            "dict from names of parameters to a Whole, Number or Choice of sublearn.tuning; got ['n_bins'].",
        ),
        (
            {"n_bins": [4, 8]},
            "a Whole, Number or Choice of sublearn.tuning for n_bins; got [4, 8]. Did you mean ",
        ),
        ({"n_bins": 4}, "a Whole, Number or Choice of sublearn.tuning for n_bins; got 4."),
        (
            {"n_bins": Whole(8, 4)},
            "whole numbers low <= high, above 0 where log=True, for n_bins; got Whole(low=8, ",
        ),
        ({"n_bins": Whole(2.5, 4)}, "for n_bins; got Whole(low=2.5, high=4"),  # type: ignore[arg-type]
        ({"fitted_projections": Whole(0, 4, log=True)}, "for fitted_projections; got Whole(low=0, high=4, log=True)."),
        ({"max_cosine": Number(0.0, 1.0, log=True)}, "for max_cosine; got Number(low=0.0, high=1.0, log=True)."),
        ({"min_loss": Number(0.0, math.inf)}, "for min_loss; got Number(low=0.0, high=inf, log=False)."),
        ({"min_loss": Number(math.nan, 1.0)}, "for min_loss; got Number(low=nan, high=1.0, log=False)."),
        ({"min_loss": Number(0, 10**400)}, "for min_loss; got Number(low=0, high=1000"),
        ({"min_loss": Number(False, True)}, "for min_loss; got Number(low=False, high=True, log=False)."),
        ({"n_bins": Choice(())}, "some values for n_bins; got Choice(values=())."),
        ({"n_bins": Choice(4)}, "some values for n_bins; got Choice(values=4)."),  # type: ignore[arg-type]
        ({"subspace": Choice("top")}, "some values for subspace; got Choice(values='top')."),
        ({"n_bins": Whole(0, 5)}, "can be fitted: n_bins of SLMClassifier must be an int from 2 to 256; got 0."),
        ({"n_bins": Whole(2, 257)}, "n_bins of SLMClassifier must be an int from 2 to 256; got 257."),
        ({"n_bins": Number(2, 9)}, "n_bins of SLMClassifier must be an int from 2 to 256; got 2.0."),
        ({"subspace": Choice(("top", "best"))}, "subspace of SLMClassifier must be 'top' or 'drawn'; got 'best'."),
    ],
)
def test_bad_spaces_are_refused_before_any_work(space: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SLMClassifier, "fit", lambda *_: pytest.fail("work was done"))
    with pytest.raises(ValueError, match=rf"^space of tune must .*{re.escape(words)}"):
        tune(BOTH[0], *WINE, space=space, verbose=False)


def test_lists_and_ranges_are_choices(at_most: Callable[[int], None]) -> None:
    at_most(5)
    space: Space = {"n_bins": Choice(range(4, 9)), "subspace": Choice(["top", "drawn"]), "max_depth": Whole(3, 3)}
    assert tune(BOTH[0], *WINE, budget=LONG, space=space, verbose=False).tuning_.n_settings > 1


@pytest.mark.parametrize("space", [{}, {"max_depth": Whole(1, 5), "n_bins": Whole(2, 9)}])
def test_something_must_be_left_to_search(space: Any) -> None:
    with pytest.raises(ValueError, match="space of tune must leave something to search"):
        tune(SLMClassifier(max_depth=3, n_bins=8), *WINE, space=space)


def test_bad_data_is_refused_as_ever() -> None:
    X, y = WINE
    with pytest.raises(ValueError, match="contains infinity"):
        tune(BOTH[0], np.where(X > 1000, np.inf, X), y, verbose=False)
    with pytest.raises(ValueError, match="n_bins of SLMClassifier must be an int"):
        tune(SLMClassifier(n_bins=1), X, y, verbose=False)


def test_missing_optuna_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"^sublearn.tune needs Optuna: pip install 'sublearn\[tune\]'$") as caught:
        tune(BOTH[0], *WINE, verbose=False)
    assert caught.value.__suppress_context__


def test_optuna_is_as_loud_as_before(at_most: Callable[[int], None]) -> None:
    optuna = pytest.importorskip("optuna")
    before = optuna.logging.get_verbosity()
    at_most(5)
    tune(BOTH[0], *WINE, budget=LONG, verbose=False)
    assert optuna.logging.get_verbosity() == before
    with pytest.raises(ValueError, match="n_bins"):
        tune(SLMClassifier(n_bins=1), *WINE, verbose=False)
    assert optuna.logging.get_verbosity() == before


# ---- progress ----


def test_search_is_silent_unless_asked(at_most: Callable[[int], None], capfd: pytest.CaptureFixture[str]) -> None:
    at_most(10)
    tune(BOTH[0], *WINE, budget=LONG, verbose=False)
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown(at_most: Callable[[int], None], capsys: pytest.CaptureFixture[str]) -> None:
    at_most(10)
    found = tune(BOTH[0], *WINE, budget=600).tuning_
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{found.n_settings} settings, best score {found.score:.6g}, 0 of 600 s" in " ".join(err.split())


def test_progress_is_shown_as_lines_without_rich(
    at_most: Callable[[int], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    at_most(15)
    found = tune(BOTH[1], *DIABETES, budget=600).tuning_
    lines = capsys.readouterr().err.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, found.n_settings + 1))
    assert lines[0].startswith(f"1 settings, best score {found.default_score:.6g}, ")
