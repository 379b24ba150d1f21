"""What partitions send each other: arrays in pieces, numbered by exchange, kept until all of an exchange are there."""

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.links import LostError
from sublearn.kernels.layout import Array

LARGEST = 16 << 20  # bytes of a piece; nothing larger is sent at once


class Piece(NamedTuple):
    """A part of an array on its way."""

    number: int
    n_pieces: int
    dtype: str
    shape: tuple[int, ...]
    data: Any  # bytes, or what has a buffer


def pieces_of(array: Array, largest: int) -> Iterator[Piece]:
    """An array in pieces of so many bytes at the most; at least one, so that an empty one arrives too."""
    whole = np.ascontiguousarray(array)
    data = whole.reshape(-1).view(np.uint8)
    n_pieces = max(-(-data.nbytes // largest), 1)
    for number in range(n_pieces):
        part = data[number * largest : (number + 1) * largest]
        yield Piece(number, n_pieces, whole.dtype.str, array.shape, part)


def joined(pieces: list[Piece]) -> Array:
    """The array that pieces are of: a single large one where it lies, others as a new one; it may be changed."""
    first = pieces[0]
    if len(pieces) == 1 and isinstance(first.data, np.ndarray) and first.data.flags.writeable:
        array: Array = first.data.view(first.dtype)
        if array.flags.aligned:
            return array.reshape(first.shape)
    out = np.empty(first.shape, first.dtype)
    data, at = out.reshape(-1).view(np.uint8), 0
    for piece in pieces:
        part = np.frombuffer(piece.data, np.uint8)
        data[at : at + len(part)] = part
        at += len(part)
    return out


class Inbox:
    """Pieces that have come for one run of a fit, exchange by exchange; used in the event loop alone.

    A fast partition may be one exchange ahead, so pieces of several exchanges may be here at a time.
    """

    def __init__(self) -> None:
        self._kept: dict[int, dict[int, list[Piece]]] = {}  # by exchange and sender
        self._waiting: tuple[int, int, asyncio.Future[None]] | None = None  # exchange, senders, and who waits
        self._reason = ""  # why nothing comes any more

    def put(self, exchange: int, sender: int, piece: Piece) -> None:
        """Keep a piece."""
        self._kept.setdefault(exchange, {}).setdefault(sender, []).append(piece)
        self._look()

    async def take(self, exchange: int, n_senders: int) -> dict[int, Array]:
        """What so many partitions have sent for an exchange, by sender, once all is there."""
        if self._reason:
            raise LostError(self._reason)
        arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting = exchange, n_senders, arrived
        self._look()
        try:
            await arrived
        finally:
            self._waiting = None
        letters = self._kept.pop(exchange, {})
        return {sender: joined(sorted(pieces, key=lambda piece: piece.number)) for sender, pieces in letters.items()}

    def close(self, reason: str) -> None:
        """Let nobody wait any longer."""
        self._reason = self._reason or reason
        self._kept.clear()
        if self._waiting and not self._waiting[2].done():
            self._waiting[2].set_exception(LostError(self._reason))

    def _look(self) -> None:
        """Wake who waits, if all is there."""
        if self._waiting is None:
            return
        exchange, n_senders, arrived = self._waiting
        letters = self._kept.get(exchange, {})
        is_all = len(letters) == n_senders and all(len(p) == p[0].n_pieces for p in letters.values())
        if is_all and not arrived.done():
            arrived.set_result(None)
