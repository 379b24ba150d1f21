"""Threads that work on one tree together."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.parallel import Stop, StoppedError, Workers
from sublearn.kernels import growing, team
from sublearn.kernels.team import COME, LATER, N_COUNTERS, N_MET, N_OPEN, Pool
from support import PATIENCE

SOON = 1.0  # seconds
TRIES = 20  # of which one is undisturbed, however busy the machine is

add, load, meet, pool_sums, pool_ranges, wait_for = (
    team.add,
    team.load,
    team.meet,
    team.pool_sums,
    team.pool_ranges,
    team.wait_for,
)
share_of = growing.share_of


def compiled(function: Callable[..., Any]) -> Any:
    return numba.njit(nogil=True)(function)


@compiled
def count_up(counters: Any, i: Any, times: Any) -> Any:
    for _ in range(times):
        add(counters, i, 3)
        add(counters, i, -2)
    return load(counters, i)


@compiled
def pool_all(pool: Any, sums: Any, ranges: Any, first: Any, last: Any, times: Any) -> Any:
    """Pool again and again what was there in the beginning, times the number of the meeting; sum of all results."""
    own_sums = sums.copy()
    own_ranges = ranges.copy()
    n_met = 1
    for k in range(times):
        for i in range(sums.shape[0]):
            for j in range(sums.shape[1]):
                sums[i, j] = own_sums[i, j] * (k + 1)
        for c in range(ranges.shape[0]):
            for side in range(2):
                ranges[c, side] = own_ranges[c, side] * (k + 1)
        n_met = pool_sums(pool, sums, sums.shape[1], n_met)
        n_met = pool_ranges(pool, ranges, first, last, n_met)
    return n_met


@compiled
def meet_once(counters: Any, stop: Any, n_threads: Any, n_met: Any) -> Any:
    return meet(counters, stop, n_threads, n_met)


@compiled
def wait(counters: Any, ready: Any, task: Any, stop: Any) -> Any:
    outcome = wait_for(counters, ready, task, stop)
    while outcome == LATER:
        outcome = wait_for(counters, ready, task, stop)
    return outcome == COME


@compiled
def share(runs: Any, number: Any, n_threads: Any, out: Any) -> None:
    share_of(runs, number, n_threads, out)


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
    add_one = compiled(lambda counters, amount: add(counters, 2, amount))
    counters = np.array([1, 2, 40])
    assert (add_one(counters, 2), add_one(counters, -50)) == (40, 42)
    assert counters.tolist() == [1, 2, -8]


def test_counters_lie_in_cache_lines_of_their_own() -> None:
    places = [N_MET, team.N_SHARED, team.N_COMMON, team.N_CLAIMED, N_OPEN]
    assert all(abs(a - b) * 8 >= 64 for a in places for b in places if a != b)
    assert max(places) < N_COUNTERS


# --- pools


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
def test_threads_put_their_sums_and_ranges_together(n_threads: int) -> None:
    rng = np.random.default_rng(n_threads)
    counters, stop = nothing()
    shared = np.full((n_threads, 40), 10**15)
    sums = rng.integers(-(2**40), 2**40, (n_threads, 6, 4))
    ranges = np.sort(rng.integers(-(2**20), 2**20, (n_threads, 7, 2)), axis=2).astype(np.int32)
    found_sums, found_ranges = sums.copy(), ranges.copy()
    times = 50
    pools = [Pool(n_threads, t, counters, stop, shared) for t in range(n_threads)]
    calls = [partial(pool_all, pools[t], found_sums[t], found_ranges[t], 2, 6, times) for t in range(n_threads)]
    n_met = side_by_side(calls)
    for t in range(n_threads):
        np.testing.assert_array_equal(found_sums[t], times * sums.sum(axis=0))
        np.testing.assert_array_equal(found_ranges[t, 2:6, 0], times * ranges[:, 2:6, 0].min(axis=0))
        np.testing.assert_array_equal(found_ranges[t, 2:6, 1], times * ranges[:, 2:6, 1].max(axis=0))
        for outside in (slice(0, 2), slice(6, 7)):
            np.testing.assert_array_equal(found_ranges[t, outside], times * ranges[t, outside])
    meetings = 4 * times if n_threads > 1 else 0
    assert n_met == [1 + meetings] * n_threads
    assert counters[N_MET] == meetings * n_threads


@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=5),
    start=st.integers(0, 1000),
    n_threads=st.integers(1, 9),
)
def test_shares_hold_every_sample_once_and_are_about_equal(sizes: list[int], start: int, n_threads: int) -> None:
    runs = start + np.cumsum([0, *sizes])
    shares = np.full((n_threads, len(runs)), -1)
    for number in range(n_threads):
        share(runs, number, n_threads, shares[number])
    assert (np.diff(shares, axis=1) >= 0).all()
    assert shares[0, 0] == runs[0]
    assert shares[-1, -1] == runs[-1]
    np.testing.assert_array_equal(shares[1:, 0], shares[:-1, -1])
    np.testing.assert_array_equal(np.diff(shares, axis=1).sum(axis=0), sizes)  # of every class
    lengths = shares[:, -1] - shares[:, 0]
    assert lengths.max() - lengths.min() <= 1
    for k in range(len(sizes)):
        inside = shares[:, k] < shares[:, k + 1]
        assert (shares[inside, k] >= runs[k]).all()
        assert (shares[inside, k + 1] <= runs[k + 1]).all()


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


@pytest.mark.parametrize("what", ["meeting", "task", "pool"])
def test_a_stop_releases_a_thread_whose_partner_never_comes(what: str) -> None:
    counters, stop = nothing()[0], Stop()
    ready, shared = np.zeros(1, np.int64), np.zeros((2, 40), np.int64)
    table, ranges = np.arange(4).reshape(2, 2), np.zeros((1, 2), np.int32)
    calls: dict[str, Callable[[], Any]] = {
        "meeting": lambda: meet_once(counters, stop.flag, 2, 1),
        "task": lambda: wait(counters, ready, 0, stop.flag),
        "pool": lambda: pool_all(Pool(2, 0, counters, stop.flag, shared), table, ranges, 0, 1, 1),
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


def test_a_stopped_pool_takes_nothing_of_the_others() -> None:
    # what a partner has left there may belong to another meeting
    counters, stop = nothing()[0], Stop()
    shared = np.full((2, 40), 10**15)
    table, ranges = np.arange(6).reshape(3, 2), np.array([[3, 5]], np.int32)
    stop.want()
    pool_all(Pool(2, 0, counters, stop.flag, shared), table, ranges, 0, 1, 1)
    assert table.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert ranges.tolist() == [[3, 5]]


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
from sublearn.core.tree import grower
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
