"""From values to codes, and from codes to leaves."""

import numpy as np

from sublearn.kernels.compilation import inner, kernel

MOMENT_BITS = 15  # values are rounded to this many bits of their range for mean and deviation
HALF_RANGE = 1 << (MOMENT_BITS - 1)
ROWS = 512  # samples that go through all trees together, while their codes are in the cache


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


@inner
def fill_leaves(codes, nodes, root, first, last, out):
    """out[j] = node in which the route of sample first + j ends: a leaf, or the last node before an unseen cell."""
    for i in range(first, last):
        node = root
        while nodes.first_child[node] >= 0:
            cell = 0
            begin = nodes.first_plane[node]
            for p in range(begin, nodes.first_plane[node + 1]):
                projected = np.int32(0)
                for t in range(nodes.first_term[p], nodes.first_term[p + 1]):
                    projected += np.int32(nodes.coefficient[t]) * np.int32(codes[nodes.feature[t], i])
                if projected >= nodes.threshold[p]:
                    cell |= 1 << (p - begin)
            child = nodes.children[nodes.first_child[node] + cell]
            if child < 0:
                break
            node = np.int64(child)
        out[i - first] = node


@kernel
def find_leaves(codes, nodes, roots, first, last, out):
    """Fill out[i, t] with the node of tree t, counted from its root, in which the route of sample i ends."""
    leaves = np.empty(ROWS, np.int64)
    for begin in range(first, last, ROWS):
        end = min(begin + ROWS, last)
        for t in range(roots.size):
            fill_leaves(codes, nodes, roots[t], begin, end, leaves)
            for i in range(begin, end):
                out[i, t] = leaves[i - begin] - roots[t]


@kernel
def add_values(codes, nodes, values, roots, first, last, out):
    """Add to out[i] the values of the nodes in which the routes of sample i end, tree by tree."""
    leaves = np.empty(ROWS, np.int64)
    for begin in range(first, last, ROWS):
        end = min(begin + ROWS, last)
        for t in range(roots.size):
            fill_leaves(codes, nodes, roots[t], begin, end, leaves)
            for i in range(begin, end):
                for k in range(values.shape[1]):
                    out[i, k] += values[leaves[i - begin], k]


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
