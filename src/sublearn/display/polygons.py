"""Convex polygons cut by lines, many at a time; every edge remembers which line it lies on.

A line is a row (a, b, t): a point (p, q) is on its positive side where a p + b q >= t.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import offsets
from sublearn.kernels.layout import Array

ON_LINE = 1e-7  # distance below which a corner counts as on a line; codes are whole numbers up to some thousands
FRAME = -1  # the number of what is no line: the frame's own edges


class Polygons(NamedTuple):
    """Polygon k has the corners first[k] to first[k + 1], all the way round."""

    corners: Array  # float64 (n_corners, 2)
    first: Array  # int32 (n + 1,)
    edges: Array  # int64 (n_corners,), the line that the edge from each corner to the next lies on

    @property
    def n(self) -> int:
        """Number of polygons."""
        return len(self.first) - 1

    @property
    def owners(self) -> Array:
        """The polygon of each corner."""
        return np.repeat(np.arange(self.n), np.diff(self.first))

    @property
    def following(self) -> Array:
        """The corner after each corner."""
        following = np.arange(1, len(self.corners) + 1)
        following[self.first[1:] - 1] = self.first[:-1]
        return following

    def take(self, which: Array) -> "Polygons":
        """Some of the polygons, by their numbers or by a mask."""
        which = np.flatnonzero(which) if which.dtype == np.bool_ else which
        counts = np.diff(self.first)[which]
        first = offsets(counts)
        corner = np.arange(first[-1]) + np.repeat(self.first[which] - first[:-1], counts)
        return Polygons(self.corners[corner], first, self.edges[corner])

    def boxes(self) -> tuple[Array, Array]:
        """Middle (n, 2) of the box around each polygon, and half of its size (n, 2)."""
        low = np.minimum.reduceat(self.corners, self.first[:-1], axis=0)
        high = np.maximum.reduceat(self.corners, self.first[:-1], axis=0)
        return (low + high) / 2, (high - low) / 2

    def areas_and_middles(self) -> tuple[Array, Array]:
        """Area (n,) and centre of mass (n, 2) of each polygon."""
        base = self.corners[self.first[:-1]]
        own = self.corners - base[self.owners]  # far from the origin, products would lose digits
        other = own[self.following]
        cross = own[:, 0] * other[:, 1] - own[:, 1] * other[:, 0]
        area = np.add.reduceat(cross, self.first[:-1]) / 2
        moment = np.add.reduceat((own + other) * cross[:, None], self.first[:-1], axis=0) / 6
        mean = np.add.reduceat(own, self.first[:-1], axis=0) / np.diff(self.first)[:, None]
        flat = np.abs(area) < ON_LINE**2
        return np.abs(area), base + np.where(flat[:, None], mean, moment / np.where(flat, 1.0, area)[:, None])


def rectangles(low: Array, high: Array, edges: Array) -> Polygons:
    """Rectangles from low (n, 2) to high (n, 2); edges (n, 4): lines of the lower, right, upper and left edge."""
    (x0, y0), (x1, y1) = low.T, high.T
    corners = np.stack([np.column_stack(pair) for pair in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))], axis=1)
    first = np.arange(0, 4 * len(low) + 1, 4, dtype=np.int32)
    return Polygons(corners.reshape(-1, 2), first, edges.reshape(-1))


def joined(parts: Sequence[Polygons]) -> Polygons:
    """Polygons one after another."""
    counts = np.concatenate([np.diff(part.first) for part in parts])
    return Polygons(
        np.concatenate([part.corners for part in parts]),
        offsets(counts),
        np.concatenate([part.edges for part in parts]),
    )


class Cut(NamedTuple):
    """Polygons after a cut."""

    polygons: Polygons
    source: Array  # int64 (n,), the polygon that each is, or is a part of
    is_positive: Array  # bool (n,), on which side of its line it is


def normalised(lines: Array) -> Array:
    """Lines (n, 3) with a normal of length 1; those without a normal stay as they are."""
    norms = np.hypot(lines[:, 0], lines[:, 1])
    return lines / np.where(norms > 0, norms, 1.0)[:, None]


def split(polygons: Polygons, lines: Array, numbers: Array) -> Cut:
    """Cut each polygon by a line of its own, lines (n, 3), numbers (n,); parts thinner than `ON_LINE` vanish.

    Where a and b are 0 a polygon is on one side as a whole.
    """
    a, b, t = normalised(lines).T
    owners = polygons.owners
    heights = polygons.corners[:, 0] * a[owners] + polygons.corners[:, 1] * b[owners] - t[owners]
    heights[np.abs(heights) <= ON_LINE] = 0.0
    is_positive = np.minimum.reduceat(heights, polygons.first[:-1]) >= 0
    across = ~is_positive & (np.maximum.reduceat(heights, polygons.first[:-1]) > 0)
    if not across.any():
        return Cut(polygons, np.arange(polygons.n), is_positive)
    cut, cut_heights = polygons.take(across), heights[across[owners]]
    parts = [_part(cut, sign * cut_heights, numbers[across]) for sign in (1.0, -1.0)]
    whole, crossed = np.flatnonzero(~across), np.flatnonzero(across)
    sides = [is_positive[whole], np.ones(len(crossed), np.bool_), np.zeros(len(crossed), np.bool_)]
    return Cut(joined([polygons.take(whole), *parts]), np.concatenate([whole, crossed, crossed]), np.concatenate(sides))


def _part(polygons: Polygons, heights: Array, numbers: Array) -> Polygons:
    """The parts of polygons where heights, given at their corners, are at least 0; all of them have such corners."""
    following, owners = polygons.following, polygons.owners
    ahead = heights[following]
    inside = heights >= 0
    crossed = heights * ahead < 0
    counts = inside.astype(np.int64) + crossed
    places = np.cumsum(counts) - counts
    corners = np.empty((int(counts.sum()), 2))
    edges = np.empty(len(corners), np.int64)
    leaves = inside & (heights == 0) & (ahead < 0)  # from such a corner on, the new edge begins
    corners[places[inside]] = polygons.corners[inside]
    edges[places[inside]] = np.where(leaves, numbers[owners], polygons.edges)[inside]
    share = (heights[crossed] / (heights[crossed] - ahead[crossed]))[:, None]
    begin, end = polygons.corners[crossed], polygons.corners[following[crossed]]
    at = places[crossed] + inside[crossed]
    corners[at] = begin + share * (end - begin)
    edges[at] = np.where(inside, numbers[owners], polygons.edges)[crossed]
    sizes = np.add.reduceat(counts, polygons.first[:-1]) if polygons.n else counts
    return Polygons(corners, offsets(sizes), edges)


def clip(polygon: Array, line: Array) -> Array:
    """The part of one convex polygon, given by its corners, on the positive side of a line."""
    one = Polygons(polygon, np.array([0, len(polygon)], np.int32), np.full(len(polygon), FRAME))
    cut = split(one, line[None], np.zeros(1, np.int64))
    corners: Array = cut.polygons.take(cut.is_positive).corners
    return corners


def cell_of(frame: Array, lines: Array, code: int) -> Array:
    """Corners of the part of the frame that has a child code; none where there is no such part."""
    for j, line in enumerate(lines):
        if len(frame):
            frame = clip(frame, line if code >> j & 1 else -line)
    return frame
