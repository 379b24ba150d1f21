"""What all figures share: colours that every kind of colour vision tells apart, sizes of type, saving.

Displays draw on whatever axes they are given, so their ink is that of a `Palette`, which suits light and dark grounds.
Figures of their own, as those of `sublearn.paper`, are white.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublearn.kernels.layout import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
INK, GREY, PALE = "#222222", "#8C8C8C", "#D4D4D4"
TITLE, TEXT, SMALL = 11, 10, 9  # points
DPI = 150
N_BARS = 30  # between the smallest and the largest value
TINT = 0.22  # share of a colour in its tint
LIGHT_INK, DARK_PALE = "#EEEEEE", "#4A4A4A"  # ink and pale of dark grounds


class Palette(NamedTuple):
    """Ink for lines and type, two greys, and the ground they are on."""

    ink: str
    grey: str
    pale: str
    ground: tuple[float, float, float]

    @property
    def is_light(self) -> bool:
        """Whether the ground is."""
        return self.ink == INK

    def tint(self, colour: str) -> Array:
        """A colour mixed with much of the ground."""
        return TINT * rgb(colour) + (1 - TINT) * np.array(self.ground)


class Style(NamedTuple):
    """How the samples of a class are drawn."""

    colour: str
    marker: str


def needed_matplotlib(owner: str, extra: str = "plot") -> None:
    """Raise ImportError where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(f"{owner} needs matplotlib: pip install 'sublearn[{extra}]'") from None


def axes_of(ax: Any, width: float, height: float, owner: str) -> Any:
    """The axes that a display was given, or those of a new figure of pyplot, in inches, which `plt.show` shows."""
    needed_matplotlib(owner)
    from matplotlib.axes import Axes

    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise TypeError(f"ax of {owner} must be a matplotlib Axes or None; got {type(ax).__name__}.")
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


class Cells(NamedTuple):
    """A figure, and the part of it that a display of several panels may use."""

    figure: Any
    holder: Any  # the axes of the user's in whose place panels are drawn; None on a figure of our own
    width: float  # inches
    height: float

    def grid(self, n_rows: int, n_columns: int, **ratios: Any) -> Any:
        """Places for panels; index it as a grid of matplotlib's."""
        if self.holder is None:
            return self.figure.add_gridspec(n_rows, n_columns, **ratios)
        spec = self.holder.get_subplotspec()
        if spec is not None:
            return spec.subgridspec(n_rows, n_columns, **ratios)
        place = self.holder.get_position()
        edges = {"left": place.x0, "right": place.x1, "bottom": place.y0, "top": place.y1}
        return self.figure.add_gridspec(n_rows, n_columns, **edges, **ratios)


def cells_of(ax: Any, width: float, height: float, owner: str) -> Cells:
    """Room for a display of several panels: that of the axes it was given, which turn empty, or a new figure."""
    if ax is not None:
        axes_of(ax, width, height, owner).set_axis_off()
        box, dpi = ax.get_window_extent(), ax.figure.dpi
        return Cells(figure=ax.figure, holder=ax, width=box.width / dpi, height=box.height / dpi)
    needed_matplotlib(owner)
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(width, height), layout="constrained")
    return Cells(figure=figure, holder=None, width=width, height=height)


def palette_of(axes: Any) -> Palette:
    """Ink and greys that suit the ground of some axes: their own, or that of their figure behind it."""
    from matplotlib.colors import to_rgba

    grounds = [to_rgba(one.get_facecolor()) for one in (axes, axes.figure, axes.figure.canvas.figure)]
    ground = next((colour[:3] for colour in grounds if colour[3] >= 0.5), (1.0, 1.0, 1.0))
    is_dark = 0.30 * ground[0] + 0.59 * ground[1] + 0.11 * ground[2] < 0.5
    ink, pale = (LIGHT_INK, DARK_PALE) if is_dark else (INK, PALE)
    return Palette(ink=ink, grey=GREY, pale=pale, ground=ground)


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, in inches."""
    needed_matplotlib("new_figure", "paper")
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=(width, height), layout=layout, facecolor="white")


def dress(axes: Any, title: str = "", xlabel: str = "", ylabel: str = "") -> None:
    """Titles, labels and the plain look of all panels."""
    palette = palette_of(axes)
    axes.set_title(title, loc="left", fontsize=TITLE, color=palette.ink)
    axes.set_xlabel(xlabel, fontsize=TEXT, color=palette.ink)
    axes.set_ylabel(ylabel, fontsize=TEXT, color=palette.ink)
    axes.tick_params(labelsize=SMALL, color=palette.grey, labelcolor=palette.ink)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(palette.grey)


def bare(axes: Any) -> None:
    """Take ticks and numbers away, but leave the frame."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(palette_of(axes).pale)


def style_of(k: int) -> Style:
    """The style of class number k; 42 classes differ."""
    return Style(COLOURS[k % len(COLOURS)], MARKERS[(k % len(COLOURS) + k // len(COLOURS)) % len(MARKERS)])


def rgb(colour: str) -> Array:
    """Red, green and blue from 0 to 1 of a colour written as #RRGGBB."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def tint(colour: str) -> Array:
    """A colour mixed with much white."""
    return TINT * rgb(colour) + (1 - TINT)


def small_multiples(figure: "Figure", n: int, n_columns: int) -> Iterator[Any]:
    """Axes of n panels, row by row; what is left of the last row stays empty."""
    n_columns = min(n, n_columns)
    panels = list(figure.subplots(-(-n // n_columns), n_columns, squeeze=False).flat)
    for axes in panels[n:]:
        axes.remove()
    yield from panels[:n]


def scatter_classes(axes: Any, X: Array, y: Array, classes: Iterable[Any], size: float) -> None:
    """Samples in the plane, in the style of their class."""
    ground = palette_of(axes).ground
    for k, name in enumerate(classes):
        colour, marker = style_of(k)
        axes.scatter(
            *X[y == name].T,
            s=size,
            marker=marker,
            color=colour,
            edgecolors=ground,
            linewidths=0.3,
            label=str(name),
        )


def stack_bars(axes: Any, parts: list[Array], colours: list[Any], labels: list[str] | None = None) -> None:
    """How many samples lie where, those of each part on top of the others."""
    axes.hist(parts, bins=N_BARS, stacked=True, color=colours, label=labels)


def dot_size(n: int) -> float:
    """Area of a sample's dot, in square points, so that n of them do not hide each other."""
    return float(np.clip(4000 / max(n, 1), 5, 22))


def save(figure: "Figure", folder: str | Path, name: str) -> tuple[Path, Path]:
    """Write name.svg and name.png into the folder; equal figures give equal bytes.

    The layout is settled once and stays, since laying out a figure again would move its parts a little.

    Parameters
    ----------
    figure : Figure
        What one of the functions of `sublearn.paper.figures` returned.
    folder : str or Path
        Where to; it is made where it is missing.
    name : str
        Name of the files, without an ending.

    Returns
    -------
    paths : tuple of two Path
        The SVG and the PNG of 150 dots an inch.
    """
    from matplotlib import rc_context

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    svg, png = folder / f"{name}.svg", folder / f"{name}.png"
    with rc_context({"svg.hashsalt": "sublearn", "svg.fonttype": "path"}):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.savefig(svg, metadata={"Date": None})
        figure.savefig(png, dpi=DPI, metadata={"Software": None})
    return svg, png
