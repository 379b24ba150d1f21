"""Weights and targets as integers, so that their sums are exact and do not depend on the order."""

import math
from typing import Any, NamedTuple

import numpy as np

from sublearn.kernels.columns import COUNT_SHIFT, CURVATURE_SHIFT, CURVED_SHIFT
from sublearn.kernels.layout import TARGET_BITS, WEIGHT_BITS, Array

FACTOR_BITS = 30  # precision of class weights that are not whole numbers
REMAINDER_BITS = 30  # precision of what rounding leaves of a target
ORDINARY = 900  # targets below two to this power, and above two to minus this, need no scaling


class Weights(NamedTuple):
    """Weights of samples as integers, as in `Samples` of `kernels.layout`."""

    weights: Array  # int64; empty when every weight is one
    counts: Array  # int64, how many samples a row stands for; empty with `weights`
    step: float = 1.0  # what the integer 1 of `weights` stands for

    def count(self, n_rows: int) -> int:
        """How many samples n_rows rows stand for."""
        return int(self.counts.sum()) if self.counts.size else n_rows

    def total(self, n_rows: int) -> int:
        """Sum of the weights of n_rows rows."""
        return int(self.weights.sum()) if self.weights.size else n_rows

    def numbers(self, n_rows: int) -> Array:
        """The weights of n_rows rows as floats."""
        return self.weights * self.step if self.weights.size else np.ones(n_rows)

    def relative(self) -> "Weights":
        """Weights of mean 1, unless rows stand for so many samples."""
        if np.array_equal(self.weights, self.counts):
            return self
        return self._replace(step=len(self.weights) / int(self.weights.sum()))

    def present(self) -> Any:
        """The rows of positive weight: a mask, or a slice where all are."""
        weighing = self.weights > 0
        return slice(None) if weighing.all() else weighing

    def take(self, rows: Any) -> "Weights":
        """Weights of some rows: a mask, a slice or positions."""
        return self._replace(weights=self.weights[rows], counts=self.counts[rows]) if self.weights.size else self


class Units(NamedTuple):
    """What targets stand for: y = centre + step * (target + remainder / 2^30), to 2^-59 of the range of y."""

    centre: float
    step: float
    exponent: int = 0  # of a power of two that all of this is multiplied by, where y is near the ends of the floats

    def values(self, targets: Array, remainders: Array) -> Array:
        """Values of y; the sum of the first two terms is exact."""
        values = (self.centre + self.step * targets) + self.step * (remainders / 2.0**REMAINDER_BITS)
        return np.ldexp(values, self.exponent)

    def squares(self, losses: Array) -> Array:
        """Squared errors; infinite where y is so large that its square is."""
        with np.errstate(over="ignore"):
            return np.ldexp(losses * self.step * self.step, 2 * self.exponent)

    def least_square(self, least: float) -> float:
        """The smallest loss whose `squares` is at least so much; bisection, since it may over- and underflow."""
        low, high = np.array([0.0, np.inf]).view(np.int64).tolist()  # floats in order
        while low < high:
            middle = (low + high) // 2
            if self.squares(np.array(middle).view(np.float64)) >= least:
                high = middle
            else:
                low = middle + 1
        return float(np.array(low).view(np.float64))


class Targets(NamedTuple):
    """A regression's y as integers."""

    targets: Array  # int32
    remainders: Array  # int32
    units: Units

    @classmethod
    def none(cls) -> "Targets":
        """Empty targets, which stand in where there are classes."""
        return cls(np.empty(0, np.int32), np.empty(0, np.int32), Units(0.0, 1.0))


UNIT = Weights(np.empty(0, np.int64), np.empty(0, np.int64))  # every sample weighs and counts one


def integer_weights(sample_weight: Array) -> Weights:
    """Weights as integers; whole numbers stay as they are and count as so many samples.

    Other weights are rounded to 2^-30 of their sum, though never to 0, and their rows count once.
    """
    if (sample_weight == 1.0).all():
        return UNIT
    exponent = int(np.frexp(sample_weight.max())[1])
    scaled = math.fsum(np.ldexp(sample_weight, -exponent))
    total = math.ldexp(scaled, min(exponent, 100))
    if total < 2.0**WEIGHT_BITS and (sample_weight == np.floor(sample_weight)).all():
        weights = sample_weight.astype(np.int64)
        return Weights(weights, weights)
    shift = WEIGHT_BITS - 1 - math.frexp(scaled)[1] - exponent
    rounded = np.rint(np.ldexp(sample_weight, shift)).astype(np.int64)
    weights = np.where(sample_weight > 0, np.maximum(rounded, 1), 0)
    return Weights(weights, np.ones(len(sample_weight), np.int64), math.ldexp(1.0, -shift))


def times_class_weights(weights: Weights, factors: Array, labels: Array) -> Weights:
    """Multiply by class weights, which are rounded by themselves: twice the row stays twice the weight."""
    if (factors == 1.0).all():
        return weights
    step = 1.0
    if not (factors == np.floor(factors)).all() or factors.max() >= 2.0**FACTOR_BITS:
        shift = FACTOR_BITS - math.frexp(factors.max())[1]
        step = math.ldexp(1.0, -shift)
        factors = np.where(factors > 0, np.maximum(np.rint(np.ldexp(factors, shift)), 1.0), 0.0)
    by_label = factors.astype(np.int64)[labels]
    if weights.weights.size:
        return Weights(weights.weights * by_label, weights.counts, weights.step * step)
    return Weights(by_label, np.ones(len(labels), np.int64), step)


def integer_targets(y: Array) -> Targets:
    """Round y to 2^-29 of its range, and what that leaves to 2^-30 of a step."""
    exponent = int(np.frexp(np.abs(y).max())[1])
    if abs(exponent) < ORDINARY:
        exponent = 0
    z = np.ldexp(y, -exponent)
    low, high = float(z.min()), float(z.max())
    if low == high:
        nothing = np.zeros(len(y), np.int32)
        return Targets(nothing, nothing, Units(low, 0.0, exponent))
    span = math.frexp(high - low)[1]
    grid = math.ldexp(1.0, span - 10)
    centre = round((low + high) / 2 / grid) * grid
    step = math.ldexp(1.0, span - TARGET_BITS)
    targets = np.rint((z - centre) / step)
    left = z - (centre + step * targets)  # both exact: the bracket is a multiple of the step, and z is near it
    remainders = np.rint(left / step * 2.0**REMAINDER_BITS)
    return Targets(targets.astype(np.int32), remainders.astype(np.int32), Units(centre, step, exponent))


def pack(targets: Array, curvatures: Array) -> Array:
    """All that kernels add up for a sample of weight 1, in one number; shifts are those of `kernels.columns`."""
    if curvatures.size:
        return (np.int64(1) << CURVED_SHIFT) + (curvatures.astype(np.int64) << CURVATURE_SHIFT) + targets
    return (np.int64(1) << COUNT_SHIFT) + (np.int64(1) << TARGET_BITS) + targets


def exact_mean(values: Array, weights: Array) -> float:
    """Weighted mean from sums of integers: rows in another order, or twice for weight 2, give the same."""
    targets, rounded = integer_targets(values), integer_weights(weights)
    factors = rounded.weights if rounded.weights.size else np.ones(len(values), np.int64)
    total = int(factors.sum())
    target = int((factors * targets.targets).sum()) / total
    remainder = int((factors * targets.remainders).sum()) / total
    return float(targets.units.values(np.array(target), np.array(remainder)))
