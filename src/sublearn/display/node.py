"""The display of one node."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sublearn.core.data.codes import encode_samples
from sublearn.display.canvas import needed_matplotlib
from sublearn.display.legend import key_lines, map_lines
from sublearn.display.names import elided, percent, short_names
from sublearn.display.node_drawing import draw_node, frame_of
from sublearn.display.node_view import (
    ALONE,
    ENTROPY,
    GINI,
    OBJECTIVE,
    SQUARED_ERROR,
    NodeView,
    cosines,
    plane_views,
    position_of,
    projected,
    reaching,
    split_losses,
    take_in,
    targets_of,
)
from sublearn.display.ruler import Ruler
from sublearn.display.tree import names_of_classes
from sublearn.export.chosen import fitted_model, tree_number
from sublearn.export.inequalities import Inequalities, names_of_features

OWNER = "NodeDisplay.from_estimator"
LOSSES = {
    ENTROPY: "loss, bits",
    GINI: "loss, Gini",
    SQUARED_ERROR: "loss, squared error",
    OBJECTIVE: "objective a sample",
}
LONGEST, SHORTER, SHORTEST = 34, 28, 16  # characters of a name: above one panel, above several, on axes of the user's


class NodeDisplay:
    """One node of a fitted tree: its samples where each hyperplane projects them, and how good other cuts would be.

    A column is a hyperplane. Its upper panel has the samples at the value of the left side of the inequality above it:
    bars by class, or dots at their targets. A line is the chosen cut, and "+a" the side where the inequality is true.
    The lower panel has the mean loss of both sides for each threshold: the thin curve for all that part the samples,
    dots for the boundaries of 16 bins of equal width, as a search tries them, and a diamond for the chosen cut. The
    last column has the cosines between the vectors of integer coefficients; a node keeps hyperplanes whose cosines are
    small.

    The samples are those given to `from_estimator`, as far as they reach the node, each with weight 1. With the
    training samples of a tree without weights the diamond is at the lowest dot, unless the search had other bins. With
    others it tells how the cut does on those. Trees that have grown from bags, from a race, with weights, or from means
    of categories have seen other samples than X.

    A tree of boosting learns from derivatives of its loss. They are taken at what the trees before it predict for X,
    without exposure, and the loss is the objective that its leaves minimise, -G² / (H + l2) by the number of samples,
    summed over all outputs. A tree of several outputs was searched along one direction among them, so that its cut need
    not be at the lowest dot. For numbers, dots are at minus the gradient; for the squared error that is the residual.

    Use `from_estimator` to make one.

    Parameters
    ----------
    view : NodeView
        What is drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The panel of the first projection.
    axes_ : dict of str to matplotlib Axes
        All panels: "projection a", "loss a" and so on, "cosines", where there are several hyperplanes, and others
        that have nothing but text.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    TreeDisplay : All nodes of a tree.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier
    >>> from sublearn.display import NodeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(max_partitions=1, random_state=0).fit(X, y)
    >>> axes = Figure(figsize=(6, 5), layout="constrained").subplots()
    >>> display = NodeDisplay.from_estimator(model, X, y, ax=axes)
    >>> sorted(display.axes_)[:2]
    ['legend', 'loss a']
    """

    ax_: Any
    axes_: dict[str, Any]
    figure_: Any

    def __init__(self, view: NodeView) -> None:
        self.view = view

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        node: int = 0,
        tree: int | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a node of a fitted model with the samples of X that reach it.

        Parameters
        ----------
        estimator : SLM estimator
            A fitted tree, forest or boosting.
        X : array-like of shape (n_samples, n_features)
            Samples; those of the fit, or others.
        y : array-like of shape (n_samples,)
            Their classes or numbers.
        node : int, default=0
            Number of the node within its tree, the root being 0; it must be split.
        tree : int, default=None
            Number of the tree, from 0; a forest and boosting need it.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        class_names : sequence of str, default=None
            Names of the classes, in the order of `classes_`; None: the classes themselves.
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided into panels. None: on a new figure.

        Returns
        -------
        display : NodeDisplay
            The display, drawn.
        """
        fitted = fitted_model(estimator, OWNER, "estimator")
        number = tree_number(estimator, tree, OWNER)
        i = position_of(fitted, int(fitted.ensemble.roots[number]), node, number, OWNER)
        names = names_of_features(fitted, feature_names, OWNER)
        classes = names_of_classes(fitted, class_names, OWNER)
        x, targets = take_in(estimator, fitted, X, y, OWNER)
        codes = encode_samples(x, fitted.maps, ALONE)
        inside = reaching(fitted, codes, number, i)
        if not inside.any():
            raise ValueError(f"X of {OWNER} must have samples that reach node {node}; none of {len(x)} does.")
        q = int(np.diff(fitted.ensemble.nodes.first_plane[i : i + 2])[0])
        most = SHORTEST if ax is not None else SHORTER if q > 1 else LONGEST
        writer = Inequalities(fitted, short_names(names, most), digits=3)
        sums = targets_of(estimator, fitted, codes, targets, number).of(inside)
        planes = plane_views(writer, i, projected(fitted, codes[:, inside], i), sums, most)
        labels = targets[inside] if fitted.classes is not None else None
        is_boosting = sums.loss == OBJECTIVE
        n_trees = fitted.ensemble.n_trees
        whose = type(estimator).__name__ + (f", tree {number} of {n_trees}" if n_trees > 1 else "")
        share = percent(float(inside.mean()))
        n = int(inside.sum())
        view = NodeView(
            title=f"{whose}, node {node}: {n} sample{'s' * (n != 1)}, {share} of X",
            planes=planes,
            cosines=cosines(fitted, i),
            loss=float(split_losses(np.zeros(n), sums, np.zeros(1))[0]),
            loss_name=LOSSES[sums.loss],
            labels=labels,
            numbers=-sums.sums[:, 0] if is_boosting else targets[inside],
            numbers_name="minus gradient" if is_boosting else "target",
            class_names=[elided(name, 24) for name in classes],
            notes=[*map_lines(writer), *key_lines(writer, names, most)],
        )
        return cls(view).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the node.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided into panels. None: on a new figure.

        Returns
        -------
        display : NodeDisplay
            This display.
        """
        needed_matplotlib("NodeDisplay.plot")
        frame = frame_of(self.view, ax, Ruler())
        self.axes_ = draw_node(self.view, frame)
        self.ax_, self.figure_ = self.axes_["projection a"], frame.cells.figure
        return self
