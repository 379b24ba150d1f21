"""The cells of a model in the plane of two features, drawn from its hyperplanes."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from sublearn._base.checking import check_target
from sublearn._base.estimator import SLMPredictor
from sublearn.display.asked import Asked, asked_of, check_estimator
from sublearn.display.borders import borders_between, lines_in_units, polygons_in_units
from sublearn.display.canvas import axes_of, needed_matplotlib
from sublearn.display.cells import PlaneCells, TooManyCellsError, find_cells, root_borders
from sublearn.display.others import OWNER, Others, rows_of_others, two_features
from sublearn.display.partition_drawing import draw_partition, width_of
from sublearn.display.plane_axes import PlaneAxis, axis_of, plane_of
from sublearn.export.inequalities import names_of_features
from sublearn.kernels.layout import Array

MOST_CELLS = 200_000
HEIGHT = 5.2  # inches


class Dots(NamedTuple):
    """Samples to draw on top."""

    X: Array  # float64 (n_samples, 2), in the plane
    y: Array


class PartitionDisplay:
    """The partition of a plane: the cells into which the hyperplanes of a model cut the plane of two features.

    Borders are those of the hyperplanes, not of a raster. They are straight where both features have linear maps, and
    bend at the knots of a quantile map. Make one with `from_estimator`.

    Parameters
    ----------
    axes : tuple of two PlaneAxis
        The two features: name, values at the ends of the frame, and how these become codes.
    polygons : list of ndarray of shape (n_corners, 2)
        The cells, in the units of the features.
    answers : ndarray of shape (n_cells, n_answers)
        Probabilities of the classes, or one number: where the answer varies inside a cell, that at its middle.
    labels : ndarray, default=None
        Classes, in the order of `answers`; None: numbers are drawn.
    cuts, borders, root : list of ndarray of shape (n_points, 2)
        Lines between cells of one tree, between classes, and those of the root.
    samples : tuple of two ndarray, default=None
        Places in the plane, and targets.
    title, what : str
        What is written above, and what the numbers are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    See Also
    --------
    sublearn.SLMClassifier : One tree; its root may cut by several hyperplanes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier
    >>> from sublearn.display import PartitionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMClassifier(random_state=0).fit(X, y)
    >>> display = PartitionDisplay.from_estimator(model, X, y, features=(2, 3))
    >>> display.ax_.get_xlabel()
    'x2'
    >>> display.classes_of([[1.5, 0.2], [6.0, 2.5]])
    array([0, 2])
    """

    def __init__(
        self,
        *,
        axes: tuple[PlaneAxis, PlaneAxis],
        polygons: list[Array],
        answers: Array,
        labels: Array | None = None,
        cuts: Sequence[Array] = (),
        borders: Sequence[Array] = (),
        root: Sequence[Array] = (),
        samples: Dots | None = None,
        title: str = "",
        what: str = "prediction",
    ) -> None:
        self.axes = axes
        self.polygons = polygons
        self.answers = answers
        self.labels = labels
        self.cuts = cuts
        self.borders = borders
        self.root = root
        self.samples = samples
        self.title = title
        self.what = what

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Any = None,
        others: Any = None,
        max_rows: int = 10,
        tree: int | None = None,
        target: Any = None,
        limits: Any = (None, None),
        max_cells: int = MOST_CELLS,
        feature_names: Sequence[str] | None = None,
        random_state: Any = 0,
        scale: str = "values",
        borders: bool = True,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Find the cells of a fitted model in a plane, and draw them.

        Parameters
        ----------
        estimator : SLM tree, forest or boosting
            A fitted model.
        X : array-like or data frame of shape (n_samples, n_features), default=None
            Samples as the model takes them. They say how far the frame reaches and where the other features are. None:
            the frame reaches three deviations, and the others are in the middle of their maps.
        y : array-like of shape (n_samples,), default=None
            Their targets; the samples are then drawn on top.
        features : pair of int or str, default=None
            The features of the plane, by number or name; None: the two of the largest importance.
        others : None, "averaged", dict, or rows of a table, default=None
            The other features. None: each at its median, or at its most frequent level. A dict has values for some of
            them, by name or number. A row as X has it has values for all. With several rows, or "averaged", the mean
            answer over rows is drawn, as in a partial dependence. Cells are then those of all rows laid over each
            other; with linear leaves, each has the class of its middle.
        max_rows : int, default=10
            With "averaged": rows drawn from X, since cells become many.
        tree : int, default=None
            Number of a tree; None: all trees. A tree of boosting is drawn by what it adds to the raw value.
        target : class, default=None
            Draw the probability of this class in place of the classes.
        limits : pair of pairs of float, default=(None, None)
            Where the frame begins and ends along each feature; None: around the samples.
        max_cells : int, default=200000
            More cells are an error.
        feature_names : sequence of str, default=None
            Names of the features; None: those seen in fit, or x0, x1, ...
        random_state : int, RandomState or None, default=0
            Draws the rows of "averaged".
        scale : {"values", "codes"}, default="values"
            Scale of both axes: "codes" spreads a feature as the model sees it, which makes all borders straight and
            heavy tails readable.
        borders : bool, default=True
            Whether to draw a line where the class changes.
        legend : bool, default=True
            Whether to name the classes, or to show the colours of numbers.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        display : PartitionDisplay
            What was drawn.
        """
        needed_matplotlib(OWNER)
        check_estimator(estimator)
        _check_counts(max_rows, max_cells)
        names = names_of_features(estimator._model, feature_names, OWNER)
        pair = two_features(estimator._model, features, names, getattr(estimator, "feature_importances_", None))
        samples = None if X is None else _as_numbers(estimator, X)
        if y is not None and samples is None:
            raise ValueError(f"X of {OWNER} must be given with y; got None.")
        if others is not None and not isinstance(others, str | dict):
            others = _rows_as_numbers(estimator, others)
        key = int(check_random_state(random_state).randint(2**31))
        rows = rows_of_others(estimator._model, names, others, samples, max_rows, key)
        asked = asked_of(estimator, tree, target)
        limits = _checked_limits(limits)
        across, up = (
            axis_of(estimator._model, f, names[f], None if samples is None else samples[:, f], limits[k])
            for k, f in enumerate(pair)
        )
        display = cls(**_computed(asked, (across, up), rows, max_cells))
        if y is not None and samples is not None:
            display.samples = Dots(samples[:, pair], _checked_targets(estimator, y, len(samples)))
        return display.plot(ax=ax, scale=scale, borders=borders, legend=legend)

    def plot(self, ax: Any = None, *, scale: str = "values", borders: bool = True, legend: bool = True) -> Self:
        """Draw once more.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        scale : {"values", "codes"}, default="values"
            As in `from_estimator`.
        borders, legend : bool, default=True
            As in `from_estimator`.

        Returns
        -------
        display : PartitionDisplay
            The object itself.
        """
        if scale not in ("values", "codes"):
            raise ValueError(f"scale of {OWNER} must be 'values' or 'codes'; got {scale!r}.")
        self.ax_ = axes_of(ax, width_of(self, legend), HEIGHT, OWNER)
        self.figure_ = self.ax_.figure
        draw_partition(self.ax_, self, scale, borders=borders, legend=legend)
        return self

    def cells_of(self, points: Any) -> Array:
        """Number of the drawn cell in which each point lies; -1 outside the frame.

        Parameters
        ----------
        points : array-like of shape (n_points, 2)
            Values of the two features.

        Returns
        -------
        cells : ndarray of shape (n_points,)
            Places in `polygons`.
        """
        from matplotlib.path import Path

        points = np.asarray(points, np.float64).reshape(-1, 2)
        found = np.full(len(points), -1)
        for number, polygon in enumerate(self.polygons):
            near = np.flatnonzero(((points >= polygon.min(axis=0)) & (points <= polygon.max(axis=0))).all(axis=1))
            if len(near):
                found[near[Path(polygon).contains_points(points[near])]] = number
        return found

    def classes_of(self, points: Any) -> Array:
        """Class of the drawn cell in which each point lies; points are as in `cells_of`, inside the frame.

        Parameters
        ----------
        points : array-like of shape (n_points, 2)
            Values of the two features.

        Returns
        -------
        classes : ndarray of shape (n_points,)
            Classes, as `predict` gives them.
        """
        if self.labels is None:
            raise ValueError(f"{OWNER}.classes_of needs a display of classes; this one is of numbers.")
        cells = self.cells_of(points)
        if (cells < 0).any():
            raise ValueError(f"points of {OWNER}.classes_of must lie inside the frame; {(cells < 0).sum()} do not.")
        classes: Array = self.labels[self.answers.argmax(axis=1)[cells]]
        return classes


