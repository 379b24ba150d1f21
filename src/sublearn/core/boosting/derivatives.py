"""The derivatives of a loss: as floats, in one direction among several outputs, and as integers (Eq. (obj2))."""

import math
from typing import NamedTuple

import numpy as np

from sublearn.core.data.exact import ExactSum
from sublearn.core.data.fixed_point import ORDINARY, Weights
from sublearn.core.parallel import Pass, Workers
from sublearn.kernels.derivatives import COARSE, look_along, round_derivatives
from sublearn.kernels.layout import CURVED_BITS, TARGET_BITS, Array

CURVATURE_BITS = 30  # precision of hessians in the sums of leaves
ROOM = 62  # bits of sums
HALF = 32  # bits of sums that partitions send apart, so that those of all have room
LOOKING = 0.25  # what it costs to find the largest derivative, a sample and output, in samples visited
COST_OF_ROUNDING = 0.25  # what it costs to round the derivatives of a sample, in samples visited


class Slopes(NamedTuple):
    """Derivatives in floats."""

    gradients: Array  # (n_samples, n_outputs)
    hessians: Array | None  # (n_samples, n_outputs), not negative; None: all are 1
    largest: Array  # (n_outputs, 2), the largest magnitudes of gradients and of hessians

    def only(self, output: int) -> "Slopes":
        """The derivatives by one of the outputs."""
        one = slice(output, output + 1)
        hessians = None if self.hessians is None else np.ascontiguousarray(self.hessians[:, one])
        return Slopes(np.ascontiguousarray(self.gradients[:, one]), hessians, self.largest[one])

    @property
    def curves(self) -> Array:
        """Hessians as kernels take them; empty for ones."""
        return np.empty((0, self.gradients.shape[1])) if self.hessians is None else self.hessians


def find_slopes(
    gradients: Array,
    hessians: Array | None,
    signs: Array,
    workers: Workers,
    fill: Pass | None = None,
    cost: float = 0.0,
    along: Array | None = None,
) -> tuple[Slopes, Slopes]:
    """Derivatives by all outputs, and in a direction (n_outputs,) among them.

    `fill(first, last)`, where it is given, writes the derivatives of these rows before they are looked at; `cost` is
    what that takes a row, in samples visited. `along` (2, n_samples, 1): room for those in the direction, where there
    is some. Second derivatives by two different outputs are taken for 0, in the direction as in the leaves.
    """
    n, n_outputs = gradients.shape
    curves = np.empty((0, n_outputs)) if hessians is None else hessians
    slope, curve = (gradients, hessians) if n_outputs == 1 else np.empty((2, n, 1)) if along is None else along
    found: list[Array] = []

    def look(first: int, last: int) -> None:
        if fill is not None:
            fill(first, last)
        largest = np.ones((n_outputs + 1, 2))
        if first == last:
            return
        if n_outputs > 1:
            look_along(signs, gradients, curves, first, last, slope, curve, largest)
        else:  # numpy is as fast, and need not be compiled
            part = gradients[first:last]
            largest[:, 0] = max(part.max(), -part.min())
            if hessians is not None:
                largest[:, 1] = hessians[first:last].max()
        found.append(largest)

    workers.run_chunks(look, n, cost + LOOKING * n_outputs)
    largest = workers.links.most(np.max([np.zeros((n_outputs + 1, 2)), *found], axis=0))
    return Slopes(gradients, hessians, largest[:-1]), Slopes(slope, curve, largest[-1:])


class Rounded(NamedTuple):
    """Room for derivatives as integers; see `Derivatives`."""

    targets: Array
    curvatures: Array
    packed: Array

    @classmethod
    def of(cls, n: int) -> "Rounded":
        """Room for n samples; what is never touched takes no memory."""
        return cls(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64))


class Derivatives(NamedTuple):
    """Derivatives as integers: steps down the gradient, and curvatures."""

    targets: Array  # int32, minus the gradients
    curvatures: Array  # int32, all positive; empty when every one is one
    packed: Array  # int64, as in `Samples`
    target_step: float
    curvature_step: float
    noise: float  # mean squared target over mean curvature, both as integers: what a split gains by chance


