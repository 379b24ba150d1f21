"""Starting up: what a new process takes to import a library and to fit for the first time, warm and cold."""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any, NamedTuple

from sublearn.bench.clock import Call, Timing, in_turns
from sublearn.bench.contenders import CONTENDERS, MODULES, OURS, ours
from sublearn.bench.order import BenchOrder

# Small data: what is imported, compiled or loaded is all that takes time. What a user of scikit-learn has anyway is
# imported first, and so is numba, so that the rest is the library's own.
PROGRAM = """
import json, sys
from importlib import import_module
from time import perf_counter

began = perf_counter()
import numpy, scipy.sparse, sklearn.tree
if sys.argv[1] == "sublearn":
    import numba
others = perf_counter()
import_module(sys.argv[1])
if sys.argv[1] == "sublearn":
    from sublearn import *  # whose parts are imported when first used
own = perf_counter()
from sublearn.bench.contenders import CONTENDERS, Job, fitted

X = numpy.random.default_rng(0).normal(size=(500, 20))
y = (X.sum(axis=1) > 0).astype(int)
job = Job(True, int(sys.argv[3]), int(sys.argv[4]))
before = perf_counter()
model = fitted(CONTENDERS[sys.argv[2]], job, X, y)
fit = perf_counter()
model.predict(X)
times = {"others": others - began, "own": own - others, "first_fit": fit - before}
print(json.dumps({**times, "first_predict": perf_counter() - fit}))
"""


class Start(NamedTuple):
    """A new process, in seconds."""

    contender: str
    cache: str  # of compiled code: warm or cold
    others: float  # importing what it builds on
    own: float  # importing itself
    first_fit: float
    first_predict: float
    ratio: float  # import and first fit, over those of SLM Boost with a warm cache
    turns: list[float]
    loads: list[float]


def time_starts(order: BenchOrder) -> list[Start]:
    """Our estimators and peers of boosting in turns, then ours once each without a cache."""
    peers = {n: c for n, c in CONTENDERS.items() if c.library in order.peers and c.kind == "boost"}
    names = {name: c for name, c in CONTENDERS.items() if c.library == OURS} | peers
    calls: dict[str, Call] = {name: partial(_start, name, order, None) for name in names}
    for name in names:
        if CONTENDERS[name].library == OURS:
            _start(name, order, None)  # compiles what is not yet in the cache
    timings = in_turns(calls, 1 if order.quick else order.repeats, _own_seconds)
    best = timings[ours("boost")].seconds
    found = []
    for name, timing in timings.items():
        found.append(_as_start(name, "warm", timing, best))
    if order.sizes.with_cold:
        for name in (name for name, c in names.items() if c.library == OURS):
            with tempfile.TemporaryDirectory() as folder:
                timing = in_turns({name: partial(_start, name, order, folder)}, 1, _own_seconds)[name]
            found.append(_as_start(name, "cold", timing, best))
    return found


def _as_start(name: str, cache: str, timing: Timing, best: float) -> Start:
    ratio = timing.seconds / best
    return Start(name, cache, **timing.result, ratio=ratio, turns=timing.turns, loads=timing.loads)


def _start(name: str, order: BenchOrder, cache: str | None) -> dict[str, float]:
    """Times of a new process; `cache` is where compiled kernels are kept, None for the usual place."""
    contender = CONTENDERS[name]
    environment = {**os.environ, "OMP_NUM_THREADS": str(order.threads)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    module = "sklearn.ensemble" if contender.library == "scikit-learn" else MODULES[contender.library]
    arguments = [module, name, str(order.n_trees(contender.kind)), str(order.threads)]
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def _own_seconds(call: Call) -> tuple[float, Any]:
    times = call()
    return times["own"] + times["first_fit"], times
