"""Targets far from all others, such as a typing error: they must not take the bits that tell the others apart.

Trees look for splits with such targets drawn nearer, though still far, and have the true ones in their leaves. Boosting
learns what they have beyond the others by a tree of its own (`core.boosting.excess`).
"""

from typing import NamedTuple

import numpy as np

from sublearn.core.data.fixed_point import Weights, extremes_of
from sublearn.core.data.order_statistics import quantiles
from sublearn.kernels.layout import Array

RARE = 1e-4  # share of the samples that may be far from the others, ...
FEW, SMALL = 5, 0.05  # ... though always so many, if they are no more than this share, and always one
FAR = 2.0**8  # times what is usual


class Reach(NamedTuple):
    """Where targets lie of which some are far from the others."""

    middle: float
    usual: float  # how far from the middle the others are, at the most

    def nearer(self, y: Array) -> Array:
        """Targets with those that are far drawn nearer, though not among the others."""
        return self._within(y, FAR * self.usual)

    def usual_of(self, y: Array) -> Array:
        """Targets without what those that are far have beyond the others."""
        return self._within(y, self.usual)

    def _within(self, y: Array, most: float) -> Array:
        drawn: Array = np.clip(y, self.middle - most, self.middle + most)
        return drawn


def reach_of(y: Array, weights: Weights) -> Reach | None:
    """Where the targets lie; None where none is far from the others."""
    links = weights.links
    if links.total(len(y)) <= 2:
        return None
    n = weights.count(len(y))
    middle = float(quantiles(y, weights.counts, np.array([0.5]), links)[0])
    with np.errstate(over="ignore"):
        away = np.abs(y - middle)
        n_far = max(min(FEW, int(SMALL * n)), int(RARE * n), 1)
        usual = float(quantiles(away, weights.counts, np.array([1.0 - (n_far + 0.5) / n]), links)[0])
        return Reach(middle, usual) if 0 < FAR * usual < extremes_of(away, links)[1] else None
