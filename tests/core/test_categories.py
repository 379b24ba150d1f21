"""Categories as codes: what the views of a feature say, and that means know nothing of a sample's own target."""

import numpy as np
import pytest

from sublearn.core.data.categories import (
    MOST_INDICATORS,
    N_FOLDS,
    WEAKEST,
    Categories,
    Scale,
    View,
    category_views,
    learn_from,
    least_size,
    mean_views,
    relearned,
)
from sublearn.core.data.fixed_point import UNIT, integer_weights
from sublearn.kernels.layout import Array

SCALE = Scale(1024, 8192)
N = 600


def sample(n_levels: int = 12, seed: int = 0) -> tuple[Array, Array, Array]:
    """Levels of which some are rare and some samples have none, targets, and folds."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.geometric(0.25, N) - 1, n_levels - 1).astype(np.int32)
    ids[rng.random(N) < 0.05] = -1
    return ids, np.round(rng.normal(size=N) + ids % 4, 3), rng.integers(0, N_FOLDS, N)


def views_of(ids: Array, y: Array, folds: Array, n_classes: int = 0, weights: Array | None = None) -> list[View]:
    given = UNIT if weights is None else integer_weights(weights)
    return category_views(ids, 12, learn_from(y, n_classes, given, folds), SCALE)


def test_codes_are_the_drawn_means_in_deviations() -> None:
    ids, y, folds = sample()
    mean = views_of(ids, y, folds)[0]
    sizes = np.bincount(ids[ids >= 0], minlength=12)
    known = sizes >= least_size(N)
    n, sums = sizes[known].astype(float), np.array([y[ids == level].sum() for level in np.flatnonzero(known)])
    squares = np.array([(y[ids == level] ** 2).sum() for level in np.flatnonzero(known)])
    middle = sums.sum() / n.sum()
    within = (squares.sum() - (sums**2 / n).sum()) / (n.sum() - len(n))
    between = (n * (sums / n - middle) ** 2).sum() / (len(n) - 1)
    size = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    pull = max(within / ((between - within) / size), WEAKEST)
    values = (sums + pull * middle) / (n + pull)
    centre = (n * values).sum() / n.sum()
    deviation = np.sqrt((n * (values - centre) ** 2).sum() / n.sum())
    np.testing.assert_allclose(mean.table[known], 1024 * (values - centre) / deviation, atol=0.6)
    np.testing.assert_allclose(mean.other, 1024 * (middle - centre) / deviation, atol=0.6)
    assert set(mean.table[~known]) == {mean.other}
    assert mean.unseen is not None
    for i in np.flatnonzero(np.isin(ids, np.flatnonzero(known))):  # the own fold is left out
        others = (ids == ids[i]) & (folds != folds[i])
        value = (y[others].sum() + pull * middle) / (others.sum() + pull)
        assert mean.unseen[i] == pytest.approx(1024 * (value - centre) / deviation, abs=0.6)


def test_weights_are_samples_so_many_times_and_places_do_not_matter() -> None:
    ids, y, folds = sample()
    weights = np.random.default_rng(4).integers(1, 4, N)
    rows = np.random.default_rng(5).permutation(np.repeat(np.arange(N), weights))
    weighted = views_of(ids, y, folds, weights=weights.astype(float))
    repeated = views_of(ids[rows], y[rows], folds[rows])
    assert len(weighted) == len(repeated)
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one.table, other.table)
        assert one.other == other.other
        if one.unseen is not None:
            assert other.unseen is not None
            np.testing.assert_array_equal(one.unseen[rows], other.unseen)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**30])
def test_the_scale_of_targets_does_not_matter(scale: float) -> None:
    ids, y, folds = sample()
    for one, other in zip(views_of(ids, y, folds), views_of(ids, scale * y, folds), strict=True):
        np.testing.assert_array_equal(one.table, other.table)


def test_indicators_are_of_the_most_frequent_levels() -> None:
    ids, y, folds = sample()
    sizes = np.bincount(ids[ids >= 0], minlength=12)
    views = [view for view in views_of(ids, y, folds) if view.unseen is None]
    assert len(views) == min(MOST_INDICATORS, int((sizes >= least_size(N)).sum()))
    for view, level in zip(views, np.argsort(-sizes, kind="stable"), strict=False):
        others = np.delete(view.table, level)
        assert set(others) == {view.other}
        assert view.table[level] > view.other


def test_many_classes_have_a_mean_each_and_two_have_one() -> None:
    ids, y, folds = sample()
    three = np.digitize(y, [0.5, 2.0])
    assert sum(view.unseen is not None for view in views_of(ids, three, folds, n_classes=3)) == 3
    assert sum(view.unseen is not None for view in views_of(ids, (three > 0).astype(int), folds, n_classes=2)) == 1


@pytest.mark.parametrize(
    ("ids", "n_views"),
    [
        ([0] * 40, 1),
        ([-1] * 40, 1),
        ([0, 1] * 20, 1),
        ([0] * 30 + [-1] * 10, 1),
        (list(range(40)), 1),
        ([0, 1, 2] * 20, 4),
    ],
    ids=["one", "none", "two", "one and gaps", "all different", "three"],
)
def test_few_kinds_need_few_views(ids: list[int], n_views: int) -> None:
    given = np.array(ids, np.int32)
    y, folds = np.arange(len(ids)) * 1.0, np.arange(len(ids)) % N_FOLDS
    views = category_views(given, 40, learn_from(y, 0, UNIT, folds), SCALE)
    assert len(views) == n_views
    varies = len({*views[0].table[given[given >= 0]].tolist(), *([views[0].other] if -1 in ids else [])}) > 1
    assert varies == (len({i if ids.count(i) >= least_size(len(ids)) else -1 for i in ids}) > 1)


def test_a_part_learns_its_own_means() -> None:
    ids, y, folds = sample()
    rows = np.arange(0, N, 2)
    others = np.arange(1, N, 2)
    features = np.array([0, *([1] * 5)], np.int32)
    given = Categories(np.array([1]), ids[None], np.array([12]), learn_from(y, 0, UNIT, folds), SCALE)
    own, unseen, held_out = relearned(given, rows, others, features)[1]
    (expected,) = mean_views(ids[rows], 12, given.take(rows).learned, SCALE)
    np.testing.assert_array_equal(unseen, expected.unseen)
    np.testing.assert_array_equal(own, np.append(expected.table, expected.other)[ids[rows]])
    np.testing.assert_array_equal(held_out, np.append(expected.table, expected.other)[ids[others]])
