"""Interactions: counts and gains of pairs, against loops over planes that can be read."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from exported import CASES, case
from sublearn import SLMClassifier, SLMForestClassifier, interactions
from sublearn.core.model.flat_ensemble import alone
from sublearn.core.model.flat_tree import FlatTree
from sublearn.kernels.layout import Array


def two_planes() -> Any:
    """A tree whose root has hyperplanes x0 + x1 and 2 x0 - x1 - x2, and whose right child has one of x2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = SLMClassifier(max_depth=1).fit(X, X[:, 0] > 0)
    tree = FlatTree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        depth=np.array([0, 1, 1, 2, 2], np.int32),
        first_plane=np.array([0, 2, 2, 3, 3, 3], np.int32),
        first_child=np.array([0, -1, 4, -1, -1], np.int32),
        value=np.full((5, 2), 0.5),
        loss=np.ones(5),
        decrease=np.array([0.6, 0.0, 0.5, 0.0, 0.0]),
        weight=np.array([1.0, 0.6, 0.4, 0.2, 0.2]),
        n_samples=np.array([60, 36, 24, 12, 12]),
        threshold=np.zeros(3, np.int32),
        plane_decrease=np.array([0.4, 0.2, 0.5]),
        first_term=np.array([0, 2, 5, 6], np.int32),
        feature=np.array([0, 1, 0, 1, 2, 2], np.int32),
        coefficient=np.array([1, 1, 2, -1, -1, 1], np.int16),
        children=np.array([1, 1, 2, 2, 3, 4], np.int32),
    )
    model._model = replace(model._model, ensemble=alone(tree))
    return model


def test_matrices_of_a_tree_made_by_hand() -> None:
    found = interactions(two_planes())
    # plane 1 has 0.4, plane 2 has 0.2, shared 4 : 4 : 1 among (0, 1), (0, 2) and (1, 2); plane 3 has 0.4 * 0.5
    np.testing.assert_array_equal(found.counts, np.array([[0, 2, 1], [2, 0, 1], [1, 1, 1]]))
    np.testing.assert_allclose(found.visits, np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0.4]]))
    a, b, c = 0.4 + 0.2 * 4 / 9, 0.2 * 4 / 9, 0.2 / 9
    np.testing.assert_allclose(found.gains, np.array([[0, a, b], [a, 0, c], [b, c, 0.2]]) / 0.8)
    assert [(one, other, count) for one, other, count, _ in found.pairs()] == [
        ("x0", "x1", 2),
        ("x0", "x2", 1),
        ("x1", "x2", 1),
    ]
    assert str(found).splitlines()[0] == "25 % of the gain by features alone, 75 % by pairs"


def planes_of(model: Any) -> Counter[tuple[int, ...]]:
    """How often the hyperplanes of a model have the same features, plane by plane."""
    tree, features = model._model.ensemble.nodes, model._model.maps.features
    found: Counter[tuple[int, ...]] = Counter()
    for p in range(tree.n_planes):
        terms = slice(tree.first_term[p], tree.first_term[p + 1])
        found[tuple(sorted(set(features[tree.feature[terms]].tolist())))] += 1
    return found


@pytest.mark.parametrize("name", [name for name in CASES if "average" not in name])
def test_counts_are_those_of_planes(name: str) -> None:
    model = case(name).model
    n = model.n_features_in_
    counts: Array = np.zeros((n, n))
    for features, count in planes_of(model).items():
        for a, b in combinations(features, 2) if len(features) > 1 else [features * 2]:
            counts[a, b] += count
            counts[b, a] += count * (a != b)
    found = interactions(model)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(found.gains, found.gains.T)
    assert (found.visits <= found.counts + 1e-12).all()
    assert found.gains.min() >= 0
    assert np.triu(found.gains).sum() == pytest.approx(1.0 if counts.any() else 0.0)


def test_features_of_single_planes_have_their_importances_on_the_diagonal() -> None:
    model = case("tree along axes").model
    np.testing.assert_allclose(np.diag(interactions(model).gains), model.feature_importances_, atol=1e-12)


def test_an_average_has_the_weighted_mean() -> None:
    model = case("average of classifiers").model
    parts = [interactions(one) for one in model.estimators_]
    expected: Array = np.average([part.gains for part in parts], axis=0, weights=model.weights_)
    np.testing.assert_allclose(interactions(model).gains, expected)


def test_trees_of_a_forest_count_the_same() -> None:
    model = case("forest of classes").model
    assert isinstance(model, SLMForestClassifier)
    expected = np.mean([interactions(tree).gains for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(interactions(model).gains, expected)


def test_other_models_are_refused() -> None:
    with pytest.raises(TypeError, match="model of interactions must be a fitted tree"):
        interactions(3)
