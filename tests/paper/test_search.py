"""The two protocols: what a contender is shown, which setting is chosen, and what is tried at all."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from sublearn._base.boosting import RanAwayError
from sublearn.paper import datasets, grids, printed, search
from sublearn.paper.contenders import CONTENDERS, Contender
from sublearn.paper.datasets import DataSet, Source
from sublearn.paper.search import split, try_contender

THRESHOLDS = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6]


class Cut:
    """Predicts whether the second feature is above a threshold, learns nothing, and notes what it is shown."""

    shown: ClassVar[list[tuple[str, float, frozenset[int]]]] = []  # fit or predict, setting, samples

    def __init__(self, random_state: int, threshold: float, n_parameters: int = 1) -> None:
        self.threshold, self.n_parameters_ = threshold, n_parameters

    def fit(self, X: Any, y: Any) -> "Cut":
        self.classes_ = np.unique(y)
        return self._note("fit", X)

    def predict(self, X: Any) -> Any:
        self._note("predict", X)
        return (X[:, 1] > self.threshold).astype(int)

    def _note(self, what: str, X: Any) -> "Cut":
        Cut.shown.append((what, self.threshold, frozenset(X[:, 0].astype(int).tolist())))
        return self


class Contrary(Cut):
    """Best where the other is worst."""

    def predict(self, X: Any) -> Any:
        return 1 - super().predict(X)


class Constant:
    """Predicts its own parameter."""

    def __init__(self, random_state: int, value: float) -> None:
        self.value = value

    def fit(self, X: Any, y: Any) -> "Constant":
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


def toy(n: int, poisoned: frozenset[int] = frozenset()) -> DataSet:
    """Features are the sample's number and one in [0, 1], whose noisy sign about 0.5 is the class."""
    random = np.random.default_rng(5)
    X = np.column_stack([np.arange(n), random.uniform(size=n)])
    y = ((X[:, 1] > 0.5) ^ (random.uniform(size=n) < 0.2)).astype(int)
    y[list(poisoned)] = 1 - y[list(poisoned)]
    return DataSet(X, y, ["number", "x"])


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(CONTENDERS, "fake", Contender("Fake", 0, Cut, Constant))
    monkeypatch.setitem(grids.GRIDS, "fake", {"threshold": THRESHOLDS})
    use(monkeypatch, toy(100))
    Cut.shown.clear()
    yield
    Cut.shown.clear()


def use(monkeypatch: pytest.MonkeyPatch, data: DataSet, is_classes: bool = True) -> None:
    monkeypatch.setitem(datasets.SOURCES, "toy", Source("Toy", is_classes, lambda seed, folder: data))


def numbers(X: Any) -> frozenset[int]:
    return frozenset(X[:, 0].astype(int).tolist())


def accuracy(threshold: float, X: Any, y: Any) -> float:
    return float(np.mean((X[:, 1] > threshold) == y))


def test_split_is_sixty_to_forty_and_follows_its_seed() -> None:
    parts = split(toy(99), 3)
    assert len(parts.X_test) == len(parts.y_test) == printed.n_test(99) == 40
    assert numbers(parts.X_train) | numbers(parts.X_test) == set(range(99))
    np.testing.assert_array_equal(parts.X_test, split(toy(99), 3).X_test)
    assert numbers(parts.X_test) != numbers(split(toy(99), 4).X_test)


@pytest.mark.parametrize("seed", range(3))
def test_honest_search_is_never_shown_the_test_part(seed: int) -> None:
    found = try_contender("fake", "toy", seed, "honest")
    parts = split(toy(100), seed)
    *search_for_it, (_, fitted, last_fit), (_, _, last_predict) = Cut.shown
    assert len(search_for_it) == 2 * search.N_FOLDS * len(THRESHOLDS)
    assert all(samples < numbers(parts.X_train) for _, _, samples in search_for_it)
    assert last_fit == numbers(parts.X_train)
    assert last_predict == numbers(parts.X_test)
    assert fitted == found.setting["threshold"]


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_honest_choice_does_not_change_with_the_labels_of_the_test_part(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [try_contender("fake", "toy", seed, protocol) for seed in range(5)]
    after = []
    for seed in range(5):
        use(monkeypatch, toy(100, numbers(split(toy(100), seed).X_test)))
        after.append(try_contender("fake", "toy", seed, protocol))
    assert ([one.setting for one in before] == [one.setting for one in after]) == (protocol == "honest")
    if protocol == "honest":
        for one, other in zip(before, after, strict=True):
            assert other.score == pytest.approx(1 - one.score)


@pytest.mark.parametrize("seed", range(5))
def test_chosen_setting_is_the_best_by_brute_force(seed: int) -> None:
    parts = split(toy(100), seed)
    honest = try_contender("fake", "toy", seed, "honest")
    # 60 samples make folds of one size, so the mean over folds is the accuracy on all of them
    in_training = {t: accuracy(t, parts.X_train, parts.y_train) for t in THRESHOLDS}
    assert in_training[honest.setting["threshold"]] == max(in_training.values())
    assert honest.score == accuracy(honest.setting["threshold"], parts.X_test, parts.y_test)
    paper = try_contender("fake", "toy", seed, "paper")
    assert paper.score == max(accuracy(t, parts.X_test, parts.y_test) for t in THRESHOLDS) >= honest.score
    assert paper.n_test == 40


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_smallest_error_wins_where_targets_are_numbers(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grids.GRIDS, "fake", {"value": [0.0, 1.0, 2.0, 3.0]})
    use(monkeypatch, toy(100)._replace(y=np.full(100, 2.2)), is_classes=False)
    found = try_contender("fake", "toy", 0, protocol)
    assert found.setting == {"value": 2.0}
    assert found.score == pytest.approx(0.2)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("sizes", [[9, 4, 7], [4, 7, 9], [9, 7, 4]])
def test_among_equals_the_smaller_model_is_chosen(
    protocol: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(grids.GRIDS, "fake", {"threshold": [0.5], "n_parameters": sizes})
    assert try_contender("fake", "toy", 0, protocol).size.n_parameters == 4


def test_a_better_model_is_chosen_though_it_is_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grids.GRIDS, "fake", {"threshold": [0.0, 0.5], "n_parameters": [9]})
    assert try_contender("fake", "toy", 0, "honest").setting["threshold"] == 0.5


@pytest.mark.parametrize(
    ("protocol", "n", "n_tuned"),
    [("honest", 5000, 3000), ("honest", 5001, 2000), ("paper", 5001, 3000), ("paper", 10_000, 6000)],
)
def test_large_set_is_tuned_on_a_part_and_fitted_on_all_of_the_training_part(
    protocol: str, n: int, n_tuned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, toy(n))
    try_contender("fake", "toy", 0, protocol)
    training = numbers(split(toy(n), 0).X_train)
    *tuned, last = [samples for what, _, samples in Cut.shown if what == "fit"]
    assert last == training
    assert len(frozenset().union(*tuned)) == n_tuned
    assert all(samples <= training for samples in tuned)


def test_slow_contender_has_a_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, toy(5001))
    monkeypatch.setitem(search.N_TUNING_SLOW, "fake", 77)
    for protocol in search.PROTOCOLS:
        Cut.shown.clear()
        try_contender("fake", "toy", 0, protocol)
        *tuned, _ = [samples for what, _, samples in Cut.shown if what == "fit"]
        assert len(frozenset().union(*tuned)) == 77


