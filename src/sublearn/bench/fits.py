"""Whole fits at equal numbers of trees: one tree, a forest, boosting."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from sublearn.bench.clock import Call, Timing, in_turns, ratio
from sublearn.bench.contenders import KINDS, Job, chosen, fitted, ours, predictions
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import Split


class TimedFit(NamedTuple):
    """What a contender took, and what it reached."""

    data_set: str
    kind: str
    contender: str
    n_trees: int
    seconds: float
    ratio: float | None  # theirs over ours
    turns: list[float]
    loads: list[float]
    loss_name: str
    loss: float
    accuracy: float | None


def time_fits(split: Split, order: BenchOrder, known: Mapping[str, Timing]) -> list[TimedFit]:
    """All kinds on one set; fits of boosting that are `known` to be slow are not done again."""
    found = []
    for kind in KINDS:
        job = Job(split.is_classes, order.n_trees(kind), order.threads)
        calls: dict[str, Call] = {
            name: partial(fitted, contender, job, split.X_train, split.y_train)
            for name, contender in chosen(order.peers, kind).items()
        }
        timings = in_turns(calls, order.repeats, known=known)
        best = timings[ours(kind)].seconds
        for name, timing in timings.items():
            given = predictions(timing.result, split.X_test, split.is_classes)
            found.append(
                TimedFit(
                    data_set=split.name,
                    kind=kind,
                    contender=name,
                    n_trees=job.n_trees,
                    seconds=timing.seconds,
                    ratio=ratio(timing.seconds, best),
                    turns=timing.turns,
                    loads=timing.loads,
                    loss_name=split.loss_name,
                    loss=split.loss(given),
                    accuracy=split.accuracy(given),
                )
            )
    return found
