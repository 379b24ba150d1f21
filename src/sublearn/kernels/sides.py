"""On which side of a plane samples of mixed features lie: some from the sample that is explained, some from others.

Others are those of a block of the background. A set of them is two words of bits.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.bits import WORD, bits_at_least, join_words
from sublearn.kernels.compilation import inner
from sublearn.kernels.layout import Array

BLOCK = 2 * WORD  # background samples that are looked at together
FEW = 4  # players of a plane for which all that may be known of them is tabulated
OPEN, OWN, OTHER = 0, 1, 2  # what is known of a player: nothing, or from where its feature is

# What is known of m players is a number of m ternary digits. KNOWN[m, s]: all of them, those of set s from others.
# JOINS from FIRST_JOIN[m] on: (k, k_own, k_other), where k leaves one player open that the next two do not.
KNOWN = np.array(
    [[sum((OWN + (s >> j & 1)) * 3**j for j in range(m)) for s in range(1 << FEW)] for m in range(FEW + 1)]
)
OPENED = [[(k, j) for k in range(3**m - 1, -1, -1) for j in range(m) if k // 3**j % 3 == OPEN] for m in range(FEW + 1)]
FIRSTS = [[(k, j) for i, (k, j) in enumerate(some) if i == 0 or some[i - 1][0] != k] for some in OPENED]
JOINS = np.array([(k, k + OWN * 3**j, k + OTHER * 3**j) for some in FIRSTS for k, j in some])
FIRST_JOIN = np.cumsum([0, *(len(some) for some in FIRSTS)])


class Sides(NamedTuple):
    """Where tables of a tree's records begin in arrays that all of them share."""

    sums: Array  # int64 (n_records,)
    table: Array  # int64 (n_records,)


@inner
def place_sides(paths, n_records, sides):
    """Give records of few players their places; return how many sums and how many words that takes."""
    n_sums = 0
    n_words = 0
    for r in range(n_records):
        m = paths.n_players[r]
        if 0 < m <= FEW:
            sides.sums[r] = n_sums
            sides.table[r] = n_words
            n_sums += BLOCK << m
            n_words += 4 * 3**m
    return n_sums, n_words


@inner
def fill_sums(paths, n_records, sides, codes, sums):
    """Sums of the terms of each set of a record's players, by the background's codes (n_views, BLOCK)."""
    for r in range(n_records):
        m = paths.n_players[r]
        if not 0 < m <= FEW:
            continue
        begin = sides.sums[r]
        for z in range(BLOCK):
            sums[begin + z] = 0
        for j in range(m):
            for s in range(1 << j):
                known = sums[begin + s * BLOCK : begin + (s + 1) * BLOCK]
                more = sums[begin + (s | 1 << j) * BLOCK : begin + ((s | 1 << j) + 1) * BLOCK]
                for z in range(BLOCK):
                    more[z] = known[z]
                for k in range(paths.first_term[r, j], paths.first_term[r, j + 1]):
                    add_term(paths.coefficient[r, k], codes[paths.column[r, k]], more)


@inner
def add_term(coefficient, codes, sums):
    """Add a term of a plane to the sums of a block."""
    for z in range(BLOCK):
        sums[z] += np.int32(coefficient * np.int32(codes[z]))


@inner
def own_sum(paths, r, j, own):
    """Sum of the terms of player j by the sample's own codes."""
    total = np.int32(0)
    for k in range(paths.first_term[r, j], paths.first_term[r, j + 1]):
        total += np.int32(paths.coefficient[r, k] * np.int32(own[paths.column[r, k]]))
    return total


@inner
def put_sides(table, place, above_0, above_1):
    """Write who is above a plane for sure, and who is below."""
    table[place] = above_0
    table[place + 1] = above_1
    table[place + 2] = ~above_0
    table[place + 3] = ~above_1


@inner
def fill_table(paths, r, sides, threshold, own, sums, least, table):
    """Who is above a plane for sure, and who below, for all that may be known of its players.

    least (2^FEW,): space. Where all is known a sample is on one of the sides; where a player is open, it is on a side
    if it is there from wherever the feature comes.
    """
    m = paths.n_players[r]
    least[0] = threshold
    for j in range(m):
        total = own_sum(paths, r, j, own)
        least[1 << j] = total
        least[0] -= total
    for j in range(m):
        total = least[1 << j]
        for s in range(1 << j):
            least[s | 1 << j] = least[s] + total
    begin = sides.table[r]
    alike = ~np.uint64(0) if least[0] <= 0 else np.uint64(0)
    put_sides(table, begin + 4 * KNOWN[m, 0], alike, alike)
    for s in range(1, 1 << m):
        place = sides.sums[r] + s * BLOCK
        above_0 = bits_at_least(sums, place, least[s])
        above_1 = bits_at_least(sums, place + WORD, least[s])
        put_sides(table, begin + 4 * KNOWN[m, s], above_0, above_1)
    for c in range(FIRST_JOIN[m], FIRST_JOIN[m + 1]):
        to = begin + 4 * JOINS[c, 0]
        a = begin + 4 * JOINS[c, 1]
        b = begin + 4 * JOINS[c, 2]
        join_words(table, to, a, b)


@inner
def find_sides(paths, r, threshold, own, codes, known, bounds, table):
    """The same for many players, for what is known of them in one case; `known`: see `kernels.shapley`.

    bounds (3, BLOCK): space for the least and the largest projections, and for those of a player.
    """
    low = bounds[0]
    high = bounds[1]
    other = bounds[2]
    for z in range(BLOCK):
        low[z] = 0
        high[z] = 0
    least = threshold
    for j in range(paths.n_players[r]):
        p = np.uint64(paths.number[r, j])
        total = own_sum(paths, r, j, own)
        if known >> p & np.uint64(1):
            least -= total
            continue
        for z in range(BLOCK):
            other[z] = 0
        for k in range(paths.first_term[r, j], paths.first_term[r, j + 1]):
            add_term(paths.coefficient[r, k], codes[paths.column[r, k]], other)
        is_open = known >> (p + np.uint64(32)) & np.uint64(1) == 0
        for z in range(BLOCK):
            low[z] += min(other[z], total) if is_open else other[z]
            high[z] += max(other[z], total) if is_open else other[z]
    table[0] = bits_at_least(low, 0, least)
    table[1] = bits_at_least(low, WORD, least)
    table[2] = ~bits_at_least(high, 0, least)
    table[3] = ~bits_at_least(high, WORD, least)
