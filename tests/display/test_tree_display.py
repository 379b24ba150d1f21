"""Pictures of trees: that they tell what the trees are, that all can be read, and that nothing is cut."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import drawn_models
from drawn_models import CASES, long_names, tree_of
from pictures import assert_legible
from sublearn import SLMAverageClassifier, SLMClassifier, SLMRegressor, export_text
from sublearn.display import TreeDisplay
from sublearn.display.canvas import INK, LIGHT_INK, rgb
from sublearn.display.names import DOTS, JOINT, MINUS
from sublearn.display.tree_nodes import children_of, opened
from sublearn.export.inequalities import Inequalities, names_of_features

PAGE = 11.7, 8.3  # inches of A4 across
LEGIBLE = 6.0  # points


def texts_of(display: TreeDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.texts]


def plain(text: str) -> str:
    """A text of a picture as export_text writes it."""
    for nice, usual in ((JOINT, " "), (MINUS, "-"), ("≥", ">="), ("≤", "<=")):
        text = text.replace(nice, usual)
    return " ".join(text.split())


@pytest.fixture(scope="module")
def models() -> Any:
    return drawn_models.models()


@pytest.fixture(scope="module")
def iris() -> Any:
    data = load_iris()
    model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(data.data, data.target)
    return model, data


def test_tree_of_one_cut_is_what_export_text_writes(iris: Any) -> None:
    model, data = iris
    names = ["length", "width", "petal length", "petal width"]
    display = TreeDisplay.from_estimator(model, feature_names=names, class_names=data.target_names)
    texts = [plain(text) for text in texts_of(display)]
    assert "a: petal length >= 2.48" in plain(export_text(model, names, digits=3))
    assert texts[:2] == ["SLMClassifier", "3 nodes; n samples, and their share"]
    assert texts[2:] == [
        "n=150, 100 %", "a: petal length >= 2.48", "-a", "+a",
        "setosa 100 %", "n=50, 33 %", "versicolor 50 %", "n=100, 67 %",
        "setosa", "versicolor", "virginica",
    ]  # fmt: skip


def test_bars_are_the_class_shares_in_the_colours_of_the_classes(iris: Any) -> None:
    model, _ = iris
    display = TreeDisplay.from_estimator(model)
    bars = [patch for patch in display.ax_.patches if isinstance(patch, Rectangle)]
    assert len(bars) == 3 + 1 + 2 + 3  # the root, both leaves, the legend
    widths = np.array([bar.get_width() for bar in bars])
    assert widths[:6] / widths[3] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 0.5, 0.5])
    colours = [tuple(bar.get_facecolor()[:3]) for bar in bars]
    assert colours[:3] == colours[6:]
    assert colours[3:6] == [colours[0], colours[1], colours[2]]


@pytest.fixture(scope="module")
def pages(models: Any) -> dict[str, TreeDisplay]:
    """A page of each model; the figures stay, though pyplot no longer knows them."""
    return {
        case: TreeDisplay.from_estimator(model, tree=tree_of(model), feature_names=long_names(X))
        for case, (model, X, _) in models.items()
    }


@pytest.mark.parametrize("case", CASES)
def test_page_is_legible_and_fits_on_paper(case: str, pages: Any) -> None:
    display = pages[case]
    assert_legible(display.figure_, LEGIBLE - 0.05)
    width, height = display.figure_.get_size_inches()
    assert width <= PAGE[0]
    assert height <= PAGE[1]
    assert max(box.drawn.depth for box in display.layout_.root.all) >= (3 if "3 features" in case else 2)


@pytest.mark.parametrize("case", CASES)
def test_boxes_hold_their_texts_and_keep_off_each_other(case: str, pages: Any) -> None:
    display = pages[case]
    display.figure_.draw_without_rendering()
    frames = [p.get_window_extent() for p in display.ax_.patches if isinstance(p, FancyBboxPatch)]
    assert len(frames) == sum(not box.is_end for box in display.layout_.root.all)
    for number, frame in enumerate(frames):
        assert not any(frame.overlaps(other) for other in frames[:number])
    for text in display.ax_.texts:
        box = text.get_window_extent()
        for frame in frames:
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1
            assert inside or not frame.overlaps(box.padded(-1)), text


@pytest.mark.parametrize("case", CASES)
def test_all_hyperplanes_of_the_drawn_nodes_are_there_in_whole(case: str, models: Any) -> None:
    model, *_ = models[case]
    number = tree_of(model)
    display = TreeDisplay.from_estimator(model, tree=number, max_leaves=12)
    fitted = model._model
    writer = Inequalities(fitted, names_of_features(fitted, None, ""), digits=3)
    written = plain(" ".join(texts_of(display)))
    for box in display.layout_.root.all:
        planes = range(
            fitted.ensemble.nodes.first_plane[box.drawn.node], fitted.ensemble.nodes.first_plane[box.drawn.node + 1]
        )
        if not box.is_end:
            assert len(planes) > 0
            for letter, p in zip("abcd", planes, strict=False):
                text = writer.plane(p)
                assert "rather long" in text or f"{letter}: {text}" in written


@pytest.mark.parametrize("case", ["3 features, 26 classes", "categories and gaps", "forest", "boosting of numbers"])
@pytest.mark.parametrize("limits", [{"max_depth": 2}, {"max_leaves": 5}, {"max_depth": None, "max_leaves": None}])
def test_nodes_that_are_not_drawn_are_counted(case: str, limits: Any, models: Any) -> None:
    model, *_ = models[case]
    number = tree_of(model)
    display = TreeDisplay.from_estimator(model, tree=number, **limits)
    ends = [*model._model.ensemble.roots[1:].tolist(), model._model.ensemble.nodes.n_nodes]
    n_nodes = ends[number or 0] - display.root
    hidden = [text.split(DOTS)[1].split()[0] for text in texts_of(display) if "more node" in text and DOTS in text]
    assert display.n_shown_ + sum(map(int, hidden)) == n_nodes
    assert bool(hidden) == (display.n_shown_ < n_nodes)
    depth = max(box.drawn.depth for box in display.layout_.root.all)
    n_ends = sum(box.is_end for box in display.layout_.root.all)
    assert depth <= (limits.get("max_depth") or 99)
    assert n_ends <= (limits.get("max_leaves") or 9999)


def test_nodes_with_most_samples_are_followed_first(models: Any) -> None:
    tree = models["300 features, 2 classes"][0].tree_
    for most in range(2, 12):
        found = opened(tree, 0, None, most)
        front = [c for i in found for c in children_of(tree, i) if c not in found and not tree.is_leaf[c]]
        assert min(tree.n_samples[i] for i in found) >= max(tree.n_samples[i] for i in front)
        n_ends = 1 + sum(len(children_of(tree, i)) - 1 for i in found)
        assert n_ends <= most < n_ends + 4


def test_of_many_classes_the_largest_are_named_and_shaded(models: Any) -> None:
    model, *_ = models["3 features, 26 classes"]
    display = TreeDisplay.from_estimator(model)
    shares, classes = model.tree_.value, model.classes_
    for box in display.layout_.root.all:
        order = np.argsort(-shares[box.drawn.node], kind="stable")
        named = [word.split(JOINT)[0] for word in box.drawn.words.split(", ")]
        assert named == classes[order[: len(named)]].tolist()
        assert 1 <= len(named) <= (3 if box.is_end else 1)
    n_bars = sum(isinstance(patch, Rectangle) for patch in display.ax_.patches) - 4  # those of the legend
    assert n_bars == sum(min(int((shares[box.drawn.node] > 0).sum()), 4) for box in display.layout_.root.all)


def test_leaves_of_boosting_say_what_they_add_and_lean_on(models: Any) -> None:
    display = TreeDisplay.from_estimator(models["boosting of 26 classes"][0], tree=2)
    leaves = [box for box in display.layout_.root.all if box.is_end]
    assert all(box.drawn.words.startswith("adds ") and " to " in box.drawn.words for box in leaves)
    assert any("slope in x" in box.drawn.note for box in leaves)
    model = models["boosting of numbers"][0]
    display = TreeDisplay.from_estimator(model, tree=0)
    value = model._model.ensemble.nodes.value
    for box in display.layout_.root.all:
        if box.is_end:
            said = float(box.drawn.words.removeprefix("adds ").replace(MINUS, "-"))
            assert said == pytest.approx(value[box.drawn.node, 0], rel=0.01)


def test_categories_gaps_and_curves_are_explained_below(models: Any) -> None:
    texts = " ".join(texts_of(TreeDisplay.from_estimator(models["categories and gaps"][0])))
    for wanted in ("m(colour)", "for 'red'", "[sex = '", "g(income) is a normal score:", "where it is missing"):
        assert wanted in texts
    assert "$price$ of_it" in texts


def test_names_that_are_cut_stay_apart_and_have_a_key(models: Any, pages: Any) -> None:
    names = long_names(models["300 features, numbers"][1]) or []
    display = pages["300 features, numbers"]
    key = [text.split(" = ") for text in texts_of(display) if " = " in text]
    assert len({short for short, _ in key}) == len(key) > 3
    assert {full for _, full in key} <= {" ".join(name.split()) for name in names}
    planes = " ".join(text for text in texts_of(display) if DOTS in text and " = " not in text)
    assert all(short.replace(" ", "") in planes.replace(" ", "") for short, _ in key)


@pytest.mark.parametrize(
    ("case", "size"),
    [("300 features, numbers", (9.0, 6.0)), ("3 features, 2 classes", (9.0, 6.0)), *((c, (5.0, 4.0)) for c in CASES)],
)
def test_tree_goes_into_axes_of_the_users(case: str, size: tuple[float, float], models: Any) -> None:
    model, X, _ = models[case]
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    display = TreeDisplay.from_estimator(model, tree=tree_of(model), feature_names=long_names(X), ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert_legible(figure, 4.5)


def test_nothing_is_left_of_pyplot_where_axes_are_given(iris: Any) -> None:
    before = plt.get_fignums()
    display = TreeDisplay.from_estimator(iris[0], ax=Figure().subplots())
    assert plt.get_fignums() == before
    assert display.plot(ax=Figure().subplots()) is display
    assert display.plot().figure_.number in plt.get_fignums()


def test_ink_suits_a_dark_ground(iris: Any) -> None:
    light = TreeDisplay.from_estimator(iris[0])
    with plt.style.context("dark_background"):
        dark = TreeDisplay.from_estimator(iris[0])
    assert light.ax_.texts[0].get_color() == INK
    assert dark.ax_.texts[0].get_color() == LIGHT_INK
    assert [text.get_text() for text in light.ax_.texts] == [text.get_text() for text in dark.ax_.texts]
    frame = next(patch for patch in dark.ax_.patches if isinstance(patch, FancyBboxPatch))
    assert frame.get_facecolor()[:3] == (0, 0, 0)
    assert np.all(rgb("#000000") == 0)


def test_tree_of_one_leaf_is_drawn() -> None:
    model = SLMRegressor().fit([[0.0], [1.0]], [3.0, 3.0])
    display = TreeDisplay.from_estimator(model)
    assert display.n_shown_ == 1
    assert "3" in texts_of(display)


def test_class_names_of_any_kind_are_written_as_they_are() -> None:
    names = ["_under", "$x^2$", "two\nlines"]
    y = np.array(names)[np.arange(60) % 3]
    X = np.arange(60.0)[:, None] % 3
    display = TreeDisplay.from_estimator(SLMClassifier(random_state=0).fit(X, y))
    assert texts_of(display)[-3:] == ["$x^2$", "_under", "two lines"]
    assert_legible(display.figure_, LEGIBLE - 0.05)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_depth": 0}, "max_depth of TreeDisplay.from_estimator must be None or an int of at least 1; got 0."),
        (
            {"max_leaves": "few"},
            "max_leaves of TreeDisplay.from_estimator must be None or 'page' or an int of at least 1",
        ),
        ({"feature_names": ["x"]}, "must have a name for each of 4 features; got 1."),
        ({"class_names": ["x"]}, "must have a name for each of 3 classes; got 1."),
        ({"tree": 1}, "tree of TreeDisplay.from_estimator must be an int from 0 to 0 for this SLMClassifier; got 1."),
    ],
)
def test_wrong_arguments_are_refused(given: Any, words: str, iris: Any) -> None:
    with pytest.raises(ValueError) as error:
        TreeDisplay.from_estimator(iris[0], **given)
    assert words in str(error.value)
    assert plt.get_fignums() == []


def test_what_is_no_tree_is_refused_with_a_way_out(iris: Any, models: Any) -> None:
    model, data = iris
    average = SLMAverageClassifier([model]).fit(data.data, data.target)
    ways = {
        DecisionTreeClassifier(): "got DecisionTreeClassifier.",
        average: "got SLMAverageClassifier. Give one of its estimators_.",
        make_pipeline(StandardScaler(), model): "got Pipeline. Give its last step.",
    }
    for wrong, words in ways.items():
        with pytest.raises(TypeError) as error:
            TreeDisplay.from_estimator(wrong)
        assert words in str(error.value)
    with pytest.raises(NotFittedError):
        TreeDisplay.from_estimator(SLMClassifier())
    with pytest.raises(ValueError, match=r"must be an int from 0 to 2 for this SLMForestClassifier; got None\."):
        TreeDisplay.from_estimator(models["forest"][0])
    with pytest.raises(TypeError, match=r"ax of TreeDisplay\.plot must be a matplotlib Axes or None; got str\."):
        TreeDisplay.from_estimator(model, ax="here")


def test_matplotlib_is_needed_on_use_only() -> None:
    program = (
        "import sys, sublearn\n"
        "from sublearn.display import TreeDisplay\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "model = sublearn.SLMRegressor().fit([[0.0], [1.0]], [3.0, 3.0])\n"
        "try:\n"
        "    TreeDisplay.from_estimator(model)\n"
        "except ImportError as error:\n"
        "    assert str(error) == \"TreeDisplay.plot needs matplotlib: pip install 'sublearn[plot]'\", error\n"
        "else:\n"
        "    raise AssertionError('no error')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
