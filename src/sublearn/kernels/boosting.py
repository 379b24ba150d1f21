"""What boosting does with every sample: derivatives as integers, sums in leaves, steps."""

import numpy as np

from sublearn.kernels.arithmetic import ROUNDER
from sublearn.kernels.columns import COUNT_SHIFT, CURVATURE_SHIFT, CURVED_SHIFT
from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.layout import CURVED_BITS, TARGET_BITS

MOST = (1 << CURVED_BITS) - 1


@inner
def rounded(x):
    """The nearest integer to a number below 2^51, as a float."""
    return (x + ROUNDER) - ROUNDER


@kernel
def round_derivatives(gradient, hessian, target_step, curvature_step, first, last, targets, curvatures, packed):
    """Fill `Samples` of boosting for samples first to last; without hessians there are no curvatures.

    Steps are powers of two, so divisions by them are exact.
    """
    down = -1.0 / target_step
    up = 1.0 / curvature_step
    if hessian.size == 0:
        one = (np.int64(1) << COUNT_SHIFT) + (np.int64(1) << TARGET_BITS)
        for i in range(first, last):
            targets[i] = np.int32(rounded(gradient[i] * down))
            packed[i] = one + np.int64(targets[i])
        return
    for i in range(first, last):
        targets[i] = np.int32(min(max(rounded(gradient[i] * down), -MOST), MOST))
        curvatures[i] = np.int32(min(max(rounded(hessian[i] * up), 1), MOST))
    for i in range(first, last):
        packed[i] = (np.int64(1) << CURVED_SHIFT) + (np.int64(curvatures[i]) << CURVATURE_SHIFT) + np.int64(targets[i])


@kernel
def sum_derivatives(order, places, gradient, hessian, weights, steps, first, last, out):
    """Sums of integer derivatives over the samples of nodes first to last, out (n_nodes, n_outputs, 2).

    steps (n_outputs, 2): of minus the gradients and of the hessians; hessians are 1 where there are none.
    """
    for j in range(first, last):
        part = order[places[j, 0] : places[j, 1]]
        for k in range(gradient.shape[1]):
            down = -1.0 / steps[k, 0]
            up = 1.0 / steps[k, 1]
            g = np.int64(0)
            h = np.int64(0)
            for p in range(part.size):
                i = np.uint32(part[p])
                w = weights[i] if weights.size else np.int64(1)
                g += w * np.int64(rounded(gradient[i, k] * down))
                h += w * (max(np.int64(rounded(hessian[i, k] * up)), 1) if hessian.size else np.int64(1))
            out[j, k, 0] = g
            out[j, k, 1] = h


@kernel
def add_to_parents(parent, sums):
    """Add the sums of every node to those above it; parents come before their children."""
    for j in range(parent.size - 1, 0, -1):
        for k in range(sums.shape[1]):
            sums[parent[j], k, 0] += sums[j, k, 0]
            sums[parent[j], k, 1] += sums[j, k, 1]


@kernel
def add_steps(order, places, steps, first, last, raw):
    """Add the step of each of nodes first to last to raw of its samples."""
    for j in range(first, last):
        part = order[places[j, 0] : places[j, 1]]
        for k in range(raw.shape[1]):
            for p in range(part.size):
                raw[np.uint32(part[p]), k] += steps[j, k]
