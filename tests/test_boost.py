"""SLM Boost: rounds by hand, beside a twin in plain floats, and what users rely on."""

import copy
import io
import itertools
import math
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

import naive
from naive import Array, Boosting
from sublearn import Loss, Progress, SLMBoostClassifier, SLMBoostRegressor, _progress
from sublearn.core import parallel
from sublearn.core.booster import SIGNS, SUBSAMPLE, along, draw_rows, draw_signs
from sublearn.core.codes import encode_samples
from sublearn.core.keys import key_below, keys_below
from sublearn.core.projection import plan_projections
from support import ONE_THREAD, PARAMETERS, spread

IRIS = load_iris(return_X_y=True)
QUICK: dict[str, Any] = {
    "n_estimators": 8,
    "learning_rate": 0.3,
    "l2_regularization": 1.0,
    "min_child_weight": 1.0,
    "subsample": 1.0,
    "max_depth": 3,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "n_bins": 16,
    "subspace": "top",
    "subspace_size": 8,
    "n_projections": 40,
    "n_coefficients": 2,
    "selection_decay": 0.5,
    "envelope_height": 2.5,
    "envelope_decay": 0.2,
    "max_partitions": 1,
    "random_state": 0,
}
LOSSES = ("squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma")
TASKS = (*LOSSES, "two classes", "three classes")
N = 200


def make(task: str, **changes: Any) -> Any:
    """An estimator for one of `TASKS`."""
    settings = QUICK | changes
    if task in LOSSES:
        return SLMBoostRegressor(**{"loss": task} | settings)
    return SLMBoostClassifier(**settings)


