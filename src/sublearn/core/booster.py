"""The loop of boosting: every round fits trees to the derivatives of the loss and adds them (paper Sec. III-B)."""

import math
from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from sublearn.core.answers import NewtonStep
from sublearn.core.criterion import make_test
from sublearn.core.fixed_point import Derivatives, Weights, fine_steps, integer_derivatives, magnitude
from sublearn.core.flat_ensemble import FlatEnsemble, add_values, alone
from sublearn.core.flat_tree import FlatTree, upward
from sublearn.core.grower import Placed, grow_placed
from sublearn.core.keys import keys_below, keys_in_turn
from sublearn.core.losses import CompiledLoss, Loss
from sublearn.core.parallel import Workers
from sublearn.core.parameters import BoostParameters, TreeParameters
from sublearn.core.projection import Plan
from sublearn.core.task import Task, number_root
from sublearn.kernels import losses as kernels
from sublearn.kernels.boosting import PIECE, add_steps, add_to_parents, look_along, sum_derivatives
from sublearn.kernels.layout import Array, Samples

NOTHING = np.empty(0)
SUBSAMPLE, SIGNS = 1 << 32, 1 << 33  # where rows and signs begin below a round's key; its tree has lower numbers
ADDING = 0.25  # what adding up a sample costs, in samples visited
SMALLEST = 1e-300  # steps of derivatives and weights near the ends of the floats


class Problem(NamedTuple):
    """Samples, what is to be learned from them, and how far that is."""

    codes: Array  # int16 (n_features, n_samples)
    y: Array  # float64 (n_samples,), numbers or class positions
    weights: Weights
    factors: Array  # float64 (n_samples,), weights of the samples' classes; empty for ones
    numbers: Array  # float64 (n_samples,), weights times factors; empty for ones
    loss: Loss
    raw: Array  # float64 (n_samples, n_outputs), sum of the trees so far

    @property
    def outputs(self) -> Array:
        """Raw values as losses take them."""
        raw = self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw.view()
        raw.flags.writeable = isinstance(self.loss, CompiledLoss)  # a loss of the user's shall not change it
        return raw

    def all_weights(self) -> Array:
        """Weights of the samples times those of their classes."""
        return self.numbers if self.numbers.size else np.ones(len(self.y))

    def prepare(self) -> None:
        """Let the loss see the residuals."""
        if type(self.loss).prepare is not Loss.prepare:
            self.loss.prepare(self.y, self.outputs, self.all_weights())

    def score(self, workers: Workers) -> float:
        """Minus the mean loss."""
        compiled = isinstance(self.loss, CompiledLoss)
        given = self.loss.values(self.y, self.outputs, *([workers] if compiled else []))
        values = np.asarray(given, np.float64)
        if values.shape != self.y.shape:
            raise ValueError(f"values of {self.loss!r} must have shape {self.y.shape}; got {values.shape}.")
        total = _total(np.ascontiguousarray(values), self.numbers, workers)
        mean = total / (_total(self.numbers, NOTHING, workers) or len(values))
        if np.isnan(mean):
            raise ValueError(f"values of {self.loss!r} must be numbers; got NaN.")
        return -mean

    def take(self, rows: Array) -> "Problem":
        """Some of the samples, to be learned from by themselves."""
        factors, numbers = (given[rows] if given.size else given for given in (self.factors, self.numbers))
        weights = self.weights.take(rows)
        loss = deepcopy(self.loss)  # it may keep what it has seen
        codes = np.ascontiguousarray(self.codes[:, rows])  # as kernels are compiled for
        return Problem(codes, self.y[rows], weights, factors, numbers, loss, self.raw[rows])

    def add(self, ensemble: FlatEnsemble, workers: Workers) -> None:
        """Add the values of trees to raw."""
        add_values(ensemble, ensemble.nodes.value, self.codes, self.raw, workers)


def make_problem(codes: Array, y: Array, weights: Weights, factors: Array, loss: Loss, raw: Array) -> Problem:
    """Samples with their weights put together."""
    numbers = weights.numbers(len(y)) if weights.weights.size else factors
    if weights.weights.size and factors.size:
        numbers = numbers * factors
    return Problem(codes, y, weights, factors, numbers, loss, raw)


