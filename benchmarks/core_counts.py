"""What threads of one fit wait for, counted: the part of `cores.py` that runs inside a checkout of sublearn.

Times are of one thread, and the processor's: what a pass takes, and which passes several threads would divide. What
handing over takes is by the clock. Meetings are counted by the threads themselves, of fits with as many threads as are
asked for, however few cores there are. It knows the engine as it was before threads and partitions had one loop, too,
so that both can be counted alike.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import sublearn
from sublearn._base import cores
from sublearn.core import parallel
from sublearn.kernels.derivatives import round_derivatives
from sublearn.kernels.team import N_MET

N_FEATURES = 30
FEW = 2  # rounds of the fits that are only counted: later ones may be tried with fewer threads


class Pass(NamedTuple):
    """Work that threads may divide, as one thread did it."""

    is_setup: bool  # before the first tree
    seconds: float
    costs: Any  # as in `Workers.run`; None: a tree
    items: int


class Tree(NamedTuple):
    """The nodes of a tree."""

    n_samples: Any
    depth: Any
    is_leaf: Any


class Counts(NamedTuple):
    """What is known of fits to tables of one size."""

    n_rows: int
    n_rounds: int
    seconds: float  # of the whole fit, by one thread
    setup: float  # of it, before the first tree
    passes: list[Pass]
    trees: list[Tree]
    n_threads: dict[int, int]  # threads that take part in a tree, by how many there are
    met: dict[int, float]  # meetings a tree, by how many threads there are
    entering: float  # seconds under the interpreter's lock, of each thread and tree
    handing: float  # seconds that it takes to hand work over to another thread
    race: float  # seconds of a race, with the tests of a node of 1,100 samples
    grouping: float  # seconds in which one thread puts samples side by side, of a tree whose threads do so; 0: none do


def engine() -> tuple[Any, str]:
    """The module and the name of the kernel by which one thread grows a tree."""
    try:
        return import_module("sublearn.kernels.machine") and import_module("sublearn.kernels.subtrees"), "grow_below"
    except ModuleNotFoundError:
        return import_module("sublearn.kernels.growing"), "grow"


def grower() -> Any:
    """The module in which trees are put together."""
    try:
        return import_module("sublearn.core.tree.threads")
    except ModuleNotFoundError:
        return import_module("sublearn.core.tree.grower")


@contextmanager
def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """While `owner` has make(what it had) under a name."""
    before = getattr(owner, name)
    setattr(owner, name, make(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


def data_of(n: int) -> tuple[Any, Any]:
    """Two classes, with noise, so that trees are as deep as they may be."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, N_FEATURES)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + 0.5 * rng.normal(size=n)
    return X, (signal > 0).astype(int)


def model_of(n_rounds: int, max_depth: int, n_jobs: int) -> Any:
    """Boosting that only grows trees: rates and rounds are given."""
    return sublearn.SLMBoostClassifier(
        n_estimators=n_rounds, learning_rate=0.1, max_depth=max_depth, n_jobs=n_jobs, random_state=0
    )


