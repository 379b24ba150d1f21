"""The search for the nearest counterfactuals of many rows at once.

Every step looks along all lines from a state, exactly (`kernels.scanning`). Starts are single changes, greedy pairs and
rows of the other answer. From there a change is taken back as far as another, cheaper one allows, until nothing helps.
"""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.explanation.members import Member, answers_of
from sublearn.explanation.moves import Goal, Moves, Rows, firsts, joined
from sublearn.explanation.space import Space, nearest
from sublearn.kernels.layout import Array
from sublearn.kernels.scanning import Found, States, Wish, scan

LEAST = 1e-4  # a saving below this, a tenth of a code, is none
PARTS = (0.0, 0.3, 0.6, 0.85, 0.95, 1.1)  # of a change, that are tried together with another change
KEPT = 12  # states of a row that are worked on
KICKS = 8  # random changes of the best state at a time
ROUNDS = 12  # of these, at the most without a better state
SHARES = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015)  # of changes, that kicks take back in the mean
PULLS = 12  # rows of the other answer that are pulled from
NEAR = 32  # rows that are looked at for that
STEPS = 3  # greedy steps
CLIMBS = 40  # steps of a row that nothing else leads to its goal
BRANCHES = 4  # features that a greedy search begins with
DETOURS = 1  # times that each change of the best state is done without
FARTHER = 1.2  # by what factor a state may cost more than the best there
TURNS = 60  # of improving, at the most


