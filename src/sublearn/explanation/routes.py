"""The route of a row: the hyperplanes it passes, on which side, and how far from each."""

from typing import Any, NamedTuple

import numpy as np

from sublearn._base.frames import level_name
from sublearn._base.parameters import whole
from sublearn.core.data.codes import encode_samples
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.parallel import Workers
from sublearn.explanation.members import check_model, numbers_of
from sublearn.explanation.names import names_for
from sublearn.explanation.space import places_of, values_at
from sublearn.export.inequalities import Inequalities
from sublearn.kernels.layout import Array

OWNER = "route"
DIGITS = 4


class Crossing(NamedTuple):
    """A change of a single feature that takes a row to the other side of a hyperplane.

    Attributes
    ----------
    feature : str
        The feature.
    values : tuple
        The nearest number on the other side, alone, or the levels of a category that are there.
    by : float
        How far that is: the new number less the row's; NaN for a category.
    """

    feature: str
    values: tuple[Any, ...]
    by: float


class Step(NamedTuple):
    """A hyperplane that a row has passed.

    Attributes
    ----------
    tree, node, plane : int
        The tree, its node, counted from its root, and the hyperplane among those of the node.
    text : str
        The hyperplane as an inequality, as `export_text` writes it.
    is_true : bool
        Whether the inequality holds for the row.
    margin : float
        How far the left side of the inequality is from its right side, in the units of its first term; positive where
        the inequality holds.
    codes : int
        The same in codes, as the model compares: the weighted sum of codes less the threshold.
    crossings : tuple of Crossing
        Changes of single features that lead to the other side.
    """

    tree: int
    node: int
    plane: int
    text: str
    is_true: bool
    margin: float
    codes: int
    crossings: tuple[Crossing, ...]

    def __str__(self) -> str:
        return "; ".join(self._lines())

    def _lines(self) -> tuple[str, str]:
        """The side, and the ways to the other one."""
        holds = "true" if self.is_true else "false"
        ways = ", ".join(map(_way, self.crossings))
        crossed = f"crossed by {ways}" if ways else "no single feature crosses it"
        return f"{self.text}: {holds} by {abs(self.margin):.4g}", crossed


class Route(NamedTuple):
    """The way of a row through one tree, or through all trees of a model; see `route`.

    Attributes
    ----------
    steps : tuple of Step
        The hyperplanes passed, tree by tree, from the root on.
    leaves : dict
        For each tree the node in which the route ends.
    answers : dict
        For each tree what that node contributes: shares of classes, a mean, or what is added to the sum.
    legend : tuple of str
        What g(x), m(x) and x[low] stand for, where they appear.
    """

    steps: tuple[Step, ...]
    leaves: dict[int, int]
    answers: dict[int, Array]
    legend: tuple[str, ...]

    def __str__(self) -> str:
        lines = []
        for tree, leaf in self.leaves.items():
            own = [step for step in self.steps if step.tree == tree]
            lines += [f"tree {tree}"] if len(self.leaves) > 1 else []
            for step in own:
                side, ways = step._lines()
                lines += [f"node {step.node}: {side}", f"  {ways}"]
            answer = ", ".join(f"{value:.4g}" for value in self.answers[tree])
            lines.append(f"node {leaf}: the route ends; it answers {answer}")
        return "\n".join([*lines, *self.legend])


