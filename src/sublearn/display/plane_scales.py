"""Scales and ticks of the two axes of a plane: numbers, dates, levels, and codes."""

from typing import Any

import numpy as np

from sublearn._base.frames import DATES, TIMES
from sublearn.display.names import elided, number, one_line
from sublearn.display.plane_axes import PlaneAxis
from sublearn.kernels.layout import Array

N_TICKS = 6
MOST_LEVELS = 24  # named along an axis
LONGEST = 16  # characters of a level
WIDEST = 44  # characters of all levels that fit side by side
DAY = 86_400.0  # seconds


def set_scale(axes: Any, own: PlaneAxis, *, is_x: bool, as_codes: bool) -> None:
    """Limits, scale and ticks of one of both axes."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    side, low, high = axes.xaxis if is_x else axes.yaxis, float(own.values[0]), float(own.values[-1])
    is_bent = as_codes and own.levels is None and len(own.bends) > 0
    if is_bent:
        scale = axes.set_xscale if is_x else axes.set_yscale
        scale("function", functions=(own.to_places, own.to_values))
    (axes.set_xlim if is_x else axes.set_ylim)(low, high)
    if own.levels is not None:
        _name_levels(side, own.levels, is_x)
    elif own.kind == DATES:
        side.set_ticks(*_dates(low, high))
    elif is_bent:
        ticks = round_values(own)
        side.set_ticks(ticks, [number(tick) for tick in ticks])
        side.set_ticks([], minor=True)
    else:
        side.set_major_locator(MaxNLocator(N_TICKS))
    if own.kind == TIMES and not is_bent:
        side.set_major_formatter(
            FuncFormatter(lambda seconds, _: f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}")
        )


def round_values(axis: PlaneAxis) -> Array:
    """Values of few digits, about evenly spaced in places; digits are as few as keep them apart."""
    edges = np.linspace(axis.places[0], axis.places[-1], N_TICKS + 1)
    values = axis.to_values((edges[1:] + edges[:-1]) / 2)
    gaps = np.diff(axis.to_values(edges))
    units = 10.0 ** np.floor(np.log10(gaps / 2))
    found = np.unique([float(f"{value:.12g}") for value in np.rint(values / units) * units])
    inside: Array = found[(found >= axis.values[0]) & (found <= axis.values[-1])]
    return inside


def _dates(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round dates between two, which are in seconds since the beginning of 1970, and how they are written."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date

    locator = AutoDateLocator(maxticks=N_TICKS)
    days = [day for day in locator.tick_values(num2date(low / DAY), num2date(high / DAY)) if low <= day * DAY <= high]
    return [day * DAY for day in days], ConciseDateFormatter(locator).format_ticks(days)


def _name_levels(side: Any, levels: tuple[str, ...], is_x: bool) -> None:
    """The names of levels, in the middle of their bands; of many, every second or third."""
    step = -(-len(levels) // MOST_LEVELS)
    names = [elided(one_line(level.strip("'")), LONGEST) for level in levels[::step]]
    side.set_ticks(range(0, len(levels), step), names, parse_math=False)
    if is_x and sum(map(len, names)) + 2 * len(names) > WIDEST:
        side.set_tick_params(rotation=90)
    side.set_tick_params(length=0)
