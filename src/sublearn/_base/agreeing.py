"""Samples of one partition, checked beside those of the others: what they find together is the same everywhere.

Each partition checks its own X and y as if it were alone. Before that partitions agree on which columns are categories,
and afterwards on the levels of these and on what numbers were. An error of one partition ends the fit in all of them.
A partition without rows has no say.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _num_features, _num_samples

from sublearn._base.frames import (
    NUMBERS,
    TEXT,
    Levels,
    Schema,
    chosen_columns,
    columns_of,
    columns_of_numbers,
    has_values,
    level_name,
    make_levels,
    names_of,
)
from sublearn._base.sparse import dense_of
from sublearn.core.links import Links
from sublearn.kernels.layout import Array

Said = tuple[int, Any]  # the number of a partition, and what it says
Sights = Sequence["Seen | None"]  # of all partitions; None: it has no rows


class Seen(NamedTuple):
    """What a partition that has rows sees of its X before values are read."""

    width: int | None  # number of columns; None where X is no table, of which the check of its values tells
    names: list[Any] | None  # of the columns, where they have any
    chosen: Array | None  # bool (n_columns,), what is a category by types; None: all are plain numbers
    numeric: Array | None  # bool (n_columns,), whether the type of a column is one of numbers; None: all are

    def name(self, i: int) -> Any:
        """The name of a column, or its number."""
        return i if self.names is None else self.names[i]


class Found(NamedTuple):
    """What a partition that has rows finds in the values of its X."""

    width: int
    dtype: Any
    names: Array | None  # as in `feature_names_in_`
    schema: Schema | None  # of a new fit, where there may be categories


def check_together(check: Callable[..., Any], estimator: Any, X: Any, *y: Any, reset: bool) -> Any:
    """X, or X and y, as `check` of one partition leaves them, where the partitions of all samples agree.

    `check` is called with a further argument `chosen`: the columns that are categories; None: by this partition's
    types, or by an earlier fit.
    """
    links, owner = estimator._links, type(estimator).__name__
    takes_categories = hasattr(estimator, "categorical_features")
    is_new = takes_categories and reset and not estimator._keeps_trees()
    seen = None
    with links.all_well():
        X = dense_of(X, owner)
        if _has_rows(X, y):
            seen = _look_at(estimator, X, is_new)
    everywhere = links.tell(seen)
    if not any(everywhere):
        raise ValueError(f"X of {owner} must have samples; there are none in any partition.")
    if reset:
        _refuse_other_columns(everywhere, links, owner)
    chosen = _chosen(X, everywhere, links) if is_new else None
    found, values, targets = None, np.empty((0, 0)), [np.empty(0) for _ in y]
    with links.all_well():
        if seen:
            checked = check(estimator, X, *y, reset=reset, chosen=chosen)
            values, *targets = checked if y else (checked,)
            schema = estimator._schema if is_new else None
            found = Found(values.shape[1], values.dtype, getattr(estimator, "feature_names_in_", None), schema)
    all_found = links.tell(found)
    first = next(filter(None, all_found))
    values = values.reshape(len(values), first.width)
    values = values.astype(np.result_type(*[one.dtype for one in all_found if one]), copy=False)
    if reset and not seen:
        _note(estimator, first)
    if is_new:
        own, united = estimator._schema, _united(all_found, everywhere, links, owner)
        if seen:
            _renumber(values, own, united)
        estimator._schema = united
    return (values, *targets) if y else values


def _has_rows(X: Any, y: Sequence[Any]) -> bool:
    """Whether there is something to check; raises ValueError where y has samples and X has none."""
    try:
        if _num_samples(X):
            return True
    except TypeError:  # the check tells what is wrong
        return True
    check_consistent_length(X, *y)
    return False


def _look_at(estimator: Any, X: Any, is_new: bool) -> Seen:
    """What is there to see without a look at the values."""
    try:
        width = _num_features(X)
    except TypeError:
        width = None
    chosen = numeric = None
    if is_new:
        given = estimator.categorical_features
        columns = columns_of(X)
        if columns is None and not (given is None or isinstance(given, str)):
            columns = columns_of_numbers(X)
        if columns is not None:
            chosen = chosen_columns(given, columns, type(estimator).__name__)
            numeric = np.array([column.is_numeric for column in columns], np.bool_)
    return Seen(width, names_of(X), chosen, numeric)


def _refuse_other_columns(everywhere: Sights, links: Links, owner: str) -> None:
    """Raise ValueError for the first partition whose columns are not those of the first one that has rows."""
    (at, first), *others = [(number, seen) for number, seen in enumerate(everywhere) if seen and seen.width is not None]
    like = f"as in {links.name_of(at)}"
    for number, seen in others:
        head = f"In {links.name_of(number)}: X of {owner} must have"
        if seen.width != first.width:
            raise ValueError(f"{head} {first.width} columns, {like}; got {seen.width}.")
        if (seen.names is None) != (first.names is None):
            raise ValueError(f"{head} {'no ' if first.names is None else ''}names of columns, {like}.")
        if seen.names is not None and first.names is not None and seen.names != first.names:
            i = next(i for i, name in enumerate(seen.names) if name != first.names[i])
            what = f"{like}; column {i} is {seen.names[i]!r} here, and {first.names[i]!r} there."
            if sorted(map(repr, seen.names)) == sorted(map(repr, first.names)):
                raise ValueError(f"{head} its columns in the same order {what}")
            raise ValueError(f"{head} the same columns {what}")


def _chosen(X: Any, everywhere: Sights, links: Links) -> Array | None:
    """The columns that are categories; None where all are plain numbers.

    Where types differ, a column is one if it is so by the type of any partition in which it has values.
    """
    there = [seen for seen in everywhere if seen and seen.width is not None]
    if all(seen.chosen is None for seen in there):
        return None
    masks = np.array([np.zeros(seen.width or 0, np.bool_) if seen.chosen is None else seen.chosen for seen in there])
    differ = (masks != masks[0]).any(axis=0)
    if not differ.any():
        first: Array = masks[0]
        return first
    seen, own = everywhere[links.number], None
    if seen and seen.width is not None:
        columns = columns_of(X) or columns_of_numbers(X) or []
        own = [bool(differ[i]) and has_values(column) for i, column in enumerate(columns)]
    filled = np.array([told for told in links.tell(own) if told is not None])
    chosen: Array = np.where(filled.any(axis=0), (masks & filled).any(axis=0), masks.any(axis=0))
    return chosen


def _note(estimator: Any, first: Found) -> None:
    """Let an estimator without rows know what the others have noted in their checks."""
    estimator.n_features_in_ = first.width
    vars(estimator).pop("feature_names_in_", None)
    if first.names is not None:
        estimator.feature_names_in_ = first.names
    if hasattr(estimator, "categorical_features"):
        estimator._schema = first.schema or estimator._known_schema()


def _united(found: Sequence[Found | None], everywhere: Sights, links: Links, owner: str) -> Schema:
    """The schema of all partitions; raises ValueError where they hold different things in a column."""
    there = [(number, one.schema) for number, one in enumerate(found) if one and one.schema]
    first = there[0][1]
    if all(schema == first for _, schema in there):
        return first
    width = len(first.levels)
    levels: list[Levels | None] = []
    kinds: list[str | None] = []
    for i in range(width):
        try:
            levels.append(_united_levels([(number, schema.levels[i]) for number, schema in there], everywhere, i))
            kinds.append(_united_kind([(number, schema.kinds[i]) for number, schema in there]))
        except _MixedError as error:
            (at, before), (number, now) = error.both
            name = next(seen for seen in everywhere if seen).name(i)
            raise ValueError(
                f"In {links.name_of(number)}: X of {owner} must hold the same in column {name!r} as in "
                f"{links.name_of(at)}; it holds {now} here, and {before} there."
            ) from None
    return Schema(tuple(levels), tuple(kinds))


class _MixedError(Exception):
    """Raised for a column that holds different things in two partitions."""

    def __init__(self, one: Said, other: Said) -> None:
        super().__init__()
        self.both = sorted([one, other], key=lambda said: said[0])


def _united_levels(each: Sequence[tuple[int, Levels | None]], everywhere: Sights, i: int) -> Levels | None:
    """The levels of all partitions; numbers in one and text in another are not mixed, unless types allow both."""
    there = [(number, levels) for number, levels in each if levels is not None]
    if not there:
        return None
    numbers, texts = [], []
    for number, levels in there:
        seen, text = everywhere[number], [value for value in levels.values if isinstance(value, str)]
        if text:
            texts.append((number, f"{TEXT} such as {level_name(text[0])}"))
        elif levels.values and seen and (seen.numeric is None or seen.numeric[i]):
            numbers.append((number, f"{NUMBERS} such as {level_name(levels.values[0])}"))
    if numbers and texts:
        raise _MixedError(numbers[0], texts[0])
    return make_levels({value for _, levels in there for value in levels.values}, any(one.has_gaps for _, one in there))


def _united_kind(each: Sequence[tuple[int, str | None]]) -> str | None:
    """What the numbers of a column were; text may be read as numbers, as in a column that holds both."""
    said = [(number, kind) for number, kind in each if kind is not None]
    for other in said:
        if other[1] != said[0][1] and {other[1], said[0][1]} != {TEXT, NUMBERS}:
            raise _MixedError(said[0], other)
    kinds = {kind for _, kind in said}
    return TEXT if TEXT in kinds else next(iter(kinds), None)


def _renumber(values: Array, own: Schema, united: Schema) -> None:
    """Give categories the numbers of their levels in all partitions, in place of those in this one."""
    for i, (before, after) in enumerate(zip(own.levels, united.levels, strict=True)):
        if before is not None and after is not None and before != after:
            table = after.numbers_of([*before.values, None])
            values[:, i] = table[values[:, i].astype(np.int64)]
