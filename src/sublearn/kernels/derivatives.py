"""What boosting does with every sample: derivatives as integers, sums in leaves, steps."""

import numpy as np

from sublearn.kernels.arithmetic import ROUNDER
from sublearn.kernels.columns import COUNT_SHIFT, CURVATURE_SHIFT, CURVED_SHIFT
from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.layout import CURVED_BITS, TARGET_BITS

MOST = float((1 << CURVED_BITS) - 1)  # the largest target or curvature where there are curvatures
ANY = float(1 << TARGET_BITS)  # no target is larger where there are none
COARSE = TARGET_BITS - CURVED_BITS  # bits left out of targets before they are squared
PIECE = 2048  # samples at a time, so that they are in the cache from loop to loop


@inner
def rounded(x):
    """The nearest integer to a number below 2^51, as a float."""
    return (x + ROUNDER) - ROUNDER


@inner
def fill_rounded(numbers, factor, least, most, out):
    """Fill `out` with the nearest integers to numbers times a factor, within limits; LLVM makes vector code of it."""
    for i in range(out.size):
        out[i] = np.int32(min(max(rounded(numbers[i] * factor), least), most))


@bare_kernel
def round_derivatives(gradient, hessian, target_step, curvature_step, first, last, targets, curvatures, packed, sums):
    """Fill `Samples` of boosting for samples first to last; without hessians there are no curvatures.

    Steps are powers of two, so divisions by them are exact. sums (2,): of the squares of targets, and of curvatures or
    ones. Without hessians squares are of targets in units of `COARSE` bits, so that their sum has room.
    """
    squares = np.int64(0)
    total = np.int64(0)
    for begin in range(first, last, PIECE):
        end = min(begin + PIECE, last)
        target = targets[begin:end]
        out = packed[begin:end]
        if hessian.size == 0:
            one = (np.int64(1) << COUNT_SHIFT) + (np.int64(1) << TARGET_BITS)
            half = np.int64(1) << (COARSE - 1)
            fill_rounded(gradient[begin:end], -1.0 / target_step, -ANY, ANY, target)
            for i in range(out.size):
                out[i] = one + np.int64(target[i])
                coarse = (np.int64(target[i]) + half) >> COARSE
                squares += coarse * coarse
            total += out.size
        else:
            curvature = curvatures[begin:end]
            one = np.int64(1) << CURVED_SHIFT
            fill_rounded(gradient[begin:end], -1.0 / target_step, -MOST, MOST, target)
            fill_rounded(hessian[begin:end], 1.0 / curvature_step, 1.0, MOST, curvature)
            for i in range(out.size):
                out[i] = one + (np.int64(curvature[i]) << CURVATURE_SHIFT) + np.int64(target[i])
                squares += np.int64(target[i]) * np.int64(target[i])
                total += np.int64(curvature[i])
    sums[0] = squares
    sums[1] = total


@bare_kernel
def look_along(signs, gradient, hessian, first, last, slope, curve, largest):
    """Derivatives of samples first to last in a direction among the outputs: sums over these in their order.

    Hessians are 1 where there are none. largest (n_outputs + 1, 2): magnitude of gradients, and hessians, by each
    output and in the direction.
    """
    n_outputs = signs.size
    largest[:] = 0.0
    for i in range(first, last):
        g = 0.0
        h = 0.0
        for k in range(n_outputs):
            g += signs[k] * gradient[i, k]
            largest[k, 0] = max(largest[k, 0], abs(gradient[i, k]))
        for k in range(n_outputs):
            h += hessian[i, k] if hessian.size else 1.0
            largest[k, 1] = max(largest[k, 1], hessian[i, k] if hessian.size else 1.0)
        slope[i, 0] = g
        curve[i, 0] = h
        largest[n_outputs, 0] = max(largest[n_outputs, 0], abs(g))
        largest[n_outputs, 1] = max(largest[n_outputs, 1], h)


@inner
def first_from(order, begin, end, row):
    """Where in the ascending order[begin:end] rows from `row` on begin."""
    while begin < end:
        middle = (begin + end) // 2
        if order[middle] < row:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def sum_rows(rows, gradient, hessian, weights, steps, out):
    """`sum_derivatives` of the rows of one node, each with all its outputs, which lie side by side."""
    for p in range(rows.size):
        i = np.uint32(rows[p])
        w = weights[i] if weights.size else np.int64(1)
        for k in range(gradient.shape[1]):
            out[k, 0] += w * np.int64(rounded(gradient[i, k] * (-1.0 / steps[k, 0])))
            out[k, 1] += w * (max(np.int64(rounded(hessian[i, k] * (1.0 / steps[k, 1]))), 1) if hessian.size else 1)


@bare_kernel
def sum_derivatives(order, places, gradient, hessian, weights, steps, first, last, out):
    """Add up integer derivatives of those of rows first to last that are in each node, out (n_nodes, n_outputs, 2).

    The rows of a node ascend. steps (n_outputs, 2): of minus the gradients and of the hessians; hessians are 1 where
    there are none.
    """
    for j in range(places.shape[0]):
        begin = first_from(order, places[j, 0], places[j, 1], first)
        part = order[begin : first_from(order, begin, places[j, 1], last)]
        if gradient.shape[1] > 1:
            sum_rows(part, gradient, hessian, weights, steps, out[j])
            continue
        down = -1.0 / steps[0, 0]
        up = 1.0 / steps[0, 1]
        g = np.int64(0)
        h = np.int64(0)
        for p in range(part.size):
            i = np.uint32(part[p])
            w = weights[i] if weights.size else np.int64(1)
            g += w * np.int64(rounded(gradient[i, 0] * down))
            h += w * (max(np.int64(rounded(hessian[i, 0] * up)), 1) if hessian.size else np.int64(1))
        out[j, 0, 0] += g
        out[j, 0, 1] += h


@bare_kernel
def add_to_parents(parent, sums):
    """Add the sums of every node to those above it; parents come before their children."""
    for j in range(parent.size - 1, 0, -1):
        for k in range(sums.shape[1]):
            sums[parent[j], k, 0] += sums[j, k, 0]
            sums[parent[j], k, 1] += sums[j, k, 1]


@bare_kernel
def add_steps(order, places, steps, first, last, raw):
    """Add the step of each node to raw of those of rows first to last that are in it; the rows of a node ascend."""
    for j in range(places.shape[0]):
        begin = first_from(order, places[j, 0], places[j, 1], first)
        part = order[begin : first_from(order, begin, places[j, 1], last)]
        for p in range(part.size):
            i = np.uint32(part[p])
            for k in range(raw.shape[1]):
                raw[i, k] += steps[j, k]
