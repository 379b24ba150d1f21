"""Cells of tables written anew: numbers as the types that columns have, in as few digits as their use allows."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from sublearn._base.frames import (
    DATES,
    DURATIONS,
    TEXT,
    TIMES,
    Column,
    columns_of_numbers,
    level_of,
    native_of,
)
from sublearn.kernels.layout import Array

DAY = 86_400.0
STEPS_OF_TIME = (365 * DAY, 7 * DAY, DAY, 6 * 3600.0, 3600.0, 900.0, 60.0, 1.0, 1e-3, 1e-6)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class Kind(NamedTuple):
    """What a column's cells are."""

    name: Any
    step: float  # numbers are whole multiples of this; 0: any number
    kind: str | None  # as in `Schema`; None for a category
    levels: Sequence[Any] | None  # of a category, as the column writes them; None: missing


class Table:
    """A table as a user gave it, and copies of it with other cells."""

    def __init__(self, X: Any, levels: Sequence[Any], kinds: Sequence[str | None], names: Sequence[str]) -> None:
        self.given, self.names = X, names
        self.native = native_of(X)
        dense = self.native.toarray() if issparse(self.native) else self.native
        if isinstance(dense, list | tuple):
            dense = np.asarray(
                dense, object if any(isinstance(v, str) or v is None for r in dense for v in r) else None
            )
        self.dense = dense
        columns = columns_of_numbers(dense)
        assert columns is not None  # it has been checked
        self.columns = columns
        self.kinds = [_kind_of(c, own, kind) for c, own, kind in zip(columns, levels, kinds, strict=True)]

    def is_flag(self, f: int) -> bool:
        """Whether a column holds True and False."""
        dtype = self.columns[f].values.dtype
        return bool(dtype.kind == "b" if isinstance(dtype, np.dtype) else dtype == nw.Boolean)

    def cell(self, row: int, f: int) -> Any:
        """A cell as it is."""
        value = self.columns[f].values[row]
        return value.item() if isinstance(value, np.generic) else value

    def written(self, f: int, number: float) -> Any:
        """A number as a cell of a column."""
        kind = self.kinds[f]
        if kind.levels is not None:
            return kind.levels[int(number)]
        values = self.columns[f].values
        dtype = values.dtype
        if kind.kind == TEXT:
            return repr(float(number)).removesuffix(".0")
        if kind.kind == DATES:
            return _date(number, dtype)
        if kind.kind == DURATIONS:
            return timedelta(seconds=number)
        if kind.kind == TIMES:
            return (datetime.min + timedelta(seconds=number)).time()
        if self.is_flag(f):
            return bool(round(number))
        return round(number) if kind.step else float(number)

    def with_cells(self, rows: Array, features: Array, numbers: Array, gone: Array) -> Any:
        """A copy with some cells written anew, and with rows (a mask) of which nothing is left."""
        if isinstance(self.dense, np.ndarray):
            return self._array(rows, features, numbers, gone)
        frame = nw.from_native(self.dense, eager_only=True)
        changed: set[int] = set(range(len(self.names)) if gone.any() else features.tolist())
        series = [self._series(frame, f, rows[features == f], numbers[features == f], gone) for f in sorted(changed)]
        return nw.to_native(frame.with_columns(*series) if series else frame.clone())

    def _array(self, rows: Array, features: Array, numbers: Array, gone: Array) -> Any:
        out = self.dense.copy()
        if gone.any() and out.dtype.kind not in "fO":
            out = out.astype(np.float64)
        for row, f, number in zip(rows.tolist(), features.tolist(), numbers.tolist(), strict=True):
            out[row, f] = self.written(f, number)
        if gone.any():
            out[gone] = None if out.dtype.kind == "O" else np.nan
        return type(self.native)(out) if issparse(self.native) else out

    def _series(self, frame: Any, f: int, rows: Array, numbers: Array, gone: Array) -> Any:
        column = frame[:, f]
        cells = column.to_list()
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            cells[row] = self.written(f, number)
        for row in np.flatnonzero(gone).tolist():
            cells[row] = None
        return nw.from_native(_native_series(nw.to_native(column), cells), series_only=True).alias(column.name)


