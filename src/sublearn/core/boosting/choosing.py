"""What the user leaves to us in boosting: settings, learning rates and rounds."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from sublearn.core.boosting.audition import Audition, GrowthFor, Stage, audition, audition_for_average
from sublearn.core.boosting.auto import (
    DISTANCE,
    FAST_RATE,
    FEW,
    FURTHER,
    HIGHEST_RATE,
    LOWEST_RATE,
    MOST_ROUNDS,
    USUAL_RATE,
    Setting,
    careful,
    fast_for,
    more_rounds,
    scale_of,
    usual_rounds,
)
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.trial import best_round, contents
from sublearn.core.data.dealing import n_different
from sublearn.core.parallel import Workers

LEAST_RATE = 1e-3  # of a member that should hardly learn


class Wish(NamedTuple):
    """What the user says; None where it is left to us."""

    rate: float | None
    n_rounds: int | None
    effort: str  # "fast", "usual" or "best"
    may_try: bool  # whether trials are allowed
    settings: Sequence[Setting]  # that may be tried, the usual one first
    n_members: int = 1
    shares: bool = True  # whether one tree a round serves all outputs


class Member(NamedTuple):
    """One of the models whose answers are averaged; mostly there is one."""

    setting: Setting
    rate: float


class Choice(NamedTuple):
    """How to boost."""

    members: list[Member]
    n_rounds: int
    found: Audition | None = None


def choose(problem: Problem, growth_for: GrowthFor, wish: Wish, key: int, workers: Workers) -> Choice:
    """Settings, learning rates and number of rounds."""
    n_samples = problem.weights.count(len(problem.y))
    longer = more_rounds(problem.raw.shape[1]) if wish.shares else 1.0
    suitable = longer * usual_rounds(n_samples)
    if wish.rate is not None:
        suitable = min(suitable * USUAL_RATE / wish.rate, longer * MOST_ROUNDS)
        return _alike(wish, wish.rate, math.ceil(suitable) if wish.n_rounds is None else wish.n_rounds)
    if wish.effort == "fast":
        return _without_trial(wish, FAST_RATE, longer * fast_for(n_samples).n_rounds)
    if n_samples < FEW or not wish.may_try or n_different(contents(problem, key), FEW, problem.links) < FEW:
        return _without_trial(wish, USUAL_RATE, suitable)
    scale = scale_of(n_samples)
    if wish.effort == "best":
        stage = Stage(problem, growth_for, careful(scale), longer * DISTANCE, key, workers)
        found = audition_for_average(wish.settings, wish.n_members, stage)
    else:
        stage = Stage(problem, growth_for, scale, longer * DISTANCE, key, workers)
        found = audition(wish.settings, stage)
        found = found._replace(chosen=found.chosen * wish.n_members)
    distances = [FURTHER * scale.trial_rate * best_round(list(entry.trials.values())) for entry in found.chosen]
    return _as_far(found, distances, round(suitable) if wish.n_rounds is None else wish.n_rounds)


def _alike(wish: Wish, rate: float, n_rounds: int) -> Choice:
    """The usual setting for all members."""
    return Choice([Member(wish.settings[0], rate)] * wish.n_members, n_rounds)


def _without_trial(wish: Wish, rate: float, suitable: float) -> Choice:
    """A rate that suits so many rounds, with those rounds or, at another rate, with the user's."""
    n_rounds = round(suitable) if wish.n_rounds is None else wish.n_rounds
    return _alike(wish, min(suitable * rate / n_rounds, HIGHEST_RATE), n_rounds)


def _as_far(found: Audition, distances: list[float], n_rounds: int) -> Choice:
    """So many rounds at the most, fewer where all rates would fall below the lowest; each member goes its distance."""
    farthest = max(distances)
    rate = min(max(farthest / n_rounds, LOWEST_RATE), HIGHEST_RATE)
    n_rounds = max(min(n_rounds, round(farthest / rate)), 1)
    rates = [rate if distance == farthest else min(distance / n_rounds, HIGHEST_RATE) for distance in distances]
    members = [Member(entry.setting, max(own, LEAST_RATE)) for entry, own in zip(found.chosen, rates, strict=True)]
    return Choice(members, n_rounds, found)
