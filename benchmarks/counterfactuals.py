"""Counterfactuals against a random search of ten times the time: how many of ours it beats.

    python benchmarks/counterfactuals.py                            # all sets and models; hours on one core
    python benchmarks/counterfactuals.py --sets wine --models tree,forest --rows 100
    python benchmarks/counterfactuals.py --report                   # what is there already

The random search begins at the 64 nearest rows of the other answer. From its best so far it takes changes back, shrinks
them, and moves one or two features by Laplace steps whose size falls as long as nothing helps and grows when something
does. It predicts only what would be nearer, all rows at once, and has ten times the CPU seconds that `counterfactual`
took, checks and rounding included. Results are kept, line by line, in bench/counterfactuals.jsonl.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from files import FOLDER
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    counterfactual,
)
from sublearn.core.parallel import Workers
from sublearn.explanation.members import answers_of, members_of, numbers_of
from sublearn.explanation.space import places_of, values_at

Floats = NDArray[np.float64]
TIMES = 10.0  # the time of ours, that the random search has
LONGER = 0.01  # by which ours may be longer for the sake of round numbers
CODE = 0.002  # deviations: two codes
PROPOSALS = 16  # of a row at a time
STARTS = 64
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {  # for classes, for numbers
    "tree": (
        lambda: SLMClassifier(random_state=0, n_jobs=1),
        lambda: SLMRegressor(min_samples_leaf=5, random_state=0, n_jobs=1),
    ),
    "forest": (
        lambda: SLMForestClassifier(random_state=0, n_jobs=1),
        lambda: SLMForestRegressor(random_state=0, n_jobs=1),
    ),
    "boosting": (
        lambda: SLMBoostClassifier(random_state=0, n_jobs=1),
        lambda: SLMBoostRegressor(random_state=0, n_jobs=1),
    ),
}


def credit() -> tuple[Any, Any]:
    """A table with categories and gaps; classes."""
    about = json.loads((FOLDER / "mixed" / "meta.json").read_text())["credit"]
    frame = pd.read_csv(FOLDER / "mixed" / "credit.csv.gz")
    y = frame.pop("target").to_numpy()
    return frame.astype(dict.fromkeys(about["categorical"], object)), y


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "credit": credit,
}


class Task(NamedTuple):
    """Rows of one model, as numbers, and what is to become of them."""

    model: Any
    x: Floats  # rows
    pool: Floats  # all samples
    is_met: Callable[[Floats, NDArray[np.int64]], NDArray[np.bool_]]  # of values, for some rows
    is_whole: NDArray[np.bool_]  # features that are whole numbers, and must stay so


class Attack:
    """A random search for nearer counterfactuals of many rows at once, in deviations."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.random = task, np.random.default_rng(seed)
        self.model = members_of(task.model, "the benchmark")[0].model
        self.maps, (self.n, self.d) = self.model.maps, task.x.shape
        self.is_line = np.array([not self.maps.listed[np.searchsorted(self.maps.features, f)] for f in range(self.d)])
        self.origin, pool = self.places(task.x), self.places(task.pool)
        self.may = ~np.isnan(self.origin)
        self.low, self.high = np.nanmin(pool, axis=0), np.nanmax(pool, axis=0)
        levels = [1 if own is None else len(own) - (None in own) for own in self.model.levels or [None] * self.d]
        self.n_levels = np.array(levels)
        self.origin = np.nan_to_num(self.origin)
        self.best, self.cost = self.origin.copy(), np.full(self.n, np.inf)
        self.spread, self.n_tried = np.full(self.n, 0.3), 0
        self.begin(pool)

    def places(self, x: Floats) -> Floats:
        """Values in deviations; categories stay the numbers of their levels."""
        out = x.copy()
        for f in np.flatnonzero(self.is_line).tolist():
            out[:, f] = np.where(np.isnan(x[:, f]), np.nan, places_of(self.maps, f, x[:, f]))
        return out

    def begin(self, pool: Floats) -> None:
        """Consider the nearest rows of the other answer."""
        for row in range(self.n):
            met = self.task.is_met(self.task.pool, np.full(len(pool), row))
            tried = np.where(np.isnan(pool[met]) | ~self.may[row], self.origin[row], pool[met])
            order = np.argsort(self.costs(tried, np.full(len(tried), row)), kind="stable")[:STARTS]
            self.consider(np.full(len(order), row), tried[order])

    def costs(self, places: Floats, rows: Any) -> Floats:
        """The distance of each."""
        apart = np.abs(places - self.origin[rows])
        total: Floats = np.where(self.is_line, apart, apart > 0).sum(axis=1)
        return total

    def values(self, places: Floats, rows: Any) -> Floats:
        """Rows with their changes made."""
        out: Floats = self.task.x[rows].copy()
        for f in range(self.d):
            moved = np.flatnonzero(places[:, f] != self.origin[rows, f])
            out[moved, f] = values_at(self.maps, f, places[moved, f]) if self.is_line[f] else places[moved, f]
        return out

    def snapped(self, places: Floats) -> Floats:
        """The same with whole numbers where these are asked for."""
        for f in np.flatnonzero(self.task.is_whole & self.is_line).tolist():
            places[:, f] = places_of(self.maps, f, np.rint(values_at(self.maps, f, places[:, f])))
        return places

    def consider(self, rows: Any, places: Floats) -> None:
        """Keep what is nearer than the best, and at its goal."""
        places = self.snapped(places)
        cost = self.costs(places, rows)
        nearer = np.flatnonzero(cost < self.cost[rows] - 1e-9)
        rows, places, cost = rows[nearer], places[nearer], cost[nearer]
        if not len(rows):
            return
        self.n_tried += len(rows)
        met = self.task.is_met(self.values(places, rows), rows)
        for i in np.flatnonzero(met)[np.argsort(-cost[met], kind="stable")].tolist():  # the nearest comes last
            if cost[i] < self.cost[rows[i]]:
                self.cost[rows[i]], self.best[rows[i]] = cost[i], places[i]

    def run(self, seconds: float) -> None:
        """Search for so many CPU seconds."""
        end = time.process_time() + seconds
        while time.process_time() < end:
            before = self.cost.copy()
            rows = np.repeat(np.flatnonzero(np.isfinite(self.cost)), PROPOSALS)
            self.consider(rows, self.proposals(rows))
            won = self.cost < before
            self.spread = np.clip(np.where(won, self.spread * 1.3, self.spread * 0.97), 0.003, 1.0)
            self.spread[self.spread <= 0.003] = 0.5  # begin again with large steps

    def proposals(self, rows: Any) -> Floats:
        """Changes of the best: taken back, shrunk, or with a step of one or two features."""
        random, n, d = self.random, len(rows), self.d
        places: Floats = self.best[rows].copy()
        origin, spread = self.origin[rows], self.spread[rows]
        kind, at = random.integers(0, 5, n), np.arange(n)
        chosen = random.random((n, d)) < random.choice([1.0 / d, 2.0 / d, 0.3, 0.6], n)[:, None]
        parts = np.where(random.random((n, d)) < 0.3, 0.0, 1.0 - spread[:, None] * random.random((n, d)))
        shrunk = np.where(self.is_line, origin + (places - origin) * parts, np.where(parts < 0.5, origin, places))
        is_moved = places != origin
        places = np.where((chosen | (kind == 0)[:, None]) & is_moved & (kind < 4)[:, None], shrunk, places)
        for turn in range(2):
            f = random.integers(0, d, n)
            size = spread * np.where(random.random(n) < 0.2, 8.0, 1.0) * random.choice([1.0, 0.1], n)
            moved = np.clip(places[at, f] + random.laplace(size=n) * size, self.low[f], self.high[f])
            level = random.integers(0, 1 << 30, n) % self.n_levels[f]
            is_taken = self.may[rows, f] & ((kind == 1) | (kind == 3) | ((kind % 2 == 0) & (kind > 0) & (turn == 0)))
            some = np.flatnonzero(is_taken)
            places[some, f[some]] = np.where(self.is_line[f], moved, level)[some]
        return places


