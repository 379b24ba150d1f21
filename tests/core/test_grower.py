"""Whole trees against the twin, and what the design promises of them."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import naive
from naive import Array, Data, Node, Vector
from steps import choose_subspace, rank_features
from sublearn.core.data.fixed_point import integer_targets, pack
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import grouping, threads, workspace
from sublearn.core.tree.answers import MeanTarget, NewtonStep
from sublearn.core.tree.grower import grow, grow_placed
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.core.tree.task import Task, class_root, number_root, repeated
from sublearn.kernels.layout import BLOCK
from sublearn.kernels.nodes import Grown
from sublearn.kernels.team import N_SHARED, READY, TOGETHER, Team
from support import (
    KEY,
    ONE_THREAD,
    TASKS,
    WEIGHTS,
    assert_same_tree,
    grow_tree,
    grow_twin,
    kernel_test,
    keys_of,
    leaves_of,
    make_data,
    nodes_of,
    nodes_with,
    parameters,
    random_data,
    samples_of,
    settings_of,
    share_small_trees,
    spread,
    task_of,
)

NONE = np.empty(0, np.int64)
DRAWN = parameters(
    subspace="drawn",
    subspace_size=4,
    n_projections=12,
    rounds=(DrawingRound(0.3, 0.2, 2), DrawingRound(0.1, 0.0, None)),
    envelope_height=4.0,
    max_partitions=3,
    effective_ratio=0.2,
)


def close(expected: Any) -> Any:
    """Losses are sums of terms right to a few units in the last place."""
    return pytest.approx(expected, rel=1e-11, abs=1e-11)


# --- by hand


def test_four_samples_by_hand() -> None:
    data = make_data([[0, 5], [1, 5], [8, 5], [9, 5]], [0, 0, 1, 1], 2)
    tree = grow_tree(data, parameters(n_bins=3))
    # boundaries 3 and 6 of the first feature split alike; the first one is (1 + 2) // 2
    root, negative, positive = nodes_of(tree, 2)
    assert root.planes == [naive.Plane((1, 0), 3, 1.0)]
    assert (root.value, root.loss, root.decrease, root.count) == ([0.5, 0.5], 1.0, 1.0, 4)
    assert root.children == {0: negative, 1: positive}
    assert (negative.value, positive.value) == ([1.0, 0.0], [0.0, 1.0])
    assert tree.weight.tolist() == [1.0, 0.5, 0.5]
    assert tree.depth.tolist() == [0, 1, 1]


def test_four_quadrants_make_four_children() -> None:
    data = make_data([[-8, -8], [8, -8], [-8, 8], [8, 8]], [0, 1, 2, 3], 4)
    tree = grow_tree(data, parameters(max_partitions=2))
    assert tree.n_nodes == 5
    assert tree.children.tolist() == [1, 2, 3, 4]
    assert tree.value[1:].argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_regression_of_four_samples_by_hand() -> None:
    tree = grow_tree(make_data([0, 1, 8, 9], [1, 3, 11, 13], 0), parameters(criterion="squared_error", max_depth=1))
    assert tree.value.tolist() == [[7.0], [2.0], [12.0]]
    assert tree.loss.tolist() == [26.0, 1.0, 1.0]
    assert tree.decrease.tolist() == [25.0, 0.0, 0.0]


def test_boosting_of_four_samples_by_hand() -> None:
    data = make_data([0, 1, 8, 9], [1, 3, 11, 13], 0)._replace(curvatures=np.array([1, 1, 2, 2]))
    tree = grow_tree(data, parameters(criterion="second_order", n_bins=2, max_depth=1, min_loss=-np.inf), l2=2.0)
    # one boundary, 5; G = 28 = 4 + 24 and H = 6 = 2 + 4
    assert tree.value.tolist() == [[28 / 8], [4 / 4], [24 / 6]]
    assert tree.loss.tolist() == [-(28**2) / 8 / 6, -(4**2) / 4 / 2, -(24**2) / 6 / 4]
    assert tree.decrease[0] == pytest.approx((4**2 / 4 + 24**2 / 6 - 28**2 / 8) / 6, rel=1e-14)
    assert tree.weight.tolist() == [6.0, 2.0, 4.0]
    assert tree.n_samples.tolist() == [4, 2, 2]


def test_a_root_lists_its_samples_class_by_class() -> None:
    root = class_root(np.array([1, 0, 1, 0, 0]), 3)
    assert (root.order.tolist(), root.runs.tolist()) == ([1, 3, 4, 0, 2], [[0, 3, 5, 5]])
    part = repeated(root, np.array([1, 0, 2, 1, 0]))
    assert (part.order.tolist(), part.runs.tolist()) == ([3, 0, 2, 2], [[0, 1, 4, 4]])
    part = repeated(number_root(np.array([4, 0, 2])), np.array([True, True, True, True, False]))
    assert (part.order.tolist(), part.runs.tolist()) == ([0, 2], [[0, 2]])


# --- against the twin


def assert_same_as_twin(tree: FlatTree, root: Node, n_features: int) -> None:
    """Node by node, in level order."""
    found, expected = nodes_of(tree, n_features), naive.in_level_order(root)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert [p[:2] for p in one.planes] == [p[:2] for p in other.planes]
        assert sorted(one.children) == sorted(other.children)
        assert (one.depth, one.count, one.value, one.weight) == (other.depth, other.count, other.value, other.weight)
        assert one.loss == close(other.loss)
        assert one.decrease == close(other.decrease)
        assert [p.decrease for p in one.planes] == close([p.decrease for p in other.planes])


def forest_of(seed: int, n_classes: int, criterion: str, weights: str) -> tuple[Data, TreeParameters]:
    """Some data and parameters; every vector is listed."""
    rng = np.random.default_rng(seed)
    data = random_data(rng, int(rng.integers(20, 90)), int(rng.integers(1, 4)), n_classes, weights)
    p = parameters(
        criterion=criterion,
        n_bins=int(rng.choice([2, 5, 16, 40])),
        subspace_size=int(rng.integers(1, 4)),
        rounds=(DrawingRound(0.5, float(rng.choice([0.0, 0.3])), None),),
        envelope_height=float(rng.choice([1.0, 2.5])),
        axis_projections=bool(rng.integers(2)),
        max_partitions=int(rng.integers(1, 4)),
        max_cosine=float(rng.choice([0.3, 0.75, 1.0])),
        effective_ratio=float(rng.choice([0.0, 0.3, 0.6])),
        max_depth=None if rng.integers(2) else 3,
        min_samples_split=int(rng.choice([2, 10])),
        min_samples_leaf=int(rng.choice([1, 4])),
        min_weight_fraction_leaf=float(rng.choice([0.0, 0.03])),
        min_loss=float(rng.choice([0.0, 0.4])) if n_classes else 0.0,
    )
    return data, p


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_trees_equal_the_twin_where_rounding_has_no_say(n_classes: int, criterion: str, weights: str) -> None:
    compared = 0
    for seed in range(20):
        data, p = forest_of(seed, n_classes, criterion, weights)
        twin = grow_twin(data, p)
        if any(node.tied for node in naive.in_level_order(twin)):
            continue
        compared += 1
        tree = grow_tree(data, p)
        assert_same_as_twin(tree, twin, data.codes.shape[1])
        fresh = np.random.default_rng(seed).integers(-1500, 1500, (40, data.codes.shape[1]))
        nodes = leaves_of(tree, fresh)
        assert tree.value[nodes].tolist() == naive.predict(twin, fresh)
        if compared == 10:
            break
    assert compared >= 10


def boosting_of(seed: int, weights: str, curved: bool) -> tuple[Data, TreeParameters]:
    """Derivatives that do not add up to zero, as after a start that was no good."""
    data, p = forest_of(seed, 0, "second_order", weights)
    rng = np.random.default_rng(seed)
    curvatures = rng.integers(1, 1 << int(rng.choice([2, 10, 20])), len(data.y)) if curved else None
    data = data._replace(y=data.y + int(rng.choice([0, 10**7])), curvatures=curvatures)
    return data, replace(p, min_loss=-np.inf)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3])  # of l2 in H
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_trees_of_boosting_equal_the_twin_where_rounding_has_no_say(weights: str, curved: bool, share: float) -> None:
    compared = n_nodes = 0
    for seed in range(7):
        data, p = boosting_of(seed, weights, curved)
        l2 = math.ceil(2 * share * naive.weight_of(data)) / 2
        twin = grow_twin(data, p, l2)
        if any(node.tied for node in naive.in_level_order(twin)):
            continue
        compared += 1
        tree = grow_tree(data, p, l2=l2)
        n_nodes += tree.n_nodes
        assert_same_as_twin(tree, twin, data.codes.shape[1])
    assert compared >= 5
    assert n_nodes > 5 * compared


def pool_of(data: Data, p: TreeParameters, rows: list[int]) -> naive.Pool:
    """The engine's candidates in a node: among equal features its ranking may differ from the twin's."""
    n_features = data.codes.shape[1]
    plan = plan_projections(p, n_features)
    assert plan.rounds.n_draws.size == 0
    ranking = rank_features(samples_of(data), nodes_with(data, p, [rows]), kernel_test(p, data))
    ranked = choose_subspace(ranking, keys_of(1), plan.listed.shape[1], "top", 0.0)[0].tolist()
    return lambda _: [spread(vector, ranked, n_features) for vector in plan.listed.tolist()]


def assert_as_good_as_twin(tree: FlatTree, data: Data, p: TreeParameters) -> None:
    """The twin judges every node of a tree: its sums, and that no better choice was left. Ties may go either way."""
    root, settings = nodes_of(tree, data.codes.shape[1])[0], settings_of(p, data)
    open_ = [(root, list(range(len(data.y))))]
    for node, rows in open_:
        twin = naive.describe(data, rows, node.depth, p.criterion)
        assert (node.value, node.weight, node.count) == (twin.value, twin.weight, twin.count)
        assert node.loss == close(twin.loss)
        if not naive.is_open(twin, data, settings):
            assert not node.planes
            continue
        part = data.take(rows)
        vectors, outcomes, _ = naive.try_candidates(part, settings, pool_of(data, p, rows))
        judge_planes(node, part, dict(zip(vectors, outcomes, strict=True)), settings)
        cells = cells_of(part, node.planes)
        if node.planes:
            below = naive.split(rows, cells.tolist())
            assert sorted(below) == sorted(node.children)
            open_ += [(node.children[code], inside) for code, inside in below.items()]


def cells_of(data: Data, planes: Iterable[naive.Plane]) -> Array:
    cells = np.zeros(len(data.y), np.int64)
    for bit, plane in enumerate(planes):
        cells += (naive.project(data.codes, plane.vector) >= plane.threshold).astype(np.int64) << bit
    return cells


def judge_planes(node: Node, data: Data, outcomes: dict[Vector, naive.Outcome], settings: naive.Settings) -> None:
    """The hyperplanes of a node are the best, then ever the least aligned of those that help."""
    tolerance = 1e-9 * max(1.0, node.loss)
    best = max((o.decrease for o in outcomes.values()), default=0.0)
    if not node.planes:
        assert best <= naive.NOISE
        return
    assert node.planes[0].decrease == pytest.approx(best, rel=0, abs=tolerance)
    joint = 0.0
    for q, plane in enumerate(node.planes):
        assert plane.decrease == pytest.approx(outcomes[plane.vector].decrease, rel=0, abs=tolerance)
        alone = naive.split_decrease(data, cells_of(data, [plane]), settings.criterion)
        assert alone == pytest.approx(plane.decrease, rel=0, abs=tolerance)
        cells = cells_of(data, node.planes[: q + 1])
        assert naive.meet_minima(data, cells, settings)
        before, joint = joint, naive.split_decrease(data, cells, settings.criterion)
        assert joint > before
        if q:
            assert plane.decrease >= settings.effective_ratio * best - tolerance
            cosine = largest_cosine(plane.vector, node.planes[:q])
            assert cosine <= settings.max_cosine**2 + 1e-12
            assert_nothing_helps(node.planes[:q], below(cosine), data, outcomes, settings, best)
    assert node.decrease == pytest.approx(joint, rel=0, abs=tolerance)
    if len(node.planes) < settings.max_partitions:
        limit = Fraction(settings.max_cosine) ** 2
        assert_nothing_helps(node.planes, below(limit), data, outcomes, settings, best)


def largest_cosine(vector: Vector, planes: Iterable[naive.Plane]) -> Fraction:
    return max(naive.squared_cosine(vector, plane.vector) for plane in planes)


def below(cosine: Fraction) -> Fraction:
    return cosine - Fraction(1, 10**12)


def assert_nothing_helps(
    planes: list[naive.Plane],
    cosine: Fraction,
    data: Data,
    outcomes: dict[Vector, naive.Outcome],
    settings: naive.Settings,
    best: float,
) -> None:
    """No effective candidate less aligned than this with the planes could have joined them."""
    joint = naive.split_decrease(data, cells_of(data, planes), settings.criterion)
    for vector, outcome in outcomes.items():
        effective = outcome.decrease > max(settings.effective_ratio * best, naive.NOISE) + 1e-9
        if not effective or outcome.rival or largest_cosine(vector, planes) > cosine:
            continue
        trial = cells_of(data, [*planes, naive.Plane(vector, outcome.threshold, 0.0)])
        helps = naive.split_decrease(data, trial, settings.criterion) > joint + 1e-9
        assert not (helps and naive.meet_minima(data, trial, settings))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_trees_full_of_ties_are_as_good_as_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    for seed in range(3):
        data, p = forest_of(seed, n_classes, criterion, weights)
        rng = np.random.default_rng(seed)
        few = rng.integers(-3, 4, data.codes.shape)  # with many duplicated rows
        data = data._replace(codes=few, y=data.y if n_classes else 10**6 * rng.integers(-5, 6, len(few)))
        assert_as_good_as_twin(grow_tree(data, p), data, p)


@pytest.mark.parametrize("n_classes", [2, 10, 30, 100])
def test_trees_of_many_classes_are_as_good_as_the_twin(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = random_data(rng, 150, 2, n_classes)
    p = parameters(max_partitions=3, effective_ratio=0.3, max_depth=4)
    assert_as_good_as_twin(grow_tree(data, p), data, p)


@pytest.mark.parametrize(("n_classes", "criterion"), [(3, "entropy"), (0, "squared_error")])
def test_a_tree_over_extreme_codes_is_as_good_as_the_twin(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(0)
    data = random_data(rng, 80, 3, n_classes)
    data = data._replace(codes=rng.choice([-32768, -32767, 0, 32766, 32767], (80, 3)))
    p = parameters(criterion=criterion, envelope_height=2.0, max_partitions=2, n_bins=64, max_depth=3)
    assert_as_good_as_twin(grow_tree(data, p), data, p)


# --- planted trees


def in_box(rng: np.random.Generator, n: int) -> Array:
    return rng.integers(-1000, 1001, (n, 2))


def directions(node: Node) -> set[Vector | None]:
    """Vectors of a node's hyperplanes, up to their sign."""
    return {naive.normalise(plane.vector) for plane in node.planes}


