"""How much a fit may take: fast ones try nothing, and the best are the mean of several models."""

import pickle
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from boosting import data_for, make, raw_of, same_model, same_scores
from naive import Array
from sublearn import Progress
from sublearn._base import boosting_choice as estimators
from sublearn.core.boosting import audition, auto, choosing
from sublearn.core.boosting.audition import Audition, Entry
from sublearn.core.boosting.auto import Fast, Scale, Setting
from sublearn.core.model.flat_ensemble import pack, unpack
from sublearn.core.model.flat_tree import FlatTree, scaled
from support import assert_same_tree

AVERAGED = 4
SCALE = Scale(below=np.inf, max_depth=3, n_rounds=10, trial_rate=0.3, n_trials=2, n_parts=5)
THREE = ("squared_error", "two classes", "three classes")
OPEN: dict[str, Any] = {"learning_rate": "auto", "n_projections": 6, "min_gain": 1.0}
SETTINGS = (Setting("lines", {"leaf": "linear", "max_depth": 2}), Setting("rows", {"subsample": 0.6}))


def effort(task: str, how: str, **given: Any) -> Any:
    return make(task, **OPEN | {"effort": how} | given)


def best(task: str, **given: Any) -> Any:
    """A few rounds of the best effort; leaves and rows are left open."""
    return effort(task, "best", **{"n_estimators": 4, "leaf": "auto", "subsample": "auto"} | given)


@pytest.fixture(autouse=True)
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many models are averaged, whatever their usual number is."""
    monkeypatch.setattr(estimators, "AVERAGED", AVERAGED)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short trials of few settings."""
    usual, (lines, rows) = Setting("usual", {}), SETTINGS

    def settings_for(n_samples: int, n_outputs: int, is_classes: bool, may_be_linear: bool) -> list[Setting]:
        return [usual, lines, rows] if may_be_linear else [usual, rows]

    monkeypatch.setattr(estimators, "settings_for", settings_for)
    monkeypatch.setattr(auto, "SCALES", (SCALE,))
    monkeypatch.setattr(auto, "CAREFUL_TRIALS", 3)
    monkeypatch.setattr(choosing, "DISTANCE", 1.5)


@pytest.fixture
def no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise AssertionError("nothing may be tried")

    monkeypatch.setattr(audition, "Trial", fail)


def losses_of(model: Any, raw: Array, y: Array) -> Array:
    found: Array = model._loss.values(y.astype(float), raw[:, 0] if raw.shape[1] == 1 else raw)
    return found


def planned(model: Any, X: Array, y: Array, **given: Any) -> tuple[float, int]:
    """Learning rate and rounds to come, of which one is made."""
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    return model.set_params(callbacks=stop).fit(X, y, **given).learning_rate_, seen[0].n_estimators


# ---- fast ----


@pytest.mark.usefixtures("no_trials")
@pytest.mark.parametrize("n_estimators", ["auto", 10, 500])
@pytest.mark.parametrize("n", [30, 200, 1200])
@pytest.mark.parametrize("task", THREE)
def test_fast_tries_nothing_and_takes_few_rounds(task: str, n: int, n_estimators: Any) -> None:
    X, y = data_for(task, n=n)
    model = effort(task, "fast", n_estimators=n_estimators, leaf="auto", subsample="auto")
    rate, n_rounds = planned(model, X, y)
    (fast,) = model._to_audition(model._loss, n, 1, task != "squared_error")
    suitable = auto.fast_for(n).n_rounds * auto.more_rounds(3 if task == "three classes" else 1)
    assert n_rounds == (round(suitable) if n_estimators == "auto" else n_estimators)
    assert rate == pytest.approx(min(auto.FAST_RATE * suitable / n_rounds, auto.HIGHEST_RATE))
    assert model.audition_ == []
    assert fast.changes == {name: value for name, value in auto.fast_for(n).changes.items() if name == "leaf"}
    assert model.settings_ == model._settings_for(fast, n) | {"n_models": 1}


