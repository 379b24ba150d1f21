"""The best threshold of one projection, from its histogram.

A node of a few samples spends most of its time here, so the purities of `criterion` are written out: each sum is taken
once, and nothing is asked twice in a loop.
"""

import numpy as np

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import ENTROPY, ROUNDING, centre_of, count_of, n_log_n, purity, weight_of


@inner
def find_threshold(histogram, totals, n_classes, test, below):
    """Best inner boundary: (loss decrease, bin); (0, 0) when no boundary serves.

    Boundaries with nothing between them split alike; the middle one of those is taken, for the widest margin.
    """
    if n_classes == 0:
        return find_target_threshold(histogram, totals, test)
    return find_class_threshold(histogram, totals, n_classes, test, below)


@section
def find_target_threshold(histogram, totals, test):
    """Best boundary by the squared error, or by G^2 / (H + l2)."""
    weighted = totals.size == 3
    centre = centre_of(totals, test)
    weight = totals[0]
    count = totals[2] if weighted else weight
    moment = totals[1] - centre * weight
    start = purity(totals, weight, np.int64(0), centre, test)
    best = start + start * ROUNDING
    first_best = 0
    last_best = 0
    w = np.int64(0)  # weight, count and moment below the boundary
    n = np.int64(0)
    m = np.int64(0)
    for b in range(1, test.n_bins):
        added = histogram[b - 1, 0]
        if added == 0:
            if 0 < last_best == b - 1:
                last_best = b
            continue
        w += added
        n += histogram[b - 1, 2] if weighted else added
        m += histogram[b - 1, 1] - centre * added
        if min(w, weight - w) < test.min_weight or min(n, count - n) < test.min_count:
            continue
        negative = np.float64(m)
        positive = np.float64(moment - m)
        value = negative * negative / (np.float64(w) + test.l2)
        value += positive * positive / (np.float64(weight - w) + test.l2)
        if value > best:
            best = value
            first_best = b
            last_best = b
    if first_best == 0:
        return 0.0, 0
    return (best - start) / np.float64(weight), (first_best + last_best) // 2


@section
def find_class_threshold(histogram, totals, n_classes, test, below):
    """Best boundary by entropy or gini; `below` is scratch space for the sums below the boundary."""
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
        below[k] = 0
    for b in range(1, test.n_bins):
        added = np.int64(0)
        for k in range(n_classes):
            below[k] += histogram[b - 1, k]
            added += histogram[b - 1, k]
        if added == 0:
            if 0 < last_best == b - 1:
                last_best = b
            continue
        w += added
        n += histogram[b - 1, n_classes] if weighted else added
        if min(w, weight - w) < test.min_weight or min(n, count - n) < test.min_count:
            continue
        negative = 0.0
        positive = 0.0
        if test.criterion == ENTROPY:
            for k in range(n_classes):
                negative += n_log_n(below[k], test.n_log_n)
                positive += n_log_n(totals[k] - below[k], test.n_log_n)
            negative -= n_log_n(w, test.n_log_n)
            positive -= n_log_n(weight - w, test.n_log_n)
        else:
            for k in range(n_classes):
                x = np.float64(below[k])
                y = np.float64(totals[k] - below[k])
                negative += x * x
                positive += y * y
            negative /= np.float64(w)
            positive /= np.float64(weight - w)
        if negative + positive > best:
            best = negative + positive
            first_best = b
            last_best = b
    return (best - start) / np.float64(weight), (first_best + last_best) // 2
