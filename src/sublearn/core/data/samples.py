"""Samples on their way in: checked values become codes and integers here, for trees, boosting and feature tests alike.

    Given     checked values, classes as positions, weights as integers
    Coded     the same samples with integer codes in the place of values, and the maps behind these
    Samples   what kernels take

This is the way of `fit`: maps of features are fitted and applied in `code`, and rows that weigh nothing are left out in
`drop_weightless`. `predict` comes another way: a fitted model applies its maps by `encode_samples` or `encode_part` of
`core.data.codes`. Frames, categories and dates are numbers by then (`_base.frames`), and NaN is what is missing.
"""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.data.categories import N_FOLDS, Categories, Scale, View, learn_from
from sublearn.core.data.codes import DEVIATIONS, FeatureMaps, encode_samples, number_views, pack_views
from sublearn.core.data.dealing import content_keys, deal
from sublearn.core.data.fixed_point import Targets, Weights, integer_targets, pack, times_class_weights
from sublearn.core.data.outliers import reach_of
from sublearn.core.links import Links
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array, Samples

NOTHING = np.empty(0)
NO_INTEGERS = np.empty(0, np.int32)
NO_VIEWS = np.empty((2, 0), np.int32)  # where every column of codes is a feature
NO_LONG_INTEGERS = np.empty(0, np.int64)
FOLDS = 0x5EED  # the key by which samples are dealt into folds


class Given(NamedTuple):
    """Samples that an estimator has checked."""

    X: Array  # float32 or float64 (n_samples, n_features)
    y: Array  # (n_samples,), what is to be learned: numbers, or positions in `classes` once these are known
    weights: Weights  # of the samples, without those of their classes
    rows: Array  # int64 (n_samples,), where these samples are among those the user gave
    classes: Array = NOTHING  # in order; empty for numbers
    factors: Array = NOTHING  # float64 (n_classes,), weights of the classes; empty: all are 1
    exposure: Array = NOTHING  # float64 (n_samples,); empty: all are 1
    n_levels: Array = NO_LONG_INTEGERS  # int64 (n_features,), 0 for numbers; empty: there are no categories

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

    codes: Array  # int16 (n_views, n_samples)
    unseen: Array  # int16 (n_views, n_samples), what trees grow from: the same but for means of categories
    maps: FeatureMaps
    y: Array
    weights: Weights
    rows: Array
    classes: Array
    factors: Array
    exposure: Array
    categories: "Categories | None" = None

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
    if given.factors.all():  # the same in all partitions
        return given
    return given.take(given.factors[given.y] > 0)


def code(given: Given, maps: FeatureMaps | None, kind: str, limit: int, workers: Workers) -> Coded:
    """Codes of the samples that count, to learn from; maps are fitted here unless trees that are kept have theirs.

    kind: as in `number_views`; limit: the largest code. Weights of samples enter the maps, those of classes do not:
    samples that are given with a class of weight 0 still help to find the maps of numbers.
    """
    levels = given.n_levels if given.n_levels.size else np.zeros(given.X.shape[1], np.int64)
    views = (
        [] if maps else number_views(given.X, np.flatnonzero(levels == 0), given.weights.weights, kind, limit, workers)
    )
    given = drop_weightless(given)
    if not levels.any():
        return _coded(given, maps or pack_views(views, limit), workers)
    known = maps or (pack_views(views, limit) if views else None)
    categories = _categories(given, levels, known, limit, workers)
    found = categories.views()
    maps = maps or pack_views([*views, *categories.as_maps(found)], limit)
    return _with_unseen(_coded(given, maps, workers), categories, found)


def code_like(given: Given, maps: FeatureMaps, workers: Workers) -> Coded:
    """Codes of the samples that count, of which nothing is learned."""
    return _coded(drop_weightless(given), maps, workers)


def _coded(given: Given, maps: FeatureMaps, workers: Workers) -> Coded:
    codes = encode_samples(given.X, maps, workers)
    return Coded(
        codes=codes,
        unseen=codes,
        maps=maps,
        y=given.y,
        weights=given.weights,
        rows=given.rows,
        classes=given.classes,
        factors=given.factors,
        exposure=given.exposure,
    )


def _categories(given: Given, n_levels: Array, maps: FeatureMaps | None, limit: int, workers: Workers) -> Categories:
    """The categories of samples; folds are dealt by content, which levels and the codes of numbers are."""
    features = np.flatnonzero(n_levels)
    columns = given.X[:, features].T
    ids = np.where(np.isnan(columns), -1.0, columns).astype(np.int32)
    links = given.weights.links
    present = [_ranks(column, n, links) for column, n in zip(ids, n_levels[features].tolist(), strict=True)]
    codes = encode_samples(given.X, maps, workers)[~maps.listed] if maps else ()
    folds = deal(content_keys([*codes, *present], len(given.y), FOLDS), given.y, N_FOLDS, given.n_samples, links)
    return Categories(
        features=features,
        ids=ids,
        n_levels=n_levels[features],
        learned=learn_from(_usual(given), len(given.classes), given.weights, folds),
        scale=Scale(limit // DEVIATIONS, limit),
    )


def _ranks(ids: Array, n_levels: int, links: Links) -> Array:
    """The place of each sample's level among those that are there, whatever other levels there may be."""
    there = np.zeros(n_levels + 1, np.int64)
    there[ids + 1] = 1
    return (np.cumsum(links.most(there)) - 1)[ids + 1]  # type: ignore[no-any-return]


def _usual(given: Given) -> Array:
    """What means of levels are learned from: y, where no target is far from all others."""
    reach = None if given.classes.size else reach_of(given.y, given.weights)
    return given.y if reach is None else reach.usual_of(given.y)


def _with_unseen(coded: Coded, categories: Categories, found: list[list[View]]) -> Coded:
    """The samples with codes to grow from: means of the other samples, be the tables new or those of kept trees."""
    unseen = coded.codes.copy()
    for f, views in zip(categories.features.tolist(), found, strict=True):
        means = [view.unseen for view in views if view.unseen is not None]
        rows = np.flatnonzero(coded.maps.features == f)
        if len(rows) > len(means) > 0:  # means are the first views; a single view is an indicator
            unseen[rows[: len(means)]] = means
    return coded._replace(unseen=unseen, categories=categories)


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
        return Response(0, NO_LONG_INTEGERS, integer_targets(y, weights.links), weights)
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
    views: Array = NO_VIEWS,
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
        views=views,
    )


def response_samples(codes: Array, response: Response, views: Array = NO_VIEWS) -> Samples:
    """Samples of a tree as kernels take them."""
    weights, targets = response.weights, response.targets
    if response.n_classes:
        return make_samples(codes, weights, n_classes=response.n_classes, views=views)
    return make_samples(
        codes,
        weights,
        targets=targets.targets,
        remainders=targets.remainders,
        packed=NO_LONG_INTEGERS if weights.weights.size else pack(targets.targets, NOTHING),
        views=views,
    )
