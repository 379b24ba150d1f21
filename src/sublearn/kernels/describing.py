"""What a node is: its sums, its loss, whether it is pure."""

import numpy as np

from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.criterion import ENTROPY, SECOND_ORDER, centre_of, purity, weight_of

HALF_BITS = 15  # deviations of targets are squared in two halves, so that sums fit 64 bits
HALF_MASK = (1 << HALF_BITS) - 1


@inner
def describe_classes(samples, order, runs, totals):
    """Fill the totals of a node from its class runs."""
    for k in range(samples.n_classes):
        if samples.weights.size:
            for p in range(runs[k], runs[k + 1]):
                totals[k] += samples.weights[order[p]]
                totals[samples.n_classes] += samples.counts[order[p]]
        else:
            totals[k] = runs[k + 1] - runs[k]


@inner
def describe_targets(samples, order, runs, totals):
    """Fill the totals of a node; returns (whether all samples are alike, sum of remainders)."""
    weighted = samples.weights.size > 0
    curved = samples.curvatures.size > 0
    first = order[runs[0]]
    alike = True
    remainder = np.int64(0)
    for p in range(runs[0], runs[-1]):
        s = order[p]
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


@inner
def variance(samples, order, runs, totals, centre):
    """Weighted variance of the targets, from exact sums of squares around a centre."""
    high_high = np.int64(0)
    high_low = np.int64(0)
    low_low = np.int64(0)
    for p in range(runs[0], runs[-1]):
        s = order[p]
        w = samples.weights[s] if samples.weights.size else np.int64(1)
        e = abs(np.int64(samples.targets[s]) - centre)
        high = e >> HALF_BITS
        low = e & HALF_MASK
        high_high += w * (high * high)
        high_low += w * (high * low)
        low_low += w * (low * low)
    step = np.float64(1 << HALF_BITS)
    square = (np.float64(high_high) * step + 2.0 * np.float64(high_low)) * step + np.float64(low_low)
    weight = np.float64(totals[0])
    shift = np.float64(totals[1] - centre * totals[0]) / weight
    return max(square / weight - shift * shift, 0.0)


@kernel
def describe_nodes(samples, order, runs, test, first_node, last_node, totals, remainders, losses, pure):
    """Fill what is known of each node.

    Losses of a regression are in squared target steps, those of boosting, -G^2 / (H + l2) / H, in squared ratios of
    target step and curvature step.
    """
    for i in range(first_node, last_node):
        for c in range(totals.shape[1]):
            totals[i, c] = 0
        if samples.n_classes > 0:
            describe_classes(samples, order, runs[i], totals[i])
            weight = weight_of(totals[i], samples.n_classes)
            gain = purity(totals[i], weight, samples.n_classes, np.int64(0), test) / np.float64(weight)
            losses[i] = max(-gain if test.criterion == ENTROPY else 1.0 - gain, 0.0)
            largest = np.int64(0)
            for k in range(samples.n_classes):
                largest = max(largest, totals[i, k])
            pure[i] = largest == weight
        else:
            pure[i], remainders[i] = describe_targets(samples, order, runs[i], totals[i])
            centre = centre_of(totals[i], test)
            if test.criterion == SECOND_ORDER:
                losses[i] = -purity(totals[i], totals[i, 0], 0, centre, test) / np.float64(totals[i, 0])
            else:
                losses[i] = variance(samples, order, runs[i], totals[i], centre)
