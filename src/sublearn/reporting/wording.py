"""Numbers, shares, counts and values of features as people read them."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

import numpy as np

from sublearn._base.frames import DATES, DURATIONS, TIMES

LONGEST = 80  # characters of a value that is text
DAY = 86_400.0
LEAST_PARTED = 10_000  # numbers from here on have commas; those below may be years


def number_text(x: float, digits: int = 4) -> str:
    """A number in a few digits: 1,234,567 and 0.0123, not 1.23e+06."""
    if not np.isfinite(x):
        return "–"
    size = abs(x)
    if size >= 1e15 or (0 < size < 1e-4):
        return f"{x:.{digits}g}".replace("-", "−")
    if size >= 10 ** (digits - 1):
        text = f"{x:,.0f}" if size >= LEAST_PARTED else f"{x:.0f}"
    else:
        text = f"{float(f'{x:.{digits}g}'):.{_decimals(size, digits)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return ("0" if text in ("-0", "") else text).replace("-", "−")


def _decimals(size: float, digits: int) -> int:
    """Decimals that so many significant digits have."""
    return 0 if size == 0 else max(digits - 1 - int(np.floor(np.log10(size))), 0)


def share_text(share: float) -> str:
    """A share in per cent; near 0 and 1 with a decimal, and never 100 % for less than all."""
    if not np.isfinite(share):
        return "–"
    percent = 100 * share
    if 0 < percent < 0.1 or 99.9 < percent < 100:
        return "under 0.1 %" if percent < 50 else "over 99.9 %"
    whole = percent == round(percent) or 10 <= percent <= 90
    return f"{percent:.0f} %" if whole else f"{percent:.1f} %"


def in_hundred(share: float) -> str:
    """A share as "97 of 100"; near 0 and 1 with a decimal, and never all for less than all."""
    percent = 100 * share
    text = f"{percent:.1f}" if 0 < percent < 1 or 99 < percent < 100 else f"{percent:.0f}"
    return f"{'over 99.9' if text == '100.0' else 'under 0.1' if text == '0.0' else text} of 100"


def counted(n: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names with commas; of many, the first and how many more there are."""
    every = list(names)
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most:,} more"


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text, with an ellipsis where it is long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def label_text(label: Any) -> str:
    """A class or a level as it is shown."""
    if label is None:
        return "missing"
    if isinstance(label, float | np.floating) and float(label).is_integer():
        label = int(label)
    return str(label) or "(empty)"


def value_text(x: float, kind: str | None, digits: int = 4) -> str:
    """A number as what it was before it became one: a date, a time, a duration."""
    if np.isnan(x):
        return "missing"
    if kind == DATES:
        return _date(x)
    if kind == TIMES:
        minutes, seconds = divmod(round(x), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    if kind == DURATIONS:
        return f"{number_text(x / DAY, digits)} days" if abs(x) >= DAY else f"{number_text(x, digits)} s"
    return number_text(x, digits)


def _date(x: float) -> str:
    try:
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=x)
    except OverflowError:
        return number_text(x)
    return f"{moment:%Y-%m-%d}" if x % DAY == 0 else f"{moment:%Y-%m-%d %H:%M}"
