"""The search for the nearest counterfactuals of many rows at once.

Every step looks along all lines from a state, exactly (`kernels.lines`). Starts are single changes, greedy pairs and
rows of the other answer. From there a change is taken back as far as another, cheaper one allows, until nothing helps.
"""

from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.explanation.lines import NUMBER, Found, States, scan
from sublearn.explanation.members import Member, answers_of
from sublearn.explanation.space import Space, nearest
from sublearn.kernels.layout import Array

LEAST = 1e-4  # a saving below this, a tenth of a code, is none
PARTS = (0.0, 0.25, 0.5, 0.75, 0.875, 0.95, 1.05, 1.25)  # of a change, that are tried together with another change
KEPT = 3  # states of a row that are worked on
PULLS = 4  # rows of the other answer that are pulled from
NEAR = 16  # rows that are looked at for that
STEPS = 3  # greedy steps
BRANCHES = 4  # features that a greedy search begins with
TURNS = 60  # of improving, at the most
BATCH = 1 << 22  # numbers that a batch of states takes, at the most


class Goal(NamedTuple):
    """What the answers of rows are to be."""

    kind: int
    classes: Array  # int64 (n_rows,), wanted or avoided
    low: float  # of numbers, as scores are
    high: float
    slack: float  # ties within this may count

    def is_met(self, answers: Array, rows: Array) -> Array:
        """Whether answers for some rows are as wanted."""
        if self.kind == NUMBER:
            return (answers[:, 0] >= self.low) & (answers[:, 0] <= self.high)
        met: Array = (answers.argmax(axis=1) == self.classes[rows]) == (self.kind == 1)
        return met


class Rows(NamedTuple):
    """The rows that are searched from."""

    x: Array  # float64 (n_rows, n_features)
    codes: Array  # int16 (n_rows, n_views)
    origin: Array  # float64 (n_rows, n_features)
    may_move: Array  # bool (n_rows, n_features)


class Moves(NamedTuple):
    """States: rows with some features moved to positions."""

    row: Array  # int64 (n_states,)
    position: Array  # int64 (n_states, n_features), -1: not moved

    def take(self, chosen: Array) -> "Moves":
        """Some of them."""
        return Moves(self.row[chosen], self.position[chosen])


def joined(parts: list[Moves]) -> Moves:
    """All states of several."""
    return Moves(np.concatenate([p.row for p in parts]), np.concatenate([p.position for p in parts]))


