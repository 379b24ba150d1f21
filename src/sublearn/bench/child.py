"""A fit in a process of its own: how long it takes, and how far the memory of the process rises.

The other process of `growth`: reads X.npy and y.npy, and prints one line of JSON.
"""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from sublearn.bench.contenders import CONTENDERS, Job, fitted

STATUS = Path("/proc/self/status")
N_SMALL = 200  # rows of the fit that loads what is compiled


class Measured(NamedTuple):
    """What a fit took."""

    seconds: float
    peak: int | None  # bytes of the whole process, its input among them; None where the system does not tell
    beyond: int | None  # bytes above what it had before the fit


def fit_apart(contender: str, job: Job, folder: Path) -> Measured:
    """Fit in a new process to the arrays in a folder."""
    order = json.dumps({"contender": contender, "folder": str(folder), "job": [*job[:3], dict(job.options)]})
    command = [sys.executable, "-m", "sublearn.bench.child", order]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def _peak() -> int | None:
    """Most memory so far; on Linux not ru_maxrss, in which a new process has that of the one that started it."""
    if STATUS.exists():
        lines = STATUS.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    try:
        import resource
    except ImportError:  # Windows has neither
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS has it in bytes


def _measure(contender: str, folder: str, job: list[Any]) -> Measured:
    X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    of, wanted = CONTENDERS[contender], Job(*job)
    n_classes = int(y.max()) + 1
    small = np.random.default_rng(0).normal(size=(max(N_SMALL, 5 * n_classes), X.shape[1]))
    with threadpool_limits(wanted.threads):
        fitted(of, wanted._replace(n_trees=2), small, np.arange(len(small)) % n_classes)
        before, begin = _peak(), perf_counter()
        fitted(of, wanted, X, y)
        seconds, peak = perf_counter() - begin, _peak()
    return Measured(seconds, peak, None if peak is None or before is None else peak - before)


if __name__ == "__main__":
    print(json.dumps(_measure(**json.loads(sys.argv[1]))._asdict()))
