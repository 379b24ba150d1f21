"""A fit as the client sees it: lay blocks out, have workers take them, start the program, wait, and tidy up.

When a worker is lost, all of this is done again with those that are there. Trees that were finished are in the
journals of the workers that are left. A worker that joins is used from the next time on.
"""

import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

import dask
import sublearn
from sublearn.core.links import LostError
from sublearn.dask.asking import PATIENCE, PAUSE, ask, ready_workers, wait_for_workers, workers_of
from sublearn.dask.blocks import Table, holders_of, is_gone
from sublearn.dask.errors import WorkerLostError
from sublearn.dask.layout import Stretch, in_order, lay_out
from sublearn.dask.program import Outcome, Part, run_part
from sublearn.dask.session import close_session, end_run, look_stuck, open_run
from sublearn.dask.taking import Want, make_block, take_block

OPENING = 120.0  # seconds that a worker has to begin, which may have to load the package while it is busy
STUCK = 20.0  # seconds for which a worker that lacks memory may begin none of our tasks
MOST_LOSSES = 5  # in a row, in which no tree was finished


class Job(NamedTuple):
    """What is to be fitted."""

    owner: str  # name of the estimator
    local: type
    parameters: dict[str, Any]
    fitted: dict[str, Any]
    tables: dict[str, Table]  # "fit", and "eval_set" where there is one
    empty: dict[str, dict[str, Any]]  # no rows, of the types that the tables have


class Result(NamedTuple):
    """What a fit has found."""

    outcomes: list[Outcome]
    n_losses: int


def fit_on_cluster(job: Job, client: Client, on_lost: str) -> Result:
    """Fit on all workers that there are; see the head of this file."""
    fit, reached = uuid.uuid4().hex, Counter[str]()
    number = n_losses = in_vain = n_trees = 0
    try:
        mark = client.submit(int, key=f"sublearn-{fit}", pure=False)  # workers ask whether it is still there
        while True:
            run = _Run(job, client, fit, mark, number, reached)
            try:
                return Result(run.outcomes(), n_losses)
            except LostError as error:
                number += 1
                n_losses += run.has_begun
                in_vain = in_vain + 1 if run.n_trees <= n_trees else 0
                n_trees = max(run.n_trees, n_trees)
                if on_lost == "raise":
                    text = f"{job.owner}.fit: {error}. With on_lost='restart' the fit would go on without it."
                    raise WorkerLostError(text) from None
                if in_vain == MOST_LOSSES:
                    text = (
                        f"{job.owner}.fit: {MOST_LOSSES} times in a row a worker was lost before a tree was finished; "
                        f"the last time: {error}. Workers may need more memory."
                    )
                    raise WorkerLostError(text) from None
                time.sleep(PAUSE * (2**in_vain - 1))  # who is lost may not be known to be
    finally:
        mark = None  # and is gone
        ask(client, list(reached), close_session, fit)


