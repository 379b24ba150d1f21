"""Growing a tree in compiled code, by one thread or by several together."""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.answers import Answers
from sublearn.core.tree.criterion import NodeSums
from sublearn.core.tree.decay import decaying
from sublearn.core.tree.grouping import Grouped
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.projection import Plan
from sublearn.core.tree.space import Scratch, make_scratch
from sublearn.core.tree.task import Task
from sublearn.kernels import growing
from sublearn.kernels.assembling import Assembled, Places, assemble
from sublearn.kernels.compilation import plain
from sublearn.kernels.discriminant import HISTOGRAMS
from sublearn.kernels.growing import (
    ALONE,
    AT,
    CELLS,
    FIRST,
    N_STATES,
    NODES,
    PLANES,
    TERMS,
    Grown,
    Rules,
    Team,
    note_runs,
    places_of,
    visits_of,
)
from sublearn.kernels.layout import Array, Samples, Test, n_channels, n_features_of
from sublearn.kernels.team import N_COUNTERS, N_FILLED, N_OPEN, N_SHARED

LEAST = 1024  # samples of a tree from which on more than one thread is worth while
SHARED = 256  # samples of nodes that any thread may take, at the least
BUDGET = 50_000_000  # samples visited between two looks at interrupts; one node may visit more
NO_LIMIT = 1 << 40  # levels that no tree has
SHARES = 8  # a thread keeps what is below a node that has an eighth of the thread's share of samples, or fewer


class Placed(NamedTuple):
    """A tree, and where its training samples are."""

    tree: FlatTree
    places: Array  # int64 (n_nodes, 2), where the samples of each node begin and end in `order`
    order: Array  # int32 (n_samples,); those of a node ascend where those of the root do
    ends: Array | None = None  # int64, nodes in which routes end; None: all leaves

    @property
    def leaves(self) -> tuple[Array, Array]:
        """Numbers and places of the nodes in which routes end."""
        numbers = np.flatnonzero(self.tree.is_leaf) if self.ends is None else self.ends
        return numbers, self.places[numbers]


class Workspace(NamedTuple):
    """Space that the trees of a fit use one after the other."""

    shared: Grown  # nodes that any thread may take
    grown: Grown  # nodes of all threads, an equal part for each
    hands: list[Grown]  # the parts of `grown`, by thread
    spaces: list[Scratch]  # scratch space of each thread


def grow(task: Task, key: int, workers: Workers) -> FlatTree:
    """Grow one tree."""
    return grow_placed(task, key, workers).tree


def grow_placed(task: Task, key: int, workers: Workers) -> Placed:
    """Grow one tree, and tell where its samples are."""
    samples, root, test, answers, parameters, plan = task
    order = root.order.copy()
    n_threads = workers.n_active if len(order) > LEAST else 1
    rules = make_rules(parameters, plan, test, answers, n_features_of(samples))
    shared, grown, hands, spaces = _workspace(task, rules, n_threads, workers)
    n_threads = len(hands)
    states = np.zeros((n_threads, N_STATES), np.int64)
    n_places = _enter_root(shared, root.runs[0], samples.n_classes, key)
    states[:, FIRST] = np.arange(n_threads) * len(shared.parent)
    grouped = Grouped(samples, order, rules.max_depth)
    team = _team(task, rules, n_threads, len(shared.parent), n_places, grouped.limit, workers)

    def run(i: int) -> bool:
        return bool(growing.grow(grouped.samples, order, test, rules, team, shared, i, hands[i], states[i], *spaces[i]))

    def run_alone(i: int) -> bool:
        # nodes come level by level, so that the size of the next tells that of the others; else only time is lost
        if states[i, AT] < states[i, NODES] and _size(hands[i], states[i, AT]) <= grouped.limit:
            grouped.group()
        return run(i)

    is_long = takes_long(task)
    if n_threads > 1 and grouped.limit:
        workers.together(lambda i: run(i) or bool(states[i, ALONE]), n_threads, is_long)  # until no node is large
        grouped.group()
    workers.together(run if n_threads > 1 else run_alone, n_threads, is_long)
    return Placed(*assembled(grown, states, samples, answers), grouped.own_order())


