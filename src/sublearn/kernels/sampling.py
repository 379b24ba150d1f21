"""Shapley values of what the exact way leaves out, ends on long paths of a tree: from orders drawn at random.

In an order the players of a tree change from a background sample's features to x's, one after another, and each is
credited with what its change makes of the answer. An order and its reverse make a pair, the mean of which is one
estimate; several give a standard error. All samples of the background go through each order, so the credits of every
one add up to the difference that all changes make.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import below, mix
from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.layout import Array
from sublearn.kernels.paths import CUT, Paths, feature_of, find_paths
from sublearn.kernels.prediction import ROWS, Rows, take_rows, walk
from sublearn.kernels.slopes import answer_of


class Draws(NamedTuple):
    """What is drawn, and space for it."""

    key: np.uint64  # below it each tree has one, and below that each pair
    n_pairs: int
    order: Array  # int64 (n_features,)
    leads: Array  # bool (n_records,) of the largest tree: whether a route goes on to an end that was left out
    is_player: Array  # bool (n_features,)


class Sums(NamedTuple):
    """Space for the answers and credits of one sample (n_features, n_values)."""

    before: Array  # (1, n_values), as is the next one
    after: Array
    pair: Array
    mean: Array  # over pairs
    squares: Array  # sum of squared distances from the mean


class Sampling(NamedTuple):
    """Scratch space of one thread, for the largest tree."""

    paths: Paths
    draws: Draws
    rows: Rows
    sums: Sums


@inner
def find_far_players(routes, features, begin, n_records, paths, draws):
    """Find the features on the ways to ends that were left out; return their number."""
    for f in range(draws.is_player.size):
        draws.is_player[f] = False
    for r in range(n_records - 1, -1, -1):
        word = (begin + r) * routes.width
        child = np.int64(routes.link[word]) - begin
        draws.leads[r] = paths.n_players[r] == CUT
        if child == r:
            continue
        draws.leads[r] |= draws.leads[child] or draws.leads[child + 1]
        for term in range(1, routes.width):
            f = feature_of(routes, features, word, term)
            if draws.leads[r] and f >= 0:
                draws.is_player[f] = True
    n = 0
    for f in range(draws.is_player.size):
        if draws.is_player[f]:
            draws.order[n] = f
            n += 1
    return n


@inner
def shuffle(key, numbers, n):
    """Bring the first n numbers into the order that belongs to a key."""
    for j in range(n - 1, 0, -1):
        other = below(mix(key, j), j + 1)
        numbers[j], numbers[other] = numbers[other], numbers[j]


@inner
def sort(numbers, n):
    """Sort the first n numbers, so that an order depends on its key alone."""
    for j in range(1, n):
        for k in range(j, 0, -1):
            if numbers[k - 1] > numbers[k]:
                numbers[k - 1], numbers[k] = numbers[k], numbers[k - 1]


@inner
def add_far_answers(routes, values, slopes, t, n, paths, rows, out):
    """Add up what the first n samples get from ends of tree t that were left out."""
    walk(rows, routes, t, n)
    begin = np.int64(routes.first_records[t])
    for i in range(n):
        if paths.n_players[np.int64(rows.at[i]) - begin] != CUT:
            continue
        node = routes.answers[rows.at[i]]
        for o in range(values.shape[1]):
            if slopes.first.size:
                out[o] += answer_of(values, slopes, node, o, rows.codes, i, ROWS)
            else:
                out[o] += values[node, o]


@inner
def change_feature(features, f, own, n, codes):
    """Give the first n samples a feature of x, by all its views."""
    for v in range(features.size):
        if features[v] == f:
            for i in range(n):
                codes[v * ROWS + i] = own[v]


@inner
def credit_order(routes, features, values, slopes, own, codes, t, n_players, is_reverse, space):
    """Add the credits of one order to those of its pair."""
    paths = space.paths
    draws = space.draws
    rows = space.rows
    sums = space.sums
    for begin in range(0, codes.shape[1], ROWS):
        n = min(ROWS, codes.shape[1] - begin)
        take_rows(codes, begin, n, rows.codes)
        for o in range(values.shape[1]):
            sums.before[0, o] = 0.0
        add_far_answers(routes, values, slopes, t, n, paths, rows, sums.before[0])
        for j in range(n_players):
            f = draws.order[n_players - 1 - j if is_reverse else j]
            change_feature(features, f, own, n, rows.codes)
            for o in range(values.shape[1]):
                sums.after[0, o] = 0.0
            add_far_answers(routes, values, slopes, t, n, paths, rows, sums.after[0])
            for o in range(values.shape[1]):
                sums.pair[f, o] += 0.5 * (sums.after[0, o] - sums.before[0, o])
                sums.before[0, o] = sums.after[0, o]


@inner
def add_pair(number, draws, n_players, sums):
    """Take the credits of pair `number`, from 0, to their mean and to the squares of their distances from it."""
    for j in range(n_players):
        f = draws.order[j]
        for o in range(sums.pair.shape[1]):
            step = sums.pair[f, o] - sums.mean[f, o]
            sums.mean[f, o] += step / (number + 1)
            sums.squares[f, o] += step * (sums.pair[f, o] - sums.mean[f, o])
            sums.pair[f, o] = 0.0


@inner
def add_means(draws, n_players, sums, out, variance):
    """Add the means over all pairs, and their variances."""
    for j in range(n_players):
        f = draws.order[j]
        for o in range(sums.mean.shape[1]):
            out[f, o] += sums.mean[f, o]
            variance[f, o] += sums.squares[f, o] / (draws.n_pairs * (draws.n_pairs - 1))
            sums.mean[f, o] = 0.0
            sums.squares[f, o] = 0.0


@bare_kernel
def count_far_players(routes, ends, features, slopes, paths, draws, out):
    """Fill out (n_trees,) with the number of features on the ways to ends that were left out."""
    for t in range(ends.size):
        begin = np.int64(routes.first_records[t])
        find_paths(routes, slopes, features, begin, ends[t] - begin, paths)
        out[t] = find_far_players(routes, features, begin, ends[t] - begin, paths, draws)


@bare_kernel
def add_sampled(routes, ends, features, n_far, values, slopes, own, codes, first, last, space, out, variance):
    """Add to out[i] and variance[i] (n_features, n_values) what samples first to last get from ends left out.

    Both are times the size of the background, the variance times its square. own (n_samples, n_views) and codes
    (n_views, n_background): of the samples and of the background. n_far: by `count_far_players`.
    """
    paths = space.paths
    draws = space.draws
    sums = space.sums
    for t in range(ends.size):
        if n_far[t] == 0:
            continue
        begin = np.int64(routes.first_records[t])
        n_records = ends[t] - begin
        find_paths(routes, slopes, features, begin, n_records, paths)
        n_players = find_far_players(routes, features, begin, n_records, paths, draws)
        for i in range(first, last):
            for pair in range(draws.n_pairs):
                sort(draws.order, n_players)
                shuffle(mix(mix(draws.key, t), pair), draws.order, n_players)
                for is_reverse in range(2):
                    credit_order(routes, features, values, slopes, own[i], codes, t, n_players, is_reverse, space)
                add_pair(pair, draws, n_players, sums)
            add_means(draws, n_players, sums, out[i], variance[i])
