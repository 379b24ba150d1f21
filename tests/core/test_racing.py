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
from steps import keep_finalists, rules_of, score_projections, take_evenly
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.core.keys import key_below
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels import projection, racing, searching
from sublearn.kernels.compilation import bare_kernel, plain
from sublearn.kernels.layout import NOUGHT, Node
from support import (
    KEY,
    TASKS,
    WEIGHTS,
    assert_same_tree,
    candidates_of,
    grow_tree,
    kernel_test,
    keys_of,
    leaves_of,
    make_data,
    nodes_of,
    nodes_with,
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


def nodes_of_sizes(sizes: Any, start: int = 0) -> list[Node]:
    """Nodes with so many samples of each class (n_nodes, n_classes), numbered from 1000 on."""
    ends = start + np.cumsum([0, *np.ravel(sizes)])
    n_nodes, n_classes = np.shape(sizes)
    order = 1000 + np.arange(ends[-1], dtype=np.int32)
    runs = [ends[i * n_classes : (i + 1) * n_classes + 1] for i in range(n_nodes)]
    return [Node(order, own.copy(), np.zeros(n_classes, np.int64)) for own in runs]


def test_ten_samples_in_four_stretches_by_hand() -> None:
    # stretches of 2, 3, 2 and 3 samples
    (node,) = nodes_of_sizes([[4, 0, 5, 1]], start=3)
    order, runs = take_evenly(KEY, node, 4)
    for place, (low, high) in zip(order.tolist(), [(3, 5), (5, 8), (8, 10), (10, 13)], strict=True):
        assert 1000 + low <= place < 1000 + high
    n_first = int((order < 1007).sum())
    assert runs.tolist() == [0, n_first, n_first, int((order < 1012).sum()), 4]


@given(
    sizes=st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=4),
    n=st.integers(1, 30),
    seed=st.integers(0, 2**32),
)
def test_racers_are_one_of_each_stretch_in_order_with_classes_together(
    sizes: list[list[int]], n: int, seed: int
) -> None:
    nodes = nodes_of_sizes([[a + n, b, c] for a, b, c in sizes])  # never fewer than n
    keys = np.random.default_rng(seed).integers(0, 2**64, len(sizes), np.uint64)
    for node, key in zip(nodes, keys.tolist(), strict=True):
        order, runs = take_evenly(key, node, n)
        assert len(set(order.tolist())) == n
        numbers = [key_below(key_below(key, RACE), j) >> 32 for j in range(n)]
        rows = node.order[node.runs[0] : node.runs[-1]].tolist()
        assert order.tolist() == naive.take_evenly(rows, n, numbers)
        assert (runs[0], runs[-1]) == (0, n)
        for k in range(3):
            inside = set(order[runs[k] : runs[k + 1]].tolist())
            assert inside <= set(node.order[node.runs[k] : node.runs[k + 1]].tolist())


def test_racers_depend_on_the_key_and_reach_every_sample() -> None:
    (node,), keys = nodes_of_sizes([[30, 20]]), keys_of(400).tolist()
    position = np.array([take_evenly(key, node, 10)[0] for key in keys]) - 1000
    assert len({tuple(row) for row in position.tolist()}) > 390
    counts = np.bincount(position.ravel(), minlength=50)  # each one of five: 80 times on average
    assert 40 < counts.min() < counts.max() < 130
    np.testing.assert_array_equal(take_evenly(keys[0], node, 10)[0], 1000 + position[0])


@bare_kernel
def place_racers(key: Any, node: Any, stretches: Any, n: Any, drawn: Any, out_runs: Any) -> None:
    racing.place_racers(key, node.order, node.runs, stretches, n, drawn, out_runs, NOUGHT)


@given(
    sizes=st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=2), min_size=1, max_size=5),
    n=st.integers(1, 10),
    seed=st.integers(0, 2**32),
)
def test_partitions_find_the_racers_of_all_samples_each_its_own(sizes: list[list[int]], n: int, seed: int) -> None:
    """Of each class, a partition has the samples that come after those of the partitions before it."""
    counts = np.array([[n, 0], *sizes])  # of each partition and class
    whole = Node(np.arange(counts.sum(), dtype=np.int32), np.array([0, *np.cumsum(counts.sum(axis=0))]), counts[0])
    expected, expected_runs = take_evenly(seed, whole, n)
    found = np.full(n, -1)
    for p, own in enumerate(counts):
        before = counts[:p].sum(axis=0)
        firsts = whole.runs[:2] + before
        order = np.concatenate([whole.order[first : first + size] for first, size in zip(firsts, own, strict=True)])
        node = Node(order, np.array([0, own[0], own.sum()]), own)
        drawn, runs = np.full(n, -2, np.int32), np.full(3, -1)
        place_racers(np.uint64(seed), node, np.stack([counts.sum(axis=0), before]), n, drawn, runs)
        assert runs.tolist() == expected_runs.tolist()
        assert (found[drawn >= 0] == -1).all()  # nobody else has it
        found[drawn >= 0] = drawn[drawn >= 0]
    assert found.tolist() == expected.tolist()


def test_nodes_race_from_twice_the_samples_on() -> None:
    rules = rules_of(plan_projections(parameters(), 2))
    is_raced = plain(searching.is_raced)
    found = [bool(is_raced(rules._replace(racing_samples=16), n)) for n in (1, 31, 32, 33, 1000)]
    assert found == [False, False, True, True, True]
    assert not any(is_raced(rules, n) for n in (1, 1000))


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
    found = keep_finalists(n_finalists, candidates)
    for i, size in enumerate(before.sizes.tolist()):
        kept = naive.finalists(before.decrease[i, :size].tolist(), n_finalists)
        assert found[i] == len(kept)
        kept = kept or list(range(size))
        n = len(kept)
        np.testing.assert_array_equal(candidates.coefficients[i, :n], before.coefficients[i, kept])
        np.testing.assert_array_equal(candidates.ranges[i, :n], before.ranges[i, kept])
        assert not candidates.coefficients[i, n:size].any()
        assert not (found[i] and candidates.decrease[i, :size].any())  # which are tested again
    assert not found[:2].any()
    assert (found > 0).sum() > 40


def test_values_outside_the_range_of_racers_go_to_the_bins_at_its_ends() -> None:
    # racers lie between 0 and 8; four bins of width 2
    data = make_data([-50, -1, 0, 3, 8, 9, 400], [0, 0, 0, 0, 1, 1, 1], 2)
    p = parameters(n_bins=4)
    candidates = candidates_of([(1,)])
    candidates.ranges[0, 0] = 0, 8
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates, known=True)
    assert candidates.decrease[0, 0] == pytest.approx(float(naive.loss(data, "entropy")), rel=1e-12)
    assert candidates.threshold[0, 0] == 4  # the middle one of 4 and 6, rounded down
    assert candidates.ranges[0, 0].tolist() == [0, 8]


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
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates, known=True)
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
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates, known=True)
    assert candidates.decrease[0, 0] == pytest.approx(float(naive.loss(data, "entropy")), rel=1e-12)


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
