"""Fits whose rows are in partitions on a Dask cluster: times, memory and traffic.

    python benchmarks/scale.py --times
    python benchmarks/scale.py --memory --folder /tmp/table
    python benchmarks/scale.py --traffic
    python benchmarks/scale.py --arithmetic

Clusters are processes of this machine, with one thread each. Rows are made block by block, each with a seed of its own,
so that they are the same for any number of workers.
"""

import argparse
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil  # type: ignore[import-untyped]
from distributed import Client, LocalCluster, Worker, wait

import dask
import sublearn
import sublearn.dask
import traffic
from sublearn._base.boosting_choice import FIXED
from sublearn.core.boosting.auto import scale_of

N_FEATURES, BLOCK = 30, 50_000
KINDS = ("boosting", "tree", "forest")


def features_of(block: int, n: int) -> Any:
    return np.random.default_rng(block).standard_normal((n, N_FEATURES), np.float32)


def classes_of(X: Any, block: int) -> Any:
    noise = np.random.default_rng([block, 1]).standard_normal(len(X))
    return (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + 0.5 * noise > 0).astype(np.int64)


def sizes_of(n: int) -> list[int]:
    return [min(BLOCK, n - first) for first in range(0, n, BLOCK)]


def local_rows(n: int) -> tuple[Any, Any]:
    each = [features_of(block, size) for block, size in enumerate(sizes_of(n))]
    return np.concatenate(each), np.concatenate([classes_of(X, block) for block, X in enumerate(each)])


def rows_on(client: Client, n: int) -> tuple[Any, Any]:
    """The same rows on the workers, a stretch of the blocks on each."""
    sizes, addresses = sizes_of(n), sorted(client.nthreads())
    made = [dask.delayed(features_of)(block, size) for block, size in enumerate(sizes)]
    answers = [dask.delayed(classes_of)(X, block) for block, X in enumerate(made)]
    X = da.concatenate([da.from_delayed(one, (n, N_FEATURES), np.float32) for one, n in zip(made, sizes, strict=True)])
    y = da.concatenate([da.from_delayed(one, (n,), np.int64) for one, n in zip(answers, sizes, strict=True)])

    def worker_of(key: Any) -> list[str]:
        return [addresses[key[1] * len(addresses) // len(sizes)]] if isinstance(key, tuple) else addresses

    with dask.annotate(workers=worker_of, allow_other_workers=False):
        X, y = client.persist([X, y], optimize_graph=False)
    wait([X, y])
    return X, y


def model_of(kind: str, module: Any, n_rounds: int, **given: Any) -> Any:
    prefix = "Dask" if module is sublearn.dask else ""
    if kind == "tree":
        return getattr(module, f"{prefix}SLMClassifier")(random_state=0, **given)
    if kind == "forest":
        return getattr(module, f"{prefix}SLMForestClassifier")(n_estimators=4, random_state=0, **given)
    make = getattr(module, f"{prefix}SLMBoostClassifier")
    return make(n_estimators=n_rounds, learning_rate=0.1, random_state=0, **given)


def digest(model: Any) -> str:
    """Of the trees of a fitted model."""
    found, trees = hashlib.sha256(), model.ensemble_.nodes if hasattr(model, "ensemble_") else model.tree_
    for name, column in trees.columns().items():
        found.update(name.encode() + np.ascontiguousarray(column).tobytes())
    return found.hexdigest()[:12]


@contextmanager
def workers(n: int, memory: str | int = 0, **given: Any) -> Iterator[Client]:
    """A client of a cluster of n workers."""
    how = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": memory or None}
    with LocalCluster(n_workers=n, **how, **given) as cluster, Client(cluster) as client:
        yield client


def time_fits(n: int, kinds: list[str], numbers: list[int], n_rounds: int, repeats: int) -> None:
    """Seconds of the local fit with one thread, and of fits on so many workers, by turns."""
    with ExitStack() as stack:
        clients = {number: stack.enter_context(workers(number)) for number in numbers}
        places = {0: local_rows(n)} | {number: rows_on(client, n) for number, client in clients.items()}
        print(f"{n:,} rows x {N_FEATURES}\n{'':10}{'local':>10}" + "".join(f"{w:>3} workers" for w in numbers))
        for kind in kinds:
            fits: dict[int, Callable[[], Any]] = {0: partial(model_of, kind, sublearn, n_rounds, n_jobs=1)}
            for number, client in clients.items():
                fits[number] = partial(model_of, kind, sublearn.dask, n_rounds, client=client)
            print_turns(kind, fits, places, repeats)


def print_turns(kind: str, fits: dict[int, Callable[[], Any]], places: dict[int, Any], repeats: int) -> None:
    """Best times of some turns, and whether all models are the same."""
    best, digests = dict.fromkeys(fits, np.inf), set()
    for _ in range(repeats):
        for place, make in fits.items():
            begin = time.perf_counter()
            digests.add(digest(make().fit(*places[place])))
            best[place] = min(best[place], time.perf_counter() - begin)
    same = "same model" if len(digests) == 1 else "OTHER MODELS"
    print(f"{kind:10}" + "".join(f"{seconds:>10.2f}" for seconds in best.values()) + f"  {same}", flush=True)


def write_table(folder: Path, n: int, n_features: int, n_files: int) -> None:
    """A table of floats of 64 bits, and of two classes, in Parquet files."""
    folder.mkdir(parents=True)
    for number in range(n_files):
        size = (number + 1) * n // n_files - number * n // n_files
        X = np.random.default_rng(number).standard_normal((size, n_features))
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(n_features)])
        frame["y"] = classes_of(X, number)
        frame.to_parquet(folder / f"{number:04}.parquet", compression=None)