def data_for(task: str, seed: int = 0, n: int = N) -> tuple[Array, Array]:
    """Friedman's first function, as numbers, counts, amounts or classes; four features matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 5))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3]
    if task == "poisson":
        return X, rng.poisson(np.exp((signal - 8) / 4)).astype(float)
    if task == "gamma":
        return X, np.exp((signal - 8) / 4) * rng.gamma(2.0, 0.5, n)
    if task == "two classes":
        return X, (signal + 2 * rng.normal(size=n) > 9).astype(int)
    if task == "three classes":
        return X, np.digitize(signal + 1.5 * rng.normal(size=n), [7, 11])
    return X, signal + rng.normal(size=n)


def raw_of(model: Any, X: Any) -> Array:
    """What is compared to the bit."""
    raw: Array = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return raw


def same_model(a: Any, b: Any, X: Any) -> bool:
    """Whether two fitted models are equal to the last bit."""
    pairs = [*zip(a.ensemble_.nodes, b.ensemble_.nodes, strict=True), (a.ensemble_.roots, b.ensemble_.roots)]
    pairs += [*zip(a.feature_maps_, b.feature_maps_, strict=True), (raw_of(a, X), raw_of(b, X))]
    return a.n_iter_ == b.n_iter_ and all(np.array_equal(x, y) for x, y in pairs)


def same_scores(a: Any, b: Any) -> bool:
    return np.array_equal(a.train_score_, b.train_score_) and np.array_equal(a.validation_score_, b.validation_score_)


def key_in_round(model: Any, number: int, what: int) -> int:
    """Key of what is drawn in a round, apart from its tree."""
    return key_below(key_below(model._drawn_from, number), what)


def below(nodes: Any, node: int, leaves: Array) -> Array:
    """Which samples reach a node, when they end in these leaves."""
    reached: Array = leaves == node
    at = leaves
    while (at >= 0).any():
        at = np.where(at >= 0, nodes.parent[at], -1)
        reached = reached | (at == node)
    return reached


# ---- one round by hand ----

STUMP: dict[str, Any] = {
    "n_estimators": 1,
    "learning_rate": 0.5,
    "l2_regularization": 1.0,
    "min_child_weight": 0.0,
    "subsample": 1.0,
    "max_depth": 1,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "n_bins": 16,
    "init": "data",
    "random_state": 0,
}
FOUR = np.arange(4.0)[:, None]


def test_round_of_squared_error_by_hand() -> None:
    # start 4; gradients 3 2 | -2 -3: G = 5 and -5, H = 2
    model = SLMBoostRegressor(**STUMP).fit(FOUR, [1.0, 2.0, 6.0, 7.0])
    assert model.predict(FOUR) == pytest.approx([4 - 0.5 * 5 / 3] * 2 + [4 + 0.5 * 5 / 3] * 2, rel=1e-8)
    # the second row weighs 2: start 18/5; G = 13/5 + 2 * 8/5, H = 3, and G = -29/5, H = 2
    model.fit(FOUR, [1.0, 2.0, 6.0, 7.0], sample_weight=[1, 2, 1, 1])
    left, right = 3.6 - 0.5 * 5.8 / 4, 3.6 + 0.5 * 5.8 / 3
    assert model.predict(FOUR) == pytest.approx([left, left, right, right], rel=1e-8)  # gradients keep 28 bits


def test_round_of_log_loss_by_hand() -> None:
    # start 0; gradients 1/2 1/2 | -1/2 -1/2 and hessians 1/4
    model = SLMBoostClassifier(**STUMP).fit(FOUR, ["a", "a", "b", "b"])
    assert model.decision_function(FOUR).tolist() == pytest.approx([-0.5 / 1.5] * 2 + [0.5 / 1.5] * 2, rel=1e-8)
    # start log 3: p = 3/4; the only good cut parts the first row, G = 3/4, from the others, G = -3/4, H = 9/16
    model.fit(FOUR, ["a", "b", "b", "b"])
    left, right = math.log(3) - 0.5 * 0.75 / (3 / 16 + 1), math.log(3) + 0.5 * 0.75 / (9 / 16 + 1)
    assert model.decision_function(FOUR).tolist() == pytest.approx([left, right, right, right], rel=1e-8)


def test_round_of_three_classes_by_hand() -> None:
    """All start at 0, so p = 1/3, and the tree tells two groups of classes apart: one class from the two others.

    Whichever it is, the leaves of one class have G = -4/3, H = 4/9 for it; those of two classes, G = 4/3, H = 8/9.
    """
    X = np.arange(6.0)[:, None]
    steps = {(2, 1): 0.5 * (4 / 3) / (4 / 9 + 1), (2, 0): -0.5 * (2 / 3) / (4 / 9 + 1)}
    steps |= {(4, 1): 0.5 * (2 / 3) / (8 / 9 + 1), (4, 0): -0.5 * (4 / 3) / (8 / 9 + 1)}
    y = np.array([0, 0, 1, 1, 2, 2])
    found = set()
    for seed in range(12):
        model = SLMBoostClassifier(**STUMP | {"random_state": seed}).fit(X, y)
        leaf = model.apply(X)[:, 0]
        for i in range(6):
            inside = y[leaf == leaf[i]]
            if len(inside) in (2, 4):  # one class, or two
                found.add((len(inside), tuple(sorted(set(inside.tolist())))))
                expected = [steps[len(inside), int(k in inside)] for k in range(3)]
                np.testing.assert_allclose(model.decision_function(X)[i], expected, rtol=1e-8)
    assert {(2, (0,)), (2, (2,)), (4, (0, 1)), (4, (1, 2))} <= found


def test_round_of_counts_by_hand() -> None:
    # start log 4; means 4 4 | 4 4: G = 8 - 3 and 8 - 13, H = 8
    model = SLMBoostRegressor(loss="poisson", **STUMP).fit(FOUR, [1.0, 2.0, 6.0, 7.0])
    down, up = (4 * math.exp(0.5 * g / 9) for g in (-5, 5))
    assert model.predict(FOUR) == pytest.approx([down, down, up, up], rel=1e-8)


def test_round_of_absolute_error_by_hand() -> None:
    # start 4, the median; leaves take half the way to the medians of their residuals, -2.5 and 48, whatever l2 is
    model = SLMBoostRegressor(loss="absolute_error", **STUMP).fit(FOUR, [1.0, 2.0, 6.0, 98.0])
    assert model.predict(FOUR).tolist() == [2.75, 2.75, 28.0, 28.0]


def test_second_round_goes_on_from_the_first() -> None:
    settings = STUMP | {"n_estimators": 2}
    model = SLMBoostRegressor(**settings).fit(FOUR, [1.0, 2.0, 6.0, 7.0])
    first = 0.5 * 5 / 3  # then G = 5 - 2 * first, at the same cut
    expected = 4 - first - 0.5 * (5 - 2 * first) / 3
    assert model.predict(FOUR)[0] == pytest.approx(expected, rel=1e-8)


# ---- the twin ----


def all_vectors(ranked: list[int]) -> list[naive.Vector]:
    """Every vector with coefficients -1, 0 and 1, in the order the engine lists them: nothing is left to draw."""
    plan = plan_projections(PARAMETERS, len(ranked))
    assert plan.rounds.n_draws.sum() == 0
    return [spread(vector, ranked, len(ranked)) for vector in plan.listed.tolist()]


EXHAUSTIVE: dict[str, Any] = {
    "subspace_size": 4,
    "n_projections": 1000,
    "n_coefficients": None,
    "envelope_height": 1.0,
    "envelope_decay": 0.0,
    "axis_projections": True,
}


@pytest.mark.parametrize("weights", ["unit", "uniform", "wild"])
@pytest.mark.parametrize("task", ["squared_error", "poisson", "two classes", "three classes"])
def test_rounding_to_integers_costs_nothing_measurable(task: str, weights: str) -> None:
    """The same test loss as boosting in plain floats, to four digits and more."""
    rng = np.random.default_rng(3)
    (X, y), (fresh, fresh_y) = data_for(task, 1, 300), data_for(task, 2, 1000)
    X, fresh = X[:, :4], fresh[:, :4]
    kinds = {"unit": None, "uniform": rng.uniform(0.2, 3.0, len(y)), "wild": np.exp(2 * rng.normal(size=len(y)))}
    given = kinds[weights]
    how = Boosting(task if task in LOSSES else "log_loss", 0.3, 1.0, 0.5, 5, 3, 16)
    model = make(
        task,
        n_estimators=12,
        learning_rate=how.learning_rate,
        l2_regularization=how.l2,
        min_child_weight=how.min_child_weight,
        min_samples_leaf=how.min_samples_leaf,
        max_depth=how.max_depth,
        n_bins=how.n_bins,
        **EXHAUSTIVE,
    ).fit(X, y, sample_weight=given)
    raw = np.log(model.predict(fresh)) if task == "poisson" else raw_of(model, fresh)
    raw = raw.reshape(len(fresh), -1)
    codes, fresh_codes = (encode_samples(x, model.feature_maps_, ONE_THREAD).T.astype(int) for x in (X, fresh))
    twins_weights = np.ones(len(y)) if given is None else given
    signs = np.array([draw_signs(raw.shape[1], key_in_round(model, number, SIGNS)) for number in range(12)])
    twin = naive.boost(codes, y, twins_weights, fresh_codes, signs, how, all_vectors)
    ours, theirs = (naive.mean_loss(how.loss, fresh_y, values) for values in (raw, twin))
    start = np.tile(naive.start_of(how.loss, y, twins_weights, raw.shape[1]), (len(fresh), 1))
    assert ours < 0.8 * naive.mean_loss(how.loss, fresh_y, start)
    # weights are rounded to 2^-30 of their sum, derivatives to 2^-28 of the largest
    assert ours == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(raw, twin, rtol=0, atol=1e-5)


# ---- predictions ----


@pytest.mark.parametrize("task", TASKS)
def test_prediction_is_the_start_plus_the_sum_over_trees(task: str) -> None:
    X, y = data_for(task)
    model = make(task).fit(X, y)
    nodes, roots, _ = model.ensemble_
    assert len(roots) == 8  # one tree a round
    raw = np.tile(model._start, (len(X), 1))
    for leaves in (model.apply(X) + roots).T:
        raw += nodes.value[leaves]
    found = raw_of(model, X).reshape(raw.shape)
    if task in ("poisson", "gamma"):
        np.testing.assert_allclose(found, np.exp(raw), rtol=1e-15)
    else:
        np.testing.assert_array_equal(found, raw)


@pytest.mark.parametrize("task", TASKS)
def test_stages_lead_to_the_prediction(task: str) -> None:
    X, y = data_for(task)
    model, fresh = make(task).fit(X, y), data_for(task, 5)[0]
    names = ["predict"] if task in LOSSES else ["predict", "predict_proba", "decision_function"]
    for name in names:
        stages = list(getattr(model, f"staged_{name}")(fresh))
        assert len(stages) == 8
        np.testing.assert_array_equal(stages[-1], getattr(model, name)(fresh))
        short = make(task, n_estimators=3).fit(X, y)
        np.testing.assert_array_equal(stages[2], getattr(short, name)(fresh))
        assert len({id(stage) for stage in stages}) == 8
        assert not np.array_equal(stages[0], stages[-1])


def test_two_classes_have_log_odds() -> None:
    X, y = data_for("two classes")
    model = make("two classes").fit(X, y)
    raw = model.decision_function(X)
    assert raw.shape == (len(X),)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(raw), rtol=2e-15)
    np.testing.assert_array_equal(model.predict(X), raw > 0)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-15)


def test_many_classes_have_a_raw_value_each() -> None:
    X, y = data_for("three classes")
    model = make("three classes").fit(X, y)
    raw = model.decision_function(X)
    assert raw.shape == (len(X), 3)
    np.testing.assert_allclose(model.predict_proba(X), softmax(raw, axis=1), rtol=4e-15)
    np.testing.assert_array_equal(model.predict(X), raw.argmax(axis=1))


def test_unfitted_model_says_so() -> None:
    X = FOUR
    for name in ("predict", "apply"):
        with pytest.raises(NotFittedError):
            getattr(SLMBoostRegressor(), name)(X)
    for name in ("predict", "predict_proba", "decision_function", "apply"):
        with pytest.raises(NotFittedError):
            getattr(SLMBoostClassifier(), name)(X)
    for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        with pytest.raises(NotFittedError):
            next(getattr(SLMBoostClassifier(), name)(X))
    with pytest.raises(NotFittedError):
        _ = SLMBoostClassifier().feature_importances_


# ---- parameters ----


@pytest.mark.parametrize("task", ["squared_error", "two classes"])
def test_l2_enters_the_denominator_of_leaves(task: str) -> None:
    X, y = data_for(task)
    values = []
    for l2 in (0.0, 20.0):
        model = make(task, n_estimators=1, max_depth=1, l2_regularization=l2, learning_rate=1.0).fit(X, y)
        nodes = model.ensemble_.nodes
        values.append(nodes.value[:, 0] * (nodes.weight + l2))  # -G
        leaves = model.apply(X)[:, 0]
        gradient = expit(model._start[0]) - y if task == "two classes" else y.mean() - y
        sums = np.bincount(leaves, -gradient, nodes.n_nodes)
        np.testing.assert_allclose(values[-1][1:], sums[1:], rtol=1e-6)  # gradients keep 28 bits, and 100 are added
    assert make(task, l2_regularization=1e6).fit(X, y).ensemble_.nodes.value == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    ("task", "least"), [("squared_error", 12.0), ("two classes", 4.0), ("poisson", 30.0), ("three classes", 9.0)]
)
def test_children_have_the_least_sum_of_second_derivatives(task: str, least: float) -> None:
    X, y = data_for(task)
    free = make(task, min_child_weight=0.0).fit(X, y).ensemble_.nodes
    bound = make(task, min_child_weight=least).fit(X, y).ensemble_.nodes
    assert free.weight.min() < least
    inner = bound.parent >= 0
    assert inner.sum() > 8
    assert bound.weight[inner].min() >= least * (1 - 1e-6)  # each second derivative keeps 30 bits of the largest


def test_weight_of_a_node_is_its_sum_of_second_derivatives() -> None:
    X, y = data_for("two classes")
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = make("two classes", n_estimators=1).fit(X, y, sample_weight=weights)
    p = np.average(y, weights=weights)
    sums = np.bincount(model.apply(X)[:, 0], weights * p * (1 - p), model.ensemble_.nodes.n_nodes)
    leaves = model.ensemble_.nodes.is_leaf
    np.testing.assert_allclose(model.ensemble_.nodes.weight[leaves], sums[leaves], rtol=1e-6)  # weights keep 30 bits


@pytest.mark.parametrize("task", ["squared_error", "poisson", "two classes", "three classes"])
def test_every_node_answers_with_the_step_of_its_samples(task: str) -> None:
    X, y = data_for(task)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    settings: dict[str, Any] = {"n_estimators": 1, "max_partitions": 2, "effective_ratio": 0.2}
    model = make(task, **settings).fit(X, y, sample_weight=weights)
    nodes, raw = model.ensemble_.nodes, np.tile(model._start, (N, 1))
    slopes = naive.slopes(task if task in LOSSES else "log_loss", y, raw)
    gradients, hessians = (weights[:, None] * slope for slope in slopes)
    for node in range(nodes.n_nodes):
        rows = below(nodes, node, model.apply(X)[:, 0])
        step = -gradients[rows].sum(axis=0) / (hessians[rows].sum(axis=0) + 1.0)
        step = 0.3 * (np.clip(step, -1.0, 1.0) if task == "poisson" else step)
        np.testing.assert_allclose(nodes.value[node], step, atol=1e-7)  # weights keep 30 bits of their sum
    assert nodes.n_nodes > 8


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "huber"])
def test_node_above_has_the_mean_of_its_children(loss: str) -> None:
    X, y = data_for(loss)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    settings: dict[str, Any] = {"n_estimators": 1, "max_partitions": 2, "effective_ratio": 0.2}
    model = make(loss, **settings).fit(X, y, sample_weight=weights)
    nodes, leaves = model.ensemble_.nodes, model.apply(X)[:, 0]
    for node in range(nodes.n_nodes):
        rows = below(nodes, node, leaves)
        mean = np.average(nodes.value[leaves[rows], 0], weights=weights[rows])
        assert nodes.value[node, 0] == pytest.approx(mean, rel=1e-6)  # weights keep 30 bits of their sum


def test_drawn_signs_part_the_outputs_in_two_groups() -> None:
    assert draw_signs(1, 5).tolist() == [1.0]
    found = {tuple(draw_signs(3, key).tolist()) for key in keys_below(1, np.arange(200)).tolist()}
    assert found == set(itertools.product((-1.0, 1.0), repeat=3)) - {(1.0, 1.0, 1.0), (-1.0, -1.0, -1.0)}
    assert {tuple(draw_signs(2, key).tolist()) for key in range(50)} == {(1.0, -1.0), (-1.0, 1.0)}


def test_direction_adds_gradients_by_their_signs() -> None:
    gradients, hessians = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5, 0.25, 0.125]])
    gradient, hessian = along(np.array([1.0, -1.0, 1.0]), gradients, hessians)
    assert (gradient.tolist(), None if hessian is None else hessian.tolist()) == ([3.0], [0.875])
    gradient, hessian = along(np.array([-1.0, -1.0, 1.0]), gradients, None)
    assert (gradient.tolist(), None if hessian is None else hessian.tolist()) == ([1.0], [3.0])


def test_drawn_rows_are_a_share_without_repetition() -> None:
    assert draw_rows(5, 1.0, 1).tolist() == [0, 1, 2, 3, 4]
    assert draw_rows(5, 0.01, 1).size == 1  # at least one
    counts = np.zeros(50)
    for key in range(2000):
        rows = draw_rows(50, 0.3, key)
        assert len(rows) == 15
        assert (np.diff(rows) > 0).all()
        counts[rows] += 1
    assert np.abs(counts / 2000 - 0.3).max() < 5 * math.sqrt(0.21 / 2000)  # five deviations


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_rows_outside_the_subsample_do_not_matter_to_the_tree(loss: str) -> None:
    X, y = data_for(loss)
    y -= y.mean()
    settings: dict[str, Any] = {"n_estimators": 1, "subsample": 0.5, "init": "zero"}
    model = make(loss, **settings).fit(X, y)
    inside = draw_rows(len(y), 0.5, key_in_round(model, 0, SUBSAMPLE))
    outside = np.setdiff1d(np.arange(len(y)), inside)
    assert model.ensemble_.nodes.n_samples[0] == len(inside) == len(y) // 2
    other = y.copy()
    other[outside] = other[outside[::-1]]  # the largest gradient, and with it the unit of all, stays
    assert same_model(model, make(loss, **settings).fit(X, other), X)
    other = y.copy()
    other[inside] = other[inside[::-1]]
    assert not same_model(model, make(loss, **settings).fit(X, other), X)


def test_every_round_draws_its_own_subsample() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", subsample=0.5).fit(X, y)
    drawn = [draw_rows(N, 0.5, key_in_round(model, r, SUBSAMPLE)) for r in range(8)]
    assert len({tuple(rows) for rows in drawn}) == 8
    for r, rows in enumerate(drawn):
        reached = np.bincount(model.apply(X)[rows, r])
        nodes, roots, _ = model.ensemble_
        leaves = np.flatnonzero(reached)
        np.testing.assert_array_equal(reached[leaves], nodes.n_samples[roots[r] + leaves])


@pytest.mark.parametrize("task", ["squared_error", "three classes", "quantile"])
def test_subsample_still_learns(task: str) -> None:
    X, y = data_for(task)
    model = make(task, subsample=0.3, n_estimators=25).fit(X, y)
    assert model.train_score_[-1] > 0.6 * model.train_score_[0]
    assert not same_model(model, make(task, n_estimators=25).fit(X, y), X)


@pytest.mark.parametrize("task", TASKS)
def test_init_zero_starts_at_zero(task: str) -> None:
    X, y = data_for(task)
    zero, best = (make(task, init=init, learning_rate=1e-14).fit(X, y) for init in ("zero", "data"))
    raw = raw_of(zero, X)
    np.testing.assert_allclose(raw, 1.0 if task in ("poisson", "gamma") else 0.0, atol=1e-11)
    assert best.train_score_[0] > zero.train_score_[0]


@pytest.mark.parametrize("task", TASKS)
def test_learning_rate_scales_the_leaves(task: str) -> None:
    X, y = data_for(task)
    one, two = (make(task, n_estimators=1, learning_rate=rate).fit(X, y).ensemble_.nodes for rate in (0.125, 0.25))
    np.testing.assert_array_equal(2 * one.value, two.value)
    np.testing.assert_array_equal(one.threshold, two.threshold)


def test_several_hyperplanes_a_node_make_more_children() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", max_partitions=2, effective_ratio=0.2).fit(X, y)
    nodes = model.ensemble_.nodes
    assert np.diff(nodes.first_plane).max() == 2
    assert np.bincount(nodes.parent[nodes.parent >= 0]).max() > 2
    assert model.score(X, y) > 0.8


# ---- what the losses are for ----


@pytest.mark.parametrize("task", TASKS)
def test_training_improves_the_loss_on_fresh_samples(task: str) -> None:
    X, y = data_for(task)
    model = make(task, n_estimators=20).fit(X, y, eval_set=data_for(task, 7))
    assert model.validation_score_[-1] > 0.75 * model.validation_score_[0]


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantile_is_passed_by_its_share_of_fresh_samples(quantile: float) -> None:
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[Array, Array]:
        X = rng.uniform(-1, 1, (n, 3))
        return X, 3 * X[:, 0] + (1.5 + X[:, 1]) * rng.normal(size=n)

    (X, y), (fresh, fresh_y) = draw(2000), draw(2000)
    model = make("quantile", quantile=quantile, n_estimators=40, learning_rate=0.1, min_samples_leaf=20).fit(X, y)
    predicted = model.predict(fresh)
    assert (fresh_y <= predicted).mean() == pytest.approx(quantile, abs=0.04)
    wide, narrow = fresh[:, 1] > 0.3, fresh[:, 1] < -0.3
    for part in (wide, narrow):  # and it knows where the noise is
        assert (fresh_y <= predicted)[part].mean() == pytest.approx(quantile, abs=0.08)


def test_absolute_error_is_smaller_when_it_is_the_loss() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 3))
    truth = 5 * X[:, 0]
    y = truth + rng.standard_cauchy(600)
    errors = {}
    for loss in ("squared_error", "absolute_error", "huber"):
        model = make(loss, n_estimators=30, min_samples_leaf=10).fit(X[:300], y[:300])
        errors[loss] = np.abs(model.predict(X[300:]) - truth[300:]).mean()
    assert errors["absolute_error"] < 0.5 * errors["squared_error"]
    assert errors["huber"] < 0.5 * errors["squared_error"]


def test_huber_resists_an_outlier() -> None:
    X, y = data_for("squared_error")
    spoilt = y.copy()
    spoilt[3] = 1e6
    settings: dict[str, Any] = {"n_estimators": 30, "min_samples_leaf": 5}
    squared = make("squared_error", **settings).fit(X, spoilt).predict(X)
    robust = make("huber", **settings).fit(X, spoilt).predict(X)
    clean = np.arange(N) != 3
    assert np.abs(robust - y)[clean].mean() < 2.0
    assert np.abs(squared - y)[clean].mean() > 100.0


def rates(seed: int, n: int) -> tuple[Array, Array, Array]:
    """Samples, their true rates, and exposures."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.where(X[:, 0] > 0.5, 6.0, 1.0) * np.where(X[:, 1] > 0.5, 2.0, 1.0), rng.uniform(0.05, 4.0, n)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_rates_are_recovered_from_sums_over_exposures(loss: str) -> None:
    rng = np.random.default_rng(0)
    X, rate, exposure = rates(1, 1500)
    y = rng.poisson(rate * exposure) if loss == "poisson" else rate * exposure * rng.gamma(5.0, 0.2, len(X))
    model = make(loss, n_estimators=30, min_samples_leaf=20).fit(X, y, exposure=exposure)
    fresh, fresh_rate, _ = rates(2, 500)
    inside = (np.abs(fresh[:, :2] - 0.5) > 0.07).all(axis=1)  # away from the steps
    np.testing.assert_allclose(model.predict(fresh)[inside], fresh_rate[inside], rtol=0.35)
    assert np.abs(np.log(model.predict(fresh) / fresh_rate))[inside].mean() < 0.1
    blind = make(loss, n_estimators=30, min_samples_leaf=20).fit(X, y)
    assert np.abs(np.log(blind.predict(fresh) / fresh_rate))[inside].mean() > 0.3


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_exposure_multiplies_the_prediction(loss: str) -> None:
    X, y = data_for(loss)
    exposure = np.random.default_rng(0).uniform(0.1, 5.0, N)
    model = make(loss).fit(X, y, exposure=exposure)
    np.testing.assert_allclose(model.predict(X, exposure=exposure), exposure * model.predict(X), rtol=1e-14)
    stages = list(model.staged_predict(X, exposure=exposure))
    np.testing.assert_array_equal(stages[-1], model.predict(X, exposure=exposure))
    assert same_model(make(loss).fit(X, y), make(loss).fit(X, y, exposure=np.ones(N)), X)


