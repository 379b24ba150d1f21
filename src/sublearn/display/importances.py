"""Importances of features as bars."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sublearn.display.canvas import COLOURS, SMALL, axes_of, dress, needed_matplotlib, palette_of
from sublearn.display.names import short_names
from sublearn.display.ranks import CHARACTER, LONGEST, check_count, check_fitted, names_of
from sublearn.kernels.layout import Array

OWNER = "ImportancesDisplay"
ROW = 0.23  # inches of a bar
SHARE = "share of the decrease of the loss"


class ImportancesDisplay:
    """Importances of features as bars, the largest first; whiskers say how far they vary. `from_estimator` makes one.

    Any importances can be drawn: give them to the constructor, and call `plot`.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Importance of each feature.
    spreads : array-like of shape (n_features,), default=None
        Half the length of each whisker, such as a standard deviation; None: no whiskers.
    feature_names : sequence of str, default=None
        Names of the features; None: x0, x1, ...
    what : str
        What importances are.
    whiskers : str
        What whiskers are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    bars_ : matplotlib BarContainer
        The bars.

    See Also
    --------
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

    def __init__(
        self,
        importances: Any,
        *,
        spreads: Any = None,
        feature_names: Sequence[str] | None = None,
        what: str = "importance",
        whiskers: str = "",
    ) -> None:
        self.importances: Array = np.asarray(importances, np.float64)
        self.spreads: Array | None = None if spreads is None else np.asarray(spreads, np.float64)
        names = [f"x{f}" for f in range(len(self.importances))] if feature_names is None else list(feature_names)
        for name, given in (("feature_names", names), ("spreads", self.spreads)):
            if given is not None and len(given) != len(self.importances):
                raise ValueError(
                    f"{name} of {OWNER} must have one for each of {len(self.importances)} features; got {len(given)}."
                )
        self.feature_names = names
        self.what = what
        self.whiskers = whiskers

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int = 20, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Draw the `feature_importances_` of a fitted model; whiskers of a forest are deviations between its trees.

        Parameters
        ----------
        estimator : SLM tree, forest, boosting or average
            A fitted model.
        n_features : int, default=20
            Features that are shown at the most, the best ones.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : ImportancesDisplay
            What was drawn.
        """
        needed_matplotlib(OWNER)
        check_fitted(estimator, OWNER)
        trees = getattr(estimator, "estimators_", []) if hasattr(estimator, "oob_score") else []
        spreads = np.std([tree.feature_importances_ for tree in trees], axis=0) if len(trees) > 1 else None
        display = cls(
            estimator.feature_importances_,
            spreads=spreads,
            feature_names=names_of(estimator, feature_names, OWNER),
            what=SHARE,
            whiskers="" if spreads is None else "whiskers: deviation between trees",
        )
        return display.plot(ax=ax, n_features=n_features)

    @property
    def _is_share(self) -> bool:
        """Whether importances cannot fall below 0."""
        return self.what == SHARE

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
        n = len(self.importances)
        shown = np.argsort(-self.importances, kind="stable")[: check_count(n_features, "n_features", OWNER)]
        short = short_names(self.feature_names, LONGEST)
        names = [short[f] for f in shown]
        width, height = 4.6 + CHARACTER * max(map(len, names)), max(2.2, 1.1 + ROW * len(shown))
        self.ax_ = axes_of(ax, width, height, OWNER)
        self.figure_ = self.ax_.figure
        palette, places = palette_of(self.ax_), np.arange(len(shown))
        self.bars_ = self.ax_.barh(places, self.importances[shown], color=COLOURS[0], height=0.68)
        if self.spreads is not None:
            whiskers = {"ecolor": palette.ink, "elinewidth": 1.0, "capsize": 2.0, "linestyle": "none"}
            means, spreads = self.importances[shown], self.spreads[shown]
            lower = np.where(means >= 0, np.minimum(spreads, means), spreads) if self._is_share else spreads
            self.ax_.errorbar(means, places, xerr=[lower, spreads], **whiskers)
        title = f"importances, {n} features" if len(shown) == n else f"importances, the best {len(shown)} of {n}"
        dress(self.ax_, title, f"{self.what}\n{self.whiskers}" if self.whiskers else self.what)
        self.ax_.axvline(0.0, color=palette.grey, linewidth=0.8)
        self.ax_.spines["left"].set_visible(False)
        self.ax_.set_yticks(places, names, fontsize=SMALL, parse_math=False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(shown) - 0.4, -0.6)
        if self._is_share:
            self.ax_.set_xlim(left=0.0)
        return self
