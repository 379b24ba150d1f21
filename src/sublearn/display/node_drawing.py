"""Draws a node: a column of panels for each hyperplane, and one for cosines and the legend."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.display.canvas import (
    COLOURS,
    SMALL,
    TEXT,
    TITLE,
    Cells,
    Palette,
    cells_of,
    dot_size,
    dress,
    palette_of,
    rgb,
    stack_bars,
)
from sublearn.display.names import MINUS
from sublearn.display.node_view import NodeView, PlaneView
from sublearn.display.ruler import Ruler
from sublearn.display.tree_layout import plane_words
from sublearn.export.inequalities import LETTERS
from sublearn.kernels.layout import Array

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


class Frame(NamedTuple):
    """Where the panels go, and what fits above and below them."""

    cells: Cells
    grid: Any
    n_beside: int  # hyperplanes in a row
    panel: float  # inches of width
    cosine: float  # points of a cell of the matrix of cosines
    titles: list[list[str]]  # lines above the panels of each hyperplane
    title_size: float
    notes: list[str]  # lines below all panels


def frame_of(view: NodeView, ax: Any, ruler: Ruler) -> Frame:
    """Panels on a figure of our own that is large enough, or in the place of the user's axes, with less text."""
    q = len(view.planes)
    n_beside = min(q, MOST_BESIDE)
    n_blocks = -(-q // n_beside)
    panel, side = PANEL_WIDTH if q > 1 else WIDE_PANEL, SIDE_WIDTH
    width = n_beside * panel + side
    titles, notes, title_size = title_lines(view, ruler, panel, TEXT), note_lines(view, ruler, width), float(TEXT)
    title_height = LINE * TEXT * max(map(len, titles))
    height = 0.7 + n_blocks * (sum(PANEL_HEIGHTS) + title_height + 0.9) + LINE * SMALL * (len(notes) + 1)
    cells = cells_of(ax, width, height, "NodeDisplay.plot")
    if cells.holder is not None:
        side = NARROW_SIDE
        panel = 0.75 * (cells.width - side) / n_beside
        title_size = float(np.clip(TEXT * panel / 2.2, LEAST, TEXT))
        titles = title_lines(view, ruler, panel, title_size, 4)
        notes = note_lines(view, ruler, cells.width)[:MOST_NOTES]
    heights = [LINE * TITLE, *(PANEL_HEIGHTS * n_blocks), max(LINE * SMALL * len(notes), 0.01)]
    ratios = {"width_ratios": [*[panel] * n_beside, side], "height_ratios": heights}
    return Frame(
        cells=cells,
        grid=cells.grid(2 * n_blocks + 2, n_beside + 1, **ratios),
        n_beside=n_beside,
        panel=panel,
        cosine=CELLS * min(side, PANEL_HEIGHTS[0] * cells.height / height) * POINTS / q,
        titles=titles,
        title_size=title_size,
        notes=notes,
    )


def draw_node(view: NodeView, frame: Frame) -> dict[str, Any]:
    """All panels; returns them by name."""
    grid, add, n_beside = frame.grid, frame.cells.figure.add_subplot, frame.n_beside
    head = text_panel(add(grid[0, :]))
    palette = palette_of(head)
    title = Ruler().cut(view.title, TITLE, (frame.cells.width - MARGIN) * POINTS, "bold")
    style = {"color": palette.ink, "parse_math": False}
    head.text(0, 0.5, title, va="center", fontsize=TITLE, fontweight="bold", **style)
    panels = {"title": head}
    for j, plane in enumerate(view.planes):
        row, column, letter = 1 + 2 * (j // n_beside), j % n_beside, LETTERS[j]
        upper = panels[f"projection {letter}"] = add(grid[row, column])
        lower = panels[f"loss {letter}"] = add(grid[row + 1, column], sharex=upper)
        draw_projection(upper, view, plane, letter, is_first=column == 0)
        draw_losses(lower, view, plane, letter, is_first=column == 0)
        upper.set_title("\n".join(frame.titles[j]), loc="left", fontsize=frame.title_size, linespacing=1.3, **style)
        lower.locator_params(axis="x", nbins=3 if frame.panel < NARROW else 5)
        for one in (upper, lower):
            one.locator_params(axis="y", nbins=4 if frame.cells.holder is None else 2)
    has_cosines = len(view.planes) > 1
    if has_cosines:
        panels["cosines"] = add(grid[1, n_beside])
        draw_cosines(panels["cosines"], view.cosines, frame.cosine)
    panels["legend"] = text_panel(add(grid[1 + has_cosines, n_beside]))
    draw_legend(panels["legend"], view, palette)
    foot = panels["notes"] = text_panel(add(grid[-1, :]))
    style["color"] = palette.grey
    foot.text(0, 1, "\n".join(frame.notes), va="top", fontsize=SMALL, linespacing=1.3, **style)
    return panels


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
