"""
How two trees cut the plane
===========================

The cells of an SLM tree and of a decision tree over the same samples. Both trees have their default parameters, but
for the entropy of the decision tree, and are fully grown on one split of a noisy circle in a ring. Black lines are the
cuts of the root; one SLM node has up to two of them. White lines are the cuts of deeper nodes.

The picture of the guide is this one: ``python examples/partitions.py docs/images/partitions.png`` renews it.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray
from sklearn.datasets import make_circles
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from sublearn import SLMClassifier
from sublearn.core.data.codes import line_of
from sublearn.display.canvas import INK, style_of
from sublearn.paper.node_figure import cell_of
from sublearn.paper.sizes import size_of

Floats = NDArray[np.float64]

TINTS = np.array(["#CFE3F0", "#F8DDCB"])


class Split(NamedTuple):
    """A node that is split, in the plane: child c lies where bit j of c says on which side of line j."""

    lines: Floats  # (n_lines, 3): a, b, t; positive where a x + b y >= t
    children: Sequence[int]  # nodes by child code; -1 where there is none


def circle_and_ring() -> Any:
    """Samples and classes for training and testing: X, X_test, y, y_test."""
    X, y = make_circles(1000, noise=0.2, factor=0.5, random_state=0)
    return train_test_split(X, y, test_size=0.4, random_state=0)


def slm_splits(model: SLMClassifier) -> list[Split | None]:
    """The nodes of an SLM tree over two features with linear maps; None for a leaf."""
    tree = model.tree_
    features = [line_of(model.feature_maps_, f) for f in (0, 1)]
    lines = np.zeros((tree.n_planes, 3))
    for p in range(tree.n_planes):
        lines[p, 2] = tree.threshold[p] - 0.5  # codes are rounded, so the cut lies between two integers
        for t in range(tree.first_term[p], tree.first_term[p + 1]):
            f = tree.feature[t]
            lines[p, f] += tree.coefficient[t] * features[f].slope
            lines[p, 2] -= tree.coefficient[t] * features[f].offset
    splits: list[Split | None] = []
    for i in range(tree.n_nodes):
        own = lines[tree.first_plane[i] : tree.first_plane[i + 1]]
        first = tree.first_child[i]
        splits.append(Split(own, tree.children[first : first + 2 ** len(own)].tolist()) if len(own) else None)
    return splits


def decision_tree_splits(model: DecisionTreeClassifier) -> list[Split | None]:
    """The nodes of a decision tree over two features; None for a leaf."""
    tree = model.tree_
    splits: list[Split | None] = []
    for i in range(tree.node_count):
        f = tree.feature[i]
        line = np.array([[f == 0, f == 1, tree.threshold[i]]], np.float64)
        splits.append(Split(line, [tree.children_left[i], tree.children_right[i]]) if f >= 0 else None)
    return splits


def cells(splits: Sequence[Split | None], polygon: Floats, node: int = 0) -> Iterator[Floats]:
    """The cells into which the node and all below it cut a convex polygon."""
    split = splits[node] if node >= 0 else None
    if split is None:
        yield polygon
        return
    for code, child in enumerate(split.children):
        part = cell_of(polygon, split.lines, code)
        if len(part) > 2:
            yield from cells(splits, part, child)


def draw_cells(axes: Any, model: Any, splits: Sequence[Split | None], X: Floats, y: NDArray[Any]) -> None:
    """Cells in the tint of the class they predict, the training samples, and the root's lines."""
    (left, bottom), (right, top) = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    frame = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    polygons = list(cells(splits, frame))
    classes = model.predict(np.array([polygon.mean(axis=0) for polygon in polygons]))
    axes.add_collection(PolyCollection(polygons, facecolors=TINTS[classes], edgecolors="white", linewidths=0.7))
    for c in (0, 1):
        colour, marker = style_of(c)
        axes.scatter(*X[y == c].T, s=17, marker=marker, color=colour, edgecolors="white", linewidths=0.4, zorder=2)
    for a, b, t in splits[0].lines if splits[0] is not None else []:
        foot = np.array([a, b]) * t / (a * a + b * b)
        axes.axline(foot, foot + np.array([-b, a]), color=INK, linewidth=2, zorder=3)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set_axis_off()


def draw() -> tuple[Figure, str]:
    """Both trees side by side, and what is written above them."""
    X, X_test, y, y_test = circle_and_ring()
    slm = SLMClassifier(random_state=0).fit(X, y)
    dt = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)
    figure = plt.figure(figsize=(12, 5.7), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    left, right = figure.subplots(1, 2)
    captions = []
    for axes, name, model, splits in (
        (left, "SLM tree", slm, slm_splits(slm)),
        (right, "Decision tree", dt, decision_tree_splits(dt)),
    ):
        accuracy, size = 100 * model.score(X_test, y_test), size_of(model, len(X))
        caption = f"test accuracy {accuracy:.1f} %, depth {size.depth}, {size.n_parameters} parameters"
        captions.append(f"{name}: {caption}")
        draw_cells(axes, model, splits, X, y)
        axes.set_title(name, loc="left", fontsize=13, fontweight="bold", color=INK)
        axes.set_title(caption, loc="right", fontsize=12, color=INK)
    return figure, "; ".join(captions)


def save_picture(path: Path) -> None:
    figure, caption = draw()
    figure.savefig(path, dpi=100, metadata={"Description": caption})
    plt.close(figure)


def main() -> None:
    if len(sys.argv) > 1:
        save_picture(Path(sys.argv[1]))
    else:
        draw()
        plt.show()


if __name__ == "__main__":
    main()
