"""How long a default fit of boosting takes beside those of other libraries, on as many threads.

    python benchmarks/times.py --threads 1,2
    python benchmarks/times.py --ours "slm-boost:effort=fast" --peers xgboost,lightgbm

Wall-clock seconds, the best of some fits by turns, with nothing else running. usps, on which CatBoost takes minutes, is
left out unless it is asked for.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tables
from defaults import COMPILED, is_missing, make

THREADS = {  # what a contender calls its number of threads
    "slm-boost": "n_jobs",
    "catboost": "thread_count",
    "chimeraboost": "thread_count",
    "xgboost": "n_jobs",
    "lightgbm": "n_jobs",
}
ENOUGH = 10.0  # seconds of fits of a set and number of threads, after which they are not repeated


def seconds(model: Any, X: Any, y: Any) -> float:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.perf_counter() - begin


def on_threads(contender: str, is_classes: bool, n_threads: int) -> Any:
    return make(contender, is_classes, 0).set_params(**{THREADS[contender.partition(":")[0]]: n_threads})


def best_times(contenders: list[str], table: tables.Table, n_threads: int, repeats: int) -> Any:
    """Seconds of each contender."""
    X, _, y, _ = tables.split(table, 0)
    models = [on_threads(contender, table.is_classes, n_threads) for contender in contenders]
    for contender, model in zip(contenders, models, strict=True):
        if contender.partition(":")[0] in COMPILED:
            model.fit(X, y)  # on few samples it would not compile all that many need
    times: list[list[float]] = []
    while len(times) < repeats and np.sum(times) < ENOUGH:
        times.append([seconds(model, X, y) for model in models])
    return np.min(times, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--ours", default="slm-boost", help="with settings after a colon, if not the defaults")
    parser.add_argument("--peers", default="catboost,chimeraboost,xgboost,lightgbm")
    parser.add_argument("--sets", default=",".join(name for name in tables.GROUPS["hand"] if name != "usps"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data-dir", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.peers.split(",") if not is_missing(peer)]
    for n_threads in map(int, arguments.threads.split(",")):
        head = "".join(f"{peer:>16}{'ratio':>7}" for peer in peers)
        print(f"\n{f'{n_threads} threads, seconds':<24}{arguments.ours:>10}{head}")
        ratios = []
        for name in arguments.sets.split(","):
            table = tables.load(name, arguments.data_dir)
            if table is None:
                print(f"{name} is left out: no file of it in the data folder")
                continue
            ours, *theirs = best_times([arguments.ours, *peers], table, n_threads, arguments.repeats)
            ratios.append(ours / np.array(theirs))
            row = "".join(f"{time:>16.3f}{ratio:>7.2f}" for time, ratio in zip(theirs, ratios[-1], strict=True))
            print(f"{name:<24}{ours:>10.3f}{row}", flush=True)
        means = np.exp(np.mean(np.log(ratios), axis=0))
        print(f"{'ratio, geometric mean':<34}" + "".join(f"{mean:>23.2f}" for mean in means))


if __name__ == "__main__":
    main()
