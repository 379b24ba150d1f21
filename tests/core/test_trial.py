"""How fast and how far boosting learns where nobody says: dealing, trials, and what comes of them."""

import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from boosting import TASKS, N, OwnError, OwnSquares, data_for, make, noise_for, raw_of, same_model, same_scores
from naive import Array
from sublearn import Progress, SLMBoostClassifier, SLMBoostRegressor
from sublearn.core import parallel
from sublearn.core.boosting import audition, choosing, trial
from sublearn.core.boosting import auto as auto_module
from sublearn.core.boosting.audition import Audition, Entry
from sublearn.core.boosting.auto import Scale, chances, scale_of
from sublearn.core.boosting.losses import SquaredError
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth
from sublearn.core.data.fixed_point import UNIT
from sublearn.core.tree.projection import plan_projections
from support import ONE_THREAD, PARAMETERS, transposed

AUTO: dict[str, Any] = {"learning_rate": "auto", "n_estimators": "auto", "min_gain": 1.0, "n_projections": 6}
THREE = ("squared_error", "two classes", "three classes")


def auto(task: str, **changes: Any) -> Any:
    """An estimator that finds out how far to go, over few candidates."""
    return make(task, **AUTO | changes)


def problem_of(codes: Array, y: Array) -> Problem:
    return make_problem(transposed(codes), y.astype(float), UNIT, np.empty(0), SquaredError(), np.zeros((len(y), 1)))


def distinct(n: int, n_classes: int = 0) -> tuple[Array, Array]:
    """Codes that all differ, with numbers or classes."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.permutation(n) - n // 2, rng.integers(-50, 50, (n, 2))])
    return codes, rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)


def planned(model: Any, X: Array, y: Array) -> tuple[float, int]:
    """Learning rate and rounds to come, of which one is made."""
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    return model.set_params(callbacks=stop).fit(X, y).learning_rate_, seen[0].n_estimators


def answer(distance: float, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let trials find the usual setting and a distance; sizes of the sets that something is tried on are noted."""
    found: list[int] = []
    rates: list[float] = []

    def stage(problem: Problem, growth_for: Any, scale: Scale, *_: Any) -> None:
        found.append(len(problem.y))
        rates.append(scale.trial_rate)

    monkeypatch.setattr(choosing, "Stage", stage)
    monkeypatch.setattr(choosing, "audition", lambda settings, _: Audition([Entry(settings[0])], []))
    monkeypatch.setattr(choosing, "best_round", lambda _: distance / rates[-1])
    return found


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the sets that something was tried on; the answer is always 10."""
    return answer(10.0, monkeypatch)


# ---- dealing ----


def test_equal_samples_share_a_part() -> None:
    rng = np.random.default_rng(0)
    codes, y = rng.integers(-2, 2, (600, 3)), rng.integers(0, 2, 600)
    parts = trial.deal_samples(problem_of(codes, y), 5, 7)
    found: dict[tuple[int, ...], set[int]] = {}
    for sample, part in zip(np.column_stack([codes, y]).tolist(), parts.tolist(), strict=True):
        found.setdefault(tuple(sample), set()).add(part)
    assert len(found) > 100
    assert {len(shared) for shared in found.values()} == {1}
    assert {part for shared in found.values() for part in shared} == set(range(5))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_order_of_rows_does_not_matter_to_the_parts(n_classes: int) -> None:
    codes, y = distinct(300, n_classes)
    order = np.random.default_rng(1).permutation(300)
    parts = trial.deal_samples(problem_of(codes, y), 5, 7)
    np.testing.assert_array_equal(trial.deal_samples(problem_of(codes[order], y[order]), 5, 7), parts[order])
    assert (trial.deal_samples(problem_of(codes, y), 5, 8) != parts).any() == (
        n_classes > 0
    )  # numbers are dealt by their rank


@pytest.mark.parametrize("n_parts", [5, 10])
def test_every_part_has_its_share_of_every_class(n_parts: int) -> None:
    codes, y = distinct(400, 3)
    parts = trial.deal_samples(problem_of(codes, y), n_parts, 7)
    for k in range(3):
        counts = np.bincount(parts[y == k], minlength=n_parts)
        assert counts.max() - counts.min() <= 1


def test_every_part_has_low_and_high_numbers() -> None:
    codes, y = distinct(400)
    parts = trial.deal_samples(problem_of(codes, y), 5, 7)
    assert np.bincount(parts).tolist() == [80] * 5
    for low in np.sort(y)[:-4:5]:
        few = np.argsort(np.where(y >= low, y, np.inf))[:5]
        assert sorted(parts[few]) == [0, 1, 2, 3, 4]


def test_samples_of_one_class_are_dealt_by_what_they_are() -> None:
    """Were they dealt as they come in the features' order, a part would be a stretch of it."""
    codes = np.arange(500)[:, None] - 250
    parts = trial.deal_samples(problem_of(codes, np.zeros(500)), 5, 7)
    assert np.bincount(parts).tolist() == [100] * 5
    assert 60 < (np.diff(parts) == 0).sum() < 140  # chance: 100


