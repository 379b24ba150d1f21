"""A fitted model as a plain program, which exporters write in their languages: codes, hyperplanes, tests, leaves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.data.codes import FeatureMaps
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_tree import LeafSlopes
from sublearn.kernels.layout import Array
from sublearn.kernels.prediction import ROWS, Routes

CONSTANT, STRAIGHT, BENT, LISTED = "constant", "straight", "bent", "listed"  # kinds of views
ALLOWED = "a fitted tree, forest, boosting or average of sublearn"

Level = float | str | None


class View(NamedTuple):
    """How a feature becomes a column of codes; see `kernels.encoding`, whose steps a program repeats one by one."""

    feature: int
    kind: str
    unit: float
    knots: Array  # float64
    codes: Array  # int64, at the knots, or of the levels
    slopes: Array  # float64, from each knot to the next
    gap: int  # code of what is missing, or of a level that is not known


class Planes(NamedTuple):
    """Distinct hyperplanes: coprime coefficients, the first of which is positive, over views in ascending order."""

    first: Array  # int64 (n_planes + 1,)
    view: Array  # int64 (n_terms,)
    coefficient: Array  # int64 (n_terms,)

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.first) - 1


class Tests(NamedTuple):
    """Trees as binary trees, one after another; a node of q hyperplanes is q levels of tests.

    A sample goes on `above` where its value of the plane is at least the threshold, else `below`. At an end there is no
    plane, and a leaf answers.
    """

    first: Array  # int64 (n_trees + 1,), where each tree begins; its root comes first
    plane: Array  # int64 (n_tests,), -1 at an end
    threshold: Array  # int64
    below: Array  # int64
    above: Array  # int64
    leaf: Array  # int64, -1 where there is no end

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.first) - 1


class Leaves(NamedTuple):
    """What leaves answer, as in `FlatTree`."""

    value: Array  # float64 (n_leaves, n_values)
    slopes: LeafSlopes  # views are those of the program

    @property
    def is_linear(self) -> bool:
        """Whether leaves have linear models."""
        return bool(self.slopes.first.size)


class Program(NamedTuple):
    """All that is needed to answer as a fitted model does."""

    model: FittedModel
    weight: float  # among the members of an average
    views: list[View]  # those that some hyperplane or some leaf uses
    planes: Planes
    tests: Tests
    leaves: Leaves
    start: Array  # float64 (n_values,), to which answers of trees are added
    link: str  # a name of `LINKS`, or "mean"

    @property
    def n_values(self) -> int:
        """Numbers that a leaf answers with."""
        return len(self.start)

    @property
    def n_answers(self) -> int:
        """Numbers that the program answers with: probabilities of classes, or one number."""
        return 1 if self.model.classes is None else len(self.model.classes)

    def trees_of_leaves(self) -> Array:
        """The tree of each leaf."""
        out = np.zeros(len(self.leaves.value), np.int64)
        is_end = self.tests.leaf >= 0
        trees = np.repeat(np.arange(self.tests.n_trees), np.diff(self.tests.first))
        out[self.tests.leaf[is_end]] = trees[is_end]
        return out

    def outputs_of_trees(self) -> Array | None:
        """The one value that each tree has something to say of; None where some have more."""
        tree, slopes = self.trees_of_leaves(), self.leaves.slopes
        says = np.zeros((self.tests.n_trees, self.n_values), np.bool_)
        np.logical_or.at(says, tree, self.leaves.value != 0)
        if self.leaves.is_linear:
            np.logical_or.at(says, np.repeat(tree, np.diff(slopes.first)), slopes.slope != 0)
        return says.argmax(axis=1) if (says.sum(axis=1) <= 1).all() else None


def programs_of(model: Any, owner: str) -> list[Program]:
    """The programs whose weighted answers add up to the model's: one, or one for each member of an average."""
    if not isinstance(model, SLMPredictor | SLMAverageClassifier | SLMAverageRegressor):
        raise TypeError(f"model of {owner} must be {ALLOWED}; got {type(model).__name__}.")
    check_is_fitted(model)
    if isinstance(model, SLMPredictor):
        return [program_of(model._model, owner)]
    pairs = zip(model.estimators_, model.weights_.tolist(), strict=True)
    return [program_of(member._model, owner)._replace(weight=weight) for member, weight in pairs]


def program_of(model: FittedModel, owner: str) -> Program:
    """The program of one fitted model."""
    if not isinstance(model.link, str):
        raise ValueError(
            f"model of {owner} must have a loss whose predictions sublearn knows; got one with a prediction of its "
            "own. Leave that out: the raw values are exported then, and what reads them may do the rest."
        )
    answering, tests = _tests_of(model.ensemble.routes)
    planes, tests = _with_planes(model.ensemble.routes, tests)
    slopes = _slopes_at(model.ensemble.nodes.slopes, answering)
    used = np.unique(np.concatenate([planes.view, slopes.feature])).astype(np.int64)
    value = model.contributions[answering]
    return Program(
        model=model,
        weight=1.0,
        views=[_view(model.maps, v) for v in used.tolist()],
        planes=planes._replace(view=np.searchsorted(used, planes.view)),
        tests=tests,
        leaves=Leaves(value, slopes._replace(feature=np.searchsorted(used, slopes.feature))),
        start=model.start if model.link != MEAN else np.zeros(model.contributions.shape[1]),
        link=model.link,
    )


def _view(maps: FeatureMaps, v: int) -> View:
    part = slice(int(maps.offsets[v]), int(maps.offsets[v + 1]))
    n = part.stop - part.start
    return View(
        feature=int(maps.features[v]),
        kind=LISTED if maps.listed[v] else {1: CONSTANT, 2: STRAIGHT}.get(n, BENT),
        unit=float(maps.units[v]),
        knots=maps.knots[part],
        codes=maps.levels[part],
        slopes=maps.slopes[part],
        gap=int(maps.gaps[v]),
    )


