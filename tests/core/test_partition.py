"""Samples move to the children their cells name."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from naive import Array
from sublearn.core import parallel
from sublearn.core.parallel import Workers
from sublearn.core.tree.partition import Children, split_samples
from sublearn.kernels.decorrelation import Partitions
from sublearn.kernels.layout import Level
from support import ONE_THREAD, keys_of

UNWRITTEN = -1


def split(
    order: Any, runs: Any, cells: Any, n_kept: Any, max_partitions: int = 2, workers: Workers = ONE_THREAD
) -> tuple[Array, Children]:
    """New order and children; nodes with n_kept = 0 are not split."""
    order, runs, cells = np.array(order, np.int32), np.array(runs, np.int64), np.array(cells, np.uint8)
    n_kept = np.array(n_kept, np.int64)
    n_children = [
        len(set(cells[r[0] : r[-1]].tolist())) if q else 0 for r, q in zip(runs.tolist(), n_kept.tolist(), strict=True)
    ]
    n = len(runs)
    level = Level(order, runs, np.zeros((n, 1), np.int64), np.ones(n), keys_of(n))
    kept = np.zeros((n, max_partitions), np.int64)
    partitions = Partitions(kept, n_kept, np.array(n_children, np.int64), np.zeros(n))
    new_order = np.full(len(order), UNWRITTEN, np.int32)
    return new_order, split_samples(level, partitions, cells, new_order, workers)


def test_five_samples_by_hand() -> None:
    # [a b c d e] with cells 1 0 1 3 0 gives [b e | a c | d]
    order, children = split([0, 1, 2, 3, 4], [[0, 5]], [1, 0, 1, 3, 0], [2])
    assert order.tolist() == [1, 4, 0, 2, 3]
    assert children.runs.tolist() == [[0, 2], [2, 4], [4, 5]]
    assert children.codes.tolist() == [0, 1, 3]
    assert children.parents.tolist() == [0, 0, 0]


def test_classes_stay_together_inside_a_child() -> None:
    # classes a b | c d e; cells 1 0 | 0 1 0 give child 0: b | c e and child 1: a | d
    order, children = split([0, 1, 2, 3, 4], [[0, 2, 5]], [1, 0, 0, 1, 0], [1])
    assert order.tolist() == [1, 2, 4, 0, 3]
    assert children.runs.tolist() == [[0, 1, 3], [3, 4, 5]]


def test_nodes_that_are_not_split_are_left_alone() -> None:
    order, children = split([5, 4, 3, 2, 1, 0], [[0, 2], [2, 4], [4, 6]], [0, 1, 9, 9, 1, 0], [1, 0, 1])
    assert order.tolist() == [5, 4, UNWRITTEN, UNWRITTEN, 0, 1]
    assert children.parents.tolist() == [0, 0, 2, 2]
    assert children.codes.tolist() == [0, 1, 0, 1]


@st.composite
def levels(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """Runs of nodes, cells of samples, hyperplanes of nodes."""
    n_classes = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.lists(st.integers(0, 6), min_size=n_classes, max_size=n_classes), min_size=1, max_size=4))
    sizes = [row for row in sizes if sum(row)] or [[1] * n_classes]
    ends = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).tolist()
    runs = [ends[i * n_classes : (i + 1) * n_classes + 1] for i in range(len(sizes))]
    cells = draw(st.lists(st.integers(0, 7), min_size=ends[-1], max_size=ends[-1]))
    return runs, cells, draw(st.lists(st.sampled_from([0, 3]), min_size=len(runs), max_size=len(runs)))


@given(level=levels(), seed=st.integers(0, 1000))
def test_children_equal_the_twin(level: tuple[list[list[int]], list[int], list[int]], seed: int) -> None:
    runs, cells, n_kept = level
    order = np.random.default_rng(seed).permutation(len(cells)).tolist()
    new_order, children = split(order, runs, cells, n_kept, max_partitions=3)
    child = 0
    for i, q in enumerate(n_kept):
        if not q:
            assert (new_order[runs[i][0] : runs[i][-1]] == UNWRITTEN).all()
            continue
        node = slice(runs[i][0], runs[i][-1])
        for code, rows in naive.split(order[node], cells[node]).items():
            assert (children.parents[child], children.codes[child]) == (i, code)
            found = children.runs[child]
            assert new_order[found[0] : found[-1]].tolist() == rows  # class by class, as the node's order is
            for k in range(len(found) - 1):
                of_class = {order[p] for p in range(runs[i][k], runs[i][k + 1])}
                assert set(new_order[found[k] : found[k + 1]].tolist()) == of_class & set(rows)
            child += 1
    assert child == len(children.runs)


def test_children_cover_their_parent_without_overlap() -> None:
    rng = np.random.default_rng(0)
    n = 40_000
    order, cells = rng.permutation(n), rng.integers(0, 256, n)
    new_order, children = split(order, [[0, 15_000, n]], cells, [8], max_partitions=8)
    assert sorted(new_order.tolist()) == list(range(n))
    assert children.codes.tolist() == list(range(256))
    assert (children.runs[1:, 0] == children.runs[:-1, -1]).all()
    assert (children.runs[0, 0], children.runs[-1, -1]) == (0, n)


def test_one_sample_moves_to_its_only_child() -> None:
    order, children = split([0], [[0, 1]], [2], [2])
    assert order.tolist() == [0]
    assert (children.runs.tolist(), children.codes.tolist()) == ([[0, 1]], [2])


def test_no_split_gives_no_children() -> None:
    _, children = split([0, 1], [[0, 2]], [0, 1], [0])
    assert len(children.runs) == len(children.codes) == len(children.parents) == 0


def test_any_number_of_threads_moves_samples_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)
    rng = np.random.default_rng(1)
    ends = np.sort(rng.choice(3000, 60, replace=False))
    runs = np.stack([ends[:-1], (ends[:-1] + ends[1:]) // 2, ends[1:]], axis=1)
    order, cells, n_kept = rng.permutation(3000), rng.integers(0, 4, 3000), rng.choice([0, 2], 59)
    one_order, one = split(order, runs, cells, n_kept)
    with Workers(3) as workers:
        many_order, many = split(order, runs, cells, n_kept, workers=workers)
    np.testing.assert_array_equal(one_order, many_order)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)
