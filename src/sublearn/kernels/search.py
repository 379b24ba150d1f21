"""The discriminant feature test of many projections: ranking of features, scoring of candidates.

Work is a range of items, one item a projection of a node, nodes one after the other; any division into
ranges gives the same numbers.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.columns import (
    Block,
    add_up,
    clear,
    find_bins,
    find_range,
    gather_columns,
    gather_statistics,
    make_block,
    project,
    threshold_of,
)
from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.layout import CONSTANT, Array
from sublearn.kernels.threshold import find_threshold

INT32_MAX = np.int32(2**31 - 1)
TILE = 32  # features ranked from one block
HISTOGRAMS = 65536  # sums kept at a time when a node is larger than a block


class Work(NamedTuple):
    """Scratch space of a test."""

    block: Block
    histograms: Array  # int64 (n_tested, n_bins, n_channels)
    low: Array  # int32 (n_tested,)
    high: Array  # int32 (n_tested,)
    below: Array  # int64 (n_channels,)


class Node(NamedTuple):
    """One node of a `Level`."""

    order: Array
    runs: Array
    totals: Array


@inner
def largest_node(level, first_node, last_node):
    """Samples of the largest of some nodes."""
    largest = 0
    for i in range(first_node, last_node):
        largest = max(largest, level.runs[i, -1] - level.runs[i, 0])
    return largest


@inner
def make_work(samples, level, test, first_node, last_node, n_columns, n_tested):
    """Scratch space for testing candidates over n_columns features, n_tested at a time at the most."""
    largest = largest_node(level, first_node, last_node)
    block = make_block(n_columns, test.n_bins, largest, samples)
    channels = level.totals.shape[1]
    n_tested = max(1, min(n_tested, HISTOGRAMS // (test.n_bins * channels)))
    return Work(
        block,
        np.empty((n_tested, test.n_bins, channels), np.int64),
        np.empty(n_tested, np.int32),
        np.empty(n_tested, np.int32),
        np.empty(channels, np.int64),
    )


@inner
def store_best(samples, node, test, work, t, c, decrease, threshold):
    """Find the best threshold from histogram t and note it for candidate c."""
    decrease[c] = 0.0
    threshold[c] = CONSTANT
    if work.low[t] < work.high[t]:
        gain, b = find_threshold(work.histograms[t], node.totals, samples.n_classes, test, work.below)
        decrease[c] = gain
        threshold[c] = threshold_of(b, work.low[t], work.high[t], test.n_bins)


@inner
def test_candidates(samples, node, test, features, coefficients, work, decrease, threshold):
    """Discriminant feature test of candidates over `features`; fills their decrease and threshold.

    A first sweep over the blocks finds the ranges of some candidates, a second one adds up their histograms.
    A node of one block is gathered once, and its candidates come one by one: the second sweep finds them projected.
    """
    block = work.block
    size = block.projected.size
    whole = node.runs[-1] - node.runs[0] <= size
    n_tested = 1 if whole else work.low.size
    for first in range(0, coefficients.shape[0], n_tested):
        last = min(first + n_tested, coefficients.shape[0])
        for c in range(first, last):
            clear(work.histograms[c - first])
            work.low[c - first] = INT32_MAX
            work.high[c - first] = -INT32_MAX
        for sweep in range(2):
            for begin in range(node.runs[0], node.runs[-1], size):
                n = min(size, node.runs[-1] - begin)
                if not whole or (first == 0 and sweep == 0):
                    gather_columns(samples.codes, node.order, begin, n, features, block)
                    if whole or sweep == 1:
                        gather_statistics(samples, node.order, begin, n, block)
                for c in range(first, last):
                    t = c - first
                    if not whole or sweep == 0:
                        project(block.rows, coefficients[c], n, block.projected)
                    if sweep == 0:
                        low, high = find_range(block.projected, n)
                        work.low[t] = min(work.low[t], low)
                        work.high[t] = max(work.high[t], high)
                    elif work.low[t] < work.high[t]:
                        find_bins(block.projected, n, work.low[t], work.high[t], test.n_bins, block.bins)
                        add_up(block, node.runs, samples.n_classes, begin, n, work.histograms[t])
        for c in range(first, last):
            store_best(samples, node, test, work, c - first, c, decrease, threshold)


@inner
def node_of(level, i):
    """Node i of the level."""
    return Node(level.order, level.runs[i], level.totals[i])


@kernel
def rank_features(samples, level, test, first_item, last_item, decrease, threshold):
    """Test features alone: item i is feature i % n_features of node i // n_features."""
    n_features = samples.codes.shape[0]
    tile = min(TILE, n_features)
    features = np.empty(n_features, np.int32)
    for f in range(n_features):
        features[f] = f
    units = np.zeros((tile, tile), np.int16)
    for c in range(tile):
        units[c, c] = 1
    first_node = first_item // n_features
    last_node = (last_item + n_features - 1) // n_features
    work = make_work(samples, level, test, first_node, last_node, tile, tile)
    item = first_item
    while item < last_item:
        i = item // n_features
        first = item - i * n_features
        last = min(min(first + tile, n_features), first + last_item - item)
        test_candidates(
            samples,
            node_of(level, i),
            test,
            features[first:last],
            units[: last - first],
            work,
            decrease[i, first:last],
            threshold[i, first:last],
        )
        item += last - first


@kernel
def score_candidates(samples, level, test, candidates, skip, first_item, last_item):
    """Test candidates, but for the first `skip` of every node, whose test is known from the ranking."""
    n_each = candidates.coefficients.shape[1] - skip
    first_node = first_item // n_each
    last_node = (last_item + n_each - 1) // n_each
    n_columns = candidates.subspace.shape[1]
    work = make_work(samples, level, test, first_node, last_node, n_columns, n_each)
    for i in range(first_node, last_node):
        first = skip + max(first_item - i * n_each, 0)
        last = min(skip + min(last_item - i * n_each, n_each), candidates.sizes[i])
        if first < last:
            test_candidates(
                samples,
                node_of(level, i),
                test,
                candidates.subspace[i],
                candidates.coefficients[i, first:last],
                work,
                candidates.decrease[i, first:last],
                candidates.threshold[i, first:last],
            )
