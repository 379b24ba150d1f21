"""Names that are too long for a picture, cut in the middle so that they stay apart."""

from collections import Counter
from collections.abc import Sequence

DOTS = "\N{HORIZONTAL ELLIPSIS}"
MINUS = "\N{MINUS SIGN}"
JOINT = "\N{NO-BREAK SPACE}"


def one_line(text: object) -> str:
    """A text without line breaks, for a name may be anything."""
    return " ".join(str(text).split())


def elided(text: str, most: int) -> str:
    """A text of at most so many characters, with dots in its middle where some are left out."""
    if len(text) <= most:
        return text
    kept = max(most - 1, 2)
    tail = kept // 3
    return f"{text[: kept - tail].rstrip()}{DOTS}{text[len(text) - tail :].lstrip()}"


def short_names(names: Sequence[str], most: int) -> list[str]:
    """Names of at most some `most` characters; of those that would be alike, the number of the feature tells."""
    plain = [one_line(name) for name in names]
    short = [elided(name, most) for name in plain]
    counts = Counter(short)
    return [
        f"{name[: max(most - len(str(f)) - 3, 3)].rstrip()}{DOTS}[{f}]" if counts[cut] > 1 and cut != name else cut
        for f, (name, cut) in enumerate(zip(plain, short, strict=True))
    ]


def percent(share: float) -> str:
    """A share as it is read best: two digits, and never 0 or 100 where it is neither."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f}{JOINT}%"
    text = f"{100 * share:.0f}" if 0.095 <= share < 0.995 else f"{100 * share:.1f}"
    return f"<0.1{JOINT}%" if text == "0.0" else f">99.9{JOINT}%" if text == "100.0" else f"{text}{JOINT}%"


def number(x: float, digits: int = 3) -> str:
    """A number in few digits, with a true minus."""
    text = f"{x:.0f}" if 10**digits <= abs(x) < 1e6 else f"{x + 0.0:.{digits}g}"
    return text.replace("-", MINUS)
