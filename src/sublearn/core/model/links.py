"""From raw values, the sums of boosting's trees, to answers: what a fitted model needs to know of its loss."""

from collections.abc import Callable

import numpy as np

from sublearn.kernels import losses
from sublearn.kernels.layout import Array

Link = Callable[[Array], Array]  # from raw values (n_samples, n_outputs) to answers


def identity(raw: Array) -> Array:
    """The raw values themselves (n_samples,)."""
    return raw[:, 0].copy()


def exponential(raw: Array) -> Array:
    """Exponentials (n_samples,): raw values are logarithms of means."""
    out = np.empty((len(raw), 1))
    losses.find_exponentials(raw, out)
    return out[:, 0]


def probabilities_of_two(raw: Array) -> Array:
    """Probability of both classes (n_samples, 2): raw values are the log-odds of the second."""
    out = np.empty((len(raw), 2))
    losses.find_probabilities(raw, 0, len(raw), out)
    return out


def probabilities_of_many(raw: Array) -> Array:
    """Probability of each class (n_samples, n_classes) by the softmax of the raw values."""
    out = np.empty(raw.shape)
    losses.find_probabilities(raw, 0, len(raw), out)
    return out


def certainty(raw: Array) -> Array:
    """Probability 1 of the only class (n_samples, 1)."""
    return np.ones((len(raw), 1))


LINKS: dict[str, Link] = {
    "identity": identity,
    "exponential": exponential,
    "logistic": probabilities_of_two,
    "softmax": probabilities_of_many,
    "certainty": certainty,
}


def logarithms(x: Array) -> Array:
    """Natural logarithms of positive numbers, the same on every machine."""
    out = np.empty(len(x))
    losses.find_logarithms(x, out)
    return out


def with_exposure(start: Array, exposure: Array) -> Array:
    """Raw values (n_outputs,), or (n_samples, n_outputs) where there are exposures, before the first tree."""
    return start + logarithms(exposure)[:, None] if exposure.size else start
