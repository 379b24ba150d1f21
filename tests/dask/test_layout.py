"""Blocks are shared evenly, in their order, near to where they are."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sublearn.dask.layout import SLACK, Stretch, in_order, lay_out


def test_six_equal_blocks_by_hand() -> None:
    assert lay_out([1.0] * 6, ["a", "b"], {}) == [Stretch("a", 0, 3), Stretch("b", 3, 6)]
    assert lay_out([5, 1, 1, 1, 1, 1], ["a", "b"], {}) == [Stretch("a", 0, 1), Stretch("b", 1, 6)]
    assert lay_out([1.0, 1.0], ["a", "b", "c"], {}) == [Stretch("a", 0, 1), Stretch("b", 1, 2)]


def test_a_border_moves_a_little_where_fewer_blocks_do() -> None:
    held = {block: {"b" if block < 5 else "a"} for block in range(8)}
    assert in_order(["a", "b", "c"], held) == ["b", "a", "c"]
    assert lay_out([1.0] * 8, ["b", "a"], held) == [Stretch("b", 0, 5), Stretch("a", 5, 8)]
    far = {block: {"b" if block < 7 else "a"} for block in range(8)}
    assert lay_out([1.0] * 8, ["b", "a"], far) == [Stretch("b", 0, 5), Stretch("a", 5, 8)]


@pytest.mark.parametrize("seed", range(30))
def test_stretches_cover_all_blocks_once_and_none_is_empty(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, rng.integers(1, 30)).astype(float).tolist()
    workers = [f"w{i}" for i in range(rng.integers(1, 9))]
    held = {block: {str(rng.choice(workers))} for block in range(len(sizes)) if rng.random() < 0.5}
    found = lay_out(sizes, in_order(workers, held), held)
    assert [one.first for one in found[1:]] == [one.last for one in found[:-1]]
    assert (found[0].first, found[-1].last) == (0, len(sizes))
    assert all(one.first < one.last for one in found)
    assert len({one.address for one in found}) == min(len(workers), len(sizes))


class Counted(dict[int, set[str]]):
    """Holders of blocks that are asked for so many blocks at the most."""

    def __init__(self, held: dict[int, set[str]], most: int) -> None:
        super().__init__(held)
        self.left = most

    def get(self, block: int, default: Any = None) -> Any:
        assert self.left
        self.left -= 1
        return super().get(block, default)


def test_of_many_blocks_each_is_looked_at_a_few_times() -> None:
    n, workers = 20_000, ["a", "b", "c"]
    even = [("a", 0, 6667), ("b", 6667, 13333), ("c", 13333, n)]
    assert lay_out([1.0] * n, workers, Counted({}, 0)) == [Stretch(*one) for one in even]
    held = {block: {workers[(block >= 6000) + (block >= 14_000)]} for block in range(n)}
    found = [("a", 0, 6000), ("b", 6000, 14_000), ("c", 14_000, n)]
    assert lay_out([1.0] * n, workers, Counted(held, n)) == [Stretch(*one) for one in found]


def naively_moved(border: int, near: list[int], before: str, after: str, holders: dict[int, set[str]]) -> int:
    """How many blocks near a border would have to move to the worker on their side of it."""
    blocks = range(near[0], near[-1]) if near else ()
    return sum((before if block < border else after) not in holders.get(block, {before, after}) for block in blocks)


def naively_laid_out(sizes: list[float], workers: list[str], holders: dict[int, set[str]]) -> list[int]:
    """Borders between stretches, each tried at every place."""
    n, workers = len(sizes), workers[: len(sizes)]
    ends = np.append(0.0, np.cumsum(np.maximum(sizes, 1e-9)))
    share, borders = ends[-1] / len(workers), [0]
    for number, (before, after) in enumerate(pairwise(workers), start=1):
        places = range(borders[-1] + 1, n - (len(workers) - number) + 1)
        away = {at: abs(ends[at] - number * share) for at in places}
        nearest = min(places, key=lambda at: away[at])
        near = [at for at in places if away[at] <= SLACK * share]
        moved = {at: naively_moved(at, near, before, after, holders) for at in near}
        borders.append(min(near or [nearest], key=lambda at: (moved.get(at, 0), at != nearest)))
    return borders


@pytest.mark.parametrize("seed", range(30))
def test_borders_are_those_of_a_search_through_all_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, workers = int(rng.integers(1, 60)), [f"w{i}" for i in range(rng.integers(1, 6))]
    sizes = rng.integers(0, 5, n).astype(float).tolist() if seed % 2 else [1.0] * n
    holders = {block: set(rng.choice(workers, rng.integers(1, 3))) for block in range(n) if rng.random() < seed / 30}
    found = lay_out(sizes, workers, holders)
    assert [one.first for one in found] == naively_laid_out(sizes, workers, holders)


def test_a_stretch_has_a_name_for_errors() -> None:
    assert [Stretch("a", 2, last).name for last in (2, 3, 5)] == ["no block", "block 2", "blocks 2 to 4"]
