"""How work is divided among threads."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sublearn.core.parallel import PARTS, SMALL, Workers, divide


def test_small_work_is_not_divided() -> None:
    assert divide(np.full(10, 100), 3, 4) == [0, 30]


def test_one_thread_does_not_divide() -> None:
    assert divide(np.full(10, SMALL), 3, 1) == [0, 30]


def test_equal_costs_make_equal_parts() -> None:
    assert divide(np.full(8, SMALL), 2, 2) == list(range(0, 17, 2))


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
@settings(deadline=None, derandomize=True)
def test_parts_cover_all_items_once_and_cost_about_the_same(costs: list[int], items: int, n_threads: int) -> None:
    bounds = divide(np.array(costs), items, n_threads)
    assert bounds[0] == 0
    assert bounds[-1] == len(costs) * items
    assert all(a < b for a, b in itertools.pairwise(bounds))
    assert len(bounds) <= PARTS * n_threads + 1
    if len(bounds) > 2:
        each = np.repeat(costs, items)
        parts = np.add.reduceat(each, bounds[:-1])
        # a part goes over its share by less than an item on either side
        assert parts.max() <= each.sum() / min(PARTS * n_threads, len(each)) + 2 * each.max()


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
