"""What a worker holds of a fit, and the handlers by which other workers reach it.

Everything of ours on a worker is in its `Desk`: a session for each fit, and in it rows, mail and the journal. The
client opens a session before it sends anything, and closes it at the end. A session that nobody waits for any more
closes itself.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Worker
from distributed.protocol import to_serialize

import sublearn
from sublearn.core.links import Journal, LostError, Stoppable
from sublearn.dask import mail
from sublearn.dask.mail import Inbox, Piece, pieces_of
from sublearn.dask.rows import EASED, Rows
from sublearn.kernels.layout import Array

NAME = "sublearn"  # of the desk among a worker's extensions
PAUSE = 1.0  # seconds between two looks at whether a fit is still wanted
GRACE = 10.0  # seconds between two questions to the scheduler, where nothing has come, whether the fit is wanted
EASING = 0.02  # seconds between two looks at how much memory pages of files take
SMALL = 1 << 16  # bytes that go inside a message; more goes beside it, uncopied
UNWANTED = ("cancelled", "released", "forgotten", "error")  # states of tasks that nobody waits for


class Run:
    """A run of a fit on a worker: the first one, or one after a worker was lost.

    A task that has not noticed yet that its run was given up keeps to what is in here, and harms no later run.
    """

    def __init__(self, number: int, worker: Worker, journal: Journal) -> None:
        self.number, self.worker, self.journal = number, worker, journal
        self.loop = worker.loop.asyncio_loop
        self.inbox, self.rows = Inbox(), Rows()
        self.keys: set[Any] = set()  # of tasks whose results the client holds while it wants this run
        self.running = ""  # the key of the task that fits
        self._reason = ""
        self._stops: list[Stoppable] = []

    @property
    def memory(self) -> float:
        """Bytes that the worker may use; 0 where nobody has said."""
        return float(self.worker.memory_manager.memory_limit or 0)

    @property
    def is_over(self) -> bool:
        """Whether this run has been ended, or the worker closes."""
        return bool(self._reason) or is_closing(self.worker)

    def end(self, reason: str) -> None:
        """End the run here: what waits and what computes."""
        self._reason = self._reason or reason
        self.inbox.close(reason)
        for stop in tuple(self._stops):
            stop.want()

    def heed(self, stop: Stoppable) -> None:
        """Have this told when the run ends."""
        self._stops.append(stop)
        if self.is_over:
            stop.want()

    @contextmanager
    def fitting(self, key: str) -> Iterator[None]:
        """While the task of this key fits."""
        if self._reason:
            raise LostError(self._reason)
        self.running = key
        try:
            yield
        finally:
            self.running = ""
            self._stops.clear()
            self.rows.clear()


class Session:
    """A fit on a worker."""

    def __init__(self, worker: Worker, fit: str, mark: str) -> None:
        self.worker, self.fit, self.mark = worker, fit, mark
        self.run = Run(-1, worker, Journal())
        self._begun = 0.0
        self._watch = self.run.loop.create_task(self._look_after())
        self._easing = self.run.loop.create_task(self._ease())

    def begin(self, number: int) -> None:
        """Begin a run of the fit."""
        self.run.end("this run of the fit has been given up")
        self.run = Run(number, self.worker, Journal(self.run.journal.trees))
        self._begun = time.monotonic()

    def close(self, reason: str) -> None:
        """End all, and keep nothing."""
        self.run.end(reason)
        self.run.rows.clear()
        self._watch.cancel()
        self._easing.cancel()

    async def exchange(self, run: Run, number: int, own: int, parts: Mapping[str, Array]) -> dict[int, Array]:
        """Send parts to the workers at some addresses, all at once; returns what partitions have sent here."""
        sends = [asyncio.ensure_future(self._send(run, address, number, own, part)) for address, part in parts.items()]
        coming = asyncio.ensure_future(run.inbox.take(number, len(parts)))
        try:
            await asyncio.gather(coming, *sends)
        finally:
            for one in (coming, *sends):
                one.cancel()
        return coming.result()

    async def _send(self, run: Run, address: str, exchange: int, own: int, part: Array) -> None:
        """Send an array to a worker, piece by piece."""
        for piece in pieces_of(part, mail.LARGEST):
            letter = {**piece._asdict(), "data": _data_of(piece, address)}
            try:
                answer = await self.worker.rpc(address).sublearn_receive(
                    fit=self.fit, run=run.number, exchange=exchange, sender=own, letter=letter
                )
            except OSError as error:
                raise LostError(f"{address} does not answer: {error}") from None
            if answer != "kept":
                raise LostError(f"the fit has ended on {address}")

    async def tell_others(self, run: Run, addresses: list[str], reason: str) -> None:
        """Tell other workers that a run ends; those that are gone need not know."""
        told = [
            self.worker.rpc(address).sublearn_end(fit=self.fit, run=run.number, reason=reason) for address in addresses
        ]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*told, return_exceptions=True), PAUSE)

    async def _look_after(self) -> None:
        """End the run, or close the session, when nobody waits for it any more: the client may be gone."""
        while True:
            await asyncio.sleep(PAUSE)
            if is_closing(self.worker):
                self.run.end("this worker closes")
            elif self.run.running:
                if not self._is_wanted(self.run.running):
                    self.run.end("nobody waits for this fit any more")
            elif await self._is_forgotten():
                break
        desk_of(self.worker).forget(self.fit)

    async def _is_forgotten(self) -> bool:
        """Whether the client has let go of all that it holds while it wants the fit."""
        if self.run.keys:
            return not any(map(self._is_wanted, tuple(self.run.keys)))  # to which tasks add meanwhile
        if time.monotonic() - self._begun < GRACE:
            return False
        self._begun = time.monotonic()
        try:
            states = await self.worker.scheduler.get_task_status(keys=[self.mark])
        except OSError:
            return False  # a worker without a scheduler closes by itself
        return states[self.mark] is None

    async def _ease(self) -> None:
        """Give pages of files back before the worker takes them for memory that it lacks."""
        while True:
            await asyncio.sleep(EASING)
            limit = EASED * self.run.memory
            if limit and self.run.rows.has_files and self.worker.monitor.get_process_memory() > limit:
                self.run.rows.ease()

    def _is_wanted(self, key: Any) -> bool:
        """Whether the scheduler still wants the result of a task."""
        task = self.worker.state.tasks.get(key)
        return task is not None and task.state not in UNWANTED


def _data_of(piece: Piece, address: str) -> Any:
    """What a message to an address holds of a piece: a small one goes inside, a large one beside it, uncopied."""
    if piece.data.nbytes <= SMALL:
        return piece.data.tobytes()
    is_here = address.startswith("inproc:")  # a worker of this process gets the very array, and may change it
    return to_serialize(piece.data.copy() if is_here else piece.data)


class Desk:
    """The sessions of a worker, and the handlers for messages of other workers, as long as there is a session."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.sessions: dict[str, Session] = {}
        worker.handlers["sublearn_receive"] = self.receive
        worker.handlers["sublearn_end"] = self.end
        worker.extensions[NAME] = self

    async def receive(self, fit: str, run: int, exchange: int, sender: int, letter: dict[str, Any]) -> str:
        """Keep a piece that another partition sends."""
        session = self.sessions.get(fit)
        if session is None or session.run.number != run or session.run.is_over:
            return "ended"
        piece = Piece(**{**letter, "shape": tuple(letter["shape"])})
        session.run.inbox.put(exchange, sender, piece)
        return "kept"

    async def end(self, fit: str, run: int, reason: str) -> None:
        """End a run of a fit."""
        session = self.sessions.get(fit)
        if session is not None and session.run.number == run:
            session.run.end(reason)

    def forget(self, fit: str) -> None:
        """Close a session; with the last one all of ours is gone."""
        session = self.sessions.pop(fit, None)
        if session is not None:
            session.close("the fit is over")
        if not self.sessions and self.worker.extensions.get(NAME) is self:
            del self.worker.extensions[NAME]
            del self.worker.handlers["sublearn_receive"], self.worker.handlers["sublearn_end"]


