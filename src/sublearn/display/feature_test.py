"""The display of a feature test, and bars of losses of features, which the paper's overview has too."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.parameters import whole
from sublearn.display.canvas import COLOURS, SMALL, cells_of, dress, palette_of
from sublearn.display.names import one_line, short_names
from sublearn.kernels.layout import Array
from sublearn.selection import DiscriminantFeatureTest, FeatureTest

OWNER = "FeatureTestDisplay.from_estimator"
ROW = 0.2  # inches of a bar
FEW = 30  # features that all get bars
LONGEST = 40, 22  # characters of a name on a figure of our own, and on axes of the user's
MANY_ROWS = 20
LESS_SMALL = 8  # points of names, where there are many
UNITS = {"entropy": "loss, bits", "gini": "loss, Gini", "squared_error": "loss, squared units of y"}


class FeatureTestDisplay:
    """A fitted feature test: the losses of features in rank order, with those that are kept.

    Bars begin at the loss of all samples together and end at the loss that the best cut of the feature leaves, so that
    long ones are of good features; those that are kept are blue. Where there are more features than bars, a second
    panel has the losses of all by rank.

    Use `from_estimator` to make one.

    Parameters
    ----------
    losses : ndarray of shape (n_features,)
        Losses of the features.
    ranking : ndarray of shape (n_features,)
        Their ranks, from 1.
    n_selected : int
        How many are kept.
    loss : float
        Loss of all samples together.
    loss_name : str
        What losses are.
    feature_names : list of str
        Names of the features.
    n_named : int, default=20
        Features with bars and names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The panel with bars.
    axes_ : list of matplotlib Axes
        This panel, and that of all features where there is one.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    sublearn.DiscriminantFeatureTest : The test for classes.
    sublearn.RelevantFeatureTest : The test for numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import DiscriminantFeatureTest
    >>> from sublearn.display import FeatureTestDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> test = DiscriminantFeatureTest().fit(X, y)
    >>> axes = Figure(layout="constrained").subplots()
    >>> display = FeatureTestDisplay.from_estimator(test, ax=axes)
    >>> display.ax_.get_yticklabels()[0].get_text()
    'flavanoids'
    """

    ax_: Any
    axes_: list[Any]
    figure_: Any

    def __init__(
        self,
        losses: Array,
        ranking: Array,
        *,
        n_selected: int,
        loss: float,
        loss_name: str,
        feature_names: list[str],
        n_named: int = 20,
    ) -> None:
        self.losses = losses
        self.ranking = ranking
        self.n_selected = n_selected
        self.loss = loss
        self.loss_name = loss_name
        self.feature_names = feature_names
        self.n_named = n_named

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_named: int = 20, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Draw a fitted feature test.

        Parameters
        ----------
        estimator : DiscriminantFeatureTest or RelevantFeatureTest
            A fitted test.
        n_named : int, default=20
            Features with bars and names, the best ones, where there are more than 30; all have them otherwise.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided where two panels are needed. None: on a new figure.

        Returns
        -------
        display : FeatureTestDisplay
            The display, drawn.
        """
        if not isinstance(estimator, FeatureTest):
            tests = "a DiscriminantFeatureTest or RelevantFeatureTest"
            raise TypeError(f"estimator of {OWNER} must be {tests}; got {type(estimator).__name__}.")
        check_is_fitted(estimator)
        n = len(estimator.losses_)
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        names = [f"x{f}" for f in range(n)] if names is None else list(map(one_line, names))
        if len(names) != n:
            raise ValueError(f"feature_names of {OWNER} must have a name for each of {n} features; got {len(names)}.")
        if not whole(1).accepts(n_named):
            raise ValueError(f"n_named of {OWNER} must be {whole(1).words}; got {n_named!r}.")
        criterion = estimator.criterion if isinstance(estimator, DiscriminantFeatureTest) else "squared_error"
        display = cls(
            estimator.losses_,
            estimator.ranking_,
            n_selected=estimator.n_features_,
            loss=estimator.loss_,
            loss_name=UNITS[criterion],
            feature_names=names,
            n_named=n_named,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the test.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; their place is divided where two panels are needed. None: on a new figure.

        Returns
        -------
        display : FeatureTestDisplay
            This display.
        """
        n, order = len(self.losses), np.argsort(self.ranking, kind="stable")
        shown = order if n <= FEW else order[: self.n_named]
        is_whole = len(shown) == n
        longest = LONGEST[ax is not None]
        names = short_names(self.feature_names, longest)
        widest = max(len(names[f]) for f in shown)
        width = 3.6 + 0.075 * widest + (0 if is_whole else 3.4)
        cells = cells_of(ax, width, max(2.6, 1.2 + ROW * len(shown)), "FeatureTestDisplay.plot")
        grid = cells.grid(1, 1 if is_whole else 2)
        bars = cells.figure.add_subplot(grid[0, 0])
        is_kept = self.ranking <= self.n_selected
        title = f"{self.n_selected} of {n} features kept" if is_whole else f"the best {len(shown)} of {n}"
        draw_bars(bars, self.losses, self.loss, shown, is_kept, names, title, self.loss_name)
        self.axes_ = [bars]
        if not is_whole:
            curve = cells.figure.add_subplot(grid[0, 1])
            self._draw_curve(curve, self.losses[order])
            self.axes_.append(curve)
        self.ax_, self.figure_ = bars, cells.figure
        return self

    def _draw_curve(self, axes: Any, losses: Array) -> None:
        """All losses by rank."""
        palette, n = palette_of(axes), len(losses)
        ranks = np.arange(1, n + 1)
        kept = ranks <= self.n_selected
        axes.axhline(self.loss, color=palette.ink, linewidth=1)
        axes.plot(ranks[~kept], losses[~kept], "o", color=palette.grey, markersize=2.5, label="left out")
        axes.plot(ranks[kept], losses[kept], "o", color=COLOURS[0], markersize=4, label="kept")
        axes.legend(loc="lower right", fontsize=SMALL, frameon=False, labelcolor=palette.ink)
        dress(axes, f"{self.n_selected} of {n} kept", "rank", self.loss_name)
        axes.margins(x=0.03)


def draw_bars(
    axes: Any,
    losses: Array,
    loss: float,
    shown: Sequence[int] | Array,
    is_kept: Array,
    names: Sequence[str],
    title: str,
    xlabel: str,
) -> None:
    """Bars of some features from the loss without a cut to theirs, one below the other; those kept in blue."""
    palette = palette_of(axes)
    shown = np.asarray(shown)
    colours = [COLOURS[0] if is_kept[f] else palette.pale for f in shown]
    places = np.arange(len(shown))
    axes.barh(places, losses[shown] - loss, left=loss, color=colours, height=0.7)
    axes.axvline(loss, color=palette.ink, linewidth=1)
    dress(axes, title, xlabel)
    axes.set_yticks(places, [names[f] for f in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    for label, f in zip(axes.get_yticklabels(), shown, strict=True):
        label.set_color(COLOURS[0] if is_kept[f] and palette.is_light else palette.ink if is_kept[f] else palette.grey)
        label.set_fontsize(SMALL if len(shown) <= MANY_ROWS else LESS_SMALL)
        label.set_parse_math(False)
