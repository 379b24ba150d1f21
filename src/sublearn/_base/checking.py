"""Samples and targets as users give them: scikit-learn's checks and, where these fail, what is wrong where.

Fits, predictions and validation samples all come through here. Good input pays for a look at its types, no more.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from sublearn._base.agreeing import check_together
from sublearn._base.frames import (
    NUMBERS,
    ChangedError,
    Column,
    ColumnError,
    Schema,
    chosen_columns,
    columns_of,
    columns_of_numbers,
    native_of,
    read_columns,
)
from sublearn._base.sparse import dense_of
from sublearn.kernels.layout import Array

FLOATS = [np.float64, np.float32]
TEXT, DATES, OBJECTS, GAPS, INFINITY = "text", "dates or times", "objects", "NaN", "infinity"
WAYS_OUT = {  # what a user may do about each fault, the worst fault first
    TEXT: "Name its column in categorical_features where there is such a parameter, or encode it, for example with "
    "scikit-learn's OrdinalEncoder or OneHotEncoder.",
    DATES: "Turn them into numbers, such as days since the first.",
    OBJECTS: "Turn them into numbers.",
    GAPS: "Fill the gaps, for example with scikit-learn's SimpleImputer, or leave these rows out.",
    INFINITY: "Replace such values, or leave these rows out.",
}
WITHOUT_GAPS = tuple(kind for kind in WAYS_OUT if kind != GAPS)
SHORT = 40  # characters of an example, at the most
TWINS = (("Classifier", "Regressor"), ("Discriminant", "Relevant"))  # in names: for classes, for numbers


class Fault(NamedTuple):
    """What is wrong with some of the values of a column or of y."""

    kind: str
    example: str
    first: int
    n: int
    n_all: int

    def what(self) -> str:
        """The fault in words, with an example."""
        return self.kind if self.kind in (GAPS, INFINITY) else f"{self.kind} such as {self.example}"

    def where(self) -> str:
        """The fault, and in which samples it is."""
        return f"{self.what()} in {self.n} of {self.n_all} samples, the first is sample {self.first}"


def check_samples(estimator: Any, X: Any, *y: Any, reset: bool = True) -> Any:
    """X, or X and y, as scikit-learn checks them; errors name the column or sample, and the way out.

    Estimators that take categories note in `_schema` what the columns of a fit are, until they have a model.
    """
    X = native_of(X)
    if estimator._links.n_partitions > 1:
        return check_together(_check_dense, estimator, X, *y, reset=reset)
    X = dense_of(X, type(estimator).__name__)
    if hasattr(estimator, "categorical_features"):
        return _check_table(estimator, X, *y, reset=reset)
    return _check_numbers(estimator, X, *y, reset=reset, allows_gaps=False)


def _check_dense(estimator: Any, X: Any, *y: Any, reset: bool, chosen: Array | None = None) -> Any:
    """X, or X and y, of one partition; chosen: columns that are categories in others, where that is settled."""
    if hasattr(estimator, "categorical_features"):
        return _check_table(estimator, X, *y, reset=reset, chosen=chosen)
    return _check_numbers(estimator, X, *y, reset=reset, allows_gaps=False)


def _check_table(estimator: Any, X: Any, *y: Any, reset: bool, chosen: Array | None = None) -> Any:
    """X, or X and y, where X may have categories, dates and gaps."""
    owner, given = type(estimator).__name__, estimator.categorical_features
    schema = None if reset and not estimator._keeps_trees() else estimator._known_schema()
    columns = columns_of(X)
    is_plain = given is None or isinstance(given, str) if schema is None else schema.is_plain
    if columns is None and is_plain and chosen is None:
        checked = _check_numbers(estimator, X, *y, reset=reset, allows_gaps=True)
        if schema is None:
            n = estimator.n_features_in_
            estimator._schema = Schema((None,) * n, (NUMBERS,) * n)
        return checked
    if columns is None:
        columns = columns_of_numbers(X)
    if columns is None or not columns or not len(columns[0].values):
        return _check_numbers(estimator, X, *y, reset=reset, allows_gaps=True)  # which says what is wrong
    if reset and schema is not None:
        estimator._check_width(len(columns))
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if chosen is None:
        chosen = chosen_columns(given, columns, owner) if schema is None else np.zeros(len(columns), np.bool_)
    try:
        matrix, schema = read_columns(columns, chosen, schema)
    except ChangedError as error:
        raise ValueError(f"X of {owner} must be of the types of fit: {error}.") from None
    except ColumnError as error:
        fault = _fault(error.values, WITHOUT_GAPS)
        if not hasattr(X, "columns") and (is_plain or fault is None or fault.kind == OBJECTS):
            _refuse_samples(X, owner, True, error)
        raise ValueError(_says(owner, error.name, fault, "") if fault else str(error)) from None
    _refuse_infinity(matrix, columns, owner)
    if reset:
        estimator._schema = schema
    try:
        how = {"dtype": FLOATS, "ensure_all_finite": "allow-nan", "estimator": estimator}
        return check_X_y(matrix, *y, **how) if y else check_array(matrix, **how)
    except (TypeError, ValueError):
        for one in y:
            refuse_gaps(one, owner)
        raise


def _refuse_infinity(matrix: Array, columns: Sequence[Column], owner: str) -> None:
    """Raise ValueError for the first column with a number that is not finite."""
    for i, column in enumerate(columns):
        fault = _fault(matrix[:, i], (INFINITY,))
        if fault is not None:
            raise ValueError(_says(owner, column.name, fault, ""))


def _check_numbers(estimator: Any, X: Any, *y: Any, reset: bool, allows_gaps: bool) -> Any:
    """X, or X and y, where X has numbers alone, and perhaps gaps."""
    owner = type(estimator).__name__
    if _has_dates(X):  # which scikit-learn takes for numbers
        _refuse_samples(X, owner, allows_gaps)
    try:
        finite = "allow-nan" if allows_gaps else True
        return validate_data(estimator, X, *y, reset=reset, dtype=FLOATS, ensure_all_finite=finite)
    except (TypeError, ValueError, OverflowError) as error:
        if "feature names" not in str(error):
            _refuse_samples(X, owner, allows_gaps, error)
            for given in y:
                refuse_gaps(given, owner)
        raise


def check_target(y: Array, owner: str) -> Array:
    """The y of a regression as finite floats."""
    try:
        with np.errstate(over="ignore"):
            numbers = y.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        _refuse_target(y, owner, tuple(WAYS_OUT))
        raise
    if y.dtype.kind in "mM" or not np.isfinite(numbers).all():
        _refuse_target(y if y.dtype.kind in "mMO" else numbers, owner, tuple(WAYS_OUT))
    return numbers


def refuse_gaps(y: Any, owner: str) -> None:
    """Raise ValueError if a sample has no target, be it a class or a number."""
    values = _as_array(y)
    if values.ndim == 1 or values.shape[1:] == (1,):
        _refuse_target(values.ravel(), owner, (GAPS, INFINITY))


def refuse_faults(given: Any, name: str, owner: str) -> None:
    """Raise ValueError if what is given one a sample, such as weights, holds anything but finite numbers."""
    values = _as_array(given)
    fault = _fault(values) if values.ndim == 1 else None
    if fault is not None:
        way_out = "Leave these samples out." if fault.kind in (GAPS, INFINITY) else WAYS_OUT[OBJECTS]
        raise ValueError(f"{name} of {owner} must hold finite numbers; {name} contains {fault.where()}. {way_out}")


def refuse_negative(numbers: Any, name: str, owner: str) -> None:
    """Raise ValueError for the first negative number of what is given to fit one a sample."""
    if (numbers < 0).any():
        at = int(np.argmax(numbers < 0))
        raise ValueError(f"{name} of {owner}.fit must not be negative; got {numbers[at]:g} for sample {at}.")


def refuse_infinity(X: Any, owner: str) -> None:
    """Raise ValueError for the first column of floats with a number that is not finite; others are not looked at."""
    if getattr(X, "dtype", np.dtype(object)).kind == "f" and not np.isinf(X).any():
        return
    for name, values in _columns(X):
        fault = _fault(values, (INFINITY,)) if values.dtype.kind == "f" else None
        if fault is not None:
            raise ValueError(_says(owner, name, fault, ""))


def for_numbers(owner: str) -> str:
    """The name of what learns numbers where `owner` learns classes."""
    for classes, numbers in TWINS:
        owner = owner.replace(classes, numbers)
    return owner


def for_classes(owner: str) -> str:
    """The name of what learns classes where `owner` learns numbers."""
    for classes, numbers in TWINS:
        owner = owner.replace(numbers, classes)
    return owner


def _refuse_target(y: Array, owner: str, kinds: tuple[str, ...]) -> None:
    """Raise ValueError if y holds something of these kinds."""
    fault = _fault(y, kinds)
    if fault is None:
        return
    what = "a class" if for_classes(owner) == owner else "a finite number"
    way_out = WAYS_OUT[fault.kind]
    if fault.kind == TEXT:
        way_out = f"Did you mean {for_classes(owner)}?"
    elif fault.kind in (GAPS, INFINITY):
        way_out = "Leave these samples out."
    raise ValueError(f"y of {owner} must hold {what} for each sample; y contains {fault.where()}. {way_out}") from None


def _refuse_samples(X: Any, owner: str, allows_gaps: bool, error: Exception | None = None) -> None:
    """Raise an error for the first column of X that holds anything but finite numbers; `error` is scikit-learn's."""
    kinds = WITHOUT_GAPS if allows_gaps else tuple(WAYS_OUT)
    found = [(name, fault) for name, values in _columns(X) if (fault := _fault(values, kinds)) is not None]
    if not found:
        return
    name, fault = found[0]
    alike = sum(other.kind == fault.kind for _, other in found) - 1
    more = f" and in {alike} more column{'s' if alike > 1 else ''}" if alike else ""
    text = _says(owner, name, fault, more)
    if fault.kind == OBJECTS and isinstance(error, TypeError):  # scikit-learn wants to see that
        raise TypeError(f"{text} {error}.") from None
    raise ValueError(text) from None


