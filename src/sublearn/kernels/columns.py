"""The inner loops over a block of samples: gather, project, find the range, put into bins, add up.

A block is at most `BLOCK` samples of one node, so that its columns stay in the cache while many candidates are tested.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.layout import TARGET_BITS, Array

CACHE = 262144  # codes a block may hold over all its columns: half of a usual second-level cache
SHORT = 192  # runs shorter than this are added up directly
FEW = 24  # bins up to which comparing with each boundary is faster than counting bin by bin
STRIDE = 192  # bins compared at a time; a byte holds their number
COUNT_SHIFT = 45  # of a packed number: the target below this bit and the count above; 2^15 x 2^30 fits
PACKED_MASK = (1 << COUNT_SHIFT) - 1
MOST_PACKED = 1024  # samples whose packed target, curvature and count can be added up without running into each other
CURVATURE_SHIFT = 27  # of a packed number with curvature: the target, with its sign, is below this bit
CURVED_SHIFT = 53  # of a packed number with curvature: the curvature is below this bit, the count above
EXACT_FLOAT32 = 1 << 22  # span x bins below this: float32 finds every bin exactly


class Block(NamedTuple):
    """Scratch space for a block: its columns and sample statistics, and the candidate under test."""

    rows: Array  # int16 (n_columns, n)
    weights: Array  # int64 (n,): weights, or all that is added up packed in one number
    moments: Array  # int64 (n,): weight times target
    counts: Array  # int64 (n,)
    projected: Array  # int32 (n,)
    bins: Array  # uint8 (n,)
    lanes: Array  # int64 (4, n_bins): independent sums, so that additions do not wait for each other


@inner
def gather_columns(codes, order, begin, n, features, block):
    """Copy the codes of `features` for the samples at positions begin to begin + n of the order.

    Samples are unsigned here and elsewhere: no index counts from the end then, and to check that takes half the time.
    """
    part = order[begin : begin + n]
    rows = block.rows
    for c in range(features.size):
        source = codes[features[c]]
        target = rows[c]
        for i in range(n):
            target[i] = source[np.uint32(part[i])]


@inner
def gather_statistics(samples, order, begin, n, block):
    """Copy what is to be added up for the samples at positions begin to begin + n of the order."""
    part = order[begin : begin + n]
    packed = samples.packed
    weights = block.weights
    if packed.size > 0:
        for i in range(n):
            weights[i] = packed[np.uint32(part[i])]
        return
    own_weights = samples.weights
    weighted = own_weights.size > 0
    if not weighted and samples.n_classes > 0:
        return
    counts = block.counts
    if weighted:
        own_counts = samples.counts
        for i in range(n):
            weights[i] = own_weights[np.uint32(part[i])]
            counts[i] = own_counts[np.uint32(part[i])]
    else:
        for i in range(n):
            weights[i] = 1
            counts[i] = 1
    if samples.n_classes == 0:
        moments = block.moments
        targets = samples.targets
        for i in range(n):
            moments[i] = weights[i] * np.int64(targets[np.uint32(part[i])])
    curvatures = samples.curvatures
    if curvatures.size > 0:
        for i in range(n):
            weights[i] *= np.int64(curvatures[np.uint32(part[i])])


@inner
def project(rows, columns, coefficients, n, out):
    """out = sum of coefficients[d] . rows[columns[d]], exactly; up to four at a time, to spare loads of `out`."""
    d0 = d1 = d2 = np.int64(-1)  # places that wait for others
    fresh = np.bool_(True)
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
            put_two(rows, columns, coefficients, d0, d1, fresh, n, out)
            fresh = np.bool_(False)
            put_two(rows, columns, coefficients, d2, d, fresh, n, out)
            d0 = d1 = d2 = np.int64(-1)
    if d1 >= 0:
        put_two(rows, columns, coefficients, d0, d1, fresh, n, out)
        fresh = np.bool_(False)
        d0 = d2
    if d0 >= 0 or fresh:
        put_one(rows, columns, coefficients, max(d0, 0), fresh, n, out)


@inner
def put_one(rows, columns, coefficients, d, fresh, n, out):
    """Write a column times its coefficient to `out`, or add it."""
    a = np.int32(coefficients[d])
    c = columns[d]
    if fresh:
        for i in range(n):
            out[i] = np.int32(a * np.int32(rows[c, i]))
    else:
        for i in range(n):
            out[i] = np.int32(out[i] + np.int32(a * np.int32(rows[c, i])))


@inner
def put_two(rows, columns, coefficients, d0, d1, fresh, n, out):
    """Write two columns times their coefficients to `out`, or add them."""
    a0 = np.int32(coefficients[d0])
    a1 = np.int32(coefficients[d1])
    c0 = columns[d0]
    c1 = columns[d1]
    if fresh:
        for i in range(n):
            out[i] = np.int32(np.int32(a0 * np.int32(rows[c0, i])) + np.int32(a1 * np.int32(rows[c1, i])))
    else:
        for i in range(n):
            both = np.int32(a0 * np.int32(rows[c0, i])) + np.int32(a1 * np.int32(rows[c1, i]))
            out[i] = np.int32(out[i] + np.int32(both))


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
    the boundaries, so both branches are exact. The largest value belongs to the last bin, and values outside go to the
    nearest.
    """
    span = np.int64(high) - np.int64(low)
    if span * n_bins < EXACT_FLOAT32:
        factor32 = np.float32(n_bins)
        inverse32 = np.float32(1.0) / np.float32(span)
        half32 = np.float32(0.5)
        last32 = np.float32(n_bins - 1)
        for i in range(n):
            v = np.float32(np.int32(values[i] - low))
            out[i] = np.uint8(np.int32(max(min((v * factor32 + half32) * inverse32, last32), np.float32(0.0))))
    else:
        factor = np.float64(n_bins)
        inverse = 1.0 / np.float64(span)
        last = np.float64(n_bins - 1)
        for i in range(n):
            v = np.float64(np.int32(values[i] - low))
            out[i] = np.uint8(np.int32(max(min((v * factor + 0.5) * inverse, last), 0.0)))


