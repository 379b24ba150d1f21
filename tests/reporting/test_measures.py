"""Figures and their intervals, against scikit-learn and against draws."""

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from sublearn.reporting.measures import class_table, measure_classes, measure_numbers, places_of


def test_figures_of_numbers_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    given = y + rng.normal(size=200)
    found = {one.name: one.value for one in measure_numbers(y, given)}
    expected = {
        "R2": r2_score(y, given),
        "RMSE": root_mean_squared_error(y, given),
        "MAE": mean_absolute_error(y, given),
    }
    assert all(np.isclose(found[name], expected[name]) for name in expected)


def test_figures_of_classes_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 300)
    positive = np.clip(0.4 * labels + rng.uniform(0, 0.6, 300), 0.01, 0.99).round(2)  # with ties
    shares = np.column_stack([1 - positive, positive])
    found = {one.name: one.value for one in measure_classes(labels, shares)}
    assert np.isclose(found["accuracy"], accuracy_score(labels, shares.argmax(axis=1)))
    assert np.isclose(found["log loss"], log_loss(labels, shares))
    assert np.isclose(found["AUC"], roc_auc_score(labels, positive))


def test_intervals_hold_the_truth_about_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(2)
    hits = {"AUC": 0, "RMSE": 0, "R2": 0, "accuracy": 0}
    n_draws = 300
    truth = {"AUC": 0.76024994, "RMSE": 1.0, "R2": 0.5, "accuracy": 0.69146246}  # normal, one deviation apart
    for _ in range(n_draws):
        y, noise = rng.normal(size=150), rng.normal(size=150)
        labels = rng.integers(0, 2, 150)
        share = 1 / (1 + np.exp(-(rng.normal(size=150) + labels - 0.5)))
        figures = [*measure_numbers(y + noise, y), *measure_classes(labels, np.column_stack([1 - share, share]))]
        for one in figures:
            if one.name in hits:
                hits[one.name] += one.low <= truth[one.name] <= one.high
    for name, n in hits.items():  # four deviations of 300 draws of 0.95 are 0.05
        assert 0.9 <= n / n_draws <= 1.0, name


def test_classes_that_are_not_known_count_as_wrong() -> None:
    labels = places_of(np.array(["a", "c", "b"]), np.array(["a", "b"]))
    assert labels.tolist() == [0, -1, 1]
    figures = measure_classes(labels, np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]]))
    assert np.isclose(figures[0].value, 2 / 3)
    first = class_table(labels, np.array([0, 0, 1]), ["a", "b"])[0]
    assert (first.n_rows, first.n_predicted, first.precision, first.recall) == (1, 2, 0.5, 1.0)
