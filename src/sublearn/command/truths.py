"""Known targets of a table: what `evaluate` and `report` hold predictions against."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sublearn.command import cells
from sublearn.command.messages import counted, refuse, say
from sublearn.command.models import Kept
from sublearn.command.predicting import Answered, answered
from sublearn.command.tables import Part, Table


class WithTruths(NamedTuple):
    """A part of a table with its targets."""

    one: Answered
    truths: Any  # numbers, or a list of classes
    is_there: Any  # bool, whether a row has a target


def target_of(kept: Kept, given: str | None) -> str:
    """The name of the column with the truth: the one given, or that of the training."""
    name = given or kept.notes.get("target")
    if name is None:
        refuse(f"{kept.path} does not say which column it predicts; name it with --target.")
    return str(name)


def require_target(kept: Kept, table: Table, name: str, given: str | None) -> None:
    """Say in one line that the column with the truth is not there."""
    if given is None and name not in table.columns:
        refuse(f"{table.name} has no column {name!r}, which {kept.path} predicts; --target names another.")
    table.require([name], "--target")


def with_truths(kept: Kept, table: Table, name: str, what: str) -> Iterator[WithTruths]:
    """Each part of a table with its targets; rows without one are counted at the end."""
    n_without, n = 0, 0
    for one in answered(kept, table, [name], what):
        truths, is_there = _truths(kept, one.part, table, name)
        n_without, n = n_without + int((~is_there).sum()), n + int(is_there.sum())
        yield WithTruths(one, truths, is_there)
    if n_without:
        say(f"left out: {counted(n_without, 'row')} without a {name}")
    if not n:
        refuse(f"{table.name}: column {name!r} is empty, so there is nothing to compare with.")


def _truths(kept: Kept, part: Part, table: Table, name: str) -> tuple[Any, Any]:
    """The targets of a part, and whether each is there."""
    import numpy as np
    import polars as pl

    column = part.frame[name]
    if kept.is_classifier:
        return _labels(column, kept.model.classes_), column.is_not_null().to_numpy()
    values = column
    if column.dtype == pl.String:
        strings = part.frame.select(name)
        values = cells.typed(strings, {name: cells.NUMBERS}, table.settle_decimal(strings, [name]))[name]
        bad = (values.is_null() & column.is_not_null()).arg_true()
        if len(bad):
            where = part.place(int(bad[0]), table.separator)
            refuse(f"{table.name}, {where}: {kept.path} predicts numbers; got {column[int(bad[0])]!r} in {name!r}.")
    elif not column.dtype.is_numeric():
        refuse(f"{kept.path} predicts numbers; column {name!r} of {table.name} is {column.dtype}.")
    numbers = values.cast(pl.Float64).to_numpy()
    return numbers, np.isfinite(numbers)


def _labels(column: Any, classes: Any) -> list[Any]:
    """The labels of a column in the form of the model's classes; those that have it not stay text."""
    import polars as pl

    kind = classes.dtype.kind
    if column.dtype != pl.String:
        found: list[Any] = column.to_list() if kind not in "OU" else column.cast(pl.String).to_list()
        return found
    if kind == "b":
        values = column.to_frame().select(cells.flag(pl.col(column.name))).to_series().to_list()
    elif kind in "iuf":
        values = column.cast(pl.Float64, strict=False).to_list()
    else:
        values = column.to_list()
    return [text if value is None else value for text, value in zip(column.to_list(), values, strict=True)]
