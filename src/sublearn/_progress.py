"""Showing how far a fit is: a bar where rich is installed, lines otherwise; nothing unless asked."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

SECONDS = 1.0  # between two lines


class Progress(NamedTuple):
    """How far a fit of boosting is, as callbacks see it. Scores are minus the mean loss."""

    n_iter: int  # rounds so far
    n_estimators: int  # rounds at the most
    train_score: float
    validation_score: float | None

    def __str__(self) -> str:
        text = f"round {self.n_iter} of {self.n_estimators}, training loss {-self.train_score:.6g}"
        return text if self.validation_score is None else f"{text}, validation loss {-self.validation_score:.6g}"


@contextmanager
def shown(verbose: bool) -> Iterator[Callable[[Progress], None]]:
    """A function to call after each round."""
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
        task = bar.add_task("round 0")

        def show(latest: Progress) -> None:
            bar.update(task, description=str(latest), completed=latest.n_iter, total=latest.n_estimators)

        yield show


def _lines() -> Callable[[Progress], None]:
    """Prints a line a second to stderr, and one when all rounds are done."""
    last = -SECONDS

    def show(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS or progress.n_iter == progress.n_estimators:
            last = now
            print(progress, file=sys.stderr)

    return show
