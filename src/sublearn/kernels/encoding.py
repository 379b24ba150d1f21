"""From values to codes, and the moments that the maps between them are chosen by."""

import numpy as np

from sublearn.kernels.compilation import bare_kernel, inner, kernel

MOMENT_BITS = 15  # values are rounded to this many bits of their range for mean and deviation
HALF_RANGE = 1 << (MOMENT_BITS - 1)
ROWS = 256  # samples encoded at a time


@inner
def encode_straight(x, f, v, maps, low, out):
    """Codes of feature f of x by view v, whose map has two knots."""
    unit = maps.units[v]
    gap = np.int16(maps.gaps[v])
    knot = maps.knots[low]
    slope = maps.slopes[low]
    first = np.float64(maps.levels[low])
    last = np.float64(maps.levels[low + 1])
    for i in range(out.size):
        level = slope * (x[i, f] * unit - knot) + (first + 0.5)
        code = np.int16(np.floor(min(max(level, first), last)))
        out[i] = code if x[i, f] == x[i, f] else gap


@inner
def encode_bent(x, f, v, maps, low, high, z, knot, out):
    """Codes of feature f of x by view v, whose map has knots low to high; `z` and `knot` are space.

    The last knot at or below a value is found by halves, for all samples in step: the loads of one sample then do not
    wait for those of another.
    """
    n = out.size
    unit = maps.units[v]
    gap = np.int16(maps.gaps[v])
    least = maps.knots[low]
    most = maps.knots[high]
    for i in range(n):
        z[i] = min(max(x[i, f] * unit, least), most)
        knot[i] = low
    left = high - low
    while left > 1:
        half = left // 2
        for i in range(n):
            middle = knot[i] + half
            knot[i] = middle if z[i] >= maps.knots[np.uint64(middle)] else knot[i]
        left -= half
    for i in range(n):
        k = np.uint64(knot[i])
        first = np.float64(maps.levels[k])
        last = np.float64(maps.levels[np.uint64(min(knot[i] + 1, high))])  # a constant feature has one knot
        level = maps.slopes[k] * (z[i] - maps.knots[k]) + (first + 0.5)
        code = np.int16(np.floor(min(max(level, first), last)))
        out[i] = code if x[i, f] == x[i, f] else gap


@inner
def encode_listed(x, f, v, maps, low, out):
    """Codes of feature f of x by view v, which has a code for each level 0, 1, 2 and so on."""
    gap = np.int16(maps.gaps[v])
    for i in range(out.size):
        out[i] = np.int16(maps.levels[low + np.int64(x[i, f])]) if x[i, f] == x[i, f] else gap


@kernel
def encode(x, maps, begin, out, first, last):
    """Write the codes of rows first to last of x, C-ordered float64, to out[:, begin + row], view by view.

    The map of a view of numbers is monotone and piecewise linear through knots and levels, and constant outside; one of
    categories lists a code for each level. What is missing has a code of its own.
    """
    knot = np.empty(ROWS, np.int64)
    z = np.empty(ROWS)
    for start in range(first, last, ROWS):
        end = min(start + ROWS, last)
        part = x[start:end]
        for v in range(maps.features.size):
            f = maps.features[v]
            low = maps.offsets[v]
            high = maps.offsets[v + 1] - 1
            codes = out[v, begin + start : begin + end]
            if maps.listed[v]:
                encode_listed(part, f, v, maps, low, codes)
            elif high - low == 1:
                encode_straight(part, f, v, maps, low, codes)
            else:
                encode_bent(part, f, v, maps, low, high, z, knot, codes)


@bare_kernel
def add_moments(x, weights, units, centres, factors, sums, spread):
    """Add weight, weight times value and weight times squared value, in fixed point, to sums (n_features, 3).

    Fixed-point values lie within HALF_RANGE of 0; spread (n_features, n_bins) gets the weights by equal parts of
    this range. What is missing adds nothing.
    """
    n_bins = spread.shape[1]
    for i in range(x.shape[0]):
        w = weights[i] if weights.size else np.int64(1)
        for f in range(x.shape[1]):
            if x[i, f] != x[i, f]:
                continue
            z = np.int64(np.floor((x[i, f] * units[f] - centres[f]) * factors[f] + 0.5))
            sums[f, 0] += w
            sums[f, 1] += w * z
            sums[f, 2] += w * z * z
            spread[f, min(((z + HALF_RANGE) * n_bins) >> MOMENT_BITS, n_bins - 1)] += w
