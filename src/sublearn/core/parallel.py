"""Threads for kernels: kernels release the GIL, and any division of the work gives the same result."""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Event
from types import TracebackType
from typing import TypeVar

import numpy as np

from sublearn.kernels.layout import Array

T = TypeVar("T")

LARGE = 100_000_000  # work that takes a good part of a second
SMALL = 50_000  # work, in samples visited, that is not worth a second thread
TEST_OVERHEAD = 300  # what a discriminant feature test costs beyond its samples, in samples visited
PARTS = 4  # parts a thread, so that none waits long for another


class StoppedError(Exception):
    """Raised in a thread whose work is no longer wanted."""


class Workers:
    """Runs a kernel over a divided range of items, or one task a thread.

    Kernels are called for parts so small that an interrupt is noticed soon. When one task fails, the others stop.
    """

    def __init__(self, n_threads: int, stop: Event | None = None) -> None:
        self.n_threads = n_threads
        self.pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self.stop = stop or Event()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.pool is not None:
            self.stop.set()
            self.pool.shutdown(cancel_futures=True)

    def run(self, call: Callable[[int, int], object], costs: Array, items: int = 1) -> None:
        """call(first, last) over len(costs) * items items, of which the i-th `items` cost costs[i] each."""
        parts = list(pairwise(divide(costs, items, self.n_threads)))
        if self.pool is None or len(parts) == 1:
            for first, last in parts:
                self._call(call, first, last)
            return
        for future in [self.pool.submit(self._call, call, first, last) for first, last in parts]:
            future.result()

    def each(self, task: Callable[[int, "Workers"], T], n: int) -> list[T]:
        """task(i, workers) for i below n, each in one thread."""
        if self.pool is None:
            return [task(i, self) for i in range(n)]
        futures = [self.pool.submit(task, i, Workers(1, self.stop)) for i in range(n)]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()  # raises what one of them has raised; leaving the context stops the others
        return [future.result() for future in futures]

    def _call(self, call: Callable[[int, int], object], first: int, last: int) -> None:
        if self.stop.is_set():
            raise StoppedError
        call(first, last)


def divide(costs: Array, items: int, n_threads: int) -> list[int]:
    """Bounds of parts that cost about the same."""
    n_items = len(costs) * items
    ends = np.cumsum(costs, dtype=np.float64) * items
    n_parts = int(ends[-1] // LARGE) + 1
    if n_threads > 1 and ends[-1] >= SMALL:
        n_parts = max(n_parts, PARTS * n_threads)
    n_parts = min(n_parts, n_items)
    if n_parts <= 1:
        return [0, n_items]
    goals = ends[-1] * np.arange(1, n_parts) / n_parts
    group = np.searchsorted(ends, goals)
    begins = ends[group] - costs[group] * items
    inner = group * items + ((goals - begins) / costs[group]).astype(np.int64)
    return [0, *np.unique(inner[(inner > 0) & (inner < n_items)]).tolist(), n_items]
