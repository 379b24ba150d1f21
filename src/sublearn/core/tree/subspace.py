"""Step 1: rank the features of each node and choose its discriminant subspace S0 (paper Sec. II-B2, III-A)."""

from typing import NamedTuple

import numpy as np

from sublearn.core.data.samples import NO_VIEWS
from sublearn.core.parallel import TEST_OVERHEAD, Workers
from sublearn.core.tree.decay import decaying
from sublearn.core.tree.space import SOLO, largest_node, make_work
from sublearn.kernels import discriminant, projection
from sublearn.kernels.growing import NEARLY
from sublearn.kernels.layout import Array, Level, Samples, Test


class Ranking(NamedTuple):
    """The discriminant feature test of each feature alone, in each node."""

    decrease: Array  # float64 (n_nodes, n_features)
    threshold: Array  # int32 (n_nodes, n_features)
    ranges: Array  # int32 (n_nodes, n_features, 2)


def rank_features(samples: Samples, level: Level, test: Test, workers: Workers) -> Ranking:
    """Test every feature of every node."""
    shape = (len(level.runs), samples.codes.shape[0])
    ranking = Ranking(np.empty(shape), np.empty(shape, np.int32), np.empty((*shape, 2), np.int32))
    tile, largest = min(discriminant.TILE, shape[1]), largest_node(level.runs)

    def rank(a: int, b: int) -> None:
        work = make_work(samples, test.n_bins, largest, tile, tile, tile)
        discriminant.rank_features(samples, level, test, a, b, work, SOLO, *ranking)

    workers.run(
        rank,
        level.runs[:, -1] - level.runs[:, 0] + TEST_OVERHEAD,
        items=shape[1],
    )
    return ranking


def by_rank(ranking: Ranking, views: Array = NO_VIEWS) -> Array:
    """Features (n_nodes, n_features) of each node, most discriminant first. Ties go to the lower index.

    views: as in `Samples`; a feature of several views is there by its best one, or by the one preferred to that where
    this is nearly as good.
    """
    order = np.argsort(-ranking.decrease, axis=1, kind="stable").astype(np.int32)
    if not views.size:
        return order
    features, preferred = views
    firsts = [np.sort(np.unique(features[row], return_index=True)[1]) for row in order]
    best = np.take_along_axis(order, np.array(firsts), axis=1)
    given, wanted = (np.take_along_axis(ranking.decrease, which, axis=1) for which in (preferred[best], best))
    return np.where(given >= NEARLY * wanted, preferred[best], best)


def choose_subspace(ranking: Ranking, keys: Array, size: int, how: str, decay: float, views: Array = NO_VIEWS) -> Array:
    """Features (n_nodes, size) of each node's subspace, most discriminant first, or the views they are there by.

    how: "top" takes the best, "drawn" draws by P_d without replacement.
    """
    order = by_rank(ranking, views)
    if how == "top" or size == order.shape[1]:
        return np.ascontiguousarray(order[:, :size])
    ranks = np.empty((len(keys), size), np.int64)
    projection.draw_subspaces(keys, decaying(1.0, decay, order.shape[1]), ranks)
    return np.take_along_axis(order, ranks, axis=1)
