"""From values to codes, and from codes to leaves."""

import numpy as np

from sublearn.kernels.compilation import inner, kernel

MOMENT_BITS = 15  # values are rounded to this many bits of their range for mean and deviation
HALF_RANGE = 1 << (MOMENT_BITS - 1)


@inner
def encode_value(x, maps, f):
    """Code of one value: a monotone piecewise-linear map through knots and levels, constant outside."""
    low = maps.offsets[f]
    high = maps.offsets[f + 1] - 1
    z = x * maps.units[f]
    if z <= maps.knots[low]:
        return maps.levels[low]
    if z >= maps.knots[high]:
        return maps.levels[high]
    while high - low > 1:
        middle = (low + high) // 2
        if z >= maps.knots[middle]:
            low = middle
        else:
            high = middle
    level = np.int64(np.floor(maps.slopes[low] * (z - maps.knots[low]) + (np.float64(maps.levels[low]) + 0.5)))
    return max(maps.levels[low], min(level, maps.levels[high]))


@kernel
def encode(x, maps, begin, out, first, last):
    """Write the codes of rows first to last of x, C-ordered float64, to out[:, begin + row]."""
    for i in range(first, last):
        for f in range(x.shape[1]):
            out[f, begin + i] = np.int16(encode_value(x[i, f], maps, f))


@kernel
def find_leaves(codes, tree, first, last, out):
    """Node in which each sample's route ends: a leaf, or the last node before an unseen cell."""
    for i in range(first, last):
        node = 0
        while tree.first_child[node] >= 0:
            cell = 0
            begin = tree.first_plane[node]
            for p in range(begin, tree.first_plane[node + 1]):
                projected = np.int32(0)
                for t in range(tree.first_term[p], tree.first_term[p + 1]):
                    projected += np.int32(tree.coefficient[t]) * np.int32(codes[tree.feature[t], i])
                if projected >= tree.threshold[p]:
                    cell |= 1 << (p - begin)
            child = tree.children[tree.first_child[node] + cell]
            if child < 0:
                break
            node = child
        out[i] = node


@kernel
def add_moments(x, weights, units, centres, factors, sums, spread):
    """Add weight times value and weight times squared value, in fixed point, to sums (n_features, 2).

    Fixed-point values lie within HALF_RANGE of 0; spread (n_features, n_bins) gets the weights by equal parts of
    this range.
    """
    n_bins = spread.shape[1]
    for i in range(x.shape[0]):
        w = weights[i] if weights.size else np.int64(1)
        for f in range(x.shape[1]):
            z = np.int64(np.floor((x[i, f] * units[f] - centres[f]) * factors[f] + 0.5))
            sums[f, 0] += w * z
            sums[f, 1] += w * z * z
            spread[f, min(((z + HALF_RANGE) * n_bins) >> MOMENT_BITS, n_bins - 1)] += w
