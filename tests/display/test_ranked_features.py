"""Importances as bars, and pairs of features in hyperplanes as a matrix."""

from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from sklearn.datasets import load_wine, make_blobs

from pictures import assert_legible
from sublearn import (
    SLMAverageClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
)
from sublearn.display import ImportancesDisplay, InteractionsDisplay
from sublearn.display.interactions import short_count
from sublearn.explanation.feature_importances import importances
from sublearn.explanation.feature_pairs import interactions

matplotlib.use("agg")
X, Y = load_wine(return_X_y=True)
NAMES = load_wine().feature_names
FEW: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
BOTH = (ImportancesDisplay, InteractionsDisplay)


@pytest.fixture(scope="module")
def forest() -> Any:
    return SLMForestClassifier(n_estimators=6, **FEW).fit(pd.DataFrame(X, columns=NAMES), Y)


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def wide(n_features: int, n_classes: int) -> Any:
    """A boosting over features with names of 60 characters."""
    X, y = make_blobs(300, n_features, centers=n_classes, cluster_std=4.0, random_state=0)
    names = [
        f"{f:03d}: a name of some $60 that is cut, of a feature of a table {f:03d}"[:60] for f in range(n_features)
    ]
    model = SLMBoostClassifier(n_estimators=3, learning_rate=0.3, **FEW)
    return model.fit(pd.DataFrame(X, columns=names), y)


def test_matrix_shows_the_features_of_the_largest_gain_with_their_counts(forest: Any) -> None:
    display = InteractionsDisplay.from_estimator(forest, n_features=5)
    found = interactions(forest)
    order = np.argsort(-found.gains.sum(axis=0), kind="stable")[:5]
    assert display.features_.tolist() == order.tolist()
    shown = found.counts[np.ix_(order, order)]
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [f"{shown[i, j]:.0f}" for i in range(5) for j in range(i + 1) if shown[i, j]]
    colours = display.ax_.images[-1].get_array()
    np.testing.assert_array_equal(colours.compressed(), found.gains[np.ix_(order, order)][np.tril(shown) > 0])
    assert display.ax_.get_title(loc="left").endswith("5 of 13 features; numbers count hyperplanes")


def test_bars_are_the_importances_of_the_best_features_and_whiskers_their_errors(forest: Any) -> None:
    display = ImportancesDisplay.from_estimator(forest, n_features=4)
    found = importances(forest)
    order = np.argsort(-found.values)[:4]
    assert found.errors is not None
    assert display.features_.tolist() == order.tolist()
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], found.values[order])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [NAMES[f] for f in order]
    (whiskers,) = [part for part in display.ax_.collections if isinstance(part, LineCollection)]
    ends = np.array([segment[:, 0] for segment in whiskers.get_segments()])
    np.testing.assert_allclose(np.diff(ends, axis=1)[:, 0], 2 * found.errors[order])
    assert display.ax_.get_xlabel() == f"{found.unit}\nwhiskers: standard error"
    assert "whiskers" not in ImportancesDisplay.from_estimator(forest.estimators_[0]).ax_.get_xlabel()


def test_other_kinds_of_importances_are_measured_and_drawn(forest: Any) -> None:
    table = pd.DataFrame(X, columns=NAMES)
    display = ImportancesDisplay.from_estimator(forest, table, Y, kind="permutation", n_repeats=1)
    expected = importances(forest, table, Y, kind="permutation", n_repeats=1)
    np.testing.assert_array_equal(display.importances.values, expected.values)
    assert "log loss" in display.ax_.get_xlabel()
    again = ImportancesDisplay(expected, feature_names=[f"f{i}" for i in range(13)]).plot(n_features=3)
    assert [text.get_text()[0] for text in again.ax_.get_yticklabels()] == ["f"] * 3


@pytest.mark.parametrize("display", BOTH)
@pytest.mark.parametrize(("n_features", "n_classes"), [(3, 2), (300, 26)])
def test_every_text_is_large_enough_inside_and_apart_from_the_others(
    display: Any, n_features: int, n_classes: int
) -> None:
    assert_legible(display.from_estimator(wide(n_features, n_classes)).figure_, 8)


@pytest.mark.parametrize("display", BOTH)
def test_a_model_of_one_leaf_and_ensembles_can_be_drawn(display: Any, forest: Any) -> None:
    assert_legible(display.from_estimator(SLMClassifier(min_samples_split=1000).fit(X, Y)).figure_, 8)
    assert_legible(display.from_estimator(forest, n_features=30).figure_, 8)


@pytest.mark.parametrize("display", BOTH)
def test_mistakes_are_told(display: Any, forest: Any) -> None:
    name = display.__name__
    with pytest.raises(ValueError, match=f"n_features of {name} must be an int of at least 1; got 0"):
        display.from_estimator(forest, n_features=0)
    with pytest.raises(ValueError, match=f"feature_names of {name} must have a name for each of 13 features; got 1"):
        display.from_estimator(forest, feature_names=["a"])
    with pytest.raises(TypeError, match="must be a fitted tree, forest, boosting or average of sublearn; got str"):
        display.from_estimator("model")


def test_an_average_of_members_can_be_drawn() -> None:
    model = SLMAverageClassifier([SLMClassifier(**FEW), SLMClassifier(max_depth=2, **FEW)], weights=[3, 1]).fit(X, Y)
    for display in BOTH:
        assert_legible(display.from_estimator(model).figure_, 8)


def test_counts_have_four_characters_at_the_most() -> None:
    counts = (0.01, 0.25, 7.0, 12.75, 999.0, 1000.0, 9949.0, 9950.0, 123456.0)
    assert list(map(short_count, counts)) == ["<0.1", "0.25", "7", "12.8", "999", "1.0k", "9.9k", "10k", "123k"]
