"""Losses against trees and rounds: what is drawn is what the models do."""

from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics import log_loss, mean_absolute_error, root_mean_squared_error

from naive import Array
from pictures import assert_legible
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
)
from sublearn.display import RoundsDisplay

matplotlib.use("agg")
BOOST: dict[str, Any] = {"n_estimators": 25, "learning_rate": 0.3, "max_depth": 3, "random_state": 0, "n_jobs": 1}
FOREST: dict[str, Any] = {"n_estimators": 8, "random_state": 0, "n_jobs": 1}
X, Y = make_classification(400, 8, n_informative=5, flip_y=0.2, random_state=0)
TRAIN, TEST = (X[::2], Y[::2]), (X[1::2], Y[1::2])
NUMBERS = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def boosted() -> Any:
    return SLMBoostClassifier(**BOOST).fit(*TRAIN, eval_set=TEST)


@pytest.fixture(scope="module")
def stopped() -> Any:
    return SLMBoostClassifier(**BOOST, early_stopping=True, n_iter_no_change=6).fit(*TRAIN, eval_set=TEST)


@pytest.fixture(scope="module")
def forest() -> Any:
    return SLMForestClassifier(**FOREST, voting="soft").fit(*TRAIN)


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def test_boosting_is_drawn_by_what_it_has_noted(boosted: Any) -> None:
    display = RoundsDisplay.from_estimator(boosted)
    training, validation = display.lines_
    np.testing.assert_array_equal(training.get_ydata(), -boosted.train_score_)
    np.testing.assert_array_equal(validation.get_ydata(), -boosted.validation_score_)
    np.testing.assert_array_equal(training.get_xdata(), np.arange(26))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("rounds", "log loss")


def test_own_loss_of_held_out_samples_is_that_of_the_same_samples_as_eval_set(boosted: Any) -> None:
    (_, _, held_out) = RoundsDisplay.from_estimator(boosted, *TEST).curves
    np.testing.assert_allclose(held_out.losses, -boosted.validation_score_, atol=1e-12)
    X, y = NUMBERS
    model = SLMBoostRegressor(**BOOST, loss="huber").fit(X[::2], y[::2], eval_set=(X[1::2], y[1::2]))
    held_out = RoundsDisplay.from_estimator(model, X[1::2], y[1::2]).curves[-1]
    np.testing.assert_allclose(held_out.losses, -model.validation_score_, rtol=1e-9)


def test_early_stopping_is_to_be_seen(stopped: Any) -> None:
    display = RoundsDisplay.from_estimator(stopped)
    n, n_tried = stopped.n_iter_, len(stopped.validation_score_) - 1
    assert n < n_tried == n + 6
    assert display.lines_[1].get_xdata()[-1] == n
    faint = [line for line in display.ax_.lines if line.get_alpha() == 0.35]
    assert [line.get_xdata().tolist() for line in faint] == [[*range(n, n_tried + 1)]] * 2
    (mark,) = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert mark.get_xdata().tolist() == [n]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["SLMBoostClassifier, training", f"SLMBoostClassifier, validation: {text_of(stopped)} at {n}"]


def text_of(model: Any) -> str:
    return f"{-model.validation_score_.max():.4g}"


def probabilities_of(forest: Any, X: Array, n: int) -> Array:
    mean: Array = np.mean([tree.predict_proba(X) for tree in forest.estimators_[:n]], axis=0)
    return mean


def test_forest_of_some_trees_has_the_mean_of_these(forest: Any) -> None:
    display = RoundsDisplay.from_estimator(forest, *TEST, X_train=TRAIN[0], y_train=TRAIN[1])
    training, held_out = display.curves
    assert (training.name, held_out.name, display.unit) == ("training", "held out", "trees")
    assert held_out.counts.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    expected = [log_loss(TEST[1], np.maximum(probabilities_of(forest, TEST[0], n), 1e-15)) for n in range(1, 9)]
    np.testing.assert_allclose(held_out.losses, expected, rtol=1e-6)
    (errors,) = RoundsDisplay.from_estimator(forest, *TEST, metric="error").curves
    assert errors.losses[-1] == pytest.approx(1.0 - forest.score(*TEST))


def test_numbers_are_measured_by_what_is_asked_for() -> None:
    X, y = NUMBERS
    model = SLMForestRegressor(**FOREST, max_depth=4).fit(X, y)
    (usual,) = RoundsDisplay.from_estimator(model, X, y).curves
    assert usual.losses[-1] == pytest.approx(root_mean_squared_error(y, model.predict(X)))
    display = RoundsDisplay.from_estimator(model, X, y, metric=mean_absolute_error)
    assert display.curves[0].losses[-1] == pytest.approx(mean_absolute_error(y, model.predict(X)))
    assert display.ax_.get_ylabel() == "mean absolute error"


def test_several_models_go_over_each_other_and_can_be_read(boosted: Any, stopped: Any, forest: Any) -> None:
    name = "a model with a name that is as long as sixty characters are."
    display = RoundsDisplay.from_estimator(boosted, label=name)
    RoundsDisplay.from_estimator(stopped, label="stopped", ax=display.ax_)
    last = RoundsDisplay.from_estimator(forest, *TEST, ax=display.ax_)
    assert last.ax_ is display.ax_
    colours = [line.get_color() for line in (*display.lines_, *last.lines_)]
    assert colours[0] == colours[1] != colours[2]
    assert len(display.ax_.get_legend().get_texts()) == 5
    assert display.ax_.get_xlabel() == "rounds or trees"
    assert_legible(display.figure_, 8)


def test_a_boosting_of_26_classes_can_be_read() -> None:
    X = np.random.default_rng(0).normal(size=(260, 300))
    y = np.arange(260) % 26
    X[:, 0] += y
    model = SLMBoostClassifier(**BOOST | {"n_estimators": 3}).fit(X, y)
    assert_legible(RoundsDisplay.from_estimator(model, X, y).figure_, 8)


def test_mistakes_are_told(boosted: Any, forest: Any) -> None:
    with pytest.raises(TypeError, match="must be a fitted forest or boosting of sublearn; got SLMClassifier"):
        RoundsDisplay.from_estimator(SLMClassifier().fit(*TRAIN))
    with pytest.raises(ValueError, match="X and y of RoundsDisplay must be given, or X_train and y_train"):
        RoundsDisplay.from_estimator(forest)
    with pytest.raises(ValueError, match=r"must both be given, or neither \(held out\)"):
        RoundsDisplay.from_estimator(forest, TEST[0])
    with pytest.raises(ValueError, match="metric of RoundsDisplay must be 'log_loss' or 'error', a function or None"):
        RoundsDisplay.from_estimator(boosted, *TEST, metric="rmse")
    with pytest.raises(ValueError, match=r"must hold the classes of the model; got \[7\] too"):
        RoundsDisplay.from_estimator(boosted, TEST[0][:2], [0, 7])
    with pytest.raises(ValueError, match="must have a target for each of 200 samples; got 3"):
        RoundsDisplay.from_estimator(boosted, TEST[0], [0, 1, 0])
