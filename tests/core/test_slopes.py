"""Linear models in leaves: their features, slopes and means, what they answer, and how trees keep them."""

import math
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import naive
from boosting import OwnSquares, data_for, make, raw_of, same_model, same_scores
from naive import Array
from sublearn import SLMBoostClassifier, SLMBoostRegressor
from sublearn.core.boosting import leaves
from sublearn.core.boosting.derivatives import coarse_steps, find_slopes
from sublearn.core.boosting.losses import SquaredError
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth, add_round, draw_rows
from sublearn.core.data.codes import DEVIATIONS, code_limit, encode_samples
from sublearn.core.data.fixed_point import UNIT, Weights
from sublearn.core.model.flat_ensemble import FlatEnsemble, add_values, alone, apply, pack, unpack
from sublearn.core.model.flat_tree import NO_SLOPES, FlatTree, LeafSlopes, scaled
from sublearn.core.parallel import Workers
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels import slopes as kernels
from sublearn.kernels.compilation import bare_kernel
from support import KEY, ONE_THREAD, assert_same_tree, parameters, transposed
from test_steps import LOSSES, N, growth_of, problem_of

LINEAR = {"leaf": "linear"}
SMOOTH = ("squared_error", "poisson", "gamma", "two classes", "three classes")
NOTHING = np.empty(0, np.int64)


def linear(growth: Growth, **changes: Any) -> Growth:
    return growth._replace(boost=replace(growth.boost, linear=True, **changes))


def penalty_of(growth: Growth) -> float:
    per_deviation = code_limit(growth.plan.coefficient_sum) // DEVIATIONS
    return leaves.STEEPNESS * growth.boost.l2 * per_deviation**2


def path_above(tree: FlatTree, node: int) -> list[list[list[int]]]:
    """The views of hyperplanes of the nodes above, the nearest first."""
    found = []
    while (node := int(tree.parent[node])) >= 0:
        planes = range(tree.first_plane[node], tree.first_plane[node + 1])
        found.append([tree.feature[tree.first_term[p] : tree.first_term[p + 1]].tolist() for p in planes])
    return found


def rounded_slopes(problem: Problem) -> tuple[Array, Array]:
    """Gradients and hessians (n_samples, n_outputs), rounded as sums for slopes need it, times the weights."""
    found = problem.slopes(np.ones(problem.raw.shape[1]), ONE_THREAD)[0]
    n = len(problem.y)
    steps = coarse_steps(found, problem.weights.total(n), kernels.SPREAD_BITS)
    hessians = np.ones_like(found.gradients) if found.hessians is None else found.hessians
    weights = problem.weights.numbers(n)[:, None]
    gradients = np.rint(found.gradients / steps[:, 0]) * steps[:, 0]
    return gradients * weights, np.maximum(np.rint(hessians / steps[:, 1]), 1.0) * steps[:, 1] * weights


def assert_models(
    problem: Problem, growth: Growth, tree: FlatTree, used: Array, derivatives: tuple[Array, Array], rtol: float
) -> None:
    """Every leaf has the twin's model of those of its samples that are used."""
    gradients, hessians = derivatives
    ends = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    n_outputs, slopes = problem.raw.shape[1], tree.slopes
    assert slopes.first.shape == (tree.n_nodes + 1,)
    for node in range(tree.n_nodes):
        own = slice(slopes.first[node], slopes.first[node + 1])
        if not tree.is_leaf[node]:
            assert own.start == own.stop
            continue
        views = naive.views_above(path_above(tree, node), leaves.MOST_SLOPES)
        rows = np.flatnonzero((ends == node) & used)
        x = problem.codes[views][:, rows].T.astype(float)
        given = [(x, gradients[rows, k], hessians[rows, k], penalty_of(growth)) for k in range(n_outputs)]
        models = [naive.leaf_model(*one, problem.loss.max_step) for one in given]
        expected = growth.boost.learning_rate * np.column_stack([model.slopes for model in models])
        decreases = np.sum([model.decreases for model in models], axis=0)
        # views have no slope where all codes are alike, or all gradients are rounded to 0
        kept = [m for m, view in enumerate(views) if view in slopes.feature[own]]
        assert slopes.feature[own].tolist() == [views[m] for m in kept]
        scale = np.abs(expected).max(initial=1e-15)
        np.testing.assert_allclose(np.delete(expected, kept, axis=0), 0.0, atol=rtol * scale)
        assert slopes.low[own].tolist() == x.min(axis=0)[kept].tolist()
        assert slopes.high[own].tolist() == x.max(axis=0)[kept].tolist()
        np.testing.assert_allclose(slopes.slope[own], expected[kept], rtol=rtol, atol=rtol * scale)
        means = np.column_stack([model.means for model in models])
        np.testing.assert_allclose(slopes.mean[own], means[kept], rtol=rtol, atol=rtol * np.ptp(x))
        weighted = slopes.decrease[own] * tree.weight[node]
        np.testing.assert_allclose(weighted, decreases[kept], rtol=rtol, atol=rtol * decreases.max())


