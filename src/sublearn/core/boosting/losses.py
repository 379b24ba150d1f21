"""The training losses of boosting (gamma of Sec. III-B), and what a loss of one's own has to know."""

from typing import Any

import numpy as np

from sublearn.core.data.fixed_point import UNIT, Weights, exact_mean, exact_means, integer_weights
from sublearn.core.data.order_statistics import group_quantiles
from sublearn.core.model.links import Link, exponential, probabilities_of_many, probabilities_of_two
from sublearn.kernels import losses
from sublearn.kernels.arithmetic import LN2, log2
from sublearn.kernels.compilation import Kernel, plain
from sublearn.kernels.layout import Array

LEAST = 1e-300  # what a class without weight counts as in logarithms
NO_VALUES = np.empty(0)
LARGEST = 1e100  # magnitude of y: its square times any weight is still a float, and its logarithm far from the cut-off


class Loss:
    """A training loss of boosting; derive from it for one of your own.

    Only `values` and `derivatives` are needed. `y` has shape (n_samples,): numbers, or the positions of the classes in
    `classes_`, as floats. `raw` is the sum of the trees so far: (n_samples,), or (n_samples, n_classes) for a
    classifier with more than two classes. All results have one entry a sample and know nothing of weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sublearn import Loss, SLMBoostRegressor
    >>> class LogCosh(Loss):
    ...     def values(self, y, raw):
    ...         return np.log(np.cosh(raw - y))
    ...     def derivatives(self, y, raw):
    ...         slope = np.tanh(raw - y)
    ...         return slope, 1 - slope**2
    >>> X, y = np.arange(20.0)[:, None], np.arange(20.0) > 9
    >>> SLMBoostRegressor(loss=LogCosh(), random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    max_step = np.inf  # what a leaf may add to raw at the most, before the learning rate
    # what `prediction` does, as a name of `LINKS`; a loss of this file that has its own `prediction` must say it
    _link = "identity"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def values(self, y: Array, raw: Array) -> Array:
        """Loss (n_samples,) of each sample."""
        raise NotImplementedError(f"values of {self!r} must be written: values(self, y, raw), the loss of each sample.")

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        """First and second derivative by raw, both in the shape of raw; the second is positive, or None for ones."""
        raise NotImplementedError(
            f"derivatives of {self!r} must be written: derivatives(self, y, raw), the first and second by raw."
        )

    def start(self, y: Array, sample_weight: Array) -> float | Array:
        """Raw value that the first tree starts from; one a class where there are more than two."""
        return 0.0

    def prediction(self, raw: Array) -> Array:
        """What `predict` returns, or the probability of the second class, or of each class."""
        return raw

    def check(self, y: Array) -> None:
        """Raise a ValueError if y is not in the loss's domain."""

    def prepare(self, y: Array, raw: Array, sample_weight: Array) -> None:
        """Called before the derivatives of each round, for losses that adapt to the residuals."""

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float | None:
        """Best constant to add to raw for the samples of one leaf; None: the second-order step is good."""
        return None


