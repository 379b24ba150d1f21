"""Minimal cost-complexity pruning."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import naive
from sublearn import SLMClassifier, SLMRegressor
from sublearn.core.model.pruning import prune, pruning_path
from support import TASKS, WEIGHTS, grow_tree, nodes_of, parameters, random_data

AXIS: dict[str, Any] = {"n_projections": 0, "max_partitions": 1, "subspace_size": 100, "random_state": 0}


def small_integers(seed: int) -> Any:
    """Distinct integers below 16, which 16 bins separate: ordinary trees and ours find the same splits."""
    rng = np.random.default_rng(seed)
    return rng.permutation(14).astype(float)[:, None], rng


@pytest.mark.parametrize("seed", range(10))
def test_path_of_an_ordinary_tree_is_that_of_scikit_learn(seed: int) -> None:
    X, rng = small_integers(seed)
    y = rng.normal(size=len(X))
    ours = SLMRegressor(**AXIS).cost_complexity_pruning_path(X, y)
    theirs = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-9)  # targets keep 29 bits
    np.testing.assert_allclose(ours.impurities, theirs.impurities, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_pruned_ordinary_tree_is_that_of_scikit_learn(seed: int) -> None:
    X, rng = small_integers(seed)
    y = rng.normal(size=len(X))
    alphas = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
    for alpha in (alphas[:-1] + alphas[1:]) / 2:
        ours = SLMRegressor(ccp_alpha=alpha, **AXIS).fit(X, y)
        theirs = DecisionTreeRegressor(ccp_alpha=alpha, random_state=0).fit(X, y)
        assert ours.n_leaves_ == theirs.get_n_leaves()
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)  # targets keep 29 bits


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_root_loss_is_in_the_units_of_scikit_learn(criterion: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0).cost_complexity_pruning_path(X, y)
    ours = SLMClassifier(criterion=criterion, random_state=0).cost_complexity_pruning_path(X, y)
    assert ours.impurities[-1] == pytest.approx(theirs.impurities[-1], rel=1e-12)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (SLMClassifier(random_state=0), load_digits(return_X_y=True)),
        (SLMRegressor(random_state=0), load_diabetes(return_X_y=True)),
    ],
)
def test_pruning_with_larger_alpha_gives_ever_smaller_trees(estimator: Any, data: Any) -> None:
    path = estimator.cost_complexity_pruning_path(*data)
    assert np.all(np.diff(path.ccp_alphas) > 0)
    assert np.all(np.diff(path.impurities) >= 0)
    leaves = []
    for alpha in path.ccp_alphas[1 :: max(1, len(path.ccp_alphas) // 8)]:
        model = estimator.set_params(ccp_alpha=alpha).fit(*data)
        tree = model.tree_
        leaf_loss = (tree.weight * tree.loss)[tree.is_leaf].sum()
        at = np.searchsorted(path.ccp_alphas, alpha)
        assert leaf_loss == pytest.approx(path.impurities[at], rel=1e-9)  # sums in another order
        leaves.append(model.n_leaves_)
    assert leaves == sorted(leaves, reverse=True)
    estimator.set_params(ccp_alpha=path.ccp_alphas[-1]).fit(*data)
    assert estimator.n_leaves_ == 1
    estimator.set_params(ccp_alpha=0.0)


def test_path_leaves_a_fitted_model_as_it_was() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = SLMRegressor(random_state=0).fit(X, y)
    before = model.predict(X)
    model.cost_complexity_pruning_path(X[:, :4], y)
    assert model.n_features_in_ == 10
    np.testing.assert_array_equal(model.predict(X), before)
    unfitted = SLMRegressor()
    unfitted.cost_complexity_pruning_path(X, y)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


def test_pruned_tree_routes_samples_to_the_same_nodes_above_the_cuts() -> None:
    X, y = load_digits(return_X_y=True)
    full = SLMClassifier(random_state=0).fit(X, y)
    pruned = SLMClassifier(random_state=0, ccp_alpha=0.01).fit(X, y)
    assert 1 < pruned.n_leaves_ < full.n_leaves_
    assert pruned.n_partitions_ < full.n_partitions_
    ends, path = pruned.apply(X), full.decision_path(X).toarray()
    for leaf in np.flatnonzero(pruned.tree_.is_leaf):
        rows = ends == leaf
        assert rows.sum() == pruned.tree_.n_samples[leaf]
        passed = path[rows].all(axis=0)  # nodes of the full tree that all of these samples pass
        assert full.tree_.n_samples[passed].min() == rows.sum()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_pruned_trees_with_many_children_equal_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    data = random_data(np.random.default_rng(0), 200, 4, n_classes, weights)
    p = parameters(criterion=criterion, subspace_size=3, max_partitions=3, effective_ratio=0.1, min_samples_leaf=4)
    tree = grow_tree(data, p)
    assert np.diff(tree.first_plane).max() > 1
    steps = np.unique(pruning_path(tree).alphas)
    between = (steps[:-1] + steps[1:]) / 2  # away from the steps, where rounding has no say
    for alpha in [*between[:: max(1, len(between) // 5)].tolist(), 2 * float(steps[-1])]:
        twin = naive.prune(nodes_of(tree, 4)[0], alpha)
        assert nodes_of(prune(tree, alpha), 4) == naive.in_level_order(twin)
