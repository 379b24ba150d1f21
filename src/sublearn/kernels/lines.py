"""Along lines: the answers of a model while a single feature goes through all its values, exactly.

Along one feature every hyperplane is crossed at most once. So a tree's answer is known on whole intervals of values:
wherever a route could turn off, the other branch is followed with the values for which it does.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.layout import Array

ADDED, LOG_ODDS, LOGISTIC, SOFTMAX, EXPONENTIAL = range(5)  # how the raw values of a member become scores
NUMBER, WANTED, AVOIDED = range(3)  # goals: a number within bounds, one class, any class but one


class Trees(NamedTuple):
    """The trees of all members, as records; see `Routes` of `kernels.prediction`."""

    threshold: Array  # int64 (n_records,)
    coefficient: Array  # int32 (n_records, n_terms), 0 where there is no term
    feature: Array  # int32 (n_records, n_terms), the features of terms
    joint: Array  # int32 (n_records, n_terms), the sum of a feature's coefficients at the first of its terms, else 0
    link: Array  # int64 (n_records,), the first of the two next records; its own number at an end
    views: Array  # int32 (n_records, n_terms), the views of terms
    answer: Array  # int64 (n_records,), nodes
    root: Array  # int64 (n_trees,), records
    column: Array  # int64 (n_trees,), the first of the raw values that a tree adds to
    value: Array  # float64 (n_nodes, n_values)
    depth: int  # in records, of the deepest tree
    first_slope: Array  # int64 (n_nodes + 1,), of linear models; empty where there are none
    slope_view: Array  # int64 (n_slopes,)
    slope: Array  # float64 (n_slopes, n_values)
    mean: Array  # float64 (n_slopes, n_values)
    low: Array  # float64 (n_slopes,)
    high: Array  # float64 (n_slopes,)


class Members(NamedTuple):
    """How the raw values of members become scores: one a class, or a number."""

    column: Array  # int64 (n_members + 1,), the raw values of each
    link: Array  # int64 (n_members,)
    weight: Array  # float64 (n_members,)
    start: Array  # float64 (n_raw,), raw values before any tree
    table: Array  # int64 (n_raw, n_features), where the codes of a feature's positions begin, for each raw value
    n_scores: int


class Grid(NamedTuple):
    """The values that features may take: positions 0, 1, 2, ... of each, with their places and codes."""

    first: Array  # int64 (n_features + 1,)
    place: Array  # float64 (n_positions,), in deviations times the feature's weight; ascending where it is a line
    half: Array  # float64 (n_features,), how far a position reaches to each side
    is_line: Array  # bool (n_features,); others are categories
    cost: Array  # float64 (n_features,), of a change of a category
    feature: Array  # int64 (n_views,), the feature of each view, over all members
    table: Array  # int64 (n_views,), where the codes of each view begin
    code: Array  # int16, the codes of positions


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
def side_sum(trees, r, codes):
    """The weighted sum of codes of record r, less its threshold: the side is that of its sign."""
    total = -trees.threshold[r]
    for term in range(trees.coefficient.shape[1]):
        total += np.int64(trees.coefficient[r, term]) * np.int64(codes[trees.views[r, term]])
    return total


@inner
def end_of(trees, t, codes):
    """The record in which the route through tree t ends."""
    r = trees.root[t]
    while trees.link[r] != r:
        r = trees.link[r] + (side_sum(trees, r, codes) >= 0)
    return r


@inner
def first_with(code, begin, low, high, wanted):
    """The first position from low to high whose code is at least this; high if there is none."""
    if low >= high or code[begin + low] >= wanted:
        return low
    if code[begin + high - 1] < wanted:
        return high
    guess = low + (wanted - np.int64(code[begin + low]))  # right where codes follow each other
    if guess < high and code[begin + guess] >= wanted and code[begin + guess - 1] < wanted:
        return guess
    while low < high:
        middle = (low + high) // 2
        if code[begin + middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def crossing(total, coefficient, code):
    """The least code of a feature with which the side changes, all else as it is; the upper side may be either."""
    if coefficient > 0:
        return code - total // coefficient  # whose last term is the ceiling of -total / coefficient
    return code + total // -coefficient + 1


@inner
def answer_at(trees, node, k, codes):
    """What a node answers."""
    out = trees.value[node, k]
    if trees.first_slope.size:
        for s in range(trees.first_slope[node], trees.first_slope[node + 1]):
            code = min(max(np.float64(codes[trees.slope_view[s]]), trees.low[s]), trees.high[s])
            out += trees.slope[s, k] * (code - trees.mean[s, k])
    return out


@inner
def add_piece(rise, lean, low, high, k, constant, slope):
    """Add a constant and a slope over codes to positions low to high."""
    if low < high:
        rise[low, k] += constant
        rise[high, k] -= constant
        if slope != 0.0:
            lean[low, k] += slope
            lean[high, k] -= slope


@inner
def add_leaf(trees, grid, node, base, f, low, high, codes, column, at, rise, lean):
    """Add what a node answers beyond `base` for positions low to high of feature f; `at` is where these begin."""
    for k in range(trees.value.shape[1]):
        if column + k >= rise.shape[1]:
            break
        constant = trees.value[node, k] - base[k]
        if trees.first_slope.size:
            for s in range(trees.first_slope[node], trees.first_slope[node + 1]):
                v = trees.slope_view[s]
                slope, mean = trees.slope[s, k], trees.mean[s, k]
                if grid.feature[v] != f:
                    code = min(max(np.float64(codes[v]), trees.low[s]), trees.high[s])
                    constant += slope * (code - mean)
                    continue
                begin = grid.table[v]
                left = first_with(grid.code, begin, low, high, np.int64(trees.low[s]))
                right = first_with(grid.code, begin, left, high, np.int64(trees.high[s]))
                add_piece(rise, lean, at + low, at + left, column + k, slope * (trees.low[s] - mean), 0.0)
                add_piece(rise, lean, at + left, at + right, column + k, -slope * mean, slope)
                add_piece(rise, lean, at + right, at + high, column + k, slope * (trees.high[s] - mean), 0.0)
        add_piece(rise, lean, at + low, at + high, column + k, constant, 0.0)


@inner
def follow(trees, grid, record, f, low, high, codes, reach, base, column, at, rise, lean, stack):
    """Follow the branch of a record for positions low to high of feature f, to all leaves that these reach."""
    n = 1
    stack[0, 0] = record
    stack[0, 1] = low
    stack[0, 2] = high
    while n:
        n -= 1
        r = stack[n, 0]
        low = stack[n, 1]
        high = stack[n, 2]
        while trees.link[r] != r:
            total = -trees.threshold[r]
            a = np.int64(0)
            some = 0
            for term in range(trees.coefficient.shape[1]):
                c = np.int64(trees.coefficient[r, term])
                v = trees.views[r, term]
                total += c * np.int64(codes[v])
                if c != 0 and trees.feature[r, term] == f:
                    a += c
                    some = v
            following = trees.link[r]
            if abs(a) * reach < abs(total):  # too far to be crossed
                r = following + (total >= 0)
                continue
            least = crossing(total, a, np.int64(codes[some]))
            middle = first_with(grid.code, grid.table[some], low, high, least)
            above = 1 if a > 0 else 0  # the side of positions from the middle on
            if middle <= low:
                r = following + above
            elif middle >= high:
                r = following + 1 - above
            else:
                stack[n, 0] = following + above
                stack[n, 1] = middle
                stack[n, 2] = high
                n += 1
                high = middle
                r = following + 1 - above
        add_leaf(trees, grid, trees.answer[r], base, f, low, high, codes, column, at, rise, lean)


@inner
def go_through(trees, grid, t, codes, low, high, reach, at, raw, base, inside, rise, lean, stack):
    """Walk a state through tree t, add its answer to raw, and follow all branches that single features turn into.

    low, high: positions of each feature to look at; reach: how far their codes go from the state's; inside
    (n_features, 2): space.
    """
    column = trees.column[t]
    last = end_of(trees, t, codes)
    node = trees.answer[last]
    for k in range(min(trees.value.shape[1], raw.size - column)):
        base[k] = answer_at(trees, node, k, codes)
        raw[column + k] += base[k]
    for f in range(low.size):
        inside[f, 0] = low[f]
        inside[f, 1] = high[f]
    r = trees.root[t]
    while r != last:
        total = side_sum(trees, r, codes)
        is_above = total >= 0
        following = trees.link[r]
        for term in range(trees.coefficient.shape[1]):
            a = np.int64(trees.joint[r, term])
            f = trees.feature[r, term]
            if a == 0 or abs(a) * reach[f] < abs(total) or inside[f, 0] >= inside[f, 1]:
                continue
            v = trees.views[r, term]
            least = crossing(total, a, np.int64(codes[v]))
            middle = first_with(grid.code, grid.table[v], inside[f, 0], inside[f, 1], least)
            if (a > 0) == is_above:  # the state's own side is that of the positions from the middle on
                begin, end = inside[f, 0], middle
                inside[f, 0] = middle
            else:
                begin, end = middle, inside[f, 1]
                inside[f, 1] = middle
            if begin < end:
                other = following + (1 - is_above)
                follow(trees, grid, other, f, begin, end, codes, reach[f], base, column, at[f], rise, lean, stack)
        r = following + is_above
    if trees.first_slope.size:
        for s in range(trees.first_slope[node], trees.first_slope[node + 1]):
            f = grid.feature[trees.slope_view[s]]
            if inside[f, 0] < inside[f, 1]:  # once a feature, though it may have several views
                add_leaf(trees, grid, node, base, f, inside[f, 0], inside[f, 1], codes, column, at[f], rise, lean)
                inside[f, 1] = inside[f, 0]


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
