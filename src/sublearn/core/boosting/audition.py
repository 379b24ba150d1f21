"""Auditions: a few settings of boosting compete on the same parts of the samples, where the user leaves them to us.

The usual setting goes first, and says how far to learn. The others are tried on the first part for some rounds, and
stopped where they fall far behind. The best of them, if it is ahead, goes on to the end and to the other parts. The
usual setting is left only for a clear lead, by the losses of single samples.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.boosting.auto import CLEAR, PROBE, Scale, Setting
from sublearn.core.boosting.losses import CompiledLoss
from sublearn.core.boosting.problem import Problem
from sublearn.core.boosting.rounds import Growth
from sublearn.core.boosting.trial import Trial, deal_samples, part_off
from sublearn.core.data.exact import exact_sum
from sublearn.core.data.fixed_point import extremes_of
from sublearn.core.keys import key_below
from sublearn.core.links import ALONE, Links
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

SIDE_BY_SIDE = 3_000  # samples from which on each trial has a thread; with fewer, rounds are mostly Python

GrowthFor = Callable[[Setting, float], Growth]  # by setting and learning rate


class Entry:
    """A setting and its trials."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.trials: dict[int, Trial] = {}  # by part

    @property
    def score(self) -> float:
        """Minus the mean loss of samples held out, in the mean over parts."""
        return float(np.mean([trial.best for trial in self.trials.values()]))

    def told(self, settings: dict[str, Any], n_chosen: int) -> dict[str, Any]:
        """What users are told: how the setting did, and how often it is part of the model."""
        return {
            "name": self.setting.name,
            "settings": settings,
            "scores": [trial.best for _, trial in sorted(self.trials.items())],
            "seconds": sum(trial.seconds for trial in self.trials.values()),
            "n_chosen": n_chosen,
        }


class Task(NamedTuple):
    """A setting to be tried."""

    entry: Entry
    part: int
    n_rounds: int
    rival: Trial | None = None


class Stage:
    """Where settings are tried: parts of the samples, each to be held out once."""

    def __init__(
        self, problem: Problem, growth_for: GrowthFor, scale: Scale, longest: float, key: int, workers: Workers
    ) -> None:
        self.growth_for, self.scale, self.key, self.workers = growth_for, scale, key, workers
        self.n_rounds = round(longest / scale.trial_rate)
        dealt = deal_samples(problem, scale.n_parts, key)
        self.parted = [part_off(problem, dealt == part) for part in range(scale.n_trials)]
        self.side_by_side = (
            len(dealt) >= SIDE_BY_SIDE and workers.links is ALONE and isinstance(problem.loss, CompiledLoss)
        )

    def run(self, tasks: Sequence[Task]) -> None:
        """Try settings, or go on with them."""
        for task in tasks:
            if task.part not in task.entry.trials:
                growth = self.growth_for(task.entry.setting, self.scale.trial_rate)
                growth = growth._replace(key=key_below(self.key, task.part))
                task.entry.trials[task.part] = Trial(self.parted[task.part], growth)

        def run(i: int, workers: Workers) -> None:
            task = tasks[i]
            task.entry.trials[task.part].run(task.n_rounds, task.rival, workers)

        if self.side_by_side and len(tasks) > 1:
            self.workers.each(run, len(tasks))
        else:
            for i in range(len(tasks)):
                run(i, self.workers)


class Audition(NamedTuple):
    """What came of it."""

    chosen: list[Entry]  # one, or those whose answers are averaged, of which some may come twice
    entries: list[Entry]


def audition(settings: Sequence[Setting], stage: Stage) -> Audition:
    """Choose one of some settings, of which the first is the usual one."""
    usual, *others = entries = [Entry(setting) for setting in settings]
    n, rest = stage.n_rounds, range(1, len(stage.parted))
    stage.run([Task(usual, 0, n)])
    first = usual.trials[0]
    probes = [Task(entry, 0, min(PROBE, n), first) for entry in others]
    stage.run(probes + [Task(usual, part, n) for part in rest])
    best = max(others, key=expected, default=usual)
    if best is usual or expected(best) <= first.best_within(PROBE):
        return Audition([usual], entries)
    stage.run([Task(best, 0, n, first), *(Task(best, part, n, usual.trials[part]) for part in rest)])
    return Audition([best if is_clear(best, usual) else usual], entries)


def expected(entry: Entry) -> float:
    """The score after the probe, with what the setting mostly gains later."""
    return entry.score + entry.setting.late * abs(entry.score)


def audition_for_average(settings: Sequence[Setting], n: int, stage: Stage) -> Audition:
    """Choose n settings whose mean answer is best, one by one; the same one may be chosen again, with another seed."""
    entries = [Entry(setting) for setting in settings]
    parts = range(len(stage.parted))
    stage.run([Task(entry, part, stage.n_rounds) for entry in entries for part in parts])
    chosen: list[Entry] = []

    def score(entry: Entry) -> float:
        together = [*chosen, entry]
        means = [np.mean([one.trials[part].raw for one in together], axis=0) for part in parts]
        return float(np.mean([stage.parted[p].testing._replace(raw=means[p]).score(stage.workers) for p in parts]))

    for _ in range(n):
        chosen.append(max(entries, key=score))
    return Audition(chosen, entries)


def is_clear(entry: Entry, usual: Entry) -> bool:
    """Whether a setting leads by more than chance explains, and by enough to matter."""
    pairs = [(trial, usual.trials[part]) for part, trial in entry.trials.items()]
    leads = np.concatenate([before.losses() - now.losses() for now, before in pairs])
    weights = np.concatenate([now.testing.all_weights() for now, _ in pairs])
    n = sum(now.testing.weights.count(len(now.raw)) for now, _ in pairs)
    links = pairs[0][0].testing.links
    unit = extremes_of(np.abs(leads), links)[1] or 1.0  # squares of losses may be beyond all floats
    mean, square = (_mean(numbers, weights, links) for numbers in (leads / unit, np.square(leads / unit)))
    error = math.sqrt(max(square - mean * mean, 0.0) / n)
    return mean > CLEAR * error and mean * unit > entry.setting.lead * abs(usual.score)


def _mean(numbers: Array, weights: Array, links: Links) -> float:
    return exact_sum(numbers, weights, links) / exact_sum(weights, links=links)
