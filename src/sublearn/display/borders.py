"""Where neighbouring cells differ, and how edges look in the features' own units."""

import numpy as np

from sublearn.display.cells import PlaneCells
from sublearn.display.plane_axes import PlaneAxis
from sublearn.kernels.layout import Array

SHORTEST = 1e-5  # length of a border, in places, from which on it is drawn
PARALLEL = 1e-9  # length of an edge along an axis below which it is parallel to the other one


def borders_between(cells: PlaneCells, kinds: Array) -> Array:
    """Pieces of lines (n, 2, 2), in places, that have cells of different kinds (n_cells,) on their two sides.

    On each side of a line the edges of cells follow one another. Both rows are laid over each other.
    """
    polygons = cells.polygons
    edge = np.flatnonzero(polygons.edges >= 0)
    begin, end = polygons.corners[edge], polygons.corners[polygons.following[edge]]
    cell = polygons.owners[edge]
    used, number = np.unique(polygons.edges[edge], return_inverse=True)
    lines = _normal(cells.lines[used])
    _, first, same = np.unique(lines.round(6), axis=0, return_index=True, return_inverse=True)
    lines, number = lines[first], same.ravel()[number.ravel()]
    a, b, t = lines[number].T
    is_above = cells.middles[cell, 0] * a + cells.middles[cell, 1] * b > t
    ends = np.sort([begin[:, 1] * a - begin[:, 0] * b, end[:, 1] * a - end[:, 0] * b], axis=0)
    low = ends[0].min(initial=0.0)
    width = ends[1].max(initial=0.0) - low + 1.0
    places = ends - low + number * width  # all lines behind one another
    cuts = np.unique(places)
    middles, lengths = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    above, below = (_kinds_at(middles, places[:, side], kinds[cell[side]]) for side in (is_above, ~is_above))
    kept = np.flatnonzero((above >= 0) & (below >= 0) & (above != below) & (lengths > SHORTEST))
    if not len(kept):
        return np.empty((0, 2, 2))
    goes_on = np.concatenate([[False], np.diff(kept) == 1])
    begins, ends_at = kept[~goes_on], kept[np.append(~goes_on[1:], True)]
    line = np.floor(middles[begins] / width).astype(np.int64)
    along = np.stack([cuts[begins], cuts[ends_at + 1]], axis=1) - (line * width)[:, None] + low
    a, b, t = (column[:, None] for column in lines[line].T)
    return np.stack([a * t - b * along, b * t + a * along], axis=2)


def _normal(lines: Array) -> Array:
    """Lines with a normal of length 1 that points right, or up."""
    norms = np.hypot(lines[:, 0], lines[:, 1])
    is_turned = (lines[:, 0] < 0) | ((lines[:, 0] == 0) & (lines[:, 1] < 0))
    return lines / np.where(is_turned, -norms, norms)[:, None] + 0.0


def _kinds_at(places: Array, edges: Array, kinds: Array) -> Array:
    """The kind of the edge (2, n) that covers each place, -1 where none does; edges do not overlap."""
    if not len(kinds):
        return np.full(len(places), -1)
    order = np.argsort(edges[0], kind="stable")
    at = np.searchsorted(edges[0][order], places) - 1
    found = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (edges[1][found] > places), kinds[found], -1)


def bent(begin: Array, end: Array, axes: tuple[PlaneAxis, PlaneAxis]) -> tuple[Array, Array]:
    """Straight edges from begin to end (n, 2), in places, as lines in the features' units.

    Returns the points on the way, without the ends, one edge after the other, and how many each edge has. Between two
    bends of the maps the way is straight.
    """
    steps = end - begin
    slanted = (np.abs(steps) > PARALLEL).all(axis=1)
    found = []
    for k, axis in enumerate(axes):
        low, high = np.minimum(begin[:, k], end[:, k]), np.maximum(begin[:, k], end[:, k])
        first = np.searchsorted(axis.bends, low, "right")
        counts = np.where(slanted, np.maximum(np.searchsorted(axis.bends, high, "left") - first, 0), 0)
        edge = np.repeat(np.arange(len(begin)), counts)
        bend = axis.bends[np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]]
        found.append((edge, (bend - begin[edge, k]) / steps[edge, k]))
    edge, share = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((share, edge))
    edge, share = edge[order], share[order, None]
    return begin[edge] + share * steps[edge], np.bincount(edge, minlength=len(begin))


def in_units(places: Array, axes: tuple[PlaneAxis, PlaneAxis]) -> Array:
    """Points (n, 2) in the features' units."""
    return np.column_stack([axis.to_values(places[:, k]) for k, axis in enumerate(axes)])


def polygons_in_units(cells: PlaneCells, axes: tuple[PlaneAxis, PlaneAxis]) -> list[Array]:
    """The corners (n, 2) of each cell in the features' units, with the bends of its edges."""
    polygons = cells.polygons
    between, counts = bent(polygons.corners, polygons.corners[polygons.following], axes)
    corners = in_units(_mixed(polygons.corners, between, counts), axes)
    ends = np.cumsum(np.add.reduceat(counts + 1, polygons.first[:-1]))
    return np.split(corners, ends[:-1])


def lines_in_units(pieces: Array, axes: tuple[PlaneAxis, PlaneAxis]) -> list[Array]:
    """Pieces of lines (n, 2, 2), in places, as lines (n_points, 2) in the features' units."""
    begin, end = pieces[:, 0], pieces[:, 1]
    between, counts = bent(begin, end, axes)
    counts_with_end = np.column_stack([counts, np.zeros_like(counts)]).ravel()
    points = in_units(_mixed(pieces.reshape(-1, 2), between, counts_with_end), axes)
    return np.split(points, np.cumsum(counts + 2)[:-1]) if len(pieces) else []


def _mixed(points: Array, between: Array, counts: Array) -> Array:
    """Points, with so many of others behind each."""
    out = np.empty((len(points) + len(between), points.shape[1]))
    is_between = np.ones(len(out), np.bool_)
    is_between[np.arange(len(points)) + np.cumsum(counts) - counts] = False
    out[~is_between], out[is_between] = points, between
    return out
