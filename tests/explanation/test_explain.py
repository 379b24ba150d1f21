"""Shapley values: against their definition, their axioms, and what users may ask for."""

from collections.abc import Callable
from math import comb
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
from sublearn.kernels.sides import FEW as FEW_PLAYERS

N_FEATURES, N_USED = 7, 6  # the last one is constant
FEW: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "categorical_features": [2]}
BOOST: dict[str, Any] = FEW | {"learning_rate": 0.3}
TREE: dict[str, Any] = {"random_state": 0, "categorical_features": [2]}
CLASSES = {
    "tree": SLMClassifier(max_partitions=3, envelope_decay=0.0, selection_decay=0.0, **TREE),
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
    total: Array = filled[:, 0] + filled[:, 3] * filled[:, 4] + (X[:, 2] == 1) - np.log(X[:, 1]) * filled[:, 5]
    return total


X = table()
TOTAL = score(X)
MANY, TWO, ONE = np.digitize(TOTAL, [-1.0, 1.0]), (TOTAL > 0).astype(int), np.zeros(len(X), int)
COUNTS = np.rint(np.abs(TOTAL))
SAMPLES, BACKGROUND = X[:3], X[100:120]


def raw_of(model: Any) -> Any:
    """What `output="raw"` explains."""
    if getattr(model, "loss", None) == "poisson":
        return lambda given: np.log(model.predict(given))
    return getattr(model, "decision_function", getattr(model, "predict_proba", model.predict))


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


def test_models_have_what_is_to_be_explained() -> None:
    tree = CLASSES["tree"].fit(X, MANY)._model.ensemble.nodes
    assert np.diff(tree.first_plane).max() > 1
    assert (tree.children < 0).any()  # cells in which no training sample fell
    assert np.diff(tree.first_term).max() > FEW_PLAYERS
    assert CLASSES["linear boost"].fit(X, MANY)._model.ensemble.nodes.slopes.slope.any()
    maps = CLASSES["boost"].fit(X, MANY).feature_maps_
    assert (np.bincount(maps.features)[[2, 3]] > 1).all()  # the category and the feature with gaps


@pytest.mark.filterwarnings("ignore")  # those of shap are not ours
@pytest.mark.parametrize("kind", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_values_are_those_of_the_exact_explainer_of_shap(kind: dict[str, Any]) -> None:
    shap = pytest.importorskip("shap")
    background = shap.maskers.Independent(BACKGROUND, max_samples=len(BACKGROUND))
    for name, model in kind.items():
        y = MANY if kind is CLASSES else COUNTS if name == "poisson" else TOTAL
        ours = explain(model.fit(X, y), SAMPLES, BACKGROUND, n_jobs=1)
        theirs = shap.ExactExplainer(raw_of(model), background)(SAMPLES)
        np.testing.assert_allclose(ours.values, theirs.values.reshape(ours.values.shape), atol=1e-9, err_msg=name)
        np.testing.assert_allclose(ours.base_values, theirs.base_values.reshape(ours.base_values.shape), atol=1e-9)


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


def swapped(Z: Array) -> Array:
    """Samples, and the same once more with the first two features in each other's place."""
    return np.vstack([Z, Z[:, [1, 0, *range(2, Z.shape[1])]]])


@pytest.fixture(scope="module")
def planted() -> Any:
    """A tree of the one hyperplane x0 + x1 >= t, learned from data in which nothing tells the two features apart."""
    Z = swapped(np.random.default_rng(1).normal(size=(200, 3)))
    draws: dict[str, Any] = {"n_projections": 400, "n_coefficients": 2, "axis_projections": False}
    model = SLMRegressor(max_depth=1, max_partitions=1, random_state=0, **draws).fit(Z, 1.0 * (Z[:, 0] + Z[:, 1] > 0))
    assert sorted(model.tree_.feature.tolist()) == [0, 1]
    assert len(set(model.tree_.coefficient.tolist())) == 1
    return model


def test_a_step_that_two_features_take_together_is_shared_as_by_hand(planted: Any) -> None:
    low, high = np.array([[-2.0, -2.0, 0.0]]), np.array([[1.5, 1.5, 5.0]])
    step = float((planted.predict(high) - planted.predict(low))[0])
    assert step > 0.5
    assert planted.predict([[1.5, -2.0, 0.0]])[0] == planted.predict(low)[0]  # one alone does not get there
    np.testing.assert_allclose(explain(planted, high, low).values, [[step / 2, step / 2, 0.0]], atol=1e-12)
    alone = explain(planted, [[3.0, 1.0, 0.0]], [[-3.0, 1.0, 0.0]])
    np.testing.assert_allclose(alone.values, [[step, 0.0, 0.0]], atol=1e-12)


def test_equal_coefficients_get_equal_credit(planted: Any) -> None:
    background = swapped(np.random.default_rng(2).normal(size=(50, 3)))
    values = explain(planted, [[0.7, 0.7, 0.3], [-0.2, -0.2, 1.0]], background).values
    assert (np.abs(values[:, :2]) > 0.05).all()
    np.testing.assert_allclose(values[:, 0], values[:, 1], atol=1e-12)
    assert not values[:, 2].any()


def test_a_feature_that_no_path_uses_gets_exactly_zero() -> None:
    for model in (CLASSES["linear boost"].fit(X, MANY), NUMBERS["tree"].fit(X, TOTAL)):
        used = np.unique(model.feature_maps_.features[model._model.ensemble.nodes.feature])
        unused = np.setdiff1d(np.arange(N_FEATURES), used)
        values = explain(model, X[:20], BACKGROUND).values
        assert N_USED in unused
        assert not values[:, unused].any()
        assert values[:, used].any(axis=(0, *range(2, values.ndim))).all()


@pytest.fixture(scope="module")
def wide() -> tuple[Any, Any, Array, Array]:
    """Models of which some paths use more features than are followed exactly, with samples and a background."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(1500, 20))
    y = np.where(Z.sum(axis=1) > 0, Z[:, ::2].sum(axis=1), Z[:, 1::2].max(axis=1)) + rng.normal(size=1500)
    tree = SLMRegressor(max_depth=11, random_state=0, n_coefficients=4, subspace_size=20).fit(Z, y)
    boost = SLMBoostRegressor(max_depth=9, n_estimators=3, learning_rate=0.5, leaf="linear", random_state=0).fit(Z, y)
    return tree, boost, Z[:2], Z[100:130]


def test_sampled_values_are_near_the_exact_ones_and_say_how_near(wide: Any) -> None:
    """Over many draws, distances from the true values are as large as the standard errors say.

    The true values come from a great many orders, in exact sums along each; all is drawn from fixed seeds.
    """
    for model in wide[:2]:
        samples, background = wide[2:]
        found = [explain(model, samples, background, random_state=seed, n_jobs=1) for seed in range(12)]
        best = explain(model, samples, background, random_state=99, n_permutations=1024, n_jobs=1)
        assert not best.is_exact
        is_sampled = best.standard_errors > 0
        assert is_sampled.any()
        errors = np.hypot(np.array([one.standard_errors for one in found]), best.standard_errors)[:, is_sampled]
        scores = (np.array([one.values for one in found]) - best.values)[:, is_sampled] / errors
        assert np.abs(scores).max() < 6.0  # with 16 pairs, of Student's distribution
        assert (np.abs(scores) < 3.0).mean() > 0.97
        assert 0.7 < (scores**2).mean() < 1.5
        for one in found:
            difference = model.predict(samples) - model.predict(background).mean()
            np.testing.assert_allclose(one.values.sum(axis=1), difference, atol=1e-9)


def test_what_is_sampled_agrees_with_orders_over_the_whole_model(wide: Any) -> None:
    """The game of the answer knows nothing of trees: it is asked for mixed samples, order by order."""
    _, model, samples, background = wide
    found = explain(model, samples[:1], background, n_permutations=256, n_jobs=1)
    rng = np.random.default_rng(5)
    n = samples.shape[1]
    each = np.empty((60, n))
    for own in each:
        order = rng.permutation(n)
        mixed = np.repeat(background[None], n + 1, axis=0)
        for step, f in enumerate(order.tolist(), 1):
            mixed[step:, :, f] = samples[0, f]
        answers = model.predict(mixed.reshape(-1, n)).reshape(n + 1, -1).mean(axis=1)
        own[order] = np.diff(answers)
    errors = np.hypot(each.std(axis=0, ddof=1) / np.sqrt(len(each)), found.standard_errors[0])
    assert (np.abs(each.mean(axis=0) - found.values[0]) < 4 * errors + 1e-9).all()


def test_values_do_not_depend_on_the_number_of_threads(wide: Any) -> None:
    tree, boost, _, background = wide
    Z = np.random.default_rng(6).normal(size=(60, 20))
    for model in (tree, boost):
        one, two = (explain(model, Z, background, n_permutations=4, n_jobs=n) for n in (1, 2))
        assert one.values.tobytes() == two.values.tobytes()
        assert one.standard_errors.tobytes() == two.standard_errors.tobytes()
        alone = explain(model, Z[17:18], background, n_permutations=4, n_jobs=1)
        assert alone.values.tobytes() == one.values[17:18].tobytes()


def test_path_of_twelve_features_is_followed_exactly() -> None:
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(400, 12))
    draws: dict[str, Any] = {"n_projections": 30, "n_coefficients": 12, "subspace_size": 12, "envelope_decay": 0.0}
    model = SLMRegressor(max_depth=3, max_partitions=1, axis_projections=False, random_state=0, **draws)
    model.fit(Z, Z.sum(axis=1))
    tree = model.tree_
    assert len(np.unique(tree.feature)) == 12
    assert np.diff(tree.first_term).max() >= 10
    found = explain(model, Z[:1], Z[50:80])
    assert found.is_exact
    np.testing.assert_allclose(found.values[0], shapley_values(model.predict, Z[0], Z[50:80])[:, 0], atol=1e-9)


def test_path_of_sixteen_features_is_followed_exactly() -> None:
    """As by the definition, with all mixed samples asked for at once."""
    n = 16
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(600, n))
    draws: dict[str, Any] = {"n_coefficients": 4, "subspace_size": 4, "envelope_decay": 0.0, "random_state": 0}
    model = SLMBoostRegressor(max_depth=6, n_estimators=2, leaf="linear", axis_projections=False, **draws)
    model.fit(Z, Z.sum(axis=1) + 2 * (Z[:, ::2].sum(axis=1) > Z[:, 1::2].sum(axis=1)))
    nodes = model._model.ensemble.nodes
    assert len(np.unique(nodes.feature[nodes.coefficient != 0])) == n
    x, background = Z[0], Z[50:53]
    found = explain(model, Z[:1], background, n_jobs=1)
    assert found.is_exact
    sets = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
    game = (
        model.predict(np.where(sets[:, None], x, background).reshape(-1, n)).reshape(-1, len(background)).mean(axis=1)
    )
    shares = np.array([1 / (n * comb(n - 1, size)) for size in range(n)])
    for f in range(n):
        without = np.flatnonzero(~sets[:, f])
        value = shares[sets[without].sum(axis=1)] @ (game[without | 1 << f] - game[without])
        np.testing.assert_allclose(found.values[0, f], value, atol=1e-9)


def test_wide_plane_at_the_end_of_a_long_path_is_sampled() -> None:
    """Its ways are too many to follow; the values still add up."""
    Z = np.random.default_rng(7).normal(size=(400, 16))
    draws: dict[str, Any] = {"n_projections": 30, "n_coefficients": 16, "subspace_size": 16, "envelope_decay": 0.0}
    model = SLMRegressor(max_depth=2, max_partitions=1, axis_projections=False, random_state=0, **draws)
    model.fit(Z, Z.sum(axis=1))
    found = explain(model, Z[:2], Z[50:80], n_jobs=1)
    assert not found.is_exact
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total, model.predict(Z[:2]), atol=1e-9)


def test_background_of_several_blocks_is_the_mean_over_its_samples() -> None:
    model = NUMBERS["linear boost"].fit(X, TOTAL)
    whole = explain(model, SAMPLES, X).values
    parts = [explain(model, SAMPLES, X[i : i + 1]).values for i in range(len(X))]
    assert len(X) % 128 % 64
    np.testing.assert_allclose(whole, np.mean(parts, axis=0), atol=1e-12)


def test_average_is_explained_by_the_average_of_its_members() -> None:
    members = [SLMForestRegressor(**FEW), SLMBoostRegressor(**BOOST)]
    model = SLMAverageRegressor(members, weights=[3, 1]).fit(X, TOTAL)
    check(model, model.predict)
    voting = SLMAverageClassifier([SLMForestClassifier(**FEW), SLMClassifier(**TREE)]).fit(X, MANY)
    check(voting, voting.predict_proba)


def test_members_of_an_average_have_orders_of_their_own(wide: Any) -> None:
    """Else the errors of two that are the same would be the same, and the average no surer than one."""
    tree, _, samples, background = wide
    model = SLMAverageRegressor([tree, tree])
    model.estimators_, model.weights_ = [tree, tree], np.array([0.5, 0.5])
    one, both = (explain(each, samples, background, n_jobs=1) for each in (tree, model))
    np.testing.assert_allclose(both.standard_errors, one.standard_errors / np.sqrt(2), rtol=0.8)
    is_sampled = one.standard_errors > 0
    assert is_sampled.any()
    assert (both.values[is_sampled] != one.values[is_sampled]).mean() > 0.9


def test_member_of_weight_0_is_left_out() -> None:
    model = SLMAverageRegressor([NUMBERS["forest"], NUMBERS["boost"]], weights=[1, 0]).fit(X, TOTAL)
    found, alone = (explain(one, SAMPLES, BACKGROUND) for one in (model, model.estimators_[0]))
    assert found.values.tobytes() == alone.values.tobytes()


def test_average_of_boosted_classifiers_is_explained_by_its_probabilities() -> None:
    model = SLMAverageClassifier([SLMBoostClassifier(**BOOST), SLMForestClassifier(**FEW)]).fit(X, TWO)
    check(model, model.predict_proba, X=SAMPLES[:1])
    with pytest.raises(ValueError, match="output of explain must be None or 'prediction' for an average"):
        explain(model, SAMPLES, BACKGROUND, output="raw")


def test_probabilities_over_many_features_are_sampled_and_add_up(wide: Any) -> None:
    samples, background = wide[2], wide[3][:10]
    model = SLMBoostClassifier(n_estimators=5, learning_rate=0.5, random_state=0)
    Z = np.random.default_rng(3).normal(size=(1500, 20))
    model.fit(Z, Z.sum(axis=1) > 0)
    found = explain(model, samples, background, output="prediction", n_permutations=8)
    assert (found.is_exact, found.values.shape) == (False, (2, 20, 2))
    assert found.standard_errors.any()
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict_proba(samples), atol=1e-9)
    np.testing.assert_allclose(found.values[..., 0], -found.values[..., 1], atol=1e-12)
    assert "sampled, standard errors up to" in repr(found)
    best = explain(model, samples, background, output="prediction", n_permutations=200, random_state=7)
    errors = np.hypot(found.standard_errors, best.standard_errors)
    assert (np.abs(found.values - best.values) <= 6 * errors + 1e-12).all()
