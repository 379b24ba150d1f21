"""How fits should go on more cores than this machine has: what threads wait for, counted, and a model of the time.

    python benchmarks/cores.py --before ../before/src     # counts of both checkouts, and the model
    python benchmarks/cores.py --measure 1,2,4,8,16       # seconds on a machine that has the cores, beside XGBoost

The model has what one thread does (measured), how evenly it can be divided (by the sizes of nodes), and what threads
wait for: meetings, sums of others, work that is handed over. What a meeting, a byte, and a line that comes
from memory cost on 16 cores is found from a table of the code before, taken on such a machine (`SEEN`), by least
squares; what handing work over costs is measured, and counts are of each checkout. So the model has three numbers for
twelve, and for the code after none is free.
"""

import argparse
import heapq
import os
import pickle
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

SRC = Path(__file__).parents[1] / "src"
THREADS = [2, 4, 8, 16, 64]
SIZES = {10_000: (20, 6), 100_000: (10, 8), 1_000_000: (4, 8)}  # rounds that are timed, and depth
ROUNDS = {10_000: 100, 100_000: 100, 1_000_000: 50}  # of the table
SEEN = {  # seconds of the code before, on 16 cores, by threads
    1_000_000: {1: 13.3, 2: 7.9, 4: 4.2, 8: 2.9, 16: 2.9},
    100_000: {1: 3.42, 2: 1.97, 4: 1.36, 8: 1.28, 16: 1.61},
    10_000: {1: 0.38, 2: 0.32, 4: 0.29, 8: 0.45, 16: 0.68},
}
XGBOOST = {  # seconds of XGBoost there
    1_000_000: {1: 13.5, 2: 7.2, 4: 4.6, 8: 2.9, 16: 1.5},
    100_000: {1: 2.28, 2: 1.58, 4: 0.88, 8: 0.64, 16: 0.41},
    10_000: {1: 0.50, 2: 0.33, 4: 0.27, 8: 0.20, 16: 0.17},
}
BINS, FINALISTS, CHANNELS = 64, 8, 3  # of boosting's defaults
LEAST, SHARED, SHARES = 1024, 256, 8  # as in `core.tree.workspace`
A_NODE = 400  # what a node costs beyond its samples, in samples
COLUMNS = 16  # that are read of a sample: two of each finalist
A_LINE = 64  # bytes that come from memory together
CACHED = 500_000  # rows from which on codes are not in the caches
GROUPED, MANY = 8, 4  # samples are side by side below nodes of an eighth, where there are four threads and more
NUMBERING = 0.25  # as in `core.tree.grouping`


class Wait(NamedTuple):
    """What the time of a fit is made of, but for what the machine says."""

    base: float  # seconds
    meetings: float  # meetings times threads
    read: float  # bytes of others' sums that a thread reads or adds to
    handed: float  # pieces of work handed over
    fetched: float  # lines that come from memory, as far as threads wait for each other's


def children_of(tree: Any) -> list[list[int]]:
    """Nodes by parent, by depth and size alone: those of a depth come in the order of their parents."""
    levels = [np.flatnonzero(tree.depth == d).tolist() for d in range(int(tree.depth.max()) + 1)]
    found: list[list[int]] = [[] for _ in tree.depth]
    for above, below in pairwise(levels):
        left = iter(below)
        for node in above:
            size = 0
            while not tree.is_leaf[node] and size < tree.n_samples[node]:
                child = next(left)
                found[node].append(child)
                size += int(tree.n_samples[child])
    return found


