"""How databases write things; names and text are quoted so that they are nothing else."""

import math
from dataclasses import dataclass

MOST_DIGITS = 15  # of decimal numbers that every parser reads exactly
LARGEST_POWER = 62  # of two, that is written out


def identifier(name: str) -> str:
    """A name of a table or of a column."""
    return '"' + _whole(name).replace('"', '""') + '"'


def text(value: str) -> str:
    """A text."""
    return "'" + _whole(value).replace("'", "''") + "'"


def _whole(name: object) -> str:
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"names and levels of to_sql must be text without the character of code 0; got {name!r}.")
    return name


def number(x: float) -> str:
    """A double in decimal; the exponent tells DuckDB that it is one."""
    digits = repr(float(x))
    return digits if "e" in digits else f"{digits}e0"


def exact(x: float) -> str:
    """A double, to the bit, whichever way the database reads decimal numbers: as a whole number and powers of two."""
    digits = repr(float(x))
    if "e" not in digits and len(digits.strip("-").replace(".", "").lstrip("0")) <= MOST_DIGITS and abs(x) >= 1e-6:
        return number(x)
    if x == 0:
        return "0e0"
    mantissa, exponent = math.frexp(x)
    whole, exponent = int(mantissa * 2**53), exponent - 53
    while whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    sign, parts = "/" if exponent < 0 else "*", [f"{whole}e0"]
    left = abs(exponent)
    while left:
        power = min(left, LARGEST_POWER)
        parts.append(f"{sign} {2**power}e0")
        left -= power
    return f"({' '.join(parts)})"


@dataclass(frozen=True)
class Dialect:
    """What differs between databases."""

    number_type: str
    text_type: str
    least: str  # functions of several numbers
    greatest: str
    floor: str  # of a number {x}, as an integer
    missing: str  # {x} as a number, or NULL
    collation: str  # by which text is compared byte for byte
    most_columns: int

    def within(self, x: str, low: str, high: str) -> str:
        """A number cut off at two others."""
        return f"{self.least}({self.greatest}({x}, {low}), {high})"


DIALECTS = {
    "sqlite": Dialect(
        number_type="REAL",
        text_type="TEXT",
        least="min",
        greatest="max",
        floor="CAST({x} AS INTEGER) - ({x} < CAST({x} AS INTEGER))",
        missing="CAST({x} AS REAL)",
        collation=" COLLATE BINARY",
        most_columns=2000,
    ),
    "duckdb": Dialect(
        number_type="DOUBLE",
        text_type="VARCHAR",
        least="least",
        greatest="greatest",
        floor="CAST(floor({x}) AS INTEGER)",
        missing="nullif(CAST({x} AS DOUBLE), CAST('nan' AS DOUBLE))",
        collation="",
        most_columns=100_000,
    ),
}
