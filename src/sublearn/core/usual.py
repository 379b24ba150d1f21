"""What suits data of a size, where the user does not say; docs/defaults.md has the figures behind the numbers here."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import log2
from sublearn.kernels.compilation import plain

ORDINARY = 4.0  # log2 of so many features that more of them bring more chances


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
    Scale(20_000, 6, 500, 0.3, 1, 5),
    Scale(50_000, 6, 500, 0.3, 1, 10),
    Scale(np.inf, 8, 400, 0.3, 1, 10),
)


def scale_of(n_samples: int) -> Scale:
    """What suits them."""
    return next(scale for scale in SCALES if n_samples < scale.below)


def chances(n_features: int) -> float:
    """How much more than a split chosen beforehand the best one of many features gains by chance, if it is much."""
    return max(1.0, float(plain(log2)(float(n_features))) / ORDINARY)
