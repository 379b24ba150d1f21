"""Shapley values of answers that are no sums over trees, such as probabilities of boosting.

The game is asked for sets of features: for all of them where few features are used, else for those that come up in
orders drawn at random, as in `kernels.sampling`. Mixed samples are put together from codes, not from X.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import factorial
from typing import NamedTuple

import numpy as np

from sublearn.core.keys import key_below, keys_below
from sublearn.core.parallel import Workers
from sublearn.explanation.parts import Credits, Draw, Part
from sublearn.kernels.layout import Array

FEW = 10  # features, all sets of which are asked for
CODES = 1 << 22  # codes put together at a time


class Plan(NamedTuple):
    """Which sets of players the game is asked for, and what is made of the answers."""

    players: Array  # int64 (n_players,), features
    sets: Array  # bool (n_sets, n_players)
    orders: Array  # int64 (n_orders, n_players), orders and their reverses in turn; none where there are all sets


def credit_answers(parts: list[Part], draw: Draw, workers: Workers) -> Credits:
    """Credits of weighted sums of answers."""
    plan = _plan(np.unique(np.concatenate([part.used for part in parts])), draw)
    n_samples, n_features = parts[0].own.shape[1], parts[0].model.n_features
    found = []
    for i in range(n_samples):
        game = np.sum([part.weight * _game(part, i, plan, workers) for part in parts], axis=0)
        found.append(_credits_of_orders(plan, game) if len(plan.orders) else _credits_of_sets(plan, game))
    n_outputs = found[0][0].shape[1]
    values, variances = (np.zeros((n_samples, n_features, n_outputs)) for _ in range(2))
    for i, (mean, variance) in enumerate(found):
        values[i, plan.players], variances[i, plan.players] = mean, variance
    return Credits(values, variances, not len(plan.orders))


def _plan(players: Array, draw: Draw) -> Plan:
    n = len(players)
    if n <= FEW:
        numbers = np.arange(1 << n)[:, None]
        return Plan(players, (numbers >> np.arange(n) & 1).astype(np.bool_), np.empty((0, n), np.int64))
    keys = [keys_below(key_below(draw.key, pair), np.arange(n)) for pair in range(draw.n_pairs)]
    some = np.argsort(np.array(keys), axis=1, kind="stable")
    orders = np.stack([some, some[:, ::-1]], axis=1).reshape(-1, n)
    places = np.argsort(orders, axis=1)
    inner = [place < j for place in places for j in range(1, n)]  # sets along each order, but the empty and the full
    return Plan(players, np.array([np.zeros(n, np.bool_), np.ones(n, np.bool_), *inner]), orders)


def _game(part: Part, i: int, plan: Plan, workers: Workers) -> Array:
    """Mean answers (n_sets, n_outputs) over the background, where features of the set come from sample i."""
    n_views, n = part.background.shape
    views = np.flatnonzero(np.isin(part.model.maps.features, plan.players))
    players = np.searchsorted(plan.players, part.model.maps.features)
    means = []
    for some in _in_turn(plan.sets, max(1, CODES // (n_views * n))):
        codes = np.empty((n_views, len(some), n), np.int16)
        codes[:] = part.background[:, None]
        for v in views.tolist():
            codes[v, some[:, players[v]]] = part.own[v, i]
        answers = part.answer(codes.reshape(n_views, -1), workers)
        means.append(answers.reshape(len(some), n, -1).mean(axis=1))
    return np.concatenate(means)


def _in_turn(sets: Array, n: int) -> Iterator[Array]:
    bounds = [*range(0, len(sets), n), len(sets)]
    return (sets[a:b] for a, b in pairwise(bounds))


def _credits_of_sets(plan: Plan, game: Array) -> tuple[Array, Array]:
    """Values (n_players, n_outputs) by the definition, from the answers for all sets; variances of 0."""
    n = len(plan.players)
    shares = np.array([factorial(s) * factorial(n - s - 1) / factorial(n) for s in range(n)])
    sizes = plan.sets.sum(axis=1)
    values = np.empty((n, game.shape[1]))
    for j in range(n):
        without = np.flatnonzero(~plan.sets[:, j])
        values[j] = shares[sizes[without]] @ (game[without | 1 << j] - game[without])
    return values, np.zeros_like(values)


def _credits_of_orders(plan: Plan, game: Array) -> tuple[Array, Array]:
    """Mean over pairs of orders (n_players, n_outputs), and the variance of that mean."""
    n_orders, n = plan.orders.shape
    along = np.empty((n_orders, n + 1, game.shape[1]))
    along[:, 0], along[:, n] = game[0], game[1]
    along[:, 1:n] = game[2:].reshape(n_orders, n - 1, -1)
    each = np.empty((n_orders, n, game.shape[1]))
    np.put_along_axis(each, plan.orders[:, :, None], np.diff(along, axis=1), axis=1)
    pairs = each.reshape(-1, 2, *each.shape[1:]).mean(axis=1)
    return pairs.mean(axis=0), pairs.var(axis=0, ddof=1) / len(pairs)