def route(model: Any, x: Any, tree: int | None = None) -> Route:
    """Tell which hyperplanes a row passes, on which side, and how far from each.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest or boosting. Of an average, give one of its `estimators_`.
    x : table with one row, or sequence of its values
        The row, as `predict` takes rows, or one of them: ``X[3]`` of an array or ``X.iloc[[3]]`` of a frame.
    tree : int, default=None
        Number of the tree, from 0; None: all trees.

    Returns
    -------
    route : Route
        Its steps, and where it ends. ``print`` shows it.

    Notes
    -----
    The margin is the difference between both sides of the inequality as it is written, so it has the unit of the
    first term. Beside it stands, for each feature alone, the nearest value with which the row would be on the other
    side, all other features as they are. Where maps are of quantiles these are found by the map itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, route
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(X, y)
    >>> print(route(model, X[:1]))
    node 0: petal length (cm) >= 2.475: false by 1.075
      crossed by petal length (cm) at 2.475 (+1.075)
    node 1: the route ends; it answers 1, 0, 0
    """
    check_model(model, OWNER)
    if not hasattr(model, "_model"):
        raise TypeError(
            f"model of {OWNER} must be a tree, forest or boosting; got {type(model).__name__}. Give one of its "
            "estimators_."
        )
    fitted: FittedModel = model._model
    allowed = whole(0, fitted.ensemble.n_trees - 1)
    if tree is not None and not allowed.accepts(tree):
        raise ValueError(f"tree of {OWNER} must be None or {allowed.words}; got {tree!r}.")
    given = numbers_of(model, _as_table(x))
    if len(given) != 1:
        raise ValueError(f"x of {OWNER} must be one row; got {len(given)}. Take them one by one.")
    walker = _Walker(fitted, given)
    return walker.route(range(fitted.ensemble.n_trees) if tree is None else [tree])


def _as_table(x: Any) -> Any:
    """A row by itself as a table of one."""
    if isinstance(x, np.ndarray) and x.ndim == 1:
        return x[None]
    if isinstance(x, list | tuple) and not (len(x) and isinstance(x[0], list | tuple | np.ndarray)):
        return [list(x)]
    if type(x).__name__ == "Series" and hasattr(x, "to_frame"):
        return x.to_frame().T.infer_objects() if hasattr(x, "infer_objects") else x
    return x