def _says(owner: str, name: Any, fault: Fault, more: str) -> str:
    """A fault of a column in words, with the way out."""
    rows = f"{fault.n} of {fault.n_all} rows, the first is row {fault.first}"
    return (
        f"X of {owner} must hold finite numbers; X contains {fault.what()} in column {name!r} ({rows}){more}. "
        f"{WAYS_OUT[fault.kind]}"
    )


def _has_dates(X: Any) -> bool:
    """Whether types tell of dates; in lists and arrays of objects, whether those of the first row do."""
    if hasattr(X, "columns"):
        return any(map(is_temporal, set(getattr(X, "dtypes", ()))))
    if not isinstance(X, list | tuple) and not (isinstance(X, np.ndarray) and X.dtype == np.object_ and X.ndim == 2):
        return is_temporal(getattr(X, "dtype", None))
    row = X[0] if len(X) else ()
    return isinstance(row, list | tuple | np.ndarray) and any(
        isinstance(v, np.datetime64 | np.timedelta64) for v in row
    )


def is_temporal(dtype: Any) -> bool:
    """Whether a type of NumPy, pandas or polars is one of dates, times or durations."""
    return getattr(dtype, "kind", None) in ("m", "M") or (hasattr(dtype, "is_temporal") and dtype.is_temporal())