def takes_long(task: Task) -> bool:
    """Whether one node alone may take longer than a user who wants to stop would wait."""
    visits: int = plain(visits_of)(len(task.root.order), task.test.n_bins, task.samples.n_classes)
    return visits * (task.plan.n_candidates + len(task.samples.codes)) > BUDGET


def _enter_root(shared: Grown, runs: Array, n_classes: int, key: int) -> int:
    """Make the root the first shared node; returns how many places its numbers take."""
    n_kinds = np.count_nonzero(np.diff(runs)) if n_classes else 0
    shared.parent[0], shared.cell[0], shared.depth[0], shared.key[0], shared.at[0] = -1, 0, 0, key, 0
    plain(note_runs)(runs, np.arange(n_classes), n_kinds, shared.numbers, 0)
    return int(plain(places_of)(n_kinds))


def _size(grown: Grown, i: int) -> int:
    """Samples of node i."""
    at = grown.at[i]
    return int(grown.numbers[at + 1 + max(grown.numbers[at], 1)] - grown.numbers[at + 1])


def _workspace(task: Task, rules: Rules, n_threads: int, workers: Workers) -> Workspace:
    """Space for a tree: that of the last tree of this thread where that was as large.

    There are fewer threads where the system has no memory for all: some systems count memory that is never touched.
    """
    samples, n_bins = task.samples, task.test.n_bins
    largest = roomy(int(task.root.runs[0, -1]))
    has = (samples.packed.size > 0, samples.weights.size > 0, samples.n_classes, n_channels(samples))
    key = (samples.codes.shape[0], n_features_of(samples), n_bins, largest, n_threads, has, task.parameters)

    def make() -> Workspace:
        room = _space(samples, largest, rules, n_threads)
        return Workspace(
            Grown._make(column[0] for column in _space(samples, largest, rules, 1)),
            Grown._make(column.reshape(-1, *column.shape[2:]) for column in room),
            [Grown._make(column[i] for column in room) for i in range(n_threads)],
            [make_scratch(samples, n_bins, rules, largest) for _ in range(n_threads)],
        )

    try:
        return workers.keep(key, make)
    except MemoryError:
        if n_threads == 1:
            raise
        return _workspace(task, rules, n_threads // 2, workers)


def make_rules(parameters: TreeParameters, plan: Plan, test: Test, answers: Answers, n_features: int) -> Rules:
    """The parameters of all steps, for kernels; a parameter that kernels know by its own name is passed on as it is."""
    decay = parameters.rounds[0].selection_decay
    known = {field.name: getattr(parameters, field.name) for field in fields(parameters) if field.name in Rules._fields}
    return Rules(
        **known
        | {
            "listed": plan.listed,
            "n_axis": plan.n_axis,
            "height": plan.height,
            "rounds": plan.rounds,
            "subspace_size": plan.subspace_size,
            "probabilities": decaying(1.0, decay, n_features) if parameters.subspace == "drawn" else np.empty(0),
            "limits": (parameters.max_cosine * parameters.max_cosine, parameters.effective_ratio),
            "max_depth": NO_LIMIT if parameters.max_depth is None else parameters.max_depth,
            "min_split": max(parameters.min_samples_split, 2 * test.min_count),
            "min_loss": answers.least_loss(parameters.min_loss),
            "racing_samples": parameters.racing_samples or 0,
            "n_fitted": plan.n_fitted,
            "n_candidates": plan.n_candidates,
        }
    )


def _team(task: Task, rules: Rules, n_threads: int, n_shared: int, n_places: int, limit: int, workers: Workers) -> Team:
    """How threads work together; the root, whose numbers take n_places, is the first shared node.

    limit: samples of a node at which all threads come back, so that samples can be grouped; 0: they do not.
    """
    n_samples = len(task.root.order)
    one = max(task.test.n_bins, 1 << rules.max_partitions) * n_channels(task.samples)  # sums of a histogram
    width = max(HISTOGRAMS, one) if n_threads > 1 else 0
    counters, ready = np.zeros(N_COUNTERS, np.int64), np.zeros(n_shared + n_threads, np.int64)
    counters[[N_SHARED, N_OPEN]] = ready[0] = 1
    counters[N_FILLED] = n_places
    return Team(
        n_threads=n_threads,
        large=min(limit or n_samples, max(LEAST, n_samples // n_threads)),
        small=n_samples if n_threads == 1 else max(SHARED, n_samples // (SHARES * n_threads)),
        counters=counters,
        stop=workers.stop.flag,
        sums=np.empty((n_threads, width), np.int64),
        moved=np.empty(n_samples if n_threads > 1 else 0, np.int32),
        ready=ready,
        budget=BUDGET,
        comes_back=limit > 0,
    )


def roomy(n: int) -> int:
    """A number that holds n, and is the same for many n: rows that are drawn are some more or fewer each time."""
    step = 1 << max(n.bit_length() - 4, 0)
    return -(-n // step) * step


def _space(samples: Samples, n_samples: int, rules: Rules, n_hands: int) -> Grown:
    """Room for all nodes there can be, a part for each thread; what is never touched takes no memory."""
    n = widest = 1
    for _ in range(min(rules.max_depth, 64)):
        widest = min(widest << rules.max_partitions, n_samples)
        n = min(n + widest, 2 * n_samples)
    n_planes = max(min(n_samples, n * rules.max_partitions), 1)
    nodes, planes, terms = ((n_hands, size) for size in (n, n_planes, n_planes * rules.subspace_size))
    n_places: int = n * plain(places_of)(samples.n_classes)
    return Grown(
        parent=np.empty(nodes, np.int64),
        cell=np.empty(nodes, np.int64),
        depth=np.empty(nodes, np.int64),
        at=np.empty(nodes, np.int64),
        numbers=np.empty((n_hands, n_places), np.int64),
        remainder=np.empty(nodes, np.int64),
        loss=np.empty(nodes),
        pure=np.empty(nodes, np.bool_),
        key=np.empty(nodes, np.uint64),
        n_planes=np.empty(nodes, np.int64),
        decrease=np.empty(nodes),
        threshold=np.empty(planes, np.int32),
        plane_decrease=np.empty(planes),
        n_terms=np.empty(planes, np.int64),
        feature=np.empty(terms, np.int32),
        coefficient=np.empty(terms, np.int16),
    )


def assembled(grown: Grown, states: Array, samples: Samples, answers: Answers) -> tuple[FlatTree, Array]:
    """The tree that threads have grown, and where the samples of each node are."""
    n, n_planes, n_terms, n_cells = states[:, [NODES, PLANES, TERMS, CELLS]].sum(axis=0).tolist()
    node, plane, term, cell, order = np.empty((5, n), np.int64)
    n_totals = n_channels(samples) - max(samples.n_classes - 1, 0)
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
        totals=np.empty((n, n_totals), np.int64),
        shares=np.zeros((n, samples.n_classes)),  # where classes are many, little of it is ever touched
        remainder=np.empty(n, np.int64),
        loss=np.empty(n),
        decrease=np.empty(n),
    )
    found = Places(node=node, plane=plane, term=term, cell=cell, child=np.empty(n_cells, np.int64), order=order)
    assemble(grown, np.append(0, np.cumsum(states[:, NODES])), found, out)
    weights = out.totals[:, 0]
    counts = out.totals[:, -1] if samples.weights.size or samples.curvatures.size else weights
    pure = np.empty(0, np.bool_)  # a finished tree has no use for it
    sums = NodeSums(
        totals=out.totals, remainders=out.remainder, losses=out.loss, pure=pure, weights=weights, counts=counts
    )
    tree = FlatTree(
        parent=out.parent,
        depth=out.depth,
        first_plane=out.first_plane,
        first_child=out.first_child,
        value=out.shares if samples.n_classes else answers.values(sums),
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
