"""The players of a tree's planes, and the features on the paths to its ends.

A player is a feature, with all its views: these change together. On each path players are numbered as they are met.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import inner
from sublearn.kernels.layout import Array
from sublearn.kernels.prediction import ROWS

MOST = 16  # features on a path; longer ones are cut off
WIDE = 4  # players of a plane; one of more may send a set of samples a great many ways
MOST_WIDE = 12  # features on a path up to such a plane
NEVER = 31  # the number of a player that is on no path
CUT = -1


class Paths(NamedTuple):
    """The records of one tree, numbered from its root.

    At a record with players the terms first_term[j] to first_term[j + 1] are those of player j.
    """

    n_players: Array  # int64 (n_records,), 0 at an end, `CUT` where the path is too long
    number: Array  # int64 (n_records, n_terms), of each player on the path
    first_term: Array  # int64 (n_records, n_terms + 1)
    column: Array  # int64 (n_records, n_terms), of codes: the view of each term
    coefficient: Array  # int32 (n_records, n_terms)
    length: Array  # int64 (n_records,), features on the path; at an end
    feature: Array  # int64 (n_records, MOST), those features
    slope_number: Array  # int64 (n_records, n_slopes), at an end: those of its slopes on the path, or `NEVER`


@inner
def feature_of(routes, features, word, term):
    """The feature of a term of the record at `word`; -1 if there is no such term."""
    if routes.number[word + term] == 0.0:
        return np.int64(-1)
    return features[np.int64(routes.link[word + term]) // ROWS]


@inner
def number_of(paths, r, length, feature):
    """The number of a feature on the path to record r; `NEVER` if it is not there."""
    for p in range(length):
        if paths.feature[r, p] == feature:
            return np.int64(p)
    return np.int64(NEVER)


@inner
def find_players(routes, word, features, paths, r):
    """Find the players of a record, each with its terms, and how many features its path has with them."""
    length = paths.length[r]
    m = 0
    n_terms = 0
    for term in range(1, routes.width):
        f = feature_of(routes, features, word, term)
        is_known = f < 0
        for before in range(1, term):
            is_known |= feature_of(routes, features, word, before) == f
        if is_known:
            continue
        paths.first_term[r, m] = n_terms
        for other in range(term, routes.width):
            if feature_of(routes, features, word, other) == f:
                paths.column[r, n_terms] = np.int64(routes.link[word + other]) // ROWS
                paths.coefficient[r, n_terms] = np.int32(routes.number[word + other])
                n_terms += 1
        p = number_of(paths, r, min(length, MOST), f)
        if p == NEVER:
            p = length
            if length < MOST:
                paths.feature[r, length] = f
            length += 1
        paths.number[r, m] = p
        m += 1
    paths.first_term[r, m] = n_terms
    paths.n_players[r] = m
    return length


@inner
def find_slopes(slopes, node, features, paths, r):
    """Find the numbers of the slopes' features on the path to an end."""
    for s in range(slopes.first[node], slopes.first[node + 1]):
        p = number_of(paths, r, paths.length[r], features[slopes.feature[s]])
        paths.slope_number[r, s - slopes.first[node]] = p


@inner
def find_paths(routes, slopes, features, first, n_records, paths):
    """Fill `paths` for the tree whose records begin at `first`."""
    paths.length[0] = 0
    paths.n_players[0] = 0
    for r in range(n_records):
        word = (first + r) * routes.width
        following = np.int64(routes.link[word]) - first
        is_cut = paths.n_players[r] == CUT
        if following == r:
            if slopes.first.size and not is_cut:
                find_slopes(slopes, routes.answers[first + r], features, paths, r)
            continue
        length = np.int64(MOST + 1) if is_cut else find_players(routes, word, features, paths, r)
        if length > MOST or (length > MOST_WIDE and paths.n_players[r] > WIDE):
            length = np.int64(MOST + 1)
            paths.n_players[r] = CUT
        for child in range(following, following + 2):
            paths.n_players[child] = CUT if length > MOST else 0
            paths.length[child] = length
            for p in range(min(length, MOST)):
                paths.feature[child, p] = paths.feature[r, p]
