"""What a set of samples is worth: the loss of the paper, turned round so that it adds up over sets.

`purity` is minus weight times loss, up to a constant of the node, so the best split is the one with the largest sum
of purities, and (sum of purities - purity of the node) / weight is the loss decrease.
"""

import numpy as np

from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import inner

ENTROPY = 0
GINI = 1
SQUARED_ERROR = 2
SECOND_ORDER = 3

NOISE = 1e-10  # a decrease below this, in bits, in gini or in squared target steps, is rounding
ROUNDING = 1e-12  # and so is this share of a decrease or a loss


@inner
def n_log_n(n, table):
    """n log2 n, from the table where n is small."""
    if n < table.size:
        return table[np.uint64(n)]  # unsigned: no index counts from the end
    x = np.float64(n)
    return x * log2(x)


@inner
def n_kinds_of(samples, runs):
    """How many classes a node has runs of; 0 for regression."""
    return np.int64(runs.size - 1) if samples.n_classes > 0 else np.int64(0)


@inner
def weight_of(channels, n_classes):
    """Weight of a set: the sum over classes, or the first channel of a regression."""
    if n_classes == 0:
        return channels[0]
    total = np.int64(0)
    for k in range(n_classes):
        total += channels[k]
    return total


@inner
def count_of(channels, n_classes):
    """Number of samples of a set: the last channel when there are weights."""
    if n_classes == 0:
        return channels[2] if channels.size == 3 else channels[0]
    if channels.size > n_classes:
        return channels[n_classes]
    return weight_of(channels, n_classes)


@inner
def centre_of(channels, test):
    """Integer near the mean target; squared errors are taken around it to keep their digits."""
    if test.criterion != SQUARED_ERROR or channels[0] == 0:
        return np.int64(0)
    return np.int64(np.floor(np.float64(channels[1]) / np.float64(channels[0]) + 0.5))


@inner
def purity(channels, weight, n_classes, centre, test):
    """Minus weight times loss of a set of this positive weight, up to a constant; boosting: G^2 / (H + l2)."""
    if n_classes == 0:
        s = np.float64(channels[1] - centre * weight)
        return s * s / (np.float64(weight) + test.l2)
    total = 0.0
    if test.criterion == ENTROPY:
        for k in range(n_classes):
            total += n_log_n(channels[k], test.n_log_n)
        return total - n_log_n(weight, test.n_log_n)
    for k in range(n_classes):
        total += np.float64(channels[k]) * np.float64(channels[k])
    return total / np.float64(weight)


@inner
def noise_of(channels, weight, n_classes, test):
    """A loss decrease of a node that may be rounding. Boosting has no steps of which all differences are multiples."""
    if test.criterion == SECOND_ORDER:
        rounding = ROUNDING * purity(channels, weight, n_classes, np.int64(0), test)
        return max(rounding, test.min_gain) / np.float64(weight)
    return NOISE


@inner
def meets_minima(weight, count, test):
    """Whether a set is large enough to be a child."""
    return weight >= test.min_weight and count >= test.min_count