def test_exposure_of_a_count_is_a_weight_on_its_rate() -> None:
    """y over an exposure e is the rate y / e with weight e, for counts."""
    X, y = data_for("poisson")
    exposure = np.random.default_rng(0).integers(1, 5, N).astype(float)
    settings: dict[str, Any] = {"min_samples_leaf": 1, "min_samples_split": 2, "n_projections": 0}
    over = make("poisson", **settings).fit(X, y, exposure=exposure)
    weighted = make("poisson", **settings).fit(X, y / exposure, sample_weight=exposure)
    # weights move the maps of features, so cuts may lie one sample apart
    assert np.abs(np.log(over.predict(X) / weighted.predict(X))).mean() < 0.1
    assert over.train_score_[0] * N == pytest.approx(weighted.train_score_[0] * exposure.sum(), rel=1e-12)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_exposure_must_be_positive(bad: float) -> None:
    X, y = data_for("poisson")
    exposure = np.ones(N)
    exposure[7] = bad
    with pytest.raises(ValueError, match=r"exposure|NaN|infinity"):
        make("poisson").fit(X, y, exposure=exposure)
    with pytest.raises(ValueError, match=r"exposure|NaN|infinity"):
        make("poisson").fit(X, y).predict(X, exposure=exposure)


def test_exposure_needs_a_loss_that_knows_it() -> None:
    X, y = data_for("poisson")
    with pytest.raises(ValueError, match="exposure of SLMBoostRegressor must be None unless the loss is 'poisson'"):
        make("squared_error").fit(X, y, exposure=np.ones(N))