def make_task(name: str, kind: str, n_rows: int) -> tuple[Task, Any, Any, Any]:
    """The task, its rows as a table, all samples, and the target."""
    X, y = SETS[name]()
    is_classes = name != "diabetes"
    model = MODELS[kind][0 if is_classes else 1]().fit(X, y)
    members, one = members_of(model, "the benchmark"), Workers(1)
    answers = answers_of(members, numbers_of(model, X), one)
    target = None if is_classes else (float(np.quantile(answers, 0.75)), None)
    low = target[0] if target else 0.0
    rows = np.linspace(0, len(X) - 1, min(n_rows, len(X))).astype(np.int64)
    if not is_classes:
        rows = rows[answers[rows, 0] < low]
    given = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    before = answers[rows].argmax(axis=1)

    def is_met(values: Floats, at: Any) -> NDArray[np.bool_]:
        found = answers_of(members, np.require(values, np.float64, ["C", "W"]), one)
        met: NDArray[np.bool_] = found.argmax(axis=1) != before[at] if is_classes else found[:, 0] >= low
        return met

    whole = np.array(
        [getattr(one, "kind", "f") in "biu" for one in (X.dtypes if hasattr(X, "dtypes") else [X.dtype] * X.shape[1])]
    )
    return Task(model, numbers_of(model, given), numbers_of(model, X), is_met, whole), given, X, target


