"""Which features are combined in hyperplanes, as a matrix."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sublearn.display.canvas import COLOURS, SMALL, TEXT, axes_of, needed_matplotlib, palette_of, rgb
from sublearn.display.colour_bar import add_colour_bar
from sublearn.display.names import short_names
from sublearn.display.ranks import CHARACTER, check_count, check_estimator, renamed
from sublearn.explanation.feature_pairs import Interactions, interactions
from sublearn.kernels.layout import Array

OWNER = "InteractionsDisplay"
CELL, LEAST_SIDE = 0.36, 2.6  # inches
LONGEST = 22  # characters of a name
NOT_WRITTEN = 16  # features from which on counts are too small to read


class InteractionsDisplay:
    """Which features hyperplanes combine: a matrix of how often, and with what gain.

    A cell's number says how many hyperplanes have both features, its colour how much these take from the loss. The
    diagonal is about features alone. `from_estimator` counts and draws. What `interactions` has found already is drawn
    by ``InteractionsDisplay(found).plot()``.

    Parameters
    ----------
    interactions : Interactions
        What `sublearn.interactions` has found.
    feature_names : sequence of str, default=None
        Names of the features; None: those found.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    features_ : ndarray of shape (n_shown,)
        The features that are shown, in order.

    See Also
    --------
    sublearn.interactions : Counts which features are combined.
    ImportancesDisplay : Importances of single features.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import SLMForestClassifier
    >>> from sublearn.display import InteractionsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SLMForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> axes = Figure(layout="constrained").subplots()
    >>> display = InteractionsDisplay.from_estimator(model, n_features=6, ax=axes)
    >>> display.features_.shape
    (6,)
    """

    ax_: Any
    figure_: Any
    features_: Array

    def __init__(self, interactions: Interactions, *, feature_names: Sequence[str] | None = None) -> None:
        self.interactions = interactions
        self.feature_names = renamed(interactions.names, feature_names, OWNER)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int = 12, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Count what the hyperplanes of a fitted model combine, and draw it.

        Parameters
        ----------
        estimator : SLM tree, forest, boosting or average
            A fitted model.
        n_features : int, default=12
            Features that are shown at the most, those of the largest gain.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : InteractionsDisplay
            What was drawn.
        """
        needed_matplotlib(OWNER)
        check_estimator(estimator, OWNER)
        found = interactions(estimator)
        return cls(found, feature_names=feature_names).plot(ax=ax, n_features=n_features)

    def plot(self, ax: Any = None, *, n_features: int = 12) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        n_features : int, default=12
            Features that are shown at the most, those of the largest gain.

        Returns
        -------
        display : InteractionsDisplay
            The object itself.
        """
        most = check_count(n_features, "n_features", OWNER)
        counts, gains = self.interactions.counts, self.interactions.gains
        shown = np.argsort(-gains.sum(axis=0), kind="stable")[:most]
        shown = shown[counts[shown].any(axis=1)] if counts.any() else shown[:1]
        self.features_ = shown
        short = short_names(self.feature_names, LONGEST)
        names, n = [short[f] for f in shown], len(shown)
        room = CHARACTER * max(map(len, names))
        side = max(CELL * n, LEAST_SIDE)
        self.ax_ = axes_of(ax, side + room + 1.8, side + room + 0.9, OWNER)
        self.figure_ = self.ax_.figure
        self._draw_cells(gains[np.ix_(shown, shown)], counts[np.ix_(shown, shown)])
        self._dress(names)
        return self

    def _draw_cells(self, gains: Array, counts: Array) -> None:
        """Gains as colours and counts as numbers, each pair once."""
        from matplotlib.colors import LinearSegmentedColormap

        palette, n = palette_of(self.ax_), len(gains)
        scale = LinearSegmentedColormap.from_list("gain", [palette.ground, tuple(rgb(COLOURS[0]))])
        hidden = np.triu(np.ones((n, n), np.bool_), 1) | (counts == 0)
        empty = np.ma.array(np.ones((n, n)), mask=np.triu(np.ones((n, n), np.bool_), 1))
        self.ax_.imshow(empty, cmap=LinearSegmentedColormap.from_list("empty", [palette.pale] * 2), alpha=0.25)
        high = float(gains[~hidden].max(initial=0.0)) or 1.0
        drawn = self.ax_.imshow(np.ma.array(gains, mask=hidden), cmap=scale, vmin=0.0, vmax=high)
        if n < NOT_WRITTEN:
            for i in range(n):
                for j in range(i + 1):
                    if counts[i, j]:
                        is_dark = (gains[i, j] > 0.55 * high) == palette.is_light
                        ink = "#FFFFFF" if is_dark else palette.ink if palette.is_light else "#FFFFFF"
                        text = {"ha": "center", "va": "center", "fontsize": SMALL - 1, "color": ink}
                        self.ax_.text(j, i, short_count(float(counts[i, j])), **text)
        add_colour_bar(self.ax_, drawn, "gain, share of all")

    def _dress(self, names: list[str]) -> None:
        axes, palette, n, n_all = self.ax_, palette_of(self.ax_), len(names), len(self.feature_names)
        axes.set_xticks(range(n), names, rotation=90, parse_math=False)
        axes.set_yticks(range(n), names, parse_math=False)
        axes.tick_params(length=0, labelsize=SMALL, labelcolor=palette.ink)
        axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=palette.ground, linewidth=1.5)
        axes.tick_params(which="minor", length=0)
        axes.spines[:].set_visible(False)
        which = f"{n} features" if n == n_all else f"{n} of {n_all} features"
        which += "; numbers count hyperplanes" if n < NOT_WRITTEN else ""
        axes.set_title(f"features that hyperplanes combine\n{which}", loc="left", fontsize=TEXT, color=palette.ink)


def short_count(count: float) -> str:
    """A count in four characters at the most; members of an average count by their weights, as fractions."""
    if count < 99.95:
        return f"{count:.3g}" if count >= 0.095 else "<0.1"
    return f"{count:.0f}" if count < 999.5 else f"{count / 1000:.1f}k" if count < 9950 else f"{count / 1000:.0f}k"
