"""Boosting of many classes: one tree a round that answers for all of them, or one tree a class.

    python benchmarks/multiclass.py

For both, the test log loss after so many seconds of fitting, on one thread, and the time that either takes to the best
loss of the other. Trees of one round for all classes are what `SLMBoostClassifier` grows; the other way lives here.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from files import path_of
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostClassifier
from sublearn._boosting import FIXED
from sublearn.core.booster import Growth, add_round, make_task
from sublearn.core.codes import code_limit, encode_samples, fit_maps
from sublearn.core.derivatives import find_slopes
from sublearn.core.fixed_point import UNIT
from sublearn.core.flat_ensemble import alone
from sublearn.core.flat_tree import FlatTree
from sublearn.core.grower import grow_placed
from sublearn.core.keys import key_below
from sublearn.core.losses import Softmax
from sublearn.core.parallel import Workers
from sublearn.core.problem import Problem, make_problem
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


def one_tree(training: Problem, growth: Growth, number: int) -> Iterator[tuple[int, FlatTree]]:
    """The tree of a round; its values have a column a class."""
    yield -1, add_round(training, growth, key_below(growth.key, number), ONE_THREAD)


def tree_a_class(training: Problem, growth: Growth, number: int) -> Iterator[tuple[int, FlatTree]]:
    """Each class and the tree for it."""
    gradients, hessians = training.loss.derivatives(training.y, training.outputs)
    assert hessians is not None
    rows = np.arange(len(training.y))
    for k in range(gradients.shape[1]):
        one = training._replace(raw=training.raw[:, k : k + 1])
        slopes, _ = find_slopes(gradients[:, k : k + 1].copy(), hessians[:, k : k + 1].copy(), np.ones(1), ONE_THREAD)
        task = make_task(one, growth, rows, slopes, ONE_THREAD)
        tree, places, order = grow_placed(task, key_below(key_below(growth.key, number), k), ONE_THREAD)
        for leaf in np.flatnonzero(tree.is_leaf):
            training.raw[order[places[leaf, 0] : places[leaf, 1]], k] += tree.value[leaf, 0]
        yield k, tree


def course(
    X: Any, X_test: Any, y: Any, y_test: Any, add: Callable[..., Any], seconds: float, **parameters: Any
) -> list[Point]:
    """The test loss round by round."""
    model = SLMBoostClassifier(**parameters)
    tree = model._tree_parameters(len(X), **FIXED, **model._depth(len(X)))
    plan = model._plan(tree, X.shape[1])
    maps = fit_maps(X, UNIT.weights, "auto", code_limit(plan.coefficient_sum), ONE_THREAD)
    growth = Growth(tree, plan, model._boost_parameters(X.shape[1], model.learning_rate), 1)
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
        added = list(add(training, growth, len(points)))
        spent += time.perf_counter() - begin
        for k, grown in added:
            part = testing if k < 0 else testing._replace(raw=np.ascontiguousarray(testing.raw[:, k : k + 1]))
            part.add(alone(grown), ONE_THREAD)
            if k >= 0:
                testing.raw[:, k] = part.raw[:, 0]
        points.append(Point(len(points) + 1, spent, -testing.score(ONE_THREAD)))
    return points


def seconds_to(points: list[Point], loss: float) -> str:
    reached = [point.seconds for point in points if point.loss <= loss]
    return f"{reached[0]:.2f} s" if reached else "never"


def report(name: str, data: Any, seconds: float, depth: int) -> None:
    X, X_test, y, y_test = train_test_split(*data, test_size=0.4, random_state=0)
    found = {}
    for label, add in (("one tree a round", one_tree), ("one tree a class", tree_a_class)):
        points = course(X, X_test, y, y_test, add, seconds, learning_rate=0.3, max_depth=depth)
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
