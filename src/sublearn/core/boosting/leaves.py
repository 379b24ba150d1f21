"""What the leaves of boosting's trees answer: Newton steps, values of the loss's own, and linear models."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sublearn.core.boosting.derivatives import Slopes, coarse_steps, fine_steps
from sublearn.core.boosting.losses import CompiledLoss, as_answer, ask, has_own_leaves
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem
from sublearn.core.model.flat_tree import FlatTree, LeafSlopes, offsets, upward
from sublearn.core.parallel import Workers
from sublearn.core.tree.answers import NewtonStep
from sublearn.core.tree.assembling import Placed
from sublearn.kernels.derivatives import add_to_parents, sum_derivatives
from sublearn.kernels.layout import Array
from sublearn.kernels.slopes import SPREAD_BITS, find_ranges, find_views, solve_slopes, sum_moments

SMALLEST = 1e-300  # the least step of hessians, where derivatives and weights are near the ends of the floats
MOST_SLOPES = 6  # features of a leaf's linear model: those of the hyperplanes nearest above it
SUMMING = 12.0  # what the sums for a linear model cost, a sample and output, in samples visited
STEEPNESS = 2.0  # penalty on the squared slope of a feature, for each standard deviation, in multiples of l2


def newton_step(
    target_step: Any, curvature_step: Any, problem: Problem, boost: BoostParameters, l2: float
) -> NewtonStep:
    """How sums of weighted derivatives become steps; what integers stand for is a number, or one an output."""
    return NewtonStep(
        target_step * problem.weights.step,
        np.maximum(curvature_step * problem.weights.step, SMALLEST),
        l2,
        boost.learning_rate,
        problem.loss.max_step,
    )


def with_steps(grown: Placed, problem: Problem, boost: BoostParameters, slopes: Slopes, workers: Workers) -> FlatTree:
    """The tree with the Newton steps (n_nodes, n_outputs) and weights of exact sums over the samples of each node."""
    tree, (n, n_outputs) = grown.tree, slopes.gradients.shape
    leaves, places = grown.leaves
    units = fine_steps(slopes)
    given = grown.order, places, slopes.gradients, slopes.curves, problem.weights.weights, units

    def add(first: int, last: int, out: Array) -> None:
        sum_derivatives(*given, first, last, out)

    cost = 2.0 * n_outputs * len(grown.order) / max(n, 1)
    found = workers.links.add(_summed(add, (len(leaves), n_outputs, 2), n, cost, workers))
    sums = np.zeros((tree.n_nodes, n_outputs, 2), np.int64)
    sums[leaves] = found
    add_to_parents(tree.parent, sums)
    newton = newton_step(units[:, 0], units[:, 1], problem, boost, boost.l2)
    with np.errstate(invalid="ignore"):  # of nodes that no sample reaches
        value = newton.steps(sums[:, :, 0], sums[:, :, 1])
    weight = np.cumsum(newton.weights(sums[:, :, 1], 0), axis=1)[:, -1]  # in the order of the outputs
    return tree._replace(value=value, weight=weight)


def renewed(grown: Placed, problem: Problem, learning_rate: float, output: int | None) -> FlatTree:
    """The tree with the loss's own leaf values, where it has such; a node above has the mean of what is below it.

    output: the only output that the tree steps in, of whose values alone use is made; None: it steps in all.
    """
    tree = grown.tree
    if not has_own_leaves(problem.loss):
        return tree
    found = _own_values(grown, problem)
    if found is None:
        return tree
    value = np.zeros(tree.value.shape)
    leaves = grown.leaves[0]
    value[leaves] = learning_rate * (found if output is None else found[:, [output]])
    inner = leaves[~tree.is_leaf[leaves]]  # routes may end there too
    below = np.bincount(tree.parent[1:], tree.weight[1:], tree.n_nodes)
    value[inner] *= (tree.weight - below)[inner, None]
    for nodes in upward(tree):
        np.add.at(value, tree.parent[nodes], tree.weight[nodes, None] * value[nodes])
        parents = np.unique(tree.parent[nodes])
        parents = parents[tree.weight[parents] > 0]
        value[parents] /= tree.weight[parents, None]
    return tree._replace(value=value)


def _own_values(grown: Placed, problem: Problem) -> Array | None:
    """The loss's own values (n_leaves, n_outputs) of the leaves; None where it says that it has none."""
    loss, places, n_outputs = problem.loss, grown.leaves[1], problem.raw.shape[1:]
    if isinstance(loss, CompiledLoss):
        leaf_of = np.repeat(np.arange(len(places)), places[:, 1] - places[:, 0])
        samples = np.concatenate([grown.order[begin:end] for begin, end in places.tolist()])
        residuals = problem.y[samples] - problem.raw[samples, 0]
        return loss.leaf_values(residuals, problem.weights.take(samples), leaf_of, len(places))[:, None]
    weights, values = problem.all_weights(), np.empty((len(places), *n_outputs))
    for i, (begin, end) in enumerate(places.tolist()):
        samples = grown.order[begin:end]
        given = ask(loss, "leaf_value", problem.y[samples], problem.outputs[samples], weights[samples])
        if given is None:
            return None
        values[i] = as_answer(loss, "leaf_value", given, (), n_outputs)
        if not np.isfinite(values[i]).all():
            raise ValueError(f"leaf_value of {loss!r} must be finite.")
    return values


