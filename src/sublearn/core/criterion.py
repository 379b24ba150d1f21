"""The loss of a node and the test of a split (paper Sec. II-B1): names, tables, and the sums of nodes."""

from functools import cache
from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.parameters import TreeParameters
from sublearn.kernels import criterion, describing
from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array, Samples, Test, n_channels

CRITERIA = {
    "entropy": criterion.ENTROPY,
    "gini": criterion.GINI,
    "squared_error": criterion.SQUARED_ERROR,
}
TABLE_SIZE = 4096


@cache
def _n_log_n_table() -> Array:
    log = plain(log2)
    return np.array([0.0] + [n * log(float(n)) for n in range(1, TABLE_SIZE)])


class NodeSums(NamedTuple):
    """What is known of some nodes."""

    totals: Array  # int64 (n_nodes, n_channels)
    remainders: Array  # int64 (n_nodes,), sums of the remainders of targets
    losses: Array  # float64 (n_nodes,)
    pure: Array  # bool (n_nodes,)
    weights: Array  # int64 (n_nodes,)
    counts: Array  # int64 (n_nodes,)


def make_test(parameters: TreeParameters, total_weight: int) -> Test:
    """The parameters of the discriminant feature test, for kernels."""
    min_weight = int(np.ceil(parameters.min_weight_fraction_leaf * total_weight))
    return Test(
        CRITERIA[parameters.criterion],
        parameters.n_bins,
        parameters.min_samples_leaf,
        max(min_weight, 1),
        _n_log_n_table(),
    )


def describe_nodes(samples: Samples, order: Array, runs: Array, test: Test, workers: Workers) -> NodeSums:
    """Sums, losses and purity of the nodes whose samples `runs` gives."""
    n = len(runs)
    totals = np.empty((n, n_channels(samples)), np.int64)
    remainders, losses, pure = np.zeros(n, np.int64), np.empty(n), np.empty(n, np.bool_)
    workers.run(
        lambda a, b: describing.describe_nodes(samples, order, runs, test, a, b, totals, remainders, losses, pure),
        runs[:, -1] - runs[:, 0],
    )
    k = samples.n_classes
    weights = totals[:, :k].sum(axis=1) if k else totals[:, 0]
    counts = totals[:, -1] if samples.weights.size else weights
    return NodeSums(totals, remainders, losses, pure, weights, counts)