def _columns(X: Any) -> Iterator[tuple[Any, Array]]:
    """Names, or numbers, of the columns of a frame or of what is two-dimensional, with their values."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for i, name in enumerate(X.columns):
            column = X.iloc[:, i] if hasattr(X, "iloc") else X[:, i]
            values = np.asarray(column)
            yield name, values if values.ndim == 1 else _objects(column)  # such as structures of polars
        return
    array = _as_array(X)
    if array.ndim == 2:
        yield from enumerate(array.T)


def _objects(values: Any) -> Array:
    """One object a sample, be it a sequence itself."""
    objects = np.empty(len(values), object)
    objects[:] = list(values)
    return objects


def _as_array(given: Any) -> Array:
    """An array of objects where there are no types, so that everything stays what it is."""
    return np.asarray(given) if hasattr(given, "dtype") else np.asarray(given, object)


def _fault(values: Array, kinds: tuple[str, ...] = tuple(WAYS_OUT)) -> Fault | None:
    """The worst that is wrong with values, among some kinds."""
    if values.dtype.kind in "biuf":
        rows = {GAPS: np.flatnonzero(np.isnan(values)), INFINITY: np.flatnonzero(np.isinf(values))}
    elif values.dtype.kind == "c":  # complex numbers, of which scikit-learn's own error tells
        rows = {}
    else:
        each = np.array([_kind(value) for value in values])
        rows = {kind: np.flatnonzero(each == kind) for kind in WAYS_OUT}
    for kind in kinds:
        at = rows.get(kind, np.empty(0, np.int64))
        if at.size:
            return Fault(kind, _shown(values[at[0]]), int(at[0]), len(at), len(values))
    return None


def _kind(value: Any) -> str:
    """What is wrong with a value; nothing if it is a finite number, or text that reads as one."""
    if isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64):
        return DATES
    if value is None or type(value).__name__ == "NAType":  # that of pandas, which need not be there
        return GAPS
    try:
        number = float(value)
    except OverflowError:
        return INFINITY
    except (TypeError, ValueError):
        return TEXT if isinstance(value, str | bytes) else OBJECTS
    return GAPS if math.isnan(number) else INFINITY if math.isinf(number) else ""


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, date | np.datetime64 | np.timedelta64) else repr(_plain(value))
    return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
