"""Racing: candidates of large nodes are tested on some samples, the best of them on all."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import naive
from naive import Array, Data
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.core.keys import key_below
from sublearn.core.tree.discriminant import score_projections
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.core.tree.racing import end_race, is_raced
from sublearn.kernels import projection, racing
from sublearn.kernels.layout import Level
from support import (
    KEY,
    ONE_THREAD,
    TASKS,
    WEIGHTS,
    assert_same_tree,
    candidates_of,
    grow_tree,
    kernel_test,
    keys_of,
    leaves_of,
    level_of,
    make_data,
    nodes_of,
    parameters,
    random_data,
    random_vectors,
    samples_of,
    settings_of,
    spread,
)
from test_grower import DRAWN

RACE = int(projection.RACE)

# --- who races


def draw_racers(level: Level, n: int) -> tuple[Array, Array]:
    order, runs = np.full(n * len(level.runs), -1, np.int32), np.full_like(level.runs, -1)
    racing.draw_racers(level, n, order, runs)
    return order, runs


def level_with(sizes: Any, keys: Any = None, start: int = 0) -> Level:
    """Nodes with so many samples of each class (n_nodes, n_classes), numbered from 1000 on."""
    ends = start + np.cumsum([0, *np.ravel(sizes)])
    n_nodes, n_classes = np.shape(sizes)
    runs = np.stack([ends[i * n_classes : (i + 1) * n_classes + 1] for i in range(n_nodes)])
    nothing = np.empty((n_nodes, 0), np.int64)
    order = 1000 + np.arange(ends[-1], dtype=np.int32)
    return Level(order, runs, nothing, np.empty(n_nodes), keys_of(n_nodes) if keys is None else keys)


def test_ten_samples_in_four_stretches_by_hand() -> None:
    # stretches of 2, 3, 2 and 3 samples
    order, runs = draw_racers(level_with([[4, 0, 5, 1]], start=3), 4)
    for place, (low, high) in zip(order.tolist(), [(3, 5), (5, 8), (8, 10), (10, 13)], strict=True):
        assert 1000 + low <= place < 1000 + high
    n_first = int((order < 1007).sum())
    assert runs.tolist() == [[0, n_first, n_first, int((order < 1012).sum()), 4]]


@given(
    sizes=st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=4),
    n=st.integers(1, 30),
    seed=st.integers(0, 2**32),
)
def test_racers_are_one_of_each_stretch_in_order_with_classes_together(
    sizes: list[list[int]], n: int, seed: int
) -> None:
    sizes = [[a + n, b, c] for a, b, c in sizes]  # never fewer than n
    keys = np.random.default_rng(seed).integers(0, 2**64, len(sizes), np.uint64)
    level = level_with(sizes, keys)
    order, runs = draw_racers(level, n)
    assert len(set(order.tolist())) == len(order)
    for i, key in enumerate(keys.tolist()):
        numbers = [key_below(key_below(key, RACE), j) >> 32 for j in range(n)]
        rows = level.order[level.runs[i, 0] : level.runs[i, -1]].tolist()
        assert order[i * n : (i + 1) * n].tolist() == naive.take_evenly(rows, n, numbers)
        assert (runs[i, 0], runs[i, -1]) == (i * n, (i + 1) * n)
        for k in range(3):
            inside = set(order[runs[i, k] : runs[i, k + 1]].tolist())
            assert inside <= set(level.order[level.runs[i, k] : level.runs[i, k + 1]].tolist())


def test_racers_depend_on_the_key_and_reach_every_sample() -> None:
    level = level_with([[30, 20]] * 400)
    order, _ = draw_racers(level, 10)
    position = order.reshape(400, 10) - 1000 - 50 * np.arange(400)[:, None]
    assert len({tuple(row) for row in position.tolist()}) > 390
    counts = np.bincount(position.ravel(), minlength=50)  # each one of five: 80 times on average
    assert 40 < counts.min() < counts.max() < 130
    again, _ = draw_racers(level, 10)
    np.testing.assert_array_equal(order, again)


def test_nodes_race_from_twice_the_samples_on() -> None:
    sizes = np.array([1, 31, 32, 33, 1000])
    assert is_raced(sizes, parameters(racing_samples=16)).tolist() == [False, False, True, True, True]
    assert not is_raced(sizes, parameters()).any()


# --- who comes first

SOME = [(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2)]


@pytest.mark.parametrize("n_finalists", [1, 2, 3, 6, 50])
def test_finalists_are_the_best_in_their_order(n_finalists: int) -> None:
    rng = np.random.default_rng(n_finalists)
    candidates = candidates_of(SOME, 60)
    candidates.decrease[:] = rng.integers(-1, 4, (60, 6)) / 8  # full of ties
    candidates.decrease[0], candidates.decrease[1] = 0.0, -1.0
    candidates.ranges[:] = rng.integers(-9, 9, (60, 6, 2))
    candidates.sizes[2:] = rng.integers(1, 7, 58)
    before = candidates._replace(**{name: column.copy() for name, column in candidates._asdict().items()})
    decided = np.empty(60, np.bool_)
    racing.end_race(n_finalists, candidates, decided)
    for i, size in enumerate(before.sizes.tolist()):
        kept = naive.finalists(before.decrease[i, :size].tolist(), n_finalists)
        assert decided[i] == bool(kept)
        if kept:
            assert candidates.sizes[i] == len(kept)
        else:
            assert candidates.sizes[i] == size
            kept = list(range(size))
        n = len(kept)
        np.testing.assert_array_equal(candidates.coefficients[i, :n], before.coefficients[i, kept])
        if decided[i]:
            np.testing.assert_array_equal(candidates.ranges[i, :n], before.ranges[i, kept])
            assert not candidates.coefficients[i, n:size].any()
    assert not decided[:2].any()
    assert decided.sum() > 40


def test_values_outside_the_range_of_racers_go_to_the_bins_at_its_ends() -> None:
    # racers lie between 0 and 8; four bins of width 2
    data = make_data([-50, -1, 0, 3, 8, 9, 400], [0, 0, 0, 0, 1, 1, 1], 2)
    p = parameters(n_bins=4)
    candidates = candidates_of([(1,)])
    candidates.ranges[0, 0] = 0, 8
    score_projections(samples_of(data), level_of(data, p), kernel_test(p, data), candidates, 0, ONE_THREAD, TRUE)
    assert candidates.decrease[0, 0] == pytest.approx(float(naive.loss(data, "entropy")), rel=1e-12)
    assert candidates.threshold[0, 0] == 4  # the middle one of 4 and 6, rounded down
    assert candidates.ranges[0, 0].tolist() == [0, 8]


TRUE = np.array([True])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_a_test_within_a_range_equals_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    rng = np.random.default_rng(8)
    data = random_data(rng, 150, 3, n_classes, weights)
    p = parameters(criterion=criterion, n_bins=int(rng.choice([4, 16, 40])))
    vectors = random_vectors(rng, 12, 3)
    candidates = candidates_of(vectors)
    ranges = np.sort(rng.integers(-2500, 2500, (12, 2)), axis=1)
    ranges[0] = 300, 301
    ranges[1] = 300  # nothing to divide
    candidates.ranges[0] = ranges
    score_projections(samples_of(data), level_of(data, p), kernel_test(p, data), candidates, 0, ONE_THREAD, TRUE)
    for c, vector in enumerate(vectors):
        bounds = int(ranges[c, 0]), int(ranges[c, 1])
        twin = naive.discriminant_test(naive.project(data.codes, vector), data, settings_of(p, data), bounds)
        scale = max(1.0, float(naive.loss(data, criterion)))
        assert candidates.decrease[0, c] == pytest.approx(twin.decrease, rel=0, abs=1e-11 * scale)
        assert twin.rival or twin.decrease < naive.NOISE or candidates.threshold[0, c] == twin.threshold


@pytest.mark.parametrize("sign", [1, -1])
def test_values_far_outside_a_narrow_range_stay_on_their_side(sign: int) -> None:
    # the largest projected values there are, and 256 bins over a range of one
    data = make_data(sign * np.array([0, 0, 1, 8191, 8192]), [0, 0, 1, 1, 1], 2)
    p = parameters(n_bins=256)
    candidates = candidates_of([(2047,)])
    candidates.ranges[0, 0] = sorted([0, sign * 1])
    score_projections(samples_of(data), level_of(data, p), kernel_test(p, data), candidates, 0, ONE_THREAD, TRUE)
    assert candidates.decrease[0, 0] == pytest.approx(float(naive.loss(data, "entropy")), rel=1e-12)


def test_undecided_nodes_are_tested_on_all_samples_and_their_own_range() -> None:
    data = random_data(np.random.default_rng(9), 90, 2, 2)
    p = parameters()
    nodes = [np.arange(40), np.arange(40, 90)]
    level, test = level_of(data, p, nodes), kernel_test(p, data)
    expected = candidates_of(SOME, 2)
    score_projections(samples_of(data), level, test, expected, 0, ONE_THREAD)
    candidates = candidates_of(SOME, 2)
    candidates.decrease[1] = [0.0, 0.1, 0.0, 0.4, 0.3, 0.0]
    candidates.ranges[1] = expected.ranges[1]  # as if all samples had raced
    found = end_race(samples_of(data), level, test, candidates, 2, ONE_THREAD)
    assert found.sizes.tolist() == [6, 2]
    np.testing.assert_array_equal(found.decrease[0], expected.decrease[0])
    np.testing.assert_array_equal(found.threshold[0], expected.threshold[0])
    np.testing.assert_array_equal(found.ranges[0], expected.ranges[0])
    assert found.coefficients[1, :2].tolist() == [list(SOME[3]), list(SOME[4])]
    np.testing.assert_array_equal(found.decrease[1, :2], expected.decrease[1, 3:5])
    np.testing.assert_array_equal(found.threshold[1, :2], expected.threshold[1, 3:5])


# --- whole nodes against the twin


def twin_race(data: Data, p: TreeParameters, l2: float) -> naive.Race:
    """The race of the root, from the candidates the engine lists."""
    n_features = data.codes.shape[1]
    plan = plan_projections(p, n_features)
    assert plan.rounds.n_draws.sum() == 0
    assert p.racing_samples is not None
    n = p.racing_samples
    order = np.argsort(data.y, kind="stable").tolist() if data.n_classes else list(range(len(data.y)))
    racers = naive.take_evenly(order, n, [key_below(key_below(KEY, RACE), j) >> 32 for j in range(n)])

    def pool(ranked: list[int]) -> list[naive.Vector]:
        return [spread(vector, ranked, n_features) for vector in plan.listed.tolist()]

    return naive.race(data, data.take(racers), settings_of(p, data, l2), pool, p.n_finalists)


def parameters_for(rng: np.random.Generator, criterion: str) -> TreeParameters:
    return parameters(
        criterion=criterion,
        n_bins=int(rng.choice([4, 16, 40])),
        subspace_size=int(rng.integers(1, 4)),
        rounds=(DrawingRound(0.5, 0.0, None),),
        envelope_height=float(rng.choice([1.0, 2.5])),
        max_partitions=int(rng.integers(1, 4)),
        max_cosine=0.8,
        effective_ratio=float(rng.choice([0.0, 0.3])),
        max_depth=1,
        min_samples_leaf=int(rng.choice([1, 4])),
        min_loss=-np.inf if criterion == "second_order" else 0.0,
        racing_samples=int(rng.choice([16, 25, 40])),
        n_finalists=int(rng.integers(1, 6)),
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (0, "second_order")])
def test_a_raced_root_equals_the_twin_where_rounding_has_no_say(n_classes: int, criterion: str, weights: str) -> None:
    compared = outside = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        data = random_data(rng, int(rng.integers(80, 140)), 3, n_classes, weights)
        l2 = 0.0
        if criterion == "second_order":
            l2, curvatures = 7.0, rng.integers(1, 1 << 10, len(data.y))
            data = data._replace(y=data.y // 4000, curvatures=curvatures)
        p = parameters_for(rng, criterion)
        race = twin_race(data, p, l2)
        kept = naive.keep_decorrelated(data, race.vectors, race.outcomes, settings_of(p, data, l2))
        if race.tied or kept.tied or not race.decided:
            continue
        compared += 1
        root, *below = nodes_of(grow_tree(data, p, l2=l2), 3)
        expected = [(race.vectors[c], race.outcomes[c].threshold) for c in kept.indices]
        assert [plane[:2] for plane in root.planes] == expected
        decreases = [race.outcomes[c].decrease for c in kept.indices]
        assert [plane.decrease for plane in root.planes] == pytest.approx(decreases, rel=1e-9, abs=1e-9)
        assert root.decrease == pytest.approx(kept.decrease, rel=1e-9, abs=1e-9)
        cells = naive.split(range(len(data.y)), kept.cells.tolist()) if kept.indices else {}
        assert [node.count for node in below] == [int(data.counts[rows].sum()) for rows in cells.values()]
        unraced = nodes_of(grow_tree(data, replace(p, racing_samples=None), l2=l2), 3)[0]
        outside += unraced.planes != root.planes
    assert compared >= 10
    assert outside > compared // 3  # races that all samples would have decided otherwise


def test_racers_need_not_meet_the_minima() -> None:
    # no side can have 40 of 16 racers; where that would leave no candidate, all samples would decide
    data = random_data(np.random.default_rng(10), 200, 3, 2)
    p = parameters(min_samples_leaf=40, min_weight_fraction_leaf=0.2, max_depth=1)
    whole = grow_tree(data, p)
    raced = [grow_tree(data, replace(p, racing_samples=16, n_finalists=1), key) for key in range(5)]
    assert all(tree.n_samples.min() >= 40 for tree in raced)
    assert sum(tree.threshold.tolist() != whole.threshold.tolist() for tree in raced) > 2


def test_a_root_whose_racers_are_all_alike_is_split_by_all_samples() -> None:
    # one of the last stretch differs, and the key does not draw it
    codes = np.zeros((64, 2), np.int64)
    codes[63] = 5, 9
    data = make_data(codes, [0] * 32 + [1] * 32, 2)
    drawn = [key for key in range(60) if draws_last(key)]
    assert 0 < len(drawn) < 60
    for key in range(60):
        tree = grow_tree(data, parameters(racing_samples=32, max_depth=1), key)
        assert tree.n_samples.tolist() == [64, 63, 1]


def draws_last(key: int) -> bool:
    return (key_below(key_below(key, RACE), 31) >> 32) * 2 >> 32 == 1


@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (0, "second_order")])
def test_more_racers_than_half_the_samples_change_nothing(n_classes: int, criterion: str) -> None:
    data = random_data(np.random.default_rng(11), 301, 4, n_classes)
    p = replace(DRAWN, criterion=criterion, min_loss=-np.inf)
    expected = grow_tree(data, p)
    for racing_samples in (151, 10**6):
        assert_same_tree(expected, grow_tree(data, replace(p, racing_samples=racing_samples)))
    raced = grow_tree(data, replace(p, racing_samples=150, n_finalists=1))
    assert raced.threshold.tolist() != expected.threshold.tolist()


def test_a_fully_grown_raced_tree_knows_its_training_samples() -> None:
    data = random_data(np.random.default_rng(12), 400, 4, 3)
    tree = grow_tree(data, replace(DRAWN, racing_samples=16))
    assert tree.value[leaves_of(tree, data.codes)].argmax(axis=1).tolist() == data.y.tolist()


# --- estimators

ESTIMATORS = [
    SLMClassifier,
    SLMRegressor,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
]


def make(kind: Any, **given: Any) -> Any:
    """A model that is fitted soon; boosting tries no rates."""
    few = {"n_estimators": 4, "learning_rate": 0.3}
    return kind(**{name: few[name] for name in few.keys() & kind().get_params()}, random_state=0, **given)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_race_where_nodes_are_large_enough(kind: Any) -> None:
    X, y = make_classification(3000, 8, n_informative=5, random_state=0)
    plain = make(kind, racing_samples=None).fit(X, y)
    defaults = {"Boost": 512, "Forest": 16384}
    expected = next((value for name, value in defaults.items() if name in kind.__name__), None)
    assert make(kind).get_params()["racing_samples"] == expected
    same = make(kind, racing_samples=3000, n_finalists=1).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), same.predict(X))
    raced = [make(kind, racing_samples=100, n_finalists=4, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(*(model.predict(X) for model in raced))
    assert raced[0].score(X, y) > 0.8 * plain.score(X, y)
    assert not np.array_equal(thresholds_of(raced[0]), thresholds_of(plain))


def thresholds_of(model: Any) -> Array:
    nodes = model.tree_ if hasattr(model, "tree_") else model.ensemble_.nodes
    thresholds: Array = nodes.threshold
    return thresholds


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_take_the_smallest_race(kind: Any) -> None:
    X, y = make_classification(200, 8, random_state=0)
    assert make(kind, racing_samples=16, n_finalists=1).fit(X, y).score(X, y) > 0.3
    assert make(kind, racing_samples=np.int64(16), n_finalists=np.int32(1)).fit(X, y) is not None