class CompiledLoss(Loss):
    """A loss that kernels know. Fits ask it part by part, with the `fill` methods."""

    differentiate: Kernel
    measure: Kernel
    parameter = 0.0
    curved = True  # whether the second derivative is of use
    most = 1e5 * LARGEST**2  # mean loss that targets within the limits never start with, so that a fit has run away

    def fill_values(self, y: Array, raw: Array, first: int, last: int, out: Array) -> None:
        """Fill the losses of rows first to last; raw (n_samples, n_outputs)."""
        self.measure(self.parameter, y, raw, first, last, out)

    def fill_derivatives(self, y: Array, raw: Array, first: int, last: int, gradient: Array, hessian: Array) -> None:
        """Fill the derivatives (n_samples, n_outputs) of rows first to last; only the first where it is not curved."""
        self.differentiate(self.parameter, y, raw, first, last, gradient, hessian)

    def fill_both(
        self, y: Array, raw: Array, first: int, last: int, gradient: Array, hessian: Array, out: Array
    ) -> None:
        """Fill derivatives and losses of rows first to last."""
        self.fill_derivatives(y, raw, first, last, gradient, hessian)
        self.fill_values(y, raw, first, last, out)

    def start_of(self, y: Array, weights: Weights) -> float:
        """`start` of the samples of all partitions."""
        raise NotImplementedError

    def start(self, y: Array, sample_weight: Array) -> float | Array:
        """Raw value that the first tree starts from."""
        return self.start_of(y, integer_weights(sample_weight))

    def adapt(self, y: Array, raw: Array, weights: Weights) -> None:
        """`prepare` for the samples of all partitions; raw (n_samples, n_outputs)."""

    def leaf_values(self, residuals: Array, weights: Weights, groups: Array, n_groups: int) -> Array:
        """`leaf_value` of several leaves; groups (n_samples,): the leaf of each residual."""
        raise NotImplementedError

    def values(self, y: Array, raw: Array) -> Array:
        """Loss of each sample."""
        out = np.empty(len(raw))
        self.fill_values(y, _two_dimensional(raw), 0, len(raw), out)
        return out

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        """Gradient and second derivative."""
        two = _two_dimensional(raw)
        gradient, hessian = np.empty(two.shape), np.empty(two.shape if self.curved else (0, 1))
        self.fill_derivatives(y, two, 0, len(two), gradient, hessian)
        return gradient.reshape(raw.shape), hessian.reshape(raw.shape) if self.curved else None

    def check(self, y: Array) -> None:
        """Raise a ValueError for targets whose losses would overflow or vanish."""
        largest = max(y.max(), -y.min())
        if largest > LARGEST or 0 < largest < 1 / LARGEST:
            raise ValueError(f"y must have a largest magnitude from {1 / LARGEST:g} to {LARGEST:g}, or be zero")


class LogLoss(CompiledLoss):
    """Log loss of two classes; raw is the log-odds of the second."""

    differentiate, measure = losses.differentiate_log_loss, losses.measure_log_loss
    _link = "logistic"

    def start(self, y: Array, sample_weight: Array) -> float:
        """Log-odds of the second class."""
        first, second = np.bincount(y.astype(np.int64), sample_weight, 2)
        return _log(second) - _log(first)

    def prediction(self, raw: Array) -> Array:
        """Probability of both classes."""
        return probabilities_of_two(_two_dimensional(raw))


class Softmax(CompiledLoss):
    """Log loss of many classes."""

    differentiate, measure = losses.differentiate_softmax, losses.measure_softmax
    _link = "softmax"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def start(self, y: Array, sample_weight: Array) -> Array:
        """Logarithms of the shares, with mean 0."""
        totals = np.bincount(y.astype(np.int64), sample_weight, self.n_classes)
        logarithms = np.array([_log(total) for total in totals])
        return logarithms - exact_mean(logarithms, UNIT)

    def fill_derivatives(self, y: Array, raw: Array, first: int, last: int, gradient: Array, hessian: Array) -> None:
        """Fill the derivatives of rows first to last."""
        self.fill_both(y, raw, first, last, gradient, hessian, NO_VALUES)

    def fill_both(
        self, y: Array, raw: Array, first: int, last: int, gradient: Array, hessian: Array, out: Array
    ) -> None:
        """Fill derivatives and losses of rows first to last, all from the same exponentials."""
        self.differentiate(self.parameter, y, raw, first, last, gradient, hessian, out)

    def prediction(self, raw: Array) -> Array:
        """Probability of each class."""
        return probabilities_of_many(raw)


class OneClass(Loss):
    """The loss of a single class, of which nothing can be learned."""

    _link = "certainty"

    def values(self, y: Array, raw: Array) -> Array:
        """Zeros: a single class has no loss."""
        return np.zeros(len(y))

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, None]:
        """Zeros, and None for second derivatives of 1."""
        return np.zeros(len(y)), None

    def prediction(self, raw: Array) -> Array:
        """Probability 1 of the only class."""
        return np.ones((len(raw), 1))


class SquaredError(CompiledLoss):
    """Half the squared error."""

    differentiate, measure = losses.differentiate_square, losses.measure_square
    curved = False  # the second derivative is 1 everywhere

    def start_of(self, y: Array, weights: Weights) -> float:
        """The mean of y."""
        return exact_mean(y, weights)


