"""How long a default fit of boosting takes beside CatBoost's, on as many threads.

    python benchmarks/times.py --threads 1,2

Wall-clock seconds, the best of some fits that alternate, with nothing else running. usps, on which CatBoost takes
minutes, is left out unless it is asked for.
"""

import argparse
import time
from typing import Any

import numpy as np

import tables
from defaults import make

ENOUGH = 10.0  # seconds of fits of a set and number of threads, after which they are not repeated


def seconds(model: Any, X: Any, y: Any) -> float:
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--sets", default=",".join(name for name in tables.GROUPS["hand"] if name != "usps"))
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    for n_threads in map(int, arguments.threads.split(",")):
        print(f"\n{f'{n_threads} threads':<24}{'SLM Boost':>10}{'CatBoost':>10}{'ratio':>8}")
        ratios = []
        for name in arguments.sets.split(","):
            table = tables.load(name, [])
            if table is None:
                print(f"{name} is left out: no file of it in the data folder")
                continue
            X, _, y, _ = tables.split(table, 0)
            pair = make("slm-boost", table.is_classes, 0), make("catboost", table.is_classes, 0)
            pair[0].set_params(n_jobs=n_threads)
            pair[1].set_params(thread_count=n_threads)
            pair[0].fit(X[:50], y[:50])  # compiled beforehand
            times: list[list[float]] = []
            while len(times) < arguments.repeats and np.sum(times) < ENOUGH:
                times.append([seconds(model, X, y) for model in pair])
            ours, theirs = np.min(times, axis=0)
            ratios.append(ours / theirs)
            print(f"{name:<24}{ours:>10.3f}{theirs:>10.3f}{ratios[-1]:>8.2f}", flush=True)
        print(f"{'geometric mean':<44}{np.exp(np.mean(np.log(ratios))):>8.2f}")


if __name__ == "__main__":
    main()
