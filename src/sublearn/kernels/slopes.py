"""Linear models in leaves: which features they use, sums of squares and products, and their coefficients.

All sums are of integers, so that they depend neither on the order of samples nor on threads. A code counts from the
middle of its leaf's range, in steps of at most a 2^SPREAD_BITS-th of half of it.
"""

import numpy as np

from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.derivatives import first_from, rounded
from sublearn.kernels.prediction import ROWS, TREES, take_rows, walk, walk_trees

SPREAD_BITS = 10
SINGULAR = 1e-9  # share of a feature's squares that the features before it must leave for it to have a slope


@bare_kernel
def find_views(parent, first_plane, first_term, feature, leaves, out):
    """Fill out (n_leaves, most) with the views of the hyperplanes above each leaf, the nearest first; -1: no more."""
    for j in range(leaves.size):
        n = 0
        node = parent[leaves[j]]
        while node >= 0 and n < out.shape[1]:
            for p in range(first_plane[node], first_plane[node + 1]):
                for t in range(first_term[p], first_term[p + 1]):
                    known = n == out.shape[1]
                    for m in range(n):
                        known |= out[j, m] == feature[t]
                    if not known:
                        out[j, n] = feature[t]
                        n += 1
            node = parent[node]
        out[j, n:] = -1


@bare_kernel
def find_ranges(order, places, codes, views, first, last, low, high):
    """Widen low and high (n_leaves, most) to the codes of those of rows first to last that are in each leaf."""
    for j in range(places.shape[0]):
        begin = first_from(order, places[j, 0], places[j, 1], first)
        part = order[begin : first_from(order, begin, places[j, 1], last)]
        for m in range(views.shape[1]):
            if views[j, m] < 0:
                break
            column = codes[views[j, m]]
            for p in range(part.size):
                code = column[np.uint32(part[p])]
                low[j, m] = min(low[j, m], code)
                high[j, m] = max(high[j, m], code)


@inner
def middle_of(low, high):
    """The middle of a range of codes."""
    return (np.int64(low) + np.int64(high)) >> 1


@inner
def shift_of(low, high):
    """Bits of a code that are left out, so that codes from the middle of their range have `SPREAD_BITS`."""
    shift = 0
    while (np.int64(high) - np.int64(low)) >> (1 + shift) >= 1 << SPREAD_BITS:
        shift += 1
    return shift


@inner
def count_views(views):
    """How many views a leaf uses."""
    n = 0
    while n < views.size and views[n] >= 0:
        n += 1
    return n


@bare_kernel
def sum_moments(order, places, codes, views, ranges, slopes, weights, steps, first, last, scratch, out):
    """Add up what the linear models of leaves need, of those of rows first to last that are in each leaf.

    ranges (2, n_leaves, most): lowest and highest codes. slopes: gradients and hessians, the latter 1 where there are
    none; steps (n_outputs, 2): what integers of them stand for. scratch: int64 (3, most + 1).
    out (n_leaves, n_outputs, most + 1, most + 2): row a has the sums of h x_a x_b for b up to a, and at its end that of
    -g x_a, where x_0 is 1 and x_1 is of the first view.
    """
    gradient, hessian = slopes
    x, middle, shift = scratch
    end = out.shape[3] - 1
    for j in range(places.shape[0]):
        begin = first_from(order, places[j, 0], places[j, 1], first)
        part = order[begin : first_from(order, begin, places[j, 1], last)]
        n = count_views(views[j])
        for m in range(n):
            middle[m + 1] = middle_of(ranges[0, j, m], ranges[1, j, m])
            shift[m + 1] = shift_of(ranges[0, j, m], ranges[1, j, m])
        x[0] = 1
        for p in range(part.size):
            i = np.uint32(part[p])
            for m in range(1, n + 1):
                half = (np.int64(1) << shift[m]) >> 1
                x[m] = (np.int64(codes[views[j, m - 1], i]) - middle[m] + half) >> shift[m]
            w = weights[i] if weights.size else np.int64(1)
            for k in range(gradient.shape[1]):
                g = w * np.int64(rounded(gradient[i, k] * (-1.0 / steps[k, 0])))
                h = w * (max(np.int64(rounded(hessian[i, k] * (1.0 / steps[k, 1]))), 1) if hessian.size else 1)
                sums = out[j, k]
                for a in range(n + 1):
                    row = sums[a]
                    hx = h * x[a]
                    for b in range(a + 1):
                        row[b] += hx * x[b]
                    row[end] += g * x[a]


