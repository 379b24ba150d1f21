"""Along all lines from rows that are changed in part: the nearest positions where a goal is met.

`kernels.lines` has what single trees say along a line; here it becomes scores, and how far these are from the goal.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.layout import Array
from sublearn.kernels.lines import answer_at, end_of, go_through

ADDED, LOG_ODDS, LOGISTIC, SOFTMAX, EXPONENTIAL = range(5)  # how the raw values of a member become scores
NUMBER, WANTED, AVOIDED = range(3)  # goals: a number within bounds, one class, any class but one


class Members(NamedTuple):
    """How the raw values of members become scores: one a class, or a number."""

    column: Array  # int64 (n_members + 1,), the raw values of each
    link: Array  # int64 (n_members,)
    weight: Array  # float64 (n_members,)
    start: Array  # float64 (n_raw,), raw values before any tree
    table: Array  # int64 (n_raw, n_features), where the codes of a feature's positions begin, for each raw value
    n_scores: int


class States(NamedTuple):
    """Rows with some of their features moved."""

    codes: Array  # int16 (n_states, n_views)
    origin: Array  # float64 (n_states, n_features), places of the row's own values; of categories, positions
    spent: Array  # float64 (n_states, n_features), what each feature's move costs
    may_move: Array  # bool (n_states, n_features)
    budget: Array  # float64 (n_states,), all moves together must cost less
    goal: Array  # int64 (n_states,), the class that is wanted, or avoided
    slack: Array  # float64 (n_states,), ties within this count if they are broken in our favour; negative: they do not


class Wish(NamedTuple):
    """What the goals of states are."""

    kind: int
    low: float  # of a number
    high: float


class Found(NamedTuple):
    """What lies along the lines from each state."""

    margin: Array  # float64 (n_states,), of the state itself; above 0 where it is at its goal
    position: Array  # int32 (n_states, n_features), the cheapest that is at its goal; -1 for none
    cost: Array  # float64 (n_states, n_features), its cost
    steepest: Array  # int32 (n_states, n_features), the position that gains most margin for its cost; -1 for none
    slope: Array  # float64 (n_states, n_features), gain over cost


@inner
def find_scores(members, raw, scores):
    """Scores from raw values."""
    for k in range(scores.size):
        scores[k] = 0.0
    for m in range(members.link.size):
        begin = members.column[m]
        end = members.column[m + 1]
        link = members.link[m]
        weight = members.weight[m]
        if link == ADDED:
            for k in range(end - begin):
                scores[k] += weight * raw[begin + k]
        elif link == LOG_ODDS:
            scores[1] += weight * raw[begin]
        elif link == LOGISTIC:
            share = 1.0 / (1.0 + np.exp(-raw[begin]))
            scores[0] += weight * (1.0 - share)
            scores[1] += weight * share
        elif link == EXPONENTIAL:
            scores[0] += weight * np.exp(raw[begin])
        else:
            most = raw[begin]
            for k in range(begin, end):
                most = max(most, raw[k])
            total = 0.0
            for k in range(begin, end):
                total += np.exp(raw[k] - most)
            for k in range(begin, end):
                scores[k - begin] += weight * np.exp(raw[k] - most) / total


@inner
def margin_of(scores, kind, goal, low, high, slack):
    """How far scores are on the right side; above 0 where they are at the goal."""
    if kind == NUMBER:
        return min(scores[0] - low, high - scores[0]) + slack
    if kind == WANTED:
        margin = np.inf
        for k in range(scores.size):
            if k != goal:
                margin = min(margin, scores[goal] - scores[k] + (slack if goal < k else -abs(slack)))
        return margin
    margin = -np.inf
    for k in range(scores.size):
        if k != goal:
            margin = max(margin, scores[k] - scores[goal] + (slack if k < goal else -abs(slack)))
    return margin


@inner
def cost_at(grid, f, p, origin):
    """What it costs to move feature f from its origin to a position."""
    if not grid.is_line[f]:
        return 0.0 if p == origin else grid.cost[f]
    return max(abs(grid.place[grid.first[f] + p] - origin) - grid.half[f], 0.0)


@inner
def bound(place, begin, end, value):
    """The number of places that are below a value."""
    low = begin
    high = end
    while low < high:
        middle = (low + high) // 2
        if place[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - begin


@inner
def note(found, i, f, p, margin, cost, extra):
    """Note a position that a line comes by: where it is at the goal, or gains most."""
    if margin > 0.0:
        if cost < found.cost[i, f]:
            found.cost[i, f] = cost
            found.position[i, f] = p
    elif extra > 0.0:
        slope = (margin - found.margin[i]) / extra
        if slope > found.slope[i, f]:
            found.slope[i, f] = slope
            found.steepest[i, f] = p


@inner
def find_windows(grid, states, i, spent, low, high, at):
    """The positions of each feature that a state can afford, and where their numbers are kept; how many there are."""
    size = 0
    for f in range(low.size):
        low[f] = 0
        high[f] = 0
        left = states.budget[i] - (spent - states.spent[i, f])
        if states.may_move[i, f] and grid.is_line[f] and left > 0.0:
            begin, end = grid.first[f], grid.first[f + 1]
            reach = left + grid.half[f]
            low[f] = bound(grid.place, begin, end, states.origin[i, f] - reach)
            high[f] = bound(grid.place, begin, end, states.origin[i, f] + reach)
        at[f] = size - low[f]
        size += high[f] - low[f] + 1
    return size


@inner
def find_reaches(grid, codes, low, high, reach):
    """How far the codes of each feature go from those of a state within its window."""
    for f in range(reach.size):
        reach[f] = 0
    for v in range(codes.size):
        f = grid.feature[v]
        if low[f] < high[f]:
            own = np.int64(codes[v])
            below = abs(np.int64(grid.code[grid.table[v] + low[f]]) - own)
            above = abs(np.int64(grid.code[grid.table[v] + high[f] - 1]) - own)
            reach[f] = max(reach[f], below, above)


@inner
def try_levels(trees, members, grid, states, goal, i, f, left, own, raw, scores, found):
    """Note the levels of a category, each by all trees; own: space for codes."""
    for v in range(own.size):
        own[v] = states.codes[i, v]
    for p in range(grid.first[f + 1] - grid.first[f]):
        cost = cost_at(grid, f, p, states.origin[i, f])
        if cost >= left:
            continue
        for v in range(own.size):
            if grid.feature[v] == f:
                own[v] = grid.code[grid.table[v] + p]
        for k in range(raw.size):
            raw[k] = members.start[k]
        for t in range(trees.root.size):
            node = trees.answer[end_of(trees, t, own)]
            for k in range(min(trees.value.shape[1], raw.size - trees.column[t])):
                raw[trees.column[t] + k] += answer_at(trees, node, k, own)
        find_scores(members, raw, scores)
        margin = margin_of(scores, goal.kind, states.goal[i], goal.low, goal.high, states.slack[i])
        note(found, i, f, p, margin, cost, cost - states.spent[i, f])


@inner
def try_line(members, grid, states, goal, i, f, left, ends, rise, lean, raw, space, scores, found):
    """Note the positions of a feature, by what they add to raw; ends: two positions, and where the first is kept."""
    low, high, at = ends
    moving = space[0]
    leaning = space[1]
    sloped = space[2]
    margin = 0.0
    for k in range(raw.size):
        moving[k] = raw[k]
        leaning[k] = 0.0
    for p in range(low, high):
        is_new = p == low
        for k in range(raw.size):
            step = rise[at + p, k]
            is_new |= step != 0.0
            moving[k] += step
            sloped[k] = moving[k]
            if lean.shape[0] > 1:
                is_new |= leaning[k] != 0.0
                leaning[k] += lean[at + p, k]
                is_new |= leaning[k] != 0.0
                sloped[k] += leaning[k] * grid.code[members.table[k, f] + p]
        if is_new:
            find_scores(members, sloped, scores)
            margin = margin_of(scores, goal.kind, states.goal[i], goal.low, goal.high, states.slack[i])
        cost = cost_at(grid, f, p, states.origin[i, f])
        if cost < left:
            note(found, i, f, p, margin, cost, cost - states.spent[i, f])


@kernel
def scan(trees, members, grid, states, goal, found, first, last):
    """Fill `found` for states first to last."""
    n_features = grid.half.size
    n_raw = members.start.size
    scores = np.empty(members.n_scores)
    raw = np.empty(n_raw)
    space = np.empty((3, n_raw))
    base = np.empty(trees.value.shape[1])
    inside = np.empty((n_features, 2), np.int64)
    stack = np.empty((trees.depth + 2, 3), np.int64)
    low = np.empty(n_features, np.int64)
    high = np.empty(n_features, np.int64)
    reach = np.empty(n_features, np.int64)
    at = np.empty(n_features, np.int64)
    rise = np.zeros((1, n_raw))
    lean = np.zeros((1, n_raw))
    own = np.empty(states.codes.shape[1], np.int16)
    for i in range(first, last):
        codes = states.codes[i]
        spent = states.spent[i].sum()
        size = find_windows(grid, states, i, spent, low, high, at)
        find_reaches(grid, codes, low, high, reach)
        if size > rise.shape[0]:
            rise = np.empty((2 * size, n_raw))
            if trees.first_slope.size:
                lean = np.empty((2 * size, n_raw))
        rise[:size] = 0.0
        lean[:size] = 0.0
        raw[:] = members.start
        for t in range(trees.root.size):
            go_through(trees, grid, t, codes, low, high, reach, at, raw, base, inside, rise, lean, stack)
        find_scores(members, raw, scores)
        found.margin[i] = margin_of(scores, goal.kind, states.goal[i], goal.low, goal.high, states.slack[i])
        for f in range(n_features):
            found.position[i, f] = -1
            found.cost[i, f] = np.inf
            found.steepest[i, f] = -1
            found.slope[i, f] = 0.0
            left = states.budget[i] - (spent - states.spent[i, f])
            if grid.is_line[f]:
                ends = low[f], high[f], at[f]
                try_line(members, grid, states, goal, i, f, left, ends, rise, lean, raw, space, scores, found)
            elif states.may_move[i, f]:
                try_levels(trees, members, grid, states, goal, i, f, left, own, space[0], scores, found)
