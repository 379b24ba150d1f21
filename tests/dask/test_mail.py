"""Arrays in pieces: they arrive whole, whatever their size, and whoever comes first."""

import asyncio
from typing import Any

import numpy as np
import pytest

from sublearn.core.links import LostError
from sublearn.dask.mail import Inbox, joined, pieces_of

ARRAYS = [
    np.arange(10, dtype=np.int64),
    np.empty((0, 3), np.float32),
    np.array(7, np.int16),
    np.arange(60, dtype=np.int16).reshape(3, 4, 5).transpose(2, 0, 1),
    np.random.default_rng(0).random((7, 3)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.shape))
@pytest.mark.parametrize("largest", [1, 3, 8, 1000])
def test_an_array_is_the_same_after_its_pieces_are_joined(array: Any, largest: int) -> None:
    pieces = list(pieces_of(array, largest))
    found = joined(pieces)
    assert len(pieces) == max(-(-array.nbytes // largest), 1)
    assert max(piece.data.nbytes for piece in pieces) <= largest
    assert (found.dtype, found.shape, found.flags.writeable) == (array.dtype, array.shape, True)
    np.testing.assert_array_equal(found, array)


def test_a_large_piece_is_not_copied_unless_numbers_of_its_type_cannot_begin_there() -> None:
    memory = np.zeros(81, np.uint8)
    (piece,) = pieces_of(np.arange(10.0), 1000)
    for first, is_copied in ((0, False), (1, True)):
        memory[first : first + 80] = piece.data
        found = joined([piece._replace(data=memory[first : first + 80])])
        assert np.shares_memory(found, memory) is not is_copied
        assert found.tolist() == list(range(10))


def test_pieces_of_the_next_exchange_are_kept_apart_from_those_of_this_one() -> None:
    async def go() -> list[list[int]]:
        inbox, early, late = Inbox(), list(pieces_of(np.arange(5), 16)), list(pieces_of(np.arange(5) * 10, 16))
        for piece in late:
            inbox.put(1, 2, piece)  # partition 2 is fast
        for piece in early[::-1]:
            inbox.put(0, 2, piece)
        waiting = asyncio.ensure_future(inbox.take(0, 2))
        await asyncio.sleep(0)
        assert not waiting.done()
        inbox.put(0, 1, next(pieces_of(np.arange(2), 16)))
        first = await waiting
        second = await inbox.take(1, 1)
        return [first[1].tolist(), first[2].tolist(), second[2].tolist()]

    assert asyncio.run(go()) == [[0, 1], [0, 1, 2, 3, 4], [0, 10, 20, 30, 40]]


def test_who_waits_for_mail_is_told_that_none_will_come() -> None:
    async def go() -> None:
        inbox = Inbox()
        waiting = asyncio.ensure_future(inbox.take(0, 1))
        await asyncio.sleep(0)
        inbox.close("a worker is gone")
        with pytest.raises(LostError, match="a worker is gone"):
            await waiting
        with pytest.raises(LostError, match="a worker is gone"):
            await inbox.take(1, 1)

    asyncio.run(go())
