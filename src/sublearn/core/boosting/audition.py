"""Auditions: a few settings of boosting compete on the same parts of the samples, where the user leaves them to us.

The usual setting goes first, on all parts, and says how far to learn. Each other one is tried on the first part, and
stopped where it falls far behind. Those that are ahead are tried on the other parts too. The usual setting is left only
for one whose lead is clear: larger than chance explains, by the losses of single samples.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.boosting.auto import CLEAR, LEAST_LEAD, PROMISING, Scale, Setting
from sublearn.core.boosting.losses import CompiledLoss
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.rounds import Growth
from sublearn.core.boosting.trial import Parted, Trial, deal_samples, part_off, try_out
from sublearn.core.keys import key_below
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

SIDE_BY_SIDE = 3_000  # samples from which on each trial has a thread; with fewer, rounds are mostly Python

GrowthFor = Callable[[Setting, float], Growth]  # by setting and learning rate


class Entry(NamedTuple):
    """How a setting did."""

    setting: Setting
    trials: dict[int, Trial]  # by part

    @property
    def score(self) -> float:
        """Minus the mean loss of samples held out, in the mean over parts."""
        return float(np.mean([trial.best for trial in self.trials.values()]))

    def told(self, n_chosen: int) -> dict[str, Any]:
        """What users are told; n_chosen: how often the setting is part of the model."""
        return {
            "name": self.setting.name,
            "settings": dict(self.setting.changes),
            "score": self.score,
            "n_parts": len(self.trials),
            "seconds": sum(trial.seconds for trial in self.trials.values()),
            "n_chosen": n_chosen,
        }


class Stage:
    """Where settings are tried: parts of the samples, each to be held out once."""

    def __init__(
        self, problem: Problem, growth_for: GrowthFor, scale: Scale, longest: float, key: int, workers: Workers
    ) -> None:
        self.growth_for, self.scale, self.key, self.workers = growth_for, scale, key, workers
        self.n_rounds = round(longest / scale.trial_rate)
        parts = deal_samples(problem, scale.n_parts, key)
        self.parted = [part_off(problem, parts == part) for part in range(scale.n_trials)]
        self.side_by_side = len(parts) >= SIDE_BY_SIDE and isinstance(problem.loss, CompiledLoss)

    def run(self, tasks: Sequence[tuple[Entry, int, Trial | None]]) -> None:
        """Try settings, each on one of the parts and perhaps beside a rival, and note how they did."""

        def run(i: int, workers: Workers) -> Trial:
            entry, part, rival = tasks[i]
            growth = self.growth_for(entry.setting, self.scale.trial_rate)
            growth = growth._replace(key=key_below(self.key, part))
            return try_out(self.parted[part], growth, self.n_rounds, rival, workers)

        if self.side_by_side and len(tasks) > 1:
            trials = self.workers.each(run, len(tasks))
        else:
            trials = [run(i, self.workers) for i in range(len(tasks))]
        for (entry, part, _), trial in zip(tasks, trials, strict=True):
            entry.trials[part] = trial


class Audition(NamedTuple):
    """What came of it."""

    chosen: list[Entry]  # one, or those whose answers are averaged, of which some may come twice
    entries: list[Entry]


def audition(settings: Sequence[Setting], stage: Stage) -> Audition:
    """Choose one of some settings, of which the first is the usual one."""
    entries = [Entry(setting, {}) for setting in settings]
    usual, *others = entries
    stage.run([(usual, 0, None)])
    first, rest = usual.trials[0], range(1, len(stage.parted))
    stage.run([(usual, part, None) for part in rest] + [(entry, 0, first) for entry in others])
    ahead = sorted((entry for entry in others if entry.trials[0].best > first.best), key=lambda entry: -entry.score)
    ahead = ahead[:PROMISING]
    stage.run([(entry, part, usual.trials[part]) for entry in ahead for part in rest])
    leaders = [entry for entry in ahead if is_clear(entry, usual, stage.parted)]
    return Audition([max(leaders, key=lambda entry: entry.score, default=usual)], entries)


def audition_for_average(settings: Sequence[Setting], n: int, stage: Stage) -> Audition:
    """Choose n settings whose mean answer is best, one by one; the same one may be chosen again, with another seed."""
    entries = [Entry(setting, {}) for setting in settings]
    parts = range(len(stage.parted))
    stage.run([(entry, part, None) for entry in entries for part in parts])
    chosen: list[Entry] = []

    def score(entry: Entry) -> float:
        together = [*chosen, entry]
        means = [np.mean([one.trials[part].raw for one in together], axis=0) for part in parts]
        return float(np.mean([stage.parted[p].testing._replace(raw=means[p]).score(stage.workers) for p in parts]))

    for _ in range(n):
        chosen.append(max(entries, key=score))
    return Audition(chosen, entries)


def is_clear(entry: Entry, usual: Entry, parted: list[Parted]) -> bool:
    """Whether a setting leads by more than chance explains, and by enough to matter."""
    tested = [one.testing for one in parted]
    before, now = (
        np.concatenate([testing._replace(raw=one.trials[p].raw).losses() for p, testing in enumerate(tested)])
        for one in (usual, entry)
    )
    weights, leads = np.concatenate([testing.all_weights() for testing in tested]), before - now
    n = sum(testing.weights.count(len(testing.y)) for testing in tested)
    mean, square = (_mean(numbers, weights) for numbers in (leads, leads * leads))
    error = math.sqrt(max(square - mean * mean, 0.0) / n)
    return mean > CLEAR * error and mean > LEAST_LEAD * abs(usual.score)


def _mean(numbers: Array, weights: Array) -> float:
    return math.fsum(numbers * weights) / math.fsum(weights)
