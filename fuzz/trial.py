"""A process in which something is interrupted: `trial.py PLAN` prints what came of it as JSON.

Flags are polled, since an interrupt could leave the lock of an Event held.
"""

import hashlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

import sublearn

LONG: dict[str, dict[str, Any]] = {
    "": {"n_projections": 20_000, "envelope_height": 20.0},
    "Forest": {"n_estimators": 10_000},
    "Boost": {"n_estimators": 10_000, "learning_rate": 0.01},
}
SHORT: dict[str, dict[str, Any]] = {
    "": {},
    "Forest": {"n_estimators": 3},
    "Boost": {"n_estimators": 3, "learning_rate": 0.3},
}
N_ROWS, N_PREDICTED = 100_000, 2_000_000


def data(n: int, is_classes: bool) -> tuple[Any, Any]:
    """Samples that take long to learn when there are many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, np.digitize(y, [-1.0, 1.0]) if is_classes else y


class Interrupt:
    """Ctrl-C after a delay, unless what it is for is over by then.

    `sent` is when, or -1; `computed` is for how long this process had computed by then.
    """

    def __init__(self, delay: float) -> None:
        self._delay, self.over, self.sent, self.computed = delay, False, 0.0, 0.0

    def start(self) -> None:
        """Begin to wait."""
        threading.Thread(target=self._press, daemon=True).start()

    def _press(self) -> None:
        time.sleep(self._delay)
        if self.over:
            self.sent = -1.0
            return
        self.computed = time.process_time()
        self.sent = time.monotonic()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def wait(self) -> None:
        """Until nothing can come any more."""
        self.over = True
        while not self.sent:
            time.sleep(0.001)
        time.sleep(0.05)


def interrupted(call: Any, delay: float) -> dict[str, Any]:
    """What a call raises that is interrupted, and how long it takes and computes until it ends.

    Nothing where it was over before.
    """
    raised, went_well = None, False
    pressed = Interrupt(delay)
    try:
        pressed.start()
        call()
        went_well = True
        pressed.wait()
    except BaseException as error:
        raised = type(error).__name__
    seconds, computing = time.monotonic() - pressed.sent, time.process_time() - pressed.computed
    if pressed.sent < 0 or (went_well and raised):
        return {}
    return {"raised": raised, "seconds": seconds, "computing": computing}


def digest(make: Any, kind: str, is_classes: bool) -> str:
    """Hash of a small model and its predictions."""
    X, y = data(200, is_classes)
    model = make(**SHORT[kind], n_jobs=2, random_state=0).fit(X, y)
    nodes = model.ensemble_.nodes if hasattr(model, "ensemble_") else model.tree_
    found = hashlib.sha256()
    for array in (*nodes.columns().values(), model.predict(X)):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def try_plan(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """One interrupt after another in this process, and after each the model that is usual; that alone without any."""
    make = getattr(sublearn, plan["estimator"])
    is_classes = plan["estimator"].endswith("Classifier")
    kind = plan["estimator"][3:].removesuffix("Classifier").removesuffix("Regressor")
    if not plan["delays"]:
        return [{"next": digest(make, kind, is_classes)}]
    model = make(**SHORT[kind], n_jobs=plan["n_jobs"], random_state=0)
    if plan["turn"] == "later" or plan["call"] == "predict":
        model.fit(*data(200, is_classes))
    if plan["turn"] == "later":
        model.predict(data(200, is_classes)[0])
    X, y = data(N_ROWS, is_classes)
    if plan["call"] == "fit":
        model.set_params(**LONG[kind])
        return [_try_once(model, lambda: model.fit(X, y), delay, (make, kind, is_classes)) for delay in plan["delays"]]
    many = np.tile(X, (N_PREDICTED // N_ROWS, 1))
    return [_try_once(model, lambda: model.predict(many), delay, (make, kind, is_classes)) for delay in plan["delays"]]


def _try_once(model: Any, call: Any, delay: float, usual: tuple[Any, str, bool]) -> dict[str, Any]:
    before = dict(vars(model))
    found = interrupted(call, delay)
    after = vars(model)
    found["unchanged"] = after.keys() == before.keys() and all(after[name] is before[name] for name in before)
    try:
        found["next"] = digest(*usual)
    except BaseException as error:
        found["next"] = repr(error)
    return found


def main() -> None:
    """In a fork, where asked for, whose parent has used the library before."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without it
    plan = json.loads(sys.argv[1])
    if plan["forked"]:
        if plan["turn"] == "later":
            X, y = data(200, False)
            sublearn.SLMForestRegressor(n_estimators=2, n_jobs=2).fit(X, y).predict(X)
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            os._exit(os.waitstatus_to_exitcode(status) and 1)
    print(json.dumps(try_plan(plan)), flush=True)
    os._exit(0)  # does not wait for threads that are stuck


if __name__ == "__main__":
    main()
