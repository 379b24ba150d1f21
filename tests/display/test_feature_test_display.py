"""The display of feature tests: all losses in rank order, the best by name."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

import drawn_models
from drawn_models import LONG
from pictures import assert_legible
from sublearn import DiscriminantFeatureTest, RelevantFeatureTest, SLMClassifier
from sublearn.display import FeatureTestDisplay
from sublearn.display.canvas import COLOURS


@pytest.fixture(scope="module")
def samples() -> Any:
    return drawn_models.samples()


@pytest.fixture(scope="module")
def cancer() -> Any:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return DiscriminantFeatureTest(n_features_to_select=7).fit(X, y)


@pytest.fixture(scope="module")
def wide(samples: Any) -> Any:
    return RelevantFeatureTest(n_features_to_select=5).fit(*samples)


def test_bars_go_from_the_loss_without_a_cut_to_that_of_each_feature(cancer: Any) -> None:
    axes = FeatureTestDisplay.from_estimator(cancer).ax_
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends == pytest.approx(np.sort(cancer.losses_))
    assert {bar.get_x() for bar in axes.patches} == {cancer.loss_}
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == cancer.feature_names_in_[cancer.ranking_.argsort()].tolist()
    blue = [to_hex(bar.get_facecolor()).upper() == COLOURS[0] for bar in axes.patches]
    assert blue == [True] * 7 + [False] * 23
    assert axes.get_title(loc="left") == "7 of 30 features kept"


def test_loss_without_a_cut_is_that_of_all_samples(samples: Any, wide: Any) -> None:
    assert wide.loss_ == pytest.approx(np.var(samples[1]), rel=1e-6)
    test = DiscriminantFeatureTest().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert (test.loss_, test.losses_.tolist()) == (1.0, [0.0])


def test_of_many_features_the_best_have_names_and_all_are_on_the_curve(wide: Any) -> None:
    display = FeatureTestDisplay.from_estimator(wide, feature_names=LONG, n_named=15)
    bars, curve = display.axes_
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert len(bars.patches) == len(set(names)) == 15
    points = np.concatenate([line.get_xydata() for line in curve.lines[1:]])
    order = points[:, 0].argsort()
    np.testing.assert_array_equal(points[order, 0], np.arange(1, 301))
    np.testing.assert_allclose(points[order, 1], wide.losses_[wide.ranking_.argsort()])
    assert [len(line.get_xdata()) for line in curve.lines[1:]] == [295, 5]


def test_pictures_are_legible_in_figures_of_ours_and_of_the_users(cancer: Any, wide: Any) -> None:
    assert_legible(FeatureTestDisplay.from_estimator(cancer).figure_, 8)
    assert_legible(FeatureTestDisplay.from_estimator(wide, feature_names=LONG).figure_, 8)
    figure = Figure(figsize=(9, 5), layout="constrained")
    assert FeatureTestDisplay.from_estimator(wide, feature_names=LONG, ax=figure.subplots()).figure_ is figure
    assert_legible(figure, 8)


def test_wrong_arguments_are_refused(cancer: Any) -> None:
    with pytest.raises(
        TypeError, match=r"must be a DiscriminantFeatureTest or RelevantFeatureTest; got SLMClassifier\."
    ):
        FeatureTestDisplay.from_estimator(SLMClassifier())
    with pytest.raises(ValueError, match=r"must have a name for each of 30 features; got 2\."):
        FeatureTestDisplay.from_estimator(cancer, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"n_named of .* must be an int of at least 1; got 0\."):
        FeatureTestDisplay.from_estimator(cancer, n_named=0)
