"""Threads for kernels: kernels release the GIL, and any division of the work gives the same result."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType

import numpy as np

from sublearn.kernels.layout import Array

SMALL = 50_000  # work, in samples visited, that is not worth a second thread
TEST_OVERHEAD = 300  # what a discriminant feature test costs beyond its samples, in samples visited
PARTS = 4  # parts a thread, so that none waits long for another


class Workers:
    """Runs a kernel over a divided range of items."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def run(self, call: Callable[[int, int], object], costs: Array, items: int = 1) -> None:
        """call(first, last) over len(costs) * items items, of which the i-th `items` cost costs[i] each."""
        bounds = [0, len(costs) * items] if self.pool is None else divide(costs, items, self.n_threads)
        if self.pool is None or len(bounds) == 2:
            call(bounds[0], bounds[-1])
            return
        for future in [self.pool.submit(call, a, b) for a, b in pairwise(bounds)]:
            future.result()


def divide(costs: Array, items: int, n_threads: int) -> list[int]:
    """Bounds of parts that cost about the same."""
    n_items = len(costs) * items
    ends = np.cumsum(costs, dtype=np.float64) * items
    if n_threads == 1 or ends[-1] < SMALL:
        return [0, n_items]
    n_parts = min(PARTS * n_threads, n_items)
    goals = ends[-1] * np.arange(1, n_parts) / n_parts
    group = np.searchsorted(ends, goals)
    begins = ends[group] - costs[group] * items
    inner = group * items + ((goals - begins) / costs[group]).astype(np.int64)
    return [0, *np.unique(inner[(inner > 0) & (inner < n_items)]).tolist(), n_items]
