"""Forest and boosting among scikit-learn's tools, with data of every kind, and for one sample at a time."""

import inspect
import io
import pickle
import re
import time
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sublearn import SLMBoostClassifier, SLMBoostRegressor, SLMForestClassifier, SLMForestRegressor
from sublearn.kernels.prediction import ROWS

WINE = load_wine(return_X_y=True)  # three classes
DIABETES = load_diabetes(return_X_y=True)

COMMON: dict[str, Any] = {
    "n_estimators": 6,
    "max_depth": 3,
    "subspace": "drawn",
    "subspace_size": 4,
    "n_projections": 10,
    "n_coefficients": 2,
    "selection_decay": 0.1,
    "envelope_height": 2.0,
    "envelope_decay": 0.2,
    "min_samples_split": 2,
    "min_samples_leaf": 2,
    "random_state": 0,
}
FOREST: dict[str, Any] = {**COMMON, "bootstrap": True}
BOOST: dict[str, Any] = {**COMMON, "learning_rate": 0.3, "subsample": 0.8}
MODELS: list[tuple[Any, Any]] = [
    (SLMForestClassifier(**FOREST), WINE),
    (SLMForestRegressor(**FOREST), DIABETES),
    (SLMBoostClassifier(**BOOST), WINE),
    (SLMBoostRegressor(**BOOST), DIABETES),
]
NAMES = [type(model).__name__ for model, _ in MODELS]
ALL = pytest.mark.parametrize(("model", "data"), MODELS, ids=NAMES)
CLASSIFIERS = pytest.mark.parametrize("model", [MODELS[0][0], MODELS[2][0]], ids=NAMES[::2])


def outputs(model: Any, X: Any) -> dict[str, Any]:
    """What a fitted model says of samples, in every way it has."""
    names = ["predict", "apply"]
    if is_classifier(model):
        names += ["predict_proba", "predict_log_proba"]
    if hasattr(model, "decision_function"):
        names.append("decision_function")
    found = {name: getattr(model, name)(X) for name in names}
    if hasattr(model, "staged_predict"):
        found["staged_predict"] = np.column_stack(list(model.staged_predict(X)))
    return found


