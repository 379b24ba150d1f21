"""The discriminant feature test of every feature over all samples (paper Sec. II-B1), and how many are worth keeping.

A root is tested as a node of a tree is; only its features come a few at a time, so that their codes take little memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sublearn.core.data.codes import FeatureMaps, first_values
from sublearn.core.parallel import TEST_OVERHEAD, Workers
from sublearn.core.tree.criterion import describe_nodes
from sublearn.core.tree.space import make_ranking, make_work
from sublearn.core.tree.task import Root
from sublearn.kernels.discriminant import TILE, test_features
from sublearn.kernels.layout import CONSTANT, Array, Node, Samples, Test
from sublearn.kernels.subspace import Ranking

NARROW, WIDE = 8, 64  # features encoded at a time, at least and at most; with fewer, cache lines are half used
VALUES = 1 << 23  # values encoded at a time, unless that makes too few features
STRAIGHT = 1e-12  # a curve no further than this from its chord is straight


class Encoded(NamedTuple):
    """Some features: their codes (n_features, n_samples), and the maps behind them."""

    codes: Array
    maps: FeatureMaps


class Tested(NamedTuple):
    """What the test finds of each feature."""

    loss: float  # of all samples, before any split
    decreases: Array  # float64 (n_features,), of the loss by the best threshold
    thresholds: Array  # float64 (n_features,), values from which on a sample is positive; NaN where none serves
    varies: Array  # bool (n_features,), whether the feature has two values at least

    def order(self) -> Array:
        """Features, the best first; ties go to the lower index, and what does not vary comes last."""
        return np.lexsort((~self.varies, -self.decreases))


def examine(
    samples: Samples,
    root: Root,
    test: Test,
    n_features: int,
    encode: Callable[[slice, Workers], Encoded],
    workers: Workers,
) -> Tested:
    """Test all features; `encode` returns some of them, and `samples` has no codes of its own."""
    sums = describe_nodes(samples, root.order, root.runs, test, workers)
    node = Node(root.order, root.runs[0], sums.totals[0])
    parts = tiles(n_features, len(root.order), workers.n_threads)

    def examine_some(i: int, own: Workers) -> tuple[Array, ...]:
        codes, maps = encode(parts[i], own)
        found = rank_features(samples._replace(codes=codes), node, test, own)
        serves = found.decrease > 0.0
        thresholds = first_values(maps, np.where(serves, found.threshold, 0))
        return found.decrease, np.where(serves, thresholds, np.nan), found.threshold != CONSTANT

    found = workers.each(examine_some, len(parts)) if len(parts) > 1 else [examine_some(0, workers)]
    return Tested(float(sums.losses[0]), *map(np.concatenate, zip(*found, strict=True)))


def rank_features(samples: Samples, node: Node, test: Test, workers: Workers) -> Ranking:
    """Test every feature alone on the samples of a node."""
    n, n_samples = samples.codes.shape[0], len(node.order)
    ranking, tile, features = make_ranking(n), min(TILE, n), np.arange(n, dtype=np.int32)

    def rank(first: int, last: int) -> None:
        work = make_work(samples, test.n_bins, n_samples, tile, tile, tile)
        test_features(samples, node, test, features, first, last, work, ranking)

    workers.run(rank, np.array([n_samples + TEST_OVERHEAD]), items=n)
    return ranking


def tiles(n_features: int, n_samples: int, n_threads: int) -> list[slice]:
    """All features, a few at a time: few enough for the memory, and for every thread to have some."""
    width = max(NARROW, min(WIDE, VALUES // n_samples, -(-n_features // n_threads)))
    return [slice(begin, min(begin + width, n_features)) for begin in range(0, n_features, width)]


def elbow(decreases: Array) -> int:
    """How many features lie before the bend of the curve of falling `decreases`.

    The curve ends one step after the last feature, at 0, which is what a useless one would have. The bend is where it
    is farthest from the chord between its ends. Below the chord that is the first feature of the flat rest, which
    begins with it; above the chord it is the last one before the fall:

        5 4 1 1 1 (0)   chord 5 4.2 3.3 2.5 1.7 0.8, farthest below at the third: 2 features
        5 5 5 1 (0)     chord 5 3.8 2.5 1.3 0, farthest above at the third: 3 features

    A straight curve has no bend, and all features stay.
    """
    n = len(decreases)
    if n == 0 or decreases[0] <= 0.0:
        return n
    above = decreases / decreases[0] - (1.0 - np.arange(n) / n)
    at = int(np.abs(above).argmax())
    if abs(above[at]) <= STRAIGHT:
        return n
    return at if above[at] < 0 else at + 1
