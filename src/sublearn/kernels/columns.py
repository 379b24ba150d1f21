"""The inner loops over a block of samples: gather, project, find the range, put into bins, add up.

A block is at most `BLOCK` samples of one node, so that its columns stay in the cache while many candidates are tested.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner
from sublearn.kernels.layout import BLOCK, TARGET_BITS, Array

CACHE = 262144  # codes a block may hold over all its columns: half of a usual second-level cache
SHORT = 192  # runs shorter than this are added up directly
FEW = 24  # bins up to which comparing with each boundary is faster than counting bin by bin
STRIDE = 192  # bins compared at a time; a byte holds their number
COUNT_SHIFT = 45  # a packed sum has the targets below this bit and the count above: 2^15 x 2^30 fits
PACKED_MASK = (1 << COUNT_SHIFT) - 1
EXACT_FLOAT32 = 1 << 22  # span x bins below this: float32 finds every bin exactly


class Block(NamedTuple):
    """Scratch space for a block: its columns and sample statistics, and the candidate under test."""

    rows: Array  # int16 (n_columns, n)
    weights: Array  # int64 (n,): weights, or targets and count packed in one number
    moments: Array  # int64 (n,): weight times target
    counts: Array  # int64 (n,)
    projected: Array  # int32 (n,)
    bins: Array  # uint8 (n,)
    lanes: Array  # int64 (4, n_bins): independent sums, so that additions do not wait for each other


@inner
def make_block(n_columns, n_bins, n_samples, samples):
    """Scratch space for blocks of nodes with at most n_samples samples."""
    weighted = samples.weights.size > 0 or samples.curvatures.size > 0
    regression = samples.n_classes == 0
    size = max(1024, min(BLOCK, CACHE // n_columns))
    size = min(size, max(n_samples, 1))
    n_weights = size if weighted or regression else 0
    n_moments = size if weighted and regression else 0
    n_counts = size if weighted else 0
    return Block(
        np.empty((n_columns, size), np.int16),
        np.empty(n_weights, np.int64),
        np.empty(n_moments, np.int64),
        np.empty(n_counts, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.uint8),
        np.empty((4, n_bins), np.int64),
    )


@inner
def gather_columns(codes, order, begin, n, features, block):
    """Copy the codes of `features` for the samples at positions begin to begin + n of the order."""
    for c in range(features.size):
        source = codes[features[c]]
        target = block.rows[c]
        for i in range(n):
            target[i] = source[order[begin + i]]


@inner
def gather_statistics(samples, order, begin, n, block):
    """Copy what is to be added up for the samples at positions begin to begin + n of the order."""
    weighted = samples.weights.size > 0
    curved = samples.curvatures.size > 0
    regression = samples.n_classes == 0
    if weighted or curved:
        for i in range(n):
            block.weights[i] = samples.weights[order[begin + i]] if weighted else 1
            block.counts[i] = samples.counts[order[begin + i]] if weighted else 1
        if regression:
            for i in range(n):
                block.moments[i] = block.weights[i] * np.int64(samples.targets[order[begin + i]])
        if curved:
            for i in range(n):
                block.weights[i] *= np.int64(samples.curvatures[order[begin + i]])
    elif regression:
        one = (np.int64(1) << COUNT_SHIFT) + (np.int64(1) << TARGET_BITS)
        for i in range(n):
            block.weights[i] = one + np.int64(samples.targets[order[begin + i]])


@inner
def project(rows, coefficients, n, out):
    """out = coefficients . rows, exactly; columns are taken four at a time to spare loads of `out`."""
    for i in range(n):
        out[i] = np.int32(0)
    d0 = d1 = d2 = -1  # columns that wait for a fourth
    for d in range(coefficients.size):
        if coefficients[d] == 0:
            continue
        if d0 < 0:
            d0 = d
        elif d1 < 0:
            d1 = d
        elif d2 < 0:
            d2 = d
        else:
            add_four(rows, coefficients, d0, d1, d2, d, n, out)
            d0 = d1 = d2 = -1
    if d1 >= 0:
        add_two(rows, coefficients, d0, d1, n, out)
        d0 = d2
    if d0 >= 0:
        add_one(rows, coefficients, d0, n, out)


@inner
def add_one(rows, coefficients, d, n, out):
    """Add a column times its coefficient to `out`."""
    a = np.int32(coefficients[d])
    for i in range(n):
        out[i] = np.int32(out[i] + np.int32(a * np.int32(rows[d, i])))


@inner
def add_two(rows, coefficients, d0, d1, n, out):
    """Add two columns times their coefficients to `out`."""
    a0 = np.int32(coefficients[d0])
    a1 = np.int32(coefficients[d1])
    for i in range(n):
        both = np.int32(a0 * np.int32(rows[d0, i])) + np.int32(a1 * np.int32(rows[d1, i]))
        out[i] = np.int32(out[i] + np.int32(both))


@inner
def add_four(rows, coefficients, d0, d1, d2, d3, n, out):
    """Add four columns times their coefficients to `out`."""
    a0 = np.int32(coefficients[d0])
    a1 = np.int32(coefficients[d1])
    a2 = np.int32(coefficients[d2])
    a3 = np.int32(coefficients[d3])
    for i in range(n):
        low = np.int32(a0 * np.int32(rows[d0, i])) + np.int32(a1 * np.int32(rows[d1, i]))
        high = np.int32(a2 * np.int32(rows[d2, i])) + np.int32(a3 * np.int32(rows[d3, i]))
        out[i] = np.int32(out[i] + np.int32(low) + np.int32(high))


@inner
def find_range(values, n):
    """Smallest and largest of the first n values."""
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    return low, high


@inner
def find_bins(values, n, low, high, n_bins, out):
    """Bin of each value when [low, high] is cut into equal widths: floor(n_bins (v - low) / (high - low)).

    Adding half before the division moves no value across a boundary and keeps rounding away from
    the boundaries, so both branches are exact. The largest value belongs to the last bin.
    """
    span = np.int64(high) - np.int64(low)
    last = np.int32(n_bins - 1)
    if span * n_bins < EXACT_FLOAT32:
        factor32 = np.float32(n_bins)
        inverse32 = np.float32(1.0) / np.float32(span)
        half32 = np.float32(0.5)
        for i in range(n):
            v = np.float32(np.int32(values[i] - low))
            out[i] = np.uint8(min(np.int32((v * factor32 + half32) * inverse32), last))
    else:
        factor = np.float64(n_bins)
        inverse = 1.0 / np.float64(span)
        for i in range(n):
            v = np.float64(np.int32(values[i] - low))
            out[i] = np.uint8(min(np.int32((v * factor + 0.5) * inverse), last))


@inner
def threshold_of(b, low, high, n_bins):
    """The smallest integer that falls into bin b."""
    span = np.int64(high) - np.int64(low)
    return np.int32(np.int64(low) + (b * span + n_bins - 1) // n_bins)


@inner
def add_up(block, runs, n_classes, begin, n, histogram):
    """Add the block's samples to histogram[bin, channel]; runs as in `Level`."""
    if n_classes == 0:
        if block.moments.size:
            for i in range(n):
                b = block.bins[i]
                histogram[b, 0] += block.weights[i]
                histogram[b, 1] += block.moments[i]
                histogram[b, 2] += block.counts[i]
        else:
            add_packed(block, n, histogram)
        return
    for k in range(n_classes):
        first = max(runs[k], begin) - begin
        last = min(runs[k + 1], begin + n) - begin
        if block.weights.size:
            for i in range(first, last):
                histogram[block.bins[i], k] += block.weights[i]
                histogram[block.bins[i], n_classes] += block.counts[i]
        elif last - first < SHORT:
            for i in range(first, last):
                histogram[block.bins[i], k] += 1
        elif histogram.shape[0] <= FEW:
            compare_ones(block.bins, first, last, k, histogram)
        else:
            add_ones(block, first, last, k, histogram)