@pytest.mark.parametrize("n", [5, 6, 11])
def test_no_part_is_empty(n: int) -> None:
    codes, y = distinct(n, 2)
    assert set(trial.deal_samples(problem_of(codes, y), 5, 7)) == set(range(5))


# ---- trials ----


def growth_of(rate: float) -> Growth:
    return Growth(PARAMETERS, plan_projections(PARAMETERS, 3), BoostParameters(rate, 1.0, 0.0, 1.0, 1.0, False), 3)


def trial_of(*curve: float) -> trial.Trial:
    """One that has come so far."""
    found = trial.Trial.__new__(trial.Trial)
    found.curve = list(curve)
    return found


def curve_of(y: Array, n_rounds: int) -> list[float]:
    """How a trial does on samples of which each fifth is held out."""
    codes, _ = distinct(len(y))
    parted = trial.part_off(problem_of(codes, y), np.arange(len(y)) % 5 == 0)
    found = trial.Trial(parted, growth_of(0.3))
    found.run(n_rounds, None, ONE_THREAD)
    assert found.best == max(found.curve)
    assert found.losses().mean() == pytest.approx(-found.best)  # those of the best round
    in_steps = trial.Trial(parted, growth_of(0.3))
    for n in range(0, n_rounds + 1, 2):
        if len(in_steps.curve) > n - 2:
            in_steps.run(n, None, ONE_THREAD)
    n_both = min(len(in_steps.curve), len(found.curve))
    assert n_both >= n_rounds or n_both == len(found.curve)
    assert in_steps.curve[:n_both] == found.curve[:n_both]
    return found.curve


def test_best_round_by_hand() -> None:
    assert trial.best_round([trial_of(-3.0, -2.0, -1.0, -2.0)]) == 2
    # a trial that ended earlier stays where it was: means -3, -2, -1.25, -1.2
    assert trial.best_round([trial_of(-4.0, -3.0, -1.0, -0.9), trial_of(-2.0, -1.0, -1.5)]) == 3
    assert trial.best_round([trial_of(-1.0, -2.0, -3.0)]) == 0
    # the last rounds bring less than a millionth
    assert trial.best_round([trial_of(-3.0, -1.0000005, -1.0000001, -1.0)]) == 1


def test_trial_ends_when_nothing_gets_better() -> None:
    y = np.random.default_rng(3).normal(size=200)
    curve = curve_of(y, 500)
    assert len(curve) == 1 + int(np.argmax(curve)) + auto_module.PATIENCE < 400
    assert curve[0] == pytest.approx(-(y[::5] ** 2).mean() / 2)  # raw values are 0 at first
    assert len(curve_of(y, 3)) == 4


