"""How wide texts are in points, whatever renderer draws them, and how they are broken into lines."""

from collections.abc import Iterator, Sequence
from typing import Any

from sublearn.display.names import DOTS, elided

ALLOWANCE = 1.04  # renderers round the widths of letters to their own pixels
SCALE = 10.0  # points that texts are measured at; widths grow with the size


class Ruler:
    """Measures texts in the font of the figures that are being made."""

    def __init__(self) -> None:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

        self._measure: Any = TextToPath().get_text_width_height_descent
        self._fonts = {weight: FontProperties(size=SCALE, weight=weight) for weight in ("normal", "bold")}
        self._known: dict[tuple[str, str], float] = {("", "normal"): 0.0, ("", "bold"): 0.0}
        self._lines_known: dict[tuple[str, str], float] = {}
        self._space = self._word("x\N{NO-BREAK SPACE}x", "bold") - 2 * self._word("x", "bold")

    def width(self, text: str, size: float, weight: str = "normal") -> float:
        """Points that a line takes at a size of type, found word by word."""
        key = text, weight
        if key not in self._lines_known:
            words = text.split(" ")
            self._lines_known[key] = sum(self._word(word, weight) for word in words) + (len(words) - 1) * self._space
        return self._lines_known[key] * size

    def _word(self, word: str, weight: str) -> float:
        """Width at a size of 1."""
        key = word, weight
        if key not in self._known:
            self._known[key] = ALLOWANCE * self._measure(word, self._fonts[weight], ismath=False)[0] / SCALE
        return self._known[key]

    def cut(self, text: str, size: float, width: float, weight: str = "normal") -> str:
        """The text, or as much of both its ends as the width has room for."""
        most = len(text)
        while most > 3 and self.width(text, size, weight) > width:
            most = min(most - 1, int(most * width / self.width(text, size, weight)) + 1)
            text = elided(text, most)
        return text

    def lines(self, words: Sequence[str], size: float, width: float, indent: str = "", most: int = 0) -> list[str]:
        """Words on lines that are no wider, unless one word is; all but the first are indented.

        Of more than `most` lines the last one that is left ends in dots; 0 is no limit.
        """
        found = list(self._lines(words, size, width, indent))
        if not most or len(found) <= most:
            return found
        last = found[most - 1]
        while last.strip(" ").count(" ") and self.width(f"{last} {DOTS}", size) > width:
            last = last.rpartition(" ")[0]
        return [*found[: most - 1], f"{last} {DOTS}"]

    def _lines(self, words: Sequence[str], size: float, width: float, indent: str) -> Iterator[str]:
        line = ""
        for word in words:
            longer = f"{line} {word}" if line.strip() else line + word
            if line.strip() and self.width(longer, size) > width:
                yield line
                line = indent + word
            else:
                line = longer
        yield line
