"""Step 2, beyond the paper: pairs of features that explain a node's targets best by least squares.

Sums are integers, so threads and partitions may divide the samples. Targets are rounded to so few bits that their
products fit.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.columns import clear, gather_columns
from sublearn.kernels.compilation import inner
from sublearn.kernels.layout import CURVED_BITS, TARGET_BITS, Array
from sublearn.kernels.projection import FITTED

MOST_FEATURES = 16  # of a subspace, the best ones, whose pairs are looked at
FIT_BITS = 15  # of a target
ALIGNED = 1e-9  # a pair of which the sine, squared, is below this is one feature
SIGN = np.uint64(63)


class Fit(NamedTuple):
    """Scratch space for fits over m features."""

    sums: Array  # int64 (m + 2, m + 2): products of the features, the targets and ones, below the diagonal and on it
    moments: Array  # float64 (m + 1, m + 1), as `sums`, of features and targets around their means
    explained: Array  # float64 (m, m), by pairs, above the diagonal
    rows: Array  # int16 (2, block), targets and ones
    weights: Array  # int64 (block,), of samples; empty when every weight is one
    vectors: Array  # int16 (n_fitted, subspace_size)


@inner
def dot(x, y, n, weights):
    """Sum of the products of integers, times weights where there are any."""
    total = np.int64(0)
    if weights.size:
        for i in range(n):
            total += weights[i] * (np.int64(x[i]) * np.int64(y[i]))
    else:
        for i in range(n):
            total += np.int64(np.int32(x[i]) * np.int32(y[i]))
    return total


@inner
def take_targets(samples, order, runs, totals, kinds, key, begin, n, out):
    """What is to be explained, for the samples at positions begin to begin + n of the order.

    Classes, of which `kinds` has the numbers, are made two groups: of those in the node the first is in one, the second
    in the other, the rest by key.
    """
    if samples.n_classes == 0:
        shift = (CURVED_BITS if samples.curvatures.size else TARGET_BITS) - FIT_BITS
        targets = samples.targets
        for i in range(n):
            out[i] = np.int16(targets[np.uint32(order[begin + i])] >> shift)
        return
    n_seen = 0
    for k in range(kinds.size):
        if totals[k] > 0:
            positive = mix(mix(key, FITTED), kinds[k]) >> SIGN == 0 if n_seen > 1 else n_seen == 1
            n_seen += 1
            for i in range(max(runs[k], begin), min(runs[k + 1], begin + n)):
                out[i - begin] = 1 if positive else -1


@inner
def add_products(samples, order, runs, totals, kinds, key, begin, end, features, columns, loaded, block, fit):
    """Fill fit.sums from the samples at positions begin to end of a node.

    `loaded`: the block has these samples, and the features in `columns`.
    """
    m = fit.explained.shape[0]
    size = block.projected.size
    weights = fit.weights
    rows = block.rows
    own_rows = fit.rows
    sums = fit.sums
    clear(sums, sums.shape[1])
    for first in range(begin, end, size):
        n = min(size, end - first)
        if not loaded:
            gather_columns(samples.codes, order, first, n, features, block)
        take_targets(samples, order, runs, totals, kinds, key, first, n, own_rows[0])
        own_weights = samples.weights
        for i in range(min(n, weights.size)):
            weights[i] = own_weights[np.uint32(order[first + i])]
        for d in range(m + 2):
            x = rows[columns[d]] if d < m else own_rows[d - m]
            for e in range(d + 1):
                y = rows[columns[e]] if e < m else own_rows[e - m]
                sums[d, e] += dot(x, y, n, weights)


@inner
def explain(varies, fit):
    """Fill fit.moments and fit.explained: the part of the targets' square sum that each pair explains, or -1."""
    m = fit.explained.shape[0]
    sums = fit.sums
    moments = fit.moments
    explained = fit.explained
    for d in range(m + 1):
        mean = np.float64(sums[m + 1, d]) / np.float64(sums[m + 1, m + 1])
        for e in range(d + 1):
            moments[d, e] = np.float64(sums[d, e]) - mean * np.float64(sums[m + 1, e])
    for d in range(m):
        for e in range(d):
            a = moments[d, d]
            b = moments[e, e]
            c = moments[d, e]
            p = moments[m, d]
            q = moments[m, e]
            area = a * b - c * c
            explained[e, d] = -1.0
            if varies[d] and varies[e] and area > ALIGNED * a * b:
                explained[e, d] = (b * p * p - 2.0 * c * p * q + a * q * q) / area


@inner
def write_best(height, fit):
    """Write the best pairs to fit.vectors, the larger coefficient `height`, the other rounded; returns how many."""
    m = fit.explained.shape[0]
    moments = fit.moments
    n = np.int64(0)
    for _ in range(fit.vectors.shape[0]):
        first = 0
        second = 0
        best = 0.0
        for d in range(m):
            for e in range(d):
                if fit.explained[e, d] > best:
                    best = fit.explained[e, d]
                    first = e
                    second = d
        if best == 0.0:
            break
        fit.explained[first, second] = -1.0
        p = moments[m, first]
        q = moments[m, second]
        x = moments[second, second] * p - moments[second, first] * q
        y = moments[first, first] * q - moments[second, first] * p
        unit = height / max(abs(x), abs(y))
        for d in range(fit.vectors.shape[1]):
            fit.vectors[n, d] = 0
        fit.vectors[n, first] = np.int16(np.floor(x * unit + 0.5))
        fit.vectors[n, second] = np.int16(np.floor(y * unit + 0.5))
        n += 1
    return n


@inner
def solve_pairs(varies, height, fit):
    """Fill fit.vectors with the best pairs, by fit.sums; returns how many."""
    explain(varies, fit)
    return write_best(height, fit)
