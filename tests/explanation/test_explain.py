"""Shapley values: against their definition, their axioms, and what users may ask for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from naive_shapley import shapley_values
from sublearn import (
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    explain,
)
from sublearn.kernels.layout import Array

N_FEATURES, N_USED = 7, 6  # the last one is constant
FEW: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "categorical_features": [2]}
BOOST: dict[str, Any] = FEW | {"learning_rate": 0.3}
TREE: dict[str, Any] = {"random_state": 0, "categorical_features": [2]}
CLASSES = {
    "tree": SLMClassifier(max_partitions=3, **TREE),
    "forest": SLMForestClassifier(**FEW),
    "hard forest": SLMForestClassifier(voting="hard", **FEW),
    "boost": SLMBoostClassifier(leaf="constant", **BOOST),
    "linear boost": SLMBoostClassifier(leaf="linear", **BOOST),
    "separate boost": SLMBoostClassifier(multiclass="separate", **BOOST),
}
NUMBERS = {
    "tree": SLMRegressor(max_depth=5, **TREE),
    "forest": SLMForestRegressor(**FEW),
    "boost": SLMBoostRegressor(leaf="constant", **BOOST),
    "linear boost": SLMBoostRegressor(leaf="linear", max_depth=4, **BOOST),
    "poisson": SLMBoostRegressor(loss="poisson", **BOOST),
}


def table() -> Array:
    """Samples with heavy tails, a category, gaps, and a constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, N_FEATURES))
    X[:, 1] = np.exp(2 * X[:, 1])
    X[:, 2] = np.digitize(X[:, 2], [-0.7, 0.0, 0.7])
    X[::5, 3] = np.nan
    X[:, N_USED:] = 1.0
    return X


def score(X: Array) -> Array:
    filled = np.nan_to_num(X)
    return filled[:, 0] + filled[:, 3] * filled[:, 4] + (X[:, 2] == 1) - np.log(X[:, 1]) * filled[:, 5]


X = table()
TOTAL = score(X)
MANY, TWO, ONE = np.digitize(TOTAL, [-1.0, 1.0]), (TOTAL > 0).astype(int), np.zeros(len(X), int)
COUNTS = np.rint(np.abs(TOTAL))
SAMPLES, BACKGROUND = X[:3], X[100:120]


def raw_of(model: Any) -> Callable[[Any], Array]:
    """What `output="raw"` explains."""
    if hasattr(model, "decision_function"):
        return model.decision_function  # type: ignore[no-any-return]
    if hasattr(model, "predict_proba"):
        return model.predict_proba  # type: ignore[no-any-return]
    if getattr(model, "loss", None) == "poisson":
        return lambda given: np.log(model.predict(given))
    return model.predict  # type: ignore[no-any-return]


def check(model: Any, answer: Callable[[Any], Array], output: str | None = None, X: Array = SAMPLES) -> None:
    """Compare with the definition."""
    found = explain(model, X, BACKGROUND, output=output, n_jobs=1)
    assert found.is_exact
    assert not found.standard_errors.any()
    values = found.values.reshape(len(X), N_FEATURES, -1)
    for x, own in zip(X, values, strict=True):
        np.testing.assert_allclose(own, shapley_values(answer, x, BACKGROUND), atol=1e-9)
    base = answer(BACKGROUND).reshape(len(BACKGROUND), -1).mean(axis=0)
    np.testing.assert_allclose(found.base_values.reshape(len(X), -1), np.tile(base, (len(X), 1)), atol=1e-9)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("y", [MANY, TWO], ids=["many classes", "two classes"])
def test_values_of_classes_are_those_of_the_definition(name: str, y: Array) -> None:
    model = CLASSES[name].fit(X, y)
    check(model, raw_of(model))


@pytest.mark.parametrize("name", NUMBERS)
def test_values_of_numbers_are_those_of_the_definition(name: str) -> None:
    model = NUMBERS[name].fit(X, COUNTS if name == "poisson" else TOTAL)
    check(model, raw_of(model))


@pytest.mark.parametrize("y", [MANY, TWO], ids=["many classes", "two classes"])
def test_probabilities_of_boosting_are_explained_by_the_definition(y: Array) -> None:
    model = CLASSES["linear boost"].fit(X, y)
    check(model, model.predict_proba, "prediction", SAMPLES[:1])


def test_predictions_of_an_exponential_link_are_explained_by_the_definition() -> None:
    model = NUMBERS["poisson"].fit(X, COUNTS)
    check(model, model.predict, "prediction", SAMPLES[:1])


@pytest.mark.parametrize("model", [CLASSES["tree"], CLASSES["boost"]], ids=["tree", "boost"])
def test_a_single_class_is_due_to_no_feature(model: Any) -> None:
    model.fit(X, ONE)
    for output in ("raw", "prediction"):
        assert not explain(model, SAMPLES, BACKGROUND, output=output).values.any()