@inner
def threshold_of(b, low, high, n_bins):
    """The smallest integer that falls into bin b."""
    span = np.int64(high) - np.int64(low)
    return np.int32(np.int64(low) + (b * span + n_bins - 1) // n_bins)


@inner
def add_up(block, runs, n_classes, begin, n, histogram):
    """Add the block's samples to histogram[bin, channel]; runs as in `Node`."""
    bins = block.bins
    weights = block.weights
    if n_classes == 0:
        moments = block.moments
        counts = block.counts
        if moments.size:
            for i in range(n):
                b = bins[i]
                histogram[b, 0] += weights[i]
                histogram[b, 1] += moments[i]
                histogram[b, 2] += counts[i]
        elif histogram.shape[1] == 3:
            add_curved(block, n, histogram)
        else:
            add_packed(block, n, histogram)
        return
    for k in range(n_classes):
        first = max(runs[k], begin) - begin
        last = min(runs[k + 1], begin + n) - begin
        if weights.size:
            counts = block.counts
            for i in range(first, last):
                histogram[bins[i], k] += weights[i]
                histogram[bins[i], n_classes] += counts[i]
        elif last - first < SHORT:
            for i in range(first, last):
                histogram[bins[i], k] += 1
        elif histogram.shape[0] <= FEW:
            compare_ones(bins, first, last, k, histogram)
        else:
            add_ones(block, first, last, k, histogram)


@inner
def clear(sums, width):
    """Set the first columns of a table to 0; a loop, since assigning to a slice takes Numba far longer to compile."""
    for i in range(sums.shape[0]):
        for j in range(width):
            sums[i, j] = 0


@inner
def count_from(bins, least):
    """How many of `STRIDE` bins are at least `least`; the fixed length and the byte sum make it a vector loop."""
    n = np.uint8(0)
    for i in range(STRIDE):
        n = np.uint8(n + np.uint8(bins[i] >= least))
    return np.int64(n)


@section
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


@section
def add_ones(block, first, last, channel, histogram):
    """Count the bins of positions first to last."""
    lanes = block.lanes
    bins = block.bins
    clear(lanes, lanes.shape[1])
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
def add_lanes(bins, packed, begin, end, lanes):
    """Add packed numbers of positions begin to end up by bin, in four lanes."""
    clear(lanes, lanes.shape[1])
    whole = begin + (end - begin) // 4 * 4
    for i in range(np.uint64(begin), np.uint64(whole), np.uint64(4)):  # unsigned: no index counts from the end
        lanes[0, bins[i]] += packed[i]
        lanes[1, bins[i + np.uint64(1)]] += packed[i + np.uint64(1)]
        lanes[2, bins[i + np.uint64(2)]] += packed[i + np.uint64(2)]
        lanes[3, bins[i + np.uint64(3)]] += packed[i + np.uint64(3)]
    for i in range(whole, end):
        lanes[0, bins[i]] += packed[i]


@section
def add_curved(block, n, histogram):
    """Add up counts, curvatures and targets, packed into one number a sample."""
    lanes = block.lanes
    sign = np.int64(1) << (CURVATURE_SHIFT - 1)
    for begin in range(0, n, MOST_PACKED):
        add_lanes(block.bins, block.weights, begin, min(begin + MOST_PACKED, n), lanes)
        for b in range(histogram.shape[0]):
            total = lanes[0, b] + lanes[1, b] + lanes[2, b] + lanes[3, b]
            target = ((total & (2 * sign - 1)) ^ sign) - sign
            rest = (total - target) >> CURVATURE_SHIFT
            histogram[b, 0] += rest & ((np.int64(1) << (CURVED_SHIFT - CURVATURE_SHIFT)) - 1)
            histogram[b, 1] += target
            histogram[b, 2] += (rest >> (CURVED_SHIFT - CURVATURE_SHIFT)) & (2 * MOST_PACKED - 1)


@section
def add_packed(block, n, histogram):
    """Add up counts and targets, packed into one number a sample."""
    lanes = block.lanes
    add_lanes(block.bins, block.weights, np.int64(0), n, lanes)
    for b in range(histogram.shape[0]):
        total = lanes[0, b] + lanes[1, b] + lanes[2, b] + lanes[3, b]
        count = total >> COUNT_SHIFT
        histogram[b, 0] += count
        histogram[b, 1] += (total & PACKED_MASK) - (count << TARGET_BITS)
