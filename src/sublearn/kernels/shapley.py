"""Interventional Shapley values of a tree: exact, by walking it with all samples of a block of the background at once.

In the game of a sample x and a background sample z, the players of a set S bring x's features, and the others z's. Down
the tree goes a state: players that are from x, players that are from z, and all z for which this is the way. Where the
side of a plane depends on a player that is still open, the state becomes two. At an end of value v, where a players
are from x and b from z, the game is v if S has all of the a and none of the b. Of that game each of the a
gets v (a - 1)! b! / (a + b)!, and each of the b gets -v a! (b - 1)! / (a + b)!.

A state is three words: bit p of the first says that player p of the path is from x, bit p + 32 that it is from z; the
others are the set.
"""

from math import factorial
from typing import NamedTuple

import numpy as np

from sublearn.kernels.bits import LANES, WORD, add_codes, add_where, count_ones, first_one
from sublearn.kernels.compilation import inner, kernel, section
from sublearn.kernels.layout import Array
from sublearn.kernels.paths import CUT, MOST, NEVER, Paths, find_paths
from sublearn.kernels.sides import BLOCK, FEW, Sides, fill_sums, fill_table, find_sides, place_sides

SLOTS = LANES  # places for the slopes of an end
PLACES = 2 * LANES  # places for the credits of a path's players
LOWER = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
TWO = np.uint64(2)
EMPTY = np.uint64(0)


def share(a: int, b: int) -> float:
    """Share of one of a + 1 players from x, where b are from z."""
    return factorial(a) * factorial(b) / factorial(a + b + 1) if min(a, b) >= 0 else 0.0


# of a players from x and b from z: the share of one from x, and of one from z; both with one more from x
SHARES = np.array(
    [
        [(share(a - 1, b), share(a, b - 1), share(a, b), share(a + 1, b - 1)) for b in range(MOST + 1)]
        for a in range(MOST + 1)
    ]
)


class Trees(NamedTuple):
    """What is the same for all samples."""

    ends: Array  # int64 (n_trees,), where the records of each tree end
    features: Array  # int64 (n_views,), of which each view is
    codes: Array  # int16 (n_blocks, n_views, BLOCK), of the background
    n_background: int


class Space(NamedTuple):
    """Scratch space of one thread, for the largest tree."""

    paths: Paths
    sides: Sides
    slopes: Array  # int64 (n_records,), where the codes of an end's slopes begin
    todo: Array  # int64 (depth, 3): record, which of two stacks has its states, and the first of these
    heads: Array  # uint64 (4,), as in `split`
    bounds: Array  # int32 (3, BLOCK)
    least: Array  # int32 (2^FEW,)
    credit: Array  # float64 (PLACES,), as all credits 0 when they are not in use
    linear: "Linear"


class Linear(NamedTuple):
    """Scratch space for the linear model of an end."""

    slope: Array  # float64 (SLOTS,)
    own: Array  # float64 (SLOTS,), slope times x's code
    number: Array  # uint64 (SLOTS,), on the path
    sums: Array  # int32 (SLOTS,), of the codes of a set
    parts: Array  # float64 (SLOTS,)
    loose: Array  # float64 (SLOTS,), what it would change if the feature came from x
    credit: Array  # float64 (SLOTS,)


@inner
def put_state(stack, n, known, set_0, set_1):
    """Write a state; return the number of states, which an empty one does not count to.

    Numbers of states are unsigned, since indices that are do not count from the end.
    """
    stack[n, 0] = known
    stack[n, 1] = set_0
    stack[n, 2] = set_1
    return n + np.uint64((set_0 | set_1) != EMPTY)


@inner
def digit(known, p):
    """What is known of player p."""
    return (known >> p & ONE) + TWO * (known >> (p + HALF) & ONE)


@inner
def find_case(known, p_0, p_1, p_2, p_3, n_players):
    """What is known of up to four players, as a number of ternary digits, and the first who is open, if any is."""
    d_0 = digit(known, p_0)
    d_1 = digit(known, p_1)
    case = d_0 + np.uint64(3) * d_1
    p_open = p_1 if d_0 else p_0
    if n_players > 2:
        d_2 = digit(known, p_2)
        case += np.uint64(9) * d_2 + np.uint64(27) * digit(known, p_3)
        last = p_3 if d_2 else p_2
        p_open = last if d_0 and d_1 else p_open
    return case, p_open