class _Run:
    """One run of a fit, until it ends or a worker is lost."""

    def __init__(self, job: Job, client: Client, fit: str, mark: Future, number: int, reached: Counter[str]) -> None:
        self.job, self.client, self.fit, self.number = job, client, fit, number
        self.mark = mark.key  # of a task that is there as long as the fit is wanted
        self.reached = reached  # workers that have a session
        self.addresses: list[str] = []  # workers of this run
        self.futures: list[Future] = []
        self.places: dict[Any, str] = {}  # the address to which a task is bound, by its key
        self.stuck: dict[str, float] = {}  # since when a worker begins nothing
        self.has_begun = False  # on all workers
        self.n_trees = 0  # that were finished when the run was lost

    def outcomes(self) -> list[Outcome]:
        """What all partitions have found."""
        try:
            stretches = self._lay_out()
            self._have_blocks_taken(stretches)
            return self._have_parts_run(stretches["fit"])
        except BaseException as error:
            reason = str(error) if isinstance(error, LostError) else "the fit was ended"
            lengths = ask(self.client, self.addresses, end_run, self.fit, reason)
            self.n_trees = max((found for found in lengths.values() if isinstance(found, int)), default=0)
            raise
        finally:
            with suppress(Exception):
                self.client.cancel(self.futures, force=True)

    def _lay_out(self) -> dict[str, list[Stretch]]:
        """Choose the workers, open a session on each, and give them their stretches of the blocks."""
        present = wait_for_workers(self.job.owner, self.client)
        tables = self.job.tables
        if self.number and any(is_gone(table, self.client) for table in tables.values()):
            raise WorkerLostError(
                f"{self.job.owner}.fit: rows that were put on workers were lost with their worker, or cancelled. Rows "
                "of a graph, or of a file, can be computed again."
            )
        held = holders_of(tables["fit"], self.client)
        first = lay_out(tables["fit"].sizes, in_order(present, held), held)
        self.addresses = [stretch.address for stretch in first]
        self.reached.update(self.addresses)
        self._open()
        return {
            what_for: first if what_for == "fit" else lay_out(table.sizes, self.addresses, {})
            for what_for, table in tables.items()
        }

    def _open(self) -> None:
        """Open a session, or a further run, on each worker of this run."""
        opened = ask(self.client, self.addresses, open_run, self.fit, self.number, self.mark, patience=OPENING)
        versions = {address: found for address, found in opened.items() if not isinstance(found, OSError)}
        for address, found in versions.items():
            if found != sublearn.__version__:
                other = f"{type(found).__name__}: {found}" if isinstance(found, Exception) else f"it has {found}"
                raise RuntimeError(
                    f"{self.job.owner}.fit must find sublearn {sublearn.__version__} on all workers, as here; on "
                    f"{address} it does not ({other})."
                )
        self._check_present(versions)
        self.has_begun = True

    def _have_blocks_taken(self, stretches: dict[str, list[Stretch]]) -> None:
        """Have each worker compute its blocks, or fetch them, and keep them."""
        taken = []
        for what_for, table in self.job.tables.items():
            for stretch in stretches[what_for]:
                tasks = [self._taking(what_for, table, number) for number in range(stretch.first, stretch.last)]
                taken += self._compute(tasks, stretch.address, table.is_lazy)
        self._wait_for(taken)
        n_rows = sum(self._result_of(future) for future in taken[: len(self.job.tables["fit"].blocks)])
        if n_rows == 0:
            raise ValueError(f"X of {self.job.owner}.fit must have samples; all partitions are empty.")

    def _taking(self, what_for: str, table: Table, number: int) -> Any:
        """The task by which a block is taken."""
        want = Want(
            fit=self.fit,
            run=self.number,
            what_for=what_for,
            number=number,
            columns=table.columns,
            types=table.types,
            owner=self.job.owner,
        )
        block = table.blocks[number]
        if table.recipes is not None:
            return dask.delayed(make_block, pure=False)(want, list(block), table.recipes[number])
        return dask.delayed(take_block, pure=False)(want, list(block), *block.values())

    def _compute(self, tasks: list[Any], address: str, is_lazy: bool) -> list[Future]:
        """Compute tasks on a worker, with all that they need where nothing of that is on the cluster yet."""
        if not tasks:
            return []
        if is_lazy:
            found = self.client.compute(tasks, workers=[address], allow_other_workers=False, retries=0)
        else:  # what users hold must not be bound to a worker
            with dask.annotate(workers=[address], allow_other_workers=False):
                found = self.client.compute(tasks, retries=0)
        return self._bound(list(found), [address] * len(tasks))

    def _bound(self, futures: list[Future], addresses: list[str]) -> list[Future]:
        """Tasks of this run, each bound to a worker."""
        self.futures += futures
        self.places |= {future.key: address for future, address in zip(futures, addresses, strict=True)}
        return futures

    def _have_parts_run(self, stretches: list[Stretch]) -> list[Outcome]:
        """Run the program on all workers at once."""
        job, futures = self.job, []
        for number, stretch in enumerate(stretches):
            part = Part(
                fit=self.fit,
                run=self.number,
                number=number,
                addresses=self.addresses,
                names=[one.name for one in stretches],
                local=job.local,
                parameters=job.parameters,
                fitted=job.fitted,
                tables=job.empty,
            )
            how = {"workers": [stretch.address], "allow_other_workers": False, "retries": 0, "pure": False}
            futures.append(self.client.submit(run_part, part, **how))
        self._wait_for(self._bound(futures, [stretch.address for stretch in stretches]))
        outcomes: list[Outcome] = [self._result_of(future) for future in futures]
        if len({outcome.digest for outcome in outcomes}) != 1:
            raise RuntimeError(f"{job.owner}.fit: partitions have found different models. Please report this.")
        return outcomes

    def _result_of(self, future: Future) -> Any:
        """A result, as long as the worker that has it is there."""
        while True:
            try:
                return future.result(timeout=PAUSE)
            except TimeoutError:
                self._check_present(workers_of(self.client))

    def _wait_for(self, futures: Sequence[Future]) -> None:
        """Wait until all are done; when one fails the others end, and its error is raised."""
        while (pending := [one for one in futures if not one.done()]) and not _failed(futures):
            with suppress(TimeoutError, CancelledError):
                wait(pending, timeout=PAUSE, return_when="FIRST_COMPLETED")
            self._check_present(workers_of(self.client))
            self._check_stuck({self.places[one.key] for one in pending})
        if failed := _failed(futures):
            ask(self.client, self.addresses, end_run, self.fit, "another partition has failed")
            self._raise(_failed(futures) or failed)

    def _raise(self, failed: Sequence[Future]) -> None:
        """Raise what has gone wrong: what a partition found, unless that is only that another was gone."""
        with suppress(Exception):
            self._check_present(workers_of(self.client))
        errors = [future.exception(timeout=PATIENCE) or CancelledError("a task was cancelled") for future in failed]
        self._check_present(workers_of(self.client))
        own = [error for error in errors if not isinstance(error, LostError | CancelledError | KilledWorker)]
        raise (own or [LostError(str(errors[0]))])[0]

    def _check_present(self, present: Any) -> None:
        """Raise LostError if a worker of this run is not there."""
        gone = [address for address in self.addresses if address not in present]
        if gone:
            raise LostError(f"worker {', '.join(gone)} was lost, or does not answer")

    def _check_stuck(self, wanted: set[str]) -> None:
        """Raise MemoryError where a worker that has tasks of ours to do has begun none for long, since it is full."""
        paused = sorted(wanted - set(ready_workers(self.client)))
        told = ask(self.client, paused, look_stuck, self.fit) if paused else {}
        found = {address: text for address, text in told.items() if isinstance(text, str) and text}
        now = time.monotonic()
        self.stuck = {address: self.stuck.get(address, now) for address in found}
        for address, since in self.stuck.items():
            if now - since > STUCK:
                raise MemoryError(
                    f"{self.job.owner}.fit: worker {address} begins no more tasks, since it uses {found[address]}. "
                    "Give workers more memory, or have more of them."
                )


def _failed(futures: Sequence[Future]) -> list[Future]:
    """Those that have failed."""
    return [future for future in futures if future.done() and future.status != "finished"]