def integer_derivatives(
    slopes: Slopes, weights: Weights, workers: Workers, room: Rounded | None = None, also: Pass | None = None
) -> Derivatives:
    """Round derivatives by one output for the search: to 2^-15 of the largest or finer, hessians never to 0.

    Without hessians there is room for more: 2^-28 of the largest gradient. What was in the room is gone then.
    `also(first, last)` is done in the same pass.
    """
    n, curved = len(slopes.gradients), slopes.hessians is not None
    gradient, hessian = slopes.gradients[:, 0], slopes.curves[:, 0]
    steepest, most = slopes.largest[0].tolist()
    target_step = _step_below(steepest, CURVED_BITS if curved else TARGET_BITS - 1)
    curvature_step = _step_below(most, CURVED_BITS) if curved else 1.0
    targets, curvatures, packed = room or Rounded.of(n)
    curvatures = curvatures[: len(hessian)]
    given, rounded = (gradient, hessian, target_step, curvature_step), (targets, curvatures, packed)
    plain: list[list[int]] = []
    weighted = ExactSum(), ExactSum()

    def round_rows(first: int, last: int) -> None:
        sums = np.empty(2, np.int64)
        round_derivatives(*given, first, last, *rounded, sums)
        plain.append(sums.tolist())
        if also is not None:
            also(first, last)
        if weights.weights.size:
            rows = slice(first, last)
            _add_weighted(targets[rows], curvatures[rows], weights.take(rows), *weighted)

    workers.run_chunks(round_rows, n, COST_OF_ROUNDING)
    squares: float
    total: float
    if weights.are_given:
        squares, total = (sums.total(workers.links) for sums in weighted)
    else:
        own_squares, own_total = (sum(sums) for sums in zip(*plain, strict=True))
        parts = np.array([own_squares >> HALF, own_squares & ((1 << HALF) - 1), own_total], np.int64)
        high, low, total = workers.links.add(parts).tolist()
        squares = ((high << HALF) + low) * (1 if curved else 1 << 2 * COARSE)
    return Derivatives(
        targets=targets,
        curvatures=curvatures,
        packed=packed,
        target_step=target_step,
        curvature_step=curvature_step,
        noise=squares / total,
    )


def _add_weighted(
    targets: Array, curvatures: Array, weights: Weights, sum_of_squares: ExactSum, sum_of_curves: ExactSum
) -> None:
    """Add to weighted sums: of the squares of targets, and of curvatures.

    In squares, a weight that counts as so many samples adds up by itself, any other by its square.
    """
    numbers = weights.weights.astype(np.float64)
    squares = np.square(targets, dtype=np.float64) * (numbers / weights.counts)
    curves = curvatures.astype(np.float64) if curvatures.size else np.ones(len(targets))
    sum_of_squares.add(squares, numbers, 0, len(squares))
    sum_of_curves.add(curves, numbers, 0, len(curves))


def fine_steps(slopes: Slopes) -> Array:
    """Steps (n_outputs, 2) for exact sums in leaves: 2^-28 of the largest gradients, 2^-30 of the largest hessians.

    Hessians that are all 1 have steps of 1.
    """
    curved = slopes.hessians is not None
    return np.array(
        [
            (_step_below(gradient, TARGET_BITS - 1), _step_below(hessian, CURVATURE_BITS) if curved else 1.0)
            for gradient, hessian in slopes.largest.tolist()
        ]
    )


def coarse_steps(slopes: Slopes, total: int, bits: int) -> Array:
    """Steps (n_outputs, 2) for exact sums of gradients times numbers, and of hessians times two numbers.

    bits: of these numbers; total: sum of the weights. Steps are no finer than `fine_steps`.
    """
    room = ROOM - total.bit_length() - bits
    curved = slopes.hessians is not None
    return np.array(
        [
            (
                _step_below(gradient, min(room, TARGET_BITS - 1)),
                _step_below(hessian, min(room - bits, CURVATURE_BITS)) if curved else 1.0,
            )
            for gradient, hessian in slopes.largest.tolist()
        ]
    )


def _step_below(largest: float, bits: int) -> float:
    """The power of two of which `largest` is at most 2^bits."""
    return math.ldexp(1.0, max(math.frexp(largest)[1], -ORDINARY) - bits)