@inner
def clear(sums):
    """Set a table to 0; a loop, since assigning to a slice takes Numba far longer to compile."""
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = 0


@inner
def count_from(bins, least):
    """How many of `STRIDE` bins are at least `least`; the fixed length and the byte sum make it a vector loop."""
    n = np.uint8(0)
    for i in range(STRIDE):
        n = np.uint8(n + np.uint8(bins[i] >= least))
    return np.int64(n)


@inner
def compare_ones(bins, first, last, channel, histogram):
    """Count the bins of positions first to last by comparing with each boundary; what is left over one by one."""
    whole = first + (last - first) // STRIDE * STRIDE
    above = np.int64(whole - first)
    n_bins = histogram.shape[0]
    for b in range(1, n_bins):
        least = np.uint8(b)
        n = np.int64(0)
        for i in range(first, whole, STRIDE):
            n += count_from(bins[i : i + STRIDE], least)
        histogram[b - 1, channel] += above - n
        above = n
    histogram[n_bins - 1, channel] += above
    for i in range(whole, last):
        histogram[bins[i], channel] += 1


@inner
def add_ones(block, first, last, channel, histogram):
    """Count the bins of positions first to last."""
    lanes = block.lanes
    bins = block.bins
    clear(lanes)
    whole = first + (last - first) // 4 * 4
    for i in range(first, whole, 4):
        lanes[0, bins[i]] += 1
        lanes[1, bins[i + 1]] += 1
        lanes[2, bins[i + 2]] += 1
        lanes[3, bins[i + 3]] += 1
    for i in range(whole, last):
        lanes[0, bins[i]] += 1
    for b in range(histogram.shape[0]):
        histogram[b, channel] += lanes[0, b] + lanes[1, b] + lanes[2, b] + lanes[3, b]


@inner
def add_packed(block, n, histogram):
    """Add up counts and targets, packed into one number a sample."""
    lanes = block.lanes
    bins = block.bins
    packed = block.weights
    clear(lanes)
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        lanes[0, bins[i]] += packed[i]
        lanes[1, bins[i + 1]] += packed[i + 1]
        lanes[2, bins[i + 2]] += packed[i + 2]
        lanes[3, bins[i + 3]] += packed[i + 3]
    for i in range(whole, n):
        lanes[0, bins[i]] += packed[i]
    for b in range(histogram.shape[0]):
        total = lanes[0, b] + lanes[1, b] + lanes[2, b] + lanes[3, b]
        count = total >> COUNT_SHIFT
        histogram[b, 0] += count
        histogram[b, 1] += (total & PACKED_MASK) - (count << TARGET_BITS)
