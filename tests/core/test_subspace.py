"""Ranking of features and the choice of a node's subspace."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import naive
from naive import Data
from steps import choose_subspace, rank_features, score_projections
from sublearn.core import parallel
from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import TreeParameters
from sublearn.kernels.discriminant import TILE
from sublearn.kernels.layout import BLOCK
from sublearn.kernels.subspace import Ranking
from support import (
    ONE_THREAD,
    TASKS,
    WEIGHTS,
    assert_frequencies,
    candidates_of,
    kernel_test,
    keys_of,
    make_data,
    nodes_with,
    parameters,
    random_data,
    samples_of,
)
from test_discriminant import assert_outcome


def rank(data: Data, p: TreeParameters, parts: Any = None, workers: Workers = ONE_THREAD) -> Ranking:
    return rank_features(samples_of(data), nodes_with(data, p, parts), kernel_test(p, data), workers)


def assert_as_twin(data: Data, p: TreeParameters, nodes: Any, features: Any) -> None:
    found = rank(data, p, nodes)
    min_weight = kernel_test(p, data).min_weight
    for i, rows in enumerate(nodes):
        for f in features:
            vector = naive.basis_vector(f, data.codes.shape[1])
            result = float(found.decrease[i, f]), int(found.threshold[i, f])
            assert_outcome(data.take(rows), vector, p, min_weight, *result)


def top(decrease: Any, size: int) -> Any:
    """The best features of some nodes."""
    decrease = np.array(decrease, np.float64)
    ranking = Ranking(decrease, np.zeros(decrease.shape, np.int32), np.zeros((*decrease.shape, 2), np.int32))
    return choose_subspace(ranking, keys_of(len(decrease)), size, "top", 0.5)


def drawn(decrease: Any, keys: Any, size: int, decay: float) -> Any:
    tiled = np.tile(np.array(decrease, np.float64), (len(keys), 1))
    ranking = Ranking(tiled, np.zeros(tiled.shape, np.int32), np.zeros((*tiled.shape, 2), np.int32))
    return choose_subspace(ranking, keys, size, "drawn", decay)


def test_three_features_by_hand() -> None:
    # the first says nothing, the second everything, the third sets the last sample apart
    data = make_data([[0, 0, 0], [1, 1, 0], [0, 10, 0], [1, 11, 9]], [0, 0, 1, 1], 2)
    found = rank(data, parameters())
    assert found.decrease[0, 0] == 0.0
    assert found.decrease[0, 1] == 1.0
    assert found.decrease[0, 2] == pytest.approx(1 - 0.75 * (math.log2(3) - 2 / 3), abs=1e-15)
    assert found.threshold[0, 1] == 6  # the boundaries from 1.4 to 9.6 split alike; 5.5 is the middle one
    assert choose_subspace(found, keys_of(1), 2, "top", 0.5).tolist() == [[1, 2]]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (100, "entropy")])
def test_ranking_equals_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    rng = np.random.default_rng(n_classes)
    data = random_data(rng, 220, 4, n_classes, weights)
    rows = rng.permutation(220)
    p = parameters(criterion=criterion, min_samples_leaf=3, min_weight_fraction_leaf=0.02)
    assert_as_twin(data, p, [rows[:100], rows[100:105], rows[105:]], range(4))


def test_more_features_than_a_tile_are_all_ranked() -> None:
    rng = np.random.default_rng(1)
    n_features = 2 * TILE + 6
    data = random_data(rng, 60, n_features, 2)
    assert_as_twin(data, parameters(), [np.arange(40), np.arange(40, 60)], range(n_features))


def test_large_nodes_are_ranked_as_by_the_twin() -> None:
    rng = np.random.default_rng(2)
    data = random_data(rng, BLOCK + 1000, 40, 2)  # 40 columns: blocks of 4,096 samples
    assert_as_twin(data, parameters(n_bins=8), [rng.permutation(BLOCK + 1000)], (0, 31, 32, 39))


def test_a_feature_alone_is_scored_like_its_basis_vector() -> None:
    rng = np.random.default_rng(3)
    data = random_data(rng, 300, 5, 3)
    p = parameters()
    ranking, candidates = rank(data, p), candidates_of(np.eye(5))
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates)
    np.testing.assert_array_equal(ranking.decrease, candidates.decrease)
    np.testing.assert_array_equal(ranking.threshold, candidates.threshold)


def test_constant_features_rank_last() -> None:
    rng = np.random.default_rng(4)
    data = random_data(rng, 100, 4, 2)
    data.codes[:, 1] = 17
    found = rank(data, parameters())
    assert found.decrease[0, 1] == 0.0
    assert choose_subspace(found, keys_of(1), 4, "top", 0.5)[0, -1] == 1


def test_one_sample_and_one_feature_can_be_ranked() -> None:
    found = rank(make_data([[3]], [0], 2), parameters())
    assert found.decrease.tolist() == [[0.0]]
    assert choose_subspace(found, keys_of(1), 1, "top", 0.5).tolist() == [[0]]


def test_ties_go_to_the_lower_index() -> None:
    assert top([[0.5, 0.7, 0.5, 0.7, 0.1]], 5).tolist() == [[1, 3, 0, 2, 4]]
    assert top([[0.0, 0.0, 0.0]], 2).tolist() == [[0, 1]]


def test_equal_columns_keep_their_order() -> None:
    rng = np.random.default_rng(5)
    data = random_data(rng, 80, 1, 2)
    data = data._replace(codes=np.repeat(data.codes, 50, axis=1))  # more than a tile
    found = rank(data, parameters())
    assert choose_subspace(found, keys_of(1), 50, "top", 0.5).tolist() == [list(range(50))]


def test_top_subspaces_equal_the_twin() -> None:
    decrease = np.random.default_rng(6).integers(0, 6, (50, 12)) / 10
    for size in (1, 5, 12):
        assert top(decrease, size).tolist() == [naive.rank(row)[:size] for row in decrease.tolist()]


@pytest.mark.parametrize(("beta", "size"), [(0.0, 2), (0.4, 3), (1.5, 1)])
def test_drawn_subspaces_have_the_exact_probabilities(beta: float, size: int) -> None:
    decrease = [0.2, 0.9, 0.1, 0.5, 0.3]
    order = naive.rank(decrease)
    chances = naive.subset_probabilities(naive.selection_probabilities(beta, 5), size)
    expected = {frozenset(order[d] for d in ranks): chance for ranks, chance in chances.items()}
    found = drawn(decrease, keys_of(20_000), size, beta)
    assert_frequencies(Counter(frozenset(row) for row in found.tolist()), expected, 20_000)


def test_drawn_subspaces_keep_the_order_of_ranks() -> None:
    decrease = [0.2, 0.9, 0.1, 0.5, 0.3, 0.4]
    position = np.argsort(naive.rank(decrease))
    found = drawn(decrease, keys_of(200), 4, 0.2)
    assert (np.diff(position[found], axis=1) > 0).all()


def test_a_subspace_of_all_features_is_never_drawn() -> None:
    decrease = [0.2, 0.9, 0.1]
    assert drawn(decrease, keys_of(20), 3, 0.5).tolist() == [[1, 0, 2]] * 20


def test_a_node_draws_the_same_subspace_in_any_company() -> None:
    decrease, keys = [0.2, 0.9, 0.1, 0.5, 0.3, 0.4], keys_of(100)
    together = drawn(decrease, keys, 3, 0.1)
    np.testing.assert_array_equal(drawn(decrease, keys[::-1].copy(), 3, 0.1), together[::-1])
    np.testing.assert_array_equal(drawn(decrease, keys[42:43], 3, 0.1), together[42:43])


def test_any_number_of_threads_gives_the_same_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)
    rng = np.random.default_rng(7)
    data = random_data(rng, 500, 70, 3)
    rows = rng.permutation(500)
    nodes = [rows[:2], rows[2:300], rows[300:301], rows[301:]]
    one = rank(data, parameters(), nodes)
    for n_threads in (2, 5):
        with Workers(n_threads) as workers:
            many = rank(data, parameters(), nodes, workers)
        np.testing.assert_array_equal(one.decrease, many.decrease)
        np.testing.assert_array_equal(one.threshold, many.threshold)
