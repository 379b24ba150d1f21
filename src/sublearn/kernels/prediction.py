"""From values to codes, and from codes to leaves."""

import numpy as np

from sublearn.kernels.compilation import inner, kernel


@inner
def encode_value(x, unit, knots, levels, slopes):
    """Code of one value: a monotone piecewise-linear map through (knots, levels), constant outside."""
    z = x * unit
    last = knots.size - 1
    if last == 0 or z <= knots[0]:
        return levels[0]
    if z >= knots[last]:
        return levels[last]
    low = 0
    high = last
    while high - low > 1:
        middle = (low + high) // 2
        if z >= knots[middle]:
            low = middle
        else:
            high = middle
    level = np.int64(np.floor(slopes[low] * (z - knots[low]) + (np.float64(levels[low]) + 0.5)))
    return max(levels[low], min(level, levels[high]))


@kernel
def encode(x, maps, first, last, begin, out):
    """Write the codes of rows first to last of x, C-ordered float64, to out[:, begin + row]."""
    for i in range(first, last):
        for f in range(x.shape[1]):
            a = maps.offsets[f]
            b = maps.offsets[f + 1]
            code = encode_value(x[i, f], maps.units[f], maps.knots[a:b], maps.levels[a:b], maps.slopes[a:b])
            out[f, begin + i] = np.int16(code)


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

    Fixed-point values lie within 2^14 of 0; spread (n_features, n_bins) gets the weights by equal parts of this range.
    """
    n_bins = spread.shape[1]
    for i in range(x.shape[0]):
        w = weights[i] if weights.size else np.int64(1)
        for f in range(x.shape[1]):
            z = np.int64(np.floor((x[i, f] * units[f] - centres[f]) * factors[f] + 0.5))
            sums[f, 0] += w * z
            sums[f, 1] += w * z * z
            spread[f, min(((z + (1 << 14)) * n_bins) >> 15, n_bins - 1)] += w
