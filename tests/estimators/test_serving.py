"""Predictions one by one, as servers ask for them: without checks where the caller has checked, from many threads."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from naive import Array
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

CLASSES = (SLMClassifier, SLMForestClassifier, SLMBoostClassifier)
NUMBERS = (SLMRegressor, SLMForestRegressor, SLMBoostRegressor)
N, N_FEATURES = 300, 4
SMALL: dict[str, Any] = {"random_state": 0, "n_estimators": 5}


def samples(seed: int = 0) -> Array:
    X = np.random.default_rng(seed).normal(size=(N, N_FEATURES))
    X[::7, 1] = np.nan
    return X


def fitted(kind: Any) -> Any:
    X = samples()
    y = X[:, 0] + np.abs(X[:, 2])
    given = {name: value for name, value in SMALL.items() if name in kind._get_param_names()}
    return kind(**given).fit(X, y > 0.5 if kind in CLASSES else y)


@pytest.fixture(scope="module", params=[*CLASSES, *NUMBERS], ids=lambda kind: kind.__name__)
def model(request: pytest.FixtureRequest) -> Any:
    return fitted(request.param)


def answers(model: Any, X: Any, **given: Any) -> Array:
    ask = model.predict_proba if hasattr(model, "classes_") else model.predict
    given_back: Array = ask(X, **given)
    return given_back


def test_samples_that_are_not_checked_get_the_same_answers(model: Any) -> None:
    X = samples(1)
    np.testing.assert_array_equal(answers(model, X, check_input=False), answers(model, X))
    np.testing.assert_array_equal(model.predict(X, check_input=False), model.predict(X))
    one_by_one = np.concatenate([answers(model, X[i : i + 1], check_input=False) for i in range(N)])
    np.testing.assert_array_equal(one_by_one, answers(model, X))


@pytest.mark.parametrize(
    ("X", "got"),
    [
        (samples().tolist(), "list"),
        (samples().astype(np.float32), f"float32 of shape ({N}, {N_FEATURES})"),
        (np.asfortranarray(samples()), f"float64 of shape ({N}, {N_FEATURES})"),
        (samples()[0], f"float64 of shape ({N_FEATURES},)"),
    ],
)
def test_what_is_not_checked_must_have_the_right_form(model: Any, X: Any, got: str) -> None:
    message = (
        f"X of {type(model).__name__} must be a float64 array of shape (n_samples, {N_FEATURES}) in C order where "
        f"check_input=False; got {got}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.predict(X, check_input=False)


@pytest.mark.parametrize("shape", [(3, N_FEATURES + 1), (0, N_FEATURES)])
def test_what_is_not_checked_must_have_the_right_shape(model: Any, shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"must have {N_FEATURES} features, and samples; got shape {shape}")):
        model.predict(np.zeros(shape), check_input=False)


def test_infinity_that_is_not_checked_counts_as_the_farthest_value(model: Any) -> None:
    X = samples(1)
    near, far = X.copy(), X.copy()
    near[:, 0], far[:, 0] = 1e300, np.inf
    np.testing.assert_array_equal(model.predict(far, check_input=False), model.predict(near))


@pytest.mark.parametrize("kind", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
def test_categories_are_always_checked(kind: Any) -> None:
    X = samples()
    X[:, 3] = np.arange(N) % 3
    own = {"n_estimators": 3} if kind is not SLMClassifier else {}
    model = kind(categorical_features=[3], random_state=0, **own).fit(X, X[:, 0] > 0)
    message = f"check_input of {kind.__name__} must be True, since it has learned categories; got False."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.predict(X, check_input=False)


@pytest.mark.parametrize("kind", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize("check_input", [True, False])
def test_a_model_must_be_fitted_first(kind: Any, check_input: bool) -> None:
    with pytest.raises(NotFittedError):
        kind().predict(samples(), check_input=check_input)


def test_many_threads_may_ask_one_model(model: Any) -> None:
    X = samples(1)
    expected = answers(model, X)

    def ask(i: int) -> bool:
        rows = slice(i % 50, i % 50 + 1 + i % 13)
        return np.array_equal(answers(model, X[rows], check_input=i % 2 == 0), expected[rows])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def test_the_first_predictions_of_a_model_may_come_from_many_threads() -> None:
    """What a model works out once, it may work out in several threads at once."""
    X = samples(1)
    expected = answers(fitted(SLMBoostRegressor), X)
    fresh = fitted(SLMBoostRegressor)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: answers(fresh, X), range(8)):
            np.testing.assert_array_equal(found, expected)