def clear_of(codes: Array, train: Array, planes: Sequence[tuple[Vector, int]], n_bins: int) -> Array:
    """Whether samples are further from each hyperplane than the bins of the training samples are wide."""
    clear = np.ones(len(codes), np.bool_)
    for vector, threshold in planes:
        projected = naive.project(train, vector)
        width = (projected.max() - projected.min()) / n_bins
        clear &= np.abs(naive.project(codes, vector) - threshold) > width
    return clear


def test_a_planted_tree_with_four_children_at_the_root_is_found_again() -> None:
    # the root is cut by two hyperplanes at once, each cell by one of its own: eight classes
    root = [((1, 1), 100), ((1, -1), -200)]
    inner = {0: ((2, 1), -1100), 1: ((1, -2), -1200), 2: ((1, 2), -900), 3: ((1, 0), 600)}

    def label(codes: Array) -> Array:
        cells = cells_of(make_data(codes, np.zeros(len(codes)), 1), [naive.Plane(v, t, 0.0) for v, t in root])
        sides = [naive.project(codes, inner[cell][0]) >= inner[cell][1] for cell in range(4)]
        return 2 * cells + np.stack(sides)[cells, np.arange(len(codes))]

    rng = np.random.default_rng(0)
    train, fresh = in_box(rng, 6000), in_box(rng, 20_000)
    p = parameters(n_bins=64, envelope_height=2.0, max_partitions=2, max_cosine=0.5, effective_ratio=0.5, max_depth=2)
    tree = grow_tree(make_data(train, label(train), 8), p)
    nodes = nodes_of(tree, 2)
    assert directions(nodes[0]) == {v for v, _ in root}
    cells = [int(np.argmax(child.value)) // 2 for child in nodes[0].children.values()]
    assert sorted(cells) == [0, 1, 2, 3]
    for cell, child in zip(cells, nodes[0].children.values(), strict=True):
        assert inner[cell][0] in directions(child)
    clear = clear_of(fresh, train, [*root, *inner.values()], p.n_bins)
    found = tree.value[leaves_of(tree, fresh)].argmax(axis=1)
    assert clear.sum() > 10_000
    assert (found[clear] == label(fresh)[clear]).all()


def test_a_planted_chain_of_hyperplanes_is_found_again() -> None:
    # two classes in three cells: positive of the first hyperplane, else by the second
    first, second = ((1, 2), 700), ((2, -1), -300)

    def label(codes: Array) -> Array:
        outer = naive.project(codes, first[0]) >= first[1]
        return (outer | (naive.project(codes, second[0]) >= second[1])).astype(np.int64)

    rng = np.random.default_rng(1)
    train, fresh = in_box(rng, 5000), in_box(rng, 20_000)
    p = parameters(n_bins=64, envelope_height=2.0, max_depth=2)
    tree = grow_tree(make_data(train, label(train), 2), p)
    clear = clear_of(fresh, train, [first, second], p.n_bins)
    found = tree.value[leaves_of(tree, fresh)].argmax(axis=1)
    assert clear.sum() > 10_000
    assert (found[clear] == label(fresh)[clear]).all()


def test_a_planted_step_function_is_found_again() -> None:
    planes = [((2, 1), 300), ((1, -2), -400)]
    heights = np.array([-5_000_000, 1_000_000, 3_000_000, 9_000_000])

    def target(codes: Array) -> Array:
        return heights[cells_of(make_data(codes, np.zeros(len(codes)), 1), [naive.Plane(v, t, 0.0) for v, t in planes])]

    rng = np.random.default_rng(2)
    train, fresh = in_box(rng, 5000), in_box(rng, 20_000)
    p = parameters(
        criterion="squared_error", n_bins=64, envelope_height=2.0, max_partitions=2, effective_ratio=0.05, max_depth=1
    )
    tree = grow_tree(make_data(train, target(train), 0), p)
    assert directions(nodes_of(tree, 2)[0]) == {v for v, _ in planes}
    clear = clear_of(fresh, train, planes, p.n_bins)
    found = tree.value[leaves_of(tree, fresh), 0]
    assert clear.sum() > 10_000
    # a leaf's mean has its share of samples from the sliver between the hyperplane and the bin boundary
    assert np.abs(heights[:, None] - found[clear]).argmin(axis=0).tolist() == [
        heights.tolist().index(t) for t in target(fresh)[clear].tolist()
    ]


# --- when a node is not split


def depth_of(data: Data, p: TreeParameters) -> int:
    return int(grow_tree(data, p).depth.max())


def test_max_depth_ends_the_tree() -> None:
    data = random_data(np.random.default_rng(0), 200, 2, 2)
    assert [depth_of(data, parameters(max_depth=depth)) for depth in (0, 1, 2, 5)] == [0, 1, 2, 5]
    assert depth_of(data, parameters()) > 5


def test_nodes_below_min_samples_split_are_leaves() -> None:
    data = random_data(np.random.default_rng(1), 100, 2, 2)
    tree = grow_tree(data, parameters(min_samples_split=20))
    assert tree.n_samples[~tree.is_leaf].min() >= 20
    assert depth_of(data, parameters(min_samples_split=100)) > 0
    assert depth_of(data, parameters(min_samples_split=101)) == 0


def test_whole_weights_count_towards_min_samples_split() -> None:
    data = random_data(np.random.default_rng(2), 30, 2, 2, "integer")
    total = int(data.weights.sum())
    assert depth_of(data, parameters(min_samples_split=total, max_depth=1)) == 1
    assert depth_of(data, parameters(min_samples_split=total + 1)) == 0
    once = data._replace(counts=np.ones(30, np.int64))
    assert depth_of(once, parameters(min_samples_split=31)) == 0


def test_nodes_below_min_loss_are_leaves() -> None:
    data = make_data([0, 1, 2, 3], [0, 0, 1, 1], 2)  # one bit
    assert depth_of(data, parameters(min_loss=1.0)) == 1
    assert depth_of(data, parameters(min_loss=1.0 + 1e-9)) == 0


def test_min_loss_of_a_regression_is_in_the_units_of_y() -> None:
    targets = integer_targets(np.array([0.0, 1.0, 2.0, 3.0]))  # a variance of 1.25
    data = make_data([0, 1, 2, 3], np.zeros(4), 0)
    samples = samples_of(data)._replace(
        targets=targets.targets, remainders=targets.remainders, packed=pack(targets.targets, NONE)
    )
    for min_loss, n_nodes in ((1.25 - 1e-9, 3), (1.25 + 1e-9, 1)):
        p = parameters(criterion="squared_error", min_loss=min_loss, max_depth=1)
        task = task_of(data, p)._replace(samples=samples, answers=MeanTarget(targets.units))
        assert grow(task, KEY, ONE_THREAD).n_nodes == n_nodes


@pytest.mark.parametrize("weights", WEIGHTS)
def test_leaves_meet_the_minima(weights: str) -> None:
    data = random_data(np.random.default_rng(3), 300, 3, 3, weights)
    for p in (parameters(), DRAWN):
        assert grow_tree(data, replace(p, min_samples_leaf=11)).n_samples.min() >= 11
        assert grow_tree(data, replace(p, min_weight_fraction_leaf=0.06)).weight.min() >= 0.06


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_pure_nodes_are_leaves(n_classes: int, criterion: str) -> None:
    assert depth_of(make_data([[0, 1], [2, 3], [4, 5]], [1, 1, 1], n_classes), parameters(criterion=criterion)) == 0


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_one_sample_is_a_leaf(n_classes: int, criterion: str) -> None:
    tree = grow_tree(make_data([[3, 4]], [1], n_classes), parameters(criterion=criterion))
    assert tree.n_nodes == 1
    assert tree.loss.tolist() == [0.0]
    assert leaves_of(tree, np.array([[3, 4]])).tolist() == [0]


def test_constant_features_give_a_leaf() -> None:
    data = make_data(np.tile([5, -3], (10, 1)), np.arange(10) % 2, 2)
    for p in (parameters(), DRAWN):
        assert grow_tree(data, p).n_nodes == 1


def test_equal_samples_of_several_classes_share_a_leaf() -> None:
    data = make_data([0, 0, 0, 9, 9, 9], [0, 1, 0, 1, 1, 0], 2)
    tree = grow_tree(data, parameters())
    assert tree.value.tolist() == [[0.5, 0.5], [2 / 3, 1 / 3], [1 / 3, 2 / 3]]


def test_one_feature_is_enough() -> None:
    data = make_data(np.arange(64), np.arange(64) // 8 % 2, 2)
    tree = grow_tree(data, DRAWN)
    assert tree.value[leaves_of(tree, data.codes)].argmax(axis=1).tolist() == data.y.tolist()


def test_a_chessboard_without_any_gain_is_a_leaf() -> None:
    corners = np.array(list(itertools.product([-9, 9], repeat=2)))
    data = make_data(np.repeat(corners, 5, axis=0), np.repeat([0, 1, 1, 0], 5), 2)
    assert depth_of(data, parameters(envelope_height=0.0, n_bins=2)) == 0


def test_no_candidates_give_a_leaf() -> None:
    data = random_data(np.random.default_rng(4), 50, 2, 2)
    assert depth_of(data, parameters(envelope_height=0.0, axis_projections=False)) == 0


# --- the promises


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_training_samples_reach_the_leaf_they_were_put_in(n_classes: int, criterion: str, weights: str) -> None:
    data = random_data(np.random.default_rng(5), 400, 5, n_classes, weights)
    tree = grow_tree(data, replace(DRAWN, criterion=criterion, min_samples_leaf=4))
    leaves = leaves_of(tree, data.codes)
    assert set(leaves.tolist()) == set(np.flatnonzero(tree.is_leaf).tolist())
    for leaf in set(leaves.tolist()):
        node = naive.describe(data, np.flatnonzero(leaves == leaf).tolist(), 0, criterion)
        assert tree.value[leaf].tolist() == node.value
        assert (tree.n_samples[leaf], tree.weight[leaf]) == (node.count, node.weight)
        assert tree.loss[leaf] == close(node.loss)


def test_a_fully_grown_tree_knows_its_training_samples() -> None:
    data = random_data(np.random.default_rng(6), 300, 4, 3)
    for p in (parameters(), DRAWN, parameters(n_bins=2), parameters(n_bins=256, criterion="gini")):
        tree = grow_tree(data, p)
        assert tree.value[leaves_of(tree, data.codes)].argmax(axis=1).tolist() == data.y.tolist()


def test_a_tree_has_room_for_more_classes_than_a_byte_counts() -> None:
    data = random_data(np.random.default_rng(18), 600, 2, 300)
    tree = grow_tree(data, parameters())
    assert tree.value.shape[1] == 300
    assert tree.value[leaves_of(tree, data.codes)].argmax(axis=1).tolist() == data.y.tolist()


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_weight_three_equals_row_three_times(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(7)
    data = random_data(rng, 150, 4, n_classes, "integer")
    repeated = data.take(rng.permutation(np.repeat(np.arange(150), data.weights)))
    repeated = make_data(repeated.codes, repeated.y, n_classes)
    p = replace(DRAWN, criterion=criterion, min_samples_leaf=5, min_samples_split=12, min_weight_fraction_leaf=0.01)
    assert_same_tree(grow_tree(data, p), grow_tree(repeated, p))


def test_unit_weights_given_as_numbers_change_nothing() -> None:
    data = random_data(np.random.default_rng(8), 200, 4, 3)
    ones = np.ones(200, np.int64)
    weighted = task_of(data, DRAWN)._replace(samples=samples_of(data)._replace(weights=ones, counts=ones))
    assert_same_tree(grow(weighted, KEY, ONE_THREAD), grow_tree(data, DRAWN))


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_the_order_of_samples_does_not_matter(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(9)
    data = random_data(rng, 300, 5, n_classes, "fractional")
    p = replace(DRAWN, criterion=criterion)
    assert_same_tree(grow_tree(data, p), grow_tree(data.take(rng.permutation(300)), p))


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_any_number_of_threads_grows_the_same_tree(
    n_classes: int, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(np.random.default_rng(10), 600, 5, n_classes)
    p = replace(DRAWN, criterion=criterion)
    one = grow_tree(data, p)
    share_small_trees(monkeypatch)
    make, teams = workspace.make_team, list[Team]()

    def watched(*given: Any) -> Team:
        teams.append(make(*given))
        return teams[-1]

    monkeypatch.setattr(threads, "make_team", watched)
    for n_threads in (2, 5):
        with Workers(n_threads) as workers:
            assert_same_tree(one, grow_tree(data, p, workers=workers))
    for state in (TOGETHER, READY):  # nodes grown by all threads, and below them some that a thread left to others
        assert any((team.ready[1 : team.counters[N_SHARED]] == state).any() for team in teams)


@pytest.mark.parametrize("most", [1, 2])
def test_where_memory_is_not_promised_fewer_threads_grow_the_same_tree(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(np.random.default_rng(10), 600, 5, 3)
    one = grow_tree(data, DRAWN)
    share_small_trees(monkeypatch)
    make, asked = workspace.room_for_nodes, list[int]()

    def promised(*given: Any) -> Grown:
        asked.append(given[-1])
        if given[-1] > most:
            raise MemoryError
        return make(*given)

    monkeypatch.setattr(workspace, "room_for_nodes", promised)
    with Workers(5) as workers:
        assert_same_tree(one, grow_tree(data, DRAWN, workers=workers))
    assert asked == ([5, 2, 1, 1] if most == 1 else [5, 2, 1])


def test_without_memory_for_one_thread_there_is_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any) -> Grown:
        raise MemoryError("too much")

    monkeypatch.setattr(workspace, "room_for_nodes", refused)
    with Workers(2) as workers, pytest.raises(MemoryError, match="too much"):
        grow_tree(random_data(np.random.default_rng(10), 60, 5, 3), DRAWN, workers=workers)


def test_a_key_fixes_the_tree_and_another_key_changes_it() -> None:
    data = random_data(np.random.default_rng(12), 300, 6, 2)
    assert_same_tree(grow_tree(data, DRAWN, 1), grow_tree(data, DRAWN, 1))
    assert len({grow_tree(data, DRAWN, key).feature.tobytes() for key in range(5)}) == 5


def test_keys_up_to_64_bits_are_taken() -> None:
    data = random_data(np.random.default_rng(13), 50, 3, 2)
    for key in (0, 2**63, 2**64 - 1):
        assert grow_tree(data, DRAWN, key).n_nodes > 1


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_samples_are_placed_in_the_leaves_that_their_routes_end_in(
    n_classes: int, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(np.random.default_rng(19), 400, 4, n_classes)
    task = task_of(data, replace(DRAWN, criterion=criterion, min_samples_leaf=3))
    tree = assert_placed(task, data.codes, np.ones(400, np.int64), ONE_THREAD)
    for times in (np.random.default_rng(20).integers(0, 2, 400), np.random.default_rng(20).integers(0, 4, 400)):
        assert_placed(task._replace(root=repeated(task.root, times)), data.codes, times, ONE_THREAD)
    share_small_trees(monkeypatch)
    with Workers(3) as workers:
        assert_same_tree(tree, assert_placed(task, data.codes, np.ones(400, np.int64), workers))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_samples_put_side_by_side_on_the_way_grow_the_same_tree(
    n_classes: int, criterion: str, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(np.random.default_rng(21), 300, 4, n_classes, weights)
    task = task_of(data, replace(DRAWN, criterion=criterion, min_samples_leaf=3))
    times = np.random.default_rng(22).integers(0, 3, 300)
    bag = task._replace(root=repeated(task.root, times))
    expected = [grow(one, KEY, ONE_THREAD) for one in (task, bag)]
    monkeypatch.setattr(workspace, "BUDGET", 1)
    share_small_trees(monkeypatch)
    for name, value in (("FAR", 1), ("SMALL", 3), ("NEAR", 8), ("DEEP", 1)):
        monkeypatch.setattr(grouping, name, value)
    group = Mock(wraps=grouping.Grouped.group)
    monkeypatch.setattr(grouping.Grouped, "group", lambda self, workers: group(self, workers))
    with Workers(3) as workers:
        for one, n, tree in zip((task, bag), (np.ones(300, np.int64), times), expected, strict=True):
            for threads in (ONE_THREAD, workers):
                assert_same_tree(assert_placed(one, data.codes, n, threads), tree)
        assert group.call_count == 8  # three times a tree, and once for several threads
        for name, value in (("FAR", 10**6), ("DEEP", 2**41), ("MOST", 100)):  # none pays
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(grouping, name, value)
                for threads in (ONE_THREAD, workers):
                    assert_same_tree(grow(task, KEY, threads), expected[0])
        assert group.call_count == 8


@pytest.mark.parametrize(("n_threads", "is_grouped"), [(1, False), (3, False), (4, True), (16, True)])
def test_samples_of_shallow_trees_are_put_side_by_side_for_many_threads(
    n_threads: int, is_grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(np.random.default_rng(21), 600, 4, 2)
    task = task_of(data, replace(DRAWN, max_depth=6))
    expected = grow(task, KEY, ONE_THREAD)
    share_small_trees(monkeypatch)
    for name, value in (("FAR", 1), ("SMALL", 3), ("NEAR", 8)):
        monkeypatch.setattr(grouping, name, value)
    group = Mock(wraps=grouping.Grouped.group)
    monkeypatch.setattr(grouping.Grouped, "group", lambda self, workers: group(self, workers))
    with Workers(n_threads) as workers:
        assert_same_tree(assert_placed(task, data.codes, np.ones(600, np.int64), workers), expected)
    assert group.called == is_grouped


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_tree_without_splits_may_have_its_samples_put_side_by_side(
    n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_small_trees(monkeypatch)
    monkeypatch.setattr(workspace, "BUDGET", 1)
    for name, value in (("FAR", 1), ("SMALL", 1), ("DEEP", 0)):
        monkeypatch.setattr(grouping, name, value)
    data = random_data(np.random.default_rng(1), 50, 3, 2)
    with Workers(n_threads) as workers:
        tree = assert_placed(task_of(data, replace(DRAWN, max_depth=0)), data.codes, np.ones(50, np.int64), workers)
    assert tree.n_nodes == 1


def assert_placed(task: Task, codes: Array, times: Array, workers: Workers) -> FlatTree:
    """Samples are where their routes end, and in all nodes above, each so many times."""
    before = task.root.order.copy()
    tree, places, order, _ = placed = grow_placed(task, KEY, workers)
    np.testing.assert_array_equal(task.root.order, before)
    leaves = leaves_of(tree, codes)
    assert placed.leaves[0].tolist() == np.flatnonzero(tree.is_leaf).tolist()
    np.testing.assert_array_equal(placed.leaves[1], places[tree.is_leaf])
    for leaf, (begin, end) in zip(*placed.leaves, strict=True):
        assert set(leaves[order[begin:end]].tolist()) == {leaf}
    np.testing.assert_array_equal(np.bincount(order, minlength=len(codes)), times)
    inside = tree.parent[1:]
    assert (places[1:, 0] >= places[inside, 0]).all()
    assert (places[1:, 1] <= places[inside, 1]).all()
    return tree


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_a_tree_from_a_part_of_the_root_is_that_of_the_part(n_classes: int, criterion: str, weights: str) -> None:
    data = random_data(np.random.default_rng(21), 300, 4, n_classes, weights)
    p = replace(DRAWN, criterion=criterion)
    task = task_of(data, p)
    keep = np.random.default_rng(22).random(300) < 0.6
    part = grow(task._replace(root=repeated(task.root, keep)), KEY, ONE_THREAD)
    assert_same_tree(part, grow_tree(data.take(keep), p))


# --- the promises of boosting's trees

BOOSTED = replace(DRAWN, criterion="second_order", min_loss=-np.inf, min_samples_leaf=5, min_weight_fraction_leaf=0.01)


def boosting_data(n: int, weights: str = "unit") -> Data:
    rng = np.random.default_rng(23)
    return random_data(rng, n, 4, 0, weights)._replace(curvatures=rng.integers(1, 1000, n))


def test_a_boosted_row_three_times_is_weight_three_in_any_order() -> None:
    rng = np.random.default_rng(24)
    data = boosting_data(150, "integer")
    repeated = data.take(rng.permutation(np.repeat(np.arange(150), data.weights)))
    ones = np.ones(len(repeated.y), np.int64)
    expected = grow_tree(data, BOOSTED, l2=50.0)
    assert expected.n_nodes > 10
    assert_same_tree(expected, grow_tree(repeated._replace(weights=ones, counts=ones), BOOSTED, l2=50.0))


def test_leaves_of_boosting_meet_the_minima_of_hessian_and_count() -> None:
    tree = grow_tree(boosting_data(300), BOOSTED)
    assert tree.n_samples.min() >= 5
    assert tree.weight.min() >= 0.01 * tree.weight[0]


def test_any_number_of_threads_grows_the_same_tree_of_boosting(monkeypatch: pytest.MonkeyPatch) -> None:
    data = boosting_data(600)
    one = grow_tree(data, BOOSTED)
    share_small_trees(monkeypatch)
    with Workers(3) as workers:
        assert_same_tree(one, grow_tree(data, BOOSTED, workers=workers))


@pytest.mark.parametrize("n", [200, BLOCK + 300])  # one block of samples, and several
def test_curvatures_of_one_given_as_numbers_change_nothing(n: int) -> None:
    p = replace(BOOSTED, max_depth=2)
    data = boosting_data(n)._replace(curvatures=None)
    assert_same_tree(grow_tree(data, p, l2=7.0), grow_tree(data._replace(curvatures=np.ones(n, np.int64)), p, l2=7.0))


@pytest.mark.parametrize("curvature", [1000, 2**30 - 1])
def test_in_how_small_steps_curvatures_are_counted_changes_no_split(curvature: int) -> None:
    # targets of a few steps, as of most samples where one gradient is far larger than the others
    data = boosting_data(300)._replace(curvatures=None)
    data = data._replace(y=data.y // 10**6)
    one = grow_tree(data, BOOSTED)
    other = grow_tree(data._replace(curvatures=np.full(300, curvature)), BOOSTED)
    for name in ("children", "feature", "coefficient", "threshold"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_equal_gradients_are_split_where_curvatures_differ() -> None:
    data = make_data([0, 1, 8, 9], [6, 6, 6, 6], 0)
    p = parameters(criterion="second_order", n_bins=2, min_loss=-np.inf)
    assert grow_tree(data, p).n_nodes == 1
    assert grow_tree(data._replace(curvatures=np.array([1, 1, 3, 3])), p).value.tolist() == [[3.0], [6.0], [2.0]]


def test_without_curvatures_and_l2_trees_of_boosting_split_as_by_the_squared_error() -> None:
    data = boosting_data(300)._replace(curvatures=None)
    one, other = grow_tree(data, BOOSTED), grow_tree(data, replace(BOOSTED, criterion="squared_error"))
    for name in ("children", "feature", "coefficient", "threshold", "value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_steps_of_boosting_are_shares_of_the_newton_step() -> None:
    data = boosting_data(200, "fractional")
    plain = task_of(data, BOOSTED, 64.0)
    # integers of G stand for 1/8, those of H for 1/2: the l2 of the same trees is 32
    scaled = plain._replace(answers=NewtonStep(0.125, 0.5, 32.0, 0.1))
    one, other = grow(plain, KEY, ONE_THREAD), grow(scaled, KEY, ONE_THREAD)
    np.testing.assert_allclose(other.value, 0.1 * one.value / 4, rtol=1e-15)
    np.testing.assert_array_equal(other.weight, one.weight / 2)
    np.testing.assert_array_equal(other.loss, one.loss / 16)
    np.testing.assert_array_equal(other.decrease, one.decrease / 16)
    np.testing.assert_array_equal(other.plane_decrease, one.plane_decrease / 16)
    assert other.children.tolist() == one.children.tolist()


# --- the flat form


def test_nodes_come_level_by_level_with_children_in_order_of_their_code() -> None:
    data = random_data(np.random.default_rng(14), 400, 4, 3)
    tree = grow_tree(data, DRAWN)
    assert (np.diff(tree.depth) >= 0).all()
    assert tree.parent[0] == -1
    assert (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all()
    occupied = tree.children[tree.children >= 0]
    assert occupied.tolist() == list(range(1, tree.n_nodes))
    n_planes = np.diff(tree.first_plane)
    assert ((n_planes > 0) == ~tree.is_leaf).all()
    assert len(tree.children) == (1 << n_planes[n_planes > 0]).sum()
    assert tree.first_plane[-1] == tree.n_planes
    assert tree.first_term[-1] == len(tree.feature) == len(tree.coefficient)
    assert (tree.coefficient != 0).all()


def test_children_share_the_weight_and_the_decrease_is_what_they_lose() -> None:
    data = random_data(np.random.default_rng(15), 400, 4, 3, "fractional")
    tree = grow_tree(data, DRAWN)
    for node in nodes_of(tree, 4):
        if node.children:
            inside = node.children.values()
            assert sum(c.weight for c in inside) == pytest.approx(node.weight, rel=1e-12)
            assert sum(c.count for c in inside) == node.count
            left = sum(c.weight * c.loss for c in inside) / node.weight
            assert node.loss - left == pytest.approx(node.decrease, rel=0, abs=1e-12)  # bits
            assert node.decrease > naive.NOISE


def test_candidates_of_a_node_stay_in_its_drawn_subspace() -> None:
    data = random_data(np.random.default_rng(16), 300, 9, 2)
    tree = grow_tree(data, replace(DRAWN, subspace_size=2, rounds=(DrawingRound(0.0, 0.0, None),)))
    used = set()
    for node in nodes_of(tree, 9):
        features = {f for plane in node.planes for f, a in enumerate(plane.vector) if a}
        assert len(features) <= 2
        used |= features
    assert len(used) > 5  # while the tree as a whole sees many


def test_leaf_values_of_a_regression_include_what_rounding_left() -> None:
    rng = np.random.default_rng(17)
    y = 1e6 + rng.standard_normal(60)
    targets = integer_targets(y)
    codes = rng.integers(-100, 100, (60, 3))
    p = parameters(criterion="squared_error", max_depth=2)
    for weights in (np.empty(0, np.int64), rng.integers(1, 9, 60)):
        data = make_data(codes, np.zeros(60), 0)
        samples = samples_of(data)._replace(
            targets=targets.targets,
            remainders=targets.remainders,
            packed=NONE if weights.size else pack(targets.targets, NONE),
            weights=weights,
            counts=weights,
        )
        task = task_of(data, p)._replace(samples=samples, answers=MeanTarget(targets.units))
        tree = grow(task, KEY, ONE_THREAD)
        leaves = leaves_of(tree, codes)
        for leaf in set(leaves.tolist()):
            inside = np.flatnonzero(leaves == leaf)
            w: Any = weights[inside].tolist() if weights.size else [1] * len(inside)
            mean = sum(n * Fraction(v) for n, v in zip(w, y[inside].tolist(), strict=True)) / sum(w)
            assert tree.value[leaf, 0] == pytest.approx(float(mean), rel=4e-16)  # two units in the last place
