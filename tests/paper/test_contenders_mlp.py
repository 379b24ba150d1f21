"""The contenders that scikit-learn does not have: the two multilayer perceptrons and the extreme learning machine."""

import doctest
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest import SkipTest

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from sublearn.paper import elm, ff_mlp
from sublearn.paper.elm import ELMClassifier, ELMRegressor
from sublearn.paper.ff_mlp import VETO, BPMLPClassifier, Components, FFMLPClassifier, Planes, count_parameters

Array = npt.NDArray[Any]

MLPS = [FFMLPClassifier, BPMLPClassifier]
CLASSIFIERS = [*MLPS, ELMClassifier]
ALL = [*CLASSIFIERS, ELMRegressor]

CORNERS = [[0.0, 0.0], [4.0, 4.0], [0.0, 4.0], [4.0, 0.0]]  # opposite corners are of one class
ROUND_OFF = 1e-9  # sums in another order


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Matrices are so small here that threads would only wait for one another."""
    with threadpool_limits(1):
        yield


def xor() -> tuple[Array, Array]:
    X, corner = make_blobs(200, centers=CORNERS, cluster_std=0.4, random_state=0)
    return X, np.array(["even", "odd"])[corner // 2]


def two_dimensional() -> list[tuple[Array, Array]]:
    return [make_moons(300, noise=0.3, random_state=0), make_circles(300, noise=0.2, factor=0.5, random_state=0)]


def run_network(model: Any, X: Array) -> tuple[Array, Array]:
    """Activations of the second layer and the outputs, as plain arithmetic with the public attributes."""
    layer = (X - model.scaler_.mean_) / model.scaler_.scale_
    for coefs, intercepts in zip(model.coefs_[:2], model.intercepts_[:2], strict=True):
        layer = np.maximum(layer @ coefs + intercepts, 0.0)
    return layer, layer @ model.coefs_[2] + model.intercepts_[2]


def rightly_classified(positive: Array, labels: Array) -> int:
    cells: dict[bytes, Counter[int]] = {}
    for row, label in zip(positive, labels, strict=True):
        cells.setdefault(row.tobytes(), Counter())[label] += 1
    return sum(max(counts.values()) for counts in cells.values())


def naive_keep_needed(positive: Array, labels: Array, tolerance: float) -> list[int]:
    kept = list(range(positive.shape[1]))
    allowed = rightly_classified(positive, labels) - round(tolerance * len(labels))
    while len(kept) > 1:
        without = [[p for p in kept if p != plane] for plane in kept]
        scores = [rightly_classified(positive[:, rest], labels) for rest in without]
        if max(scores) < allowed:
            break
        kept = without[max(i for i, score in enumerate(scores) if score == max(scores))]
    return kept


# ---------------------------------------------------------------------------------- the feed-forward design, by hand


def test_four_samples_make_the_network_drawn_by_hand() -> None:
    # the classes are high, low; the only plane is x = 2.5, positive where x is high; its cells are low, high
    model = FFMLPClassifier(n_components=1).fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    first, second, third = model.coefs_
    np.testing.assert_allclose(first, [[1.0, -1.0]])
    np.testing.assert_array_equal(second, [[-VETO, 1.0], [1.0, -VETO]])
    np.testing.assert_array_equal(third, [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(np.concatenate(model.intercepts_), 0.0, atol=ROUND_OFF)
    assert model.n_parameters_ == count_parameters([1, 2, 2, 2]) == 16
    assert model.predict([[-9.0], [2.4], [2.6], [9.0]]).tolist() == ["low", "low", "high", "high"]


def test_hyperplane_between_two_components_is_that_of_linear_discriminant_analysis() -> None:
    # shared covariance (3 * diag(1, 2) + 1 * diag(5, 2)) / 4 = 2 I; normal (2, 0) / 2 and bias ln 3, by its length 1
    covariances = np.array([np.diag([1.0, 2.0]), np.diag([5.0, 2.0])])
    means = np.array([[1.0, 7.0], [-1.0, 7.0]])
    planes = ff_mlp.separate(Components(np.array([0, 1]), np.array([0.75, 0.25]), means, covariances))
    np.testing.assert_allclose(planes.coefs, [[1.0], [0.0]], atol=ROUND_OFF)
    np.testing.assert_allclose(planes.intercepts, [np.log(3.0)])


def test_only_components_of_different_classes_are_separated() -> None:
    labels = np.array([0, 0, 1, 2, 2])  # 2 * 1 + 2 * 2 + 1 * 2 pairs
    components = Components(labels, np.full(5, 0.2), np.arange(5.0)[:, np.newaxis], np.ones((5, 1, 1)))
    assert ff_mlp.separate(components).coefs.shape == (1, 8)


def test_the_last_of_redundant_hyperplanes_is_dropped() -> None:
    random = np.random.RandomState(0)
    positive = np.array([[0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    # plane 0 and its copy 1 separate the classes, 2 separates nothing, 3 the samples within a class
    assert ff_mlp.keep_needed(positive, np.array([0, 0, 1, 1]), 0.0, random).tolist() == [0]
    assert ff_mlp.keep_needed(positive, np.array([0, 1, 1, 0]), 0.0, random).tolist() == [0, 3]


def test_tolerance_is_the_share_of_samples_that_may_become_wrong() -> None:
    positive = np.array([[0, 0]] * 70 + [[1, 0]] * 29 + [[0, 1]], dtype=bool)
    labels = np.array([0] * 70 + [1] * 30)
    for tolerance, expected in [(0.0, [0, 1]), (0.01, [0]), (0.28, [0])]:
        kept = ff_mlp.keep_needed(positive, labels, tolerance, np.random.RandomState(0))
        assert kept.tolist() == expected


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.29, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_kept_hyperplanes_are_those_of_the_slow_search(seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 100)
    labels[:3] = range(3)
    chance = 0.5 + 0.4 * np.sin(labels[:, np.newaxis] + np.arange(9))  # hyperplanes that know something of the class
    positive = rng.random((100, 9)) < chance
    kept = ff_mlp.keep_needed(positive, labels, tolerance, np.random.RandomState(seed))
    assert kept.tolist() == naive_keep_needed(positive, labels, tolerance)


def test_a_cell_feeds_its_most_frequent_class() -> None:
    planes = Planes(np.array([[1.0]]), np.array([0.0]))
    positive = np.array([[True], [True], [True], [False], [False]])
    network = ff_mlp.connect(planes, positive, np.array([1, 0, 1, 1, 0]))  # the first class of the tie on the left
    np.testing.assert_array_equal(network.coefs[2], [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(("sizes", "n"), [((2, 8, 9, 2), 125), ((4, 4, 3, 3), 47), ((8, 18, 88, 2), 2012)])
def test_parameters_are_counted_as_in_the_appendix(sizes: tuple[int, ...], n: int) -> None:
    assert count_parameters(sizes) == n


# --------------------------------------------------------------------------------------- the two perceptrons, on data


@pytest.mark.parametrize(("load", "n"), [(load_iris, 47), (load_breast_cancer, 74)])
def test_networks_of_one_component_a_class_have_the_sizes_of_the_paper(load: Any, n: int) -> None:
    assert FFMLPClassifier(1).fit(*load(return_X_y=True)).n_parameters_ == n


@pytest.mark.parametrize("Model", MLPS)
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_perceptrons_learn_wine(Model: Any, n_components: int) -> None:
    X, X_test, y, y_test = train_test_split(*load_wine(return_X_y=True), train_size=0.6, random_state=0)
    model = Model(n_components, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.88  # seen: 0.92 and more, with 72 samples to test


def test_opposite_corners_need_two_components() -> None:
    X, y = xor()
    assert FFMLPClassifier(1, random_state=0).fit(X, y).score(X, y) < 0.8
    model = FFMLPClassifier(2, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert [len(intercepts) for intercepts in model.intercepts_] == [4, 4, 2]  # two planes, four corners


@pytest.mark.parametrize("Model", MLPS)
@pytest.mark.parametrize("data", two_dimensional(), ids=["moons", "circles"])
def test_prediction_is_the_largest_output_of_the_network(Model: Any, data: tuple[Array, Array]) -> None:
    X, y = data
    model = Model(3, random_state=0).fit(X, y)
    X_new = np.random.default_rng(0).uniform(-3, 3, (2000, 2))
    second, outputs = run_network(model, X_new)
    speaks = second.any(axis=1) if Model is FFMLPClassifier else np.full(2000, True)
    assert speaks.sum() > 500
    np.testing.assert_array_equal(model.predict(X_new)[speaks], outputs[speaks].argmax(axis=1))


def test_training_samples_get_the_majority_class_of_their_cell() -> None:
    X, y = make_circles(300, noise=0.2, factor=0.5, random_state=0)
    model = FFMLPClassifier(3, random_state=0).fit(X, y)
    n_planes = model.coefs_[0].shape[1] // 2
    positive = model.scaler_.transform(X) @ model.coefs_[0][:, :n_planes] + model.intercepts_[0][:n_planes] > 0
    assert len(model.intercepts_[1]) == len(np.unique(positive, axis=0))
    n_right = rightly_classified(positive, y)
    # a sample close to a hyperplane may also be heard in the next cell
    assert abs(model.score(X, y) * len(X) - n_right) <= 2


def test_samples_in_unseen_cells_go_to_the_least_violated_cell() -> None:
    X, y = xor()
    X, y = X[:-1], y[:-1]
    keep = (X < 2).any(axis=1)  # nothing is known of the upper right corner
    model = FFMLPClassifier(2, random_state=0).fit(X[keep], y[keep])
    X_new = np.random.default_rng(0).uniform(-20, 20, (500, 2))
    silent = ~run_network(model, X_new)[0].any(axis=1)
    assert 5 < silent.sum() < 400
    hyperplanes = np.maximum(model.scaler_.transform(X_new) @ model.coefs_[0] + model.intercepts_[0], 0.0)
    for row, predicted in zip(hyperplanes[silent], model.predict(X_new)[silent], strict=True):
        heard = [row[cell == 1].sum() - VETO * row[cell != 1].sum() for cell in model.coefs_[1].T]
        assert predicted == model.classes_[model.coefs_[2][np.argmax(heard)].argmax()]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_parameters_of_both_perceptrons_are_all_weights_and_biases(n_classes: int) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    ff, bp = (Model(2, random_state=0).fit(X, y) for Model in MLPS)
    assert ff.n_parameters_ == bp.n_parameters_
    for model in (ff, bp):
        assert model.n_parameters_ == sum(array.size for array in (*model.coefs_, *model.intercepts_))
        assert len(model.intercepts_[2]) == n_classes
        assert all(a.shape[1] == b.shape[0] for a, b in pairwise(model.coefs_))


def test_tolerance_makes_a_smaller_network() -> None:
    X, y = make_circles(300, noise=0.2, factor=0.5, random_state=0)
    exact, rough = (FFMLPClassifier(4, tolerance, random_state=0).fit(X, y) for tolerance in (0.0, 0.03))
    assert rough.n_parameters_ < exact.n_parameters_ / 2
    assert exact.score(X, y) - 0.04 < rough.score(X, y)  # a percent for samples close to hyperplanes


def test_mixture_that_does_not_converge_goes_unmentioned() -> None:
    X = np.random.default_rng(0).uniform(size=(3000, 2))  # no clusters to find; warnings are errors here
    FFMLPClassifier(8, random_state=0).fit(X, np.arange(3000) % 2)


# -------------------------------------------------------------------------------------------------- back-propagation


@pytest.mark.parametrize("n_classes", [2, 3])
def test_back_propagation_starts_from_the_design_and_runs_all_epochs(n_classes: int) -> None:
    # In one batch Adam moves a weight by the learning rate a step while the gradient keeps its sign. So small a rate
    # keeps the gradients and gains so little that scikit-learn alone would stop after ten epochs.
    X, y = make_blobs(150, centers=n_classes, cluster_std=4.0, random_state=0)  # overlap: all gradients differ from 0
    rate = 1e-7
    start = FFMLPClassifier(random_state=0).fit(X, y)
    for n_epochs in (1, 40):
        model = BPMLPClassifier(n_epochs=n_epochs, learning_rate=rate, random_state=0).fit(X, y)
        steps = [np.abs(b - a).max() / rate for a, b in zip(start.coefs_[:2], model.coefs_[:2], strict=True)]
        assert np.allclose(steps, n_epochs, rtol=0.01)
        outputs = np.diff(model.coefs_[2]) - np.diff(start.coefs_[2])  # two weights, and so two steps each
        assert np.abs(outputs).max() < 2 * 1.01 * n_epochs * rate


def test_back_propagation_improves_a_poor_design() -> None:
    X, y = make_circles(400, noise=0.1, factor=0.5, random_state=0)
    start = FFMLPClassifier(2, random_state=0).fit(X, y)
    trained = BPMLPClassifier(2, n_epochs=400, learning_rate=0.01, random_state=0).fit(X, y)
    assert trained.score(X, y) > start.score(X, y) + 0.05


# ------------------------------------------------------------------------------------------ extreme learning machine


def hidden_layer(model: Any, X: Array) -> Array:
    Z = (X - model.scaler_.mean_) / model.scaler_.scale_
    hidden: Array = np.tanh(Z @ model.hidden_coef_ + model.hidden_intercept_)
    return hidden


def ridge(H: Array, targets: Array, alpha: float) -> Array:
    """Fitted targets, from the normal equations."""
    centred = H - H.mean(axis=0)
    weights = np.linalg.solve(centred.T @ centred + alpha * np.eye(H.shape[1]), centred.T @ targets)
    fitted: Array = centred @ weights + targets.mean(axis=0)
    return fitted


def test_elm_is_ridge_regression_on_the_hidden_layer() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ELMRegressor(20, alpha=0.5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge(hidden_layer(model, X), y, 0.5), rtol=1e-7)
    assert model.n_parameters_ == 10 * 20 + 20 + 20 + 1


def test_elm_takes_the_class_of_the_largest_ridge_output() -> None:
    X, y = load_wine(return_X_y=True)
    model = ELMClassifier(30, alpha=2.0, random_state=0).fit(X, y)
    outputs = ridge(hidden_layer(model, X), 2.0 * np.equal.outer(y, np.arange(3)) - 1.0, 2.0)
    np.testing.assert_allclose(model.output_.decision_function(hidden_layer(model, X)), outputs, atol=1e-7)
    np.testing.assert_array_equal(model.predict(X), outputs.argmax(axis=1))
    assert model.n_parameters_ == 13 * 30 + 30 + 30 * 3 + 3


@pytest.mark.parametrize("data", two_dimensional(), ids=["moons", "circles"])
def test_elm_bends_its_boundary(data: tuple[Array, Array]) -> None:
    X, X_test, y, y_test = train_test_split(*data, train_size=0.6, random_state=0)
    assert (
        ELMClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.89
    )  # no straight line gets there: 0.86 and 0.38


def test_elm_explains_diabetes() -> None:
    X, X_test, y, y_test = train_test_split(*load_diabetes(return_X_y=True), train_size=0.6, random_state=0)
    assert ELMRegressor(50, alpha=5.0, random_state=0).fit(X, y).score(X_test, y_test) > 0.35


def test_elm_follows_the_scale_of_the_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ELMRegressor(random_state=0)
    expected = 1000.0 * model.fit(X, y).predict(X) - 7.0
    np.testing.assert_allclose(model.fit(X, 1000.0 * y - 7.0).predict(X), expected, rtol=1e-7)


def test_elm_draws_weights_that_shrink_with_the_number_of_features() -> None:
    X = np.random.default_rng(0).normal(size=(20, 50))
    model = ELMRegressor(2000, random_state=0).fit(X, X[:, 0])
    assert model.hidden_coef_.std() == pytest.approx(50**-0.5, rel=0.02)
    assert model.hidden_intercept_.std() == pytest.approx(1.0, rel=0.1)


# ------------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("Model", ALL)
def test_same_seed_gives_same_model_and_another_seed_another(Model: Any) -> None:
    X, y = make_circles(300, noise=0.2, factor=0.5, random_state=0)
    X_new = np.random.default_rng(0).uniform(-2, 2, (2000, 2))
    size = 3 if Model in MLPS else 30
    first, second, other = (Model(size, random_state=seed).fit(X, y).predict(X_new) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


@pytest.mark.parametrize("model", [FFMLPClassifier(1), ELMClassifier(random_state=0), ELMRegressor(random_state=0)])
def test_order_of_samples_does_not_matter(model: Any) -> None:
    # with several components the start of a mixture depends on the order, and so do batches of back-propagation
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    expected = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X[order], y[order]).predict(X), expected, atol=ROUND_OFF)


@pytest.mark.parametrize("Model", ALL)
def test_units_of_features_do_not_matter(Model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    units = 2.0 ** np.arange(-6, 7)  # powers of two, which scale without rounding
    expected = Model(random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(Model(random_state=0).fit(X * units, y).predict(X * units), expected)


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_string_classes_are_predicted_as_strings(Model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    names = np.array(["barbera", "grignolino", "nebbiolo"])
    expected = names[Model(random_state=0).fit(X, y).predict(X)]
    model = Model(random_state=0).fit(X, names[y])
    assert model.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("Model", ALL)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_input_that_is_not_finite_is_refused(Model: Any, value: float) -> None:
    X, y = load_wine(return_X_y=True)
    broken = X.copy()
    broken[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        Model().fit(broken, y)
    model = Model().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(broken)
    with pytest.raises(ValueError, match="12 features"):
        model.predict(X[:, :-1])


@pytest.mark.parametrize("Model", ALL)
def test_prediction_needs_a_fit(Model: Any) -> None:
    with pytest.raises(NotFittedError):
        Model().predict([[0.0]])


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_one_class_or_numbers_are_refused(Model: Any) -> None:
    X = np.arange(6.0)[:, np.newaxis]
    with pytest.raises(ValueError, match=f"y of {Model.__name__}.fit must hold at least two classes; got 1 class"):
        Model().fit(X, ["a"] * 6)
    with pytest.raises(ValueError, match="Unknown label type"):
        Model().fit(X, X[:, 0] + 0.5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FFMLPClassifier(n_components=0), "n_components of FFMLPClassifier must be an int of at least 1; got 0."),
        (FFMLPClassifier(tolerance=-0.1), "tolerance of FFMLPClassifier must be a number from 0 to 1; got -0.1."),
        (BPMLPClassifier(n_epochs=0), "n_epochs of BPMLPClassifier must be an int of at least 1; got 0."),
        (
            BPMLPClassifier(learning_rate=0),
            "learning_rate of BPMLPClassifier must be a number above 0 and up to 1000; got 0.",
        ),
        (ELMClassifier(n_hidden=-1), "n_hidden of ELMClassifier must be an int of at least 1; got -1."),
        (ELMRegressor(alpha=-1), "alpha of ELMRegressor must be a number of at least 0; got -1."),
    ],
)
def test_bad_parameters_are_named(model: Any, message: str) -> None:
    with pytest.raises(ValueError) as error:
        model.fit([[0.0], [1.0]], [0, 1])
    assert str(error.value) == message


@pytest.mark.parametrize(
    "model",
    [
        FFMLPClassifier(3, 0.1, 7),
        BPMLPClassifier(3, 0.1, 5, 0.01, 7),
        ELMClassifier(9, 0.1, 7),
        ELMRegressor(9, 0.1, 7),
    ],
)
def test_clone_has_the_same_parameters_and_no_fit(model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    model.fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert 7 in copy.get_params().values()
    assert not hasattr(copy, "n_parameters_")


def test_components_are_no_more_than_distinct_samples() -> None:
    X = np.array([[-9.0], [0.0], [0.0], [9.0], [-9.0], [9.0], [7.0], [7.0]])
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    components = ff_mlp.fit_components(X, labels, 3, np.random.RandomState(0))
    assert components.labels.tolist() == [0, 0, 0, 1, 1, 2]
    found = sorted(zip(components.labels, components.means[:, 0], components.weights, strict=True))
    expected = [(0, -9, 1 / 8), (0, 0, 2 / 8), (0, 9, 1 / 8), (1, -9, 1 / 8), (1, 9, 1 / 8), (2, 7, 2 / 8)]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_classes_of_one_and_two_samples_are_learned(Model: Any) -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [9.0, 9.0], [9.0, 9.1], [-9.0, 9.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 2])
    assert Model(random_state=0).fit(X, y).predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_few_samples_in_many_dimensions_are_learned(Model: Any) -> None:
    X = np.random.default_rng(0).normal(size=(20, 33))
    y = np.arange(20) % 2
    X[y == 1, 0] += 9.0
    assert Model(random_state=0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_constant_and_copied_features_do_no_harm(Model: Any) -> None:
    X, y = xor()
    X = np.column_stack([X, np.full(len(X), 1e9), X[:, 0], np.zeros(len(X))])
    assert Model(random_state=0).fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize("Model", CLASSIFIERS)
def test_features_that_tell_nothing_give_the_most_frequent_class(Model: Any) -> None:
    X = np.ones((10, 2))
    for y, expected in [(["a"] * 3 + ["b"] * 7, "b"), (["a"] * 6 + ["b"] * 4, "a")]:
        assert Model(random_state=0).fit(X, y).predict([[1.0, 1.0], [5.0, 5.0]])[0] == expected


@pytest.mark.parametrize("module", [ff_mlp, elm])
def test_examples_print_what_they_say(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@parametrize_with_checks([Model() for Model in ALL])  # type: ignore[untyped-decorator]
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as reason:
        pytest.fail(f"none may be skipped, but: {reason}")
