"""What all figures share: colours that every kind of colour vision tells apart, sizes of type, saving."""

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


class Style(NamedTuple):
    """How the samples of a class are drawn."""

    colour: str
    marker: str


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, in inches."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise ImportError("figures of sublearn.paper need matplotlib: pip install 'sublearn[paper]'") from None
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=(width, height), layout=layout, facecolor="white")


def dress(axes: Any, title: str = "", xlabel: str = "", ylabel: str = "") -> None:
    """Titles, labels and the plain look of all panels."""
    axes.set_title(title, loc="left", fontsize=TITLE, color=INK)
    axes.set_xlabel(xlabel, fontsize=TEXT, color=INK)
    axes.set_ylabel(ylabel, fontsize=TEXT, color=INK)
    axes.tick_params(labelsize=SMALL, color=GREY, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(GREY)


def bare(axes: Any) -> None:
    """Take ticks and numbers away, but leave the frame."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(PALE)


def style_of(k: int) -> Style:
    """The style of class number k; 42 classes differ."""
    return Style(COLOURS[k % len(COLOURS)], MARKERS[(k % len(COLOURS) + k // len(COLOURS)) % len(MARKERS)])


def tint(colour: str) -> Array:
    """A colour mixed with much white."""
    full = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return 0.22 * full + 0.78


def small_multiples(figure: "Figure", n: int, n_columns: int) -> Iterator[Any]:
    """Axes of n panels, row by row; what is left of the last row stays empty."""
    n_columns = min(n, n_columns)
    panels = list(figure.subplots(-(-n // n_columns), n_columns, squeeze=False).flat)
    for axes in panels[n:]:
        axes.remove()
    yield from panels[:n]


def scatter_classes(axes: Any, X: Array, y: Array, classes: Iterable[Any], size: float) -> None:
    """Samples in the plane, in the style of their class."""
    for k, name in enumerate(classes):
        colour, marker = style_of(k)
        axes.scatter(
            *X[y == name].T, s=size, marker=marker, color=colour, edgecolors="white", linewidths=0.3, label=str(name)
        )


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
