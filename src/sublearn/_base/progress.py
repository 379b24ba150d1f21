"""Showing how far a fit or a search is: a bar where rich is installed, lines otherwise; nothing unless asked."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

SECONDS = 1.0  # between two lines of progress


class Progress(NamedTuple):
    """How far a fit of boosting is, as callbacks see it. Scores are minus the mean loss."""

    n_iter: int  # rounds so far
    n_estimators: int  # rounds at the most
    train_score: float
    validation_score: float | None

    @property
    def done(self) -> float:
        """Rounds done, for a bar."""
        return self.n_iter

    @property
    def total(self) -> float:
        """Rounds at the most, for a bar."""
        return self.n_estimators

    def __str__(self) -> str:
        text = f"round {self.n_iter} of {self.n_estimators}, training loss {-self.train_score:.6g}"
        return text if self.validation_score is None else f"{text}, validation loss {-self.validation_score:.6g}"


class Status(Protocol):
    """How far a fit or a search is; its text says so in words."""

    @property
    def done(self) -> float: ...

    @property
    def total(self) -> float: ...


@contextmanager
def shown(verbose: bool) -> Iterator[Callable[[Status], None]]:
    """A function to call with the latest status whenever something more is done."""
    if not verbose:
        yield lambda progress: None
        return
    try:
        from rich import console, progress
    except ImportError:
        progress = None
    if progress is None:  # not in the except block, whose error would cling to those of the fit
        yield _lines()
        return
    columns = progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TimeElapsedColumn()
    with progress.Progress(*columns, console=console.Console(stderr=True)) as bar:
        task = bar.add_task("")

        def show(latest: Status) -> None:
            bar.update(task, description=str(latest), completed=latest.done, total=latest.total)

        yield show


def _lines() -> Callable[[Status], None]:
    """Prints a line a second to stderr, and one when all is done."""
    last = -SECONDS

    def show(latest: Status) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS or latest.done == latest.total:
            last = now
            print(latest, file=sys.stderr)

    return show
