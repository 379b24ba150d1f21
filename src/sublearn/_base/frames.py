"""Tables as users have them: frames of pandas, polars or Arrow, and arrays, as one matrix of numbers.

Numbers stay what they are, and what is missing is NaN. Booleans are 0 and 1. Dates and times are seconds since the
beginning of 1970, times of a day are seconds since midnight, durations are seconds. A category is the number of its
level; levels are found in `fit`, and one that was not there is NaN. A level is what is written: 3 and 3.0 are one, and
so are 0.1 in single and in double precision; "3" is another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from sublearn.core.model.fitted import COLUMNS
from sublearn.kernels.layout import Array

TEXTS = (nw.String, nw.Categorical, nw.Enum, nw.Object)  # types whose columns are categories
NUMBERS, TEXT, DATES, TIMES, DURATIONS = COLUMNS
SECOND = 1e6  # in microseconds

EXACT = 2**53  # whole numbers up to this are floats too

Level = float | str


@dataclass(frozen=True)
class Levels:
    """The levels of a categorical feature, in order: numbers, texts, then what is missing if that was in training."""

    values: tuple[Level, ...]
    has_gaps: bool

    @cached_property
    def places(self) -> dict[Level | None, float]:
        """The number of each level."""
        places: dict[Level | None, float] = {value: float(i) for i, value in enumerate(self.values)}
        return places | ({None: float(len(self.values))} if self.has_gaps else {})

    def __reduce__(self) -> tuple[Any, ...]:
        return Levels, (self.values, self.has_gaps)  # without the places, which others find for themselves

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.values) + self.has_gaps

    def numbers_of(self, given: Sequence[Level | None]) -> Array:
        """Numbers of levels; NaN for those that are not known. None: missing."""
        return np.array([self.places.get(value, math.nan) for value in given], np.float64)


class Schema(NamedTuple):
    """What the columns of a table are."""

    levels: tuple[Levels | None, ...]  # of each feature; None for numbers
    kinds: tuple[str | None, ...]  # what the numbers of each feature were; None: categories, or nothing was there

    @property
    def all_levels(self) -> tuple[tuple[Level | None, ...] | None, ...]:
        """The levels of each feature in the order of their numbers, None for what is missing; None for numbers."""
        return tuple(None if one is None else (*one.values, *([None] if one.has_gaps else [])) for one in self.levels)

    @property
    def has_categories(self) -> bool:
        """Whether any feature is a category."""
        return any(levels is not None for levels in self.levels)

    @property
    def is_plain(self) -> bool:
        """Whether all features are numbers, and were so before they came here."""
        return not self.has_categories and set(self.kinds) <= {NUMBERS, None}

    @property
    def n_levels(self) -> Array:
        """As in `Given`."""
        if not self.has_categories:
            return np.empty(0, np.int64)
        return np.array([0 if levels is None else max(levels.n, 1) for levels in self.levels], np.int64)


def schema_of(all_levels: tuple[tuple[Level | None, ...] | None, ...], kinds: tuple[str | None, ...]) -> Schema:
    """The schema whose `all_levels` these are."""
    return Schema(
        tuple(
            None if levels is None else Levels(tuple(v for v in levels if v is not None), None in levels)
            for levels in all_levels
        ),
        kinds,
    )


def level_name(level: Level | None) -> str:
    """A level as it is shown; text is in quotes, so that it is told from numbers and from what is missing."""
    return "missing" if level is None else repr(level).removesuffix(".0")


class Column(NamedTuple):
    """A column of a table: a narwhals series, or an array of objects or numbers."""

    name: Any
    values: Any

    @property
    def is_text(self) -> bool:
        """Whether its type is one of categories."""
        return isinstance(self.values, nw.Series) and isinstance(self.values.dtype, TEXTS)

    @property
    def is_numeric(self) -> bool:
        """Whether its type is one of numbers, or of booleans."""
        if isinstance(self.values, nw.Series):
            return bool(self.values.dtype.is_numeric() or self.values.dtype == nw.Boolean)
        return self.values.dtype.kind in "biuf"


class ColumnError(ValueError):
    """Raised for a column that holds something else than numbers where it should; `values` are its objects."""

    def __init__(self, name: Any, values: Array) -> None:
        super().__init__(f"column {name!r}")
        self.name, self.values = name, values


class ChangedError(ValueError):
    """Raised for a column that holds something else than in fit."""

    def __init__(self, name: Any, before: str, now: str) -> None:
        super().__init__(f"column {name!r} held {before} then, and holds {now} now")


def columns_of(X: Any) -> list[Column] | None:
    """The columns of a table that is not just numbers; None where it is, and NumPy can take it as it is."""
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OMm":
        return None
    frame = _as_frame(X)
    if frame is not None:
        plain = all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())
        return None if plain and not frame.implementation.is_pyarrow() else _columns_of_frame(frame)
    array = X if isinstance(X, np.ndarray) else None
    if array is None and isinstance(X, list | tuple):
        array = np.asarray(X, object) if _is_table_of_objects(X) else None
    if array is None or array.ndim != 2 or array.dtype.kind not in "OMm":
        return None
    return [Column(i, values) for i, values in enumerate(array.T)]


def _is_table_of_objects(X: Any) -> bool:
    """Whether a list is one of rows of equal lengths that hold more than numbers."""
    rows = [row for row in X if isinstance(row, list | tuple)]
    if len(rows) != len(X) or len({len(row) for row in rows}) != 1:
        return False
    return any(_is_gap(value) or isinstance(value, str) for row in rows for value in row)


def columns_of_numbers(X: Any) -> list[Column] | None:
    """The columns of a table that is just numbers; None where it is no table."""
    frame = _as_frame(X)
    if frame is not None:
        return _columns_of_frame(frame)
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind == "c":
        return None
    return [Column(i, values) for i, values in enumerate(array.T)]


def names_of(X: Any) -> list[Any] | None:
    """The names of the columns of a frame; None for anything else."""
    frame = _as_frame(X)
    return None if frame is None else list(frame.columns)


def has_values(column: Column) -> bool:
    """Whether anything is there in a column."""
    values = column.values.to_list() if isinstance(column.values, nw.Series) else column.values.tolist()
    try:
        return any(level_of(value) is not None for value in values)
    except TypeError:  # something is, though no level
        return True


def _as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """A frame as narwhals has it; None for anything else."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X must be a table that is there; got {type(X).__name__}. Collect it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def native_of(X: Any) -> Any:
    """The frame inside one of narwhals; anything else as it is."""
    return X if isinstance(X, np.ndarray) else nw.to_native(X, pass_through=True)  # to ask takes as long as to predict


