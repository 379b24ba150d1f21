"""The loop: level by level, every open node goes through the five steps at once."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.core.answers import Answers
from sublearn.core.criterion import NodeSums, describe_nodes, largest_decreases
from sublearn.core.decorrelation import keep_decorrelated
from sublearn.core.discriminant import score_projections
from sublearn.core.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.parameters import TreeParameters
from sublearn.core.partition import Children, split_samples
from sublearn.core.projection import Plan, draw_projections
from sublearn.core.recorder import Recorder
from sublearn.core.subspace import choose_subspace, rank_features
from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import plain
from sublearn.kernels.drawing import CHILDREN
from sublearn.kernels.keeping import Choice
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test
from sublearn.kernels.prediction import note_leaves

BATCH = 1 << 20  # numbers that describe the nodes handled at a time, at the most


class Split(NamedTuple):
    """Result of the five steps for some nodes."""

    candidates: Candidates
    choice: Choice
    children: Children


class Root(NamedTuple):
    """The samples a tree grows from."""

    order: Array  # as in `Level`
    runs: Array


class Task(NamedTuple):
    """All that a tree grows from, but for the key of its random numbers."""

    samples: Samples
    root: Root
    test: Test
    answers: Answers
    parameters: TreeParameters
    plan: Plan


class Room(NamedTuple):
    """Space that lasts from level to level."""

    order: Array  # int32 (n_samples,), of this level
    new_order: Array  # int32 (n_samples,), of the next
    cells: Array  # uint8 (n_samples,), child codes


def class_root(labels: Array, n_classes: int) -> Root:
    """A root that holds all samples, class by class."""
    narrow = labels.astype(np.uint8) if n_classes <= 256 else labels  # sorted by counting
    counts = np.bincount(labels, minlength=n_classes)
    runs = np.concatenate([[0], np.cumsum(counts)])[None, :]
    return Root(np.argsort(narrow, kind="stable").astype(np.int32), runs)


def number_root(rows: Array) -> Root:
    """A root that holds these samples of a regression."""
    return Root(rows.astype(np.int32), np.array([[0, len(rows)]]))


def part_of(root: Root, keep: Array) -> Root:
    """The root with those samples only that a mask over all samples keeps."""
    kept = keep[root.order]
    passed = np.concatenate([[0], np.cumsum(kept)])
    return Root(root.order[kept], passed[root.runs])


def grow(task: Task, key: int, workers: Workers, leaves: Array | None = None) -> FlatTree:
    """Grow one tree; notes in `leaves`, if given, the leaf in which each sample of the root ends."""
    samples, root, test, answers, parameters, plan = task
    room = Room(root.order.copy(), np.empty_like(root.order), np.empty(len(root.order), np.uint8))
    runs = root.runs
    keys = np.array([key], np.uint64)
    recorder = Recorder(answers)
    depth = 0
    parents = np.array([-1])
    while len(runs):
        sums = describe_nodes(samples, room.order, runs, test, workers)
        first = recorder.add_nodes(sums, parents, depth)
        if leaves is not None:  # the leaves among these nodes keep the note, the others' samples get a later one
            note_leaves(room.order, runs, first + np.arange(len(runs)), leaves)
        below: list[tuple[Array, Array, Array]] = []
        reachable = largest_decreases(sums, test)
        for batch in _batches(open_nodes(sums, depth, test, parameters, answers), plan, samples):
            level = Level(room.order, runs[batch], sums.totals[batch], reachable[batch], keys[batch])
            split = split_nodes(samples, level, test, parameters, plan, room, workers)
            recorder.add_splits(first + batch, split.candidates, split.choice, split.children)
            children = split.children
            below.append((children.runs, first + batch[children.parents], child_keys(level.keys, children)))
        if not below:
            break
        runs, parents, keys = (np.concatenate(parts) for parts in zip(*below, strict=True))
        room = Room(room.new_order, room.order, room.cells)
        depth += 1
    return recorder.finish()


def split_nodes(
    samples: Samples,
    level: Level,
    test: Test,
    parameters: TreeParameters,
    plan: Plan,
    room: Room,
    workers: Workers,
) -> Split:
    """The five steps."""
    ranking = rank_features(samples, level, test, workers)
    decay = parameters.rounds[0].selection_decay
    subspace = choose_subspace(ranking, level.keys, plan.subspace_size, parameters.subspace, decay)
    candidates = draw_projections(plan, subspace, ranking, level.losses, level.keys)
    score_projections(samples, level, test, candidates, plan.n_axis, workers)
    choice = keep_decorrelated(samples, level, test, candidates, parameters, room.cells, workers)
    children = split_samples(level, choice, room.cells, room.new_order, workers)
    return Split(candidates, choice, children)


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
