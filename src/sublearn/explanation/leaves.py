"""The nearest leaf of a single tree: leaves are polyhedra, and the nearest codes in one are an integer program.

Leaves come in the order of a bound below what they can cost, and the search ends where no bound is below the best.
"""

from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from sublearn.explanation.moves import Moves
from sublearn.explanation.search import Search
from sublearn.explanation.space import nearest
from sublearn.kernels.layout import Array

MOST = 1000  # combinations of categories that are tried


class Paths(NamedTuple):
    """The records of a tree, and the ways to its ends."""

    parent: Array  # int64 (n_records,), -1 at the root
    is_above: Array  # bool (n_records,), the side of the parent's hyperplane
    order: list[int]  # records, parents first
    ends: Array  # int64 (n_ends,)
    factors: Array  # float64 (n_records, n_features), the coefficients of features that are numbers


def is_single_tree(search: Search) -> bool:
    """Whether there is but one tree, whose leaves answer with constants."""
    return len(search.space.trees.root) == 1 and not search.space.trees.first_slope.size


def is_exact(search: Search) -> bool:
    """Whether leaves tell all: every code of a number that may change is a position."""
    grid = search.space.grid
    return is_single_tree(search) and bool((grid.half > 0)[grid.is_line & search.rows.may_move.any(axis=0)].all())


def offer_leaves(search: Search, rows: Array) -> None:
    """Offer the nearest points of leaves to the search, for some rows."""
    paths = _paths(search)
    found = [(row, position) for row in rows.tolist() for position in _candidates(search, paths, row)]
    if found:
        search.reduced(Moves(np.array([row for row, _ in found]), np.array([position for _, position in found])))


def _paths(search: Search) -> Paths:
    trees = search.space.trees
    parent, is_above = np.full(len(trees.link), -1), np.zeros(len(trees.link), np.bool_)
    order, ends = [int(trees.root[0])], []
    for r in order:  # which grows
        if trees.link[r] == r:
            ends.append(r)
            continue
        for side in range(2):
            child = int(trees.link[r]) + side
            parent[child], is_above[child] = r, bool(side)
            order.append(child)
    factors = np.zeros((len(trees.link), search.space.n_features))
    np.add.at(factors, (np.arange(len(trees.link))[:, None], trees.feature), trees.coefficient)
    factors[:, ~search.space.grid.is_line] = 0.0
    return Paths(parent, is_above, order, np.array(ends), factors)


def _candidates(search: Search, paths: Paths, row: int) -> Iterator[Array]:
    """Positions of the nearest points of leaves that may be nearer than the best."""
    best = search.cost[row]
    for start in islice(_starts(search, row), MOST):
        spent = search.space.costs(start[None], search.rows.origin[[row]]).sum()
        if spent >= best:
            return
        for position in _from_start(search, paths, row, start, best):
            best = min(best, search.space.costs(position[None], search.rows.origin[[row]]).sum())
            yield position


def _starts(search: Search, row: int) -> Iterator[Array]:
    """The row itself, then with every change of one category, of two, and so on."""
    axes, origin = search.space.axes, search.rows.origin[row]
    may = np.flatnonzero(search.rows.may_move[row] & ~search.space.grid.is_line).tolist()
    for size in range(len(may) + 1):
        for features in combinations(may, size):
            others = [[p for p in range(len(axes[f].place)) if p != origin[f]] for f in features]
            for chosen in product(*others):
                start = np.full(len(origin), -1, np.int64)
                start[list(features)] = chosen
                yield start


