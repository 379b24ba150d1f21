"""Tables in files, in blocks of rows: CSV, whose cells are text until a kind is known, Parquet and Arrow."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, Any, NamedTuple

import typer

from sublearn.command import cells
from sublearn.command.csv_text import SEPARATORS, Block, blocks_of, find_head, strings_of
from sublearn.command.messages import need, one_line, progress, refuse, say
from sublearn.command.sources import CSV, PARQUET, STREAM, Source, find_source, open_text

ROWS = 131_072  # of a block of Parquet or Arrow, at the most
VALUES = 1 << 22  # of a block of Parquet or Arrow, about
DECIMALS = (cells.POINT, cells.COMMA)

Separator = Annotated[
    str | None,
    typer.Option(help="Sign between cells of CSV: comma, semicolon, tab, pipe or any other. Default: found."),
]
Decimal = Annotated[
    str | None, typer.Option(metavar="[.|,]", help="Sign before decimals of CSV. Default: found.", show_default=False)
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of CSV, such as cp1252. Default: UTF-8, or UTF-16 by its mark.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line of CSV is data: columns are column_1, column_2, ...")
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS", help="Words that stand for nothing in CSV, beside NA, NaN, null, None, ? and others."
    ),
]
Present = Annotated[
    str | None, typer.Option(metavar="WORDS", help="Of these words, those that do stand for something, such as None.")
]


class Reading(NamedTuple):
    """How CSV is to be read; None: find out."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    no_header: bool = False
    missing: str | None = None
    present: str | None = None


class Part(NamedTuple):
    """Some rows of a table."""

    frame: Any  # of polars; of CSV, strings, or null where there is nothing
    first: int  # number of its first row, from 0
    done: float  # how much of the file is read now
    block: Block | None = None  # of CSV, the text

    def place(self, row: int, separator: str) -> str:
        """Where a row is, for messages."""
        if self.block is None:
            return f"row {self.first + row + 1:,}"
        lines = (line for line, _ in self.block.rows(separator))
        return f"line {next(line for i, line in enumerate(lines) if i == row):,}"


class Table:
    """A table in a file, which is read once, from its beginning to its end."""

    def __init__(self, path: str, reading: Reading, missing: Sequence[str] | None = None) -> None:
        need("polars", "Reading tables", "cli")
        if reading.decimal not in (None, *DECIMALS):
            refuse(f"--decimal must be . or ,; got {reading.decimal!r}.")
        self.source: Source = find_source(path)
        self.reading, self.name, self.decimal = reading, self.source.name, reading.decimal
        self.missing = cells.missing_words(
            cells.MISSING if missing is None else missing, reading.missing, reading.present
        )
        self.separator = ","
        self.unnamed: list[str] = []
        self.is_text = self.source.format == CSV
        self.wanted: list[str] | None = None  # columns that are read; None: all
        self.columns: list[str] = []
        self._n_rows = 0
        if self.is_text:
            self._open_text()
        else:
            self._open_columns()

    def __del__(self) -> None:
        if "_stream" in vars(self):
            self._stream.close()

    @property
    def total(self) -> float | None:
        """What `done` of the last part is, about; None: not known."""
        return self.source.n_bytes if self.is_text else self._n_rows

    def words(self) -> str:
        """What kind of file it is."""
        if not self.is_text:
            return self.source.format
        decimal = ", decimal commas" if self.decimal == cells.COMMA else ""
        return f"CSV, {SEPARATORS.get(self.separator, self.separator)}s{decimal}, {self._stream.encoding.upper()}"

    def parts(self, what: str) -> Iterator[Part]:
        """All rows, part by part, with progress on a terminal."""
        with progress(what, self.total) as show:
            n_rows = 0
            for part in self._text_parts() if self.is_text else self._column_parts():
                yield part
                n_rows = part.first + len(part.frame)
                show(part.done, n_rows)
        if not n_rows:
            refuse(f"{self.name} has names of columns, but no rows.")

    def whole(self, what: str) -> Any:
        """All rows at once."""
        import polars as pl

        return pl.concat([part.frame for part in self.parts(what)], rechunk=True)

    def require(self, names: list[str], option: str) -> None:
        """Refuse names of columns that are not there."""
        for name in names:
            if name not in self.columns:
                refuse(f"{option}: {self.name} has no column {name!r}. {_nearest(name, self.columns)}")

    def settle_decimal(self, frame: Any, names: list[str]) -> str:
        """The sign before decimals, by these columns of strings; it is found once."""
        if self.decimal is None:
            self.decimal = cells.find_decimal(frame, names)
            if self.decimal == cells.COMMA:
                say(f"{self.name}: numbers have a decimal comma; --decimal . overrules.")
        return self.decimal or cells.POINT

    def _open_text(self) -> None:
        """Read the names of the columns."""
        self._stream = open_text(self.source, self.reading.encoding)
        self._blocks = blocks_of(self._stream, self.name)
        try:
            first = next(self._blocks, None)
            if first is None:
                refuse(f"{self.name} is empty.")
            head = find_head(first, self.name, self.reading.separator, not self.reading.no_header)
        except BaseException:
            self._stream.close()
            raise
        self.columns, self.separator, self.unnamed = head.names, head.separator, head.unnamed
        self._blocks = chain([head.first], self._blocks)

    def _text_parts(self) -> Iterator[Part]:
        wanted = self.columns if self.wanted is None else self.wanted
        n_rows = 0
        try:
            for block in self._blocks:
                if block.text.strip():
                    strings = strings_of(block, self.columns, self.separator, self.name)
                    frame = strings.select(cells.cleaned(wanted, self.missing))
                    yield Part(frame, n_rows, self._stream.done(), block)
                    n_rows += len(frame)
        finally:
            self._stream.close()

    def _open_columns(self) -> None:
        """Look at the types of the columns."""
        import polars as pl

        path, kind = self.source.path, self.source.format
        with self._readable():
            if kind == STREAM:
                self._lazy = pl.read_ipc_stream(path).lazy()
            else:
                self._lazy = pl.scan_parquet(path, glob=False) if kind == PARQUET else pl.scan_ipc(path)
            self.columns = self._lazy.collect_schema().names()
            self._n_rows = int(self._lazy.select(pl.len()).collect().item())

    def _column_parts(self) -> Iterator[Part]:
        wanted = self.columns if self.wanted is None else self.wanted
        size = max(min(ROWS, VALUES // max(len(wanted), 1)), 1)
        for first in range(0, self._n_rows, size):
            with self._readable():
                frame = self._lazy.select(wanted).slice(first, size).collect()
            yield Part(frame, first, first + len(frame))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Refuse a file that polars cannot read."""
        import polars as pl

        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            refuse(f"{self.name} cannot be read as {self.source.format}: {one_line(error)}.")


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    by_case = [one for one in known if one.lower() == name.lower()]
    near = by_case or get_close_matches(name, known, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    shown = known if len(known) <= 20 else [*known[:20], f"and {len(known) - 20:,} more"]
    return f"Its columns are {', '.join(shown)}."


def names_in(text: str | None) -> list[str]:
    """Names of columns, separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
