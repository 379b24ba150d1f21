"""What linear models in the leaves would bring to boosting: a slow trial, beside the constant leaves that there are.

    python benchmarks/linear_leaves.py --sets kin8nm,california_housing --rounds 300

A leaf then answers with a ridge regression of the gradients, weighted by the second derivatives, over the features of
the hyperplanes on the way to it; values beyond those it has learned from count as the nearest of these. Two classes or
numbers. Prints the test loss at some rounds, mean over splits with seeds from 100 on.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tables
from sublearn import SLMBoostClassifier, SLMBoostRegressor
from sublearn._base.boosting import FIXED
from sublearn.core.boosting.losses import LogLoss, Loss, SquaredError
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth, round_task
from sublearn.core.data.codes import code_limit, encode_samples, fit_maps
from sublearn.core.data.fixed_point import UNIT
from sublearn.core.keys import keys_in_turn
from sublearn.core.model.flat_ensemble import alone, apply
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.grower import grow_placed

ONE_THREAD = Workers(1)
PENALTIES = (1.0, 10.0, 100.0)  # on the slopes of standardised features


def features_above(tree: FlatTree) -> list[list[int]]:
    """Features of the hyperplanes on the way to each node."""
    found: list[set[int]] = []
    for i, parent in enumerate(tree.parent.tolist()):
        known = set(found[parent]) if i else set()
        found.append(known)
        if i:
            terms = slice(tree.first_term[tree.first_plane[parent]], tree.first_term[tree.first_plane[parent + 1]])
            known.update(tree.feature[terms].tolist())
    return [sorted(features) for features in found]


def answers(rows: Any, new: Any, x: Any, x_new: Any, given: tuple[Any, Any], l2: float, penalty: float) -> Any:
    """Answers of a leaf for the samples that it learns from and for new ones; given: gradients and hessians."""
    gradient, hessian = (column[rows] for column in given)
    known = x[rows]
    mean, low, high = known.mean(axis=0), known.min(axis=0), known.max(axis=0)
    table, new_table = (
        np.column_stack([np.ones(len(part)), np.clip(part, low, high) - mean]) for part in (known, x_new[new])
    )
    squares = (table * hessian[:, None]).T @ table
    squares[np.diag_indices(len(squares))] += [l2, *[penalty] * known.shape[1]]
    weights = -np.linalg.solve(squares, table.T @ gradient)
    return table @ weights, new_table @ weights


def course(table: tables.Table, seed: int, rate: float, n_rounds: int, penalty: float | None) -> Iterator[float]:
    """The test loss round by round; penalty None: constant leaves."""
    X, X_test, y, y_test = tables.split(table, seed)
    model: Any = (SLMBoostClassifier if table.is_classes else SLMBoostRegressor)(random_state=0)
    loss: Loss = LogLoss() if table.is_classes else SquaredError()
    parameters = model._tree_parameters(len(X), **FIXED, **model._depth(len(X)))
    plan = model._plan(parameters, X.shape[1])
    growth = Growth(parameters, plan, model._boost_parameters(X.shape[1], rate), 1)
    maps = fit_maps(X, UNIT.weights, "auto", code_limit(plan.coefficient_sum), ONE_THREAD)
    start = float(loss.start(y.astype(float), np.ones(len(y))))
    training, testing = (_problem(x, t, maps, loss, start) for x, t in ((X, y), (X_test, y_test)))
    mean, spread = training.codes.mean(axis=1), training.codes.std(axis=1) + 1e-9
    x, x_test = ((problem.codes.T - mean) / spread for problem in (training, testing))
    for key in keys_in_turn(growth.key, range(n_rounds)):
        slopes, _ = training.slopes(np.ones(1), ONE_THREAD)
        given = slopes.gradients[:, 0], np.ones(len(y)) if slopes.hessians is None else slopes.hessians[:, 0]
        task = round_task(training, growth, np.arange(len(y)), slopes, 1, ONE_THREAD)
        grown = grow_placed(task, key, ONE_THREAD)
        reached = apply(alone(grown.tree), testing.codes, ONE_THREAD)[:, 0]
        above = features_above(grown.tree)
        for leaf, (begin, end) in zip(*grown.leaves, strict=True):
            rows, new = grown.order[begin:end], np.flatnonzero(reached == leaf)
            used = [] if penalty is None else above[leaf]
            steps = answers(rows, new, x[:, used], x_test[:, used], given, growth.boost.l2, penalty or 0.0)
            training.raw[rows, 0] += rate * steps[0]
            testing.raw[new, 0] += rate * steps[1]
        if table.is_classes:
            yield -testing.score(ONE_THREAD)
        else:
            yield float(np.sqrt(np.mean((y_test - testing.raw[:, 0]) ** 2)))


def _problem(X: Any, y: Any, maps: Any, loss: Loss, start: float) -> Problem:
    codes = encode_samples(np.ascontiguousarray(X, np.float64), maps, ONE_THREAD)
    return make_problem(codes, y.astype(float), UNIT, np.empty(0), loss, np.full((len(y), 1), start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="kin8nm,california_housing,bike_sharing,spambase,banknote,abalone")
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--data-dir", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    shown = [max(arguments.rounds // part, 1) for part in (8, 4, 2, 1)]
    for name in arguments.sets.split(","):
        table = tables.load(name, arguments.data_dir)
        if table is None or (table.is_classes and table.y.max() > 1):
            print(f"{name} is left out: " + ("no file of it in the data folder" if table is None else "many classes"))
            continue
        print(f"\n{name:<30}" + "".join(f"{n:>11} rounds" for n in shown))
        for penalty in (None, *PENALTIES):
            seeds = range(100, 100 + arguments.splits)
            found = [list(course(table, seed, arguments.rate, arguments.rounds, penalty)) for seed in seeds]
            losses = np.mean(found, axis=0)
            title = "constant" if penalty is None else f"linear, penalty {penalty:g}"
            print(f"{title:<30}" + "".join(f"{losses[n - 1]:>18.5f}" for n in shown), flush=True)


if __name__ == "__main__":
    main()
