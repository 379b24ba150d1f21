"""Peak memory of a fit beyond its input, as a multiple of the float32 table.

    python benchmarks/memory.py

Fits 1,000,000 rows of 20 features with the defaults, each case in a process of its own and after a small fit that has
compiled everything, and prints how far the resident memory rose above what it was before the fit, in MB and divided by
the 80 MB of the table in float32. The size of the fitted tree, which is part of that, stands beside it. Needs Linux.
"""

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from sklearn.datasets import make_classification, make_friedman1

from sublearn import SLMClassifier, SLMRegressor
from sublearn.kernels.layout import Array

N_FEATURES = 20
MB = 1_000_000
AIM = 1.5
SMALL = 2_000  # rows of the fit that compiles
LEAF = 10  # samples of a leaf in the case "large leaves", a regression


def resident(field: str = "VmRSS") -> int:
    """Bytes of this process that lie in memory; VmHWM: at the most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def forget_peak() -> bool:
    """Let VmHWM begin anew; False where that is not allowed."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return resident("VmHWM") - resident() < MB


@contextmanager
def watched_peak() -> Iterator[list[int]]:
    """Highest resident memory while the block runs, told afterwards by the list."""
    peak = [resident()]
    exact = forget_peak()
    running = True

    def watch() -> None:
        while running:
            peak[0] = max(peak[0], resident())
            sleep(0.001)

    watcher = threading.Thread(target=watch)
    if not exact:
        watcher.start()
    yield peak
    running = False
    if exact:
        peak[0] = resident("VmHWM")
    else:
        watcher.join()


def make_data(task: str, kind: str, n_samples: int) -> tuple[Array, Array]:
    if task == "classes":
        X, y = make_classification(
            n_samples, N_FEATURES, n_informative=10, n_redundant=5, class_sep=0.8, random_state=0
        )
    else:
        X, y = make_friedman1(n_samples, N_FEATURES, noise=1.0, random_state=0)
    return X.astype(kind), y


def give_back_memory() -> None:
    """Return what was freed to the system, so that the fit cannot use it unseen."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def measure(task: str, kind: str, n_samples: int, n_jobs: int) -> dict[str, float]:
    model: Any = (SLMClassifier if task == "classes" else SLMRegressor)(random_state=0, n_jobs=n_jobs)
    model.set_params(min_samples_leaf=LEAF if task == "large leaves" else 1)
    X, y = make_data(task, kind, n_samples)
    model.fit(X[:SMALL], y[:SMALL])
    give_back_memory()
    before, began = resident(), perf_counter()
    with watched_peak() as peak:
        model.fit(X, y)
    return {
        "beyond": peak[0] - before,
        "seconds": perf_counter() - began,
        "tree": sum(array.nbytes for array in model.tree_),
    }


def measure_apart(*case: Any) -> dict[str, float]:
    """`measure` in a process of its own."""
    arguments = [sys.executable, __file__, "--case", *map(str, case)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report(n_samples: int, n_jobs: int) -> None:
    table = 4 * n_samples * N_FEATURES
    print(f"{n_samples:,} rows: table {table / MB:.0f} MB in float32; aim: at most {AIM} tables beyond the input")
    titles = ("peak, MB", "tables", "tree, MB", "tables less tree", "seconds")
    print(" " * 23 + "".join(f"{title:>18}" for title in titles))
    for task in ("classes", "numbers", "large leaves"):
        for kind in ("float32", "float64"):
            found = measure_apart(task, kind, n_samples, n_jobs)
            beyond, tree = found["beyond"], found["tree"]
            cells = [
                f"{beyond / MB:.0f}",
                f"{beyond / table:.2f}",
                f"{tree / MB:.0f}",
                f"{(beyond - tree) / table:.2f}",
            ]
            cells.append(f"{found['seconds']:.1f}")
            print(f"{f'{task}, {kind}':<23}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        task, kind, n_samples, n_jobs = arguments.case
        print(json.dumps(measure(task, kind, int(n_samples), int(n_jobs))))
    else:
        report(arguments.rows, arguments.jobs)


if __name__ == "__main__":
    main()
