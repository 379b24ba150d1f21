"""The display of a tree."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sublearn._base.parameters import either, one_of, whole
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.display.canvas import COLOURS, needed_matplotlib, palette_of
from sublearn.display.names import elided, number, one_line, short_names
from sublearn.display.ruler import Ruler
from sublearn.display.tree_drawing import LABELS_OF_SHADES, Marks, draw_page
from sublearn.display.tree_layout import Layout
from sublearn.display.tree_nodes import Drawn, Teller, opened
from sublearn.display.tree_page import PAGE, PAPER, Content, Page, Room, page_for
from sublearn.export.chosen import fitted_model, tree_number
from sublearn.export.inequalities import names_of_features

OWNER = "TreeDisplay.from_estimator"
POINTS = 72.0  # an inch
MARGIN = 14.0  # points around a page


class TreeDisplay:
    """A fitted tree, or one of the trees of a forest or of boosting, as a picture.

    The root is on the left. A box is a node that is split: its samples and their share of all, its class mix as a
    bar or its mean as a dot on a line, and below them its hyperplanes a, b, ... as inequalities in the units of the
    data, as `export_text` writes them. On the edges are the sides of the hyperplanes: "+a" has the samples for which a
    is true. Where nothing follows, the line says what the node answers; "... 5 more nodes" are below it in the tree. A
    sample that falls where no training sample did gets the answer of the box.

    Up to six classes have colours of their own. With more of them, bars are shaded by the rank of a class within the
    node, and the largest are named. A leaf of boosting says what it adds to the raw prediction.

    Use `from_estimator` to make one.

    Parameters
    ----------
    model : FittedModel
        The model behind an estimator.
    root : int
        The root of the tree among the nodes of the model.
    title : str
        What stands above the picture.
    feature_names, class_names : list of str
        Names of features and of classes.
    max_depth, max_leaves : int or None
        As in `from_estimator`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the tree was drawn. Its units are points.
    figure_ : matplotlib Figure
        The figure of these axes.
    layout_ : Layout
        Where each node was drawn.
    text_size_ : float
        Size of type in points.
    n_shown_ : int
        Number of nodes that are drawn.

    See Also
    --------
    sublearn.export_text : The same as text, without limits.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier
    >>> from sublearn.display import TreeDisplay
    >>> iris = load_iris()
    >>> model = SLMClassifier(max_depth=2, random_state=0).fit(iris.data, iris.target)
    >>> axes = Figure(figsize=(8, 4)).subplots()
    >>> display = TreeDisplay.from_estimator(model, class_names=iris.target_names, ax=axes)
    >>> display.n_shown_ == model.tree_.n_nodes
    True
    """

    ax_: Any
    figure_: Any
    layout_: Layout
    text_size_: float
    n_shown_: int

    def __init__(
        self,
        model: FittedModel,
        *,
        root: int,
        title: str,
        feature_names: list[str],
        class_names: list[str],
        max_depth: int | None = 4,
        max_leaves: int | str | None = PAGE,
    ) -> None:
        self.model = model
        self.root = root
        self.title = title
        self.feature_names = feature_names
        self.class_names = class_names
        self.max_depth = max_depth
        self.max_leaves = max_leaves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        tree: int | None = None,
        *,
        max_depth: int | None = 4,
        max_leaves: int | str | None = PAGE,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a tree of a fitted model.

        Parameters
        ----------
        estimator : SLM estimator
            A fitted tree, forest or boosting.
        tree : int, default=None
            Number of the tree, from 0; a forest and boosting need it.
        max_depth : int, default=4
            Nodes deeper than this are not drawn; None: all are.
        max_leaves : int, "page" or None, default="page"
            Ends of the picture at the most. Nodes with most samples are followed first. "page": as many as there is
            room for on one sheet of paper, 40 at the most; None: no limit.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        class_names : sequence of str, default=None
            Names of the classes, in the order of `classes_`; None: the classes themselves.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure, which is as large as the tree needs.

        Returns
        -------
        display : TreeDisplay
            The display, drawn.
        """
        fitted = fitted_model(estimator, OWNER, "estimator")
        number = tree_number(estimator, tree, OWNER)
        for name, given, others in (("max_depth", max_depth, ()), ("max_leaves", max_leaves, (PAGE,))):
            rule = either(one_of(*others), whole(1)) if others else whole(1)
            if given is not None and not rule.accepts(given):
                raise ValueError(f"{name} of {OWNER} must be None or {rule.words}; got {given!r}.")
        n_trees = fitted.ensemble.n_trees
        title = type(estimator).__name__ + (f", tree {number} of {n_trees}" if n_trees > 1 or tree is not None else "")
        display = cls(
            fitted,
            root=int(fitted.ensemble.roots[number]),
            title=title,
            feature_names=names_of_features(fitted, feature_names, OWNER),
            class_names=names_of_classes(fitted, class_names, OWNER),
            max_depth=max_depth,
            max_leaves=max_leaves,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; what the tree needs is fitted into them, with fewer leaves and smaller type where they are
            small. None: on a new figure, which is as large as the tree needs.

        Returns
        -------
        display : TreeDisplay
            This display.
        """
        needed_matplotlib("TreeDisplay.plot")
        ruler = Ruler()
        content = Content(self._content, self.feature_names, self._legend(), self.max_leaves)
        if ax is None:
            page, axes = self._on_a_page(content, ruler)
        else:
            page, axes = within(ax, content, ruler)
        drawn = page.layout.root.drawn
        self.ax_, self.figure_, self.layout_ = axes, axes.figure, page.layout
        self.text_size_, self.n_shown_ = page.size, len(drawn.all)
        draw_page(axes, page, self._marks(drawn), palette_of(axes), ruler, (self.title, self._subtitle(drawn)))
        from sublearn.display.proportion import Proportion

        Proportion(axes)
        return self

    def _content(self, most: int, max_leaves: int | None) -> tuple[Drawn, Teller]:
        """The nodes to draw, with names of so many characters."""
        teller = Teller(self.model, self.root, self.class_names, short_names(self.feature_names, most), most)
        shown = opened(teller.tree, self.root, self.max_depth, max_leaves)
        return teller.node(self.root, 0, "", shown), teller

    def _marks(self, drawn: Drawn) -> Marks:
        value = self.model.ensemble.nodes.value
        numbers = value[[node.node for node in drawn.all]]
        largest = np.take_along_axis(numbers, np.abs(numbers).argmax(axis=1)[:, None], axis=1)
        is_classes = self.model.classes is not None and self.model.link == MEAN
        return Marks(value=value, is_classes=is_classes, low=float(largest.min()), high=float(largest.max()))

    def _legend(self) -> list[str]:
        if self.model.classes is None or self.model.link != MEAN:
            return []
        if len(self.class_names) > len(COLOURS):
            return [*LABELS_OF_SHADES]
        return [elided(name, 40) for name in self.class_names]

    def _subtitle(self, drawn: Drawn) -> str:
        """How much of the tree is drawn, and what marks mean."""
        n_shown, n_hidden = len(drawn.all), sum(node.n_hidden for node in drawn.all)
        text = f"{n_shown} of {n_shown + n_hidden} nodes" if n_hidden else f"{n_shown} node{'s' * (n_shown != 1)}"
        text += "; n samples, and their share"
        if not self._legend():
            marks = self._marks(drawn)
            text += f"; dots from {number(marks.low)} to {number(marks.high)}"
        return text

    def _on_a_page(self, content: Content, ruler: Ruler) -> tuple[Page, Any]:
        from matplotlib import pyplot as plt

        page = page_for(content, PAPER, ruler)
        width, height = page.width + 2 * MARGIN, page.height + 2 * MARGIN
        figure = plt.figure(figsize=(width / POINTS, height / POINTS))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-MARGIN, page.width + MARGIN), ylim=(page.height + MARGIN, -MARGIN))
        axes.set_axis_off()
        return page, axes


def within(ax: Any, content: Content, ruler: Ruler) -> tuple[Page, Any]:
    """A page as large as some axes, which get its units; the tree is in the middle of what is left."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax of TreeDisplay.plot must be a matplotlib Axes or None; got {type(ax).__name__}.")
    ax.set_axis_off()
    ax.figure.canvas.figure.draw_without_rendering()  # a layout of the figure's settles
    box = ax.get_window_extent()
    width, height = (POINTS / ax.figure.dpi * length for length in (box.width, box.height))
    page = page_for(content, Room(width, height, True), ruler)
    spare = max(height - page.height, 0.0) / 2
    ax.set(xlim=(0, max(width, page.width)), ylim=(max(height, page.height) - spare, -spare))
    return page, ax


def names_of_classes(model: FittedModel, given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given to `owner`, or else the classes themselves, told from other numbers where they are some."""
    classes = [] if model.classes is None else model.classes.tolist()
    if given is None:
        return [one_line(c if isinstance(c, str) else f"class {c}") for c in classes]
    if len(given) != len(classes):
        raise ValueError(
            f"class_names of {owner} must have a name for each of {len(classes)} classes; got {len(given)}."
        )
    return [one_line(name) for name in given]