@pytest.mark.parametrize(("loss", "y"), [("poisson", -1.0), ("gamma", 0.0), ("gamma", -2.0)])
def test_y_outside_the_domain_of_the_loss_is_told(loss: str, y: float) -> None:
    X, fine = data_for(loss)
    fine[4] = y
    with pytest.raises(ValueError, match=f"y must .* for the loss '{loss}'; SLMBoostRegressor.fit got numbers from"):
        make(loss).fit(X, fine)


def test_no_count_among_few_validation_samples_is_no_error() -> None:
    X, y = data_for("poisson")
    model = make("poisson").fit(X, y, eval_set=(X[:5], np.zeros(5)))
    assert np.isfinite(model.validation_score_).all()


# ---- a loss of one's own ----


class OwnSquares(Loss):
    """As a user would write it."""

    def values(self, y: Array, raw: Array) -> Array:
        values: Array = 0.5 * (y - raw) ** 2
        return values

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return raw - y, None


class FromTheMean(OwnSquares):
    def start(self, y: Array, sample_weight: Array) -> float:
        return float(np.average(y, weights=sample_weight))


class WithOnes(OwnSquares):
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return raw - y, np.ones_like(raw)


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_error_of_ones_own_gives_the_same_model(weighted: bool) -> None:
    X, y = data_for("squared_error")
    weights = np.random.default_rng(0).integers(1, 4, N) if weighted else None
    ours = make("squared_error", init="zero").fit(X, y, sample_weight=weights)
    own = make("squared_error", loss=OwnSquares(), init="zero").fit(X, y, sample_weight=weights)
    assert same_model(ours, own, X)
    assert same_scores(ours, own)
    assert same_model(own, make("squared_error", loss=OwnSquares()).fit(X, y, sample_weight=weights), X)


def test_start_of_ones_own_is_taken() -> None:
    X, y = data_for("squared_error")
    ours, own = (make("squared_error", loss=loss).fit(X, y) for loss in ("squared_error", FromTheMean()))
    np.testing.assert_allclose(ours.predict(X), own.predict(X), rtol=1e-9)
    assert own.train_score_[0] == pytest.approx(-y.var() / 2, rel=1e-12)


def test_second_derivatives_of_one_equal_none() -> None:
    X, y = data_for("squared_error")
    none, ones = (make("squared_error", loss=loss).fit(X, y) for loss in (OwnSquares(), WithOnes()))
    np.testing.assert_allclose(none.predict(X), ones.predict(X), rtol=1e-12)


class FromTheMedian(OwnSquares):
    """Squared error, but leaves take the median."""

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> float:
        return float(np.median(y - raw))


def test_leaf_values_of_ones_own_are_taken() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", loss=FromTheMedian(), n_estimators=2).fit(X, y)
    raw = np.zeros(N)
    nodes, roots, _ = model.ensemble_
    for t, leaves in enumerate(model.apply(X).T):
        medians = {leaf: np.median((y - raw)[leaves == leaf]) for leaf in set(leaves.tolist())}
        assert len(medians) > 3
        for leaf, median in medians.items():
            assert nodes.value[roots[t] + leaf, 0] == pytest.approx(0.3 * median, rel=1e-12)
        raw += 0.3 * np.array([medians[leaf] for leaf in leaves.tolist()])
    np.testing.assert_allclose(model.predict(X), raw, rtol=1e-12)


class Focal(Loss):
    """-(1 - p)^2 log p, p the probability of the sample's class; for the curvature that of log loss stands in."""

    def probabilities(self, raw: Array) -> Array:
        two: Array = np.column_stack([-raw / 2, raw / 2]) if raw.ndim == 1 else raw
        shares: Array = softmax(two, axis=1)
        return shares

    def values(self, y: Array, raw: Array) -> Array:
        p = self.probabilities(raw)[np.arange(len(y)), y.astype(int)]
        values: Array = -((1 - p) ** 2) * np.log(p)
        return values

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        all_p = self.probabilities(raw)
        p = all_p[np.arange(len(y)), y.astype(int)]
        by_p = 2 * (1 - p) * np.log(p) - (1 - p) ** 2 / p
        if raw.ndim == 1:
            return by_p * p * (1 - p) * (2 * y - 1), p * (1 - p)
        own = np.eye(raw.shape[1])[y.astype(int)]
        return (by_p * p)[:, None] * (own - all_p), all_p * (1 - all_p)


class OwnSteps(Focal):
    """The second-order step as leaf values: one for each class."""

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> Any:
        gradient, hessian = self.derivatives(y, raw)
        assert hessian is not None
        return -gradient.sum(axis=0) / (hessian.sum(axis=0) + 1.0)


@pytest.mark.parametrize("task", ["two classes", "three classes"])
def test_leaf_values_of_ones_own_go_to_every_class(task: str) -> None:
    X, y = data_for(task)
    ours, own = (make(task, loss=loss).fit(X, y) for loss in (Focal(), OwnSteps()))
    np.testing.assert_allclose(raw_of(ours, X), raw_of(own, X), atol=1e-6)  # derivatives keep 28 bits


class CertainFocal(Focal):
    def prediction(self, raw: Array) -> Array:
        return self.probabilities(3 * raw)


class CertainSecond(Focal):
    def prediction(self, raw: Array) -> Array:
        second: Array = self.probabilities(3 * raw)[:, 1]
        return second


@pytest.mark.parametrize("task", ["two classes", "three classes"])
def test_classifier_takes_a_loss_of_ones_own(task: str) -> None:
    X, y = data_for(task)
    loss = Focal()
    raw = np.random.default_rng(0).normal(size=(N, 3) if task == "three classes" else N)
    step = 1e-6 * (np.eye(3)[0] if task == "three classes" else 1.0)
    numeric = (loss.values(y * 1.0, raw + step) - loss.values(y * 1.0, raw - step)) / 2e-6
    gradient = loss.derivatives(y * 1.0, raw)[0].reshape(N, -1)[:, 0]
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)  # the test's own loss is right
    model = make(task, loss=loss, n_estimators=20).fit(X, np.array(["x", "y", "z"])[y])
    assert model.score(X, np.array(["x", "y", "z"])[y]) > 0.85
    np.testing.assert_allclose(model.predict_proba(X), loss.probabilities(model.decision_function(X)), rtol=1e-13)
    assert model.train_score_[-1] > 0.5 * model.train_score_[0]


def test_probabilities_may_be_ones_own() -> None:
    X, y = data_for("three classes")
    model = make("three classes", loss=CertainFocal()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), softmax(3 * model.decision_function(X), axis=1), rtol=1e-13)
    X, y = data_for("two classes")
    model = make("two classes", loss=CertainSecond()).fit(X, y)
    second = expit(3 * model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([1 - second, second]), rtol=1e-12)


class Bent(Loss):
    """Squared error with some of its answers replaced."""

    def __init__(self, **answers: Callable[[Array], Any]) -> None:
        self.answers = answers

    def _answer(self, name: str, right: Any) -> Any:
        return self.answers[name](right) if name in self.answers else right

    def __repr__(self) -> str:
        return "Bent()"

    def start(self, y: Array, sample_weight: Array) -> Any:
        return self._answer("start", 0.0)

    def values(self, y: Array, raw: Array) -> Any:
        return self._answer("values", 0.5 * (y - raw) ** 2)

    def derivatives(self, y: Array, raw: Array) -> Any:
        first, second = self._answer("gradient", raw - y), self._answer("hessian", np.ones_like(raw))
        return self._answer("derivatives", (first, second))

    def leaf_value(self, y: Array, raw: Array, sample_weight: Array) -> Any:
        return self._answer("leaf_value", None)


