"""A fitted tree, node by node, as the page shows it: questions, numbers of rows, and answers in words and as bars."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.export.inequalities import LETTERS
from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.questions import Questions
from sublearn.reporting.wording import number_text, share_text

MOST_NODES = 127  # of a tree that are shown, those of the most rows first
MOST_SERIES = 5  # classes with a colour of their own
BAR_WIDTH, BAR_HEIGHT = 72.0, 10.0


class Branch(NamedTuple):
    """A node as it is shown, with what is below it."""

    node: int  # counted from the root of its tree
    side: str  # answers to the questions above that lead here
    questions: list[str]
    answer: str  # of a leaf, or of a node whose children are not shown
    bar: Markup | None
    n_rows: int  # in training
    n_hidden: int  # nodes below that are not shown
    children: list["Branch"]

    @property
    def n_shown(self) -> int:
        """Nodes shown, itself and below."""
        return 1 + sum(child.n_shown for child in self.children)


class Grove:
    """Makes branches of the trees of a record."""

    def __init__(self, record: FittedModel, labels: list[str], questions: Questions) -> None:
        self.record, self.labels, self.questions = record, labels, questions
        self.nodes = record.ensemble.nodes

    def branch(self, t: int, ended: Iterable[int]) -> Branch:
        """Tree number t, with the nodes on the way to `ended` (numbered through) in any case."""
        bounds = np.append(self.record.ensemble.roots, self.nodes.n_nodes)
        root, end = int(bounds[t]), int(bounds[t + 1])
        order = np.argsort(-self.nodes.n_samples[root:end], kind="stable") + root  # parents come before their children
        shown = set(order[:MOST_NODES].tolist())
        for node in ended:
            shown.update(self.way(node))
        leaves = root + np.flatnonzero(self.nodes.is_leaf[root:end])
        values = self.nodes.value[leaves]
        return self._branch(root, root, "", shown, _Scale(float(values.min()), float(values.max())))

    def way(self, node: int) -> list[int]:
        """The nodes from the root to a node."""
        found = [node]
        while self.nodes.parent[found[-1]] >= 0:
            found.append(int(self.nodes.parent[found[-1]]))
        return found[::-1]

    def _branch(self, i: int, root: int, side: str, shown: set[int], scale: "_Scale") -> Branch:
        planes = range(int(self.nodes.first_plane[i]), int(self.nodes.first_plane[i + 1]))
        children, n_hidden = [], 0
        for cell in range(1 << len(planes)) if self.nodes.first_child[i] >= 0 else ():
            child = int(self.nodes.children[self.nodes.first_child[i] + cell])
            if child in shown:
                children.append(self._branch(child, root, _side(cell, len(planes)), shown, scale))
            elif child >= 0:
                n_hidden += self._size(child)
        is_end = not children
        return Branch(
            node=i - root,
            side=side,
            questions=[] if is_end else self._asked(planes),
            answer=self._answer(i) if is_end else "",
            bar=self._bar(i, scale) if is_end or self.record.link == MEAN else None,
            n_rows=int(self.nodes.n_samples[i]),
            n_hidden=n_hidden,
            children=children,
        )

    def _size(self, i: int) -> int:
        """Nodes at and below a node."""
        n, level = 0, [i]
        while level:
            n += len(level)
            level = [c for one in level for c in self._children(one)]
        return n

    def _children(self, i: int) -> list[int]:
        first = int(self.nodes.first_child[i])
        if first < 0:
            return []
        n = 1 << int(self.nodes.first_plane[i + 1] - self.nodes.first_plane[i])
        return [c for c in self.nodes.children[first : first + n].tolist() if c >= 0]

    def _asked(self, planes: range) -> list[str]:
        texts = [self.questions.question(p) for p in planes]
        asked = [text if text.startswith("always ") else f"{text}?" for text in texts]
        return asked if len(asked) == 1 else [f"{letter}: {one}" for letter, one in zip(LETTERS, asked, strict=False)]

    def _answer(self, i: int) -> str:
        """What a leaf answers, in words."""
        value: Array = self.nodes.value[i]
        if self.record.link != MEAN:
            return self._step(value)
        if not self.labels:
            return number_text(float(value[0]))
        best = int(value.argmax())
        return f"“{self.labels[best]}” {share_text(float(value[best]))}"

    def _step(self, value: Array) -> str:
        """What a leaf of boosting adds."""
        if len(value) == 1:
            return f"adds {_signed(float(value[0]))}"
        best, worst = int(value.argmax()), int(value.argmin())
        gain, loss = (f"{_signed(float(value[k]))} for “{self.labels[k]}”" for k in (best, worst))
        return f"{gain}, {loss}"

    def _bar(self, i: int, scale: "_Scale") -> Markup | None:
        """An answer as a bar."""
        value: Array = self.nodes.value[i]
        if self.record.link != MEAN:
            return _from_zero(float(value[0]), scale) if len(value) == 1 else None
        if not self.labels:
            return _level(float(value[0]), scale)
        if len(self.labels) <= MOST_SERIES:
            return _stack([float(one) for one in value])
        return _stack([float(value.max())])


class _Scale(NamedTuple):
    """The answers of all leaves of a tree."""

    low: float
    high: float


def _side(cell: int, n_planes: int) -> str:
    """The answers that lead to a cell."""
    words = ["yes" if cell >> j & 1 else "no" for j in range(n_planes)]
    return words[0] if n_planes == 1 else ", ".join(f"{LETTERS[j]} {word}" for j, word in enumerate(words))


def _signed(x: float) -> str:
    return f"+{number_text(x, 3)}" if x > 0 else number_text(x, 3)


def _stack(shares: list[float]) -> Markup:
    """Shares side by side."""
    parts, begin = [], 0.0
    for i, share in enumerate(shares):
        width = BAR_WIDTH * share
        if width > 0:
            parts.append(element("rect", class_=f"series{i}", x=begin, y=0, width=width, height=BAR_HEIGHT))
        begin += width
    return _small(parts)


def _level(value: float, scale: _Scale) -> Markup:
    """A number between the lowest and the highest."""
    share = (value - scale.low) / (scale.high - scale.low) if scale.high > scale.low else 0.5
    return _small([element("rect", class_="series0", x=0, y=0, width=max(BAR_WIDTH * share, 1.0), height=BAR_HEIGHT)])


def _from_zero(value: float, scale: _Scale) -> Markup:
    """A number to the left or to the right of zero."""
    most = max(abs(scale.low), abs(scale.high)) or 1.0
    half = BAR_WIDTH / 2
    width = half * min(abs(value) / most, 1.0)
    bar = element(
        "rect", class_="series1" if value < 0 else "series0", x=half - width if value < 0 else half, y=0, width=width,
        height=BAR_HEIGHT,
    )  # fmt: skip
    return _small([bar, element("line", class_="zero", x1=half, x2=half, y1=0, y2=BAR_HEIGHT)])


def _small(parts: list[Markup]) -> Markup:
    track = element("rect", class_="track", x=0, y=0, width=BAR_WIDTH, height=BAR_HEIGHT)
    box = f"0 0 {BAR_WIDTH:g} {BAR_HEIGHT:g}"
    return element("svg", track, *parts, class_="stack", viewBox=box, aria_hidden="true")