@inner
def first_open(paths, r, known):
    """The first player of a record of whom nothing is known; any where there is none."""
    for j in range(paths.n_players[r]):
        p = np.uint64(paths.number[r, j])
        if digit(known, p) == EMPTY:
            return p
    return np.uint64(0)


@inner
def split(paths, r, begin, threshold, own, codes, bounds, table, work, above, below, heads):
    """Send the states in `work` on to both sides of the plane of a record.

    What is above the plane for sure goes to `above`, what is below it to `below`, and what is neither back to `work`,
    twice, with one more player known. Of few players the table that begins at `begin` tells; of many it is filled for
    each state. heads: the first state left to do, and how many states there are in each of the three; a call that lacks
    room leaves states to do. No branches depend on a state, since a CPU could not predict them.
    """
    at, n_work, n_above, n_below = heads
    m = paths.n_players[r]
    number = paths.number[r]
    p_0 = np.uint64(number[0])
    p_1 = np.uint64(number[1]) if m > 1 else np.uint64(NEVER)
    p_2 = np.uint64(number[2]) if m > 2 else np.uint64(NEVER)
    p_3 = np.uint64(number[3]) if m > 3 else np.uint64(NEVER)
    most = np.uint64(work.shape[0] - 2)
    end = min(np.uint64(above.shape[0]) - n_above, np.uint64(below.shape[0]) - n_below) + at
    while at < n_work and n_work <= most and at < end:
        known = work[at, 0]
        set_0 = work[at, 1]
        set_1 = work[at, 2]
        if m <= FEW:
            case, p_open = find_case(known, p_0, p_1, p_2, p_3, m)
            place = np.uint64(begin) + np.uint64(4) * case
        else:
            find_sides(paths, r, threshold, own, codes, known, bounds, table)
            p_open = first_open(paths, r, known)
            place = EMPTY
        above_0 = table[place] & set_0
        above_1 = table[place + ONE] & set_1
        below_0 = table[place + TWO] & set_0
        below_1 = table[place + TWO + ONE] & set_1
        open_0 = set_0 & ~(above_0 | below_0)
        open_1 = set_1 & ~(above_1 | below_1)
        n_above = put_state(above, n_above, known, above_0, above_1)
        n_below = put_state(below, n_below, known, below_0, below_1)
        n_work = put_state(work, n_work, known | ONE << p_open, open_0, open_1)
        n_work = put_state(work, n_work, known | ONE << (p_open + HALF), open_0, open_1)
        at += ONE
    heads[0] = at
    heads[1] = n_work
    heads[2] = n_above
    heads[3] = n_below


@inner
def give_credit(known, own, other, length, credit):
    """Credit players from x with `own`, and those from z with minus `other`."""
    outside = known >> HALF
    add_where(credit, 0, known, own)
    add_where(credit, 0, outside, -other)
    if length > SLOTS:
        add_where(credit, SLOTS, known >> np.uint64(SLOTS), own)
        add_where(credit, SLOTS, outside >> np.uint64(SLOTS), -other)


@inner
def credit_ones(states, length, credit):
    """Credits of the path's players where the end answers with 1."""
    for s in range(states.shape[0]):
        known = states[s, 0]
        n = count_ones(states[s, 1]) + count_ones(states[s, 2])
        a = count_ones(known & LOWER)
        b = count_ones(known >> HALF)
        give_credit(known, n * SHARES[a, b, 0], n * SHARES[a, b, 1], length, credit)


@inner
def sum_codes(word, codes, begin, sums):
    """Add the codes (SLOTS a sample, from `begin` on) of a set of samples to the sums."""
    while word:
        at = begin + first_one(word) * SLOTS
        word &= word - ONE
        add_codes(sums, 0, codes, at)


@inner
def sum_slots(numbers):
    """Sum of `SLOTS` numbers."""
    return ((numbers[0] + numbers[1]) + (numbers[2] + numbers[3])) + (
        (numbers[4] + numbers[5]) + (numbers[6] + numbers[7])
    )