def run(name: str, kind: str, n_rows: int) -> dict[str, Any]:
    """Ours and the random search on one set and one model."""
    task, given, X, target = make_task(name, kind, n_rows)
    counterfactual(task.model, given[:2], target, background=X)  # compiled beforehand
    begin = time.process_time()
    ours = counterfactual(task.model, given, target, background=X)
    seconds = time.process_time() - begin
    found, at = ours.found, np.arange(len(task.x))
    is_right = task.is_met(numbers_of(task.model, ours.X)[found], at[found]).all()
    attack = Attack(task, seed=0)
    attack.run(TIMES * seconds)
    distance = np.where(found, ours.distance, np.inf)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isfinite(attack.cost), distance / attack.cost, 1.0)
        beaten = attack.cost < distance / (1.0 + LONGER) - CODE
    return {
        "set": name,
        "model": kind,
        "rows": len(found),
        "found": int(found.sum()),
        "reach": bool(is_right),
        "beaten": int(beaten.sum()),
        "worst": float(ratio[distance > 0.05].max(initial=1.0)),
        "median": float(np.median(ratio)),
        "ms": 1000 * seconds / len(found),
        "tried": attack.n_tried / len(found),
        "mean": float(distance[found].mean()),
        "attack_mean": float(attack.cost[found].mean()),
        "n_changed": float(np.mean([len(one) for one in ours.changes])),
    }


def report(results: list[dict[str, Any]]) -> None:
    """A table of what is there."""
    print("| set | model | rows | reach | beaten | worst ratio | median ratio | features | ms a row | tried a row |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for one in results:
        reach = f"{one['found']}" if one["reach"] else "WRONG"
        print(
            f"| {one['set']} | {one['model']} | {one['rows']} | {reach} | {one['beaten']} | {one['worst']:.3f} | "
            f"{one['median']:.3f} | {one['n_changed']:.1f} | {one['ms']:.0f} | {one['tried']:,.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--results", type=Path, default=Path("bench/counterfactuals.jsonl"))
    arguments = parser.parse_args()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    if not arguments.report:
        for name in arguments.sets.split(","):
            for kind in arguments.models.split(","):
                found = run(name, kind, arguments.rows)
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
                report([found])
    if arguments.results.exists():
        kept = {(one["set"], one["model"]): one for one in map(json.loads, arguments.results.open(encoding="utf-8"))}
        report(list(kept.values()))


if __name__ == "__main__":
    main()
