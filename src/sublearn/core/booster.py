"""The loop of boosting: every round fits trees to the derivatives of the loss and adds them (paper Sec. III-B)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.core.answers import NewtonStep
from sublearn.core.criterion import make_test
from sublearn.core.fixed_point import Weights, integer_derivatives
from sublearn.core.flat_ensemble import FlatEnsemble, add_values, apply, pack
from sublearn.core.flat_tree import FlatTree
from sublearn.core.grower import Task, grow, number_root
from sublearn.core.keys import key_below, keys_below
from sublearn.core.losses import Loss
from sublearn.core.parallel import Workers
from sublearn.core.parameters import BoostParameters, TreeParameters
from sublearn.core.projection import Plan
from sublearn.kernels import losses as kernels
from sublearn.kernels.layout import Array, Samples

SUBSAMPLE = 1 << 32  # what is drawn below a round's key, apart from its trees
SMALLEST = 1e-300  # steps of derivatives and weights near the ends of the floats
ROOT = np.zeros(1, np.int64)


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
        return self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw

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
        weights = self.all_weights()
        total = kernels.weighted_sum(np.ones(len(weights)), weights)
        return -float(kernels.weighted_sum(np.ascontiguousarray(values), weights) / total)

    def add(self, trees: list[FlatTree], workers: Workers) -> None:
        """Add the values of trees, of all outputs in turn, to raw."""
        ensemble = pack(trees)
        add_values(ensemble, ensemble.nodes.value, self.raw.shape[1], self.codes, self.raw, workers)


class Growth(NamedTuple):
    """How the trees of all rounds grow."""

    parameters: TreeParameters
    plan: Plan
    boost: BoostParameters
    key: int


class Round(NamedTuple):
    """What a round has added, and how good all rounds so far are together."""

    trees: list[FlatTree]
    train_score: float
    validation_score: float | None


def boost(
    training: Problem, validating: Problem | None, growth: Growth, numbers: range, workers: Workers
) -> Iterator[Round]:
    """Rounds of these numbers, each as soon as it is done."""
    for number in numbers:
        trees = add_round(training, growth, number, workers)
        if validating is not None:
            validating.add(trees, workers)
        yield Round(trees, training.score(), None if validating is None else validating.score())


def add_round(problem: Problem, growth: Growth, number: int, workers: Workers) -> list[FlatTree]:
    """Grow the trees of a round, one for each output, and add their values to raw."""
    key = key_below(growth.key, number)
    raw = problem.raw
    problem.prepare()
    gradients, hessians = _derivatives(problem)
    rows = draw_rows(len(raw), growth.boost.subsample, key_below(key, SUBSAMPLE))
    trees, leaves = [], np.empty(len(raw), np.int64)
    for k in range(raw.shape[1]):
        task = _task(problem, growth, rows, gradients[:, k], None if hessians is None else hessians[:, k])
        tree = grow(task, key_below(key, k), workers, leaves)
        if len(rows) < len(raw):
            leaves = apply(FlatEnsemble(tree, ROOT), problem.codes, workers)[:, 0]
        tree = _renewed(tree, leaves, rows, problem, raw[:, k], growth.boost.learning_rate)
        trees.append(tree)
        raw[:, k] += tree.value[leaves, 0]
    return trees


def draw_rows(n: int, share: float, key: int) -> Array:
    """Positions of a share of n rows, drawn without replacement."""
    size = max(1, round(share * n))
    if size == n:
        return np.arange(n)
    numbers = keys_below(key, np.arange(n))  # all different
    return np.flatnonzero(numbers <= np.partition(numbers, size - 1)[size - 1])


def _derivatives(problem: Problem) -> tuple[Array, Array | None]:
    """Gradients and hessians (n_samples, n_outputs), times class weights."""
    gradient, hessian = problem.loss.derivatives(problem.y, problem.outputs)
    factors, raw = problem.factors, problem.raw
    first = _checked("gradient", gradient, problem)
    if hessian is None:
        return (
            (first, None) if not factors.size else (first * factors[:, None], np.tile(factors[:, None], raw.shape[1]))
        )
    second = _checked("second derivative", hessian, problem)
    if (second < 0).any():
        raise ValueError(f"the second derivative of {problem.loss!r} must not be negative.")
    return (first * factors[:, None], second * factors[:, None]) if factors.size else (first, second)


def _checked(name: str, given: Array, problem: Problem) -> Array:
    """A derivative as (n_samples, n_outputs), if it is one."""
    array = np.asarray(given, np.float64)
    if array.shape != problem.outputs.shape:
        raise ValueError(f"the {name} of {problem.loss!r} must have shape {problem.outputs.shape}; got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} of {problem.loss!r} must be finite.")
    return array.reshape(problem.raw.shape)


def _task(problem: Problem, growth: Growth, rows: Array, gradient: Array, hessian: Array | None) -> Task:
    """What the tree of one output grows from."""
    targets, curvatures, gradient_step, hessian_step = integer_derivatives(gradient, hessian)
    weights, boost = problem.weights, growth.boost
    gradient_step *= weights.step
    hessian_step = max(hessian_step * weights.step, SMALLEST)
    empty = np.empty(0, np.int32)
    return Task(
        Samples(problem.codes, targets, empty, curvatures, weights.weights, weights.counts, 0),
        number_root(rows),
        make_test(growth.parameters, boost.min_child_weight / hessian_step, boost.l2 / hessian_step),
        NewtonStep(gradient_step, hessian_step, boost.l2, boost.learning_rate),
        growth.parameters,
        growth.plan,
    )


def _renewed(
    tree: FlatTree, leaves: Array, rows: Array, problem: Problem, raw: Array, learning_rate: float
) -> FlatTree:
    """The tree with the loss's own leaf values, where it has such; a node above has the mean of its children."""
    if type(problem.loss).leaf_value is Loss.leaf_value:
        return tree
    order = rows[np.argsort(leaves[rows], kind="stable")]
    weights = problem.all_weights()
    value = np.zeros(tree.n_nodes)
    for samples in np.split(order, np.flatnonzero(np.diff(leaves[order])) + 1):
        best = problem.loss.leaf_value(problem.y[samples], raw[samples], weights[samples])
        if best is None:
            return tree
        value[leaves[samples[0]]] = learning_rate * best
    for depth in range(int(tree.depth[-1]), 0, -1):
        nodes = np.flatnonzero(tree.depth == depth)
        value += np.bincount(tree.parent[nodes], tree.weight[nodes] * value[nodes], tree.n_nodes)
        parents = np.unique(tree.parent[nodes])
        value[parents] /= tree.weight[parents]
    return tree._replace(value=value[:, None])
