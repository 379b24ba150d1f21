"""Threads that look for their next piece of work before they sleep."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sublearn.core import parallel
from sublearn.core.parallel import Workers
from sublearn.kernels.lingering import ENDED, N_COUNTERS, POSTED, linger

SOON = 1.0  # seconds, in which lingering has ended on a machine of two cores with four busy processes
LONG = 10.0  # seconds, in which any lingering has ended


def test_who_lingers_tells_first_what_is_done() -> None:
    counters = np.zeros(N_COUNTERS, np.int64)
    linger(counters, ENDED, 3, POSTED, 0)
    assert counters[ENDED] == 3
    assert counters.sum() == 3


def test_who_lingers_goes_on_when_there_is_work() -> None:
    counters = np.zeros(N_COUNTERS, np.int64)
    linger(counters, ENDED, 0, POSTED, 0)  # compiled, or loaded
    rounds = [0]

    def go_on() -> None:
        for n in range(200):
            while counters[POSTED] <= n:
                linger(counters, ENDED, 1, POSTED, n + 1)
            rounds[0] += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    for _ in range(200):
        counters[POSTED] += 1
    thread.join(LONG)
    assert rounds[0] == 200


def test_lingering_ends_where_nothing_comes() -> None:
    counters = np.zeros(N_COUNTERS, np.int64)
    begin = time.perf_counter()
    linger(counters, ENDED, 0, POSTED, 1)
    assert time.perf_counter() - begin < LONG


def test_threads_are_not_started_where_what_they_need_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(parallel, "linger", fail)
    with pytest.raises(RuntimeError, match="no compiler"), Workers(2) as workers:
        workers.run(lambda first, last: None, np.full(6, 1e9))
    assert workers.n_started == 0


def test_lingering_ends_soon_on_a_busy_machine() -> None:
    """Each offer of the core takes some milliseconds there, and Ctrl-C is not heard meanwhile."""
    counters = np.zeros(N_COUNTERS, np.int64)
    linger(counters, ENDED, 0, POSTED, 1)
    n_others = 2 * (os.cpu_count() or 1)
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_others)]
    try:
        time.sleep(0.5)
        begin = time.perf_counter()
        linger(counters, ENDED, 0, POSTED, 1)
        assert time.perf_counter() - begin < SOON
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_threads_are_there_at_once_and_after_a_pause(pause: float) -> None:
    found = []
    with Workers(3) as workers:
        for k in range(20):
            numbers = np.zeros(6, np.int64)

            def call(first: int, last: int, numbers: np.ndarray = numbers, k: int = k) -> None:
                numbers[first:last] += k

            workers.run(call, np.full(6, 1e9))
            found.append(numbers.tolist())
            time.sleep(pause)
        assert workers.counters[ENDED] <= workers.n_given
    assert found == [[k] * 6 for k in range(20)]
    assert workers.counters[ENDED] == workers.n_given
