"""Growing a tree in compiled code, by one thread or by several together."""

from typing import NamedTuple

import numpy as np

from sublearn.core.answers import Answers
from sublearn.core.criterion import node_sums
from sublearn.core.decay import decaying
from sublearn.core.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.parameters import TreeParameters
from sublearn.core.projection import Plan
from sublearn.core.space import Scratch, make_scratch
from sublearn.core.task import Task
from sublearn.kernels import growing
from sublearn.kernels.assembling import Assembled, Found, assemble
from sublearn.kernels.growing import CELLS, FIRST, N_STATES, NODES, PLANES, TERMS, Grown, Rules, Team
from sublearn.kernels.layout import Array, Samples, Test, n_channels
from sublearn.kernels.search import HISTOGRAMS
from sublearn.kernels.team import N_COUNTERS, N_OPEN, N_TASKS

LEAST = 1024  # samples that more than one thread is worth while for
FEW = 256
SHARES = 8  # a thread keeps what is below nodes of this share of its share of samples


class Placed(NamedTuple):
    """A tree and its samples."""

    tree: FlatTree
    places: Array  # int64 (n_nodes, 2), where the samples of each node begin and end in `order`
    order: Array  # int32 (n_samples,)

    @property
    def leaves(self) -> tuple[Array, Array]:
        """Numbers and places of the leaves."""
        numbers = np.flatnonzero(self.tree.is_leaf)
        return numbers, self.places[numbers]


def grow(task: Task, key: int, workers: Workers) -> FlatTree:
    """Grow one tree."""
    return grow_placed(task, key, workers).tree


def grow_placed(task: Task, key: int, workers: Workers) -> Placed:
    """Grow one tree, and tell where its samples are."""
    samples, root, test, answers, parameters, plan = task
    order = root.order.copy()
    n_threads = workers.n_threads if len(order) > LEAST else 1
    rules = make_rules(parameters, plan, test, answers, samples.codes.shape[0])
    room = _kept(task, rules, n_threads, workers)
    tasks, states = room.tasks, np.zeros((n_threads, N_STATES), np.int64)
    tasks.parent[0], tasks.cell[0], tasks.depth[0], tasks.runs[0], tasks.key[0] = -1, 0, 0, root.runs[0], key
    states[:, FIRST] = room.firsts[:, 0]
    team = _team(task, rules, n_threads, len(tasks.parent), workers)

    def work(i: int) -> bool:
        nodes = room.hands[i]
        return bool(growing.grow(samples, order, test, rules, team, tasks, i, nodes, states[i], *room.spaces[i]))

    workers.together(work, n_threads)
    return Placed(*_assembled(room, states, samples, answers), order)


class Room(NamedTuple):
    """Space for a tree while it grows."""

    tasks: Grown
    whole: Grown  # nodes of all threads, of which each has its part
    hands: list[Grown]
    firsts: Array  # int64 (n_threads, 3), where the nodes, hyperplanes and terms of each begin
    spaces: list[Scratch]
    found: Found


def _kept(task: Task, rules: Rules, n_threads: int, workers: Workers) -> Room:
    """Space, that of the last tree where it was as large."""
    samples, runs = task.samples, task.root.runs
    n_bins, largest = task.test.n_bins, int(runs[0, -1])
    has = (samples.packed.size > 0, samples.weights.size > 0, samples.n_classes, n_channels(samples))
    key = (samples.codes.shape[0], n_bins, largest, n_threads, has, task.parameters)

    def make() -> Room:
        sizes = _sizes(largest, rules)
        whole = _space(samples, runs, sizes * n_threads)
        firsts = np.arange(n_threads)[:, None] * sizes
        return Room(
            _space(samples, runs, sizes),
            whole,
            [_part(whole, first, first + sizes) for first in firsts],
            firsts,
            [make_scratch(samples, n_bins, rules, largest) for _ in range(n_threads)],
            _found(len(whole.parent), rules.max_partitions),
        )

    return workers.keep(key, make)


def make_rules(parameters: TreeParameters, plan: Plan, test: Test, answers: Answers, n_features: int) -> Rules:
    """The parameters of all steps, for kernels."""
    decay = parameters.rounds[0].selection_decay
    return Rules(
        plan.listed,
        plan.n_axis,
        plan.height,
        plan.rounds,
        plan.subspace_size,
        decaying(1.0, decay, n_features) if parameters.subspace == "drawn" else np.empty(0),
        parameters.max_partitions,
        (parameters.max_cosine * parameters.max_cosine, parameters.effective_ratio),
        1 << 40 if parameters.max_depth is None else parameters.max_depth,
        max(parameters.min_samples_split, 2 * test.min_count),
        answers.least_loss(parameters.min_loss),
        parameters.racing_samples or 0,
        parameters.n_finalists,
        plan.n_fitted,
        plan.n_candidates,
    )


