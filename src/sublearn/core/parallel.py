"""Threads for kernels: kernels release the GIL, and any division of the work gives the same result."""

import math
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Hashable
from functools import partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from threading import main_thread
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from sublearn.core.links import ALONE, Links
from sublearn.kernels.arithmetic import CHUNK
from sublearn.kernels.compilation import COMPILER
from sublearn.kernels.layout import Array
from sublearn.kernels.lingering import ENDED, N_COUNTERS, POSTED, linger

T = TypeVar("T")
Pass = Callable[[int, int], object]  # does something with items first to last

LARGE = 100_000_000  # work, in samples visited, that takes a good part of a second
SMALL = 50_000  # work, in samples visited, that is not worth a second thread
TEST_OVERHEAD = 300  # what a discriminant feature test costs beyond its samples, in samples visited
PARTS = 4  # parts a thread of work that is worth it, so that none waits long for another
PART = 100_000  # work, in samples visited, that is worth a further part
HANDING = 7_500  # work, in samples visited, that handing a part over takes as long as: some 25 microseconds
PAUSE = 0.05  # seconds between two looks at what threads are waiting for


class StoppedError(Exception):
    """Raised in a thread whose work is no longer wanted."""


class Stop:
    """Tells all threads of a fit to stop."""

    def __init__(self) -> None:
        self.flag = np.zeros(1, np.int64)  # kernels look at it too

    @property
    def wanted(self) -> bool:
        """Whether threads are to stop."""
        return bool(self.flag[0])

    def want(self) -> None:
        """Tell all threads to stop."""
        self.flag[0] = 1


