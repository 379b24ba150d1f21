"""Ctrl-C during a long fit: it ends soon, and the estimator stays as it was."""

import json
import subprocess
import sys
from typing import Any

import pytest

from support import PATIENCE

AT_ONCE = 1.0  # seconds of computing a thread may go on for
STUCK = 60.0  # seconds, computing or not, after which a fit is taken for stuck

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread there")

# Fits that would take minutes get an interrupt while they grow, and another one only if they are stuck.
# Flags are polled, since the interrupt could leave the lock of an Event held.
PROGRAM = """
import json, os, random, signal, sys, threading, time
import numpy as np
import sublearn
from sublearn.kernels import growing, subtrees

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without it
STUCK = float(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 30))
y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
labels = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
small = slice(0, 200)
SHORT = {"tree": {"n_projections": 10}, "forest": {"n_estimators": 2}, "boosting": {"n_estimators": 2}}
LONG = {"tree": {"n_projections": 20_000}, "forest": {"n_estimators": 10_000}, "boosting": {"n_estimators": 10_000}}
for settings in (SHORT, LONG):
    settings["one long node"] = settings["many classes"] = {**settings["tree"], "envelope_height": 20.0}
MAKE = {
    "tree": (sublearn.SLMClassifier, labels),
    "forest": (sublearn.SLMForestClassifier, labels),
    "boosting": (sublearn.SLMBoostRegressor, y),
    "one long node": (sublearn.SLMClassifier, labels),
    "many classes": (sublearn.SLMClassifier, np.arange(len(X)) % 2000),
}

class State:
    growing = over = False
    sent = []

def noting(grow):
    def noted(*arguments):
        State.growing = True
        return grow(*arguments)

    return noted

growing.grow, subtrees.grow_below = noting(growing.grow), noting(subtrees.grow_below)

def interrupt(delay):
    while not State.growing:
        time.sleep(0.001)
    time.sleep(delay)
    while not State.over:
        State.sent.append((time.monotonic(), time.process_time()))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        while not State.over and time.monotonic() < State.sent[-1][0] + STUCK:
            time.sleep(0.001)

def stop(model, X, y, delay):
    State.growing, State.over, State.sent = False, False, []
    before = dict(vars(model))
    thread = threading.Thread(target=interrupt, args=(delay,))
    try:
        thread.start()
        model.fit(X, y)
        thread.join()
    except KeyboardInterrupt:
        now = time.process_time()
    State.over = True
    thread.join()
    after = vars(model)
    return {
        "model": repr(model),
        "interrupts": len(State.sent),
        "computing": (now - State.sent[0][1]) / model.n_jobs,
        "unchanged": after.keys() == before.keys() and all(after[name] is before[name] for name in before),
    }

def growing_for_a_while(kind, n_jobs, fitted):
    make, target = MAKE[kind]
    model = make(**SHORT[kind], n_jobs=n_jobs, random_state=0)
    if fitted:
        model.fit(X[small], target[small])
    found = stop(model.set_params(**LONG[kind]), X, target, 0.15)
    began = time.process_time()
    time.sleep(0.1)
    found["later"] = time.process_time() - began
    fresh = make(**SHORT[kind], random_state=0).fit(X[small], target[small])
    model.set_params(**SHORT[kind]).fit(X[small], target[small])
    found["usable"] = bool((model.predict(X[small]) == fresh.predict(X[small])).all())
    return found

def at_any_moment(kind, n):
    random.seed(0)
    make, target = MAKE[kind]
    model = make(**LONG[kind], n_jobs=2)
    for _ in range(n):
        found = stop(model, X[:2000], target[:2000], random.uniform(0.0, 0.1))
        yield found
        if found["interrupts"] > 1:
            break

for kind, (make, target) in MAKE.items():  # loads all kernels
    make(**SHORT[kind], n_jobs=2).fit(X[small], target[small]).predict(X[small])
sublearn.SLMClassifier(max_depth=2, n_jobs=2).fit(X, labels)  # that of trees which threads share
runs = [(kind, n_jobs, fitted) for kind in MAKE for n_jobs, fitted in ((1, False), (2, True))]
long = [growing_for_a_while(*run) for run in runs]
short = [*at_any_moment("forest", 30), *at_any_moment("boosting", 10)]
print(json.dumps([long, short]), flush=True)
os._exit(0)  # does not wait for threads that are stuck
"""

Outcomes = list[dict[str, Any]]


@pytest.fixture(scope="module")
def all_outcomes() -> list[Outcomes]:
    command = [sys.executable, "-c", PROGRAM, str(STUCK)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode == 0, process.stderr
    found: list[Outcomes] = json.loads(process.stdout)
    return found


@pytest.fixture(scope="module")
def outcomes(all_outcomes: list[Outcomes]) -> Outcomes:
    """Of fits to many samples: five kinds, each in one thread and, fitted before, in two."""
    assert len(all_outcomes[0]) == 10
    return all_outcomes[0]


def test_interrupted_fit_ends_within_a_second(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert outcome["interrupts"] == 1, outcome
        assert outcome["computing"] < AT_ONCE, outcome  # what else the machine does takes none of this


def test_interrupted_fit_leaves_no_thread_at_work(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert outcome["later"] < 0.05, outcome  # of a tenth of a second


def test_interrupted_fit_leaves_the_estimator_as_it_was(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert outcome["unchanged"], outcome


def test_estimator_can_be_fitted_after_an_interrupt(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert outcome["usable"], outcome


def test_interrupt_at_any_moment_ends_a_fit_with_threads(all_outcomes: list[Outcomes]) -> None:
    assert len(all_outcomes[1]) > 1
    for outcome in all_outcomes[1]:
        assert outcome["interrupts"] == 1, outcome
        assert outcome["unchanged"], outcome
