"""SLM Boost: rounds by hand, beside a twin in plain floats, and what users rely on."""

import copy
import io
import itertools
import math
import pickle
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import naive
from boosting import (
    FOUR,
    IRIS,
    LOSSES,
    STUMP,
    TASKS,
    Focal,
    N,
    OwnSquares,
    Recorder,
    below,
    data_for,
    key_of_round,
    make,
    noise_for,
    raw_of,
    same_model,
    same_scores,
)
from naive import Array, Boosting
from sublearn import SLMBoostClassifier, SLMBoostRegressor
from sublearn.core import parallel
from sublearn.core.boosting.problem import CONTENTS
from sublearn.core.boosting.rounds import draw_rows, draw_signs
from sublearn.core.data.codes import encode_samples
from sublearn.core.data.dealing import content_keys
from sublearn.core.keys import keys_below
from sublearn.core.tree.projection import plan_projections
from support import ONE_THREAD, PARAMETERS, spread

# ---- one round by hand ----


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


def with_mean_one(weights: Array, counts: Array | None = None) -> Array:
    """As boosting takes weights that are not whole numbers."""
    scaled: Array = weights / np.average(weights, weights=counts)
    return scaled


@pytest.mark.parametrize(("weights", "min_gain"), [("unit", 4.0), ("uniform", 0.0), ("wild", 4.0)])
@pytest.mark.parametrize("task", ["squared_error", "poisson", "two classes", "three classes"])
def test_rounding_to_integers_costs_nothing_measurable(task: str, weights: str, min_gain: float) -> None:
    """The same test loss as boosting in plain floats, to four digits and more."""
    rng = np.random.default_rng(3)
    (X, y), (fresh, fresh_y) = data_for(task, 1, 300), data_for(task, 2, 1000)
    X, fresh = X[:, :4], fresh[:, :4]
    kinds = {"unit": None, "uniform": rng.uniform(0.2, 3.0, len(y)), "wild": np.exp(2 * rng.normal(size=len(y)))}
    given = kinds[weights]
    how = Boosting(task if task in LOSSES else "log_loss", 0.3, 1.0, 0.5, 5, 3, 16, min_gain)
    model = make(
        task,
        n_estimators=12,
        learning_rate=how.learning_rate,
        l2_regularization=how.l2,
        min_child_weight=how.min_child_weight,
        min_gain=how.min_gain,
        min_samples_leaf=how.min_samples_leaf,
        max_depth=how.max_depth,
        n_bins=how.n_bins,
        **EXHAUSTIVE,
    ).fit(X, y, sample_weight=given)
    raw = np.log(model.predict(fresh)) if task == "poisson" else raw_of(model, fresh)
    raw = raw.reshape(len(fresh), -1)
    codes, fresh_codes = (encode_samples(x, model.feature_maps_, ONE_THREAD).T.astype(int) for x in (X, fresh))
    twins_weights = np.ones(len(y)) if given is None else with_mean_one(given)
    signs = np.array([draw_signs(raw.shape[1], key_of_round(model, number)) for number in range(12)])
    twin = naive.boost(codes, y, twins_weights, fresh_codes, signs, how, all_vectors)
    ours, theirs = (naive.mean_loss(how.loss, fresh_y, values) for values in (raw, twin))
    start = np.tile(naive.start_of(how.loss, y, twins_weights, raw.shape[1]), (len(fresh), 1))
    assert ours < 0.8 * naive.mean_loss(how.loss, fresh_y, start)
    if min_gain:
        free = clone(model).set_params(min_gain=0.0).fit(X, y, sample_weight=given)
        assert model.ensemble_.nodes.n_nodes < free.ensemble_.nodes.n_nodes  # or it would say nothing
    # weights are rounded to 2^-30 of their sum, derivatives to 2^-28 of the largest
    assert ours == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(raw, twin, rtol=0, atol=1e-5)


# ---- predictions ----