class Quantile(CompiledLoss):
    """Pinball loss; at 0.5, half the absolute error."""

    differentiate, measure = losses.differentiate_quantile, losses.measure_quantile
    curved = False

    def __init__(self, quantile: float) -> None:
        self.parameter = quantile

    def start_of(self, y: Array, weights: Weights) -> float:
        """The quantile of y."""
        return weighted_quantile(y, weights, self.parameter)

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float:
        """The quantile of the residuals."""
        return self.start_of(y - raw, integer_weights(sample_weight))

    def leaf_values(self, residuals: Array, weights: Weights, groups: Array, n_groups: int) -> Array:
        """The quantiles of the residuals."""
        return group_quantiles(residuals, weights.weights, groups, n_groups, self.parameter, weights.links)


class AbsoluteError(Quantile):
    """Absolute error: twice the pinball loss of the median, so that its derivative is 1."""

    def __init__(self) -> None:
        super().__init__(0.5)

    def fill_values(self, y: Array, raw: Array, first: int, last: int, out: Array) -> None:
        """Fill absolute errors."""
        out[first:last] = np.abs(y[first:last] - raw[first:last, 0])

    def fill_derivatives(self, y: Array, raw: Array, first: int, last: int, gradient: Array, hessian: Array) -> None:
        """Fill gradients with the signs of the errors."""
        gradient[first:last, 0] = np.sign(raw[first:last, 0] - y[first:last])


class Huber(CompiledLoss):
    """Squared error within a distance that a share of the residuals keeps, renewed every round; absolute beyond."""

    differentiate, measure = losses.differentiate_huber, losses.measure_huber
    curved = False

    def __init__(self, share: float) -> None:
        self.share = share
        self.parameter = 1.0
        self.yardstick = 0.0  # the distance of the first round, by which all rounds are scored

    def fill_values(self, y: Array, raw: Array, first: int, last: int, out: Array) -> None:
        """Fill losses by the distance of the first round, so that rounds compare."""
        self.measure(self.yardstick or self.parameter, y, raw, first, last, out)

    def start_of(self, y: Array, weights: Weights) -> float:
        """The median of y."""
        return weighted_quantile(y, weights, 0.5)

    def prepare(self, y: Array, raw: Array, sample_weight: Array) -> None:
        """Renew the distance within which errors are squared."""
        self.adapt(y, _two_dimensional(raw), integer_weights(sample_weight))

    def adapt(self, y: Array, raw: Array, weights: Weights) -> None:
        """Renew the distance within which errors are squared."""
        self.parameter = weighted_quantile(np.abs(y - raw[:, 0]), weights, self.share)
        self.yardstick = self.yardstick or self.parameter

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float:
        """Median of the residuals, and the mean of what is left after cutting off (Friedman 2001)."""
        return float(self.leaf_values(y - raw, integer_weights(sample_weight), np.zeros(len(y), np.int64), 1)[0])

    def leaf_values(self, residuals: Array, weights: Weights, groups: Array, n_groups: int) -> Array:
        """`leaf_value` of several leaves."""
        medians = group_quantiles(residuals, weights.weights, groups, n_groups, 0.5, weights.links)
        left = np.clip(residuals - medians[groups], -self.parameter, self.parameter)
        return medians + exact_means(left, weights, groups, n_groups)


class LogLinked(CompiledLoss):
    """A loss whose raw value is the logarithm of the mean. The mean may be a rate times an exposure."""

    max_step = 1.0  # where a mean is far too small, its curvature says nothing of how far to go
    most = 1e5 * LARGEST
    _link = "exponential"

    def rate(self, y: Array, weights: Weights, exposure: Array) -> float:
        """Logarithm of the best constant rate."""
        return self.start_of(y, weights) - _log(exact_mean(exposure, weights))

    def start_of(self, y: Array, weights: Weights) -> float:
        """Logarithm of the mean of y."""
        return _log(exact_mean(y, weights))

    def prediction(self, raw: Array) -> Array:
        """The mean of each sample: the exponential of raw."""
        return exponential(_two_dimensional(raw))


