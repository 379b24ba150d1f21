"""What is below small nodes of several partitions: one of these gets all samples of such a node, and grows its subtree.

The samples of a small node take fewer bytes than the sums that partitions would send each other for all that is below
it. Each partition gets about as many samples as the others, and grows by its own threads; then all of them tell what
they have grown, and send back where each sample is.
"""

from heapq import heapify, heapreplace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sublearn.core.links import Links
from sublearn.core.parallel import Workers
from sublearn.core.tree.rows import pack, put, room_for, unpack, width_of
from sublearn.core.tree.space import make_tools
from sublearn.core.tree.task import Task
from sublearn.core.tree.threads import takes_long
from sublearn.core.tree.workspace import NO_LIMIT, make_job, make_rules, make_team, room_for_nodes
from sublearn.kernels import subtrees
from sublearn.kernels.compilation import plain
from sublearn.kernels.front import Front
from sublearn.kernels.layout import Array, Samples, n_channels
from sublearn.kernels.machine import SUBTREES
from sublearn.kernels.nodes import CELLS, FILLED, FIRST, N_STATES, NODES, OPERATION, PLANES, TERMS, Grown, places_of
from sublearn.kernels.subtrees import ALL_DONE
from sublearn.kernels.team import N_OPEN, N_SHARED, READY

WAVE = 64 << 20  # bytes of samples that a partition gets at a time
SHARES = 8  # nodes of an eighth of a partition's share of samples, or fewer, are small where a tree has many levels
OWN = 1 << 40  # from here on numbers of parents are those of a partition's own nodes; below, of nodes above them
BY_NODE = ("parent", "cell", "depth", "at", "remainder", "loss", "pure", "key", "n_planes", "decrease")
BY_PLANE, BY_TERM = ("threshold", "plane_decrease", "n_terms"), ("feature", "coefficient")


