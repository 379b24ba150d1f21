"""
How two trees cut the plane
===========================

The cells of an SLM tree and of a decision tree over the same samples. Both trees have their default parameters, but
for the entropy of the decision tree, and are fully grown on one split of a noisy circle in a ring. Bold lines are the
cuts of the root; one SLM node has up to two of them. White lines are the cuts of deeper nodes.

:class:`~sublearn.display.PartitionDisplay` draws cells from the hyperplanes of a model. It takes the decision tree too,
once its nodes are written down as cells.

The picture of the guide is this one: ``python examples/partitions.py docs/images/partitions.png`` renews it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray
from sklearn.datasets import make_circles
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from sublearn import SLMClassifier
from sublearn.display import PartitionDisplay
from sublearn.display.canvas import INK
from sublearn.display.polygons import cell_of
from sublearn.paper.sizes import size_of

Floats = NDArray[np.float64]


def circle_and_ring() -> Any:
    """Samples and classes for training and testing: X, X_test, y, y_test."""
    X, y = make_circles(1000, noise=0.2, factor=0.5, random_state=0)
    return train_test_split(X, y, test_size=0.4, random_state=0)


def cells_of_tree(model: DecisionTreeClassifier, polygon: Floats, node: int = 0) -> Iterator[Floats]:
    """The cells into which a node of a decision tree and all below it cut a convex polygon."""
    tree = model.tree_
    feature = tree.feature[node]
    if feature < 0:
        yield polygon
        return
    line = np.array([[feature == 0, feature == 1, tree.threshold[node]]], np.float64)
    for code, child in enumerate((tree.children_left[node], tree.children_right[node])):
        part = cell_of(polygon, line, code)
        if len(part) > 2:
            yield from cells_of_tree(model, part, child)


def display_of_tree(model: DecisionTreeClassifier, like: PartitionDisplay) -> PartitionDisplay:
    """The partition of a decision tree, in the frame and with the samples of another display."""
    (left, right), (bottom, top) = (axis.values[[0, -1]] for axis in like.axes)
    frame = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    polygons = list(cells_of_tree(model, frame))
    outlines = [np.vstack([polygon, polygon[:1]]) for polygon in polygons]
    feature, threshold = model.tree_.feature[0], model.tree_.threshold[0]
    root = frame[[0, 2]].copy()
    root[:, feature] = threshold
    return PartitionDisplay(
        axes=like.axes,
        polygons=polygons,
        answers=model.predict_proba(np.array([polygon.mean(axis=0) for polygon in polygons])),
        labels=model.classes_,
        cuts=outlines,
        root=[root],
        samples=like.samples,
    )


def draw() -> tuple[Figure, str]:
    """Both trees side by side, and what is written above them."""
    X, X_test, y, y_test = circle_and_ring()
    slm = SLMClassifier(random_state=0).fit(X, y)
    dt = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)
    figure = plt.figure(figsize=(12, 5.7), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    left, right = figure.subplots(1, 2)
    display = PartitionDisplay.from_estimator(slm, X, y, features=(0, 1), borders=False, legend=False, ax=left)
    display_of_tree(dt, display).plot(ax=right, legend=False)
    captions = []
    for axes, name, model in ((left, "SLM tree", slm), (right, "Decision tree", dt)):
        accuracy, size = 100 * model.score(X_test, y_test), size_of(model, len(X))
        caption = f"test accuracy {accuracy:.1f} %, depth {size.depth}, {size.n_parameters} parameters"
        captions.append(f"{name}: {caption}")
        axes.set_aspect("equal")
        axes.set_axis_off()
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