def test_trial_ends_where_it_is_far_behind_its_rival() -> None:
    codes, y = distinct(200)
    parted = trial.part_off(problem_of(codes, y), np.arange(200) % 5 == 0)
    alone = trial.Trial(parted, growth_of(0.3))
    alone.run(15, None, ONE_THREAD)
    assert len(alone.curve) == 16
    for factor, n_rounds in ((1.0, 15), (0.97, 15), (0.9, auto_module.EARLIEST)):
        rival, found = trial_of(*(factor * score for score in alone.curve)), trial.Trial(parted, growth_of(0.3))
        found.run(15, rival, ONE_THREAD)
        assert found.curve == alone.curve[: n_rounds + 1]


def test_trial_does_not_learn_from_samples_held_out() -> None:
    _, y = distinct(200)
    held_out = np.arange(200) % 5 == 0
    one, other = (curve_of(target, 5) for target in (y, np.where(held_out, y + 100.0, y)))
    assert one[0] > -1 > other[0]
    training = curve_of(np.where(held_out, 0.0, y), 5)
    assert max(training[1:]) < training[0] == 0.0  # what is learned elsewhere only takes them from 0


@pytest.mark.parametrize("task", THREE)
def test_noise_is_hardly_learned_and_a_clean_signal_thoroughly(task: str) -> None:
    X, _ = data_for(task)
    signal = X[:, 0] - X[:, 1] + 0.5 * X[:, 2]
    clean = signal if task == "squared_error" else np.digitize(signal, [0.0, 0.5][: THREE.index(task)])
    far = auto(task).fit(X, clean)
    near = auto(task).fit(*noise_for(task, N))
    assert far.learning_rate_ * far.n_iter_ > 4 * max(near.learning_rate_ * near.n_iter_, 1.0)
    assert near.n_iter_ < 0.5 * far.n_iter_


# ---- what comes of them ----


