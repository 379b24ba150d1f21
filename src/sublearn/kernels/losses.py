"""The training losses of boosting: value, gradient and second derivative of each sample (gamma, g, h of Sec. III-B).

`raw` (n_samples, n_outputs) is the sum of the trees so far, before any link. Each loss has kernels of its own, so that
only those in use are compiled: one fills the derivatives of rows first to last, those without curvature only the first;
the other fills the losses.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import LN2, SQRT_HALF, exp, fill_exp, log2, log2_series
from sublearn.kernels.compilation import inner, kernel, section
from sublearn.kernels.layout import Array

FARTHEST = 500.0  # logarithms beyond this count as this
BLOCK = 2048  # exponentials at a time


@inner
def safe_exp(x):
    """Exponential of x, cut off at `FARTHEST`."""
    return exp(min(max(x, -FARTHEST), FARTHEST))


@inner
def fill_decays(raw, first, n, out, bits):
    """out = exp(-|raw|) for n rows of one output from row `first` on."""
    for i in range(n):
        out[i] = -min(abs(raw[first + i, 0]), FARTHEST)
    fill_exp(out, n, bits)


class SoftmaxSpace(NamedTuple):
    """Space for the softmax of some rows."""

    shares: Array  # float64 (size * n_classes,), row by row
    bits: Array  # int64 (size * n_classes,), see `fill_exp`
    largest: Array  # float64 (size,), largest raw value of each row
    totals: Array  # float64 (size,), sum of exponentials of each row


@section
def softmax_space(n_classes):
    """Space for as many rows at a time as have `BLOCK` exponentials."""
    size = max(BLOCK // n_classes, 1)
    shares = np.empty(size * n_classes)
    return SoftmaxSpace(shares, np.empty(size * n_classes, np.int64), np.empty(size), np.empty(size))


@inner
def fill_softmax(raw, first, n, space):
    """Fill the softmax of n rows from row `first` on."""
    n_classes = raw.shape[1]
    out = space.shares
    bits = space.bits
    largest = space.largest
    totals = space.totals
    for i in range(n):
        largest[i] = raw[first + i, 0]
        for k in range(1, n_classes):
            largest[i] = max(largest[i], raw[first + i, k])
        for k in range(n_classes):
            out[i * n_classes + k] = max(raw[first + i, k] - largest[i], -FARTHEST)
    fill_exp(out, n * n_classes, bits)
    for i in range(n):
        totals[i] = 0.0
        for k in range(n_classes):
            totals[i] += out[i * n_classes + k]
        for k in range(n_classes):
            out[i * n_classes + k] /= totals[i]


@kernel
def find_probabilities(raw, first, last, out):
    """Probabilities (n_samples, n_classes) of raw log-odds (n_samples, 1) or of raw values (n_samples, n_classes)."""
    n_classes = raw.shape[1]
    space = softmax_space(n_classes)
    e = space.shares
    size = space.totals.size
    for begin in range(first, last, size):
        n = min(size, last - begin)
        if n_classes == 1:
            fill_decays(raw, begin, n, e, space.bits)
            for i in range(n):
                more = 1.0 / (1.0 + e[i])
                less = e[i] * more
                out[begin + i, 0] = less if raw[begin + i, 0] >= 0.0 else more
                out[begin + i, 1] = more if raw[begin + i, 0] >= 0.0 else less
        else:
            fill_softmax(raw, begin, n, space)
            for i in range(n):
                for k in range(n_classes):
                    out[begin + i, k] = e[i * n_classes + k]


@kernel
def find_logarithms(x, out):
    """Natural logarithm of each positive number."""
    for i in range(x.size):
        out[i] = LN2 * log2(x[i])


@kernel
def find_exponentials(raw, out):
    """Exponential of each raw value."""
    for i in range(raw.shape[0]):
        for k in range(raw.shape[1]):
            out[i, k] = safe_exp(raw[i, k])


@kernel
def differentiate_log_loss(parameter, y, raw, first, last, gradient, hessian):
    """Derivatives of the log loss of two classes."""
    e = np.empty(BLOCK)
    bits = np.empty(BLOCK, np.int64)
    for begin in range(first, last, BLOCK):
        n = min(BLOCK, last - begin)
        fill_decays(raw, begin, n, e, bits)
        x = raw[begin : begin + n, 0]  # slices, so that the loop is of vectors
        goal = y[begin : begin + n]
        slope = gradient[begin : begin + n, 0]
        curve = hessian[begin : begin + n, 0]
        for i in range(n):
            more = 1.0 / (1.0 + e[i])
            less = e[i] * more
            slope[i] = (more if x[i] >= 0.0 else less) - goal[i]
            curve[i] = more * less


@kernel
def measure_log_loss(parameter, y, raw, first, last, out):
    """Log loss of two classes: log(1 + exp(x)) - y x, without overflow."""
    e = np.empty(BLOCK)
    bits = np.empty(BLOCK, np.int64)
    exponent = np.empty(BLOCK)
    for begin in range(first, last, BLOCK):
        n = min(BLOCK, last - begin)
        fill_decays(raw, begin, n, e, bits)
        for i in range(n):
            m = 1.0 + e[i]  # from 1 to 2
            large = m >= 2.0 * SQRT_HALF
            exponent[i] = 1.0 if large else 0.0
            e[i] = 0.5 * m if large else m
        for i in range(n):
            e[i] = exponent[i] + log2_series(e[i])
        x = raw[begin : begin + n, 0]
        goal = y[begin : begin + n]
        loss = out[begin : begin + n]
        for i in range(n):
            loss[i] = max(x[i], 0.0) + LN2 * e[i] - goal[i] * x[i]


@inner
def fill_log_losses(y, raw, first, n, space, out):
    """Fill the log losses of n rows from row `first` on, whose softmax is known."""
    for i in range(n):
        log_total = LN2 * log2(space.totals[i])
        out[first + i] = space.largest[i] + log_total - raw[first + i, int(y[first + i])]


@kernel
def differentiate_softmax(parameter, y, raw, first, last, gradient, hessian, out):
    """Derivatives of the log loss of many classes; fills the losses too, unless `out` is empty."""
    n_classes = raw.shape[1]
    space = softmax_space(n_classes)
    e = space.shares
    size = space.totals.size
    for begin in range(first, last, size):
        n = min(size, last - begin)
        fill_softmax(raw, begin, n, space)
        for i in range(n):
            for k in range(n_classes):
                p = e[i * n_classes + k]
                gradient[begin + i, k] = p
                hessian[begin + i, k] = p * (1.0 - p)
            gradient[begin + i, int(y[begin + i])] -= 1.0
        if out.size:
            fill_log_losses(y, raw, begin, n, space, out)


@kernel
def measure_softmax(parameter, y, raw, first, last, out):
    """Log loss of many classes."""
    n_classes = raw.shape[1]
    space = softmax_space(n_classes)
    size = space.totals.size
    for begin in range(first, last, size):
        n = min(size, last - begin)
        fill_softmax(raw, begin, n, space)
        fill_log_losses(y, raw, begin, n, space, out)


@kernel
def differentiate_square(parameter, y, raw, first, last, gradient, hessian):
    """Derivative of half the squared error."""
    for i in range(first, last):
        gradient[i, 0] = raw[i, 0] - y[i]


@kernel
def measure_square(parameter, y, raw, first, last, out):
    """Half the squared error."""
    for i in range(first, last):
        error = y[i] - raw[i, 0]
        out[i] = 0.5 * error * error


@kernel
def differentiate_quantile(quantile, y, raw, first, last, gradient, hessian):
    """Derivative of the pinball loss."""
    for i in range(first, last):
        x = raw[i, 0]
        gradient[i, 0] = 0.0 if x == y[i] else (1.0 - quantile if x > y[i] else -quantile)


@kernel
def measure_quantile(quantile, y, raw, first, last, out):
    """Pinball loss."""
    for i in range(first, last):
        error = y[i] - raw[i, 0]
        out[i] = error * quantile if error >= 0.0 else error * (quantile - 1.0)


@kernel
def differentiate_huber(distance, y, raw, first, last, gradient, hessian):
    """Derivative of Huber's loss."""
    for i in range(first, last):
        gradient[i, 0] = min(max(raw[i, 0] - y[i], -distance), distance)