def _team(task: Task, rules: Rules, n_threads: int, n_tasks: int, workers: Workers) -> Team:
    """What threads share; the root is the first task."""
    n_samples = len(task.root.order)
    one = max(task.test.n_bins, 1 << rules.max_partitions) * n_channels(task.samples)  # histogram
    width = max(HISTOGRAMS, one) if n_threads > 1 else 0
    counters, ready = np.zeros(N_COUNTERS, np.int64), np.zeros(n_tasks + n_threads, np.int64)
    counters[[N_TASKS, N_OPEN]] = ready[0] = 1
    return Team(
        n_threads,
        max(LEAST, n_samples // n_threads),
        n_samples if n_threads == 1 else max(FEW, n_samples // (SHARES * n_threads)),
        counters,
        workers.stop.flag,
        np.empty((n_threads, width), np.int64),
        np.empty(n_samples if n_threads > 1 else 0, np.int32),
        ready,
    )


def _sizes(n_samples: int, rules: Rules) -> Array:
    """How many nodes, hyperplanes and terms there can be."""
    n = widest = 1
    for _ in range(min(rules.max_depth, 64)):
        widest = min(widest << rules.max_partitions, n_samples)
        n = min(n + widest, 2 * n_samples)
    n_planes = max(min(n_samples, n * rules.max_partitions), 1)
    return np.array([n, n_planes, n_planes * rules.subspace_size])


def _space(samples: Samples, runs: Array, sizes: Array) -> Grown:
    """Room for so many nodes, hyperplanes and terms; what is not used takes no memory."""
    n, n_planes, n_terms = sizes.tolist()
    return Grown(
        parent=np.empty(n, np.int64),
        cell=np.empty(n, np.int64),
        depth=np.empty(n, np.int64),
        runs=np.empty((n, runs.shape[1]), np.int64),
        totals=np.empty((n, n_channels(samples)), np.int64),
        remainder=np.empty(n, np.int64),
        loss=np.empty(n),
        pure=np.empty(n, np.bool_),
        key=np.empty(n, np.uint64),
        n_planes=np.empty(n, np.int64),
        decrease=np.empty(n),
        threshold=np.empty(n_planes, np.int32),
        plane_decrease=np.empty(n_planes),
        n_terms=np.empty(n_planes, np.int64),
        feature=np.empty(n_terms, np.int32),
        coefficient=np.empty(n_terms, np.int16),
    )


def _found(n: int, max_partitions: int) -> Found:
    """Space for putting n nodes into order."""
    plane, term, cell, order = np.empty((4, n), np.int64)
    return Found(plane, term, cell, np.empty(n << max_partitions, np.int64), order)


def _part(whole: Grown, firsts: Array, lasts: Array) -> Grown:
    """The nodes, hyperplanes and terms from some numbers to others."""
    nodes, planes, terms = map(slice, firsts.tolist(), lasts.tolist())
    return Grown(
        *(column[nodes] for column in whole[:11]),
        *(column[planes] for column in whole[11:14]),
        *(column[terms] for column in whole[14:]),
    )


def _assembled(room: Room, states: Array, samples: Samples, answers: Answers) -> tuple[FlatTree, Array]:
    """The tree, and where the samples of each node are."""
    n, n_planes, n_terms, n_cells = states[:, [NODES, PLANES, TERMS, CELLS]].sum(axis=0).tolist()
    out = Assembled(
        parent=np.empty(n, np.int32),
        depth=np.empty(n, np.int32),
        first_plane=np.empty(n + 1, np.int32),
        first_child=np.empty(n, np.int32),
        threshold=np.empty(n_planes, np.int32),
        plane_decrease=np.empty(n_planes),
        first_term=np.empty(n_planes + 1, np.int32),
        feature=np.empty(n_terms, np.int32),
        coefficient=np.empty(n_terms, np.int16),
        children=np.empty(n_cells, np.int32),
        places=np.empty((n, 2), np.int64),
        totals=np.empty((n, room.whole.totals.shape[1]), np.int64),
        remainder=np.empty(n, np.int64),
        loss=np.empty(n),
        pure=np.empty(n, np.bool_),
        decrease=np.empty(n),
    )
    assemble(room.whole, room.firsts, states[:, NODES].copy(), room.found, out)
    sums = node_sums(samples, out.totals, out.remainder, out.loss, out.pure)
    tree = FlatTree(
        parent=out.parent,
        depth=out.depth,
        first_plane=out.first_plane,
        first_child=out.first_child,
        value=answers.values(sums),
        loss=answers.losses(out.loss),
        decrease=answers.decreases(out.decrease),
        weight=answers.weights(sums.weights, int(sums.weights[0])),
        n_samples=np.ascontiguousarray(sums.counts),
        threshold=out.threshold,
        plane_decrease=answers.decreases(out.plane_decrease),
        first_term=out.first_term,
        feature=out.feature,
        coefficient=out.coefficient,
        children=out.children,
    )
    return tree, out.places
