"""The loss of a forest or of boosting as trees are added."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from sublearn._base.boosting import SLMBoost
from sublearn._base.ensemble import SLMEnsemble
from sublearn.display.canvas import COLOURS, SMALL, axes_of, dress, needed_matplotlib, palette_of
from sublearn.display.names import elided, number, one_line
from sublearn.display.staged import NAMES, LossCurve, Metric, recorded, staged, usual_metric
from sublearn.export.chosen import last_step

OWNER = "RoundsDisplay"
MARK = "sublearn rounds "  # of lines: which model of their axes they are of
LONGEST = 34  # characters of a label
STYLES = {"training": (0, (1.2, 1.6)), "validation": "solid", "held out": (0, (5, 1.5))}


class RoundsDisplay:
    """Loss against the number of trees of a forest, or of rounds of boosting; the best number is marked.

    Several models go over each other: draw the second one on the axes of the first. For the loss against the number of
    training samples there is scikit-learn's ``LearningCurveDisplay``. Make one with `from_estimator`.

    Parameters
    ----------
    curves : list of LossCurve
        The losses of each set of samples.
    label : str
        Name of the model.
    metric : str
        What the loss is.
    unit : {"rounds", "trees"}
        What is counted.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.
    lines_ : list of matplotlib Line2D
        One line a curve.

    See Also
    --------
    sublearn.SLMBoostClassifier : Its `eval_set` gives the curve of validation.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_wine
    >>> from sublearn import SLMBoostClassifier
    >>> from sublearn.display import RoundsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SLMBoostClassifier(n_estimators=20, learning_rate=0.2, random_state=0)
    >>> model = model.fit(X[::2], y[::2], eval_set=(X[1::2], y[1::2]))
    >>> display = RoundsDisplay.from_estimator(model)
    >>> [curve.name for curve in display.curves]
    ['training', 'validation']
    >>> display.ax_.get_xlabel()
    'rounds'
    """

    def __init__(self, *, curves: list[LossCurve], label: str = "", metric: str = "loss", unit: str = "rounds") -> None:
        self.curves = curves
        self.label = label
        self.metric = metric
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        X_train: Any = None,
        y_train: Any = None,
        metric: str | Metric | None = None,
        label: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Measure the losses of a fitted forest or boosting, and draw them.

        Parameters
        ----------
        estimator : SLM forest or boosting
            A fitted model. Boosting has noted its own loss on training samples, and on those it validated on.
        X, y : array-like, default=None
            Samples held out, and their targets. Forests need them, or training samples.
        X_train, y_train : array-like, default=None
            Training samples. Boosting needs them only where `metric` is given.
        metric : {"log_loss", "error", "rmse"} or callable, default=None
            What is measured; a function of y and of what `predict` gives, which falls as things improve. None: the own
            loss of boosting; for forests the log loss of classes, or the root of the mean squared error.
        label : str, default=None
            Name of the model in the legend; None: that of its class.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : RoundsDisplay
            What was drawn.
        """
        needed_matplotlib(OWNER)
        _check(estimator, metric)
        sets = {"training": (X_train, y_train), "held out": (X, y)}
        for name, (samples, targets) in sets.items():
            if (samples is None) != (targets is None):
                raise ValueError(f"samples and targets of {OWNER} must both be given, or neither ({name}).")
        given = {name: pair for name, pair in sets.items() if pair[0] is not None}
        curves = recorded(estimator) if metric is None and isinstance(estimator, SLMBoost) else []
        known = {curve.name for curve in curves}
        curves += [staged(estimator, name, *pair, metric) for name, pair in given.items() if name not in known]
        if not curves:
            raise ValueError(
                f"X and y of {OWNER} must be given, or X_train and y_train: {type(estimator).__name__} has noted no "
                "such losses while it was fitted."
            )
        chosen = usual_metric(estimator) if metric is None else metric
        words = NAMES.get(chosen, chosen) if isinstance(chosen, str) else getattr(chosen, "__name__", "loss")
        display = cls(
            curves=curves,
            label=type(estimator).__name__ if label is None else str(label),
            metric=words.replace("_", " "),
            unit="rounds" if isinstance(estimator, SLMBoost) else "trees",
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw once more.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, over what is there; None: a new figure.

        Returns
        -------
        display : RoundsDisplay
            The object itself.
        """
        self.ax_ = axes_of(ax, 7.6, 4.6, OWNER)
        self.figure_ = self.ax_.figure
        before = {str(line.get_gid()) for line in self.ax_.lines if str(line.get_gid()).startswith(MARK)}
        colour, gid = COLOURS[len(before) % len(COLOURS)], f"{MARK}{len(before)}"
        self.lines_: list[Any] = []
        for curve in self.curves:
            self._draw(curve, colour, gid)
        self._dress(is_first=not before)
        return self

    def _draw(self, curve: LossCurve, colour: str, gid: str) -> None:
        """One line, bold as far as the model goes; the best number, where it is not about training samples."""
        palette = palette_of(self.ax_)
        is_training = curve.name == "training"
        kept = curve.counts <= curve.n_kept
        text = f"{elided(one_line(self.label), LONGEST)}, {curve.name}"
        if not is_training:
            best = curve.best
            text += f": {number(curve.losses[best], 4)} at {curve.counts[best]}"
        style = {"color": colour, "linestyle": STYLES.get(curve.name, "solid"), "gid": gid}
        width = 1.3 if is_training else 1.8
        self.lines_ += self.ax_.plot(curve.counts[kept], curve.losses[kept], linewidth=width, label=text, **style)
        rest = curve.counts >= curve.n_kept
        if rest.sum() > 1:  # early stopping has gone on for a while
            self.ax_.plot(curve.counts[rest], curve.losses[rest], linewidth=width, alpha=0.35, **style)
            if not is_training:
                self.ax_.axvline(curve.n_kept, color=colour, linewidth=0.8, alpha=0.6, zorder=0.5)
        if not is_training:
            place = curve.counts[curve.best], curve.losses[curve.best]
            self.ax_.plot(*place, "o", color=colour, markersize=6.5, markeredgecolor=palette.ground, gid=gid, zorder=3)

    def _dress(self, *, is_first: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        axes, palette = self.ax_, palette_of(self.ax_)
        unit, metric = self.unit, self.metric
        if not is_first:
            unit = unit if axes.get_xlabel() == unit else "rounds or trees"
            metric = metric if axes.get_ylabel() == metric else "loss"
        dress(axes, axes.get_title(loc="left"), unit, metric)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        drawn = axes.legend(frameon=False, fontsize=SMALL, labelcolor=palette.ink, handlelength=2.6)
        for text in drawn.get_texts():
            text.set_parse_math(False)


def _check(estimator: Any, metric: Any) -> None:
    """Raise an error for what has no rounds, and for a metric that does not go with it."""
    if not isinstance(estimator, SLMEnsemble):
        raise TypeError(
            f"estimator of {OWNER} must be a fitted forest or boosting of sublearn; got {type(estimator).__name__}."
            f"{last_step(estimator)}"
        )
    check_is_fitted(estimator)
    if metric is None or callable(metric):
        return
    allowed = ["log_loss", "error"] if estimator._model.classes is not None else ["rmse"]
    if metric not in allowed:
        words = " or ".join(map(repr, allowed))
        raise ValueError(f"metric of {OWNER} must be {words}, a function or None; got {metric!r}.")