class Watch:
    """Looks at how much memory processes take, until it is told to stop."""

    def __init__(self, pids: dict[str, int]) -> None:
        self.peaks, self.own = dict.fromkeys(pids, 0), dict.fromkeys(pids, 0)  # all of it; and without pages of files
        self._processes = {name: psutil.Process(pid) for name, pid in pids.items()}
        self._end = Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._end.wait(0.02):
            for name, process in self._processes.items():
                try:
                    found = process.memory_info()
                except psutil.NoSuchProcess:  # it was restarted
                    continue
                self.peaks[name] = max(self.peaks[name], found.rss)
                self.own[name] = max(self.own[name], found.rss - found.shared)

    def stop(self) -> None:
        self._end.set()
        self._thread.join()


def pid_of(dask_worker: Worker) -> int:
    return int(dask_worker.monitor.proc.pid)


def spilled_by(dask_worker: Worker) -> int:
    """Bytes that are on the disk since the worker lacks memory."""
    return int(getattr(dask_worker.data, "spilled_total", (0, 0))[1])


def fit_table(folder: Path, shape: tuple[int, int], n_workers: int, memory: str, n_rounds: int) -> None:
    """Boosting on a table that is larger than the memory of a worker; one that is there already stays."""
    n, n_features = shape
    is_new = not folder.exists()
    if is_new:
        write_table(folder, n, n_features, 200)
    print(f"{n:,} rows x {n_features}, {8 * n * n_features / 1e9:.2f} GB, in 200 files", flush=True)
    try:
        with workers(n_workers, memory) as client:
            table = dd.read_parquet(folder)
            pids = client.run(pid_of)
            watch, begin = Watch(pids), time.perf_counter()
            model = model_of("boosting", sublearn.dask, n_rounds, client=client, max_depth=6)
            model.fit(table.drop(columns="y"), table["y"])
            seconds = time.perf_counter() - begin
            watch.stop()
            print(f"{n_rounds} rounds of depth 6 in {seconds:.0f} s; workers lost: {model.n_lost_}")
            print_memory(client, pids, watch, memory)
    finally:
        if is_new:
            shutil.rmtree(folder)


def print_memory(client: Client, pids: dict[str, int], watch: Watch, memory: str) -> None:
    """What workers took, and whether they got into difficulties."""
    logs, now, spilled = client.get_worker_logs(n=10_000), client.run(pid_of), client.run(spilled_by)
    for number, (name, pid) in enumerate(pids.items()):
        pauses = sum("Pausing" in text for _, text in logs.get(name, ()))
        print(
            f"worker {number} of {memory}: peak {watch.peaks[name] / 2**20:,.0f} MiB, without pages of files "
            f"{watch.own[name] / 2**20:,.0f} MiB; {pauses} pauses, {spilled.get(name, 0):,} bytes spilled, "
            f"{'the same process' if now.get(name) == pid else 'RESTARTED'}"
        )