def answers_of(tree: FlatTree, codes: Array) -> Array:
    """What a tree answers, sample by sample; codes (n_views, n_samples)."""
    slopes, found = tree.slopes, []
    for codes_of_one, node in zip(codes.T.tolist(), apply(alone(tree), codes, ONE_THREAD)[:, 0], strict=True):
        answer = tree.value[node].copy()
        for s in range(slopes.first[node], slopes.first[node + 1]):
            code = min(max(codes_of_one[slopes.feature[s]], slopes.low[s]), slopes.high[s])
            answer += slopes.slope[s] * (code - slopes.mean[s])
        found.append(answer)
    return np.array(found)


# ---- one round ----


def test_a_leaf_by_hand() -> None:
    """Four samples about one hyperplane; steps and slopes are those of the lines through two of them."""
    codes = np.array([[-300], [-100], [100], [300]])
    y = np.array([-6.0, -2.0, 3.0, 5.0])
    problem = make_problem(transposed(codes), y, UNIT, np.empty(0), SquaredError(), np.zeros((4, 1)))
    given = parameters(criterion="second_order", min_loss=-np.inf, max_depth=1)
    growth = Growth(given, plan_projections(given, 1), BoostParameters(1.0, 0.0, 0.0, 0.0, 1.0, False, True), KEY)
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    assert tree.value[1:, 0].tolist() == [-4.0, 4.0]
    assert tree.slopes.first.tolist() == [0, 0, 1, 2]
    assert tree.slopes.feature.tolist() == [0, 0]
    np.testing.assert_allclose(tree.slopes.slope[:, 0], [4 / 200, 2 / 200])
    assert tree.slopes.mean[:, 0].tolist() == [-200.0, 200.0]
    assert tree.slopes.low.tolist() == [-300, 100]
    assert tree.slopes.high.tolist() == [-100, 300]
    # what each leaf's squares fall by, times two, over its weight: 2 * 2^2 and 2 * 1^2 over 2
    np.testing.assert_allclose(tree.slopes.decrease, [4.0, 1.0])
    np.testing.assert_allclose(problem.raw[:, 0], y)
    raw = np.zeros((4, 1))
    problem._replace(codes=transposed(np.array([[-9000], [-1], [90], [9000]])), raw=raw).add(pack([tree]), ONE_THREAD)
    np.testing.assert_allclose(raw[:, 0], [-6.0, -2.0, 3.0, 5.0])  # as at the nearest end of each leaf


@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("weights", ["unit", "integer", "fractional"])
@pytest.mark.parametrize("name", LOSSES)
def test_leaves_have_the_ridge_regression_of_their_samples(name: str, weights: str, factors: bool) -> None:
    problem, growth = problem_of(name, weights, factors), linear(growth_of())
    before = problem.raw.copy()
    derivatives = rounded_slopes(problem)
    constant = problem._replace(raw=before.copy())
    (plain,) = add_round(constant, growth_of(), 0, ONE_THREAD)
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    assert_same_tree(tree._replace(slopes=NO_SLOPES), plain)  # the same splits, and the Newton steps
    # both solve equations in floats, whose squares may be 2^20 times the smallest
    assert_models(problem._replace(raw=before), growth, tree, np.ones(N, np.bool_), derivatives, 1e-8)
    np.testing.assert_allclose(problem.raw, before + answers_of(tree, problem.codes), rtol=1e-12, atol=1e-12)
    again = before.copy()
    add_values(alone(tree), tree.value, problem.codes, again, ONE_THREAD)
    np.testing.assert_array_equal(problem.raw, again)


