"""Time of whole fits, of starting up and of predictions, beside scikit-learn's decision trees in the same run.

    python benchmarks/fitting.py

Prints, for 10,000 and 100,000 rows of 20 features and the defaults of each estimator: seconds of a fit on one and on
two threads and of the peer, how many times longer the peer takes, accuracy or R2 on as many other rows, and the share
of a fit that is spent in compiled kernels. Then how long a new process takes to import and to fit for the first time,
with the kernels in the cache and without, and how long predictions take. Times are the best of several repeats that
take turns.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import SLMClassifier, SLMRegressor
from sublearn.kernels.compilation import Kernel
from sublearn.kernels.layout import Array

N_FEATURES = 20

# In a new process, on small data: what is imported and compiled or loaded is all that takes time.
START = """
import json
from time import perf_counter, process_time

began = perf_counter()
import numba, numpy, scipy.sparse, sklearn.tree
theirs = perf_counter()
import sublearn
times = {"import of the others": theirs - began, "import of sublearn": perf_counter() - theirs}
rng = numpy.random.default_rng(0)
X = rng.normal(size=(500, 20))
for model, y in ((sublearn.SLMClassifier(), (X.sum(axis=1) > 0).astype(int)), (sublearn.SLMRegressor(), X.sum(axis=1))):
    name = type(model).__name__
    before = perf_counter()
    model.fit(X, y)
    fitted = perf_counter()
    model.predict(X)
    times |= {f"first fit, {name}": fitted - before, f"first predict, {name}": perf_counter() - fitted}
times |= {"all, from the first import on": perf_counter() - began, "all, processor time": process_time()}
print(json.dumps(times))
"""


class Task(NamedTuple):
    """Estimators to compare, and data that both learn from."""

    make_data: Callable[[int], tuple[Array, Array]]
    ours: Callable[..., Any]
    theirs: Any


def make_classes(n_samples: int) -> tuple[Array, Array]:
    X, y = make_classification(n_samples, N_FEATURES, n_informative=10, n_redundant=5, class_sep=0.8, random_state=0)
    return X.astype(np.float32), y


def make_numbers(n_samples: int) -> tuple[Array, Array]:
    X, y = make_friedman1(n_samples, N_FEATURES, noise=1.0, random_state=0)
    return X.astype(np.float32), y


TASKS = {
    "classes": Task(make_classes, SLMClassifier, DecisionTreeClassifier(criterion="entropy", random_state=0)),
    "numbers": Task(make_numbers, SLMRegressor, DecisionTreeRegressor(random_state=0)),
}


def best_times(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Best time of each call; the calls take turns."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            began = perf_counter()
            call()
            best[i] = min(best[i], perf_counter() - began)
    return best


def kernel_share(fit: Callable[[], Any], repeats: int) -> float:
    """Share of a fit on one thread spent inside compiled kernels: the median over the repeats."""
    plain = Kernel.__call__
    spent = 0.0

    def timed(self: Any, *arguments: Any) -> Any:
        nonlocal spent
        began = perf_counter()
        result = plain(self, *arguments)
        spent += perf_counter() - began
        return result

    shares = []
    Kernel.__call__ = timed  # type: ignore[method-assign]
    try:
        for _ in range(repeats):
            spent, began = 0.0, perf_counter()
            fit()
            shares.append(spent / (perf_counter() - began))
    finally:
        Kernel.__call__ = plain  # type: ignore[method-assign]
    return float(np.median(shares))


def report_fits(sizes: list[int], repeats: int) -> None:
    titles = ("1 thread", "2 threads", "peer", "peer/1", "peer/2", "score", "peer's", "kernels")
    print(f"{'fit, seconds':<22}" + "".join(f"{title:>11}" for title in titles))
    for n in sizes:
        for name, task in TASKS.items():
            X, y = task.make_data(2 * n)
            models = [task.ours(random_state=0, n_jobs=1), task.ours(random_state=0, n_jobs=2), task.theirs]
            models[0].fit(X[:100], y[:100])  # compiles
            fits = [partial(model.fit, X[:n], y[:n]) for model in models]
            one, two, peer = best_times(fits, repeats)
            scores = [model.score(X[n:], y[n:]) for model in models[1:]]
            share = kernel_share(fits[0], repeats)
            cells = [f"{t:.3f}" for t in (one, two, peer)] + [f"{peer / one:.2f}", f"{peer / two:.2f}"]
            cells += [f"{score:.4f}" for score in scores] + [f"{share:.1%}"]
            print(f"{f'{name}, {n:,} rows':<22}" + "".join(f"{cell:>11}" for cell in cells))


def start_process(cache: str | None) -> dict[str, float]:
    """Times of a new process; `cache` is where compiled kernels are kept, None for the usual place."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout)
    return times | {"messages": float(len(done.stderr.splitlines()))}


def report_start(repeats: int) -> None:
    start_process(None)
    runs = [start_process(None) for _ in range(repeats)]
    warm = {name: min(run[name] for run in runs) for name in runs[0]}
    with tempfile.TemporaryDirectory() as folder:
        cold = start_process(folder)
    print(f"\n{'new process, seconds':<36}{'warm cache':>12}{'cold cache':>12}")
    for name, seconds in cold.items():
        digits = 0 if name == "messages" else 3
        print(f"{name:<36}{warm[name]:>12.{digits}f}{seconds:>12.{digits}f}")
    first = [name for name in cold if name.startswith("first")]
    print(f"{'compiling':<36}{'':>12}{sum(cold[name] - warm[name] for name in first):>12.3f}")
    processor = cold["all, processor time"] - warm["all, processor time"]
    print(f"{'compiling, processor time':<36}{'':>12}{processor:>12.3f}")


def report_prediction(n_samples: int, repeats: int) -> None:
    print(f"\n{'predicting, microseconds':<36}{'SLM':>12}{'peer':>12}{'peer/SLM':>12}")
    for name, task in TASKS.items():
        X, y = task.make_data(n_samples)
        models = [task.ours(random_state=0).fit(X, y), task.theirs.fit(X, y)]
        for rows, times in (("1 row", 100 * repeats), (f"{n_samples:,} rows", repeats)):
            part = X[: 1 if rows == "1 row" else n_samples]
            calls = [partial(model.predict, part) for model in models]
            ours, theirs = best_times(calls, times)
            print(f"{f'{name}, {rows}':<36}{1e6 * ours:>12.0f}{1e6 * theirs:>12.0f}{theirs / ours:>12.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    report_fits(arguments.rows, arguments.repeats)
    report_start(arguments.repeats)
    report_prediction(10_000, arguments.repeats)


if __name__ == "__main__":
    main()
