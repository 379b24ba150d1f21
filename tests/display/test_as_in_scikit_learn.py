"""What all displays share with scikit-learn's: the names of arguments, and what whoever errs is told."""

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sublearn import SLMClassifier, SLMRegressor, display
from sublearn.display import EnvelopeDisplay, PartitionDisplay, TreeDisplay

DISPLAYS = [getattr(display, name) for name in display.__all__]


@pytest.fixture(scope="module")
def wine() -> Any:
    X, y = load_wine(return_X_y=True, as_frame=True)
    return SLMClassifier(max_depth=3, random_state=0, n_jobs=1).fit(X, y), X, y


@pytest.mark.parametrize("kind", DISPLAYS)
def test_the_first_argument_is_called_estimator_and_axes_ax(kind: Any) -> None:
    names = list(inspect.signature(kind.from_estimator).parameters)
    assert names[0] == "estimator"
    assert {"ax"} <= set(names) & set(inspect.signature(kind.plot).parameters)


@pytest.mark.parametrize("kind", [kind for kind in DISPLAYS if kind is not display.FeatureTestDisplay])
def test_who_gives_a_pipeline_is_told_to_give_its_last_step(kind: Any, wine: Any) -> None:
    model, X, y = wine
    samples = (X, y) if "X" in inspect.signature(kind.from_estimator).parameters else ()
    with pytest.raises(TypeError, match=r"^estimator of \w+(\.\w+)? must be .*; got Pipeline\. Give its last step"):
        kind.from_estimator(make_pipeline(StandardScaler(), model), *samples)


def test_columns_that_the_model_does_not_know_are_an_error_of_names(wine: Any) -> None:
    model, X, y = wine
    with pytest.raises(ValueError, match=r"feature names should match"):
        EnvelopeDisplay.from_estimator(model, X[["hue"]], y)


def test_targets_that_are_none_of_the_model_are_not_drawn(wine: Any) -> None:
    model, X, y = wine
    with pytest.raises(ValueError, match=r"^y of PartitionDisplay must hold classes of the model; got 9\.$"):
        PartitionDisplay.from_estimator(model, X, np.where(y == 2, 9, y))
    numbers = SLMRegressor(max_depth=1, random_state=0, n_jobs=1).fit(X, X["hue"])
    with pytest.raises(ValueError, match=r"y of PartitionDisplay must"):
        PartitionDisplay.from_estimator(numbers, X, np.where(y == 2, "red", "white"))


def sizes_of(axes: Any) -> list[float]:
    return [float(text.get_fontsize()) for text in axes.texts]


def test_type_shrinks_with_the_axes_of_a_tree(wine: Any) -> None:
    model, *_ = wine
    figure = Figure(figsize=(10, 5))
    axes = figure.subplots()
    TreeDisplay.from_estimator(model, ax=axes)
    before = sizes_of(axes)
    figure.draw_without_rendering()
    assert sizes_of(axes) == before
    box = axes.get_position()
    axes.set_position((box.x0, box.y0, box.width / 2, box.height))
    figure.draw_without_rendering()
    assert sizes_of(axes) == pytest.approx([size / 2 for size in before])
    figure.draw_without_rendering()
    assert sizes_of(axes) == pytest.approx([size / 2 for size in before])
    axes.set_position(box)
    figure.draw_without_rendering()
    assert sizes_of(axes) == pytest.approx(before)
    assert len(pickle.loads(pickle.dumps(figure)).axes[0].texts) == len(before)
