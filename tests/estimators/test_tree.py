"""The two estimators: what users rely on."""

import inspect
import pickle
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sublearn.paper
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.core.model.fitted import n_parameters
from support import same_trees

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def same_model(a: Any, b: Any) -> bool:
    """Whether two fitted trees are equal to the last bit."""
    maps = zip(a.feature_maps_, b.feature_maps_, strict=True)
    return same_trees(a.tree_, b.tree_) and all(np.array_equal(x, y) for x, y in maps)


def test_many_classes_take_little_longer_than_few() -> None:
    X = np.random.default_rng(0).normal(size=(4000, 10))

    def computing(n_classes: int) -> float:
        began = time.process_time()  # which stands still while others have the machine
        SLMClassifier(random_state=0).fit(X, np.arange(len(X)) % n_classes)
        return time.process_time() - began

    found = [(computing(20), computing(2000)) for _ in range(3)]
    few, many = np.min(found, axis=0)
    assert many < 20.0 * few  # nearly 80 times when every node looked at every class; now 4


def data_with_ties(seed: int = 0, n: int = 200) -> Any:
    """Few distinct values, a heavy tail, a constant and duplicated rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 4, n), np.exp(4 * rng.normal(size=n)), rng.normal(size=n), np.ones(n), rng.normal(size=n)]
    )
    X[::7] = X[0]
    y = (X[:, 0] + X[:, 2] + rng.normal(size=n) > 1.5).astype(int) + (X[:, 4] > 1)
    return X, y


# ---- the paper ----


@pytest.mark.parametrize(
    ("partitions", "subspace_size", "printed"),
    [
        (13, 2, 39),
        (14, 2, 42),
        (31, 2, 93),
        (4, 4, 20),
        (11, 8, 99),
        (21, 5, 126),
        (11, 4, 55),
        (13, 5, 78),
        (8, 4, 40),
    ],
)
def test_model_size_is_that_of_the_papers_appendix(partitions: int, subspace_size: int, printed: int) -> None:
    assert n_parameters(partitions, subspace_size) == printed


def test_model_size_counts_the_features_of_the_subspace() -> None:
    X, y = CANCER
    model = SLMClassifier(subspace_size=5, random_state=0).fit(X, y)
    assert model.n_parameters_ == model.n_partitions_ * 6
    model = SLMClassifier(subspace_size=50, random_state=0).fit(X, y)
    assert model.n_parameters_ == model.n_partitions_ * 31


def test_paper_preset_has_no_axis_candidates_and_straight_maps() -> None:
    X, y = data_with_ties()
    model = SLMClassifier(**{**sublearn.paper.PARAMETERS, "n_coefficients": 3}, random_state=0).fit(X, y)
    assert np.all(np.diff(model.feature_maps_.offsets) <= 2)
    assert model.score(X, y) > 0.9


def test_node_gets_up_to_two_to_the_q_children() -> None:
    X, y = CANCER
    model = SLMClassifier(max_partitions=3, effective_ratio=0.1, random_state=0).fit(X, y)
    planes = np.diff(model.tree_.first_plane)
    children = np.bincount(model.tree_.parent[1:], minlength=model.tree_.n_nodes)
    assert planes.max() == 3
    assert np.all(children <= np.where(planes > 0, 2**planes, 0))
    assert children.max() > 2
    assert np.all(children[planes > 0] >= 2)


def test_tree_of_one_hyperplane_a_node_is_binary() -> None:
    model = SLMClassifier(max_partitions=1, random_state=0).fit(*CANCER)
    assert model.n_leaves_ == model.n_partitions_ + 1


@pytest.mark.parametrize("seed", range(3))
def test_planted_hyperplanes_are_found_again(seed: int) -> None:
    """Four classes by the two oblique borders of the root, further cut by a third feature on one side."""
    rng = np.random.default_rng(seed)
    planes = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])

    def label(X: Any) -> Any:
        a, b, c = (X @ planes.T > 0).T
        return a + 2 * b + 4 * (a & b & c)

    X, fresh = rng.uniform(-1, 1, (4000, 3)), rng.uniform(-1, 1, (4000, 3))
    model = SLMClassifier(
        n_projections=125, envelope_height=2.0, envelope_decay=0.0, effective_ratio=0.3, random_state=seed
    ).fit(X, label(X))
    projected = fresh @ planes.T
    width = np.ptp(projected, axis=0) / model.n_bins
    clear = (np.abs(projected) > width).all(axis=1)
    assert clear.sum() > 1500
    assert np.array_equal(model.predict(fresh[clear]), label(fresh[clear]))
    assert np.diff(model.tree_.first_plane)[0] == 2
    found = {tuple(sorted(model.tree_.feature[a:b])) for a, b in pairwise(model.tree_.first_term[:3])}
    assert found == {(0, 1)}


# ---- promises ----


@pytest.mark.parametrize("estimator", [SLMClassifier(), SLMRegressor()])
@pytest.mark.parametrize("extra", [{}, {"subspace": "drawn", "subspace_size": 4}, {"n_coefficients": [2, 3]}])
def test_model_is_the_same_for_every_number_of_jobs(estimator: Any, extra: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 12))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    models = [clone(estimator).set_params(n_jobs=n, random_state=3, **extra).fit(X, y) for n in (1, 2, 3, -1)]
    assert models[0].n_partitions_ > 10
    assert all(same_model(models[0], other) for other in models[1:])


@pytest.mark.parametrize(("estimator", "data"), [(SLMClassifier(), CANCER), (SLMRegressor(), DIABETES)])
def test_training_samples_reach_the_leaf_they_were_put_in(estimator: Any, data: Any) -> None:
    X, y = data
    model = clone(estimator).set_params(random_state=0).fit(X, y)
    leaves, counts = np.unique(model.apply(X), return_counts=True)
    assert np.array_equal(leaves, np.flatnonzero(model.tree_.is_leaf))
    assert np.array_equal(counts, model.tree_.n_samples[leaves])
    means = [y[model.apply(X) == leaf].mean() for leaf in leaves]
    if isinstance(model, SLMRegressor):
        np.testing.assert_allclose(model.tree_.value[leaves, 0], means, rtol=1e-14)
    else:
        np.testing.assert_allclose(model.tree_.value[leaves, 1], means, rtol=1e-14)


def test_fully_grown_tree_gives_training_targets_back() -> None:
    X, y = make_friedman1(300, random_state=0)
    for target in (y, 1e9 + y, 1e-200 * y, 1e200 * y, -y):
        predicted = SLMRegressor(random_state=0).fit(X, target).predict(X)
        np.testing.assert_allclose(predicted, target, rtol=0, atol=2.0**-58 * np.ptp(target))  # kept to 2^-59


def test_unseen_cell_answers_with_the_value_of_its_parent() -> None:
    X, y = CANCER
    model = SLMClassifier(max_partitions=3, effective_ratio=0.1, random_state=0).fit(X, y)
    assert (model.tree_.children < 0).any()
    rng = np.random.default_rng(0)
    far = X.mean(axis=0) + 6 * X.std(axis=0) * rng.normal(size=(5000, X.shape[1]))
    ends = model.apply(far)
    inner = ends[~model.tree_.is_leaf[ends]]
    assert len(inner) > 0
    np.testing.assert_array_equal(model.predict_proba(far), model.tree_.value[ends])


# ---- weights ----


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 0.03},
        {"min_samples_split": 0.1},
        {"min_weight_fraction_leaf": 0.02},
        {"ccp_alpha": 0.01},
        {"draws_per_sample": 1},
    ],
)
def test_weight_two_equals_row_twice_and_weight_zero_its_absence(make: Any, extra: dict[str, Any]) -> None:
    X, y = data_with_ties()
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = make(random_state=0, **extra).fit(X, y, sample_weight=weights)
    repeated = make(random_state=0, **extra).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.n_partitions_ > 3
    assert same_model(weighted, repeated)


def test_weight_two_equals_row_twice_with_class_weights() -> None:
    X, y = data_with_ties()
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    for class_weight in ("balanced", {0: 0.3, 1: 2.7}):
        model = SLMClassifier(class_weight=class_weight, min_samples_leaf=3, random_state=0)
        weighted = clone(model).fit(X, y, sample_weight=weights)
        repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert same_model(weighted, repeated)


def test_unit_weights_equal_none() -> None:
    X, y = data_with_ties()
    plain = SLMClassifier(random_state=0).fit(X, y)
    assert same_model(plain, SLMClassifier(random_state=0).fit(X, y, sample_weight=np.ones(len(X))))


def test_fractional_weights_scale_away() -> None:
    X, y = DIABETES
    weights = np.random.default_rng(0).uniform(0.1, 1.0, len(X))
    model = SLMRegressor(min_samples_leaf=10, random_state=0)
    a = clone(model).fit(X, y, sample_weight=weights).predict(X)
    b = clone(model).fit(X, y, sample_weight=weights * 1e-6).predict(X)
    np.testing.assert_allclose(a, b, rtol=1e-6)  # weights are rounded to 2^-30 of their sum


def test_class_weights_weigh_losses_and_leaves_but_do_not_count() -> None:
    X, y = data_with_ties()
    tree = SLMClassifier(class_weight={0: 1, 1: 5, 2: 2}, max_depth=2, random_state=0).fit(X, y).tree_
    share = np.array([1, 5, 2]) * np.bincount(y)
    np.testing.assert_allclose(tree.value[0], share / share.sum(), rtol=1e-15)
    assert tree.loss[0] == pytest.approx(-(tree.value[0] * np.log2(tree.value[0])).sum(), rel=1e-12)
    assert tree.n_samples[0] == len(X)


def test_class_weight_may_name_classes_that_a_fold_lacks() -> None:
    X, y = IRIS
    model = SLMClassifier(class_weight={0: 1, 1: 5, 2: 2, 3: 7}, random_state=0).fit(X[:100], y[:100])
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
def test_weights_of_very_different_size_lose_no_row(make: Any) -> None:
    X, y = IRIS
    weights = np.where(y == 2, 1e-12, 1.0)
    weights[0] = 1e12
    model = make(random_state=0).fit(X, y, sample_weight=weights)
    assert model.tree_.n_samples[0] == 150
    assert model.score(X, y) > 0.98
    assert make(random_state=0).fit(X, y, sample_weight=np.full(150, 1e308)).score(X, y) > 0.98


def test_balanced_gives_each_class_the_same_weight() -> None:
    X, y = data_with_ties()
    model = SLMClassifier(class_weight="balanced", max_depth=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.tree_.value[0], 1 / 3, rtol=1e-6)  # class weights keep 30 bits


# ---- labels ----


@pytest.mark.parametrize(
    "names", [np.array(["b", "a", "c"]), np.array([10**12, -5, 7]), np.array([True, False]), np.array([2.0, 1.0, 3.0])]
)
def test_labels_of_any_kind_come_back(names: Any) -> None:
    X, y = IRIS
    X, y = X[y < len(names)], y[y < len(names)]
    model = SLMClassifier(random_state=0).fit(X, names[y])
    assert model.predict(X).dtype == names.dtype
    assert accuracy_score(names[y], model.predict(X)) == 1.0
    assert np.array_equal(model.classes_, np.unique(names))


def test_single_class_is_predicted() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = SLMClassifier().fit(X, ["only"] * 20)
    assert model.predict(X).tolist() == ["only"] * 20
    assert model.predict_proba(X).tolist() == [[1.0]] * 20
    assert (model.depth_, model.n_leaves_, model.n_partitions_, model.n_parameters_) == (0, 1, 0, 0)
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]


def test_hundred_classes_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 20)
    X = rng.normal(size=(100, 6))[y] * 10 + rng.normal(size=(2000, 6)) * 0.1
    model = SLMClassifier(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


# ---- input ----


@pytest.mark.parametrize("kind", [np.int64, np.bool_, np.float32, np.float64])
def test_kinds_of_numbers_give_the_same_model(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 5)) > 0).astype(kind)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    model = SLMClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert same_model(model, SLMClassifier(random_state=0).fit(X.astype(np.float64), y))


def test_order_in_memory_does_not_matter() -> None:
    X, y = CANCER
    plain = SLMClassifier(random_state=0).fit(X, y)
    for other in (np.asfortranarray(X), X[:, ::-1][:, ::-1], np.repeat(X, 2, axis=0)[::2]):
        assert same_model(plain, SLMClassifier(random_state=0).fit(other, y))
    np.testing.assert_array_equal(plain.predict_proba(X), plain.predict_proba(np.asfortranarray(X)))


def test_pandas_and_polars_frames_bring_their_names() -> None:
    X, y = IRIS
    names = ["a", "b", "c", "d"]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = SLMClassifier(random_state=0).fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        assert same_model(model, SLMClassifier(random_state=0).fit(X, y))
        assert model.score(frame, y) > 0.95


@pytest.mark.parametrize("scale", [1e-290, 1e-30, 1.0, 1e30, 1e290])
def test_powers_of_two_in_scale_do_not_matter(scale: float) -> None:
    X, y = IRIS
    factors = 2.0 ** np.round(np.log2(scale)) * np.array([1.0, 2.0**40, 2.0**-40, 1.0])
    scaled = SLMClassifier(random_state=0).fit(X * factors, y)
    plain = SLMClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(scaled.predict_proba(X * factors), plain.predict_proba(X))


def test_whole_range_of_floats_is_separated() -> None:
    X = np.array([[-1.7e308], [-1.0], [0.0], [5e-324], [1.0], [1.7e308]] * 3)
    y = np.array([0, 0, 0, 0, 1, 1] * 3)
    assert SLMClassifier(random_state=0).fit(X, y).score(X, y) > 0.8


def test_constant_columns_are_never_used() -> None:
    X, y = IRIS
    X = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    model = SLMClassifier(axis_projections=True, n_projections=0, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert not {0, 5} & set(model.tree_.feature.tolist())


def test_one_sample_and_one_feature() -> None:
    assert SLMClassifier().fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]
    assert SLMRegressor().fit([[1.0]], [3.5]).predict([[2.0]]).tolist() == [3.5]
    X = np.arange(20.0)[:, None]
    assert SLMRegressor().fit(X, X[:, 0] ** 2).score(X, X[:, 0] ** 2) == 1.0


# ---- results ----


def test_decision_path_leads_from_the_root_to_the_leaf() -> None:
    X, y = CANCER
    model = SLMClassifier(random_state=0).fit(X, y)
    path = model.decision_path(X)
    assert path.shape == (len(X), model.tree_.n_nodes)
    leaves = model.apply(X)
    for i in range(0, len(X), 50):
        nodes = path[[i]].indices
        assert nodes[0] == 0
        assert nodes[-1] == leaves[i]
        assert all(model.tree_.parent[b] == a for a, b in pairwise(nodes))


def test_importances_add_up_and_find_the_features_that_matter() -> None:
    X, y = make_friedman1(1000, 10, random_state=0)
    importances = SLMRegressor(random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-4:]) == {0, 1, 3, 4}  # x2 enters through a parabola, the weakest


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_importances_do_not_depend_on_the_scale_of_the_target(scale: float) -> None:
    X, y = DIABETES
    model = SLMRegressor(max_depth=3, random_state=0)
    plain = clone(model).fit(X, y).feature_importances_
    np.testing.assert_allclose(clone(model).fit(X, y * scale).feature_importances_, plain, rtol=1e-6)


def test_depth_and_leaves_are_told_as_scikit_learn_does() -> None:
    model = SLMClassifier(random_state=0).fit(*IRIS)
    assert (model.get_depth(), model.get_n_leaves()) == (model.depth_, model.n_leaves_)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_children_share_the_parents_samples_and_loss(criterion: str) -> None:
    X, y = load_wine(return_X_y=True)
    tree = SLMClassifier(criterion=criterion, random_state=0).fit(X, y).tree_
    for i in np.flatnonzero(~tree.is_leaf):
        below = tree.parent == i
        assert tree.n_samples[below].sum() == tree.n_samples[i]
        after = (tree.weight[below] * tree.loss[below]).sum() / tree.weight[i]
        assert tree.loss[i] - after == pytest.approx(tree.decrease[i], abs=1e-12)  # both are sums of few terms
        assert tree.decrease[i] > 0


def test_limits_are_kept() -> None:
    X, y = load_digits(return_X_y=True)
    tree = SLMClassifier(max_depth=3, random_state=0).fit(X, y)
    assert tree.depth_ == 3
    model = SLMClassifier(min_samples_leaf=15, random_state=0).fit(X, y)
    assert model.tree_.n_samples.min() >= 15
    model = SLMClassifier(min_samples_leaf=0.05, random_state=0).fit(X, y)
    assert model.tree_.n_samples.min() >= 90
    model = SLMClassifier(min_samples_split=200, random_state=0).fit(X, y)
    assert model.tree_.n_samples[~model.tree_.is_leaf].min() >= 200
    model = SLMClassifier(min_weight_fraction_leaf=0.03, random_state=0).fit(X, y)
    assert model.tree_.weight.min() >= 0.03
    model = SLMClassifier(min_loss=0.8, random_state=0).fit(X, y)
    assert model.tree_.loss[~model.tree_.is_leaf].min() >= 0.8


def test_min_loss_of_a_regression_is_in_squared_units() -> None:
    X, y = DIABETES
    model = SLMRegressor(min_loss=2000.0, random_state=0).fit(X, y)
    assert 1 < model.n_leaves_ < 200
    assert model.tree_.loss[~model.tree_.is_leaf].min() >= 2000.0
    assert model.tree_.loss[0] == pytest.approx(y.var(), rel=1e-9)  # targets keep 29 bits


def test_random_state_decides_the_draws() -> None:
    X, y = CANCER
    drawn: dict[str, Any] = {"n_coefficients": 3, "subspace": "drawn", "subspace_size": 6}
    a, b, c = (SLMClassifier(random_state=s, **drawn).fit(X, y) for s in (0, 0, 1))
    assert same_model(a, b)
    assert not same_model(a, c)


# ---- scikit-learn ----


@pytest.mark.parametrize(
    ("one", "other", "not_shared", "different"),
    [
        (SLMClassifier, SLMRegressor, {"class_weight"}, {"criterion"}),
        (SLMForestClassifier, SLMForestRegressor, {"class_weight", "voting"}, {"criterion"}),
        (
            SLMBoostClassifier,
            SLMBoostRegressor,
            {"class_weight", "quantile", "multiclass"},
            {"loss"},
        ),
    ],
)
def test_twins_share_parameters_and_defaults(one: Any, other: Any, not_shared: set[str], different: set[str]) -> None:
    ours, theirs = inspect.signature(one).parameters, inspect.signature(other).parameters
    assert set(ours) ^ set(theirs) == not_shared
    shared = [name for name in ours if name not in not_shared]
    assert shared == [name for name in theirs if name not in not_shared]
    assert {name for name in shared if ours[name].default != theirs[name].default} == different


@pytest.mark.parametrize("ensemble", [SLMForestClassifier, SLMBoostClassifier])
def test_ensembles_share_the_parameters_of_trees_in_their_order(ensemble: Any) -> None:
    trees, own = inspect.signature(SLMClassifier).parameters, inspect.signature(ensemble).parameters
    assert [name for name in own if name in trees] == [name for name in trees if name in own]
    missing = set(trees) - set(own)
    assert missing <= {"ccp_alpha", "criterion", "min_loss", "min_weight_fraction_leaf"}


def test_pickled_model_predicts_the_same() -> None:
    X, y = CANCER
    model = SLMClassifier(random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert same_model(model, again)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_model_works_in_pipelines_and_searches() -> None:
    X, y = IRIS
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SLMClassifier(random_state=0)),
        {"slmclassifier__max_partitions": [1, 2], "slmclassifier__n_coefficients": [None, 2, [2, 3]]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(SLMRegressor(min_samples_leaf=10, random_state=0), *DIABETES, cv=3).mean() > 0.1


def test_unfitted_model_says_so() -> None:
    for call in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(SLMClassifier(), call)(IRIS[0])
    with pytest.raises(NotFittedError):
        _ = SLMClassifier().feature_importances_