@pytest.mark.parametrize("task", TASKS)
def test_prediction_is_the_start_plus_the_sum_over_trees(task: str) -> None:
    X, y = data_for(task)
    model = make(task).fit(X, y)
    nodes, roots = model.ensemble_.nodes, model.ensemble_.roots
    assert len(roots) == 8  # one tree a round
    raw = np.tile(model._model.start, (len(X), 1))
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
        gradient = expit(model._model.start[0]) - y if task == "two classes" else y.mean() - y
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


def test_least_gain_by_hand() -> None:
    """Gradients 3 2 | -2 -3: a gain of 25 / 3 + 25 / 3, and a mean square of 26 / 4."""
    y, ratio = [1.0, 2.0, 6.0, 7.0], (50 / 3) / (26 / 4)
    for factor, n_nodes in ((0.999, 3), (1.001, 1)):
        model = SLMBoostRegressor(**STUMP | {"min_gain": factor * ratio}).fit(FOUR, y)
        assert model.ensemble_.nodes.n_nodes == n_nodes


@pytest.mark.parametrize("task", TASKS)
def test_larger_least_gain_means_no_more_nodes(task: str) -> None:
    X, y = data_for(task)
    found = [make(task, n_estimators=1, min_gain=least).fit(X, y).n_partitions_ for least in (0.0, 2.0, 8.0, 1e6)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2] > found[3] == 0


@pytest.mark.parametrize("task", TASKS)
def test_noise_is_not_split_where_much_gain_is_asked_for(task: str) -> None:
    X, y = noise_for(task)
    settings: dict[str, Any] = {"n_projections": 6, "min_samples_leaf": 5}
    assert make(task, **settings).fit(X, y).n_partitions_ > 30
    model = make(task, min_gain=25.0, **settings).fit(X, y)
    assert model.n_partitions_ == 0
    assert np.ptp(raw_of(model, X), axis=0) == pytest.approx(0.0)


@pytest.mark.parametrize("exponent", [-300, -30, 30, 300])
def test_least_gain_goes_with_the_unit_of_the_target(exponent: int) -> None:
    X, y = data_for("squared_error")
    plain, scaled = (make("squared_error", min_gain=3.0).fit(X, target) for target in (y, np.ldexp(y, exponent)))
    assert 0 < plain.n_partitions_ < make("squared_error").fit(X, y).n_partitions_
    np.testing.assert_array_equal(np.ldexp(plain.predict(X), exponent), scaled.predict(X))


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_least_gain_takes_weights_for_rows(task: str) -> None:
    X, y = data_for(task)
    weights = np.random.default_rng(1).integers(0, 4, N)
    weighted = make(task, min_gain=3.0).fit(X, y, sample_weight=weights)
    assert 0 < weighted.n_partitions_ < make(task).fit(X, y, sample_weight=weights).n_partitions_
    rows = np.repeat(np.arange(N), weights)
    assert same_model(weighted, make(task, min_gain=3.0).fit(X[rows], y[rows]), X)


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_least_gain_is_the_same_when_a_weight_is_not_whole(task: str) -> None:
    X, y = data_for(task)
    whole = np.ones(N)
    nearly = np.where(np.arange(N) == 3, 1 + 2.0**-20, whole)
    one, other = (make(task, min_gain=8.0).fit(X, y, sample_weight=weights) for weights in (whole, nearly))
    assert 0 < one.n_partitions_ < make(task).fit(X, y).n_partitions_
    assert one.n_partitions_ == other.n_partitions_


