"""Finding by trials how far to learn, and so the learning rate and the rounds, where the user does not say.

Learning rate times rounds is how far a fit has come: with half the rate it takes about twice the rounds to the lowest
loss. So a trial at a high rate, on most of the samples and tested on the others, says in few rounds how far a better
fit at a low rate should go.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sublearn.core.boosting.auto import (
    DISTANCE,
    FEW,
    FURTHER,
    HIGHEST_RATE,
    LEAST_GAIN,
    LOWEST_RATE,
    MOST_ROUNDS,
    PATIENCE,
    USUAL_RATE,
    Scale,
    more_rounds,
    scale_of,
    usual_rounds,
)
from sublearn.core.boosting.losses import CompiledLoss
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.rounds import Growth, boost
from sublearn.core.data.dealing import content_keys, deal
from sublearn.core.keys import key_below
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

SIDE_BY_SIDE = 3_000  # samples from which on each trial has a thread; with fewer, rounds are mostly Python

GrowthAt = Callable[[float], Growth]  # by learning rate


class Wish(NamedTuple):
    """What the user says of learning rate and rounds; None where that is left to us."""

    rate: float | None
    n_rounds: int | None
    may_try: bool  # whether trials are allowed
    shares: bool = True  # whether one tree a round serves all outputs


def rate_and_rounds(problem: Problem, growth_at: GrowthAt, wish: Wish, key: int, workers: Workers) -> tuple[float, int]:
    """Learning rate and number of rounds."""
    longer = more_rounds(problem.raw.shape[1]) if wish.shares else 1.0
    n_samples = problem.weights.count(len(problem.y))
    usual = longer * usual_rounds(n_samples)
    if wish.rate is not None:
        suitable = min(usual * USUAL_RATE / wish.rate, longer * MOST_ROUNDS)
        return wish.rate, math.ceil(suitable) if wish.n_rounds is None else wish.n_rounds
    n_rounds = round(usual) if wish.n_rounds is None else wish.n_rounds
    if n_samples < FEW or not wish.may_try or len(np.unique(_keys(problem, key))) < FEW:
        return min(usual * USUAL_RATE / n_rounds, HIGHEST_RATE), n_rounds
    distance = FURTHER * best_distance(problem, growth_at, longer * DISTANCE, scale_of(n_samples), key, workers)
    rate = min(max(distance / n_rounds, LOWEST_RATE), HIGHEST_RATE)
    return rate, max(min(n_rounds, round(distance / rate)), 1)


def best_distance(
    problem: Problem, growth_at: GrowthAt, longest: float, scale: Scale, key: int, workers: Workers
) -> float:
    """Learning rate times rounds at which samples held out have the lowest loss, in the mean over trials."""
    n_rounds = round(longest / scale.trial_rate)
    fast = growth_at(scale.trial_rate)
    parts = deal_samples(problem, scale.n_parts, key)

    def curve(part: int, own: Workers) -> list[float]:
        return _curve(problem, fast._replace(key=key_below(key, part)), parts == part, n_rounds, own)

    if scale.n_trials > 1 and len(parts) >= SIDE_BY_SIDE and isinstance(problem.loss, CompiledLoss):
        curves = workers.each(curve, scale.n_trials)
    else:
        curves = [curve(part, workers) for part in range(scale.n_trials)]
    n = max(map(len, curves))
    mean = np.mean([np.append(curve, [curve[-1]] * (n - len(curve))) for curve in curves], axis=0)
    best = np.flatnonzero(mean >= mean.max() - LEAST_GAIN * abs(mean.max()))[0]
    return scale.trial_rate * float(best)


def deal_samples(problem: Problem, n_parts: int, key: int) -> Array:
    """The part of each sample, by its codes.

    Samples of equal codes are in one part, so that no trial is tested on samples it has seen with other targets.
    """
    return deal(_keys(problem, key), problem.y, n_parts)


def _keys(problem: Problem, key: int) -> Array:
    """A number (uint64) for each sample that its codes determine."""
    return content_keys(problem.codes, len(problem.y), key)


def _curve(problem: Problem, growth: Growth, held_out: Array, n_rounds: int, workers: Workers) -> list[float]:
    """Minus the mean loss of the samples held out, before the first round and after each."""
    training, testing = problem.parts(held_out)
    training.prepare()
    curve = [testing.score(workers)]
    for added in boost(training, testing, growth, range(n_rounds), workers):
        curve.append(-np.inf if added.validation_score is None else added.validation_score)
        if len(curve) - 1 - int(np.argmax(curve)) >= PATIENCE:
            break
    return curve