@pytest.mark.parametrize("name", LOSSES)
def test_models_of_a_subsample_are_those_of_its_samples_and_all_samples_move(name: str) -> None:
    problem, growth = problem_of(name, "integer"), linear(growth_of(subsample=0.5))
    before = problem.raw.copy()
    derivatives = rounded_slopes(problem)
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    used = np.isin(np.arange(N), draw_rows(problem.with_contents().contents, 0.5, 0))
    assert_models(problem._replace(raw=before), growth, tree, used, derivatives, 1e-8)
    np.testing.assert_allclose(problem.raw, before + answers_of(tree, problem.codes), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", ["unit", "fractional"])
@pytest.mark.parametrize("limit", [1000, 8192, 32767])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_rounding_costs_little(n_outputs: int, limit: int, weights: str) -> None:
    """Codes over wider ranges than 2,048 are rounded to that many, and derivatives as sums need it."""
    rng = np.random.default_rng(0)
    codes = rng.integers(-limit, limit + 1, (N, 3))
    codes[:2] = [[-limit - (limit == 32767)] * 3, [limit] * 3]
    signal = codes[:, 0] / limit + 0.5 * codes[:, 1] / limit + 0.1 * rng.normal(size=N)
    y = (signal > 0).astype(float) + (signal > 0.5) * (n_outputs > 1)
    given = Weights(rng.integers(1, 2**18, N), np.ones(N, np.int64), 2.0**-17) if weights == "fractional" else UNIT
    loss = LOSSES["two classes" if n_outputs == 1 else "three classes"]
    raw = 0.3 * rng.normal(size=(N, n_outputs))
    problem = make_problem(transposed(codes), y, given, np.empty(0), loss, raw)
    growth = linear(growth_of())
    given_tree = replace(growth.parameters, min_samples_leaf=30)
    growth = growth._replace(parameters=given_tree, plan=plan_projections(given_tree, 3))
    found = problem.slopes(np.ones(n_outputs), ONE_THREAD)[0]
    assert found.hessians is not None
    exact = [column * problem.all_weights()[:, None] for column in (found.gradients, found.hessians)]
    raw_before = raw.copy()
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    assert tree.n_nodes > 5
    answers = problem.raw - raw_before
    leaf = apply(alone(tree), problem.codes, ONE_THREAD)[:, 0]
    for node in np.flatnonzero(tree.is_leaf).tolist():
        views, rows = naive.views_above(path_above(tree, node), leaves.MOST_SLOPES), leaf == node
        x = problem.codes[views][:, rows].T.astype(float)
        for k in range(n_outputs):
            model = naive.leaf_model(x, exact[0][rows, k], exact[1][rows, k], penalty_of(growth), np.inf)
            expected = growth.boost.learning_rate * (x - model.means) @ model.slopes
            found_answers = answers[rows, k] - tree.value[node, k]
            # small next to what the round brings, even where hessians are far below the largest
            np.testing.assert_allclose(found_answers, expected, rtol=0.02, atol=1e-3 * np.abs(answers).max())


@pytest.mark.parametrize("most", [1, 2, 6])
def test_a_leaf_uses_the_features_of_the_nearest_hyperplanes(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "MOST_SLOPES", most)
    problem, growth = problem_of("two classes"), linear(growth_of())
    derivatives, before = rounded_slopes(problem), problem.raw.copy()
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    assert_models(problem._replace(raw=before), growth, tree, np.ones(N, np.bool_), derivatives, 1e-8)
    assert np.diff(tree.slopes.first).max() == min(most, 4)


def test_views_of_hyperplanes_come_once_and_the_nearest_first() -> None:
    def tree_of(parent: Sequence[int], planes: Sequence[Sequence[Sequence[int]]]) -> FlatTree:
        flat = [views for of_node in planes for views in of_node]
        ends = {"first_plane": [len(p) for p in planes], "first_term": [len(views) for views in flat]}
        columns = {name: np.cumsum([0, *sizes]).astype(np.int32) for name, sizes in ends.items()}
        empty = dict.fromkeys(set(FlatTree._fields) - {"slopes"}, np.empty(0, np.int32))
        own = {
            "parent": np.array(parent, np.int32),
            "feature": np.array([view for views in flat for view in views], np.int32),
        }
        return FlatTree(**empty | columns | own)  # type: ignore[arg-type]

    # the root has two hyperplanes, node 1 one; 2 and 3 are below node 1, 4 below the root
    tree = tree_of([-1, 0, 1, 1, 0], [[[5, 2], [2, 7]], [[7, 1, 5]], [], [], []])
    for most, expected in ((6, [7, 1, 5, 2]), (3, [7, 1, 5]), (2, [7, 1]), (4, [7, 1, 5, 2])):
        out = np.full((4, most), 99, np.int32)
        columns = tree.parent, tree.first_plane, tree.first_term, tree.feature
        kernels.find_views(*columns, np.array([2, 3, 4, 0]), out)
        for found, views in zip(out.tolist(), (expected, expected, [5, 2, 7], []), strict=True):
            assert found == (views + [-1] * most)[:most]
        assert naive.views_above(path_above(tree, 2), most) == expected


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("subsample", [1.0, 0.7])
@pytest.mark.parametrize(
    ("name", "weights"), [("squares", "fractional"), ("three classes", "unit"), ("counts", "unit")]
)
def test_rounds_with_linear_leaves_do_not_depend_on_threads(name: str, weights: str, subsample: float) -> None:
    one, growth = problem_of(name, weights), linear(growth_of(subsample))
    others = [one._replace(raw=one.raw.copy()) for _ in range(2)]
    for number in range(2):
        (first,) = add_round(one, growth, number, ONE_THREAD)
        for other, n_threads in zip(others, (2, 3), strict=True):
            with Workers(n_threads) as workers:
                (second,) = add_round(other, growth, number, workers)
            assert_same_tree(first, second)
            np.testing.assert_array_equal(one.raw, other.raw)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_separate_trees_have_the_models_of_one_output_each(subsample: float) -> None:
    problem, growth = problem_of("three classes", "integer"), linear(growth_of(subsample, separate=True))
    before, derivatives = problem.raw.copy(), rounded_slopes(problem)
    rows = draw_rows(problem.with_contents().contents, subsample, 7) if subsample < 1 else np.arange(N)
    trees = add_round(problem, growth, 7, ONE_THREAD)
    expected = before.copy()
    for k, tree in enumerate(trees):
        assert tree.slopes.slope.shape[1] == 3
        np.testing.assert_array_equal(np.delete(tree.slopes.slope, k, axis=1), 0.0)
        slopes = tree.slopes._replace(slope=tree.slopes.slope[:, k : k + 1], mean=tree.slopes.mean[:, k : k + 1])
        own = problem._replace(raw=before[:, k : k + 1])
        part = (derivatives[0][:, k : k + 1], derivatives[1][:, k : k + 1])
        assert_models(own, growth, tree._replace(slopes=slopes), np.isin(np.arange(N), rows), part, 1e-8)
        expected += answers_of(tree, problem.codes)
    np.testing.assert_allclose(problem.raw, expected, rtol=1e-12, atol=1e-12)


def test_a_round_moves_means_of_counts_no_further_than_steps_go() -> None:
    """The step and what slopes add to it each stay within the limit, everywhere."""
    problem, growth = problem_of("counts"), linear(growth_of(l2=0.0))
    most = growth.boost.learning_rate * problem.loss.max_step
    (tree,) = add_round(problem, growth, 0, ONE_THREAD)
    slopes = tree.slopes
    reach = np.abs(slopes.slope) * np.maximum(slopes.mean - slopes.low[:, None], slopes.high[:, None] - slopes.mean)
    node = np.repeat(np.arange(tree.n_nodes), np.diff(slopes.first))
    added = np.bincount(node, reach[:, 0])
    assert added.max() == pytest.approx(most)  # one is as steep as it may be
    assert (added <= most * (1 + 1e-12)).all()
    assert np.abs(tree.value).max() <= most
    corners = np.random.default_rng(0).choice([-32768, 32767], (500, 4))
    assert np.abs(answers_of(tree, transposed(corners))).max() <= 2 * most * (1 + 1e-12)


# ---- the kernels ----


@bare_kernel
def solve(table: Any, n: Any, out: Any) -> Any:
    return kernels.solve(table, n, out)


def solved(matrix: Array, right: Array) -> Array:
    n, room = len(right), len(right) + 2  # more room than is needed
    table, out = np.full((room, room + 1), np.nan), np.full(room, np.nan)
    table[:n, :n], table[:n, -1] = np.where(np.tri(n), matrix, np.nan), right
    solve(table, n, out)
    return out[:n]


@pytest.mark.parametrize("n", [1, 2, 6])
def test_equations_are_solved(n: int) -> None:
    rng = np.random.default_rng(n)
    for scale in (1.0, 1e-200, 1e100):
        rows = rng.normal(size=(n + 3, n)) * rng.choice([1.0, 100.0], n)
        matrix, right = scale * rows.T @ rows, rng.normal(size=n)
        np.testing.assert_allclose(solved(matrix, right), np.linalg.solve(matrix, right), rtol=1e-8)


def test_unknowns_that_those_before_them_leave_nothing_to_are_zero() -> None:
    x = np.array([[1.0, 2.0, 2.0, 0.0, 1.0], [3.0, -1.0, -1.0, 0.0, 3.0], [0.0, 1.0, 1.0, 0.0, 4.0]])
    matrix, right = x.T @ x, x.T @ np.array([1.0, 2.0, 3.0])
    found = solved(matrix, right)
    assert found[[2, 3]].tolist() == [0.0, 0.0]
    kept = [0, 1, 4]
    np.testing.assert_allclose(found[kept], np.linalg.solve(matrix[np.ix_(kept, kept)], right[kept]), atol=1e-12)
    assert solved(np.zeros((2, 2)), np.zeros(2)).tolist() == [0.0, 0.0]


def moments_of(codes: Array, gradient: Array, hessian: Array, weights: Array, steps: Array) -> tuple[Array, Array]:
    """Moments of one leaf with all samples, and the ranges of its codes (n_views, n_samples)."""
    n_views, n = codes.shape
    order, places = np.arange(n, dtype=np.int32), np.array([[0, n]])
    views = np.arange(n_views, dtype=np.int32)[None]
    ranges = np.stack([codes.min(axis=1)[None], codes.max(axis=1)[None]])
    out = np.zeros((1, 1, n_views + 1, n_views + 2), np.int64)
    scratch = np.empty((3, n_views + 1), np.int64)
    for first, last in ((0, n // 3), (n // 3, n)):  # what is there is added to
        kernels.sum_moments(
            order, places, codes, views, ranges, (gradient, hessian), weights, steps, first, last, scratch, out
        )
    return out[0, 0], ranges


def test_moments_by_hand() -> None:
    codes = np.array([[10, 20, 30], [5, 0, 6]], np.int16)  # from the middles: -10 0 10, and 2 -3 3
    gradient, hessian = np.array([[-0.5], [1.0], [0.25]]), np.array([[1.0], [0.0], [2.0]])
    steps = np.array([[0.25, 0.5]])  # so that these are 2 -4 -1, and 2 1 4
    found, _ = moments_of(codes, gradient, hessian, NOTHING, steps)
    sums = [[7, 0, 0, -3], [20, 600, 0, -30], [13, 80, 53, 13]]
    assert np.where(np.tri(3, 4) + (np.arange(4) == 3), found, 0).tolist() == sums
    assert moments_of(codes, gradient, hessian, np.array([2, 2, 2]), steps)[0].tolist() == (2 * found).tolist()
    alike, _ = moments_of(codes, gradient, np.empty((0, 1)), NOTHING, steps)
    assert alike[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]].tolist() == [3, 0, 200, 2, 10, 22]


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("end", [-1, 1])
def test_the_largest_sums_for_slopes_do_not_overflow(curved: bool, end: int) -> None:
    """Half the weight, which is almost 2^31 in all, is at one end of the codes, as far as they go."""
    n = 2**10
    weights = np.full(n, 2**21)
    weights[0] -= 1
    codes = np.full((2, n), end * 32767 - (end < 0), np.int16)
    codes[:, 0] = -codes[:, 1] - 1
    gradient, hessian = np.full((n, 1), -1.0), np.full((n if curved else 0, 1), 1.0)
    found = find_slopes(gradient, hessian if curved else None, np.ones(1), ONE_THREAD)[0]
    steps = coarse_steps(found, int(weights.sum()), kernels.SPREAD_BITS)
    moments, ranges = moments_of(codes, gradient, hessian, weights, steps)
    shift = 15 - kernels.SPREAD_BITS  # codes from the middle have 15 bits
    middle, half = (int(ranges[0, 0, 0]) + int(ranges[1, 0, 0])) >> 1, 1 << shift >> 1
    x = [(int(code) - middle + half) >> shift for code in codes[0]]
    assert max(map(abs, x)) <= 1 << kernels.SPREAD_BITS
    g, h = round(1 / steps[0, 0]), round(1 / steps[0, 1])
    pairs = list(zip(x, weights.tolist(), strict=True))
    sums = [sum(w * v**power for v, w in pairs) for power in range(3)]
    assert max(abs(h * sums[2]), abs(g * sums[1]), g * sums[0]) < 2**63
    assert moments[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]].tolist() == [h * sums[power] for power in (0, 1, 2, 1, 2, 2)]
    assert moments[:, -1].tolist() == [g * sums[power] for power in (0, 1, 1)]


# ---- how trees keep them ----


def some_trees() -> list[FlatTree]:
    """Trees with slopes and without, one of them a single leaf."""
    problem = problem_of("three classes")
    trees: list[FlatTree] = []
    for number, is_linear in enumerate([True, False, True, False, True, True]):
        growth = growth_of()._replace(boost=replace(growth_of().boost, linear=is_linear))
        if number == 4:
            growth = growth._replace(parameters=replace(growth.parameters, max_depth=0))
        trees += add_round(problem, growth, number, ONE_THREAD)
    return trees


def test_trees_with_and_without_slopes_go_into_one_and_come_back() -> None:
    trees = some_trees()
    assert [tree.slopes.feature.size > 0 for tree in trees] == [True, False, True, False, False, True]
    packed = pack(trees)
    assert len(packed.nodes.slopes.first) == packed.nodes.n_nodes + 1
    for tree, other in zip(trees, unpack(packed), strict=True):
        slopes = tree.slopes if tree.slopes.feature.size else NO_SLOPES
        assert_same_tree(tree._replace(slopes=slopes), other)
    assert_same_tree(pack(unpack(packed)).nodes, packed.nodes)
    codes = problem_of("three classes").codes
    together, one_by_one, alike = np.zeros((3, N, 3))
    add_values(packed, packed.nodes.value, codes, together, ONE_THREAD)
    for t, tree in enumerate(trees):
        add_values(alone(tree), tree.value, codes, one_by_one, ONE_THREAD)
        only = packed.only(t)
        add_values(only, only.nodes.value, codes, alike, ONE_THREAD)
    np.testing.assert_array_equal(together, one_by_one)
    np.testing.assert_array_equal(together, alike)
    np.testing.assert_allclose(together, sum(map(plainly, trees)), rtol=1e-10, atol=1e-10)


def plainly(tree: FlatTree) -> Array:
    codes = problem_of("three classes").codes
    if tree.slopes.first.size:
        return answers_of(tree, codes)
    values: Array = tree.value[apply(alone(tree), codes, ONE_THREAD)[:, 0]]
    return values


def test_trees_without_slopes_have_none_together() -> None:
    _, plain, _, other, leaf, _ = some_trees()
    assert pack([plain, other]).nodes.slopes.first.size == 0
    assert leaf.slopes.first.tolist() == [0, 0]
    assert pack([leaf, plain]).nodes.slopes.first.tolist() == [0] * (plain.n_nodes + 2)


def test_answers_are_scaled_with_their_slopes() -> None:
    tree = some_trees()[0]
    codes = problem_of("three classes").codes
    np.testing.assert_array_equal(answers_of(scaled(tree, 0.25), codes), 0.25 * answers_of(tree, codes))


def test_all_arrays_of_a_tree_have_names() -> None:
    tree = some_trees()[0]
    columns = tree.columns()
    assert {name for name in columns if name.startswith("slopes.")} == {f"slopes.{name}" for name in LeafSlopes._fields}
    assert columns["slopes.mean"] is tree.slopes.mean
    assert all(isinstance(column, np.ndarray) for column in columns.values())


# ---- estimators ----


def assert_fits_its_predictions(model: Any, X: Any, y: Any, weights: Array | None = None) -> None:
    """Scores of training are minus the losses of what is predicted, and stages lead there."""
    raw = model._raw(X)
    loss, numbers = model._loss, np.asarray(y, np.float64)
    for scores, stage in zip(model.train_score_[1:], model._staged_raw(X), strict=True):
        losses = loss.values(numbers, stage[:, 0] if stage.shape[1] == 1 else stage)
        assert -np.average(losses, weights=weights) == pytest.approx(scores, rel=1e-12, abs=1e-14)
    np.testing.assert_array_equal(stage, raw)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("task", SMOOTH)
def test_what_rounds_have_added_is_what_is_predicted(task: str, subsample: float) -> None:
    X, y = data_for(task)
    model = make(task, subsample=subsample, **LINEAR).fit(X, y)
    assert model.ensemble_.nodes.slopes.feature.size > 20
    assert model.settings_["leaf"] == "linear"
    assert_fits_its_predictions(model, X, y)
    constant = make(task, subsample=subsample).fit(X, y)
    assert constant.ensemble_.nodes.slopes.first.size == 0
    assert model.train_score_[-1] > constant.train_score_[-1]


@pytest.mark.parametrize("task", SMOOTH)
def test_a_straight_line_is_learned_by_few_leaves(task: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    signal = X @ [1.0, 0.5]
    y = {
        "squared_error": signal,
        "poisson": rng.poisson(np.exp(signal)),
        "gamma": np.exp(signal) * rng.gamma(2.0, 0.5, 400),
        "two classes": signal + 0.3 * rng.normal(size=400) > 0,
        "three classes": np.digitize(signal + 0.3 * rng.normal(size=400), [-0.7, 0.7]),
    }[task]
    flat, steep = (make(task, max_depth=1, n_estimators=15, leaf=leaf).fit(X, y) for leaf in ("constant", "linear"))
    better = np.array([model.train_score_[-1] for model in (flat, steep)]) - flat.train_score_[0]
    assert better[1] > 1.01 * better[0]


def border_of(model: Any, X: Array, far: Array) -> tuple[Array, Array]:
    """Raw values of samples `far`, and of their codes brought into the range of the training codes."""
    codes = encode_samples(X, model._model.maps, ONE_THREAD)
    outside = encode_samples(far, model._model.maps, ONE_THREAD)
    inside = np.clip(outside, codes.min(axis=1, keepdims=True), codes.max(axis=1, keepdims=True))
    found = []
    for given in (outside, inside):
        raw = np.tile(model._model.start, (len(far), 1))
        add_values(model.ensemble_, model.ensemble_.nodes.value, given, raw, ONE_THREAD)
        found.append(raw)
    return found[0], found[1]


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_values_outside_count_as_those_at_the_border(task: str) -> None:
    X, y = data_for(task)
    # hyperplanes over one feature, so that a sample farther out ends in the same leaf
    model = make(task, n_projections=0, **LINEAR).fit(X, y)
    assert np.diff(model.ensemble_.nodes.first_term).max() == 1
    base = X[:40]
    for f in range(X.shape[1]):
        ends: list[Array] = []
        for far, near in ((-1e6, X[:, f].min()), (1e6, X[:, f].max())):
            outside, border = base.copy(), base.copy()
            outside[:, f], border[:, f] = far, near
            np.testing.assert_array_equal(raw_of(model, outside), raw_of(model, border))
            ends.append(raw_of(model, outside))
        assert (ends[0] != ends[1]).any() or model.feature_importances_[f] == 0.0


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_answers_far_outside_are_bounded(task: str) -> None:
    X, y = data_for(task)
    model = make(task, **LINEAR).fit(X, y)
    far = np.random.default_rng(1).choice([-1e12, -3.0, 0.5, 3.0, 1e12], (2000, X.shape[1]))
    slopes, value = model.ensemble_.nodes.slopes, model.ensemble_.nodes.value
    reach = np.abs(slopes.slope) * np.maximum(slopes.mean - slopes.low[:, None], slopes.high[:, None] - slopes.mean)
    node = np.repeat(np.arange(len(value)), np.diff(slopes.first))
    tree = np.searchsorted(model.ensemble_.roots, np.arange(len(value)), side="right") - 1
    for k in range(value.shape[1]):
        most = np.abs(value[:, k]) + np.bincount(node, reach[:, k], len(value))
        limit = np.abs(model._model.start[k]) + sum(most[tree == t].max() for t in range(tree.max() + 1))
        raw = model._raw(far)[:, k]
        assert np.abs(raw).max() <= limit * (1 + 1e-12)
    # and is reached inside: leaves clamp what hyperplanes do not
    a, b = (np.abs(raw).max() for raw in border_of(model, X, far))
    assert a < 3 * b


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("task", SMOOTH)
def test_weight_two_is_the_row_twice(task: str, subsample: float) -> None:
    X, y = data_for(task)
    X = np.round(X, 1)  # with ties
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    weighted = make(task, subsample=subsample, **LINEAR).fit(X, y, sample_weight=weights)
    repeated = make(task, subsample=subsample, **LINEAR).fit(X[rows], y[rows])
    assert weighted.ensemble_.nodes.slopes.feature.size > 20
    assert same_model(weighted, repeated, X)
    assert_fits_its_predictions(weighted, X, y, weights)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("task", ["squared_error", "three classes"])
def test_model_is_the_same_for_every_number_of_jobs(task: str) -> None:
    X, y = data_for(task)
    models = [make(task, n_jobs=n, subsample=0.9, **LINEAR).fit(X, y) for n in (1, 2, 3)]
    for other in models[1:]:
        assert same_model(models[0], other, X)
        assert same_scores(models[0], other)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("multiclass", ["shared", "separate"])
def test_three_rounds_and_five_more_are_eight(multiclass: str, subsample: float) -> None:
    X, y = data_for("three classes")
    given = {"multiclass": multiclass, "subsample": subsample, **LINEAR}
    at_once = make("three classes", **given).fit(X, y)
    model = make("three classes", n_estimators=3, warm_start=True, **given).fit(X, y)
    model.set_params(n_estimators=8).fit(X, y)
    assert same_model(model, at_once, X)
    assert same_scores(model, at_once)
    assert_fits_its_predictions(model, X, y)


def test_rounds_of_both_kinds_of_leaves_go_together() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", n_estimators=3, warm_start=True).fit(X, y)
    model.set_params(n_estimators=6, leaf="linear").fit(X, y)
    model.set_params(n_estimators=9, leaf="constant").fit(X, y)
    has_slopes = [tree.slopes.feature.size > 0 for tree in unpack(model.ensemble_)]
    assert has_slopes == [False] * 3 + [True] * 3 + [False] * 3
    assert_fits_its_predictions(model, X, y)


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_stored_model_is_the_same(task: str) -> None:
    X, y = data_for(task)
    model = make(task, **LINEAR).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert isinstance(again.ensemble_, FlatEnsemble)
    assert same_model(again, model, X)
    assert same_model(clone(model).fit(X, y), model, X)


def test_importances_have_what_slopes_bring() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 3))
    y = 3 * X[:, 0] + X[:, 1] * (X[:, 0] > 0)
    given: dict[str, Any] = {"max_depth": 2, "n_projections": 0, "n_estimators": 10}
    model = make("squared_error", **given, **LINEAR).fit(X, y)
    found, slopes = model.feature_importances_, model.ensemble_.nodes.slopes
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0)
    assert (slopes.decrease >= 0).all()
    nodes = model.ensemble_.nodes
    shares = np.zeros(3)
    for i in range(nodes.n_nodes):
        for p in range(nodes.first_plane[i], nodes.first_plane[i + 1]):  # one a node, over one feature
            shares[nodes.feature[nodes.first_term[p]]] += nodes.weight[i] * nodes.decrease[i]
        for s in range(slopes.first[i], slopes.first[i + 1]):
            shares[slopes.feature[s]] += nodes.weight[i] * slopes.decrease[s]
    assert found == pytest.approx(shares / shares.sum())
    bare = replace(model._model, ensemble=FlatEnsemble(nodes._replace(slopes=NO_SLOPES), model.ensemble_.roots))
    without = pickle.loads(pickle.dumps(model))
    without._model = bare
    assert np.abs(without.feature_importances_ - found).max() > 1e-3


