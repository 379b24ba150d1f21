"""The figures of the paper and of the ablations, one function each; `save` writes them.

Two draw a tree of their own, one the search of a tree it is given, and the others results of experiments.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublearn.core.tree.projection import envelope
from sublearn.display.canvas import (
    COLOURS,
    GREY,
    INK,
    PALE,
    SMALL,
    TEXT,
    bare,
    dot_size,
    dress,
    new_figure,
    save,
    scatter_classes,
    small_multiples,
)
from sublearn.display.envelope import DASHES, DIMENSION, draw_curve, draw_integers
from sublearn.kernels.layout import Array
from sublearn.paper.node_figure import partition_and_tree, system_overview

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Convergence",
    "Plane",
    "convergence",
    "envelope_example",
    "guided_against_uniform",
    "partition_and_tree",
    "partitions_per_node",
    "plane_sets",
    "save",
    "system_overview",
]

N_DIMENSIONS, HEIGHT, DECAY = 10, 10.0, 0.5  # D, alpha_0 and alpha of the paper's example
SELECTED = (1, 2, 4, 5, 6)
TREE_TICKS = (1, 2, 5, 10, 20, 50, 100)
UNITS = {"accuracy": 1, "RMSE": -1, "log loss": -1}  # 1: larger is better
N_COLUMNS = 4
LEGEND: dict[str, Any] = {"fontsize": TEXT, "facecolor": "white", "edgecolor": "none", "framealpha": 1.0}


class Plane(NamedTuple):
    """A set with two features, and what a model predicts for its test samples."""

    title: str
    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    predicted: Array


class Convergence(NamedTuple):
    """Scores by the number of trees: (n_numbers,), or (n_splits, n_numbers) for a band of one standard error."""

    title: str
    n_trees: Array
    forest: Array  # accuracy
    random_forest: Array
    boost: Array  # log loss
    xgboost: Array
    default_forest: Array | None = None  # SLM by the library's defaults, where the others are the paper's settings
    default_boost: Array | None = None


def envelope_example(random_state: int = 0) -> "Figure":
    """The paper's example of the envelope, with one orientation vector drawn from it.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the vector.

    Returns
    -------
    figure : Figure
        Integers inside the envelope, black in the selected dimensions.
    """
    bounds = envelope(HEIGHT, DECAY, N_DIMENSIONS)
    rng = np.random.default_rng(random_state)
    figure = new_figure(9, 4.6)
    axes = figure.subplots()
    draw_curve(axes, HEIGHT, DECAY, N_DIMENSIONS, GREY, DASHES[0])
    axes.text(1.75, 4.9, r"$A_d = 10\,e^{-0.5\,d}$", fontsize=TEXT, color=INK)
    axes.text(1.75, -5.2, r"$-A_d$", fontsize=TEXT, color=INK)
    vector = np.zeros(N_DIMENSIONS, np.int64)
    draw_integers(axes, bounds, [INK if d in SELECTED else PALE for d in range(1, N_DIMENSIONS + 1)])
    for d in SELECTED:
        vector[d - 1] = rng.integers(-bounds[d - 1], bounds[d - 1] + 1)
    drawn = np.array(SELECTED)
    text = "a' = (" + ", ".join(str(a) for a in vector).replace("-", "\N{MINUS SIGN}") + ")"
    axes.plot(drawn, vector[drawn - 1], "o-", color=COLOURS[1], linewidth=1.5, markersize=9, label=text)
    axes.plot([], [], "o", color=INK, markersize=5, label="may be chosen (selected dimensions)")
    axes.plot([], [], "o", color=PALE, markersize=5, label="not selected")
    axes.legend(fontsize=TEXT, frameon=False, loc="upper right")
    dress(
        axes,
        r"D = 10, R = 5, $\alpha_0$ = 10, $\alpha$ = 0.5",
        DIMENSION,
        "coefficient $a'_d$",
    )
    axes.set(xticks=range(1, N_DIMENSIONS + 1), xlim=(0.5, N_DIMENSIONS + 0.5), ylim=(-7.5, 7.5))
    return figure


def plane_sets(panels: Sequence[Plane], warning: str = "") -> "Figure":
    """The paper's sets in the plane: training samples, test samples, and what SLM makes of these.

    Parameters
    ----------
    panels : sequence of Plane
        One a column.
    warning : str, default=""
        What must be said above them.

    Returns
    -------
    figure : Figure
        Three rows; in the last one crosses mark the samples that are predicted wrongly.
    """
    figure = new_figure(3.3 * len(panels) + 0.3, 9.9)
    if warning:
        figure.suptitle(textwrap.fill(warning, 38 * len(panels)), fontsize=TEXT, color=COLOURS[1])
    rows = figure.subplots(3, len(panels), squeeze=False)
    for j, panel in enumerate(panels):
        classes = np.unique(np.concatenate([panel.y_train, panel.y_test, panel.predicted]))
        right = panel.predicted == panel.y_test
        both = np.concatenate([panel.X_train, panel.X_test])
        margin = 0.05 * np.ptp(both, axis=0)
        low, high = both.min(axis=0) - margin, both.max(axis=0) + margin
        contents = (
            (panel.title, panel.X_train, panel.y_train),
            ("", panel.X_test, panel.y_test),
            (f"accuracy {100 * right.mean():.1f} %", panel.X_test, panel.predicted),
        )
        for axes, name, (title, X, y) in zip(rows[:, j], ("training", "test", "predicted"), contents, strict=True):
            scatter_classes(axes, X, y, classes, dot_size(len(y)))
            dress(axes, title, "", "" if j else name)
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), box_aspect=1)
            bare(axes)
        rows[2, j].scatter(*panel.X_test[~right].T, s=34, marker="x", color=INK, linewidths=1.3, zorder=3)
    return figure


def convergence(curves: Sequence[Convergence]) -> "Figure":
    """How ensembles improve with the number of trees: the paper's comparison with a random forest and XGBoost.

    Parameters
    ----------
    curves : sequence of Convergence
        One a row.

    Returns
    -------
    figure : Figure
        On the left the accuracy of forests, on the right the log loss of boosting.
    """
    figure = new_figure(10, 0.4 + 2.7 * len(curves))
    rows = figure.subplots(len(curves), 2, squeeze=False)
    for curve, (left, right) in zip(curves, rows, strict=True):
        forests = {"SLM Forest": curve.forest, "random forest": curve.random_forest}
        boosters = {"SLM Boost": curve.boost, "XGBoost": curve.xgboost}
        if curve.default_forest is not None:
            forests["SLM Forest, defaults"] = curve.default_forest
        if curve.default_boost is not None:
            boosters["SLM Boost, defaults"] = curve.default_boost
        _draw_curves(left, curve.n_trees, forests)
        _draw_curves(right, curve.n_trees, boosters)
        below = "trees" if curve is curves[-1] else ""
        dress(left, curve.title, below, "accuracy")
        dress(right, curve.title, below, "log loss")
        left.legend(**LEGEND, loc="lower right")
        right.legend(**LEGEND, loc="best")  # log loss falls, or falls and rises again
    return figure


def guided_against_uniform(
    n_projections: Sequence[int], guided: Any, uniform: Any, titles: Sequence[str], units: Sequence[str]
) -> "Figure":
    """Drawing projections with the paper's guidance (ranking, P_d and envelope) against drawing them uniformly.

    Parameters
    ----------
    n_projections : sequence of int
        Numbers of candidate projections a node, rising.
    guided, uniform : array-like of shape (n_sets, len(n_projections), n_splits)
        Test scores.
    titles : sequence of str
        Names of the sets.
    units : sequence of str
        What the scores of each set are: "accuracy", "RMSE" or "log loss".

    Returns
    -------
    figure : Figure
        A panel a set, with standard errors, and the geometric mean over sets of the ratio of errors; the error is 1
        less the accuracy, or the score itself.
    """
    guided, uniform = np.asarray(guided, np.float64), np.asarray(uniform, np.float64)
    errors = [
        np.where(_directions(units, "guided_against_uniform")[:, None] > 0, 1 - mean, mean)
        for mean in (guided.mean(axis=2), uniform.mean(axis=2))
    ]
    ratios = _log_ratios(*errors)
    figure = new_figure(10, 0.5 + 2.0 * -(-(len(titles) + 1) // N_COLUMNS))
    *panels, mean = small_multiples(figure, len(titles) + 1, N_COLUMNS)
    for axes, title, unit, *scores in zip(panels, titles, units, guided, uniform, strict=True):
        _draw_against_projections(axes, n_projections, scores)
        dress(axes, title, "", unit)
    _draw_ratios(mean, n_projections, ratios)
    dress(mean, "mean of all", "", "ratio of errors")
    mean.set_facecolor("#F6F6F6")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=TEXT, frameon=False
    )
    figure.supxlabel("candidate projections a node", fontsize=TEXT, color=INK)
    return figure


def partitions_per_node(
    scores: Any, depths: Any, titles: Sequence[str], q: Sequence[int], units: Sequence[str]
) -> "Figure":
    """Trees with up to q hyperplanes a node: their test score, as a line, above their depth, as bars.

    Parameters
    ----------
    scores, depths : array-like of shape (n_sets, len(q))
        Test scores and depths.
    titles : sequence of str
        Names of the sets.
    q : sequence of int
        Values of `max_partitions`.
    units : sequence of str
        What the scores of each set are: "accuracy", "RMSE" or "log loss".

    Returns
    -------
    figure : Figure
        A panel a set.
    """
    scores, depths = np.asarray(scores, np.float64), np.asarray(depths, np.float64)
    directions = _directions(units, "partitions_per_node")
    figure = new_figure(10, 0.5 + 2.3 * -(-len(titles) // N_COLUMNS))
    from matplotlib.patches import Patch  # an extra, of which new_figure has told

    panels = small_multiples(figure, len(titles), N_COLUMNS)
    for axes, title, unit, score, depth, direction in zip(
        panels, titles, units, scores, depths, directions, strict=True
    ):
        _draw_depths(axes, depth)
        _draw_scores(axes, score, int((direction * score).argmax()))
        dress(axes, title, "", unit)
        axes.set_xticks(range(len(q)), [f"q = {n}" for n in q])
        axes.set_xlim(-0.6, len(q) - 0.4)
    handles, _ = figure.axes[0].get_legend_handles_labels()
    handles.append(Patch(color=PALE, label="depth"))
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=TEXT, frameon=False)
    return figure


# --- parts of panels


def _draw_curves(axes: Any, n_trees: Array, curves: dict[str, Array]) -> None:
    for (label, values), colour in zip(curves.items(), COLOURS, strict=False):
        splits = np.atleast_2d(values)
        mean = splits.mean(axis=0)
        if len(splits) > 1:
            error = splits.std(axis=0, ddof=1) / np.sqrt(len(splits))
            axes.fill_between(n_trees, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
        axes.plot(n_trees, mean, "o-", color=colour, label=label, markersize=4, linewidth=1.5)
    axes.set_xscale("log")
    ticks = [n for n in TREE_TICKS if min(n_trees) <= n <= max(n_trees)]
    axes.set_xticks(ticks, map(str, ticks))
    axes.minorticks_off()
    axes.grid(axis="y", color=PALE, linewidth=0.6)


def _draw_against_projections(axes: Any, n_projections: Sequence[int], scores: Sequence[Array]) -> None:
    looks = ("guided", COLOURS[0], "o-", 0.96), ("uniform", COLOURS[1], "^-", 1.04)
    for score, (label, colour, look, aside) in zip(scores, looks, strict=True):
        places = aside * np.array(n_projections)  # so that one bar does not hide the other
        _draw_means(axes, places, score.T, look, color=colour, label=label)
    _scale_projections(axes, n_projections)


def _draw_ratios(axes: Any, n_projections: Sequence[int], log_ratios: Array) -> None:
    """Geometric means with their standard errors over the sets; 1 where both err alike."""
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    mean, error = log_ratios.mean(axis=0), _standard_error(log_ratios)
    low, high = np.exp(mean) - np.exp(mean - error), np.exp(mean + error) - np.exp(mean)
    axes.errorbar(n_projections, np.exp(mean), np.array([low, high]), fmt="s-", color=INK, markersize=4, linewidth=1.4)
    _scale_projections(axes, n_projections)


def _draw_means(axes: Any, places: Array, values: Array, fmt: str, **style: Any) -> None:
    """Means over the first axis, with bars of one standard error."""
    mean, error = values.mean(axis=0), _standard_error(values)
    axes.errorbar(places, mean, error, fmt=fmt, markersize=4, linewidth=1.4, elinewidth=0.9, **style)


def _standard_error(values: Array) -> Array:
    n = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(values.shape[1:])


def _scale_projections(axes: Any, n_projections: Sequence[int]) -> None:
    axes.set_xscale("log")
    ticks = n_projections[:: 2 if len(n_projections) > 5 else 1]  # what a small panel has room for
    axes.set_xticks(ticks, map(str, ticks))
    axes.minorticks_off()
    axes.locator_params(axis="y", nbins=4)


def _draw_depths(axes: Any, depth: Array) -> None:
    """Bars in the lower part of a panel, with their numbers, on a scale of their own."""
    below = axes.twinx()
    below.bar(range(len(depth)), depth, color=PALE, width=0.5)
    below.set(ylim=(0, 2.9 * max(depth.max(), 1e-9)), yticks=[])
    below.spines[:].set_visible(False)
    for i, value in enumerate(depth):
        below.text(i, 0.04 * below.get_ylim()[1], f"{value:.1f}", ha="center", fontsize=SMALL, color=INK)
    axes.set_zorder(below.get_zorder() + 1)  # the line above the bars
    axes.patch.set_visible(False)


def _draw_scores(axes: Any, score: Array, best: int) -> None:
    """A line in the upper part of a panel."""
    from matplotlib.ticker import MaxNLocator

    axes.plot(range(len(score)), score, "o-", color=COLOURS[0], label="score", markersize=5, linewidth=1.5)
    axes.plot([best], [score[best]], "o", color=COLOURS[1], label="best", markersize=7)
    middle = (score.min() + score.max()) / 2
    reach = max(float(np.ptp(score)) / 2, 0.005 * abs(middle), 1e-12)
    ticks = MaxNLocator(3).tick_values(middle - reach, middle + reach)
    axes.set_yticks([t for t in ticks if abs(t - middle) <= 1.4 * reach])
    axes.set_ylim(middle - 3.3 * reach, middle + 1.5 * reach)


def _directions(units: Sequence[str], owner: str) -> Array:
    """1 where a larger score is better, -1 where a smaller one is."""
    unknown = [unit for unit in units if unit not in UNITS]
    if unknown:
        raise ValueError(f"units of {owner} must be from {', '.join(UNITS)}; got {unknown[0]!r}.")
    return np.array([UNITS[unit] for unit in units])


def _log_ratios(errors: Array, others: Array) -> Array:
    """Logarithms of errors (n_sets, n) over others, of the sets in which none is 0."""
    usable = (errors > 0).all(axis=1) & (others > 0).all(axis=1)
    if not usable.any():
        return np.zeros((1, errors.shape[1]))
    ratios: Array = np.log(errors[usable] / others[usable])
    return ratios
