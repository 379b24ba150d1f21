"""Draws a page with a tree on axes whose units are points."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.display.canvas import COLOURS, Palette, rgb
from sublearn.display.ruler import Ruler
from sublearn.display.tree_layout import BAR, BAR_HEIGHT, LINE, PAD, SMALLER, STUB, Box
from sublearn.display.tree_page import FOOT_GAP, ROW_LINES, TITLE_LINES, Page
from sublearn.kernels.layout import Array

BASE = 0.35  # of the size of type, from the middle of a line down to where letters stand
DOT = 0.62
SHADES = (1.0, 0.6, 0.3)  # of the largest classes of a node, where there are too many for colours of their own
LABELS_OF_SHADES = ("largest class of the node", "second", "third", "all others")


class Marks(NamedTuple):
    """How a node's value becomes a picture: shares of classes as a bar, or a number as a dot on a line."""

    value: Array  # float64 (n_nodes, n_values)
    is_classes: bool
    low: float  # of numbers
    high: float


class Pen(NamedTuple):
    """What all parts of a drawing need."""

    axes: Any
    ruler: Ruler
    palette: Palette
    marks: Marks
    size: float

    def text(
        self, x: float, middle: float, text: str, colour: str, factor: float = 1.0, weight: str = "normal"
    ) -> None:
        """A line of type at the middle of its height, if there is any."""
        if not text:
            return
        size = factor * self.size
        self.axes.text(
            x,
            middle + BASE * size,
            text,
            fontsize=size,
            color=colour,
            fontweight=weight,
            va="baseline",
            parse_math=False,
        )

    def line(self, xs: list[float], ys: list[float]) -> None:
        """An edge between nodes."""
        self.axes.plot(xs, ys, color=self.palette.grey, linewidth=0.09 * self.size, solid_capstyle="butt", zorder=1)


def class_colours(n_classes: int, palette: Palette) -> list[Any]:
    """Colours of the parts of a bar: of the classes, or by their rank in the node and of all others."""
    if n_classes <= len(COLOURS):
        return [rgb(colour) for colour in COLOURS[:n_classes]]
    ground = np.array(palette.ground)
    return [share * rgb(COLOURS[0]) + (1 - share) * ground for share in SHADES] + [palette.pale]


def parts_of(shares: Array) -> list[tuple[float, int]]:
    """Parts of a node's bar with the numbers of their colours, those of 0 left out."""
    if len(shares) > len(COLOURS):
        largest = -np.sort(-shares)
        shares = np.append(largest[: len(SHADES)], largest[len(SHADES) :].sum())
    return [(float(share), k) for k, share in enumerate(shares) if share > 0]


def draw_page(axes: Any, page: Page, marks: Marks, palette: Palette, ruler: Ruler, title: tuple[str, str]) -> None:
    """All of it; the axes are as wide and as high as the page."""
    pen = Pen(axes, ruler, palette, marks, page.size)
    size, line = page.size, LINE * page.size
    pen.text(0, 0.5 * line, title[0], palette.ink, 1.15, "bold")
    beside = ruler.width(title[0], 1.15 * size, "bold") + size
    pen.text(beside, 0.5 * line, ruler.cut(title[1], size, page.width - beside), palette.grey)
    top = TITLE_LINES * line
    for box in page.layout.root.all:
        _draw_box(pen, box, top)
        _draw_edges(pen, box, top, page.layout.label_widths)
    y = top + page.layout.height + FOOT_GAP * line
    for row in page.legend:
        _draw_row(pen, row, y + 0.5 * line)
        y += ROW_LINES * line
    for note in page.notes:
        pen.text(note.x, y + (note.row + 0.5) * line, note.text, palette.grey, SMALLER)


def _draw_box(pen: Pen, box: Box, top: float) -> None:
    size, ink, grey = pen.size, pen.palette.ink, pen.palette.grey
    y, x, line = top + box.y - box.height / 2, box.x, LINE * pen.size
    if not box.is_end:
        _frame(pen, box, y)
        y, x = y + PAD * size, x + PAD * size
    _draw_mark(pen, box.drawn.node, x, y + 0.5 * line)
    x_text = x + (BAR + PAD) * size
    for words, note in box.heads:
        pen.text(x_text, y + 0.5 * line, words, ink, 1.0, "bold")
        beside = pen.ruler.width(words, size, "bold") + PAD * size if words else 0.0
        pen.text(x_text + beside, y + 0.5 * line, note, grey, SMALLER)
        y += line
    for lines in box.planes:
        for text in lines:
            pen.text(x, y + 0.5 * line, text, ink)
            y += line


