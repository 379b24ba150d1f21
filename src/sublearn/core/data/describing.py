"""What maps are chosen by: extremes, moments and quantiles of features, found by threads and all partitions together.

Threads take stretches of rows, and what they find is put together: extremes, or sums of integers. Neither depends on
how rows are divided. What is missing is left out, feature by feature.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.core.data.order_statistics import quantiles, quantiles_of_each
from sublearn.core.parallel import Workers
from sublearn.kernels.encoding import MOMENT_BITS, add_moments
from sublearn.kernels.layout import Array

CROWDED = 64  # a feature is heavy-tailed too if a third of its samples lie within this part of a deviation
SPREAD_BINS = 1024  # parts of the range in which samples are counted
BLOCK_VALUES = 1 << 16  # values converted at a time, so that they are in the cache
WIDE = 1024  # values that rows are laid side by side to, where one row has fewer
SHARED = 10_000  # samples from which on several threads look for quantiles, each of some features
LOOKING = 0.25  # what a look at a value costs, in samples visited
TOGETHER = 4_000_000  # values in whose columns partitions look for quantiles together; each takes some 50 bytes


class Values(NamedTuple):
    """Some columns of the values of samples."""

    x: Array  # (n_samples, n_features), NaN is missing
    columns: Array  # int64 (n_columns,)
    weights: Array  # int64 (n_samples,); empty for ones

    def column(self, i: int, unit: float) -> tuple[Array, Array]:
        """What is there in one of the columns, in units, with its weights."""
        z = self.x[:, self.columns[i]].astype(np.float64) * unit
        there = ~np.isnan(z)
        if there.all():
            return z, self.weights
        return z[there], self.weights[there] if self.weights.size else self.weights


class Extent(NamedTuple):
    """The smallest and the largest value of some features, and whether values are missing."""

    low: Array  # float64 (n_columns,); infinity where nothing is there
    high: Array  # float64 (n_columns,); minus infinity where nothing is there
    gappy: Array  # bool (n_columns,)

    def take(self, some: Array) -> "Extent":
        """Those of some of the features."""
        return Extent(self.low[some], self.high[some], self.gappy[some])


class Moments(NamedTuple):
    """Where the samples of each feature lie, in units."""

    means: Array
    deviations: Array
    narrow: Array  # whether a part of the samples may lie so close together as heavy tails do


def extent_of(x: Array, columns: Array, workers: Workers) -> Extent:
    """The extent of some columns of x in all partitions."""
    found = [np.stack([np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)])]

    def look(first: int, last: int) -> None:
        found.append(np.array(extremes(x[first:last]), np.float64))

    if len(x):
        workers.run(look, np.array([LOOKING * x.shape[1]]), items=len(x))
    low, high = np.min([one[0] for one in found], axis=0)[columns], np.max([one[1] for one in found], axis=0)[columns]
    gappy = np.isnan(low)
    for i in np.flatnonzero(gappy).tolist():
        column = x[:, columns[i]]
        low[i], high[i] = np.fmin.reduce(column, initial=np.inf), np.fmax.reduce(column, initial=-np.inf)
    low, high, gappy = workers.links.most(np.stack([-low, high, gappy.astype(np.float64)]))
    return Extent(0.0 - low, 0.0 + high, gappy > 0)  # zero has no sign, which would depend on the order of the rows


def extremes(x: Array) -> tuple[Array, Array]:
    """Smallest and largest value of each feature, NaN for one with gaps.

    Many narrow rows are one wide row, since NumPy goes row by row.
    """
    n_side = max(WIDE // x.shape[1], 1)
    whole = len(x) // n_side * n_side
    if not x.flags.c_contiguous or whole == 0:
        return x.min(axis=0), x.max(axis=0)
    wide, rest = x[:whole].reshape(-1, n_side * x.shape[1]), x[whole - 1 :]  # one row too many, so that none is empty
    low = wide.min(axis=0).reshape(n_side, -1).min(axis=0)
    high = wide.max(axis=0).reshape(n_side, -1).max(axis=0)
    return np.minimum(low, rest.min(axis=0)), np.maximum(high, rest.max(axis=0))


def moments_of(values: Values, units: Array, low: Array, high: Array, central: Array, workers: Workers) -> Moments:
    """Mean, standard deviation and spread of some features, from sums of integers.

    low, high: extremes in units; central: probabilities of three quantiles, which are not nearer than the spread says.
    """
    centres = (low + high) / 2.0
    _, exponents = np.frexp(high - low)
    factors = np.ldexp(1.0, MOMENT_BITS - exponents)
    sums, spread = _sums(values, (units, centres, factors), workers)
    totals = sums[:, 0].astype(np.float64)
    mean = sums[:, 1] / totals
    deviations = np.sqrt(np.maximum(sums[:, 2] / totals - mean * mean, 0.0)) / factors
    reached = np.cumsum(spread, axis=1)
    bins = [(reached < (p * totals)[:, None]).sum(axis=1) for p in central]
    width = np.ldexp(1.0, exponents) / SPREAD_BINS
    widths = (np.minimum(bins[1] - bins[0], bins[2] - bins[1]) - 1) * width  # the quantiles are at least so far apart
    return Moments(centres + mean / factors, deviations, widths < deviations / CROWDED)


def _sums(values: Values, scale: tuple[Array, Array, Array], workers: Workers) -> tuple[Array, Array]:
    """Sums (n_columns, 3) and spread (n_columns, SPREAD_BINS) of all partitions, as `add_moments` has them."""
    x, columns, weights = values
    n = len(columns)
    some = None if n == x.shape[1] else columns
    found = [_no_sums(n)]

    def add(first: int, last: int) -> None:
        try:
            sums, spread = found.pop()  # of rows that are done, to which these are added
        except IndexError:
            sums, spread = _no_sums(n)
        for begin, block in blocks(x, first, last, some):
            add_moments(block, weights[begin : begin + len(block)], *scale, sums, spread)
        found.append((sums, spread))

    workers.run(add, np.array([n]), items=len(x))
    whole = workers.links.add(np.sum([np.concatenate(one, axis=1) for one in found], axis=0))
    return whole[:, :3], whole[:, 3:]


def _no_sums(n: int) -> tuple[Array, Array]:
    return np.zeros((n, 3), np.int64), np.zeros((n, SPREAD_BINS), np.int64)


def quantiles_of(values: Values, some: Array, units: Array, probabilities: Array, workers: Workers) -> Array:
    """Quantiles (n_some, n_probabilities) of some of the columns, in units."""
    if not len(some):
        return np.empty((0, len(probabilities)))
    links = workers.links
    if links.n_partitions > 1:
        longest = int(links.most(np.array([len(values.x)]))[0])  # stretches of columns are the same everywhere
        n_each = max(TOGETHER // longest, 1)
        found = []
        for begin in range(0, len(some), n_each):
            columns = [values.column(i, units[i]) for i in some[begin : begin + n_each].tolist()]
            found.append(quantiles_of_each([z for z, _ in columns], [w for _, w in columns], probabilities, links))
        return np.concatenate(found)

    def find(k: int, _: Workers) -> Array:
        i = int(some[k])
        return quantiles(*values.column(i, units[i]), probabilities)

    shared = workers if len(values.x) >= SHARED else Workers(1)
    return np.array(shared.each(find, len(some)))


def blocks(x: Array, first: int, last: int, columns: Array | None = None) -> Iterator[tuple[int, Array]]:
    """Pieces of rows first to last of x, or of some of its columns, as C-ordered float64, with their first row.

    What has to be converted lies in the same room, piece after piece: it is of use until the next one is asked for.
    """
    size = max(1, BLOCK_VALUES // x.shape[1])
    room = np.empty((0, 0))
    for begin in range(first, last, size):
        block = x[begin : min(begin + size, last)]
        if columns is not None:
            block = block[:, columns]
        if not _is_right(block):
            room = room if room.size else np.empty(block.shape)
            room[: len(block)] = block
            block = room[: len(block)]
        yield begin, block


def as_block(x: Array) -> Array:
    """Values as kernels take them."""
    return x if _is_right(x) else np.require(x, np.float64, ["C", "W"])


def _is_right(x: Array) -> bool:
    """Whether values are as kernels take them: writeable too, since Numba would compile once more for others."""
    return x.dtype == np.float64 and x.flags.c_contiguous and x.flags.writeable
