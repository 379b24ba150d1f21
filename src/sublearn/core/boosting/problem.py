"""What boosting learns from: samples, their loss, and how far the trees so far have come."""

import math
from copy import deepcopy
from typing import Literal, NamedTuple

import numpy as np

from sublearn.core.boosting.derivatives import Slopes, find_slopes
from sublearn.core.boosting.losses import CompiledLoss, Loss, as_answer, ask
from sublearn.core.data.categories import Categories, relearned
from sublearn.core.data.fixed_point import Weights
from sublearn.core.data.samples import NO_VIEWS
from sublearn.core.model.flat_ensemble import FlatEnsemble, add_values
from sublearn.core.parallel import Pass, Workers
from sublearn.kernels.arithmetic import CHUNK
from sublearn.kernels.derivatives import add_chunks
from sublearn.kernels.layout import Array

NEW: tuple[Literal["C"], Literal["W"]] = ("C", "W")  # as a new array: what kernels are compiled for
ADDING = MEASURING = DIFFERENTIATING = 1.0  # what each costs for one output of a sample, in samples visited


class Problem(NamedTuple):
    """Samples, what is to be learned from them, and the predictions so far."""

    codes: Array  # int16 (n_views, n_samples), by which samples go through trees
    unseen: Array  # int16 (n_views, n_samples), what trees grow from; see `Coded`
    views: Array  # int32, as in `Samples`
    categories: Categories | None
    y: Array  # float64 (n_samples,), numbers or class positions
    weights: Weights
    factors: Array  # float64 (n_samples,), weights of the samples' classes; empty for ones
    numbers: Array  # float64 (n_samples,), weights times factors; empty for ones
    weight: float  # of all samples
    loss: Loss
    raw: Array  # float64 (n_samples, n_outputs), start value and the sum of the trees so far

    @property
    def outputs(self) -> Array:
        """Raw values as losses take them."""
        raw = self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw.view()
        raw.flags.writeable = isinstance(self.loss, CompiledLoss)  # a loss of the user's shall not change it
        return raw

    def all_weights(self) -> Array:
        """Weights of the samples times those of their classes."""
        return self.numbers if self.numbers.size else np.ones(len(self.y))

    @property
    def adapts(self) -> bool:
        """Whether the loss wants to see the residuals before each round."""
        return type(self.loss).prepare is not Loss.prepare

    def prepare(self) -> None:
        """Let the loss see the residuals."""
        if self.adapts:
            self.loss.prepare(self.y, self.outputs, self.all_weights())

    def score(self, workers: Workers) -> float:
        """Minus the mean loss."""
        loss = self.loss
        if isinstance(loss, CompiledLoss):
            measure, sums = self._measuring(loss)
            workers.run_chunks(measure, len(self.y), MEASURING * self.raw.shape[1])
            return self._score_of(sums)
        values = as_answer(loss, "values", ask(loss, "values", self.y, self.outputs), self.y.shape)
        return self._score_of(_sums(np.require(values, requirements=NEW), self.numbers))

    def _measuring(self, loss: CompiledLoss) -> tuple[Pass, Array]:
        """A function that measures the losses of some rows, and the sums by chunks that it fills."""
        n = len(self.y)
        values, sums = np.empty(n), np.empty(-(-n // CHUNK))

        def measure(first: int, last: int) -> None:
            loss.fill_values(self.y, self.raw, first, last, values)
            add_chunks(values, self.numbers, first, last, sums)

        return measure, sums

    def _score_of(self, sums: Array) -> float:
        mean = _total(sums) / self.weight
        if np.isnan(mean):
            raise ValueError(f"values of {self.loss!r} must be numbers; got NaN.")
        return -mean

    def slopes(self, signs: Array, workers: Workers) -> tuple[Slopes, Slopes]:
        """Derivatives of the loss by all outputs, and in a direction (n_outputs,) among them, times class weights."""
        loss, n_outputs = self.loss, self.raw.shape[1]
        if isinstance(loss, CompiledLoss):
            differentiate, gradients, hessians = self._differentiating(loss)
            return find_slopes(gradients, hessians, signs, workers, differentiate, DIFFERENTIATING * n_outputs)
        gradients, hessians = self._slopes_of_users()
        if self.factors.size:
            factors = np.tile(self.factors[:, None], n_outputs)
            gradients, hessians = gradients * factors, factors if hessians is None else hessians * factors
        return find_slopes(gradients, hessians, signs, workers)

    def _differentiating(self, loss: CompiledLoss) -> tuple[Pass, Array, Array | None]:
        """A function that fills the derivatives of some rows, and the arrays of these."""
        factors, shape = self.factors[:, None], self.raw.shape
        gradients, curves = np.empty(shape), np.empty(shape if loss.curved or factors.size else (0, shape[1]))

        def differentiate(first: int, last: int) -> None:
            loss.fill_derivatives(self.y, self.raw, first, last, gradients, curves)
            if factors.size:
                gradients[first:last] *= factors[first:last]
                curves[first:last] = (curves[first:last] if loss.curved else 1.0) * factors[first:last]

        return differentiate, gradients, curves if curves.size else None

    def change(self, add: Pass, workers: Workers) -> None:
        """Let `add` change raw of rows first to last."""
        n, n_outputs = self.raw.shape
        workers.run_chunks(add, n, ADDING * n_outputs)

    def move(self, add: Pass, workers: Workers) -> tuple[float, tuple[Slopes, Slopes] | None]:
        """Let `add` change raw of rows first to last; returns the score after that.

        Slopes come with it where there is one output and the loss does not adapt: all in one pass over the samples.
        """
        loss = self.loss
        if not isinstance(loss, CompiledLoss) or self.adapts or self.raw.shape[1] > 1:
            self.change(add, workers)
            return self.score(workers), None
        measure, sums = self._measuring(loss)
        differentiate, gradients, hessians = self._differentiating(loss)

        def visit(first: int, last: int) -> None:
            add(first, last)
            measure(first, last)
            differentiate(first, last)

        slopes = find_slopes(gradients, hessians, np.ones(1), workers, visit, ADDING + MEASURING + DIFFERENTIATING)
        return self._score_of(sums), slopes

    def _slopes_of_users(self) -> tuple[Array, Array | None]:
        """Gradients and hessians by a loss of the user's own, which may be wrong."""
        given = ask(self.loss, "derivatives", self.y, self.outputs)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ValueError(f"derivatives of {self.loss!r} must be a pair: gradient, and second derivative or None.")
        first = self._checked("gradient", given[0])
        second = None if given[1] is None else self._checked("second derivative", given[1])
        if second is not None and (second < 0).any():
            raise ValueError(f"the second derivative of {self.loss!r} must not be negative.")
        return first, second

    def _checked(self, name: str, given: Array) -> Array:
        """A derivative as (n_samples, n_outputs), if it is one."""
        array = as_answer(self.loss, f"the {name}", given, self.outputs.shape)
        if not np.isfinite(array).all():
            raise ValueError(f"the {name} of {self.loss!r} must be finite.")
        return np.require(array, requirements=NEW).reshape(self.raw.shape)

    def parts(self, held_out: Array) -> tuple["Problem", "Problem"]:
        """Samples to be learned from by themselves, and those held out (n_samples,) of them, with the loss of these."""
        rows, others = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        training, testing = self._take(rows), self._take(others)
        if self.categories is not None:  # means are those of the samples to learn from
            means = relearned(self.categories, rows, others, self.views[0])
            for v, mean in means.items():
                training.codes[v], training.unseen[v], testing.codes[v] = mean
        return training, testing._replace(loss=training.loss)

    def _take(self, rows: Array) -> "Problem":
        """Some of the samples; a loss may keep what it has seen."""
        factors = self.factors[rows] if self.factors.size else self.factors
        codes = np.require(self.codes[:, rows], requirements=NEW)
        part = make_problem(codes, self.y[rows], self.weights.take(rows), factors, deepcopy(self.loss), self.raw[rows])
        unseen = codes if self.categories is None else codes.copy()
        return part._replace(unseen=unseen, views=self.views)

    def add(self, ensemble: FlatEnsemble, workers: Workers) -> None:
        """Add the values of trees to raw."""
        add_values(ensemble, ensemble.nodes.value, self.codes, self.raw, workers)


def make_problem(codes: Array, y: Array, weights: Weights, factors: Array, loss: Loss, raw: Array) -> Problem:
    """Samples of numbers with their weights put together."""
    numbers = weights.numbers(len(y)) if weights.weights.size else factors
    if weights.weights.size and factors.size:
        numbers = numbers * factors
    weight = _total(_sums(numbers, np.empty(0))) if numbers.size else float(len(y))
    return Problem(
        codes=codes,
        unseen=codes,
        views=NO_VIEWS,
        categories=None,
        y=y,
        weights=weights,
        factors=factors,
        numbers=numbers,
        weight=weight,
        loss=loss,
        raw=raw,
    )


def _sums(values: Array, weights: Array) -> Array:
    """Sums of values, or of values times weights, by chunks."""
    sums = np.empty(-(-len(values) // CHUNK))
    add_chunks(values, weights, 0, len(values), sums)
    return sums


def _total(sums: Array) -> float:
    return math.fsum(sums) if np.isfinite(sums).all() else float(sums.sum())
