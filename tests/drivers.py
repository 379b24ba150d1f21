"""The drivers of the engine, each as a function that grows the tree of a task."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from naive import Array
from sublearn.core.links import Links, side_by_side
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.exchange import count_all
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.linked import LinkedTree
from sublearn.core.tree.rows import COLUMNS
from sublearn.core.tree.task import Root, Task
from sublearn.kernels import growing, subtrees
from sublearn.kernels.compilation import plain
from support import KEY, ONE_THREAD, assert_same_tree


def uncompile(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let trees grow in Python; put(module, name, function): how functions are replaced."""
    for module, name in ((growing, "grow"), (subtrees, "grow_below")):
        put(module, name, _quiet(plain(getattr(module, name))))


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose integers of 64 bits may overflow, as random numbers do: Python warns of that."""

    def called(*given: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*given)

    return called


def by_operations(task: Task, key: int = KEY, workers: Workers = ONE_THREAD) -> FlatTree:
    """The tree, operation by operation from Python: that of one partition, which has all samples."""
    return LinkedTree(task, count_all(task, workers.links), key, workers).finish().tree


def part_of(task: Task, first: int, last: int) -> Task:
    """The task with samples first to last alone."""
    samples, (runs,) = task.samples, task.root.runs
    columns: dict[str, Any] = {
        name: column[first:last].copy() for name in COLUMNS if (column := getattr(samples, name)).size
    }
    own = [order[(first <= order) & (order < last)] - first for order in np.split(task.root.order, runs[1:-1])]
    return task._replace(
        samples=samples._replace(codes=samples.codes[:, first:last].copy(), **columns),
        root=Root(np.concatenate(own).astype(np.int32), np.cumsum([0, *map(len, own)])[None]),
    )


def in_partitions(task: Task, bounds: Sequence[int], key: int = KEY, n_threads: int = 1) -> list[Placed]:
    """What each partition has grown, of samples bounds[p] to bounds[p + 1]."""
    parts = [part_of(task, first, last) for first, last in pairwise(bounds)]

    def grow_own(links: Links) -> Placed:
        with Workers(n_threads, links=links) as workers:
            return grow_placed(parts[links.number], key, workers)

    return side_by_side(grow_own, len(parts))


def assert_parts_of(whole: Placed, parts: Sequence[Placed], bounds: Sequence[int]) -> None:
    """Every partition has the whole tree, and in each node those of its samples that are its own, in their order."""
    for part in parts:
        assert_same_tree(whole.tree, part.tree)
    for i in range(whole.tree.n_nodes):
        inside = whole.order[slice(*whole.places[i])]
        for part, (first, last) in zip(parts, pairwise(bounds), strict=True):
            own: Array = inside[(first <= inside) & (inside < last)] - first
            assert part.order[slice(*part.places[i])].tolist() == own.tolist()


def cuts(n: int) -> list[list[int]]:
    """Bounds of 1, 2, 3 and 7 partitions, uneven and empty ones among them."""
    return [
        [0, n],
        [0, n // 2, n],
        [0, 1, n // 5, n],
        [0, 0, n // 3, n // 3, n // 2, n - 1, n, n],
    ]
