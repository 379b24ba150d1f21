"""The links of partitions that are workers of a cluster; they send by Dask's own connections."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from typing import Any, NamedTuple, TypeVar

from sublearn.core.links import Links, LostError, Stoppable
from sublearn.dask.session import PAUSE, Run, Session
from sublearn.kernels.layout import Array

T = TypeVar("T")


class Traffic(NamedTuple):
    """What a partition has sent to others during a fit."""

    exchanges: int  # rounds in which all partitions send
    messages: int
    n_bytes: int


class DaskLinks(Links):
    """The links of a partition that is a task on a worker; others are reached by the addresses of their workers."""

    def __init__(self, session: Session, run: Run, number: int, addresses: Sequence[str], names: Sequence[str]) -> None:
        self.number, self.n_partitions = number, len(addresses)
        self.names = names  # of the partitions, for errors
        self.journal = run.journal
        self._session, self._run, self._addresses = session, run, addresses
        self._traffic = Traffic(0, 0, 0)

    @property
    def traffic(self) -> Traffic:
        """What has been sent so far."""
        return self._traffic

    def heed(self, stop: Stoppable) -> None:
        """Have this told when the fit is to end."""
        self._run.heed(stop)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """A new array; a file that is mapped into memory where it would fill a good part of the worker's."""
        return self._run.rows.empty(shape, dtype, self._run.memory, self._run.worker.local_directory)

    def send(self, parts: Sequence[Array]) -> list[Array]:
        """Send parts[p] to partition p; returns what each partition has sent here, in their order."""
        exchange = self._traffic.exchanges
        others = {self._addresses[p]: part for p, part in enumerate(parts) if p != self.number}
        received = self._wait_for(self._session.exchange(self._run, exchange, self.number, others)) if others else {}
        self._traffic = Traffic(
            exchange + 1,
            self._traffic.messages + len(others),
            self._traffic.n_bytes + sum(part.nbytes for part in others.values()),
        )
        received[self.number] = parts[self.number]
        return [received[p] for p in range(self.n_partitions)]

    def _wait_for(self, coming: Coroutine[Any, Any, T]) -> T:
        """What comes in the worker's event loop, as long as there is one."""
        return self._answer_of(asyncio.run_coroutine_threadsafe(coming, self._run.loop), lambda: self._run.is_over)

    @staticmethod
    def _answer_of(coming: "Future[T]", is_over: Callable[[], bool]) -> T:
        """What comes, unless the run is over first."""
        while True:
            try:
                return coming.result(timeout=PAUSE)
            except NotYetError:
                if coming.done():  # meanwhile; or the error is that of what was waited for
                    return coming.result()
                if is_over():
                    coming.cancel()
                    raise LostError("this run of the fit is over") from None
