"""The task that fits: one on each worker, the same program on each partition of the samples."""

import asyncio
import hashlib
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from distributed import Worker, get_worker, secede
from distributed.worker import thread_state
from joblib import parallel_config

from sublearn.core.links import LostError
from sublearn.core.parallel import StoppedError
from sublearn.dask.links import DaskLinks, Traffic
from sublearn.dask.session import PAUSE, Run, Session, session_of


class Part(NamedTuple):
    """What a partition is told."""

    fit: str
    run: int
    number: int
    addresses: list[str]
    names: list[str]  # of partitions, for errors
    local: type  # the local twin
    parameters: dict[str, Any]
    fitted: dict[str, Any]  # attributes of the fit before, for a warm start
    tables: dict[str, dict[str, Any]]  # by what for: an empty block, of the right types


class Outcome(NamedTuple):
    """What a partition has found."""

    fitted: dict[str, Any] | None  # attributes of the fitted estimator, of the first partition
    digest: str  # of the model
    traffic: Traffic
    n_replayed: int  # trees that an earlier run had grown


def run_part(part: Part) -> Outcome:
    """Fit the samples of this worker, together with the others."""
    worker = get_worker()
    session = session_of(worker, part.fit)
    run, key = session.run, thread_state.key
    if run.number != part.run:
        raise LostError("this run of the fit has been given up")
    secede()  # so that other fits, and what users compute, have a thread too
    others = [address for address in part.addresses if address != worker.address]
    with run.fitting(key):
        try:
            return _fitted(part, session, run, worker)
        except BaseException as error:
            text = str(error) if isinstance(error, LostError) else f"partition {part.number} has failed"
            told = asyncio.run_coroutine_threadsafe(session.tell_others(run, others, text), run.loop)
            with suppress(TimeoutError):  # of a worker whose loop has ended
                told.result(timeout=2 * PAUSE)
            if isinstance(error, StoppedError):
                raise LostError("the fit has been ended") from None
            raise


def _fitted(part: Part, session: Session, run: Run, worker: Worker) -> Outcome:
    links = DaskLinks(session, run, part.number, part.addresses, part.names)
    if run.memory:
        links.room = int(run.memory) // 4
    links.room = int(links.least(np.array([links.room]))[0])  # the same everywhere
    run.journal.begin_anew(links)
    n_replayed = len(run.journal.trees)
    estimator: Any = part.local(**part.parameters)
    vars(estimator).update(part.fitted)
    estimator._links = links
    given = _rows_of(part, run, worker)
    with parallel_config("threading", n_jobs=worker.state.nthreads):  # where n_jobs says nothing else
        estimator.fit(**given)
    found = {name: value for name, value in vars(estimator).items() if name not in (*part.parameters, "_links")}
    return Outcome(None if part.number else found, digest_of(estimator._model), links.traffic, n_replayed)


def _rows_of(part: Part, run: Run, worker: Worker) -> dict[str, Any]:
    """The arguments of `fit`."""
    is_plain = isinstance(part.parameters["categorical_features"], str | None)
    taken = {}
    for what_for, empty in part.tables.items():
        taken[what_for] = run.rows.take(what_for, is_plain, run.memory, worker.local_directory) or empty
    given = taken["fit"]
    if "eval_set" in taken:
        others = taken["eval_set"]
        given["eval_set"] = others.pop("X"), others.pop("y")
        given |= {f"eval_{name}": values for name, values in others.items()}
    return given


def digest_of(model: Any) -> str:
    """A text that differs where models differ."""
    digest = hashlib.sha256()

    def add(thing: Any) -> None:
        if isinstance(thing, np.ndarray) and thing.dtype != object:
            digest.update(f"{thing.dtype.str}{thing.shape}".encode() + np.ascontiguousarray(thing).tobytes())
        elif is_dataclass(thing):
            for field in fields(thing):
                add(getattr(thing, field.name))
        elif isinstance(thing, tuple | list | np.ndarray):
            digest.update(f"{len(thing)}[".encode())
            for one in thing:
                add(one)
        else:
            digest.update(repr(thing).encode() + b";")

    add(model)
    return digest.hexdigest()
