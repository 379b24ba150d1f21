"""The loop of boosting: every round fits trees to the derivatives of the loss and adds them (paper Sec. III-B)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.core.answers import NewtonStep
from sublearn.core.criterion import make_test
from sublearn.core.fixed_point import Derivatives, Weights, integer_derivatives
from sublearn.core.flat_ensemble import FlatEnsemble, add_values, alone, apply
from sublearn.core.flat_tree import FlatTree, upward
from sublearn.core.grower import Task, grow, number_root
from sublearn.core.keys import key_below, keys_below
from sublearn.core.losses import CompiledLoss, Loss
from sublearn.core.parallel import Workers
from sublearn.core.parameters import BoostParameters, TreeParameters
from sublearn.core.projection import Plan
from sublearn.kernels import losses as kernels
from sublearn.kernels.layout import Array, Samples
from sublearn.kernels.prediction import add_by_node

SUBSAMPLE, SIGNS = 1 << 32, 1 << 33  # what is drawn below a round's key, apart from its tree
SMALLEST = 1e-300  # steps of derivatives and weights near the ends of the floats


class Problem(NamedTuple):
    """Samples, what is to be learned from them, and how far that is."""

    codes: Array  # int16 (n_features, n_samples)
    y: Array  # float64 (n_samples,), numbers or class positions
    weights: Weights
    factors: Array  # float64 (n_samples,), weights of the samples' classes; empty for ones
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
        weights = self.weights.numbers(len(self.y))
        return weights * self.factors if self.factors.size else weights

    def prepare(self) -> None:
        """Let the loss see the residuals."""
        self.loss.prepare(self.y, self.outputs, self.all_weights())

    def score(self) -> float:
        """Minus the mean loss."""
        values = np.asarray(self.loss.values(self.y, self.outputs), np.float64)
        if values.shape != self.y.shape:
            raise ValueError(f"values of {self.loss!r} must have shape {self.y.shape}; got {values.shape}.")
        if np.isnan(values).any():
            raise ValueError(f"values of {self.loss!r} must be numbers; got NaN.")
        weights = self.all_weights()
        total = kernels.weighted_sum(np.ones(len(weights)), weights)
        return -float(kernels.weighted_sum(np.ascontiguousarray(values), weights) / total)

    def add(self, ensemble: FlatEnsemble, workers: Workers) -> None:
        """Add the values of trees to raw."""
        add_values(ensemble, ensemble.nodes.value, self.codes, self.raw, workers)


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
    for number in numbers:
        tree = add_round(training, growth, number, workers)
        if validating is not None:
            validating.add(alone(tree), workers)
        yield Round(tree, training.score(), None if validating is None else validating.score())


def add_round(problem: Problem, growth: Growth, number: int, workers: Workers) -> FlatTree:
    """Grow the tree of a round and add its values to raw."""
    key = key_below(growth.key, number)
    problem.prepare()
    gradients, hessians = _derivatives(problem)
    rows = draw_rows(len(problem.raw), growth.boost.subsample, key_below(key, SUBSAMPLE))
    direction = along(draw_signs(gradients.shape[1], key_below(key, SIGNS)), gradients, hessians)
    leaves = np.empty(len(problem.raw), np.int64)
    tree = grow(make_task(problem, growth, rows, *direction), key, workers, leaves)
    if len(rows) < len(problem.raw):
        leaves = apply(alone(tree), problem.codes, workers)[:, 0]
    if gradients.shape[1] > 1:
        tree = tree._replace(value=_steps(tree, leaves, rows, problem, growth.boost, gradients, hessians))
    tree = _renewed(tree, leaves, rows, problem, growth.boost.learning_rate)
    np.add(problem.raw, tree.value[leaves], out=problem.raw)
    return tree


def draw_signs(n_outputs: int, key: int) -> Array:
    """A direction among the outputs, in which the tree of a round looks for splits: 1 or -1 for each, not all alike.

    One tree then serves all outputs. For the log loss of K classes its nodes tell two groups of classes apart.
    """
    if n_outputs == 1:
        return np.ones(1)
    signs = np.where(keys_below(key, np.arange(n_outputs)) >> np.uint64(63), 1.0, -1.0)
    if abs(signs.sum()) == n_outputs:
        signs[key % n_outputs] *= -1.0
    return signs


def along(signs: Array, gradients: Array, hessians: Array | None) -> tuple[Array, Array | None]:
    """Gradient and hessian of each sample in a direction; the hessian's mixed terms are left out, as in the leaves."""
    if len(signs) == 1:
        return gradients[:, 0], None if hessians is None else hessians[:, 0]
    gradient, hessian = np.zeros(len(gradients)), np.zeros(len(gradients))
    for k, sign in enumerate(signs):  # one by one: a sum over an axis may be taken in another order elsewhere
        gradient += sign * gradients[:, k]
        hessian += 1.0 if hessians is None else hessians[:, k]
    return gradient, hessian


