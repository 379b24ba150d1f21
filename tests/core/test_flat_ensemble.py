"""Several trees in one: packing, and routes through all of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import naive
from naive import Array
from sublearn.core import parallel
from sublearn.core.data.codes import encode_samples
from sublearn.core.model import flat_ensemble
from sublearn.core.model.flat_ensemble import add_values, add_values_of, apply, pack, unpack
from sublearn.core.model.flat_tree import KINDS, FlatTree
from sublearn.core.model.pruning import prune
from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import DrawingRound
from sublearn.kernels.prediction import FEW, ROWS, TREES
from support import (
    ONE_THREAD,
    assert_same_tree,
    fit_maps,
    grow_tree,
    leaves_of,
    make_data,
    nodes_of,
    parameters,
    random_data,
    transposed,
)
from test_grower import DRAWN

N_FEATURES = 6


def some_trees(n_classes: int = 3, n_terms: int | None = None) -> list[FlatTree]:
    """Trees of several sizes, two of them single leaves, and one pruned."""
    rounds = (DrawingRound(0.3, 0.2, 2), DrawingRound(0.1, 0.0, n_terms))
    p = replace(
        DRAWN,
        subspace_size=N_FEATURES,
        criterion="entropy" if n_classes else "squared_error",
        min_samples_leaf=3,
        rounds=rounds,
    )
    data = random_data(np.random.default_rng(0), 250, N_FEATURES, n_classes)
    depths = (0, 3, 1, None, 0, 2)
    trees = [grow_tree(data, replace(p, max_depth=depth), key) for key, depth in enumerate(depths)]
    return [*trees, prune(trees[3], float(np.median(trees[3].decrease * trees[3].weight)))]


def fresh_codes(n: int) -> Array:
    rng = np.random.default_rng(1)
    codes = rng.integers(-1500, 1500, (n, N_FEATURES))
    codes[::7] = rng.choice([-32768, 32767], codes[::7].shape)
    return codes


def sums_of(trees: Sequence[FlatTree], codes: Array, start: Array) -> Array:
    """The twin's predictions, tree by tree, in this order."""
    out = start.copy()
    for tree in trees:
        out += np.array(naive.predict(nodes_of(tree, N_FEATURES)[0], codes))
    return out


# --- packing


def test_two_stumps_and_a_leaf_by_hand() -> None:
    stump = grow_tree(make_data([0, 10], [0, 1], 2), parameters(n_bins=2))
    leaf = grow_tree(make_data([0, 10], [1, 1], 2), parameters())
    packed = pack([stump, leaf, stump])
    nodes, roots = packed.nodes, packed.roots
    assert roots.tolist() == [0, 3, 4]
    assert nodes.parent.tolist() == [-1, 0, 0, -1, -1, 4, 4]
    assert nodes.children.tolist() == [1, 2, 5, 6]
    assert nodes.first_child.tolist() == [0, -1, -1, -1, 2, -1, -1]
    assert nodes.first_plane.tolist() == [0, 1, 1, 1, 1, 2, 2, 2]
    assert nodes.first_term.tolist() == [0, 1, 2]
    assert nodes.threshold.tolist() == [5, 5]


@pytest.mark.parametrize("n_classes", [0, 3])
def test_unpacked_trees_are_those_that_were_packed(n_classes: int) -> None:
    trees = some_trees(n_classes)
    assert [tree.n_nodes == 1 for tree in trees].count(True) == 2
    for part in (trees, trees[::-1], trees[:1], trees[3:4]):
        ensemble = pack(part)
        assert ensemble.n_trees == len(part)
        for one, other in zip(part, unpack(ensemble), strict=True):
            assert_same_tree(one, other)


def test_packing_again_gives_the_same_arrays() -> None:
    ensemble = pack(some_trees())
    again = pack(unpack(ensemble))
    assert_same_tree(ensemble.nodes, again.nodes)
    assert ensemble.roots.tolist() == again.roots.tolist()


def test_no_trees_can_be_packed() -> None:
    ensemble = pack([])
    assert (ensemble.n_trees, ensemble.nodes.n_nodes, unpack(ensemble)) == (0, 0, [])
    for name, kind in KINDS.items():
        assert getattr(ensemble.nodes, name).dtype == kind.dtype
    codes = transposed(fresh_codes(10))
    assert apply(ensemble, codes, ONE_THREAD).shape == (10, 0)
    out = np.ones((10, 1))
    add_values(ensemble, ensemble.nodes.value, codes, out, ONE_THREAD)
    x = np.random.default_rng(0).normal(size=(10, N_FEATURES))
    add_values_of(
        x, fit_maps(x, np.empty(0, np.int64), "auto", 1500, ONE_THREAD), ensemble, ensemble.nodes.value, out, ONE_THREAD
    )
    assert (out == 1.0).all()


# --- routes


