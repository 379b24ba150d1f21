"""The partition of a plane: its cells answer as the model does, and its picture can be read."""

from functools import cache
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from sklearn.datasets import make_blobs, make_moons

from exported import mixed_table
from naive import Array
from pictures import assert_legible
from sublearn import (
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.display import PartitionDisplay
from sublearn.display.plane_axes import PlaneAxis
from sublearn.display.plane_scales import round_values

matplotlib.use("agg")
FEW: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
BOOST: dict[str, Any] = FEW | {"n_estimators": 12, "learning_rate": 0.3, "max_depth": 3}
SMALLEST = 8  # points


class Made(NamedTuple):
    model: Any
    X: Any
    y: Array


@cache
def moons() -> tuple[Array, Array]:
    """Two features that matter, and two that matter a little."""
    random = np.random.default_rng(0)
    X, y = make_moons(300, noise=0.25, random_state=0)
    X = np.column_stack([X, random.normal(size=(300, 2))])
    return X, (y + (X[:, 2] > 1.5)) % 2


@cache
def made(name: str) -> Made:
    X, y = moons()
    three = y + 2 * (X[:, 0] > 1.2) * (1 - y)
    heavy = np.exp(3.0 * X)
    gaps = X.copy()
    gaps[::6, 0] = np.nan
    gaps[::7, 1] = np.nan
    makers = {
        "tree": lambda: Made(SLMClassifier(**FEW), X, y),
        "tree of three classes": lambda: Made(SLMClassifier(max_partitions=3, **FEW), X, three),
        "tree of quantile maps": lambda: Made(SLMClassifier(feature_map="quantile", **FEW), heavy, y),
        "tree with gaps": lambda: Made(SLMClassifier(**FEW), gaps, three),
        "forest": lambda: Made(SLMForestClassifier(n_estimators=6, **FEW), X, three),
        "forest of hard votes": lambda: Made(SLMForestClassifier(n_estimators=6, voting="hard", **FEW), X, three),
        "forest of quantile maps": lambda: Made(SLMForestClassifier(n_estimators=5, **FEW), heavy, y),
        "boosting": lambda: Made(SLMBoostClassifier(**BOOST, leaf="constant"), X, y),
        "boosting of linear leaves": lambda: Made(SLMBoostClassifier(**BOOST, leaf="linear"), X, y),
        "boosting of three classes": lambda: Made(SLMBoostClassifier(**BOOST, leaf="linear"), gaps, three),
        "boosting of quantile maps": lambda: Made(SLMBoostClassifier(**BOOST, leaf="linear"), heavy, three),
        "regression": lambda: Made(SLMRegressor(max_depth=5, **FEW), X, X[:, 0] * X[:, 1]),
        "forest of numbers": lambda: Made(SLMForestRegressor(n_estimators=4, max_depth=4, **FEW), heavy, X[:, 0]),
        "boosting of numbers": lambda: Made(SLMBoostRegressor(**BOOST, leaf="constant"), gaps, X[:, 0] * X[:, 1]),
    }
    found = makers[name]()
    return found._replace(model=found.model.fit(found.X, found.y))


def drawn(name: str, **more: Any) -> PartitionDisplay:
    model, X, _ = made(name)
    display = PartitionDisplay.from_estimator(model, X, features=(0, 1), **more)
    plt.close(display.figure_)
    return display


def in_plane(axes: tuple[PlaneAxis, PlaneAxis], n: int, seed: int = 0) -> Array:
    """Random points of the frame, half of them even in its values and half of them in its codes."""
    random = np.random.default_rng(seed)
    columns = []
    for axis in axes:
        even = random.uniform(axis.values[0], axis.values[-1], n)
        columns.append(
            np.where(np.arange(n) % 2, even, axis.to_values(random.uniform(axis.places[0], axis.places[-1], n)))
        )
    return np.column_stack(columns)


def far_from_borders(display: PartitionDisplay, points: Array, cells: Array) -> Array:
    """Whether points are further than one code from the edges of their cells."""
    places = np.column_stack([axis.to_places(points[:, k]) for k, axis in enumerate(display.axes)])
    out = np.zeros(len(points), np.bool_)
    for cell in np.unique(cells):
        polygon = display.polygons[cell]
        corners = np.column_stack([axis.to_places(polygon[:, k]) for k, axis in enumerate(display.axes)])
        steps = np.roll(corners, -1, axis=0) - corners
        rows = np.flatnonzero(cells == cell)
        ahead = places[rows][:, None] - corners
        lengths = np.maximum((steps**2).sum(axis=1), 1e-12)
        share = np.clip((ahead * steps).sum(axis=2) / lengths, 0.0, 1.0)
        distances = np.hypot(*(ahead - share[:, :, None] * steps).transpose(2, 0, 1))
        out[rows] = distances.min(axis=1) > 1.0
    return out


def rows_at(X: Array, points: Array) -> Array:
    """Samples at points of the plane, with all else at its median."""
    rows = np.repeat(np.nanmedian(X, axis=0)[None], len(points), axis=0)
    rows[:, :2] = points
    return rows


CLASSES = [
    ("tree", 10_000),
    ("tree of three classes", 2000),
    ("tree of quantile maps", 10_000),
    ("tree with gaps", 2000),
    ("forest", 2000),
    ("forest of hard votes", 2000),
    ("forest of quantile maps", 2000),
    ("boosting", 10_000),
    ("boosting of linear leaves", 2000),
    ("boosting of three classes", 2000),
    ("boosting of quantile maps", 2000),
]


@pytest.mark.parametrize(("name", "n"), CLASSES)
def test_cells_classify_as_the_model_does_but_for_points_within_a_code_of_a_border(name: str, n: int) -> None:
    model, X, _ = made(name)
    display = drawn(name)
    points = in_plane(display.axes, n)
    cells = display.cells_of(points)
    inside = cells >= 0
    assert inside.mean() > 0.999  # but for points on an edge, to the last bit
    points, cells = points[inside], cells[inside]
    far = far_from_borders(display, points, cells)
    assert far.mean() > 0.8
    np.testing.assert_array_equal(display.classes_of(points[far]), model.predict(rows_at(X, points[far])))


@pytest.mark.parametrize("name", ["regression", "forest of numbers", "boosting of numbers"])
def test_cells_have_the_numbers_that_the_model_predicts(name: str) -> None:
    model, X, _ = made(name)
    display = drawn(name)
    points = in_plane(display.axes, 1000)
    cells = display.cells_of(points)
    points, cells = points[cells >= 0], cells[cells >= 0]
    far = far_from_borders(display, points, cells)
    assert far.mean() > 0.8
    np.testing.assert_allclose(display.answers[cells[far], 0], model.predict(rows_at(X, points[far])), atol=1e-9)


def test_a_stump_along_an_axis_is_two_rectangles_with_the_border_where_the_class_changes() -> None:
    X = np.column_stack([np.arange(20.0), np.tile([0.0, 1.0], 10)])
    model = SLMClassifier(n_projections=0, random_state=0).fit(X, X[:, 0] > 9)
    display = PartitionDisplay.from_estimator(model, X, features=(0, 1))
    plt.close(display.figure_)
    assert len(display.polygons) == 2
    assert [len(polygon) for polygon in display.polygons] == [4, 4]
    (border,) = display.borders
    (root,) = display.root
    np.testing.assert_allclose(np.sort(border, axis=0), np.sort(root, axis=0))
    assert 9.0 < border[0, 0] == border[1, 0] < 10.0
    assert sorted(border[:, 1]) == [-0.04, 1.04]
    assert model.predict([[border[0, 0] - 0.01, 0.0], [border[0, 0] + 0.01, 0.0]]).tolist() == [False, True]


@pytest.mark.parametrize("name", ["tree of three classes", "forest", "boosting of linear leaves"])
def test_borders_have_two_classes_at_their_sides(name: str) -> None:
    display = drawn(name)
    ends = np.array([line[[0, -1]] for line in display.borders])
    places = np.stack([axis.to_places(ends[:, :, k]) for k, axis in enumerate(display.axes)], axis=2)
    steps = places[:, 1] - places[:, 0]
    lengths = np.hypot(*steps.T)
    middles, normals = places.mean(axis=1), np.column_stack([-steps[:, 1], steps[:, 0]]) / lengths[:, None]
    sides = []
    for sign in (-1.0, 1.0):
        at = middles + sign * 1e-4 * normals
        cells = display.cells_of(np.column_stack([axis.to_values(at[:, k]) for k, axis in enumerate(display.axes)]))
        sides.append(np.where(cells >= 0, display.answers.argmax(axis=1)[cells], -1))
    known = (np.array(sides) >= 0).all(axis=0) & (lengths > 0.01)
    assert known.sum() > 5
    assert (sides[0] != sides[1])[known].mean() == 1.0


def test_edges_bend_at_the_knots_of_a_quantile_map_only() -> None:
    display = drawn("tree of quantile maps")
    bent = [line for line in display.root if len(line) > 2]
    assert bent
    for line in bent:
        at_knots = [np.isclose(line[1:-1, k][:, None], display.axes[k].values).any(axis=1) for k in (0, 1)]
        assert (at_knots[0] | at_knots[1]).all()
    assert all(len(line) == 2 for line in drawn("tree").root)


def test_averaged_rows_have_the_mean_probability() -> None:
    model, X, _ = made("forest")
    display = drawn("forest", others=X[:4])
    points = in_plane(display.axes, 300)
    cells = display.cells_of(points)
    points, cells = points[cells >= 0], cells[cells >= 0]
    far = far_from_borders(display, points, cells)
    assert far.mean() > 0.6
    expected = np.zeros((far.sum(), 3))
    for row in X[:4]:
        rows = np.repeat(row[None], far.sum(), axis=0)
        rows[:, :2] = points[far]
        expected += model.predict_proba(rows) / 4
    np.testing.assert_allclose(display.answers[cells[far]], expected, atol=1e-12)
    assert "mean over 4 rows" in display.title


def test_averaged_rows_of_linear_leaves_have_the_mean_at_the_middle_of_cells() -> None:
    model, X, _ = made("boosting of linear leaves")
    display = drawn("boosting of linear leaves", others="averaged", max_rows=2, target=1)
    assert "mean over 2 rows" in display.title
    random = np.random.default_rng(0)
    for cell in random.choice(len(display.polygons), 20):
        polygon = display.polygons[cell]
        if np.ptp(polygon, axis=0).min() < 0.05:
            continue
        rows = np.concatenate([rows_at(X, polygon.mean(axis=0)[None])] * len(X))
        rows[:, 2:] = X[:, 2:]
        between = model.predict_proba(rows)[:, 1]
        assert between.min() - 0.02 <= display.answers[cell, 0] <= between.max() + 0.02
    again = drawn("boosting of linear leaves", others="averaged", max_rows=2, target=1)
    np.testing.assert_array_equal(again.answers, display.answers)


def test_categories_are_bands_and_answer_as_the_model_does() -> None:
    X, y = mixed_table()
    chosen = ["town of birth", "rooms", "kind"]
    model = SLMClassifier(categorical_features=chosen, **FEW).fit(X, np.where(y > 3.0, "many", "few"))
    display = PartitionDisplay.from_estimator(model, X, features=("town of birth", "value"), others=X.iloc[[5]])
    plt.close(display.figure_)
    towns = sorted(X["town of birth"].dropna().unique())
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [
        *(repr(t).strip("'") for t in towns),
        "missing",
    ]
    values = np.linspace(-1.5, 1.5, 31)
    for k, town in enumerate([*towns, None]):
        rows = pd.concat([X.iloc[[5]]] * len(values), ignore_index=True)
        rows["town of birth"], rows["value"] = pd.Series([town] * len(values), dtype=object), values
        points = np.column_stack([np.full(len(values), k + 0.1), values])
        cells = display.cells_of(points)
        cuts = [display.polygons[cell][:, 1] for cell in cells]  # a band is one place wide: along the values alone
        far = np.array([min(abs(value - cut)) > 0.005 for value, cut in zip(values, cuts, strict=True)])
        same = display.classes_of(points) == model.predict(rows)
        assert same[far].all()
        assert far.mean() > 0.8


def test_one_tree_of_boosting_is_drawn_by_what_it_adds() -> None:
    model, X, _ = made("boosting")
    display = drawn("boosting", tree=0)
    points = in_plane(display.axes, 500)
    cells = display.cells_of(points)
    points, cells = points[cells >= 0], cells[cells >= 0]
    far = far_from_borders(display, points, cells)
    first = next(model.staged_decision_function(rows_at(X, points[far])))
    np.testing.assert_allclose(display.answers[cells[far], 0] + model._model.start[0], first, atol=1e-12)
    assert display.labels is None


# --- pictures


class Picture(NamedTuple):
    model: Any
    X: Any
    y: Any
    more: dict[str, Any]


def wide(n_features: int, n_classes: int, model: Any) -> Picture:
    """Names of 60 characters."""
    X, k = make_blobs(300, n_features, centers=n_classes, cluster_std=4.0, random_state=0)
    names = [
        f"feature {f:03d} of a table whose names are as long as this one is {f:03d}"[-60:] for f in range(n_features)
    ]
    y = np.array([f"class {c:02d} with a name that is about as long as sixty characters ar" for c in range(n_classes)])[
        k
    ]
    X = pd.DataFrame(X, columns=names)
    return Picture(model.fit(X, y), X, y, {})


PICTURES = {
    "3 features, 2 classes": lambda: wide(3, 2, SLMClassifier(**FEW)),
    "300 features, 26 classes": lambda: wide(300, 26, SLMForestClassifier(n_estimators=3, **FEW)),
    "ensemble of numbers": lambda: Picture(*made("boosting of numbers"), {}),
    "heavy tails, spread": lambda: Picture(*made("tree of quantile maps"), {"scale": "codes"}),
    "a tree of boosting": lambda: Picture(*made("boosting")[:2], None, {"tree": 1}),
    "no samples": lambda: Picture(made("tree").model, None, None, {}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_every_text_is_large_enough_inside_and_apart_from_the_others(name: str) -> None:
    model, X, y, more = PICTURES[name]()
    display = PartitionDisplay.from_estimator(model, X, y, **more)
    assert_legible(display.figure_, SMALLEST)
    cells = [part for part in display.ax_.collections if isinstance(part, PolyCollection)]
    assert [len(part.get_paths()) for part in cells] == [len(display.polygons)]
    lines = [part for part in display.ax_.collections if isinstance(part, LineCollection)]
    n_lines = [len(part) for part in (display.cuts, display.borders, display.root) if len(part)]
    assert [len(part.get_paths()) for part in lines] == n_lines
    shown = [part.get_offsets() for part in display.ax_.collections if part not in [*cells, *lines]]
    assert sum(map(len, shown)) == (0 if y is None else len(y))
    plt.close(display.figure_)


def test_legend_names_the_classes_that_are_to_be_seen() -> None:
    model, X, y = made("tree of three classes")
    display = PartitionDisplay.from_estimator(model, X, y, features=(0, 1), legend=True)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    again = display.plot(legend=False)
    assert again is display
    assert display.ax_.get_legend() is None
    plt.close("all")


def test_default_plane_is_that_of_the_most_important_features_and_drawn_where_it_is_said() -> None:
    model, X, _ = made("tree")
    _, axes = plt.subplots()
    display = PartitionDisplay.from_estimator(model, X, ax=axes, feature_names=["a", "b", "c", "d"])
    assert display.ax_ is axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")
    assert sorted(np.argsort(model.feature_importances_)[-2:]) == [0, 1]
    plt.close("all")


def test_given_values_and_rows_of_other_features_are_taken() -> None:
    _, X, _ = made("tree")
    row = np.nanmedian(X, axis=0)
    row[2] = 3.0
    by_value = drawn("tree", others={2: 3.0})
    by_row = drawn("tree", others=row)
    np.testing.assert_array_equal(by_value.answers, by_row.answers)
    assert "1 other feature at the median, 1 as given" in by_value.title
    narrow = drawn("tree", limits=((0.0, 0.5), None))
    assert narrow.ax_.get_xlim() == (0.0, 0.5)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"features": (0, 0)}, "features of PartitionDisplay must be two different features"),
    ({"features": ("x0", "no")}, "must hold names of features .* or numbers from 0 to 3; got 'no'"),
    ({"features": (0, 4)}, "must hold names of features .* or numbers from 0 to 3; got 4"),
    ({"others": "mean"}, "others of PartitionDisplay must be None, 'averaged', a dict of values"),
    ({"others": {2: "red"}}, "must hold a number for 'x2'; got 'red'"),
    ({"tree": 1}, "tree of PartitionDisplay must be an int from 0 to 0; got 1"),
    ({"target": 5}, r"target of PartitionDisplay must be one of \[0, 1\]; got 5"),
    ({"limits": ((1.0, 0.0), None)}, "limits of PartitionDisplay must be a pair"),
    ({"max_cells": 3, "features": (0, 1)}, r"must have at most max_cells=3 cells; .* Draw one tree \(tree=0\)"),
    ({"max_rows": 0}, "max_rows of PartitionDisplay must be an int of at least 1; got 0"),
    ({"scale": "log"}, "scale of PartitionDisplay must be 'values' or 'codes'; got 'log'"),
    ({"X": None, "others": "averaged"}, "X of PartitionDisplay must be given where others='averaged'"),
    ({"y": [0, 1]}, "must have a target for each of 300 samples; got 2"),
]


