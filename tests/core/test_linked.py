"""Trees whose samples are in several partitions: the local tree, array by array."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers import assert_parts_of, cuts, in_partitions, part_of
from sublearn.core.links import Beside
from sublearn.core.tree import below, grower, linked, space
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.core.tree.task import Task, repeated
from sublearn.kernels.discriminant import TILE
from sublearn.kernels.layout import BLOCK
from sublearn.kernels.machine import CELLS, NAMES, PRODUCTS, RACERS, RANGES
from support import (
    KEY,
    ONE_THREAD,
    WEIGHTS,
    make_data,
    parameters,
    share_small_trees,
    task_of,
)
from test_drivers import KINDS, L2, Kind, data_of, parameters_of
from test_grower import DRAWN

FEW = replace(DRAWN, max_depth=4)  # levels: each operation waits for all partitions
PLANTED = parameters(max_depth=2)


LARGEST_SMALL = {"divided": 0, "sent": 60, "all sent": 1 << 40}  # samples of nodes that one partition gets


def grow_in_this_way(way: str, patch: pytest.MonkeyPatch) -> None:
    if way != "gathered":
        patch.setattr(grower, "GATHERED", 0)
        patch.setattr(linked, "most_alone", lambda *_: LARGEST_SMALL[way])


@pytest.fixture(params=["gathered", *LARGEST_SMALL])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small trees are gathered in each partition; divided, partitions add up what each finds.

    Where samples are sent, one partition gets all those of a small node.
    """
    grow_in_this_way(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def divided_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    grow_in_this_way("divided", monkeypatch)


def assert_same_in_partitions(task: Task, bounds: Sequence[Sequence[int]] | None = None, n_threads: int = 1) -> Placed:
    whole = grow_placed(task, KEY, ONE_THREAD)
    for cut in bounds or cuts(task.samples.codes.shape[1]):
        assert_parts_of(whole, in_partitions(task, cut, n_threads=n_threads), cut)
    return whole


# --- by hand


def test_a_part_of_five_samples_by_hand() -> None:
    task = task_of(make_data(np.arange(5), [1, 0, 1, 0, 0], 2, [5, 6, 7, 8, 9]), PLANTED)
    part = part_of(task, 1, 4)
    assert part.samples.codes.tolist() == [[1, 2, 3]]
    assert part.samples.weights.tolist() == [6, 7, 8]
    assert (part.root.order.tolist(), part.root.runs.tolist()) == ([0, 2, 1], [[0, 2, 3]])


def test_four_samples_in_two_partitions_by_hand(way: str) -> None:
    data = make_data([[0, 5], [8, 5], [1, 5], [9, 5]], [0, 1, 0, 1], 2)
    first, second = in_partitions(task_of(data, parameters(n_bins=3)), [0, 2, 4])
    for part in (first, second):
        assert part.tree.threshold.tolist() == [3]
        assert part.tree.n_samples.tolist() == [4, 2, 2]
        assert part.order.tolist() == [0, 1]
        assert part.places.tolist() == [[0, 2], [0, 1], [1, 2]]


# --- every kind of tree


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_every_kind_are_those_of_one_partition(
    kind: Kind, weights: str, racing_samples: int | None, way: str
) -> None:
    p = parameters_of(kind, FEW, racing_samples=racing_samples, n_finalists=4)
    whole = assert_same_in_partitions(task_of(data_of(kind, 300, 5, weights), p, L2))
    assert whole.tree.n_nodes > 10


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("max_partitions", [1, 3])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_fitted_pairs_and_several_hyperplanes_are_those_of_one_partition(
    kind: Kind, max_partitions: int, racing_samples: int | None, way: str
) -> None:
    p = parameters_of(
        kind,
        FEW,
        racing_samples=racing_samples,
        max_partitions=max_partitions,
        fitted_projections=5,
        min_samples_leaf=3,
    )
    whole = assert_same_in_partitions(task_of(data_of(kind, 400, 6, "integer"), p, L2))
    assert np.diff(whole.tree.first_plane).max() == max_partitions


@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_operations_that_only_some_trees_need_are_run(
    kind: Kind, divided_trees: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trees of this file exchange all that there is to exchange."""
    seen: set[int] = set()
    step = linked.LinkedTree.step

    def noted(self: linked.LinkedTree) -> int:
        operation = step(self)
        seen.add(operation)
        return operation

    monkeypatch.setattr(linked.LinkedTree, "step", noted)
    for racing_samples in (None, 16):
        p = parameters_of(kind, FEW, racing_samples=racing_samples, fitted_projections=5)
        assert_same_in_partitions(task_of(data_of(kind, 300, 5), p, L2), [[0, 100, 300]])
    assert {CELLS, PRODUCTS, RACERS, RANGES} <= seen
    assert {NAMES[operation] for operation in seen} >= {"ROOT", "VIEW_RANGES", "VIEW_SUMS", "SUMS", "COUNT"}
    assert ("DESCRIBE" in {NAMES[operation] for operation in seen}) == (kind == KINDS[4])


@pytest.mark.parametrize("selection", ["projection", "round"])
@pytest.mark.parametrize("subspace", ["top", "drawn"])
@pytest.mark.parametrize("n_features", [5, TILE + 8])
def test_subspaces_and_draws_are_those_of_one_partition(
    n_features: int, subspace: str, selection: str, divided_trees: None
) -> None:
    rounds = (DrawingRound(0.3, 0.2, 2), DrawingRound(0.1, 0.4, None))
    p = replace(FEW, subspace=subspace, selection=selection, rounds=rounds)
    assert_same_in_partitions(task_of(data_of(KINDS[2], 300, n_features), p))


@pytest.mark.parametrize("n_classes", [0, 4])
def test_trees_with_views_are_those_of_one_partition(n_classes: int, way: str) -> None:
    given = replace(FEW, criterion="entropy" if n_classes else "squared_error", subspace_size=3)
    task = task_of(data_of((n_classes, given.criterion, "none"), 300, 7), given)
    features = np.array([0, 0, 0, 1, 2, 2, 3], np.int32)
    views = np.array([features, [0, 0, 0, 3, 4, 5, 6]], np.int32)
    samples = task.samples._replace(views=views)
    assert_same_in_partitions(task._replace(samples=samples, plan=plan_projections(given, 4)))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("racing_samples", [None, 16])
def test_classes_that_a_partition_or_the_root_has_not_seen(
    criterion: str, racing_samples: int | None, way: str
) -> None:
    data = data_of((5, criterion, "none"), 300, 5, "integer")
    rows = np.argsort(data.y, kind="stable")  # each partition has a class or two
    data = data.take(rows)._replace(n_classes=20)
    data = data._replace(y=3 * data.y + 2)
    p = replace(FEW, criterion=criterion, racing_samples=racing_samples)
    whole = assert_same_in_partitions(task_of(data, p))
    assert (whole.tree.value[0] > 0).sum() == 5


def test_many_classes_are_those_of_one_partition(way: str) -> None:
    p = parameters(max_depth=3, max_partitions=2, n_projections=20, effective_ratio=0.1)
    assert_same_in_partitions(task_of(data_of((150, "gini", "none"), 500, 4), p))


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[4]])
def test_samples_that_are_drawn_again_are_those_of_one_partition(kind: Kind, way: str) -> None:
    task = task_of(data_of(kind, 300, 4), parameters_of(kind, FEW, racing_samples=32), L2)
    times = np.random.default_rng(5).integers(0, 4, 300)
    assert_same_in_partitions(task._replace(root=repeated(task.root, times)))


@pytest.mark.parametrize("kind", KINDS)
def test_trees_without_splits_are_those_of_one_partition(kind: Kind, way: str) -> None:
    p = parameters_of(kind, FEW)
    for n in (1, 2, 3):
        assert_same_in_partitions(task_of(data_of(kind, n, 2), p, L2), [[0, n], [0, 0, n], [0, 1, n, n]])
    constant = data_of(kind, 40, 3)._replace(codes=np.full((40, 3), -4))
    leaf = task_of(data_of(kind, 40, 3), replace(p, max_depth=0), L2)
    for task in (task_of(constant, p, L2), leaf):
        assert assert_same_in_partitions(task).tree.n_nodes == 1


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[6]])
def test_a_node_that_one_feature_solves_is_that_of_one_partition(kind: Kind, divided_trees: None) -> None:
    codes = np.random.default_rng(2).integers(-1000, 1000, (300, 5))
    data = make_data(codes, codes[:, 3] > 20, 2)
    for racing_samples in (None, 16):
        assert_same_in_partitions(task_of(data, parameters(n_bins=256, racing_samples=racing_samples)))


@pytest.mark.parametrize("racing_samples", [None, 4096])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_nodes_of_several_blocks_are_those_of_one_partition(
    kind: Kind, racing_samples: int | None, divided_trees: None
) -> None:
    p = parameters_of(kind, parameters(n_projections=6, subspace_size=3, max_depth=2), racing_samples=racing_samples)
    n = BLOCK + 7300
    assert_same_in_partitions(task_of(data_of(kind, n, 4), p, L2), [[0, 10, BLOCK + 5, n]])


# --- threads, batches, failures


@pytest.mark.parametrize("n_threads", [2, 3, 16])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_partitions_of_several_threads_grow_the_same_tree(
    kind: Kind, n_threads: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(data_of(kind, 400, 5), parameters_of(kind, FEW, racing_samples=16, fitted_projections=3), L2)
    share_small_trees(monkeypatch)
    bounds = [[0, 150, 400], [0, 17, 17, 400]] if n_threads < 16 else [[0, 150, 400]]
    assert_same_in_partitions(task, bounds, n_threads)


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_nodes_that_wait_for_the_next_batch_are_those_of_one_partition(
    kind: Kind, racing_samples: int | None, divided_trees: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = parameters_of(kind, FEW, racing_samples=racing_samples, fitted_projections=3)
    task = task_of(data_of(kind, 300, 5), p, L2)
    for n_bytes in (60_000, 1):
        monkeypatch.setattr(space, "BATCH_BYTES", n_bytes)
        assert_same_in_partitions(task, [[0, 150, 300], [0, 20, 20, 300]])


@pytest.mark.parametrize("after", [0, 1, 5, 12])
def test_when_one_partition_fails_in_a_tree_all_of_them_end(
    after: int, divided_trees: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, n_sent = Beside.send, [0, 0, 0]

    def failing(self: Beside, parts: Any) -> Any:
        if self.number == 1 and n_sent[1] == after:
            raise OSError("gone")
        received = send(self, parts)
        n_sent[self.number] += 1
        return received

    monkeypatch.setattr(Beside, "send", failing)
    with pytest.raises(OSError, match="gone"):
        in_partitions(task_of(data_of(KINDS[2], 300, 5), FEW), [0, 100, 200, 300])
    assert max(n_sent) == after  # no partition has gone on alone


@settings(max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(WEIGHTS),
    size=st.tuples(st.integers(1, 200), st.integers(1, 8)),
    seed=st.integers(0, 2**32),
    limit=st.sampled_from([1, 3, 50, 8000]),
    ends=st.lists(st.floats(0.0, 1.0), max_size=4),
    fitted=st.sampled_from([0, 2]),
    planes=st.tuples(st.integers(1, 3), st.sampled_from([0.0, 0.3])),
    race=st.sampled_from([None, 16, 30]),
    minima=st.tuples(st.sampled_from([2, 9]), st.sampled_from([1, 4]), st.sampled_from([0.0, 0.02])),
    way=st.sampled_from(["gathered", *LARGEST_SMALL]),
    wave=st.sampled_from([1, 2000, below.WAVE]),
)
def test_any_tree_is_that_of_one_partition(
    kind: Kind,
    weights: str,
    size: tuple[int, int],
    seed: int,
    limit: int,
    ends: list[float],
    fitted: int,
    planes: tuple[int, float],
    race: int | None,
    minima: tuple[int, int, float],
    way: str,
    wave: int,
) -> None:
    n = size[0]
    p: TreeParameters = parameters_of(
        kind,
        DRAWN,
        max_depth=3,
        fitted_projections=fitted,
        max_partitions=planes[0],
        effective_ratio=planes[1],
        racing_samples=race,
        min_samples_split=minima[0],
        min_samples_leaf=minima[1],
        min_weight_fraction_leaf=minima[2],
    )
    task = task_of(data_of(kind, *size, weights, seed, limit), p, L2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(below, "WAVE", wave)
        grow_in_this_way(way, patch)
        assert_same_in_partitions(task, [[0, *sorted(int(end * n) for end in ends), n]])
