"""Text of CSV files: the separator, the names of columns, and records in blocks, each a frame of strings.

Cells become numbers, dates and so on in `cells`. What is no table is refused with the number of its line.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from sublearn.command.messages import counted, listed, refuse
from sublearn.command.sources import Stream, undamaged

BLOCK = 1 << 23  # bytes of text that are read at a time
LARGEST = 1 << 26  # bytes, where records are so long that a block has few of them
ROWS = 1000  # records of a block that are worth the time a column takes, however short it is
LONGEST = 1 << 28  # bytes of a record, at the most
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
NAMED = {name: sign for sign, name in SEPARATORS.items()} | {"\\t": "\t"}
TRIED = 200  # records that the separator is told by
QUOTE = b'"'
BLANK_LINE = re.compile(rb"^\r?\n", re.MULTILINE)

csv.field_size_limit(LONGEST)


class Block(NamedTuple):
    """Whole records of a text."""

    text: bytes
    line: int  # of its first record, from 1

    def rows(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """The cells of each record by themselves, and its line: slow, for what has to be looked at closely."""
        reader = csv.reader(io.StringIO(self.text.decode(errors="replace"), newline=""), delimiter=separator)
        begin = 0
        for row in reader:
            if row:
                yield self.line + begin, row
            begin = reader.line_num


class Head(NamedTuple):
    """What the beginning of a text tells."""

    names: list[str]
    separator: str
    first: Block  # the records after the names
    unnamed: list[str]  # names that were not there, and are made up


def blocks_of(stream: Stream, name: str, size: int = BLOCK, n_rows: int = ROWS) -> Iterator[Block]:
    """The records of a text, in blocks of about so many bytes; of long records, more after the first block."""
    rest, line = b"", 1
    while more := _read(stream, size, name):
        rest += more
        end = _last_end(rest)
        if end:
            yield Block(rest[:end], line)
            n_lines = rest.count(b"\n", 0, end)
            size = max(size, min(LARGEST, n_rows * end // n_lines))
            line, rest = line + n_lines, rest[end:]
        elif len(rest) > LONGEST:
            break
    if rest.count(QUOTE) % 2 or len(rest) > LONGEST:
        refuse(f'{name}: the record that begins in line {line} has a quote (") that is not closed.')
    if rest.strip():
        yield Block(rest, line)


def _read(stream: Stream, size: int, name: str) -> bytes:
    with undamaged(name):
        given: bytes = stream.text.read(size)
    return given


def _last_end(text: bytes) -> int:
    """Where the last whole record ends: after a line break before which quotes are in pairs."""
    end = text.rfind(b"\n")
    n_quotes = text.count(QUOTE, 0, end) if end >= 0 else 0
    while end >= 0 and n_quotes % 2:
        before = text.rfind(b"\n", 0, end)
        n_quotes -= text.count(QUOTE, max(before, 0), end)
        end = before
    return end + 1


def find_head(first: Block, name: str, separator: str | None, has_header: bool) -> Head:
    """The separator and the names of the columns, by the first block."""
    text = first.text.lstrip(b"\r\n")
    line = first.line + first.text.count(b"\n") - text.count(b"\n")
    told = re.match(rb"sep=(.)\r?\n", text)  # a line for Excel
    if told:
        separator = separator or told[1].decode(errors="replace")
        text, line = text[told.end() :], line + 1
    block = Block(text, line)
    separator = _sign(separator) if separator else _likely(_records(block, text), name)
    rows = block.rows(separator)
    try:
        _, cells = next(rows)
    except StopIteration:
        refuse(f"{name} is empty.")
    if not has_header:
        return Head([f"column_{i + 1}" for i in range(len(cells))], separator, block, [])
    end = _first_end(text)
    _check_utf8(Block(text[:end], line), name)
    names = [cell.strip() for cell in cells]
    unnamed = [f"column_{i + 1}" for i, cell in enumerate(names) if not cell]
    names = [cell or f"column_{i + 1}" for i, cell in enumerate(names)]
    _check_names(names, name)
    return Head(names, separator, Block(text[end:], line + text.count(b"\n", 0, end)), unnamed)


def _check_names(names: list[str], name: str) -> None:
    twice = sorted(one for one, n in Counter(names).items() if n > 1)
    if twice:
        refuse(f"{name} has columns of one name: {listed(map(repr, twice))}. Give each its own.")
    if all(_is_number(one) for one in names):
        refuse(f"{name} begins with numbers, not with names of columns; add a line of names, or pass --no-header.")


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _first_end(text: bytes) -> int:
    """Where the first record ends."""
    end, n_quotes = -1, 0
    while True:
        begin, end = end + 1, text.find(b"\n", end + 1)
        if end < 0:
            return len(text)
        n_quotes += text.count(QUOTE, begin, end)
        if n_quotes % 2 == 0:
            return end + 1


def _sign(given: str) -> str:
    """A separator as it was given: itself, or by its name."""
    sign = NAMED.get(given, given)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        refuse(f"--separator must be one character, or {', '.join(NAMED)}; got {given!r}.")
    return sign


def _records(block: Block, text: bytes) -> Block:
    """The first records of a block, some hundred."""
    end = 0
    for _ in range(TRIED):
        end = text.find(b"\n", end) + 1
        if end == 0:
            return block
    cut = _last_end(text[:end])
    return Block(text[:cut], block.line) if cut else block


def _likely(block: Block, name: str) -> str:
    """The separator with which most records have as many cells as there are names, more than one."""
    found = []
    for sign in SEPARATORS:
        try:
            lengths = [len(row) for _, row in block.rows(sign)]
        except csv.Error:
            continue
        if lengths and lengths[0] > 1:
            found.append((sum(length == lengths[0] for length in lengths) / len(lengths), lengths[0], sign))
    if not found:
        return ","
    alike, _, sign = max(found)
    if alike < 1 and sum(one[0] == alike for one in found) > 1:
        refuse(f"{name}: cells are parted by {listed(SEPARATORS[one[2]] for one in found)} alike; pass --separator.")
    return sign


def strings_of(block: Block, names: list[str], separator: str, name: str) -> Any:
    """A polars frame of strings; blank lines are skipped, and records of another length refused."""
    import polars as pl

    text = block.text
    outside = _outside_quotes(text)
    if b"\n\n" in text or b"\n\r\n" in text or text.startswith((b"\n", b"\r\n")):
        if outside is not text:
            return _closely(block, names, separator, name)
        text = outside = BLANK_LINE.sub(b"", text)
    n_records = outside.count(b"\n") + (not outside.endswith(b"\n"))
    if not text or outside.count(separator.encode()) != (len(names) - 1) * n_records:
        return _closely(block, names, separator, name)
    try:
        return pl.read_csv(
            text,
            has_header=False,
            separator=separator,
            schema=dict.fromkeys(names, pl.String),
            infer_schema_length=0,
        )
    except (pl.exceptions.PolarsError, ValueError):
        return _closely(block, names, separator, name)


def _outside_quotes(text: bytes) -> bytes:
    """The text without what is within quotes."""
    return b"".join(text.split(QUOTE)[::2]) if QUOTE in text else text


def _closely(block: Block, names: list[str], separator: str, name: str) -> Any:
    """The same record by record, which finds what is wrong."""
    import polars as pl

    _check_utf8(block, name)
    rows = []
    try:
        for line, row in block.rows(separator):
            if len(row) != len(names):
                refuse(
                    f"{name}, line {line}: {counted(len(row), 'cell')} where there are "
                    f"{counted(len(names), 'column')}. Cells that hold a {SEPARATORS.get(separator, separator)} "
                    "need quotes."
                )
            rows.append(row)
    except csv.Error as error:
        refuse(f"{name}, after line {block.line}: {error}.")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _check_utf8(block: Block, name: str) -> None:
    try:
        block.text.decode()
    except UnicodeDecodeError as error:
        line = block.line + block.text.count(b"\n", 0, error.start)
        byte = f"byte 0x{block.text[error.start]:02x}"
        refuse(f"{name}, line {line}: this is not UTF-8 ({byte}). Pass --encoding, for example cp1252 or latin-1.")
