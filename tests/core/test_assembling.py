"""Parts of a tree, as threads have grown them, put together."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.tree.answers import ClassShares
from sublearn.core.tree.assembling import assembled
from sublearn.kernels.layout import Samples
from sublearn.kernels.nodes import CELLS, FIRST, N_STATES, NODES, PLANES, TERMS, Grown
from support import make_data, samples_of


class Grew(NamedTuple):
    """A node that a thread has grown. Its mark tells it apart, and is where its samples begin."""

    parent: int  # its number among the nodes of all threads, part by part
    cell: int
    depth: int
    mark: int
    n_planes: int


Part = list[Grew]


def planes_of(node: Grew) -> list[int]:
    """Thresholds of a node's hyperplanes, which have two terms each."""
    return [100 * node.mark + p for p in range(node.n_planes)]


def terms_of(threshold: int) -> list[tuple[int, int]]:
    """Features and coefficients."""
    return [(10 * threshold + d, (10 * threshold + d) % 30_000 + 1) for d in (0, 1)]


def hand_of(part: Part, parents: list[int], room: int) -> Grown:
    """The part as a thread has it, with room for more than there is."""

    def column(values: Any, kind: Any, n: int) -> Array:
        return np.concatenate([np.array(values, kind), np.full(n - len(values), 77).astype(kind)])

    thresholds = [threshold for node in part for threshold in planes_of(node)]
    terms = [term for threshold in thresholds for term in terms_of(threshold)]
    marks = [node.mark for node in part]
    numbers = [[2, m, m, m + 1, -7, m, 7, -7, -7, 0, 1] for m in marks]  # two classes, and room not used
    width = 11
    return Grown(
        parent=column(parents, np.int64, room),
        cell=column([node.cell for node in part], np.int64, room),
        depth=column([node.depth for node in part], np.int64, room),
        at=column(width * np.arange(len(part)), np.int64, room),
        numbers=column(np.array(numbers, np.int64).ravel(), np.int64, width * room),
        remainder=column(np.zeros(len(part)), np.int64, room),
        loss=column([m / 8 for m in marks], np.float64, room),
        pure=column([False] * len(part), np.bool_, room),
        key=column([0] * len(part), np.uint64, room),
        n_planes=column([node.n_planes for node in part], np.int64, room),
        decrease=column([m / 4 for m in marks], np.float64, room),
        threshold=column(thresholds, np.int32, 8 * room),
        plane_decrease=column([t / 2 for t in thresholds], np.float64, 8 * room),
        n_terms=column([2] * len(thresholds), np.int64, 8 * room),
        feature=column([f for f, _ in terms], np.int32, 16 * room),
        coefficient=column([a for _, a in terms], np.int16, 16 * room),
    )


def by_threads(parts: list[Part]) -> tuple[FlatTree, Array]:
    """The tree that the parts are when every thread has one of them."""
    firsts = np.cumsum([0, *map(len, parts)])
    room = max(map(len, parts)) + 3
    states, hands = np.zeros((len(parts), N_STATES), np.int64), []
    for t, part in enumerate(parts):
        parents = np.array([node.parent for node in part], np.int64)
        owner = np.searchsorted(firsts, parents, side="right") - 1
        told = np.where(parents < 0, -1, owner * room + parents - firsts[owner])
        hands.append(hand_of(part, told.tolist(), room))
        n_planes = sum(node.n_planes for node in part)
        states[t, [FIRST, NODES, PLANES, TERMS]] = t * room, len(part), n_planes, 2 * n_planes
        states[t, CELLS] = sum(1 << node.n_planes for node in part if node.n_planes)
    samples: Samples = samples_of(make_data(np.zeros(1), [0], 2))
    grown = Grown._make(map(np.concatenate, zip(*hands, strict=True)))
    return assembled(grown, states, samples, ClassShares(2))