def spoil(value: float) -> Callable[[Array], Array]:
    def spoiled(right: Array) -> Array:
        wrong = right.copy()
        wrong[3] = value
        return wrong

    return spoiled


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("gradient", lambda right: right[:-1], r"gradient of Bent\(\) must have shape \(200,\); got \(199,\)"),
        ("gradient", lambda right: right[:, None], r"gradient of Bent\(\) must have shape \(200,\); got \(200, 1\)"),
        ("gradient", lambda right: right.sum(), r"gradient of Bent\(\) must have shape \(200,\); got \(\)"),
        ("gradient", spoil(np.nan), r"gradient of Bent\(\) must be finite"),
        ("gradient", spoil(np.inf), r"gradient of Bent\(\) must be finite"),
        ("hessian", lambda right: 1.0, r"second derivative of Bent\(\) must have shape \(200,\); got \(\)"),
        ("hessian", spoil(np.nan), r"second derivative of Bent\(\) must be finite"),
        ("hessian", spoil(-1e-3), r"second derivative of Bent\(\) must not be negative"),
        ("derivatives", lambda right: right[0], r"derivatives of Bent\(\)"),
        ("values", lambda right: right.mean(), r"values of Bent\(\) must have shape \(200,\); got \(\)"),
        ("values", lambda right: right[:, None], r"values of Bent\(\) must have shape \(200,\); got \(200, 1\)"),
        ("values", spoil(np.nan), r"values of Bent\(\)"),
        ("start", lambda right: np.zeros(3), r"start of Bent\(\)"),
        ("start", lambda right: np.nan, r"start of Bent\(\)"),
        ("leaf_value", lambda right: np.nan, r"leaf_value of Bent\(\)"),
    ],
)
def test_wrong_answers_of_a_loss_are_told(name: str, answer: Callable[[Array], Any], message: str) -> None:
    X, y = data_for("squared_error")
    with pytest.raises(ValueError, match=message):
        make("squared_error", loss=Bent(**{name: answer})).fit(X, y)


def test_early_stopping_on_values_that_are_no_numbers_is_told() -> None:
    X, y = data_for("squared_error")
    loss = Bent(values=lambda right: right * np.nan)
    with pytest.raises(ValueError, match=r"values of Bent\(\)"):
        make("squared_error", loss=loss, early_stopping=True).fit(X, y)


def test_loss_cannot_change_what_has_been_learned() -> None:
    """A user who writes raw -= y is told so, instead of getting a wrong model."""

    class Careless(OwnSquares):
        def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
            raw -= y
            return raw, None

    X, y = data_for("squared_error")
    with pytest.raises(ValueError, match="read-only"):
        make("squared_error", loss=Careless()).fit(X, y)


def test_flat_second_derivatives_do_not_overflow() -> None:
    X, y = data_for("squared_error")
    loss = Bent(hessian=np.zeros_like)
    model = make("squared_error", loss=loss, l2_regularization=1.0, min_child_weight=0.0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


# ---- errors of the user's own ----


class OwnError(Exception):
    pass


def failing(at: int) -> Callable[[Any], Any]:
    """A function that gives back what it gets, and raises at the given call."""
    calls = []

    def answer(right: Any) -> Any:
        calls.append(1)
        if len(calls) == at:
            raise OwnError("mine")
        return right

    return answer


BREAKS: dict[str, Callable[[], dict[str, Any]]] = {
    "start": lambda: {"loss": Bent(start=failing(1))},
    "values": lambda: {"loss": Bent(values=failing(4))},
    "derivatives": lambda: {"loss": Bent(derivatives=failing(3))},
    "leaf_value": lambda: {"loss": Bent(leaf_value=failing(3))},
    "callback": lambda: {"loss": "squared_error", "callbacks": [failing(3)]},
}


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("name", BREAKS)
def test_own_errors_come_through_and_leave_the_model_as_it_was(name: str, fitted: bool) -> None:
    X, y = data_for("squared_error")
    model = make("squared_error")
    if fitted:
        model.fit(X[:, :4], y)
    model.set_params(**BREAKS[name]())
    before = dict(model.__dict__)
    with pytest.raises(OwnError, match="mine"):
        model.fit(X, y)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[key] is value for key, value in before.items())
    if fitted:
        np.testing.assert_array_equal(model.predict(X[:, :4]), make("squared_error").fit(X[:, :4], y).predict(X[:, :4]))


def test_interrupted_warm_start_can_go_on() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", warm_start=True, n_estimators=5).fit(X, y)
    before = {name: copy.deepcopy(value) for name, value in model.__dict__.items()}
    interrupted = failing(2)

    def interrupt(progress: Progress) -> None:
        try:
            interrupted(progress)
        except OwnError:
            raise KeyboardInterrupt from None

    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=9, callbacks=[interrupt]).fit(X, y)
    model.set_params(n_estimators=5, callbacks=None)
    assert model.__dict__.keys() == before.keys()
    np.testing.assert_array_equal(model.ensemble_.nodes.value, before["ensemble_"].nodes.value)
    model.set_params(n_estimators=9).fit(X, y)
    assert same_model(model, make("squared_error", n_estimators=9).fit(X, y), X)


# ---- weights ----


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("extra", [{}, {"min_samples_leaf": 5}, {"min_samples_leaf": 0.05, "min_child_weight": 3.0}])
def test_weight_two_equals_row_twice_and_weight_zero_its_absence(task: str, extra: dict[str, Any]) -> None:
    X, y = data_for(task)
    X = np.round(X, 1)  # with ties
    weights = np.random.default_rng(1).integers(0, 4, N)
    weighted = make(task, **extra).fit(X, y, sample_weight=weights)
    repeated = make(task, **extra).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.n_partitions_ > 8
    assert same_model(weighted, repeated, X)
    assert weighted.train_score_ == pytest.approx(repeated.train_score_, rel=1e-14)  # sums in another order


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_weight_two_equals_row_twice_with_exposures(loss: str) -> None:
    X, y = data_for(loss)
    rng = np.random.default_rng(1)
    weights, exposure = rng.integers(0, 4, N), rng.uniform(0.1, 5.0, N)
    weighted = make(loss).fit(X, y, sample_weight=weights, exposure=exposure)
    rows = np.repeat(np.arange(N), weights)
    assert same_model(weighted, make(loss).fit(X[rows], y[rows], exposure=exposure[rows]), X)


@pytest.mark.parametrize("task", ["two classes", "three classes"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 2.7}])
def test_weight_two_equals_row_twice_with_class_weights(task: str, class_weight: Any) -> None:
    X, y = data_for(task)
    weights = np.random.default_rng(1).integers(0, 4, N)
    weighted = make(task, class_weight=class_weight, min_samples_leaf=3).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(N), weights)
    assert same_model(weighted, make(task, class_weight=class_weight, min_samples_leaf=3).fit(X[rows], y[rows]), X)


@pytest.mark.parametrize("task", TASKS)
def test_order_of_rows_does_not_matter(task: str) -> None:
    X, y = data_for(task)
    rng = np.random.default_rng(2)
    weights, order = rng.uniform(0.2, 3.0, N), rng.permutation(N)
    one = make(task).fit(X, y, sample_weight=weights)
    assert same_model(one, make(task).fit(X[order], y[order], sample_weight=weights[order]), X)


@pytest.mark.parametrize("task", TASKS)
def test_unit_weights_equal_none(task: str) -> None:
    X, y = data_for(task)
    assert same_model(make(task).fit(X, y), make(task).fit(X, y, sample_weight=np.ones(N)), X)


def test_weight_zero_hides_a_class() -> None:
    X, y = data_for("three classes")
    model = make("three classes").fit(X, y, sample_weight=(y != 2).astype(float))
    assert model.classes_.tolist() == [0, 1]
    assert same_model(model, make("two classes").fit(X[y != 2], y[y != 2]), X)