class _Walker:
    """Walks one row through trees."""

    def __init__(self, model: FittedModel, x: Array) -> None:
        self.model, self.x = model, x
        self.names = names_for(model)
        self.writer = Inequalities(model, self.names, DIGITS)
        self.codes = encode_samples(x, model.maps, Workers(1))[:, 0].astype(np.int64)

    def route(self, trees: Any) -> Route:
        """The route through some trees."""
        nodes = self.model.ensemble.nodes
        steps: list[Step] = []
        leaves, answers = {}, {}
        for t in trees:
            root = node = int(self.model.ensemble.roots[t])
            while nodes.first_child[node] >= 0:
                cell = 0
                for number, p in enumerate(range(nodes.first_plane[node], nodes.first_plane[node + 1])):
                    step = self.step(t, node - root, number, p)
                    steps.append(step)
                    cell |= int(step.codes >= 0) << number
                child = int(nodes.children[nodes.first_child[node] + cell])
                if child < 0:  # no training sample fell there: the node itself answers
                    break
                node = child
            leaves[t], answers[t] = node - root, self.answer(node)
        return Route(tuple(steps), leaves, answers, tuple(self.writer.legend()))

    def answer(self, node: int) -> Array:
        """What a node contributes for the row."""
        out: Array = self.model.contributions[node].copy()
        slopes = self.model.ensemble.nodes.slopes
        if self.model.link != MEAN and slopes.first.size:
            for s in range(slopes.first[node], slopes.first[node + 1]):
                code = np.clip(self.codes[slopes.feature[s]], slopes.low[s], slopes.high[s])
                out += slopes.slope[s] * (code - slopes.mean[s])
        return out

    def step(self, t: int, node: int, number: int, p: int) -> Step:
        """The row at hyperplane p."""
        tree = self.model.ensemble.nodes
        terms = range(tree.first_term[p], tree.first_term[p + 1])
        codes = int(sum(int(tree.coefficient[i]) * self.codes[tree.feature[i]] for i in terms) - tree.threshold[p])
        text, margin, is_true = self.writer.plane(p), *self.margin(p, codes >= 0)
        return Step(
            tree=t,
            node=node,
            plane=number,
            text=text,
            is_true=is_true,
            margin=margin,
            codes=codes,
            crossings=tuple(self.crossings(p, codes)),
        )

    def margin(self, p: int, is_positive: bool) -> tuple[float, bool]:
        """How far the left side of the inequality is from the right one, and whether it holds."""
        tree = self.model.ensemble.nodes
        total, scale = -(float(tree.threshold[p]) - 0.5), 0.0
        for i in range(tree.first_term[p], tree.first_term[p + 1]):
            v, a = int(tree.feature[i]), float(tree.coefficient[i])
            total += a * self.place(v)
            scale = scale or a * self.writer.views[v].line.slope
        is_true = is_positive if scale > 0 else not is_positive
        distance = abs(total / scale)
        rounding = (total >= 0) != is_positive  # within half a code of the threshold, codes decide
        return (0.0 if rounding else distance) * (1.0 if is_true else -1.0), is_true

    def place(self, v: int) -> float:
        """The row's code by a view, before it is rounded."""
        maps = self.model.maps
        f = int(maps.features[v])
        if maps.listed[v] or np.isnan(self.x[0, f]):
            return float(self.codes[v])
        return float(places_of(maps, f, self.x[:, f])[0] * maps.per_deviation)

    def crossings(self, p: int, codes: int) -> Any:
        """Changes of single features that lead to the other side."""
        tree, maps = self.model.ensemble.nodes, self.model.maps
        terms = range(tree.first_term[p], tree.first_term[p + 1])
        by_feature: dict[int, list[int]] = {}
        for i in terms:
            by_feature.setdefault(int(maps.features[tree.feature[i]]), []).append(i)
        for f, own in by_feature.items():
            views = tree.feature[own].astype(np.int64)
            factors = tree.coefficient[own].astype(np.int64)
            if maps.listed[views[0]]:
                yield from self.levels(f, views, factors, codes)
            elif not np.isnan(self.x[0, f]):
                yield from self.numbers(f, int(views[0]), int(factors.sum()), codes)

    def levels(self, f: int, views: Array, factors: Array, codes: int) -> Any:
        """The levels of a category that lead to the other side."""
        maps = self.model.maps
        tables = [maps.levels[maps.offsets[v] : maps.offsets[v + 1]] for v in views]
        sums = codes + sum(a * (own - self.codes[v]) for a, own, v in zip(factors, tables, views, strict=True))
        levels = self.model.levels[f] or ()
        found = [level for level, total in zip(levels, sums, strict=False) if (total >= 0) != (codes >= 0)]
        if found:
            yield Crossing(self.names[f], tuple(found), float("nan"))

    def numbers(self, f: int, v: int, factor: int, codes: int) -> Any:
        """The nearest number that leads to the other side."""
        if factor == 0:
            return
        maps, own = self.model.maps, int(self.codes[v])
        if codes >= 0:  # the sum must fall below the threshold
            wanted = own - codes // factor - 1 if factor > 0 else own + codes // -factor + 1
        else:
            wanted = own + -(codes // factor) if factor > 0 else own - -(codes // -factor)
        part = maps.levels[maps.offsets[v] : maps.offsets[v + 1]]
        if len(part) < 2 or not part[0] <= wanted <= part[-1]:
            return
        value = self.nearest(f, v, wanted, wanted > own)
        yield Crossing(self.names[f], (value,), value - float(self.x[0, f]))

    def nearest(self, f: int, v: int, code: int, is_above: bool) -> float:
        """The value with this code that is nearest to the row's, found by halves."""
        maps = self.model.maps
        inside = float(values_at(maps, f, np.array([code / maps.per_deviation]))[0])
        outside, probe = float(self.x[0, f]), self.x.copy()
        for _ in range(200):
            middle = outside + (inside - outside) / 2
            if middle in (inside, outside):
                break
            probe[0, f] = middle
            found = int(encode_samples(probe, maps, Workers(1))[v, 0])
            if found >= code if is_above else found <= code:
                inside = middle
            else:
                outside = middle
        return inside


def _way(crossing: Crossing) -> str:
    """A crossing in words."""
    if np.isnan(crossing.by):
        return f"{crossing.feature} = {' or '.join(map(level_name, crossing.values))}"
    return f"{crossing.feature} at {crossing.values[0]:.4g} ({crossing.by:+.4g})"