class Workers:
    """Runs a kernel over a divided range of items, or one call a thread.

    Kernels are called for parts so small that an interrupt is noticed soon. Where one may take long, the main thread,
    which alone hears of interrupts, leaves it to others and waits. When one call fails, the others stop.

    Threads and queues are those written in C: an interrupt reaches the main thread between any two steps of Python, and
    would leave the locks of concurrent.futures or threading held for ever.
    """

    def __init__(self, n_threads: int, stop: Stop | None = None, links: Links = ALONE) -> None:
        self.n_threads = n_threads
        self.links = links  # to the other partitions of the samples, where there are any
        self.n_active = n_threads  # threads that divide work among them; see `core.boosting.pace`
        self.stop = stop or Stop()
        links.heed(self.stop)
        self.calls: SimpleQueue[Any] = SimpleQueue()
        self.ended: SimpleQueue[None] = SimpleQueue()
        self.counters = np.zeros(N_COUNTERS, np.int64)  # by which threads that linger hear of each other
        self.n_started = 0
        self.n_given = 0  # pieces of work that other threads have taken
        self.kept: dict[tuple[int, str], tuple[Hashable, Any]] = {}  # by thread and use: space that trees share

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.n_started == 0:
            return
        self.stop.want()
        self._post([None] * self.n_started)
        n_ended = 0
        while n_ended < self.n_started:
            try:
                self.ended.get(timeout=PAUSE)
                n_ended += 1
            except Empty:
                if COMPILER.is_busy:  # threads that wait for a kernel end as soon as they have it
                    return

    def run(self, call: Pass, costs: Array, items: int = 1) -> None:
        """call(first, last) over len(costs) * items items, of which the i-th `items` cost costs[i] each."""
        if len(costs) == 1 and costs[0] * items < SMALL:  # a few rows to predict, where every microsecond counts
            self._call(call, 0, items)
            return
        parts = list(pairwise(divide(costs, items, self.n_active)))
        if self.n_active == 1 or len(parts) == 1:
            for first, last in parts:
                self._call(call, first, last)
            return
        self._side_by_side([partial(self._call, call, first, last) for first, last in parts])

    def run_chunks(self, call: Pass, n: int, cost: float) -> None:
        """call(first, last) over n samples that cost so much each; parts begin where chunks of sums do."""
        self.run(lambda a, b: call(a * CHUNK, min(b * CHUNK, n)), np.array([cost * CHUNK]), items=-(-n // CHUNK))

    def each(self, call: Callable[[int, "Workers"], T], n: int, is_long: bool = False) -> list[T]:
        """call(i, workers) for i below n, each in one thread; one by one where they look at other partitions too."""
        if self.n_threads == 1 or self.links.n_partitions > 1:
            return [call(i, self) for i in range(n)]
        own = Workers(1, self.stop)
        return self._side_by_side([partial(self._call, call, i, own) for i in range(n)], is_long)

    def keep(self, key: Hashable, make: Callable[[], T], use: str = "") -> T:
        """What `make` returned for this thread and use before, if that had the same key; else what it returns now."""
        place = get_ident(), use
        last, found = self.kept.get(place, (None, None))
        if last != key:
            self.kept.pop(place, None)
            found = make()
            self.kept[place] = (key, found)
        kept: T = found
        return kept

    def together(self, work: Callable[[int], bool], n: int, is_long: bool = False) -> None:
        """work(i) for i below n at the same time, each again and again until it returns True."""
        done: SimpleQueue[Any] = SimpleQueue()
        n_own = 0 if is_long and _hears_interrupts() else 1
        self._start_threads(n - n_own)
        self._post(
            [(iter([(i, partial(self._guarded, partial(self._finish, work, i)))]), done) for i in range(n_own, n)]
        )
        errors: list[BaseException] = []
        try:
            for i in range(n_own):
                self._guarded(partial(self._finish, work, i))
        except StoppedError as error:
            errors.append(error)
        errors += [found for _, _, found in self._answers(done, n - n_own) if found is not None]
        _raise_first(errors)

    def _finish(self, work: Callable[[int], bool], i: int) -> None:
        while not work(i):
            if self.stop.wanted:
                raise StoppedError

    def _guarded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except BaseException:
            self.stop.want()  # the others may be waiting for this one
            raise

    def _start_threads(self, n: int) -> None:
        if self.n_started < n:
            linger(self.counters, POSTED, 0, POSTED, 0)  # compiled here: nobody would hear of what fails in a thread
        while self.n_started < n:
            start_new_thread(_work, (self.calls, self.ended, self.counters))
            self.n_started += 1

    def _post(self, items: list[Any]) -> None:
        """Let threads take these, one each."""
        for item in items:
            self.calls.put(item)
        self.counters[POSTED] += 1

    def _answers(self, done: "SimpleQueue[Any]", n: int) -> list[Any]:
        """What other threads have put there, as soon as all n are."""
        if n:
            self.n_given += n
            linger(self.counters, POSTED, 0, ENDED, self.n_given)
        return [done.get() for _ in range(n)]

    def _side_by_side(self, calls: list[Callable[[], T]], is_long: bool = False) -> list[T]:
        """Results in order. When a call fails the others stop, and its error is raised."""
        waits = is_long and _hears_interrupts()
        self._start_threads(self.n_threads if waits else self.n_threads - 1)
        done: SimpleQueue[Any] = SimpleQueue()
        results: list[Any] = [None] * len(calls)
        left = iter([(i, partial(self._guarded, call)) for i, call in enumerate(calls)])
        # every thread takes the next call; one that wakes up late finds none
        self._post([(left, done)] * min(self.n_started, len(calls)))
        n_own = 0
        errors: list[BaseException] = []
        for i, call in () if waits else left:
            n_own += 1
            if not errors:
                try:
                    results[i] = call()
                except StoppedError as error:
                    errors.append(error)
        for i, result, found in self._answers(done, len(calls) - n_own):
            results[i] = result
            if found is not None:
                errors.append(found)
        _raise_first(errors)
        return results

    def _call(self, call: Callable[[int, Any], T], first: int, second: Any) -> T:
        if self.stop.wanted:
            raise StoppedError
        return call(first, second)


def _hears_interrupts() -> bool:
    return get_ident() == main_thread().ident


def _raise_first(errors: list[BaseException]) -> None:
    """Raise what has stopped the others, if there is any error."""
    if errors:
        raise min(errors, key=lambda error: isinstance(error, StoppedError))


def _next(calls: "SimpleQueue[Any]", counters: Array, n_done: int) -> Any:
    """What a thread is to call next; tells first how much it has done, when it has let go of the interpreter."""
    n_posted = int(counters[POSTED])
    if n_done or calls.empty():
        linger(counters, ENDED, n_done, POSTED, n_posted + 1)
    return calls.get()


def _work(calls: "SimpleQueue[Any]", ended: "SimpleQueue[None]", counters: Array) -> None:
    """A thread: calls what is left of what it is given, until it is given None."""
    n_done = 0
    try:
        while (item := _next(calls, counters, n_done)) is not None:
            left, done = item
            n_done = 0
            for n_done, (i, call) in enumerate(left, 1):  # noqa: B007
                try:
                    done.put((i, call(), None))
                except BaseException as error:
                    done.put((i, None, error))
                del call
            del item, left, done  # a waiting thread keeps nothing alive
    finally:
        ended.put(None)


def divide(costs: Array, items: int, n_threads: int) -> list[int]:
    """Bounds of parts that cost about the same."""
    n_items = len(costs) * items
    total = float(costs.sum(dtype=np.float64)) * items
    n_parts = int(total // LARGE) + 1
    if n_threads > 1 and total >= SMALL:
        each = min(max(int(total / n_threads) // PART, 1), PARTS)
        worth = int(math.sqrt(total / HANDING))  # with more parts, handing over costs more than they save
        n_parts = max(n_parts, min(n_threads * each, max(worth, 2)))
    n_parts = min(n_parts, n_items)
    if n_parts <= 1:
        return [0, n_items]
    if len(costs) == 1:  # mostly, and the rest would take longer than this
        return [i * items // n_parts for i in range(n_parts + 1)]
    ends = np.cumsum(costs, dtype=np.float64) * items
    goals = ends[-1] * np.arange(1, n_parts) / n_parts
    bounds = {0, n_items}
    for goal, group in zip(goals.tolist(), ends.searchsorted(goals).tolist(), strict=True):
        cost = float(costs[group])
        bounds.add(min(group * items + int((goal - (ends[group] - cost * items)) / cost), n_items))
    return sorted(bounds)
