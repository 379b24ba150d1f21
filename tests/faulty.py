"""A cluster whose workers tests may kill, and faults that are planted in a worker: what it does at a chosen step."""

import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster, Status

from clusters import assert_nothing_is_left
from documents import ROOT

PATIENCE = 120.0  # seconds for what takes a few, on a machine that is not busy
STEPS = {  # what a worker does in a fit, as a class and its method
    "takes a block": ("sublearn.dask.rows", "Rows", "put"),
    "begins": ("sublearn.core.links", "Journal", "begin_anew"),
    "sends": ("sublearn.dask.links", "DaskLinks", "send"),
    "notes a tree": ("sublearn.core.links", "Journal", "note"),
}


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Client]:
    """Workers that nannies bring back, and their client."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports that others use, and of clusters that close slowly
        given = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
        with LocalCluster(n_workers=n_workers, **given) as cluster, Client(cluster, set_as_default=False) as client:
            yield client


def wait_for_all(client: Client, n_workers: int) -> None:
    """Wait until workers of a local cluster are back.

    A nanny does not bring back a worker that dies before it knows it; one that has given up is replaced.
    """

    def are_back() -> bool:
        client.cluster.scale(n_workers)
        nannies = client.cluster.workers.values()
        answers = client.run(os.getpid, on_error="ignore")
        is_known = all(nanny.process.status is Status.running for nanny in nannies)
        return (
            is_known and len(answers) == n_workers and set(answers.values()) == {nanny.process.pid for nanny in nannies}
        )

    wait_until(are_back)


class Processes:
    """A scheduler and workers without nannies, as processes of their own."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self.file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--no-show")
        self.workers = [self.add() for _ in range(n_workers)]

    def add(self) -> Any:
        """One more worker."""
        return self._start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60")

    def bring_to(self, n_workers: int, client: Client) -> None:
        """Have so many workers: those that have ended are forgotten, more are killed, and new ones come."""

        def are_there() -> bool:
            self.workers = [one for one in self.workers if one.poll() is None]
            while len(self.workers) > n_workers:
                _end(self.workers.pop())
            while len(self.workers) < n_workers:
                self.workers.append(self.add())
            pids = client.run(os.getpid, on_error="ignore").values()
            return len(pids) == n_workers and set(pids) == {one.pid for one in self.workers}

        wait_until(are_there)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            _end(process)

    def _start(self, what: str, *options: str) -> Any:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file), *options]
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=self.file.parent, **quiet)


def _end(process: Any) -> None:
    process.kill()
    process.wait()


@contextmanager
def processes(folder: Path, n_workers: int) -> Iterator[tuple[Processes, Client]]:
    """A scheduler and workers without nannies, and their client."""
    there = Processes(folder, n_workers)
    try:
        with Client(scheduler_file=str(there.file), timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=PATIENCE)
            yield there, client
    finally:
        there.close()


def plant(client: Client, addresses: Sequence[str], step: str, number: int, fault: str) -> None:
    """Have workers meet a fault when they are at a step for the number-th time: "die", or "wait" for the run to end."""

    def planted(where: tuple[str, str, str], number: int, fault: str) -> None:
        import importlib
        import os
        import signal
        import time

        from distributed import get_worker

        kind = getattr(importlib.import_module(where[0]), where[1])
        method, n_calls = getattr(kind, where[2]), [0]

        def call(self: Any, *given: Any) -> Any:
            n_calls[0] += 1
            if n_calls[0] == number:
                if fault == "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                sessions = get_worker().extensions["sublearn"].sessions.values()
                while not any(session.run.is_over for session in sessions):
                    call.is_waiting = True  # type: ignore[attr-defined]
                    time.sleep(0.01)
            return method(self, *given)

        call.method = method  # type: ignore[attr-defined]
        setattr(kind, where[2], call)

    unplant(client)
    client.run(planted, STEPS[step], number, fault, workers=list(addresses))


def unplant(client: Client) -> None:
    """Workers meet no more faults."""

    def free(steps: Sequence[tuple[str, str, str]]) -> None:
        import importlib

        for where in steps:
            kind = getattr(importlib.import_module(where[0]), where[1])
            method = getattr(kind, where[2])
            setattr(kind, where[2], getattr(method, "method", method))

    client.run(free, list(STEPS.values()))


def n_waiting(client: Client) -> int:
    """How many workers wait for their run to end."""

    def waits(steps: Sequence[tuple[str, str, str]]) -> bool:
        import importlib

        kinds = [(getattr(importlib.import_module(where[0]), where[1]), where[2]) for where in steps]
        return any(hasattr(getattr(kind, name), "is_waiting") for kind, name in kinds)

    return sum(client.run(waits, list(STEPS.values()), on_error="ignore").values())


def wait_until(is_so: Callable[[], Any]) -> None:
    """Wait for what will be so, or fail."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def wait_until_nothing_is_left(client: Client) -> None:
    """What nobody ended is found out and removed by the workers themselves."""
    assert_nothing_is_left(client, PATIENCE)
