"""The loop of boosting: every round fits trees to the derivatives of the loss and adds them (paper Sec. III-B)."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sublearn.core.boosting.derivatives import Slopes, integer_derivatives
from sublearn.core.boosting.leaves import newton_step, renewed, with_slopes, with_steps
from sublearn.core.boosting.pace import Pace
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem, Room
from sublearn.core.data.codes import DEVIATIONS, code_limit
from sublearn.core.data.samples import make_samples
from sublearn.core.keys import key_below, keys_below, keys_in_turn
from sublearn.core.links import ALONE, Links
from sublearn.core.model.flat_ensemble import adding_values, pack
from sublearn.core.model.flat_tree import FlatTree, scaled
from sublearn.core.parallel import Pass, Workers
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.projection import Plan
from sublearn.core.tree.settling import place_samples, with_parents_values
from sublearn.core.tree.task import Task, number_root
from sublearn.kernels.derivatives import add_steps
from sublearn.kernels.layout import Array
from sublearn.kernels.slopes import add_answers_of

# numbers of the keys below a round's key: from these on come rows, signs and separate trees. A tree that is alone in
# its round takes the round's key for its root, which uses the numbers 0 to 4; `core.keys` lists all numbers
SUBSAMPLE, SIGNS, SEPARATE = 1 << 32, 1 << 33, 1 << 34
LARGEST = np.uint64(2**64 - 1)


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
    training = _to_draw_from(training, growth)
    n_outputs = training.raw.shape[1]
    slopes, pace, room = None, Pace(workers), training.room(one_tree=n_outputs == 1 or not growth.boost.separate)
    for key, following in pairwise(keys_in_turn(growth.key, range(numbers.start, numbers.stop + 1))):
        with pace:
            trees, add = grow_round(training, growth, key, slopes, room, workers)
            score, slopes = training.move(add, draw_signs(n_outputs, following), room, workers)
            if validating is not None:
                validating.add(pack(trees), workers)
            validation_score = None if validating is None else validating.score(workers)
        yield Round(trees, score, validation_score)


def boost_together(
    trainings: list[Problem], validating: Problem | None, growths: list[Growth], numbers: range, workers: Workers
) -> Iterator[Round]:
    """Rounds of several models side by side, whose mean is one: each round has trees of all of them."""
    mean = trainings[0]._replace(raw=trainings[0].raw.copy())
    share = 1.0 / len(growths)
    together = [
        boost(*given, numbers, workers) for given in zip(trainings, [None] * len(growths), growths, strict=True)
    ]
    for rounds in zip(*together, strict=True):
        trees = [scaled(tree, share) for one in rounds for tree in one.trees]
        np.mean([training.raw for training in trainings], axis=0, out=mean.raw)
        if validating is not None:
            validating.add(pack(trees), workers)
        yield Round(trees, mean.score(workers), None if validating is None else validating.score(workers))


def add_round(problem: Problem, growth: Growth, key: int, workers: Workers) -> list[FlatTree]:
    """Grow the trees of a round and add their values to raw."""
    trees, add = grow_round(_to_draw_from(problem, growth), growth, key, None, problem.room(), workers)
    problem.change(add, workers)
    return trees


def _to_draw_from(problem: Problem, growth: Growth) -> Problem:
    """The problem with what rows are drawn by, where some are."""
    return problem.with_contents() if growth.boost.subsample < 1.0 else problem


def grow_round(
    problem: Problem, growth: Growth, key: int, slopes: tuple[Slopes, Slopes] | None, room: Room, workers: Workers
) -> tuple[list[FlatTree], Pass]:
    """Grow the trees of a round; returns them and a function that adds their values to raw.

    slopes: of the problem, where they are known from the round before.
    """
    n_outputs = problem.raw.shape[1]
    if slopes is None:
        problem.prepare()
        slopes = problem.slopes(draw_signs(n_outputs, key), workers, room)
    rows = room.rows
    if growth.boost.subsample < 1.0:
        rows = draw_rows(problem.contents, growth.boost.subsample, key, workers.links)
    if growth.boost.separate and n_outputs > 1:
        keys = keys_below(key, SEPARATE + np.arange(n_outputs)).tolist()
        each = [slopes[0].only(k) for k in range(n_outputs)]
        grown = [_grow_tree(problem, growth, rows, (own, own), keys[k], room, workers, k) for k, own in enumerate(each)]
        grown = [one._replace(tree=_stepping_in(one.tree, k, n_outputs)) for k, one in enumerate(grown)]
    else:
        grown = [_grow_tree(problem, growth, rows, slopes, key, room, workers)]
    trees = [one.tree for one in grown]
    if len(rows) < len(problem.raw):
        ensemble = pack(trees)
        return trees, adding_values(ensemble, ensemble.nodes.value, problem.codes, problem.raw)
    adding = [_adding(one, problem) for one in grown]

    def add(first: int, last: int) -> None:
        for add_one in adding:
            add_one(first, last)

    return trees, add


def _adding(grown: Placed, problem: Problem) -> Pass:
    """A function that adds what a tree answers to raw of rows first to last, which are where they were placed."""
    tree, (nodes, places) = grown.tree, grown.leaves
    if tree.slopes.first.size:
        given = grown.order, places, nodes, tree.value, tree.slopes, problem.codes.reshape(-1)
        return lambda first, last: add_answers_of(*given, first, last, problem.raw)
    values = tree.value[nodes]
    return lambda first, last: add_steps(grown.order, places, values, first, last, problem.raw)


def _grow_tree(
    problem: Problem,
    growth: Growth,
    rows: Array,
    slopes: tuple[Slopes, Slopes],
    key: int,
    room: Room,
    workers: Workers,
    output: int | None = None,
) -> Placed:
    """A tree whose leaves step by the first slopes, in each of their outputs, and whose nodes split by the second.

    `output`: the only one of the problem's outputs that the slopes are by.
    """
    steps, along = slopes
    task = round_task(problem, growth, rows, along, steps.gradients.shape[1], workers, room)
    grown = grow_placed(task, key, workers)
    if problem.categories is not None:
        grown = place_samples(grown.tree, problem.codes, rows, problem.weights.counts, workers)
    grown = grown._replace(tree=with_steps(grown, problem, growth.boost, steps, workers))
    tree = renewed(grown, problem, growth.boost.learning_rate, output)
    enough = tree.n_samples >= max(growth.parameters.min_samples_leaf, 1)
    if problem.categories is not None:
        tree = with_parents_values(tree, enough)
    if growth.boost.linear:
        per_deviation = code_limit(growth.plan.coefficient_sum) // DEVIATIONS
        placed = grown._replace(tree=tree)
        tree = with_slopes(placed, problem, growth.boost, per_deviation, enough, steps, workers)
    return grown._replace(tree=tree)


def _stepping_in(tree: FlatTree, output: int, n_outputs: int) -> FlatTree:
    """A tree of one output as one of several, which steps in no other."""

    def alone(column: Array) -> Array:
        wide = np.zeros((len(column), n_outputs))
        wide[:, output] = column[:, 0]
        return wide

    slopes = tree.slopes
    if slopes.first.size:
        slopes = slopes._replace(slope=alone(slopes.slope), mean=alone(slopes.mean))
    return tree._replace(value=alone(tree.value), slopes=slopes)


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


def draw_rows(contents: Array, share: float, key: int, links: Links = ALONE) -> Array:
    """Positions (int32), ascending, of about a share of rows, at least one; rows of equal contents come together.

    contents (n_rows,): a number for what is in each row, so that its place does not matter, and weight 2 is the row
    twice.
    """
    drawn = keys_below(key_below(key, SUBSAMPLE), contents)
    limit = max(np.uint64(share * 2.0**64), links.least(drawn.min(initial=LARGEST, keepdims=True))[0])
    return np.flatnonzero(drawn <= limit).astype(np.int32)


def round_task(
    problem: Problem,
    growth: Growth,
    rows: Array,
    slopes: Slopes,
    n_outputs: int,
    workers: Workers,
    room: Room | None = None,
) -> Task:
    """What a tree of boosting grows from: ascending rows, and slopes along a direction among so many outputs.

    room: what for the same rows was there is gone then, and no other tree may grow there at the same time.
    """
    weights, boost, root = problem.weights, growth.boost, number_root(rows)
    if room is None:
        derivatives = integer_derivatives(slopes, weights, workers)
    elif rows is room.rows and room.order.size:
        order = room.order
        root = root._replace(order=order, is_own=True)

        def enter(first: int, last: int) -> None:
            order[first:last] = rows[first:last]

        derivatives = integer_derivatives(slopes, weights, workers, room.rounded, enter)
    else:
        derivatives = integer_derivatives(slopes, weights, workers, room.rounded)
    l2 = boost.l2 * n_outputs  # a step goes in all outputs at once
    newton = newton_step(derivatives.target_step, derivatives.curvature_step, problem, boost, l2)
    return Task(
        samples=make_samples(
            problem.unseen,
            weights,
            targets=derivatives.targets,
            curvatures=derivatives.curvatures,
            packed=derivatives.packed,
            views=problem.views,
        ),
        root=root,
        test=make_test(
            growth.parameters,
            boost.min_child_weight / newton.hessian_step,
            l2 / newton.hessian_step,
            boost.min_gain * derivatives.noise,  # what chance alone adds by a split chosen beforehand
        ),
        answers=newton,
        parameters=growth.parameters,
        plan=growth.plan,
    )
