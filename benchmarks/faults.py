"""Fits on a cluster of which a worker is killed: how each ends, how soon, and with which model.

    python benchmarks/faults.py --fits 20

A tree, a forest and boosting, each with on_lost="restart" and "raise". In every fit a worker of a `LocalCluster`, whose
nanny starts another one, gets SIGKILL at a random moment between the beginning of the fit and its end. A line says when
that was, how the fit ended and how long after the kill, and whether the model is that of the local twin to the bit.
Rows are so many that workers exchange every step of a tree, but for forests, which each worker has all rows for.
"""

import argparse
import logging
import os
import random
import signal
import threading
import time
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, Status

from sublearn import dask as on_cluster
from sublearn.dask import WorkerLostError
from sublearn.dask.program import digest_of

N_ROWS, N_FEATURES, N_BLOCKS = 250_000, 10, 8  # of fewer than 200,000 each worker gathers all, and none waits in a tree
CLEAN = 10.0  # seconds after the end of a fit after which nothing of it is left anywhere
LATEST = 30.0  # seconds after the kill within which a fit that raises must have ended
SHALLOW: dict[str, Any] = {"max_depth": 10, "random_state": 1}  # so that a fit takes a few seconds
MAKE: dict[str, Any] = {
    "tree": lambda **given: on_cluster.DaskSLMRegressor(n_projections=3000, **SHALLOW, **given),
    "forest": lambda **given: on_cluster.DaskSLMForestRegressor(n_estimators=40, **SHALLOW, **given),
    "boosting": lambda **given: on_cluster.DaskSLMBoostRegressor(
        n_estimators=20, learning_rate=0.3, random_state=1, **given
    ),
}


class End(NamedTuple):
    """How a fit has ended."""

    killed: float | None  # seconds after its beginning; None: it had ended before
    ended: float  # seconds after the kill
    how: str
    is_right: bool
    n_lost: int
    left: tuple[str, ...] = ()


def table_of(X: Any, y: Any) -> tuple[da.Array, da.Array]:
    """Blocks that any worker can compute again."""
    return da.from_array(X, chunks=(len(X) // N_BLOCKS, -1)), da.from_array(y, chunks=len(X) // N_BLOCKS)


def fit_and_kill(model: Any, table: Any, wanted: str, client: Client, moment: float, n_killed: int) -> End:
    """One fit, of which some workers are killed at a moment."""
    pids = random.sample(list(client.run(os.getpid).values()), n_killed)
    begin, over, killed = time.perf_counter(), threading.Event(), []

    def kill() -> None:
        if not over.wait(moment):
            killed.append(time.perf_counter() - begin)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    is_right = False
    try:
        model.fit(*table)
        is_right = digest_of(model._model) == wanted
        how = "fitted" if is_right else "ANOTHER MODEL"
    except WorkerLostError:
        how = "WorkerLostError"
    except Exception as error:
        how = f"{type(error).__name__}: {error}"
    over.set()
    thread.join()
    now = time.perf_counter() - begin
    when = killed[0] if killed else None
    if how == "WorkerLostError":
        is_right = model.on_lost == "raise" and now - (when or 0.0) < LATEST and "_model" not in vars(model)
    return End(when, now - (when or now), how, is_right, getattr(model, "n_lost_", 0))


def left_on(client: Client) -> list[str]:
    """What is left of ours on workers, and of tasks on the scheduler, which forgets in its own time."""
    end = time.monotonic() + CLEAN
    while True:
        there = client.run(lambda dask_worker: "sublearn" in dask_worker.extensions, on_error="ignore")
        tasks: list[str] = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        left = [address for address, is_so in there.items() if is_so] + tasks
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)


class Cluster:
    """A cluster, and another one where a nanny has not brought back the worker that was killed."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers, self.n_stuck = n_workers, 0
        self.open()

    def open(self) -> None:
        given = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
        self.cluster = LocalCluster(n_workers=self.n_workers, **given)
        self.client = Client(self.cluster)

    def close(self) -> None:
        self.client.close()
        self.cluster.close()

    def ready(self) -> Client:
        """The client, once all workers are there, and their nannies know it."""
        try:
            self.cluster.scale(self.n_workers)  # replaces a nanny that has given up
            self.client.wait_for_workers(self.n_workers, timeout=60)
            while not all(nanny.process.status is Status.running for nanny in self.cluster.workers.values()):
                time.sleep(0.05)
        except TimeoutError:
            self.n_stuck += 1
            self.close()
            self.open()
        return self.client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=20, help="of each kind, for each of the two")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kill", type=int, default=1, help="workers that are killed at once")
    parser.add_argument("--kinds", nargs="+", default=list(MAKE), choices=list(MAKE))
    parser.add_argument("--modes", nargs="+", default=["restart", "raise"])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, N_FEATURES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=arguments.rows)
    cluster = Cluster(arguments.workers)
    for kind in arguments.kinds:
        wanted = digest_of(MAKE[kind]().to_local().fit(X, y)._model)
        for mode in arguments.modes:
            seconds, ends = 0.0, []
            for i in range(arguments.fits):
                client = cluster.ready()
                if i % 5 == 0:
                    seconds = seconds_of(MAKE[kind](), table_of(X, y))
                moment = random.uniform(0.0, seconds)
                end = fit_and_kill(MAKE[kind](on_lost=mode), table_of(X, y), wanted, client, moment, arguments.kill)
                ends.append(end._replace(left=tuple(left_on(client))))
                print(f"{kind:9}{mode:8}{words_of(ends[-1])}", flush=True)
            print(f"{kind}, {mode}: a fit takes {seconds:.2f} s; {summary_of(ends)}\n", flush=True)
    cluster.close()
    if cluster.n_stuck:
        print(f"{cluster.n_stuck} times a nanny did not bring its worker back; a new cluster took over")


def seconds_of(model: Any, table: Any) -> float:
    """How long a fit takes that nothing happens to, after one that loads what is needed."""
    model.fit(*table)
    begin = time.perf_counter()
    model.fit(*table)
    return time.perf_counter() - begin


def words_of(end: End) -> str:
    when = "not killed" if end.killed is None else f"killed at {end.killed:5.2f} s, ended {end.ended:5.2f} s later"
    return f"{when}: {end.how}, lost {end.n_lost}{f'; LEFT: {end.left}' if end.left else ''}"


def summary_of(ends: list[End]) -> str:
    killed = [end for end in ends if end.killed is not None]
    return (
        f"{len(killed)} of {len(ends)} were hit, {sum(end.is_right for end in ends)} ended as promised, the latest "
        f"{max((end.ended for end in killed), default=0.0):.1f} s after the kill; "
        f"{sum(bool(end.left) for end in ends)} left something"
    )


if __name__ == "__main__":
    main()
