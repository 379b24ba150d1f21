"""Weights and targets as integers, so that their sums are exact and do not depend on the order."""

import math
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.data.exact import exact_sum
from sublearn.core.links import ALONE, Links
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
    links: Links = ALONE  # to the other partitions of the samples: sums are over all of them

    def count(self, n_rows: int) -> int:
        """How many samples n_rows rows stand for."""
        return self.links.total(int(self.counts.sum()) if self.counts.size else n_rows)

    def total(self, n_rows: int) -> int:
        """Sum of the weights of n_rows rows."""
        return self.links.total(int(self.weights.sum()) if self.weights.size else n_rows)

    @property
    def are_given(self) -> bool:
        """Whether any row weighs anything but one."""
        return self.links.some(self.weights.size > 0)

    def numbers(self, n_rows: int) -> Array:
        """The weights of n_rows rows as floats."""
        return self.weights * self.step if self.weights.size else np.ones(n_rows)

    def relative(self) -> "Weights":
        """Weights of mean 1, unless rows stand for so many samples."""
        if self.links.every(np.array_equal(self.weights, self.counts)):
            return self
        n, total = self.links.add(np.array([len(self.weights), self.weights.sum()], np.int64)).tolist()
        return self._replace(step=n / total)

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


LEAST_PARTS = 32  # of the mean weight that weights are rounded to, at the coarsest
UNIT = Weights(np.empty(0, np.int64), np.empty(0, np.int64))  # every sample weighs and counts one


def integer_weights(sample_weight: Array, links: Links = ALONE) -> Weights:
    """Weights as integers; whole numbers stay as they are and count as so many samples.

    Other weights are rounded to 2^-30 of their sum, though never to 0, and their rows count once. Of very many rows
    that would leave too little of each, which is an error.
    """
    if links.every((sample_weight == 1.0).all()):
        return UNIT if links is ALONE else UNIT._replace(links=links)
    exponent = int(np.frexp(links.most(sample_weight.max(initial=0.0, keepdims=True))[0])[1])
    scaled = exact_sum(np.ldexp(sample_weight, -exponent), links=links)
    total = math.ldexp(scaled, min(exponent, 100))
    if total < 2.0**WEIGHT_BITS and links.every((sample_weight == np.floor(sample_weight)).all()):
        weights = sample_weight.astype(np.int64)
        return Weights(weights, weights, links=links)
    shift = WEIGHT_BITS - 1 - math.frexp(scaled)[1] - exponent
    n_rows = links.total(int(np.count_nonzero(sample_weight)))
    if n_rows * LEAST_PARTS > 2**WEIGHT_BITS:
        raise ValueError(
            f"sample_weight must be 1 everywhere, or whole numbers with a sum below {2**WEIGHT_BITS}, for so many "
            f"rows; got others for {n_rows}, which would be rounded to some {2 ** (WEIGHT_BITS - 1) // n_rows} parts "
            "of their mean. Draw fewer rows, or draw them by their weights."
        )
    rounded = np.rint(np.ldexp(sample_weight, shift)).astype(np.int64)
    weights = np.where(sample_weight > 0, np.maximum(rounded, 1), 0)
    return Weights(weights, np.ones(len(sample_weight), np.int64), math.ldexp(1.0, -shift), links)


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
        return Weights(weights.weights * by_label, weights.counts, weights.step * step, weights.links)
    return Weights(by_label, np.ones(len(labels), np.int64), step, weights.links)


def extremes_of(y: Array, links: Links) -> tuple[float, float]:
    """The smallest and the largest number of all partitions."""
    if links.n_partitions == 1:
        return float(y.min()), float(y.max())
    low, high = links.most(np.array([-y.min(initial=np.inf), y.max(initial=-np.inf)])).tolist()
    return -low, high


def integer_targets(y: Array, links: Links = ALONE) -> Targets:
    """Round y to 2^-29 of its range, and what that leaves to 2^-30 of a step."""
    ends = np.array(extremes_of(y, links))
    exponent = int(np.frexp(np.abs(ends).max())[1])
    if abs(exponent) < ORDINARY:
        exponent = 0
    z = np.ldexp(y, -exponent)
    low, high = np.ldexp(ends, -exponent).tolist()
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


def class_totals(labels: Array, n_classes: int, weights: Weights) -> Array:
    """Weight of each class, as floats."""
    totals = np.zeros(n_classes, np.int64)
    np.add.at(totals, labels, weights.weights if weights.weights.size else 1)
    return weights.links.add(totals) * weights.step


def exact_mean(values: Array, weights: Weights) -> float:
    """Weighted mean from sums of integers: rows in another order, or twice for weight 2, give the same."""
    targets = integer_targets(values, weights.links)
    factors = weights.weights if weights.weights.size else np.ones(len(values), np.int64)
    own = [factors.sum(), (factors * targets.targets).sum(), (factors * targets.remainders).sum()]
    total, *sums = weights.links.add(np.array(own, np.int64)).tolist()
    target, remainder = (one / total for one in sums)
    return float(targets.units.values(np.array(target), np.array(remainder)))


def exact_means(values: Array, weights: Weights, groups: Array, n_groups: int) -> Array:
    """Weighted means (n_groups,) of the values in each group, as `exact_mean` finds them; NaN where there is none."""
    targets = integer_targets(values, weights.links)
    factors = weights.weights if weights.weights.size else np.ones(len(values), np.int64)
    sums = np.zeros((3, n_groups), np.int64)
    for total, amounts in zip(sums, (factors, factors * targets.targets, factors * targets.remainders), strict=True):
        np.add.at(total, groups, amounts)
    weight, target, remainder = weights.links.add(sums)
    with np.errstate(invalid="ignore"):
        return targets.units.values(target / weight, remainder / weight)
