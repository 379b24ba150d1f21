"""Blocks are shared evenly, in their order, near to where they are."""

import numpy as np
import pytest

from sublearn.dask.layout import Stretch, in_order, lay_out


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


def test_a_stretch_has_a_name_for_errors() -> None:
    assert [Stretch("a", 2, last).name for last in (2, 3, 5)] == ["no block", "block 2", "blocks 2 to 4"]