def _frame(pen: Pen, box: Box, y: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = 0.4 * pen.size
    pen.axes.add_patch(
        FancyBboxPatch(
            (box.x + corner, y + corner),
            box.width - 2 * corner,
            box.height - 2 * corner,
            boxstyle=f"round,pad={corner}",
            facecolor=pen.palette.ground,
            edgecolor=pen.palette.pale,
            linewidth=0.1 * pen.size,
            zorder=2,
        )
    )


def _draw_mark(pen: Pen, node: int, x: float, middle: float) -> None:
    """The bar of a node's classes, or the dot of its number between the least and the largest of all."""
    from matplotlib.patches import Rectangle

    width, height, value = BAR * pen.size, BAR_HEIGHT * pen.size, pen.marks.value[node]
    if pen.marks.is_classes:
        colours = class_colours(len(value), pen.palette)
        for share, k in parts_of(value):
            part = Rectangle(
                (x, middle - height / 2), share * width, height, facecolor=colours[k], linewidth=0, zorder=3
            )
            pen.axes.add_patch(part)
            x += share * width
        return
    x, width = x + DOT / 2 * pen.size, width - DOT * pen.size
    reach = pen.marks.high - pen.marks.low
    number = float(value[np.abs(value).argmax()])
    place = (number - pen.marks.low) / reach if reach > 0 else 0.5
    grey = pen.palette.grey
    pen.axes.plot([x, x + width], [middle, middle], color=pen.palette.pale, linewidth=0.12 * pen.size, zorder=3)
    if pen.marks.low < 0 < pen.marks.high:
        zero = x - pen.marks.low / reach * width
        pen.axes.plot(
            [zero, zero], [middle - height / 2, middle + height / 2], color=grey, linewidth=0.09 * pen.size, zorder=3
        )
    colour = colour_of(place)
    dot = {"markersize": DOT * pen.size, "markeredgewidth": 0.05 * pen.size, "markeredgecolor": grey}
    pen.axes.plot([x + place * width], [middle], "o", color=colour, zorder=4, **dot)


def colour_of(place: float) -> Any:
    """The colour of a number by its place from 0 to 1 between the least and the largest."""
    import matplotlib

    return matplotlib.colormaps["cividis"](place)


def _draw_edges(pen: Pen, box: Box, top: float, label_widths: list[float]) -> None:
    """From the right of a box to each of its children, whose sides stand on the line."""
    if not box.children:
        return
    size, y = pen.size, top + box.y
    label = label_widths[box.drawn.depth + 1]
    x_label = box.children[0].x - 0.8 * STUB * size - label
    trunk = x_label - 0.9 * STUB * size
    ends = [top + child.y for child in box.children]
    pen.line([box.x + box.width, trunk], [y, y])
    pen.line([trunk, trunk], [min(*ends, y), max(*ends, y)])
    for child, end in zip(box.children, ends, strict=True):
        pen.line([trunk, x_label - 0.3 * size], [end, end])
        pen.text(x_label, end, child.drawn.sides, pen.palette.ink, SMALLER)


def _draw_row(pen: Pen, row: list[tuple[str, int]], y: float) -> None:
    """A row of the legend."""
    from matplotlib.patches import Rectangle

    x, size = 0.0, pen.size
    colours = class_colours(pen.marks.value.shape[1], pen.palette)
    for label, k in row:
        patch = Rectangle((x, y - BAR_HEIGHT * size / 2), BAR_HEIGHT * size, BAR_HEIGHT * size, facecolor=colours[k])
        pen.axes.add_patch(patch)
        pen.text(x + 1.2 * size, y, label, pen.palette.ink, SMALLER)
        x += pen.ruler.width(label, SMALLER * size) + 3.0 * size
