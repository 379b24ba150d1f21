"""How the partition of a plane is drawn: cells, borders, samples, axes in the features' units, legends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sublearn.display.canvas import SMALL, TEXT, Palette, palette_of, rgb, style_of
from sublearn.display.class_colours import colours_of
from sublearn.display.colour_bar import add_colour_bar
from sublearn.display.names import elided, one_line
from sublearn.display.plane_scales import set_scale
from sublearn.kernels.layout import Array

if TYPE_CHECKING:
    from sublearn.display.partition import PartitionDisplay

FAINTEST, STRONGEST = 0.08, 0.28  # share of a class's colour where it has barely the most, and where it is certain
SEAM = 0.5  # points; as wide as cells are outlined in their own colour, so that no ground shines through
LONGEST_NAME, LONGEST_CLASS = 44, 22  # characters
COLUMN = 20  # classes below each other in a legend
SCALE = "viridis"
SPREAD = (0.754877, 0.569840)  # of samples in a band, by their numbers: the plane is filled evenly
DOTS, DOT = 9000.0, (8.0, 22.0)  # square points: of all samples together, and the least and most of one
PANEL = 5.4  # inches, with what is left of it
CHARACTER, HANDLE = 0.076, 0.45  # inches of a legend


def draw_partition(axes: Any, display: "PartitionDisplay", scale: str, *, borders: bool, legend: bool) -> None:
    """Draw all of a partition."""
    from matplotlib.collections import LineCollection, PolyCollection

    palette = palette_of(axes)
    for own, is_x in zip(display.axes, (True, False), strict=True):
        set_scale(axes, own, is_x=is_x, as_codes=scale == "codes")
    colours, mapped = _fills(display, palette)
    cells = PolyCollection(display.polygons, facecolors=colours, edgecolors="face", linewidths=SEAM, zorder=1)
    cells.set_antialiased(False)  # half-covered pixels would show the ground between cells
    axes.add_collection(cells, autolim=False)
    for lines, colour, width, order in (
        (display.cuts, palette.ground, 0.9, 2),
        (display.borders if borders else [], palette.ink, 1.0, 2.1),
        (display.root, palette.ink, 2.2, 2.2),
    ):
        if len(lines):
            drawn = LineCollection(lines, colors=[colour], linewidths=width, zorder=order, capstyle="round")
            axes.add_collection(drawn, autolim=False)
    if display.samples is not None:
        _draw_samples(axes, display, mapped, palette)
    _dress(axes, display, palette)
    if legend and mapped is not None:
        add_colour_bar(axes, mapped, elided(one_line(display.what), LONGEST_NAME))
    elif legend:
        _add_legend(axes, display, palette)


def _fills(display: "PartitionDisplay", palette: Palette) -> tuple[Array, Any]:
    """The colour of each cell, and the scale of numbers; classes have none."""
    answers = display.answers
    if display.labels is None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        low, high = float(answers.min()), float(answers.max())
        if low == high:
            low, high = low - 0.5, high + 0.5
        mapped = ScalarMappable(Normalize(low, high), SCALE)
        return np.asarray(mapped.to_rgba(answers[:, 0])), mapped
    n = len(display.labels)
    best = answers.argmax(axis=1)
    strength = (answers.max(axis=1) - 1 / n) / (1 - 1 / n) if n > 1 else np.ones(len(answers))
    share = (FAINTEST + (STRONGEST - FAINTEST) * np.clip(strength, 0.0, 1.0))[:, None]
    full = np.array([rgb(colour) for colour in colours_of(n)])
    return share * full[best] + (1 - share) * np.array(palette.ground), None


def _draw_samples(axes: Any, display: "PartitionDisplay", mapped: Any, palette: Palette) -> None:
    """The samples, in the style of their class or the colour of their number."""
    assert display.samples is not None
    X, y = display.samples
    X = X.copy()
    for k, own in enumerate(display.axes):
        if own.levels is not None:  # side by side in their band, or they would hide one another
            X[:, k] += (np.arange(len(X)) * SPREAD[k] % 1.0 - 0.5) * 0.6
    shared = {
        "s": float(np.clip(DOTS / max(len(X), 1), *DOT)),
        "edgecolors": [palette.ground],
        "linewidths": 0.4,
        "zorder": 3,
    }
    if display.labels is None:
        numbers = mapped is not None and y.dtype.kind in "biuf" and display.what == "prediction"
        colour = {"c": y, "cmap": SCALE, "norm": mapped.norm} if numbers else {"color": palette.ink}
        axes.scatter(*X.T, **colour, **shared)
        return
    colours = colours_of(len(display.labels))
    for k, label in enumerate(display.labels):
        own_rows = X[y == label]
        if len(own_rows):
            axes.scatter(*own_rows.T, marker=style_of(k).marker, color=colours[k], **shared)


def width_of(display: "PartitionDisplay", legend: bool) -> float:
    """Inches of a figure that has room for the panel and its legend."""
    if not legend or display.labels is None:
        return PANEL + (1.0 if legend else 0.0)
    shown = shown_classes(display)
    longest = max(len(_class_name(display.labels[k])) for k in shown)
    return PANEL + -(-len(shown) // COLUMN) * (longest * CHARACTER + HANDLE)


def shown_classes(display: "PartitionDisplay") -> list[int]:
    """The classes that have a cell or a sample."""
    assert display.labels is not None
    shown = set(display.answers.argmax(axis=1).tolist())
    if display.samples is not None:
        shown |= {k for k, label in enumerate(display.labels) if (display.samples.y == label).any()}
    return sorted(shown)


def _class_name(label: object) -> str:
    return elided(one_line(label), LONGEST_CLASS)


def _add_legend(axes: Any, display: "PartitionDisplay", palette: Palette) -> None:
    """The classes, right of the panel."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    labels = display.labels
    assert labels is not None
    colours = colours_of(len(labels))
    handles: list[Any] = []
    for k in shown_classes(display):
        share = STRONGEST + 0.15  # a small patch needs more colour than a plane
        fill = share * rgb(colours[k]) + (1 - share) * np.array(palette.ground)
        text = _class_name(labels[k])
        if display.samples is None:
            handles.append(Patch(facecolor=fill, label=text))
        else:
            marker: dict[str, Any] = {"marker": style_of(k).marker, "markersize": 6, "linestyle": "none"}
            handles.append(Line2D([], [], color=colours[k], markeredgecolor=palette.ground, label=text, **marker))
    drawn = axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        ncols=-(-len(handles) // COLUMN),
        fontsize=SMALL,
        labelcolor=palette.ink,
        frameon=False,
        handletextpad=0.5,
        columnspacing=1.0,
    )
    for text in drawn.get_texts():
        text.set_parse_math(False)


def _dress(axes: Any, display: "PartitionDisplay", palette: Palette) -> None:
    """Title and names."""
    across, up = (elided(one_line(own.name), LONGEST_NAME) for own in display.axes)
    axes.set_title(display.title, loc="left", fontsize=TEXT, color=palette.ink)
    axes.set_xlabel(across, fontsize=TEXT, color=palette.ink, parse_math=False)
    axes.set_ylabel(up, fontsize=TEXT, color=palette.ink, parse_math=False)
    axes.tick_params(labelsize=SMALL, color=palette.grey, labelcolor=palette.ink)
    axes.spines[:].set_color(palette.grey)
