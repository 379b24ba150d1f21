"""What a picture of a tree shows of each node, before anything is laid out."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_tree import FlatTree
from sublearn.display.canvas import COLOURS
from sublearn.display.names import DOTS, JOINT, MINUS, elided, number, one_line, percent
from sublearn.export.inequalities import LETTERS, Inequalities, Inequality
from sublearn.kernels.layout import Array

MOST_TOLD = 3  # classes that a node names, where there are too many for colours of their own
ROUND_A_NAME = 20  # characters of a term that are not the feature's name
TOLD_SHARE = 0.9  # no more of them than make up so much of the node


class Drawn(NamedTuple):
    """A node as it is drawn; its children are drawn too, unless there are none."""

    node: int
    depth: int
    sides: str  # of the hyperplanes above, such as "+a -b"
    planes: tuple[Inequality, ...]
    children: tuple["Drawn", ...]
    n_hidden: int  # nodes below it that are not drawn
    words: str  # what it answers, or of which classes it is
    note: str  # samples, and what is not drawn

    @property
    def all(self) -> list["Drawn"]:
        """This node and all below it, those above first."""
        return [self, *(node for child in self.children for node in child.all)]


def opened(tree: FlatTree, root: int, max_depth: int | None, max_leaves: int | None) -> set[int]:
    """The nodes whose children are drawn: from the root on those with most samples, as far as there is room."""
    found: set[int] = set()
    n_rows, waiting = 1, [(-int(tree.n_samples[root]), root)]
    while waiting:
        _, i = heappop(waiting)
        children = children_of(tree, i)
        if not children or (max_depth is not None and tree.depth[i] - tree.depth[root] >= max_depth):
            continue
        n_rows += len(children) - 1
        if max_leaves is not None and n_rows > max_leaves:
            break
        found.add(i)
        for child in children:
            heappush(waiting, (-int(tree.n_samples[child]), child))
    return found


def children_of(tree: FlatTree, i: int) -> list[int]:
    """The children that a node has, by their child codes."""
    first = int(tree.first_child[i])
    if first < 0:
        return []
    cells = tree.children[first : first + (1 << int(tree.first_plane[i + 1] - tree.first_plane[i]))]
    return [int(child) for child in cells if child >= 0]


def sides(code: int, n_planes: int) -> str:
    """A child code as sides of a node's hyperplanes."""
    return " ".join((MINUS, "+")[code >> j & 1] + LETTERS[j] for j in range(n_planes))


class Teller:
    """Makes the nodes of a picture from a model; `writer` notes which features have appeared."""

    def __init__(
        self, model: FittedModel, root: int, class_names: list[str], feature_names: list[str], most: int
    ) -> None:
        self.tree, self.root, self.model = model.ensemble.nodes, root, model
        self.classes = [elided(name, 24) for name in class_names]
        self.longest = most + ROUND_A_NAME
        self.is_sum = model.link != MEAN
        self.writer = Inequalities(model, feature_names, digits=3)

    def node(self, i: int, depth: int, label: str, shown: set[int]) -> Drawn:
        """A node and all below it that is shown."""
        tree = self.tree
        planes = range(tree.first_plane[i], tree.first_plane[i + 1]) if i in shown else range(0)
        below: list[Drawn] = []
        inequalities = tuple(self._plane(p) for p in planes)
        for code in range(1 << len(planes)) if i in shown else ():
            child = int(tree.children[tree.first_child[i] + code])
            if child >= 0:
                below.append(self.node(child, depth + 1, sides(code, len(planes)), shown))
        n_hidden = 0 if i in shown else n_below(tree, i)
        return Drawn(
            node=i,
            depth=depth,
            sides=label,
            planes=inequalities,
            children=tuple(below),
            n_hidden=n_hidden,
            words=self.words(i, is_end=i not in shown),
            note=self.note(i, n_hidden),
        )

    def _plane(self, p: int) -> Inequality:
        """A hyperplane, with terms that are too long cut; levels of categories are."""
        plane = self.writer.inequality(p)
        return plane._replace(terms=tuple(elided(one_line(term), self.longest) for term in plane.terms))

    def words(self, i: int, is_end: bool) -> str:
        """What a node answers, where it is an end of the picture or colours do not tell."""
        value = self.tree.value[i]
        if self.is_sum:
            return self._added(i) if is_end else ""
        if self.model.classes is None:
            return number(value[0]) if is_end else f"mean {number(value[0])}"
        if len(self.classes) > len(COLOURS):
            return self._largest(value, MOST_TOLD if is_end else 1)
        return self._largest(value, 1) if is_end else ""

    def note(self, i: int, n_hidden: int) -> str:
        """How many samples a node has, and how many nodes are hidden below it."""
        n = int(self.tree.n_samples[i])
        text = f"n={n}, {percent(n / int(self.tree.n_samples[self.root]))}"
        slopes = self.writer.slopes(i) if self.tree.is_leaf[i] else []
        text += f"; slope in {', '.join(slopes)}" if slopes else ""
        return f"{text}  {DOTS} {n_hidden} more node{'s' * (n_hidden != 1)}" if n_hidden else text

    def _largest(self, shares: Array, most: int) -> str:
        """The largest classes of a node."""
        order = np.argsort(-shares, kind="stable")[:most]
        enough = 1 + int(np.searchsorted(np.cumsum(shares[order]), TOLD_SHARE))
        return ", ".join(
            f"{self.classes[k]}{JOINT}{percent(float(shares[k]))}" for k in order[:enough] if shares[k] > 0
        )

    def _added(self, i: int) -> str:
        """What a leaf of boosting adds to the raw prediction."""
        value = self.tree.value[i]
        if len(value) == 1:
            text = f"adds {signed(value[0])}"
        else:
            order = [k for k in np.argsort(-np.abs(value), kind="stable")[:MOST_TOLD] if value[k] != 0]
            text = "adds " + (", ".join(f"{signed(value[k])} to {self.classes[k]}" for k in order) or "0")
        return text


def signed(x: float) -> str:
    """A number with its sign."""
    return ("+" if x > 0 else "") + number(x)


def n_below(tree: FlatTree, i: int) -> int:
    """Number of nodes below a node."""
    count, waiting = 0, children_of(tree, i)
    while waiting:
        count += len(waiting)
        waiting = [child for node in waiting for child in children_of(tree, node)]
    return count
