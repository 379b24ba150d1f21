"""The cells of a model in a plane: polygons in places in which it gives one answer, or one linear function of places.

Each tree cuts the cells of the trees before it, all cells together, level by level of its nodes.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sublearn.core.data.codes import encode_samples
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_tree import FlatTree, LeafSlopes
from sublearn.core.parallel import Workers
from sublearn.display.plane_axes import Plane
from sublearn.display.polygons import FRAME, Polygons, joined, normalised, split
from sublearn.kernels.layout import Array

KINK = -2  # the number of a line at which a linear function bends, which is no border
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


class PlaneCells(NamedTuple):
    """The cells of a model in a plane."""

    polygons: Polygons  # in places
    lines: Array  # float64 (n_lines, 3), the lines that edges are on
    answers: Array  # float64 (n, n_answers): probabilities, or one number; at the middle of each cell
    leaves: Array  # int64 (n,), the node of the last tree
    middles: Array  # float64 (n, 2)
    areas: Array  # float64 (n,)


def find_cells(model: FittedModel, plane: Plane, others: Array, most: int, *, splits_classes: bool) -> PlaneCells:
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
        pieces, added = _with_classes_apart(model, pieces, n_lines)
        lines += added
    areas, middles = pieces.polygons.areas_and_middles()
    return PlaneCells(
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


def root_borders(model: FittedModel, plane: Plane, row: Array) -> Array:
    """The lines of the root of a tree inside each panel, from end to end (n, 2, 2), in places."""
    lines, root, found = lines_for(model, plane, row, 0), int(model.ensemble.roots[0]), [np.empty((0, 2, 2))]
    for p in range(model.ensemble.nodes.first_plane[root], model.ensemble.nodes.first_plane[root + 1]):
        bare = plane.panels._replace(edges=np.full_like(plane.panels.edges, FRAME))
        cut = split(bare, lines.rows[:, p], np.zeros(bare.n, np.int64))
        side = cut.polygons.take(cut.is_positive)
        begin = np.flatnonzero(side.edges == 0)
        found.append(np.stack([side.corners[begin], side.corners[side.following[begin]]], axis=1))
    return np.concatenate(found)


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

    part: Array  # its number
    source: Array  # the piece that it is of
    node: Array
    plane: Array  # the next hyperplane of the node; -1: the way has ended
    code: Array  # sides of those before

    def take(self, which: Array) -> "_Walking":
        return _Walking(*(one[which] for one in self))


def _leaves(tree: FlatTree, pieces: Pieces, lines: Lines, root: int) -> tuple[Polygons, Array, Array]:
    """Parts of pieces that end in one node each: polygons, the piece that each is of, and the node.

    Boxes tell of most parts that they lie on one side of a line. Only others are looked at; what becomes of these is
    put behind all parts so far.
    """
    n, n_planes = pieces.polygons.n, lines.rows.shape[1]
    parts, (middles, halves) = pieces.polygons, pieces.polygons.boxes()
    start = -1 if tree.is_leaf[root] else tree.first_plane[root]
    at = _Walking(np.arange(n), np.arange(n), np.full(n, root), np.full(n, start, np.int64), np.zeros(n, np.int64))
    done = [at.take(at.plane < 0)]
    at = at.take(at.plane >= 0)
    while len(at.part):
        panel = pieces.panels[at.source]
        line = normalised(lines.rows[panel, at.plane])
        height = (middles[at.part] * line[:, :2]).sum(axis=1) - line[:, 2]
        reach = (halves[at.part] * np.abs(line[:, :2])).sum(axis=1)
        is_positive, maybe = height >= 0, np.abs(height) < reach
        if maybe.any():
            number = lines.begin + panel[maybe] * n_planes + at.plane[maybe]
            cut = split(parts.take(at.part[maybe]), line[maybe], number)
            split_at = at.take(maybe).take(cut.source)._replace(part=parts.n + np.arange(cut.polygons.n))
            at = _Walking(*(np.concatenate(pair) for pair in zip(at.take(~maybe), split_at, strict=True)))
            is_positive = np.concatenate([is_positive[~maybe], cut.is_positive])
            parts = joined([parts, cut.polygons])
            added = cut.polygons.boxes()
            middles, halves = np.concatenate([middles, added[0]]), np.concatenate([halves, added[1]])
        at = _next_plane(tree, at, is_positive)
        done.append(at.take(at.plane < 0))
        at = at.take(at.plane >= 0)
    part, source, node = (np.concatenate([getattr(one, name) for one in done]) for name in ("part", "source", "node"))
    return parts.take(part), source, node


def _next_plane(tree: FlatTree, at: _Walking, is_positive: Array) -> _Walking:
    """On to the next hyperplane, or to the first of the child."""
    code = at.code | np.where(is_positive, np.left_shift(1, at.plane - tree.first_plane[at.node]), 0)
    node, plane = at.node.copy(), at.plane + 1
    last = np.flatnonzero(plane == tree.first_plane[node + 1])
    child = tree.children[tree.first_child[node[last]] + code[last]].astype(np.int64)
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
        if (axis < 0).all():
            pieces = _plus_slope(slopes, pieces, lines, _Slope(has, at, axis, np.zeros(len(at), np.int64)))
            continue
        polygons, source = pieces.polygons, np.arange(len(at))
        side = np.zeros(len(at), np.int64)  # -1: below the range, 1: above it
        for sign, ends in ((-1, slopes.low), (1, slopes.high)):
            line = np.column_stack([axis == 0, axis == 1, np.where(axis >= 0, ends[at], -1.0 if sign < 0 else 1.0)])
            cut = split(polygons, line[source].astype(np.float64), np.full(len(source), KINK))
            polygons, source, side = cut.polygons, source[cut.source], side[cut.source]
            side = np.where((axis[source] >= 0) & (cut.is_positive == (sign > 0)), sign, side)
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


def _with_classes_apart(model: FittedModel, pieces: Pieces, n_lines: int) -> tuple[Pieces, list[Array]]:
    """The pieces cut where the class changes inside of them, and the new lines; `n_lines` are there.

    Only for links whose borders are straight, which are ours.
    """
    lines: list[Array] = []
    if pieces.rates is None or model.link not in ("logistic", "softmax"):
        return pieces, lines
    best = np.zeros(pieces.polygons.n, np.int64)
    n_values = pieces.raw.shape[1]
    for k in range(min(n_values - 1, 1), n_values):
        raw, rates = pieces.before[0]
        assert rates is not None
        own = np.arange(len(best))
        if n_values == 1:
            line = np.column_stack([rates[:, :, 0], -raw[:, 0]])
        else:
            line = np.column_stack([rates[own, :, k] - rates[own, :, best], raw[own, best] - raw[own, k]])
        cut = split(pieces.polygons, line, n_lines + own)
        pieces = pieces.cut(cut.polygons, cut.source)
        best = np.where(cut.is_positive, k, best[cut.source])
        n_lines += len(line)
        lines.append(line)
    return pieces, lines
