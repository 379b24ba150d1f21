"""What `explain` gives back and takes: the record, frames, wrong input, and shap beside it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import sublearn
from sublearn import (
    Explanation,
    Loss,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMForestClassifier,
    SLMRegressor,
    explain,
)
from sublearn.kernels.layout import Array

BOOST: dict[str, Any] = {"n_estimators": 10, "learning_rate": 0.3, "random_state": 0}


def frame() -> "pd.DataFrame":
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    size[::9] = np.nan
    colour = pd.Categorical(rng.choice(["red", "green", "blue"], 200))
    return pd.DataFrame({"size": size, "colour": colour, "age": rng.integers(0, 50, 200)})


FRAME = frame()
Y = np.nan_to_num(FRAME["size"].to_numpy()) + (FRAME["colour"] == "red").to_numpy() + FRAME["age"].to_numpy() / 25
LABELS = np.where(np.median(Y) < Y, "high", "low")


@pytest.fixture(scope="module")
def mixed() -> tuple[Any, Explanation]:
    model = SLMBoostRegressor(**BOOST).fit(FRAME, Y)
    return model, explain(model, FRAME[:20], FRAME[50:90])


def test_frames_keep_their_names_and_levels(mixed: tuple[Any, Explanation]) -> None:
    model, found = mixed
    assert found.feature_names == ["size", "colour", "age"]
    assert found.output_names is None
    assert len(found) == 20
    assert found.display_data[:, 1].tolist() == FRAME["colour"][:20].tolist()
    assert found.data.dtype == np.float64
    np.testing.assert_array_equal(found.data[:, 0], FRAME["size"][:20])
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(FRAME[:20]), atol=1e-9)
    unknown = FRAME[:2].assign(colour=["violet", None])
    assert explain(model, unknown, FRAME[50:90]).display_data[:, 1].tolist() == ["other", "other"]


def test_without_a_background_samples_are_compared_with_each_other() -> None:
    model = SLMBoostRegressor(**BOOST).fit(FRAME, Y)
    few = explain(model, FRAME[:30])
    assert few.n_background == 30
    assert few.values.tobytes() == explain(model, FRAME[:30], FRAME[:30]).values.tobytes()
    many = explain(model, FRAME)
    assert many.n_background == 100
    assert many.values.tobytes() == explain(model, FRAME).values.tobytes()
    assert many.values.tobytes() != explain(model, FRAME, random_state=1).values.tobytes()
    with pytest.raises(ValueError, match="background of explain must be given where X has a single sample"):
        explain(model, FRAME[:1])


def test_outputs_are_named_after_classes() -> None:
    two = SLMBoostClassifier(**BOOST).fit(FRAME, LABELS)
    raw = explain(two, FRAME[:4], FRAME[50:60])
    assert (raw.output, raw.output_names, raw.values.shape) == ("raw", ["low"], (4, 3))
    sure = explain(two, FRAME[:4], FRAME[50:60], output="prediction")
    assert (sure.output_names, sure.values.shape) == (["high", "low"], (4, 3, 2))
    assert sure.base_values.shape == (4, 2)
    forest = SLMForestClassifier(n_estimators=5, random_state=0).fit(FRAME, LABELS)
    assert explain(forest, FRAME[:4], FRAME[50:60]).output_names == ["high", "low"]


def test_summary_tells_what_matters_most(mixed: tuple[Any, Explanation]) -> None:
    lines = repr(mixed[1]).splitlines()
    assert lines[0] == "Explanation of 20 samples by 3 features, background of 40, output 'raw': exact"
    sizes = np.abs(mixed[1].values).mean(axis=0)
    assert lines[1].startswith(f"  base value {mixed[1].base_values[0]:.4g}, largest on average: ")
    assert lines[1].split("average: ")[1].startswith(f"{mixed[1].feature_names[sizes.argmax()]} {sizes.max():.3g}")
    classes = explain(SLMBoostClassifier(**BOOST).fit(FRAME, LABELS), FRAME[:1], FRAME[50:60], output="prediction")
    assert "class high: base value" in repr(classes)


def test_exposure_changes_no_value() -> None:
    counts = np.rint(np.abs(Y))
    model = SLMBoostRegressor(loss="poisson", **BOOST).fit(FRAME, counts, exposure=np.full(200, 2.0))
    found = explain(model, FRAME[:5], FRAME[50:60])
    total = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(total + np.log(3.0), np.log(model.predict(FRAME[:5], np.full(5, 3.0))), atol=1e-9)


class Doubled(Loss):
    """Squared error of predictions that are twice the raw values."""

    def values(self, y: Array, raw: Array) -> Array:
        return (2 * raw - y) ** 2

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return 2 * (2 * raw - y), np.full_like(raw, 4.0)

    def prediction(self, raw: Array) -> Array:
        return 2 * raw


def test_predictions_of_an_own_loss_are_explained() -> None:
    model = SLMBoostRegressor(loss=Doubled(), **BOOST).fit(FRAME, Y)
    raw = explain(model, FRAME[:3], FRAME[50:60])
    found = explain(model, FRAME[:3], FRAME[50:60], output="prediction")
    np.testing.assert_allclose(found.values, 2 * raw.values, atol=1e-9)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model.predict(FRAME[:3]), atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model": "model"}, TypeError, "model of explain must be a fitted tree, forest, boosting or average of sub"),
        ({"model": SLMRegressor()}, NotFittedError, "not fitted"),
        ({"X": FRAME[:0]}, ValueError, "minimum of 1 is required"),
        ({"X": FRAME[["size"]]}, ValueError, "feature names should match"),
        ({"background": FRAME[:0]}, ValueError, "background of explain must be a table like X: .*minimum of 1 is req"),
        ({"background": FRAME[["size"]]}, ValueError, "background of explain must be a table like X"),
        ({"background": FRAME.assign(age="old")}, ValueError, "background of explain must be a table like X"),
        ({"output": "proba"}, ValueError, "output of explain must be None, 'raw' or 'prediction'; got 'proba'"),
        ({"n_permutations": 5}, ValueError, "n_permutations of explain must be an even int of at least 4; got 5"),
        ({"n_permutations": 2}, ValueError, "n_permutations of explain must be an even int of at least 4; got 2"),
        ({"n_permutations": 8.0}, ValueError, "n_permutations of explain must be an even int"),
        ({"n_jobs": 0.5}, ValueError, "n_jobs of explain must be"),
        ({"random_state": "x"}, ValueError, "random_state of explain must be None, an int or a RandomState; got 'x'"),
        ({"random_state": -1}, ValueError, "random_state of explain must be"),
    ],
)
def test_wrong_input_is_told_what_is_right(
    mixed: tuple[Any, Explanation], changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        explain(**{"model": mixed[0], "X": FRAME[:3], "background": FRAME[50:60]} | changes)


@pytest.fixture
def pictures() -> Iterator[Any]:
    """matplotlib without a screen."""
    matplotlib = pytest.importorskip("matplotlib")
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")
    matplotlib.use(before)


@pytest.mark.filterwarnings("ignore")  # those of shap and matplotlib are not ours
def test_plots_of_shap_take_what_to_shap_returns(mixed: tuple[Any, Explanation], pictures: Any) -> None:
    shap = pytest.importorskip("shap")
    given = mixed[1].to_shap()
    assert isinstance(given, shap.Explanation)
    np.testing.assert_array_equal(given.values, mixed[1].values)
    shap.plots.waterfall(given[0], show=False)
    texts = [label.get_text() for label in pictures.gca().get_yticklabels()]
    assert any(FRAME["colour"][0] in text for text in texts)  # a level, not its number
    classes = SLMForestClassifier(n_estimators=3, random_state=0).fit(FRAME, LABELS)
    several = explain(classes, FRAME[:10], FRAME[50:60]).to_shap()
    for plot, values, more in (
        (shap.plots.beeswarm, given, {}),
        (shap.plots.bar, given, {}),
        (shap.plots.scatter, given[:, "age"], {}),
        (shap.plots.force, given[0], {"matplotlib": True}),
        (shap.plots.waterfall, several[0, :, 1], {}),
        (shap.plots.beeswarm, several[..., 0], {}),
    ):
        pictures.figure()
        plot(values, show=False, **more)


def test_missing_shap_is_named_where_it_is_needed(mixed: tuple[Any, Explanation], monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    with pytest.raises(ImportError, match=r"to_shap of Explanation needs shap: pip install 'sublearn\[shap\]'"):
        mixed[1].to_shap()


def test_explaining_changes_nothing_of_the_model() -> None:
    model = SLMBoostRegressor(**BOOST).fit(FRAME, Y)
    before = {name: id(value) for name, value in vars(model).items()}
    explain(model, FRAME[:3], FRAME[50:60])
    assert {name: id(value) for name, value in vars(model).items()} == before
    assert "explain" in dir(sublearn)
