"""Time to loss: seconds of a fit that ends with the test loss of XGBoost's defaults, and time against loss."""

from functools import partial
from typing import NamedTuple

from sublearn.bench.clock import Call, in_turns, ratio
from sublearn.bench.contenders import CONTENDERS, Job, fitted, ours
from sublearn.bench.courses import Courses
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import Split

SHORT = 5.0  # seconds; points of curves are repeated where no fit takes longer, since short ones are noisy


class Point(NamedTuple):
    """A point of a curve: the loss after so many rounds and seconds."""

    rounds: int
    seconds: float
    loss: float


class Reached(NamedTuple):
    """What a contender took to reach the goal on a set; None where it does not."""

    data_set: str
    contender: str
    loss_name: str
    pace: str  # who set the goal
    goal: float
    rounds: int | None
    seconds: float | None
    ratio: float | None  # theirs over ours
    turns: list[float]
    loads: list[float]
    end: Point  # with all rounds
    curve: list[Point]


def time_to_loss(split: Split, courses: Courses, order: BenchOrder) -> list[Reached]:
    """Whole fits with the rounds that are needed, in turns; then fits for the points of the curves."""

    def fit(name: str, n_rounds: int) -> Call:
        job = Job(split.is_classes, n_rounds, order.threads)
        return partial(fitted, CONTENDERS[name], job, split.X_train, split.y_train)

    # a fit with all rounds that was slow and needs them all is not done again
    known = {name: c.timing for name, c in courses.of.items() if c.rounds == max(c.losses)}
    calls = {name: fit(name, c.rounds) for name, c in courses.of.items() if c.rounds}
    timings = in_turns(calls, order.repeats, known=known)
    is_short = max(course.timing.seconds for course in courses.of.values()) < SHORT
    turns = order.repeats if is_short else 1
    curves: dict[str, list[Point]] = {name: [] for name in courses.of}
    for n in order.sizes.curve:
        at = {name: c for name, c in courses.of.items() if n in c.losses}
        known = {name: c.timing for name, c in at.items() if n == max(c.losses)}
        for name, one in in_turns({name: fit(name, n) for name in at}, turns, known=known).items():
            curves[name].append(Point(n, one.seconds, at[name].losses[n]))
    seconds = {name: timing.seconds for name, timing in timings.items()}
    found = []
    for name, course in courses.of.items():
        timing = timings.get(name)
        last = max(course.losses)
        found.append(
            Reached(
                data_set=split.name,
                contender=name,
                loss_name=split.loss_name,
                pace=courses.pace,
                goal=courses.goal,
                rounds=course.rounds,
                seconds=seconds.get(name),
                ratio=ratio(seconds.get(name), seconds.get(ours("boost"))),
                turns=timing.turns if timing else [],
                loads=timing.loads if timing else [],
                end=Point(last, course.timing.seconds, course.losses[last]),
                curve=curves[name],
            )
        )
    return found
