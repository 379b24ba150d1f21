"""What a tree is grown with: its rules, the team of threads, and space for nodes, made once for all trees of a fit."""

import math
import mmap
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.decay import decaying
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.space import batch_size, make_front, make_tools
from sublearn.core.tree.task import Task
from sublearn.kernels.compilation import plain
from sublearn.kernels.front import Front
from sublearn.kernels.job import Job, Rules
from sublearn.kernels.layout import Array, Samples, n_channels, n_features_of
from sublearn.kernels.nodes import FIRST, N_STATES, Grown, note_runs, places_of
from sublearn.kernels.team import N_COUNTERS, N_FILLED, N_OPEN, N_SHARED, READY, Team
from sublearn.kernels.tools import Tools

LEAST = 1024  # samples of a tree, or of a node that threads grow together, from which on these are worth while
WORTH = 1_500_000  # samples visited, by all tests, from which on a further thread is worth while: about a millisecond
EACH = 100_000  # samples visited, that a further thread costs: it is woken, and all wait for each other a little longer
SHARED = 256  # samples of nodes that any thread may take, at the least
BUDGET = 50_000_000  # samples visited between two looks at interrupts; one node may visit more
MOST_SUMS = 1 << 28  # bytes of the sums of a node, from which on threads would need too much memory to share it
KNOWN = tuple(one.name for one in fields(TreeParameters) if one.name in Rules._fields)  # to kernels, by their own name
NO_LIMIT = 1 << 40  # levels that no tree has
UNCOUNTED = 0x4000 if sys.platform == "linux" else None  # for mmap: memory that is never touched does not count
SHARES = 8  # a thread keeps what is below a node that has an eighth of the thread's share of samples, or fewer


class Workspace(NamedTuple):
    """Space that the trees of a fit use one after the other."""

    shared: Grown  # nodes that any thread may take
    grown: Grown  # nodes of all threads, an equal part for each
    hands: list[Grown]  # the parts of `grown`, by thread
    tools: list[Tools]  # scratch space of each thread
    front: Front

    @property
    def n_threads(self) -> int:
        """Threads that there is space for."""
        return len(self.hands)


def make_rules(task: Task) -> Rules:
    """The parameters of all steps, for kernels; a parameter that kernels know by its own name is passed on as it is."""
    parameters, plan, test, answers = task.parameters, task.plan, task.test, task.answers
    n_features = n_features_of(task.samples)
    decay = parameters.rounds[0].selection_decay
    known = {name: getattr(parameters, name) for name in KNOWN}
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


def make_job(task: Task, rules: Rules, order: Array) -> Job:
    """What a tree grows from, for kernels."""
    loose = task.test._replace(min_count=1, min_weight=1, min_gain=0.0)
    return Job(samples=task.samples, order=order, test=task.test, loose=loose, rules=rules)