def timed_passes(passes: list[Pass], begun: list[float]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Replacements for `Workers.run` and `Workers.together` that note what they take."""

    def of_run(run: Any) -> Any:
        def noted(self: Any, call: Any, costs: Any, items: int = 1) -> None:
            begin = time.process_time()
            run(self, call, costs, items)
            passes.append(Pass(not begun, time.process_time() - begin, np.array(costs), items))

        return noted

    def of_together(together: Any) -> Any:
        def noted(self: Any, *given: Any, **named: Any) -> None:
            begin = time.process_time()
            begun.append(begin)
            together(self, *given, **named)
            passes.append(Pass(False, time.process_time() - begin, None, 1))

        return noted

    return of_run, of_together


def keeping(found: list[Any]) -> Callable[[Any], Any]:
    """A replacement for a function that keeps what it returns."""

    def of(function: Any) -> Any:
        def kept(*given: Any) -> Any:
            found.append(function(*given))
            return found[-1]

        return kept

    return of


def fit_and_see(model: Any, X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """The trees of a fit, and the teams of threads that have grown them."""
    trees: list[Any] = []
    teams: list[Any] = []
    name = "make_team" if hasattr(grower(), "make_team") else "_team"
    with replaced(grower(), "assembled", keeping(trees)), replaced(grower(), name, keeping(teams)):
        model.fit(X, y)
    return [tree for tree, _ in trees], teams


def as_if_there_were(n_cores: int) -> Any:
    """While fits believe that there are so many cores."""
    return replaced(cores, "n_cores", lambda _: lambda: n_cores)


def race_seconds() -> float:
    """What a node of 1,100 samples takes, of which 512 race."""
    X, y = data_of(1_100)
    best = [np.inf]

    def timed(grow: Any) -> Any:
        def noted(*given: Any) -> Any:
            begin = time.process_time()
            result = grow(*given)
            best[0] = min(best[0], time.process_time() - begin)
            return result

        return noted

    with replaced(*engine(), timed):
        for _ in range(5):
            model_of(20, 1, 1).fit(X, y)
    return float(best[0])


def entering_seconds() -> float:
    """What a thread takes to enter compiled code: a call of a team that is stopped."""
    X, y = data_of(20_000)
    given: list[Any] = []

    def kept(grow: Any) -> Any:
        def noting(*arguments: Any) -> Any:
            given[:] = arguments
            return grow(*arguments)

        return noting

    with replaced(*engine(), kept):
        model_of(1, 6, 1).fit(X, y)
    enter = getattr(*engine())
    compilation = import_module("sublearn.kernels.compilation")
    if hasattr(compilation, "entry_of"):
        enter = compilation.entry_of(enter)
    stopped = np.ones(1, np.int64)
    arguments = [one._replace(stop=stopped) if hasattr(one, "budget") else one for one in given]
    best = np.inf
    for _ in range(300):
        begin = time.process_time()
        enter(*arguments)
        best = min(best, time.process_time() - begin)
    return float(best)


def handing_seconds() -> float:
    """What a pass by two threads takes beyond its halves: the least of many, of some 0.15 ms each."""
    n, numbers = 200_000, np.zeros(200_000)

    def half(first: int, last: int) -> None:
        whole = np.empty(0, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
        round_derivatives(numbers, numbers[:0], 1.0, 1.0, 0, n, whole[1], whole[0], whole[2], np.empty(2, np.int64))

    def best(call: Any) -> float:
        found = np.inf
        for _ in range(1_000):
            begin = time.perf_counter()
            call()
            found = min(found, time.perf_counter() - begin)
        return found

    alone = best(lambda: half(0, 1))
    with parallel.Workers(2) as workers:
        return best(lambda: workers.run(half, np.array([1e9]), items=2)) - alone


def grouping_seconds(n_rows: int, max_depth: int, n_threads: int) -> float:
    """What it takes to put the samples of a tree side by side, where so many threads do that."""
    from sublearn.core.data.fixed_point import Weights
    from sublearn.core.data.samples import make_samples
    from sublearn.core.tree.grouping import SMALL, Grouped

    rng = np.random.default_rng(0)
    codes = rng.integers(-99, 99, (N_FEATURES, n_rows)).astype(np.int16)
    order = np.argsort(rng.integers(0, SMALL, n_rows), kind="stable").astype(np.int32)
    targets = np.zeros(n_rows, np.int32)
    ones, packed = Weights(targets[:0], targets[:0]), np.zeros(n_rows, np.int64)
    samples = make_samples(codes, ones, targets=targets, curvatures=targets, packed=packed)
    try:
        grouped = Grouped(samples, order, max_depth, n_threads)
    except TypeError:  # before, it was for deep trees alone
        return 0.0
    if not grouped.limit:
        return 0.0
    workers, best = parallel.Workers(1), np.inf
    for _ in range(3):  # room for the samples is kept from tree to tree, where it is
        grouped = Grouped(samples, order.copy(), max_depth, n_threads)
        begin = time.process_time()
        grouped.group(workers)
        best = min(best, time.process_time() - begin)
    return best


def count(n_rows: int, n_rounds: int, max_depth: int, threads: list[int]) -> Counts:
    """Count all there is to count for tables of so many rows."""
    X, y = data_of(n_rows)
    model_of(FEW, max_depth, 1).fit(X, y)  # what has to be compiled is, or is loaded
    best = None
    for _ in range(3 if n_rows < 500_000 else 2):
        passes: list[Pass] = []
        begun: list[float] = []
        of_run, of_together = timed_passes(passes, begun)
        workers = parallel.Workers
        with replaced(workers, "run", of_run), replaced(workers, "together", of_together):
            begin = time.process_time()
            model_of(n_rounds, max_depth, 1).fit(X, y)
            seconds = time.process_time() - begin
        if best is None or seconds < best[0]:
            best = seconds, begun[0] - begin, passes
    assert best is not None
    trees, _ = fit_and_see(model_of(FEW, max_depth, 1), X, y)
    met, n_used = {}, {}
    for n in threads:
        with as_if_there_were(n):
            _, teams = fit_and_see(model_of(FEW, max_depth, n), X, y)
        met[n] = float(np.mean([team.counters[N_MET] / team.n_threads for team in teams]))
        n_used[n] = max(team.n_threads for team in teams)
    return Counts(
        n_rows=n_rows,
        n_rounds=n_rounds,
        seconds=best[0],
        setup=best[1],
        passes=best[2],
        trees=[Tree(tree.n_samples, tree.depth, tree.is_leaf) for tree in trees],
        n_threads=n_used,
        met=met,
        entering=entering_seconds(),
        handing=handing_seconds(),
        race=race_seconds(),
        grouping=grouping_seconds(n_rows, max_depth, max(threads)),
    )
