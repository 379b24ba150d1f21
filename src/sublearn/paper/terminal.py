"""Tables, progress and the time left on the terminal, with rich."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from sublearn.paper.runner import Record, Unit
from sublearn.paper.sheets import Cell, Sheet

FRAME = 3  # of a column: a space on both sides and a line


def show_sheet(console: Console, sheet: Sheet) -> None:
    """Print a table, in several parts one below the other where the terminal is narrow; sentences as a list."""
    if sheet.is_text:
        _show_list(console, sheet)
        return
    labels = 1 + FRAME + max(len(label) for label, _ in sheet.rows)
    n = max(1, (console.width - labels) // _column_width(sheet))
    for start in range(0, len(sheet.header) - 1, n):
        table = Table(title=sheet.title if start == 0 else None, title_style="bold", title_justify="left")
        table.add_column(sheet.header[0], no_wrap=True)
        for title in sheet.header[1 + start : 1 + start + n]:
            table.add_column(title, justify="right")
        for i, (label, cells) in enumerate(sheet.rows):
            table.add_row(label, *map(_text, cells[start : start + n]), end_section=i in sheet.breaks)
        console.print(table)
    console.print(sheet.note, style="dim")
    console.print()


def _show_list(console: Console, sheet: Sheet) -> None:
    console.print(sheet.title, style="bold")
    for label, cells in sheet.rows:
        console.print(Text(label), style="bold")
        for title, cell in zip(sheet.header[1:], cells, strict=True):
            if any(cell.lines):
                console.print(Padding(Text.assemble((f"{title}: ", "dim"), _text(cell)), (0, 0, 0, 2)))
    console.print(sheet.note, style="dim", markup=False)
    console.print()


def _column_width(sheet: Sheet) -> int:
    """Titles are wrapped between words, figures not at all."""
    words = [word for title in sheet.header[1:] for word in title.split()]
    lines = [line for _, cells in sheet.rows for cell in cells for line in cell.lines]
    return FRAME + max(map(len, words + lines))


def _text(cell: Cell) -> Text:
    first, *others = cell.lines
    style = " ".join(["bold"] * cell.is_best + ["red"] * cell.is_alarming)
    return Text.assemble((first, style), *((f"\n{line}", "dim") for line in others))


class Forecast:
    """The time left, from what units of the same contender on the same set have taken so far."""

    def __init__(self, units: list[Unit], jobs: int) -> None:
        self._left: dict[tuple[str, str], int] = {}
        for unit in units:
            self._left[self._kind(unit)] = self._left.get(self._kind(unit), 0) + 1
        self._seen: dict[tuple[str, str], tuple[int, float]] = {}  # how many, and their seconds
        self._jobs = jobs

    @staticmethod
    def _kind(unit: Unit) -> tuple[str, str]:
        return unit.subject, unit.data_set

    def note(self, unit: Unit, record: Record) -> None:
        """Count a unit as done."""
        self._left[self._kind(unit)] -= 1
        n, seconds = self._seen.get(self._kind(unit), (0, 0.0))
        self._seen[self._kind(unit)] = n + 1, seconds + record.seconds

    def seconds_left(self) -> float | None:
        """Seconds that the rest may take; None before anything is done."""
        if not self._seen:
            return None
        means = {kind: seconds / n for kind, (n, seconds) in self._seen.items()}
        usual = sum(means.values()) / len(means)
        return sum(n * means.get(kind, usual) for kind, n in self._left.items()) / self._jobs


@contextmanager
def progress(console: Console, units: list[Unit], jobs: int) -> Iterator[Callable[[Unit, Record], None]]:
    """A bar; what it yields is told of each unit that is done."""
    columns = BarColumn(), TextColumn("{task.completed} of {task.total}"), TextColumn("{task.description}")
    forecast = Forecast(units, jobs)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=len(units))

        def done(unit: Unit, record: Record) -> None:
            forecast.note(unit, record)
            left = forecast.seconds_left() or 0.0
            text = f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left"
            bar.update(task, advance=1, description=f"{text}; {unit.data_set}, {unit.subject}")

        yield done