@pytest.mark.parametrize("n_samples", [1, FEW, FEW + 1, 60, ROWS, 2 * ROWS + 3])
@pytest.mark.parametrize("n_terms", [1, 2, 3, 6])
def test_every_tree_finds_its_own_leaves(n_samples: int, n_terms: int) -> None:
    trees, codes = some_trees(n_terms=n_terms), fresh_codes(n_samples)
    assert pack(trees).routes.width == 1 + max(2, min(n_terms + n_terms % 2, N_FEATURES))
    found = apply(pack(trees), transposed(codes), ONE_THREAD)
    assert found.shape == (n_samples, len(trees))
    for t, tree in enumerate(trees):
        nodes = nodes_of(tree, N_FEATURES)
        numbers = {id(node): i for i, node in enumerate(nodes)}
        assert found[:, t].tolist() == [numbers[id(naive.route(nodes[0], row))] for row in codes.tolist()]
        assert found[:, t].tolist() == leaves_of(tree, codes).tolist()


@pytest.mark.parametrize("n_samples", [1, FEW, FEW + 1, 60, ROWS, 2 * ROWS + 3])
@pytest.mark.parametrize("n_classes", [0, 3])  # one column and several
def test_sums_of_values_equal_the_twin_tree_by_tree(n_classes: int, n_samples: int) -> None:
    trees, codes = some_trees(n_classes), fresh_codes(n_samples)
    ensemble = pack(trees)
    start = np.random.default_rng(2).normal(size=(n_samples, trees[0].value.shape[1]))
    out = start.copy()
    add_values(ensemble, ensemble.nodes.value, transposed(codes), out, ONE_THREAD)
    # to the bit: both add tree by tree
    np.testing.assert_array_equal(out, sums_of(trees, codes, start))


@pytest.mark.parametrize("n_terms", [1, 6])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_single_samples_have_the_sums_of_the_twin_over_many_trees(n_classes: int, n_terms: int) -> None:
    trees, codes = some_trees(n_classes, n_terms=n_terms), fresh_codes(40)
    trees = (trees * (2 * TREES // len(trees) + 1))[: 2 * TREES + 3]
    ensemble = pack(trees)
    start = np.random.default_rng(2).normal(size=(40, trees[0].value.shape[1]))
    out = start.copy()
    for i in range(40):
        one = slice(i, i + 1)
        add_values(ensemble, ensemble.nodes.value, transposed(codes[one]), out[one], ONE_THREAD)
    np.testing.assert_array_equal(out, sums_of(trees, codes, start))


def test_values_may_be_others_than_those_of_the_trees() -> None:
    ensemble = pack(some_trees())
    numbers = np.arange(float(ensemble.nodes.n_nodes))[:, None]
    codes = transposed(fresh_codes(50))
    out = np.zeros((50, 1))
    add_values(ensemble, numbers, codes, out, ONE_THREAD)
    np.testing.assert_array_equal(out[:, 0], (apply(ensemble, codes, ONE_THREAD) + ensemble.roots).sum(axis=1))


def test_some_of_the_trees_are_an_ensemble_too() -> None:
    trees, codes = some_trees(), transposed(fresh_codes(50))
    ensemble = pack(trees)
    found = np.hstack([apply(ensemble.only(t), codes, ONE_THREAD) for t in (3, 1)])
    np.testing.assert_array_equal(found, apply(pack([trees[3], trees[1]]), codes, ONE_THREAD))


def test_any_number_of_threads_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble, codes = pack(some_trees()), transposed(fresh_codes(3 * ROWS + 7))
    leaves = apply(ensemble, codes, ONE_THREAD)
    sums = np.zeros((codes.shape[1], ensemble.nodes.value.shape[1]))
    add_values(ensemble, ensemble.nodes.value, codes, sums, ONE_THREAD)
    monkeypatch.setattr(parallel, "SMALL", 1)
    for n_threads in (2, 5):
        with Workers(n_threads) as workers:
            np.testing.assert_array_equal(apply(ensemble, codes, workers), leaves)
            out = np.zeros_like(sums)
            add_values(ensemble, ensemble.nodes.value, codes, out, workers)
            np.testing.assert_array_equal(out, sums)


def test_samples_encoded_a_few_at_a_time_reach_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble, x = pack(some_trees()), np.random.default_rng(3).normal(size=(700, N_FEATURES)).cumsum(axis=1)
    maps = fit_maps(x, np.empty(0, np.int64), "auto", 1500, ONE_THREAD)
    start = np.random.default_rng(4).normal(size=(700, ensemble.nodes.value.shape[1]))
    expected = start.copy()
    add_values(ensemble, ensemble.nodes.value, encode_samples(x, maps, ONE_THREAD), expected, ONE_THREAD)
    fixed = x.copy()
    fixed.setflags(write=False)
    monkeypatch.setattr(parallel, "SMALL", 1)
    for least, n_threads in ((1, 1), (33, 3), (1024, 3)):
        monkeypatch.setattr(flat_ensemble, "ENCODED", N_FEATURES)
        monkeypatch.setattr(flat_ensemble, "LEAST_ENCODED", least)
        for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], fixed):
            out = start.copy()
            with Workers(n_threads) as workers:
                add_values_of(given, maps, ensemble, ensemble.nodes.value, out, workers)
            np.testing.assert_array_equal(out, expected)