@pytest.mark.parametrize(
    ("distance", "n_estimators", "rate", "n_rounds"),
    [
        (10.0, "auto", 11 / 250, 250),
        (20.0, 100, 0.22, 100),
        (2.0, "auto", 0.02, 110),  # no lower, so fewer rounds
        (10.0, 1000, 0.02, 550),
        (10.0, 20, 0.3, 20),  # no higher, so not so far
        (0.0, "auto", 0.02, 1),
        (0.001, 7, 0.02, 1),
    ],
)
def test_rate_and_rounds_by_hand(
    distance: float, n_estimators: Any, rate: float, n_rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(distance, monkeypatch)
    found = planned(auto("squared_error", n_estimators=n_estimators), *data_for("squared_error"))
    assert found == pytest.approx((rate, n_rounds))


@pytest.mark.parametrize(
    ("task", "n", "rate", "n_rounds"),
    [
        ("squared_error", 200, 0.05, 250),
        ("two classes", 200, 0.1, 125),
        ("squared_error", 200, 0.3, 42),  # 41.7
        ("squared_error", 200, 0.01, 1250),
        ("squared_error", 200, 0.001, 2000),
        ("squared_error", 200, 0.5, 25),
        ("three classes", 200, 0.05, 354),  # times the root of 2
        ("three classes", 200, 0.001, 2829),
        ("squared_error", 49, 0.05, 100),
        ("squared_error", 50, 0.05, 250),
        ("squared_error", 999, 0.05, 250),
        ("squared_error", 1000, 0.05, 500),
    ],
)
def test_rounds_go_with_a_rate_that_is_given(task: str, n: int, rate: float, n_rounds: int, trials: list[int]) -> None:
    assert planned(auto(task, learning_rate=rate), *data_for(task, n=n)) == (rate, n_rounds)
    assert trials == []


@pytest.mark.parametrize(("n_estimators", "rate"), [("auto", 0.05), (100, 0.05), (200, 0.025), (20, 0.25), (5, 0.3)])
def test_nothing_is_tried_with_few_samples(n_estimators: Any, rate: float, trials: list[int]) -> None:
    X, y = data_for("squared_error", n=49)
    found = planned(auto("squared_error", n_estimators=n_estimators), X, y)
    assert found == pytest.approx((rate, 100 if n_estimators == "auto" else n_estimators))
    assert trials == []


def test_only_different_samples_are_worth_a_trial(trials: list[int]) -> None:
    X, y = data_for("squared_error", n=50)
    model = auto("squared_error", n_estimators=2)
    assert model.fit(X[:25], y[:25]).learning_rate_ == auto_module.HIGHEST_RATE
    model.fit(X[:25], y[:25], sample_weight=np.full(25, 2))
    model.fit(np.tile(X[:25], (2, 1)), np.tile(y[:25], 2))
    model.fit(X[:49], y[:49])
    assert trials == []
    model.fit(X, y)
    assert trials == [50]


@pytest.mark.parametrize("eval_set", [False, True])
def test_nothing_is_tried_where_early_stopping_finds_out(eval_set: bool, trials: list[int]) -> None:
    X, y = data_for("squared_error")
    model = auto("squared_error", early_stopping=True).fit(X, y, eval_set=(X, y) if eval_set else None)
    assert model.learning_rate_ == 0.05
    assert auto("squared_error", early_stopping=True, n_estimators=50).fit(X, y).learning_rate_ == 0.25
    assert trials == []
    auto("squared_error", n_estimators=2).fit(X, y, eval_set=(X, y))  # which is only watched
    assert trials == [N]


def test_numbers_are_taken_as_given(trials: list[int]) -> None:
    X, y = data_for("squared_error")
    model = auto("squared_error", learning_rate=0.7, n_estimators=3).fit(X, y)
    assert (model.learning_rate_, model.n_iter_) == (0.7, 3)
    assert auto("squared_error", learning_rate=np.float32(0.5), n_estimators=np.int64(3)).fit(X, y).n_iter_ == 3
    assert trials == []


@pytest.mark.parametrize("task", TASKS)
def test_trials_leave_nothing_behind(task: str) -> None:
    """The fit is the one that is told the rate and the rounds; not even the loss knows more."""
    X, y = data_for(task)
    found = auto(task, subsample=0.8, n_estimators=30).fit(X, y)
    settings = {"learning_rate": found.learning_rate_, "n_estimators": found.n_iter_, "n_models": 2}
    assert len(found.audition_) == 1  # all else is given
    told = clone(found).set_params(**settings).fit(X, y)
    assert same_model(found, told, X)
    assert same_scores(found, told)


class Lengths(OwnSquares):
    """Notes how many samples it is asked about."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def prepare(self, y: Array, raw: Array, weights: Array) -> None:
        self.seen.append(len(y))

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        self.seen.append(len(y))
        return super().derivatives(y, raw)


def test_loss_that_keeps_what_it_has_seen_does_not_see_trials() -> None:
    X, y = data_for("squared_error")
    loss = Lengths()
    model = auto("squared_error", loss=loss, n_estimators=5).fit(X, y)
    assert loss.seen == []
    assert model._loss.seen == [N] * 11  # once before the rounds


def test_callbacks_do_not_see_trials() -> None:
    seen: list[int] = []
    model = auto("squared_error", callbacks=lambda p: seen.append(p.n_iter)).fit(*data_for("squared_error"))
    assert seen == list(range(1, model.n_iter_ + 1))


@pytest.mark.parametrize("task", THREE)
@pytest.mark.parametrize("n", [150, 700])  # with the weights up to a thousand samples and above
def test_weight_two_still_equals_the_row_twice(task: str, n: int) -> None:
    X, y = data_for(task, n=n)
    X = np.round(X, 1)
    weights = np.random.default_rng(1).integers(0, 4, n)
    weighted = auto(task, racing_samples=None).fit(X, y, sample_weight=weights)
    repeated = auto(task, racing_samples=None).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.learning_rate_ == repeated.learning_rate_
    assert weighted.n_iter_ == repeated.n_iter_ > 3
    assert same_model(weighted, repeated, X)


@pytest.mark.parametrize("task", THREE)
def test_order_of_rows_does_not_matter(task: str) -> None:
    X, y = data_for(task)
    order = np.random.default_rng(2).permutation(N)
    one, other = auto(task).fit(X, y), auto(task).fit(X[order], y[order])
    assert one.learning_rate_ == other.learning_rate_
    assert same_model(one, other, X)


@pytest.mark.parametrize("task", THREE)
def test_model_is_the_same_for_every_number_of_jobs(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)  # work that is divided among threads
    X, y = data_for(task)
    models = [auto(task, n_jobs=n, n_estimators=20).fit(X, y) for n in (1, 2, 3)]
    assert len({model.learning_rate_ for model in models}) == 1
    assert all(same_model(models[0], other, X) for other in models[1:])


@pytest.mark.parametrize("n_distinct", [1, 2, 4])
def test_few_distinct_samples_are_no_error(n_distinct: int) -> None:
    """Fewer than parts to deal them to."""
    X = (np.arange(100.0) % n_distinct)[:, None]
    model = auto("squared_error", min_gain=0.0).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()
    assert model.predict(X) == pytest.approx(X[:, 0], abs=0.5)
    few, weights = X[:n_distinct], np.full(n_distinct, 100 / n_distinct)
    assert same_model(auto("squared_error", min_gain=0.0).fit(few, few[:, 0], weights), model, X)
    assert auto("two classes").fit(X, np.arange(100) % 2).predict_proba(X).shape == (100, 2)


@pytest.mark.parametrize("n_features", [3, 5])
def test_rows_that_come_with_both_classes_are_learned_from(n_features: int) -> None:
    """Were all rows of a kind and class in one part, trials would be tested on the opposite of what they learn."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, n_features)).astype(float)
    share = np.where(X[:, 0] == X[:, 1], 0.2, 0.8)
    y = (rng.uniform(size=1000) < share).astype(int)
    model = auto("two classes").fit(X, y)
    assert model.predict_proba(X)[:, 1] == pytest.approx(share, abs=0.15)


def test_class_of_one_sample_is_no_error() -> None:
    X, y = data_for("two classes")
    y[7] = 2
    assert np.isfinite(raw_of(auto("three classes").fit(X, y), X)).all()


# ---- warm start ----


def test_warm_start_keeps_the_rate() -> None:
    X, y = data_for("squared_error")
    model = auto("squared_error", n_estimators=80, warm_start=True).fit(X, y)
    rate = model.learning_rate_
    assert model.n_iter_ == 80
    assert 0.02 < rate < 0.3
    model.set_params(n_estimators=90).fit(X, y)
    assert model.learning_rate_ == rate
    assert same_model(model, auto("squared_error", n_estimators=90, learning_rate=rate).fit(X, y), X)
    model.set_params(n_estimators=91, learning_rate=0.7).fit(X, y)
    assert model.learning_rate_ == 0.7


def test_warm_start_tries_once(trials: list[int]) -> None:
    X, y = data_for("squared_error")
    model = auto("squared_error", n_estimators=3, warm_start=True).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    assert trials == [N]


def test_trees_that_are_kept_need_a_number_of_rounds() -> None:
    X, y = data_for("squared_error")
    model = auto("squared_error", n_estimators=3, learning_rate=0.5, warm_start=True).fit(X, y)
    message = (
        "n_estimators of SLMBoostRegressor must be at least 3, the number there is, when warm_start=True; got 'auto'."
    )
    before = model.predict(X)
    with pytest.raises(ValueError, match=f"^{message}$"):
        model.set_params(n_estimators="auto").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


# ---- as an estimator ----


def test_auto_is_the_default_and_stays_in_the_parameters() -> None:
    for model in (SLMBoostClassifier(), SLMBoostRegressor()):
        assert (model.learning_rate, model.n_estimators) == ("auto", "auto")
    X, y = data_for("two classes", n=60)
    model = SLMBoostClassifier(random_state=0).fit(X, y)
    assert (model.get_params()["learning_rate"], model.get_params()["n_estimators"]) == ("auto", "auto")
    assert isinstance(model.learning_rate_, float)
    assert model.ensemble_.n_trees == 2 * model.n_iter_ <= 500
    assert math.isfinite(model.train_score_[-1])
    again = pickle.loads(pickle.dumps(model))
    assert again.learning_rate_ == model.learning_rate_
    assert same_model(again, model, X)
    fresh = clone(model)
    assert not hasattr(fresh, "learning_rate_")
    assert same_model(fresh.fit(X, y), model, X)


# ---- rules of size ----


def test_scales_follow_each_other() -> None:
    said = {999: (6, 250), 1_000: (6, 500), 9_999: (6, 500), 10_000: (6, 400), 49_999: (6, 400), 50_000: (8, 400)}
    assert {n: (scale_of(n).max_depth, scale_of(n).n_rounds) for n in said} == said
    assert [scale_of(n).below for n in (1, 999, 1_000, 49_999, 10**9)] == [1_000, 1_000, 3_000, 50_000, math.inf]
    assert all(one.below < other.below for one, other in zip(auto_module.SCALES, auto_module.SCALES[1:], strict=False))


@pytest.mark.parametrize("weighted", [False, True])
def test_depth_goes_with_the_number_of_samples(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    scales = (Scale(N + 1, 3, 3, 0.3, 1, 5), Scale(math.inf, 4, 3, 0.3, 1, 5))
    monkeypatch.setattr(auto_module, "SCALES", scales)
    X, y = data_for("squared_error")
    weights = np.ones(N)
    weights[0] += weighted  # a row of weight 2 counts as two
    model = auto("squared_error", max_depth="auto", learning_rate=0.3).fit(X, y, sample_weight=weights)
    assert model.ensemble_.nodes.depth.max() == (4 if weighted else 3)
    told = auto("squared_error", max_depth=2).fit(X, y, sample_weight=weights)
    assert told.ensemble_.nodes.depth.max() == 2


def test_chance_has_more_to_choose_from_among_many_features() -> None:
    assert [chances(n) for n in (1, 2, 64)] == [1.0, 1.0, 1.0]
    assert [chances(n) for n in (128, 256, 1024)] == pytest.approx([1.5, 2.0, 3.0])
    X, y = data_for("squared_error")
    wide = np.column_stack([X, np.zeros((N, 256 - X.shape[1]))])  # of which the others tell nothing
    given = {"subspace": "top", "subspace_size": X.shape[1], "learning_rate": 0.1, "n_estimators": 5}
    narrow, other = (auto("squared_error", min_gain=least, **given) for least in (8.0, 4.0))
    assert same_scores(narrow.fit(X, y), other.fit(wide, y))
    assert not same_scores(narrow, auto("squared_error", min_gain=8.0, **given).fit(wide, y))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_trials_side_by_side_find_the_same(n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data_for("two classes")
    one_by_one = auto("two classes", n_jobs=n_threads).fit(X, y)
    monkeypatch.setattr(audition, "SIDE_BY_SIDE", 1)
    assert same_model(auto("two classes", n_jobs=n_threads).fit(X, y), one_by_one, X)


def test_a_loss_of_ones_own_is_never_asked_from_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audition, "SIDE_BY_SIDE", 1)
    own = threading.get_ident()
    seen: set[int] = set()

    class Watched(OwnSquares):
        def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
            seen.add(threading.get_ident())
            return super().derivatives(y, raw)

    X, y = data_for("squared_error")
    auto("squared_error", loss=Watched(), n_jobs=3).fit(X, y)
    assert seen == {own}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_a_trial_comes_through(n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data_for("two classes")
    model = auto("two classes", n_jobs=n_threads).fit(X, y)
    before = model.predict_proba(X)
    n_called: list[int] = []

    run = trial.Trial.run

    def fail(*given: Any) -> None:
        n_called.append(1)
        if len(n_called) == 2:
            raise OwnError
        run(*given)

    monkeypatch.setattr(audition, "SIDE_BY_SIDE", 1)
    monkeypatch.setattr(trial.Trial, "run", fail)
    with pytest.raises(OwnError):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
