"""The steps of boosting's leaves: from exact sums, whatever the search has rounded."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boosting import TASKS, below, data_for, make
from naive import Array
from sublearn.core.boosting.derivatives import find_slopes, fine_steps, integer_derivatives
from sublearn.core.boosting.losses import CompiledLoss, LogLoss, Poisson, Softmax, SquaredError
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import SEPARATE, Growth, add_round, draw_rows, round_task
from sublearn.core.data.fixed_point import UNIT, Weights
from sublearn.core.keys import key_below
from sublearn.core.model.flat_ensemble import alone, apply
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree import grouping
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels import derivatives as kernels
from sublearn.kernels.compilation import bare_kernel
from support import KEY, ONE_THREAD, assert_same_tree, parameters, transposed

N = 2500  # three chunks
GIVEN = parameters(
    criterion="second_order", min_loss=-np.inf, n_projections=30, subspace_size=4, max_depth=4, max_partitions=2
)
LOSSES: dict[str, CompiledLoss] = {
    "squares": SquaredError(),
    "two classes": LogLoss(),
    "three classes": Softmax(3),
    "counts": Poisson(),
}


def problem_of(name: str, weights: str = "unit", factors: bool = False) -> Problem:
    """Codes and targets of which a few are far larger than the others."""
    rng = np.random.default_rng(5)
    codes = rng.integers(-1000, 1000, (N, 4))
    signal = codes[:, 0] / 1000 + 0.5 * codes[:, 1] / 1000 + 0.2 * rng.normal(size=N)
    raw = 0.3 * rng.normal(size=(N, 3 if name == "three classes" else 1))
    y = np.digitize(signal, [-0.3, 0.4]).astype(float)
    if name == "two classes":
        y = np.minimum(y, 1.0)
        raw[:5] = np.array([[9.0], [-9.0], [20.0], [-20.0], [30.0]])
    elif name == "counts":
        y = rng.poisson(np.exp(signal)).astype(float)
        y[:3] = 1e6, 3e5, 2e5  # gradients of the others are below one step of the search
    elif name == "squares":
        y = signal
        y[:3] = 1e9, -1e7, 1e5
    given = {
        "unit": UNIT,
        "integer": Weights(*(rng.integers(1, 5, N),) * 2),
        "fractional": Weights(rng.integers(1, 2**18, N), np.ones(N, np.int64), 2.0**-16),
    }[weights]
    return make_problem(
        transposed(codes), y, given, rng.choice([0.5, 3.0], N) if factors else np.empty(0), LOSSES[name], raw
    )


def growth_of(subsample: float = 1.0, l2: float = 2.0, separate: bool = False) -> Growth:
    return Growth(GIVEN, plan_projections(GIVEN, 4), BoostParameters(0.3, l2, 0.0, 0.0, subsample, separate), KEY)


def slopes(problem: Problem, raw: Array) -> tuple[Array, Array, Array]:
    """Gradients and hessians in floats, and weights with class weights."""
    gradient, hessian = problem.loss.derivatives(problem.y, raw[:, 0] if raw.shape[1] == 1 else raw)
    first = gradient.reshape(raw.shape)
    second = np.ones(raw.shape) if hessian is None else hessian.reshape(raw.shape)
    return first, second, problem.all_weights()


def assert_steps(problem: Problem, raw: Array, tree: FlatTree, used: Array, l2: float) -> None:
    """Every node has the share of its Newton step, to the rounding of the fine sums."""
    gradients, hessians, weights = slopes(problem, raw)
    ends = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    hessian_sum = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes):
        inside = below(tree, node, ends) & used
        for k in range(raw.shape[1]):
            g = math.fsum(gradients[inside, k] * weights[inside])
            h = math.fsum(hessians[inside, k] * weights[inside])
            hessian_sum[node] += h
            step = np.clip(-g / (h + l2), -problem.loss.max_step, problem.loss.max_step)
            # half a step of the fine sums for each sample
            g_step = np.abs(gradients[:, k]).max() * 2.0**-27 * weights.max() * inside.sum()
            h_step = hessians[:, k].max() * 2.0**-29 * weights.max() * inside.sum()
            tolerance = (g_step + abs(step) * h_step) / (h + l2)
            assert abs(tree.value[node, k] - 0.3 * step) <= 0.3 * tolerance + 1e-12
    np.testing.assert_allclose(tree.weight, hessian_sum, rtol=1e-5, atol=1e-7)  # no hessian is rounded to 0


@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("weights", ["unit", "integer", "fractional"])
@pytest.mark.parametrize("name", LOSSES)
def test_leaves_take_the_newton_steps_of_sums_in_floats(name: str, weights: str, factors: bool) -> None:
    problem = problem_of(name, weights, factors)
    before = problem.raw.copy()
    (tree,) = add_round(problem, growth_of(), 0, ONE_THREAD)
    assert tree.n_nodes > 5
    assert_steps(problem, before, tree, np.ones(N, np.bool_), 2.0)
    ends = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    np.testing.assert_array_equal(problem.raw, before + tree.value[ends])


@pytest.mark.parametrize("name", LOSSES)
def test_leaves_of_a_subsample_take_its_steps_and_all_samples_move(name: str) -> None:
    problem = problem_of(name)
    before = problem.raw.copy()
    (tree,) = add_round(problem, growth_of(subsample=0.5), 0, ONE_THREAD)
    ends = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    np.testing.assert_array_equal(problem.raw, before + tree.value[ends])
    assert tree.n_samples[0] == len(draw_rows(problem.with_contents().contents, 0.5, 0))
    reached = np.array([below(tree, node, ends).sum() for node in range(tree.n_nodes)])
    assert (tree.n_samples <= reached).all()


@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize("weights", ["unit", "fractional"])
def test_separate_trees_are_those_of_one_output_each(weights: str, subsample: float) -> None:
    """Each class has the tree that grows to its own slopes, as if there were no other, and steps in it alone."""
    problem = problem_of("three classes", weights)
    before = problem.raw.copy()
    growth = growth_of(subsample, separate=True)
    whole = problem.slopes(np.ones(3), ONE_THREAD)[0]
    rows = draw_rows(problem.with_contents().contents, subsample, 7) if subsample < 1 else np.arange(N, dtype=np.int32)
    alike = [
        grow_placed(
            round_task(problem, growth, rows, whole.only(k), 1, ONE_THREAD), key_below(7, SEPARATE + k), ONE_THREAD
        )
        for k in range(3)
    ]
    trees = add_round(problem, growth, 7, ONE_THREAD)
    used = np.isin(np.arange(N), rows)
    expected = before.copy()
    for k, (tree, other) in enumerate(zip(trees, alike, strict=True)):
        assert tree.n_nodes > 5
        np.testing.assert_array_equal(tree.threshold, other.tree.threshold)
        np.testing.assert_array_equal(tree.feature, other.tree.feature)
        np.testing.assert_array_equal(np.delete(tree.value, k, axis=1), 0.0)
        ends = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
        expected += tree.value[ends]
        gradients, hessians, all_weights = slopes(problem._replace(raw=before), before)
        for node in (0, tree.n_nodes - 1):
            inside = below(tree, node, ends) & used
            g, h = (math.fsum(column[inside, k] * all_weights[inside]) for column in (gradients, hessians))
            np.testing.assert_allclose(tree.value[node, k], -0.3 * g / (h + 2.0), rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(tree.weight[node], h, rtol=1e-5, atol=1e-7)  # of its own class alone
    np.testing.assert_array_equal(problem.raw, expected)


def test_steps_are_not_those_of_the_coarse_derivatives() -> None:
    # one count is so large that most gradients are 0 in the search
    problem = problem_of("counts")
    coarse = integer_derivatives(problem.slopes(np.ones(1), ONE_THREAD)[0], UNIT, ONE_THREAD)
    assert (coarse.targets == 0).mean() > 0.5
    before = problem.raw.copy()
    (tree,) = add_round(problem, growth_of(), 0, ONE_THREAD)
    leaves = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    quiet = [leaf for leaf in set(leaves.tolist()) if not coarse.targets[leaves == leaf].any()]
    assert quiet
    assert (tree.value[quiet] != 0.0).all()
    assert_steps(problem, before, tree, np.ones(N, np.bool_), 2.0)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("subsample", [1.0, 0.7])
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("weights", ["unit", "fractional"])
@pytest.mark.parametrize("name", LOSSES)
def test_rounds_do_not_depend_on_threads(name: str, weights: str, factors: bool, subsample: float) -> None:
    one, other = problem_of(name, weights, factors), problem_of(name, weights, factors)
    growth = growth_of(subsample)
    growth = growth._replace(boost=replace(growth.boost, min_gain=0.5))
    with Workers(3) as workers:
        for number in range(3):
            (first,) = add_round(one, growth, number, ONE_THREAD)
            (second,) = add_round(other, growth, number, workers)
            assert_same_tree(first, second)
            assert one.score(ONE_THREAD) == other.score(workers)
    np.testing.assert_array_equal(one.raw, other.raw)


@pytest.mark.parametrize("racing_samples", [None, 16])
@pytest.mark.parametrize("subsample", [1.0, 0.7])
@pytest.mark.parametrize("task", TASKS)
def test_what_rounds_have_added_is_what_is_predicted(task: str, subsample: float, racing_samples: int | None) -> None:
    X, y = data_for(task)
    seen: list[Any] = []
    model = make(task, subsample=subsample, racing_samples=racing_samples, callbacks=[seen.append])
    model.fit(X, y)
    raw = model._raw(X)
    scores = model._loss.values(np.asarray(y, np.float64), raw[:, 0] if raw.shape[1] == 1 else raw)
    assert -scores.mean() == pytest.approx(seen[-1].train_score, rel=1e-12, abs=1e-15)


# --- the kernels


def test_three_sums_by_hand() -> None:
    order, places = np.array([2, 0, 1, 3], np.int32), np.array([[0, 1], [1, 4]])
    gradient, hessian = np.array([[0.5], [-1.0], [0.25], [0.75]]), np.array([[1.0], [0.5], [0.0], [2.0]])
    nothing = np.empty(0, np.int64)

    def sums(hessian: Array, weights: Array, first: int = 0, last: int = 4) -> list[list[int]]:
        steps, out = np.array([[0.25, 0.5]]), np.zeros((2, 1, 2), np.int64)
        kernels.sum_derivatives(order, places, gradient, hessian, weights, steps, first, last, out)
        found: list[list[int]] = out[:, 0].tolist()
        return found

    assert sums(hessian, nothing) == [[-1, 1], [-1, 7]]  # a hessian is one step at the least
    assert sums(hessian, np.array([1, 2, 3, 4])) == [[-3, 3], [-6, 20]]
    assert sums(np.empty((0, 1)), nothing) == [[-1, 1], [-1, 3]]
    # of some of the rows
    assert sums(hessian, nothing, 0, 2) == [[0, 0], [2, 3]]
    assert sums(hessian, nothing, 2, 4) == [[-1, 1], [-3, 4]]
    assert sums(hessian, nothing, 1, 1) == [[0, 0], [0, 0]]


def test_steps_are_added_to_some_of_the_rows() -> None:
    order, places = np.array([2, 0, 1, 3], np.int32), np.array([[0, 1], [1, 4]])
    raw, steps = np.zeros((4, 2)), np.array([[1.0, 2.0], [4.0, 8.0]])
    kernels.add_steps(order, places, steps, 1, 3, raw)
    assert raw.tolist() == [[0, 0], [4, 8], [1, 2], [0, 0]]


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("racing_samples", [None, 64])
@pytest.mark.parametrize("side_by_side", [False, True])
def test_rows_of_a_leaf_ascend(
    n_threads: int, racing_samples: int | None, side_by_side: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if side_by_side:
        for name in ("FAR", "DEEP", "NEAR", "SMALL"):
            monkeypatch.setattr(grouping, name, 2)
    problem, growth = problem_of("two classes"), growth_of(subsample=0.8)
    growth = growth._replace(parameters=replace(GIVEN, racing_samples=racing_samples))
    rows = draw_rows(problem.with_contents().contents, 0.8, 0)
    with Workers(n_threads) as workers:
        task = round_task(problem, growth, rows, problem.slopes(np.ones(1), workers)[0], 1, workers)
        grown = grow_placed(task, KEY, workers)
    _, places = grown.leaves
    assert len(places) > 3
    assert all((np.diff(grown.order[begin:end]) > 0).all() for begin, end in places)


def test_sums_of_nodes_above_are_those_of_their_children() -> None:
    sums = np.zeros((5, 2, 2), np.int64)
    sums[[2, 3, 4]] = np.arange(12).reshape(3, 2, 2)
    leaves = sums[[2, 3, 4]].copy()
    kernels.add_to_parents(np.array([-1, 0, 0, 1, 1]), sums)
    np.testing.assert_array_equal(sums[1], leaves[1] + leaves[2])
    np.testing.assert_array_equal(sums[0], leaves.sum(axis=0))


def test_the_largest_sums_of_leaves_do_not_overflow() -> None:
    n = 2**15
    weights = np.full(n, 2**16)  # 2^31 in all
    gradient, hessian = np.full((n, 1), -1.0), np.full((n, 1), 1.0)
    steps = fine_steps(find_slopes(gradient, hessian, np.ones(1), ONE_THREAD)[0])
    out = np.zeros((1, 1, 2), np.int64)
    order = np.arange(n, dtype=np.int32)
    kernels.sum_derivatives(order, np.array([[0, n]]), gradient, hessian, weights, steps, 0, n, out)
    assert out[0, 0].tolist() == [2**31 * round(1 / steps[0, 0]), 2**31 * round(1 / steps[0, 1])]


@bare_kernel
def rounded(x: Any) -> Any:
    return kernels.rounded(x)


def test_numbers_are_rounded_to_the_nearest_even() -> None:
    values = [0.5, 1.5, 2.5, -0.5, -1.5, 2.0**31 + 0.5, 1e9 + 0.49, -7.51, 2.0**50 + 0.5]
    assert [rounded(v) for v in values] == [float(round(v)) for v in values]
