"""Prediction at matched loss: many rows at once, and one row at a time, by models that have reached the same loss."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sublearn.bench.clock import Call, in_turns, per_call, ratio
from sublearn.bench.contenders import CONTENDERS, Job, fitted, ours, predictions
from sublearn.bench.courses import Courses
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import Split

TURNS = 20  # at least: all rows at once take some milliseconds, and a disturbance as many


class Predicted(NamedTuple):
    """What a contender's predictions take."""

    data_set: str
    contender: str
    rounds: int
    loss: float
    rows_per_second: float
    bulk_ratio: float | None  # their time over ours
    single_seconds: float  # of one row by itself
    single_ratio: float | None
    turns: list[float]  # of all rows at once
    loads: list[float]


def time_predictions(split: Split, courses: Courses, order: BenchOrder) -> list[Predicted]:
    """Of those who have reached the loss; the test samples come as often as makes enough rows."""
    X = np.resize(split.X_test, (order.sizes.n_bulk, split.X_test.shape[1]))
    reached = {name: course.rounds for name, course in courses.of.items() if course.rounds}
    models = {name: _model(name, rounds, split, courses, order) for name, rounds in reached.items()}
    calls: dict[str, Call] = {name: partial(predictions, model, X, split.is_classes) for name, model in models.items()}
    singles: dict[str, Call] = {
        name: per_call(partial(predictions, model, X[:1], split.is_classes), order.sizes.n_single)
        for name, model in models.items()
    }
    in_turns(calls, 1)  # what is compiled or set up on the first call is not part of a prediction
    bulk, single = in_turns(calls, max(order.repeats, TURNS)), in_turns(singles, order.repeats)
    seconds = {name: (bulk[name].seconds, single[name].seconds / order.sizes.n_single) for name in reached}
    our_bulk, our_single = seconds.get(ours("boost"), (None, None))
    return [
        Predicted(
            data_set=split.name,
            contender=name,
            rounds=rounds,
            loss=courses.of[name].losses[rounds],
            rows_per_second=len(X) / seconds[name][0],
            bulk_ratio=ratio(seconds[name][0], our_bulk),
            single_seconds=seconds[name][1],
            single_ratio=ratio(seconds[name][1], our_single),
            turns=bulk[name].turns,
            loads=bulk[name].loads,
        )
        for name, rounds in reached.items()
    ]


def _model(name: str, rounds: int, split: Split, courses: Courses, order: BenchOrder) -> Any:
    """A model with as many rounds as it takes to the loss."""
    course = courses.of[name]
    if rounds == max(course.losses):
        return course.model
    return fitted(CONTENDERS[name], Job(split.is_classes, rounds, order.threads), split.X_train, split.y_train)
