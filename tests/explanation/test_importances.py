"""Importances in three ways: shares of the decrease, losses after shuffling, Shapley values."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance

from exported import CASES, case, mixed_table
from sublearn import SLMClassifier, SLMRegressor, explain, importances
from sublearn.kernels.layout import Array


@pytest.fixture(scope="module")
def model() -> Any:
    """A tree that knows the first feature alone."""
    return SLMRegressor(max_depth=1, max_partitions=1, n_projections=0).fit(*samples())


def samples(n: int = 200) -> tuple[Array, Array]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0, 1.0, 0.0)


def test_a_feature_that_the_model_does_not_use_has_importance_0(model: Any) -> None:
    X, y = samples()
    for kind in ("decrease", "permutation", "shapley"):
        found = importances(model, X, y, kind=kind)
        assert found.kind == kind
        np.testing.assert_array_equal(found.values[1:], 0.0)
        assert found.values[0] > 0
        assert str(found).splitlines()[1].startswith("x0  ")


@pytest.mark.parametrize("name", CASES)
def test_decreases_are_the_feature_importances(name: str) -> None:
    model = case(name).model
    found = importances(model)
    np.testing.assert_array_equal(found.values, model.feature_importances_)
    assert (found.errors is None) == (type(model).__name__[:9] != "SLMForest")


def test_errors_of_a_forest_are_those_of_the_mean_over_its_trees() -> None:
    model = case("forest of classes").model
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    found = importances(model).errors
    assert found is not None
    np.testing.assert_allclose(found, each.std(axis=0, ddof=1) / np.sqrt(len(each)))


def test_permutation_is_that_of_scikit_learn_up_to_its_draws(model: Any) -> None:
    X, y = samples()
    theirs = permutation_importance(
        model, X, y, scoring="neg_mean_squared_error", n_repeats=50, random_state=0
    ).importances_mean
    ours = importances(model, X, y, kind="permutation", n_repeats=50)
    assert ours.errors is not None
    np.testing.assert_allclose(ours.values, theirs, atol=4 * ours.errors.max())


def test_permutation_is_the_log_loss_of_shuffled_columns() -> None:
    X = np.random.default_rng(1).normal(size=(100, 2))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "b", "a")
    model = SLMClassifier(max_depth=2, random_state=0).fit(X, y)
    found = importances(model, X, y, kind="permutation", n_repeats=2, random_state=3)
    seed = int(np.random.RandomState(3).randint(2**31))
    place = (y == "b").astype(int)

    def losses(table: Array) -> Array:
        shares = model.predict_proba(table)[np.arange(len(table)), place]
        return np.asarray(-np.log(np.maximum(shares, np.finfo(float).eps)))

    for f in range(2):
        random = np.random.default_rng([seed, f])
        growth = np.zeros(len(X))
        for _ in range(2):
            shuffled = X.copy()
            shuffled[:, f] = X[random.permutation(len(X)), f]
            growth += (losses(shuffled) - losses(X)) / 2
        assert found.values[f] == pytest.approx(growth.mean())
        assert found.errors is not None
        assert found.errors[f] == pytest.approx(growth.std(ddof=1) / 10)


def test_shapley_is_the_mean_absolute_value() -> None:
    model, X = case("forest of classes")
    expected = np.abs(explain(model, X[:20], X[20:40]).values).mean(axis=(0, 2))
    np.testing.assert_allclose(importances(model, X[:20], kind="shapley", background=X[20:40]).values, expected)


def test_frames_with_categories_and_gaps_are_taken() -> None:
    X, y = mixed_table()
    model = SLMRegressor(random_state=0, categorical_features=["town of birth", "rooms", "kind"]).fit(X, y)
    found = importances(model, X, y, kind="permutation")
    assert found.names == list(X.columns)
    assert found.values[found.names.index("rooms")] > found.values[found.names.index("N_VIEWS of NAME")]


def test_bad_arguments_are_refused(model: Any) -> None:
    X, y = samples()
    with pytest.raises(TypeError, match="model of importances must be a fitted tree"):
        importances(None)
    with pytest.raises(NotFittedError):
        importances(SLMRegressor())
    with pytest.raises(ValueError, match="kind of importances must be one of 'decrease', 'permutation', 'shapley'"):
        importances(model, kind="gain")
    with pytest.raises(ValueError, match="X and y of importances must be given with kind='permutation'"):
        importances(model, X, kind="permutation")
    with pytest.raises(ValueError, match="X of importances must be given with kind='shapley'"):
        importances(model, kind="shapley")
    with pytest.raises(ValueError, match="n_repeats of importances must be an int of at least 1; got 0"):
        importances(model, X, y, kind="permutation", n_repeats=0)
    with pytest.raises(ValueError, match="y of importances must have a target for each of 200 samples; got 3"):
        importances(model, X, y[:3], kind="permutation")
    classes = SLMClassifier(max_depth=1).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"y of importances must hold classes of the model, \[False, True\]; got 'b'"):
        importances(classes, X, np.repeat("b", 200), kind="permutation")
