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
    project,
    threshold_of,
)
from sublearn.kernels.compilation import kernel, section
from sublearn.kernels.criterion import n_kinds_of
from sublearn.kernels.layout import CONSTANT, Array
from sublearn.kernels.team import is_stopped, pool_ranges, pool_sums
from sublearn.kernels.threshold import Below, find_threshold

INT32_MAX = np.int32(2**31 - 1)
TILE = 32  # features ranked from one block
HISTOGRAMS = 65536  # sums kept at a time when a node is larger than a block


class Work(NamedTuple):
    """Scratch space of a test."""

    block: Block
    histograms: Array  # int64 (n_tested, n_bins, n_channels)
    table: Array  # int64 (n_tested * n_bins, n_channels), the same
    below: Below
    columns: Array  # int64 (n_columns,), 0, 1, 2 and so on
    units: Array  # int16 (tile, tile), the basis vectors


class Node(NamedTuple):
    """One node of a `Level`."""

    order: Array
    runs: Array
    totals: Array


class Found(NamedTuple):
    """What tests find out of candidates, as in `Candidates`."""

    decrease: Array
    threshold: Array
    ranges: Array


@section
def is_whole(node, block):
    """Whether a node fits into one block."""
    return node.runs[-1] - node.runs[0] <= block.projected.size


@section
def store_best(samples, node, test, work, t, c, found):
    """Find the best threshold from histogram t and note it for candidate c."""
    found.decrease[c] = 0.0
    found.threshold[c] = CONSTANT
    low = found.ranges[c, 0]
    high = found.ranges[c, 1]
    if low < high:
        gain, b = find_threshold(work.histograms[t], node.totals, n_kinds_of(samples, node.runs), test, work.below)
        found.decrease[c] = gain
        found.threshold[c] = threshold_of(b, low, high, test.n_bins)


@section
def test_candidates(
    samples, node, test, features, columns, coefficients, first, last, known, loaded, work, found, pool, n_met
):
    """Discriminant feature test of candidates first to last over `features`, which the block has in `columns`.

    A first sweep over the blocks finds the ranges of some candidates, a second one adds up their histograms.
    A node of one block is gathered once, or not if it is `loaded`, and its candidates come one by one: the second sweep
    finds them projected. `known` tells that ranges are given; values outside then count to the nearest bin. Threads
    that have divided the node, each with a part of the samples but the node's totals, put together what they find.
    """
    block = work.block
    size = block.projected.size
    n_kinds = n_kinds_of(samples, node.runs)
    whole = is_whole(node, block) and pool.n_threads == 1
    n_tested = 1 if whole else work.histograms.shape[0]
    for start in range(first, last, n_tested):
        if is_stopped(pool.stop):
            break
        stop = min(start + n_tested, last)
        for c in range(start, stop):
            clear(work.histograms[c - start], node.totals.size)
            if not known:
                found.ranges[c, 0] = INT32_MAX
                found.ranges[c, 1] = -INT32_MAX
        for sweep in range(1 if known else 0, 2):
            for begin in range(node.runs[0], node.runs[-1], size):
                n = min(size, node.runs[-1] - begin)
                if not loaded:
                    gather_columns(samples.codes, node.order, begin, n, features, block)
                    if whole or sweep == 1:
                        gather_statistics(samples, node.order, begin, n, block)
                    loaded = whole
                for c in range(start, stop):
                    if sweep == 0 or known or not whole:
                        project(block.rows, columns, coefficients[c], n, block.projected)
                    if sweep == 0:
                        low, high = find_range(block.projected, n)
                        found.ranges[c, 0] = min(found.ranges[c, 0], low)
                        found.ranges[c, 1] = max(found.ranges[c, 1], high)
                    elif found.ranges[c, 0] < found.ranges[c, 1]:
                        find_bins(block.projected, n, found.ranges[c, 0], found.ranges[c, 1], test.n_bins, block.bins)
                        add_up(block, node.runs, n_kinds, begin, n, work.histograms[c - start])
            if sweep == 0:
                n_met = pool_ranges(pool, found.ranges, start, stop, n_met)
        table = work.table[: (stop - start) * work.histograms.shape[1]]
        n_met = pool_sums(pool, table, node.totals.size, n_met)
        for c in range(start, stop):
            store_best(samples, node, test, work, c - start, c, found)
    return n_met


@section
def node_of(level, i):
    """Node i of the level."""
    return Node(level.order, level.runs[i], level.totals[i])


@kernel
def rank_features(samples, level, test, first_item, last_item, work, pool, decrease, threshold, ranges):
    """Test features alone: item i is feature i % n_features of node i // n_features."""
    n_features = samples.codes.shape[0]
    tile = work.units.shape[0]
    features = np.empty(n_features, np.int32)
    for f in range(n_features):
        features[f] = f
    item = first_item
    while item < last_item:
        i = item // n_features
        first = item - i * n_features
        last = min(min(first + tile, n_features), first + last_item - item)
        found = Found(decrease[i, first:last], threshold[i, first:last], ranges[i, first:last])
        node = node_of(level, i)
        some = features[first:last]
        test_candidates(
            samples, node, test, some, work.columns, work.units, 0, last - first, False, False, work, found, pool, 1
        )
        item += last - first


@kernel
def score_candidates(samples, level, test, candidates, skip, known, first_item, last_item, work, pool):
    """Test candidates, but for the first `skip` of every node; known[i]: their ranges are given."""
    n_each = candidates.coefficients.shape[1] - skip
    first_node = first_item // n_each
    last_node = (last_item + n_each - 1) // n_each
    for i in range(first_node, last_node):
        first = skip + max(first_item - i * n_each, 0)
        last = min(skip + min(last_item - i * n_each, n_each), candidates.sizes[i])
        if first < last:
            found = Found(candidates.decrease[i], candidates.threshold[i], candidates.ranges[i])
            features = candidates.subspace[i]
            coefficients = candidates.coefficients[i]
            node = node_of(level, i)
            test_candidates(
                samples,
                node,
                test,
                features,
                work.columns,
                coefficients,
                first,
                last,
                known[i],
                False,
                work,
                found,
                pool,
                1,
            )
