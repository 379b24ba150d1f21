"""How long a prediction of one row takes, and how many a second eight threads get, beside LightGBM and XGBoost.

    python benchmarks/latency.py
    python benchmarks/latency.py --sets breast_cancer --threads 8 --seconds 5

A time is the best of many turns, each ten calls of every contender. Ensembles have a hundred trees. The threads
share one model, and each asks for one row after the other; what they get is the best of some turns, too. Every model
is set to one thread of its own, since a row gives no work to more.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import sublearn
from files import sets_of

N_TREES, N_ROWS = 100, 4000
N_CALLS, N_SHORT = 100, 10  # of a turn; a short one may pass without being interrupted
Ask = Callable[[Any], Any]


def data_of(names: list[str]) -> Iterator[tuple[str, Any, Any, bool]]:
    """Name, samples, targets and whether these are classes."""
    if "breast_cancer" in names:
        yield "breast_cancer", *load_breast_cancer(return_X_y=True), True
    for name, data in sets_of(one for one in names if one != "breast_cancer"):
        X = np.ascontiguousarray(data.X[:N_ROWS], np.float64)
        yield name, X, data.y[:N_ROWS], False


def ours(X: Any, y: Any, is_classes: bool) -> Iterator[tuple[str, Ask]]:
    """Our three estimators of a task, with checks and without."""
    ending = "Classifier" if is_classes else "Regressor"
    for kind, more in (("SLM", {}), ("SLMForest", {"n_estimators": N_TREES}), ("SLMBoost", {"n_estimators": N_TREES})):
        rate = {"learning_rate": 0.1} if kind == "SLMBoost" else {}
        model = getattr(sublearn, f"{kind}{ending}")(random_state=0, n_jobs=1, **more, **rate).fit(X, y)
        ask = model.predict_proba if is_classes else model.predict
        yield f"{kind}{ending}", ask
        yield f"{kind}{ending}, check_input=False", partial(ask, check_input=False)


def peers(X: Any, y: Any, is_classes: bool) -> Iterator[tuple[str, Ask]]:
    """LightGBM and XGBoost, by their interfaces of scikit-learn and by their own."""
    import lightgbm
    import xgboost

    ending = "Classifier" if is_classes else "Regressor"
    light = getattr(lightgbm, f"LGBM{ending}")(n_estimators=N_TREES, n_jobs=1, verbose=-1).fit(X, y)
    extreme = getattr(xgboost, f"XGB{ending}")(n_estimators=N_TREES, n_jobs=1).fit(X, y)
    booster = extreme.get_booster()
    yield f"LGBM{ending}", light.predict_proba if is_classes else light.predict
    yield "lightgbm.Booster.predict", lambda row: light.booster_.predict(row, num_threads=1)
    yield f"XGB{ending}", extreme.predict_proba if is_classes else extreme.predict
    yield "xgboost.Booster.inplace_predict", booster.inplace_predict


def microseconds(asks: list[Ask], rows: list[Any], seconds: float) -> Any:
    """Of one call, the best turn of each."""
    best, end = np.full(len(asks), np.inf), time.perf_counter() + seconds * len(asks)
    while time.perf_counter() < end:
        for i, ask in enumerate(asks):
            begin = time.perf_counter()
            for k in range(N_SHORT):
                ask(rows[k % len(rows)])
            best[i] = min(best[i], (time.perf_counter() - begin) / N_SHORT)
    return 1e6 * best


def rates(asks: list[Ask], rows: list[Any], n_threads: int, seconds: float) -> Any:
    """Rows a second that so many threads get in all, the best turn of each."""
    best, end = np.zeros(len(asks)), time.perf_counter() + seconds * len(asks)
    with ThreadPoolExecutor(n_threads) as pool:
        while time.perf_counter() < end:
            for i, ask in enumerate(asks):
                begin = time.perf_counter()
                done = pool.map(lambda _, ask=ask: [ask(rows[k % len(rows)]) for k in range(N_CALLS)], range(n_threads))
                n_calls = sum(map(len, done))
                best[i] = max(best[i], n_calls / (time.perf_counter() - begin))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="breast_cancer,california-housing")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each contender and measure")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of LightGBM, about names that an array has not
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, X, y, is_classes in data_of(given.sets.split(",")):
        named = [*ours(X, y, is_classes), *peers(X, y, is_classes)]
        asks, rows = [ask for _, ask in named], [X[i : i + 1] for i in range(min(len(X), 50))]
        for ask in asks:
            ask(rows[0])
        alone = microseconds(asks, rows, given.seconds)
        together = rates(asks, rows, given.threads, given.seconds)
        print(f"\n| {name} | one row, us | rows/s of {given.threads} threads |\n|---|---:|---:|")
        for (label, _), one, many in zip(named, alone, together, strict=True):
            print(f"| {label} | {one:,.0f} | {many:,.0f} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
