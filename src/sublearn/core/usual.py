"""What suits data of a size, where the user does not say; docs/studies/choosing_defaults.md has the figures."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import plain

MANY = 64  # features; more of them bring chance more to choose from


class Scale(NamedTuple):
    """What suits boosting on so many samples."""

    below: float  # samples
    max_depth: int
    n_rounds: int
    trial_rate: float
    n_trials: int
    n_parts: int  # of which one tests


SCALES = (
    Scale(1_000, 6, 250, 0.3, 3, 5),
    Scale(3_000, 6, 500, 0.2, 5, 5),
    Scale(10_000, 6, 500, 0.2, 2, 5),
    Scale(20_000, 6, 400, 0.3, 1, 5),
    Scale(50_000, 6, 400, 0.3, 1, 10),
    Scale(np.inf, 8, 400, 0.3, 1, 10),
)


def scale_of(n_samples: int) -> Scale:
    """What suits them."""
    return next(scale for scale in SCALES if n_samples < scale.below)


def chances(n_features: int) -> float:
    """Factor on what a split must gain: the best of many useless features gains more by chance than one of a few."""
    return 1.0 + max(0.0, float(plain(log2)(n_features / MANY))) / 2.0