def _computed(asked: Asked, axes: tuple[PlaneAxis, PlaneAxis], rows: Others, max_cells: int) -> dict[str, Any]:
    """What the display shows."""
    model, plane, is_one = asked.model, plane_of(axes), len(rows.rows) == 1
    try:
        cells = find_cells(
            model, plane, rows.rows, max_cells, splits_classes=asked.labels is not None and len(asked.labels) > 1
        )
    except TooManyCellsError as error:
        raise ValueError(
            f"{OWNER} must have at most max_cells={max_cells:,} cells; there are more after {error.done} of {error.n} "
            "cuts by a tree. Draw one tree (tree=0), one row of the others, a smaller part (limits), or allow more."
        ) from None
    is_tree = model.ensemble.n_trees == 1 and is_one
    answers = cells.answers if asked.labels is not None else cells.answers[:, asked.column : asked.column + 1]
    return {
        "axes": axes,
        "polygons": polygons_in_units(cells, axes),
        "answers": answers,
        "labels": asked.labels,
        "cuts": lines_in_units(borders_between(cells, cells.leaves), axes) if is_tree else [],
        "borders": _class_borders(cells, axes) if asked.labels is not None else [],
        "root": lines_in_units(root_borders(model, plane, rows.rows[0]), axes) if is_tree else [],
        "title": _title(asked, cells.polygons.n, rows),
        "what": asked.what,
    }


