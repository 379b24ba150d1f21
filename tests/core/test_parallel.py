"""How work is divided among threads."""

import itertools
import time
from _thread import get_ident
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublearn.core.parallel import LARGE, PART, PARTS, SMALL, StoppedError, Workers, divide
from support import PATIENCE


def test_small_work_is_not_divided() -> None:
    assert divide(np.full(10, 100), 3, 4) == [0, 30]


def test_one_thread_does_not_divide_ordinary_work() -> None:
    assert divide(np.full(10, SMALL), 3, 1) == [0, 30]
    assert divide(np.array([LARGE // 4]), 3, 1) == [0, 3]


def test_very_large_work_is_cut_even_for_one_thread() -> None:
    assert divide(np.array([LARGE // 4]), 8, 1) == [0, 2, 5, 8]  # costs 2 LARGE: three parts
    assert divide(np.array([10 * LARGE]), 2, 1) == [0, 1, 2]  # an item is never cut
    # parts of threads that are large themselves are cut further
    assert divide(np.array([LARGE]), 100, 2) == list(range(101))


def test_equal_costs_make_equal_parts() -> None:
    assert divide(np.full(8, SMALL), 2, 2) == list(range(0, 17, 2))
    assert divide(np.array([1.0]), 2 * PART, 2) == [0, PART, 2 * PART]  # one a thread: more would not be worth while
    assert divide(np.array([1.0]), SMALL, 64) == [0, SMALL // 2, SMALL]  # nor is a part for each of many threads
    assert divide(np.array([1.0]), 4 * PART, 2) == [0, PART, 2 * PART, 3 * PART, 4 * PART]


def test_a_large_item_is_not_waited_for_by_all() -> None:
    # one of five nodes has nearly all samples: its items are spread over the parts
    bounds = divide(np.array([10, 10, SMALL, 10, 10]), 100, 2)
    assert len(bounds) == PARTS * 2 + 1
    assert max(np.diff(bounds)) < 500


@given(
    costs=st.lists(st.integers(1, 10**6), min_size=1, max_size=30),
    items=st.integers(1, 50),
    n_threads=st.integers(1, 9),
)
def test_parts_cover_all_items_once_and_cost_about_the_same(costs: list[int], items: int, n_threads: int) -> None:
    bounds = divide(np.array(costs), items, n_threads)
    assert bounds[0] == 0
    assert bounds[-1] == len(costs) * items
    assert all(a < b for a, b in itertools.pairwise(bounds))
    each = np.repeat(costs, items)
    total = each.sum()
    assert len(bounds) <= max(PARTS * n_threads if n_threads > 1 else 1, total // LARGE + 1) + 1
    # a part goes over its share by less than an item on either side
    most = np.add.reduceat(each, bounds[:-1]).max() - 2 * each.max()
    assert most <= LARGE
    if n_threads > 1 and total >= SMALL:
        # no thread is without work that is worth it
        assert most <= max(total / min(n_threads, len(each)), SMALL)
        assert most <= max(total / min(PARTS * n_threads, len(each)), 2 * PART)  # nor waits long


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_every_item_is_handled_once(n_threads: int) -> None:
    seen = np.zeros(300, np.int64)

    def handle(first: int, last: int) -> None:
        seen[first:last] += 1

    with Workers(n_threads) as workers:
        workers.run(handle, np.full(30, SMALL), items=10)
    assert (seen == 1).all()


def test_an_error_in_a_thread_is_raised() -> None:
    def fail(first: int, last: int) -> None:
        raise RuntimeError(f"{first} to {last}")

    with Workers(2) as workers, pytest.raises(RuntimeError, match="0 to"):
        workers.run(fail, np.full(4, SMALL))


# --- tasks


def work(workers: Workers) -> None:
    """What a task does again and again: a kernel."""
    workers.run(lambda first, last: time.sleep(0.001), np.ones(1))


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_results_of_tasks_come_in_order(n_threads: int) -> None:
    def square(i: int, own: Workers) -> int:
        time.sleep(0.01 if i == 0 else 0.0)  # the first one ends late
        work(own)
        return i * i

    with Workers(n_threads) as workers:
        assert workers.each(square, 20) == [i * i for i in range(20)]
        assert workers.each(square, 0) == []
        assert workers.each(square, 3) == [0, 1, 4]  # they work on


def test_tasks_run_side_by_side_each_in_one_thread() -> None:
    met = [Event(), Event()]

    def meet(i: int, own: Workers) -> bool:
        met[i].set()
        return met[1 - i].wait(PATIENCE) and own.n_threads == 1

    with Workers(2) as workers:
        assert workers.each(meet, 2) == [True, True]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_in_one_task_is_raised_and_stops_the_others(failing: int) -> None:
    begun = Event()
    ends: list[str] = []

    def task(i: int, own: Workers) -> None:
        if i == failing:
            assert begun.wait(PATIENCE)
            raise RuntimeError(f"task {i}")
        begun.set()
        late = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < late:
                work(own)
            ends.append("late")
        except StoppedError:
            ends.append("stopped")
            raise

    with pytest.raises(RuntimeError, match=f"task {failing}"), Workers(3) as workers:
        workers.each(task, 3)
    assert ends == ["stopped"] * len(ends)
    assert ends


def test_tasks_that_wait_do_not_begin_after_an_error() -> None:
    begun: list[int] = []
    failed = Event()

    def task(i: int, own: Workers) -> None:
        begun.append(i)
        work(own)
        if i == 0:
            failed.set()
            raise RuntimeError
        assert failed.wait(PATIENCE)
        time.sleep(0.01)

    with pytest.raises(RuntimeError), Workers(2) as workers:
        workers.each(task, 2000)
    assert len(begun) < 1000


@pytest.mark.parametrize("n_threads", [1, 2])
def test_long_work_together_leaves_the_main_thread_free_to_hear_an_interrupt(n_threads: int) -> None:
    seen: set[int] = set()

    def note(i: int) -> bool:
        seen.add(get_ident())
        return True

    with Workers(n_threads) as workers:
        workers.together(note, n_threads, is_long=True)
        workers.together(note, n_threads, is_long=True)  # the same threads
    assert get_ident() not in seen
    assert 1 <= len(seen) <= n_threads


def test_long_tasks_leave_the_main_thread_free_to_hear_an_interrupt() -> None:
    def task(i: int, own: Workers) -> tuple[int, int]:
        own.together(lambda j: True, 1, is_long=True)  # not in yet another thread
        return i, get_ident()

    with Workers(2) as workers:
        found = workers.each(task, 10, is_long=True)
        assert [i for i, _ in found] == list(range(10))
        assert get_ident() not in {ident for _, ident in found}
        with pytest.raises(RuntimeError, match="long"):
            workers.each(lambda i, own: _fail("long"), 3, is_long=True)


def _fail(text: str) -> None:
    raise RuntimeError(text)


def test_an_error_of_one_thread_is_raised_at_once() -> None:
    begun: list[int] = []

    def task(i: int, own: Workers) -> None:
        begun.append(i)
        raise RuntimeError

    with pytest.raises(RuntimeError), Workers(1) as workers:
        workers.each(task, 5)
    assert begun == [0]
