"""The nearest leaf of a single tree: leaves are polyhedra, and the nearest codes in one are an integer program.

Leaves come in the order of a bound below what they can cost, and the search ends where no bound is below the best.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from sublearn.explanation.search import Moves, Search
from sublearn.explanation.space import nearest
from sublearn.kernels.layout import Array


class Paths(NamedTuple):
    """The records of a tree, and the ways to its ends."""

    parent: Array  # int64 (n_records,), -1 at the root
    is_above: Array  # bool (n_records,), the side of the parent's hyperplane
    order: list[int]  # records, parents first
    ends: Array  # int64 (n_ends,)


def is_single_tree(search: Search) -> bool:
    """Whether there is but one tree, whose leaves answer with constants."""
    return len(search.space.trees.root) == 1 and not search.space.trees.first_slope.size


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
    return Paths(parent, is_above, order, np.array(ends))


def _candidates(search: Search, paths: Paths, row: int) -> Iterator[Array]:
    """Positions of the nearest points of leaves that may be nearer than the best."""
    space, trees = search.space, search.space.trees
    may = search.rows.may_move[row] & space.grid.is_line
    codes = search.rows.codes[row].astype(np.int64)
    factors = np.zeros((len(trees.link), space.n_features))
    np.add.at(factors, (np.arange(len(trees.link))[:, None], trees.feature), trees.coefficient)
    factors[:, ~may] = 0.0
    totals = (trees.coefficient.astype(np.int64) * codes[trees.views]).sum(axis=1) - trees.threshold
    price = space.grid.cost / space.maps.per_deviation  # of a code
    gain = (np.abs(factors) / price).max(axis=1)
    bounds = np.zeros(len(trees.link))
    for r in paths.order[1:]:
        p = paths.parent[r]
        missing = -totals[p] if paths.is_above[r] else totals[p] + 1
        own = 0.0 if missing <= 0 else (missing - 1) / gain[p] if gain[p] > 0 else np.inf
        bounds[r] = max(bounds[p], own)
    ends = paths.ends[_are_wanted(search, trees.answer[paths.ends], row)]
    best = search.cost[row]
    for end in ends[np.argsort(bounds[ends], kind="stable")].tolist():
        if bounds[end] >= best:
            return
        steps, sides = [], []
        r = end
        while paths.parent[r] >= 0:
            steps.append(int(paths.parent[r]))
            sides.append(1.0 if paths.is_above[r] else -1.0)
            r = int(paths.parent[r])
        sign = np.array(sides)
        needed = np.where(sign > 0, -totals[steps], totals[steps] + 1)
        moves = _nearest_point(sign[:, None] * factors[steps], needed, *_room(search, row, may), price)
        if moves is not None:
            position = _positions(search, row, moves)
            cost = space.costs(position[None], search.rows.origin[[row]]).sum()
            if cost < best + 0.01 * len(price):
                best = min(best, cost)
                yield position


def _are_wanted(search: Search, nodes: Array, row: int) -> Array:
    """Whether nodes answer as a row is to be answered."""
    members, trees = search.space.members, search.space.trees
    scores = trees.value[nodes] * members.weight[0] + members.start
    return search.goal.is_met(scores, np.full(len(nodes), row))


def _room(search: Search, row: int, may: Array) -> tuple[Array, Array]:
    """By how many codes each feature may fall and rise."""
    space, origin = search.space, search.rows.origin[row]
    low, high = np.zeros((2, space.n_features))
    for f in np.flatnonzero(may).tolist():
        axis = space.axes[f]
        scale = space.maps.per_deviation / axis.weight
        low[f] = max((origin[f] - axis.place[0]) * scale + 1.0, 0.0)
        high[f] = max((axis.place[-1] - origin[f]) * scale + 1.0, 0.0)
    return low, high


def _nearest_point(factors: Array, needed: Array, low: Array, high: Array, price: Array) -> Array | None:
    """Whole codes to move by, so that factors @ moves >= needed, at the least price; None where there are none."""
    used = np.flatnonzero((factors != 0.0).any(axis=0))
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
    """The positions that moves by codes lead to."""
    out, space = np.full(len(moves), -1, np.int64), search.space
    for f in np.flatnonzero(moves).tolist():
        axis = space.axes[f]
        code = float(search.rows.codes[row, int(np.flatnonzero(space.grid.feature == f)[0])]) + moves[f]
        out[f] = nearest(axis.place, np.array([code / space.maps.per_deviation * axis.weight]))[0]
    return out
