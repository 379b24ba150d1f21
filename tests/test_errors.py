"""Bad input: a clear error, and nothing half-fitted left behind."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_iris

from sublearn import SLMClassifier, SLMRegressor

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("criterion", "squared_error", "'entropy' or 'gini'"),
        ("n_bins", 1, "an int from 2 to 256"),
        ("n_bins", 16.0, "an int from 2 to 256"),
        ("subspace", "best", "'top' or 'drawn'"),
        ("subspace_size", 0, "an int of at least 1"),
        ("n_projections", -1, "an int from 0 to 65536"),
        ("n_coefficients", 0, "None or an int of at least 1, or a sequence of such"),
        ("n_coefficients", [2, 0], "None or an int of at least 1, or a sequence of such"),
        ("n_coefficients", [], "None or an int of at least 1, or a sequence of such"),
        ("selection_decay", -0.1, "a number of at least 0, or a sequence of such"),
        ("selection_decay", "fast", "a number of at least 0, or a sequence of such"),
        ("envelope_height", 128, "a number from 0 to 127"),
        ("envelope_decay", np.nan, "a number of at least 0, or a sequence of such"),
        ("axis_projections", 1, "True or False"),
        ("max_partitions", 0, "an int from 1 to 8"),
        ("max_partitions", 9, "an int from 1 to 8"),
        ("max_partitions", True, "an int from 1 to 8"),
        ("max_cosine", 1.5, "a number from 0 to 1"),
        ("effective_ratio", -1, "a number from 0 to 1"),
        ("max_depth", 0, "None or an int of at least 1"),
        ("min_samples_split", 1, "an int of at least 2 or a float above 0 and up to 1"),
        ("min_samples_leaf", 0.0, "an int of at least 1 or a float above 0 and up to 1"),
        ("min_weight_fraction_leaf", 0.6, "a number from 0 to 0.5"),
        ("min_loss", -1.0, "a number of at least 0"),
        ("ccp_alpha", -1.0, "a number of at least 0"),
        ("feature_map", "log", "'auto' or 'linear' or 'quantile'"),
        ("class_weight", "heavy", "None or 'balanced' or a dict from class to weight"),
        ("random_state", "seed", "None, an int or a RandomState"),
        ("n_jobs", 0, "None or an int that is not 0"),
    ],
)
def test_parameter_out_of_range_is_named_with_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    message = f"{name} of SLMClassifier must be {allowed}; got {value!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        SLMClassifier(**{name: value}).fit(X, Y)


def test_every_parameter_is_checked() -> None:
    for make in (SLMClassifier, SLMRegressor):
        for name in make().get_params():
            wrong: Any = {name: object()}
            with pytest.raises(ValueError, match=f"^{name} of {make.__name__} must be"):
                make(**wrong).fit(X, Y)


def test_criterion_of_the_regressor_is_its_own() -> None:
    with pytest.raises(ValueError, match="criterion of SLMRegressor must be 'squared_error'; got 'gini'"):
        SLMRegressor(criterion="gini").fit(X, Y)


def test_rounds_of_unequal_number_are_refused() -> None:
    with pytest.raises(ValueError, match="sequences of one length; got lengths 2, 3, 1"):
        SLMClassifier(selection_decay=[0.1, 0.2], envelope_decay=[0.1, 0.2, 0.3]).fit(X, Y)


def test_no_candidates_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="no candidate projections; set axis_projections=True"):
        SLMClassifier(axis_projections=False, n_projections=0).fit(X, Y)


def test_coefficients_too_large_to_be_exact_are_refused() -> None:
    wide = np.random.default_rng(0).normal(size=(4, 600))
    with pytest.raises(ValueError, match="coefficients within 65793; got up to 76200"):
        SLMClassifier(subspace_size=600, envelope_height=127.0, envelope_decay=0.0).fit(wide, [0, 1, 0, 1])


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((np.where(X > 7.5, np.nan, X), Y), "contains NaN"),
        ((np.where(X > 7.5, np.inf, X), Y), "contains infinity"),
        ((X[:0], Y[:0]), "0 sample"),
        ((X[:, :0], Y), "0 feature"),
        ((X[:, 0], Y), "Expected 2D array"),
        ((X[None], Y), "dim 3"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X, np.column_stack([Y, Y])), "y should be a 1d array|must hold one class"),
        ((X, None), "requires y to be passed"),
        ((X.astype(str), Y), None),
        ((np.array([["a", "b"]] * 150), Y), "could not convert|dtype"),
        ((X + 1j, Y), "Complex data not supported"),
    ],
)
def test_bad_data_is_refused(make: Any, data: Any, message: str | None) -> None:
    if message is None:  # numbers written as text are numbers to scikit-learn
        make().fit(*data)
        return
    with pytest.raises(ValueError, match=message):
        make().fit(*data)


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
def test_sparse_input_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        make().fit(csr_matrix(X), Y)


@pytest.mark.parametrize("y", [np.where(Y == 0, np.nan, Y), np.where(Y == 0, np.inf, Y)])
def test_target_without_a_value_is_refused(y: Any) -> None:
    for make in (SLMClassifier, SLMRegressor):
        with pytest.raises(ValueError, match="y contains"):
            make().fit(X, y)


def test_continuous_labels_point_to_the_regressor() -> None:
    features, targets = load_diabetes(return_X_y=True)
    message = "Unknown label type: continuous.*y holds 442 distinct floats; did you mean SLMRegressor?"
    with pytest.raises(ValueError, match=message):
        SLMClassifier().fit(features, targets + np.linspace(0.1, 0.2, len(targets)))


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.eye(150)[3], "sample_weight of .* must not be negative; got -1 for sample 3"),
        (np.zeros(150), "all weights are zero|at least one non-zero number"),
        (np.ones(149), "sample_weight.shape == "),
        (np.full(150, np.nan), "sample_weight contains NaN"),
        (np.ones((150, 2)), "must be 1D array or scalar"),
    ],
)
def test_bad_weights_are_refused(make: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({7: 1.0}, "class_weight of SLMClassifier must have classes of y as keys; got 7"),
        ({0: -1.0}, "must have finite weights of at least 0"),
        ({0: "heavy"}, "must have finite weights of at least 0"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "not all 0"),
    ],
)
def test_bad_class_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SLMClassifier(class_weight=weights).fit(X, Y)


def test_wrong_number_of_features_is_refused() -> None:
    model = SLMClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but SLMClassifier is expecting 4"):
        model.predict(X[:, :3])


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
def test_failed_fit_leaves_the_earlier_model_usable(make: Any) -> None:
    model = make(random_state=0).fit(X, Y)
    before = model.predict(X)
    attributes = set(vars(model))
    wide = np.column_stack([X, X])
    cases: list[Any] = [
        ({}, np.full(150, np.nan), None),
        ({}, Y, -np.ones(150)),
        ({"n_bins": 0}, Y, None),
        ({"axis_projections": False, "n_projections": 0}, Y, None),
    ]
    for parameters, y, weights in cases:
        with pytest.raises(ValueError):
            model.set_params(**parameters).fit(wide, y, sample_weight=weights)
        model.set_params(**make(random_state=0).get_params())
        assert model.n_features_in_ == 4
        assert set(vars(model)) == attributes
        np.testing.assert_array_equal(model.predict(X), before)


def test_failed_first_fit_leaves_the_model_unfitted() -> None:
    model = SLMClassifier()
    with pytest.raises(ValueError):
        model.fit(X, Y, sample_weight=-np.ones(150))
    assert set(vars(model)) == set(model.get_params())
