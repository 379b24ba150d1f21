"""Maps of features in a file: which views a feature has, and that their codes are in bounds."""

from typing import Any

import numpy as np

from sublearn._files.errors import Fault
from sublearn._files.layout import MOST_VIEWS, MOST_VIEWS_EACH
from sublearn._files.trees import refuse_where
from sublearn.core.data.codes import CODE_LIMIT, DEVIATIONS, FeatureMaps
from sublearn.kernels.layout import Array

Levels = tuple[Any, ...] | None


def check_maps(maps: FeatureMaps, levels: tuple[Levels, ...]) -> None:
    """Raise Fault unless maps are what they should be; levels: of each feature that is a category."""
    _check_lengths(maps)
    _check_features(maps.features, len(levels))
    _check_offsets(maps)
    listed = np.array([one is not None for one in levels])[maps.features]
    refuse_where(maps.listed != listed, "maps.listed must be true for categories, and for nothing else", maps.listed)
    sizes = np.array([0 if one is None else max(len(one), 1) for one in levels])[maps.features]
    n_knots = np.diff(maps.offsets)
    refuse_where(maps.listed & (n_knots != sizes), "maps.offsets must leave one knot for each level", n_knots)
    _check_knots(maps)
    _check_codes(maps)


def reach_of_views(maps: FeatureMaps) -> Array:
    """Largest magnitude of the codes of each view."""
    reach: Array = np.maximum(np.maximum.reduceat(np.abs(maps.levels), maps.offsets[:-1]), np.abs(maps.gaps))
    return reach


def _check_lengths(maps: FeatureMaps) -> None:
    n = maps.n_views
    if not 1 <= n < MOST_VIEWS:
        raise Fault(f"maps.features must have from 1 to {MOST_VIEWS - 1} entries; it has {n}")
    wanted = {"units": n, "offsets": n + 1, "gaps": n, "listed": n, "levels": len(maps.knots)}
    for name, length in wanted.items():
        if len(getattr(maps, name)) != length:
            raise Fault(f"maps.{name} must have {length} entries; it has {len(getattr(maps, name))}")


def _check_features(features: Array, n_features: int) -> None:
    """Each feature has a view, and those of one are side by side."""
    if features[0] != 0 or features[-1] != n_features - 1:
        raise Fault(f"maps.features must go from 0 to {n_features - 1}; it goes from {features[0]} to {features[-1]}")
    before = np.append(0, features[:-1])
    wrong = (features != before) & (features - 1 != before)
    refuse_where(wrong, "maps.features must be the feature before or the next one", features)
    many = np.append(np.zeros(MOST_VIEWS_EACH, np.bool_), features[MOST_VIEWS_EACH:] == features[:-MOST_VIEWS_EACH])
    refuse_where(many[: len(features)], f"maps.features must have a feature {MOST_VIEWS_EACH} times at most", features)


def _check_offsets(maps: FeatureMaps) -> None:
    offsets, n = maps.offsets, len(maps.knots)
    if offsets[0] != 0 or offsets[-1] != n:
        raise Fault(f"maps.offsets must go from 0 to {n}; it goes from {offsets[0]} to {offsets[-1]}")
    refuse_where(np.append(False, offsets[1:] <= offsets[:-1]), "maps.offsets must be above the one before", offsets)


def _check_knots(maps: FeatureMaps) -> None:
    """Knots and codes of numbers ascend; knots of categories are 0, 1, 2 and so on."""
    knots, levels = maps.knots, maps.levels
    refuse_where(~np.isfinite(knots), "maps.knots must be finite", knots)
    n_knots = np.diff(maps.offsets)
    is_first = np.zeros(len(knots), np.bool_)
    is_first[maps.offsets[:-1]] = True
    listed = np.repeat(maps.listed, n_knots)
    goes_on = ~is_first & ~listed
    refuse_where(goes_on & (knots <= np.roll(knots, 1)), "maps.knots must be above the one before", knots)
    refuse_where(goes_on & (levels < np.roll(levels, 1)), "maps.levels must not be below the one before", levels)
    places = np.arange(len(knots)) - np.repeat(maps.offsets[:-1], n_knots)
    refuse_where(listed & (knots != places), "maps.knots must be the number of a level", knots)


def _check_codes(maps: FeatureMaps) -> None:
    """Codes are no larger than the maps say, and units are powers of two."""
    limit = min(DEVIATIONS * (maps.per_deviation + 1) - 1, CODE_LIMIT)
    for name in ("levels", "gaps"):
        codes = getattr(maps, name)
        refuse_where((codes < -limit) | (codes > limit), f"maps.{name} must be from {-limit} to {limit}", codes)
    mantissas, exponents = np.frexp(maps.units)
    wrong = (mantissas != 0.5) | (np.abs(exponents) > 1100)
    refuse_where(wrong, "maps.units must be a power of two", maps.units)