def _columns_of_frame(frame: "nw.DataFrame[Any]") -> list[Column]:
    # by their order, as names may be numbers, and not by [:, i], which lists all names each time
    return [Column(name, _with_type(one)) for name, one in zip(frame.columns, frame.iter_columns(), strict=True)]


def _with_type(series: Any) -> Any:
    """The series; one of Arrow's days in milliseconds, of which narwhals knows nothing, as one of dates."""
    native = nw.to_native(series)
    if str(getattr(native, "type", "")) == "date64[ms]":
        return nw.from_native(native.cast("timestamp[ms]"), series_only=True)
    if str(getattr(native, "dtype", "")) == "date64[ms][pyarrow]":
        return nw.from_native(native.astype("timestamp[ms][pyarrow]"), series_only=True)
    return series


def take_rows(X: Any, rows: Array) -> Any:
    """Some of the rows of a table, as a table of the same kind."""
    if issparse(X):
        return X.tocsr()[rows]
    frame = _as_frame(X)
    if frame is not None:
        return nw.to_native(frame[rows])
    return np.asarray(X, object if isinstance(X, list | tuple) and _is_table_of_objects(X) else None)[rows]


def chosen_columns(given: Any, columns: Sequence[Column], owner: str) -> Array:
    """Whether each column is a category, by the parameter `categorical_features`."""
    n = len(columns)
    if given is None:
        return np.zeros(n, np.bool_)
    if isinstance(given, str):
        return np.array([column.is_text for column in columns], np.bool_)
    chosen = np.asarray(given).tolist()
    if chosen and isinstance(chosen[0], bool):
        if len(chosen) != n:
            raise ValueError(
                f"categorical_features of {owner} must have a flag for each of {n} columns; got {len(chosen)}."
            )
        return np.array(chosen)
    mask = np.zeros(n, np.bool_)
    names = [column.name for column in columns]
    for one in chosen:
        if isinstance(one, str) and one in names:
            mask[names.index(one)] = True
        elif isinstance(one, int) and 0 <= one < n:
            mask[one] = True
        else:
            raise ValueError(f"categorical_features of {owner} must hold names or numbers of columns; got {one!r}.")
    return mask


