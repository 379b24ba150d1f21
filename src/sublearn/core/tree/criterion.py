"""The loss of a node and the test of a split (paper Sec. II-B1): names, tables, and the sums of nodes."""

from functools import cache
from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import TreeParameters
from sublearn.kernels import criterion
from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array, Samples, Test, n_channels

CRITERIA = {
    "entropy": criterion.ENTROPY,
    "gini": criterion.GINI,
    "squared_error": criterion.SQUARED_ERROR,
    "second_order": criterion.SECOND_ORDER,
}
TABLE_SIZE = 4096  # counts up to this have their n log n in a table
MOST = 2.0**62  # weight; more than any node has


@cache
def _n_log_n_table() -> Array:
    log = plain(log2)
    return np.array([0.0] + [n * log(float(n)) for n in range(1, TABLE_SIZE)])


class NodeSums(NamedTuple):
    """Sums, losses and sizes of some nodes."""

    totals: Array  # int64 (n_nodes, n_channels)
    remainders: Array  # int64 (n_nodes,), sums of the remainders of targets
    losses: Array  # float64 (n_nodes,)
    pure: Array  # bool (n_nodes,)
    weights: Array  # int64 (n_nodes,)
    counts: Array  # int64 (n_nodes,)


def make_test(parameters: TreeParameters, min_weight: float, l2: float = 0.0, min_gain: float = 0.0) -> Test:
    """The parameters of the discriminant feature test, for kernels; min_weight and l2 in steps of weights."""
    return Test(
        criterion=CRITERIA[parameters.criterion],
        n_bins=parameters.n_bins,
        min_count=parameters.min_samples_leaf,
        min_weight=max(int(np.ceil(min(min_weight, MOST))), 1),
        l2=l2,
        min_gain=min_gain,
        n_log_n=_n_log_n_table(),
    )


def make_feature_test(criterion: str, n_bins: int) -> Test:
    """The parameters of a test of features alone: a side of a threshold may be as small as one sample."""
    return Test(
        criterion=CRITERIA[criterion],
        n_bins=n_bins,
        min_count=1,
        min_weight=1,
        l2=0.0,
        min_gain=0.0,
        n_log_n=_n_log_n_table(),
    )


def describe_nodes(samples: Samples, order: Array, runs: Array, test: Test, workers: Workers) -> NodeSums:
    """Sums, losses and purity of the nodes whose samples `runs` gives."""
    n = len(runs)
    totals = np.empty((n, n_channels(samples)), np.int64)
    remainders, losses, pure = np.zeros(n, np.int64), np.empty(n), np.empty(n, np.bool_)
    workers.run(
        lambda a, b: criterion.describe_nodes(samples, order, runs, test, a, b, totals, remainders, losses, pure),
        runs[:, -1] - runs[:, 0],
    )
    return node_sums(samples, totals, remainders, losses, pure)


def node_sums(samples: Samples, totals: Array, remainders: Array, losses: Array, pure: Array) -> NodeSums:
    """Sums of nodes, with weights and counts read from their totals."""
    k = samples.n_classes
    weights = totals[:, :k].sum(axis=1) if k else totals[:, 0]
    counts = totals[:, -1] if samples.weights.size or samples.curvatures.size else weights
    return NodeSums(totals=totals, remainders=remainders, losses=losses, pure=pure, weights=weights, counts=counts)
