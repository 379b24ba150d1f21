"""Candidates that are fitted: pairs of features that explain a node's targets by least squares."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import naive
from naive import Array, Data, Vector
from steps import Fitted, choose_subspace, draw_projections, fit_projections, rank_features
from sublearn import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMForestRegressor, SLMRegressor
from sublearn.core.keys import key_below
from sublearn.core.parallel import Workers
from sublearn.core.tree.criterion import describe_nodes
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels import projection
from sublearn.kernels.discriminant import TILE
from sublearn.kernels.fitting import MOST_FEATURES
from sublearn.kernels.layout import BLOCK, CURVED_BITS, TARGET_BITS
from support import (
    ONE_THREAD,
    WEIGHTS,
    grow_tree,
    kernel_test,
    keys_of,
    make_data,
    nodes_with,
    parameters,
    samples_of,
    share_small_trees,
    task_of,
)
from test_drivers import KINDS, Kind, assert_same_by_all, data_of, parameters_of
from test_grower import DRAWN
from test_projection import vectors_of

NUMBERS: Kind = (0, "squared_error", "none")
CURVED: Kind = (0, "second_order", "packed")
TWO: Kind = (2, "gini", "none")
FIVE: Kind = (5, "entropy", "none")
EACH = (NUMBERS, CURVED, TWO, FIVE)


class Node:
    """Nodes that have been fitted, with what they were fitted from."""

    def __init__(self, data: Data, p: TreeParameters, parts: Any = None) -> None:
        self.nodes, self.test = nodes_with(data, p, parts), kernel_test(p, data)
        self.keys = keys_of(len(self.nodes))
        self.samples = samples = samples_of(data)
        self.data, self.p, self.plan = data, p, plan_projections(p, data.codes.shape[1])
        self.ranking = rank_features(samples, self.nodes, self.test)
        decay = p.rounds[0].selection_decay
        self.subspace = choose_subspace(self.ranking, self.keys, self.plan.subspace_size, p.subspace, decay)
        self.fitted: Fitted = fit_projections(samples, self.nodes, self.keys, self.plan, self.subspace, self.ranking)

    def vectors(self, i: int = 0) -> list[Vector]:
        return [tuple(row) for row in self.fitted.vectors[i, : self.fitted.sizes[i]].tolist()]

    def over_features(self, i: int = 0) -> list[dict[int, int]]:
        """Coefficients that are not zero, by feature."""
        pairs = [zip(self.subspace[i].tolist(), vector, strict=True) for vector in self.vectors(i)]
        return [{f: a for f, a in pair if a} for pair in pairs]

    def twin(self, i: int = 0) -> naive.Fits:
        node = self.nodes[i]
        part = self.data.take(node.order[node.runs[0] : node.runs[-1]])
        columns = [part.codes[:, f].tolist() for f in self.subspace[i]]
        targets = targets_of(part, int(self.keys[i]))
        asked = self.p.fitted_projections
        return naive.fitted_pairs(columns, targets, part.weights.tolist(), asked, int(self.p.envelope_height))

    def candidates(self) -> list[list[Vector]]:
        runs = np.stack([node.runs for node in self.nodes])
        sums = describe_nodes(self.samples, self.nodes[0].order, runs, self.test, ONE_THREAD)
        found = draw_projections(
            self.plan, self.test, self.subspace, self.ranking, self.fitted, sums.losses, self.keys, sums.counts
        )
        return [vectors_of(found, i) for i in range(len(self.keys))]


def targets_of(part: Data, key: int) -> list[int]:
    if part.n_classes:
        below = key_below(key, int(projection.FITTED))
        positive = [key_below(below, k) < 2**63 for k in range(part.n_classes)]
        return naive.two_groups(part.y.tolist(), positive)
    return naive.rounded_targets(part.y.tolist(), TARGET_BITS if part.curvatures is None else CURVED_BITS)


def fitting(kind: Kind, **changes: Any) -> TreeParameters:
    given = {"fitted_projections": 4, "envelope_height": 9.0, "n_projections": 5, **changes}
    return parameters_of(kind, parameters(), **given)


def mixed(data: Data, seed: int = 0) -> Data:
    """Codes that are correlated, and not around zero."""
    rng = np.random.default_rng(seed)
    codes = data.codes + rng.integers(-2, 3, data.codes.shape[1]) * 700
    codes[:, 1:-1] += data.codes[:, :1] // 2
    return data._replace(codes=codes)


def planted(kind: Kind, n: int = 3000, n_features: int = 5, weights: str = "unit") -> Data:
    """What is to be known depends on 3a - 2b, a the second feature and b the fourth."""
    rng = np.random.default_rng(7)
    codes = np.rint(rng.normal(200, 1000, (n, n_features))).astype(np.int64)
    plane = 3 * (codes[:, 1] - 200) - 2 * (codes[:, 3] - 200)
    given = None if weights == "unit" else rng.integers(1, 5, n)
    if kind == CURVED:
        data = make_data(codes, np.clip(3 * plane, -65535, 65535), 0, given)
        return data._replace(curvatures=rng.integers(1, 1 << 16, n))
    if kind == NUMBERS:
        return make_data(codes, 20_000 * plane, 0, given)
    y = np.where(plane > 0, 3, 1) if kind == FIVE else (plane > 0).astype(np.int64)
    if kind == FIVE:
        y[rng.random(n) < 0.03] = 4  # which tell nothing, in either group
    return make_data(codes, y, kind[0], given)


# --- against the twin


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", EACH)
def test_pairs_equal_the_twin(kind: Kind, weights: str) -> None:
    compared = 0
    for seed in range(6):
        data = mixed(data_of(kind, 90 + 17 * seed, 6, weights, seed), seed)
        node = Node(data, fitting(kind, subspace_size=5, envelope_height=[1.0, 6.5, 127.0][seed % 3]))
        twin = node.twin()
        if not twin.tied:
            compared += 1
            assert node.vectors() == twin.vectors
            assert len(twin.vectors) == 4
    assert compared > 4


@pytest.mark.parametrize("subspace", ["top", "drawn"])
@pytest.mark.parametrize("kind", EACH)
def test_pairs_of_several_nodes_equal_the_twin(kind: Kind, subspace: str) -> None:
    data = mixed(data_of(kind, 400, 6, "integer"))
    parts = np.split(np.random.default_rng(3).permutation(400), [5, 60, 61, 130, 300])
    node = Node(data, fitting(kind, subspace=subspace, subspace_size=4), parts)
    twins = [node.twin(i) for i in range(len(parts))]
    assert sum(not twin.tied for twin in twins) > 3
    for i, twin in enumerate(twins):
        assert twin.tied or node.vectors(i) == twin.vectors
    assert len({tuple(node.vectors(i)) for i in range(len(parts))}) > 3


def test_several_classes_are_grouped_by_the_key() -> None:
    data = mixed(data_of(FIVE, 200, 4))
    node = Node(data, fitting(FIVE), [np.arange(200)] * 30)
    groups = set()
    for i in range(30):
        assert node.twin(i).tied or node.vectors(i) == node.twin(i).vectors
        signs = dict(zip(data.y.tolist(), targets_of(data, int(node.keys[i])), strict=True))
        assert (signs[0], signs[1]) == (-1, 1)
        groups.add(tuple(signs[k] for k in range(5)))
    assert len(groups) == 8


def test_classes_that_are_absent_are_not_counted() -> None:
    data = mixed(data_of(FIVE, 300, 4))
    nodes = [np.flatnonzero(np.isin(data.y, present)) for present in ([1, 3], [3, 4], [0, 4], [1, 2, 4], [2, 3, 4])]
    node = Node(data, fitting(FIVE), nodes)
    for i, rows in enumerate(nodes):
        twin = node.twin(i)
        assert not twin.tied
        assert node.vectors(i) == twin.vectors
        assert set(targets_of(data.take(rows), int(node.keys[i]))) == {-1, 1}


@pytest.mark.parametrize("weights", ["unit", "integer"])
@pytest.mark.parametrize("kind", EACH)
def test_pairs_of_nodes_larger_than_a_block_equal_the_twin(kind: Kind, weights: str) -> None:
    data = mixed(data_of(kind, BLOCK + 2100, 3, weights))
    node = Node(data, fitting(kind, envelope_height=127.0, fitted_projections=3))
    assert not node.twin().tied
    assert node.vectors() == node.twin().vectors
    assert len(node.vectors()) == 3


@pytest.mark.parametrize("kind", [NUMBERS, FIVE])
def test_of_a_large_subspace_the_first_features_are_looked_at(kind: Kind) -> None:
    data = mixed(data_of(kind, 500, MOST_FEATURES + 6))
    p = fitting(kind, subspace_size=MOST_FEATURES + 4, fitted_projections=120, envelope_height=127.0)
    node = Node(data, p)
    assert node.plan.n_fitted == node.fitted.sizes[0] == 120
    assert not node.twin().tied
    assert node.vectors() == node.twin().vectors
    used = np.array(node.vectors()).any(axis=0)
    assert used.tolist() == [True] * MOST_FEATURES + [False] * 4


def test_pairs_by_hand() -> None:
    # the three features are at right angles, and explain 16, 4 and 1 parts of the targets
    codes = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    data = make_data(codes, (codes @ [2, 4, -1]) << 16, 0)
    node = Node(data, parameters(criterion="squared_error", fitted_projections=120, envelope_height=8.0))
    assert node.over_features() == [{1: 8, 0: 4}, {1: 8, 2: -2}, {0: 8, 2: -4}]


def test_halves_are_rounded_upwards() -> None:
    codes = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    for b, expected in ((1, 2), (-1, -1)):  # 1.5 and -1.5
        data = make_data(codes, (codes @ [2, b]) << 16, 0)
        node = Node(data, parameters(criterion="squared_error", fitted_projections=1, envelope_height=3.0))
        assert node.over_features() == [{0: 3, 1: expected}]


def test_pairs_that_explain_as_much_come_by_their_second_feature() -> None:
    codes = np.array([[a, b, c, d] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1) for d in (-1, 1)])
    data = make_data(codes, codes.sum(axis=1) << 16, 0)
    node = Node(data, parameters(criterion="squared_error", fitted_projections=6, envelope_height=1.0))
    pairs = [np.flatnonzero(vector).tolist() for vector in node.vectors()]
    assert pairs == [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    assert [np.flatnonzero(vector).tolist() for vector in node.twin().vectors] == pairs


# --- what there is to find


@pytest.mark.parametrize("weights", ["unit", "integer"])
@pytest.mark.parametrize("kind", EACH)
def test_a_planted_boundary_is_the_first_pair(kind: Kind, weights: str) -> None:
    node = Node(planted(kind, weights=weights), fitting(kind, envelope_height=3.0))
    (a, b) = (node.over_features()[0][f] for f in (1, 3))
    assert naive.normalise((a, b)) == (3, -2)
    assert max(abs(a), abs(b)) == 3


@pytest.mark.parametrize("kind", [NUMBERS, CURVED])
def test_an_exact_sum_is_found_in_small_coefficients(kind: Kind) -> None:
    node = Node(planted(kind), fitting(kind, envelope_height=126.0, fitted_projections=1))
    assert node.over_features() == [{1: 126, 3: -84}]


@pytest.mark.parametrize("kind", EACH)
def test_a_tree_splits_by_the_planted_boundary(kind: Kind) -> None:
    p = fitting(kind, envelope_height=3.0, n_projections=0, max_depth=1, n_bins=64)
    tree = grow_tree(planted(kind), p)
    assert dict(zip(tree.feature.tolist(), tree.coefficient.tolist(), strict=True)) == {1: 3, 3: -2}


def test_weights_decide_which_samples_are_explained() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(-1000, 1001, (400, 2))
    y = np.where(np.arange(400) < 200, codes @ [1, 1], codes @ [1, -1]) * 50_000
    p = parameters(criterion="squared_error", fitted_projections=1, envelope_height=1.0)
    for heavy, expected in ((slice(0, 200), (1, 1)), (slice(200, 400), (1, -1))):
        weights = np.ones(400, np.int64)
        weights[heavy] = 50
        (vector,) = Node(make_data(codes, y, 0, weights), p).vectors()
        assert naive.normalise(vector) == expected


# --- what there is not


@pytest.mark.parametrize("kind", EACH)
def test_features_that_do_not_vary_are_in_no_pair(kind: Kind) -> None:
    data = mixed(data_of(kind, 200, 4))
    data.codes[:, 2] = 1234
    node = Node(data, fitting(kind, fitted_projections=6))
    assert node.fitted.sizes[0] == 3
    assert node.vectors() == node.twin().vectors
    assert all(2 not in pair for pair in node.over_features())
    data.codes[:, 1:] = -5
    assert Node(data, fitting(kind)).vectors() == []


@pytest.mark.parametrize("kind", EACH)
def test_features_along_one_line_are_no_pair(kind: Kind) -> None:
    data = mixed(data_of(kind, 200, 4))
    data.codes[:, 2] = 700 - 3 * data.codes[:, 1]
    data.codes[:, 3] = data.codes[:, 1] * 8  # almost
    data.codes[7, 3] += 1
    node = Node(data, fitting(kind, fitted_projections=6, envelope_height=127.0))
    assert len(node.vectors()) == 3
    assert all(0 in pair for pair in node.over_features())
    assert sorted(node.vectors()) == sorted(node.twin().vectors)  # which explain as much
    assert Node(data._replace(codes=data.codes[:, 1:]), fitting(kind)).vectors() == []


@pytest.mark.parametrize("kind", EACH)
def test_one_feature_makes_no_pair(kind: Kind) -> None:
    for data, size in ((data_of(kind, 50, 1), 10), (data_of(kind, 50, 4), 1)):
        node = Node(data, fitting(kind, subspace_size=size))
        assert node.plan.n_fitted == 0
        assert node.vectors() == []
        assert node.fitted.vectors.shape == (1, 0, 1)
        assert grow_tree(data, fitting(kind, subspace_size=size)).n_nodes > 1


@pytest.mark.parametrize("kind", EACH)
def test_an_envelope_below_one_has_no_pairs(kind: Kind) -> None:
    node = Node(data_of(kind, 50, 4), fitting(kind, envelope_height=0.99))
    assert node.plan.n_fitted == 0
    assert node.vectors() == []
    without = plan_projections(fitting(kind, envelope_height=0.99, fitted_projections=0), 4)
    assert node.plan[3:] == without[3:] == (0, 0, 4, 1)


def test_there_are_no_more_than_all_pairs() -> None:
    for n_features, n_pairs in ((2, 1), (3, 3), (4, 6), (MOST_FEATURES, 120), (40, 120)):
        p = fitting(NUMBERS, subspace_size=50, fitted_projections=120)
        assert plan_projections(p, n_features).n_fitted == n_pairs
        assert plan_projections(parameters_of(NUMBERS, p, fitted_projections=2), n_features).n_fitted == min(2, n_pairs)


@pytest.mark.parametrize("kind", EACH)
def test_pairs_that_are_not_there_are_not_made_up(kind: Kind) -> None:
    data = mixed(data_of(kind, 100, 3))
    node = Node(data, fitting(kind, fitted_projections=100))
    assert len(node.vectors()) == len(node.twin().vectors) == 3
    (alone,) = Node(data, fitting(kind, fitted_projections=1)).vectors()
    assert alone == node.vectors()[0]


def test_targets_that_nothing_explains_have_no_pairs() -> None:
    codes = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    data = make_data(codes, codes[:, 0] * codes[:, 1] << 20, 0)
    assert Node(data, fitting(NUMBERS)).vectors() == []


# --- among the candidates

TWO_ROUNDS = (DrawingRound(0.5, 0.5, None), DrawingRound(0.5, 0.0, 2))  # the vectors of the first are listed


@pytest.mark.parametrize("kind", EACH)
def test_pairs_come_after_what_is_listed_and_before_what_is_drawn(kind: Kind) -> None:
    data = mixed(data_of(kind, 300, 3))
    nodes = np.split(np.arange(300), 4)
    given = {"subspace_size": 3, "n_projections": 30, "rounds": TWO_ROUNDS, "envelope_height": 3.0}
    plain = Node(data, fitting(kind, fitted_projections=0, **given), nodes)
    node = Node(data, fitting(kind, fitted_projections=3, **given), nodes)
    n_new = 0
    for i, (found, before) in enumerate(zip(node.candidates(), plain.candidates(), strict=True)):
        listed = [tuple(row) for row in node.plan.listed.tolist()]
        assert len(listed) > node.plan.n_axis == 3
        pairs = [naive.normalise(vector) for vector in node.vectors(i)]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in listed]
        n_new += len(new)
        assert found[: len(listed) + len(new)] == [*listed, *new]
        assert before[: len(listed)] == listed
        assert len(found) > len(listed) + len(new)
        assert len(set(found)) == len(found) <= node.plan.n_candidates
        assert len(set(found[len(listed) + len(new) :]) & set(before)) > 4  # drawn from the same key
    assert n_new > 2


def test_pairs_that_are_listed_are_not_repeated() -> None:
    codes = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    given = {"criterion": "squared_error", "envelope_height": 1.0, "fitted_projections": 1}
    for slope in ([2, 2], [2, -2], [4, 1]):  # the last becomes a basis vector
        data = make_data(codes, codes @ np.array(slope) * 65536, 0)
        node = Node(data, parameters(**given))
        assert node.fitted.sizes[0] == 1
        assert node.candidates() == [[(1, 0), (0, 1), (1, 1), (1, -1)]]
        alone = Node(data, parameters(**given, n_projections=0))
        (vector,) = alone.vectors()
        expected = [] if slope == [4, 1] else [naive.normalise(vector)]
        assert alone.candidates() == [[(1, 0), (0, 1), *expected]]


def test_a_node_that_a_basis_vector_solves_gets_no_pairs() -> None:
    codes = np.random.default_rng(5).integers(-1000, 1001, (200, 3))
    codes[:, 1] += np.where(codes[:, 1] > 0, 100, -100)
    y = (codes[:, 1] > 0).astype(np.int64)
    y[:100] = codes[:100] @ [1, 1, 0] > 0  # which none solves
    data = make_data(codes, y, 2)
    p = parameters(n_bins=256, envelope_height=20.0, n_projections=5, fitted_projections=2)
    node = Node(data, p, [np.arange(100, 200), np.arange(100)])
    solved, unsolved = node.candidates()
    assert node.fitted.sizes.tolist() == [2, 2]
    assert solved == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert unsolved[3] == naive.normalise(node.vectors(1)[0])
    assert len(unsolved) > 3 + 5


def test_the_plan_accounts_for_pairs() -> None:
    rounds = (DrawingRound(0.5, 0.3, 1),)
    for n_projections in (0, 2, 500):
        given = {"subspace_size": 4, "rounds": rounds, "envelope_height": 7.9, "n_projections": n_projections}
        without = plan_projections(parameters(**given), 9)
        plan = plan_projections(parameters(**given, fitted_projections=3), 9)
        assert (without.n_fitted, plan.n_fitted, plan.height) == (0, 3, 7)
        assert plan.n_candidates == without.n_candidates + 3
        assert without.coefficient_sum == 5  # 7.9 exp(-0.3)
        assert plan.coefficient_sum == 14
        np.testing.assert_array_equal(plan.listed, without.listed)
    wide = {"subspace_size": 4, "envelope_height": 7.0}  # four coefficients of seven
    for n_fitted in (0, 3):
        assert plan_projections(parameters(**wide, fitted_projections=n_fitted), 9).coefficient_sum == 28


def test_pairs_may_be_the_only_candidates() -> None:
    data = planted(TWO)
    p = fitting(TWO, axis_projections=False, n_projections=0, envelope_height=3.0, fitted_projections=2)
    assert len(Node(data, p).candidates()[0]) == plan_projections(p, 5).n_candidates == 2
    tree = grow_tree(data, parameters_of(TWO, p, max_depth=2))
    assert tree.n_nodes > 3
    assert set(np.diff(tree.first_term).tolist()) == {2}


# --- whole trees


@pytest.fixture(scope="module")
def teams() -> Iterator[list[Workers]]:
    """Threads that small trees are shared by too."""
    workers = [Workers(n) for n in (1, 2, 3)]
    with pytest.MonkeyPatch.context() as patch, workers[0], workers[1], workers[2]:
        share_small_trees(patch)
        yield workers


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("weights", ["unit", "integer"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_with_pairs_are_the_same_by_every_driver(
    kind: Kind, weights: str, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = {"racing_samples": racing_samples, "n_finalists": 4, "envelope_height": 11.0}
    data = mixed(data_of(kind, 500, 5, weights))
    trees = []
    for n_fitted in (0, 5):
        p = parameters_of(kind, DRAWN, fitted_projections=n_fitted, **given)
        trees.append(assert_same_by_all(task_of(data, p, 3.0), teams))
    assert trees[1].n_nodes > 20
    assert trees[0].coefficient.tolist() != trees[1].coefficient.tolist()


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("subspace_size", [3, 50])
@pytest.mark.parametrize("kind", [NUMBERS, FIVE])
def test_trees_with_pairs_over_more_features_than_a_tile_are_the_same_by_every_driver(
    kind: Kind, subspace_size: int, racing_samples: int | None, teams: list[Workers]
) -> None:
    p = fitting(kind, subspace_size=subspace_size, racing_samples=racing_samples, max_depth=4)
    for n_features in (TILE, TILE + 1, 2 * TILE + 6):
        assert_same_by_all(task_of(mixed(data_of(kind, 300, n_features)), p), teams)


@pytest.mark.parametrize("kind", [NUMBERS, FIVE])
def test_trees_with_pairs_over_several_blocks_are_the_same_by_every_driver(kind: Kind, teams: list[Workers]) -> None:
    p = fitting(kind, max_depth=2, n_projections=0, envelope_height=127.0)
    tree = assert_same_by_all(task_of(mixed(data_of(kind, BLOCK + 2100, 3)), p), teams)
    assert np.diff(tree.first_term).max() == 2


@pytest.mark.parametrize("kind", EACH)
def test_weight_two_equals_the_row_twice(kind: Kind) -> None:
    data = mixed(data_of(kind, 200, 4, "integer"))
    rows = np.repeat(np.arange(200), data.weights)
    ones = np.ones(len(rows), np.int64)
    twice = data.take(rows)._replace(weights=ones, counts=ones)
    p = fitting(kind, n_projections=0, fitted_projections=6, min_samples_leaf=6)
    assert Node(data, p).vectors() == Node(twice, p).vectors()
    one, other = grow_tree(data, p), grow_tree(twice, p)
    assert one.n_nodes > 20
    assert np.diff(one.first_term).max() == 2
    for name in ("n_samples", "threshold", "feature", "coefficient", "children"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# --- through the estimators


def oblique(n: int = 600) -> tuple[Array, Array]:
    """Features of unequal scale, and the side of a plane over two of them."""
    X = np.random.default_rng(11).normal(size=(n, 5)) * [1.0, 50.0, 0.1, 3.0, 1.0] + 4.0
    return X, 3 * (X[:, 0] - 4) - (X[:, 3] - 4)


ONE_SPLIT: dict[str, Any] = {
    "max_depth": 1,
    "n_projections": 2,
    "n_bins": 64,
    "subspace": "top",
    "subspace_size": 5,
    "envelope_height": 20.0,
    "random_state": 0,
}


def term_counts(model: Any) -> set[int]:
    nodes = model.tree_ if hasattr(model, "tree_") else model.ensemble_.nodes
    return set(np.diff(nodes.first_term).tolist())


def test_a_tree_finds_an_oblique_boundary_by_fitting() -> None:
    X, plane = oblique()
    drawn, fitted = (SLMClassifier(**ONE_SPLIT, fitted_projections=n).fit(X, plane > 0) for n in (0, 3))
    assert fitted.score(X, plane > 0) > 0.97
    assert drawn.score(X, plane > 0) < 0.9


def test_trees_of_a_forest_find_an_oblique_slope_by_fitting() -> None:
    X, plane = oblique()
    given = {**ONE_SPLIT, "n_estimators": 5, "max_depth": 3}
    drawn, fitted = (SLMForestRegressor(**given, fitted_projections=n).fit(X, plane) for n in (0, 3))
    assert fitted.score(X, plane) > 0.95
    assert drawn.score(X, plane) < 0.9


@pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])
def test_boosting_fits_by_default_and_gains_by_it(make: Any) -> None:
    X, plane = oblique()
    y = plane > 0 if make is SLMBoostClassifier else plane
    given = {"n_estimators": 10, "max_depth": 2, "leaf": "constant", "random_state": 0}
    fitted, drawn = make(**given).fit(X, y), make(**given, fitted_projections=0).fit(X, y)
    assert fitted.get_params()["fitted_projections"] == 3
    assert fitted.train_score_[-1] > 0.75 * drawn.train_score_[-1]  # minus the loss


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor, SLMForestRegressor, SLMBoostClassifier])
def test_without_pairs_and_draws_only_basis_vectors_are_left(make: Any) -> None:
    X, plane = oblique(200)
    given = {"n_projections": 0, "max_depth": 3, "random_state": 0, "envelope_height": 9.0}
    if "n_estimators" in make().get_params():
        given["n_estimators"] = 3
    y = plane > 0
    without = make(**given, fitted_projections=0).fit(X, y)
    assert term_counts(without) == {1}
    assert 2 in term_counts(make(**given, fitted_projections=2).fit(X, y))
    flat = make(**{**given, "envelope_height": 0.9}, fitted_projections=2).fit(X, y)
    assert term_counts(flat) == {1}


@pytest.mark.parametrize("make", [SLMClassifier, SLMForestRegressor, SLMBoostClassifier])
def test_estimators_with_pairs_are_the_same_with_any_number_of_threads(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_small_trees(monkeypatch)
    X, plane = oblique()
    given = {"n_estimators": 3} if "n_estimators" in make().get_params() else {}
    models = [make(**given, fitted_projections=5, random_state=1, n_jobs=n).fit(X, plane > 0) for n in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(models[0].predict(X), model.predict(X))


@pytest.mark.parametrize("value", [-1, 1.5, 121, "x", None, True])
@pytest.mark.parametrize("make", [SLMClassifier, SLMForestRegressor, SLMBoostClassifier])
def test_fitted_projections_out_of_range_are_named_with_what_is_allowed(make: Any, value: Any) -> None:
    message = f"fitted_projections of {make.__name__} must be an int from 0 to 120; got {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make(fitted_projections=value).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]], [0, 1, 0])
