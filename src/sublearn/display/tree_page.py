"""Finds the layout of a tree that a page has room for: long names and wide boxes where the type stays large.

Everything is first laid out at a size of type of 1; all lengths grow with the size.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from sublearn.display.legend import key_lines, map_lines
from sublearn.display.ruler import Ruler
from sublearn.display.tree_layout import LINE, SMALLER, Layout, Limits, laid_out
from sublearn.display.tree_nodes import Drawn, Teller

WIDTH, HEIGHT = 770.0, 540.0  # points: A4 or letter across, with margins
LARGEST, SMALLEST, TINY = 9.0, 6.6, 5.5  # points of type, on a page of ours and on axes of the user's
NAMES = {40: 1.0, 26: 0.95, 18: 0.9, 13: 0.8, 9: 0.7}  # characters of a name, and what it is worth to have so many
WIDTHS = (60.0, 44.0, 34.0, 26.0, 20.0, 16.0, 13.0)  # of a hyperplane, in units of the size
FEW_LINES = {0: 1.0, 2: 0.7}  # of a hyperplane on axes of the user's: 0 is all of them
LEAVES = (40, 36, 32, 28, 25, 22, 20, 18, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)  # tried one after another
LEAST_WIDTH = 420.0  # of a page, for what stands below the tree
TITLE_LINES, FOOT_GAP, ROW_LINES = 2.2, 0.6, 1.25  # of the height, in lines
TURNS = 3  # until the type is small enough for what stands below the tree
BETWEEN = 2.5  # columns of notes, in units of the size

PAGE = "page"  # as many leaves as there is room for


class Note(NamedTuple):
    """A line below the tree."""

    row: int
    x: float
    text: str


class Page(NamedTuple):
    """A tree laid out, with what stands below it."""

    layout: Layout
    notes: list[Note]
    legend: list[list[tuple[str, int]]]  # rows of labels, each with the number of its colour
    width: float
    height: float

    @property
    def size(self) -> float:
        """Points of type."""
        return self.layout.limits.size


class Content(NamedTuple):
    """What is to be laid out, for names of so many characters and so many leaves."""

    make: Callable[[int, int | None], tuple[Drawn, Teller]]
    feature_names: list[str]
    legend: list[str]
    max_leaves: int | str | None


class Room(NamedTuple):
    """What a page must not exceed, and whether it is to be filled."""

    width: float
    height: float
    is_given: bool  # by axes of the user's; otherwise the page is as large as what is on it

    @property
    def smallest(self) -> float:
        """Size of type that can be read; what stands below the tree is SMALLER times that."""
        return TINY if self.is_given else SMALLEST


PAPER = Room(WIDTH, HEIGHT, False)


def page_for(content: Content, room: Room, ruler: Ruler) -> Page:
    """The page with as many leaves as there is room for at a legible size; it may exceed paper that is too small."""
    most = content.max_leaves
    wanted = [most] if most is None or isinstance(most, int) else [LEAVES[0]]
    fewer = LEAVES if room.is_given or most == PAGE else ()
    numbers = [*wanted, *(n for n in fewer if wanted[0] is None or n < wanted[0])]
    pages: dict[int | None, Page] = {}

    def has_room(n_leaves: int | None) -> bool:
        pages[n_leaves] = _best(content, n_leaves, room, ruler)
        return pages[n_leaves].size >= room.smallest

    at = 0 if has_room(numbers[0]) else bisect_left(numbers, True, 1, key=has_room)
    chosen = numbers[min(at, len(numbers) - 1)]
    if at == len(numbers) and not room.is_given:
        return _best(content, chosen, room, ruler, SMALLEST)
    return pages[chosen]


def _best(content: Content, n_leaves: int | None, room: Room, ruler: Ruler, least: float = 0.0) -> Page:
    """The page with the largest type, or nearly so with longer names; no type is smaller than `least`."""
    best, highest = None, (False, -1.0)
    for most, worth in NAMES.items():
        drawn, teller = content.make(most, n_leaves)
        for widest, (n_lines, wholeness) in product(WIDTHS, FEW_LINES.items() if room.is_given else [(0, 1.0)]):
            unit = laid_out(drawn, Limits(1.0, widest, n_lines), ruler)
            size = min(LARGEST, room.width / unit.width, room.height / (unit.height + TITLE_LINES * LINE))
            for _ in range(TURNS):  # what stands below the tree may ask for smaller type
                if (size >= room.smallest, worth * wholeness * size) <= highest:
                    break
                limits = Limits(size, widest * size, n_lines)
                page = _filled(content, teller, most, laid_out(drawn, limits, ruler), room, ruler)
                fits = page.height <= room.height
                if fits or best is None:
                    best, highest = (
                        (page, drawn, limits, teller, most),
                        (fits and size >= room.smallest, worth * wholeness * size * fits),
                    )
                if fits:
                    break
                size *= 0.999 * room.height / page.height
    assert best is not None
    page, drawn, limits, teller, most = best
    if page.size < least:
        factor = least / limits.size
        larger = Limits(least, limits.plane_width * factor, limits.plane_lines)
        page = _filled(content, teller, most, laid_out(drawn, larger, ruler), room, ruler)
    return page


def _filled(content: Content, teller: Teller, most: int, layout: Layout, room: Room, ruler: Ruler) -> Page:
    """A page with a tree and what stands below it."""
    size = layout.limits.size
    width = max(layout.width, room.width if room.is_given else LEAST_WIDTH)
    notes = _notes(content, teller, most, SMALLER * size, width, ruler)
    legend = _rows(content.legend, size, width, ruler)
    n_below = (1 + notes[-1].row if notes else 0) + ROW_LINES * len(legend) + (FOOT_GAP if notes or legend else 0)
    return Page(layout, notes, legend, width, layout.height + (TITLE_LINES + n_below) * LINE * size)


def _notes(content: Content, teller: Teller, most: int, size: float, width: float, ruler: Ruler) -> list[Note]:
    """How maps are to be read, each from a new line on, and a key of names in columns."""
    lines = [one for text in map_lines(teller.writer) for one in ruler.lines(text.split(" "), size, width, "   ")]
    notes = [Note(row, 0.0, line) for row, line in enumerate(lines)]
    key = [ruler.cut(line, size, width) for line in key_lines(teller.writer, content.feature_names, most)]
    if key:
        column = max(ruler.width(line, size) for line in key) + BETWEEN * size
        n_columns = max(1, min(len(key), int((width + BETWEEN * size) / column)))
        n_rows = -(-len(key) // n_columns)
        notes += [Note(len(lines) + k % n_rows, k // n_rows * column, line) for k, line in enumerate(key)]
    return sorted(notes)


def _rows(labels: list[str], size: float, width: float, ruler: Ruler) -> list[list[tuple[str, int]]]:
    """Labels of a legend, as many on a row as there is room for."""
    rows: list[list[tuple[str, int]]] = []
    left = 0.0
    for k, label in enumerate(labels):
        own = ruler.width(label, SMALLER * size) + 3.0 * size
        if not rows or left + own > width:
            rows.append([])
            left = 0.0
        rows[-1].append((label, k))
        left += own
    return rows
