"""Which hyperplanes a node keeps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive
from naive import Array, Data, Vector
from steps import UNTOUCHED, keep_decorrelated, score_projections
from sublearn.core.tree.parameters import TreeParameters
from sublearn.kernels.layout import BLOCK
from support import (
    TASKS,
    WEIGHTS,
    candidates_of,
    kernel_test,
    make_data,
    nodes_with,
    parameters,
    random_data,
    random_vectors,
    samples_of,
    settings_of,
)


class Found(NamedTuple):
    kept: list[list[int]]  # of each node
    n_children: list[int]
    decrease: list[float]
    cells: list[Array]  # of each node's samples, in the order of its rows


def keep(data: Data, vectors: Any, p: TreeParameters, parts: Any = None, scores: Any = None) -> Found:
    """Score the candidates, or take their scores as given, and keep the best, in one way and the other."""
    nodes, samples, test = nodes_with(data, p, parts), samples_of(data), kernel_test(p, data)
    candidates = candidates_of(vectors, len(nodes))
    score_projections(samples, nodes, test, candidates)
    if scores is not None:
        candidates.decrease[:] = scores
    (partitions, cells), (others, same) = (
        keep_decorrelated(samples, nodes, test, candidates, p, loaded) for loaded in (False, True)
    )
    for one, other in zip([*partitions, *cells], [*others, *same], strict=True):
        np.testing.assert_array_equal(one, other)
    by_row = np.empty(len(data.y), np.int64)
    for node, inside in zip(nodes, cells, strict=True):
        by_row[node.order[node.runs[0] : node.runs[-1]]] = inside
    kept = [row[:n].tolist() for row, n in zip(partitions.kept, partitions.n_kept, strict=True)]
    rows = [np.arange(len(data.y))] if parts is None else parts
    return Found(kept, partitions.n_children.tolist(), partitions.decrease.tolist(), [by_row[r] for r in rows])


def assert_as_twin(data: Data, vectors: Sequence[Vector], p: TreeParameters, nodes: Any = None) -> int:
    """Every node keeps what the twin keeps; returns how many hyperplanes were compared."""
    found = keep(data, vectors, p, nodes)
    twin_settings = settings_of(p, data)
    compared = 0
    for i, rows in enumerate([np.arange(len(data.y))] if nodes is None else nodes):
        part = data.take(rows)
        outcomes = [naive.discriminant_test(naive.project(part.codes, v), part, twin_settings) for v in vectors]
        twin = naive.keep_decorrelated(part, vectors, outcomes, twin_settings)
        if twin.tied:
            continue
        assert found.kept[i] == twin.indices
        # purities are right to a few units in the last place of the loss
        tolerance = 1e-11 * max(1.0, float(naive.loss(part, p.criterion)))
        assert found.decrease[i] == pytest.approx(twin.decrease, rel=0, abs=tolerance)
        if twin.indices:
            np.testing.assert_array_equal(found.cells[i], twin.cells)
            assert found.n_children[i] == len(set(twin.cells.tolist()))
        compared += len(twin.indices)
    return compared


def quadrants(n: int, seed: int = 0) -> Data:
    """Two features and one class for each quadrant."""
    codes = np.random.default_rng(seed).integers(-500, 500, (n, 2))
    return make_data(codes, 2 * (codes[:, 1] >= 0) + (codes[:, 0] >= 0), 4)


# --- by hand


def test_four_quadrants_by_hand() -> None:
    codes = [[-8, -8], [8, -8], [-8, 8], [8, 8]]
    found = keep(make_data(codes, [0, 1, 2, 3], 4), [[1, 0], [0, 1]], parameters(max_partitions=2))
    assert found.kept == [[0, 1]]
    assert found.n_children == [4]
    assert found.decrease == [2.0]
    assert found.cells[0].tolist() == [0, 1, 2, 3]  # bit 0: x >= 0, bit 1: y >= 0


def test_the_best_comes_first_and_has_bit_zero() -> None:
    # y tells three classes apart from the fourth and x two from two: x is better
    codes = [[-8, -8], [8, -8], [-8, -8], [8, 8]]
    found = keep(make_data(codes, [0, 1, 0, 2], 3), [[0, 1], [1, 0]], parameters(max_partitions=2))
    assert found.kept == [[1, 0]]
    assert found.cells[0].tolist() == [0, 1, 0, 3]
    assert found.n_children == [3]


def test_of_equal_candidates_the_first_is_kept() -> None:
    data = make_data(np.tile([[-5], [5]], (1, 3)), [0, 1], 2)
    assert keep(data, [[0, 1, 0], [1, 0, 0], [0, 0, 1]], parameters()).kept == [[0]]


def test_max_partitions_of_one_keeps_one() -> None:
    assert keep(quadrants(50), [[1, 0], [0, 1]], parameters(max_partitions=1)).n_children == [2]


def test_no_candidate_means_no_split() -> None:
    data = make_data([1, 1, 1], [0, 1, 0], 2)
    found = keep(data, [[1]], parameters())
    assert (found.kept, found.n_children, found.decrease) == ([[]], [0], [0.0])
    assert found.cells[0].tolist() == [UNTOUCHED] * 3


@pytest.mark.parametrize(("decrease", "kept"), [(0.9e-10, []), (1.1e-10, [0])])
def test_a_decrease_within_rounding_is_none(decrease: float, kept: list[int]) -> None:
    data = make_data([0, 1, 2, 3], [0, 0, 1, 1], 2)
    assert keep(data, [[1]], parameters(), scores=decrease).kept == [kept]


# --- cosines


def test_the_least_aligned_is_tried_first() -> None:
    data = quadrants(400)
    # (1, 8) nearly is the second axis; the second axis itself is still less aligned with the first
    found = keep(data, [[1, 0], [1, 8], [0, 1]], parameters(max_partitions=2, effective_ratio=0.3))
    assert set(found.kept[0]) == {0, 2}


def test_of_equally_aligned_ones_the_better_is_tried_first() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(-500, 500, (300, 3))
    noisy = np.where(rng.uniform(size=300) < 0.2, -codes[:, 1], codes[:, 1])
    labels = 2 * (codes[:, 1] >= 0) + (codes[:, 0] >= 0)
    data = make_data(np.column_stack([codes[:, 0], noisy, codes[:, 1]]), labels, 4)
    p = parameters(max_partitions=2, effective_ratio=0.1)
    vectors = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert set(keep(data, vectors, p).kept[0]) == {1, 2}


@pytest.mark.parametrize(
    ("vector", "max_cosine", "n_kept"),
    [
        ([1, 1], 0.7, 1),  # 0.7071
        ([1, 1], 0.71, 2),
        ([-1, 1], 0.7, 1),  # the sign does not matter
        ([-1, 1], 0.71, 2),
        ([3, 4], 0.6, 2),  # exactly 0.6
        ([3, 4], 0.59, 1),
        ([0, 1], 0.0, 2),
        ([1, 40], 0.0, 1),
    ],
)
def test_more_alignment_than_max_cosine_ends_the_search(vector: list[int], max_cosine: float, n_kept: int) -> None:
    data = quadrants(300)
    p = parameters(max_partitions=3, max_cosine=max_cosine, effective_ratio=0.01)
    # the scores make the first axis the best one
    assert len(keep(data, [[1, 0], vector], p, scores=[[0.9, 0.5]]).kept[0]) == n_kept


def test_the_largest_cosine_with_those_kept_decides() -> None:
    # after the two axes, (1, 0, 1) has cosines 0.71 and 0 with them, and (1, 1, 3) has 0.3 with both and comes first
    rng = np.random.default_rng(2)
    codes = rng.integers(-500, 500, (500, 3))
    data = make_data(codes, 4 * (codes[:, 2] >= 0) + 2 * (codes[:, 1] >= 0) + (codes[:, 0] >= 0), 8)
    p = parameters(max_partitions=3, effective_ratio=0.0, max_cosine=1.0)
    scores = [[0.9, 0.8, 0.5, 0.5]]
    assert keep(data, [[1, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 3]], p, scores=scores).kept == [[0, 1, 3]]


# --- who may join


@pytest.mark.parametrize(("ratio", "n_kept"), [(0.0, 2), (0.49, 2), (0.5, 2), (0.51, 1), (1.0, 1)])
def test_only_effective_candidates_join(ratio: float, n_kept: int) -> None:
    p = parameters(max_partitions=2, effective_ratio=ratio)
    assert len(keep(quadrants(200), [[1, 0], [0, 1]], p, scores=[[0.5, 0.25]]).kept[0]) == n_kept


def test_a_refused_candidate_makes_room_for_the_next() -> None:
    codes = quadrants(400).codes
    labels = 2 * (codes[:, 1] >= 0) + (codes[:, 0] >= 0)
    data = make_data(np.column_stack([codes[:, 0], codes[:, 0], codes[:, 1]]), labels, 4)
    vectors = [[1, 0, 0], [0, 1, 0], [1, 0, 2]]  # the second is the first one's double, at a right angle
    p = parameters(max_partitions=2, effective_ratio=0.2, max_cosine=0.5)
    assert keep(data, vectors, p, scores=[[0.9, 0.89, 0.5]]).kept == [[0, 2]]
    # cosine 0.447 with the first
    assert keep(data, vectors, replace(p, max_cosine=0.4), scores=[[0.9, 0.89, 0.5]]).kept == [[0]]


def test_a_hyperplane_that_leaves_the_joint_loss_is_refused() -> None:
    codes = np.array([[-9, -9], [-9, 9], [9, -9], [9, 9]])
    data = make_data(codes, [0, 0, 1, 1], 2)
    p = parameters(max_partitions=2, effective_ratio=0.0)
    assert keep(data, [[1, 0], [0, 1]], p, scores=[[0.9, 0.5]]).kept == [[0]]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_hyperplane_that_moves_no_sample_is_refused_for_any_targets(weights: str) -> None:
    # two features tell the three samples apart; the third can only give their cells other codes
    codes = np.array([[-9, -9, -9], [9, -9, 9], [9, 9, -9]])
    rng = np.random.default_rng(7)
    p = parameters(criterion="squared_error", max_partitions=3, effective_ratio=0.0)
    for _ in range(100):
        data = random_data(rng, 3, 1, 0, weights)._replace(codes=codes, y=rng.integers(-(2**28), 2**28, 3))
        found = keep(data, np.eye(3), p)
        assert len(found.kept[0]) == 2
        assert found.n_children == [3]


@pytest.mark.parametrize(("min_samples_leaf", "n_kept"), [(1, 2), (3, 2), (4, 1)])
def test_every_occupied_cell_meets_the_minima(min_samples_leaf: int, n_kept: int) -> None:
    # three samples in one quadrant and ten in the others
    corners = np.repeat([[-9, -9], [9, -9], [-9, 9], [9, 9]], [10, 10, 10, 3], axis=0)
    labels = np.repeat([0, 1, 2, 3], [10, 10, 10, 3])
    p = parameters(max_partitions=2, min_samples_leaf=min_samples_leaf)
    assert len(keep(make_data(corners, labels, 4), [[1, 0], [0, 1]], p).kept[0]) == n_kept
    weighted = make_data(corners, labels, 4, np.where(labels == 3, 2, 3), np.ones(33))
    share = 6 / float(weighted.weights.sum())
    for fraction, expected in ((0.999 * share, 2), (1.001 * share, 1)):
        p = parameters(max_partitions=2, min_weight_fraction_leaf=fraction)
        assert len(keep(weighted, [[1, 0], [0, 1]], p).kept[0]) == expected


def test_an_empty_cell_needs_no_samples() -> None:
    corners = np.repeat([[-9, -9], [9, -9], [-9, 9]], 5, axis=0)
    found = keep(make_data(corners, np.repeat([0, 1, 2], 5), 3), [[1, 0], [0, 1]], parameters(max_partitions=2))
    assert found.n_children == [3]
    assert sorted(set(found.cells[0].tolist())) == [0, 1, 2]


@pytest.mark.parametrize("max_partitions", range(1, 9))
def test_q_hyperplanes_make_two_to_the_q_cells(max_partitions: int) -> None:
    signs = np.random.default_rng(3).choice([-1, 1], (4000, 8))
    data = make_data(100 * signs, 1000 * signs.sum(axis=1), 0)
    p = parameters(max_partitions=max_partitions, criterion="squared_error", effective_ratio=0.0)
    found = keep(data, np.eye(8), p)
    assert len(found.kept[0]) == max_partitions
    assert found.n_children == [2**max_partitions]
    bits = (signs[:, found.kept[0]] > 0) << np.arange(max_partitions)
    np.testing.assert_array_equal(found.cells[0], bits.sum(axis=1))


# --- against the twin


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (100, "entropy")])
def test_kept_hyperplanes_equal_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    compared = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 150, 3, n_classes, weights)
        rows = rng.permutation(150)
        p = parameters(
            criterion=criterion,
            max_partitions=int(rng.integers(1, 5)),
            max_cosine=float(rng.uniform(0.2, 1.0)),
            effective_ratio=float(rng.uniform(0.0, 0.8)),
            min_samples_leaf=int(rng.integers(1, 8)),
        )
        nodes = [rows[:100], rows[100:140], rows[140:]]
        compared += assert_as_twin(data, random_vectors(rng, 12, 3), p, nodes)
    assert compared >= 10  # few nodes are tied, and most of the rest are cut


@pytest.mark.parametrize(("n_classes", "criterion"), [(4, "entropy"), (0, "squared_error")])
def test_large_nodes_keep_what_the_twin_keeps(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(4)
    data = random_data(rng, BLOCK + 300, 2, n_classes)
    p = parameters(criterion=criterion, n_bins=8, max_partitions=2, effective_ratio=0.0)
    assert assert_as_twin(data, [(1, 0), (0, 1), (2, 1)], p) >= 2


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_weight_three_equals_row_three_times(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(5)
    data = random_data(rng, 90, 3, n_classes, "integer")
    repeated = data.take(np.repeat(np.arange(90), data.weights))
    p = parameters(criterion=criterion, max_partitions=3, effective_ratio=0.1, min_samples_leaf=7)
    vectors = random_vectors(rng, 15, 3)
    weighted = keep(data, vectors, p)
    rows = keep(make_data(repeated.codes, repeated.y, n_classes), vectors, p)
    assert weighted[:3] == rows[:3]
    np.testing.assert_array_equal(np.repeat(weighted.cells[0], data.weights), rows.cells[0])
