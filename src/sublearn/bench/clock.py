"""Timing: calls take turns, the best of each counts, and the load of the machine is noted beside every turn."""

import gc
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

SLOW = 60.0  # seconds; what takes longer has one turn only

Call = Callable[[], Any]
Measure = Callable[[Call], tuple[float, Any]]  # seconds of a call, and what it returned


class Timing(NamedTuple):
    """What a call took, turn by turn."""

    turns: list[float]  # seconds
    loads: list[float]  # of the machine, before each turn
    result: Any  # of the best turn

    @property
    def seconds(self) -> float:
        """The best turn: what else runs on the machine can only add to it."""
        return min(self.turns)


def load() -> float:
    """Processes that wanted to run in the last minute; nan where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def stopwatch(clock: Callable[[], float] = time.perf_counter) -> Measure:
    """Measure calls by a clock, without garbage collection in between."""

    def measure(call: Call) -> tuple[float, Any]:
        gc.collect()
        gc.disable()
        try:
            begin = clock()
            result = call()
            return clock() - begin, result
        finally:
            gc.enable()

    return measure


def in_turns(
    calls: Mapping[str, Call],
    repeats: int,
    measure: Measure | None = None,
    known: Mapping[str, Timing] | None = None,
) -> dict[str, Timing]:
    """Time calls `repeats` times, one after the other in each round; slow ones are not repeated.

    What is `known` to be slow is not run again.
    """
    measure = measure or stopwatch()
    found = {name: timing for name, timing in (known or {}).items() if name in calls and timing.seconds > SLOW}
    for _ in range(repeats):
        for name, call in calls.items():
            if name in found and found[name].seconds > SLOW:
                continue
            busy = load()
            seconds, result = measure(call)
            before = found.get(name, Timing([], [], result))
            kept = result if seconds < min(before.turns, default=float("inf")) else before.result
            found[name] = Timing([*before.turns, seconds], [*before.loads, busy], kept)
    return {name: found[name] for name in calls}


def per_call(call: Call, n: int) -> Call:
    """So many calls as one, for what is too short to time alone."""

    def calls() -> None:
        for _ in range(n):
            call()

    return calls


def ratio(theirs: float | None, ours: float | None) -> float | None:
    """Their time over ours; None where one is unknown."""
    return None if theirs is None or ours is None else theirs / ours