def few_values(n: int = 300) -> tuple[Array, Array]:
    """Features of four values: straight maps cut them alike, whatever their unit."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 3).astype(int) + (X[:, 2] > 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_equal_weights_of_samples(n_classes: int) -> None:
    X, y = few_values()
    y = np.minimum(y, n_classes - 1)
    factors = {0: 0.4, 1: 2.5, 2: 1.3}
    # class weights leave the maps of features alone
    settings: dict[str, Any] = {"n_projections": 0, "feature_map": "linear", "min_child_weight": 0.0}
    by_class = make("two classes", class_weight={k: factors[k] for k in range(n_classes)}, **settings).fit(X, y)
    by_sample = make("two classes", **settings).fit(X, y, sample_weight=[factors[k] for k in y.tolist()])
    # derivatives keep 28 bits, weights 30 of their sum
    np.testing.assert_allclose(raw_of(by_class, X), raw_of(by_sample, X), atol=1e-6)
    np.testing.assert_allclose(by_class.train_score_, by_sample.train_score_, rtol=1e-6)
    plain = make("two classes", **settings).fit(X, y)
    assert np.abs(raw_of(by_class, X) - raw_of(plain, X)).max() > 0.1


@pytest.mark.parametrize("task", ["two classes", "three classes"])
def test_balanced_gives_each_class_the_same_weight(task: str) -> None:
    X, y = data_for(task)
    y = np.where(np.arange(N) % 6 > 0, 0, y)
    counts = np.bincount(y)
    assert counts.min() < N / 8
    balanced = make(task, class_weight="balanced").fit(X, y)
    named = make(task, class_weight={k: N / (len(counts) * n) for k, n in enumerate(counts.tolist())}).fit(X, y)
    assert same_model(balanced, named, X)
    np.testing.assert_allclose(balanced._start, 0.0, atol=1e-12)  # equal shares
    plain = make(task).fit(X, y)
    assert (balanced.predict(X) == y)[y > 0].mean() >= (plain.predict(X) == y)[y > 0].mean()
    assert balanced.predict_proba(X)[:, 0].mean() < plain.predict_proba(X)[:, 0].mean()


def test_class_weight_zero_hides_its_samples_but_not_its_name() -> None:
    X, y = data_for("three classes")
    model = make("three classes", class_weight={0: 1, 1: 1, 2: 0}).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (N, 3)
    assert model.predict_proba(X)[:, 2].max() < 1e-6
    assert set(model.predict(X)) == {0, 1}
    assert (model.ensemble_.nodes.n_samples[model.ensemble_.roots] == (y < 2).sum()).all()


# ---- early stopping ----


STOPPING: dict[str, Any] = {
    "n_estimators": 150,
    "learning_rate": 0.4,
    "l2_regularization": 1.0,
    "min_child_weight": 1.0,
    "early_stopping": True,
    "n_iter_no_change": 4,
}
METRICS: dict[str, Callable[[Array, Any, Array], float]] = {
    "squared_error": lambda y, predicted, w: float(np.average((y - predicted) ** 2, weights=w) / 2),
    "absolute_error": lambda y, predicted, w: float(np.average(np.abs(y - predicted), weights=w)),
    "quantile": lambda y, predicted, w: float(mean_pinball_loss(y, predicted, alpha=0.3, sample_weight=w)),
    "poisson": lambda y, predicted, w: float(mean_poisson_deviance(y, predicted, sample_weight=w) / 2),
    "gamma": lambda y, predicted, w: float(mean_gamma_deviance(y, predicted, sample_weight=w) / 2),
    "two classes": lambda y, predicted, w: float(log_loss(y, predicted, sample_weight=w)),
    "three classes": lambda y, predicted, w: float(log_loss(y, predicted, sample_weight=w)),
}


def stages_of(model: Any, X: Any) -> list[Array]:
    return list((model.staged_predict_proba if hasattr(model, "predict_proba") else model.staged_predict)(X))


@pytest.mark.parametrize("where", ["fraction", "eval_set"])
@pytest.mark.parametrize("task", ["squared_error", "absolute_error", "poisson", "two classes", "three classes"])
def test_early_stopping_keeps_the_best_rounds(task: str, where: str) -> None:
    X, y = data_for(task)
    eval_set = data_for(task, 9) if where == "eval_set" else None
    model = make(task, **STOPPING | {"validation_fraction": 0.3}).fit(X, y, eval_set=eval_set)
    best = int(np.argmax(model.validation_score_))
    assert model.n_iter_ == best > 0
    assert len(model.validation_score_) == len(model.train_score_) == 1 + best + 4 < 150
    assert model.ensemble_.n_trees == best
    # the rounds that are kept are those of a fit that was told so
    if where == "eval_set":
        assert same_model(model, make(task, **STOPPING | {"early_stopping": False, "n_estimators": best}).fit(X, y), X)


@pytest.mark.parametrize("task", METRICS)
def test_scores_are_minus_the_metric(task: str) -> None:
    (X, y), (other, other_y) = data_for(task), data_for(task, 9)
    rng = np.random.default_rng(0)
    weights, other_weights = rng.uniform(0.2, 3.0, N), rng.uniform(0.2, 3.0, N)
    extra = {"quantile": 0.3} if task == "quantile" else {}
    model = make(task, **extra).fit(X, y, weights, eval_set=(other, other_y), eval_sample_weight=other_weights)
    assert len(model.train_score_) == len(model.validation_score_) == 9
    metric = METRICS[task]
    for found, samples, target, w in (
        (model.train_score_, X, y, weights),
        (model.validation_score_, other, other_y, other_weights),
    ):
        # weights are rounded to 2^-30 of their sum
        expected = [-metric(target, predicted, w) for predicted in stages_of(model, samples)]
        np.testing.assert_allclose(found[1:], expected, rtol=1e-6)
        n_classes = 3 if task == "three classes" else 2
        start = model._loss.prediction(np.tile(model._start, (N, 1)) if n_classes == 3 else np.full(N, model._start[0]))
        np.testing.assert_allclose(found[0], -metric(target, start, w), rtol=1e-6)


def test_scores_with_exposures_are_those_of_the_counts() -> None:
    X, y = data_for("poisson")
    exposure = np.random.default_rng(0).uniform(0.5, 2.0, N)
    model = make("poisson").fit(X, y, exposure=exposure, eval_set=(X, y), eval_exposure=exposure)
    np.testing.assert_array_equal(model.train_score_, model.validation_score_)
    expected = [-mean_poisson_deviance(y, p) / 2 for p in model.staged_predict(X, exposure=exposure)]
    np.testing.assert_allclose(model.train_score_[1:], expected, rtol=1e-12)


def test_eval_set_alone_is_only_watched() -> None:
    X, y = data_for("squared_error")
    other = data_for("squared_error", 9)
    settings = STOPPING | {"early_stopping": False, "n_estimators": 20}
    watched = make("squared_error", **settings).fit(X, y, eval_set=other)
    plain = make("squared_error", **settings).fit(X, y)
    assert watched.n_iter_ == 20 > np.argmax(watched.validation_score_)
    assert same_model(watched, plain, X)
    assert len(watched.validation_score_) == 21
    assert plain.validation_score_.size == 0


def test_eval_set_may_be_a_list_of_one_pair() -> None:
    X, y = data_for("squared_error")
    other, other_y = data_for("squared_error", 9)
    models = [
        make("squared_error").fit(X, y, eval_set=given)
        for given in ((other, other_y), [other, other_y], [(other, other_y)], [[other.tolist(), other_y.tolist()]])
    ]
    assert all(same_scores(models[0], model) for model in models[1:])


@pytest.mark.parametrize("given", [FOUR, (FOUR,), [(FOUR, [1, 2, 3, 4])] * 2, [(FOUR, [1, 2, 3, 4])] * 3, "no", ()])
def test_eval_set_that_is_no_pair_is_told(given: Any) -> None:
    with pytest.raises(ValueError, match=r"eval_set of SLMBoostRegressor.fit must be one pair \(X, y\)"):
        SLMBoostRegressor(**STUMP).fit(FOUR, [1.0, 2.0, 6.0, 7.0], eval_set=given)


def test_eval_set_must_fit_the_training_samples() -> None:
    X, y = data_for("two classes")
    with pytest.raises(ValueError, match=r"eval_set of SLMBoostClassifier.fit must hold classes of y only; got \[7\]"):
        make("two classes").fit(X, y, eval_set=(X, np.where(y == 1, 7, y)))
    with pytest.raises(ValueError, match="features"):
        make("two classes").fit(X, y, eval_set=(X[:, :3], y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make("two classes").fit(X, y, eval_set=(X, y[:-1]))


class Recorder(OwnSquares):
    """Notes the targets that it is asked about."""

    def __init__(self) -> None:
        self.trained: set[float] = set()
        self.measured: set[float] = set()

    def values(self, y: Array, raw: Array) -> Array:
        self.measured |= set(y.tolist())
        return super().values(y, raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        self.trained |= set(y.tolist())
        return super().derivatives(y, raw)


def test_validation_samples_are_a_share_that_training_never_sees() -> None:
    X, y = data_for("squared_error")
    assert len(set(y.tolist())) == N
    loss = Recorder()
    settings = STOPPING | {"loss": loss, "validation_fraction": 0.25}
    model = make("squared_error", **settings).fit(X, y)
    train = np.array([value in model._loss.trained for value in y.tolist()])
    assert train.sum() == 150
    assert model._loss.measured == set(y.tolist())
    given = make("squared_error", **settings).fit(X[train], y[train], eval_set=(X[~train], y[~train]))
    assert same_model(model, given, X)
    assert same_scores(model, given)


def test_validation_samples_have_every_class_in_proportion() -> None:
    X, y = data_for("three classes")[0], np.repeat([0, 1, 2], [140, 40, 20])
    shares = np.array([112, 32, 16]) / 160
    settings: dict[str, Any] = {"early_stopping": True, "validation_fraction": 0.2, "n_estimators": 1}
    for seed in range(4):
        model = make("three classes", **settings | {"random_state": seed}).fit(X, y)
        np.testing.assert_allclose(softmax(model._start), shares, rtol=1e-12)


def test_too_few_samples_to_validate_on_are_told() -> None:
    with pytest.raises(ValueError, match="validation_fraction of SLMBoostClassifier must leave samples, of every"):
        SLMBoostClassifier(early_stopping=True).fit(FOUR, ["a", "a", "b", "c"])


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_rounds_that_never_help_are_all_dropped(task: str) -> None:
    X, y = data_for(task)
    wrong = y.max() - y if task != "squared_error" else 2 * y.mean() - y
    model = make(task, early_stopping=True, n_iter_no_change=2).fit(X, y, eval_set=(X, wrong))
    assert model.n_iter_ == 0
    assert len(model.validation_score_) == 3
    assert (model.ensemble_.n_trees, model.n_partitions_, model.n_parameters_) == (0, 0, 0)
    raw = raw_of(model, X)
    assert (raw == raw[0]).all()
    assert stages_of(model, X) == []
    assert model.feature_importances_.tolist() == [0.0] * 5
    assert model.apply(X).shape == (N, 0)
    again = model.set_params(warm_start=True, early_stopping=False).fit(X, y)
    assert same_model(again, make(task).fit(X, y), X)


def test_huber_stops_where_its_errors_on_validation_samples_stop_falling() -> None:
    """Its distance shrinks with the training residuals; the yardstick of validation must not."""
    X, y = make_friedman1(300, noise=3.0, random_state=0)
    other, other_y = make_friedman1(300, noise=3.0, random_state=1)
    settings: dict[str, Any] = {"n_estimators": 150, "learning_rate": 0.2, "max_depth": 4}
    watched = make("huber", **settings).fit(X, y, eval_set=(other, other_y))
    errors = [np.abs(other_y - predicted).mean() for predicted in watched.staged_predict(other)]
    assert np.argmin(errors) < 75  # after that it fits noise
    assert np.argmax(watched.validation_score_) < 100


# ---- warm start ----


@pytest.mark.parametrize(
    "extra", [{}, {"subsample": 0.6}, {"subsample": 0.6, "subspace": "drawn", "n_coefficients": 2}]
)
@pytest.mark.parametrize("task", TASKS)
def test_ten_rounds_and_fifteen_more_are_twenty_five(task: str, extra: dict[str, Any]) -> None:
    X, y = data_for(task)
    at_once = make(task, n_estimators=25, **extra).fit(X, y)
    model = make(task, n_estimators=10, warm_start=True, **extra).fit(X, y)
    assert model.n_iter_ == 10
    model.set_params(n_estimators=25).fit(X, y)
    assert same_model(model, at_once, X)
    assert same_scores(model, at_once)


@pytest.mark.parametrize("where", ["fraction", "eval_set"])
@pytest.mark.parametrize("task", ["squared_error", "huber", "three classes"])
@pytest.mark.parametrize("steps", [(3, 150), (10, 12, 14, 150), (150, 151)])
def test_early_stopping_does_not_mind_a_warm_start(task: str, where: str, steps: tuple[int, ...]) -> None:
    X, y = data_for(task)
    eval_set = data_for(task, 9) if where == "eval_set" else None
    settings = STOPPING | {"subsample": 0.8, "n_iter_no_change": 5}
    at_once = make(task, **settings | {"n_estimators": steps[-1]}).fit(X, y, eval_set=eval_set)
    model = make(task, **settings | {"warm_start": True})
    for n in steps:
        model.set_params(n_estimators=n).fit(X, y, eval_set=eval_set)
    assert same_model(model, at_once, X)
    assert same_scores(model, at_once)


def test_warm_start_goes_on_with_the_same_random_numbers() -> None:
    X, y = data_for("squared_error")
    settings: dict[str, Any] = {"subsample": 0.5, "warm_start": True, "n_estimators": 10}
    generator = np.random.RandomState(3)
    model = make("squared_error", **settings | {"random_state": generator}).fit(X, y)
    model.set_params(n_estimators=25).fit(X, y)
    at_once = make("squared_error", **settings | {"random_state": np.random.RandomState(3), "n_estimators": 25})
    assert same_model(model, at_once.fit(X, y), X)
    free = make("squared_error", **settings | {"random_state": None}).fit(X, y)
    first, second = (copy.deepcopy(free).set_params(n_estimators=25).fit(X, y) for _ in range(2))
    assert same_model(first, second, X)
    assert not same_model(first, model, X)
    np.testing.assert_array_equal(list(first.staged_predict(X))[9], free.predict(X))


def test_fit_without_warm_start_begins_anew() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error").fit(X, -y)
    assert same_model(model.fit(X, y), make("squared_error").fit(X, y), X)


def test_warm_start_refuses_what_does_not_go_with_its_trees() -> None:
    X, y = data_for("three classes")
    model = make("three classes", warm_start=True, n_estimators=3).fit(X, y)
    before = dict(model.__dict__)
    model.n_estimators = 5
    with pytest.raises(ValueError, match=r"X of SLMBoostClassifier.fit must have 5 features as before"):
        model.fit(X[:, :4], y)
    with pytest.raises(ValueError, match=r"y of SLMBoostClassifier.fit must hold the classes \[0, 1, 2\] as before"):
        model.fit(X, np.minimum(y, 1))
    with pytest.raises(ValueError, match=r"y of SLMBoostClassifier.fit must hold the classes \[0, 1, 2\] as before"):
        model.fit(X, y + 1)
    model.n_estimators = 2
    with pytest.raises(ValueError, match="n_estimators of SLMBoostClassifier must be at least 3"):
        model.fit(X, y)
    model.n_estimators = 3
    assert all(model.__dict__[name] is value for name, value in before.items())
    with pytest.warns(UserWarning, match="adds nothing"):
        model.fit(X, y)
    assert same_model(model, make("three classes", n_estimators=3).fit(X, y), X)


def test_warm_start_may_begin_to_validate() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", warm_start=True, n_estimators=3).fit(X, y)
    other = data_for("squared_error", 9)
    model.set_params(n_estimators=6).fit(X, y, eval_set=other)
    watched = make("squared_error", n_estimators=6).fit(X, y, eval_set=other)
    assert np.isnan(model.validation_score_[:3]).all()
    np.testing.assert_array_equal(model.validation_score_[3:], watched.validation_score_[3:])


# ---- promises ----


@pytest.mark.parametrize("task", TASKS)
def test_model_is_the_same_for_every_number_of_jobs(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)  # work that is divided among threads
    X, y = data_for(task)
    extra: dict[str, Any] = {"subsample": 0.7, "subspace": "drawn", "n_coefficients": 2, "n_estimators": 4}
    models = [make(task, n_jobs=n, **extra).fit(X, y, eval_set=(X, y)) for n in (1, 2, 3)]
    assert all(same_model(models[0], other, X) for other in models[1:])
    assert all(same_scores(models[0], other) for other in models[1:])


@pytest.mark.parametrize("task", TASKS)
def test_stored_model_is_the_same(task: str) -> None:
    X, y = data_for(task)
    model = make(task, warm_start=True).fit(X, y)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    longer = make(task, n_estimators=12).fit(X, y)
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(file), copy.deepcopy(model)):
        assert same_model(model, again, X)
        assert same_model(again.set_params(n_estimators=12).fit(X, y), longer, X)


def test_random_state_decides_the_draws() -> None:
    X, y = data_for("squared_error")
    a, b, c = (make("squared_error", subsample=0.5, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert same_model(a, b, X)
    assert not same_model(a, c, X)


@pytest.mark.parametrize("task", TASKS)
def test_importances_add_up_and_find_the_features_that_matter(task: str) -> None:
    X, y = data_for(task, n=500)
    X = np.column_stack([X, np.random.default_rng(8).uniform(size=(500, 4))])
    importances = make(task, n_estimators=15).fit(X, y).feature_importances_
    assert importances.shape == (9,)
    assert importances.sum() == pytest.approx(1.0, rel=1e-12)
    assert set(np.argsort(importances)[-4:]) == {0, 1, 2, 3}


@pytest.mark.parametrize("exponent", [-300, -30, 30, 300])
def test_unit_of_the_target_does_not_matter(exponent: int) -> None:
    X, y = data_for("squared_error")
    for loss in ("squared_error", "absolute_error", "huber"):
        plain, scaled = make(loss).fit(X, y), make(loss).fit(X, np.ldexp(y, exponent))
        np.testing.assert_array_equal(np.ldexp(plain.predict(X), exponent), scaled.predict(X))
        np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, rtol=1e-12)


# ---- progress ----


def test_callbacks_see_every_round_in_order() -> None:
    X, y = data_for("squared_error")
    seen: list[tuple[str, Progress]] = []
    callbacks = [lambda p: seen.append(("a", p)), lambda p: seen.append(("b", p))]
    other = data_for("squared_error", 9)
    model = make("squared_error", n_estimators=3, callbacks=callbacks).fit(X, y, eval_set=other)
    assert [name for name, _ in seen] == ["a", "b"] * 3
    for n, progress in enumerate((p for name, p in seen if name == "a"), start=1):
        assert progress == (n, 3, model.train_score_[n], model.validation_score_[n])
        assert isinstance(progress, Progress)
    seen.clear()
    make("squared_error", n_estimators=3, callbacks=callbacks).fit(X, y)
    assert all(progress.validation_score is None for _, progress in seen)


def test_progress_of_a_warm_start_counts_on() -> None:
    X, y = data_for("squared_error")
    seen: list[Progress] = []
    model = make("squared_error", n_estimators=3, warm_start=True, callbacks=[seen.append]).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    assert [(p.n_iter, p.n_estimators) for p in seen] == [(1, 3), (2, 3), (3, 3), (4, 5), (5, 5)]


@pytest.mark.parametrize("yes", [True, np.True_])
def test_callback_ends_the_fit_by_returning_true(yes: Any) -> None:
    X, y = data_for("three classes")
    seen: list[int] = []

    def stop(progress: Progress) -> Any:
        return yes if progress.n_iter == 3 else None

    callbacks = [stop, lambda progress: seen.append(progress.n_iter)]
    model = make("three classes", callbacks=callbacks).fit(X, y)
    assert model.n_iter_ == 3
    assert len(model.train_score_) == 4
    assert seen == [1, 2, 3]
    assert same_model(model, make("three classes", n_estimators=3).fit(X, y), X)


@pytest.mark.parametrize("no", [False, None, np.False_])
def test_callback_that_does_not_return_true_ends_nothing(no: Any) -> None:
    X, y = data_for("squared_error")
    assert make("squared_error", callbacks=[lambda progress: no]).fit(X, y).n_iter_ == 8


def test_callback_and_early_stopping_keep_the_best_rounds_so_far() -> None:
    X, y = data_for("squared_error")
    wrong = 2 * y.mean() - y
    model = make("squared_error", early_stopping=True, callbacks=[lambda p: p.n_iter == 2])
    assert model.fit(X, y, eval_set=(X, wrong)).n_iter_ == 0
    assert len(model.validation_score_) == 3


def test_fit_is_silent_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = data_for("squared_error")
    make("squared_error", verbose=0).fit(X, y)
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown_as_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    X, y = data_for("squared_error")
    make("squared_error", verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert "round 8 of 8, training loss" in out + err


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.mark.usefixtures("without_rich")
def test_progress_is_shown_as_lines_without_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "SECONDS", 0.0)
    X, y = data_for("squared_error")
    seen: list[str] = []
    model = make("squared_error", verbose=1, n_estimators=3, callbacks=[lambda p: seen.append(str(p))])
    model.fit(X, y, eval_set=(X, y))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == seen
    loss = f"{-model.train_score_[3]:.6g}"
    assert seen[2] == f"round 3 of 3, training loss {loss}, validation loss {loss}"


@pytest.mark.usefixtures("without_rich")
def test_lines_come_once_a_second_and_for_the_last_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "SECONDS", 1e9)
    X, y = data_for("squared_error")
    make("squared_error", verbose=1).fit(X, y)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == ["round 1 of 8", "round 8 of 8"]


@pytest.mark.usefixtures("without_rich")
def test_missing_rich_does_not_show_up_in_errors_of_the_users_own(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data_for("squared_error")
    with pytest.raises(OwnError) as caught:
        make("squared_error", verbose=1, callbacks=[failing(2)]).fit(X, y)
    assert caught.value.__context__ is None
    assert "round 1" in capsys.readouterr().err


# ---- classes ----


def test_single_class_is_predicted() -> None:
    X = data_for("squared_error")[0]
    for extra in ({}, {"early_stopping": True}, {"loss": Focal()}, {"class_weight": "balanced"}):
        model = make("two classes", **extra).fit(X, ["only"] * N)
        assert model.predict(X).tolist() == ["only"] * N
        assert model.predict_proba(X).tolist() == [[1.0]] * N
        assert model.n_partitions_ == 0
        assert model.feature_importances_.tolist() == [0.0] * 5
        assert model.decision_function(X).shape == (N,)


@pytest.mark.parametrize(
    "names", [np.array(["no", "yes"]), np.array(["b", "a", "c"]), np.array([True, False]), np.array([10**12, -5, 7])]
)
def test_labels_of_any_kind_come_back(names: Array) -> None:
    X, y = IRIS
    X, y = X[y < len(names)], y[y < len(names)]
    model = make("two classes", early_stopping=True, validation_fraction=0.2).fit(X, names[y])
    assert model.classes_.tolist() == np.unique(names).tolist()
    assert model.predict(X).dtype == names.dtype
    assert model.score(X, names[y]) > 0.95
    if len(names) == 2:
        positive = model.decision_function(X) > 0
        np.testing.assert_array_equal(model.predict(X), model.classes_[positive.astype(int)])


def test_many_classes_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 40)
    X = 5 * rng.normal(size=(12, 4))[y] + rng.normal(size=(480, 4))
    model = make("three classes", n_estimators=10).fit(X[::2], y[::2])
    assert model.ensemble_.n_trees == 10
    assert model.score(X[1::2], y[1::2]) > 0.85
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-15)


def test_names_of_classes_do_not_matter() -> None:
    X, y = data_for("three classes")
    plain = make("three classes").fit(X, y)
    named = make("three classes").fit(X, np.array(["a", "b", "c"])[y])
    assert same_model(plain, named, X)


def test_one_sample_is_predicted() -> None:
    assert SLMBoostRegressor(n_estimators=3).fit([[1.0]], [3.5]).predict([[2.0]]).tolist() == [3.5]
    assert SLMBoostClassifier(n_estimators=3).fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_target_is_predicted(loss: str) -> None:
    X = data_for(loss)[0]
    model = make(loss).fit(X, np.full(N, 2.5))
    np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-8)  # gradients keep 28 bits
    assert np.isfinite(model.train_score_).all()


def test_separated_classes_stay_finite_for_many_rounds() -> None:
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    settings: dict[str, Any] = {"n_estimators": 300, "l2_regularization": 0.0, "min_child_weight": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make("two classes", **settings | {"learning_rate": 1.0}).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1.0
    assert (np.diff(model.train_score_) >= 0).all()


def test_clone_takes_the_parameters_and_leaves_the_fit() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", loss=OwnSquares()).fit(X, y)
    again = clone(model)
    assert not hasattr(again, "ensemble_")
    assert same_model(again.fit(X, y), model, X)


# --- what users have seen


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
@pytest.mark.parametrize("init", ["data", "zero"])
def test_means_over_many_decades_do_not_explode(loss: str, init: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = np.where(X[:, 0] > 1.5, 1000.0, 0.1) * rng.gamma(2.0, 0.5, 1000)
    model = SLMBoostRegressor(loss=loss, init=init, n_estimators=30, random_state=0).fit(X, y)
    assert (np.diff(model.train_score_) > 0).all()
    assert model.predict(X).max() < 100 * y.max()


@pytest.mark.parametrize("change", [{"loss": "poisson"}, {"init": "zero"}, {"loss": "huber", "quantile": 0.8}])
def test_kept_rounds_keep_their_loss(change: dict[str, Any]) -> None:
    X, y = data_for("squared_error")
    model = SLMBoostRegressor(n_estimators=2, warm_start=True, random_state=0).fit(X, np.abs(y))
    with pytest.raises(ValueError, match=r"must stay .* warm_start=True keeps trees"):
        model.set_params(n_estimators=4, **change).fit(X, np.abs(y))


def test_kept_rounds_refuse_coefficients_too_large_for_their_codes() -> None:
    X = np.random.default_rng(0).normal(size=(100, 40))
    given: dict[str, Any] = {"warm_start": True, "subspace_size": 40, "envelope_decay": 0.0, "n_coefficients": None}
    model = SLMBoostRegressor(n_estimators=2, envelope_height=1.0, **given).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="envelope_height and n_coefficients of SLMBoostRegressor must not grow"):
        model.set_params(n_estimators=4, envelope_height=127.0).fit(X, X[:, 0])


def test_a_loss_of_the_users_is_not_changed_by_a_fit() -> None:
    X, y = data_for("squared_error")
    loss = Recorder()
    before = {name: list(value) if isinstance(value, set) else value for name, value in vars(loss).items()}
    SLMBoostRegressor(loss=loss, n_estimators=3).fit(X, y)
    assert {name: list(value) if isinstance(value, set) else value for name, value in vars(loss).items()} == before


def test_weights_that_add_up_to_one_are_warned_of() -> None:
    X, y = data_for("squared_error")
    with pytest.warns(UserWarning, match="Scale sample_weight up"):
        SLMBoostRegressor(n_estimators=2).fit(X, y, np.full(len(y), 1 / len(y)))


def test_score_takes_the_exposure() -> None:
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(400, 2)), rng.uniform(0.1, 10.0, 400)
    y = rng.poisson(exposure * np.exp(X[:, 0]))
    model = SLMBoostRegressor(loss="poisson", random_state=0).fit(X, y, exposure=exposure)
    assert model.score(X, y, exposure=exposure) > 0.5 > model.score(X, y)


def test_one_callback_needs_no_list() -> None:
    X, y = data_for("squared_error")
    assert SLMBoostRegressor(n_estimators=9, callbacks=lambda progress: progress.n_iter == 2).fit(X, y).n_iter_ == 2
