"""Categories as codes: the views of a feature that has levels in the place of numbers.

    indicator   one of the frequent levels against all others
    mean        levels by the mean of their targets, drawn to the mean of all the more the fewer samples they have;
                of classes, by the share of each

A node takes the view that serves it best, as with gaps. Levels of a few samples count as unseen ones do.

Means are learned from targets, so a sample's own target must not be in the code that trees grow from: there, codes come
from the other samples, fold by fold (`View.unseen`). The fitted model has the means of all samples.
"""

from typing import NamedTuple

import numpy as np

from sublearn.core.data.codes import FeatureView, Map
from sublearn.core.data.fixed_point import Weights, integer_targets
from sublearn.core.links import Links
from sublearn.kernels.layout import TARGET_BITS, Array

SHARE = 100  # a level is known if a hundredth of all samples have it, ...
FEWEST, ENOUGH = 5, 40  # ... though not with fewer than this, and with that many in any case
MOST_INDICATORS = 4  # of a feature, those of its most frequent levels
MOST_MEANS = 8  # of a feature, where there are many classes: those of the most frequent ones
N_FOLDS = 5
LEFT_OUT = 0.5  # of a level, at the most: its samples may all be in one fold, as they are where all are alike
COARSE = TARGET_BITS - 15  # bits of a target that its square does without, so that sums of squares fit
WEAKEST, STRONGEST = 1.0, 1e4  # how many samples the mean of all may count for beside those of a level


class Scale(NamedTuple):
    """How numbers become codes."""

    per_deviation: int
    limit: int


class View(NamedTuple):
    """One view of a categorical feature."""

    table: Array  # int64 (n_levels,), codes
    other: int  # code of levels that are not known, and of what is missing where that was not in training
    unseen: Array | None = None  # int16 (n_samples,), codes of training samples as if unseen; None: as by the table


class Learned(NamedTuple):
    """What means are learned from: targets as integers, one row a mean, and the fold of each sample."""

    targets: Array  # int64 (n_means, n_samples)
    weights: Weights
    folds: Array  # int64 (n_samples,)


class Categories(NamedTuple):
    """The categorical features of training samples, and what their means are learned from."""

    features: Array  # int64 (n_categorical,)
    ids: Array  # int32 (n_categorical, n_samples), levels; -1 where there is none
    n_levels: Array  # int64 (n_categorical,)
    learned: Learned
    scale: "Scale"

    def views(self) -> list[list["View"]]:
        """Views of each feature."""
        given = zip(self.ids, self.n_levels.tolist(), strict=True)
        return [category_views(ids, n, self.learned, self.scale) for ids, n in given]

    def as_maps(self, found: list[list["View"]]) -> list[FeatureView]:
        """Views as `pack_views` takes them."""
        return [
            FeatureView(f, Map(1.0, np.arange(len(view.table), dtype=np.float64), view.table, listed=True), view.other)
            for f, views in zip(self.features.tolist(), found, strict=True)
            for view in views
        ]

    def take(self, rows: Array) -> "Categories":
        """Those of some samples."""
        targets, weights, folds = self.learned
        learned = Learned(targets[:, rows], weights.take(rows), folds[rows])
        return self._replace(ids=self.ids[:, rows], learned=learned)


def learn_from(y: Array, n_classes: int, weights: Weights, folds: Array) -> Learned:
    """Targets whose means tell levels apart: numbers as they are; of classes, whether it is the one.

    Of two classes one does.
    """
    if not n_classes:
        return Learned(integer_targets(y, weights.links).targets.astype(np.int64)[None], weights, folds)
    sizes = _sums(y, n_classes, weights.weights, weights.links)
    frequent = np.argsort(-sizes, kind="stable")[: 1 if n_classes <= 2 else MOST_MEANS]
    return Learned((y == frequent[:, None]).astype(np.int64) << COARSE, weights, folds)