def assert_same_outputs(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Bit for bit."""
    assert one.keys() == other.keys()
    for name, expected in one.items():
        np.testing.assert_array_equal(other[name], expected, err_msg=name)


# --- storing and copying


@ALL
def test_clone_fits_the_same_model_and_is_not_fitted_itself(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).fit(X, y)
    copy = clone(fitted)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert_same_outputs(outputs(fitted, X), outputs(copy.fit(X, y), X))


@ALL
def test_stored_model_predicts_the_same(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).fit(X, y)
    expected = outputs(fitted, X)
    buffer = io.BytesIO()
    joblib.dump(fitted, buffer)
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(buffer)):
        assert again.get_params() == fitted.get_params()
        assert_same_outputs(expected, outputs(again, X))
        np.testing.assert_array_equal(again.feature_importances_, fitted.feature_importances_)


@ALL
def test_parameters_set_are_those_that_hold(model: Any, data: Any) -> None:
    X, y = data
    assert clone(model).set_params(n_estimators=2).fit(X, y).apply(X).shape == (len(X), 2)
    with pytest.raises(ValueError, match="Invalid parameter 'n_trees'"):
        clone(model).set_params(n_trees=2)


# --- scikit-learn's tools


@ALL
def test_model_works_behind_a_scaler(model: Any, data: Any) -> None:
    X, y = data
    pipe = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    alone = clone(model).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(pipe.predict(X), alone.predict(StandardScaler().fit_transform(X)))
    assert pipe.score(X, y) > 0.3


@ALL
def test_search_finds_the_better_parameters(model: Any, data: Any) -> None:
    X, y = data
    search = GridSearchCV(clone(model), {"n_estimators": [1, 8], "max_depth": [1, 3]}, cv=3).fit(X, y)
    scores = dict(zip(map(str, search.cv_results_["params"]), search.cv_results_["mean_test_score"], strict=True))
    assert len(scores) == 4
    assert search.best_score_ == max(scores.values()) > min(scores.values())
    assert search.best_params_["n_estimators"] == 8
    assert search.score(X, y) > search.best_score_


@ALL
def test_cross_validation_is_the_same_side_by_side(model: Any, data: Any) -> None:
    X, y = data
    scores = cross_val_score(model, X, y, cv=3)
    with joblib.parallel_config(backend="threading"):
        np.testing.assert_array_equal(cross_val_score(clone(model).set_params(n_jobs=2), X, y, cv=3, n_jobs=2), scores)
    assert scores.mean() > 0.25


@CLASSIFIERS
def test_probabilities_can_be_calibrated(model: Any) -> None:
    X, y = WINE
    calibrated = CalibratedClassifierCV(clone(model), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


@ALL
def test_permutation_finds_the_feature_that_matters(model: Any, data: Any) -> None:
    X, _ = data
    y = (X[:, 2] > np.median(X[:, 2])).astype(int)
    fitted = clone(model).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=2, random_state=0).importances_mean
    assert np.argmax(found) == 2
    assert np.argmax(fitted.feature_importances_) == 2


@ALL
def test_partial_dependence_is_the_mean_over_the_samples(model: Any, data: Any) -> None:
    X, y = data[0], (data[1] > np.median(data[1])).astype(int)
    fitted = clone(model).fit(X, y)
    options = {"response_method": "predict_proba"} if is_classifier(model) else {}
    found = partial_dependence(fitted, X, [2], grid_resolution=4, kind="average", **options)
    expected = []
    for value in found["grid_values"][0]:
        moved = X.copy()
        moved[:, 2] = value
        expected.append((fitted.predict_proba(moved)[:, 1] if is_classifier(model) else fitted.predict(moved)).mean())
    np.testing.assert_allclose(found["average"][0], expected, rtol=1e-12)
    assert len(expected) == 4


@ALL
def test_weights_pass_through_a_pipeline(model: Any, data: Any) -> None:
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    pipe = Pipeline([("scale", "passthrough"), ("slm", clone(model))]).fit(X, y, slm__sample_weight=weights)
    weighted, plain = clone(model).fit(X, y, weights), clone(model).fit(X, y)
    np.testing.assert_array_equal(pipe.predict(X), weighted.predict(X))
    assert not np.array_equal(pipe.predict(X), plain.predict(X))


@ALL
def test_weights_are_routed_where_they_are_asked_for(model: Any, data: Any) -> None:
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        every = np.arange(len(X))
        found = cross_validate(asking, X, y, cv=[(every, every)], params={"sample_weight": weights})
    weighted, plain = clone(model).fit(X, y, weights).score(X, y), clone(model).fit(X, y).score(X, y)
    assert found["test_score"].tolist() == [weighted]
    assert weighted != plain


# --- tables with names


@ALL
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_bring_their_names(model: Any, data: Any, library: str) -> None:
    X, y = data
    names = [f"feature {f}" for f in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names) if library == "pandas" else pl.DataFrame(X, schema=names)
    fitted = clone(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == names
    assert_same_outputs(outputs(clone(model).fit(X, y), X), outputs(fitted, frame))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[names[::-1]])


@ALL
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_pass_through_a_pipeline_that_returns_frames(model: Any, data: Any, library: str) -> None:
    X, y = data
    frame = pd.DataFrame(X).add_prefix("f")
    pipe = make_pipeline(StandardScaler(), clone(model)).set_output(transform=library).fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == frame.columns.tolist()
    plain = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    np.testing.assert_array_equal(pipe.predict(frame), plain.predict(X))


# --- arrays of every kind


@ALL
def test_kind_and_order_of_an_array_do_not_matter(model: Any, data: Any) -> None:
    narrow, y = data[0].astype(np.float32), data[1]
    X = narrow.astype(np.float64)
    frozen = X.copy()
    frozen.flags.writeable = False
    fitted = clone(model).fit(X, y)
    expected = outputs(fitted, X)
    strided = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    for other in (narrow, np.asfortranarray(X), np.asfortranarray(narrow), frozen, strided, X.tolist()):
        assert_same_outputs(expected, outputs(clone(model).fit(other, y), X))
        assert_same_outputs(expected, outputs(fitted, other))


@ALL
def test_frozen_targets_and_weights_are_taken_and_left_alone(model: Any, data: Any) -> None:
    X, y = data
    y, weights = y.copy(), np.arange(len(X), dtype=np.float64)
    expected = outputs(clone(model).fit(X, y, weights), X)
    y.flags.writeable = weights.flags.writeable = False
    assert_same_outputs(expected, outputs(clone(model).fit(X, y, weights), X))


@CLASSIFIERS
@pytest.mark.parametrize("names", [np.array(["b", "a", "c"]), np.array([10**12, -5, 7]), np.array([2.0, 1.0, 3.0])])
def test_labels_of_any_kind_come_back(model: Any, names: Any) -> None:
    X, y = WINE
    fitted = clone(model).fit(X, names[y])
    assert fitted.predict(X).dtype == names.dtype
    assert np.array_equal(fitted.classes_, np.unique(names))
    assert fitted.score(X, names[y]) > 0.9
    frame_of_labels = pd.Series(names[y], dtype="category")
    assert fitted.score(X, frame_of_labels) == fitted.score(X, names[y])


# --- one sample at a time


@ALL
def test_a_sample_alone_gets_the_same_answer_as_among_many(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).fit(X, y)
    many = np.resize(X, (2 * ROWS + 30, X.shape[1]))  # more than go through the trees together
    together = outputs(fitted, many)
    for i in (0, 1, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS, len(many) - 1):
        alone = outputs(fitted, many[[i]])
        assert_same_outputs({name: found[[i]] for name, found in together.items()}, alone)


@ALL
def test_nothing_to_predict_is_an_error_as_everywhere_in_scikit_learn(model: Any, data: Any) -> None:
    X, y = data
    with pytest.raises(ValueError, match="0 sample"):
        clone(model).fit(X, y).predict(X[:0])


LIMIT = 2.0  # times what scikit-learn's checks of the sample take; 0.7 to 1.0 is usual


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (SLMForestClassifier(**{**FOREST, "n_estimators": 20, "max_depth": None}), WINE),
        (SLMForestRegressor(**{**FOREST, "n_estimators": 20, "max_depth": None}), DIABETES),
        (SLMBoostClassifier(**{**BOOST, "n_estimators": 100}), (WINE[0], WINE[1] > 0)),
        (SLMBoostRegressor(**{**BOOST, "n_estimators": 100}), DIABETES),
    ],
    ids=NAMES,
)
def test_one_sample_takes_little_longer_than_scikit_learns_checks_of_it(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).fit(X, y)
    assert fitted.ensemble_.n_trees == fitted.n_estimators
    one = X[:1]
    turns = [(computing(fitted.predict, one), computing(fitted._check_samples, one)) for _ in range(500)]
    whole, checks = np.min(turns, axis=0)
    assert whole - checks < LIMIT * checks


def computing(call: Callable[[Any], object], X: Any) -> float:
    """Seconds for which a call keeps its thread computing, whatever else the machine does."""
    began = time.thread_time()
    call(X)
    return time.thread_time() - began


# --- growing on


@ALL
def test_growing_on_without_more_trees_changes_nothing_and_warns(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).set_params(warm_start=True).fit(X, y)
    expected = outputs(fitted, X)
    with pytest.warns(UserWarning, match="adds nothing, since n_estimators was not increased"):
        fitted.fit(X, y)
    assert_same_outputs(expected, outputs(fitted, X))


@ALL
def test_warning_points_to_the_line_that_fits(model: Any, data: Any) -> None:
    X, y = data
    fitted = clone(model).set_params(warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="adds nothing") as caught:
        fitted.fit(X, y)
    assert caught[0].filename == __file__


# --- what is written


@ALL
def test_docstring_tells_of_every_parameter_and_attribute(model: Any, data: Any) -> None:
    make = type(model)
    text = inspect.getdoc(make) or ""
    assert "{parameters}" not in text
    parts = text.split("Attributes\n----------\n")
    parameters = re.findall(r"^(\w+) : .+, default=(.+)$", parts[0], re.MULTILINE)
    signature = inspect.signature(make).parameters
    assert parameters == [(name, repr(parameter.default)) for name, parameter in signature.items()]
    X, y = data
    if "bootstrap" in signature:
        model = clone(model).set_params(oob_score=True, n_estimators=30)
    fitted = clone(model).fit(pd.DataFrame(X).add_prefix("f"), y)
    attributes = re.findall(r"^(\w+) : ", parts[1].split("See Also")[0], re.MULTILINE)
    public = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(attributes)
    for name in attributes:
        assert hasattr(fitted, name), name