class Search:
    """The best moves of all rows so far, and the ways to better ones."""

    def __init__(self, space: Space, members: list[Member], rows: Rows, goal: Goal, workers: Workers) -> None:
        self.space, self.members, self.rows, self.goal, self.workers = space, members, rows, goal, workers
        n, d = rows.x.shape
        self.position = np.full((n, d), -1, np.int64)
        self.cost = np.full(n, np.inf)

    def begin(self, active: Array, pool: Array) -> Moves:
        """First states of some rows, and the best of these; `pool` are rows that may be pulled from."""
        pulled = self.pulled(self.near(active, pool, NEAR))
        self.offer(pulled)
        own = self.unmoved(active)
        states, _ = self.reduced(joined([self.greedy(own), pulled]))
        lost = active[~np.isfinite(self.cost[active])]
        if len(lost):
            found, _ = self.reduced(self.rescued(lost, pool))
            states = joined([states, found])
        return self.best_of(states, KEPT)

    def rescued(self, lost: Array, pool: Array) -> Moves:
        """First states of rows that nothing near leads to the goal: from others of the pool, or by long climbs."""
        pulled = self.pulled(self.near(lost, pool, len(pool)))
        self.offer(pulled)
        lost = lost[~np.isfinite(self.cost[lost])]
        return joined([pulled, self.climbed(joined([self.unmoved(lost), self.near(lost, pool, PULLS)]))])

    def unmoved(self, rows: Array) -> Moves:
        """Rows as they are."""
        return Moves(rows, np.full((len(rows), self.rows.x.shape[1]), -1, np.int64))

    def climbed(self, states: Moves) -> Moves:
        """States at their goal that many steps lead to, each the steepest, whatever it costs."""
        reached = [states.take(np.zeros(0, np.int64))]
        for _ in range(CLIMBS):
            if not len(states.row):
                break
            found = self.look(states, np.full(len(states.row), np.inf))
            hits = self.best_of(self.hits(states, found), PULLS)
            self.offer(hits)
            reached.append(hits)
            going = np.flatnonzero((found.slope.max(axis=1) > 0.0) & ~np.isfinite(self.cost[states.row]))
            feature = found.slope[going].argmax(axis=1)
            states = self.moved(states.take(going), feature, found.steepest[going, feature])
        return joined(reached)

    def improve(self, states: Moves) -> None:
        """Look for better states from some, as long as anything helps."""
        self.exchange(states)
        active = np.unique(states.row)
        for _ in range(DETOURS):
            others, _ = self.reduced(self.greedy(self.without(active), FARTHER))
            self.exchange(self.best_of(others, KEPT))
        self.kick(active)

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
        trees, members, grid = self.space.trees, self.space.members, self.space.grid
        goal = Wish(self.goal.kind, self.goal.low, self.goal.high)
        work = np.array([100.0 * len(trees.root) * trees.depth])
        self.workers.run(lambda a, b: scan(trees, members, grid, given, goal, found, a, b), work, items=n)
        return found

    def costs(self, states: Moves) -> Array:
        """What all moves of states cost, feature by feature."""
        return self.space.costs(states.position, self.rows.origin[states.row])

    def tidied(self, states: Moves) -> Moves:
        """The same states without moves that stay within the row's own code."""
        is_none = (self.costs(states) <= 0.0) & self.space.grid.is_line
        return Moves(states.row, np.where(is_none, -1, states.position))

    def offer(self, states: Moves) -> Array:
        """Keep states that are at their goal and better than what there is; whether each is at its goal."""
        states = self.tidied(states)
        cost = self.costs(states).sum(axis=1)
        met = self.are_met(states)
        order = np.lexsort((cost, states.row))
        order = order[met[order]]
        first = order[firsts(states.row[order])]
        better = first[cost[first] < self.cost[states.row[first]] - LEAST]
        self.cost[states.row[better]] = cost[better]
        self.position[states.row[better]] = states.position[better]
        return met

    def near(self, active: Array, pool: Array, n: int) -> Moves:
        """Rows moved to the n nearest ones of the pool that are at their goal, but for what may not move."""
        origin = self.space.origins(pool)
        position, is_line, cost = self.space.positions(pool, origin), self.space.grid.is_line, self.space.grid.cost
        answers = answers_of(self.members, pool, self.workers)
        parts = [Moves(active[:0], position[:0])]
        for row in active.tolist():
            may, own = self.rows.may_move[row], self.rows.origin[row]
            met = np.flatnonzero(self.goal.is_met(answers, np.full(len(pool), row)))
            there = origin[met]
            apart = np.where(is_line, np.abs(there - own), cost * (there != own))
            apart = np.where(np.isnan(apart) | ~may, 0.0, apart).sum(axis=1)
            near = met[np.argsort(apart, kind="stable")[:n]]
            moved = np.where(may & (position[near] >= 0), position[near], -1)
            parts.append(Moves(np.full(len(near), row), np.where(~is_line & (moved == own), -1, moved)))
        return joined(parts)

    def pulled(self, near: Moves) -> Moves:
        """The nearest of these that are at their goal, which what may not move could keep them from."""
        states = near.take(np.flatnonzero(self.are_met(near)))
        rank = np.arange(len(states.row)) - np.searchsorted(states.row, states.row)
        return states.take(np.flatnonzero(rank < PULLS))

    def are_met(self, states: Moves) -> Array:
        """Whether states are at their goals, as the model itself says."""
        if not len(states.row):
            return np.zeros(0, np.bool_)
        x = self.space.values(self.rows.x[states.row], states.position)
        return self.goal.is_met(answers_of(self.members, x, self.workers), states.row)

    def greedy(self, states: Moves, farther: float = 1.0) -> Moves:
        """States at their goal that single steps lead to, or several steps, each the steepest.

        farther: by what factor they may cost more than the best.
        """
        reached = [states.take(np.zeros(0, np.int64))]
        for step in range(STEPS):
            found = self.look(states, farther * self.cost[states.row])
            hits = self.hits(states, found)
            self.offer(hits)
            reached.append(self.best_of(hits, BRANCHES))
            order = np.argsort(-found.slope, axis=1, kind="stable")[:, : BRANCHES if step == 0 else 1]
            at, rank = np.nonzero(np.take_along_axis(found.steepest, order, axis=1) >= 0)
            states = self.moved(states.take(at), order[at, rank], found.steepest[at, order[at, rank]])
            near = self.costs(states).sum(axis=1) < farther * self.cost[states.row]
            states = states.take(np.flatnonzero(near))
        return joined(reached)

    def without(self, active: Array) -> Moves:
        """The best states of rows, each without one of its changes."""
        states = Moves(active, self.position[active])
        at, feature = np.nonzero(states.position >= 0)
        return self.scaled(states.take(at), feature, 0.0)

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

    def best_of(self, states: Moves, n: int) -> Moves:
        """The cheapest distinct states of each row."""
        states, _ = self.distinct(states)
        rank = np.arange(len(states.row)) - np.searchsorted(states.row, states.row)
        return states.take(np.flatnonzero(rank < n))

    def reduced(self, states: Moves) -> tuple[Moves, Array]:
        """States whose single features are as near to their origins as the others allow; and which of those given.

        Without those that the model itself does not say to be at their goal.
        """
        done, places, states = [], [], self.tidied(states)
        place = np.arange(len(states.row))
        for _ in range(TURNS):
            if not len(states.row):
                break
            spent = self.costs(states)
            found = self.look(states, spent.sum(axis=1) + LEAST)
            saving = np.where(found.position >= 0, spent - found.cost, 0.0)
            best = saving.max(axis=1)
            over = best <= LEAST
            done.append(states.take(np.flatnonzero(over)))
            places.append(place[over])
            going = np.flatnonzero(~over)
            place = place[going]
            states, saving, position = states.take(going), saving[going], found.position[going]
            several = self.halved(states, saving, position)
            feature = saving.argmax(axis=1)
            rows = np.arange(len(going))
            one = self.moved(states, feature, position[rows, feature])
            met = self.are_met(several)
            states = Moves(states.row, np.where(met[:, None], several.position, one.position))
        out, place = joined([*done, states]), np.concatenate([*places, place])
        met = np.flatnonzero(self.offer(out))
        return out.take(met), place[met]

    def halved(self, states: Moves, saving: Array, position: Array) -> Moves:
        """States with the better half of all changes that save something, at once."""
        order = np.argsort(-saving, axis=1, kind="stable")
        n = (saving > LEAST).sum(axis=1)
        rank = np.argsort(order, axis=1, kind="stable")
        taken = (rank < -(-n // 2)[:, None]) & (saving > LEAST)
        own = ~self.space.grid.is_line & (position == self.rows.origin[states.row])
        return Moves(states.row, np.where(taken, np.where(own, -1, position), states.position))

    def exchange(self, states: Moves) -> None:
        """Make states better by taking one change back in part, and another one in its place, until nothing helps.

        Each turn tries one part for all changes of all states.
        """
        failures = np.zeros(len(states.row), np.int64)
        for turn in range(TURNS * len(PARTS)):
            going = np.flatnonzero(failures < len(PARTS))
            states, failures = states.take(going), failures[going]
            if not len(going):
                return
            better, source = self.exchanged(states, PARTS[turn % len(PARTS)])
            failures += 1
            failures[source] = 0
            position = states.position.copy()
            position[source] = better.position
            states, kept = self.distinct(Moves(states.row, position))
            failures = failures[kept]

    def exchanged(self, states: Moves, part: float) -> tuple[Moves, Array]:
        """What is better than states, each with one change taken back in part, and which of these it is better than."""
        spent = self.costs(states)
        at, feature = np.nonzero(spent > 0)
        tried = self.scaled(states.take(at), feature, part)
        changed = np.flatnonzero((tried.position != states.position[at]).any(axis=1))
        tried, source = tried.take(changed), at[changed]
        lowest, hit = self.best_hits(tried, spent.sum(axis=1)[source] - LEAST)
        there = np.flatnonzero(np.isfinite(lowest))
        order = there[np.lexsort((lowest[there], source[there]))]
        first = order[firsts(source[order])]
        better, met = self.reduced(hit.take(first))
        return better, source[first][met]

    def best_hits(self, tried: Moves, budget: Array) -> tuple[Array, Moves]:
        """For each state the cheapest that one change leads to the goal from, and what it costs; infinite for none."""
        found, own = self.look(tried, budget), self.costs(tried)
        cost = own.sum(axis=1)[:, None] - own + found.cost
        best = cost.argmin(axis=1)
        rows = np.arange(len(best))
        return cost[rows, best], self.moved(tried, best, found.position[rows, best])

    def distinct(self, states: Moves) -> tuple[Moves, Array]:
        """States without those that cost the same as another one of the row, and their places."""
        cost = self.costs(states).sum(axis=1)
        order = np.lexsort((cost, states.row))
        row, cost = states.row[order], cost[order]
        is_new = np.append(True, (row[1:] != row[:-1]) | (cost[1:] > cost[:-1] + LEAST))[: len(row)]
        return states.take(order[is_new]), order[is_new]

    def kick(self, active: Array) -> None:
        """Take several changes back at random, each in part, and look for one that makes up for it.

        All rows are kicked alike, so that what is found for one does not depend on the others.
        """
        random = np.random.default_rng(0)
        failures = np.zeros(len(self.cost), np.int64)
        going = active[np.isfinite(self.cost[active])]
        turn = 0
        while len(going):
            share = SHARES[turn % len(SHARES)]
            turn += 1
            parts, steps = self.drawn(random, share)
            row = np.repeat(going, KICKS)
            tried = self.kicked(Moves(row, self.position[row]), *(np.tile(a, (len(going), 1)) for a in (parts, steps)))
            before = self.cost[going].copy()
            lowest, hit = self.best_hits(tried, self.cost[row] - LEAST)
            self.reduced(self.best_of(hit.take(np.flatnonzero(np.isfinite(lowest))), 2))
            failures[going] = np.where(self.cost[going] < before, 0, failures[going] + 1)
            going = going[failures[going] < ROUNDS]

    def drawn(self, random: np.random.Generator, share: float) -> tuple[Array, Array]:
        """For each kick, what part of each change stays, and a step of one feature."""
        d = self.position.shape[1]
        parts = 1.0 - share * random.laplace(0.5, 1.0, (KICKS, d)) * (random.random((KICKS, d)) < 0.5)
        parts[random.random((KICKS, d)) < 0.1] = 0.0
        steps = np.zeros((KICKS, d))
        steps[np.arange(KICKS), random.integers(0, d, KICKS)] = random.laplace(0.0, share, KICKS)
        steps[::2] = 0.0
        return np.maximum(parts, 0.0), steps

    def kicked(self, states: Moves, parts: Array, steps: Array) -> Moves:
        """States with parts (n_states, n_features) of all their changes, and steps added to these."""
        moved = states.position.copy()
        origins, may = self.rows.origin[states.row], self.rows.may_move[states.row]
        for f, axis in enumerate(self.space.axes):
            if not axis.is_line:
                moved[parts[:, f] <= 0, f] = -1
                continue
            rows = np.flatnonzero(may[:, f] & ((moved[:, f] >= 0) & (parts[:, f] != 1.0) | (steps[:, f] != 0.0)))
            if not len(rows) or not len(axis.place):
                continue
            origin, at = origins[rows, f], moved[rows, f]
            place = np.where(at < 0, origin, axis.place[at])
            wanted = origin + parts[rows, f] * (place - origin) + steps[rows, f]
            moved[rows, f] = np.where(wanted == origin, -1, nearest(axis.place, wanted))
        return Moves(states.row, moved)

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
