"""Drawing: axes, marks and words of one small chart as SVG. Colours and type come from the page's style."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sublearn.reporting.markup import Markup, element
from sublearn.reporting.wording import number_text

WIDTH, HEIGHT = 360.0, 250.0
LEAST_LEFT, RIGHT, TOP, BOTTOM = 40.0, 20.0, 26.0, 44.0
SIGN = 7.2  # width of a sign of the small type, about
TICKS = 5
MARGIN = 0.04  # of an axis that is left free at both ends

Words = Callable[[float], str]


class Axis(NamedTuple):
    """From values to places on the page."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, x: float) -> float:
        """The place of a value."""
        return self.begin + (x - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self, most: int = TICKS) -> list[float]:
        """Round values on the axis."""
        step = round_step((self.high - self.low) / most)
        first, last = int(np.ceil(self.low / step - 1e-9)), int(np.floor(self.high / step + 1e-9))
        return [i * step for i in range(first, last + 1)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10 and so on that is not below a number."""
    base = 10.0 ** np.floor(np.log10(least))
    return float(next(base * factor for factor in (1, 2, 5, 10) if base * factor >= least * (1 - 1e-9)))


def span(values: Iterable[float], margin: float = MARGIN) -> tuple[float, float]:
    """The ends of an axis that holds all values, with some room at both."""
    finite = [v for v in values if np.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    room = (high - low) * margin or abs(high) * 0.1 or 1.0
    return low - room, high + room


class Plot:
    """A chart that grows mark by mark; values that the axes have no place for are not drawn."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        y_words: Words = number_text,
        size: tuple[float, float] = (WIDTH, HEIGHT),
        gutter: float = 0.0,  # at the right, for what has no place on the axis
    ) -> None:
        self.width, self.height = size
        self.y = Axis(y[0], y[1], self.height - BOTTOM, TOP)
        self.y_ticks = [(value, y_words(value)) for value in self.y.ticks()]
        left = max(LEAST_LEFT, *(12 + SIGN * len(words) for _, words in self.y_ticks))
        self.x = Axis(x[0], x[1], left, self.width - RIGHT - gutter)
        self.parts: list[Markup] = []

    def frame(self, x_name: str, y_name: str, x_words: Words = number_text) -> None:
        """Ticks, grid and names of both axes."""
        for value, words in self.y_ticks:
            place = self.y.at(value)
            self.parts.append(element("line", class_="grid", x1=self.x.begin, x2=self.x.end, y1=place, y2=place))
            self.text(self.x.begin - 6, place + 4, words, "tick end")
        self.x_ticks([(value, x_words(value)) for value in self.x.ticks()])
        if x_name:
            self.text(self.x.end, self.height - 6, x_name, "name end")
        self.text(4, 12, y_name, "name")

    def x_ticks(self, ticks: Sequence[tuple[float, str]]) -> None:
        """Marks below the horizontal axis; those that would touch the one before are left out."""
        bottom, free = self.height - BOTTOM, 0.0
        self.parts.append(element("line", class_="axis", x1=self.x.begin, x2=self.x.end, y1=bottom, y2=bottom))
        for value, words in ticks:
            place, half = self.x.at(value), len(words) * SIGN / 2
            self.parts.append(element("line", class_="axis", x1=place, x2=place, y1=bottom, y2=bottom + 4))
            if place - half >= free and place + half <= self.x.end + RIGHT - 2:
                self.text(place, bottom + 18, words, "tick middle")
                free = place + half + SIGN

    def text(self, x: float, y: float, words: str, class_: str) -> None:
        """Words at a place of the page."""
        self.parts.append(element("text", words, class_=class_, x=x, y=y))

    def line(self, xs: Iterable[float], ys: Iterable[float], class_: str) -> None:
        """A line through points."""
        points = " ".join(f"{self.x.at(x):.1f},{self.y.at(y):.1f}" for x, y in zip(xs, ys, strict=True))
        self.parts.append(element("polyline", class_=class_, points=points))

    def dot(self, x: float, y: float, class_: str, r: float = 3.0, title: str | None = None) -> None:
        """A point; its title is shown under the pointer."""
        words = [] if title is None else [element("title", title)]
        self.parts.append(element("circle", *words, class_=class_, cx=self.x.at(x), cy=self.y.at(y), r=r))

    def whisker(self, x: float, low: float, high: float, class_: str = "whisker") -> None:
        """An interval of y at x."""
        place = self.x.at(x)
        self.parts.append(element("line", class_=class_, x1=place, x2=place, y1=self.y.at(low), y2=self.y.at(high)))

    def bar(self, low: float, high: float, top: float, class_: str, title: str | None = None) -> None:
        """A bar from `low` to `high` on the horizontal axis, from zero up."""
        a, b, zero = self.x.at(low), self.x.at(high), self.y.at(max(self.y.low, 0.0))
        words = [] if title is None else [element("title", title)]
        place = self.y.at(top)
        self.parts.append(
            element("rect", *words, class_=class_, x=a + 0.5, y=place, width=max(b - a - 1, 0.5), height=zero - place)
        )

    def rug(self, xs: Iterable[float]) -> None:
        """Short lines on the horizontal axis, where rows are."""
        bottom = self.height - BOTTOM
        path = "".join(f"M{self.x.at(x):.1f} {bottom:.0f}v-6" for x in xs)
        self.parts.append(element("path", class_="rug", d=path))

    def upright(self, x: float, class_: str) -> None:
        """A line over the whole height."""
        place = self.x.at(x)
        self.parts.append(element("line", class_=class_, x1=place, x2=place, y1=TOP, y2=self.height - BOTTOM))

    def drawing(self, description: str) -> Markup:
        """The chart; the description is for those who cannot see it."""
        box = f"0 0 {self.width:g} {self.height:g}"
        return element("svg", *self.parts, class_="plot", viewBox=box, role="img", aria_label=description)


def meter(share: float, low: float, high: float) -> Markup:
    """A bar of 0 to 1 with its interval, for a cell of a table."""
    width, height = 120.0, 14.0

    def fit(x: float) -> float:
        return width * min(max(x, 0.0), 1.0)

    parts = [
        element("rect", class_="track", x=0, y=2, width=width, height=height - 4),
        element("rect", class_="fill", x=0, y=2, width=fit(share), height=height - 4),
    ]
    if np.isfinite([low, high]).all():
        parts.append(element("line", class_="whisker", x1=fit(low), x2=fit(high), y1=7, y2=7))
    return element("svg", *parts, class_="meter", viewBox=f"0 0 {width:g} {height:g}", aria_hidden="true")
