"""One tree, by every driver: a thread alone, threads together, and operation by operation from Python."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers import by_operations
from naive import Data
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import space, threads, workspace
from sublearn.core.tree.grower import grow, grow_placed
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.core.tree.task import Task, repeated
from sublearn.kernels.discriminant import HISTOGRAMS, TILE
from sublearn.kernels.layout import BLOCK
from sublearn.kernels.team import TOGETHER, Team
from support import (
    KEY,
    ONE_THREAD,
    TASKS,
    WEIGHTS,
    assert_same_tree,
    make_data,
    parameters,
    random_data,
    share_small_trees,
    task_of,
)
from test_grower import DRAWN

Kind = tuple[int, str, str]  # classes, criterion, curvatures

KINDS: tuple[Kind, ...] = (
    *((*task, "none") for task in TASKS),
    (0, "second_order", "none"),
    (0, "second_order", "packed"),
    (0, "second_order", "large"),
)
L2 = 3.0


@pytest.fixture(scope="module")
def teams() -> Iterator[list[Workers]]:
    """Threads that small trees are shared by too."""
    workers = [Workers(n) for n in (1, 2, 3, 5)]
    with pytest.MonkeyPatch.context() as patch, workers[0], workers[1], workers[2], workers[3]:
        share_small_trees(patch)
        yield workers


def grow_together(patch: pytest.MonkeyPatch) -> None:
    """Let all threads of a team grow nodes of more than 16 samples together, level by level."""
    share_small_trees(patch)
    patch.setattr(workspace, "large_for", lambda n_samples, n_threads, limit: min(limit or n_samples, 16))


def data_of(kind: Kind, n: int, n_features: int, weights: str = "unit", seed: int = 0, limit: int = 1000) -> Data:
    n_classes, _, curvatures = kind
    rng = np.random.default_rng(seed)
    data = random_data(rng, n, n_features, n_classes, weights, limit)
    if curvatures == "packed":
        data = data._replace(y=np.clip(data.y // 2000, -65535, 65535), curvatures=rng.integers(1, 1 << 16, n))
    elif curvatures == "large":
        data = data._replace(curvatures=rng.integers(1, 1 << 20, n))
    return data


def parameters_of(kind: Kind, given: TreeParameters, **changes: Any) -> TreeParameters:
    _, criterion, _ = kind
    least = -np.inf if criterion == "second_order" else given.min_loss
    return replace(given, criterion=criterion, min_loss=least, **changes)


def assert_same_by_all(task: Task, teams: list[Workers], key: int = KEY) -> FlatTree:
    expected = grow(task, key, ONE_THREAD)
    assert_same_tree(expected, by_operations(task, key))
    for workers in teams:
        assert_same_tree(expected, grow(task, key, workers))
    return expected


@pytest.mark.parametrize(
    ("criterion", "weights", "racing_samples"),
    [
        *(("entropy", "unit", None), ("entropy", "integer", 16), ("entropy", "fractional", None)),
        *(("gini", "unit", 16), ("gini", "integer", None), ("gini", "fractional", 16)),
    ],
)
def test_nodes_that_have_few_of_many_classes_are_the_same_by_every_driver(
    criterion: str, weights: str, racing_samples: int | None, teams: list[Workers]
) -> None:
    data = data_of((300, criterion, "none"), 700, 5, weights)
    data = data._replace(y=2 * data.y, n_classes=600)  # not even the root has all
    given = parameters(
        criterion=criterion, racing_samples=racing_samples, fitted_projections=3, max_partitions=2, min_samples_leaf=2
    )
    tree = assert_same_by_all(task_of(data, given), teams)
    assert tree.n_nodes > 100
    assert (tree.value[0] > 0).sum() == 300


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_every_kind_are_the_same_by_every_driver(
    kind: Kind, weights: str, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = parameters_of(kind, DRAWN, racing_samples=racing_samples, n_finalists=4)
    tree = assert_same_by_all(task_of(data_of(kind, 700, 5, weights), given, L2), teams)
    assert tree.n_nodes > 30
    assert tree.depth.max() > 2


@pytest.mark.parametrize("subspace", ["top", "drawn"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_that_select_once_a_round_are_the_same_by_every_driver(
    kind: Kind, subspace: str, teams: list[Workers]
) -> None:
    rounds = (DrawingRound(0.3, 0.2, 2), DrawingRound(0.1, 0.4, None))
    given = parameters_of(kind, DRAWN, selection="round", subspace=subspace, subspace_size=4, rounds=rounds)
    tree = assert_same_by_all(task_of(data_of(kind, 700, 9), given, L2), teams)
    assert tree.n_nodes > 30


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_whose_small_nodes_draw_less_are_the_same_by_every_driver(
    kind: Kind, weights: str, teams: list[Workers]
) -> None:
    rounds = (*DRAWN.rounds, DrawingRound(0.1, 0.0, 3))
    given = parameters_of(kind, DRAWN, n_projections=400, rounds=rounds, racing_samples=16)
    assert len(plan_projections(given, 5).rounds.n_draws) == 2
    data = data_of(kind, 300, 5, weights)
    trees = [
        assert_same_by_all(task_of(data, replace(given, draws_per_sample=draws), L2), teams[:2])
        for draws in (None, 1, 200)  # where there are 2 samples at least
    ]
    assert_same_tree(trees[0], trees[2])
    assert trees[1].feature.tolist() != trees[0].feature.tolist()


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("max_partitions", [1, 2, 3])
@pytest.mark.parametrize("subspace", ["top", "drawn"])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_trees_of_any_parameters_are_the_same_by_every_driver(
    kind: Kind, subspace: str, max_partitions: int, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = parameters_of(
        kind,
        DRAWN,
        subspace=subspace,
        subspace_size=3,
        max_partitions=max_partitions,
        racing_samples=racing_samples,
        n_finalists=2,
        min_samples_leaf=3,
        min_weight_fraction_leaf=0.004,
        axis_projections=max_partitions < 3,
    )
    tree = assert_same_by_all(task_of(data_of(kind, 500, 6, seed=1), given, L2), teams)
    assert np.diff(tree.first_plane).max() == max_partitions


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("subspace_size", [3, 50])
@pytest.mark.parametrize("kind", [KINDS[0], KINDS[4], KINDS[6]])
def test_trees_over_more_features_than_a_tile_are_the_same_by_every_driver(
    kind: Kind, subspace_size: int, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = parameters_of(
        kind, parameters(n_projections=10), subspace_size=subspace_size, racing_samples=racing_samples
    )
    for n_features in (TILE, TILE + 1, 2 * TILE + 6):
        assert_same_by_all(task_of(data_of(kind, 300, n_features), given, L2), teams)


@pytest.mark.parametrize("n_features", [5, TILE + 8])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_along_the_axes_are_the_same_by_every_driver(kind: Kind, n_features: int, teams: list[Workers]) -> None:
    # the ranking is the only test of a node
    given = parameters_of(kind, parameters(envelope_height=0.0, max_partitions=2, effective_ratio=0.2))
    tree = assert_same_by_all(task_of(data_of(kind, 300, n_features), given, L2), teams)
    assert tree.n_nodes > 10


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("n_features", [5, TILE + 8])
def test_nodes_that_one_feature_solves_are_the_same_by_every_driver(
    n_features: int, racing_samples: int | None, teams: list[Workers]
) -> None:
    # no other candidate is drawn there
    codes = np.random.default_rng(2).integers(-1000, 1000, (300, n_features))
    for column in (0, n_features - 1):
        data = make_data(codes, codes[:, column] > 20, 2)
        task = task_of(data, parameters(n_bins=256, racing_samples=racing_samples))
        assert_same_by_all(task, teams)


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_over_features_that_hardly_vary_are_the_same_by_every_driver(
    kind: Kind, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = parameters_of(kind, DRAWN, racing_samples=racing_samples)
    data = data_of(kind, 300, 6)
    codes = data.codes.copy()
    codes[:, 1], codes[:, 2] = 7, codes[:, 2] > 990  # one that racers seldom see vary
    assert_same_by_all(task_of(data._replace(codes=codes), given, L2), teams)
    nothing = task_of(data._replace(codes=np.full((300, 6), -4)), given, L2)
    assert assert_same_by_all(nothing, teams).n_nodes == 1


@pytest.mark.parametrize("racing_samples", [None, 4096])
@pytest.mark.parametrize("weights", ["unit", "fractional"])
@pytest.mark.parametrize("kind", [KINDS[2], KINDS[4], KINDS[6]])
def test_nodes_of_several_blocks_are_the_same_by_every_driver(
    kind: Kind, weights: str, racing_samples: int | None, teams: list[Workers]
) -> None:
    given = parameters_of(
        kind,
        parameters(n_projections=6, subspace_size=3, max_depth=3, max_partitions=2, effective_ratio=0.1),
        racing_samples=racing_samples,
        n_finalists=3,
        n_bins=32 if weights == "unit" else 16,
    )
    data = data_of(kind, BLOCK + 7300, 4, weights)
    assert assert_same_by_all(task_of(data, given, L2), teams[:3]).n_nodes > 10


@pytest.mark.parametrize("n_classes", [100, 300])
def test_trees_of_many_classes_are_the_same_by_every_driver(n_classes: int, teams: list[Workers]) -> None:
    # histograms of a few candidates, or of not even one, fill the space that threads share
    given = parameters(n_bins=256, n_projections=10, max_depth=2, max_partitions=2, effective_ratio=0.1)
    assert (256 * n_classes > HISTOGRAMS) == (n_classes == 300)
    assert_same_by_all(task_of(random_data(np.random.default_rng(3), 2000, 4, n_classes), given), teams)


def test_eight_hyperplanes_of_many_classes_are_the_same_by_every_driver(teams: list[Workers]) -> None:
    given = parameters(max_partitions=8, max_cosine=1.0, effective_ratio=0.0, max_depth=1, n_projections=60)
    tree = assert_same_by_all(task_of(random_data(np.random.default_rng(4), 2000, 4, 300), given), teams)
    assert tree.n_planes == 8


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_trees_are_the_same_by_every_driver(kind: Kind, teams: list[Workers]) -> None:
    for n in (1, 2, 3):
        task = task_of(data_of(kind, n, 2), parameters_of(kind, DRAWN), L2)
        assert_same_by_all(task, teams)
    for max_depth in (0, 1):
        task = task_of(data_of(kind, 200, 3), parameters_of(kind, DRAWN, max_depth=max_depth), L2)
        assert assert_same_by_all(task, teams).depth.max() == max_depth


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_repeated_samples_are_the_same_by_every_driver(kind: Kind, teams: list[Workers]) -> None:
    task = task_of(data_of(kind, 300, 4), parameters_of(kind, DRAWN, racing_samples=32), L2)
    times = np.random.default_rng(5).integers(0, 4, 300)
    assert_same_by_all(task._replace(root=repeated(task.root, times)), teams)


def test_operations_too_grow_the_same_tree_with_any_number_of_threads(teams: list[Workers]) -> None:
    task = task_of(data_of(KINDS[2], 3000, 5), replace(DRAWN, racing_samples=100))
    expected = grow(task, KEY, ONE_THREAD)
    for workers in teams:
        assert_same_tree(expected, by_operations(task, KEY, workers))


@pytest.mark.parametrize("max_partitions", [1, 3])
@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_small_nodes_that_threads_grow_together_are_those_of_one_thread(
    kind: Kind, racing_samples: int | None, max_partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = parameters_of(kind, DRAWN, racing_samples=racing_samples, max_partitions=max_partitions)
    task = task_of(data_of(kind, 600, 4, "integer"), replace(given, fitted_projections=3), L2)
    expected, places, *_ = grow_placed(task, KEY, ONE_THREAD)
    grow_together(monkeypatch)
    make, teams = workspace.make_team, list[Team]()

    def watched(*given: Any) -> Team:
        teams.append(make(*given))
        return teams[-1]

    monkeypatch.setattr(threads, "make_team", watched)
    for n_threads in (2, 3, 16):
        with Workers(n_threads) as workers:
            assert_same_tree(expected, grow(task, KEY, workers))
        assert (teams[-1].ready == TOGETHER).sum() == (np.diff(places) > 16).sum() > 5


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_nodes_that_wait_for_the_next_batch_grow_the_same_tree(
    kind: Kind, racing_samples: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(data_of(kind, 600, 4), parameters_of(kind, DRAWN, racing_samples=racing_samples), L2)
    expected = grow(task, KEY, ONE_THREAD)
    grow_together(monkeypatch)
    n_batches = []
    for n_bytes in (space.BATCH_BYTES, 60_000, 1):  # all nodes of a level, some, or one
        monkeypatch.setattr(space, "BATCH_BYTES", n_bytes)
        with Workers(3) as workers:
            assert_same_tree(expected, grow(task, KEY, workers))
            assert_same_tree(expected, by_operations(task, KEY, workers))
            front = workspace.workspace_for(task, workspace.make_rules(task), 3, 0, workers).front
            n_batches.append(len(front.number))
    assert n_batches[0] > n_batches[1] > n_batches[2] == 1


def test_a_tree_has_the_threads_that_it_has_work_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    together = Workers.together

    def noted(self: Workers, work: Any, n: int, is_long: bool) -> None:
        asked.append(n)
        together(self, work, n, is_long)

    monkeypatch.setattr(Workers, "together", noted)
    for name, value in (("LEAST", 1000), ("WORTH", 100_000), ("EACH", 1)):
        monkeypatch.setattr(workspace, name, value)
    few, many = (parameters(max_depth=2, n_projections=n, envelope_height=40.0) for n in (2, 30))
    with Workers(3) as workers:
        for n, given in ((1000, many), (2000, few), (2000, many), (4000, many)):
            grow(task_of(data_of(KINDS[0], n, 2), given), KEY, workers)
        monkeypatch.setattr(workspace, "MOST_SUMS", 1000)  # bytes that the sums of a node take
        grow(task_of(data_of(KINDS[0], 4000, 2), many), KEY, workers)
    assert asked == [1, 1, 2, 3, 1]


@settings(max_examples=300)
@given(
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from(WEIGHTS),
    size=st.tuples(st.integers(1, 400), st.integers(1, TILE + 10)),
    seed=st.integers(0, 2**32),
    limit=st.sampled_from([1, 3, 50, 8000]),
    n_bins=st.sampled_from([2, 16, 40, 256]),
    subspace=st.tuples(st.sampled_from(["top", "drawn"]), st.integers(1, 12)),
    axis=st.booleans(),
    fitted=st.sampled_from([0, 2, 200]),
    draws=st.sampled_from([None, 1, 4]),
    selection=st.sampled_from(["projection", "round"]),
    planes=st.tuples(st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.8])),
    race=st.tuples(st.sampled_from([None, 16, 30, 100]), st.integers(1, 6)),
    minima=st.tuples(st.sampled_from([2, 9]), st.sampled_from([1, 4]), st.sampled_from([0.0, 0.02])),
    max_depth=st.sampled_from([None, 1, 4]),
    team=st.integers(0, 3),
)
def test_any_tree_is_the_same_by_every_driver(
    kind: Kind,
    weights: str,
    size: tuple[int, int],
    seed: int,
    limit: int,
    n_bins: int,
    subspace: tuple[str, int],
    axis: bool,
    fitted: int,
    draws: int | None,
    selection: str,
    planes: tuple[int, float],
    race: tuple[int | None, int],
    minima: tuple[int, int, float],
    max_depth: int | None,
    team: int,
    teams: list[Workers],
) -> None:
    given = parameters(
        criterion="",
        n_bins=n_bins,
        subspace=subspace[0],
        subspace_size=subspace[1],
        n_projections=15,
        selection=selection,
        draws_per_sample=draws,
        fitted_projections=fitted,
        rounds=(DrawingRound(0.3, 0.1, 2), DrawingRound(0.1, 0.0, None)),
        envelope_height=3.0,
        axis_projections=axis,
        max_partitions=planes[0],
        max_cosine=0.9,
        effective_ratio=planes[1],
        max_depth=max_depth,
        min_samples_split=minima[0],
        min_samples_leaf=minima[1],
        min_weight_fraction_leaf=minima[2],
        min_loss=0.0,
        racing_samples=race[0],
        n_finalists=race[1],
    )
    data = data_of(kind, *size, weights, seed, limit)
    task = task_of(data, parameters_of(kind, given), L2)
    assert_same_by_all(task, [teams[team]], seed)


def test_a_tree_takes_no_more_threads_than_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one is woken, and waited for: four times the work pays for twice the threads."""
    for name, value in (("LEAST", 16), ("WORTH", 1), ("EACH", 100_000)):
        monkeypatch.setattr(workspace, name, value)
    task = task_of(data_of(KINDS[0], 60, 2), parameters(max_depth=8))
    n_tests = task.plan.n_candidates + len(task.samples.codes)

    def used(n: int) -> int:
        root = task.root._replace(order=np.zeros(n, np.int32))
        return workspace.useful_threads(task._replace(root=root), 1000)

    few, many = used(100_000_000 // n_tests), used(400_000_000 // n_tests)
    assert few > 10
    assert abs(many - 2 * few) <= 2
