"""Threads that work on one tree together: they meet at barriers, and take nodes from one list.

A meeting mostly takes less time than waking up does, so threads wait for others by looking again and again. After a few
microseconds they offer their core to others, and then sleep: where a machine is busy, those who are waited for need it.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.layout import Array

N_LOOKS = 2_000  # looks at a counter before the core is offered, some nanoseconds each
OFFERS = 1_000  # offers, some tenths of a microsecond each where nobody takes them, before a thread sleeps
NAP = 50  # microseconds
LONG = 4_000  # looks before a thread that has nothing to do comes back
NEVER, LATER, COME = 0, 1, 2  # whether a node that a thread waits for is there
N_MET, N_SHARED, N_COMMON, N_CLAIMED, N_OPEN, N_FILLED = 0, 8, 16, 24, 32, 40  # counters, in cache lines of their own
N_COUNTERS = 48

if sys.platform == "win32":
    offer_core = types.ExternalFunction("SwitchToThread", types.int32())
    sleep = types.ExternalFunction("Sleep", types.void(types.uint32))
    SLEEP = 1  # milliseconds there
else:
    offer_core = types.ExternalFunction("sched_yield", types.int32())
    sleep = types.ExternalFunction("usleep", types.int32(types.uint32))
    SLEEP = NAP


@intrinsic
def load(_: Any, counters: Any, i: Any) -> Any:
    """counters[i], as other threads have left it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(counters, i), generate


@intrinsic
def add(_: Any, counters: Any, i: Any, amount: Any) -> Any:
    """Add an amount to counters[i]; returns what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
        value = context.cast(builder, arguments[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", place, value, "acq_rel")

    return types.int64(counters, i, amount), generate


@inner
def is_stopped(stop):
    """Whether the work of all threads is no longer wanted."""
    return load(stop, 0) != 0


@inner
def rest(looks):
    """What a waiting thread does after so many looks in vain: nothing, offer its core, or sleep."""
    if looks > N_LOOKS + OFFERS:
        sleep(np.uint32(SLEEP))
    elif looks > N_LOOKS:
        offer_core()


@inner
def meet(counters, stop, n_threads, n_met):
    """Wait until all threads have come here for the n_met-th time, or are stopped; returns n_met + 1."""
    add(counters, N_MET, 1)
    looks = 0
    while load(counters, N_MET) < n_met * n_threads and not is_stopped(stop):
        looks += 1
        rest(looks)
    return n_met + 1


class Pool(NamedTuple):
    """How threads that have divided the samples of a node put their sums together."""

    n_threads: int
    number: int  # of this thread
    counters: Array
    stop: Array  # int64 (1,), not 0 when the work is no longer wanted
    sums: Array  # int64 (n_threads, n)


@inner
def pool_sums(pool, sums, width, n_met):
    """Replace the sums of this thread, the first columns of a table, by those of all."""
    if pool.n_threads == 1:
        return n_met
    for i in range(sums.shape[0]):
        for j in range(width):
            pool.sums[pool.number, i * width + j] = sums[i, j]
    n_met = meet(pool.counters, pool.stop, pool.n_threads, n_met)
    if is_stopped(pool.stop):  # what the others have written may be of another meeting
        return n_met
    for i in range(sums.shape[0]):
        for j in range(width):
            total = np.int64(0)
            for t in range(pool.n_threads):
                total += pool.sums[t, i * width + j]
            sums[i, j] = total
    return meet(pool.counters, pool.stop, pool.n_threads, n_met)


@section
def pool_ranges(pool, ranges, first, last, n_met):
    """Replace the ranges that this thread has found by those of all."""
    if pool.n_threads == 1:
        return n_met
    for c in range(first, last):
        pool.sums[pool.number, 2 * (c - first)] = ranges[c, 0]
        pool.sums[pool.number, 2 * (c - first) + 1] = ranges[c, 1]
    n_met = meet(pool.counters, pool.stop, pool.n_threads, n_met)
    if is_stopped(pool.stop):
        return n_met
    for c in range(first, last):
        for t in range(pool.n_threads):
            ranges[c, 0] = min(ranges[c, 0], np.int32(pool.sums[t, 2 * (c - first)]))
            ranges[c, 1] = max(ranges[c, 1], np.int32(pool.sums[t, 2 * (c - first) + 1]))
    return meet(pool.counters, pool.stop, pool.n_threads, n_met)


@section
def wait_for(counters, ready, number, stop):
    """Wait a while for a shared node: `COME`, `NEVER` when no open node can become its parent any more, or `LATER`."""
    for looks in range(LONG):
        if load(ready, number) != 0:
            return COME
        if load(counters, N_OPEN) == 0 or is_stopped(stop):
            return COME if load(ready, number) != 0 else NEVER
        rest(looks)
    return LATER