def test_rounds_of_fast_go_with_the_number_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "FAST", (Fast(101, {}, 3), Fast(np.inf, {}, 5)))
    monkeypatch.setattr(choosing, "FAST_RATE", 0.125)
    X, y = data_for("squared_error", n=100)
    model = effort("squared_error", "fast", n_estimators="auto").fit(X, y)
    assert (model.n_iter_, model.learning_rate_) == (3, 0.125)
    weights = np.ones(100)
    weights[0] = 2  # two samples
    assert model.fit(X, y, sample_weight=weights).n_iter_ == 5
    separate = effort("three classes", "fast", n_estimators="auto", multiclass="separate")
    assert separate.fit(*data_for("three classes", n=100)).n_iter_ == 3  # each class has trees of its own


@pytest.mark.usefixtures("no_trials")
def test_fast_can_be_given_by_hand() -> None:
    X, y = data_for("squared_error")
    fast = effort("squared_error", "fast", n_estimators="auto", max_depth="auto").fit(X, y)
    given = {**fast.settings_, "learning_rate": fast.learning_rate_, "n_estimators": fast.n_iter_}
    for how in ("fast", "usual"):
        told = effort("squared_error", how, **given).fit(X, y)
        assert same_model(fast, told, X)
        assert same_scores(fast, told)


@pytest.mark.usefixtures("no_trials")
@pytest.mark.parametrize("how", ["fast", "usual", "best"])
def test_a_rate_that_is_given_counts_for_every_effort(how: str) -> None:
    X, y = data_for("squared_error")
    expected = planned(effort("squared_error", "usual", learning_rate=0.1, n_estimators="auto"), X, y)
    assert planned(effort("squared_error", how, learning_rate=0.1, n_estimators="auto"), X, y) == expected
    assert expected[0] == 0.1


@pytest.mark.usefixtures("no_trials")
def test_fast_stops_early_and_goes_on() -> None:
    X, y = data_for("squared_error")
    stopped = effort("squared_error", "fast", n_estimators="auto", early_stopping=True).fit(X, y)
    assert stopped.n_iter_ == int(np.argmax(stopped.validation_score_))
    model = effort("squared_error", "fast", n_estimators=3, warm_start=True).fit(X, y)
    rate = model.learning_rate_
    model.set_params(n_estimators=5).fit(X, y)
    assert (model.n_iter_, model.learning_rate_) == (5, rate)


def test_efforts_are_three() -> None:
    message = "effort of SLMBoostRegressor must be 'fast' or 'usual' or 'best'; got 'great'."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        effort("squared_error", "great").fit(*data_for("squared_error"))
    assert make("squared_error").effort == make("two classes").effort == "usual"


