"""The cells of a model in a plane: polygons in places in which it gives one answer, or one linear function of places.

Each tree cuts the cells of the trees before it, all cells together, level by level of its nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sublearn.core.data.codes import encode_samples
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_tree import FlatTree, LeafSlopes
from sublearn.core.parallel import Workers
from sublearn.display.plane_axes import Plane
from sublearn.display.polygons import Polygons, joined, split
from sublearn.kernels.layout import Array

KINK = -2  # the number of a line at which a linear function bends, which is no border
DECISION = -3  # ... of a line inside a leaf where the class changes
ZERO = np.zeros(1)


class TooManyCellsError(ValueError):
    """Raised where cells become too many; `done` of `n` trees have cut them."""

    def __init__(self, done: int, n: int) -> None:
        super().__init__(f"{done} of {n} trees")
        self.done, self.n = done, n


class Lines(NamedTuple):
    """The hyperplanes of a model in each panel of a plane, for one row of the other features."""

    rows: Array  # float64 (n_panels, n_planes, 3)
    codes: Array  # float64 (n_views, n_panels), 0 where they vary
    grows: Array  # int64 (n_views, n_panels), the axis along which codes grow; -1: none
    begin: int  # the number of the first line


@dataclass(frozen=True)
class Pieces:
    """Polygons that have gone through some trees, with the sums of what these contribute."""

    polygons: Polygons
    panels: Array  # int64 (n,)
    nodes: Array  # int64 (n,), where the last tree ended
    raw: Array  # float64 (n, n_values), at place 0
    rates: Array | None  # float64 (n, 2, n_values), growth along both axes; None: no linear leaves
    before: tuple["Answered", ...] = ()  # sums of rows that are done

    def cut(self, polygons: Polygons, source: Array) -> "Pieces":
        """Parts of the pieces, each with the number of the piece that it is of."""
        return Pieces(
            polygons=polygons,
            panels=self.panels[source],
            nodes=self.nodes[source],
            raw=self.raw[source],
            rates=None if self.rates is None else self.rates[source],
            before=tuple(one.take(source) for one in self.before),
        )


class Answered(NamedTuple):
    """What one row of the other features contributes to the answer in each piece."""

    raw: Array
    rates: Array | None

    def take(self, which: Array) -> "Answered":
        """Those of some pieces."""
        return Answered(self.raw[which], None if self.rates is None else self.rates[which])

    def at(self, places: Array) -> Array:
        """Raw values (n, n_values) at places (n, 2)."""
        return self.raw if self.rates is None else self.raw + np.einsum("na,nak->nk", places, self.rates)


class Cells(NamedTuple):
    """The cells of a model in a plane."""

    polygons: Polygons  # in places
    lines: Array  # float64 (n_lines, 3), the lines that edges are on
    answers: Array  # float64 (n, n_answers): probabilities, or one number; at the middle of each cell
    leaves: Array  # int64 (n,), the node of the last tree
    middles: Array  # float64 (n, 2)
    areas: Array  # float64 (n,)


def find_cells(model: FittedModel, plane: Plane, others: Array, most: int, *, splits_classes: bool) -> Cells:
    """Cells for rows `others` (n_rows, n_features), answers in their mean; in the plane's own features they may lie.

    splits_classes: whether cells end where the class changes inside of a linear leaf.
    """
    pieces = _whole(model, plane)
    lines, n_lines, n_trees = [plane.seams], len(plane.seams), model.ensemble.n_trees
    for number, row in enumerate(others):
        own = lines_for(model, plane, row, n_lines)
        for t in range(n_trees):
            pieces = _through(model, pieces, own, int(model.ensemble.roots[t]))
            if pieces.polygons.n > most:
                raise TooManyCellsError(number * n_trees + t + 1, len(others) * n_trees)
        lines.append(own.rows.reshape(-1, 3))
        n_lines += len(lines[-1])
        pieces = _next_row(model, pieces)
    if splits_classes and len(others) == 1:
        pieces = _with_classes_apart(model, pieces)
    areas, middles = pieces.polygons.areas_and_middles()
    return Cells(
        polygons=pieces.polygons,
        lines=np.concatenate(lines),
        answers=sum((_answer(model, one.at(middles)) for one in pieces.before), ZERO) / len(others),
        leaves=pieces.nodes,
        middles=middles,
        areas=areas,
    )


def lines_for(model: FittedModel, plane: Plane, row: Array, begin: int) -> Lines:
    """The hyperplanes as lines in places. Codes are whole numbers, so a line lies halfway between two sums of them."""
    tree, maps = model.ensemble.nodes, model.maps
    rows = np.repeat(row[None], len(plane.inside), axis=0)
    features = [axis.feature for axis in plane.axes]
    rows[:, features] = plane.inside
    codes = encode_samples(rows, maps, Workers(1)).astype(np.float64)
    coefficients, grows = np.zeros((len(codes), 2)), np.full(codes.shape, -1)
    for k, f in enumerate(features):
        growing = np.ix_(maps.features == f, plane.varies[:, k])
        coefficients[maps.features == f, k] = 1.0
        codes[growing], grows[growing] = 0.0, k
    out = np.zeros((len(rows), tree.n_planes, 3))
    if tree.n_planes:
        first, weights = tree.first_term[:-1], tree.coefficient.astype(np.float64)[:, None]
        slopes = np.add.reduceat(weights * coefficients[tree.feature], first)
        out[:, :, :2] = slopes * plane.varies[:, None]
        rest = np.add.reduceat(weights * codes[tree.feature], first).T
        step = np.gcd(*np.abs(out[:, :, :2]).astype(np.int64).transpose(2, 0, 1)).astype(np.float64)
        wanted = tree.threshold - rest
        one = np.maximum(step, 1.0)
        out[:, :, 2] = np.where(step > 0, np.ceil(wanted / one) * one - one / 2, wanted)
    return Lines(out, codes, grows, begin)


def root_borders(model: FittedModel, plane: Plane, row: Array) -> Iterator[Array]:
    """The lines of the root of a tree inside each panel, from end to end (2, 2), in places."""
    lines, root = lines_for(model, plane, row, 0), int(model.ensemble.roots[0])
    for p in range(model.ensemble.nodes.first_plane[root], model.ensemble.nodes.first_plane[root + 1]):
        numbers = np.zeros(plane.panels.n, np.int64)
        bare = plane.panels._replace(edges=np.full_like(plane.panels.edges, -1))
        cut = split(bare, lines.rows[:, p], numbers).positive
        for corner in np.flatnonzero(cut.edges == 0):
            yield cut.corners[[corner, cut.following[corner]]]


def _whole(model: FittedModel, plane: Plane) -> Pieces:
    """The panels, which no tree has cut."""
    n, width = plane.panels.n, model.contributions.shape[1]
    has_slopes = model.ensemble.nodes.slopes.first.size > 0
    return Pieces(
        polygons=plane.panels,
        panels=np.arange(n),
        nodes=np.zeros(n, np.int64),
        raw=np.zeros((n, width)) + (model.start if model.link != MEAN else 0.0),
        rates=np.zeros((n, 2, width)) if has_slopes else None,
    )


def _next_row(model: FittedModel, pieces: Pieces) -> Pieces:
    """The pieces with what they have got so far put by."""
    done = Answered(pieces.raw, pieces.rates)
    start = np.zeros_like(pieces.raw) + (model.start if model.link != MEAN else 0.0)
    rates = None if pieces.rates is None else np.zeros_like(pieces.rates)
    return replace(pieces, raw=start, rates=rates, before=(*pieces.before, done))


def _answer(model: FittedModel, raw: Array) -> Array:
    """Probabilities (n, n_classes), or one number (n, 1)."""
    found = raw / model.ensemble.n_trees if model.link == MEAN else model.answer(raw)
    return found.reshape(len(raw), -1)


def _through(model: FittedModel, pieces: Pieces, lines: Lines, root: int) -> Pieces:
    """The pieces as a tree cuts them, with what it contributes."""
    tree = model.ensemble.nodes
    polygons, source, nodes = _leaves(tree, pieces, lines, root)
    pieces = pieces.cut(polygons, source)
    pieces = replace(pieces, nodes=nodes, raw=pieces.raw + model.contributions[nodes])
    return pieces if pieces.rates is None else _with_slopes(tree.slopes, pieces, lines)


class _Walking(NamedTuple):
    """Parts of pieces on their way through a tree."""

    polygons: Polygons
    source: Array  # the piece that each is of
    node: Array
    plane: Array  # the next hyperplane of the node
    code: Array  # sides of those before

    def take(self, which: Array) -> "_Walking":
        polygons, *others = self
        return _Walking(polygons.take(which), *(one[which] for one in others))


def _leaves(tree: FlatTree, pieces: Pieces, lines: Lines, root: int) -> tuple[Polygons, Array, Array]:
    """Parts of pieces that end in one node each: polygons, the piece that each is of, and the node."""
    n, n_planes = pieces.polygons.n, lines.rows.shape[1]
    node = np.full(n, root, np.int64)
    at = _Walking(pieces.polygons, np.arange(n), node, tree.first_plane[node].astype(np.int64), np.zeros(n, np.int64))
    done = []
    while True:
        ended = at.plane < 0 if done else tree.is_leaf[at.node]
        done.append(at.take(ended))
        at = at.take(~ended)
        if not at.polygons.n:
            break
        panel = pieces.panels[at.source]
        number = lines.begin + panel * n_planes + at.plane
        sides = split(at.polygons, lines.rows[panel, at.plane], number)
        bit = np.left_shift(1, at.plane - tree.first_plane[at.node])
        which = np.concatenate([sides.which_positive, sides.which_negative])
        code = np.concatenate([(at.code | bit)[sides.which_positive], at.code[sides.which_negative]])
        polygons = joined([sides.positive, sides.negative])
        at = _next_plane(tree, _Walking(polygons, at.source[which], at.node[which], at.plane[which], code))
    polygons = joined([one.polygons for one in done])
    source, node = (np.concatenate([getattr(one, name) for one in done]) for name in ("source", "node"))
    return polygons, source, node


def _next_plane(tree: FlatTree, at: _Walking) -> _Walking:
    """On to the next hyperplane, or to the first of the child; -1 where the route ends."""
    plane = at.plane + 1
    last = np.flatnonzero(plane == tree.first_plane[at.node + 1])
    child = tree.children[tree.first_child[at.node[last]] + at.code[last]].astype(np.int64)
    node, code = at.node.copy(), at.code.copy()
    node[last] = np.where(child < 0, node[last], child)  # where no training sample fell, the node itself answers
    ends = (child < 0) | tree.is_leaf[node[last]]
    plane[last] = np.where(ends, -1, tree.first_plane[node[last]])
    code[last] = 0
    return at._replace(node=node, plane=plane, code=code)


def _with_slopes(slopes: LeafSlopes, pieces: Pieces, lines: Lines) -> Pieces:
    """The pieces with the linear models of their nodes, cut where codes leave the range that was learned from."""
    for s in range(int(np.diff(slopes.first).max())):
        has = s < (slopes.first[pieces.nodes + 1] - slopes.first[pieces.nodes])
        at = np.where(has, slopes.first[pieces.nodes] + s, 0)
        axis = np.where(has, lines.grows[slopes.feature[at], pieces.panels], -1)
        polygons, source = pieces.polygons, np.arange(len(at))
        side = np.zeros(len(at), np.int64)  # -1: below the range, 1: above it
        for sign, ends in ((-1, slopes.low), (1, slopes.high)):
            line = np.column_stack([axis == 0, axis == 1, np.where(axis >= 0, ends[at], -1.0 if sign < 0 else 1.0)])
            sides = split(polygons, line[source].astype(np.float64), np.full(len(source), KINK))
            which = np.concatenate([sides.which_positive, sides.which_negative])
            is_positive = np.arange(len(which)) < len(sides.which_positive)
            polygons, source, side = joined([sides.positive, sides.negative]), source[which], side[which]
            side = np.where((axis[source] >= 0) & (is_positive == (sign > 0)), sign, side)
        pieces, has, at, axis = pieces.cut(polygons, source), has[source], at[source], axis[source]
        pieces = _plus_slope(slopes, pieces, lines, _Slope(has, at, axis, side))
    return pieces


class _Slope(NamedTuple):
    """One slope a piece."""

    has: Array  # whether there is one
    at: Array  # its number
    axis: Array  # along which the code of its view grows; -1: it is fixed
    side: Array  # -1: codes are below the range that was learned from, 1: above it


def _plus_slope(slopes: LeafSlopes, pieces: Pieces, lines: Lines, own: _Slope) -> Pieces:
    at = own.at
    low, high = slopes.low[at].astype(np.float64), slopes.high[at].astype(np.float64)
    code = np.clip(lines.codes[slopes.feature[at], pieces.panels], low, high)
    grows = own.has & (own.axis >= 0) & (own.side == 0)
    code = np.where(own.axis < 0, code, np.where(own.side < 0, low, high))
    code = np.where(grows, 0.0, code)
    slope = np.where(own.has[:, None], slopes.slope[at], 0.0)
    rates = np.array(pieces.rates)
    rates[grows, own.axis[grows]] += slope[grows]
    return replace(pieces, raw=pieces.raw + slope * (code[:, None] - slopes.mean[at]), rates=rates)


def _with_classes_apart(model: FittedModel, pieces: Pieces) -> Pieces:
    """The pieces cut where the class changes inside of them; only for links whose borders are straight."""
    if pieces.rates is None or model.link not in ("logistic", "softmax"):
        return pieces
    best = np.zeros(pieces.polygons.n, np.int64)
    for k in range(pieces.raw.shape[1]):
        raw, rates = pieces.before[0]
        assert rates is not None
        own, ahead = np.arange(len(best)), np.zeros((len(best), 3))
        if model.link == "logistic":
            ahead = np.column_stack([rates[:, :, 0], -raw[:, 0]])
        elif k > 0:
            ahead = np.column_stack([rates[own, :, k] - rates[own, :, best], raw[own, best] - raw[own, k]])
        sides = split(pieces.polygons, ahead, np.full(len(best), DECISION))
        which = np.concatenate([sides.which_positive, sides.which_negative])
        is_positive = np.arange(len(which)) < len(sides.which_positive)
        pieces = pieces.cut(joined([sides.positive, sides.negative]), which)
        best = np.where(is_positive, k, best[which])
    return pieces
