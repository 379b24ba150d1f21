"""Trials: boosting at a high rate on most of the samples, tested on the others.

Learning rate times rounds is how far a fit has come: with half the rate it takes about twice the rounds to the lowest
loss. So a trial says in few rounds how far a better fit at a low rate should go, and how good a setting is.
"""

import time
from typing import NamedTuple

import numpy as np

from sublearn.core.boosting.auto import BEHIND, EARLIEST, LEAST_GAIN, PATIENCE
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.rounds import Growth, boost
from sublearn.core.data.dealing import content_keys, deal
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array


class Parted(NamedTuple):
    """Samples to learn from, and those held out."""

    training: Problem
    testing: Problem


class Trial(NamedTuple):
    """How a setting did on one part of the samples."""

    curve: list[float]  # minus the mean loss of those held out, before the first round and after each
    raw: Array  # float64 (n_held_out, n_outputs), raw values of those held out after the best round
    seconds: float

    @property
    def best(self) -> float:
        """The score of the best round."""
        return max(self.curve)


def contents(problem: Problem, key: int) -> Array:
    """A number (uint64) for each sample that its codes determine."""
    return content_keys(problem.codes, len(problem.y), key)


def deal_samples(problem: Problem, n_parts: int, key: int) -> Array:
    """The part of each sample, by its codes.

    Samples of equal codes are in one part, so that no trial is tested on samples it has seen with other targets.
    """
    return deal(contents(problem, key), problem.y, n_parts)


def part_off(problem: Problem, held_out: Array) -> Parted:
    """Samples to learn from, and those held out (n_samples,) of them."""
    return Parted(*problem.parts(held_out))


def try_out(given: Parted, growth: Growth, n_rounds: int, rival: Trial | None, workers: Workers) -> Trial:
    """Boost for so many rounds, or until nothing improves, or until it is far behind a rival."""
    began = time.perf_counter()
    training = given.training.copy()
    testing = given.testing._replace(loss=training.loss, raw=given.testing.raw.copy())
    training.prepare()
    curve, raw = [testing.score(workers)], testing.raw.copy()
    at, leader = 0, rival.curve if rival else []
    for added in boost(training, testing, growth, range(n_rounds), workers):
        assert added.validation_score is not None
        curve.append(added.validation_score)
        n = len(curve) - 1
        if curve[n] > curve[at]:
            at, raw = n, testing.raw.copy()
        if n - at >= PATIENCE or (n >= EARLIEST and is_behind(curve[at], leader[: n + 1])):
            break
    return Trial(curve, raw, time.perf_counter() - began)


def is_behind(best: float, leader: list[float]) -> bool:
    """Whether the best score so far is far behind that of a rival after as many rounds."""
    return bool(leader) and best < max(leader) - BEHIND * abs(max(leader))


def best_round(trials: list[Trial]) -> int:
    """The round after which samples held out have the lowest loss, in the mean over trials."""
    n = max(len(one.curve) for one in trials)
    mean = np.mean([one.curve + [one.curve[-1]] * (n - len(one.curve)) for one in trials], axis=0)
    return int(np.flatnonzero(mean >= mean.max() - LEAST_GAIN * abs(mean.max()))[0])
