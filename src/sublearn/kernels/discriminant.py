"""Step 3: the discriminant feature test of projections (paper Sec. II-B1), of which features alone are the simplest.

A projection's range is found in one sweep over samples, its histogram in a second one; then its best threshold. The
sweeps take any stretch of a node's samples, so that threads and partitions may each take a part: ranges are put
together by minimum and maximum, histograms by sum.
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
from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.criterion import n_kinds_of
from sublearn.kernels.layout import CONSTANT, NO, NOUGHT, Array
from sublearn.kernels.references import refer
from sublearn.kernels.team import is_stopped
from sublearn.kernels.threshold import Below, find_threshold

INT32_MAX = np.int32(2**31 - 1)
TILE = 32  # features ranked from one block
HISTOGRAMS = 65536  # sums kept at a time when a node is larger than a block


class Work(NamedTuple):
    """Scratch space of a test."""

    block: Block
    histograms: Array  # int64 (n_tested, n_bins, n_channels)
    below: Below
    columns: Array  # int64 (n_columns,), 0, 1, 2 and so on
    units: Array  # int16 (tile, tile), the basis vectors
    stop: Array  # int64 (1,), not 0 when the work is no longer wanted


class Projections(NamedTuple):
    """Projections over some features, and what tests find out of them."""

    features: Array  # int32 (n_columns,)
    columns: Array  # int64 (n_columns,), where the block has them
    coefficients: Array  # int16 (n_projections, n_columns)
    decrease: Array  # float64 (n_projections,), of the loss, by the best threshold
    threshold: Array  # int32 (n_projections,)
    ranges: Array  # int32 (n_projections, 2), smallest and largest projected value


@inner
def is_whole(node, block):
    """Whether a node fits into one block."""
    return node.runs[-1] - node.runs[0] <= block.projected.size


@inner
def gather_used(codes, order, begin, n, projections, first, last, block):
    """Gather the columns that projections first to last have coefficients for: the others would not be read."""
    part = order[begin : begin + n]
    features = projections.features
    coefficients = projections.coefficients
    rows = block.rows
    for d in range(features.size):
        used = first > 0  # what comes before may be read later
        for c in range(first, last):
            used = used or coefficients[c, d] != 0
        if used:
            source = codes[features[d]]
            target = rows[d]
            for i in range(n):
                target[i] = source[np.uint32(part[i])]


@inner
def clear_ranges(projections, first, last):
    """Let ranges begin with no value in them."""
    ranges = projections.ranges
    for c in range(first, last):
        ranges[c, 0] = INT32_MAX
        ranges[c, 1] = -INT32_MAX


@inner
def widen_ranges(samples, order, begin, end, projections, first, last, block):
    """Widen the ranges of projections first to last by the samples at positions begin to end."""
    ranges = projections.ranges
    size = block.projected.size
    for at in range(begin, end, size):
        n = min(size, end - at)
        gather_used(samples.codes, order, at, n, projections, first, last, block)
        for c in range(first, last):
            project(block.rows, projections.columns, projections.coefficients[c], n, block.projected)
            low, high = find_range(block.projected, n)
            ranges[c, 0] = min(ranges[c, 0], low)
            ranges[c, 1] = max(ranges[c, 1], high)


@inner
def add_histograms(samples, order, runs, begin, end, n_bins, projections, first, last, block, histograms):
    """Add the samples at positions begin to end to the histograms of projections first to last, the first one's first.

    Values outside a range count to the nearest bin; a projection that does not vary is left out.
    """
    n_kinds = n_kinds_of(samples, runs)
    ranges = projections.ranges
    size = block.projected.size
    for at in range(begin, end, size):
        n = min(size, end - at)
        gather_used(samples.codes, order, at, n, projections, first, last, block)
        gather_statistics(samples, order, at, n, block)
        for c in range(first, last):
            if ranges[c, 0] < ranges[c, 1]:
                project(block.rows, projections.columns, projections.coefficients[c], n, block.projected)
                find_bins(block.projected, n, ranges[c, 0], ranges[c, 1], n_bins, block.bins)
                add_up(block, runs, n_kinds, at, n, histograms[c - first])


@inner
def store_best(n_kinds, totals, test, histogram, projections, c, below):
    """Find the best threshold of projection c from its histogram, and note it."""
    projections.decrease[c] = 0.0
    projections.threshold[c] = CONSTANT
    low = projections.ranges[c, 0]
    high = projections.ranges[c, 1]
    if low < high:
        gain, b = find_threshold(histogram, totals, n_kinds, test, below)
        projections.decrease[c] = gain
        projections.threshold[c] = threshold_of(b, low, high, test.n_bins)


@inner
def test_in_block(samples, node, test, projections, first, last, known, work):
    """`test_projections` for a node that the block has: one by one, so that each is projected once."""
    block = work.block
    runs = node.runs
    n = runs[-1] - runs[0]
    n_kinds = n_kinds_of(samples, runs)
    histogram = work.histograms[0]
    ranges = projections.ranges
    for c in range(first, last):
        clear(histogram, node.totals.size)
        project(block.rows, projections.columns, projections.coefficients[c], n, block.projected)
        if not known:
            low, high = find_range(block.projected, n)
            ranges[c, 0] = low
            ranges[c, 1] = high
        if ranges[c, 0] < ranges[c, 1]:
            find_bins(block.projected, n, ranges[c, 0], ranges[c, 1], test.n_bins, block.bins)
            add_up(block, runs, n_kinds, runs[0], n, histogram)
        store_best(n_kinds, node.totals, test, histogram, projections, c, work.below)


@inner
def test_projections(samples, node, test, projections, first, last, known, loaded, work):
    """Discriminant feature test of projections first to last on the samples of a node.

    known: ranges are given; loaded: the block has the node.
    """
    block = work.block
    runs = node.runs
    if is_whole(node, block):
        n = runs[-1] - runs[0]
        if not loaded and first < last:
            if known:  # a few finalists
                gather_used(samples.codes, node.order, runs[0], n, projections, first, last, block)
            else:
                gather_columns(samples.codes, node.order, runs[0], n, projections.features, block)
            gather_statistics(samples, node.order, runs[0], n, block)
        test_in_block(samples, node, test, projections, first, last, known, work)
        return
    n_kinds = n_kinds_of(samples, runs)
    n_tested = work.histograms.shape[0]
    for start in range(first, last, n_tested):
        if is_stopped(work.stop):
            break
        stop = min(start + n_tested, last)
        for c in range(start, stop):
            clear(work.histograms[c - start], node.totals.size)
        if not known:
            clear_ranges(projections, start, stop)
            widen_ranges(samples, node.order, runs[0], runs[-1], projections, start, stop, block)
        add_histograms(
            samples, node.order, runs, runs[0], runs[-1], test.n_bins, projections, start, stop, block, work.histograms
        )
        for c in range(start, stop):
            store_best(n_kinds, node.totals, test, work.histograms[c - start], projections, c, work.below)


@bare_kernel
def test_features(samples, node, test, features, first, last, work, ranking):
    """Test features first to last of a node alone; `features` lists all: 0, 1, 2 and so on."""
    samples = refer(samples)
    node = refer(node)
    test = refer(test)
    work = refer(work)
    tile = work.units.shape[0]
    for begin in range(first, last, tile):
        end = min(begin + tile, last)
        projections = refer(
            Projections(
                features=features[begin:end],
                columns=work.columns,
                coefficients=work.units,
                decrease=ranking.decrease[begin:end],
                threshold=ranking.threshold[begin:end],
                ranges=ranking.ranges[begin:end],
            )
        )
        test_projections(samples, node, test, projections, NOUGHT, end - begin, NO, NO, work)
