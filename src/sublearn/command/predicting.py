"""Predictions block by block: what `predict` writes and `evaluate` measures."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sublearn.command import cells
from sublearn.command.messages import counted, listed, one_line, refuse, say
from sublearn.command.models import Kept
from sublearn.command.tables import Part, Reading, Table


class Answered(NamedTuple):
    """A part of a table with the features as the model takes them."""

    part: Part
    X: Any


def open_for(kept: Kept, path: str, reading: Reading, others: list[str]) -> Table:
    """The table to predict; columns that are missing are refused by name, others are ignored with a word."""
    words = kept.notes.get("missing")  # what stood for nothing in training does so now
    table = Table(path, reading, words if isinstance(words, list) else None)
    names = kept.features
    if names is None:
        n = kept.first._model.n_features
        left = [name for name in table.columns if name not in others]
        if len(left) != n:
            refuse(
                f"{kept.path} knows {n} features by their order alone; {table.name} has {counted(len(left), 'column')}."
            )
        return table
    there, used = set(table.columns), {*names, *others}
    lacking = [name for name in names if name not in there]
    if lacking:
        columns = f"column{'s' if len(lacking) > 1 else ''} {listed(map(repr, lacking))}"
        refuse(f"{table.name} lacks the {columns} of {kept.path}; it has {listed(table.columns, 20)}.")
    extra = [name for name in table.columns if name not in used]
    if extra:
        say(f"{table.name}: not used: {listed(extra)}")
    return table


def answered(kept: Kept, table: Table, others: list[str], what: str) -> Iterator[Answered]:
    """Each part of a table with its features, in the order and of the kinds of the model."""
    names = kept.features or [name for name in table.columns if name not in others]
    kinds = dict(zip(names, kept.kinds(), strict=True))
    table.wanted = list(dict.fromkeys([*names, *(name for name in others if name in table.columns)]))
    for part in table.parts(what):
        yield Answered(part, features_of(part, table, kinds, kept))


def features_of(part: Part, table: Table, kinds: dict[str, str], kept: Kept) -> Any:
    """The features of a part as the model takes them."""
    import polars as pl

    frame = part.frame.select(list(kinds))
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and kinds[name] != cells.TEXT]
    if texts:
        strings = frame.select(texts) if table.is_text else frame.select(cells.cleaned(texts, table.missing))
        frame = frame.with_columns(_values(strings, kinds, part, table))
    return frame if kept.features is not None else frame.to_numpy()


def _values(strings: Any, kinds: dict[str, str], part: Part, table: Table) -> Any:
    """Cells of text as values of their kinds; where some are none, they may be flags or have decimal commas."""
    own = {name: kinds[name] for name in strings.columns}
    values = cells.typed(strings, own, table.decimal or cells.POINT)
    if cells.find_misfit(*_filled(strings, values, own)) is None:
        return values
    numbers = [name for name, kind in own.items() if kind in (cells.NUMBERS, cells.DURATIONS)]
    own |= {name: cells.FLAGS for name in numbers if cells.is_flags(strings, name)}
    is_late = table.decimal is None and part.first > 0
    decimal = table.settle_decimal(strings, [name for name in numbers if own[name] != cells.FLAGS])
    if is_late and decimal == cells.COMMA:
        refuse(f"{table.name}: from row {part.first + 1:,} on, numbers have a decimal comma; pass --decimal , or .")
    values = cells.typed(strings, own, decimal)
    _refuse_misfit(*_filled(strings, values, own), kinds, part, table)
    return values


def _filled(strings: Any, values: Any, kinds: dict[str, str]) -> tuple[Any, Any]:
    """Both without the columns of which the model knows nothing."""
    known = [name for name in strings.columns if kinds[name] != cells.NOTHING]
    return strings.select(known), values.select(known)


def _refuse_misfit(strings: Any, values: Any, kinds: dict[str, str], part: Part, table: Table) -> None:
    """Refuse a cell that is not of its column's kind."""
    found = cells.find_misfit(strings, values)
    if found is None:
        return
    name, place = found
    where = part.place(place.row, table.separator)
    hint = f"--missing '{place.value}' makes it a gap."
    if kinds[name] == cells.NUMBERS and "," in place.value:
        hint = "If the comma is a decimal one, pass --decimal ,"
    refuse(f"{table.name}, {where}: column {name!r} holds {kinds[name]} in the model; got {place.value!r}. {hint}")


def call(kept: Kept, method: str, X: Any) -> Any:
    """What the model answers; what it refuses is one line."""
    try:
        return getattr(kept.model, method)(X)
    except (TypeError, ValueError) as error:
        refuse(one_line(error))
