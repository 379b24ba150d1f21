"""The rows that a report measures and shows: what was given, its values as numbers, and what they are."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sublearn._base.checking import check_target, refuse_gaps
from sublearn._base.frames import native_of, take_rows
from sublearn._base.sparse import dense_of
from sublearn.kernels.layout import Array
from sublearn.reporting.measures import places_of
from sublearn.reporting.subject import CATEGORIES, Subject
from sublearn.reporting.wording import label_text, shortened, value_text

FEWEST = 2


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their targets."""

    X: Any  # a table as the model takes it
    y: Array  # numbers, or places among the classes, -1 for those that are not known
    targets: Array  # as they were given
    values: Array  # float64 (n_rows, n_features); NaN: missing; a category is the number of its level

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.y)

    def truth(self, row: int) -> str:
        """The target of a row as it is shown."""
        target = self.targets[row : row + 1].tolist()[0]
        return value_text(target, None) if self.y.dtype.kind == "f" else label_text(target)

    def only(self, rows: Array) -> Any:
        """The table of some rows."""
        return take_rows(self.X, rows)

    def with_other(self, rows: Array, f: int, donors: Array) -> Any:
        """The table of some rows, in which feature f has the values of other rows."""
        own, others = take_rows(self.X, rows), take_rows(self.X, donors)
        if isinstance(own, np.ndarray):
            own[:, f] = others[:, f]
            return own
        if hasattr(own, "isetitem"):  # pandas, whose names may be there twice and whose rows have labels
            own = own.reset_index(drop=True)
            own.isetitem(f, others.iloc[:, f].reset_index(drop=True))
            return own
        frame, other = nw.from_native(own, eager_only=True), nw.from_native(others, eager_only=True)
        return nw.to_native(frame.with_columns(other.get_column(other.columns[f])))

    def cell(self, subject: Subject, row: int, f: int) -> str:
        """The value of a feature in a row, as it is shown."""
        feature, value = subject.features[f], self.values[row, f]
        return shortened(feature.level(value) if feature.kind == CATEGORIES else value_text(value, feature.kind))


def as_rows(subject: Subject, X: Any, y: Any) -> Rows:
    """The rows that are given to `report`, checked."""
    X = dense_of(native_of(X), "report")
    values = subject.members[0]._check_samples(X)
    targets = np.asarray(y) if hasattr(y, "dtype") or hasattr(y, "to_numpy") else np.asarray(y, object)
    targets = targets.ravel() if targets.ndim == 2 and targets.shape[1] == 1 else targets
    if targets.shape != (len(values),):
        got = f"{len(targets):,}" if targets.ndim == 1 else f"an array of shape {targets.shape}"
        raise ValueError(f"y of report must have one value for each of {len(values):,} rows of X; got {got}.")
    if len(values) < FEWEST:
        raise ValueError(f"X of report must have at least {FEWEST} rows; got {len(values)}.")
    X = take_rows(X, np.arange(len(values)))  # lists become arrays
    if not subject.is_classifier:
        numbers = check_target(targets, subject.kind)
        return Rows(X, numbers, numbers, values)
    refuse_gaps(targets, subject.kind)
    places = places_of(targets, subject.model.classes_)
    if (places < 0).all():
        known = ", ".join(map(repr, subject.model.classes_.tolist()[:5]))
        raise ValueError(
            f"y of report must hold classes of the model, such as {known}; it holds none of them, "
            f"but {targets.tolist()[0]!r}."
        )
    return Rows(X, places, targets, values)
