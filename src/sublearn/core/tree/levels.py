"""The paper's algorithm as a loop over levels: every open node of a level goes through the five steps at once.

No fit comes here: `core.tree.grower` grows the same trees faster, node by node in compiled code. This loop is there to
be read, tests hold the compiled trees against it, and `display.search` shows the search of a root by `split_nodes`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.answers import Answers
from sublearn.core.tree.criterion import NodeSums, describe_nodes, largest_decreases
from sublearn.core.tree.decorrelation import keep_decorrelated
from sublearn.core.tree.discriminant import score_projections
from sublearn.core.tree.fitting import fit_projections
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.partition import Children, split_samples
from sublearn.core.tree.projection import Plan, draw_projections
from sublearn.core.tree.racing import end_race, is_raced, start_race
from sublearn.core.tree.recorder import Nodes, Planes, Recorded, Recorder
from sublearn.core.tree.subspace import choose_subspace, rank_features
from sublearn.core.tree.task import Task
from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import plain
from sublearn.kernels.decorrelation import Partitions
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test
from sublearn.kernels.projection import CHILDREN

BATCH = 1 << 20  # numbers that describe the nodes handled at a time, at the most


class Split(NamedTuple):
    """Result of the five steps for some nodes."""

    candidates: Candidates
    partitions: Partitions
    children: Children


class Room(NamedTuple):
    """Space that lasts from level to level."""

    order: Array  # int32 (n_samples,), samples sorted by node
    moved: Array  # int32 (n_samples,), scratch space
    cells: Array  # uint8 (n_samples,), child codes


class Front(NamedTuple):
    """Nodes of one depth that have not gone through the steps."""

    parents: Array  # int64 (n_nodes,), numbers of the parents as in `Nodes`
    cells: Array  # int64 (n_nodes,), child codes
    depth: int
    runs: Array  # int64 (n_nodes, n_classes + 1), as in `Level`
    keys: Array  # uint64 (n_nodes,), what random numbers are drawn from
    sums: NodeSums

    def take(self, which: Array) -> "Front":
        """The nodes at some positions."""
        sums = NodeSums(*(column[which] for column in self.sums))
        return Front(
            parents=self.parents[which],
            cells=self.cells[which],
            depth=self.depth,
            runs=self.runs[which],
            keys=self.keys[which],
            sums=sums,
        )

    @property
    def sizes(self) -> Array:
        """Samples of each node."""
        sizes: Array = self.runs[:, -1] - self.runs[:, 0]
        return sizes


def grow_by_levels(task: Task, key: int, workers: Workers) -> FlatTree:
    """Grow one tree."""
    order = task.root.order.copy()
    room = Room(order, np.empty_like(order), np.empty(len(order), np.uint8))
    recorder = Recorder(task.answers)
    runs, nothing = task.root.runs, np.array([-1])
    sums = describe_nodes(task.samples, order, runs, task.test, workers)
    front = Front(parents=nothing, cells=nothing, depth=0, runs=runs, keys=np.array([key], np.uint64), sums=sums)
    while len(front.runs):
        front = _step(task, front, room, recorder, workers)
    return recorder.finish()[0]


def _step(task: Task, front: Front, room: Room, recorder: Recorder, workers: Workers) -> Front:
    """Take nodes through the five steps, and record them; returns their children."""
    samples, _, test, answers, parameters, plan = task
    below: list[tuple[Array, ...]] = []
    opened = open_nodes(front.sums, front.depth, test, parameters, answers)
    closed = np.setdiff1d(np.arange(len(front.runs)), opened)
    if len(closed):
        recorder.add(_leaves(front.take(closed)))
    reachable = largest_decreases(front.sums, test)
    raced = is_raced(front.sizes[opened], parameters)
    batches = [*_batches(opened[raced], plan, samples), *_batches(opened[~raced], plan, samples)]
    for batch in batches:
        nodes = front.take(batch)
        level = Level(room.order, nodes.runs, nodes.sums.totals, reachable[batch], nodes.keys)
        split = split_nodes(samples, level, test, parameters, plan, room, workers)
        first = recorder.add(_splits(nodes, split))
        children = split.children
        below.append(
            (
                first + children.parents,
                children.codes,
                children.runs,
                child_keys(level.keys, children),
            )
        )
    if not below:
        return front.take(opened)
    parents, cells, runs, keys = (np.concatenate(columns) for columns in zip(*below, strict=True))
    if not len(runs):
        return front.take(opened[:0])
    return Front(
        parents=parents,
        cells=cells,
        depth=front.depth + 1,
        runs=runs,
        keys=keys,
        sums=describe_nodes(samples, room.order, runs, test, workers),
    )


def _nodes(front: Front, n_planes: Array, decrease: Array) -> Nodes:
    depth = np.full(len(front.runs), front.depth)
    return Nodes(
        parent=front.parents,
        cell=front.cells,
        depth=depth,
        places=front.runs[:, [0, -1]],
        sums=front.sums,
        n_planes=n_planes,
        decrease=decrease,
    )


def _leaves(front: Front) -> Recorded:
    n = len(front.runs)
    return Recorded(_nodes(front, np.zeros(n, np.int64), np.zeros(n)), Planes.none())


def _splits(front: Front, split: Split) -> Recorded:
    """Nodes and the hyperplanes that they have kept."""
    candidates, partitions, _ = split
    row, slot = np.nonzero(np.arange(partitions.kept.shape[1]) < partitions.n_kept[:, None])
    kept = partitions.kept[row, slot]
    plane, d = np.nonzero(candidates.coefficients[row, kept])
    planes = Planes(
        candidates.threshold[row, kept],
        candidates.decrease[row, kept],
        np.bincount(plane, minlength=len(row)),
        candidates.subspace[row[plane], d],
        candidates.coefficients[row[plane], kept[plane], d],
    )
    return Recorded(_nodes(front, partitions.n_kept, partitions.decrease), planes)


def split_nodes(
    samples: Samples,
    level: Level,
    test: Test,
    parameters: TreeParameters,
    plan: Plan,
    room: Room,
    workers: Workers,
) -> Split:
    """The five steps for nodes of which all or none are raced."""
    raced = bool(is_raced(level.runs[:1, -1] - level.runs[:1, 0], parameters).all())
    source, loose = start_race(samples, level, test, parameters, workers) if raced else (level, test)
    ranking = rank_features(samples, source, loose, workers)
    decay = parameters.rounds[0].selection_decay
    views = samples.views
    subspace = choose_subspace(ranking, level.keys, plan.subspace_size, parameters.subspace, decay, views)
    fitted = fit_projections(samples, source, plan, subspace, ranking, workers)
    candidates = draw_projections(plan, subspace, ranking, fitted, source.losses, level, samples.n_classes, views)
    score_projections(samples, source, loose, candidates, plan.n_axis, workers)
    if raced:
        candidates = end_race(samples, level, test, candidates, parameters.n_finalists, workers)
    partitions = keep_decorrelated(samples, level, test, candidates, parameters, room.cells, workers)
    children = split_samples(level, partitions, room.cells, room.moved, workers)
    return Split(candidates, partitions, children)


def open_nodes(sums: NodeSums, depth: int, test: Test, parameters: TreeParameters, answers: Answers) -> Array:
    """Positions of the nodes that may be split."""
    if parameters.max_depth is not None and depth >= parameters.max_depth:
        return np.empty(0, np.int64)
    large = (
        (sums.counts >= max(parameters.min_samples_split, 2 * test.min_count))
        & (sums.weights >= 2 * test.min_weight)
        & (answers.losses(sums.losses) >= parameters.min_loss)
    )
    return np.flatnonzero(large & ~sums.pure)


def child_keys(keys: Array, children: Children) -> Array:
    """Keys that depend on the path from the root alone."""
    below: Array = plain(mix)(keys, np.full(len(keys), CHILDREN))
    found: Array = plain(mix)(below[children.parents], children.codes)
    return found


def _batches(positions: Array, plan: Plan, samples: Samples) -> Iterator[Array]:
    width = samples.codes.shape[0] + plan.n_candidates * (plan.subspace_size // 4 + 2)
    size = max(1, BATCH // width)
    for begin in range(0, len(positions), size):
        yield positions[begin : begin + size]