def _total(values: Array, weights: Array, workers: Workers) -> float:
    """Sum of values times weights."""
    sums = np.empty(-(-len(values) // kernels.CHUNK))
    workers.run(
        lambda a, b: kernels.add_chunks(values, weights, a, b, sums),
        np.array([ADDING * kernels.CHUNK]),
        items=len(sums),
    )
    return math.fsum(sums) if np.isfinite(sums).all() else float(sums.sum())


class Growth(NamedTuple):
    """How the trees of all rounds grow."""

    parameters: TreeParameters
    plan: Plan
    boost: BoostParameters
    key: int


class Round(NamedTuple):
    """What a round has added, and how good all rounds so far are together."""

    tree: FlatTree
    train_score: float
    validation_score: float | None


def boost(
    training: Problem, validating: Problem | None, growth: Growth, numbers: range, workers: Workers
) -> Iterator[Round]:
    """Rounds of these numbers, each as soon as it is done."""
    for key in keys_in_turn(growth.key, numbers):
        tree = add_round(training, growth, key, workers)
        if validating is not None:
            validating.add(alone(tree), workers)
        yield Round(tree, training.score(workers), None if validating is None else validating.score(workers))


def add_round(problem: Problem, growth: Growth, key: int, workers: Workers) -> FlatTree:
    """Grow the tree of a round and add its values to raw."""
    problem.prepare()
    gradients, hessians = _derivatives(problem, workers)
    rows = draw_rows(len(problem.raw), growth.boost.subsample, key)
    gradient, hessian, largest = along(draw_signs(gradients.shape[1], key), gradients, hessians, workers)
    grown = grow_placed(make_task(problem, growth, rows, gradient, hessian, workers), key, workers)
    units = fine_steps(largest, hessians is not None)
    tree = _with_steps(grown, problem, growth.boost, gradients, hessians, units, workers)
    tree = _renewed(grown._replace(tree=tree), problem, growth.boost.learning_rate)
    if len(rows) < len(problem.raw):
        problem.add(alone(tree), workers)
    else:
        leaves, places = grown.leaves
        steps = tree.value[leaves]
        workers.run(
            lambda a, b: add_steps(grown.order, places, steps, a, b, problem.raw),
            places[:, 1] - places[:, 0],
        )
    return tree


def draw_signs(n_outputs: int, key: int) -> Array:
    """A direction among the outputs, in which the tree of a round looks for splits: 1 or -1 for each, not all alike.

    One tree then serves all outputs. For the log loss of K classes its nodes tell two groups of classes apart.
    """
    if n_outputs == 1:
        return np.ones(1)
    drawn = keys_below(key, SIGNS + np.arange(n_outputs))
    signs = np.where(drawn >> np.uint64(63), 1.0, -1.0)
    if abs(signs.sum()) == n_outputs:
        signs[key % n_outputs] *= -1.0
    return signs


def along(
    signs: Array, gradients: Array, hessians: Array | None, workers: Workers
) -> tuple[Array, Array | None, Array]:
    """Gradient and hessian of each sample in a direction, and the largest of each output (n_outputs, 2).

    The hessian's mixed terms are left out, as in the leaves.
    """
    n, n_outputs = gradients.shape
    if n_outputs == 1:
        curvature = None if hessians is None else hessians[:, 0]
        most = 1.0 if curvature is None else curvature.max()
        return gradients[:, 0], curvature, np.array([[magnitude(gradients), most]])
    gradient, hessian, largest = np.empty(n), np.empty(n), np.empty((-(-n // PIECE), n_outputs, 2))
    curves = np.empty((0, n_outputs)) if hessians is None else hessians
    workers.run(
        lambda a, b: look_along(signs, gradients, curves, a, b, gradient, hessian, largest),
        np.array([PIECE * n_outputs]),
        items=len(largest),
    )
    return gradient, hessian, largest.max(axis=0)


def draw_rows(n: int, share: float, key: int) -> Array:
    """Positions of a share of n rows, drawn without replacement."""
    size = max(1, round(share * n))
    if size == n:
        return np.arange(n)
    numbers = keys_below(key, SUBSAMPLE + np.arange(n))  # all different
    return np.flatnonzero(numbers <= np.partition(numbers, size - 1)[size - 1])


def _derivatives(problem: Problem, workers: Workers) -> tuple[Array, Array | None]:
    """Gradients and hessians (n_samples, n_outputs), times class weights."""
    if isinstance(problem.loss, CompiledLoss):
        gradient, hessian = problem.loss.derivatives(problem.y, problem.outputs, workers)
        first = gradient.reshape(problem.raw.shape)
        second = None if hessian is None else hessian.reshape(problem.raw.shape)
    else:
        first, second = _derivatives_of_users(problem)
    if not problem.factors.size:
        return first, second
    factors = np.tile(problem.factors[:, None], problem.raw.shape[1])
    return first * factors, factors if second is None else second * factors


def _derivatives_of_users(problem: Problem) -> tuple[Array, Array | None]:
    """The same of a loss that may be wrong."""
    given = problem.loss.derivatives(problem.y, problem.outputs)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"derivatives of {problem.loss!r} must be a pair: gradient, and second derivative or None.")
    gradient, hessian = given
    first = _checked("gradient", gradient, problem)
    second = None if hessian is None else _checked("second derivative", hessian, problem)
    if second is not None and (second < 0).any():
        raise ValueError(f"the second derivative of {problem.loss!r} must not be negative.")
    return first, second


def _checked(name: str, given: Array, problem: Problem) -> Array:
    """A derivative as (n_samples, n_outputs), if it is one."""
    array = np.asarray(given, np.float64)
    if array.shape != problem.outputs.shape:
        raise ValueError(f"the {name} of {problem.loss!r} must have shape {problem.outputs.shape}; got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} of {problem.loss!r} must be finite.")
    return array.reshape(problem.raw.shape)


def make_task(
    problem: Problem, growth: Growth, rows: Array, gradient: Array, hessian: Array | None, workers: Workers
) -> Task:
    """What the tree of a round grows from."""
    derivatives = integer_derivatives(gradient, hessian, workers)
    weights, boost = problem.weights, growth.boost
    l2 = boost.l2 * problem.raw.shape[1]  # of a step in all outputs at once
    newton = _newton_step(derivatives.target_step, derivatives.curvature_step, problem, boost, l2)
    return Task(
        Samples(
            problem.codes,
            derivatives.targets,
            np.empty(0, np.int32),
            derivatives.curvatures,
            np.empty(0, np.int64) if weights.weights.size else derivatives.packed,
            weights.weights,
            weights.counts,
            0,
        ),
        number_root(rows),
        make_test(
            growth.parameters,
            boost.min_child_weight / newton.hessian_step,
            l2 / newton.hessian_step,
            boost.min_gain * noise(derivatives, weights, workers) if boost.min_gain else 0.0,
        ),
        newton,
        growth.parameters,
        growth.plan,
    )


def noise(derivatives: Derivatives, weights: Weights, workers: Workers) -> float:
    """What chance alone adds to G^2 / H by a split chosen beforehand: the mean square of a sample's gradient to its
    curvature, in the integers' steps.
    """
    squares = np.square(derivatives.targets, dtype=np.float64)
    numbers = weights.weights.astype(np.float64)
    if numbers.size:  # a weight that counts as so many samples adds up by itself, any other by its square
        squares *= numbers / weights.counts
    if derivatives.curvatures.size:
        total = _total(derivatives.curvatures.astype(np.float64), numbers, workers)
    else:
        total = _total(numbers, NOTHING, workers) if numbers.size else float(len(squares))
    return _total(squares, numbers, workers) / total


def _newton_step(
    target_step: float, curvature_step: float, problem: Problem, boost: BoostParameters, l2: float
) -> NewtonStep:
    """How sums of weighted derivatives become steps."""
    return NewtonStep(
        target_step * problem.weights.step,
        max(curvature_step * problem.weights.step, SMALLEST),
        l2,
        boost.learning_rate,
        problem.loss.max_step,
    )


def _with_steps(
    grown: Placed,
    problem: Problem,
    boost: BoostParameters,
    gradients: Array,
    hessians: Array | None,
    units: Array,
    workers: Workers,
) -> FlatTree:
    """The tree with the Newton steps (n_nodes, n_outputs) and weights of exact sums over the samples of each node."""
    tree, n_outputs = grown.tree, gradients.shape[1]
    leaves, places = grown.leaves
    sums = np.zeros((tree.n_nodes, n_outputs, 2), np.int64)
    found = np.empty((len(leaves), n_outputs, 2), np.int64)
    curves = np.empty((0, n_outputs)) if hessians is None else hessians
    workers.run(
        lambda a, b: sum_derivatives(
            grown.order, places, gradients, curves, problem.weights.weights, units, a, b, found
        ),
        (places[:, 1] - places[:, 0]) * 2 * n_outputs,
    )
    sums[leaves] = found
    add_to_parents(tree.parent, sums)
    value, weight = np.empty((tree.n_nodes, n_outputs)), np.zeros(tree.n_nodes)
    for k, (target_step, curvature_step) in enumerate(units.tolist()):
        newton = _newton_step(target_step, curvature_step, problem, boost, boost.l2)
        value[:, k] = newton.steps(sums[:, k, 0], sums[:, k, 1])
        weight += newton.weights(sums[:, k, 1], 0)
    return tree._replace(value=value, weight=weight)


def _renewed(grown: Placed, problem: Problem, learning_rate: float) -> FlatTree:
    """The tree with the loss's own leaf values, where it has such; a node above has the mean of its children."""
    tree = grown.tree
    if type(problem.loss).leaf_value is Loss.leaf_value:
        return tree
    weights = problem.all_weights()
    value = np.zeros(tree.value.shape)
    leaves, places = grown.leaves
    for leaf, (begin, end) in zip(leaves.tolist(), places.tolist(), strict=True):
        samples = grown.order[begin:end]
        best = problem.loss.leaf_value(problem.y[samples], problem.outputs[samples], weights[samples])
        if best is None:
            return tree
        if not np.isfinite(best).all():
            raise ValueError(f"leaf_value of {problem.loss!r} must be finite.")
        value[leaf] = learning_rate * np.asarray(best)
    for nodes in upward(tree):
        np.add.at(value, tree.parent[nodes], tree.weight[nodes, None] * value[nodes])
        parents = np.unique(tree.parent[nodes])
        value[parents] /= tree.weight[parents, None]
    return tree._replace(value=value)
