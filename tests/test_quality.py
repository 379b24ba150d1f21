"""Baseline quality: a short form of benchmarks/quality.py, so that a loss of accuracy does not pass unseen."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import SLMClassifier, SLMRegressor

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from quality import CLASSES, NUMBERS, compare, corrected_p_value

SPLITS = 10


def test_corrected_p_value_of_a_small_sample_by_hand() -> None:
    # mean 2, variance 1, n = 3: t = 2 / sqrt(1 / 3 + 2 / 3) = 2 with 2 degrees of freedom, p = 1 - 2 / sqrt(6)
    assert corrected_p_value(np.array([1.0, 2.0, 3.0])) == pytest.approx(1 - 2 / 6**0.5)


def test_classes_are_predicted_better_than_by_a_decision_tree_in_the_mean() -> None:
    means = []
    for load in CLASSES.values():
        found = compare(load(), SLMClassifier(), DecisionTreeClassifier(criterion="entropy"), SPLITS)
        difference = found.scores[:, 0] - found.scores[:, 1]
        assert difference.mean() > 0 or corrected_p_value(difference) > 0.05
        assert found.depths[:, 0].mean() < found.depths[:, 1].mean()
        means.append(difference.mean())
    assert np.mean(means) > 0


def test_numbers_are_predicted_no_worse_than_by_a_decision_tree() -> None:
    for load in NUMBERS.values():
        found = compare(load(), SLMRegressor(), DecisionTreeRegressor(), SPLITS)
        difference = found.scores[:, 0] - found.scores[:, 1]
        assert difference.mean() < 0 or corrected_p_value(difference) > 0.05
        assert found.depths[:, 0].mean() < found.depths[:, 1].mean()