def shape_of(model: Any, kind: str, n: int) -> traffic.Shape:
    """What the traffic of a model's trees depends on."""
    fixed = FIXED | {"max_depth": scale_of(n).max_depth, "min_samples_leaf": 1} if kind == "boosting" else {}
    parameters = model._tree_parameters(n, **fixed)
    plan = model._plan(parameters, N_FEATURES)
    is_boosting = kind == "boosting"
    return traffic.Shape(
        n_samples=n,
        n_features=N_FEATURES,
        n_candidates=plan.n_candidates,
        n_finalists=parameters.n_finalists,
        n_bins=parameters.n_bins,
        n_channels=3 if is_boosting else 2,
        n_classes=1 if is_boosting else 2,
        width=2 * N_FEATURES + (16 if is_boosting else 0),
        racers=parameters.racing_samples or 0,
        n_levels=64 if parameters.max_depth is None else parameters.max_depth,
    )


def expected_of(model: Any, kind: str, n: int, P: int) -> traffic.Traffic:
    """What partitions send for a fitted model, by the formulas."""
    if P == 1:
        return traffic.NOTHING
    found, shape = traffic.preparing(N_FEATURES, P), shape_of(model, kind, n)
    if kind == "forest":
        n_bytes = sum(column.nbytes for column in model.ensemble_.nodes.columns().values())
        return found + traffic.shared_forest(shape, n_bytes, -(-model.ensemble_.n_trees // P), P)
    nodes = model.tree_ if kind == "tree" else model.ensemble_.nodes
    roots = [0] if kind == "tree" else model.ensemble_.roots.tolist()
    for first, last in pairwise([*roots, nodes.n_nodes]):
        found += traffic.tree(shape, *traffic.levels_of(nodes, first, last, shape, P), P)
        if kind == "boosting":
            found += traffic.round_of_boosting(1, int(nodes.is_leaf[first:last].sum()), P)
    return found


def print_traffic(n: int, kinds: list[str], numbers: list[int], n_rounds: int) -> None:
    """Exchanges and bytes of fits beside the formulas."""
    print(
        f"{n:,} rows x {N_FEATURES}\n{'':10}{'workers':>8}{'exchanges':>10}{'formula':>8}{'MB each':>9}{'formula':>9}"
    )
    for number in numbers:
        with workers(number) as client:
            X, y = rows_on(client, n)
            for kind in kinds:
                model = model_of(kind, sublearn.dask, n_rounds, client=client).fit(X, y)
                sent = np.mean([(one.exchanges, one.n_bytes) for one in model.traffic_], axis=0)
                told = expected_of(model, kind, n, number)
                print(
                    f"{kind:10}{number:>8}{sent[0]:>10.0f}{told.exchanges:>8.0f}{sent[1] / 1e6:>9.2f}"
                    f"{told.n_bytes / 1e6:>9.2f}",
                    flush=True,
                )


def print_arithmetic() -> None:
    """What follows for more workers and rows than are here: no measurement."""
    print("10,000,000,000 rows x 30, a round of boosting of depth 8; 10 Gbit/s for each worker, 100 us a message")
    print(f"{'workers':>8}{'exchanges':>10}{'messages':>10}{'MB each':>9}{'seconds':>9}")
    n = 10**10
    shape = shape_of(model_of("boosting", sublearn, 1), "boosting", n)
    for P in (2, 10, 100, 1000):
        levels = [(2.0**d, True) for d in range(8)]
        found = traffic.tree(shape, levels, (0, 0, 0, 0), P) + traffic.round_of_boosting(1, 256, P)
        print(
            f"{P:>8}{found.exchanges:>10.0f}{found.exchanges * (P - 1):>10.0f}{found.n_bytes / 1e6:>9.2f}"
            f"{traffic.seconds(found, P):>9.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", action="store_true", help="seconds of fits, by turns")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--kinds", nargs="+", default=["boosting", "tree"], choices=KINDS)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10, help="of boosting")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--traffic", action="store_true", help="what partitions send, beside formulas")
    parser.add_argument("--arithmetic", action="store_true", help="what formulas say of more workers")
    parser.add_argument("--memory", action="store_true", help="a table that is larger than the memory of workers")
    parser.add_argument("--folder", type=Path, default=Path("cluster_table"), help="where the table is for a while")
    parser.add_argument("--shape", type=int, nargs=2, default=[8_500_000, 60], help="rows and features of the table")
    parser.add_argument("--limit", default="1GiB", help="memory of a worker")
    given = parser.parse_args()
    if given.times:
        time_fits(given.rows, given.kinds, given.workers, given.rounds, given.repeats)
    if given.traffic:
        print_traffic(given.rows, given.kinds, given.workers, given.rounds)
    if given.arithmetic:
        print_arithmetic()
    if given.memory:
        fit_table(given.folder, tuple(given.shape), given.workers[-1], given.limit, given.rounds)


if __name__ == "__main__":
    main()
