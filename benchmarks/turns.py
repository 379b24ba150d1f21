"""How long fits and predictions take, and whether models are the same, beside another checkout of sublearn, by turns.

    python benchmarks/turns.py --before ../before/src
    python benchmarks/turns.py --before ../before/src --sizes 1000000 --threads 2 --repeats 5
    python benchmarks/turns.py --before ../before/src --tables --splits 2    # real tables, with losses, all defaults
    python benchmarks/turns.py --before ../before/src --tables --weights     # the same, with weights that are not whole

Each checkout runs in a process of its own, and one waits while the other works. Ratios are those of the best times;
with one thread it is the processor's time, which does not depend so much on what else the machine does.
"""

import argparse
import hashlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SRC = Path(__file__).parents[1] / "src"
KINDS = ("tree", "forest", "boosting", "numbers")
ENOUGH = 60.0  # seconds after which fits of one size and kind are not repeated
LEAST = 0.3  # seconds that a timing takes at the least
LEAST_ROWS = 2_000  # of fits that only compile
WIDE = "usps"  # which takes long
TABLE = "table:"  # begins kinds that are an estimator with its defaults and a real table


def model_of(kind: str, n: int, n_threads: int) -> Any:
    import sublearn

    small: dict[str, Any] = {"random_state": 0, "n_jobs": n_threads}
    if kind == "tree":
        return sublearn.SLMClassifier(**small)
    if kind == "forest":
        return sublearn.SLMForestClassifier(n_estimators=4 if n > 200_000 else 20, **small)
    n_rounds = 10 if n > 200_000 else 50
    if kind == "boosting":
        return sublearn.SLMBoostClassifier(n_estimators=n_rounds, learning_rate=0.1, **small)
    return sublearn.SLMBoostRegressor(n_estimators=n_rounds, learning_rate=0.1, **small)


def data_of(kind: str, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 30)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + 0.5 * rng.normal(size=n)
    return X, signal if kind == "numbers" else (signal > 0).astype(int)


def digest(model: Any) -> str:
    """Of the trees of a fitted model."""
    found, trees = hashlib.sha256(), model.ensemble_.nodes if hasattr(model, "ensemble_") else model.tree_
    for name, column in trees.columns().items():
        found.update(name.encode() + np.ascontiguousarray(column).tobytes())
    return found.hexdigest()[:12]


def prepared(kind: str, n: int, n_threads: int) -> tuple[Any, Any, Any]:
    """A model, samples to fit it to, and a function that tells its loss on others; of a table, n is the split."""
    if not kind.startswith(TABLE):
        return model_of(kind, n, n_threads), data_of(kind, n), lambda model: np.nan
    import defaults
    import tables
    from files import FOLDER

    kind, name, *weights = kind.removeprefix(TABLE).split("/")
    table = tables.load(name, [FOLDER])
    assert table is not None
    X, X_test, y, y_test = tables.split(table, n)
    model = defaults.make(f"slm-{kind}", table.is_classes, n)

    def loss_of(fitted: Any) -> float:
        found = defaults.scores(fitted, X_test, y_test, table.is_classes)
        return found["log_loss"] if table.is_classes else found["rmse"]

    drawn = np.random.default_rng(n).uniform(0.5, 2.0, len(y))
    return model, (X, y, drawn) if weights else (X, y), loss_of


def serve() -> None:
    """Fit what is asked for, and say how long it took."""
    while True:
        kind, n, n_threads = pickle.load(sys.stdin.buffer)
        last, given, loss_of = prepared(kind, n, n_threads)
        last.fit(*(one[:LEAST_ROWS] for one in given))  # what has to be compiled is, or is loaded
        pickle.dump(None, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        while pickle.load(sys.stdin.buffer):
            walls: list[float] = []
            spent: list[float] = []
            until = time.perf_counter() + LEAST
            while not walls or time.perf_counter() < until:
                wall, own = time.perf_counter(), time.process_time()
                last.fit(*given)
                walls.append(time.perf_counter() - wall)
                spent.append(time.process_time() - own)
            pickle.dump((min(walls), min(spent), digest(last), loss_of(last)), sys.stdout.buffer)
            sys.stdout.buffer.flush()


class Checkout:
    """A process that fits with one checkout."""

    def __init__(self, src: Path) -> None:
        there = os.environ | {"PYTHONPATH": str(src)}
        command = [sys.executable, __file__, "--serve"]
        self._process = subprocess.Popen(command, env=there, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, question: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(question, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def tell(self, what: Any) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()


def compare(before: Checkout, now: Checkout, job: tuple[str, int, int], repeats: int) -> None:
    kind, n, n_threads = job
    times: list[list[Any]] = [[], []]
    for checkout in (before, now):
        checkout.ask(job)
    begin = time.perf_counter()
    for _ in range(repeats):
        for found, checkout in zip(times, (before, now), strict=True):
            found.append(checkout.ask(True))
        if time.perf_counter() - begin > ENOUGH:
            break
    for checkout in (before, now):
        checkout.tell(False)
    which = 1 if n_threads == 1 else 0
    best = [min(one[which] for one in found) for found in times]
    same = "same" if times[0][-1][2] == times[1][-1][2] else "other"
    losses = [found[-1][3] for found in times]
    judged = "" if np.isnan(losses[0]) else f"  {losses[0]:.6g} {losses[1]:.6g} {losses[1] / losses[0]:.5f}"
    timed = f"{best[0]:9.4f} {best[1]:9.4f} {best[1] / best[0]:6.3f}"
    print(f"{kind:9} {n:>9,} {n_threads:>2} {timed}  {same}{judged}", flush=True)


def jobs(given: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Kind, rows and threads; for a table its split in the place of rows."""
    if given.tables:
        import tables

        for name in (*tables.BUNDLED, *tables.AT_HAND):
            if name in (given.names or {*tables.BUNDLED, *tables.AT_HAND} - {WIDE}):
                kind = f"{TABLE}boost/{name}" + ("/weights" if given.weights else "")
                yield from ((kind, split, 1) for split in range(given.splits))
        return
    for n in map(int, given.sizes.split(",")):
        for kind in given.kinds.split(","):
            yield from ((kind, n, n_threads) for n_threads in map(int, given.threads.split(",")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the folder src of the other checkout")
    parser.add_argument("--sizes", default="600,2000,10000,100000,1000000")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tables", action="store_true", help="all tables at hand, with defaults, on one thread")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--weights", action="store_true", help="of samples of tables, that are not whole numbers")
    parser.add_argument("--names", nargs="+", help="of tables; all but the widest if not given")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    before, now = Checkout(given.before.resolve()), Checkout(SRC)
    print("kind           rows  threads  before s     now s  ratio  model  loss before, now, ratio")
    for job in jobs(given):
        compare(before, now, job, 1 if given.tables else given.repeats)
    before.close()
    now.close()


if __name__ == "__main__":
    main()
