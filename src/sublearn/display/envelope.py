"""The display of the envelope of coefficients, and its parts, which the paper's example has too."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from sublearn._base.parameters import number as number_rule
from sublearn._base.parameters import whole
from sublearn.core.model.fitted import FittedModel
from sublearn.core.tree.projection import envelope
from sublearn.display.canvas import COLOURS, SMALL, TEXT, axes_of, dress, palette_of
from sublearn.display.names import JOINT, MINUS, short_names
from sublearn.display.ruler import Ruler
from sublearn.display.search import RootSearch, search_root
from sublearn.export.chosen import fitted_model, tree_number
from sublearn.export.inequalities import LETTERS, names_of_features
from sublearn.kernels.layout import Array

OWNER = "EnvelopeDisplay.from_estimator"
LARGEST, SMALLEST = 230.0, 12.0  # areas of bubbles, in square points
MOST_RANKS = 30  # more of them are not drawn
LONGEST = 24  # characters of a name
LINES = (COLOURS[2], COLOURS[4], COLOURS[5], COLOURS[3])  # of hyperplanes
BEYOND, FREE = COLOURS[1], "outside: single features, fitted vectors"
MOST_LISTED = 8  # coefficients of a hyperplane that the legend lists
POINTS = 72.0  # an inch
BETWEEN = 11.0, 34.0  # points between bubbles, upwards and sidewards, that numbers beside them need
DASHES = ((0, (5, 3)), (0, (1, 2)), (0, (6, 2, 1, 2)))
RANK = "rank d of the feature in the root, most discriminant first"
PLACE = "place of the feature in its hyperplane, best ranked first: its rank d is this or a later one"
DIMENSION = "dimension d, most discriminant first"


class Coefficients(NamedTuple):
    """Coefficients that a model has drawn."""

    counts: dict[tuple[int, int], int]  # by place and value
    kept: list[Array]  # coefficients by rank of the hyperplanes that a node has kept
    n_vectors: int
    what: str  # that the vectors are
    xlabel: str
    names: list[str]  # of features by rank, where there are some


class EnvelopeDisplay:
    """The envelope A_d = alpha_0 exp(-alpha d), the integers it allows, and the coefficients that a model has.

    The feature of rank d in a node may have any integer from -A_d to A_d as its coefficient: the pale dots. Several
    rounds of drawing may have an envelope each. Bubbles are coefficients that were drawn, the larger the more often.

    With X and y, those that a single tree was fitted to, the search of its root is repeated: bubbles are all candidates
    of the root, by the true rank of the feature, and lines are the hyperplanes that it has kept. Features follow in the
    order of S₀, and the axis ends with it.

    Without them, bubbles are the hyperplanes that the model has kept, in one tree or in all. A fitted model does not
    store the ranks of a node's features, but their order: the first term of a hyperplane has the best rank, and so on.
    So a coefficient stands at its place among the terms of its hyperplane; its rank is that or a later one, and the
    envelope there was as high as drawn, or lower.

    The envelope binds what is drawn or listed. Single features, whose coefficient is 1, and fitted vectors
    (`fitted_projections`) are candidates too, and may be outside: these bubbles have a colour of their own. Common
    factors are divided out, so that coefficients may be smaller than they were drawn.

    Heights and decays are the estimator's parameters; do not change them between fit and picture.

    Parameters
    ----------
    height : float
        alpha_0, `envelope_height`.
    decays : sequence of float
        alpha, `envelope_decay`, of each round of drawing.
    n_ranks : int
        Largest d that is drawn.
    drawn : Coefficients or None, default=None
        Coefficients; None: only the envelope.
    subspace_size : int or None, default=None
        D₀, how many features S₀ has, where that is known.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the envelope was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import SLMClassifier
    >>> from sublearn.display import EnvelopeDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SLMClassifier(random_state=0).fit(X, y)
    >>> axes = Figure(layout="constrained").subplots()
    >>> display = EnvelopeDisplay.from_estimator(model, X, y, ax=axes)
    >>> display.height, display.drawn.what
    (2.5, 'candidates of the root')
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        height: float,
        decays: Sequence[float],
        n_ranks: int,
        drawn: Coefficients | None = None,
        subspace_size: int | None = None,
    ) -> None:
        self.height = height
        self.decays = list(decays)
        self.n_ranks = n_ranks
        self.drawn = drawn
        self.subspace_size = subspace_size

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        tree: int | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the envelope of a fitted model with its coefficients.

        Parameters
        ----------
        estimator : SLM estimator
            A fitted tree, forest or boosting.
        X, y : array-like, default=None
            What a single tree was fitted to, without weights and with an int as `random_state`. The candidates of its
            root are drawn then; None: the hyperplanes of the model.
        tree : int, default=None
            Number of the tree whose hyperplanes are drawn; None: those of all trees.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : EnvelopeDisplay
            The display, drawn.
        """
        fitted = fitted_model(estimator, OWNER, "estimator")
        if (X is None) != (y is None):
            raise ValueError(f"X and y of {OWNER} must be given together, or neither.")
        names = names_of_features(fitted, feature_names, OWNER)
        if X is not None:
            drawn = of_root(search_root(estimator, X, y, OWNER, "estimator"), names)
        else:
            drawn = of_trees(fitted, None if tree is None else tree_number(estimator, tree, OWNER))
        decays = dict.fromkeys(draw.envelope_decay for draw in estimator._drawing_rounds())
        n_ranks = len(drawn.names) or max([fitted.subspace_size, *(place for place, _ in drawn.counts)])
        return cls(float(estimator.envelope_height), [*decays], n_ranks, drawn, fitted.subspace_size).plot(ax=ax)

    @classmethod
    def from_parameters(cls, height: float, decay: float, n_ranks: int = 8, *, ax: Any = None) -> Self:
        """Draw an envelope without a model, to see what two numbers allow.

        Parameters
        ----------
        height : float
            `envelope_height`.
        decay : float
            `envelope_decay`.
        n_ranks : int, default=8
            Largest d.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : EnvelopeDisplay
            The display, drawn.
        """
        owner = "EnvelopeDisplay.from_parameters"
        rules = {"height": number_rule(0, 127), "decay": number_rule(0), "n_ranks": whole(1)}
        for (name, rule), given in zip(rules.items(), (height, decay, n_ranks), strict=True):
            if not rule.accepts(given):
                raise ValueError(f"{name} of {owner} must be {rule.words}; got {given!r}.")
        return cls(height, [decay], n_ranks).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the envelope.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : EnvelopeDisplay
            This display.
        """
        n = min(self.n_ranks, MOST_RANKS)
        axes = axes_of(ax, 3.0 + 0.55 * max(n, 7), 4.6, "EnvelopeDisplay.plot")
        palette = palette_of(axes)
        bounds = np.max([envelope(self.height, decay, n) for decay in self.decays], axis=0)
        for decay, dashes in zip(self.decays, DASHES * len(self.decays), strict=False):
            draw_curve(axes, self.height, decay, n, palette.grey, dashes)
        draw_integers(axes, bounds, [palette.pale] * n)
        reach = max([bounds.max(), *(abs(a) for _, a in self.drawn.counts)] if self.drawn else [bounds.max()])
        axes.set(xlim=(0.4, n + 0.9), ylim=(-reach - 0.8, reach + 0.8), xticks=ticks_for(n))
        curves = ", ".join(rf"${self.height:g}\,e^{{-{decay:g}\,d}}$" for decay in self.decays)
        size = f",  $D_0$ = {self.subspace_size}" if self.subspace_size else ""
        dress(axes, f"$A_d$ = {curves}{size}", self.drawn.xlabel if self.drawn else DIMENSION, "coefficient")
        axes.yaxis.get_major_locator().set_params(integer=True)
        if self.drawn is not None:
            self._draw_coefficients(axes, n, bounds)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_coefficients(self, axes: Any, n: int, bounds: Array) -> None:
        """Bubbles, the hyperplanes that were kept, and names of features below the axis."""
        assert self.drawn is not None
        drawn, palette = self.drawn, palette_of(axes)
        points = [(d, a, count) for (d, a), count in sorted(drawn.counts.items()) if d <= n]
        most = max((count for *_, count in points), default=1)
        areas = [SMALLEST + (LARGEST - SMALLEST) * count / most for *_, count in points]
        is_bound = [abs(a) <= bounds[d - 1] for d, a, _ in points]
        handles, labels = [], []
        for wanted, colour, label in ((True, COLOURS[0], f"{drawn.n_vectors} {drawn.what}"), (False, BEYOND, FREE)):
            chosen = [i for i, is_in in enumerate(is_bound) if is_in == wanted]
            if chosen:
                style = {"color": colour, "alpha": 0.8, "linewidths": 0}
                places, values = [points[i][0] for i in chosen], [points[i][1] for i in chosen]
                axes.scatter(places, values, s=[areas[i] for i in chosen], zorder=2, **style)
                handles.append(axes.scatter([], [], s=60, **style))
                labels.append(label)
        for j, vector in enumerate(drawn.kept):
            style = {"color": LINES[j % len(LINES)], "linewidth": 1.6, "markersize": 5, "zorder": 3}
            handles += axes.plot(np.arange(1, len(vector) + 1), vector, "o-", **style)
            labels.append(f"{LETTERS[j]} = ({listed(vector)})")
        legend = {"fontsize": SMALL, "frameon": False, "labelcolor": palette.ink, "loc": "upper right"}
        axes.legend(handles, labels, **legend)
        if not drawn.kept:
            write_counts(axes, points, areas)
        if drawn.names:
            axes.set_xlabel(f"{drawn.xlabel}\n{listed_names(axes, drawn.names[:n])}", parse_math=False)


