"""What boosting learns from: samples, their loss, and how far the trees so far have come."""

from copy import deepcopy
from typing import Literal, NamedTuple

import numpy as np

from sublearn.core.boosting.derivatives import Rounded, Slopes, find_slopes
from sublearn.core.boosting.losses import CompiledLoss, Loss, as_answer, ask
from sublearn.core.data.categories import Categories, relearned
from sublearn.core.data.dealing import content_keys
from sublearn.core.data.exact import ExactSum, exact_sum
from sublearn.core.data.fixed_point import Weights
from sublearn.core.data.samples import NO_VIEWS
from sublearn.core.links import Links
from sublearn.core.model.flat_ensemble import FlatEnsemble, add_values
from sublearn.core.parallel import Pass, Workers
from sublearn.kernels.layout import Array

NEW: tuple[Literal["C"], Literal["W"]] = ("C", "W")  # as a new array: what kernels are compiled for
NO_CONTENTS = np.empty(0, np.uint64)
CONTENTS = 0xC0DE5  # the key of contents
ADDING = MEASURING = DIFFERENTIATING = 1.0  # what each costs for one output of a sample, in samples visited


class Room(NamedTuple):
    """Room for what a round finds for each sample, used again by the next: the system takes long to find so much anew.

    What a round leaves here is of use until the next one writes to it.
    """

    gradients: Array  # float64 (n_samples, n_outputs)
    hessians: Array  # float64 (n_samples, n_outputs); empty: all are 1
    along: Array  # float64 (2, n_samples, 1), both in a direction among several outputs
    values: Array  # float64 (n_samples,), losses
    curved: bool  # whether there are hessians
    rounded: Rounded
    rows: Array  # int32 (n_samples,), all rows, which stay as they are
    order: Array  # int32 (n_samples,), in which a tree grows; empty where a round has several trees

    def look(self, signs: Array, workers: Workers, fill: Pass, cost: float) -> tuple[Slopes, Slopes]:
        """The slopes that `fill` writes here; see `find_slopes`."""
        hessians = self.hessians if self.curved else None
        return find_slopes(self.gradients, hessians, signs, workers, fill, cost, self.along)


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
    contents: Array = NO_CONTENTS  # uint64 (n_samples,), numbers that codes determine; empty until rows are drawn

    @property
    def links(self) -> Links:
        """To the other partitions of the samples."""
        return self.weights.links

    def copy(self) -> "Problem":
        """The same samples, to be learned from anew."""
        return self._replace(loss=deepcopy(self.loss), raw=self.raw.copy())

    def with_contents(self) -> "Problem":
        """The same with contents, by which rows are drawn."""
        return self._replace(contents=content_keys(self.codes, len(self.y), CONTENTS))

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
        if isinstance(self.loss, CompiledLoss):
            self.loss.adapt(self.y, self.raw, self.weights)
        elif self.adapts:
            self.loss.prepare(self.y, self.outputs, self.all_weights())

    def score(self, workers: Workers) -> float:
        """Minus the mean loss."""
        loss, n, sums = self.loss, len(self.y), ExactSum()
        if not isinstance(loss, CompiledLoss):
            sums.add(np.require(self.losses(), requirements=NEW), self.numbers, 0, n)
            return self._score_of(sums)
        values = np.empty(n)

        def measure(first: int, last: int) -> None:
            loss.fill_values(self.y, self.raw, first, last, values)
            sums.add(values, self.numbers, first, last)

        workers.run_chunks(measure, n, MEASURING * self.raw.shape[1])
        return self._score_of(sums)

    def losses(self) -> Array:
        """Loss of each sample."""
        if isinstance(self.loss, CompiledLoss):
            values = np.empty(len(self.y))
            self.loss.fill_values(self.y, self.raw, 0, len(values), values)
            return values
        return as_answer(self.loss, "values", ask(self.loss, "values", self.y, self.outputs), self.y.shape).copy()

    def _score_of(self, sums: ExactSum) -> float:
        mean = sums.total(self.links) / self.weight
        if np.isnan(mean):
            raise ValueError(f"values of {self.loss!r} must be numbers; got NaN.")
        return -mean

    def slopes(self, signs: Array, workers: Workers, room: "Room | None" = None) -> tuple[Slopes, Slopes]:
        """Derivatives of the loss by all outputs, and in a direction (n_outputs,) among them, times class weights."""
        loss, n_outputs = self.loss, self.raw.shape[1]
        if isinstance(loss, CompiledLoss):
            room = room or self.room()

            def differentiate(first: int, last: int) -> None:
                loss.fill_derivatives(self.y, self.raw, first, last, room.gradients, room.hessians)
                self._weigh(first, last, room)

            return room.look(signs, workers, differentiate, DIFFERENTIATING * n_outputs)
        gradients, hessians = self._slopes_of_users()
        if self.factors.size:
            factors = np.tile(self.factors[:, None], n_outputs)
            gradients, hessians = gradients * factors, factors if hessians is None else hessians * factors
        return find_slopes(gradients, hessians, signs, workers)

    def room(self, one_tree: bool = False) -> "Room":
        """Room for a round over all samples; one_tree: whether it has no more than one."""
        n, n_outputs = self.raw.shape
        curved = self.factors.size > 0 or not isinstance(self.loss, CompiledLoss) or self.loss.curved
        along = np.empty((2, n if n_outputs > 1 else 0, 1))
        return Room(
            gradients=np.empty((n, n_outputs)),
            hessians=np.empty((n if curved else 0, n_outputs)),
            along=along,
            values=np.empty(n),
            curved=curved,
            rounded=Rounded.of(n),
            rows=np.arange(n, dtype=np.int32),
            order=np.empty(n if one_tree else 0, np.int32),
        )

    def _weigh(self, first: int, last: int, room: "Room") -> None:
        """Multiply derivatives of rows first to last by the weights of their classes."""
        if self.factors.size:
            rows, factors = slice(first, last), self.factors[first:last, None]
            curved = isinstance(self.loss, CompiledLoss) and self.loss.curved
            room.gradients[rows] *= factors
            room.hessians[rows] = (room.hessians[rows] if curved else 1.0) * factors

    def change(self, add: Pass, workers: Workers) -> None:
        """Let `add` change raw of rows first to last."""
        n, n_outputs = self.raw.shape
        workers.run_chunks(add, n, ADDING * n_outputs)

    def move(
        self, add: Pass, signs: Array, room: "Room", workers: Workers
    ) -> tuple[float, tuple[Slopes, Slopes] | None]:
        """Let `add` change raw of rows first to last; returns the score after that.

        Slopes come with it unless the loss adapts, or is the user's own: all in one pass over the samples. They are in
        `room`, and those that were there are gone.
        """
        loss, n_outputs = self.loss, self.raw.shape[1]
        if not isinstance(loss, CompiledLoss) or self.adapts:
            self.change(add, workers)
            return self.score(workers), None
        sums = ExactSum()

        def visit(first: int, last: int) -> None:
            add(first, last)
            loss.fill_both(self.y, self.raw, first, last, room.gradients, room.hessians, room.values)
            self._weigh(first, last, room)
            sums.add(room.values, self.numbers, first, last)

        slopes = room.look(signs, workers, visit, (ADDING + MEASURING + DIFFERENTIATING) * n_outputs)
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
    weight = _total_weight(len(y), weights, factors, numbers)
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


def _total_weight(n: int, weights: Weights, factors: Array, numbers: Array) -> float:
    if weights.links.some(numbers.size > 0):
        return exact_sum(numbers, links=weights.links)
    return float(weights.links.total(n))
