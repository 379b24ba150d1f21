"""The two exponentials of the paper, P_d (Eq. exp_p) and A_d (Eq. exp_a), the same on every machine."""

from functools import lru_cache

import numpy as np

from sublearn.kernels.arithmetic import exp
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array

SMALLEST = -700.0  # an exponent below this counts as this


@lru_cache(maxsize=64)  # called at every level
def decaying(height: float, decay: float, n: int) -> Array:
    """height * exp(-decay * d) for d = 1 to n."""
    exponential = plain(exp)
    return np.array([height * exponential(max(-decay * d, SMALLEST)) for d in range(1, n + 1)])
