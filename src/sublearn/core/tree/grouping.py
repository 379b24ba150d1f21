"""The samples of a large tree, put side by side node by node once nodes are small.

The samples of a small node are scattered over the training set: each would be in a cache line of its own, which is
fetched anew for every feature.
"""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array, Samples

FAR = 200_000  # samples that a cache does not hold
SMALL = 32  # samples are grouped when nodes have a 32nd of all, and again when nodes have a 32nd of that
NEAR = 256  # samples of nodes so small that grouping them gains nothing
DEEP = 12  # levels that a tree may have; for shallower ones grouping pays only if
MANY = 4  # threads wait for the memory together
MOST = 1 << 26  # codes that are copied for a tree


class Grouped:
    """The samples that a tree is grown from, and their order; trees do not depend on how samples are numbered."""

    def __init__(self, samples: Samples, order: Array, max_depth: int, n_threads: int = 1) -> None:
        self.samples = samples
        self.order = order
        self._numbers: Array | None = None  # once grouped: the own number of the sample in each place
        pays = len(order) >= FAR and (max_depth >= DEEP or n_threads >= MANY)
        pays = pays and len(samples.codes) * len(order) <= MOST
        self.limit = len(order) // SMALL if pays else 0  # samples of nodes that are small; 0: all stay where they are

    def group(self, workers: Workers) -> None:
        """Put the samples of each node side by side, and set the size of nodes at which that is done again."""
        own = self.samples[:-2]
        grouped: tuple[Array, ...] = own
        if self._numbers is None:
            grouped = tuple(np.empty((*c.shape[:-1], len(self.order)), c.dtype) if c.size else c for c in own)
        pairs = [(np.atleast_2d(c), np.atleast_2d(g)) for c, g in zip(own, grouped, strict=True) if c.size]
        rows = [pair for columns in pairs for pair in zip(*columns, strict=True)]

        places = self.order.astype(np.intp)  # once, and not for each row

        def move(first: int, last: int) -> None:
            for row, target in rows[first:last]:
                target[:] = row.take(places, mode="clip")

        workers.run(move, np.array([float(len(self.order))]), items=len(rows))
        self.samples = Samples._make([*grouped, *self.samples[-2:]])
        self._numbers = self.own_order().copy()
        self.order[:] = np.arange(len(self.order))
        self.limit = self.limit // SMALL if self.limit // SMALL >= NEAR else 0

    def own_order(self) -> Array:
        """The order of the samples, by their own numbers rather than by their places."""
        return self.order if self._numbers is None else self._numbers[self.order]
