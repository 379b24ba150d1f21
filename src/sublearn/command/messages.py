"""What the commands say: refusals and notes, both to stderr, so that results alone go to stdout."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NoReturn

MOST_NAMES, WIDEST = 8, 70  # of a list of names: how many, and how many characters


class Refusal(Exception):  # noqa: N818  it is what a user reads, not an error of ours
    """Raised for anything that the user can mend: one line to stderr, and exit code 2."""


def refuse(message: str) -> NoReturn:
    """End the command with one line."""
    raise Refusal(message)


def say(message: str) -> None:
    """Print a line to stderr."""
    print(message, file=sys.stderr, flush=True)


def need(library: str, what: str, extra: str) -> None:
    """Refuse where a library of an extra is not installed."""
    if find_spec(library) is None:
        refuse(f"{what} needs {library}: pip install 'sublearn[{extra}]'")


def listed(names: Iterable[Any], most: int = MOST_NAMES) -> str:
    """Names with commas; of many, the first and how many more there are."""
    every = [str(name) for name in names]
    shown = every[:most]
    while len(shown) > 1 and len(", ".join(shown)) > WIDEST:
        shown.pop()
    more = len(every) - len(shown)
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)


def counted(n: int, noun: str) -> str:
    """A number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def one_line(error: BaseException) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def is_watched() -> bool:
    """Whether stderr is a terminal, on which progress may be drawn."""
    return sys.stderr.isatty() and find_spec("rich") is not None


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Callable[[float, int], None]]:
    """A function to call with how much of `total` is done and how many rows that were; draws on terminals only."""
    if not is_watched():
        yield lambda done, n_rows: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    ahead = [BarColumn(), TaskProgressColumn(), TextColumn("left"), TimeRemainingColumn()] if total else []
    columns = [TextColumn(what), *ahead, TextColumn("{task.fields[rows]}"), TextColumn("after"), TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rows="")

        def show(done: float, n_rows: int) -> None:
            bar.update(task, completed=done, rows=counted(n_rows, "row"))

        yield show