def assert_is(tree: FlatTree, places: Array, parts: list[Part]) -> None:
    """Nodes come level by level, in the order of their samples, with their hyperplanes and children behind them."""
    nodes = [node for part in parts for node in part]
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i].depth, nodes[i].mark))
    number = {-1: -1} | {i: place for place, i in enumerate(order)}
    inside = [nodes[i] for i in order]
    assert places.tolist() == [[node.mark, node.mark + 1] for node in inside]
    assert tree.parent.tolist() == [number[node.parent] for node in inside]
    assert tree.depth.tolist() == [node.depth for node in inside]
    assert (tree.loss * 8).tolist() == (tree.decrease * 4).tolist() == [node.mark for node in inside]
    assert tree.value.tolist() == [[node.mark / (node.mark + 7), 7 / (node.mark + 7)] for node in inside]
    assert tree.n_samples.tolist() == [node.mark + 7 for node in inside]
    thresholds, terms, children, first_child = list[int](), list[tuple[int, int]](), list[int](), list[int]()
    for i in order:
        thresholds += planes_of(nodes[i])
        terms += [term for threshold in planes_of(nodes[i]) for term in terms_of(threshold)]
        first_child.append(len(children) if nodes[i].n_planes else -1)
        below = {node.cell: number[j] for j, node in enumerate(nodes) if node.parent == i}
        children += [below.get(cell, -1) for cell in range(1 << nodes[i].n_planes)] if nodes[i].n_planes else []
    assert tree.first_plane.tolist() == np.cumsum([0, *(node.n_planes for node in inside)]).tolist()
    assert tree.threshold.tolist() == thresholds
    assert tree.plane_decrease.tolist() == [threshold / 2 for threshold in thresholds]
    assert tree.first_term.tolist() == (2 * np.arange(len(thresholds) + 1)).tolist()
    assert list(zip(tree.feature.tolist(), tree.coefficient.tolist(), strict=True)) == terms
    assert tree.first_child.tolist() == first_child
    assert tree.children.tolist() == children


def test_two_parts_by_hand() -> None:
    # 10 has children 11 and 12 of codes 0 and 3; 12 has children 13 and 14 of codes 0 and 1
    first = [Grew(-1, 0, 0, 10, 2), Grew(0, 0, 1, 11, 0), Grew(3, 1, 2, 14, 0)]
    second = [Grew(0, 3, 1, 12, 1), Grew(3, 0, 2, 13, 0)]
    tree, places = by_threads([first, second])
    assert places[:, 0].tolist() == [10, 11, 12, 13, 14]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    assert tree.depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.children.tolist() == [1, -1, -1, 2, 3, 4]
    assert tree.first_child.tolist() == [0, -1, 4, -1, -1]
    assert tree.first_plane.tolist() == [0, 2, 2, 3, 3, 3]
    assert tree.threshold.tolist() == [1000, 1001, 1200]
    assert tree.feature.tolist() == [10_000, 10_001, 10_010, 10_011, 12_000, 12_001]
    assert (tree.loss * 8).tolist() == (tree.decrease * 4).tolist() == [10, 11, 12, 13, 14]
    assert tree.value[:, 0].tolist() == [m / (m + 7) for m in (10, 11, 12, 13, 14)]
    assert_is(tree, places, [first, second])


def test_a_leaf_is_a_tree() -> None:
    tree, places = by_threads([[Grew(-1, 0, 0, 4, 0)]])
    assert (tree.n_nodes, tree.n_planes, places.tolist()) == (1, 0, [[4, 5]])


@pytest.mark.parametrize("last", [False, True])
def test_a_thread_may_have_grown_nothing(last: bool) -> None:
    whole = [Grew(-1, 0, 0, 1, 1), Grew(0, 0, 1, 2, 0), Grew(0, 1, 1, 3, 0)]
    parts: list[Part] = [whole, []] if last else [[], whole]
    assert_is(*by_threads(parts), parts)


@given(seed=st.integers(0, 2**32), n_splits=st.integers(0, 25), n_parts=st.integers(1, 6))
def test_any_division_into_parts_gives_the_tree_level_by_level(seed: int, n_splits: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [Grew(-1, 0, 0, 0, 0)]
    at = 0
    while at < len(nodes):  # level by level
        if len(nodes) <= 2 * n_splits and (rng.random() < 0.6 or at == 0):
            n_cells = 1 << (n_planes := int(rng.integers(1, 4)))
            nodes[at] = nodes[at]._replace(n_planes=n_planes)
            for code in sorted(rng.choice(n_cells, int(rng.integers(2, n_cells + 1)), replace=False).tolist()):
                nodes.append(Grew(at, code, nodes[at].depth + 1, len(nodes), 0))
        at += 1
    owner = rng.integers(0, n_parts, len(nodes))
    order = rng.permutation(len(nodes))
    members = [order[owner[order] == part].tolist() for part in range(n_parts)]
    number = {-1: -1} | {node: i for i, node in enumerate(node for inside in members for node in inside)}
    parts = [[nodes[i]._replace(parent=number[nodes[i].parent]) for i in inside] for inside in members]
    assert_is(*by_threads(parts), parts)
