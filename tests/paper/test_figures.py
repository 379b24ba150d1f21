"""The figures of the paper: that they show what the models did, can be read, and are saved alike each time."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_circles, make_moons

from naive import Array
from pictures import assert_legible, visible_texts
from sublearn import SLMClassifier, SLMRegressor
from sublearn.display import canvas
from sublearn.display.search import search_root
from sublearn.paper import figures, node_figure
from sublearn.paper.figures import Convergence, Plane
from sublearn.paper.tables import OPTIMISTIC

SMALLEST = 8  # points
TREES = np.array([1, 2, 3, 5, 10, 20, 50, 100])
TITLES = ["circle and ring", "breast cancer", "california housing", "make_friedman2"]
UNITS = ["accuracy", "accuracy", "RMSE", "RMSE"]


def overview_of(data: Any, model: Any) -> Figure:
    return figures.system_overview(model.fit(data.data, data.target), data.data, data.target, data.feature_names)


def planes() -> list[Plane]:
    """Two sets whose prediction is wrong for the first ten test samples."""
    found = []
    for title, (X, y) in (("moons", make_moons(200, random_state=0)), ("ring", make_circles(200, random_state=0))):
        wrong = np.arange(100) < 10
        found.append(Plane(title, X[:100], y[:100], X[100:], y[100:], np.where(wrong, 1 - y[100:], y[100:])))
    return found


def curve(n_splits: int) -> Convergence:
    rising = 0.97 - 0.1 / TREES + 0.001 * np.arange(n_splits)[:, None]
    values = rising if n_splits > 1 else rising[0]
    return Convergence(f"{n_splits} splits", TREES, values, values - 0.02, 1 - values, 1.05 - values)


def with_defaults(given: Convergence) -> Convergence:
    return given._replace(default_forest=given.forest - 0.01, default_boost=given.boost + 0.01)


FIGURES: dict[str, Any] = {
    "partition and tree": figures.partition_and_tree,
    "envelope": figures.envelope_example,
    "sets in the plane": lambda: figures.plane_sets(planes()),
    "sets in the plane, optimistic": lambda: figures.plane_sets(planes(), OPTIMISTIC),
    "set in the plane, optimistic": lambda: figures.plane_sets(planes()[:1], OPTIMISTIC),
    "overview of two planes": lambda: overview_of(load_wine(), SLMClassifier(random_state=0)),
    "overview of three planes": lambda: overview_of(
        load_wine(), SLMClassifier(max_partitions=3, max_cosine=0.9, envelope_height=4.0, random_state=0)
    ),
    "overview of one plane": lambda: overview_of(
        load_breast_cancer(), SLMClassifier(max_partitions=1, subspace="drawn", random_state=0)
    ),
    "overview of a regression": lambda: overview_of(load_diabetes(), SLMRegressor(random_state=0)),
    "overview of a regression, one plane": lambda: overview_of(
        load_diabetes(), SLMRegressor(max_partitions=1, random_state=0)
    ),
    "convergence": lambda: figures.convergence([curve(1), curve(20)]),
    "convergence with defaults": lambda: figures.convergence([with_defaults(curve(n)) for n in (1, 20, 5)]),
    "guided against uniform": lambda: figures.guided_against_uniform(
        [4, 8, 16, 64, 256, 1024],
        np.arange(48).reshape(4, 6, 2) / 50,
        np.arange(48).reshape(4, 6, 2) / 60,
        TITLES,
        UNITS,
    ),
    "partitions per node": lambda: figures.partitions_per_node(
        [[0.9, 0.91, 0.92], [0.95, 0.95, 0.95], [0.7, 0.69, 0.72], [33.0, 31.0, 34.0]],
        [[12.3, 7.4, 5.0], [6.0, 4.0, 3.5], [20.1, 14.0, 11.0], [1.0, 1.0, 1.0]],
        TITLES,
        [1, 2, 3],
        UNITS,
    ),
}


@pytest.fixture(scope="module")
def drawn() -> dict[str, Figure]:
    return {name: make() for name, make in FIGURES.items()}


# --- all figures


def axes_of(figure: Figure) -> list[Any]:
    return list(figure.axes)


@pytest.mark.parametrize("name", FIGURES)
def test_every_text_is_large_enough_inside_and_apart_from_the_others(name: str, drawn: dict[str, Figure]) -> None:
    assert_legible(drawn[name], SMALLEST)


def test_equal_figures_are_saved_as_equal_bytes(tmp_path: Path) -> None:
    figure = FIGURES["overview of a regression"]()  # with a colour bar
    paths = figures.save(figure, tmp_path / "new" / "folder", "overview")
    assert [path.name for path in paths] == ["overview.svg", "overview.png"]
    first = [path.read_bytes() for path in paths]
    assert b"<dc:date>" not in first[0]
    again = [path.read_bytes() for path in figures.save(figure, paths[0].parent, "overview")]
    other = figures.save(FIGURES["overview of a regression"](), tmp_path, "other")
    assert first == again == [path.read_bytes() for path in other]


def test_matplotlib_is_needed_on_use_only_and_pyplot_never() -> None:
    program = (
        "import sys\n"
        "from sublearn.paper import figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "figures.envelope_example()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "for name in [name for name in sys.modules if name.startswith('matplotlib')]:\n"
        "    sys.modules[name] = None\n"
        "try:\n"
        "    figures.envelope_example()\n"
        "except ImportError as error:\n"
        "    assert 'sublearn[paper]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('no error')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_overview_draws_the_losses_the_kept_planes_and_the_children(drawn: dict[str, Figure]) -> None:
    figure, data = drawn["overview of two planes"], load_wine()
    model = SLMClassifier(random_state=0).fit(data.data, data.target)
    search = search_root(model, data.data, data.target)
    features, candidates, samples, text = axes_of(figure)
    ends = [bar.get_x() + bar.get_width() for bar in features.patches]
    np.testing.assert_allclose(ends, np.sort(search.feature_losses))
    coloured = [label.get_text() for label in features.get_yticklabels() if label.get_color() == canvas.COLOURS[0]]
    assert coloured == [data.feature_names[f] for f in search.subspace]
    np.testing.assert_allclose(candidates.collections[0].get_offsets()[:, 1], np.sort(search.losses))
    marked = [line.get_ydata()[0] for line in candidates.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(marked, np.sort(search.losses[search.kept]))
    places = np.concatenate([part.get_offsets() for part in samples.collections])
    assert len(places) == 178
    counts = sorted(int(text.get_text().split()[-1]) for text in samples.texts)
    assert counts == sorted(np.unique(search.cells, return_counts=True)[1])
    for j in range(search.n_kept):
        assert node_figure.formula(search, j, data.feature_names) in text.texts[0].get_text().replace("\n", " ")


def test_formula_has_signs_coefficients_and_a_threshold_in_deviations() -> None:
    X, y = load_iris(return_X_y=True)
    search = search_root(SLMClassifier(random_state=0).fit(X, y), X, y)
    vectors = np.zeros_like(search.vectors)
    vectors[search.kept[0], search.subspace[:3]] = [2, -1, -3]
    altered = search._replace(vectors=vectors)
    names = dict(zip(search.subspace.tolist(), ["a b", "c", "d", "e"], strict=True))
    for threshold, cut in ((-search.maps.per_deviation, "-1.00"), (0, "0.00")):
        thresholds = np.full(len(vectors), threshold)
        text = node_figure.formula(altered._replace(thresholds=thresholds), 0, [names[f] for f in range(4)])
        text = text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
        assert text == f"2 a b - c - 3 d ≥ {cut}"


# --- the others


@pytest.mark.parametrize("seed", range(4))
def test_two_planes_make_four_cells_whatever_the_seed(seed: int) -> None:
    plane, tree = axes_of(figures.partition_and_tree(seed))
    areas = [_area(patch.get_path().vertices[:-1]) for patch in plane.patches]
    assert len(areas) == 4
    assert min(areas) > 0
    assert sum(areas) == pytest.approx(np.prod([np.ptp(plane.get_xlim()), np.ptp(plane.get_ylim())]))
    boxes = [text.get_text() for text in tree.texts if "samples" in text.get_text()]
    assert boxes.pop().startswith("160 samples")  # the root is written last
    assert sum(int(box.split()[0]) for box in boxes) == 160
    assert len(boxes) == 4


def _area(corners: Array) -> float:
    x, y = corners.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def test_envelope_has_the_dots_of_the_paper() -> None:
    (axes,) = axes_of(figures.envelope_example())
    dots = {int(line.get_xdata()[0]): line for line in axes.lines if len(set(line.get_xdata())) == 1}
    # floor(10 exp(-0.5 d)) is 6 3 2 1 0 ...
    assert [len(dots[d].get_ydata()) for d in range(1, 11)] == [13, 7, 5, 3, 1, 1, 1, 1, 1, 1]
    assert [d for d in range(1, 11) if dots[d].get_color() == canvas.INK] == [1, 2, 4, 5, 6]


def test_wrong_predictions_are_marked() -> None:
    figure = figures.plane_sets(planes())
    assert [axes.get_title(loc="left") for axes in axes_of(figure)[:2]] == ["moons", "ring"]
    for axes, panel in zip(axes_of(figure)[4:], planes(), strict=True):
        assert axes.get_title(loc="left") == "accuracy 90.0 %"
        np.testing.assert_array_equal(axes.collections[-1].get_offsets(), panel.X_test[:10])


@pytest.mark.parametrize("n", [1, 2])
def test_warning_is_written_above_the_sets_in_the_plane(n: int) -> None:
    texts = [text.get_text() for text in visible_texts(figures.plane_sets(planes()[:n], OPTIMISTIC))]
    assert OPTIMISTIC in [" ".join(text.split()) for text in texts]  # in lines
    assert not any("OPTIMISTIC" in text.get_text() for text in visible_texts(figures.plane_sets(planes()[:n])))


def test_convergence_draws_means_and_bands_for_several_splits() -> None:
    one, _, many, _ = axes_of(figures.convergence([curve(1), curve(20)]))
    assert [len(axes.collections) for axes in (one, many)] == [0, 2]
    np.testing.assert_allclose(many.lines[0].get_ydata(), curve(20).forest.mean(axis=0))
    assert [label.get_text() for label in one.get_xticklabels()] == ["1", "2", "5", "10", "20", "50", "100"]


def test_convergence_has_a_further_curve_where_defaults_are_given() -> None:
    left, right = axes_of(figures.convergence([with_defaults(curve(20))]))
    for axes, names in ((left, ("SLM Forest", "random forest")), (right, ("SLM Boost", "XGBoost"))):
        assert [text.get_text() for text in axes.get_legend().get_texts()] == [*names, f"{names[0]}, defaults"]
    np.testing.assert_allclose(right.lines[2].get_ydata(), curve(20).boost.mean(axis=0) + 0.01)


def test_mean_of_the_ablation_is_the_ratio_of_errors() -> None:
    # two splits each: errors 0.2 and 0.1 of accuracy, and of RMSE, against 0.4 and 0.4
    accuracy, error = [[0.7, 0.9], [0.9, 0.9]], [[0.1, 0.3], [0.1, 0.1]]
    other = [[[0.6, 0.6], [0.6, 0.6]], [[0.4, 0.4], [0.4, 0.4]]]
    figure = figures.guided_against_uniform([4, 16], [accuracy, error], other, ["one", "two"], ["accuracy", "RMSE"])
    _, ratios = axes_of(figure)[-1].lines[:2]
    np.testing.assert_allclose(ratios.get_ydata(), [0.5, 0.25])
    np.testing.assert_allclose(axes_of(figure)[0].lines[0].get_ydata(), [0.8, 0.9])


def test_sets_without_errors_do_not_count_in_the_ratio() -> None:
    guided = np.array([[[1.0, 1.0]], [[0.8, 0.8]]])
    figure = figures.guided_against_uniform([4], guided, [[[0.9, 0.9]], [[0.6, 0.6]]], ["one", "two"], ["accuracy"] * 2)
    np.testing.assert_allclose(axes_of(figure)[-1].lines[1].get_ydata(), [0.5])


def test_best_q_is_marked_by_unit_and_unknown_units_are_refused() -> None:
    figure = figures.partitions_per_node([[1, 2, 3], [1, 2, 3]], np.ones((2, 3)), ["A", "B"], [1, 2, 3], UNITS[1:3])
    assert [int(axes.lines[1].get_xdata()[0]) for axes in axes_of(figure)[:2]] == [2, 0]
    with pytest.raises(ValueError, match="from accuracy, RMSE, log loss; got 'R2'"):
        figures.partitions_per_node([[1.0]], [[1.0]], ["A"], [1], ["R2"])