@inner
def credit_linear(states, length, value, linear, codes, begin, credit):
    """Credits of the path's players, and of a linear model's features, where the end answers with such a model.

    value: its answer at codes of 0. A feature that is open at the end changes the answer of the state by what it would
    change if it came from x, which is a further game: that of the state with one more player from x.
    """
    sums = linear.sums
    parts = linear.parts
    loose = linear.loose
    for s in range(states.shape[0]):
        known = states[s, 0]
        fixed = known | known >> HALF
        n = np.float64(count_ones(states[s, 1]) + count_ones(states[s, 2]))
        a = count_ones(known & LOWER)
        b = count_ones(known >> HALF)
        for k in range(SLOTS):
            sums[k] = 0
        sum_codes(states[s, 1], codes, begin, sums)
        sum_codes(states[s, 2], codes, begin + WORD * SLOTS, sums)
        joining = SHARES[a, b, 2]
        for k in range(SLOTS):
            p = linear.number[k]
            own = n * linear.own[k]
            other = linear.slope[k] * np.float64(sums[k])
            parts[k] = own if known >> p & ONE else other
            loose[k] = 0.0 if fixed >> p & ONE else own - other
            linear.credit[k] += loose[k] * joining
        total = n * value + sum_slots(parts)
        more = sum_slots(loose)
        of_own = total * SHARES[a, b, 0] + more * joining
        of_other = total * SHARES[a, b, 1] + more * SHARES[a, b, 3]
        give_credit(known, of_own, of_other, length, credit)


@inner
def credit_end(paths, r, node, values, states, credit, out):
    """Add to out (n_features, n_values) what the states at an end are worth."""
    length = paths.length[r]
    credit_ones(states, length, credit)
    for p in range(length):
        f = paths.feature[r, p]
        for o in range(values.shape[1]):
            out[f, o] += credit[p] * values[node, o]
        credit[p] = 0.0


@inner
def credit_linear_end(paths, r, node, values, slopes, features, own, states, codes, begin, linear, credit, out):
    """`credit_end` where leaves have linear models; codes: those of the background, from `begin` on."""
    length = paths.length[r]
    at = slopes.first[node]
    n = slopes.first[node + 1] - at
    for o in range(values.shape[1]):
        value = values[node, o]
        for k in range(SLOTS):
            linear.slope[k] = 0.0
            linear.own[k] = 0.0
            linear.number[k] = NEVER
        for k in range(n):
            slope = slopes.slope[at + k, o]
            code = min(max(np.float64(own[slopes.feature[at + k]]), slopes.low[at + k]), slopes.high[at + k])
            linear.slope[k] = slope
            linear.own[k] = slope * code
            linear.number[k] = paths.slope_number[r, k]
            value -= slope * slopes.mean[at + k, o]
        credit_linear(states, length, value, linear, codes, begin, credit)
        for p in range(length):
            out[paths.feature[r, p], o] += credit[p]
            credit[p] = 0.0
        for k in range(n):
            out[features[slopes.feature[at + k]], o] += linear.credit[k]
            linear.credit[k] = 0.0


@inner
def place_slopes(paths, n_records, places):
    """Give the slopes of ends their places; return how many codes that takes."""
    n = 0
    for r in range(n_records):
        if paths.n_players[r] == 0:
            places[r] = n
            n += SLOTS * BLOCK
    return n


@inner
def fill_codes(paths, routes, begin, n_records, places, slopes, codes, out):
    """The codes of a block that ends' linear models take, within what they have learned from, sample by sample."""
    for r in range(n_records):
        if paths.n_players[r] != 0:
            continue
        node = routes.answers[begin + r]
        for s in range(slopes.first[node], slopes.first[node + 1]):
            place = places[r] + s - slopes.first[node]
            column = codes[slopes.feature[s]]
            for z in range(BLOCK):
                out[place + z * SLOTS] = min(max(column[z], slopes.low[s]), slopes.high[s])


@inner
def first_bits(n):
    """A word whose first n bits are set; n may be anything."""
    if n >= WORD:
        return ~EMPTY
    return (ONE << np.uint64(n)) - ONE if n > 0 else EMPTY


@inner
def take_states(stack, first, last, work):
    """Copy states to the beginning of `work`."""
    for s in range(first, last):
        for word in range(3):
            work[s - first, word] = stack[s, word]


@section
def enlarged(stack, n):
    """A stack twice as long, with the first n states."""
    more = np.empty((2 * stack.shape[0], 3), np.uint64)
    take_states(stack, np.int64(0), n, more)
    return more


@inner
def begin_walk(n_background, above, todo):
    """Put the one state of the root, all n_background samples of a block, where it is first looked for."""
    put_state(above, EMPTY, EMPTY, first_bits(n_background), first_bits(n_background - WORD))
    for place in range(3):
        todo[0, place] = 0


