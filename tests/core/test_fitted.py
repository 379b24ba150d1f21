"""The fitted model: one record that every estimator holds, and all that prediction needs."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sublearn import (
    Loss,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    export_text,
)
from sublearn.core.model.fitted import VERSION

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
NUMBER = np.exp(X[:, 0] + X[:, 1])
CLASS = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] - X[:, 2], [-0.5, 0.5])]


class Halves(Loss):
    """A loss whose answers are its own: half of raw."""

    def values(self, y: Any, raw: Any) -> Any:
        return (y - raw) ** 2 / 2

    def derivatives(self, y: Any, raw: Any) -> Any:
        return raw - y, None

    def prediction(self, raw: Any) -> Any:
        return raw / 2


BOOST: dict[str, Any] = {"n_estimators": 3, "learning_rate": 0.3, "random_state": 0}
MODELS: list[Any] = [
    SLMClassifier(random_state=0),
    SLMRegressor(random_state=0),
    SLMForestClassifier(n_estimators=3, random_state=0),
    SLMForestClassifier(n_estimators=3, voting="hard", random_state=0),
    SLMForestRegressor(n_estimators=3, random_state=0),
    SLMBoostClassifier(**BOOST),
    SLMBoostClassifier(multiclass="separate", **BOOST),
    SLMBoostRegressor(**BOOST),
    SLMBoostRegressor(loss="poisson", **BOOST),
    SLMBoostRegressor(loss=Halves(), **BOOST),
]
ATTRIBUTES = ("feature_maps_", "n_partitions_", "n_parameters_")


def fitted(model: Any) -> Any:
    return clone(model).fit(X, CLASS if hasattr(model, "predict_proba") else NUMBER)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_prediction_needs_the_record_and_nothing_else(model: Any) -> None:
    before, bare = fitted(model), clone(model)
    bare.n_features_in_ = 3  # for scikit-learn's checks
    bare._model = before._model
    for method in ("predict", "predict_proba", "decision_function", "apply"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(bare, method)(X), getattr(before, method)(X))
    if hasattr(model, "staged_predict"):
        np.testing.assert_array_equal([*bare.staged_predict(X)], [*before.staged_predict(X)])
    if hasattr(model, "decision_path"):
        assert export_text(bare) == export_text(before)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_fitted_attributes_read_the_record(model: Any) -> None:
    found = fitted(model)
    record = found._model
    assert record.version == VERSION
    assert record.n_features == found.n_features_in_ == 3
    assert found.feature_maps_ is record.maps
    nodes = found.ensemble_.nodes if hasattr(found, "ensemble_") else found.tree_
    assert nodes is record.ensemble.nodes
    assert found.n_partitions_ == nodes.n_planes
    assert found.n_parameters_ == nodes.n_planes * (record.subspace_size + 1)
    if hasattr(found, "predict_proba"):
        assert found.classes_.tolist() == ["high", "low", "middle"]
    else:
        assert record.classes is None


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_there_are_no_fitted_attributes_before_a_fit_and_none_can_be_set_after(model: Any) -> None:
    assert not any(hasattr(clone(model), name) for name in ATTRIBUTES)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    found = fitted(model)
    for name in ATTRIBUTES:
        with pytest.raises(AttributeError):
            setattr(found, name, None)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_record_survives_a_file(model: Any) -> None:
    before = fitted(model)
    after = pickle.loads(pickle.dumps(before))
    np.testing.assert_array_equal(after.predict(X), before.predict(X))
    assert after._model.version == VERSION


def test_answers_of_the_users_own_are_kept() -> None:
    model = fitted(MODELS[-1])
    raw = model._model.raw(X, np.empty(0), model._workers())
    np.testing.assert_array_equal(model.predict(X), raw[:, 0] / 2)
