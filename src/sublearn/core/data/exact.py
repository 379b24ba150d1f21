"""Sums of floats over all samples, which are the same for any order of the rows, any threads, any partitions."""

import numpy as np

from sublearn.core.links import ALONE, Links
from sublearn.kernels.exact_sums import DOWN, LOWEST, N_WORDS, NOT_A_NUMBER, UP, WIDTH, add_exactly
from sublearn.kernels.layout import Array

NO_WEIGHTS = np.empty(0)


class ExactSum:
    """A sum that parts of the samples are added to, be it by several threads."""

    def __init__(self) -> None:
        self._parts: list[Array] = []

    def add(self, values: Array, weights: Array, first: int, last: int) -> None:
        """Add values first to last; times weights, where there are any."""
        try:
            words = self._parts.pop()  # that no other thread adds to
        except IndexError:
            words = np.zeros(WIDTH, np.int64)
        add_exactly(values, weights, first, last, words)
        self._parts.append(words)

    def total(self, links: Links = ALONE) -> float:
        """The sum over all partitions, rounded once."""
        words = links.add(sum(self._parts[1:], self._parts[0]) if self._parts else np.zeros(WIDTH, np.int64))
        places = words.nonzero()[0].tolist()  # few words of many, mostly
        if places and places[-1] >= N_WORDS:
            has = set(places)
            if NOT_A_NUMBER in has or {UP, DOWN} <= has:
                return np.nan
            return np.inf if UP in has else -np.inf
        whole: int = sum(word << 32 * place for place, word in zip(places, words[places].tolist(), strict=True))
        try:
            return whole / (1 << LOWEST)
        except OverflowError:
            return np.inf if whole > 0 else -np.inf


def exact_sum(values: Array, weights: Array = NO_WEIGHTS, links: Links = ALONE) -> float:
    """Sum of values, or of values times weights."""
    found = ExactSum()
    found.add(np.require(values, np.float64, ["C", "W"]), np.require(weights, np.float64, ["C", "W"]), 0, len(values))
    return found.total(links)
