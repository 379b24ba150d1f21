"""Along lines: the answers of a model while a single feature goes through all its values, exactly.

Along one feature every hyperplane is crossed at most once. So a tree's answer is known on whole intervals of values:
wherever a route could turn off, the other branch is followed with the values for which it does.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner
from sublearn.kernels.layout import Array


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
