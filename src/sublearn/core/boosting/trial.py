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


class Trial:
    """How a setting does on one part of the samples, as far as it was tried."""

    def __init__(self, given: Parted, growth: Growth) -> None:
        self.training = given.training.copy()
        self.testing = given.testing._replace(loss=self.training.loss, raw=given.testing.raw.copy())
        self.growth = growth
        self.curve: list[float] = []  # minus the mean loss of those held out, before the first round and after each
        self.raw = self.testing.raw.copy()  # of those held out, after the best round
        self.seconds = 0.0

    @property
    def best(self) -> float:
        """The score of the best round."""
        return max(self.curve)

    def best_within(self, n_rounds: int) -> float:
        """The best score of so many rounds."""
        return max(self.curve[: n_rounds + 1])

    def run(self, n_rounds: int, rival: "Trial | None", workers: Workers) -> None:
        """Boost on, up to so many rounds in all, or until nothing improves, or until it is far behind a rival."""
        began = time.perf_counter()
        if not self.curve:
            self.curve.append(self.testing.score(workers))
        at = int(np.argmax(self.curve))
        for added in boost(self.training, self.testing, self.growth, range(len(self.curve) - 1, n_rounds), workers):
            assert added.validation_score is not None
            self.curve.append(added.validation_score)
            n = len(self.curve) - 1
            if self.curve[n] > self.curve[at]:
                at = n
                self.raw[:] = self.testing.raw
            if n - at >= PATIENCE or (n >= EARLIEST and rival and self.is_behind(rival)):
                break
        self.seconds += time.perf_counter() - began

    def is_behind(self, rival: "Trial") -> bool:
        """Whether the best score so far is far behind that of a rival after as many rounds."""
        leading = rival.best_within(len(self.curve) - 1)
        return self.best < leading - BEHIND * abs(leading)

    def losses(self) -> Array:
        """The loss of each of those held out, after the best round."""
        return self.testing._replace(raw=self.raw).losses()


def contents(problem: Problem, key: int) -> Array:
    """A number (uint64) for each sample that its codes determine."""
    return content_keys(problem.codes, len(problem.y), key)


def deal_samples(problem: Problem, n_parts: int, key: int) -> Array:
    """The part of each sample, by its codes.

    Samples of equal codes are in one part, so that no trial is tested on samples it has seen with other targets.
    """
    n_samples = problem.weights.count(len(problem.y))
    return deal(contents(problem, key), problem.y, n_parts, n_samples, problem.links)


def part_off(problem: Problem, held_out: Array) -> Parted:
    """Samples to learn from, and those held out (n_samples,) of them, whose loss has seen the former."""
    parted = Parted(*problem.parts(held_out))
    parted.training.prepare()
    return parted


def best_round(trials: list[Trial]) -> int:
    """The round after which samples held out have the lowest loss, in the mean over trials."""
    n = max(len(one.curve) for one in trials)
    mean = np.mean([one.curve + [one.curve[-1]] * (n - len(one.curve)) for one in trials], axis=0)
    return int(np.flatnonzero(mean >= mean.max() - LEAST_GAIN * abs(mean.max()))[0])