def _class_borders(cells: PlaneCells, axes: tuple[PlaneAxis, PlaneAxis]) -> list[Array]:
    return lines_in_units(borders_between(cells, cells.answers.argmax(axis=1)), axes)


def _title(asked: Asked, n_cells: int, rows: Others) -> str:
    cells = f"{asked.name}, {n_cells:,} cell{'s' if n_cells > 1 else ''}"
    return f"{cells}\n{rows.words}" if rows.words else cells


def _as_numbers(estimator: SLMPredictor, X: Any) -> Array:
    """Samples as numbers; categories are the numbers of their levels."""
    return np.array(estimator._check_samples(X), np.float64)


def _rows_as_numbers(estimator: SLMPredictor, given: Any) -> Array:
    """One row or several, as numbers."""
    if hasattr(given, "columns") or np.ndim(np.asarray(given, object)) != 1:
        return _as_numbers(estimator, given)
    with warnings.catch_warnings():  # a single row has no names, and need not
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return _as_numbers(estimator, [list(given)])


def _checked_targets(estimator: SLMPredictor, y: Any, n: int) -> Array:
    targets = np.asarray(y).ravel()
    if len(targets) != n:
        raise ValueError(f"y of {OWNER} must have a target for each of {n} samples; got {len(targets)}.")
    classes = estimator._model.classes
    if classes is None:
        return check_target(targets, OWNER)
    unknown = set(targets.tolist()) - set(classes.tolist())
    if unknown:
        other = next(one for one in targets.tolist() if one in unknown)
        raise ValueError(f"y of {OWNER} must hold classes of the model; got {other!r}.")
    return targets


def _checked_limits(given: Any) -> list[tuple[float, float] | None]:
    """The limits of both axes; None: to be found."""
    allowed = "a pair of (low, high), each finite and ascending, or None"
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ValueError(f"limits of {OWNER} must be {allowed}; got {given!r}.")
    found: list[tuple[float, float] | None] = []
    for one in given:
        numbers = None if one is None else np.asarray(one, np.float64).ravel()
        if numbers is not None and not (len(numbers) == 2 and np.isfinite(numbers).all() and numbers[0] < numbers[1]):
            raise ValueError(f"limits of {OWNER} must be {allowed}; got {one!r}.")
        found.append(None if numbers is None else (float(numbers[0]), float(numbers[1])))
    return found


def _check_counts(max_rows: Any, max_cells: Any) -> None:
    for name, value in (("max_rows", max_rows), ("max_cells", max_cells)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{name} of {OWNER} must be an int of at least 1; got {value!r}.")
