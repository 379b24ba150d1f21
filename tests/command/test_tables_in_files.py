"""CSV as it comes: separators, quotes, marks, encodings, gaps, decimals, and what is refused with its line."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from commands import write
from sublearn.command import cells, csv_text
from sublearn.command.messages import Refusal
from sublearn.command.sources import Stream
from sublearn.command.tables import Reading, Table


def read(path: Path, text: str | bytes, **how: Any) -> pl.DataFrame:
    """A text as a table of values."""
    table = Table(write(path / "data.csv", text), Reading(**how))
    strings = table.whole("")
    decimal = table.settle_decimal(strings, strings.columns)
    return cells.typed(strings, cells.find_kinds(strings, decimal), decimal)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,x\n2.5,y\n", [(1.0, "x"), (2.5, "y")]),
        ('a,b\n1,"x, y"\n2,"say ""hi"""\n', [(1, "x, y"), (2, 'say "hi"')]),
        ('a,b\n1,"two\nlines"\n2,y', [(1, "two\nlines"), (2, "y")]),
        ("\ufeffa;b\n1,5;x\n2;y\n", [(1.5, "x"), (2.0, "y")]),
        ("a;b\n1.5;x\n2;y\n", [(1.5, "x"), (2.0, "y")]),
        ("a\tb\n1\tx,1\n2\ty,2\n", [(1, "x,1"), (2, "y,2")]),
        ("a|b\r\n1|x\r\n\r\n2|y\r\n\r\n", [(1, "x"), (2, "y")]),
        ("sep=;\na;b\n1;x\n", [(1, "x")]),
        (" a , b\n 1 , x \n", [(1, "x")]),
        ("a,b\n1,NA\n?,x\n,nan\n", [(1, None), (None, "x"), (None, None)]),
        ("a\n1\n2\n", [(1,), (2,)]),
        ('a,b\n\n"x\n\ny",2\n', [("x\n\ny", 2)]),
        ("a,b\ntrue,1e3\nFALSE,-.5\n", [(True, 1000.0), (False, -0.5)]),
    ],
)
def test_text_becomes_the_table_that_a_person_sees(text: str, expected: list[Any], tmp_path: Path) -> None:
    assert read(tmp_path, text).rows() == expected


def test_names_are_without_blanks_and_made_up_where_there_are_none(tmp_path: Path) -> None:
    assert read(tmp_path, " a ,,c\n1,2,3\n").columns == ["a", "column_2", "c"]
    assert read(tmp_path, "1,2\n3,4\n", no_header=True).rows() == [(1, 2), (3, 4)]


def test_iso_dates_and_times_are_told_from_text(tmp_path: Path) -> None:
    text = "a,b,c,d\n2024-01-31,2024-01-31T10:11:12.5,10:11,31.1.2024\n,2024-01-31 10:11,23:59:59,1.2.2024\n"
    assert [str(dtype) for dtype in read(tmp_path, text).dtypes] == [
        "Datetime(time_unit='us', time_zone=None)",
        "Datetime(time_unit='us', time_zone=None)",
        "Time",
        "String",
    ]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_other_encodings_are_read_when_named_or_marked(encoding: str, tmp_path: Path) -> None:
    named = {} if encoding == "utf-16" else {"encoding": encoding}
    frame = read(tmp_path, "größe,b\n1,é\n".encode(encoding), **named)
    assert (frame.columns, frame.rows()) == (["größe", "b"], [(1, "é")])


