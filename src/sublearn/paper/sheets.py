"""A table as text, for the terminal, the page and files alike; what is in them comes from `tables` and `claims`."""

from typing import Any, NamedTuple


class Cell(NamedTuple):
    """The first line is the figure, the others stand below it in small print."""

    lines: tuple[str, ...]
    is_best: bool = False
    is_alarming: bool = False


class Sheet(NamedTuple):
    """A table with a name for files, and its content once more as plain values."""

    name: str
    title: str
    note: str
    header: list[str]  # of the labels, then of the cells
    rows: list[tuple[str, list[Cell]]]
    breaks: set[int]  # rows below which a line is drawn
    entries: list[dict[str, Any]]  # one for each cell or row, for CSV and JSON
    is_timing: bool = False  # differs from run to run
    is_text: bool = False  # cells have sentences, which are wrapped