@inner
def note_children(child, heads, n_above, n_below, todo, n_todo):
    """Note which children of a record have states, from n_above and n_below on; returns how much there is to do."""
    for side in range(2):
        begin = n_above if side else n_below
        if np.int64(heads[3 - side]) > begin:
            todo[n_todo, 0] = child + side
            todo[n_todo, 1] = 1 - side
            todo[n_todo, 2] = begin
            n_todo += 1
    return n_todo


@kernel
def add_credits(routes, trees, values, slopes, own, first, last, space, out):
    """Add to out[i] (n_features, n_values) the Shapley values of samples first to last, times the size of background.

    own (n_samples, n_views): codes. Ends on paths of more than `MOST` features are left out.
    """
    paths = space.paths
    todo = space.todo
    heads = space.heads
    bounds = space.bounds
    credit = space.credit
    linear = space.linear
    features = trees.features
    table = np.empty(4, np.uint64)
    sums = np.empty(1, np.int32)
    learned = np.empty(1, np.int16)
    work = np.empty((256, 3), np.uint64)
    above = np.empty((1024, 3), np.uint64)
    below = np.empty((1024, 3), np.uint64)
    for t in range(trees.ends.size):
        begin = np.int64(routes.first_records[t])
        n_records = trees.ends[t] - begin
        find_paths(routes, slopes, features, begin, n_records, paths)
        n_sums, n_words = place_sides(paths, n_records, space.sides)
        if sums.size < n_sums:
            sums = np.empty(n_sums, np.int32)
        if table.size < n_words:
            table = np.empty(n_words, np.uint64)
        n_codes = place_slopes(paths, n_records, space.slopes) if slopes.first.size else 0
        if learned.size < n_codes:
            learned = np.zeros(n_codes, np.int16)
        for block in range(trees.codes.shape[0]):
            codes = trees.codes[block]
            fill_sums(paths, n_records, space.sides, codes, sums)
            if n_codes:
                fill_codes(paths, routes, begin, n_records, space.slopes, slopes, codes, learned)
            n_here = trees.n_background - block * BLOCK
            for i in range(first, last):
                x = own[i]
                begin_walk(n_here, above, todo)
                n_above = np.int64(1)
                n_below = np.int64(0)
                n_todo = np.int64(1)
                while n_todo:
                    n_todo -= 1
                    r = todo[n_todo, 0]
                    is_above = todo[n_todo, 1] == 0
                    here = todo[n_todo, 2]
                    end = n_above if is_above else n_below
                    states = above[here:end] if is_above else below[here:end]
                    if is_above:
                        n_above = here
                    else:
                        n_below = here
                    if paths.n_players[r] == CUT:
                        continue
                    if paths.n_players[r] == 0:
                        node = routes.answers[begin + r]
                        if n_codes:
                            at = space.slopes[r]
                            credit_linear_end(
                                paths, r, node, values, slopes, features, x, states, learned, at, linear, credit, out[i]
                            )
                        else:
                            credit_end(paths, r, node, values, states, credit, out[i])
                        continue
                    n_states = end - here
                    if work.shape[0] < n_states + 2:
                        work = np.empty((2 * n_states + 2, 3), np.uint64)
                    take_states(states, np.int64(0), n_states, work)
                    word = (begin + r) * routes.width
                    threshold = np.int32(routes.number[word])
                    if paths.n_players[r] <= FEW:
                        fill_table(paths, r, space.sides, threshold, x, sums, space.least, table)
                    place = space.sides.table[r]
                    heads[0] = 0
                    heads[1] = n_states
                    heads[2] = n_above
                    heads[3] = n_below
                    while heads[0] < heads[1]:
                        split(paths, r, place, threshold, x, codes, bounds, table, work, above, below, heads)
                        if np.int64(heads[1]) + 2 > work.shape[0]:
                            work = enlarged(work, np.int64(heads[1]))
                        if np.int64(heads[2]) == above.shape[0]:
                            above = enlarged(above, np.int64(heads[2]))
                        if np.int64(heads[3]) == below.shape[0]:
                            below = enlarged(below, np.int64(heads[3]))
                    n_todo = note_children(np.int64(routes.link[word]) - begin, heads, n_above, n_below, todo, n_todo)
                    n_above = np.int64(heads[2])
                    n_below = np.int64(heads[3])
