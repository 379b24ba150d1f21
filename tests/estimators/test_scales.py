"""Weights and targets of any scale, and a target far from all others."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_friedman1

from naive import Array
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.core.data.fixed_point import integer_weights
from sublearn.core.data.outliers import reach_of

REGRESSORS = [
    SLMRegressor(min_samples_leaf=5, random_state=0),
    SLMForestRegressor(n_estimators=10, random_state=0),
    SLMBoostRegressor(n_estimators=40, learning_rate=0.1, random_state=0),
]
CLASSIFIERS = [
    SLMClassifier(min_samples_leaf=5, random_state=0),
    SLMForestClassifier(n_estimators=5, random_state=0),
    SLMBoostClassifier(n_estimators=20, random_state=0),
]


def name_of(model: Any) -> str:
    return type(model).__name__


def samples(n: int = 600) -> tuple[Array, Array, Array]:
    X, y = make_friedman1(n, 6, noise=1.0, random_state=0)
    return X, y, np.random.default_rng(0).uniform(0.1, 1.1, n)


def fitted(model: Any, X: Array, y: Array, weights: Array | None = None) -> Array:
    if is_classifier(model):
        y = (y > np.median(y)).astype(int)
    own = clone(model).fit(X, y, weights)
    answers: Array = own.predict_proba(X)[:, 1] if is_classifier(model) else own.predict(X)
    return answers


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=name_of)
def test_scale_of_weights_does_not_matter(model: Any) -> None:
    X, y, weights = samples()
    usual = fitted(model, X, y, weights)
    for factor in (2.0**-19, 2.0**19):
        np.testing.assert_array_equal(fitted(model, X, y, factor * weights), usual)
    for factor in (1e-6, 1e6):
        np.testing.assert_allclose(fitted(model, X, y, factor * weights), usual, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_scale_of_targets_does_not_matter(model: Any) -> None:
    X, y, _ = samples()
    usual = fitted(model, X, y)
    for factor in (2.0**-30, 2.0**40):
        np.testing.assert_array_equal(fitted(model, X, factor * y), factor * usual)
    for factor in (1e-9, 1e12):
        answers = fitted(model, X, factor * y) / factor
        if isinstance(model, SLMBoostRegressor):  # of fitted pairs, a coefficient may be rounded the other way
            assert np.mean((answers - usual) ** 2) < 0.002 * np.var(y)
        else:
            np.testing.assert_allclose(answers, usual, rtol=1e-6)


@pytest.mark.parametrize("far", [1e5, 1e8, -1e12])
@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_a_target_far_from_all_others_does_not_hide_them(model: Any, far: float) -> None:
    X, y, _ = samples(3000)
    given, fresh, fresh_y = y[:1000].copy(), X[1000:], y[1000:]
    usual = clone(model).fit(X[:1000], given)
    given[7] = far
    one_far = clone(model).fit(X[:1000], given)
    errors = [np.median(np.abs(own.predict(fresh) - fresh_y)) for own in (usual, one_far)]
    assert errors[1] < 1.1 * errors[0]


@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_a_target_far_from_all_others_is_learned_too(model: Any) -> None:
    X, y, _ = samples()
    y[7] = 1e8
    own = clone(model).set_params(min_samples_leaf=1).fit(X, y)
    assert own.predict(X[7:8])[0] > 0.4e8  # of a forest, the trees that have it
    if not isinstance(model, SLMForestRegressor):
        assert own.predict(X).mean() == pytest.approx(y.mean(), rel=1e-6)


@pytest.mark.parametrize("row", range(0, 60, 4))
def test_early_stopping_sees_past_a_far_target(row: int) -> None:  # some are in the part to validate on
    X, y, _ = samples()
    y[row] = 1e8
    model = SLMBoostRegressor(n_estimators=200, learning_rate=0.1, early_stopping=True, random_state=0).fit(X, y)
    assert model.n_iter_ > 20
    assert np.median(np.abs(model.predict(X) - y)) < 2


def test_rounds_that_do_not_help_leave_the_far_target() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    y[7] = 1e8
    settings: dict[str, Any] = {"n_estimators": 20, "early_stopping": True, "warm_start": True, "random_state": 0}
    model = SLMBoostRegressor(min_samples_leaf=1, **settings).fit(X, y, eval_set=(X[100:], rng.normal(size=300)))
    assert model.n_iter_ >= 1
    assert model.predict(X[7:8])[0] == pytest.approx(1e8)
    model.set_params(n_estimators=25).fit(X, y, eval_set=(X[100:], rng.normal(size=300)))


def test_a_warm_start_must_have_far_targets_as_before() -> None:
    X, y, _ = samples()
    far = y.copy()
    far[7] = 1e8
    for before, now in ((y, far), (far, y)):
        model = SLMBoostRegressor(n_estimators=3, learning_rate=0.1, warm_start=True, random_state=0).fit(X, before)
        with pytest.raises(ValueError, match="far from all others"):
            model.set_params(n_estimators=5).fit(X, now)


def test_importances_are_those_of_the_other_targets() -> None:
    X, y, _ = samples()
    model = SLMBoostRegressor(n_estimators=40, learning_rate=0.1, random_state=0)
    usual = clone(model).fit(X, y).feature_importances_
    y[7] = 1e8
    np.testing.assert_allclose(clone(model).fit(X, y).feature_importances_, usual, atol=0.1)


def test_several_far_targets_hide_nothing() -> None:
    X, y, _ = samples(2000)
    y[:1000:250] = 1e8, -1e8, 1e6, 1e5
    model = SLMBoostRegressor(n_estimators=60, learning_rate=0.1, random_state=0).fit(X[:1000], y[:1000])
    assert np.median(np.abs(model.predict(X[1000:]) - y[1000:])) < 1.5


def test_rounds_are_added_beside_a_far_target() -> None:
    X, y, _ = samples()
    y[7] = 1e8
    settings: dict[str, Any] = {"learning_rate": 0.1, "random_state": 0}
    whole = SLMBoostRegressor(n_estimators=12, **settings).fit(X, y)
    parts = SLMBoostRegressor(n_estimators=5, warm_start=True, **settings).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_array_equal(parts.train_score_, whole.train_score_)
    assert len(whole.train_score_) == 13
    assert len(list(whole.staged_predict(X))) == 12


@pytest.mark.parametrize("model", [REGRESSORS[0], REGRESSORS[2]], ids=name_of)
def test_weight_two_is_the_row_twice_beside_a_far_target(model: Any) -> None:
    X, y, _ = samples()
    y[[7, 8]] = 1e8, -1e9
    weights = 1 + np.arange(len(y)) % 2
    assert reach_of(y, integer_weights(weights)) is not None
    twice = np.repeat(np.arange(len(y)), weights)
    by_weight = clone(model).fit(X, y, weights).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X[twice], y[twice]).predict(X), by_weight)


def test_a_few_far_targets_that_features_do_not_tell_move_the_mean() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), rng.normal(size=20_000)
    y[rng.choice(len(y), 2, replace=False)] = 1e6
    model = SLMBoostRegressor(n_estimators=30, min_samples_leaf=4000, random_state=0).fit(X, y)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-3)
