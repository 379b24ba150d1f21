"""Cells of text as values: which kind a column is, what stands for nothing, and decimal commas.

All cells of a column are looked at, and training and prediction read them by the same rules.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sublearn.command.messages import counted, refuse

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?")
WHOLE, NUMBERS, FLAGS, DATES, TIMES, DURATIONS, TEXT, NOTHING = (
    "whole numbers",
    "numbers",
    "true or false",
    "dates",
    "times of a day",
    "durations",
    "text",
    "nothing",
)
DATE_FORMATS = tuple(f"%Y-%m-%d{time}" for time in ("", " %H:%M:%S%.f", "T%H:%M:%S%.f", " %H:%M", "T%H:%M"))
TIME_FORMATS = ("%H:%M:%S%.f", "%H:%M")
GROUPED = r"^[+-]?\d{1,3}(,\d{3})+$"  # a comma that may part thousands
THOUSANDS = r"^[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?$"
POINT, COMMA = ".", ","
MOSTLY = 0.9  # share of numbers from which a column of text looks like one of numbers with mistakes


class Place(NamedTuple):
    """A cell, for messages."""

    row: int
    value: str


def cleaned(names: list[str], missing: tuple[str, ...]) -> Any:
    """An expression: cells without blanks around them, and null where nothing is in them."""
    import polars as pl

    cell = pl.col(names).str.strip_chars()
    return pl.when(cell.is_in(list(missing))).then(None).otherwise(cell).name.keep()


def number(cell: Any, decimal: str) -> Any:
    """An expression of cells as floats, null where there is no number."""
    import polars as pl

    if decimal == COMMA:
        cell = (
            pl.when(cell.str.contains(".", literal=True)).then(None).otherwise(cell.str.replace(",", ".", literal=True))
        )
    return cell.cast(pl.Float64, strict=False)


def flag(cell: Any) -> Any:
    """An expression of cells as booleans."""
    import polars as pl

    lower = cell.str.to_lowercase()
    return pl.when(lower == "true").then(True).when(lower == "false").then(False).otherwise(None)


def moment(cell: Any) -> Any:
    """An expression of ISO dates, with times or without."""
    import polars as pl

    plain = cell.str.strip_suffix("Z")
    return pl.coalesce([plain.str.to_datetime(how, strict=False, time_unit="us") for how in DATE_FORMATS])


def clock(cell: Any) -> Any:
    """An expression of times of a day."""
    import polars as pl

    return pl.coalesce([cell.str.to_time(how, strict=False) for how in TIME_FORMATS])


def value(cell: Any, kind: str, decimal: str) -> Any:
    """An expression of cells as values of a kind, null where they are none."""
    import polars as pl

    if kind == WHOLE:
        return cell.cast(pl.Int64, strict=False)
    if kind == NUMBERS:
        return number(cell, decimal)
    if kind == FLAGS:
        return flag(cell)
    if kind == DATES:
        return moment(cell)
    if kind == TIMES:
        return clock(cell)
    if kind == DURATIONS:  # of a model that was fitted to another kind of file: seconds
        return (number(cell, decimal) * 1e6).cast(pl.Int64, strict=False).cast(pl.Duration("us"))
    if kind == NOTHING:
        return pl.lit(None, pl.Float64)
    return cell


def find_decimal(frame: Any, names: list[str]) -> str | None:
    """The sign before decimals, by all numbers of some columns of strings; None where no number has any."""
    plain = _counts(frame, names, lambda cell: number(cell, POINT))
    filled = _counts(frame, names, lambda cell: cell)
    others = [name for name in names if plain[name] < filled[name]]
    with_comma = _counts(frame, others, lambda cell: number(cell, COMMA))
    comma = [name for name in others if with_comma[name] == filled[name]]
    point = [name for name in names if filled[name] and plain[name] == filled[name]]
    with_point = _counts(frame, point, lambda cell: _if_true(cell.str.contains(".", literal=True)))
    point = [name for name in point if with_point[name]]
    if not comma:
        return POINT if point else None
    if point:
        refuse(
            f"Decimals have a comma in column {comma[0]!r}, such as {_comma_of(frame, comma[0])!r}, and a point in "
            f"column {point[0]!r}. Pass --decimal . or --decimal , and the other column is taken as text."
        )
    if not any(_counts(frame, comma, lambda cell: _if_true(_has_comma(cell) & ~cell.str.contains(GROUPED))).values()):
        refuse(
            f"Column {comma[0]!r} holds {_comma_of(frame, comma[0])!r}, which may be a decimal or a thousand. Pass "
            "--decimal , for the first; write thousands without a comma, or pass --decimal . to take them as text."
        )
    return COMMA


def _comma_of(frame: Any, name: str) -> str:
    found = _first(frame, name, _has_comma)
    return found.value if found else ""


def _has_comma(cell: Any) -> Any:
    return cell.str.contains(",", literal=True)


def _if_true(condition: Any) -> Any:
    """Null where a condition is false, so that `_counts` counts where it is true."""
    return condition.replace(False, None)


def _counts(frame: Any, names: list[str], of: Any) -> dict[str, int]:
    """How many cells of each column an expression has a value for."""
    import polars as pl

    if not names:
        return {}
    return dict(zip(names, frame.select([of(pl.col(name)).count().alias(name) for name in names]).row(0), strict=True))


def _first(frame: Any, name: str, condition: Any) -> Place | None:
    """The first cell of a column for which an expression is true."""
    import polars as pl

    alone = frame[name].to_frame()  # queries of a frame take the longer the more columns it has
    found = alone.select(condition(pl.col(name)).fill_null(False).arg_true().first()).item()
    return None if found is None else Place(int(found), frame[name][int(found)])


def find_kinds(frame: Any, decimal: str) -> dict[str, str]:
    """The kind of each column of strings: the first that fits all its cells."""
    names = frame.columns
    filled = _counts(frame, names, lambda cell: cell)
    kinds = {name: NOTHING for name in names if not filled[name]}
    for kind in (WHOLE, NUMBERS, FLAGS, DATES, TIMES):
        left = [name for name in names if name not in kinds]
        if kind in (DATES, TIMES):  # these take longer, and the first cell tells most columns
            left = [name for name in left if _counts(_filled_head(frame, name), [name], _of(kind, decimal))[name]]
        fitting = _counts(frame, left, _of(kind, decimal))
        kinds |= {name: kind for name in left if fitting[name] == filled[name]}
    return {name: kinds.get(name, TEXT) for name in names}


def _of(kind: str, decimal: str) -> Any:
    return lambda cell: value(cell, kind, decimal)


def _filled_head(frame: Any, name: str) -> Any:
    return frame[name].to_frame().drop_nulls().head(1)


def is_flags(frame: Any, name: str) -> bool:
    """Whether a column of strings holds true and false, and something at all."""
    n = _counts(frame, [name], flag)[name]
    return n > 0 and n == len(frame) - int(frame[name].null_count())


def typed(frame: Any, kinds: dict[str, str], decimal: str) -> Any:
    """A frame of strings as one of values."""
    import polars as pl

    return frame.select([value(pl.col(name), kinds[name], decimal).alias(name) for name in frame.columns])


def suspicions(frame: Any, texts: list[str], decimal: str) -> list[str]:
    """What looks like a mistake in columns that are taken as text."""
    filled, numbers = (_counts(frame, texts, of) for of in (lambda cell: cell, lambda cell: number(cell, decimal)))
    thousands = _counts(frame, texts, lambda cell: _if_true(cell.str.contains(THOUSANDS)))
    found = []
    for name in texts:
        n_others = filled[name] - numbers[name]
        if filled[name] and numbers[name] + thousands[name] == filled[name]:
            found.append(
                f"{name!r} is taken as text: its numbers have signs between thousands, such as "
                f"{_first(frame, name, lambda cell: cell.str.contains(THOUSANDS)).value!r}; write them without."  # type: ignore[union-attr]
            )
        elif numbers[name] >= MOSTLY * filled[name]:
            odd = _first(frame, name, lambda cell: cell.is_not_null() & number(cell, decimal).is_null())
            assert odd is not None
            found.append(
                f"{name!r} is taken as text: {counted(n_others, 'cell')} of {filled[name]:,} are no numbers, such as "
                f"{odd.value!r} in row {odd.row + 1:,}; --missing '{odd.value}' makes it a gap."
            )
    return found


def find_misfit(before: Any, after: Any) -> tuple[str, Place] | None:
    """A cell that has no value of its column's kind; `before` is the frame of strings."""
    n_before, n_after = before.null_count().row(0), after.null_count().row(0)
    for name, had, has in zip(before.columns, n_before, n_after, strict=True):
        if has > had:
            at = int((after[name].is_null() & before[name].is_not_null()).arg_true()[0])
            return name, Place(at, before[name][at])
    return None


def missing_words(usual: Sequence[str], added: str | None, removed: str | None) -> tuple[str, ...]:
    """What stands for nothing: the usual words, with some more and without some; an empty cell always does."""
    more, fewer = ([word.strip() for word in (given or "").split(",") if word.strip()] for given in (added, removed))
    return tuple(word for word in (*usual, *more) if word not in fewer)
