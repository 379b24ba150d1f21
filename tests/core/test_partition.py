"""Samples move to the children their cells name."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from naive import Array
from steps import split_samples


def split(order: Any, runs: Any, cells: Any, n_planes: int, n_stretches: int = 1) -> tuple[list[int], dict[int, Array]]:
    """New order, and the runs of the children that have samples, by their codes."""
    new_order, counts, places = split_samples(order, runs, cells, n_planes, n_stretches)
    ends = np.cumsum(counts.sum(axis=1)) + runs[0]
    children = {code: np.array([*places[code], ends[code]]) for code in range(1 << n_planes) if counts[code].sum() > 0}
    for code, found in children.items():
        assert np.diff(found).tolist() == counts[code].tolist()
    return new_order.tolist(), children


def runs_of(children: dict[int, Array]) -> dict[int, list[int]]:
    return {code: runs.tolist() for code, runs in children.items()}


def test_five_samples_by_hand() -> None:
    # [a b c d e] with cells 1 0 1 3 0 gives [b e | a c | d]
    order, children = split([0, 1, 2, 3, 4], [0, 5], [1, 0, 1, 3, 0], 2)
    assert order == [1, 4, 0, 2, 3]
    assert runs_of(children) == {0: [0, 2], 1: [2, 4], 3: [4, 5]}


def test_classes_stay_together_inside_a_child() -> None:
    # classes a b | c d e; cells 1 0 | 0 1 0 give child 0: b | c e and child 1: a | d
    order, children = split([0, 1, 2, 3, 4], [0, 2, 5], [1, 0, 0, 1, 0], 1)
    assert order == [1, 2, 4, 0, 3]
    assert runs_of(children) == {0: [0, 1, 3], 1: [3, 4, 5]}


def test_samples_of_other_nodes_are_left_alone() -> None:
    order, children = split([5, 4, 3, 2, 1, 0], [2, 5], [1, 1, 0], 1)
    assert order == [5, 4, 1, 3, 2, 0]
    assert runs_of(children) == {0: [2, 3], 1: [3, 5]}


@st.composite
def nodes(draw: st.DrawFn) -> tuple[list[int], list[int], int, int]:
    """Runs of a node, cells of its samples, its hyperplanes, and samples of other nodes behind it."""
    n_planes = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3).filter(any))
    runs = (draw(st.integers(0, 5)) + np.cumsum([0, *sizes])).tolist()
    cell = st.integers(0, (1 << n_planes) - 1)
    return runs, draw(st.lists(cell, min_size=sum(sizes), max_size=sum(sizes))), n_planes, draw(st.integers(0, 3))


@given(node=nodes(), seed=st.integers(0, 1000), n_stretches=st.integers(1, 5))
def test_children_equal_the_twin(node: tuple[list[int], list[int], int, int], seed: int, n_stretches: int) -> None:
    runs, cells, n_planes, n_behind = node
    order = np.random.default_rng(seed).permutation(runs[-1] + n_behind).tolist()
    new_order, children = split(order, runs, cells, n_planes, n_stretches)
    inside = slice(runs[0], runs[-1])
    assert new_order[: runs[0]] == order[: runs[0]]
    assert new_order[runs[-1] :] == order[runs[-1] :]
    expected = naive.split(order[inside], cells)
    assert list(children) == list(expected)
    for code, rows in expected.items():
        found = children[code]
        assert new_order[found[0] : found[-1]] == rows  # class by class, as the node's order is
        for k in range(len(found) - 1):
            of_class = {order[p] for p in range(runs[k], runs[k + 1])}
            assert set(new_order[found[k] : found[k + 1]]) == of_class & set(rows)


def test_children_cover_their_parent_without_overlap() -> None:
    rng = np.random.default_rng(0)
    n = 40_000
    order, cells = rng.permutation(n), rng.integers(0, 256, n)
    new_order, children = split(order, [0, 15_000, n], cells, 8)
    assert sorted(new_order) == list(range(n))
    assert list(children) == list(range(256))
    runs = np.array(list(children.values()))
    assert (runs[1:, 0] == runs[:-1, -1]).all()
    assert (runs[0, 0], runs[-1, -1]) == (0, n)


def test_one_sample_moves_to_its_only_child() -> None:
    order, children = split([0], [0, 1], [2], 2)
    assert order == [0]
    assert runs_of(children) == {2: [0, 1]}


@pytest.mark.parametrize("n_planes", [1, 2, 4])
def test_stretches_of_a_node_move_as_the_whole_node_does(n_planes: int) -> None:
    """Threads take a stretch each, and write behind those before them."""
    rng = np.random.default_rng(1)
    order, cells = rng.permutation(3000), rng.integers(0, 1 << n_planes, 2500)
    runs = [100, 100, 900, 901, 2600]
    whole, children = split(order, runs, cells, n_planes)
    for n_stretches in (2, 3, 16, 2500):
        parts, same = split(order, runs, cells, n_planes, n_stretches)
        assert parts == whole
        assert runs_of(same) == runs_of(children)
