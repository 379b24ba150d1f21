"""Forest and boosting beside their peers: seconds of fitting and predicting, and the time of one row.

    python benchmarks/ensembles.py
    python benchmarks/ensembles.py --rows 30000 --threads 2

Data are `make_classification` with 20 features, 10 of them informative and 5 redundant, `class_sep=0.8`, and
`make_friedman1` with noise 1; as many other rows are predicted. All have their defaults. Times are the best of several
runs, taken in turns.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from sublearn import SLMBoostClassifier, SLMBoostRegressor, SLMForestClassifier, SLMForestRegressor

REPEATS = 3
ROW_REPEATS = 500


def contenders(threads: int) -> list[tuple[Any, Any]]:
    """For classes and for numbers."""
    from xgboost import XGBClassifier, XGBRegressor  # pip install 'sublearn[paper]'

    return [
        (SLMForestClassifier(n_jobs=threads), SLMForestRegressor(n_jobs=threads)),
        (RandomForestClassifier(n_jobs=threads), RandomForestRegressor(n_jobs=threads)),
        (SLMBoostClassifier(n_jobs=threads), SLMBoostRegressor(n_jobs=threads)),
        (XGBClassifier(n_jobs=threads), XGBRegressor(n_jobs=threads)),
        (HistGradientBoostingClassifier(), HistGradientBoostingRegressor()),
    ]


def data(task: int, n_rows: int) -> tuple[Any, Any]:
    if task == 0:
        found = make_classification(2 * n_rows, 20, n_informative=10, n_redundant=5, class_sep=0.8, random_state=0)
    else:
        found = make_friedman1(2 * n_rows, 20, noise=1.0, random_state=0)
    X, y = found
    return X, y


def best(call: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest call."""
    found = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - begin)
    return found


def line(model: Any, X: Any, y: Any, n_rows: int) -> str:
    """What one model takes and reaches."""
    model.set_params(random_state=0)
    model.fit(X[:300], y[:300])  # compiles or loads what is needed
    fit = best(lambda: model.fit(X[:n_rows], y[:n_rows]), REPEATS)
    bulk = best(lambda: model.predict(X[n_rows:]), REPEATS)
    row = best(lambda: model.predict(X[:1]), ROW_REPEATS) * 1e6
    ours = ""
    if hasattr(model, "_check_samples"):
        ours = f"{row - best(lambda: model._check_samples(X[:1]), ROW_REPEATS) * 1e6:.0f}"
    return f"{fit:>8.2f} {bulk:>11.3f} {row:>12.0f} {ours:>16} {model.score(X[n_rows:], y[n_rows:]):>8.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[3000, 30000])
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    for task, name in enumerate(("classes", "numbers")):
        for n_rows in arguments.rows:
            X, y = data(task, n_rows)
            heading = f"{name}, {n_rows:,} rows"
            print(
                f"{heading:<32} {'fit, s':>8} {'predict, s':>11} {'one row, us':>12} {'beyond checks':>16} {'score':>8}"
            )
            for pair in contenders(arguments.threads):
                print(f"{type(pair[task]).__name__:<32} {line(pair[task], X, y, n_rows)}", flush=True)


if __name__ == "__main__":
    main()