def test_what_slopes_bring_is_in_the_unit_of_what_splits_bring() -> None:
    """With the full step and no penalty, both are twice what the training loss falls by."""
    X, y = data_for("squared_error")
    given: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "l2_regularization": 0.0, "n_projections": 0}
    for depth in (1, 3):
        constant, model = (
            make("squared_error", max_depth=depth, leaf=leaf, **given).fit(X, y) for leaf in ("constant", "linear")
        )
        nodes = model.ensemble_.nodes
        splits = (nodes.weight * nodes.decrease).sum()
        slopes = (np.repeat(nodes.weight, np.diff(nodes.slopes.first)) * nodes.slopes.decrease).sum()
        falls = [2 * len(y) * (one.train_score_[1] - one.train_score_[0]) for one in (constant, model)]
        assert splits == pytest.approx(falls[0], rel=1e-6)
        if depth == 1:  # one view a leaf
            assert slopes == pytest.approx(falls[1] - falls[0], rel=1e-3)  # codes are rounded to a thousandth
        assert slopes >= (falls[1] - falls[0]) * (1 - 1e-3)  # a view that takes from others counts as none


class OwnMedians(OwnSquares):
    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float:
        return float(np.median(y - raw))


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "huber", OwnMedians()])
def test_losses_with_leaf_values_of_their_own_have_no_linear_leaves(loss: Any) -> None:
    X, y = data_for("squared_error")
    message = (
        "leaf of SLMBoostRegressor must be 'constant' or 'auto' with a loss whose leaves have values of their own; "
        f"got 'linear' with loss={loss!r}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make("squared_error", loss=loss, **LINEAR).fit(X, y)


def test_a_loss_of_ones_own_has_linear_leaves() -> None:
    X, y = data_for("squared_error")
    own, ours = (make("squared_error", loss=loss, init="zero", **LINEAR) for loss in (OwnSquares(), "squared_error"))
    assert same_model(own.fit(X, y), ours.fit(X, y), X)


@pytest.mark.parametrize("task", SMOOTH)
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_constant_and_equal_features_do_no_harm(task: str, l2: float) -> None:
    X, y = data_for(task)
    rng = np.random.default_rng(0)
    near = X[:, 0] + 1e-4 * rng.normal(size=len(X))
    many = np.column_stack([X, X[:, :3], np.ones(len(X)), near, rng.integers(0, 2, len(X))])
    given = {"l2_regularization": l2, "min_child_weight": 0.0, "subspace_size": 11, "max_partitions": 2}
    model = make(task, **given, **LINEAR).fit(many, y)
    assert np.isfinite(model.ensemble_.nodes.slopes.slope).all()
    assert np.isfinite(model.ensemble_.nodes.slopes.decrease).all()
    assert np.isfinite(model._raw(many)).all()
    assert np.isfinite(model.train_score_).all()
    assert model.train_score_[-1] > model.train_score_[0]
    assert math.isclose(model.feature_importances_.sum(), 1.0)
    assert np.isfinite(model._raw(rng.normal(size=(300, 11)) * 10)).all()
    if task == "squared_error" and l2:  # what nearly equal features tell apart is bounded by the penalty
        assert np.abs(model.predict(rng.uniform(size=(2000, 11))) - y.mean()).max() < 2 * np.ptp(y)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_and_equal_targets_are_no_error(n: int) -> None:
    X = np.arange(float(n))[:, None]
    for y in (np.zeros(n), X[:, 0]):
        model = make("squared_error", l2_regularization=0.0, min_child_weight=0.0, **LINEAR).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
    assert make("two classes", **LINEAR).fit(X, np.zeros(n)).predict(X).tolist() == [0.0] * n


def test_nodes_of_too_few_samples_have_no_slopes() -> None:
    X, y = frame(), frame_target()
    model = mixed(SLMBoostRegressor, min_samples_leaf=12).fit(X, y)
    nodes = model.ensemble_.nodes
    has_slopes = np.diff(nodes.slopes.first) > 0
    assert (nodes.n_samples[has_slopes] >= 12).all()
    assert has_slopes.any()


# ---- categories and gaps ----


def frame(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n)),
            "city": pd.Series([f"city {i:02d}" for i in rng.integers(0, 20, n)], dtype=object),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
        }
    )


