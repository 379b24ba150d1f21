"""Importances as bars, and pairs of features in hyperplanes as a matrix."""

from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris, load_wine, make_blobs

from naive import Array
from pictures import assert_legible
from sublearn import SLMAverageClassifier, SLMBoostClassifier, SLMClassifier, SLMForestClassifier
from sublearn.core.model.flat_ensemble import unpack
from sublearn.display import ImportancesDisplay, InteractionsDisplay
from sublearn.display.interactions import short_count

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


def pairs_slowly(model: Any) -> tuple[Array, Array]:
    """Counts, and gains as shares of all, plane by plane."""
    n = model.n_features_in_
    counts, gains = np.zeros((n, n), int), np.zeros((n, n))
    total = 0.0
    for tree in unpack(model._model.ensemble):
        for i in range(tree.n_nodes):
            planes = range(tree.first_plane[i], tree.first_plane[i + 1])
            alone = sum(tree.plane_decrease[p] for p in planes)
            for p in planes:
                gain = tree.weight[i] * tree.decrease[i] * tree.plane_decrease[p] / alone
                total += gain
                views = tree.feature[tree.first_term[p] : tree.first_term[p + 1]]
                own = sorted({int(model._model.maps.features[v]) for v in views})
                pairs = list(combinations(own, 2)) or [(own[0], own[0])]
                for f, g in pairs:
                    counts[f, g] += 1
                    gains[f, g] += gain / len(pairs)
    return counts, gains / total


@pytest.mark.parametrize("n_coefficients", [2, 4])
def test_matrix_counts_the_pairs_of_every_hyperplane(n_coefficients: int) -> None:
    model = SLMClassifier(n_coefficients=n_coefficients, **FEW).fit(*load_iris(return_X_y=True))
    display = InteractionsDisplay.from_estimator(model)
    counts, gains = pairs_slowly(model)
    np.testing.assert_array_equal(np.triu(display.counts), counts)
    np.testing.assert_array_equal(display.counts, display.counts.T)
    np.testing.assert_allclose(np.triu(display.gains), gains, atol=1e-12)
    assert np.triu(display.gains).sum() == pytest.approx(1.0)


def test_a_tree_along_axes_combines_nothing() -> None:
    model = SLMClassifier(n_projections=0, fitted_projections=0, **FEW).fit(X, Y)
    counts = InteractionsDisplay.from_estimator(model).counts
    assert counts.trace() == counts.sum() == model.n_partitions_


def test_matrix_shows_the_features_of_the_largest_gain_with_their_counts(forest: Any) -> None:
    display = InteractionsDisplay.from_estimator(forest, n_features=5)
    order = np.argsort(-display.gains.sum(axis=0), kind="stable")[:5]
    assert display.features_.tolist() == order.tolist()
    shown = display.counts[np.ix_(order, order)]
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [str(shown[i, j]) for i in range(5) for j in range(i + 1) if shown[i, j]]
    assert display.ax_.get_title(loc="left").endswith("5 of 13 features; numbers count hyperplanes")


def test_bars_are_the_importances_of_the_best_features_and_whiskers_those_of_trees(forest: Any) -> None:
    display = ImportancesDisplay.from_estimator(forest, n_features=4)
    order = np.argsort(-forest.feature_importances_)[:4]
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], forest.feature_importances_[order])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [NAMES[f] for f in order]
    deviations = np.std([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(display.spreads, deviations)
    assert "whiskers: deviation between trees" in display.ax_.get_xlabel()
    assert "whiskers" not in ImportancesDisplay.from_estimator(forest.estimators_[0]).ax_.get_xlabel()


def test_importances_of_any_kind_can_be_drawn() -> None:
    display = ImportancesDisplay([0.1, -0.2, 0.4], spreads=[0.1, 0.1, 0.2], what="drop of the score").plot()
    assert [bar.get_width() for bar in display.bars_] == [0.4, 0.1, -0.2]
    assert display.ax_.get_xlim()[0] < -0.3
    with pytest.raises(ValueError, match="spreads of ImportancesDisplay must have one for each of 3 features; got 2"):
        ImportancesDisplay([1, 2, 3], spreads=[1, 2])
    with pytest.raises(ValueError, match=r"gains of InteractionsDisplay must have the shape \(2, 2\); got \(3, 3\)"):
        InteractionsDisplay(np.zeros((2, 2)), np.zeros((3, 3)))


def test_an_average_counts_the_hyperplanes_of_its_members() -> None:
    model = SLMAverageClassifier([SLMClassifier(**FEW), SLMClassifier(max_depth=2, **FEW)], weights=[3, 1]).fit(X, Y)
    display = InteractionsDisplay.from_estimator(model)
    one, other = map(pairs_slowly, model.estimators_)
    np.testing.assert_array_equal(np.triu(display.counts), one[0] + other[0])
    np.testing.assert_allclose(np.triu(display.gains), 0.75 * one[1] + 0.25 * other[1])


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
    with pytest.raises(TypeError, match=f"estimator of {name} must be a fitted tree, forest, boosting or average"):
        display.from_estimator("model")
    with pytest.raises(ValueError, match=f"n_features of {name} must be an int of at least 1; got 0"):
        display.from_estimator(forest, n_features=0)
    with pytest.raises(ValueError, match=f"feature_names of {name} must have a name for each of 13 features; got 1"):
        display.from_estimator(forest, feature_names=["a"])


def test_counts_have_four_characters_at_the_most() -> None:
    assert [short_count(n) for n in (7, 999, 1000, 9949, 9950, 123456)] == ["7", "999", "1.0k", "9.9k", "10k", "123k"]
