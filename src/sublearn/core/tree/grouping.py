"""The samples of a large tree, put side by side node by node once nodes are small.

The samples of a small node are scattered over the training set: each would be in a cache line of its own, which is
fetched anew for every feature.
"""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array, Samples

FAR = 200_000  # samples that a cache does not hold
SMALL = 32  # samples are grouped when nodes have a 32nd of all, and again when nodes have a 32nd of that
EARLY = 8  # in a shallow tree when nodes have an eighth, since all are grouped once
NEAR = 256  # samples of nodes so small that grouping them gains nothing
DEEP = 12  # levels that a tree may have; for shallower ones grouping pays only if
MANY = 4  # threads wait for the memory together
MOST = 1 << 26  # codes that are copied for a tree
NUMBERING = 0.25  # what it costs to number a sample anew, in samples visited


class Grouped:
    """The samples that a tree is grown from, and their order; trees do not depend on how samples are numbered."""

    def __init__(self, samples: Samples, order: Array, max_depth: int, n_threads: int = 1) -> None:
        self.samples = samples
        self.order = order
        self._numbers: Array | None = None  # once grouped: the own number of the sample in each place
        pays = len(order) >= FAR and (max_depth >= DEEP or n_threads >= MANY)
        pays = pays and len(samples.codes) * len(order) <= MOST
        small = len(order) // (SMALL if max_depth >= DEEP else EARLY)
        self.limit = small if pays else 0  # samples of nodes that are small; 0: all stay where they are

    def group(self, workers: Workers) -> None:
        """Put the samples of each node side by side, and set the size of nodes at which that is done again."""
        n, own = len(self.order), self.samples[:-2]
        room, places = self._room(workers)
        grouped = room if self._numbers is None else own
        before, numbers = self._numbers, np.empty(n, np.int32)

        def number(first: int, last: int) -> None:
            order, part = self.order[first:last], places[first:last]
            part[:] = order  # once, and not for each row
            numbers[first:last] = order if before is None else before[part]
            order[:] = np.arange(first, last)

        workers.run_chunks(number, n, NUMBERING)
        pairs = [(np.atleast_2d(c), np.atleast_2d(g)) for c, g in zip(own, grouped, strict=True) if c.size]
        rows = [pair for columns in pairs for pair in zip(*columns, strict=True)]

        def move(first: int, last: int) -> None:
            for row, target in rows[first:last]:
                row.take(places, out=target, mode="clip")

        workers.run(move, np.array([float(n)]), items=len(rows))
        self.samples = Samples._make([*grouped, *self.samples[-2:]])
        self._numbers = numbers
        self.limit = self.limit // SMALL if self.limit // SMALL >= NEAR else 0

    def _room(self, workers: Workers) -> tuple[tuple[Array, ...], Array]:
        """Room for the samples and for places, where those of the last tree of this thread were."""
        own, n = self.samples[:-2], len(self.order)
        key = n, tuple((c.shape[:-1], c.dtype.str, c.size > 0) for c in own)

        def make() -> tuple[tuple[Array, ...], Array]:
            room = tuple(np.empty((*c.shape[:-1], n), c.dtype) if c.size else c for c in own)
            return room, np.empty(n, np.intp)

        return workers.keep(key, make, "grouped")

    def own_order(self, workers: Workers) -> Array:
        """The order of the samples, by their own numbers rather than by their places, when the tree is grown."""
        numbers, order = self._numbers, self.order

        def name(first: int, last: int) -> None:
            order[first:last] = numbers[order[first:last]]  # type: ignore[index]

        if numbers is not None:
            workers.run_chunks(name, len(order), NUMBERING)
        return order
