"""Counterfactuals: the smallest change of a row that reaches another answer."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from sublearn._base.frames import DATES, DURATIONS, TIMES
from sublearn.core.model.fitted import FittedModel
from sublearn.core.parallel import Workers
from sublearn.explanation.cells import Table, roundest, shown
from sublearn.explanation.leaves import is_exact, is_single_tree, offer_leaves
from sublearn.explanation.members import Member, answers_of, estimators_of, members_of, numbers_of
from sublearn.explanation.moves import Goal, Rows
from sublearn.explanation.names import chosen_features, names_for, per_feature
from sublearn.explanation.search import Search
from sublearn.explanation.space import Limits, Space, ends_of, make_space, places_of, values_at
from sublearn.kernels.layout import Array
from sublearn.kernels.scanning import AVOIDED, NUMBER, WANTED

OWNER = "counterfactual"
LONGER = (0.01, 0.001, 0.0)  # by how much a change may grow for the sake of few digits; the first that does is taken
INSIDE = 0.999  # of a code, as far as values are taken to have it
TIE = 1e-9  # scores that are nearer than this may be equal
MOST = 10  # rows that are printed
POOL = 1000  # rows of other answers that are looked at
CHUNK = 256  # rows that are searched together, at the most
CELLS = 8192  # of these rows, at the most, so that memory does not grow with the number of features


class Counterfactuals(NamedTuple):
    """Rows changed so that a model gives another answer; see `counterfactual`.

    Attributes
    ----------
    X : table as it was given
        The rows with their changes; a row for which none was found holds nothing but NaN or None.
    found : ndarray of bool
        Whether a change was found, or none was needed.
    distance : ndarray of float
        How far the change goes, in standard deviations; 0 where none was needed, NaN where none was found.
    before, after : ndarray
        What the model predicts for the row as it was, and as it is now; the same where no change was found.
    changes : list of dict
        For each row the features that change, with their cells before and after.
    """

    X: Any
    found: Array
    distance: Array
    before: Array
    after: Array
    changes: list[dict[str, tuple[Any, Any]]]

    def __str__(self) -> str:
        lines = [self._line(row) for row in range(min(len(self.found), MOST))]
        left = len(self.found) - len(lines)
        return "\n".join([*lines, *([f"... and {left} more rows"] if left else [])])

    def _line(self, row: int) -> str:
        if not self.found[row]:
            return f"row {row}: {_answer(self.before[row])}, and no change found"
        if not self.changes[row]:
            return f"row {row}: {_answer(self.before[row])} already, nothing to change"
        changes = ", ".join(f"{name} {shown(old)} -> {shown(new)}" for name, (old, new) in self.changes[row].items())
        answers = f"{_answer(self.before[row])} -> {_answer(self.after[row])}"
        return f"row {row}: {answers}, distance {self.distance[row]:.3g}: {changes}"


def counterfactual(
    model: Any,
    X: Any,
    target: Any = None,
    *,
    features: Sequence[str | int] | None = None,
    ranges: Mapping[Any, tuple[float | None, float | None]] | None = None,
    weights: Mapping[Any, float] | None = None,
    background: Any = None,
) -> Counterfactuals:
    """Find for every row the smallest change that reaches another answer.

    The size of a change is the sum, over the features, of how far each goes in standard deviations, so that few
    features change. Where the model has a quantile map for a feature, deviations are those of its normal scores. A
    change of category counts as one deviation. What is missing stays missing, and what is there stays there; flags and
    whole numbers stay such, and categories change to levels that were in the training samples.

    Every change is checked with `predict` before it is returned. Numbers are written in few digits, for which a change
    may grow by up to a hundredth.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows, as `predict` takes them.
    target : class, or pair of numbers, default=None
        The answer to reach. Classes: one of `classes_`; None: any other than that of the row. Numbers: the least and
        the largest that are good, None for no bound, such as ``(200, None)``.
    features : sequence of str or int, default=None
        The features that may change, by name or number; None: all.
    ranges : dict, default=None
        For some features the least and the largest value that a change may lead to, None for no bound.
    weights : dict, default=None
        For some features how much a deviation counts; 2 makes changes of a feature half as welcome. Others count 1.
    background : table as X, default=None
        Rows such as the training samples. Changes then stay within their ranges, and the search also begins at those
        of the answer that is wanted. None: X in their place, and no change leaves the range of the feature's map: eight
        deviations to both sides, or the training samples' range where the map has quantiles.

    Returns
    -------
    found : Counterfactuals
        The changed rows, as a table of the type of X, with what has changed and how far.

    Notes
    -----
    For a single tree without whole numbers the change is the smallest there is, but for a code, a thousandth of a
    deviation, for each feature. For forests and boosting the search is exact along single features: over all their
    values, at once. For several features it is a local one from many starts, so a smaller change may exist. It is the
    same for every `n_jobs`. Exposures are taken for 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, counterfactual
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(X, y)
    >>> print(counterfactual(model, X[:1], features=["petal length (cm)"]))
    row 0: 0 -> 1, distance 0.609: petal length (cm) 1.4 -> 2.475
    """
    members = members_of(model, OWNER)
    fitted = members[0].model
    _check_links(members)
    x = numbers_of(model, X)
    names = names_for(fitted)
    table = Table(X, fitted.levels or (None,) * fitted.n_features, _kinds(fitted), names)
    pool = x if background is None else _pool_of(model, background)
    may = chosen_features(features, fitted, names, OWNER)
    given = (_ranges(ranges, fitted, names), _weights(weights, fitted, names))
    limits = _limits(fitted, table, None if background is None else pool, *given)
    with estimators_of(model)[0]._workers() as workers:
        goal, answers = _goal(members, x, target, workers)
        met = goal.is_met(answers, np.arange(len(x)))
        space = make_space(members, limits)
        origin = space.origins(x)
        movable = ~np.isnan(origin) & may & (np.diff(space.grid.first) > 0)
        rows = Rows(x, space.codes(x, members, workers), origin, movable)
        search = Search(space, members, rows, goal, workers)
        _run(search, np.flatnonzero(~met), pool)
    return _Writer(model, table, space, search, limits, names).written(model.predict(X), met)


def _run(search: Search, rows: Array, pool: Array) -> None:
    """Search for some rows, a few at a time, with a part of the pool."""
    some = np.unique(np.linspace(0, len(pool) - 1, min(len(pool), POOL)).astype(np.int64))
    size = min(CHUNK, max(CELLS // pool.shape[1], 1))
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size]
        states = search.begin(part, pool[some])
        if is_single_tree(search):
            offer_leaves(search, part)
        if not is_exact(search):
            search.improve(states)


def _pool_of(model: Any, background: Any) -> Array:
    """The background as numbers."""
    try:
        return numbers_of(model, background)
    except (TypeError, ValueError) as error:
        raise type(error)(f"background of {OWNER} must be a table like X: {error}") from None


class _Writer:
    """Writes what a search has found into a table, in few digits, and checks it."""

    def __init__(
        self, model: Any, table: Table, space: Space, search: Search, limits: list[Limits], names: list[str]
    ) -> None:
        self.model, self.table, self.space, self.search = model, table, space, search
        self.limits, self.names = limits, names

    def written(self, before: Array, met: Array) -> Counterfactuals:
        """The record; met: rows that are at their goal as they are."""
        search, n = self.search, len(before)
        numbers = search.rows.x.copy()
        found, left = met.copy(), np.flatnonzero(np.isfinite(search.cost) & ~met)
        for longer in LONGER:
            if not len(left):
                break
            numbers[left] = self.rounded(left, longer)
            right = self.is_right(numbers, left)
            found[left[right]] = True
            left = left[~right]
        if len(left):  # the middle of codes, of which the search has seen that they are right
            numbers[left] = self.space.values(search.rows.x[left], search.position[left])
            found[left[self.is_right(numbers, left)]] = True
        numbers[~found] = search.rows.x[~found]
        out = self.tabled(numbers, ~found)
        after = before.copy()
        changed = found & ~met
        if changed.any():
            after[changed] = self.predicted(numbers)[changed]
        distance = np.where(found, self.distances(numbers), np.nan)
        changes = [self.changes(numbers, row) for row in range(n)]
        return Counterfactuals(X=out, found=found, distance=distance, before=before, after=after, changes=changes)

    def rounded(self, rows: Array, longer: float) -> Array:
        """Rows with their changes in few digits; each may be longer by so much of the whole."""
        search, space = self.search, self.space
        out = space.values(search.rows.x[rows], search.position[rows])
        moved = (search.position[rows] >= 0) & space.grid.is_line
        share = longer * search.cost[rows] / np.maximum(moved.sum(axis=1), 1)
        for i, f in zip(*(found.tolist() for found in np.nonzero(moved)), strict=True):
            axis, limit = space.axes[f], self.limits[f]
            position, origin = search.position[rows[i], f], search.rows.origin[rows[i], f]
            sign = 1.0 if axis.place[position] > origin else -1.0
            near = axis.place[position] - sign * axis.half * INSIDE
            far = near + sign * share[i] if longer else axis.place[position] + sign * axis.half * INSIDE
            ends = values_at(space.maps, f, np.array([near, far]) / axis.weight)
            if limit.step:
                ends[0] = axis.values[position]
            ends = np.clip(ends, limit.low, limit.high)
            value = roundest(ends[0], ends[1], self.table.kinds[f].kind in (DATES, TIMES, DURATIONS))
            out[i, f] = value if not limit.step or round(value / limit.step) * limit.step == value else ends[0]
        return out

    def tabled(self, numbers: Array, gone: Array) -> Any:
        """The table with all changed cells."""
        rows, features = np.nonzero(self.differing(numbers))
        return self.table.with_cells(rows, features, numbers[rows, features], gone)

    def differing(self, numbers: Array) -> Array:
        """Which cells are not as they were."""
        x = self.search.rows.x
        differing: Array = (numbers != x) & ~(np.isnan(numbers) & np.isnan(x))
        return differing

    def predicted(self, numbers: Array) -> Array:
        """What the model itself predicts for the table with its changes."""
        return np.asarray(self.model.predict(self.tabled(numbers, np.zeros(len(numbers), np.bool_))))

    def is_right(self, numbers: Array, rows: Array) -> Array:
        """Whether the model itself says of some rows that they are at their goal."""
        goal, predicted = self.search.goal, self.predicted(numbers)[rows]
        if goal.kind == NUMBER:
            return (predicted >= goal.low) & (predicted <= goal.high)
        right: Array = (predicted == np.asarray(self.model.classes_)[goal.classes[rows]]) == (goal.kind == WANTED)
        return right

    def distances(self, numbers: Array) -> Array:
        """How far each row has gone."""
        total = np.zeros(len(numbers))
        x = self.search.rows.x
        for f, axis in enumerate(self.space.axes):
            if axis.is_line:
                apart = np.abs(places_of(self.space.maps, f, numbers[:, f]) - places_of(self.space.maps, f, x[:, f]))
                total += axis.weight * np.nan_to_num(apart)
            else:
                total += axis.weight * self.differing(numbers)[:, f]
        return total

    def changes(self, numbers: Array, row: int) -> dict[str, tuple[Any, Any]]:
        """The cells of a row that have changed."""
        features = np.flatnonzero(self.differing(numbers)[row])
        return {
            self.names[f]: (self.table.cell(row, f), self.table.written(f, numbers[row, f])) for f in features.tolist()
        }


def _answer(answer: Any) -> str:
    return f"{answer:.4g}" if isinstance(answer, float) else str(answer)


def _kinds(model: FittedModel) -> Sequence[str | None]:
    return model.kinds or (None,) * model.n_features


def _check_links(members: list[Member]) -> None:
    if any(not isinstance(member.model.link, str) for member in members):
        raise ValueError(
            f"model of {OWNER} must have a loss whose predictions sublearn knows; got one with a prediction of its own."
        )


def _goal(members: list[Member], x: Array, target: Any, workers: Workers) -> tuple[Goal, Array]:
    """What rows are to reach, and what the model answers so far."""
    answers, classes = answers_of(members, x, workers), members[0].model.classes
    if classes is None:
        low, high = _interval(target)
        slack = TIE * max((abs(end) for end in (low, high) if np.isfinite(end)), default=1.0)
        return Goal(NUMBER, np.zeros(len(x), np.int64), low, high, slack), answers
    if target is None:
        return Goal(AVOIDED, answers.argmax(axis=1), 0.0, 0.0, TIE), answers
    place = [i for i, one in enumerate(classes.tolist()) if _is_same(one, target)]
    if not place:
        raise ValueError(f"target of {OWNER} must be None or one of {classes.tolist()}; got {target!r}.")
    return Goal(WANTED, np.full(len(x), place[0]), 0.0, 0.0, TIE), answers


def _is_same(one: Any, other: Any) -> bool:
    """Whether a class is what a user has given; text and numbers never are the same."""
    if not isinstance(other, str | Real | np.generic) or isinstance(one, str) != isinstance(other, str):
        return False
    return bool(one == other)


def _interval(target: Any) -> tuple[float, float]:
    """The bounds of a target of numbers."""
    words = f"target of {OWNER} must be a pair of numbers, of which one may be None, for a model of numbers"
    if target is None or isinstance(target, str) or not hasattr(target, "__len__") or len(target) != 2:
        raise ValueError(f"{words}, such as (200, None) for at least 200; got {target!r}.")
    ends = _bounds(target)
    if ends is None or (target[0] is None and target[1] is None):
        raise ValueError(f"{words}, the lower one first; got {target!r}.")
    return ends


def _bounds(given: Any) -> tuple[float, float] | None:
    """A pair of which either may be None as numbers; None where it is no such pair."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 2:
        return None
    if any(one is not None and (isinstance(one, bool) or not isinstance(one, Real)) for one in given):
        return None
    low, high = (end if one is None else float(one) for one, end in zip(given, (-np.inf, np.inf), strict=True))
    return (low, high) if low <= high else None


