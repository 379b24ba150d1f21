"""What partitions have found in an operation becomes what all of them have found.

That is in the front. Whatever is decided from it is the same everywhere, so decisions are never sent.
"""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.links import Links
from sublearn.core.tree.rows import COLUMNS, pack, put, unpack
from sublearn.core.tree.task import Task
from sublearn.kernels.front import DESCRIBED, SIZE, Front
from sublearn.kernels.layout import Array, Samples
from sublearn.kernels.machine import (
    CELLS,
    COUNT,
    DESCRIBE,
    PRODUCTS,
    RACERS,
    RANGES,
    ROOT,
    SUMS,
    VIEW_RANGES,
    VIEW_SUMS,
)


class Whole(NamedTuple):
    """How many samples there are: in all partitions, and in those before this one."""

    counts: Array  # int64 (n_runs,), of all partitions
    before: Array  # int64 (n_runs,)

    @property
    def n_samples(self) -> int:
        """Samples of all partitions."""
        return int(self.counts.sum())


def count_all(task: Task, links: Links) -> Whole:
    """How many samples of each class there are."""
    counts = np.array(links.gather(np.diff(task.root.runs[0])))
    return Whole(counts.sum(axis=0), counts[: links.number].sum(axis=0))


def with_columns(samples: Samples, links: Links) -> Samples:
    """The samples, or one that stands in for none: an array without numbers would say that the task has no such."""
    has = np.array([getattr(samples, name).size > 0 for name in COLUMNS], np.int64)
    wanted = links.most(has)
    if samples.codes.shape[1]:
        return samples
    there = [name for name, is_there in zip(COLUMNS, wanted, strict=True) if is_there]
    alone: dict[str, Any] = {name: np.zeros(1, getattr(samples, name).dtype) for name in there}
    return samples._replace(codes=np.zeros((samples.codes.shape[0], 1), samples.codes.dtype), **alone)


class Exchange:
    """Puts together what partitions have found in an operation."""

    def __init__(self, samples: Samples, front: Front, totals: Array, links: Links) -> None:
        self.samples, self.front, self.totals, self.links = samples, front, totals, links

    def run(self, operation: int) -> None:
        """Put together what this operation has found."""
        front, n = self.front, int(self.front.flags[SIZE])
        unraced = ~front.raced[:n]
        if operation == ROOT:
            self.totals[:] = self.links.add(self.totals)
        elif operation == DESCRIBE:
            described = int(front.flags[DESCRIBED])
            front.described[:described] = self.links.add(front.described[:described])
            self._widen(front.ends, np.arange(described))
        elif operation == VIEW_RANGES:
            self._widen(front.view_ranges, np.flatnonzero(unraced))
        elif operation == VIEW_SUMS:
            self._add(front.sums, np.flatnonzero(unraced), front.view_ranges.shape[1])
        elif operation == PRODUCTS:
            self._add(front.products, np.flatnonzero(unraced & ~front.solved[:n]))
        elif operation == RACERS:
            self._send_racers(np.flatnonzero(front.raced[:n]))
        elif operation == RANGES:
            self._widen(front.candidates.ranges, np.flatnonzero(front.ranged[:n]))
        elif operation == SUMS:
            self._add(front.sums, np.arange(n), int(front.candidates.sizes[:n].max(initial=0)))
        elif operation == CELLS:
            tried = np.flatnonzero(front.tried[:n] >= 0)
            self._add(front.keeping.tried_sums, tried, 2 << int(front.partitions.n_kept[tried].max(initial=0)))
        elif operation == COUNT:
            self._count(n)

    def _add(self, sums: Array, nodes: Array, width: int | None = None) -> None:
        """Replace the sums of some nodes by those of all partitions."""
        if len(nodes):
            which = slice(len(nodes)) if nodes[-1] == len(nodes) - 1 else nodes  # of the first ones nothing is copied
            sums[which, :width] = self.links.add(np.ascontiguousarray(sums[which, :width]))

    def _widen(self, ranges: Array, nodes: Array) -> None:
        """Replace ranges (n, ..., 2) of some nodes by those of all partitions."""
        if len(nodes):
            both = ranges[nodes]
            both[..., 0] *= -1
            both = self.links.most(both)
            both[..., 0] *= -1
            ranges[nodes] = both

    def _send_racers(self, nodes: Array) -> None:
        """Gather the samples that race."""
        front, n_each = self.front, self.front.drawn.shape[1]
        node, place = np.nonzero(front.drawn[nodes] >= 0)
        slots = (nodes[node] * n_each + place).astype(np.int32)
        for parcel in self.links.gather(pack(self.samples, front.drawn[nodes][node, place], slots)):
            put(*unpack(parcel, self.samples, True), into=front.racers)

    def _count(self, n: int) -> None:
        """Fill the counts of all partitions, and of those before this one."""
        front = self.front
        width = 1 << int(front.partitions.n_kept[:n].max(initial=0))
        parts = np.array(self.links.gather(np.ascontiguousarray(front.own_counts[:n, :width])))
        front.whole_counts[:n, :width] = parts.sum(axis=0)
        front.before[:n, :width] = parts[: self.links.number].sum(axis=0)
