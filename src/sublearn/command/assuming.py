"""What is assumed of a table that nobody has described: the task, and which columns are no features."""

import re
from typing import Any, NamedTuple

from sublearn.command.messages import counted, refuse

CLASSES, NUMBERS = "classes", "numbers"
MOST_CLASSES = 20  # distinct whole numbers that are taken for classes
ROWS_A_CLASS = 10  # at the least, on the average; two values are classes of however few rows
MOST_TEXTS = 1000  # classes that are texts, and so no mistake
ID_NAME = re.compile(
    r"(?i)(^|[_\W])(id|ids|uuid|guid|key|index|idx)$|^(id|row|rownames|row_?(id|nr|num|number)|nr|no|#)$|^unnamed"
)
LEAST_IDS = 20  # rows from which on a column of distinct texts is taken for names of rows


class Task(NamedTuple):
    """What is to be learned."""

    kind: str
    why: str


def find_task(target: Any, asked: str | None, name: str) -> Task:
    """Classes or numbers, by the values of the target, a series without gaps."""
    is_number = target.dtype.is_numeric()
    n, n_distinct = len(target), target.n_unique()
    if asked == NUMBERS and not is_number:
        shown = f"text such as {target[0]!r}" if target.dtype != bool else "true or false"
        refuse(f"--task numbers: column {name!r} holds {shown}; leave the option out, or choose another --target.")
    if asked is not None:
        return Task(asked, f"{counted(n_distinct, 'distinct value')}, as asked")
    found = f"{n_distinct:,} distinct"
    if not is_number:
        if target.dtype.is_temporal():
            refuse(f"--target: column {name!r} holds dates or times; turn them into numbers, such as days.")
        if n_distinct > min(MOST_TEXTS, n / 2) and n > LEAST_IDS:
            refuse(
                f"--target: column {name!r} is text with {found} values in {counted(n, 'row')}, such as {target[0]!r}; "
                "that is neither classes nor numbers. If it is meant as classes, pass --task classes."
            )
        return Task(CLASSES, f"it is {'true or false' if str(target.dtype) == 'Boolean' else 'text'}, {found}")
    if n_distinct <= max(2, min(MOST_CLASSES, n // ROWS_A_CLASS)) and bool((target == target.round()).all()):
        return Task(CLASSES, f"it has {counted(n_distinct, 'distinct whole number')}; --task numbers overrules")
    return Task(NUMBERS, f"it has {n_distinct:,} distinct numbers; --task classes overrules")


def find_ids(frame: Any, unnamed: list[str]) -> dict[str, str]:
    """Columns that only number or name the rows, and why each is one."""
    found = {}
    for name in frame.columns:
        column = frame[name]
        is_named = name in unnamed or ID_NAME.search(name) is not None
        if column.dtype.is_integer() and is_named:
            if column.null_count() == 0 and column.n_unique() == len(column) > 1:
                found[name] = "distinct whole numbers"
        elif str(column.dtype) == "String" and len(column) >= LEAST_IDS and _differ(column):
            found[name] = "all texts differ"
    return found


def _differ(column: Any) -> bool:
    """Whether no text is there twice; of many, the first ones mostly tell."""
    first = column.head(LEAST_IDS)
    return bool(first.n_unique() == len(first) and column.null_count() == 0 and column.n_unique() == len(column))


def find_counters(frame: Any, ids: dict[str, str]) -> list[str]:
    """Columns that grow by one from row to row, and may be numbers of rows."""
    found = []
    for name in frame.columns:
        column = frame[name]
        if name in ids or not column.dtype.is_integer() or column.null_count() or len(column) < LEAST_IDS:
            continue
        if column[1] - column[0] == 1 and bool((column.diff().drop_nulls() == 1).all()):
            found.append(name)
    return found