def least_size(n_samples: int) -> int:
    """How many samples a level needs; those of fewer are not told from unseen ones."""
    return min(max(n_samples // SHARE, FEWEST), ENOUGH)


def category_views(ids: Array, n_levels: int, learned: Learned, scale: Scale) -> list[View]:
    """Views of one feature; ids (n_samples,): levels, -1 where there is none."""
    sizes = _sums(ids, n_levels, learned.weights.counts, learned.weights.links)
    total = learned.weights.count(len(ids))
    known = np.flatnonzero(sizes >= least_size(total))
    n_kinds = len(known) + int(sizes[known].sum() < total)  # those that are not known are one
    if len(known) == 0 or n_kinds == 1:
        return [View(np.zeros(n_levels, np.int64), 0)]
    frequent = known[np.argsort(-sizes[known], kind="stable")].tolist()
    if n_kinds == 2:  # one level tells all
        return [_indicator(frequent[0], sizes, total, scale)]
    return [
        *mean_views(ids, n_levels, learned, scale),
        *(_indicator(level, sizes, total, scale) for level in frequent[:MOST_INDICATORS]),
    ]


def _indicator(level: int, sizes: Array, total: int, scale: Scale) -> View:
    """In standard deviations from its mean, as a number would be."""
    share = float(sizes[level]) / total
    deviation = np.sqrt(share * (1.0 - share))
    table = np.full(len(sizes), _codes(np.array(-share / deviation), scale))
    table[level] = _codes(np.array((1.0 - share) / deviation), scale)
    return View(table, int(_codes(np.array(-share / deviation), scale)))


class _Moments(NamedTuple):
    """Exact sums by level, in samples: their number, and their targets; the same fold by fold."""

    n: Array  # float64 (n_levels,)
    sums: Array
    n_by_fold: Array  # float64 (N_FOLDS, n_levels)
    sums_by_fold: Array
    squares: Array  # float64 (n_levels,)


def mean_views(ids: Array, n_levels: int, learned: Learned, scale: Scale) -> list[View]:
    """Levels by the mean of each of the targets."""
    weights = learned.weights
    known = _sums(ids, n_levels, weights.counts, weights.links) >= least_size(weights.count(len(ids)))
    there = np.flatnonzero(ids >= 0)
    cells = learned.folds[there] * len(known) + ids[there]
    if not known.any():
        return [View(np.zeros(n_levels, np.int64), 0, np.zeros(len(ids), np.int16)) for _ in learned.targets]
    views = []
    for targets in learned.targets:
        moments = _moments(ids[there], cells, len(known), targets[there], weights.take(there))
        pull, middle = _pull(moments, known)
        n, values = moments.n[known], np.where(known, _drawn(moments.sums, moments.n, pull, middle), middle)
        centre = float((n * values[known]).sum() / n.sum())
        deviation = float(np.sqrt((n * (values[known] - centre) ** 2).sum() / n.sum())) or 1.0
        most = LEFT_OUT * moments.n
        left = np.where(moments.n_by_fold > most, most / np.maximum(moments.n_by_fold, 1e-300), 1.0)
        others = moments.sums - left * moments.sums_by_fold, moments.n - left * moments.n_by_fold
        folded = np.where(known, _drawn(*others, pull, middle), middle)
        other = int(_codes(np.array((middle - centre) / deviation), scale))
        unseen = np.full(len(ids), other, np.int16)
        unseen[there] = _codes((folded - centre) / deviation, scale).ravel()[cells]
        views.append(View(_codes((values - centre) / deviation, scale), other, unseen))
    return views


def _moments(ids: Array, cells: Array, n_levels: int, targets: Array, weights: Weights) -> _Moments:
    """Sums of targets (n_samples,) by level and by cell, which is fold times n_levels plus level."""
    factors, links = weights.weights if weights.weights.size else np.ones(len(ids), np.int64), weights.links
    unit = weights.total(len(ids)) / weights.count(len(ids))
    n = _sums(cells, N_FOLDS * n_levels, factors, links).reshape(N_FOLDS, n_levels)
    sums = _sums(cells, N_FOLDS * n_levels, factors * targets, links).reshape(N_FOLDS, n_levels)
    coarse = targets >> COARSE
    squares = _sums(ids, n_levels, factors * coarse * coarse, links) * 4.0**COARSE
    return _Moments(
        n=n.sum(axis=0) / unit,
        sums=sums.sum(axis=0) / unit,
        n_by_fold=n / unit,
        sums_by_fold=sums / unit,
        squares=squares / unit,
    )


def _pull(moments: _Moments, known: Array) -> tuple[float, float]:
    """How many samples the mean of all counts for beside those of a level (empirical Bayes), and that mean."""
    n, s, q = moments.n[known], moments.sums[known], moments.squares[known]
    total = float(n.sum())
    middle = float(s.sum() / total)
    n_levels = len(n)
    within = max(float(q.sum() - (s * s / n).sum()), 0.0) / max(total - n_levels, 1.0)
    between = float((n * (s / n - middle) ** 2).sum()) / max(n_levels - 1, 1)
    size = (total - float((n * n).sum()) / total) / max(n_levels - 1, 1)
    variance = (between - within) / size if size > 0 else 0.0
    pull = within / variance if variance > within / STRONGEST else STRONGEST
    return min(max(pull, WEAKEST), STRONGEST), middle


def _drawn(sums: Array, weights: Array, pull: float, middle: float) -> Array:
    """Means of levels, drawn to the middle."""
    drawn: Array = (sums + pull * middle) / (weights + pull)
    return drawn


def _codes(deviations: Array, scale: Scale) -> Array:
    """Codes of numbers in standard deviations."""
    codes: Array = np.clip(np.rint(deviations * scale.per_deviation), -scale.limit, scale.limit).astype(np.int64)
    return codes


def _sums(places: Array, n: int, amounts: Array, links: Links) -> Array:
    """Sums of integers by place, exactly, over all partitions; negative places are left out. No amounts: ones."""
    sums = np.zeros(n, np.int64)
    there = places >= 0
    if amounts.size:
        np.add.at(sums, places[there], amounts[there])
    else:
        sums += np.bincount(places[there], minlength=n)
    return links.add(sums)


def relearned(categories: Categories, rows: Array, others: Array, features: Array) -> dict[int, tuple[Array, ...]]:
    """Means learned from some of the samples, by view: codes of these, their codes as if unseen, those of others.

    features: of all views, as in `Samples`; a feature's means are the first of its views.
    """
    learned = categories.take(rows).learned
    codes: dict[int, tuple[Array, ...]] = {}
    for f, ids, n in zip(categories.features.tolist(), categories.ids, categories.n_levels.tolist(), strict=True):
        first, n_views = np.searchsorted(features, f), np.count_nonzero(features == f)
        if n_views <= 1:  # an indicator
            continue
        for number, view in enumerate(mean_views(ids[rows], n, learned, categories.scale)):
            assert view.unseen is not None
            own, other = (np.append(view.table, view.other)[ids[some]] for some in (rows, others))
            codes[int(first) + number] = own, view.unseen, other
    return codes