def frame_target() -> Array:
    X = frame()
    effect = X["city"].map(lambda city: int(city[-2:]) % 7 / 3)
    y = 2 * X["size"] + effect + (X["colour"] == "green") + X["age"].fillna(-2.0)
    numbers: Array = y.to_numpy(np.float64)
    return numbers


def mixed(kind: Any, **changes: Any) -> Any:
    given: dict[str, Any] = {"n_estimators": 6, "learning_rate": 0.3, "random_state": 0, "racing_samples": None}
    return kind(**given | LINEAR | changes)


@pytest.mark.parametrize("subsample", [1.0, 0.7])
@pytest.mark.parametrize("kind", [SLMBoostRegressor, SLMBoostClassifier])
def test_categories_and_gaps_go_with_linear_leaves(kind: Any, subsample: float) -> None:
    X, y = frame(), frame_target()
    y = np.digitize(y, [0.0, 2.0]) if kind is SLMBoostClassifier else y
    model = mixed(kind, subsample=subsample).fit(X, y)
    assert model.ensemble_.nodes.slopes.feature.size > 20
    raw = model._raw(X)
    losses = model._loss.values(y.astype(float), raw[:, 0] if raw.shape[1] == 1 else raw)
    assert -losses.mean() == pytest.approx(model.train_score_[-1], rel=1e-12)
    strange = frame(50, seed=1)
    strange.loc[:10, "size"], strange.loc[5:20, "city"] = np.nan, "nowhere"
    strange.loc[15:25, "colour"] = None
    assert np.isfinite(model._raw(strange)).all()
    found = model.feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    once, twice = mixed(kind, subsample=subsample), mixed(kind, subsample=subsample)
    assert same_model(once.fit(X, y, sample_weight=weights), twice.fit(X.iloc[rows], y[rows]), X)