def _from_start(search: Search, paths: Paths, row: int, start: Array, best: float) -> Iterator[Array]:
    """The same from a row of which some categories are changed."""
    space, trees = search.space, search.space.trees
    factors = np.where(search.rows.may_move[row], paths.factors, 0.0)
    codes = space.moved_codes(search.rows.codes[[row]], start[None])[0].astype(np.int64)
    totals = (trees.coefficient.astype(np.int64) * codes[trees.views]).sum(axis=1) - trees.threshold
    price = space.grid.cost / space.maps.per_deviation  # of a code
    gain = (np.abs(factors) / price).max(axis=1)
    bounds = np.full(len(trees.link), space.costs(start[None], search.rows.origin[[row]]).sum())
    for r in paths.order[1:]:
        p = paths.parent[r]
        missing = -totals[p] if paths.is_above[r] else totals[p] + 1
        own = 0.0 if missing <= 0 else (missing - 1) / gain[p] if gain[p] > 0 else np.inf
        bounds[r] = max(bounds[p], bounds[paths.order[0]] + own)
    ends = paths.ends[_are_wanted(search, trees.answer[paths.ends], row)]
    for end in ends[np.argsort(bounds[ends], kind="stable")].tolist():
        if bounds[end] >= best:
            return
        steps = _way_to(paths, end)
        sign = np.where(paths.is_above[steps], 1.0, -1.0)
        above = paths.parent[steps]
        needed = np.where(sign > 0, -totals[above], totals[above] + 1)
        moves = _nearest_point(sign[:, None] * factors[above], needed, *_room(search, row), price)
        if moves is not None:
            position = np.where(moves != 0, _positions(search, row, moves), start)
            cost = space.costs(position[None], search.rows.origin[[row]]).sum()
            if cost < best and search.are_met(Moves(np.array([row]), position[None]))[0]:
                best = cost
                yield position


def _way_to(paths: Paths, end: int) -> list[int]:
    """The records on the way to an end, without the root."""
    way = []
    while paths.parent[end] >= 0:
        way.append(end)
        end = int(paths.parent[end])
    return way


def _are_wanted(search: Search, nodes: Array, row: int) -> Array:
    """Whether nodes answer as a row is to be answered."""
    members, trees = search.space.members, search.space.trees
    scores = trees.value[nodes] * members.weight[0] + members.start
    return search.goal.is_met(scores, np.full(len(nodes), row))


def _room(search: Search, row: int) -> tuple[Array, Array]:
    """By how many codes each feature may fall and rise."""
    space, origin = search.space, search.rows.origin[row]
    low, high = np.zeros((2, space.n_features))
    may = search.rows.may_move[row] & space.grid.is_line
    for f in np.flatnonzero(may).tolist():
        axis = space.axes[f]
        scale = space.maps.per_deviation / axis.weight
        low[f] = max((origin[f] - axis.place[0]) * scale + 1.0, 0.0)
        high[f] = max((axis.place[-1] - origin[f]) * scale + 1.0, 0.0)
    return low, high


def _nearest_point(factors: Array, needed: Array, low: Array, high: Array, price: Array) -> Array | None:
    """Whole codes to move by, so that factors @ moves >= needed, at the least price; None where there are none."""
    used = np.flatnonzero((factors != 0.0).any(axis=0))
    if (needed <= 0).all():
        return np.zeros(factors.shape[1])
    if not len(used):
        return None
    a = factors[:, used]
    found = milp(
        np.tile(price[used], 2),
        integrality=np.ones(2 * len(used)),
        bounds=Bounds(0.0, np.floor(np.concatenate([high[used], low[used]]))),
        constraints=LinearConstraint(np.hstack([a, -a]), lb=needed),
    )
    if found.x is None:
        return None
    moves = np.zeros(factors.shape[1])
    moves[used] = np.rint(found.x[: len(used)] - found.x[len(used) :])
    return moves


def _positions(search: Search, row: int, moves: Array) -> Array:
    """The positions that moves by codes lead to; of whole numbers the first ones that are as far."""
    out, space = np.full(len(moves), -1, np.int64), search.space
    for f in np.flatnonzero(moves).tolist():
        axis = space.axes[f]
        code = float(search.rows.codes[row, int(np.flatnonzero(space.grid.feature == f)[0])]) + moves[f]
        wanted = np.array([code / space.maps.per_deviation * axis.weight])
        if axis.half:
            out[f] = nearest(axis.place, wanted)[0]
            continue
        slack = 0.5 / space.maps.per_deviation * axis.weight  # a code reaches so far
        if moves[f] > 0:
            out[f] = min(int(np.searchsorted(axis.place, wanted[0] - slack)), len(axis.place) - 1)
        else:
            out[f] = max(int(np.searchsorted(axis.place, wanted[0] + slack, side="right")) - 1, 0)
    return out
