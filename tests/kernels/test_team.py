"""Threads that work on one tree together."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.parallel import Stop, StoppedError, Workers
from sublearn.kernels import front, team
from sublearn.kernels.compilation import bare_kernel, plain
from sublearn.kernels.team import COME, LATER, N_COUNTERS, N_MET, N_OPEN, add, lift, load, lower, meet, wait_for
from support import PATIENCE

SOON = 1.0  # seconds
TRIES = 20  # of which one is undisturbed, however busy the machine is


@bare_kernel
def count_up(counters: Any, i: Any, times: Any) -> Any:
    for _ in range(times):
        add(counters, i, 3)
        add(counters, i, -2)
    return load(counters, i)


@bare_kernel
def add_one(counters: Any, amount: Any) -> Any:
    return add(counters, 2, amount)


@bare_kernel
def put_together(shared: Any, ranges: Any, sums: Any, own_ranges: Any, times: Any) -> Any:
    """Add a thread's sums, again and again, to those of all, and widen their ranges by its own."""
    for k in range(times):
        for i in range(sums.shape[0]):
            for j in range(sums.shape[1]):
                add(shared, i * sums.shape[1] + j, sums[i, j])
        for c in range(ranges.shape[0]):
            lower(ranges, 2 * c, own_ranges[c, 0] - k)
            lift(ranges, 2 * c + 1, own_ranges[c, 1] + k)
    return load(shared, 0)


@bare_kernel
def meet_once(counters: Any, stop: Any, n_threads: Any, n_met: Any) -> Any:
    return meet(counters, stop, n_threads, n_met)


@bare_kernel
def wait(counters: Any, ready: Any, task: Any, stop: Any) -> Any:
    outcome = wait_for(counters, ready, task, stop)
    while outcome == LATER:
        outcome = wait_for(counters, ready, task, stop)
    return outcome == COME


def nothing() -> tuple[Array, Array]:
    return np.zeros(N_COUNTERS, np.int64), np.zeros(1, np.int64)


