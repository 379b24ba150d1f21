"""Views of features: codes of what is missing, and nodes that take the best view of each feature."""

from typing import Any

import numpy as np
import pytest

from drivers import by_operations
from steps import choose_subspace
from sublearn.core.data.codes import CODE_LIMIT, encode_samples
from sublearn.core.tree.grower import grow
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels.layout import Array
from sublearn.kernels.subspace import Ranking
from support import KEY, ONE_THREAD, assert_same_tree, fit_maps, parameters, random_data, task_of

NO_WEIGHTS = np.empty(0, np.int64)
RNG = np.random.default_rng(0)
SHAPES: dict[str, Array] = {
    "normal": RNG.normal(size=500),
    "heavy": np.exp(4 * RNG.normal(size=500)),
    "few": RNG.integers(0, 3, 500).astype(float),
    "tiny": 1e-200 * RNG.normal(size=500),
    "far": 1e300 * RNG.normal(size=500),
}


def maps_of(x: Any, kind: str = "auto", weights: Array = NO_WEIGHTS) -> Any:
    return fit_maps(np.asarray(x, np.float64).reshape(len(x), -1), weights, kind, CODE_LIMIT, ONE_THREAD)


def with_gaps(x: Array, share: float = 0.3) -> Array:
    return np.where(np.random.default_rng(1).random(len(x)) < share, np.nan, x)


@pytest.mark.parametrize("kind", ["auto", "linear", "quantile"])
@pytest.mark.parametrize("shape", SHAPES)
def test_maps_go_by_the_values_that_are_there(shape: str, kind: str) -> None:
    x = with_gaps(SHAPES[shape])
    there = x[~np.isnan(x)]
    with_all, without = maps_of(x, kind), maps_of(there, kind)
    codes = encode_samples(there[:, None], without, ONE_THREAD)[0]
    assert with_all.n_views == 3
    for view in encode_samples(there[:, None], with_all, ONE_THREAD):
        np.testing.assert_array_equal(view, codes)


@pytest.mark.parametrize("shape", SHAPES)
def test_gaps_are_in_the_middle_lower_and_higher(shape: str) -> None:
    x = with_gaps(SHAPES[shape])
    gone = np.isnan(x)
    middle, low, high = encode_samples(x[:, None], maps_of(x), ONE_THREAD)
    assert len({*low[gone]}) == len({*middle[gone]}) == len({*high[gone]}) == 1
    assert low[gone].max() < low[~gone].min()
    assert middle[~gone].min() <= middle[gone][0] <= middle[~gone].max()
    assert high[gone].min() > high[~gone].max()


@pytest.mark.parametrize("n_bins", [16, 64, 256])
def test_gaps_have_a_bin_of_their_own(n_bins: int) -> None:
    x = with_gaps(SHAPES["normal"])
    _, low, high = encode_samples(x[:, None], maps_of(x), ONE_THREAD).astype(np.int64)
    gone = np.isnan(x)
    for codes in (low, high):
        bins = n_bins * (codes - codes.min()) // (codes.max() - codes.min() + 1)
        assert not set(bins[gone]) & set(bins[~gone])


def test_weights_are_rows_so_many_times() -> None:
    x = with_gaps(SHAPES["heavy"])
    weights = np.random.default_rng(2).integers(1, 4, len(x))
    for one, other in zip(maps_of(x, weights=weights), maps_of(np.repeat(x, weights)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_feature_of_gaps_alone_and_a_constant_with_gaps() -> None:
    x = np.column_stack([np.full(6, np.nan), [1.0, 1.0, np.nan, 1.0, np.nan, 1.0], np.arange(6.0)])
    maps = maps_of(x)
    assert maps.features.tolist() == [0, 1, 2]
    assert maps.views.shape == (2, 0)
    codes = encode_samples(x, maps, ONE_THREAD)
    assert set(codes[0]) == {0}
    assert len(set(codes[1, [0, 1, 3, 5]])) == 1
    assert (codes[1, [2, 4]] > codes[1, 0]).all()


def test_whole_features_beside_gappy_ones_have_the_maps_they_would_have_alone() -> None:
    whole = np.column_stack([SHAPES["normal"], SHAPES["heavy"]])
    table = np.column_stack([SHAPES["normal"], with_gaps(SHAPES["few"]), SHAPES["heavy"]])
    alone, beside = maps_of(whole), maps_of(table)
    assert beside.features.tolist() == [0, 1, 1, 1, 2]
    assert beside.views.tolist() == [[0, 1, 1, 1, 2], [0, 1, 1, 1, 4]]
    codes = encode_samples(table, beside, ONE_THREAD)
    np.testing.assert_array_equal(codes[[0, 4]], encode_samples(whole, alone, ONE_THREAD))


def by_rank(ranking: Ranking, views: Array, n_features: int) -> Any:
    keys = np.zeros(len(ranking.decrease), np.uint64)
    return choose_subspace(ranking, keys, n_features, "top", 0.0, views).tolist()


def test_a_feature_has_the_rank_of_its_best_view() -> None:
    decrease = np.array([[0.1, 0.5, 0.3, 0.2, 0.4], [0.5, 0.1, 0.1, 0.6, 0.5]])
    ranking = Ranking(decrease, np.zeros((2, 5), np.int32), np.zeros((2, 5, 2), np.int32))
    views = np.array([[0, 1, 1, 2, 2], np.arange(5)], np.int32)
    assert by_rank(ranking, views, 3) == [[1, 4, 0], [3, 0, 1]]


def test_a_view_that_is_preferred_needs_three_quarters_of_the_best() -> None:
    decrease = np.array([[0.1, 0.31, 0.4], [0.2, 0.29, 0.4]])
    ranking = Ranking(decrease, np.zeros((2, 3), np.int32), np.zeros((2, 3, 2), np.int32))
    views = np.array([[0, 1, 1], [0, 1, 1]], np.int32)
    assert by_rank(ranking, views, 2) == [[1, 0], [2, 0]]


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("subspace", ["top", "drawn"])
@pytest.mark.parametrize("selection", ["projection", "round"])
@pytest.mark.parametrize("racing_samples", [None, 32])
def test_trees_with_views_are_the_same_by_every_driver(
    n_classes: int, subspace: str, selection: str, racing_samples: int | None
) -> None:
    rng = np.random.default_rng(3)
    given = parameters(
        criterion="entropy" if n_classes else "squared_error",
        subspace=subspace,
        subspace_size=3,
        selection=selection,
        n_projections=12,
        max_partitions=2,
        racing_samples=racing_samples,
        min_samples_leaf=3,
    )
    task = task_of(random_data(rng, 400, 7, n_classes), given)
    features = np.array([0, 0, 0, 1, 2, 2, 3], np.int32)
    views = np.array([features, [0, 0, 0, 3, 4, 5, 6]], np.int32)
    task = task._replace(
        samples=task.samples._replace(views=views), plan=plan_projections(given, int(features[-1]) + 1)
    )
    tree = grow(task, KEY, ONE_THREAD)
    assert_same_tree(tree, by_operations(task))
    assert tree.n_nodes > 20
    for begin, end in zip(tree.first_term[:-1], tree.first_term[1:], strict=True):
        used = features[tree.feature[begin:end]]
        assert len(set(used)) == len(used), "a hyperplane has one view of a feature"