@bare_kernel
def solve_slopes(moments, views, ranges, units, penalty, scratch, slope, mean, credit):
    """Fill slopes and means (n_leaves, most, n_outputs) of the leaves' linear models.

    They are those of least squares about the means, with a penalty on squared slopes. units (n_outputs, 2): what the
    integers of `moments` stand for. credit (n_leaves, most): what each view takes from the loss, in the units of
    squared gradients over hessians, all outputs together. scratch (most, most + 1).
    """
    end = moments.shape[3] - 1
    right = scratch.shape[1] - 1
    for j in range(views.shape[0]):
        n = count_views(views[j])
        for k in range(moments.shape[1]):
            sums = moments[j, k]
            total = np.float64(sums[0, 0])
            for a in range(n):
                width = np.float64(np.int64(1) << shift_of(ranges[0, j, a], ranges[1, j, a]))
                share = sums[a + 1, 0] / total
                mean[j, a, k] = middle_of(ranges[0, j, a], ranges[1, j, a]) + width * share
                for b in range(a + 1):
                    other = np.float64(np.int64(1) << shift_of(ranges[0, j, b], ranges[1, j, b]))
                    scratch[a, b] = (sums[a + 1, b + 1] - sums[b + 1, 0] * share) * (units[k, 1] * width * other)
                scratch[a, a] += penalty
                scratch[a, right] = (sums[a + 1, end] - sums[0, end] * share) * (units[k, 0] * width)
            solve(scratch, n, slope[j, :, k])
            for a in range(n):
                credit[j, a] += max(slope[j, a, k] * scratch[a, right], 0.0)


@inner
def solve(table, n, out):
    """Solve n equations of a symmetric matrix: table[a, : a + 1] is half of row a, the last column the right side.

    The matrix is replaced by its decomposition L D L^T. An unknown that those before it leave nothing to is 0.
    """
    right = table.shape[1] - 1
    for a in range(n):
        squares = table[a, a]
        for b in range(a):
            product = table[a, b]
            for c in range(b):
                product -= table[a, c] * table[b, c] * table[c, c]
            table[a, b] = product / table[b, b] if table[b, b] > 0.0 else 0.0
        for b in range(a):
            table[a, a] -= table[a, b] * table[a, b] * table[b, b]
        if table[a, a] <= SINGULAR * squares:
            table[a, a] = 0.0
    for a in range(n):
        out[a] = table[a, right]
        for b in range(a):
            out[a] -= table[a, b] * out[b]
    for a in range(n):
        out[a] = out[a] / table[a, a] if table[a, a] > 0.0 else 0.0
    for a in range(n - 1, -1, -1):
        for b in range(a + 1, n):
            out[a] -= table[b, a] * out[b]


@inner
def answer_of(values, slopes, node, k, codes, place, step):
    """What a node answers for output k; view v of the sample has its code at codes[place + v * step]."""
    answer = values[node, k]
    for s in range(slopes.first[node], slopes.first[node + 1]):
        code = min(max(np.float64(codes[place + slopes.feature[s] * step]), slopes.low[s]), slopes.high[s])
        answer += slopes.slope[s, k] * (code - slopes.mean[s, k])
    return answer


@bare_kernel
def add_answers_of(order, places, nodes, values, slopes, codes, first, last, raw):
    """Add what nodes answer to raw of those of rows first to last that are in each of them; codes are flat."""
    n = raw.shape[0]
    for j in range(places.shape[0]):
        begin = first_from(order, places[j, 0], places[j, 1], first)
        part = order[begin : first_from(order, begin, places[j, 1], last)]
        for p in range(part.size):
            for k in range(raw.shape[1]):
                raw[part[p], k] += answer_of(values, slopes, nodes[j], k, codes, np.int64(part[p]), n)


@bare_kernel
def add_answers(routes, values, slopes, codes, first, last, rows, out):
    """Add to out[i] what the nodes in which the routes of sample i end answer, tree by tree."""
    n_trees = routes.depths.size
    if last - first == 1:
        take_rows(codes, first, 1, rows.codes)
        for t in range(0, n_trees, TREES):
            n = min(TREES, n_trees - t)
            walk_trees(rows, routes, t, n)
            for j in range(n):
                node = routes.answers[rows.at[j]]
                for k in range(values.shape[1]):
                    out[first, k] += answer_of(values, slopes, node, k, rows.codes, 0, ROWS)
        return
    for begin in range(first, last, ROWS):
        n = min(ROWS, last - begin)
        take_rows(codes, begin, n, rows.codes)
        for t in range(routes.depths.size):
            walk(rows, routes, t, n)
            for i in range(n):
                node = routes.answers[rows.at[i]]
                for k in range(values.shape[1]):
                    out[begin + i, k] += answer_of(values, slopes, node, k, rows.codes, i, ROWS)
