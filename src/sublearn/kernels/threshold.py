"""The best threshold of one projection, from its histogram.

A node of a few samples spends most of its time here, so the purities of `criterion` are written out: each sum is taken
once, and nothing is asked twice in a loop.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import ENTROPY, ROUNDING, centre_of, count_of, n_log_n, purity, weight_of
from sublearn.kernels.layout import Array


class Below(NamedTuple):
    """Space for sums below a boundary: of each class, or of numbers for each boundary."""

    classes: Array  # int64 (n_channels,)
    weights: Array  # int64 (n_bins,)
    counts: Array  # int64 (n_bins,)
    moments: Array  # int64 (n_bins,)
    values: Array  # float64 (n_bins,), what a split there would have


@inner
def find_threshold(histogram, totals, n_classes, test, below):
    """Best inner boundary: (loss decrease, bin); (0, 0) when no boundary serves.

    Boundaries with nothing between them split alike; the middle one of those is taken, for the widest margin.
    """
    if n_classes == 0:
        return find_target_threshold(histogram, totals, test, below)
    if n_classes == 2 and totals.size == 2 and test.criterion == ENTROPY and totals[0] + totals[1] < test.n_log_n.size:
        return find_binary_threshold(histogram, totals, test, below)
    return find_class_threshold(histogram, totals, n_classes, test, below)


@section
def find_target_threshold(histogram, totals, test, below):
    """Best boundary by the squared error, or by G^2 / (H + l2).

    Loops apart, since only the first one has to go bin by bin: the second, with its divisions, takes several at a time.
    """
    weighted = totals.size == 3
    centre = centre_of(totals, test)
    weight = totals[0]
    count = totals[2] if weighted else weight
    moment = totals[1] - centre * weight
    weights = below.weights
    counts = below.counts if weighted else below.weights
    moments = below.moments
    values = below.values
    n_bins = test.n_bins
    l2 = test.l2
    min_weight = test.min_weight
    min_count = test.min_count
    w = np.int64(0)
    m = np.int64(0)
    for b in range(1, n_bins):
        added = histogram[b - 1, 0]
        w += added
        m += histogram[b - 1, 1] - centre * added
        weights[b] = w
        moments[b] = m
    if weighted:
        n = np.int64(0)
        for b in range(1, n_bins):
            n += histogram[b - 1, 2]
            counts[b] = n
    for b in range(1, n_bins):
        w = weights[b]
        negative = np.float64(moments[b])
        positive = np.float64(moment - moments[b])
        value = negative * negative / (np.float64(w) + l2)
        value += positive * positive / (np.float64(weight - w) + l2)
        serves = min(w, weight - w) >= min_weight and min(counts[b], count - counts[b]) >= min_count
        values[b] = value if serves else -1.0
    start = purity(totals, weight, np.int64(0), centre, test)
    return best_boundary(start, start + start * ROUNDING, weight, weights, values, n_bins)


@section
def find_binary_threshold(histogram, totals, test, below):
    """Best boundary by the entropy of two classes, all terms of which are in the table."""
    table = test.n_log_n
    n_bins = test.n_bins
    weights = below.weights
    values = below.values
    least = max(test.min_weight, test.min_count)
    total0 = np.uint64(totals[0])  # unsigned: no index counts from the end
    total1 = np.uint64(totals[1])
    weight = total0 + total1
    x0 = np.uint64(0)
    x1 = np.uint64(0)
    for b in range(1, n_bins):
        x0 += np.uint64(histogram[b - 1, 0])
        x1 += np.uint64(histogram[b - 1, 1])
        w = x0 + x1
        negative = table[x0] + table[x1] - table[w]
        positive = table[total0 - x0] + table[total1 - x1] - table[weight - w]
        weights[b] = np.int64(w)
        serves = min(np.int64(w), np.int64(weight - w)) >= least
        values[b] = negative + positive if serves else -np.inf
    start = table[total0] + table[total1] - table[weight]
    return best_boundary(start, start, np.int64(weight), weights, values, n_bins)


@inner
def best_boundary(start, least, weight, weights, values, n_bins):
    """The boundary of the largest value above `least`, as `find_threshold` tells it."""
    best = least
    first_best = 0
    for b in range(1, n_bins):
        if values[b] > best:
            best = values[b]
            first_best = b
    if first_best == 0:
        return 0.0, 0
    last_best = first_best
    while last_best + 1 < n_bins and weights[last_best + 1] == weights[first_best]:
        last_best += 1
    return (best - start) / np.float64(weight), (first_best + last_best) // 2


@section
def find_class_threshold(histogram, totals, n_classes, test, below):
    """Best boundary by entropy or gini."""
    below_classes = below.classes
    table = test.n_log_n
    is_entropy = test.criterion == ENTROPY
    min_weight = test.min_weight
    min_count = test.min_count
    weighted = totals.size > n_classes
    weight = weight_of(totals, n_classes)
    count = count_of(totals, n_classes)
    start = purity(totals, weight, n_classes, np.int64(0), test)
    best = start
    first_best = 0
    last_best = 0
    w = np.int64(0)  # weight and count below the boundary
    n = np.int64(0)
    for k in range(n_classes):
        below_classes[k] = 0
    for b in range(1, test.n_bins):
        added = np.int64(0)
        for k in range(n_classes):
            below_classes[k] += histogram[b - 1, k]
            added += histogram[b - 1, k]
        if added == 0:
            if 0 < last_best == b - 1:
                last_best = b
            continue
        w += added
        n += histogram[b - 1, n_classes] if weighted else added
        if min(w, weight - w) < min_weight or min(n, count - n) < min_count:
            continue
        negative = 0.0
        positive = 0.0
        if is_entropy:
            for k in range(n_classes):
                negative += n_log_n(below_classes[k], table)
                positive += n_log_n(totals[k] - below_classes[k], table)
            negative -= n_log_n(w, table)
            positive -= n_log_n(weight - w, table)
        else:
            for k in range(n_classes):
                x = np.float64(below_classes[k])
                y = np.float64(totals[k] - below_classes[k])
                negative += x * x
                positive += y * y
            negative /= np.float64(w)
            positive /= np.float64(weight - w)
        if negative + positive > best:
            best = negative + positive
            first_best = b
            last_best = b
    return (best - start) / np.float64(weight), (first_best + last_best) // 2
