"""What a tree grows from: samples, the root that holds them, and how nodes are tested and read."""

from typing import NamedTuple

import numpy as np

from sublearn.core.data.outliers import reach_of
from sublearn.core.data.samples import Coded, Response, integer_response, response_samples
from sublearn.core.tree.answers import Answers, make_answers
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.projection import Plan
from sublearn.kernels.layout import Array, Samples, Test


class Root(NamedTuple):
    """The samples a tree grows from."""

    order: Array  # int32 (n_samples,), as in `Node`
    runs: Array  # int64 (1, n_classes + 1), one row as in `Node`
    is_own: bool = False  # whether the order is for this tree alone, which sorts its samples there


class Task(NamedTuple):
    """All that a tree grows from, but for the key of its random numbers."""

    samples: Samples
    root: Root
    test: Test
    answers: Answers
    parameters: TreeParameters
    plan: Plan


def order_of(root: Root) -> Array:
    """The order of the root's samples, for a tree to change."""
    return root.order if root.is_own else root.order.copy()


def make_task(coded: Coded, parameters: TreeParameters, plan: Plan) -> Task:
    """What a tree grows from, be it alone or in a forest."""
    return _task(coded, integer_response(coded), parameters, plan)


def nearer(task: Task, coded: Coded) -> Task | None:
    """The task with targets that are far from all others drawn nearer; None where there are none."""
    reach = None if coded.classes.size else reach_of(coded.y, coded.weights)
    if reach is None:
        return None
    response = integer_response(coded._replace(y=reach.nearer(coded.y)))
    return _task(coded, response, task.parameters, task.plan)


def with_targets_of(task: Task, other: Task) -> Task:
    """The task with the targets of another, whose samples are the same."""
    own, targets = task.samples, other.samples
    samples = own._replace(targets=targets.targets, remainders=targets.remainders, packed=targets.packed)
    return task._replace(samples=samples, answers=other.answers)


def _task(coded: Coded, response: Response, parameters: TreeParameters, plan: Plan) -> Task:
    least = parameters.min_weight_fraction_leaf * response.weights.total(response.n_samples)
    return Task(
        samples=response_samples(coded.unseen, response, coded.maps.views),
        root=make_root(response),
        test=make_test(parameters, least),
        answers=make_answers(response),
        parameters=parameters,
        plan=plan,
    )


def make_root(response: Response) -> Root:
    """A root that holds all samples."""
    if response.n_classes:
        return class_root(response.labels, response.n_classes)
    return number_root(np.arange(response.n_samples))


def class_root(labels: Array, n_classes: int) -> Root:
    """A root that holds all samples, class by class."""
    narrow = labels.astype(np.uint8) if n_classes <= 256 else labels  # sorted by counting
    counts = np.bincount(labels, minlength=n_classes)
    runs = np.concatenate([[0], np.cumsum(counts)])[None, :]
    return Root(np.argsort(narrow, kind="stable").astype(np.int32), runs)


def number_root(rows: Array) -> Root:
    """A root that holds these samples of a regression."""
    return Root(rows.astype(np.int32, copy=False), np.array([[0, len(rows)]]))


def repeated(root: Root, times: Array) -> Root:
    """The root with each sample so many times; `times` is for all samples, in their own order."""
    wanted = times[root.order]
    passed = np.concatenate([[0], np.cumsum(wanted)])
    return Root(np.repeat(root.order, wanted), passed[root.runs])