def test_weight_of_a_node_is_its_sum_of_second_derivatives() -> None:
    X, y = data_for("two classes")
    weights = with_mean_one(np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    model = make("two classes", n_estimators=1).fit(X, y, sample_weight=weights)
    p = np.average(y, weights=weights)
    sums = np.bincount(model.apply(X)[:, 0], weights * p * (1 - p), model.ensemble_.nodes.n_nodes)
    leaves = model.ensemble_.nodes.is_leaf
    np.testing.assert_allclose(model.ensemble_.nodes.weight[leaves], sums[leaves], rtol=1e-6)  # weights keep 30 bits


@pytest.mark.parametrize("task", ["squared_error", "poisson", "two classes", "three classes"])
def test_every_node_answers_with_the_step_of_its_samples(task: str) -> None:
    X, y = data_for(task)
    weights = with_mean_one(np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    settings: dict[str, Any] = {"n_estimators": 1, "max_partitions": 2, "effective_ratio": 0.2}
    model = make(task, **settings).fit(X, y, sample_weight=weights)
    nodes, raw = model.ensemble_.nodes, np.tile(model._model.start, (N, 1))
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


def test_drawn_rows_are_about_a_share_and_equal_ones_come_together() -> None:
    contents = keys_below(3, np.repeat(np.arange(50), 2))
    assert len(np.unique(contents)) == 50
    assert draw_rows(contents, 1e-9, 1).size == 2  # at least one, with its equal
    counts, sizes = np.zeros(100), []
    for key in range(2000):
        rows = draw_rows(contents, 0.3, key)
        assert (np.diff(rows) > 0).all()
        counts[rows] += 1
        sizes.append(len(rows))
    np.testing.assert_array_equal(counts[::2], counts[1::2])
    assert np.abs(counts / 2000 - 0.3).max() < 5 * math.sqrt(0.21 / 2000)  # five deviations
    assert np.std(sizes) == pytest.approx(2 * math.sqrt(50 * 0.21), rel=0.1)  # pairs come by themselves


def contents_of(model: Any, X: Any) -> Any:
    return content_keys(encode_samples(X, model.feature_maps_, ONE_THREAD), len(X), CONTENTS)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_rows_outside_the_subsample_do_not_matter_to_the_tree(loss: str) -> None:
    X, y = data_for(loss)
    y -= y.mean()
    settings: dict[str, Any] = {"n_estimators": 1, "subsample": 0.5, "init": "zero"}
    model = make(loss, **settings).fit(X, y)
    inside = draw_rows(contents_of(model, X), 0.5, key_of_round(model, 0))
    outside = np.setdiff1d(np.arange(len(y)), inside)
    assert model.ensemble_.nodes.n_samples[0] == len(inside) == pytest.approx(len(y) / 2, rel=0.2)
    other = y.copy()
    other[outside] = other[outside[::-1]]  # the largest gradient, and with it the unit of all, stays
    assert same_model(model, make(loss, **settings).fit(X, other), X)
    other = y.copy()
    other[inside] = other[inside[::-1]]
    assert not same_model(model, make(loss, **settings).fit(X, other), X)


def test_every_round_draws_its_own_subsample() -> None:
    X, y = data_for("squared_error")
    model = make("squared_error", subsample=0.5).fit(X, y)
    drawn = [draw_rows(contents_of(model, X), 0.5, key_of_round(model, r)) for r in range(8)]
    assert len({tuple(rows) for rows in drawn}) == 8
    for r, rows in enumerate(drawn):
        reached = np.bincount(model.apply(X)[rows, r])
        nodes, roots = model.ensemble_.nodes, model.ensemble_.roots
        leaves = np.flatnonzero(reached)
        np.testing.assert_array_equal(reached[leaves], nodes.n_samples[roots[r] + leaves])


@pytest.mark.parametrize("task", ["squared_error", "two classes", "three classes"])
def test_weight_two_is_the_row_twice_under_subsample(task: str) -> None:
    """Rows are drawn by what is in them."""
    X, y = data_for(task)
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    models = [make(task, subsample=0.5, leaf=leaf) for leaf in ("constant", "linear") for _ in range(2)]
    for once, repeated in (models[:2], models[2:]):
        assert same_model(once.fit(X, y, sample_weight=weights), repeated.fit(X[rows], y[rows]), X)


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


# ---- weights ----


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 0.05, "min_child_weight": 3.0},
        {"envelope_height": 20.0, "draws_per_sample": 1},
    ],
)
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
    factors = dict(enumerate(with_mean_one(np.array([0.4, 2.5, 1.3]), np.bincount(y, minlength=3)).tolist()))
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
    np.testing.assert_allclose(balanced._model.start, 0.0, atol=1e-12)  # equal shares
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


