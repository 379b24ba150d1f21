"""How the test loss of boosting falls round by round, and after how many rounds it has what XGBoost ends with."""

from typing import Any, NamedTuple

from sublearn.bench.clock import Timing, in_turns
from sublearn.bench.contenders import Contender, Job, chosen, fitted, predictions
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import Split

PACE = ("xgboost", "lightgbm", "catboost", "hist-boosting")  # the first that is there sets the goal


class Course(NamedTuple):
    """Test losses of a contender by rounds; of one without staged predictions, only the last."""

    losses: dict[int, float]
    rounds: int | None  # the fewest with a loss at or below the goal
    timing: Timing  # of the fit with all rounds
    model: Any


class Courses(NamedTuple):
    """All contenders on one set."""

    pace: str  # who set the goal
    goal: float
    of: dict[str, Course]


def find_courses(split: Split, order: BenchOrder) -> Courses | None:
    """Fit everybody with all rounds; None where no peer could set a goal."""
    contenders = chosen(order.peers, "boost")
    pace = next((name for name in PACE if name in contenders), None)
    if pace is None:
        return None
    first = _course(contenders[pace], split, order, order.sizes.n_rounds, None)
    goal = first.losses[order.sizes.n_rounds]
    courses = {}
    for name, contender in contenders.items():
        course = _course(contender, split, order, order.sizes.n_rounds, goal)
        if course.rounds is None and contender.staged:
            course = _course(contender, split, order, order.sizes.max_rounds, goal)
        courses[name] = course
    return Courses(pace, goal, courses)


def _course(contender: Contender, split: Split, order: BenchOrder, n_rounds: int, goal: float | None) -> Course:
    job = Job(split.is_classes, n_rounds, order.threads)
    call = {"": lambda: fitted(contender, job, split.X_train, split.y_train)}
    timing = in_turns(call, 1)[""]
    model = timing.result
    if contender.staged:
        stages = contender.staged(model, split.X_test, split.is_classes)
        losses = {n: split.loss(stage) for n, stage in enumerate(stages, 1)}
    else:
        losses = {n_rounds: split.loss(predictions(model, split.X_test, split.is_classes))}
    return Course(losses, None if goal is None else first_at(losses, goal), timing, model)


def first_at(losses: dict[int, float], goal: float) -> int | None:
    """The fewest rounds with a loss at or below the goal; None where there are none."""
    return min((n for n, loss in losses.items() if loss <= goal), default=None)
