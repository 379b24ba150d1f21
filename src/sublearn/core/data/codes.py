"""From feature values to integer codes: a monotone piecewise-linear map for each feature, part of the model.

A well-behaved feature has two knots: its code is its distance from the mean in standard deviations, 1,024 codes
each. A heavy-tailed one has knots at quantiles, which are sent to the same quantiles of a normal distribution.

What is missing has a code too. A feature with gaps has three views, which differ in that code alone: in the middle of
all values, lower than all, higher than all. Each view is a column of codes, and a node takes the one that serves it
best, or the first where that is nearly as good.
"""

from typing import NamedTuple

import numpy as np

from sublearn.core.data.describing import (
    CROWDED,
    Extent,
    Moments,
    Values,
    as_block,
    blocks,
    extent_of,
    moments_of,
    quantiles_of,
)
from sublearn.core.parallel import Workers
from sublearn.kernels.encoding import encode
from sublearn.kernels.layout import Array

DEVIATIONS = 8  # codes reach this many standard deviations; a feature that reaches further is heavy-tailed
HEAVY_TAILS = (  # what "auto" stands for, in words
    f"quantiles where it has heavy tails, that is, reaches further than {DEVIATIONS} deviations or has a third of its "
    f"samples within a {CROWDED}th of one"
)
CODE_LIMIT = 8192  # largest code: 1,024 codes a deviation
EXACT = 2**24 - 1  # projected values stay within this, where float32 counts exactly
STEEPEST = 1e300  # slope of a map
APART = 8  # what is missing lies outside the values by their range over this

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


NOTHING_THERE = Map(1.0, np.zeros(1), np.zeros(1, np.int64))  # of a feature that all samples miss


class Line(NamedTuple):
    """Before rounding, a code is slope * x + offset (straight), or slope * g(x)."""

    slope: float
    offset: float
    straight: bool
    reach: float  # largest magnitude of x or g(x) that is not cut off


def code_limit(coefficient_sum: int) -> int:
    """Largest code that keeps projections with this sum of coefficients exact."""
    return min(CODE_LIMIT, EXACT // max(coefficient_sum, 1))


def number_views(
    x: Array, columns: Array, weights: Array, kind: str, limit: int, workers: Workers
) -> list[FeatureView]:
    """Views of the features in some columns of x (n_samples, n_features), by the values that are there.

    NaN is missing; kind: auto, linear or quantile; limit: the largest code.
    """
    extent = extent_of(x, columns, workers)
    is_there = extent.low <= extent.high
    maps = iter(_fit_values(Values(x, columns[is_there], weights), extent.take(is_there), kind, limit, workers))
    views = []
    for i, f in enumerate(columns.tolist()):
        one = next(maps) if is_there[i] else NOTHING_THERE
        gaps = _gap_codes(extent.low[i], extent.high[i], one, limit) if extent.gappy[i] and is_there[i] else [0]
        views += [FeatureView(f, one, gap) for gap in gaps]
    return views


def _fit_values(values: Values, extent: Extent, kind: str, limit: int, workers: Workers) -> list[Map]:
    """Maps of the features in some columns, each of which has values."""
    if not len(values.columns):
        return []
    _, exponents = np.frexp(extent.high * 0.5 - extent.low * 0.5)
    units = np.ldexp(1.0, -np.clip(exponents + 1, -1000, 1000))
    low, high = extent.low * units, extent.high * units
    moments = moments_of(values, units, low, high, CENTRAL, workers)
    means, reach = moments.means, np.maximum(high - moments.means, moments.means - low)
    widths = np.maximum(moments.deviations, reach / DEVIATIONS)
    curved = _curved(values, units, moments, reach, kind, workers) & (low < high)
    inner = iter(quantiles_of(values, np.flatnonzero(curved), units, PROBABILITIES, workers))

    def choose(i: int) -> Map:
        if low[i] == high[i]:
            return Map(units[i], low[i : i + 1], np.zeros(1, np.int64))
        if curved[i]:
            return Map(units[i], *_quantile_map(np.array([low[i], *next(inner), high[i]]), limit // DEVIATIONS))
        return Map(units[i], *_linear_map(means[i], widths[i], limit))

    return [choose(i) for i in range(len(units))]


def _curved(values: Values, units: Array, moments: Moments, reach: Array, kind: str, workers: Workers) -> Array:
    """Which features have maps through quantiles; reach: from the mean to the farthest value."""
    if kind != "auto":
        return np.full(len(units), kind == "quantile")
    curved: Array = reach > DEVIATIONS * moments.deviations
    doubtful = np.flatnonzero(moments.narrow & ~curved)
    widths = np.diff(quantiles_of(values, doubtful, units, CENTRAL, workers), axis=1)
    # samples on one side of the median, out to a normal deviation, share a few linear codes: values spread evenly over
    # many decades are an example, and need not reach far in deviations
    crowded = (widths > 0) & (widths < moments.deviations[doubtful, None] / CROWDED)
    curved[doubtful] = crowded.any(axis=1)
    return curved


def _gap_codes(least: float, most: float, one: Map, limit: int) -> list[int]:
    """Codes of what is missing, one a view: between the values, which end at least and most, lower, higher."""
    if len(one.knots) == 1:  # all that is there is alike
        return [limit // DEVIATIONS]
    ends = np.array([[least], [most]])
    low, high = encode_samples(ends, pack_views([FeatureView(0, one)], limit), Workers(1))[0].tolist()
    apart = -(-(high - low) // APART)
    return [0, max(low - apart, -limit), min(high + apart, limit)]


def encode_samples(x: Array, maps: FeatureMaps, workers: Workers) -> Array:
    """Codes (n_views, n_samples) of x (n_samples, n_features)."""
    out = workers.links.empty((maps.n_views, x.shape[0]), np.int16)

    def fill(first: int, last: int) -> None:
        for begin, block in blocks(x, first, last):
            encode(block, maps, begin, out, 0, len(block))

    workers.run(fill, np.array([maps.n_views]), items=len(x))
    return out


def encode_part(x: Array, maps: FeatureMaps, out: Array) -> None:
    """Write the codes of a few samples to the first columns of `out`, in this thread."""
    block = as_block(x)
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


def _linear_map(mean: float, deviation: float, limit: int) -> tuple[Array, Array]:
    """Two knots, as far out as codes go, so that a hyperplane stays straight beyond the training samples."""
    reach = limit // DEVIATIONS * DEVIATIONS
    knots = np.array([mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation])
    return knots, np.array([-reach, reach])


def _quantile_map(knots: Array, per_deviation: int) -> tuple[Array, Array]:
    """Knots at quantiles, from the smallest to the largest value; what fills several levels takes the middlemost."""
    levels = np.concatenate([[LEVELS[0] - 0.25], LEVELS, [LEVELS[-1] + 0.25]])
    nearest = np.lexsort((np.abs(levels), knots))
    knots, levels = knots[nearest], levels[nearest]
    first = np.concatenate([[True], knots[1:] > knots[:-1]])
    return knots[first], np.rint(levels[first] * per_deviation).astype(np.int64)


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
