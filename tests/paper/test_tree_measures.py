"""Measurements of single trees: errors level by level, and the trees of forests, against the obvious."""

import numpy as np
import pytest

from sublearn.paper import search, tree_measures
from sublearn.paper.datasets import load

DIABETES, IRIS = (search.split(load(name), 0) for name in ("diabetes", "iris"))


def test_errors_by_level_are_those_of_trees_that_end_there() -> None:
    found = tree_measures.measure_growth(DIABETES, 0)["errors"]
    spread = np.var(DIABETES.y_train)
    for depth, error in enumerate(found[:3]):
        short = tree_measures.grown_tree(0).set_params(max_depth=depth or 1).fit(DIABETES.X_train, DIABETES.y_train)
        predicted = short.predict(DIABETES.X_train) if depth else DIABETES.y_train.mean()
        assert error == pytest.approx(np.mean((predicted - DIABETES.y_train) ** 2) / spread)
    whole = tree_measures.grown_tree(0).fit(DIABETES.X_train, DIABETES.y_train)
    assert len(found) == whole.get_depth() + 1
    assert (np.diff(found) < 0).all()


def test_trees_of_numbers_by_hand() -> None:
    residuals = np.array([[1.0, -1.0, 1.0, -1.0], [2.0, -2.0, 2.0, -2.0], [-1.0, 1.0, -1.0, 1.0]])
    assert tree_measures.mean_error(residuals) == pytest.approx(4 / 3)
    assert tree_measures.mean_correlation(residuals) == pytest.approx(-1 / 3)


def test_forests_are_the_paper_s_but_for_bags() -> None:
    bagged = tree_measures.bagged_forest(0)
    assert bagged.bootstrap
    assert tree_measures.number_forests(0)["slr"].bootstrap is False
    found = tree_measures.measure_trees(True, IRIS, 0)
    assert set(found) == {"bagged_error", "bagged_correlation"}
    assert 0 <= found["bagged_error"] < 0.5


def test_trees_of_numbers_are_weaker_than_their_forest() -> None:
    found = tree_measures.measure_trees(False, DIABETES, 0)
    forest = tree_measures.number_forests(0)["rf"].fit(DIABETES.X_train, DIABETES.y_train)
    together = np.sqrt(np.mean((forest.predict(DIABETES.X_test) - DIABETES.y_test) ** 2))
    assert found["rf_error"] > together
    assert 0 < found["slr_correlation"] < 1
