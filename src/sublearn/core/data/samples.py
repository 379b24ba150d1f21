"""Samples on their way in: checked values become codes and integers here, for trees, boosting and feature tests alike.

    Given     checked values, classes as positions, weights as integers
    Coded     the same samples with integer codes in the place of values, and the maps behind these
    Samples   what kernels take

This is the way of `fit`: maps of features are fitted and applied in `code`, and rows that weigh nothing are left out in
`drop_weightless`. `predict` comes another way: a fitted model applies its maps by `encode_samples` or `encode_part` of
`core.data.codes`. Gaps, text and dates come to neither: `check_samples` in `_base.checking` refuses them first.
"""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.data.codes import FeatureMaps, encode_samples, fit_maps
from sublearn.core.data.fixed_point import Targets, Weights, integer_targets, pack, times_class_weights
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array, Samples

NOTHING = np.empty(0)
NO_INTEGERS = np.empty(0, np.int32)
NO_LONG_INTEGERS = np.empty(0, np.int64)


class Given(NamedTuple):
    """Samples that an estimator has checked."""

    X: Array  # float32 or float64 (n_samples, n_features)
    y: Array  # (n_samples,), what is to be learned: numbers, or positions in `classes` once these are known
    weights: Weights  # of the samples, without those of their classes
    rows: Array  # int64 (n_samples,), where these samples are among those the user gave
    classes: Array = NOTHING  # in order; empty for numbers
    factors: Array = NOTHING  # float64 (n_classes,), weights of the classes; empty: all are 1
    exposure: Array = NOTHING  # float64 (n_samples,); empty: all are 1

    @property
    def n_samples(self) -> int:
        """How many samples the rows stand for: a row of weight 2 is two where all weights are whole numbers."""
        return self.weights.count(len(self.y))

    @property
    def numbers(self) -> Array:
        """What is to be learned as floats, as losses take it."""
        return self.y.astype(np.float64, copy=False)

    def take(self, rows: Any) -> "Given":
        """Some of the samples: a mask, a slice or positions."""
        return self._replace(
            X=self.X[rows],
            y=self.y[rows],
            weights=self.weights.take(rows),
            rows=self.rows[rows],
            exposure=self.exposure[rows] if self.exposure.size else self.exposure,
        )

    def only(self, columns: slice) -> "Given":
        """The same samples with some of the features, copied, as they are read several times."""
        return self._replace(X=np.ascontiguousarray(self.X[:, columns], np.float64))


class Coded(NamedTuple):
    """Samples as integer codes; the last fields are those of `Given`."""

    codes: Array  # int16 (n_features, n_samples)
    maps: FeatureMaps
    y: Array
    weights: Weights
    rows: Array
    classes: Array
    factors: Array
    exposure: Array

    @property
    def numbers(self) -> Array:
        """What is to be learned as floats, as losses take it."""
        return self.y.astype(np.float64, copy=False)

    def class_weights(self) -> Array:
        """Weight of each sample's class (n_samples,); empty: all are 1."""
        return self.factors[self.y] if self.factors.size else self.factors


def drop_weightless(given: Given) -> Given:
    """The samples that count: those of weight 0, or of a class of weight 0, are left out as if never given."""
    given = given.take(given.weights.present())
    if given.factors.all():
        return given
    return given.take(given.factors[given.y] > 0)


def code(given: Given, maps: FeatureMaps | None, kind: str, limit: int, workers: Workers) -> Coded:
    """Codes of the samples that count; maps are fitted here unless trees that are kept have theirs.

    kind: as in `fit_maps`; limit: the largest code. Weights of samples enter the maps, those of classes do not: samples
    that are given with a class of weight 0 still help to find the maps.
    """
    if maps is None:
        maps = fit_maps(given.X, given.weights.weights, kind, limit, workers)
    given = drop_weightless(given)
    return Coded(
        codes=encode_samples(given.X, maps, workers),
        maps=maps,
        y=given.y,
        weights=given.weights,
        rows=given.rows,
        classes=given.classes,
        factors=given.factors,
        exposure=given.exposure,
    )


class Response(NamedTuple):
    """What is to be learned from each sample, and what it weighs, as integers."""

    n_classes: int  # 0 for numbers
    labels: Array  # int64 (n_samples,), positions of the classes; empty for numbers
    targets: Targets  # of numbers; empty arrays for classes
    weights: Weights  # those of samples times those of their classes

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels) if self.n_classes else len(self.targets.targets)


def integer_response(samples: Given | Coded) -> Response:
    """What is to be learned from samples of which none is without weight."""
    y, weights, factors = samples.y, samples.weights, samples.factors
    if not samples.classes.size:
        return Response(0, NO_LONG_INTEGERS, integer_targets(y), weights)
    products = times_class_weights(weights, factors, y) if factors.size else weights
    return Response(len(samples.classes), y, Targets.none(), products)


def make_samples(
    codes: Array,
    weights: Weights,
    n_classes: int = 0,
    targets: Array = NO_INTEGERS,
    remainders: Array = NO_INTEGERS,
    curvatures: Array = NO_INTEGERS,
    packed: Array = NO_LONG_INTEGERS,
) -> Samples:
    """Samples as kernels take them; what is packed is of use without weights alone."""
    return Samples(
        codes=codes,
        targets=targets,
        remainders=remainders,
        curvatures=curvatures,
        packed=NO_LONG_INTEGERS if weights.weights.size else packed,
        weights=weights.weights,
        counts=weights.counts,
        n_classes=n_classes,
    )


def response_samples(codes: Array, response: Response) -> Samples:
    """Samples of a tree as kernels take them."""
    weights, targets = response.weights, response.targets
    if response.n_classes:
        return make_samples(codes, weights, n_classes=response.n_classes)
    packed = NO_LONG_INTEGERS if weights.weights.size else pack(targets.targets, NOTHING)
    return make_samples(codes, weights, targets=targets.targets, remainders=targets.remainders, packed=packed)
