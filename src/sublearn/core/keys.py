"""Keys of random numbers: each says what is drawn, so that it does not matter when or by whom."""

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array


def keys_below(key: int, numbers: Array) -> Array:
    """Keys (uint64) of the numbered things below a key."""
    keys: Array = plain(mix)(np.array([key], np.uint64), numbers)
    return keys


def key_below(key: int, number: int) -> int:
    """Key of one such thing."""
    return int(keys_below(key, np.array([number]))[0])