def desk_of(worker: Worker) -> Desk:
    """The desk of a worker; a new one if there is none."""
    return worker.extensions.get(NAME) or Desk(worker)


def is_closing(worker: Worker) -> bool:
    """Whether a worker takes no more work, since it closes or will soon."""
    return worker.status.name not in ("running", "paused")


def session_of(worker: Worker, fit: str) -> Session:
    """The session of a fit that the client has opened."""
    desk = worker.extensions.get(NAME)
    if desk is None or fit not in desk.sessions:
        raise LostError("this fit has ended")
    session: Session = desk.sessions[fit]
    return session


async def open_run(fit: str, run: int, mark: str, dask_worker: Worker) -> str:
    """Open a session, or begin a further run in it; called by the client, in the event loop.

    mark: the key of a task that the client holds as long as it wants the fit. Returns which sublearn this is.
    """
    sessions = desk_of(dask_worker).sessions
    if fit not in sessions:
        sessions[fit] = Session(dask_worker, fit, mark)
    sessions[fit].begin(run)
    return sublearn.__version__


async def look_stuck(fit: str, dask_worker: Worker) -> str:
    """How much memory this worker uses, where it lacks it and does nothing for the fit; called by the client."""
    desk = dask_worker.extensions.get(NAME)
    session = desk.sessions.get(fit) if desk else None
    if dask_worker.status.name != "paused" or dask_worker.state.executing or (session and session.run.running):
        return ""
    used, limit = dask_worker.monitor.get_process_memory(), dask_worker.memory_manager.memory_limit or 0
    return f"{used / 2**20:,.0f} of its {limit / 2**20:,.0f} MiB"


async def end_run(fit: str, reason: str, dask_worker: Worker) -> int:
    """End the run of a fit, and wait until its task has noticed; called by the client.

    Returns how many trees are in the journal, which stays: the client may begin a further run.
    """
    desk = dask_worker.extensions.get(NAME)
    session = desk.sessions.get(fit) if desk else None
    if session is None:
        return 0
    run = session.run
    run.keys.clear()  # the client lets go of them
    run.end(reason)
    while run.running:
        await asyncio.sleep(0.02)
    return len(run.journal.trees)


async def close_session(fit: str, dask_worker: Worker) -> None:
    """End a fit, and remove what it has placed here; called by the client."""
    await end_run(fit, "the fit is over", dask_worker)
    desk = dask_worker.extensions.get(NAME)
    if desk:
        desk.forget(fit)
