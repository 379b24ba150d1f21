"""Ctrl-C at any moment of a fit or a prediction, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.cases import FAILED, PASSED, UNFINISHED, BrokenError, Case, Outcome, pick
from fuzz.fits import ESTIMATORS

AT_ONCE = 1.0  # seconds that are promised; those are counted in which a thread computes, not those in which others do
STUCK = 60.0  # seconds, computing or not, after which a call is taken for stuck
PATIENCE = 240.0  # seconds until a process is taken for stuck; compiling takes some 20, and is done twice at the most
LATEST = {"warm first": 1.5, "warm later": 0.3, "cold first": 30.0}  # seconds
N_LATER = 10  # interrupts of one process that is warm


def draw(rng: np.random.Generator) -> Case:
    """What is interrupted, where and when."""
    cold = bool(rng.random() < 0.1)
    turn = "first" if cold or rng.random() < 0.4 else "later"
    call = pick(rng, ("fit", "fit", "predict"))
    latest = LATEST[f"{'cold' if cold else 'warm'} {turn}"] / (1 if call == "fit" else 3)
    plan = {
        "estimator": pick(rng, ESTIMATORS).__name__,
        "n_jobs": int(rng.integers(1, 3)),
        "call": call,
        "turn": turn,
        "forked": bool(rng.random() < 0.3),
        "delays": rng.uniform(0.0, latest, N_LATER if turn == "later" else 1).round(4).tolist(),
    }
    words = f"{'without' if cold else 'with'} compiled kernels at hand"
    return Case(f"interrupts {json.dumps(plan)}, {words}", lambda: _run(plan, cold))


def _run(plan: dict[str, Any], cold: bool) -> Outcome:
    slowest, longest, usual = 0.0, 0.0, _usual(plan["estimator"])
    for delay, found in zip(plan["delays"], _trial(plan, cold), strict=True):
        if found["next"] != usual:
            raise BrokenError(f"the next fit does not give the usual model but {found['next']}; after {delay} s")
        if "raised" not in found:  # it was over before
            continue
        if found["raised"] != "KeyboardInterrupt":
            raise BrokenError(f"an interrupt after {delay} s has raised {found['raised']}")
        if not found["unchanged"]:
            raise BrokenError(f"an interrupt after {delay} s has changed the estimator")
        slowest = max(slowest, found["seconds"])
        longest = max(longest, found["computing"] / plan["n_jobs"])
    if longest > AT_ONCE or slowest > STUCK:
        text = f"it took {slowest:.1f} s to end, and computed for {longest:.1f} s of them in each thread"
        return Outcome(FAILED, text, slowest)
    return Outcome(PASSED if slowest else UNFINISHED, "", slowest)


@cache
def _usual(estimator: str) -> str:
    """Hash of the model that is fitted after an interrupt."""
    (found,) = _trial({"estimator": estimator, "delays": [], "forked": False}, False)
    return str(found["next"])


def _trial(plan: dict[str, Any], cold: bool) -> list[dict[str, Any]]:
    """What a process tells; one that does not end, with all it has forked, is killed."""
    with tempfile.TemporaryDirectory() if cold else nullcontext() as folder:
        environment = {**os.environ, **({"NUMBA_CACHE_DIR": folder} if folder else {})}
        command = [sys.executable, str(Path(__file__).with_name("trial.py")), json.dumps(plan)]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise BrokenError(f"hangs: no answer after {PATIENCE:.0f} s") from None
    if process.returncode or not out.strip():
        last = (err.strip() or "nothing on stderr").splitlines()[-1]
        raise BrokenError(f"the process ended with {process.returncode}: {last}")
    found: list[dict[str, Any]] = json.loads(out.splitlines()[-1])
    return found
