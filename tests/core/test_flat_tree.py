"""Routes through a fitted tree, and what is read from it."""

from dataclasses import replace

import numpy as np
import pytest

import naive
from naive import Array
from sublearn.core import parallel
from sublearn.core.model.flat_tree import FlatTree, decision_path, feature_decreases, shares
from sublearn.core.parallel import Workers
from support import assert_same_tree, grow_tree, leaves_of, make_data, nodes_of, parameters, random_data
from test_grower import DRAWN


def route_all(tree: FlatTree, codes: Array) -> list[int]:
    """The twin's routes, as node numbers."""
    nodes = nodes_of(tree, codes.shape[1])
    return [next(i for i, node in enumerate(nodes) if node is naive.route(nodes[0], row)) for row in codes.tolist()]


def apply_all(tree: FlatTree, codes: Array) -> list[int]:
    found: list[int] = leaves_of(tree, codes).tolist()
    return found


def tree_with_an_empty_cell() -> FlatTree:
    """Three of four quadrants have samples."""
    corners = np.repeat([[-8, -8], [8, -8], [-8, 8]], 4, axis=0)
    return grow_tree(make_data(corners, np.repeat([0, 1, 2], 4), 3), parameters(max_partitions=2))


def test_a_route_into_an_empty_cell_ends_at_the_node() -> None:
    tree = tree_with_an_empty_cell()
    assert sorted(tree.children.tolist()) == [-1, 1, 2, 3]
    assert apply_all(tree, np.array([[9, 9], [-9, -9]])) == [0, 1]
    np.testing.assert_allclose(tree.value[0], 1 / 3)


def test_a_sample_on_the_threshold_is_positive() -> None:
    tree = grow_tree(make_data([0, 10], [0, 1], 2), parameters(n_bins=2))
    assert tree.threshold.tolist() == [5]
    assert apply_all(tree, np.array([[4], [5], [6]])) == [1, 2, 2]


@pytest.mark.parametrize("n_classes", [0, 3])
def test_routes_equal_the_twin(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    data = random_data(rng, 250, 4, n_classes)
    tree = grow_tree(data, replace(DRAWN, criterion="gini" if n_classes else "squared_error", min_samples_leaf=3))
    fresh = np.concatenate([rng.integers(-2000, 2000, (100, 4)), rng.choice([-32768, 32767], (20, 4)), data.codes[:50]])
    found = apply_all(tree, fresh)
    assert found == route_all(tree, fresh)
    assert not tree.is_leaf[found].all()  # some fell into empty cells


def test_any_number_of_threads_finds_the_same_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_data(np.random.default_rng(1), 300, 3, 2)
    tree = grow_tree(data, DRAWN)
    one = apply_all(tree, data.codes)
    monkeypatch.setattr(parallel, "SMALL", 1)
    with Workers(3) as workers:
        assert leaves_of(tree, data.codes, workers).tolist() == one


def test_a_decision_path_leads_from_the_root_to_the_leaf() -> None:
    data = random_data(np.random.default_rng(2), 200, 3, 3)
    tree = grow_tree(data, DRAWN)
    leaves = np.array(apply_all(tree, data.codes))
    indices, indptr = decision_path(tree, leaves)
    for i, leaf in enumerate(leaves.tolist()):
        path = indices[indptr[i] : indptr[i + 1]].tolist()
        expected = [leaf]
        while expected[0] != 0:
            expected.insert(0, int(tree.parent[expected[0]]))
        assert path == expected


def test_decreases_of_features_by_hand() -> None:
    # one hyperplane, x0 + 2 x1: its features share by 1 and 4
    codes = np.array([[4, -2], [-4, 2], [5, -1], [-3, 3]])
    tree = grow_tree(make_data(codes, [0, 0, 1, 1], 2), parameters(envelope_height=2.0, n_bins=2))
    assert [plane.vector for plane in nodes_of(tree, 2)[0].planes] == [(1, 2)]
    assert tree.n_nodes == 3
    np.testing.assert_allclose(feature_decreases(tree, np.arange(2)), [0.2, 0.8], rtol=1e-15)  # of one bit


@pytest.mark.parametrize(("n_classes", "criterion"), [(2, "entropy"), (5, "gini"), (0, "squared_error")])
def test_importances_equal_the_twin(n_classes: int, criterion: str) -> None:
    data = random_data(np.random.default_rng(3), 250, 5, n_classes, "fractional")
    tree = grow_tree(data, replace(DRAWN, criterion=criterion))
    found = shares(feature_decreases(tree, np.arange(5)))
    # sums over nodes in another order
    np.testing.assert_allclose(found, naive.feature_importances(nodes_of(tree, 5)[0], 5), rtol=1e-10)
    assert found.sum() == pytest.approx(1.0)
    assert found[0] > found[1]  # the target depends on the first and the last feature


@pytest.mark.parametrize(("n_classes", "criterion"), [(2, "entropy"), (5, "gini"), (0, "squared_error")])
def test_decreases_of_features_add_up_to_what_the_tree_takes_from_the_loss(n_classes: int, criterion: str) -> None:
    data = random_data(np.random.default_rng(5), 250, 5, n_classes, "fractional")
    tree = grow_tree(data, replace(DRAWN, criterion=criterion))
    left = (tree.weight * tree.loss)[tree.is_leaf].sum()
    assert feature_decreases(tree, np.arange(5)).sum() == pytest.approx(tree.loss[0] - left, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_shares_of_features_are_the_same_for_decreases_of_any_magnitude(scale: float) -> None:
    tree = grow_tree(random_data(np.random.default_rng(6), 100, 3, 2), DRAWN)
    scaled = tree._replace(decrease=scale * tree.decrease, plane_decrease=scale * tree.plane_decrease)
    np.testing.assert_allclose(
        shares(feature_decreases(scaled, np.arange(3))), shares(feature_decreases(tree, np.arange(3))), rtol=1e-12
    )


def test_importances_of_a_leaf_are_zero() -> None:
    tree = grow_tree(make_data([[1, 2]], [0], 2), parameters())
    assert shares(feature_decreases(tree, np.arange(2))).tolist() == [0.0, 0.0]


def test_unused_features_have_no_importance() -> None:
    data = random_data(np.random.default_rng(4), 100, 3, 2)
    data.codes[:, 1] = 7
    found = feature_decreases(grow_tree(data, parameters(envelope_height=0.0)), np.arange(3))  # ordinary splits alone
    assert found[1] == 0.0
    assert (found[[0, 2]] > 0).all()


def test_a_tree_is_the_same_when_grown_again() -> None:
    assert_same_tree(tree_with_an_empty_cell(), tree_with_an_empty_cell())
