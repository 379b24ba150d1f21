"""Sums, losses and purity of nodes whose samples are in several partitions.

Where all samples are here, `describe_nodes` of `core.tree.criterion` does the same in compiled code.
"""

import numpy as np

from sublearn.core.links import Links
from sublearn.core.tree.criterion import NodeSums, node_sums
from sublearn.core.tree.exchange import with_columns
from sublearn.kernels.compilation import plain
from sublearn.kernels.criterion import HALF_BITS, HALF_MASK, centre_of, class_loss, spread_of
from sublearn.kernels.layout import Array, Samples, Test, n_channels


def describe_together(samples: Samples, order: Array, runs: Array, test: Test, links: Links) -> NodeSums:
    """Describe nodes of classes or of means, of which `runs` gives the samples of this partition."""
    samples = with_columns(samples, links)
    sizes = np.diff(runs)
    n, n_runs = sizes.shape
    cells = np.repeat(np.arange(n * n_runs), sizes.reshape(-1))
    rows = order[runs[0, 0] : runs[-1, -1]]  # nodes lie side by side
    weights = samples.weights[rows] if samples.weights.size else np.ones(len(rows), np.int64)
    totals = np.zeros((n, n_channels(samples)), np.int64)
    if samples.weights.size:
        np.add.at(totals[:, -1], cells // n_runs, samples.counts[rows])
    if samples.n_classes:
        totals[:, :n_runs] = _sums(cells, n * n_runs, weights).reshape(n, n_runs)
        totals = links.add(totals)
        found = [plain(class_loss)(n_runs, test, one) for one in totals]
        losses, pure = np.array([loss for loss, _ in found]), np.array([is_pure for _, is_pure in found])
        return node_sums(samples, totals, np.zeros(n, np.int64), losses, pure)
    targets = samples.targets[rows].astype(np.int64)
    totals[:, 0], totals[:, 1] = _sums(cells, n, weights), _sums(cells, n, weights * targets)
    remainders = np.zeros(n, np.int64)
    if samples.remainders.size:
        remainders = _sums(cells, n, weights * samples.remainders[rows])
    totals, remainders = np.split(links.add(np.column_stack([totals, remainders])), [-1], axis=1)
    centres = np.array([plain(centre_of)(one, test) for one in totals], np.int64)
    away = np.abs(targets - centres[cells])
    high, low = away >> HALF_BITS, away & HALF_MASK
    halves = np.stack([_sums(cells, n, weights * part) for part in (high * high, high * low, low * low)])
    spreads = zip(totals, centres, *links.add(halves), strict=True)
    losses = np.array([plain(spread_of)(*one) for one in spreads])
    pure = _are_pure(cells, n, targets, links)
    return node_sums(samples, np.ascontiguousarray(totals), remainders[:, 0], losses, pure)


def _sums(cells: Array, n: int, amounts: Array) -> Array:
    sums = np.zeros(n, np.int64)
    np.add.at(sums, cells, amounts)
    return sums


def _are_pure(cells: Array, n: int, targets: Array, links: Links) -> Array:
    """Whether all targets of a node are alike."""
    ends = np.full((2, n), np.iinfo(np.int64).min)
    np.maximum.at(ends[0], cells, -targets)
    np.maximum.at(ends[1], cells, targets)
    low, high = links.most(ends)
    alike: Array = -low == high
    return alike