def side_by_side(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Results of calls in threads of their own."""
    results: list[Any] = [None] * len(calls)

    def run(i: int) -> None:
        results[i] = calls[i]()

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    return results


# --- counters


def test_counters_lose_nothing() -> None:
    counters, _ = nothing()
    count_up(counters, 5, 0)
    side_by_side([lambda: count_up(counters, 5, 100_000)] * 4)
    assert counters.tolist() == [0] * 5 + [400_000] + [0] * (N_COUNTERS - 6)


def test_adding_tells_what_was_there() -> None:
    counters = np.array([1, 2, 40])
    assert (add_one(counters, 2), add_one(counters, -50)) == (40, 42)
    assert counters.tolist() == [1, 2, -8]


def test_counters_lie_in_cache_lines_of_their_own() -> None:
    places = [N_MET, team.N_SHARED, team.N_CLAIMED, N_OPEN, team.N_FILLED]
    assert all(abs(a - b) * 8 >= 64 for a in places for b in places if a != b)
    assert max(places) < N_COUNTERS


# --- sums, ranges and shares


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
def test_threads_put_their_sums_and_ranges_together(n_threads: int) -> None:
    rng = np.random.default_rng(n_threads)
    sums = rng.integers(-(2**40), 2**40, (n_threads, 6, 4))
    ranges = np.sort(rng.integers(-(2**20), 2**20, (n_threads, 7, 2)), axis=2).astype(np.int32)
    shared, widest, times = np.zeros((6, 4), np.int64), np.tile(np.array([2**31 - 1, 1 - 2**31], np.int32), (7, 1)), 500
    put_together(shared, widest, sums[0], ranges[0], 0)  # compiles
    side_by_side([partial(put_together, shared, widest, sums[t], ranges[t], times) for t in range(n_threads)])
    np.testing.assert_array_equal(shared, times * sums.sum(axis=0))
    np.testing.assert_array_equal(widest[:, 0], ranges[:, :, 0].min(axis=0) - times + 1)
    np.testing.assert_array_equal(widest[:, 1], ranges[:, :, 1].max(axis=0) + times - 1)


def test_shares_of_ten_samples_by_hand() -> None:
    share_of, part_of = plain(front.share_of), plain(front.part_of)
    assert [share_of(10, number, 3) for number in range(3)] == [(0, 3), (3, 6), (6, 10)]
    offsets = np.array([0, 4, 4, 10])  # three nodes of 4, 0 and 6 samples, which begin at 100, 200 and 300
    places = [part_of(offsets, j, 3, 6, begin) for j, begin in enumerate((100, 200, 300))]
    assert places == [(103, 104), (200, 200), (300, 302)]


@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=5),
    start=st.integers(0, 1000),
    n_threads=st.integers(1, 9),
)
def test_shares_hold_every_sample_once_and_are_about_equal(sizes: list[int], start: int, n_threads: int) -> None:
    share_of, part_of = plain(front.share_of), plain(front.part_of)
    offsets, begins = np.cumsum([0, *sizes]), start + 1000 * np.arange(len(sizes))
    held = np.zeros((n_threads, len(sizes)), np.int64)
    for j, begin in enumerate(begins.tolist()):
        end = begin
        for number in range(n_threads):
            first, last = part_of(offsets, j, *share_of(offsets[-1], number, n_threads), begin)
            held[number, j] = last - first
            if first < last:
                assert first == end  # behind the thread before
                end = last
        assert end == begin + sizes[j]
    shares = held.sum(axis=1)
    assert shares.max() - shares.min() <= 1


# --- waiting


def test_nobody_waits_when_nothing_is_open() -> None:
    counters, stop = nothing()
    ready = np.array([0, 1, 2])
    assert [wait(counters, ready, task, stop) for task in range(3)] == [False, True, True]


def test_a_task_is_waited_for_while_another_is_open() -> None:
    counters, stop = nothing()
    ready = np.zeros(2, np.int64)
    wait(counters, ready, 0, stop)
    counters[N_OPEN] = 1

    def bring() -> None:
        time.sleep(0.05)
        ready[1] = 1

    def end() -> None:
        time.sleep(0.05)
        counters[N_OPEN] = 0

    assert side_by_side([lambda: wait(counters, ready, 1, stop), bring])[0]
    assert not side_by_side([lambda: wait(counters, ready, 0, stop), end])[0]


@pytest.mark.parametrize("what", ["meeting", "task"])
def test_a_stop_releases_a_thread_whose_partner_never_comes(what: str) -> None:
    counters, stop = nothing()[0], Stop()
    ready = np.zeros(1, np.int64)
    calls: dict[str, Callable[[], Any]] = {
        "meeting": lambda: meet_once(counters, stop.flag, 2, 1),
        "task": lambda: wait(counters, ready, 0, stop.flag),
    }
    stop.want()
    calls[what]()  # compiles
    assert stop.wanted

    def seconds_to_release() -> float:
        stop.flag[0] = counters[N_MET] = 0
        counters[N_OPEN] = 1
        released: list[float] = []

        def waiting() -> None:
            calls[what]()
            released.append(time.monotonic())

        def stopping() -> float:
            time.sleep(0.2)
            assert not released
            stop.want()
            return time.monotonic()

        wanted: float = side_by_side([waiting, stopping])[1]
        return released[0] - wanted

    assert any(seconds_to_release() < SOON for _ in range(TRIES))


# --- calls that run together


def test_work_is_called_again_until_it_is_done() -> None:
    calls: list[int] = []

    def work(i: int) -> bool:
        calls.append(i)
        return calls.count(i) == i + 2

    with Workers(3) as workers:
        workers.together(work, 3)
    assert sorted(calls) == [0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_work_runs_at_the_same_time() -> None:
    counters, stop = nothing()
    meet_once(counters, stop, 1, 1)
    counters[N_MET] = 0

    def work(i: int) -> bool:
        return bool(meet_once(counters, stop, 3, 1))

    with Workers(3) as workers:
        workers.together(work, 3)
    assert counters[N_MET] == 3


def test_a_stop_ends_work_that_is_not_done() -> None:
    stop = Stop()

    def work(i: int) -> bool:
        if i == 1:
            stop.want()
        time.sleep(0.001)
        return False

    with pytest.raises(StoppedError), Workers(2, stop) as workers:
        workers.together(work, 2)


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_one_thread_stops_those_that_wait_for_it(failing: int) -> None:
    late = time.monotonic() + PATIENCE

    def work(i: int) -> bool:
        if i == failing:
            raise RuntimeError("no memory")
        time.sleep(0.001)
        return time.monotonic() > late

    with pytest.raises(RuntimeError, match="no memory"), Workers(2) as workers:
        workers.together(work, 2)
    assert time.monotonic() < late


# Trees that are no longer wanted at any moment of their growth. Threads must not trust what others have not yet
# written: that would end the process.
PROGRAM = """
import sys, threading, time
import numpy as np
from sublearn.core.tree.grower import grow
from sublearn.core.parallel import StoppedError, Workers
from support import parameters, random_data, task_of

rng = np.random.default_rng(0)
n_stopped = 0
for n_classes, criterion in ((5, "entropy"), (0, "squared_error")):
    given = parameters(
        criterion=criterion, n_projections=50, subspace_size=4, max_partitions=3, effective_ratio=0.1, max_depth=2
    )
    task = task_of(random_data(rng, 30_000, 5, n_classes), given)
    with Workers(3) as workers:
        grow(task, 1, workers)
    whole = 1.0
    for _ in range(120):
        began = time.monotonic()
        try:
            with Workers(3) as workers:
                timer = threading.Timer(rng.uniform(0.0, whole), workers.stop.want)
                timer.start()
                grow(task, 1, workers)
            whole = time.monotonic() - began  # as long as it takes while the machine is as busy as now
        except StoppedError:
            n_stopped += 1
        timer.cancel()
print(n_stopped)
"""


def test_a_tree_can_be_stopped_at_any_moment() -> None:
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **paths})
    assert process.returncode == 0, process.stderr[:2000]
    assert int(process.stdout) > 100