def read_columns(columns: Sequence[Column], chosen: Array, schema: Schema | None) -> tuple[Array, Schema]:
    """The table as numbers (n_samples, n_features), and its schema; levels are those of a schema where one is given."""
    n = len(columns[0].values) if columns else 0
    out = np.empty((n, len(columns)), np.float64, order="F")
    found: list[Levels | None] = []
    kinds: list[str | None] = []
    for i, column in enumerate(columns):
        known = None if schema is None else schema.levels[i]
        levels, kind = None, None
        if known is None and (schema is not None or not chosen[i]):
            out[:, i] = _numbers(column)
            kind = None if np.isnan(out[:, i]).all() else _kind(column)
            if schema is not None:
                _refuse_change(column.name, schema.kinds[i], kind)
        else:
            out[:, i], levels = _categories(column, known)
        found.append(levels)
        kinds.append(kind)
    return out, Schema(tuple(found), tuple(kinds)) if schema is None else schema


def _kind(column: Column) -> str:
    """What the numbers of a column are, by its type."""
    series = column.values
    if not isinstance(series, nw.Series):
        return {"M": DATES, "m": DURATIONS}.get(series.dtype.kind, NUMBERS)
    dtype = series.dtype
    if dtype in (nw.Date, nw.Datetime):
        return DATES
    if dtype == nw.Duration:
        return DURATIONS
    if dtype == nw.Time:
        return TIMES
    is_text = column.is_text and (dtype != nw.Object or any(isinstance(value, str) for value in series))
    return TEXT if is_text else NUMBERS


def _refuse_change(name: Any, before: str | None, now: str | None) -> None:
    """Raise ChangedError for numbers that were something else in fit; text that reads as numbers may become those."""
    if None not in (before, now) and before != now and (before, now) != (TEXT, NUMBERS):
        raise ChangedError(name, str(before), str(now))


def _categories(column: Column, known: Levels | None) -> tuple[Array, Levels]:
    """Numbers of levels, and the levels."""
    try:
        places, values = _factorised(column)
        given = [level_of(value) for value in values]
    except TypeError:  # such as lists, which have no hash
        objects = np.empty(len(column.values), object)
        objects[:] = column.values.to_list() if isinstance(column.values, nw.Series) else column.values
        raise ColumnError(column.name, objects) from None
    used = np.flatnonzero(np.bincount(places[places >= 0], minlength=len(given)))
    present = {level for place in used.tolist() if (level := given[place]) is not None}
    if known is not None:
        _refuse_other_levels(column.name, known, present)
    else:
        has_gaps = bool((places < 0).any()) or any(given[place] is None for place in used.tolist())
        known = make_levels(present, has_gaps)
    numbers = known.numbers_of([*given, None])  # the last is for what is missing
    return numbers[places], known


def make_levels(present: set[Level], has_gaps: bool) -> Levels:
    """Levels in order."""
    texts = sorted(value for value in present if isinstance(value, str))
    return Levels((*sorted(value for value in present if not isinstance(value, str)), *texts), has_gaps)


def _refuse_other_levels(name: Any, known: Levels, present: set[Any]) -> None:
    """Raise ChangedError where no level is known, since text has become numbers or the other way round."""
    if not present or not known.values or any(level in known.places for level in present):
        return
    before, now = ({TEXT if isinstance(v, str) else NUMBERS for v in some} for some in (known.values, present))
    if before.isdisjoint(now):
        old, new = known.values[0], min(present)
        raise ChangedError(name, f"{before.pop()} such as {level_name(old)}", f"{now.pop()} such as {level_name(new)}")


