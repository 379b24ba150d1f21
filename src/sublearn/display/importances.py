"""Importances of features as bars."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sublearn.display.canvas import COLOURS, SMALL, axes_of, dress, needed_matplotlib, palette_of
from sublearn.display.names import short_names
from sublearn.display.ranks import CHARACTER, check_count, check_estimator, renamed
from sublearn.explanation.feature_importances import Importances, importances

OWNER = "ImportancesDisplay"
ROW = 0.23  # inches of a bar
LONGEST = 30  # characters of a name
WHISKERS = "whiskers: standard error"


class ImportancesDisplay:
    """Importances of features as bars, the largest first; whiskers are standard errors, where there are some.

    `from_estimator` measures and draws. What `importances` has found already is drawn by
    ``ImportancesDisplay(found).plot()``.

    Parameters
    ----------
    importances : Importances
        What `sublearn.importances` has found.
    feature_names : sequence of str, default=None
        Names of the features; None: those found.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    bars_ : matplotlib BarContainer
        The bars.
    features_ : ndarray of shape (n_shown,)
        The features that are shown, in order.

    See Also
    --------
    sublearn.importances : Tells how much each feature counts, in one of three ways.
    InteractionsDisplay : Which features hyperplanes combine.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import SLMForestClassifier
    >>> from sublearn.display import ImportancesDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SLMForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> axes = Figure(layout="constrained").subplots()
    >>> display = ImportancesDisplay.from_estimator(model, n_features=5, ax=axes)
    >>> len(display.bars_)
    5
    """

    ax_: Any
    figure_: Any
    bars_: Any
    features_: Any

    def __init__(self, importances: Importances, *, feature_names: Sequence[str] | None = None) -> None:
        self.importances = importances
        self.feature_names = renamed(importances.names, feature_names, OWNER)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_features: int = 20,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **measured: Any,
    ) -> Self:
        """Measure importances, and draw them.

        Parameters
        ----------
        estimator : SLM tree, forest, boosting or average
            A fitted model.
        X, y : array-like, default=None
            Samples and targets, for the kinds that need them; see `sublearn.importances`.
        n_features : int, default=20
            Features that are shown at the most, the best ones.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **measured : object
            What else `sublearn.importances` takes, such as ``kind="permutation"``.

        Returns
        -------
        display : ImportancesDisplay
            What was drawn.
        """
        needed_matplotlib(OWNER)
        check_estimator(estimator, OWNER)
        found = importances(estimator, X, y, **measured)
        return cls(found, feature_names=feature_names).plot(ax=ax, n_features=n_features)

    def plot(self, ax: Any = None, *, n_features: int = 20) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        n_features : int, default=20
            Features that are shown at the most, the best ones.

        Returns
        -------
        display : ImportancesDisplay
            The object itself.
        """
        values, errors, unit = self.importances.values, self.importances.errors, self.importances.unit
        n = len(values)
        shown = np.argsort(-values, kind="stable")[: check_count(n_features, "n_features", OWNER)]
        short = short_names(self.feature_names, LONGEST)
        names, places = [short[f] for f in shown], np.arange(len(shown))
        width, height = 4.6 + CHARACTER * max(map(len, names)), max(2.2, 1.1 + ROW * len(shown))
        self.ax_ = axes_of(ax, width, height, OWNER)
        self.figure_, self.features_ = self.ax_.figure, shown
        palette = palette_of(self.ax_)
        self.bars_ = self.ax_.barh(places, values[shown], color=COLOURS[0], height=0.68)
        if errors is not None:
            whiskers = {"ecolor": palette.ink, "elinewidth": 1.0, "capsize": 2.0, "linestyle": "none"}
            self.ax_.errorbar(values[shown], places, xerr=errors[shown], **whiskers)
        title = f"importances, {n} features" if len(shown) == n else f"importances, the best {len(shown)} of {n}"
        dress(self.ax_, title, unit if errors is None else f"{unit}\n{WHISKERS}")
        self.ax_.axvline(0.0, color=palette.grey, linewidth=0.8)
        self.ax_.spines["left"].set_visible(False)
        self.ax_.set_yticks(places, names, fontsize=SMALL, parse_math=False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(shown) - 0.4, -0.6)
        return self
