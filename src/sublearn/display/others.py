"""What a partition of the plane is asked for: two features, and rows for all others."""

from typing import Any, NamedTuple

import numpy as np

from sublearn._base.frames import level_name
from sublearn.core.keys import key_below
from sublearn.core.model.fitted import FittedModel
from sublearn.explanation.names import feature_of
from sublearn.kernels.layout import Array

OWNER = "PartitionDisplay"
AVERAGED = "averaged"


class Others(NamedTuple):
    """Rows for the features outside the plane, and what they are in words."""

    rows: Array  # float64 (n_rows, n_features)
    words: str


def two_features(model: FittedModel, given: Any, names: list[str], importances: Array | None) -> tuple[int, int]:
    """The numbers of two features, given by number or name; None: the two of the largest importance."""
    n = len(names)
    if n < 2:
        raise ValueError(f"estimator of {OWNER} must have at least two features; got {n}.")
    if given is None:
        order = np.arange(n) if importances is None else np.argsort(-importances, kind="stable")
        first, second = sorted(order[:2].tolist())
        return first, second
    is_pair = isinstance(given, list | tuple | np.ndarray) and len(given) == 2
    found = [feature_of(one, model, names, "features", OWNER) for one in given] if is_pair else []
    if not is_pair or found[0] == found[1]:
        raise ValueError(f"features of {OWNER} must be two different features, by number or name; got {given!r}.")
    return found[0], found[1]


def rows_of_others(
    model: FittedModel, names: list[str], given: Any, samples: Array | None, n_rows: int, key: int
) -> Others:
    """Rows for the other features: `given` as the user has it, but a table already as numbers (n, n_features)."""
    n = len(names) - 2
    if isinstance(given, str):
        if given != AVERAGED:
            raise ValueError(
                f"others of {OWNER} must be None, '{AVERAGED}', a dict of values, or rows as X has them; got {given!r}."
            )
        if samples is None:
            raise ValueError(f"X of {OWNER} must be given where others='{AVERAGED}': its rows are averaged over.")
        rows = samples[_drawn(len(samples), n_rows, key)]
        return Others(rows, f"mean over {len(rows)} rows")
    if isinstance(given, np.ndarray):
        return Others(given, "others as in a row" if len(given) == 1 else f"mean over {len(given)} rows")
    row = _middle_of_maps(model) if samples is None else _middle_of_samples(model, samples)
    for one, value in (given or {}).items():
        f = feature_of(one, model, names, "others", OWNER)
        row[f] = _number(model, f, names[f], value)
    if n == 0:
        return Others(row[None], "")
    return Others(row[None], _words(model, n, len(given or {}), has_samples=samples is not None))


def _words(model: FittedModel, n: int, n_given: int, *, has_samples: bool) -> str:
    """Where n features are, of which some are as given."""
    place = "median" if has_samples else "middle"
    if any(levels is not None for levels in model.levels):
        place += " or most frequent level" if has_samples else " or first level"
    left = n - n_given
    parts = [f"{left:,} other feature{'s' if left > 1 else ''} at the {place}"] if left > 0 else []
    parts += [f"{n_given} as given"] if n_given else []
    return ", ".join(parts)


def _drawn(n: int, most: int, key: int) -> Array:
    """Numbers of some rows, drawn one by one: fewer rows are the first of more."""
    if n <= most:
        return np.arange(n)
    keys = np.random.Generator(np.random.PCG64(key_below(key, 0)))
    return np.sort(keys.permutation(n)[:most])


def _middle_of_samples(model: FittedModel, samples: Array) -> Array:
    """The median of each number, and the most frequent level of each category; NaN where all is missing."""
    row = np.full(samples.shape[1], np.nan)
    for f, column in enumerate(samples.T):
        there = column[~np.isnan(column)]
        if model.levels and model.levels[f] is not None:
            known = np.bincount(there.astype(np.int64), minlength=1)
            is_missing = len(column) - len(there) > known.max()
            row[f] = np.nan if is_missing else float(known.argmax())
        elif len(there):
            row[f] = np.median(there)
    return row


def _middle_of_maps(model: FittedModel) -> Array:
    """The value of each feature in the middle of its codes: the mean, or the median; of categories the first level."""
    maps = model.maps
    row = np.zeros(maps.n_features)
    for v in range(maps.n_views - 1, -1, -1):
        part = slice(maps.offsets[v], maps.offsets[v + 1])
        if not maps.listed[v]:
            row[maps.features[v]] = np.interp(0.0, maps.levels[part], maps.knots[part]) / maps.units[v]
    return row


def _number(model: FittedModel, f: int, name: str, value: Any) -> float:
    """A value of a feature as a number, or the number of a level."""
    levels = model.levels[f] if model.levels else None
    if levels is None:
        try:
            return np.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"others of {OWNER} must hold a number for {name!r}; got {value!r}. For dates, give a row as X has it."
            ) from None
    if value in levels:
        return float(levels.index(value))
    known = ", ".join(level_name(level) for level in levels[:5]) + (", ..." if len(levels) > 5 else "")
    raise ValueError(f"others of {OWNER} must hold a level of {name!r} ({known}); got {value!r}.")