def _factorised(column: Column) -> tuple[Array, list[Any]]:
    """For each sample the place of its value in a list; -1 for what is missing."""
    series = column.values
    if not isinstance(series, nw.Series):
        return _factorised_array(series)
    if series.dtype.is_float():
        return _factorised_array(np.asarray(series.to_numpy()))
    if series.implementation.is_pandas_like():
        native = nw.to_native(series)
        native = native if hasattr(native, "cat") else native.astype("category")
        return native.cat.codes.to_numpy().astype(np.int64), _one_by_one(native.cat.categories)
    if series.implementation.is_polars() and series.dtype in (nw.String, nw.Categorical, nw.Enum):
        values = series.cast(nw.String).drop_nulls().unique().to_list()
        places = series.cast(nw.String).replace_strict(values, list(range(len(values))), return_dtype=nw.Float64)
        numbers = np.asarray(places.to_numpy(), np.float64)
        return np.where(np.isnan(numbers), -1, numbers).astype(np.int64), values
    if series.implementation.is_pyarrow():
        native = nw.to_native(series).combine_chunks()
        coded = native if hasattr(native, "indices") else native.dictionary_encode()
        indices = coded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        return indices, coded.dictionary.to_pylist()
    return _factorised_objects(series.to_list())


def _factorised_array(values: Array) -> tuple[Array, list[Any]]:
    """The same for an array."""
    if values.dtype.kind == "O":
        return _factorised_objects(values.tolist())
    found, places = np.unique(
        values.astype("datetime64[us]") if values.dtype.kind == "M" else values, return_inverse=True
    )
    return places, _one_by_one(found)


def _one_by_one(values: Any) -> list[Any]:
    """Values as Python has them, but floats as they are, as short ones are written in fewer digits."""
    return [*np.asarray(values)] if values.dtype.kind == "f" else values.tolist()


def _factorised_objects(values: Sequence[Any]) -> tuple[Array, list[Any]]:
    """The same for Python's objects, one by one."""
    places: dict[Any, int] = {}
    out = np.empty(len(values), np.int64)
    for i, value in enumerate(values):
        level = level_of(value)
        out[i] = -1 if level is None else places.setdefault(level, len(places))
    return out, list(places)


def level_of(value: Any) -> Level | None:
    """What stands for a level: a number, a text, or None where there is nothing. 1, 1.0 and True are one level.

    Raises TypeError for what has no hash.
    """
    if isinstance(value, str):
        return str(value)
    hash(value)
    value = value.item() if isinstance(value, np.bool_) else value
    if _is_gap(value):
        return None
    if isinstance(value, Integral):
        return float(value) if abs(int(value)) <= EXACT else int(value)
    if isinstance(value, Real | Decimal):
        number = float(str(value) if isinstance(value, np.floating) else value)
        return None if math.isnan(number) else number
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, date):  # a day, be it written with a time or not
        return str(value).removesuffix(" 00:00:00")
    text = str(value)
    if " object at 0x" in text:
        raise TypeError("an object without a value of its own")
    return text


def _numbers(column: Column) -> Array:
    """The numbers of a column."""
    series = column.values
    if not isinstance(series, nw.Series):
        return _numbers_of_objects(column)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _floats(series)
    if dtype == nw.Date:
        return _floats(series.cast(nw.Datetime("us")).dt.timestamp("us")) / SECOND
    if dtype == nw.Datetime:
        return _floats(series.dt.timestamp("us")) / SECOND
    if dtype == nw.Duration:
        return _numbers_of_objects(Column(column.name, series.to_numpy()))
    if dtype == nw.Time:
        return np.array([_seconds(value) for value in series.to_list()], np.float64)
    objects = np.empty(len(series), object)
    objects[:] = series.to_list()
    return _numbers_of_objects(Column(column.name, objects))


def _floats(series: Any) -> Array:
    """Numbers as floats; those of Arrow that are not exactly floats are rounded, as those of others are."""
    if not series.dtype.is_integer():
        return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
    gone = series.is_null()
    numbers = np.asarray((series.fill_null(0) if gone.any() else series).to_numpy(), np.float64)
    return np.where(gone.to_numpy(), np.nan, numbers)


def _seconds(value: time | None) -> float:
    """Seconds since midnight."""
    if value is None or _is_gap(value):
        return math.nan
    return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6


def _numbers_of_objects(column: Column) -> Array:
    """Numbers of Python's objects, or of NumPy's dates and durations, in seconds."""
    values: Array = column.values
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind in "Mm":
        unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
        numbers = values.astype(unit).astype(np.int64) / SECOND
        return np.where(np.isnat(values), np.nan, numbers)
    try:
        return np.array([math.nan if _is_gap(value) else float(value) for value in values], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ColumnError(column.name, values) from None


def _is_gap(value: Any) -> bool:
    """Whether an object stands for nothing; those of pandas need not be there."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")
