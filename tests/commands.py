"""What the tests of the command line share: a table as people have them, and the command in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner, Result

from sublearn.command.app import app

NAMES = ("id", "area", "town", "floor", "built", "lift", "price")
TOWNS = ("Ulm", "Bonn, West", "Kiel")


def rows_of_flats(n: int = 60) -> list[tuple[Any, ...]]:
    """Rows with numbers, text with commas, gaps, dates and flags; the price goes with the area and the town."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        area, town = round(float(rng.uniform(30, 120)), 1), TOWNS[rng.integers(3)]
        floor = str(rng.choice(["", "1", "2", "3"]))
        price = round(12 * area + 200 * (town == "Kiel") + float(rng.normal()), 2)
        rows.append((i + 1, area, town, floor, f"20{10 + i % 9}-03-11", "true" if i % 2 else "false", price))
    return rows


def text_of(rows: Sequence[Sequence[Any]], separator: str = ",", decimal: str = ".", end: str = "\n") -> str:
    """Rows as CSV, with quotes where they are needed."""

    def cell(value: Any) -> str:
        text = str(value).replace(".", decimal) if isinstance(value, float) else str(value)
        return f'"{text}"' if separator in text else text

    return end.join([*(separator.join(map(cell, row)) for row in [NAMES, *rows]), ""])


def write(path: Path, text: str | bytes) -> str:
    """A file, by its path."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def run(*arguments: Any, given: str | bytes | None = None) -> Result:
    """The command, which must end well."""
    result = CliRunner().invoke(app, [*map(str, arguments)], input=given)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result


def refused(*arguments: Any, given: str | bytes | None = None) -> str:
    """The last line that the command says, which must end with code 2, without results and without a traceback."""
    result = CliRunner().invoke(app, [*map(str, arguments)], input=given)
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    return str(result.stderr.splitlines()[-1])


def train(data: str, out: Path, *options: Any, target: str = "price") -> Result:
    """A small tree of a table."""
    few = ("--model", "tree", "--set", "max_depth=3", "--holdout", "0")
    return run("train", data, "--target", target, "--out", out, *few, *options)
