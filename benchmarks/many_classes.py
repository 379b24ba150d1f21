"""Trees and forests of very many classes, beside scikit-learn's.

    python benchmarks/many_classes.py

Seconds of a fit on one thread and the largest memory of its process, each in a process of its own; labels say nothing,
so that trees grow as deep as they can.
"""

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sublearn import SLMClassifier, SLMForestClassifier

MAKE: dict[str, Any] = {
    "SLM tree": SLMClassifier,
    "decision tree": DecisionTreeClassifier,
    "SLM forest": SLMForestClassifier,
    "random forest": RandomForestClassifier,
}
CASES = [("tree", 20_000, n) for n in (2, 50, 500, 2_000, 5_000)] + [("forest", 2_000, n) for n in (2, 50, 1_000)]


def measure(name: str, n_rows: int, n_classes: int) -> None:
    X = np.random.default_rng(0).normal(size=(n_rows, 10))
    y = np.arange(n_rows) % n_classes
    MAKE[name]().fit(X[:50], y[:50] % 2)  # loads the kernels
    begin = time.perf_counter()
    MAKE[name](random_state=0).fit(X, y)
    seconds = time.perf_counter() - begin
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))


def main() -> None:
    print(f"{'rows':>8}{'classes':>9}{'':>18}{'seconds':>10}{'GiB':>8}")
    for kind, n_rows, n_classes in CASES:
        for name in (name for name in MAKE if name.endswith(kind)):
            command = [sys.executable, __file__, name, str(n_rows), str(n_classes)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, memory = json.loads(out)
            print(f"{n_rows:>8,}{n_classes:>9,}{name:>18}{seconds:>10.2f}{memory:>8.2f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
