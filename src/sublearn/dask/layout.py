"""Which worker gets which blocks: consecutive ones, about as many rows each, and near to where they are."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sublearn.kernels.layout import Array

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
        least, most = borders[-1] + 1, n_blocks - (len(workers) - number)
        away = np.abs(ends[least : most + 1] - number * share)
        nearest, near = least + int(np.argmin(away)), least + np.flatnonzero(away <= SLACK * share)
        if holders and len(near):
            moved = _moved(range(near[0], near[-1]), before, after, holders)
            fewest = near[moved == moved.min()]
            nearest = nearest if nearest in fewest else int(fewest[0])
        borders.append(nearest)
    borders.append(n_blocks)
    return [Stretch(worker, first, last) for worker, (first, last) in zip(workers, pairwise(borders), strict=True)]


def in_order(addresses: Sequence[str], holders: Mapping[int, set[str]]) -> list[str]:
    """Workers by the places of the blocks that they hold; those that hold none come last."""
    places: dict[str, list[int]] = {address: [] for address in addresses}
    for block, who in holders.items():
        for address in who & places.keys():
            places[address].append(block)
    return sorted(addresses, key=lambda one: (not places[one], float(np.mean(places[one] or [0])), one))


def _moved(blocks: range, before: str, after: str, holders: Mapping[int, set[str]]) -> Array:
    """How many of some blocks would have to move to the worker on their side of a border: before each, and after all.

    Three blocks, held by `after`, `before` and a third worker: with the border before them all 2 move, then 3, 2 and 2.
    """
    both = {before, after}
    held = [holders.get(block, both) for block in blocks]  # what is nowhere moves to neither
    to_before = np.cumsum([0, *(before not in who for who in held)])
    to_after = np.cumsum([0, *(after not in who for who in held)])
    moved: Array = to_before + to_after[-1] - to_after
    return moved
