"""The display of one node."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from sublearn.core.data.codes import encode_samples
from sublearn.display.canvas import (
    COLOURS,
    SMALL,
    TEXT,
    TITLE,
    Palette,
    cells_of,
    dot_size,
    dress,
    palette_of,
    rgb,
    stack_bars,
)
from sublearn.display.legend import key_lines, map_lines
from sublearn.display.names import MINUS, elided, one_line, percent, short_names
from sublearn.display.node_view import (
    ALONE,
    ENTROPY,
    GINI,
    OBJECTIVE,
    SQUARED_ERROR,
    Curve,
    Targets,
    coarse_curve,
    cosines,
    fine_curve,
    position_of,
    projected,
    reaching,
    split_losses,
    take_in,
    targets_of,
)
from sublearn.display.ruler import Ruler
from sublearn.display.tree import names_of_classes
from sublearn.display.tree_layout import plane_words
from sublearn.export.chosen import fitted_model, tree_number
from sublearn.export.inequalities import LETTERS, Inequalities, Inequality, names_of_features
from sublearn.kernels.layout import Array

OWNER = "NodeDisplay.from_estimator"
LOSSES = {
    ENTROPY: "loss, bits",
    GINI: "loss, Gini",
    SQUARED_ERROR: "loss, squared error",
    OBJECTIVE: "objective a sample",
}
MOST_COLOURED = 5  # classes, where there are more than colours; the others are one
SIDE_WIDTH, PANEL_WIDTH = 1.9, 3.6  # inches
MOST_BESIDE = 3  # hyperplanes
PANEL_HEIGHTS = 1.7, 1.3
POINTS = 72.0
TITLE_SHARE = 0.82  # of a panel's width, since labels of its neighbour take some
WIDE_PANEL = 5.2  # of the only one
NARROW_SIDE, NARROW = 1.2, 1.8  # inches on axes of the user's: of the last column; of panels with few ticks
MARGIN = 1.0  # inches that labels take from the width
CELLS, COSINE = 0.7, 2.2  # of its place, what a matrix takes; what a cosine takes, by its size of type
LEAST, MOST_NOTES = 6.5, 6  # points of type and lines, on axes of the user's
LINE = 1.35 / POINTS  # inches of a line a point of type
LONGEST, SHORTER, SHORTEST = 34, 28, 16  # characters of a name: above one panel, above several, on axes of the user's


class PlaneView(NamedTuple):
    """A hyperplane of a node, and what it does to the samples there."""

    inequality: Inequality
    values: Array  # float64 (n_samples,), the left side of the inequality
    cut: float
    chosen_loss: float  # that the cut leaves of these samples
    fine: Curve
    coarse: Curve


class NodeView(NamedTuple):
    """What a display of a node draws."""

    title: str
    planes: list[PlaneView]
    cosines: Array  # float64 (n_planes, n_planes)
    loss: float  # of the samples before they are cut
    loss_name: str
    labels: Array | None  # int64 (n_samples,), positions of classes
    numbers: Array  # float64 (n_samples,), targets, or what boosting has left to learn
    numbers_name: str
    class_names: list[str]
    notes: list[str]


class NodeDisplay:
    """One node of a fitted tree: its samples where each hyperplane projects them, and how good other cuts would be.

    A column is a hyperplane. Its upper panel has the samples at the value of the left side of the inequality above it:
    bars by class, or dots at their targets. A line is the chosen cut, and "+a" the side where the inequality is true.
    The lower panel has the mean loss of both sides for each threshold: the thin curve for all that part the samples,
    dots for the boundaries of 16 bins of equal width, as a search tries them, and a diamond for the chosen cut. The
    last column has the cosines between the vectors of integer coefficients; a node keeps hyperplanes whose cosines are
    small.

    The samples are those given to `from_estimator`, as far as they reach the node, each with weight 1. With the
    training samples of a tree without weights the diamond is at the lowest dot, unless the search had other bins. With
    others it tells how the cut does on those. Trees that have grown from bags, from a race, with weights, or from means
    of categories have seen other samples than X.

    A tree of boosting learns from derivatives of its loss. They are taken at what the trees before it predict for X,
    without exposure, and the loss is the objective that its leaves minimise, -G² / (H + l2) by the number of samples,
    summed over all outputs. A tree of several outputs was searched along one direction among them, so that its cut need
    not be at the lowest dot. For numbers, dots are at minus the gradient; for the squared error that is the residual.

    Use `from_estimator` to make one.

    Parameters
    ----------
    view : NodeView
        What is drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The panel of the first projection.
    axes_ : dict of str to matplotlib Axes
        All panels: "projection a", "loss a" and so on, "cosines", where there are several hyperplanes, and others
        that have nothing but text.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    TreeDisplay : All nodes of a tree.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier
    >>> from sublearn.display import NodeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(max_partitions=1, random_state=0).fit(X, y)
    >>> axes = Figure(figsize=(6, 5), layout="constrained").subplots()
    >>> display = NodeDisplay.from_estimator(model, X, y, ax=axes)
    >>> sorted(display.axes_)[:2]
    ['legend', 'loss a']
    """

    ax_: Any
    axes_: dict[str, Any]
    figure_: Any

    def __init__(self, view: NodeView) -> None:
        self.view = view

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        node: int = 0,
        tree: int | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a node of a fitted model with the samples of X that reach it.

        Parameters
        ----------
        model : SLM estimator
            A fitted tree, forest or boosting.
        X : array-like of shape (n_samples, n_features)
            Samples; those of the fit, or others.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        node : int, default=0
            Number of the node within its tree, the root being 0; it must be split.
        tree : int, default=None
            Number of the tree, from 0; a forest and boosting need it.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        class_names : sequence of str, default=None
            Names of the classes, in the order of `classes_`; None: the classes themselves.
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided into panels. None: on a new figure.

        Returns
        -------
        display : NodeDisplay
            The display, drawn.
        """
        fitted = fitted_model(model, OWNER)
        number = tree_number(model, tree, OWNER)
        i = position_of(fitted, int(fitted.ensemble.roots[number]), node, number, OWNER)
        names = names_of_features(fitted, feature_names, OWNER)
        classes = names_of_classes(fitted, class_names, OWNER)
        x, targets = take_in(model, fitted, X, y, OWNER)
        codes = encode_samples(x, fitted.maps, ALONE)
        inside = reaching(fitted, codes, number, i)
        if not inside.any():
            raise ValueError(f"X of {OWNER} must have samples that reach node {node}; none of {len(x)} does.")
        q = int(np.diff(fitted.ensemble.nodes.first_plane[i : i + 2])[0])
        most = SHORTEST if ax is not None else SHORTER if q > 1 else LONGEST
        writer = Inequalities(fitted, short_names(names, most), digits=3)
        sums = targets_of(model, fitted, codes, targets, number).of(inside)
        planes = plane_views(writer, i, projected(fitted, codes[:, inside], i), sums, most)
        labels = targets[inside] if fitted.classes is not None else None
        is_boosting = sums.loss == OBJECTIVE
        n_trees = fitted.ensemble.n_trees
        whose = type(model).__name__ + (f", tree {number} of {n_trees}" if n_trees > 1 else "")
        share = percent(float(inside.mean()))
        n = int(inside.sum())
        view = NodeView(
            title=f"{whose}, node {node}: {n} sample{'s' * (n != 1)}, {share} of X",
            planes=planes,
            cosines=cosines(fitted, i),
            loss=float(split_losses(np.zeros(n), sums, np.zeros(1))[0]),
            loss_name=LOSSES[sums.loss],
            labels=labels,
            numbers=-sums.sums[:, 0] if is_boosting else targets[inside],
            numbers_name="minus gradient" if is_boosting else "target",
            class_names=[elided(name, 24) for name in classes],
            notes=[*map_lines(writer), *key_lines(writer, names, most)],
        )
        return cls(view).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the node.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided into panels. None: on a new figure.

        Returns
        -------
        display : NodeDisplay
            This display.
        """
        view, q = self.view, len(self.view.planes)
        n_beside = min(q, MOST_BESIDE)
        n_blocks = -(-q // n_beside)
        ruler = Ruler()
        panel = PANEL_WIDTH if q > 1 else WIDE_PANEL
        width = n_beside * panel + SIDE_WIDTH
        titles, notes = title_lines(view, ruler, panel, TEXT), note_lines(view, ruler, width)
        side, title_size, title_height = SIDE_WIDTH, float(TEXT), LINE * TEXT * max(map(len, titles))
        height = 0.7 + n_blocks * (sum(PANEL_HEIGHTS) + title_height + 0.9) + LINE * SMALL * (len(notes) + 1)
        cells = cells_of(ax, width, height, "NodeDisplay.plot")
        if cells.holder is not None:
            panel = 0.75 * (cells.width - NARROW_SIDE) / n_beside
            side = NARROW_SIDE
            title_size = float(np.clip(TEXT * panel / 2.2, LEAST, TEXT))
            titles = title_lines(view, ruler, panel, title_size, 4)
            notes = note_lines(view, ruler, cells.width)[:MOST_NOTES]
        heights = [LINE * TITLE, *(PANEL_HEIGHTS * n_blocks), max(LINE * SMALL * len(notes), 0.01)]
        ratios = {"width_ratios": [*[panel] * n_beside, side], "height_ratios": heights}
        grid = cells.grid(2 * n_blocks + 2, n_beside + 1, **ratios)
        add = cells.figure.add_subplot
        self.axes_ = {}
        head = self.axes_["title"] = text_panel(add(grid[0, :]))
        palette = palette_of(head)
        head.text(
            0, 0.5, view.title, va="center", fontsize=TITLE, fontweight="bold", color=palette.ink, parse_math=False
        )
        for j, plane in enumerate(view.planes):
            row, column, letter = 1 + 2 * (j // n_beside), j % n_beside, LETTERS[j]
            upper = self.axes_[f"projection {letter}"] = add(grid[row, column])
            lower = self.axes_[f"loss {letter}"] = add(grid[row + 1, column], sharex=upper)
            draw_projection(upper, view, plane, letter, is_first=column == 0)
            upper.set_title(
                "\n".join(titles[j]),
                loc="left",
                fontsize=title_size,
                color=palette.ink,
                linespacing=1.3,
                parse_math=False,
            )
            draw_losses(lower, view, plane, letter, is_first=column == 0)
            lower.locator_params(axis="x", nbins=3 if panel < NARROW else 5)
            for panel_axes in (upper, lower):
                panel_axes.locator_params(axis="y", nbins=4 if cells.holder is None else 2)
        if q > 1:
            room = PANEL_HEIGHTS[0] * cells.height / height
            self.axes_["cosines"] = add(grid[1, n_beside])
            draw_cosines(self.axes_["cosines"], view.cosines, CELLS * min(side, room) * POINTS / q)
        side = self.axes_["legend"] = text_panel(add(grid[2 if q > 1 else 1, n_beside]))
        draw_legend(side, view, palette)
        foot = self.axes_["notes"] = text_panel(add(grid[-1, :]))
        foot.text(
            0, 1, "\n".join(notes), va="top", fontsize=SMALL, color=palette.grey, linespacing=1.3, parse_math=False
        )
        self.ax_, self.figure_ = self.axes_["projection a"], cells.figure
        return self


def plane_views(writer: Inequalities, i: int, projections: Array, targets: Targets, most: int) -> list[PlaneView]:
    """The hyperplanes of node i; projections (n_planes, n_samples) are in codes."""
    tree = writer.tree
    found = []
    for p, codes in zip(range(tree.first_plane[i], tree.first_plane[i + 1]), projections, strict=True):
        inequality = writer.inequality(p)
        threshold = tree.threshold[p] - 0.5  # codes are rounded, so the cut lies between two integers
        in_codes = [fine_curve(codes, targets), coarse_curve(codes, targets)]

        def left_side(values: Any, own: Inequality = inequality) -> Any:
            return (values - own.offset) / own.scale

        fine, coarse = (curve._replace(thresholds=left_side(curve.thresholds)) for curve in in_codes)
        found.append(
            PlaneView(
                inequality=inequality._replace(terms=tuple(elided(one_line(t), most + 20) for t in inequality.terms)),
                values=left_side(codes),
                cut=float(left_side(threshold)),
                chosen_loss=float(split_losses(codes, targets, np.array([threshold]))[0]),
                fine=fine,
                coarse=coarse,
            )
        )
    return found


def title_lines(view: NodeView, ruler: Ruler, width: float, size: float, most: int = 0) -> list[list[str]]:
    """The inequalities on lines that a panel of so many inches has room for."""
    return [
        ruler.lines(plane_words(letter, plane.inequality), size, TITLE_SHARE * width * POINTS, "    ", most)
        for letter, plane in zip(LETTERS, view.planes, strict=False)
    ]


def note_lines(view: NodeView, ruler: Ruler, width: float) -> list[str]:
    """What maps and short names stand for, on lines of so many inches."""
    return [
        line for text in view.notes for line in ruler.lines(text.split(" "), SMALL, (width - MARGIN) * POINTS, "   ")
    ]


def text_panel(axes: Any) -> Any:
    """Axes with nothing but text."""
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    return axes


def parts_of_classes(view: NodeView, palette: Palette) -> list[tuple[str, Any, Array]]:
    """Names, colours and members (n_samples,) of what is told apart: classes, or the largest of many."""
    assert view.labels is not None
    counts = np.bincount(view.labels, minlength=len(view.class_names))
    if len(counts) <= len(COLOURS):
        return [(name, rgb(COLOURS[k]), view.labels == k) for k, name in enumerate(view.class_names)]
    order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
    largest = order if len(order) <= len(COLOURS) else order[:MOST_COLOURED]
    parts = [(view.class_names[k], rgb(COLOURS[r]), view.labels == k) for r, k in enumerate(largest)]
    others = ~np.isin(view.labels, largest)
    return [*parts, (f"{len(order) - len(largest)} others", palette.pale, others)] if others.any() else parts


def draw_projection(axes: Any, view: NodeView, plane: PlaneView, letter: str, *, is_first: bool) -> None:
    """The samples at the left side of the inequality, and its cut."""
    palette = palette_of(axes)
    if view.labels is not None:
        parts = parts_of_classes(view, palette)
        stack_bars(axes, [plane.values[members] for *_, members in parts], [colour for _, colour, _ in parts])
        ylabel = "samples"
    else:
        axes.scatter(
            plane.values, view.numbers, s=dot_size(len(plane.values)), color=COLOURS[0], alpha=0.6, linewidths=0
        )
        ylabel = view.numbers_name
    axes.axvline(plane.cut, color=palette.ink, linewidth=1.5)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.2 * (high - low))
    dress(axes, "", "", ylabel if is_first else "")
    axes.tick_params(labelbottom=False)
    is_up = plane.inequality.scale > 0
    for text, place, side in ((MINUS + letter, 0.01, "left"), ("+" + letter, 0.99, "right")):
        x, ha = (place, side) if is_up else (1 - place, "right" if side == "left" else "left")
        style = {"va": "top", "fontsize": TEXT, "fontweight": "bold", "color": palette.ink}
        axes.text(x, 0.99, text, ha=ha, transform=axes.transAxes, **style)


def draw_losses(axes: Any, view: NodeView, plane: PlaneView, letter: str, *, is_first: bool) -> None:
    """The loss by threshold."""
    palette = palette_of(axes)
    axes.axhline(view.loss, color=palette.grey, linewidth=1, linestyle=(0, (4, 3)))
    axes.plot(*plane.fine, color=palette.grey, linewidth=0.9)
    axes.plot(*plane.coarse, "o", color=COLOURS[0], markersize=4)
    axes.axvline(plane.cut, color=palette.ink, linewidth=1.5, zorder=1)
    axes.plot([plane.cut], [plane.chosen_loss], "D", color=COLOURS[1], markersize=6.5, zorder=4)
    axes.margins(y=0.12)
    dress(axes, "", f"left side of {letter}", view.loss_name if is_first else "")


def draw_cosines(axes: Any, values: Array, cell: float) -> None:
    """The matrix of cosines, each in its cell of so many points, where that has room."""
    from matplotlib.colors import LinearSegmentedColormap

    palette, q = palette_of(axes), len(values)
    shades = LinearSegmentedColormap.from_list("cosines", [palette.ground, tuple(rgb(COLOURS[0]))])
    axes.imshow(np.abs(values), vmin=0, vmax=1, cmap=shades)
    dress(axes, "cosines")
    axes.set_xticks(range(q), LETTERS[:q])
    axes.set_yticks(range(q), LETTERS[:q])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    size = min(SMALL, cell / COSINE)
    for j in range(q if size >= LEAST else 0):
        for k in range(q):
            text = f"{values[j, k]:.2f}".replace("0.", ".").replace("-", MINUS) if j != k else "1"
            colour = "white" if abs(values[j, k]) > 0.6 else palette.ink
            axes.text(k, j, text, ha="center", va="center", fontsize=size, color=colour)


def draw_legend(axes: Any, view: NodeView, palette: Palette) -> None:
    """Classes and marks."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    labels: list[str] = []
    if view.labels is not None:
        for name, colour, _ in parts_of_classes(view, palette):
            handles.append(Patch(facecolor=colour))
            labels.append(name)
    marks = (
        ({"marker": "D", "color": COLOURS[1], "linestyle": "none", "markersize": 6.5}, "chosen cut"),
        ({"marker": "o", "color": COLOURS[0], "linestyle": "none", "markersize": 4}, "16 bins"),
        ({"color": palette.grey, "linewidth": 0.9}, "all thresholds"),
        ({"color": palette.grey, "linewidth": 1, "linestyle": (0, (4, 3))}, "before the cut"),
    )
    for style, label in marks:
        handles.append(Line2D([], [], **style))  # type: ignore[arg-type]
        labels.append(label)
    legend = axes.legend(handles, [""] * len(labels), loc="upper left", frameon=False, fontsize=SMALL, borderaxespad=0)
    for text, label in zip(legend.get_texts(), labels, strict=True):  # a label that begins with _ would be left out
        text.set_parse_math(False)
        text.set_text(label)
        text.set_color(palette.ink)