def workspace_for(task: Task, rules: Rules, n_threads: int, limit: int, workers: Workers) -> Workspace:
    """Space for a tree: that of the last tree of this thread where that was as large.

    There are fewer threads where the system has no memory for all: some systems count memory that is never touched.
    """
    samples, test = task.samples, task.test
    largest = roomy(int(task.root.runs[0, -1]))
    has = (samples.packed.size > 0, samples.weights.size > 0, samples.n_classes, n_channels(samples))
    shape = (samples.codes.shape[0], n_features_of(samples), test.n_bins, largest, n_threads)
    key = (*shape, has, limit > 0, task.parameters)

    def make() -> Workspace:
        room = room_for_nodes(samples, largest, rules, n_threads)
        large = large_for(largest // 2, n_threads, limit // 2)  # or more: all numbers that have this one for `roomy`
        may_not_race = rules.racing_samples == 0 or large < 2 * rules.racing_samples
        most = batch_size(samples, test, rules, n_threads, may_not_race)
        n_nodes = min(most, largest // large + 1) if n_threads > 1 else 0
        n_samples = largest if n_threads > 1 else 0
        return Workspace(
            shared=Grown._make(column[0] for column in room_for_nodes(samples, largest, rules, 1)),
            grown=Grown._make(column.reshape(-1, *column.shape[2:]) for column in room),
            hands=[Grown._make(column[i] for column in room) for i in range(n_threads)],
            tools=[make_tools(samples, test.n_bins, rules, largest, workers.stop.flag) for _ in range(n_threads)],
            front=make_front(samples, test, rules, n_threads, n_nodes, n_samples, may_not_race and n_threads > 1),
        )

    try:
        return workers.keep(key, make)
    except MemoryError:
        if n_threads == 1:
            raise
        return workspace_for(task, rules, n_threads // 2, limit, workers)


def roomy(n: int) -> int:
    """A number that holds n, and is the same for many n: rows that are drawn are some more or fewer each time."""
    step = 1 << max(n.bit_length() - 4, 0)
    return -(-n // step) * step


def room_for_nodes(samples: Samples, n_samples: int, rules: Rules, n_hands: int) -> Grown:
    """Room for all nodes there can be, a part for each thread; what is never touched takes no memory."""
    n = widest = 1
    for _ in range(min(rules.max_depth, 64)):
        widest = min(widest << rules.max_partitions, n_samples)
        n = min(n + widest, 2 * n_samples)
    n_planes = max(min(n_samples, n * rules.max_partitions), 1)
    nodes, planes, terms = ((n_hands, size) for size in (n, n_planes, n_planes * rules.subspace_size))
    n_places: int = n * plain(places_of)(samples.n_classes)
    return Grown(
        parent=untouched(nodes, np.int64),
        cell=untouched(nodes, np.int64),
        depth=untouched(nodes, np.int64),
        at=untouched(nodes, np.int64),
        numbers=untouched((n_hands, n_places), np.int64),
        remainder=untouched(nodes, np.int64),
        loss=untouched(nodes, np.float64),
        pure=untouched(nodes, np.bool_),
        key=untouched(nodes, np.uint64),
        n_planes=untouched(nodes, np.int64),
        decrease=untouched(nodes, np.float64),
        threshold=untouched(planes, np.int32),
        plane_decrease=untouched(planes, np.float64),
        n_terms=untouched(planes, np.int64),
        feature=untouched(terms, np.int32),
        coefficient=untouched(terms, np.int16),
    )


def untouched(shape: tuple[int, ...], dtype: Any, make: Callable[..., Array] = np.empty) -> Array:
    """An array of which little will ever be touched, be it larger than the memory there is; make: or `np.zeros`."""
    try:
        return make(shape, dtype)
    except MemoryError:
        if UNCOUNTED is None:
            raise
    size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | UNCOUNTED)
    except (OSError, OverflowError) as error:
        raise MemoryError(str(error)) from None
    return np.frombuffer(pages, dtype).reshape(shape)


def useful_threads(task: Task, n_threads: int) -> int:
    """How many of some threads a tree has work for: too many would wait for each other longer than they work."""
    n_samples, n_bins = len(task.root.order), task.test.n_bins
    if n_threads == 1 or n_samples <= LEAST:
        return 1
    n_tests = task.plan.n_candidates + len(task.samples.codes)
    if 8 * n_tests * n_bins * n_channels(task.samples) > MOST_SUMS:
        return 1
    n_levels = n_samples.bit_length() if task.parameters.max_depth is None else task.parameters.max_depth
    n_visits = n_samples * min(n_levels, n_samples.bit_length()) * n_tests
    return min(n_threads, 1 + n_visits // WORTH, max(math.isqrt(n_visits // EACH), 1))


def large_for(n_samples: int, n_threads: int, limit: int) -> int:
    """Samples of the largest nodes that are grown by one thread each."""
    return min(limit or n_samples, max(LEAST, n_samples // n_threads))


def make_team(n_samples: int, n_threads: int, n_shared: int, n_places: int, limit: int, workers: Workers) -> Team:
    """How threads work together; the root, whose numbers take n_places, is the first shared node.

    limit: samples of a node at which all threads come back, so that samples can be grouped; 0: they do not.
    """
    counters, ready = np.zeros(N_COUNTERS, np.int64), untouched((n_shared + n_threads,), np.int64, np.zeros)
    counters[[N_SHARED, N_OPEN]], ready[0] = 1, READY
    counters[N_FILLED] = n_places
    return Team(
        n_threads=n_threads,
        is_linked=False,
        large=large_for(n_samples, n_threads, limit),
        small=n_samples if n_threads == 1 else max(SHARED, n_samples // (SHARES * n_threads)),
        counters=counters,
        stop=workers.stop.flag,
        ready=ready,
        budget=BUDGET,
        comes_back=limit > 0,
    )


def enter_root(shared: Grown, runs: Array, counts: Array, n_classes: int, key: int) -> int:
    """Make the root the first shared node, by counts of all classes; returns how many places its numbers take."""
    n_kinds = int(np.count_nonzero(counts)) if n_classes else 0
    shared.parent[0], shared.cell[0], shared.depth[0], shared.key[0], shared.at[0] = -1, 0, 0, key, 0
    n_places = int(plain(places_of)(n_kinds))
    shared.numbers[:n_places] = 0
    plain(note_runs)(runs, runs[-1], counts, np.arange(n_classes), n_kinds, shared.numbers, 0)
    return n_places


def first_states(space: Workspace) -> Array:
    """States of threads (n_threads, N_STATES) that have grown nothing yet."""
    states = np.zeros((space.n_threads, N_STATES), np.int64)
    states[:, FIRST] = np.arange(space.n_threads) * len(space.shared.parent)
    return states
