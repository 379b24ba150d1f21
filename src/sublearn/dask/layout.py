"""Which worker gets which blocks: consecutive ones, about as many rows each, and near to where they are."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

SLACK = 0.25  # of a worker's fair share, by which a border may move so that fewer blocks do


class Stretch(NamedTuple):
    """Consecutive blocks for a worker."""

    address: str
    first: int
    last: int  # not included

    @property
    def name(self) -> str:
        """How errors speak of it."""
        if self.last - self.first == 1:
            return f"block {self.first}"
        return f"blocks {self.first} to {self.last - 1}" if self.last > self.first else "no block"


def lay_out(sizes: Sequence[float], addresses: Sequence[str], holders: Mapping[int, set[str]]) -> list[Stretch]:
    """A stretch for each of some workers, which stay in their order, or for the first of them where blocks are fewer.

    sizes: of blocks, to be shared evenly; holders: the workers on which a block already is, of blocks that are.
    """
    n_blocks = len(sizes)
    workers = addresses[: max(n_blocks, 1)]
    ends = np.append(0.0, np.cumsum(np.maximum(sizes, 1e-9)))
    share = ends[-1] / len(workers)
    borders = [0]
    for number, (before, after) in enumerate(pairwise(workers), start=1):
        goal, least, most = number * share, borders[-1] + 1, n_blocks - (len(workers) - number)
        near = [at for at in range(least, most + 1) if abs(ends[at] - goal) <= SLACK * share]
        nearest = min(range(least, most + 1), key=lambda at: abs(ends[at] - goal))
        borders.append(min(near or [nearest], key=lambda at: (_moved(at, near, before, after, holders), at != nearest)))
    borders.append(n_blocks)
    return [Stretch(worker, first, last) for worker, (first, last) in zip(workers, pairwise(borders), strict=True)]


def in_order(addresses: Sequence[str], holders: Mapping[int, set[str]]) -> list[str]:
    """Workers by the places of the blocks that they hold; those that hold none come last."""
    places = {address: [block for block, who in holders.items() if address in who] for address in addresses}
    return sorted(addresses, key=lambda one: (not places[one], float(np.mean(places[one] or [0])), one))


def _moved(border: int, near: Sequence[int], before: str, after: str, holders: Mapping[int, set[str]]) -> int:
    """How many blocks near a border would have to move to the worker on their side of it."""
    blocks = range(near[0], near[-1]) if near else ()
    return sum((before if block < border else after) not in holders.get(block, {before, after}) for block in blocks)