# ---- best ----


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("task", "extra"), [*((task, {}) for task in (*THREE, "huber")), ("three classes", {"multiclass": "separate"})]
)
def test_best_is_the_mean_of_several_models(task: str, extra: dict[str, Any]) -> None:
    X, y = data_for(task)
    model = best(task, **extra).fit(X, y)
    n_each = AVERAGED * (3 if extra else 1)
    assert model.n_iter_ <= 4
    assert model.ensemble_.n_trees == n_each * model.n_iter_
    assert len(model.train_score_) == model.n_iter_ + 1
    told = model.audition_
    assert [entry["name"] for entry in told] == ["usual", *(["lines"] if task != "huber" else []), "rows"]
    assert sum(entry["n_chosen"] for entry in told) == AVERAGED
    assert {len(entry["scores"]) for entry in told} == {3}  # all are tried on all parts
    stages = [raw.copy() for raw in model._staged_raw(X)]
    assert len(stages) == model.n_iter_
    for score, raw in zip(model.train_score_[1:], stages, strict=True):
        assert -losses_of(model, raw, y).mean() == pytest.approx(score, rel=1e-12)
    np.testing.assert_array_equal(stages[-1], model._raw(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert model.train_score_[-1] > model.train_score_[0]
    again = pickle.loads(pickle.dumps(model))
    assert same_model(again, model, X)
    assert again.audition_ == model.audition_
    fresh = clone(model)
    assert fresh.effort == "best"
    assert same_model(fresh.fit(X, y), model, X)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def members_of(model: Any, n_outputs: int = 1, n_models: int = AVERAGED) -> list[list[FlatTree]]:
    """The trees of each of the models, as they would be alone."""
    trees = [scaled(tree, n_models) for tree in unpack(model.ensemble_)]
    rounds = [trees[begin : begin + n_models * n_outputs] for begin in range(0, len(trees), n_models * n_outputs)]
    return [[tree for one in rounds for tree in one[m * n_outputs : (m + 1) * n_outputs]] for m in range(n_models)]


def assert_same_trees(one: Sequence[FlatTree], other: Sequence[FlatTree]) -> None:
    for a, b in zip(one, other, strict=True):
        assert_same_tree(a, b)


@pytest.mark.parametrize("multiclass", ["shared", "separate"])
@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_the_first_of_the_models_is_the_one_there_would_be_alone(leaf: str, multiclass: str) -> None:
    X, y = data_for("three classes")
    given = {"learning_rate": 0.3, "n_estimators": 4, "leaf": leaf, "multiclass": multiclass, "subsample": 0.8}
    alone = effort("three classes", "usual", **given).fit(X, y)
    model = effort("three classes", "best", **given).fit(X, y)
    members = members_of(model, 3 if multiclass == "separate" else 1)
    assert_same_trees(members[0], unpack(alone.ensemble_))
    # the others go by other draws
    assert len({tuple(pack(trees).nodes.threshold.tolist()) for trees in members}) == AVERAGED
    assert model.audition_ == []
    assert model.learning_rate_ == 0.3
    assert model.n_iter_ == alone.n_iter_ == 4


def test_each_model_has_its_setting_and_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may be chosen twice, with other draws."""
    X, y = data_for("squared_error")
    constant = Setting("usual", {"leaf": "constant"})
    members = [choosing.Member(SETTINGS[0], 0.3), choosing.Member(constant, 0.1)] * 2
    with monkeypatch.context() as patch:
        patch.setattr(estimators, "choose", lambda *_: choosing.Choice(members, 3))
        model = best("squared_error", max_depth="auto").fit(X, y)
    first, second, third, fourth = members_of(model)
    assert [tree.slopes.feature.size > 0 for tree in (first[0], second[0], third[0], fourth[0])] == [True, False] * 2
    assert max(tree.depth.max() for tree in first) == SETTINGS[0].changes["max_depth"]
    given = {"learning_rate": 0.3, "n_estimators": 3, **SETTINGS[0].changes}
    assert_same_trees(first, unpack(effort("squared_error", "usual", **given).fit(X, y).ensemble_))
    assert (first[0].threshold.tolist(), first[0].feature.tolist()) != (
        third[0].threshold.tolist(),
        third[0].feature.tolist(),
    )
    assert model.settings_.items() >= SETTINGS[0].changes.items()
    assert model.learning_rate_ == 0.3
    assert -losses_of(model, model._raw(X), y).mean() == pytest.approx(model.train_score_[-1], rel=1e-12)


def test_members_go_their_own_distance_in_as_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rate in (("LEAST_RATE", 0.001), ("LOWEST_RATE", 0.02), ("HIGHEST_RATE", 0.3)):
        monkeypatch.setattr(choosing, name, rate)
    entries = [Entry(Setting(str(i), {})) for i in range(3)]

    def planned(*distances: float) -> tuple[int, list[float]]:
        choice = choosing._as_far(Audition(entries, entries), list(distances), 100)
        assert [member.setting for member in choice.members] == [entry.setting for entry in entries]
        return choice.n_rounds, [member.rate for member in choice.members]

    assert planned(5.0, 10.0, 0.0) == (100, [0.05, 0.1, 0.001])
    assert planned(1.0, 0.5, 0.0) == (50, [0.02, 0.01, 0.001])  # no lower, so fewer rounds
    assert planned(100.0, 40.0, 10.0) == (100, [0.3, 0.3, 0.1])  # no higher, so not so far
    assert planned(0.0, 0.0, 0.0) == (1, [0.02] * 3)


@pytest.mark.usefixtures("no_trials")
@pytest.mark.parametrize("task", THREE)
def test_best_stops_early_where_the_mean_is_best(task: str) -> None:
    X, y = data_for(task)
    fresh, target = data_for(task, seed=1, n=100)
    given: dict[str, Any] = {"early_stopping": True, "n_estimators": 40, "n_iter_no_change": 3, "min_gain": 0.0}
    model = best(task, **given).fit(X, y, eval_set=(fresh, target))
    scores = model.validation_score_
    assert model.n_iter_ == int(np.argmax(scores)) == len(scores) - 4 or len(scores) == 41
    assert model.ensemble_.n_trees == AVERAGED * model.n_iter_
    kept = -losses_of(model, model._raw(fresh), target).mean()
    assert kept == pytest.approx(scores[model.n_iter_], rel=1e-12)
    assert model.audition_ == []
    apart = best(task, **given).fit(X, y)
    assert apart.n_iter_ == int(np.argmax(apart.validation_score_))


@pytest.mark.usefixtures("short")
def test_best_watches_samples_to_validate_on() -> None:
    X, y = data_for("squared_error")
    fresh, target = data_for("squared_error", seed=1, n=100)
    seen: list[Progress] = []
    model = best("squared_error", callbacks=seen.append).fit(X, y, eval_set=(fresh, target))
    assert [progress.n_iter for progress in seen] == list(range(1, model.n_iter_ + 1))
    for score, raw in zip(model.validation_score_[1:], model._staged_raw(fresh), strict=True):
        assert -losses_of(model, raw, target).mean() == pytest.approx(score, rel=1e-12)
    assert [progress.validation_score for progress in seen] == model.validation_score_[1:].tolist()
    assert same_model(model, best("squared_error").fit(X, y), X)


@pytest.mark.parametrize("task", ["squared_error", "two classes"])
def test_best_cannot_go_on(task: str) -> None:
    model = best(task, warm_start=True)
    message = f"effort of {type(model).__name__} must be 'fast' or 'usual' where warm_start=True; got 'best'."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.fit(*data_for(task))
    assert not hasattr(model, "train_score_")


def test_rounds_of_best_are_not_kept() -> None:
    """Trees of one model cannot follow those of a mean."""
    X, y = data_for("squared_error")
    model = best("squared_error", learning_rate=0.3).fit(X, y)
    before = model.predict(X)
    model.set_params(effort="usual", warm_start=True, n_estimators=8)
    message = (
        "warm_start of SLMBoostRegressor must be False after a fit of 4 models; got True. Fit with warm_start=True or "
        "n_models=1 from the start."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.set_params(warm_start=False).fit(X, y).ensemble_.n_trees == 8


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("given", [{}, {"learning_rate": 0.3}, {"early_stopping": True}])
def test_targets_far_from_all_others_leave_one_model(given: dict[str, Any]) -> None:
    X, y = data_for("squared_error")
    y[7] = 1e7
    model = best("squared_error", n_estimators=6, **given).fit(X, y)
    assert model._has_excess
    assert model.ensemble_.n_trees == model.n_iter_
    assert np.isfinite(model.predict(X)).all()
    assert sum(entry["n_chosen"] for entry in model.audition_) == (0 if given else 1)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("task", THREE)
def test_best_is_the_same_for_all_jobs_and_orders_and_rows_twice(task: str, request: pytest.FixtureRequest) -> None:
    X, y = data_for(task, n=100)
    X = np.round(X, 2)
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    given = {"n_estimators": 2, "racing_samples": None}
    weighted = best(task, **given).fit(X, y, sample_weight=weights)
    repeated = best(task, **given).fit(X[rows], y[rows])
    assert [one["n_chosen"] for one in weighted.audition_] == [one["n_chosen"] for one in repeated.audition_]
    assert same_model(weighted, repeated, X)
    request.getfixturevalue("divided")
    divided = best(task, n_jobs=3, **given).fit(X, y, sample_weight=weights)
    assert same_model(weighted, divided, X)
    assert same_scores(weighted, divided)


@pytest.mark.usefixtures("no_trials")
def test_best_of_few_samples_averages_the_usual_setting() -> None:
    X, y = data_for("squared_error", n=auto.FEW - 1)
    model = best("squared_error").fit(X, y)
    assert model.audition_ == []
    assert model.ensemble_.n_trees == AVERAGED * 4


def test_best_of_one_class_and_of_equal_targets() -> None:
    X, _ = data_for("squared_error", n=30)
    assert best("two classes").fit(X, np.full(30, "a")).predict(X).tolist() == ["a"] * 30
    np.testing.assert_array_equal(best("squared_error").fit(X, np.full(30, 2.5)).predict(X), 2.5)


@pytest.mark.parametrize("task", THREE)
def test_the_mean_of_several_models_is_better_than_one(task: str) -> None:
    X, y = data_for(task)
    fresh, target = data_for(task, seed=1, n=1000)
    given = {"learning_rate": 0.3, "n_estimators": 40, "subsample": 0.6, "subspace": "drawn"}
    one, mean = (effort(task, how, **given).fit(X, y) for how in ("usual", "best"))
    assert raw_of(mean, fresh).shape == raw_of(one, fresh).shape
    assert losses_of(mean, mean._raw(fresh), target).mean() < losses_of(one, one._raw(fresh), target).mean()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("given", "n_models"),
    [
        ({}, 2),
        ({"n_models": 1}, 1),
        ({"n_models": 3}, 3),
        ({"learning_rate": 0.3}, 1),
        ({"learning_rate": 0.3, "n_models": 2}, 2),
        ({"early_stopping": True}, 1),
        ({"early_stopping": True, "n_models": 2}, 2),
        ({"warm_start": True}, 1),
        ({"effort": "fast"}, 1),
        ({"effort": "best"}, AVERAGED),
        ({"effort": "best", "n_models": 2}, 2),
    ],
)
def test_two_models_are_averaged_where_all_is_left_to_us(
    given: dict[str, Any], n_models: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "SCALES", (SCALE._replace(n_models=2),))
    X, y = data_for("squared_error")
    model = make("squared_error", **OPEN | {"n_estimators": 4} | given).fit(X, y)
    assert model.ensemble_.n_trees == n_models * model.n_iter_
    assert model.settings_["n_models"] == n_models
    assert sum(entry["n_chosen"] for entry in model.audition_) in (0, n_models)


def test_small_sets_have_two_models_and_large_ones_one() -> None:
    assert [auto.scale_of(n).n_models for n in (60, 2_999, 3_000, 10**6)] == [2, 2, 1, 1]


@pytest.mark.parametrize("task", THREE)
def test_answers_are_the_mean_of_two_models(task: str) -> None:
    X, y = data_for(task)
    given: dict[str, Any] = {"learning_rate": 0.3, "n_estimators": 4}
    alone = effort(task, "usual", **given).fit(X, y)
    model = effort(task, "usual", n_models=2, **given).fit(X, y)
    first, second = members_of(model, n_models=2)
    assert_same_trees(first, unpack(alone.ensemble_))
    assert [tree.threshold.tolist() for tree in first] != [tree.threshold.tolist() for tree in second]
    mean = (raw_of(alone, X) + raw_with(model, second, X)) / 2
    np.testing.assert_allclose(raw_of(model, X), mean, rtol=1e-12)


def raw_with(model: Any, trees: Sequence[FlatTree], X: Array) -> Array:
    """Raw values of a model that has these trees and no others."""
    other = copy(model)
    other._model = replace(model._model, ensemble=pack(trees), trees_a_round=1)
    return raw_of(other, X)


def test_several_models_cannot_go_on() -> None:
    X, y = data_for("squared_error")
    message = "n_models of SLMBoostRegressor must be 1 or 'auto' where warm_start=True; got 2."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        effort("squared_error", "usual", n_models=2, warm_start=True).fit(X, y)