def most_alone(task: Task, n_samples: int, links: Links) -> int:
    """How many samples a small node has at the most; n_samples: of all partitions.

    A node is small if its samples take fewer bytes than its own sums on their way to all. Where that holds for the
    whole tree, since it has many levels, nodes are small from which on partitions have shares that are about even.
    """
    if links.n_partitions == 1:
        return 0
    samples, width = task.samples, width_of(task.samples)
    n_tested = max(task.plan.n_candidates, len(samples.codes))
    sums = 16 * n_tested * task.test.n_bins * n_channels(samples)  # there, and back as those of all
    least, most_levels = sums // width, n_samples.bit_length()
    n_levels = min(most_levels if task.parameters.max_depth is None else task.parameters.max_depth, most_levels)
    if n_samples * width > sums << n_levels:
        return min(least, WAVE // width)
    return min(max(least, n_samples // (SHARES * links.n_partitions)), WAVE // width)


class Small(NamedTuple):
    """Small nodes of a growing tree, the same in all partitions, and where their own samples are."""

    numbers: Array  # int64 (n,), among the shared nodes
    sizes: Array  # int64 (n,), samples of all partitions
    runs: list[Array]  # of each, in the order of this partition


class Subtrees(NamedTuple):
    """What one partition has grown below the nodes that it got."""

    hands: list[Grown]  # by thread
    begins: Array  # int64 (n,), where the samples of each of these nodes begin, of all partitions


def find_small(shared: Grown, front: Front, ready: Array) -> Small:
    """The nodes that are left when no large one is."""
    numbers = np.flatnonzero(ready == READY)
    sizes, runs = np.zeros(len(numbers), np.int64), []
    for n, i in enumerate(numbers.tolist()):
        at, n_runs = int(shared.at[i]), max(int(shared.numbers[shared.at[i]]), 1)
        runs.append(shared.numbers[at + 1 : at + 2 + n_runs].copy())
        sizes[n] = front.stretches[i, 0, :n_runs].sum()
    return Small(numbers, sizes, runs)


def waves_of(small: Small, width: int, n_partitions: int) -> list[list[Array]]:
    """Which of the small nodes each partition gets, wave after wave: as many samples as the others, ascending nodes."""
    passed = np.cumsum(small.sizes) * width // (WAVE * n_partitions)
    waves = []
    for wave in np.split(np.arange(len(small.sizes)), np.flatnonzero(np.diff(passed)) + 1):
        loads: list[tuple[int, int]] = [(0, p) for p in range(n_partitions)]
        given: list[list[int]] = [[] for _ in range(n_partitions)]
        heapify(loads)
        for n in wave[np.argsort(-small.sizes[wave], kind="stable")].tolist():
            load, p = loads[0]
            heapreplace(loads, (load + int(small.sizes[n]), p))
            given[p].append(n)
        waves.append([np.sort(np.array(nodes, np.int64)) for nodes in given])
    return waves


class Below:
    """Grows what is below small nodes."""

    def __init__(self, task: Task, order: Array, shared: Grown, workers: Workers) -> None:
        self.task, self.order, self.shared, self.workers = task, order, shared, workers
        self.width = width_of(task.samples)

    def run(self, small: Small) -> list[Grown]:
        """All subtrees; the order of this partition is then that of their leaves."""
        links, found = self.workers.links, []
        for given in waves_of(small, self.width, links.n_partitions):
            rows = [self._rows_of(small, nodes) for nodes in given]
            letters = [self._letter(small, nodes, own) for nodes, own in zip(given, rows, strict=True)]
            grown, places = self._grow(small, given[links.number], links.send(letters))
            del letters
            placed = links.send(places)
            for p, one in enumerate(links.tell(grown)):
                self._place(small, given[p], rows[p], placed[p], one)
                found += one.hands
        return found

    def _rows_of(self, small: Small, nodes: Array) -> Array:
        """Positions in the order of the samples of some nodes."""
        each = [np.arange(small.runs[n][0], small.runs[n][-1]) for n in nodes.tolist()]
        return np.concatenate([np.empty(0, np.int64), *each])

    def _letter(self, small: Small, nodes: Array, rows: Array) -> Array:
        """The samples of some nodes in a parcel, before it how many there are of each node and class."""
        counts = np.concatenate([np.empty(0, np.int64), *(np.diff(small.runs[n]) for n in nodes.tolist())])
        return np.concatenate([counts.view(np.uint8), pack(self.task.samples, self.order[rows])])

    def _grow(self, small: Small, nodes: Array, letters: list[Array]) -> tuple[Subtrees, list[Array]]:
        """The subtrees of nodes whose samples have come, and for each partition where its samples are then."""
        n_runs = [len(small.runs[n]) - 1 for n in nodes.tolist()]
        split = 8 * sum(n_runs)
        counts = np.array([letter[:split].view(np.int64) for letter in letters])  # by partition, node and class
        cells = np.concatenate([np.repeat(np.arange(counts.shape[1]), own) for own in counts])
        by_cell = np.argsort(cells, kind="stable")
        samples, at = room_for(self.task.samples, len(cells)), np.empty(len(cells), np.int64)
        at[by_cell] = np.arange(len(cells))
        bounds = np.cumsum(counts.sum(axis=1))[:-1]
        for letter, places in zip(letters, np.split(at, bounds), strict=True):
            put(unpack(letter[split:], samples)[0], places, samples)
        ends = np.append(0, np.cumsum(counts.sum(axis=0)))
        firsts = np.append(0, np.cumsum(n_runs)).astype(np.int64)
        order = np.arange(len(cells), dtype=np.int32)
        roots = _roots(self.shared, small.numbers[nodes], [ends[a : b + 1] for a, b in pairwise(firsts.tolist())])
        hands = self._hands(samples, order, roots) if len(nodes) else []
        place = np.empty(len(cells), np.int32)
        place[by_cell[order]] = np.arange(len(cells))
        return Subtrees(hands, ends[firsts[:-1]]), np.split(place, bounds)

    def _hands(self, samples: Samples, order: Array, roots: Grown) -> list[Grown]:
        """What each thread has grown below some roots."""
        task, workers = self.task, self.workers
        n, n_roots = len(order), len(roots.parent)
        n_threads = min(workers.n_active, n_roots)
        rules = make_rules(task)
        room = room_for_nodes(samples, n, rules._replace(max_depth=NO_LIMIT), n_threads)
        nodes = [Grown._make(column[i] for column in room) for i in range(n_threads)]
        stop, n_bins = workers.stop.flag, task.test.n_bins
        tools = [make_tools(samples, n_bins, rules, n, stop) for _ in range(n_threads)]
        team = make_team(n, n_threads, n_roots, 0, 0, workers)._replace(small=n)
        team.counters[[N_SHARED, N_OPEN]], team.ready[:n_roots] = n_roots, READY
        states = np.zeros((n_threads, N_STATES), np.int64)
        states[:, FIRST], states[:, OPERATION] = OWN, SUBTREES
        job = make_job(task, rules, order)._replace(samples=samples)

        def run(i: int) -> bool:
            return bool(subtrees.grow_below(job, team, roots, nodes[i], states[i], tools[i]) == ALL_DONE)

        workers.together(run, n_threads, takes_long(task))
        return [filled(*one) for one in zip(nodes, states, strict=True)]

    def _place(self, small: Small, nodes: Array, rows: Array, places: Array, subtrees: Subtrees) -> None:
        """Put own samples in the order of the leaves they are in, and tell subtrees where that is.

        rows: positions of the samples that were sent; places: where they are among those of all partitions.
        """
        by_place = np.argsort(places, kind="stable")
        places = places[by_place]
        self.order[rows] = self.order[rows[by_place]]
        begins = np.array([small.runs[n][0] for n in nodes.tolist()], np.int64)
        passed = np.searchsorted(places, subtrees.begins)
        for hand in subtrees.hands:
            at = hand.at + 1
            last = at + np.maximum(hand.numbers[hand.at], 1)
            root = np.searchsorted(subtrees.begins, hand.numbers[at], "right") - 1
            for end in (last, at):
                hand.numbers[end] = begins[root] + np.searchsorted(places, hand.numbers[end]) - passed[root]


def _roots(shared: Grown, numbers: Array, runs: list[Array]) -> Grown:
    """Shared nodes as roots, with runs of their own."""
    at, found, n_places = [], [np.empty(0, np.int64)], 0
    for i, own in zip(numbers.tolist(), runs, strict=True):
        first = int(shared.at[i])
        one = shared.numbers[first : first + plain(places_of)(int(shared.numbers[first]))].copy()
        one[1 : 1 + len(own)] = own
        at.append(n_places)
        found.append(one)
        n_places += len(one)
    columns: dict[str, Array] = {name: getattr(shared, name)[numbers] for name in BY_NODE}
    columns |= {"at": np.array(at, np.int64), "numbers": np.concatenate(found)}
    return shared._replace(**columns)


def filled(grown: Grown, state: Array) -> Grown:
    """The part of a thread's nodes that is filled."""
    n = dict.fromkeys(BY_NODE, state[NODES]) | dict.fromkeys(BY_PLANE, state[PLANES])
    n |= dict.fromkeys(BY_TERM, state[TERMS]) | {"numbers": state[FILLED]}
    return Grown(**{name: column[: n[name]].copy() for name, column in grown._asdict().items()})


def put_together(above: Grown, hands: list[Grown]) -> tuple[Grown, Array]:
    """All nodes as if one thread had grown them, with its state: those above small nodes, and subtrees."""
    columns = {name: [column] for name, column in above._asdict().items()}
    n, n_numbers = len(above.parent), len(above.numbers)
    for hand in hands:
        moved = hand._replace(
            parent=np.where(hand.parent < OWN, hand.parent, hand.parent - OWN + n), at=hand.at + n_numbers
        )
        for name, column in moved._asdict().items():
            columns[name].append(column)
        n, n_numbers = n + len(hand.parent), n_numbers + len(hand.numbers)
    grown = Grown(**{name: np.concatenate(parts) for name, parts in columns.items()})
    state = np.zeros((1, N_STATES), np.int64)
    n_cells = int((1 << grown.n_planes[grown.n_planes > 0]).sum())
    state[0, [NODES, PLANES, TERMS, CELLS]] = n, len(grown.threshold), len(grown.feature), n_cells
    return grown, state