def test_compressed_files_are_read_by_what_is_in_them(tmp_path: Path) -> None:
    assert read(tmp_path, gzip.compress(b"a,b\n1,x\n")).rows() == [(1, "x")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "but no rows"),
        ("a,b,a\n1,2,3\n", "columns of one name: 'a'"),
        ("1,2\n3,4\n", "--no-header"),
        ("a,b\n1,2\n\n3\n", "line 4: 1 cell where there are 2 columns"),
        ('a,b\n"1\n1",2\n3,4,5\n', "line 4: 3 cells where there are 2 columns"),
        ('a,b\n1,2\n"3,4\n', "begins in line 3 has a quote"),
        ("a,b\n1,2\n3,é\n".encode("latin-1"), "line 3: this is not UTF-8 (byte 0xe9). Pass --encoding"),
        ("é,b\n1,2\n".encode("latin-1"), "line 1: this is not UTF-8"),
        ("a;b\n1,5;1.5\n", "a comma in column 'a', such as '1,5', and a point in column 'b'"),
        ("a;b\n1,500;x\n2,250;y\n", "may be a decimal or a thousand. Pass --decimal"),
        (gzip.compress(b"a,b\n1,x\n" * 999, mtime=0)[:-9], "was not written to its end"),
        (b"PK\x03\x04 and more", "Excel"),
        (b"PAR1 and more", "cannot be read as Parquet"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(text: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refusal:
        read(tmp_path, text)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_decimal_sign_that_is_given_is_not_questioned(tmp_path: Path) -> None:
    assert read(tmp_path, "a;b\n1,500;x\n", decimal=",").rows() == [(1.5, "x")]
    assert read(tmp_path, "a;b\n1,500;2.5\n", decimal=".").rows() == [("1,500", 2.5)]


def test_words_for_nothing_can_be_added_and_taken_away(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n-,None\n1,x\n", missing="-,unknown", present="None").rows() == [
        (None, "None"),
        (1, "x"),
    ]


@pytest.mark.parametrize("size", [1, 7, 20, 64, 1 << 20])
def test_blocks_of_any_size_hold_the_same_records(size: int, tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f'{i},"x ""{i}"",\n\n y"\r\n{i},z\n' for i in range(30))
    table = Table(write(tmp_path / "data.csv", text), Reading())
    stream = Stream(open(tmp_path / "data.csv", "rb"), None, "utf-8")  # noqa: SIM115  closed with the test
    blocks = [*csv_text.blocks_of(stream, "data", size)]
    stream.text.close()
    assert b"".join(block.text for block in blocks).decode() == text
    assert [block.line for block in blocks] == [1 + _lines(blocks, i) for i in range(len(blocks))]
    frames = [csv_text.strings_of(block, ["a", "b"], ",", "data") for block in blocks]
    assert pl.concat(frames).rows()[1:] == table.whole("").rows()


def _lines(blocks: list[csv_text.Block], i: int) -> int:
    return sum(block.text.count(b"\n") for block in blocks[:i])


def test_blocks_of_long_records_hold_enough_of_them(tmp_path: Path) -> None:
    """What a block takes for each column is then shared by many rows."""
    path = tmp_path / "data.csv"
    path.write_text("".join(f"{i:03},{'x' * 95}\n" for i in range(500)))
    with open(path, "rb") as file:
        blocks = [*csv_text.blocks_of(Stream(file, None, "utf-8"), "data", 1000, 200)]
    assert [block.text.count(b"\n") for block in blocks] == [10, 200, 200, 90]
    with open(path, "rb") as file:
        short = [*csv_text.blocks_of(Stream(file, None, "utf-8"), "data", 1000, 5)]
    assert {block.text.count(b"\n") for block in short} == {10}


def test_columns_that_look_like_numbers_with_mistakes_are_pointed_out(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [*map(str, range(30)), "abc"], "b": ["1,234.50"] * 31, "c": ["x"] * 31})
    odd = cells.suspicions(frame, ["a", "b", "c"], ".")
    assert ["'abc' in row 31" in odd[0], "between thousands" in odd[1], len(odd)] == [True, True, 2]


def test_ten_thousand_columns_are_read_whole(tmp_path: Path) -> None:
    names = [f"x{i}" for i in range(10_000)]
    text = "\n".join([",".join(names), *[",".join(map(str, range(10_000)))] * 3])
    frame = read(tmp_path, text)
    assert (frame.shape, frame.row(2)[-1]) == ((3, 10_000), 9999)
