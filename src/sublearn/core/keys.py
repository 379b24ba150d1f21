"""Keys of random numbers: each says what is drawn, so that it does not matter when or by whom."""

from collections.abc import Iterator

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array

STRETCH = 1000  # keys found at a time: one by one each takes as long as fifty


def keys_below(key: int, numbers: Array) -> Array:
    """Keys (uint64) of the numbered things below a key."""
    keys: Array = plain(mix)(np.array([key], np.uint64), numbers)
    return keys


def keys_in_turn(key: int, numbers: range) -> Iterator[int]:
    """Keys of the numbered things below a key, one by one: there may be many."""
    for begin in range(numbers.start, numbers.stop, STRETCH):
        yield from keys_below(key, np.arange(begin, min(begin + STRETCH, numbers.stop))).tolist()


def key_below(key: int, number: int) -> int:
    """Key of the numbered thing below a key."""
    return int(keys_below(key, np.array([number]))[0])
