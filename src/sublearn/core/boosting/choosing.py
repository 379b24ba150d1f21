"""What the user leaves to us in boosting: the setting, the learning rate and the rounds."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublearn.core.boosting.audition import Entry, GrowthFor, Stage, audition
from sublearn.core.boosting.auto import (
    DISTANCE,
    FEW,
    FURTHER,
    HIGHEST_RATE,
    LOWEST_RATE,
    MOST_ROUNDS,
    USUAL_RATE,
    Setting,
    more_rounds,
    scale_of,
    usual_rounds,
)
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.trial import contents
from sublearn.core.parallel import Workers


class Wish(NamedTuple):
    """What the user says; None where it is left to us."""

    rate: float | None
    n_rounds: int | None
    may_try: bool  # whether trials are allowed
    settings: Sequence[Setting]  # that may be tried, the usual one first
    shares: bool = True  # whether one tree a round serves all outputs


class Choice(NamedTuple):
    """How to boost."""

    setting: Setting
    rate: float
    n_rounds: int
    entries: Sequence[Entry] = ()  # what was tried


def choose(problem: Problem, growth_for: GrowthFor, wish: Wish, key: int, workers: Workers) -> Choice:
    """Setting, learning rate and number of rounds."""
    setting, longer = wish.settings[0], more_rounds(problem.raw.shape[1]) if wish.shares else 1.0
    n_samples = problem.weights.count(len(problem.y))
    usual = longer * usual_rounds(n_samples)
    if wish.rate is not None:
        suitable = min(usual * USUAL_RATE / wish.rate, longer * MOST_ROUNDS)
        return Choice(setting, wish.rate, math.ceil(suitable) if wish.n_rounds is None else wish.n_rounds)
    n_rounds = round(usual) if wish.n_rounds is None else wish.n_rounds
    if n_samples < FEW or not wish.may_try or len(np.unique(contents(problem, key))) < FEW:
        return Choice(setting, min(usual * USUAL_RATE / n_rounds, HIGHEST_RATE), n_rounds)
    stage = Stage(problem, growth_for, scale_of(n_samples), longer * DISTANCE, key, workers)
    found = audition(wish.settings, stage)
    if wish.n_rounds is None:
        n_rounds = round(usual * found.setting.longer)
    distance = FURTHER * found.distance
    rate = min(max(distance / n_rounds, LOWEST_RATE), HIGHEST_RATE)
    return Choice(found.setting, rate, max(min(n_rounds, round(distance / rate)), 1), found.entries)