def with_slopes(
    grown: Placed,
    problem: Problem,
    boost: BoostParameters,
    per_deviation: int,
    enough: Array,
    slopes: Slopes,
    workers: Workers,
) -> FlatTree:
    """The tree with a linear model in each leaf, beside the step, which is that at the mean of the leaf's samples.

    Each is a ridge regression of the gradients, weighted by the hessians, over codes of a few features: those of the
    hyperplanes above the leaf. per_deviation: codes a standard deviation; enough (n_nodes,): whether a node has enough
    samples to be asked.
    """
    tree, (n, n_outputs) = grown.tree, slopes.gradients.shape
    leaves, places = grown.leaves
    views = np.empty((len(leaves), MOST_SLOPES), np.int32)
    find_views(tree.parent, tree.first_plane, tree.first_term, tree.feature, leaves, views)
    ranges = _ranges(grown, problem, views, workers)
    units = coarse_steps(slopes, problem.weights.total(n), SPREAD_BITS)
    given = (grown.order, places, problem.codes, views, ranges, (slopes.gradients, slopes.curves))
    width = MOST_SLOPES + 1

    def add(first: int, last: int, out: Array) -> None:
        scratch = np.empty((3, width), np.int64)
        sum_moments(*given, problem.weights.weights, units, first, last, scratch, out)

    cost = n_outputs * SUMMING * len(grown.order) / max(n, 1)
    moments = workers.links.add(_summed(add, (len(leaves), n_outputs, width, width + 1), n, cost, workers))
    shape = (len(leaves), MOST_SLOPES, n_outputs)
    slope, mean, credit = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2])
    newton = newton_step(units[:, 0], units[:, 1], problem, boost, boost.l2)
    penalty = STEEPNESS * boost.l2 * per_deviation**2
    steps = np.column_stack([newton.gradient_step, newton.hessian_step])
    solve_slopes(moments, views, ranges, steps, penalty, np.empty((MOST_SLOPES, width)), slope, mean, credit)
    slope *= boost.learning_rate * _within(newton.max_step, slope, mean, ranges)
    used = (views >= 0) & slope.any(axis=2) & enough[leaves, None]
    counts = np.zeros(tree.n_nodes, np.int64)
    counts[leaves] = used.sum(axis=1)
    weight = np.repeat(tree.weight[leaves], used.sum(axis=1))
    with np.errstate(over="ignore"):  # where derivatives are near the ends of the floats
        decrease = credit[used] / weight
    found = LeafSlopes(
        first=offsets(counts),
        feature=views[used],
        slope=slope[used],
        mean=mean[used],
        low=ranges[0][used],
        high=ranges[1][used],
        decrease=decrease,
    )
    return tree._replace(slopes=found)


def _ranges(grown: Placed, problem: Problem, views: Array, workers: Workers) -> Array:
    """The lowest and highest codes (2, n_leaves, most) of each leaf's samples."""
    places, n = grown.leaves[1], len(problem.raw)
    found: list[Array] = []

    def look(first: int, last: int) -> None:
        part = np.empty((2, *views.shape), np.int16)
        part[0], part[1] = np.iinfo(np.int16).max, np.iinfo(np.int16).min
        find_ranges(grown.order, places, problem.codes, views, first, last, *part)
        found.append(part)

    workers.run_chunks(look, n, views.shape[1] * len(grown.order) / max(n, 1))
    if len(found) > 1:
        found[0] = np.stack([np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)])
    low, high = found[0]
    both = workers.links.most(np.stack([~low, high]))  # of which the first falls as the lowest rises
    both[0] = ~both[0]
    return both


def _within(most: float, slope: Array, mean: Array, ranges: Array) -> Any:
    """A factor for each leaf and output that keeps what slopes add within `most`."""
    if np.isinf(most):
        return 1.0
    low, high = ranges[0][:, :, None], ranges[1][:, :, None]
    reach = np.sum(np.abs(slope) * np.maximum(mean - low, high - mean), axis=1, keepdims=True)
    return most / np.maximum(reach, most)


def _summed(
    add: Callable[[int, int, Array], None], shape: tuple[int, ...], n: int, cost: float, workers: Workers
) -> Array:
    """Sums (int64) over n rows, of which `add(first, last, out)` adds some to `out`; cost: of a row."""
    block = shape[0]  # rows at a time at the least, so that sums take no more room than slopes
    found: list[Array] = []

    def sum_blocks(first: int, last: int) -> None:
        try:
            part = found.pop()  # sums of blocks that are done, to which these are added
        except IndexError:
            part = np.zeros(shape, np.int64)
        add(first * block, min(last * block, n), part)
        found.append(part)

    workers.run(sum_blocks, np.array([cost * block]), items=-(-n // block))
    total: Array = sum(found[1:], found[0])
    return total
