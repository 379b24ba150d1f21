"""Boosting on a machine that has other things to do.

    OMP_WAIT_POLICY=passive python benchmarks/busy.py
    OMP_WAIT_POLICY=passive python benchmarks/busy.py --rows 100000 --rounds 100

Seconds of a default fit, on one thread and on two, with nothing else running and beside so many processes that never
rest; best of some fits by turns. Peers have as many rounds as a default fit of ours, or all have those that are asked
for. They are left out where they are not installed.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from sublearn import SLMBoostRegressor

N_FEATURES, N_ROUNDS = 8, 500


def make_own(n_jobs: int, n_rounds: int) -> Any:
    fixed: dict[str, Any] = {"n_estimators": n_rounds, "learning_rate": 0.1} if n_rounds else {}
    return SLMBoostRegressor(n_jobs=n_jobs, random_state=0, **fixed)


def make_xgboost(n_jobs: int, n_rounds: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=n_rounds or N_ROUNDS, n_jobs=n_jobs)


def make_lightgbm(n_jobs: int, n_rounds: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=n_rounds or N_ROUNDS, n_jobs=n_jobs, verbose=-1)


MAKE: dict[str, Callable[[int, int], Any]] = {
    "sublearn": make_own,
    "xgboost": make_xgboost,
    "lightgbm": make_lightgbm,
}


@contextmanager
def beside(n: int) -> Iterator[None]:
    """So many processes that never rest."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--others", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, default=3_900)
    parser.add_argument("--rounds", type=int, default=0, help="of each; 0: the defaults of ours, 500 of peers")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, N_FEATURES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=arguments.rows)
    names = [name for name in MAKE if find_spec(name) is not None]
    print(f"{'others':<8}" + "".join(f"{f'{name}, {n}':>14}" for name in names for n in (1, 2)))
    for n_others in arguments.others:
        found: dict[tuple[str, int], list[float]] = {}
        with beside(n_others):
            for _ in range(arguments.repeats):
                for name in names:
                    for n_jobs in (1, 2):
                        begin = time.perf_counter()
                        MAKE[name](n_jobs, arguments.rounds).fit(X, y)
                        found.setdefault((name, n_jobs), []).append(time.perf_counter() - begin)
        print(f"{n_others:<8}" + "".join(f"{min(seconds):>14.2f}" for seconds in found.values()), flush=True)


if __name__ == "__main__":
    main()