def draw_rows(n: int, share: float, key: int) -> Array:
    """Positions of a share of n rows, drawn without replacement."""
    size = max(1, round(share * n))
    if size == n:
        return np.arange(n)
    numbers = keys_below(key, np.arange(n))  # all different
    return np.flatnonzero(numbers <= np.partition(numbers, size - 1)[size - 1])


def _derivatives(problem: Problem) -> tuple[Array, Array | None]:
    """Gradients and hessians (n_samples, n_outputs), times class weights."""
    given = problem.loss.derivatives(problem.y, problem.outputs)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"derivatives of {problem.loss!r} must be a pair: gradient, and second derivative or None.")
    gradient, hessian = given
    first = _checked("gradient", gradient, problem)
    second = None if hessian is None else _checked("second derivative", hessian, problem)
    if second is not None and (second < 0).any():
        raise ValueError(f"the second derivative of {problem.loss!r} must not be negative.")
    if not problem.factors.size:
        return first, second
    factors = np.tile(problem.factors[:, None], problem.raw.shape[1])
    return first * factors, factors if second is None else second * factors


def _checked(name: str, given: Array, problem: Problem) -> Array:
    """A derivative as (n_samples, n_outputs), if it is one."""
    array = np.asarray(given, np.float64)
    if array.shape != problem.outputs.shape:
        raise ValueError(f"the {name} of {problem.loss!r} must have shape {problem.outputs.shape}; got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} of {problem.loss!r} must be finite.")
    return array.reshape(problem.raw.shape)


def make_task(problem: Problem, growth: Growth, rows: Array, gradient: Array, hessian: Array | None) -> Task:
    """What the tree of a round grows from."""
    derivatives = integer_derivatives(gradient, hessian)
    weights, boost = problem.weights, growth.boost
    l2 = boost.l2 * problem.raw.shape[1]  # of a step in all outputs at once
    newton = _newton_step(derivatives, problem, boost, l2)
    empty = np.empty(0, np.int32)
    return Task(
        Samples(problem.codes, derivatives.targets, empty, derivatives.curvatures, weights.weights, weights.counts, 0),
        number_root(rows),
        make_test(growth.parameters, boost.min_child_weight / newton.hessian_step, l2 / newton.hessian_step),
        newton,
        growth.parameters,
        growth.plan,
    )


def _newton_step(derivatives: Derivatives, problem: Problem, boost: BoostParameters, l2: float) -> NewtonStep:
    """How sums of weighted derivatives become steps."""
    return NewtonStep(
        derivatives.target_step * problem.weights.step,
        max(derivatives.curvature_step * problem.weights.step, SMALLEST),
        l2,
        boost.learning_rate,
        problem.loss.max_step,
    )


def _steps(
    tree: FlatTree,
    leaves: Array,
    rows: Array,
    problem: Problem,
    boost: BoostParameters,
    gradients: Array,
    hessians: Array | None,
) -> Array:
    """Newton steps (n_nodes, n_outputs) of each output, from exact sums over the samples of each node."""
    steps = np.empty((tree.n_nodes, gradients.shape[1]))
    for k in range(gradients.shape[1]):
        derivatives = integer_derivatives(gradients[:, k], None if hessians is None else hessians[:, k])
        curvatures = derivatives.curvatures if derivatives.curvatures.size else np.ones(len(leaves), np.int32)
        descents, sums = (
            _sums_by_node(tree, leaves, rows, problem.weights, numbers) for numbers in (derivatives.targets, curvatures)
        )
        steps[:, k] = _newton_step(derivatives, problem, boost, boost.l2).steps(descents, sums)
    return steps


def _sums_by_node(tree: FlatTree, leaves: Array, rows: Array, weights: Weights, numbers: Array) -> Array:
    """Weighted sums of integers over the samples of each node."""
    sums = np.zeros(tree.n_nodes, np.int64)
    add_by_node(leaves, rows, weights.weights, numbers, sums)
    for nodes in upward(tree):
        np.add.at(sums, tree.parent[nodes], sums[nodes])
    return sums


def _renewed(tree: FlatTree, leaves: Array, rows: Array, problem: Problem, learning_rate: float) -> FlatTree:
    """The tree with the loss's own leaf values, where it has such; a node above has the mean of its children."""
    if type(problem.loss).leaf_value is Loss.leaf_value:
        return tree
    order = rows[np.argsort(leaves[rows], kind="stable")]
    weights = problem.all_weights()
    value = np.zeros(tree.value.shape)
    for samples in np.split(order, np.flatnonzero(np.diff(leaves[order])) + 1):
        best = problem.loss.leaf_value(problem.y[samples], problem.outputs[samples], weights[samples])
        if best is None:
            return tree
        if not np.isfinite(best).all():
            raise ValueError(f"leaf_value of {problem.loss!r} must be finite.")
        value[leaves[samples[0]]] = learning_rate * np.asarray(best)
    for nodes in upward(tree):
        np.add.at(value, tree.parent[nodes], tree.weight[nodes, None] * value[nodes])
        parents = np.unique(tree.parent[nodes])
        value[parents] /= tree.weight[parents, None]
    return tree._replace(value=value)
