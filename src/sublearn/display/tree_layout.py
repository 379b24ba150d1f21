"""Where the nodes of a tree go: the root on the left, children to the right of it, and ends below one another.

All lengths are in points, downwards from the upper left corner. A node takes a stretch of the height that is its own,
as high as its box or all its children together, so nothing can overlap.
"""

from typing import NamedTuple

from sublearn.display.names import MINUS
from sublearn.display.ruler import Ruler
from sublearn.display.tree_nodes import Drawn
from sublearn.export.inequalities import LETTERS, Inequality

# in units of the size of type
LINE, PAD, GAP, STUB, SMALLER = 1.35, 0.55, 0.5, 0.9, 0.91
BAR, BAR_HEIGHT = 4.0, 0.72
LEAST_HEAD, WIDEST_HEAD = 8.0, 36.0  # of what stands beside a mark
BOLDER = 1.15  # how much wider bold type is


class Box(NamedTuple):
    """A node with its place."""

    drawn: Drawn
    x: float
    y: float  # of its middle
    width: float
    height: float
    heads: list[tuple[str, str]]  # lines beside its mark: what it answers, and of its samples
    planes: list[list[str]]  # lines of each hyperplane
    children: tuple["Box", ...]

    @property
    def all(self) -> list["Box"]:
        """This box and all below it."""
        return [self, *(box for child in self.children for box in child.all)]

    @property
    def is_end(self) -> bool:
        """Whether nothing is drawn below it."""
        return not self.children


class Limits(NamedTuple):
    """What a layout must keep to."""

    size: float  # of type
    plane_width: float  # of a hyperplane's lines
    plane_lines: int = 0  # of one hyperplane at the most; 0: as many as it takes


class Sized(NamedTuple):
    """A node with its extent, not placed yet."""

    drawn: Drawn
    width: float
    height: float
    heads: list[tuple[str, str]]
    planes: list[list[str]]
    children: tuple["Sized", ...]
    stretch: float  # of the height, for it and all below


def plane_words(letter: str, plane: Inequality) -> list[str]:
    """A hyperplane in pieces that stay whole on a line."""
    first, *others = plane.terms
    signed = [(MINUS if term[0] == "-" else term[0]) + "\N{NO-BREAK SPACE}" + term[2:] for term in others]
    relation = {">=": "\N{GREATER-THAN OR EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"}[plane.relation]
    cut = plane.cut.replace("-", MINUS) if plane.cut[0] == "-" else plane.cut
    return [f"{letter}:\N{NO-BREAK SPACE}{first}", *signed, f"{relation}\N{NO-BREAK SPACE}{cut}"]


def measured(drawn: Drawn, limits: Limits, ruler: Ruler) -> Sized:
    """The extents of a node and of all below it."""
    size = limits.size
    planes = [
        ruler.lines(plane_words(letter, plane), size, limits.plane_width, "    ", limits.plane_lines)
        for letter, plane in zip(LETTERS, drawn.planes, strict=False)
    ]
    heads = head_lines(drawn, limits, ruler)
    n_lines = len(heads) + sum(map(len, planes))
    children = tuple(measured(child, limits, ruler) for child in drawn.children)
    pad = PAD * size if children else 0.0
    widths = [
        *((BAR + PAD) * size + head_width(head, size, ruler) for head in heads),
        *(ruler.width(line, size) for lines in planes for line in lines),
    ]
    height = n_lines * LINE * size + 2 * pad
    gap = GAP * size if children else 0.2 * size
    return Sized(
        drawn=drawn,
        width=max(widths) + 2 * pad,
        height=height,
        heads=heads,
        planes=planes,
        children=children,
        stretch=max(height + gap, sum(child.stretch for child in children)),
    )


def head_lines(drawn: Drawn, limits: Limits, ruler: Ruler) -> list[tuple[str, str]]:
    """What stands beside a node's mark: on one line where there is room."""
    size = limits.size
    widest = max(limits.plane_width - BAR * size, LEAST_HEAD * size) if drawn.children else WIDEST_HEAD * size
    whole = drawn.words, drawn.note
    if head_width(whole, size, ruler) <= widest:
        return [whole]
    words = ruler.lines(drawn.words.split(" "), size, widest / BOLDER) if drawn.words else []
    notes = ruler.lines(drawn.note.split(" "), SMALLER * size, widest)
    return [*((line, "") for line in words), *(("", line) for line in notes)]


def head_width(head: tuple[str, str], size: float, ruler: Ruler) -> float:
    """Points of a line beside a mark."""
    words, note = head
    between = PAD * size if words and note else 0.0
    return ruler.width(words, size, "bold") + between + ruler.width(note, SMALLER * size)


class Layout(NamedTuple):
    """All boxes, and the extent of all of them."""

    root: Box
    width: float
    height: float
    label_widths: list[float]  # of the sides before the boxes of each depth
    limits: Limits


def laid_out(drawn: Drawn, limits: Limits, ruler: Ruler) -> Layout:
    """Boxes of all nodes, the corner of the whole at 0, 0."""
    root, size = measured(drawn, limits, ruler), limits.size
    widths: dict[int, float] = {}
    labels: dict[int, float] = {}
    for sized in _all(root):
        depth = sized.drawn.depth
        widths[depth] = max(widths.get(depth, 0.0), sized.width if sized.children else 0.0)
        labels[depth] = max(labels.get(depth, 0.0), ruler.width(sized.drawn.sides, SMALLER * size))
    lefts = [0.0]
    for depth in range(1, len(labels)):
        lefts.append(lefts[-1] + widths[depth - 1] + labels[depth] + 3.0 * STUB * size)
    box = _placed(root, lefts, 0.0)
    return Layout(
        root=box,
        width=max(one.x + one.width for one in box.all),
        height=root.stretch,
        label_widths=[labels[depth] for depth in range(len(labels))],
        limits=limits,
    )


def _all(sized: Sized) -> list[Sized]:
    return [sized, *(one for child in sized.children for one in _all(child))]


def _placed(sized: Sized, lefts: list[float], top: float) -> Box:
    """A node and all below it, in its stretch of the height."""
    y = top + (sized.stretch - sum(child.stretch for child in sized.children)) / 2
    children = []
    for child in sized.children:
        children.append(_placed(child, lefts, y))
        y += child.stretch
    middle = top + sized.stretch / 2
    if children:
        wanted = (children[0].y + children[-1].y) / 2
        middle = min(max(wanted, top + sized.height / 2), top + sized.stretch - sized.height / 2)
    return Box(
        drawn=sized.drawn,
        x=lefts[sized.drawn.depth],
        y=middle,
        width=sized.width,
        height=sized.height,
        heads=sized.heads,
        planes=sized.planes,
        children=tuple(children),
    )