def _tests_of(routes: Routes) -> tuple[Array, Tests]:
    """Nodes that answer, and the tests; a plane is that of a record, for now.

    A test of which both sides end in the same node, as where no training sample fell, is none.
    """
    link = routes.link.reshape(-1, routes.width)[:, 0].astype(np.int64)
    answers, first = routes.answers.copy(), routes.first_records.astype(np.int64)
    is_end = link == np.arange(len(link))
    levels = [first]
    while len(levels[-1]):
        inner = levels[-1][~is_end[levels[-1]]]
        levels.append(np.concatenate([link[inner], link[inner] + 1]))
    for level in reversed(levels):
        inner = level[~is_end[level]]
        a, b = link[inner], link[inner] + 1
        alike = is_end[a] & is_end[b] & (answers[a] == answers[b])
        is_end[inner[alike]], answers[inner[alike]] = True, answers[a[alike]]
    kept = np.zeros(len(link), np.bool_)
    level = first
    while len(level):
        kept[level] = True
        inner = level[~is_end[level]]
        level = np.concatenate([link[inner], link[inner] + 1])
    place = np.cumsum(kept) - 1
    records, is_end = np.flatnonzero(kept), is_end[kept]
    answering, leaf = np.unique(answers[records[is_end]], return_inverse=True)
    inner = records[~is_end]
    tests = Tests(
        first=np.append(place[first], len(records)),
        plane=_filled(~is_end, inner),
        threshold=np.zeros(len(records), np.int64),
        below=_filled(~is_end, place[link[inner]]),
        above=_filled(~is_end, place[link[inner] + 1]),
        leaf=_filled(is_end, leaf),
    )
    return answering, tests


def _filled(where: Array, values: Array) -> Array:
    """Values where they belong, -1 elsewhere."""
    out = np.full(len(where), -1, np.int64)
    out[where] = values
    return out


def _with_planes(routes: Routes, tests: Tests) -> tuple[Planes, Tests]:
    """The distinct hyperplanes of the tests, and the tests over these.

    Coefficients lose what they have in common, and hyperplanes that face each other become one: a value of at least t
    by one is a value of less than 1 - t by the other, since all are integers.
    """
    is_test = tests.plane >= 0
    at = tests.plane[is_test]
    number = routes.number.reshape(-1, routes.width)[at].astype(np.int64)
    view = routes.link.reshape(-1, routes.width)[at, 1:].astype(np.int64) // ROWS
    threshold, coefficient = number[:, 0], number[:, 1:]
    view = np.where(coefficient == 0, np.iinfo(np.int64).max, view)  # no term; these come last
    order = np.argsort(view, axis=1, kind="stable")
    view, coefficient = (np.take_along_axis(part, order, axis=1) for part in (view, coefficient))
    divisor = np.gcd.reduce(coefficient, axis=1) if len(at) else np.ones(0, np.int64)
    faces_back = coefficient[:, 0] < 0
    coefficient = np.where(faces_back, -1, 1)[:, None] * coefficient // divisor[:, None]
    raised = -(-threshold // divisor)
    found, which = np.unique(np.hstack([view, coefficient]), axis=0, return_inverse=True)
    view, coefficient = found[:, : view.shape[1]], found[:, view.shape[1] :]
    is_term = coefficient != 0
    planes = Planes(np.append(0, np.cumsum(is_term.sum(axis=1))), view[is_term], coefficient[is_term])
    below, above, thresholds, plane = (column.copy() for column in (tests.below, tests.above, tests.threshold, at))
    plane = _filled(is_test, which.ravel())
    thresholds[is_test] = np.where(faces_back, 1 - raised, raised)
    below[is_test] = np.where(faces_back, tests.above[is_test], tests.below[is_test])
    above[is_test] = np.where(faces_back, tests.below[is_test], tests.above[is_test])
    return planes, tests._replace(plane=plane, threshold=thresholds, below=below, above=above)


def _slopes_at(slopes: LeafSlopes, nodes: Array) -> LeafSlopes:
    """Those of some nodes, in order."""
    if not slopes.first.size:
        return slopes
    at, _ = entries_of(slopes.first, nodes)
    first = np.append(0, np.cumsum(np.diff(slopes.first)[nodes]))
    return LeafSlopes(first, *(column[at] for column in slopes[1:]))


def entries_of(first: Array, chosen: Array) -> tuple[Array, Array]:
    """The entries first[i] to first[i + 1] of some i one after another, and the place of its i for each."""
    counts = np.diff(first)[chosen]
    shifts = first[:-1][chosen] - (np.cumsum(counts) - counts)
    return np.arange(counts.sum()) + np.repeat(shifts, counts), np.repeat(np.arange(len(chosen)), counts)


def texts_of(levels: Sequence[Level], feature: int, owner: str) -> list[str | None]:
    """Levels as text, for languages in which a column holds nothing else; numbers are written as Python does."""
    texts = [level if isinstance(level, str | None) else repr(level).removesuffix(".0") for level in levels]
    if len(set(texts)) < len(texts):
        raise ValueError(
            f"levels of feature {feature} of the model of {owner} must differ as text; some of them are numbers that "
            "read like others. Make all of them text before fit."
        )
    return texts


def is_textual(levels: Sequence[Level] | None) -> bool:
    """Whether a feature is a category with a level that is text."""
    return levels is not None and any(isinstance(level, str) for level in levels)