def test_single_setting_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grids.GRIDS, "fake", {"threshold": [0.5]})
    try_contender("fake", "toy", 0, "honest")
    assert [what for what, _, _ in Cut.shown] == ["fit", "predict"]


def test_quick_search_has_fewer_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "N_QUICK", 2)
    try_contender("fake", "toy", 0, "honest", quick=True)
    assert len(Cut.shown) == 2 * (2 * search.N_FOLDS + 1)


@pytest.mark.parametrize("name", ["slm-baseline", "elm"])
def test_same_seed_gives_the_same_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "N_QUICK", 2)
    first, again = (try_contender(name, "iris", 1, "honest", quick=True) for _ in range(2))
    assert first == again
    assert first.n_test == 60


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("seed", range(3))
def test_follower_takes_the_choice_of_another_and_then_fits_itself(
    protocol: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = try_contender("fake", "toy", seed, protocol)
    monkeypatch.setitem(grids.GRIDS, "contrary", {})
    monkeypatch.setitem(CONTENDERS, "contrary", Contender("Contrary", 0, Contrary, None, follows="fake"))
    follower = try_contender("contrary", "toy", seed, protocol)
    assert follower.setting == leader.setting
    assert follower.score == pytest.approx(1 - leader.score)
    # left to itself it would have taken another
    monkeypatch.setitem(grids.GRIDS, "contrary", {"threshold": THRESHOLDS})
    monkeypatch.setitem(CONTENDERS, "contrary", Contender("Contrary", 0, Contrary, None))
    assert try_contender("contrary", "toy", seed, protocol).setting != leader.setting


def test_perceptron_with_back_propagation_has_the_network_that_the_other_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grids.GRIDS, "ff-mlp", {"n_components": [1, 2]})
    monkeypatch.setattr(search, "N_FOLDS", 2)
    chosen, scores = [], []
    for data_set in ("iris", "2-new-moons"):
        ff, bp = (try_contender(name, data_set, 0, "honest") for name in ("ff-mlp", "bp-mlp"))
        assert bp.setting == ff.setting
        assert bp.size == ff.size
        assert bp.size.n_parameters
        chosen.append(ff.setting["n_components"])
        scores.append((ff.score, bp.score))
    assert chosen == [1, 2]  # so that it is not the same network everywhere
    assert any(one != other for one, other in scores)  # it is trained further


class RunsAway(Cut):
    """Cannot be fitted at one threshold, as boosting at a rate that is too high."""

    def fit(self, X: Any, y: Any) -> "RunsAway":
        if self.threshold == THRESHOLDS[0]:
            raise RanAwayError("learning_rate of SLMBoostClassifier must be lower")
        super().fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_setting_whose_fit_runs_away_is_never_chosen(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONTENDERS, "fake", Contender("Fake", 0, RunsAway, None))
    monkeypatch.setitem(grids.GRIDS, "fake", {"threshold": [THRESHOLDS[0], 5.0]})  # 5: all of one class
    found = try_contender("fake", "toy", 0, protocol)
    assert found.setting == {"threshold": 5.0}
    only = search.try_setting(RunsAway, {"threshold": THRESHOLDS[0]}, search.split(toy(100), 0), 0)
    assert (only.score, only.n_test) == (0.0, 40)


def test_other_errors_of_a_fit_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Any, X: Any, y: Any) -> Any:
        raise ValueError("learning_rate of SLMBoostClassifier must be a number")

    monkeypatch.setattr(Cut, "fit", fail)
    with pytest.raises(ValueError, match="must be a number"):
        try_contender("fake", "toy", 0, "honest")