@pytest.mark.parametrize(("given", "words"), MISTAKES, ids=[" ".join(map(str, given)) for given, _ in MISTAKES])
def test_mistakes_are_told(given: dict[str, Any], words: str) -> None:
    model, X, _ = made("tree")
    with pytest.raises(ValueError, match=words):
        PartitionDisplay.from_estimator(model, **{"X": X} | given)
    plt.close("all")


def test_models_without_cells_of_their_own_are_told_from_others() -> None:
    X, y = moons()
    average = SLMAverageRegressor([SLMRegressor(max_depth=1)]).fit(X, y)
    with pytest.raises(TypeError, match="Draw one of its estimators_"):
        PartitionDisplay.from_estimator(average, X)
    with pytest.raises(TypeError, match="must be a fitted tree, forest or boosting of sublearn; got int"):
        PartitionDisplay.from_estimator(3, X)


# --- axes


def axis(values: list[float], places: list[float]) -> PlaneAxis:
    return PlaneAxis(
        feature=0,
        name="x",
        values=np.array(values),
        places=np.array(places),
        bounds=np.array(places)[[0, -1]],
        varies=np.ones(1, np.bool_),
        inside=np.zeros(1),
    )


def test_ticks_of_codes_are_round_values_as_far_apart_as_codes_are() -> None:
    decades = axis([1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    ticks = round_values(decades)
    np.testing.assert_allclose(ticks, [0.006, 0.06, 0.6, 6.0, 60.0, 600.0], rtol=0.2)
    assert all(len(f"{tick:g}".strip("0.")) == 1 for tick in ticks)
    late = round_values(axis([1.7e9, 1.7e9 + 1.0, 1.7e9 + 100.0], [0.0, 1.0, 2.0]))
    assert len(late) == 6
    assert late.min() >= 1.7e9
    assert (np.diff(late) > 0).all()


def test_dates_have_round_ticks() -> None:
    days = pd.date_range("2024-01-01", periods=60)
    X = pd.DataFrame({"day": days, "x": np.arange(60.0) % 7})
    model = SLMRegressor(max_depth=2, **FEW).fit(X, np.arange(60.0))
    for scale in ("values", "codes"):
        display = PartitionDisplay.from_estimator(model, X, X["x"], features=("day", "x"), scale=scale)
        assert_legible(display.figure_, SMALLEST)
        ticks = display.ax_.get_xticks()
        assert len(ticks) >= 2
        assert (ticks % 86400 == 0).all()
        assert "Feb" in [text.get_text() for text in display.ax_.get_xticklabels()]
        plt.close(display.figure_)
