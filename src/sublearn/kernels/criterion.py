"""The loss of the paper, turned round into a purity that adds up over sets; and sums, loss and purity of a node.

`purity` is minus weight times loss, up to a constant of the node, so the best split is the one with the largest sum
of purities, and (sum of purities - purity of the node) / weight is the loss decrease.
"""

import numpy as np

from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import inner, kernel, section

ENTROPY = 0
GINI = 1
SQUARED_ERROR = 2
SECOND_ORDER = 3

NOISE = 1e-10  # a loss decrease below this, in bits, in gini or in squared target steps, is rounding
ROUNDING = 1e-12  # a difference between two losses or decreases below this share of them is rounding
HALF_BITS = 15  # deviations of targets are squared in two halves, so that sums fit 64 bits
HALF_MASK = (1 << HALF_BITS) - 1


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
    """The largest loss decrease of a node that may be rounding, or that boosting's min_gain does not accept.

    Boosting, whose sums have no common unit, takes a share of the node's purity for rounding.
    """
    if test.criterion == SECOND_ORDER:
        rounding = ROUNDING * purity(channels, weight, n_classes, np.int64(0), test)
        return max(rounding, test.min_gain) / np.float64(weight)
    return NOISE


@inner
def meets_minima(weight, count, test):
    """Whether a set is large enough to be a child."""
    return weight >= test.min_weight and count >= test.min_count


@section
def describe_classes(samples, order, runs, totals):
    """Fill the totals of a node from its class runs."""
    n_kinds = runs.size - 1
    for k in range(n_kinds):
        if samples.weights.size:
            for p in range(runs[k], runs[k + 1]):
                totals[k] += samples.weights[np.uint32(order[p])]
                totals[n_kinds] += samples.counts[np.uint32(order[p])]
        else:
            totals[k] = runs[k + 1] - runs[k]


@section
def describe_targets(samples, order, runs, totals):
    """Fill the totals of a node; returns (whether all samples are alike, sum of remainders)."""
    weighted = samples.weights.size > 0
    curved = samples.curvatures.size > 0
    first = np.uint32(order[runs[0]])
    alike = True
    remainder = np.int64(0)
    for p in range(runs[0], runs[-1]):
        s = np.uint32(order[p])
        w = samples.weights[s] if weighted else np.int64(1)
        alike = alike and samples.targets[s] == samples.targets[first]
        totals[1] += w * np.int64(samples.targets[s])
        if samples.remainders.size:
            remainder += w * np.int64(samples.remainders[s])
        if curved:
            alike = alike and samples.curvatures[s] == samples.curvatures[first]
            totals[0] += w * np.int64(samples.curvatures[s])
        else:
            totals[0] += w
        if weighted or curved:
            totals[2] += samples.counts[s] if weighted else 1
    return alike, remainder


@section
def variance(samples, order, runs, totals, centre):
    """Weighted variance of the targets, from exact sums of squares around a centre."""
    high_high = np.int64(0)
    high_low = np.int64(0)
    low_low = np.int64(0)
    for p in range(runs[0], runs[-1]):
        s = np.uint32(order[p])
        w = samples.weights[s] if samples.weights.size else np.int64(1)
        e = abs(np.int64(samples.targets[s]) - centre)
        high = e >> HALF_BITS
        low = e & HALF_MASK
        high_high += w * (high * high)
        high_low += w * (high * low)
        low_low += w * (low * low)
    return spread_of(totals, centre, high_high, high_low, low_low)


@inner
def spread_of(totals, centre, high_high, high_low, low_low):
    """Weighted variance of the targets from sums around a centre: of squares of halves, and of their products."""
    step = np.float64(1 << HALF_BITS)
    square = (np.float64(high_high) * step + 2.0 * np.float64(high_low)) * step + np.float64(low_low)
    weight = np.float64(totals[0])
    shift = np.float64(totals[1] - centre * totals[0]) / weight
    return max(square / weight - shift * shift, 0.0)


@inner
def describe_node(samples, order, runs, test, totals):
    """Fill the totals of a node; returns (sum of remainders, loss, whether it is pure).

    Losses of a regression are in squared target steps, those of boosting, -G^2 / (H + l2) / H, in squared ratios of
    target step and curvature step; no node of boosting is taken for pure.
    """
    for c in range(totals.size):
        totals[c] = 0
    if samples.n_classes > 0:
        describe_classes(samples, order, runs, totals)
        loss, pure = class_loss(n_kinds_of(samples, runs), test, totals)
        return np.int64(0), loss, pure
    alike, remainder = describe_targets(samples, order, runs, totals)
    if test.criterion == SECOND_ORDER:
        return remainder, newton_loss(test, totals), False
    return remainder, variance(samples, order, runs, totals, centre_of(totals, test)), alike


@section
def class_loss(n_classes, test, totals):
    """Loss of a node of classes, and whether it is pure."""
    weight = weight_of(totals, n_classes)
    gain = purity(totals, weight, n_classes, np.int64(0), test) / np.float64(weight)
    largest = np.int64(0)
    for k in range(n_classes):
        largest = max(largest, totals[k])
    return max(-gain if test.criterion == ENTROPY else 1.0 - gain, 0.0), largest == weight


@inner
def newton_loss(test, totals):
    """Loss of a node of boosting: -G^2 / (H + l2) / H."""
    return -purity(totals, totals[0], np.int64(0), np.int64(0), test) / np.float64(totals[0])


@kernel
def describe_nodes(samples, order, runs, test, first_node, last_node, totals, remainders, losses, pure):
    """Fill sums, remainders, losses and purity of nodes first_node to last_node."""
    for i in range(first_node, last_node):
        remainders[i], losses[i], pure[i] = describe_node(samples, order, runs[i], test, totals[i])