def evenness(tree: Any, n: int) -> float:
    """How many threads' worth of work n threads do at a time: large nodes together, the rest node by node."""
    sizes = tree.n_samples.astype(np.int64)
    costs = np.where(tree.is_leaf, 0, sizes + A_NODE)
    large = max(LEAST, int(sizes[0]) // n)
    together = (sizes > large) & ~tree.is_leaf
    children = children_of(tree)
    below = np.array(costs, np.float64)
    for node in np.argsort(-tree.depth, kind="stable").tolist():
        below[node] += sum(below[child] for child in children[node])
    small = max(SHARED, int(sizes[0]) // (SHARES * n))
    ready = [child for node in np.flatnonzero(together).tolist() for child in children[node] if not together[child]]
    waiting = [(0.0, node) for node in (ready or [0])]
    heapq.heapify(waiting)
    free = [0.0] * n
    while waiting:
        since, node = heapq.heappop(waiting)
        begin = max(heapq.heappop(free), since)
        alone = sizes[node] <= small
        end = begin + (below[node] if alone else costs[node])
        heapq.heappush(free, end)
        for child in () if alone else children[node]:
            heapq.heappush(waiting, (end, child))
    return float(costs.sum() / (costs[together].sum() / n + max(free)))


def races(tree: Any, n: int, is_one_loop: bool) -> tuple[int, int]:
    """Large nodes, which all threads together grow, and how many races of theirs come one after the other."""
    large = max(LEAST, int(tree.n_samples[0]) // n)
    depths = tree.depth[(tree.n_samples > large) & ~tree.is_leaf]
    batches = np.unique(depths, return_counts=True)[1]
    return len(depths), int((-(-batches // n)).sum() if is_one_loop else len(depths))


def bytes_read(tree: Any, n: int, is_one_loop: bool) -> float:
    """Bytes of others' sums that a thread reads for a tree, or adds to."""
    one = 8 * FINALISTS * BINS * CHANNELS
    large = max(LEAST, int(tree.n_samples[0]) // n)
    sizes = tree.n_samples[(tree.n_samples > large) & ~tree.is_leaf].astype(np.int64)
    if not is_one_loop:
        return float(len(sizes) * (n - 1) * one)
    depths, read = tree.depth[(tree.n_samples > large) & ~tree.is_leaf], 0.0
    for depth in np.unique(depths):
        ends = np.append(0, np.cumsum(sizes[depths == depth]))
        borders = np.arange(n + 1) * ends[-1] // n
        touched = [np.sum((ends[:-1] < b) & (ends[1:] > a)) for a, b in pairwise(borders)]
        read += max(touched) * one + -(-(len(ends) - 1) // n) * one
    return read


def lines_fetched(tree: Any, grouped: int) -> float:
    """Lines that come from memory for a tree: those that have samples of a node, for each of its columns.

    grouped: the part of all samples that a node has from which on they are side by side; 0: they never are.

    A node's samples are spread over all rows, or over those of the node above that is side by side.
    """
    n_rows = int(tree.n_samples[0])
    if n_rows < CACHED:
        return 0.0
    sizes = tree.n_samples[~tree.is_leaf].astype(np.float64)
    found = 0.0
    for n_columns, width in ((COLUMNS, 2), (1, 8)):  # codes, and what is added up
        near = n_rows / grouped if grouped else 0.0
        lines = np.where(sizes <= near, near, n_rows) * width / A_LINE
        found += n_columns * float((lines * -np.expm1(-sizes / lines)).sum())
    return found


def wait_of(counts: Any, n: int, is_one_loop: bool, n_rounds: int, factor: float) -> Wait:
    """What a fit of so many rounds by n threads is made of; factor: seconds there for one here."""
    from sublearn.core.parallel import divide

    trees, timed = counts.trees, counts.n_rounds
    used = counts.n_threads.get(n, 1)
    parts = {True: 0.0, False: 0.0}
    divided = {True: 0.0, False: 0.0}
    handed = {True: 0.0, False: 0.0}
    grown = 0.0
    for one in counts.passes:
        if one.costs is None:
            grown += one.seconds
            continue
        n_parts = len(divide(one.costs, one.items, n)) - 1
        parts[one.is_setup] += one.seconds
        if n > 1 and n_parts > 1:
            divided[one.is_setup] += one.seconds * (1.0 - 1.0 / min(n, n_parts))
            handed[one.is_setup] += min(n - 1, n_parts - 1) if is_one_loop else n - 1
    rest = counts.seconds - counts.setup - parts[False] - grown  # of Python, and what is not divided
    even = float(np.mean([evenness(tree, used) for tree in trees])) if used > 1 else 1.0
    found = [races(tree, used, is_one_loop) for tree in trees]
    common, critical = np.mean(found, axis=0) if used > 1 else (0.0, 0.0)
    tree_seconds = (grown / timed - common * counts.race) / even + critical * counts.race
    entering = counts.entering * (used if n > 1 else 0)
    setup = counts.setup - divided[True]
    a_round = (rest + parts[False] - divided[False]) / timed + tree_seconds + entering
    is_grouped = is_one_loop and used >= MANY and counts.grouping > 0
    a_round += counts.grouping / used if is_grouped else 0.0
    grouped = max(GROUPED, used) if is_grouped else 0  # once no node is large any more
    fetched = float(np.mean([lines_fetched(tree, grouped) for tree in trees])) * (1.0 - 1.0 / used)
    read = float(np.mean([bytes_read(tree, used, is_one_loop) for tree in trees])) if used > 1 else 0.0
    handed_round = handed[False] / timed + (used - 1)
    if is_grouped:  # samples are numbered, moved and named again, and threads go on below
        handed_round += 2 * (used - 1) + 2 * min(n - 1, len(divide(np.array([NUMBERING]), counts.n_rows, n)) - 2)
    return Wait(
        base=factor * (setup + n_rounds * a_round),
        meetings=n_rounds * counts.met.get(n, 0.0) * used if used > 1 else 0.0,
        read=n_rounds * read,
        handed=n_rounds * handed_round + handed[True] if n > 1 else 0.0,
        fetched=n_rounds * fetched,
    )


def fit_machine(before: dict[int, Any], factors: dict[int, float]) -> Any:
    """What a meeting of a thread, a byte and a line cost, by the table of the code before; a hand-over is measured.

    The third of four numbers is that of a hand-over, which each checkout has its own of.
    """
    rows, goals = [], []
    for size, seen in SEEN.items():
        for n, seconds in seen.items():
            if n > 1:
                wait = wait_of(before[size], n, False, ROUNDS[size], factors[size])
                handing = before[size].handing * factors[size]
                rows.append(np.array([wait.meetings, wait.read, wait.fetched]) / seconds)
                goals.append((seconds - wait.base - wait.handed * handing) / seconds)
    meeting, byte, line = nnls(np.array(rows), np.array(goals))[0]
    return np.array([meeting, byte, handing_of(before, factors), line])


def handing_of(counts: dict[int, Any], factors: dict[int, float]) -> float:
    """Seconds that a hand-over takes there."""
    return float(np.mean([counts[size].handing * factors[size] for size in SEEN]))


def report(before: dict[int, Any], after: dict[int, Any]) -> None:
    """Print counts of both, and what the model says."""
    print("rows       threads   meetings a tree   KB of others' sums   handed over a round   serial ms a round, set-up")
    factors = {size: SEEN[size][1] / _alone(before[size], ROUNDS[size]) for size in SEEN}
    for size in SIZES:
        for n in THREADS:
            cells = []
            for counts, is_one_loop in ((before[size], False), (after[size], True)):
                wait, setup, serial = _described(counts, n, is_one_loop)
                cells.append((counts.met[n], wait.read / 1e3, wait.handed, serial, setup))
            text = "   ".join(f"{old:9.1f} {new:8.1f}" for old, new in zip(*cells, strict=True))
            print(f"{size:<10,} {n:>3} ({before[size].n_threads[n]}, {after[size].n_threads[n]})   {text}")
    machine = fit_machine(before, factors)
    machine_after = np.where(np.arange(4) == 2, handing_of(after, factors), machine)
    names = ("ns a meeting and thread", "ns a byte", "us a hand-over before", "ns a line", "us a hand-over after")
    values = np.append(machine, machine_after[2]) * [1e9, 1e9, 1e6, 1e9, 1e6]
    print("\n" + ", ".join(f"{name}: {value:.2f}" for name, value in zip(names, values, strict=True)))
    print("\nrows       threads   before, seen   before, model   after, model   XGBoost, seen")
    for size in SEEN:
        for n in (1, *THREADS):
            found = [
                float(np.dot(wait_of(counts[size], n, one, ROUNDS[size], factors[size]), [1.0, *costs]))
                for counts, one, costs in ((before, False, machine), (after, True, machine_after))
            ]
            seen, peer = SEEN[size].get(n, np.nan), XGBOOST[size].get(n, np.nan)
            print(f"{size:<10,} {n:>3} {seen:14.2f} {found[0]:15.2f} {found[1]:14.2f} {peer:15.2f}")


def _alone(counts: Any, n_rounds: int) -> float:
    """Seconds of one thread."""
    return float(counts.setup + (counts.seconds - counts.setup) / counts.n_rounds * n_rounds)


def _described(counts: Any, n: int, is_one_loop: bool) -> tuple[Wait, float, float]:
    """What a round waits for, and milliseconds of the set-up and of a round that one thread alone works."""
    from sublearn.core.parallel import divide

    wait = wait_of(counts, n, is_one_loop, 1, 1.0)
    shared = {True: 0.0, False: 0.0}
    for one in counts.passes:
        if one.costs is None or len(divide(one.costs, one.items, n)) > 2:
            shared[one.is_setup] += one.seconds
    setup = counts.setup - shared[True]
    serial = (counts.seconds - counts.setup - shared[False]) / counts.n_rounds
    return wait, 1e3 * setup, 1e3 * serial


def counted(src: Path) -> dict[int, Any]:
    """Counts of a checkout, from a process of its own."""
    there = os.environ | {"PYTHONPATH": os.pathsep.join([str(src), str(Path(__file__).parent)])}
    found = subprocess.run([sys.executable, __file__, "--count"], env=there, stdout=subprocess.PIPE, check=True)
    counts: dict[int, Any] = pickle.loads(found.stdout)
    return counts


def by_turns(before: Path, after: Path, n_turns: int) -> list[dict[int, Any]]:
    """Counts of both checkouts, the best of some turns, whatever else the machine does."""
    turns = [[counted(src) for src in (before, after)] for _ in range(n_turns)]
    return [{size: best_of([counts[size] for counts in found]) for size in SIZES} for found in zip(*turns, strict=True)]


def best_of(found: list[Any]) -> Any:
    """The counts of the fastest fit, with the least of what was measured apart from it."""
    least = {name: min(getattr(one, name) for one in found) for name in ("entering", "handing", "race", "grouping")}
    return min(found, key=lambda one: one.seconds)._replace(**least)


def count_here() -> None:
    """Write counts of this process's checkout to stdout."""
    from core_counts import count

    found = {size: count(size, *timed, THREADS) for size, timed in SIZES.items()}
    sys.stdout.buffer.write(pickle.dumps(found))


def measure(threads: list[int]) -> None:
    """Print seconds of fits as in the table, the best of three by turns."""
    from xgboost import XGBClassifier

    from core_counts import data_of, model_of

    print("rows       threads   sublearn   XGBoost")
    for size, (_, depth) in SIZES.items():
        X, y = data_of(size)
        model_of(2, depth, 1).fit(X, y)
        for n in threads:
            times: list[list[float]] = [[], []]
            for _ in range(3):
                peer = XGBClassifier(n_estimators=ROUNDS[size], max_depth=depth, n_jobs=n)
                for found, model in zip(times, (model_of(ROUNDS[size], depth, n), peer), strict=True):
                    begin = time.perf_counter()
                    model.fit(X, y)
                    found.append(time.perf_counter() - begin)
            print(f"{size:<10,} {n:>3} {min(times[0]):13.2f} {min(times[1]):9.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the folder src of the other checkout")
    parser.add_argument("--measure", help="threads, such as 1,2,4,8,16")
    parser.add_argument("--turns", type=int, default=3, help="how often both are counted; the best counts")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.count:
        count_here()
    elif given.measure:
        measure([int(n) for n in given.measure.split(",")])
    elif given.before:
        report(*by_turns(given.before.resolve(), SRC, given.turns))
    else:
        parser.error("give --before or --measure")


if __name__ == "__main__":
    main()