# ---- promises ----


@pytest.mark.parametrize("task", TASKS)
def test_model_is_the_same_for_every_number_of_jobs(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)  # work that is divided among threads
    X, y = data_for(task)
    extra: dict[str, Any] = {"subsample": 0.7, "subspace": "drawn", "n_coefficients": 2, "n_estimators": 4}
    extra |= {"min_gain": 1.5}
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


def test_weights_that_add_up_to_one_are_like_none() -> None:
    X, y = data_for("squared_error")
    model = SLMBoostRegressor(n_estimators=20, min_child_weight=2.0, random_state=0)
    plain, light = (clone(model).fit(X, y, weights) for weights in (None, np.full(len(y), 1 / len(y))))
    np.testing.assert_allclose(light.predict(X), plain.predict(X), rtol=1e-6)


def test_score_takes_the_exposure() -> None:
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(400, 2)), rng.uniform(0.1, 10.0, 400)
    y = rng.poisson(exposure * np.exp(X[:, 0]))
    model = SLMBoostRegressor(loss="poisson", random_state=0).fit(X, y, exposure=exposure)
    assert model.score(X, y, exposure=exposure) > 0.5 > model.score(X, y)


def test_one_callback_needs_no_list() -> None:
    X, y = data_for("squared_error")
    assert SLMBoostRegressor(n_estimators=9, callbacks=lambda progress: progress.n_iter == 2).fit(X, y).n_iter_ == 2


# ---- one tree a class ----


def three_classes() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=600), [-0.5, 0.7])


def separate(**parameters: Any) -> SLMBoostClassifier:
    return SLMBoostClassifier(
        **{"n_estimators": 12, "learning_rate": 0.2, "multiclass": "separate", "random_state": 0, **parameters}
    )


def test_separate_trees_are_as_many_as_rounds_times_classes() -> None:
    X, y = three_classes()
    model = separate().fit(X, y)
    assert (model.n_iter_, model.ensemble_.n_trees, model.apply(X).shape) == (12, 36, (600, 36))
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == 12
    np.testing.assert_array_equal(staged[-1], model.predict_proba(X))
    assert model.score(X, y) > 0.9


def test_separate_trees_are_the_same_at_once_by_warm_starts_and_on_two_threads() -> None:
    X, y = three_classes()
    at_once = separate().fit(X, y)
    warm = separate(n_estimators=5, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=12).fit(X, y)
    for other in (warm, separate(n_jobs=2).fit(X, y)):
        np.testing.assert_array_equal(other.decision_function(X), at_once.decision_function(X))
        np.testing.assert_array_equal(other.train_score_, at_once.train_score_)


def test_separate_trees_after_the_best_round_are_dropped_by_early_stopping() -> None:
    X, y = three_classes()
    model = separate(n_estimators=200, learning_rate=1.0, early_stopping=True, n_iter_no_change=3).fit(X, y)
    assert 0 < model.n_iter_ < 197
    assert model.ensemble_.n_trees == 3 * model.n_iter_


def test_two_classes_have_one_tree_a_round_either_way() -> None:
    X, y = three_classes()
    shared, apart = (separate(multiclass=way).fit(X, y > 0) for way in ("shared", "separate"))
    np.testing.assert_array_equal(shared.decision_function(X), apart.decision_function(X))
    assert apart.ensemble_.n_trees == 12


def test_kept_trees_do_not_mix_with_those_of_the_other_way() -> None:
    X, y = three_classes()
    model = separate(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="multiclass of SLMBoostClassifier must stay 'separate'"):
        model.set_params(multiclass="shared", n_estimators=20).fit(X, y)


def test_how_far_to_learn_is_found_for_separate_trees_too() -> None:
    X, y = three_classes()
    model = separate(n_estimators="auto", learning_rate="auto").fit(X, y)
    assert model.n_iter_ <= 250  # as for two classes
    assert model.score(X, y) > 0.9