def _ranges(given: Any, model: FittedModel, names: list[str]) -> dict[int, tuple[float, float]]:
    found = {}
    for f, one in per_feature(given, model, names, "ranges", OWNER).items():
        bounds = _bounds(one)
        if bounds is None or (model.levels and model.levels[f] is not None):
            raise ValueError(
                f"ranges of {OWNER} must have pairs of numbers, the lower one first, for features that are numbers; "
                f"got {one!r} for {names[f]!r}."
            )
        found[f] = bounds
    return found


def _weights(given: Any, model: FittedModel, names: list[str]) -> dict[int, float]:
    found = per_feature(given, model, names, "weights", OWNER)
    for f, one in found.items():
        if isinstance(one, bool) or not isinstance(one, Real) or not 0 < float(one) < np.inf:
            raise ValueError(f"weights of {OWNER} must be finite numbers above 0; got {one!r} for {names[f]!r}.")
    return {f: float(one) for f, one in found.items()}


def _limits(
    model: FittedModel,
    table: Table,
    background: Array | None,
    ranges: dict[int, tuple[float, float]],
    weights: dict[int, float],
) -> list[Limits]:
    """What keeps each feature."""
    limits = []
    for f, kind in enumerate(table.kinds):
        weight = weights.get(f, 1.0)
        if kind.levels is not None:
            limits.append(Limits(low=0.0, high=0.0, step=0.0, weight=weight))
            continue
        low, high = ends_of(model.maps, f)
        if background is not None and not np.isnan(background[:, f]).all():
            low, high = max(low, np.nanmin(background[:, f])), min(high, np.nanmax(background[:, f]))
        least, most = ranges.get(f, (-np.inf, np.inf))
        if table.is_flag(f):
            least, most = max(least, 0.0), min(most, 1.0)
        limits.append(Limits(low=max(low, least), high=min(high, most), step=kind.step, weight=weight))
    return limits