class Poisson(LogLinked):
    """Half the Poisson deviance."""

    differentiate, measure = losses.differentiate_poisson, losses.measure_poisson

    def check(self, y: Array) -> None:
        """Raise a ValueError for counts that are negative."""
        if (y < 0).any():
            raise ValueError("y must not be negative for the loss 'poisson'")
        super().check(y)

    def start_of(self, y: Array, weights: Weights) -> float:
        """Logarithm of the mean of y."""
        if not weights.links.some(y.any()):
            raise ValueError("y must not be zero everywhere for the loss 'poisson'")
        return super().start_of(y, weights)


class Gamma(LogLinked):
    """Half the gamma deviance."""

    differentiate, measure = losses.differentiate_gamma, losses.measure_gamma

    def rate(self, y: Array, weights: Weights, exposure: Array) -> float:
        """Logarithm of the best constant rate: unlike for counts, a longer exposure tells no more."""
        return self.start_of(y / exposure, weights)

    def check(self, y: Array) -> None:
        """Raise a ValueError for amounts that are not positive, or too large or small for exact losses."""
        if (y <= 0).any():
            raise ValueError("y must be positive for the loss 'gamma'")
        if y.min() < 1 / LARGEST or y.max() > LARGEST:
            raise ValueError(f"y must lie from {1 / LARGEST:g} to {LARGEST:g} for the loss 'gamma'")


class OwnLink:
    """The answers of a loss of the user's own, which may be wrong."""

    def __init__(self, loss: Loss, n_classes: int) -> None:
        self.loss, self.n_classes = loss, n_classes

    def __call__(self, raw: Array) -> Array:
        """Numbers (n_samples,) or probabilities (n_samples, n_classes) from raw values (n_samples, n_outputs)."""
        n, k = len(raw), self.n_classes
        shapes: list[tuple[int, ...]] = [(n, k)] if k else [(n,)]
        found = self.loss.prediction(raw[:, 0] if raw.shape[1] == 1 else raw)
        given = as_answer(self.loss, "prediction", found, *shapes, *([(n,)] if k == 2 else []))
        if k == 2 and given.ndim == 1:
            return np.column_stack([1.0 - given, given])
        return given.copy()  # it may be raw itself, which is renewed


def link_of(loss: Loss, n_classes: int) -> str | Link:
    """How raw values of a loss become answers: the name of a link of ours, or the user's own."""
    prediction = type(loss).prediction
    if prediction is Loss.prediction:  # a loss of the user's may leave this to us
        return {0: "identity", 2: "logistic"}.get(n_classes, "softmax")
    return loss._link if prediction.__module__ == __name__ else OwnLink(loss, n_classes)


def has_own_leaves(loss: Loss) -> bool:
    """Whether a loss has values of its own for leaves, in the place of second-order steps."""
    return type(loss).leaf_value is not Loss.leaf_value


def ask(loss: Loss, method: str, y: Array, raw: Array, *others: Array) -> Any:
    """What a loss answers. One that is not made for so many outputs mostly fails in NumPy's words."""
    try:
        return getattr(loss, method)(y, raw, *others)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        classes = ", one column a class" if raw.ndim == 2 else ""
        raise ValueError(
            f"{method} of {loss!r} must take y of shape {y.shape} and raw of shape {raw.shape}{classes}: {error}"
        ) from error


def as_answer(loss: Loss, name: str, given: Any, *shapes: tuple[int, ...]) -> Array:
    """The answer of a loss as an array of floats, if it has one of these shapes."""
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} of {loss!r} must be numbers; got {type(given).__name__}.") from None
    if array.shape not in shapes:
        raise ValueError(f"{name} of {loss!r} must have shape {' or '.join(map(str, shapes))}; got {array.shape}.")
    return array


def weighted_quantile(values: Array, weights: Weights, share: float) -> float:
    """Where the cumulated weight passes this share; the middle between two values where it just reaches it."""
    one = np.zeros(len(values), np.int64)
    return float(group_quantiles(values, weights.weights, one, 1, share, weights.links)[0])


def _log(x: float) -> float:
    return LN2 * float(plain(log2)(max(x, LEAST)))


def _two_dimensional(raw: Array) -> Array:
    return raw.reshape(len(raw), -1)
