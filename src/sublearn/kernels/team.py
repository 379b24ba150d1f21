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

from sublearn.kernels.compilation import in_python, inner, section
from sublearn.kernels.layout import Array

N_LOOKS = 2_000  # looks at a counter before the core is offered, some nanoseconds each
OFFERS = 1_000  # offers, some tenths of a microsecond each where nobody takes them, before a thread sleeps
NAP = 50  # microseconds
LONG = 4_000  # looks before a thread that has nothing to do comes back
NEVER, LATER, COME = 0, 1, 2  # whether a node that a thread waits for is there
READY, TOGETHER = 1, 2  # a shared node that can be taken, and one that all threads grow together; 0: not yet there
N_MET, N_SHARED, N_CLAIMED, N_OPEN, N_FILLED = 0, 8, 16, 24, 32  # counters, in cache lines of their own
N_COUNTERS = 40

if sys.platform == "win32":
    offer_core = types.ExternalFunction("SwitchToThread", types.int32())
    sleep = types.ExternalFunction("Sleep", types.void(types.uint32))
    SLEEP = 1  # milliseconds there
else:
    offer_core = types.ExternalFunction("sched_yield", types.int32())
    sleep = types.ExternalFunction("usleep", types.int32(types.uint32))
    SLEEP = NAP


def _add(numbers: Array, i: int, amount: int) -> int:
    """`add` for a thread that is alone."""
    row = numbers.reshape(-1)
    before = int(row[i])
    row[i] += amount
    return before


def _put(numbers: Array, i: int, join: Any, value: int) -> None:
    row = numbers.reshape(-1)
    row[i] = join(row[i], value)


@in_python(lambda counters, i: int(counters[i]))
@intrinsic
def load(_: Any, counters: Any, i: Any) -> Any:
    """Number i of an array, as other threads have left it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(counters, i), generate


@in_python(_add)
@intrinsic
def add(_: Any, counters: Any, i: Any, amount: Any) -> Any:
    """Add an amount to number i of an array, counted through row by row; returns what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
        value = context.cast(builder, arguments[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", place, value, "acq_rel")

    return types.int64(counters, i, amount), generate


def _extreme(name: str) -> Any:
    """An intrinsic that makes number i of an array the smaller or larger of itself and a value."""

    def typed(_: Any, numbers: Any, i: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
            number = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
            builder.atomic_rmw(name, place, number, "acq_rel")
            return context.get_dummy_value()

        return types.none(numbers, i, value), generate

    return intrinsic(typed)


lower = in_python(lambda numbers, i, value: _put(numbers, i, min, value))(_extreme("min"))
lift = in_python(lambda numbers, i, value: _put(numbers, i, max, value))(_extreme("max"))


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


@inner
def await_others(counters, stop, n_threads, n_met):
    """Wait until all other threads have come to the n_met-th meeting, where they wait for this one, or are stopped."""
    looks = 0
    while load(counters, N_MET) < n_met * n_threads - 1 and not is_stopped(stop):
        looks += 1
        rest(looks)


class Team(NamedTuple):
    """How threads work together, and what they tell each other."""

    n_threads: int
    is_linked: bool  # whether there are other partitions, with which sums are put together by who has called
    large: int  # nodes of more samples are grown by all threads together, level by level
    small: int  # what is below nodes of so many samples stays with one thread
    counters: Array  # int64 (N_COUNTERS,)
    stop: Array  # int64 (1,), not 0 when the tree is no longer wanted
    ready: Array  # int64, for each shared node: 0, `READY` or `TOGETHER`
    budget: int  # samples visited, by all tests, after which a thread comes back
    comes_back: bool  # whether all threads come back once no node is large


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