def of_root(search: RootSearch, names: list[str]) -> Coefficients:
    """The candidates of a root, by the ranks of features in it."""
    by_rank = search.vectors[:, search.subspace]
    counts = Counter((int(d) + 1, int(by_rank[i, d])) for i, d in np.argwhere(by_rank))
    return Coefficients(
        counts=dict(counts),
        kept=[by_rank[c] for c in search.kept],
        n_vectors=len(by_rank),
        what="candidates of the root",
        xlabel=RANK,
        names=[names[int(search.maps.features[v])] for v in search.subspace],
    )


def of_trees(model: FittedModel, number: int | None) -> Coefficients:
    """The hyperplanes of one tree or of all, by the places of features in them."""
    nodes, roots = model.ensemble.nodes, model.ensemble.roots
    first, end = 0, nodes.n_planes
    what = "hyperplanes of the tree" if len(roots) == 1 else f"hyperplanes of {len(roots)} trees"
    if number is not None:
        ends = [*roots[1:].tolist(), nodes.n_nodes]
        first, end = (int(nodes.first_plane[i]) for i in (roots[number], ends[number]))
        what = f"hyperplanes of tree {number}" if len(roots) > 1 else what
    counts: Counter[tuple[int, int]] = Counter()
    for p in range(first, end):
        terms = nodes.coefficient[nodes.first_term[p] : nodes.first_term[p + 1]].tolist()
        counts.update(enumerate(terms, 1))
    return Coefficients(counts=dict(counts), kept=[], n_vectors=end - first, what=what, xlabel=PLACE, names=[])


