"""From feature values to integer codes: a monotone piecewise-linear map for each feature, part of the model.

A well-behaved feature has two knots: its code is its distance from the mean in standard deviations, 1,024 codes
each. A heavy-tailed one has knots at quantiles, which are sent to the same quantiles of a normal distribution.

What is missing has a code too. A feature with gaps has three views, which differ in that code alone: in the middle of
all values, lower than all, higher than all. Each view is a column of codes, and a node takes the one that serves it
best, or the first where that is nearly as good.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.kernels.encoding import MOMENT_BITS, add_moments, encode
from sublearn.kernels.layout import Array

DEVIATIONS = 8  # codes reach this many standard deviations; a feature that reaches further is heavy-tailed
CROWDED = 64  # a feature is heavy-tailed too if a third of its samples lie within this part of a deviation
HEAVY_TAILS = (  # what "auto" stands for, in words
    f"quantiles where it has heavy tails, that is, reaches further than {DEVIATIONS} deviations or has a third of its "
    f"samples within a {CROWDED}th of one"
)
CODE_LIMIT = 8192  # largest code: 1,024 codes a deviation
EXACT = 2**24 - 1  # projected values stay within this, where float32 counts exactly
SPREAD_BINS = 1024  # parts of the range in which samples are counted
STEEPEST = 1e300  # slope of a map
BLOCK_VALUES = 1 << 19  # values converted at a time
SHARED = 10_000  # samples from which on several threads fit the maps, each for some features
FIRST_COLUMN = np.zeros(1, np.int64)
APART = 8  # what is missing lies outside the values by their range over this
WIDE = 1024  # values that rows are laid side by side to, where one row has fewer

# P(Z >= z) of a normal variable at z = 0.25, 0.5, ... 4, written out so that no machine computes it otherwise
NORMAL_TAIL = np.array(
    [
        0.401293674317,
        0.308537538726,
        0.226627352377,
        0.158655253931,
        0.105649773667,
        0.0668072012689,
        0.0400591568638,
        0.0227501319482,
        0.012224472655,
        0.00620966532578,
        0.00297976323505,
        0.00134989803163,
        0.00057702504239,
        0.000232629079036,
        8.84172852008e-05,
        3.16712418331e-05,
    ]
)
LEVELS = np.arange(-16, 17) / 4.0
PROBABILITIES = np.concatenate([NORMAL_TAIL[::-1], [0.5], 1.0 - NORMAL_TAIL])
CENTRAL = PROBABILITIES[np.isin(LEVELS, (-1.0, 0.0, 1.0))]


class FeatureMaps(NamedTuple):
    """Maps of all features, view by view; the knots of view v are at offsets[v] to offsets[v + 1]."""

    features: Array  # int64 (n_views,), ascending: the feature that a view is of
    units: Array  # float64 (n_views,), powers of two that bring values near 1
    offsets: Array  # int64 (n_views + 1,)
    knots: Array  # float64, in units
    levels: Array  # int64, codes at the knots
    slopes: Array  # float64, codes a unit from each knot to the next
    gaps: Array  # int64 (n_views,), codes of what is missing, or of levels that are not known
    listed: Array  # bool (n_views,), whether a view is one of categories: there, knots are 0, 1, 2 and so on
    per_deviation: int  # codes a standard deviation

    @property
    def n_views(self) -> int:
        """Number of columns of codes."""
        return len(self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features[-1]) + 1

    @property
    def views(self) -> Array:
        """The feature of each view, and the view preferred to it, as `Samples` takes them.

        Of numbers with gaps that is the middle one. Columns are there only if a feature has several views.
        """
        first = np.searchsorted(self.features, self.features)
        views = np.array([self.features, np.where(self.listed, np.arange(self.n_views), first)], np.int32)
        return views if self.n_views > self.n_features else views[:, :0]


class FeatureView(NamedTuple):
    """One view of a feature."""

    feature: int
    map: "Map"
    gap: int = 0  # code of what is missing, or not known


class Map(NamedTuple):
    """The map of one feature, as in `FeatureMaps`."""

    unit: float
    knots: Array
    levels: Array
    listed: bool = False


class Line(NamedTuple):
    """Before rounding, a code is slope * x + offset (straight), or slope * g(x)."""

    slope: float
    offset: float
    straight: bool
    reach: float  # largest magnitude of x or g(x) that is not cut off


def code_limit(coefficient_sum: int) -> int:
    """Largest code that keeps projections with this sum of coefficients exact."""
    return min(CODE_LIMIT, EXACT // max(coefficient_sum, 1))


def fit_maps(x: Array, weights: Array, kind: str, limit: int, workers: Workers) -> FeatureMaps:
    """Choose the maps of all features of x (n_samples, n_features); NaN is missing; kind: as in `number_views`."""
    return pack_views(number_views(x, np.arange(x.shape[1]), weights, kind, limit, workers), limit)


def number_views(
    x: Array, columns: Array, weights: Array, kind: str, limit: int, workers: Workers
) -> list[FeatureView]:
    """Views of the features in some columns of x, by the values that are there; kind: auto, linear or quantile."""
    low, high = _extremes(x)
    some = workers if len(x) >= SHARED else Workers(1)
    is_gappy = np.isnan(low[columns])
    whole, gappy = columns[~is_gappy], columns[is_gappy]
    maps = _fit_whole(x, whole, weights, (low, high), kind, limit, some)
    views = [FeatureView(f, one) for f, one in zip(whole.tolist(), maps, strict=True)]

    def fit_gappy(i: int, _: Workers) -> list[FeatureView]:
        f = int(gappy[i])
        there = ~np.isnan(x[:, f])
        if not there.any():
            return [FeatureView(f, Map(1.0, np.zeros(1), np.zeros(1, np.int64)))]
        z = x[there, f][:, None]
        own, ends = weights[there] if weights.size else weights, _extremes(z)
        (one,) = _fit_whole(z, FIRST_COLUMN, own, ends, kind, limit, Workers(1))
        return [FeatureView(f, one, gap) for gap in _gap_codes(np.array(ends, np.float64), one, limit)]

    return [*views, *(view for found in some.each(fit_gappy, len(gappy)) for view in found)]


def _fit_whole(
    x: Array, columns: Array, weights: Array, extremes: tuple[Array, Array], kind: str, limit: int, workers: Workers
) -> list[Map]:
    """Maps of some columns of x, of which no value is missing; `extremes` are those of all columns."""
    if not len(columns):
        return []
    low, high = (extreme[columns].astype(np.float64) for extreme in extremes)
    _, exponents = np.frexp(high * 0.5 - low * 0.5)
    units = np.ldexp(1.0, -np.clip(exponents + 1, -1000, 1000))
    low, high = low * units, high * units
    means, deviations, narrow = _moments(x, columns, weights, units, low, high)
    reach = np.maximum(high - means, means - low)
    curved = (reach > DEVIATIONS * deviations) & (kind == "auto") | (kind == "quantile")

    def choose(i: int, _: Workers) -> Map:
        z = x[:, columns[i]].astype(np.float64) * units[i] if curved[i] or (kind == "auto" and narrow[i]) else None
        if low[i] == high[i]:
            return Map(units[i], low[i : i + 1], np.zeros(1, np.int64))
        if z is not None and (curved[i] or _is_crowded(z, weights, deviations[i])):
            return Map(units[i], *_quantile_map(z, weights, limit // DEVIATIONS))
        return Map(units[i], *_linear_map(means[i], max(deviations[i], reach[i] / DEVIATIONS), limit))

    return workers.each(choose, len(columns))


def _gap_codes(ends: Array, one: Map, limit: int) -> list[int]:
    """Codes of what is missing, one a view: between the values, which end at `ends` (2, 1), lower, higher."""
    if len(one.knots) == 1:  # all that is there is alike
        return [limit // DEVIATIONS]
    low, high = encode_samples(ends, pack_views([FeatureView(0, one)], limit), Workers(1))[0].tolist()
    apart = -(-(high - low) // APART)
    return [0, max(low - apart, -limit), min(high + apart, limit)]


def encode_samples(x: Array, maps: FeatureMaps, workers: Workers) -> Array:
    """Codes (n_views, n_samples) of x (n_samples, n_features)."""
    out = np.empty((maps.n_views, x.shape[0]), np.int16)
    for begin, block in _blocks(x):
        workers.run(partial(encode, block, maps, begin, out), np.array([maps.n_views]), items=len(block))
    return out


def encode_part(x: Array, maps: FeatureMaps, out: Array) -> None:
    """Write the codes of a few samples to the first columns of `out`, in this thread."""
    block = _as_block(x)
    encode(block, maps, 0, out, 0, len(block))


def line_of(maps: FeatureMaps, f: int) -> Line:
    """The map of a view as a line, over x itself or over g(x)."""
    a, b = maps.offsets[f], maps.offsets[f + 1]
    if b - a == 1:
        return Line(0.0, float(maps.levels[a]), True, 0.0)
    if b - a == 2:
        slope, reach = maps.slopes[a] * maps.units[f], np.abs(maps.knots[a:b]).max() / maps.units[f]
        return Line(float(slope), float(maps.levels[a] - maps.slopes[a] * maps.knots[a]), True, float(reach))
    return Line(float(maps.per_deviation), 0.0, False, float(DEVIATIONS))


def curve_of(maps: FeatureMaps, f: int) -> tuple[Array, Array]:
    """Knots of g, in the units of the feature, and its value there, in standard deviations."""
    part = slice(maps.offsets[f], maps.offsets[f + 1])
    return maps.knots[part] / maps.units[f], maps.levels[part] / maps.per_deviation


def first_values(maps: FeatureMaps, codes: Array) -> Array:
    """The smallest value of each feature whose code is at least this, which must be one that the feature can have.

    Found by halves over all floats in their order: x >= value is true exactly where the code of x is at least this.
    """
    n = len(codes)
    low = np.full(n, -_place(np.finfo(np.float64).max), np.int64)
    high, out = -low, np.empty((n, 1), np.int16)
    while (low < high).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        encode_part(_float_at(middle)[None], maps, out)
        reached = out[:, 0] >= codes
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    return _float_at(high)


def _place(x: float) -> int:
    """Where a positive number is among the floats, 0 being at 0."""
    return int(np.float64(x).view(np.int64))


def _float_at(places: Array) -> Array:
    """The floats at these places; negative ones are mirrored."""
    magnitudes: Array = np.abs(places).view(np.float64)
    return np.copysign(magnitudes, places)


def _blocks(x: Array, columns: Array | None = None) -> Iterator[tuple[int, Array]]:
    """Pieces of x, or of some of its columns, as C-ordered float64, with their first row."""
    size = max(1, BLOCK_VALUES // x.shape[1])
    for begin in range(0, x.shape[0], size):
        block = x[begin : begin + size]
        yield begin, _as_block(block if columns is None else block[:, columns])


def _as_block(x: Array) -> Array:
    """Values as kernels take them; writeable, since Numba would compile once more for arrays that are not."""
    is_right = x.dtype == np.float64 and x.flags.c_contiguous and x.flags.writeable
    return x if is_right else np.require(x, np.float64, ["C", "W"])


def _extremes(x: Array) -> tuple[Array, Array]:
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


class _Moments(NamedTuple):
    """Where the samples of each feature lie, in units."""

    means: Array
    deviations: Array
    narrow: Array  # whether a part of the samples may lie so close together as `_is_crowded` looks for


def _moments(x: Array, columns: Array, weights: Array, units: Array, low: Array, high: Array) -> _Moments:
    """Mean, standard deviation and spread of some features, from sums of integers."""
    centres = (low + high) / 2.0
    _, exponents = np.frexp(high - low)
    factors = np.ldexp(1.0, MOMENT_BITS - exponents)
    sums = np.zeros((len(columns), 2), np.int64)
    spread = np.zeros((len(columns), SPREAD_BINS), np.int64)
    for begin, block in _blocks(x, None if len(columns) == x.shape[1] else columns):
        add_moments(block, weights[begin : begin + len(block)], units, centres, factors, sums, spread)
    total = float(weights.sum()) if weights.size else float(x.shape[0])
    mean = sums[:, 0] / total
    deviations = np.sqrt(np.maximum(sums[:, 1] / total - mean * mean, 0.0)) / factors
    reached = np.cumsum(spread, axis=1)
    bins = [(reached < p * total).sum(axis=1) for p in CENTRAL]
    width = np.ldexp(1.0, exponents) / SPREAD_BINS
    widths = (np.minimum(bins[1] - bins[0], bins[2] - bins[1]) - 1) * width  # the quantiles are at least so far apart
    return _Moments(centres + mean / factors, deviations, widths < deviations / CROWDED)


def _linear_map(mean: float, deviation: float, limit: int) -> tuple[Array, Array]:
    """Two knots, as far out as codes go, so that a hyperplane stays straight beyond the training samples."""
    reach = limit // DEVIATIONS * DEVIATIONS
    knots = np.array([mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation])
    return knots, np.array([-reach, reach])


def _is_crowded(z: Array, weights: Array, deviation: float) -> bool:
    """Whether the samples on one side of the median, out to a normal deviation, share a few linear codes.

    Values spread evenly over many decades are an example; they need not reach far in deviations.
    """
    low, middle, high = quantiles(z, weights, CENTRAL)
    return any(0 < width < deviation / CROWDED for width in (middle - low, high - middle))


def _quantile_map(z: Array, weights: Array, per_deviation: int) -> tuple[Array, Array]:
    """Knots at quantiles of z; values that fill several levels take the one nearest the middle."""
    knots = np.concatenate([[z.min()], quantiles(z, weights, PROBABILITIES), [z.max()]])
    levels = np.concatenate([[LEVELS[0] - 0.25], LEVELS, [LEVELS[-1] + 0.25]])
    nearest = np.lexsort((np.abs(levels), knots))
    knots, levels = knots[nearest], levels[nearest]
    first = np.concatenate([[True], knots[1:] > knots[:-1]])
    return knots[first], np.rint(levels[first] * per_deviation).astype(np.int64)


def quantiles(z: Array, weights: Array, probabilities: Array) -> Array:
    """Smallest values with at least these shares of the weight at or below them."""
    if weights.size:
        order = np.argsort(z, kind="stable")
        reached = np.cumsum(weights[order])
        at = np.searchsorted(reached, probabilities * reached[-1])
        found: Array = z[order[np.minimum(at, len(z) - 1)]]
    else:
        at = np.maximum(np.ceil(probabilities * len(z)).astype(np.int64) - 1, 0)
        found = np.partition(z, at)[at]
    return found


def pack_views(views: list[FeatureView], limit: int) -> FeatureMaps:
    """Views put together, feature by feature; those of one feature stay in their order."""
    views = sorted(views, key=lambda view: view.feature)
    maps = [view.map for view in views]
    offsets = np.concatenate([[0], np.cumsum([len(one.knots) for one in maps])]).astype(np.int64)
    knots = np.concatenate([one.knots for one in maps])
    levels = np.concatenate([one.levels for one in maps])
    return FeatureMaps(
        features=np.array([view.feature for view in views], np.int64),
        units=np.array([one.unit for one in maps]),
        offsets=offsets,
        knots=knots,
        levels=levels,
        slopes=slopes_between(knots, levels),
        gaps=np.array([view.gap for view in views], np.int64),
        listed=np.array([one.listed for one in maps]),
        per_deviation=limit // DEVIATIONS,
    )


def slopes_between(knots: Array, levels: Array) -> Array:
    """Codes a unit from each knot to the next, of all views; at the last knot of a view it is of no use."""
    slopes = np.zeros(len(knots))
    run = np.diff(knots)
    with np.errstate(over="ignore"):  # neighbouring knots may be hundreds of decades below the others
        np.divide(np.diff(levels), run, out=slopes[:-1], where=run > 0)
    return np.minimum(slopes, STEEPEST, out=slopes)
