"""Every step of the paper has one home, which all drivers call: a breakpoint there fires, whoever grows the tree."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import CodeType
from typing import Any

import numpy as np
import pytest

from drivers import by_operations, in_partitions, uncompile
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import grower, space
from sublearn.core.tree.task import Task
from sublearn.kernels import (
    decorrelation,
    discriminant,
    fitting,
    level_choice,
    level_moves,
    level_tests,
    partition,
    projection,
    racing,
    searching,
    subspace,
    subtrees,
    threshold,
)
from support import KEY, ONE_THREAD, assert_same_tree, random_data, task_of
from test_grower import DRAWN

STEPS: dict[str, list[Any]] = {
    "1": [subspace.choose_subspace, subspace.take_axis_tests, projection.draw_subspace, searching.is_solved],
    "2": [projection.draw_vectors, projection.draw_round, fitting.add_products, fitting.solve_pairs],
    "3": [
        discriminant.widen_ranges,
        discriminant.add_histograms,
        discriminant.store_best,
        threshold.find_threshold,
        searching.is_raced,
        searching.race,
        searching.find_candidates,
        racing.keep_finalists,
    ],
    "4": [decorrelation.begin_choosing, decorrelation.try_side, decorrelation.add_cells, decorrelation.judge],
    "5": [partition.count_cells, partition.lay_out, partition.move_samples, partition.copy_back],
}
OTHERS: dict[str, list[Any]] = {  # what only one of the drivers needs
    "thread": [subtrees.grow_node, searching.search_node, decorrelation.choose_in_node, racing.take_evenly],
    "operations": [
        level_tests.choose_subspaces,
        level_tests.draw_batch,
        level_tests.add_sums,
        level_choice.judge_batch,
        level_moves.move_batch,
    ],
}


def code_of(function: Any) -> CodeType:
    found: CodeType = getattr(function, "dispatcher", function).py_func.__code__
    return found


def called_by(grow: Callable[[], FlatTree]) -> tuple[FlatTree, set[CodeType]]:
    """The tree, and the code of all functions that have been called on the way to it."""
    seen: set[CodeType] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        return grow(), seen
    finally:
        sys.setprofile(None)


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees grow in Python."""
    uncompile(monkeypatch.setattr)


def task_with_all_steps() -> Task:
    """Nodes that race and nodes that do not, fitted pairs, several hyperplanes."""
    given = replace(DRAWN, n_projections=6, fitted_projections=2, subspace_size=3, max_depth=3, n_bins=8)
    return task_of(random_data(np.random.default_rng(0), 200, 4, 3), replace(given, racing_samples=60))


@pytest.fixture(scope="module")
def compiled() -> FlatTree:
    """The tree that a fit grows."""
    return grower.grow(task_with_all_steps(), KEY, ONE_THREAD)


@pytest.mark.usefixtures("uncompiled")
def test_every_driver_calls_the_same_function_for_each_step(
    compiled: FlatTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_with_all_steps()
    make = space.make_block  # of which large nodes need several: one thread works on these otherwise than on others
    monkeypatch.setattr(
        space,
        "make_block",
        lambda samples, n_columns, n_bins, largest: make(samples, n_columns, n_bins, min(largest, 32)),
    )
    by_thread, thread_calls = called_by(lambda: grower.grow(task, KEY, Workers(1)))
    by_hand, operation_calls = called_by(lambda: by_operations(task, KEY, Workers(1)))
    for tree in (by_thread, by_hand):
        assert_same_tree(compiled, tree)
    for step, functions in STEPS.items():
        for function in functions:
            assert code_of(function) in thread_calls, (step, function)
            assert code_of(function) in operation_calls, (step, function)
    for function in OTHERS["thread"]:
        assert code_of(function) in thread_calls - operation_calls, function
    for function in OTHERS["operations"]:
        assert code_of(function) in operation_calls - thread_calls, function


@pytest.mark.usefixtures("uncompiled")
def test_a_step_that_is_stopped_at_shows_its_node(compiled: FlatTree) -> None:
    """As in a debugger: the arguments of step 2 in the root, before it has drawn anything."""
    shown: list[dict[str, Any]] = []

    def stop(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is code_of(projection.draw_vectors):
            shown.append({name: frame.f_locals[name] for name in ("n_samples", "solved", "n_fitted")})

    sys.setprofile(stop)
    try:
        grower.grow(task_with_all_steps(), KEY, Workers(1))
    finally:
        sys.setprofile(None)
    assert shown[0] == {"n_samples": 200, "solved": False, "n_fitted": 2}
    assert len(shown) == (np.diff(compiled.first_plane) > 0).sum()  # each node that is split has been there once


@pytest.mark.usefixtures("uncompiled")
def test_whole_partitions_grow_uncompiled(compiled: FlatTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grower, "GATHERED", 0)
    for part in in_partitions(task_with_all_steps(), [0, 70, 70, 200]):
        assert_same_tree(compiled, part.tree)