def _native_series(column: Any, cells: list[Any]) -> Any:
    """Cells as a column of the same type, or, of pandas, of one that has a place for what is missing."""
    module = type(column).__module__.partition(".")[0]
    if module == "polars":
        import polars as pl

        return pl.Series(column.name, cells, dtype=column.dtype, strict=False)
    if module == "pyarrow":
        import pyarrow as pa

        is_coded = pa.types.is_dictionary(column.type)
        plain = pa.array(cells, type=column.type.value_type if is_coded else column.type)
        return pa.chunked_array([plain.dictionary_encode() if is_coded else plain])
    import pandas as pd

    try:
        return pd.Series(cells, index=column.index, name=column.name, dtype=column.dtype)
    except (TypeError, ValueError):  # whole numbers, flags: these have no place for what is missing
        kind = np.float64 if column.dtype.kind in "iu" else object
        return pd.Series([np.nan if kind is not object and c is None else c for c in cells], column.index, kind)


def _kind_of(column: Column, levels: Sequence[Any] | None, kind: str | None) -> Kind:
    if levels is not None:
        cells = column.values.to_list() if isinstance(column.values, nw.Series) else column.values.tolist()
        own = {level_of(cell): cell for cell in cells}
        return Kind(column.name, 0.0, None, [own.get(level, level) for level in levels])
    return Kind(column.name, _step(column.values.dtype, kind), kind, None)


def _step(dtype: Any, kind: str | None) -> float:
    """What cells of a type are whole multiples of."""
    if isinstance(dtype, np.dtype):
        unit = {"datetime64[D]": DAY}.get(str(dtype), 1e-6)
        return 1.0 if dtype.kind in "biu" else unit if dtype.kind in "mM" else 0.0
    if dtype == nw.Date:
        return DAY
    if kind in (DATES, TIMES, DURATIONS):
        return 1e-6
    return 1.0 if dtype.is_integer() or dtype == nw.Boolean else 0.0


def _date(number: float, dtype: Any) -> Any:
    """Seconds since the beginning of 1970 as a date or a time."""
    moment = BEGINNING + timedelta(microseconds=round(number * 1e6))
    if isinstance(dtype, np.dtype):
        return np.datetime64(moment.replace(tzinfo=None)).astype(dtype)
    if dtype == nw.Date:
        return moment.date()
    zone = getattr(dtype, "time_zone", None)
    return moment if zone else moment.replace(tzinfo=None)


def roundest(near: float, far: float, is_time: bool) -> float:
    """The number of fewest digits from `near` to `far`, the one nearest to `near` of several."""
    if not np.isfinite([near, far]).all() or near == far:
        return near
    sign = 1.0 if far > near else -1.0
    low, high = sign * near, sign * far  # ascending
    steps: Any = STEPS_OF_TIME
    if not is_time:
        if low <= 0.0 <= high:
            return 0.0
        top = int(np.floor(np.log10(max(abs(low), abs(high))))) + 1
        steps = [(exponent,) for exponent in range(top, top - 18, -1)]
    for step in steps:
        if is_time:
            found = np.ceil(low / step) * step
        else:  # by decimal text, so that 0.3 is 0.3
            (exponent,) = step
            found = float(f"{int(np.ceil(_scaled(low, exponent)))}e{exponent}")
        if low <= found <= high:
            return float(sign * found)
    return near


def _scaled(x: float, exponent: int) -> float:
    """x / 10^exponent, exact where powers of ten are."""
    return x * 10.0**-exponent if exponent < 0 else x / 10.0**exponent


def shown(cell: Any) -> str:
    """A cell as it is printed."""
    if isinstance(cell, float):
        return f"{cell:.6g}" if float(f"{cell:.6g}") == cell else f"{cell:.10g}"
    return str(cell) if isinstance(cell, date | time | timedelta | np.datetime64) else repr(cell)
