"""Figures of one node, the root of a fitted tree: its partition of the plane, and its search step by step."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import make_blobs

from sublearn.core.data.codes import line_of
from sublearn.display.canvas import (
    COLOURS,
    GREY,
    INK,
    SMALL,
    TEXT,
    TITLE,
    bare,
    dot_size,
    dress,
    new_figure,
    scatter_classes,
    stack_bars,
    style_of,
    tint,
)
from sublearn.display.feature_test import draw_bars
from sublearn.display.polygons import cell_of
from sublearn.display.search import RootSearch, search_root
from sublearn.export import names_of_features
from sublearn.kernels.layout import Array
from sublearn.tree import SLMClassifier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = "abcdefgh"
AXES = ("x₁", "x₂")
DASHES = ("solid", (0, (5, 2)))  # lines of the first two hyperplanes
MINUS, JOINT = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"
CENTRES = np.array([[0.2, 2.0], [2.4, 0.3], [-0.2, -2.0], [-2.4, -0.3]])  # in four quarters that lie askew
N_SAMPLES = 160
N_NAMED = 30  # features that panel 1 of the overview has room for
LINE = 84  # characters of a formula's line


# --- the partition of a plane, and the tree of it


def partition_and_tree(random_state: int = 0) -> "Figure":
    """The paper's first figure: (a) two hyperplanes cut the plane into four cells, (b) the tree with four children.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample and of the tree that is fitted to it.

    Returns
    -------
    figure : Figure
        Two panels.
    """
    X, y = make_blobs(N_SAMPLES, centers=CENTRES, cluster_std=0.55, random_state=random_state)
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # hyperplanes then have integer coefficients in the units of the axes
    y += 1
    model = SLMClassifier(max_partitions=2, max_depth=1, feature_map="linear", random_state=random_state).fit(X, y)
    search = search_root(model, X, y)
    figure = new_figure(10, 4.9)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
    _draw_plane(left, search, X, y)
    _draw_tree(right, search, y)
    return figure


def root_lines(search: RootSearch) -> Array:
    """Hyperplanes over two features with linear maps, as lines (n_kept, 3): positive where a x + b y >= t."""
    slopes, offsets, *_ = zip(*(line_of(search.maps, f) for f in (0, 1)), strict=True)
    vectors = search.vectors[search.kept]
    cuts = search.thresholds[search.kept] - 0.5  # codes are rounded, so the cut lies between two integers
    return np.column_stack([vectors * slopes, cuts - vectors @ offsets])


def signs(code: int, n_planes: int) -> str:
    """A child code as sides of the hyperplanes, the first one first: "+" is >=."""
    return "".join("+" if code >> j & 1 else MINUS for j in range(n_planes))


def formula(search: RootSearch, plane: int, names: Sequence[str]) -> str:
    """A kept hyperplane as an inequality over features in deviations from their means, best feature first.

    Lines may break before a term, since all other spaces are such as join what they part.
    """
    candidate = search.kept[plane]
    terms: list[str] = []
    for f in search.subspace:
        a = search.vectors[candidate, f]
        if a:
            sign = (f"+{JOINT}" if a > 0 else f"{MINUS}{JOINT}") if terms else ("" if a > 0 else MINUS)
            name = names[f] if line_of(search.maps, f).straight else f"g({names[f]})"
            terms.append(sign + (f"{abs(a)}{JOINT}" if abs(a) > 1 else "") + name.replace(" ", JOINT))
    cut = round(_in_deviations(search, search.thresholds[candidate] - 0.5), 2) + 0.0  # no minus before 0.00
    return f"{' '.join(terms)} ≥{JOINT}{f'{cut:.2f}'.replace('-', MINUS)}"


def _in_deviations(search: RootSearch, codes: Any) -> Any:
    return codes / search.maps.per_deviation


def _majority(search: RootSearch, y: Array, code: int) -> str:
    """Colour of the most frequent class of a cell."""
    inside = np.searchsorted(np.unique(y), y[search.rows[search.cells == code]])
    return style_of(int(np.bincount(inside).argmax())).colour if len(inside) else GREY


def _draw_plane(axes: Any, search: RootSearch, X: Array, y: Array) -> None:
    reach = 1.25 * np.abs(X).max()
    frame = reach * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    lines = root_lines(search)
    for code in range(1 << len(lines)):
        cell = cell_of(frame, lines, code)
        inside = X[search.rows[search.cells == code]]
        axes.fill(*cell.T, facecolor=tint(_majority(search, y, code)), zorder=0)
        ahead = (inside if len(inside) else cell).mean(axis=0)
        outer = 0.92 * reach * ahead / np.abs(ahead).max()  # near the frame, away from the samples
        axes.text(*outer, signs(code, len(lines)), ha="center", va="center", fontsize=13, fontweight="bold", color=INK)
    scatter_classes(axes, X, y, np.unique(y), 22)
    for j, (a, b, t) in enumerate(lines):
        foot = np.array([a, b]) * t / (a * a + b * b)
        axes.axline(foot, foot + np.array([-b, a]), color=INK, linewidth=1.8, linestyle=DASHES[j])
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", anchor="N")
    dress(axes, "", *AXES)
    axes.set_title("(a)", loc="left", fontsize=TITLE, color=INK, pad=24)
    bare(axes)
    from_left = np.argsort([_upper_end(line, reach)[0] for line in lines])
    for place, j in zip(np.linspace(0, 1, len(lines)), from_left, strict=True):
        text = f"{LETTERS[j]}: {formula(search, j, AXES)}"
        side = "left" if place == 0 else "right"
        axes.text(place, 1.02, text, ha=side, transform=axes.transAxes, fontsize=TEXT, color=INK)


def _upper_end(line: Array, reach: float) -> Array:
    """Where a line leaves the square frame upwards."""
    a, b, t = line
    ends = [(x, (t - a * x) / b) for x in (-reach, reach) if b] + [((t - b * y) / a, y) for y in (-reach, reach) if a]
    inside = [end for end in ends if max(np.abs(end)) <= reach * (1 + 1e-9)]
    return np.array(max(inside, key=lambda end: float(end[1])))


def _draw_tree(axes: Any, search: RootSearch, y: Array) -> None:
    n_cells = 1 << search.n_kept
    planes = [f"{LETTERS[j]}: {formula(search, j, AXES)}" for j in range(search.n_kept)]
    places = (np.arange(n_cells) + 0.5) / n_cells
    for code, place in enumerate(places):
        inside = y[search.rows[search.cells == code]]
        found, counts = np.unique(inside, return_counts=True)
        colour = _majority(search, y, code)
        axes.plot([0.5, place], [0.78, 0.3], color=GREY, linewidth=1.2, zorder=0)
        text = "\n".join(f"class {c}: {n}" for c, n in zip(found, counts, strict=True))
        _box(axes, place, 0.24, f"{len(inside)} samples\n{text}", tint(colour), colour)
        middle = 0.5 + 0.62 * (place - 0.5), 0.78 - 0.62 * 0.48
        code_box = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        label = signs(code, search.n_kept)
        axes.text(*middle, label, ha="center", va="center", fontsize=13, fontweight="bold", color=INK, bbox=code_box)
    _box(axes, 0.5, 0.84, "\n".join([f"{len(search.rows)} samples", *planes]), "white", INK)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_title("(b)", loc="left", fontsize=TITLE, color=INK, pad=24)
    axes.set_axis_off()


def _box(axes: Any, x: float, y: float, text: str, face: Any, edge: str) -> None:
    box = {"boxstyle": "round,pad=0.5", "facecolor": face, "edgecolor": edge, "linewidth": 1.2}
    axes.text(x, y, text, ha="center", va="center", fontsize=TEXT, color=INK, linespacing=1.4, bbox=box)


# --- the search of a node


def system_overview(model: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None) -> "Figure":
    """The paper's overview of the system, as it went in the root of a fitted tree.

    Parameters
    ----------
    model : SLMClassifier or SLMRegressor
        A tree whose root is split, fitted without weights and with an int as `random_state`.
    X, y : array-like
        What it was fitted to.
    feature_names : sequence of str, default=None
        Names of the features; None: those seen in fit, or x0, x1, ...

    Returns
    -------
    figure : Figure
        The test of each feature alone, the candidate projections, and the samples cut by those that are kept.
    """
    search = search_root(model, X, y)
    names = names_of_features(model._model, feature_names, "system_overview")
    formulas = _formula_lines(search, names)
    figure = new_figure(11, max(4.5, 0.9 + 0.165 * min(len(names), N_NAMED)) + 0.2 * len(formulas))
    grid = figure.add_gridspec(2, 3, width_ratios=[0.8, 1, 1.15], height_ratios=[1, 0.01])
    _draw_features(figure.add_subplot(grid[:, 0]), search, names)
    _draw_candidates(figure.add_subplot(grid[0, 1]), search)
    samples = figure.add_subplot(grid[0, 2])
    _draw_samples(samples, search, np.asarray(y)[search.rows], getattr(model, "classes_", None))
    below = figure.add_subplot(grid[1, 1:])
    below.text(0, 1, "\n".join(formulas), ha="left", va="top", fontsize=SMALL, color=INK, linespacing=1.5)
    below.set_axis_off()
    return figure


def _draw_features(axes: Any, search: RootSearch, names: list[str]) -> None:
    """Panel 1: the loss that the best cut of each feature leaves."""
    order = np.argsort(search.feature_losses, kind="stable")
    n_others = N_NAMED - len(search.subspace)
    others = [f for f in order if f not in search.subspace][: max(n_others, 0)]
    shown = [f for f in order if f in others or f in search.subspace]
    is_kept = np.isin(np.arange(len(names)), search.subspace)
    hidden = len(names) - len(shown)
    xlabel = f"loss, best {len(shown)} of {len(names)}" if hidden else "loss"
    draw_bars(axes, search.feature_losses, search.loss, shown, is_kept, names, "1  features (S₀ blue)", xlabel)


def _draw_candidates(axes: Any, search: RootSearch) -> None:
    """Panel 2: the candidates by their loss, with the letters of those that are kept."""
    order = np.argsort(search.losses, kind="stable")
    n, losses = len(order), search.losses[order]
    axes.scatter(np.arange(1, n + 1), losses, s=9, color=GREY)
    axes.axhline(search.loss, color=INK, linewidth=1)
    height = search.loss - losses[0]
    axes.text(1, search.loss + 0.02 * height, "the node", va="bottom", fontsize=SMALL, color=INK)
    low = losses[0] - 0.2 * height
    ranks = 1 + np.flatnonzero(np.isin(order, search.kept))
    at = -np.inf
    for rank in ranks:
        j = int(np.flatnonzero(search.kept == order[rank - 1])[0])
        at = max(float(rank), at + 0.07 * n)  # letters side by side where ranks are close
        loss = losses[rank - 1]
        axes.plot([rank, at], [loss, low + 0.09 * height], color=COLOURS[1], linewidth=1, zorder=1)
        axes.plot([rank], [loss], "o", color=COLOURS[1], markersize=6)
        axes.text(at, low + 0.08 * height, LETTERS[j], ha="center", va="top", fontsize=TEXT, color=COLOURS[1])
    axes.set(ylim=(low, search.loss + 0.12 * height), xlim=(-0.04 * n, max(1.04 * n, at + 0.05 * n)))
    dress(axes, f"2  {n} projections, {search.n_kept} kept", "candidates, best first", "loss")


def _draw_samples(axes: Any, search: RootSearch, y: Array, classes: Any) -> None:
    """Panel 3: the samples of the node where the first two hyperplanes cut them."""
    places = _in_deviations(search, search.projected)
    cuts = _in_deviations(search, search.thresholds[search.kept] - 0.5)
    if search.n_kept > 1:
        _scatter(axes, places[:2].T, y, classes)
        axes.axhline(cuts[1], color=INK, linewidth=1.5, linestyle=DASHES[1])
    elif classes is None:
        axes.scatter(places[0], y, s=dot_size(len(y)), color=COLOURS[0])
    else:
        parts = [places[0, y == c] for c in classes]
        colours = [style_of(k).colour for k in range(len(parts))]
        stack_bars(axes, parts, colours, [str(c) for c in classes])
    axes.axvline(cuts[0], color=INK, linewidth=1.5, linestyle=DASHES[0])
    axes.margins(0.05)
    low, high = axes.get_ylim()
    axes.set_ylim(low - (0.16 * (high - low) if search.n_kept > 1 else 0), high + 0.16 * (high - low))
    ylabel = "projection b" if search.n_kept > 1 else "target" if classes is None else "samples"
    dress(axes, f"3  {len(np.unique(search.cells))} children", "projection a", ylabel)
    _write_counts(axes, search)
    if classes is not None:
        _add_legend(axes, len(y))


def _add_legend(axes: Any, n_samples: int) -> None:
    """The classes, below the panel and its labels."""
    from matplotlib.transforms import ScaledTranslation

    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axes.transAxes + ScaledTranslation(0, -0.5, axes.figure.dpi_scale_trans),
        ncols=5,
        fontsize=SMALL,
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.2,
        markerscale=(25 / dot_size(n_samples)) ** 0.5,  # small dots in the panel, legible ones here
    )


def _scatter(axes: Any, places: Array, y: Array, classes: Any) -> None:
    if classes is not None:
        scatter_classes(axes, places, y, classes, dot_size(len(y)))
        return
    dots = axes.scatter(*places.T, s=dot_size(len(y)), c=y, cmap="viridis")
    bar = axes.figure.colorbar(dots, ax=axes, pad=0.02, aspect=30)
    bar.set_label("target", fontsize=TEXT, color=INK)
    bar.ax.tick_params(labelsize=SMALL)


def _write_counts(axes: Any, search: RootSearch) -> None:
    """The children and their samples, in the corner of the plane where they are."""
    codes, counts = np.unique(search.cells, return_counts=True)
    corners: dict[int, list[str]] = {}
    for code, n in zip(codes.tolist(), counts, strict=True):
        corners.setdefault(code & 3, []).append(f"{signs(code, search.n_kept)}  {n}")
    for corner, lines in corners.items():
        right, top = corner & 1, corner >> 1 & 1 or search.n_kept == 1
        axes.text(
            0.98 if right else 0.02,
            0.98 if top else 0.02,
            "\n".join(lines),
            transform=axes.transAxes,
            ha="right" if right else "left",
            va="top" if top else "bottom",
            fontsize=TEXT,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
        )


def _formula_lines(search: RootSearch, names: list[str]) -> list[str]:
    lines = []
    for j in range(search.n_kept):
        lines += textwrap.wrap(f"{LETTERS[j]}: {formula(search, j, names)}", LINE, subsequent_indent=4 * JOINT)
    return [*lines, "features in deviations from their means"]
