"""Growth: time and peak memory of a fit as rows, features, classes or candidates increase."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublearn.bench.child import Measured, fit_apart
from sublearn.bench.clock import Call, in_turns, ratio
from sublearn.bench.contenders import CONTENDERS, OURS, Contender, Job, ours
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import N_FEATURES, many, synthetic

LEFT_OUT = ("ydf",)  # one fit of a large set would take hours


class SizedFit(NamedTuple):
    """A fit of one size."""

    axis: str  # what grows
    value: int
    contender: str
    n_trees: int
    seconds: float
    ratio: float | None  # of boosting: theirs over ours
    peak: int | None  # bytes of the whole process; None where the system does not tell
    beyond: int | None  # bytes above the input
    turns: list[float]
    loads: list[float]


class Slope(NamedTuple):
    """How time grows along an axis: with its power `slope`."""

    axis: str
    contender: str
    first: int
    last: int
    slope: float


def time_growth(axis: str, order: BenchOrder, say: Callable[[str], None]) -> list[SizedFit]:
    """All sizes along one axis, each fit in a process of its own."""
    found = []
    for value in order.sizes.axes[axis]:
        say(f"growth: {value:,} {axis}")
        with tempfile.TemporaryDirectory() as folder:
            _write(axis, value, order.sizes.n_growth, Path(folder))
            found += _time_one(axis, value, order, Path(folder))
    return found


def _write(axis: str, value: int, n_rows: int, folder: Path) -> None:
    if axis == "rows":
        X, y = synthetic(value)
    elif axis == "features":
        X, y = many(n_rows, value, 2)
    else:
        X, y = many(n_rows, N_FEATURES, value if axis == "classes" else 2)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def _time_one(axis: str, value: int, order: BenchOrder, folder: Path) -> list[SizedFit]:
    options = {"n_projections": value} if axis == "candidates" else {}
    jobs = {name: Job(True, order.n_trees(c.kind), order.threads, options) for name, c in growing(axis, order).items()}
    calls: dict[str, Call] = {name: partial(fit_apart, name, job, folder) for name, job in jobs.items()}
    timings = in_turns(calls, 1 if order.quick else order.repeats, _own_seconds)
    best = timings[ours("boost")].seconds
    grown = []
    for name, timing in timings.items():
        measured: Measured = timing.result
        beside = ratio(timing.seconds, best) if CONTENDERS[name].kind == "boost" else None
        grown.append(
            SizedFit(
                axis=axis,
                value=value,
                contender=name,
                n_trees=jobs[name].n_trees,
                seconds=timing.seconds,
                ratio=beside,
                peak=measured.peak,
                beyond=measured.beyond,
                turns=timing.turns,
                loads=timing.loads,
            )
        )
    return grown


def growing(axis: str, order: BenchOrder) -> dict[str, Contender]:
    """Ours, and peers of boosting; candidates are ours alone."""
    peers = () if axis == "candidates" else tuple(name for name in order.peers if name not in LEFT_OUT)
    return {
        name: c for name, c in CONTENDERS.items() if c.library == OURS or (c.kind == "boost" and c.library in peers)
    }


def _own_seconds(call: Call) -> tuple[float, Any]:
    """The time that the other process took, without its start."""
    measured = call()
    return measured.seconds, measured


def slopes(grown: Sequence[SizedFit], above: int = 0) -> list[Slope]:
    """Of each contender along each axis, from the values above a bound; at least two are needed."""
    found = []
    for axis, contender in dict.fromkeys((one.axis, one.contender) for one in grown):
        points = [(one.value, one.seconds) for one in grown if (one.axis, one.contender) == (axis, contender)]
        points = [point for point in points if point[0] > above]
        if len(points) > 1:
            found.append(Slope(axis, contender, points[0][0], points[-1][0], power(*zip(*points, strict=True))))
    return found


def power(values: Sequence[float], seconds: Sequence[float]) -> float:
    """The k of seconds = c * values**k that fits best on a log-log scale."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
