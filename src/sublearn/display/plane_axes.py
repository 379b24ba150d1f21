"""The two features of a plane, in places: where they vary, a place is the feature's code before rounding.

In places every hyperplane is a straight line. From there to the feature's own values leads a line with a bend at each
knot of its map. A feature is cut into segments: its codes vary along some, and stay the same along others, beyond the
ends of its map and in the band of a category.
"""

from typing import NamedTuple

import numpy as np

from sublearn._base.frames import level_name
from sublearn.core.model.fitted import FittedModel
from sublearn.display.polygons import FRAME, Polygons, rectangles
from sublearn.kernels.layout import Array

OVERHANG = 256.0  # places that a frame reaches beyond the end of a map, at the most
USUAL_REACH = 3.0  # deviations from the middle that are drawn where no samples say more
MARGIN = 0.04  # of the range of the samples


class PlaneAxis(NamedTuple):
    """A feature of the plane."""

    feature: int
    name: str
    values: Array  # float64, ascending, in the feature's units; the first and the last are the ends of the frame
    places: Array  # float64, ascending: where these values are; in between both grow evenly
    bounds: Array  # float64 (n_segments + 1,), places
    varies: Array  # bool (n_segments,), whether codes grow with the place
    inside: Array  # float64 (n_segments,), a value of the feature in each segment
    levels: tuple[str, ...] | None = None  # of a category, which has its number as value and place
    kind: str | None = None  # what numbers were: dates, ...

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return len(self.varies)

    @property
    def bends(self) -> Array:
        """Places at which values grow at another rate from there on."""
        return self.places[1:-1]

    def to_places(self, values: Array) -> Array:
        """Where values are; those outside the frame are at its ends."""
        return np.interp(values, self.values, self.places)

    def to_values(self, places: Array) -> Array:
        """The values at some places."""
        return np.interp(places, self.places, self.values)


class Plane(NamedTuple):
    """The frame in panels, in each of which every code is fixed or grows with one place."""

    axes: tuple[PlaneAxis, PlaneAxis]
    panels: Polygons
    varies: Array  # bool (n_panels, 2)
    inside: Array  # float64 (n_panels, 2), values of both features
    seams: Array  # float64 (n_seams, 3), the lines between panels, which are lines 0, 1, ... of their edges


def axis_of(
    model: FittedModel, feature: int, name: str, given: Array | None, limits: tuple[float, float] | None
) -> PlaneAxis:
    """The axis of a feature, for the values that samples have (NaN: missing), or between limits."""
    levels = model.levels[feature] if model.levels else None
    if levels is not None:
        return _axis_of_category(feature, name, tuple(map(level_name, levels)))
    maps = model.maps
    view = int(np.searchsorted(maps.features, feature))
    part = slice(maps.offsets[view], maps.offsets[view + 1])
    knots, codes = maps.knots[part] / maps.units[view], maps.levels[part].astype(np.float64)
    low, high = _limits(knots, codes / maps.per_deviation, given) if limits is None else limits
    kind = model.kinds[feature] if model.kinds else None
    return _axis_of_number(feature, name, (knots, codes), (low, high))._replace(kind=kind)


def plane_of(axes: tuple[PlaneAxis, PlaneAxis]) -> Plane:
    """The panels of two axes."""
    across, up = axes
    i, j = (grid.ravel() for grid in np.meshgrid(range(across.n_segments), range(up.n_segments), indexing="ij"))
    n_seams = (across.n_segments - 1, up.n_segments - 1)
    rows = np.array([[1.0, 0.0, t] for t in across.bounds[1:-1]] + [[0.0, 1.0, t] for t in up.bounds[1:-1]])
    lower, upper = _seams(j, n_seams[1], n_seams[0])
    left, right = _seams(i, n_seams[0], 0)
    return Plane(
        axes=axes,
        panels=rectangles(
            np.column_stack([across.bounds[i], up.bounds[j]]),
            np.column_stack([across.bounds[i + 1], up.bounds[j + 1]]),
            np.column_stack([lower, right, upper, left]),
        ),
        varies=np.column_stack([across.varies[i], up.varies[j]]),
        inside=np.column_stack([across.inside[i], up.inside[j]]),
        seams=rows.reshape(-1, 3),
    )


def _seams(segment: Array, n: int, begin: int) -> tuple[Array, Array]:
    """Lines before and after segments; the frame has no line."""
    return (
        np.where(segment > 0, begin + segment - 1, FRAME),
        np.where(segment < n, begin + segment, FRAME),
    )


def _limits(knots: Array, deviations: Array, given: Array | None) -> tuple[float, float]:
    """The ends of the frame: around the samples, or else around the middle of the map."""
    there = given[np.isfinite(given)] if given is not None else np.empty(0)
    if there.size:
        low, high = float(there.min()), float(there.max())
        margin = MARGIN * (high - low)
        low, high = low - margin, high + margin
    else:
        low, high = (float(np.interp(end, deviations, knots)) for end in (-USUAL_REACH, USUAL_REACH))
    if not low < high:
        step = max(abs(low), 1.0) / 2
        return low - step, high + step
    return low, high


def _axis_of_category(feature: int, name: str, levels: tuple[str, ...]) -> PlaneAxis:
    n = max(len(levels), 1)
    bounds = np.arange(n + 1) - 0.5
    return PlaneAxis(
        feature=feature,
        name=name,
        values=bounds[[0, -1]],
        places=bounds[[0, -1]],
        bounds=bounds,
        varies=np.zeros(n, np.bool_),
        inside=np.arange(n, dtype=np.float64) if levels else np.array([np.nan]),
        levels=levels,
    )


def _axis_of_number(feature: int, name: str, curve: tuple[Array, Array], limits: tuple[float, float]) -> PlaneAxis:
    (knots, codes), (low, high) = curve, limits
    begin, end = max(low, knots[0]), min(high, knots[-1])
    if begin >= end:  # one code all over the frame
        values, places, segments = np.array([low, high]), np.array([0.0, OVERHANG]), [(0.0, False, (low + high) / 2)]
    else:
        between = (knots > begin) & (knots < end)
        values = np.concatenate([[begin], knots[between], [end]])
        places = np.concatenate([[np.interp(begin, knots, codes)], codes[between], [np.interp(end, knots, codes)]])
        rate = (places[-1] - places[0]) / (end - begin)
        segments = [(float(places[0]), True, (begin + end) / 2)]  # where each begins, whether codes vary, a value
        if low < begin:
            values, places = np.append(low, values), np.append(places[0] - min((begin - low) * rate, OVERHANG), places)
            segments = [(float(places[0]), False, low), *segments]
        if high > end:
            segments = [*segments, (float(places[-1]), False, high)]
            values, places = np.append(values, high), np.append(places, places[-1] + min((high - end) * rate, OVERHANG))
    starts, varies, inside = zip(*segments, strict=True)
    return PlaneAxis(
        feature=feature,
        name=name,
        values=values,
        places=places,
        bounds=np.array([*starts, places[-1]]),
        varies=np.array(varies),
        inside=np.array(inside),
    )