def listed(vector: Array) -> str:
    """Coefficients as text."""
    numbers = [str(a).replace("-", MINUS) for a in vector[:MOST_LISTED].tolist()]
    return ", ".join([*numbers, "..."] if len(vector) > MOST_LISTED else numbers)


def listed_names(axes: Any, names: list[str]) -> str:
    """Ranks with their features, on lines as wide as the axes."""
    width = axes.get_window_extent().width / axes.figure.dpi * POINTS
    words = [f"{d}{JOINT}{name}" for d, name in enumerate(short_names(names, LONGEST), 1)]
    return "\n".join(Ruler().lines([*(f"{word}," for word in words[:-1]), words[-1]], TEXT, 0.9 * width))


def ticks_for(n: int) -> list[int]:
    """Ranks that have a number at the axis."""
    return [*range(1, n + 1, 1 + n // 16)]


def draw_curve(axes: Any, height: float, decay: float, n: int, colour: str, dashes: Any) -> None:
    """A_d and its mirror image, as if d were any number."""
    d = np.linspace(0.6, n + 0.4, 200)
    for sign in (1, -1):
        axes.plot(d, sign * height * np.exp(-decay * d), color=colour, linewidth=1.2, linestyle=dashes, zorder=0)


def draw_integers(axes: Any, bounds: Any, colours: Sequence[str]) -> None:
    """The integers from -A_d to A_d, for d from 1 on."""
    for d, (bound, colour) in enumerate(zip(bounds, colours, strict=True), 1):
        integers = np.arange(-int(bound), int(bound) + 1)
        axes.plot(np.full(len(integers), d), integers, "o", color=colour, markersize=5, zorder=1)


def write_counts(axes: Any, points: list[tuple[int, int, int]], areas: list[float]) -> None:
    """How often each coefficient is there, beside its bubble, where there is room."""
    box, (left, right), (low, high) = axes.get_window_extent(), axes.get_xlim(), axes.get_ylim()
    dots = axes.figure.dpi / POINTS
    if box.height / dots / (high - low) < BETWEEN[0] or box.width / dots / (right - left) < BETWEEN[1]:
        return
    palette = palette_of(axes)
    for (d, a, count), area in zip(points, areas, strict=True):
        aside = (area / np.pi) ** 0.5 + 2
        axes.annotate(
            f"{count}", (d, a), (aside, 0), textcoords="offset points", va="center", fontsize=7, color=palette.ink
        )
