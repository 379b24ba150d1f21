"""Parts of a tree put together: by the recorder, and as threads have grown them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.tree.answers import ClassShares
from sublearn.core.tree.criterion import NodeSums
from sublearn.core.tree.grower import assembled
from sublearn.core.tree.recorder import Nodes, Planes, Recorded, Recorder
from sublearn.kernels.growing import CELLS, FIRST, N_STATES, NODES, PLANES, TERMS, Grown
from sublearn.kernels.layout import Samples
from support import assert_same_tree


def part_of(parents: list[int], cells: list[int], depths: list[int], marks: list[int], n_planes: list[int]) -> Recorded:
    """Nodes told apart by their marks, where their samples begin, as are their hyperplanes and terms, two each."""
    mark = np.array(marks, np.int64)
    parent, cell, depth, kept = (np.array(column, np.int64) for column in (parents, cells, depths, n_planes))
    totals = np.column_stack([mark, np.full(len(mark), 7)])
    weights = totals.sum(axis=1)
    sums = NodeSums(totals=totals, remainders=0 * mark, losses=mark / 8, pure=mark < 0, weights=weights, counts=weights)
    places = np.column_stack([mark, mark + 1])
    planes = np.array([100 * m + p for m, n in zip(marks, n_planes, strict=True) for p in range(n)], np.int64)
    terms = np.repeat(10 * planes, 2) + np.tile([0, 1], len(planes))
    return Recorded(
        Nodes(parent=parent, cell=cell, depth=depth, places=places, sums=sums, n_planes=kept, decrease=mark / 4),
        Planes(planes, planes / 2, np.full(len(planes), 2), terms, terms % 30_000 + 1),
    )


def hand_of(part: Recorded, room: int) -> Grown:
    """The part as a thread has it, with room for more than there is."""
    nodes, planes, sums = part.nodes, part.planes, part.nodes.sums
    runs = np.column_stack([nodes.places[:, 0], nodes.places.mean(axis=1).astype(np.int64), nodes.places[:, 1]])
    n, two = len(runs), np.full((len(runs), 1), 2)
    unused = np.full((n, 2), -7)
    numbers = np.hstack([two, runs, unused[:, :1], sums.totals, unused, 0 * two, two // 2])
    of_nodes: dict[str, Array] = {
        "parent": nodes.parent,
        "cell": nodes.cell,
        "depth": nodes.depth,
        "at": np.arange(n) * numbers.shape[1],
        "numbers": numbers,
        "remainder": sums.remainders,
        "loss": sums.losses,
        "pure": sums.pure,
        "key": np.zeros(n, np.uint64),
        "n_planes": nodes.n_planes,
        "decrease": nodes.decrease,
    }
    of_planes: dict[str, Array] = {
        "threshold": planes.threshold.astype(np.int32),
        "plane_decrease": planes.decrease,
        "n_terms": planes.n_terms,
    }
    of_terms: dict[str, Array] = {
        "feature": planes.feature.astype(np.int32),
        "coefficient": planes.coefficient.astype(np.int16),
    }

    def roomy(columns: dict[str, Array], n: int) -> dict[str, Array]:
        return {
            name: np.concatenate([column, np.full((n - len(column), *column.shape[1:]), 77).astype(column.dtype)])
            for name, column in columns.items()
        }

    columns = roomy(of_nodes, room) | roomy(of_planes, 8 * room) | roomy(of_terms, 99 * room)
    return Grown(**columns | {"numbers": columns["numbers"].ravel()})


def by_threads(parts: list[Recorded]) -> tuple[FlatTree, Array]:
    """The tree that the parts are when every thread has one of them."""
    sizes = [len(part.nodes.parent) for part in parts]
    room = max(sizes) + 3
    states = np.zeros((len(parts), N_STATES), np.int64)
    firsts = np.cumsum([0, *sizes])
    hands = []
    for t, part in enumerate(parts):
        parent, n_planes = part.nodes.parent, part.nodes.n_planes
        owner = np.searchsorted(firsts, parent, side="right") - 1
        told = np.where(parent < 0, -1, owner * room + parent - firsts[owner])
        hands.append(hand_of(part._replace(nodes=part.nodes._replace(parent=told)), room))
        states[t, [FIRST, NODES]] = t * room, sizes[t]
        states[t, [PLANES, TERMS]] = len(part.planes.threshold), len(part.planes.feature)
        states[t, CELLS] = (1 << n_planes[n_planes > 0]).sum()
    nothing = np.empty(0, np.int64)
    samples = Samples(
        codes=np.empty((1, 0), np.int16),
        targets=nothing,
        remainders=nothing,
        curvatures=nothing,
        packed=nothing,
        weights=nothing,
        counts=nothing,
        n_classes=2,
        views=np.empty((2, 0), np.int32),
    )
    grown = Grown._make(map(np.concatenate, zip(*hands, strict=True)))
    return assembled(grown, states, samples, ClassShares(2))


def assert_threads_give(parts: list[Recorded], tree: FlatTree, places: Array) -> None:
    found, found_places = by_threads(parts)
    assert_same_tree(tree, found)
    np.testing.assert_array_equal(places, found_places)


def finished(parts: list[Recorded]) -> tuple[FlatTree, Array]:
    recorder = Recorder(ClassShares(2))
    ends = np.cumsum([len(part.nodes.parent) for part in parts]).tolist()
    assert [recorder.add(part) for part in parts] == [0, *ends[:-1]]
    tree, places = recorder.finish()
    assert recorder.parts == []
    return tree, places


def test_two_parts_by_hand() -> None:
    # 10 has children 11 and 12 of codes 0 and 3; 12 has children 13 and 14 of codes 0 and 1
    first = part_of([-1, 0, 3], [0, 0, 1], [0, 1, 2], [10, 11, 14], [2, 0, 0])
    second = part_of([0, 3], [3, 0], [1, 2], [12, 13], [1, 0])
    tree, places = finished([first, second])
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
    assert_threads_give([first, second], tree, places)


def test_a_leaf_is_a_tree() -> None:
    tree, places = finished([part_of([-1], [0], [0], [4], [0])])
    assert (tree.n_nodes, tree.n_planes, places.tolist()) == (1, 0, [[4, 5]])
    assert_threads_give([part_of([-1], [0], [0], [4], [0])], tree, places)


@pytest.mark.parametrize("last", [False, True])
def test_parts_may_be_empty(last: bool) -> None:
    whole = part_of([-1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 2, 3], [1, 0, 0])
    nothing = part_of([], [], [], [], [])
    both = [whole, nothing] if last else [nothing, whole]
    assert_same_tree(finished(both)[0], finished([whole])[0])
    assert_threads_give(both, *finished([whole]))


@given(seed=st.integers(0, 2**32), n_splits=st.integers(0, 25), n_parts=st.integers(1, 6))
def test_any_division_into_parts_gives_the_tree_level_by_level(seed: int, n_splits: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    columns: tuple[list[int], ...] = ([-1], [0], [0], [0], [0])
    parents, _, depths, marks, n_planes = columns
    at = 0
    while at < len(parents):  # level by level
        if len(parents) <= 2 * n_splits and (rng.random() < 0.6 or at == 0):
            n_planes[at] = int(rng.integers(1, 4))
            codes = sorted(rng.choice(1 << n_planes[at], int(rng.integers(2, (1 << n_planes[at]) + 1)), replace=False))
            for code in codes:
                for column, value in zip(columns, (at, int(code), depths[at] + 1, len(parents), 0), strict=True):
                    column.append(value)
        at += 1
    expected, places = finished([part_of(*columns)])
    assert places[:, 0].tolist() == marks
    owner = rng.integers(0, n_parts, len(parents))
    order = rng.permutation(len(parents))
    members = [order[owner[order] == part].tolist() for part in range(n_parts)]
    number = {node: i for i, node in enumerate(node for inside in members for node in inside)}
    parts = []
    for inside in members:
        told = [number.get(parents[node], -1) for node in inside]
        rest = ([column[node] for node in inside] for column in columns[1:])
        parts.append(part_of(told, *rest))
    tree, found = finished(parts) if n_parts > 1 else (expected, places)
    assert_same_tree(expected, tree)
    np.testing.assert_array_equal(places, found)
    assert_threads_give(parts, expected, places)