@kernel
def measure_huber(distance, y, raw, first, last, out):
    """Huber's loss."""
    for i in range(first, last):
        size = abs(y[i] - raw[i, 0])
        out[i] = 0.5 * size * size if size <= distance else distance * (size - 0.5 * distance)


@kernel
def differentiate_poisson(parameter, y, raw, first, last, gradient, hessian):
    """Derivatives of half the Poisson deviance."""
    for i in range(first, last):
        mean = safe_exp(raw[i, 0])
        gradient[i, 0] = mean - y[i]
        hessian[i, 0] = mean


@kernel
def measure_poisson(parameter, y, raw, first, last, out):
    """Half the Poisson deviance."""
    for i in range(first, last):
        ideal = y[i] * LN2 * log2(y[i]) - y[i] if y[i] > 0.0 else 0.0
        out[i] = safe_exp(raw[i, 0]) - y[i] * raw[i, 0] + ideal


@kernel
def differentiate_gamma(parameter, y, raw, first, last, gradient, hessian):
    """Derivatives of half the gamma deviance."""
    for i in range(first, last):
        ratio = y[i] * safe_exp(-raw[i, 0])
        gradient[i, 0] = 1.0 - ratio
        hessian[i, 0] = ratio


@kernel
def measure_gamma(parameter, y, raw, first, last, out):
    """Half the gamma deviance."""
    for i in range(first, last):
        out[i] = y[i] * safe_exp(-raw[i, 0]) + raw[i, 0] - LN2 * log2(y[i]) - 1.0
