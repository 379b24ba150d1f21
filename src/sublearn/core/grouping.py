"""The samples of a large tree, put side by side node by node once nodes are small.

Further down, each sample of a node would be in a cache line of its own, and be fetched anew for every feature.
"""

from typing import Any

import numpy as np

from sublearn.kernels.layout import Array, Samples

FAR = 200_000  # samples that a cache does not hold
SMALL = 32  # nodes are small with this part of the samples
DEEP = 8  # levels that a tree must be allowed to grow further
MOST = 1 << 27  # bytes of codes that are copied, by each thread


class Grouped:
    """The samples that a tree is grown from, and their order; models do not depend on what they are called."""

    def __init__(self, samples: Samples, order: Array) -> None:
        self.samples = samples
        self.order = order
        self._numbers: Array | None = None  # of those side by side

    def group(self, n_next: int, n_levels: int) -> None:
        """Put them side by side, if it pays where the next node has so many samples and so many levels may follow."""
        n = len(self.order)
        pays = n >= FAR and n_next * SMALL <= n and n_levels >= DEEP and self.samples.codes.nbytes <= MOST
        if self._numbers is None and pays:
            self._numbers = self.order.copy()
            columns = [_taken(column, self._numbers) for column in self.samples[:-1]]
            self.samples = Samples._make([*columns, self.samples.n_classes])
            self.order[:] = np.arange(n)

    def own_order(self) -> Array:
        """The order, by the samples' own numbers."""
        return self.order if self._numbers is None else self._numbers[self.order]


def _taken(column: Any, numbers: Array) -> Any:
    """The column of these samples; an empty one stays so."""
    return np.take(column, numbers, axis=-1) if column.size else column
