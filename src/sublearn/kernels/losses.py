"""The training losses of boosting: value, gradient and second derivative of each sample (gamma, g, h of Sec. III-B).

`raw` (n_samples, n_outputs) is the sum of the trees so far, before any link.
"""

import numpy as np

from sublearn.kernels.arithmetic import LN2, exp, log2
from sublearn.kernels.compilation import inner, kernel

LOG_LOSS = 0  # one output: log-odds of the second class
SOFTMAX = 1  # one output a class
SQUARED_ERROR = 2
QUANTILE = 3
HUBER = 4
POISSON = 5
GAMMA = 6

FARTHEST = 500.0  # logarithms beyond this count as this


@inner
def safe_exp(x):
    """Exponential of x, cut off at `FARTHEST`."""
    return exp(min(max(x, -FARTHEST), FARTHEST))


@inner
def log1p_exp(x):
    """log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + LN2 * log2(1.0 + safe_exp(-abs(x)))


@inner
def probability(x):
    """Logistic function."""
    e = safe_exp(-abs(x))
    return 1.0 / (1.0 + e) if x >= 0.0 else e / (1.0 + e)


@inner
def fill_probabilities(raw, out):
    """Softmax of one sample's raw values; returns the largest of them and the sum of exponentials above it."""
    largest = raw[0]
    for k in range(1, raw.size):
        largest = max(largest, raw[k])
    total = 0.0
    for k in range(raw.size):
        out[k] = safe_exp(raw[k] - largest)
        total += out[k]
    for k in range(raw.size):
        out[k] /= total
    return largest, total


@kernel
def find_probabilities(raw, out):
    """Probabilities (n_samples, n_classes) of raw log-odds (n_samples, 1) or of raw values (n_samples, n_classes)."""
    for i in range(raw.shape[0]):
        if raw.shape[1] == 1:
            out[i, 0] = probability(-raw[i, 0])
            out[i, 1] = probability(raw[i, 0])
        else:
            fill_probabilities(raw[i], out[i])


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
def differentiate(kind, parameter, y, raw, gradient, hessian):
    """Fill first and second derivative (n_samples, n_outputs); losses without curvature leave the second alone."""
    for i in range(raw.shape[0]):
        x = raw[i, 0]
        if kind == LOG_LOSS:
            p = probability(x)
            gradient[i, 0] = p - y[i]
            hessian[i, 0] = p * probability(-x)
        elif kind == SOFTMAX:
            fill_probabilities(raw[i], gradient[i])
            for k in range(raw.shape[1]):
                p = gradient[i, k]
                hessian[i, k] = p * (1.0 - p)
            gradient[i, int(y[i])] -= 1.0
        elif kind == SQUARED_ERROR:
            gradient[i, 0] = x - y[i]
        elif kind == QUANTILE:
            gradient[i, 0] = 0.0 if x == y[i] else (1.0 - parameter if x > y[i] else -parameter)
        elif kind == HUBER:
            gradient[i, 0] = min(max(x - y[i], -parameter), parameter)
        elif kind == POISSON:
            mean = safe_exp(x)
            gradient[i, 0] = mean - y[i]
            hessian[i, 0] = mean
        else:
            ratio = y[i] * safe_exp(-x)
            gradient[i, 0] = 1.0 - ratio
            hessian[i, 0] = ratio


@kernel
def measure(kind, parameter, y, raw, out):
    """Loss of each sample; half the deviance for Poisson and gamma, half the square for squared error."""
    scratch = np.empty(raw.shape[1])
    for i in range(raw.shape[0]):
        x = raw[i, 0]
        error = y[i] - x
        if kind == LOG_LOSS:
            out[i] = log1p_exp(x) - y[i] * x
        elif kind == SOFTMAX:
            largest, total = fill_probabilities(raw[i], scratch)
            out[i] = largest + LN2 * log2(total) - raw[i, int(y[i])]
        elif kind == SQUARED_ERROR:
            out[i] = 0.5 * error * error
        elif kind == QUANTILE:
            out[i] = error * parameter if error >= 0.0 else error * (parameter - 1.0)
        elif kind == HUBER:
            size = abs(error)
            out[i] = 0.5 * size * size if size <= parameter else parameter * (size - 0.5 * parameter)
        elif kind == POISSON:
            ideal = y[i] * LN2 * log2(y[i]) - y[i] if y[i] > 0.0 else 0.0
            out[i] = safe_exp(x) - y[i] * x + ideal
        else:
            out[i] = y[i] * safe_exp(-x) + x - LN2 * log2(y[i]) - 1.0


@kernel
def weighted_sum(values, weights):
    """Sum of values times weights, carried in two numbers so that no digit of the first is lost."""
    total = 0.0
    rest = 0.0
    for i in range(values.size):
        x = values[i] * weights[i]
        both = total + x
        if abs(total) >= abs(x):
            rest += (total - both) + x
        else:
            rest += (x - both) + total
        total = both
    return total + rest