class Search:
    """The best moves of all rows so far, and the ways to better ones."""

    def __init__(self, space: Space, members: list[Member], rows: Rows, goal: Goal, workers: Workers) -> None:
        self.space, self.members, self.rows, self.goal, self.workers = space, members, rows, goal, workers
        n, d = rows.x.shape
        self.position = np.full((n, d), -1, np.int64)
        self.cost = np.full(n, np.inf)

    def run(self, active: Array, pool: Array) -> None:
        """Search for some rows; `pool` are rows that may be pulled from."""
        pulled = self.pulled(active, pool)
        self.offer(pulled)
        states = joined([self.greedy(active), pulled])
        states = self.reduced(states)
        states = self.best_of(states)
        while len(states.row):
            states = self.exchanged(states)

    def look(self, states: Moves, budget: Array) -> Found:
        """What lies along all lines from some states, where all moves together cost less than a budget."""
        n, d = states.position.shape
        found = Found(
            margin=np.empty(n),
            position=np.empty((n, d), np.int32),
            cost=np.empty((n, d)),
            steepest=np.empty((n, d), np.int32),
            slope=np.empty((n, d)),
        )
        if n == 0:
            return found
        rows, row = self.rows, states.row
        given = States(
            codes=self.space.moved_codes(rows.codes[row], states.position),
            origin=np.nan_to_num(rows.origin[row], nan=-1.0),
            spent=self.space.costs(states.position, rows.origin[row]),
            may_move=rows.may_move[row],
            budget=budget,
            goal=self.goal.classes[row],
            slack=np.full(n, self.goal.slack),
        )
        trees, members, grid, goal = self.space.trees, self.space.members, self.space.grid, self.goal
        work = np.array([100.0 * len(trees.root) * trees.depth])
        self.workers.run(
            lambda a, b: scan(trees, members, grid, given, goal.kind, goal.low, goal.high, found, a, b), work, items=n
        )
        return found

    def costs(self, states: Moves) -> Array:
        """What all moves of states cost, feature by feature."""
        return self.space.costs(states.position, self.rows.origin[states.row])

    def offer(self, states: Moves) -> Array:
        """Keep states that are at their goal and better than what there is; whether each is at its goal."""
        cost = self.costs(states).sum(axis=1)
        x = self.space.values(self.rows.x[states.row], states.position)
        met = self.goal.is_met(answers_of(self.members, x, self.workers), states.row) if len(x) else np.empty(0, bool)
        order = np.lexsort((cost, states.row))
        order = order[met[order]]
        first = order[np.append(True, states.row[order][1:] != states.row[order][:-1])] if len(order) else order
        better = first[cost[first] < self.cost[states.row[first]] - LEAST]
        self.cost[states.row[better]] = cost[better]
        self.position[states.row[better]] = states.position[better]
        return met

    def pulled(self, active: Array, pool: Array) -> Moves:
        """The nearest rows of the pool that are at the goal of each row, with what may not move as it is."""
        origin = self.space.origins(pool)
        positions = self.space.positions(pool, origin)
        parts = []
        scale = self.space.grid.cost
        for row in active.tolist():
            may = self.rows.may_move[row]
            own = self.rows.origin[row]
            apart = np.where(self.space.grid.is_line, np.abs(origin - own), scale * (origin != own))
            apart = np.where(np.isnan(apart) | ~may, 0.0, apart).sum(axis=1)
            near = np.argsort(apart, kind="stable")[:NEAR]
            moved = np.where(may & (positions[near] >= 0), positions[near], -1)
            same = ~self.space.grid.is_line & (moved == own)
            parts.append(Moves(np.full(len(near), row), np.where(same, -1, moved)))
        if not parts:
            return Moves(active, np.empty((0, self.rows.x.shape[1]), np.int64))
        states = joined(parts)
        x = self.space.values(self.rows.x[states.row], states.position)
        met = self.goal.is_met(answers_of(self.members, x, self.workers), states.row)
        states = states.take(np.flatnonzero(met))
        rank = np.arange(len(states.row)) - np.searchsorted(states.row, states.row)
        return states.take(np.flatnonzero(rank < PULLS))

    def greedy(self, active: Array) -> Moves:
        """States at their goal that single steps lead to, or several steps, each the steepest."""
        d = self.rows.x.shape[1]
        states = Moves(active, np.full((len(active), d), -1, np.int64))
        reached = []
        for step in range(STEPS):
            found = self.look(states, self.cost[states.row])
            hits = self.hits(states, found)
            self.offer(hits)
            reached.append(self.best_of(hits, BRANCHES))
            order = np.argsort(-found.slope, axis=1, kind="stable")[:, : BRANCHES if step == 0 else 1]
            at, rank = np.nonzero(np.take_along_axis(found.steepest, order, axis=1) >= 0)
            states = self.moved(states.take(at), order[at, rank], found.steepest[at, order[at, rank]])
            states = states.take(np.flatnonzero(self.costs(states).sum(axis=1) < self.cost[states.row]))
        return joined(reached)

    def moved(self, states: Moves, feature: Array, position: Array) -> Moves:
        """States with one feature moved; -1 where that takes it back to a category that the row has."""
        moved = states.position.copy()
        own = ~self.space.grid.is_line[feature] & (position == self.rows.origin[states.row, feature])
        moved[np.arange(len(moved)), feature] = np.where(own, -1, position)
        return Moves(states.row, moved)

    def hits(self, states: Moves, found: Found) -> Moves:
        """All states that one change leads to the goal from."""
        at, feature = np.nonzero(found.position >= 0)
        return self.moved(states.take(at), feature, found.position[at, feature])

    def best_of(self, states: Moves, n: int = KEPT) -> Moves:
        """The cheapest distinct states of each row."""
        cost = self.costs(states).sum(axis=1)
        order = np.lexsort((cost, states.row))
        row, cost = states.row[order], cost[order]
        is_new = np.append(True, (row[1:] != row[:-1]) | (cost[1:] > cost[:-1] + LEAST))[: len(row)]
        order, row = order[is_new], row[is_new]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        return states.take(order[rank < n])

    def freed(self, states: Moves) -> Moves:
        """States whose moves that cost nothing are none."""
        free = (self.costs(states) <= 0) & (states.position >= 0) & self.space.grid.is_line
        return states

    def reduced(self, states: Moves) -> Moves:
        """States whose single features are as near to their origins as the others allow."""
        done = []
        for _ in range(TURNS):
            if not len(states.row):
                break
            spent = self.costs(states)
            found = self.look(states, spent.sum(axis=1) + LEAST)
            saving = np.where(found.position >= 0, spent - found.cost, 0.0)
            best = saving.max(axis=1)
            over = best <= LEAST
            done.append(states.take(np.flatnonzero(over)))
            going = np.flatnonzero(~over)
            states, saving, position = states.take(going), saving[going], found.position[going]
            several = self.halved(states, saving, position)
            feature = saving.argmax(axis=1)
            rows = np.arange(len(going))
            one = self.moved(states, feature, position[rows, feature])
            x = self.space.values(self.rows.x[states.row], several.position)
            met = self.goal.is_met(answers_of(self.members, x, self.workers), states.row) if len(x) else rows > 0
            states = Moves(states.row, np.where(met[:, None], several.position, one.position))
        done.append(states)
        out = joined(done)
        met = self.offer(out)
        return out.take(np.flatnonzero(met))

    def halved(self, states: Moves, saving: Array, position: Array) -> Moves:
        """States with the better half of all changes that save something, at once."""
        order = np.argsort(-saving, axis=1, kind="stable")
        n = (saving > LEAST).sum(axis=1)
        rank = np.argsort(order, axis=1, kind="stable")
        taken = (rank < -(-n // 2)[:, None]) & (saving > LEAST)
        own = ~self.space.grid.is_line & (position == self.rows.origin[states.row])
        return Moves(states.row, np.where(taken, np.where(own, -1, position), states.position))

    def exchanged(self, states: Moves) -> Moves:
        """States that are better by taking one change back in part, and another one in its place."""
        spent = self.costs(states)
        total = spent.sum(axis=1)
        at, feature = np.nonzero(spent > 0)
        parts, sources = [], []
        for part in PARTS:
            some = self.scaled(states.take(at), feature, part)
            changed = np.flatnonzero((some.position != states.position[at]).any(axis=1))
            parts.append(some.take(changed))
            sources.append(at[changed])
        tried, source = joined(parts), np.concatenate(sources)
        found = self.look(tried, total[source] - LEAST)
        own = self.costs(tried)
        cost = own.sum(axis=1)[:, None] - own + found.cost
        best = cost.argmin(axis=1)
        lowest = cost[np.arange(len(best)), best] if len(best) else np.empty(0)
        order = np.lexsort((lowest, source))
        order = order[np.isfinite(lowest[order])]
        first = order[np.append(True, source[order][1:] != source[order][:-1])] if len(order) else order
        better = self.moved(tried.take(first), best[first], found.position[first, best[first]])
        better = self.reduced(better)
        better = better.take(np.flatnonzero(self.costs(better).sum(axis=1) < np.inf))
        return self.best_of(better)

    def scaled(self, states: Moves, feature: Array, part: float) -> Moves:
        """States with a part of one change; a category goes back, or stays."""
        moved = states.position.copy()
        for f in np.unique(feature).tolist():
            rows = np.flatnonzero(feature == f)
            axis = self.space.axes[f]
            if part == 0:
                moved[rows, f] = -1
            elif axis.is_line:
                origin = self.rows.origin[states.row[rows], f]
                place = axis.place[states.position[rows, f]]
                moved[rows, f] = nearest(axis.place, origin + part * (place - origin))
        return Moves(states.row, moved)
