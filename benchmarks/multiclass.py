"""Boosting of many classes: one tree a round that answers for all of them, or one tree a class.

    python benchmarks/multiclass.py

For both, the test log loss after so many seconds of fitting, on one thread, and the time that either takes to the best
loss of the other: `multiclass="shared"` and `"separate"`.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split

from files import path_of
from sublearn import SLMBoostClassifier
from sublearn.core.boosting.auto import STEADY
from sublearn.core.boosting.losses import Softmax
from sublearn.core.boosting.problem import make_problem
from sublearn.core.boosting.rounds import Growth, add_round
from sublearn.core.data.codes import code_limit, encode_samples, number_views, pack_views
from sublearn.core.data.fixed_point import UNIT
from sublearn.core.keys import key_below
from sublearn.core.model.flat_ensemble import pack
from sublearn.core.parallel import Workers
from sublearn.paper.datasets import read_file

SETS: dict[str, Callable[[], Any]] = {
    "digits": lambda: load_digits(return_X_y=True),
    "usps": lambda: read_file(path_of("usps"))[:2],
    "26 classes": lambda: make_classification(
        8000, 16, n_informative=12, n_redundant=2, n_classes=26, n_clusters_per_class=1, class_sep=1.5, random_state=0
    ),
}
ONE_THREAD = Workers(1)
STEPS = 8  # losses shown


class Point(NamedTuple):
    """How far a fit is."""

    rounds: int
    seconds: float
    loss: float


def course(X: Any, X_test: Any, y: Any, y_test: Any, seconds: float, **parameters: Any) -> list[Point]:
    """The test loss round by round."""
    model = SLMBoostClassifier(**parameters)
    tree = model._trees_for(STEADY, len(X))
    plan = model._plan(tree, X.shape[1])
    limit = code_limit(plan.coefficient_sum)
    maps = pack_views(number_views(X, np.arange(X.shape[1]), UNIT.weights, "auto", limit, ONE_THREAD), limit)
    growth = Growth(tree, plan, model._boosting_for(STEADY, len(X), X.shape[1], model.learning_rate), 1)
    loss = Softmax(len(np.unique(y)))
    start = loss.start(y, np.ones(len(y)))
    training, testing = (
        make_problem(
            encode_samples(x, maps, ONE_THREAD), t.astype(float), UNIT, np.empty(0), loss, np.tile(start, (len(t), 1))
        )
        for x, t in ((X, y), (X_test, y_test))
    )
    spent = 0.0
    points: list[Point] = []
    while spent < seconds:
        begin = time.perf_counter()
        added = add_round(training, growth, key_below(growth.key, len(points)), ONE_THREAD)
        spent += time.perf_counter() - begin
        testing.add(pack(added), ONE_THREAD)
        points.append(Point(len(points) + 1, spent, -testing.score(ONE_THREAD)))
    return points


def seconds_to(points: list[Point], loss: float) -> str:
    reached = [point.seconds for point in points if point.loss <= loss]
    return f"{reached[0]:.2f} s" if reached else "never"


def report(name: str, data: Any, seconds: float, depth: int) -> None:
    X, X_test, y, y_test = train_test_split(*data, test_size=0.4, random_state=0)
    found = {}
    for label, multiclass in (("one tree a round", "shared"), ("one tree a class", "separate")):
        points = course(X, X_test, y, y_test, seconds, multiclass=multiclass, learning_rate=0.3, max_depth=depth)
        shown = [next(p for p in points if p.seconds >= seconds * (i + 1) / STEPS) for i in range(STEPS - 1)] + points[
            -1:
        ]
        losses = " ".join(f"{point.loss:.3f}" for point in shown)
        best = min(points, key=lambda point: point.loss)
        print(
            f"{name:<12}{label:<18}{losses}   best {best.loss:.4f} after {best.rounds} rounds, {best.seconds:.2f} s",
            flush=True,
        )
        found[label] = points
    one, each = found.values()
    other = min(point.loss for point in each)
    print(f"{'':<12}one tree a round has the other's best loss after {seconds_to(one, other)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--depth", type=int, default=6)
    arguments = parser.parse_args()
    every = [arguments.seconds * (i + 1) / STEPS for i in range(STEPS)]
    print(f"{'test log loss after':<30}" + " ".join(f"{seconds:>4.1f}s" for seconds in every))
    for name, load in SETS.items():
        try:
            report(name, load(), arguments.seconds, arguments.depth)
        except FileNotFoundError as reason:
            print(f"{name} skipped: {reason}")


if __name__ == "__main__":
    main()
