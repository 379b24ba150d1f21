"""A fitted tree as text, with every hyperplane as an inequality in the units of the data."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._base.frames import level_name
from sublearn._base.parameters import whole
from sublearn.core.data.codes import DEVIATIONS, Line, curve_of, line_of
from sublearn.core.model.fitted import MEAN as MEAN_OF_TREES
from sublearn.core.model.fitted import FittedModel
from sublearn.tree import SLMTree

LETTERS = "abcdefgh"
NUMBER, GAPS, MEAN = "number", "gaps", "mean"  # kinds of views
PLACES = ("middle", "low", "high")  # of what is missing
LARGEST_SHIFT = 8.0  # codes by which rounded numbers may move a cut: under a hundredth of a deviation


def export_text(
    model: Any, feature_names: Sequence[str] | None = None, *, digits: int = 4, tree: int | None = None
) -> str:
    """Write a fitted tree, or one of the trees of a forest or of boosting, as text.

    Each node lists its hyperplanes a, b, ... as inequalities in the original units, then its children by the sides they
    lie on: "+a -b" holds the samples for which a is true and b is not. A feature with a quantile map appears as g(x),
    its normal score; the knots of g are listed once below. So are what gaps of a feature count as, in x[low], x[middle]
    or x[high], and the numbers of levels in m(x), where categories go by the mean of their targets. A single level
    against all others is [x = level], which is 1 or 0. Levels that are text are in quotes. A leaf of boosting says what
    it adds to the raw prediction, for each output; where leaves are linear, that is at the mean of the leaf, and the
    features of its linear model are named.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest or boosting.
    feature_names : sequence of str, default=None
        Names of the features; None: those seen in fit, or x0, x1, ...
    digits : int, default=4
        Significant digits of numbers; coefficients and thresholds get more where fewer would move the cut.
    tree : int, default=None
        Number of the tree, from 0; a forest and boosting need it, and boosting may have several trees a round.

    Returns
    -------
    text : str
        The tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, export_text
    >>> iris = load_iris()
    >>> model = SLMClassifier(max_depth=1, max_partitions=1, n_projections=0).fit(iris.data, iris.target)
    >>> print(export_text(model, ["length", "width", "petal length", "petal width"]))
    150 samples, loss 1.585
      a: petal length >= 2.475
      -a: class 0, 100 % of 50 samples
      +a: class 1, 50 % of 100 samples
    """
    if not isinstance(model, SLMPredictor):
        raise TypeError(f"model of export_text must be an SLM tree, forest or boosting; got {type(model).__name__}.")
    if not whole(1, 17).accepts(digits):
        raise ValueError(f"digits of export_text must be {whole(1, 17).words}; got {digits!r}.")
    check_is_fitted(model)
    fitted = model._model
    allowed = whole(0, fitted.ensemble.n_trees - 1)
    if not allowed.accepts(tree) and not (tree is None and isinstance(model, SLMTree)):
        raise ValueError(f"tree of export_text must be {allowed.words} for this {type(model).__name__}; got {tree!r}.")
    names = names_of_features(fitted, feature_names, "export_text")
    writer = _Writer(fitted, names, digits)
    return "\n".join([*writer.node(int(fitted.ensemble.roots[tree or 0]), "", ""), *writer.legend()])


def names_of_features(model: FittedModel, given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given to the function `owner`, or else those of the model."""
    if given is None:
        return [f"x{f}" for f in range(model.n_features)] if model.feature_names is None else list(model.feature_names)
    if len(given) != model.n_features:
        raise ValueError(
            f"feature_names of {owner} must have a name for each of {model.n_features} features; got {len(given)}."
        )
    return list(map(str, given))


class View:
    """How a view of a feature is written."""

    def __init__(self, model: FittedModel, names: list[str], v: int) -> None:
        maps = model.maps
        f = int(maps.features[v])
        name, siblings = names[f], np.flatnonzero(maps.features == f)
        table = maps.levels[maps.offsets[v] : maps.offsets[v + 1]]
        self.kind, self.line = NUMBER, line_of(maps, v)
        self.name = self.curve = name if self.line.straight else f"g({name})"
        if maps.listed[v]:
            self.levels = [*map(level_name, model.levels[f] or ()), "any other"]
            codes = np.append(table, maps.gaps[v])
            apart = np.flatnonzero(codes != np.median(codes))
            if len(apart) == 1:  # one level against all others
                level, other = codes[apart[0]], float(np.median(codes))
                self.line = Line(float(level - other), other, True, 1.0)
                self.name = f"[{name} = {self.levels[apart[0]]}]"
            else:
                self.kind, self.codes = MEAN, codes / maps.per_deviation
                self.line = Line(float(maps.per_deviation), 0.0, False, float(DEVIATIONS))
                number = "" if len(siblings) < 2 or v == siblings[0] else str(v - siblings[0] + 1)
                self.name = f"m{number}({name})"
        elif len(siblings) > 1:
            self.kind = GAPS
            self.gap = (float(maps.gaps[v]) - self.line.offset) / self.line.slope
            self.name = f"{self.curve}[{PLACES[v - siblings[0]]}]"
        elif maps.gaps[v] != 0:  # a constant with gaps
            self.line = Line(float(maps.gaps[v] - table[0]), float(table[0]), True, 1.0)
            self.name = f"[{name} is missing]"

    def scores(self) -> Iterator[tuple[str, float]]:
        """Names of levels, and the numbers they stand for."""
        yield from zip(self.levels, self.codes.tolist(), strict=True)


class _Writer:
    """Writes the parts of a tree; notes which views of features have appeared."""

    def __init__(self, model: FittedModel, names: list[str], digits: int) -> None:
        self.tree, self.classes, self.digits = model.ensemble.nodes, model.classes, digits
        self.feature_maps, self.is_sum = model.maps, model.link != MEAN_OF_TREES
        self.views = [View(model, names, v) for v in range(model.maps.n_views)]
        self.seen: dict[int, None] = {}

    def node(self, i: int, margin: str, label: str) -> Iterator[str]:
        """Lines of a node and all below it."""
        tree = self.tree
        if tree.first_child[i] < 0:
            yield margin + label + self.leaf(i)
            return
        yield f"{margin}{label}{self.samples(i)}, loss {self.number(tree.loss[i])}"
        margin += "  "
        planes = range(tree.first_plane[i], tree.first_plane[i + 1])
        for letter, p in zip(LETTERS, planes, strict=False):
            yield f"{margin}{letter}: {self.plane(p)}"
        for cell in range(1 << len(planes)):
            child = tree.children[tree.first_child[i] + cell]
            if child >= 0:
                sides = " ".join("-+"[cell >> j & 1] + LETTERS[j] for j in range(len(planes)))
                yield from self.node(child, margin, sides + ": ")

    def leaf(self, i: int) -> str:
        """What a leaf answers."""
        value = self.tree.value[i]
        if self.is_sum:
            return f"adds {', '.join(map(self.number, value))}{self.slopes(i)}, {self.samples(i)}"
        if self.classes is None:
            return f"value {self.number(value[0])}, {self.samples(i)}"
        best = int(value.argmax())
        return f"class {self.classes[best]}, {self.number(100 * value[best])} % of {self.samples(i)}"

    def slopes(self, i: int) -> str:
        """The features of a leaf's linear model."""
        slopes = self.tree.slopes
        views = slopes.feature[slopes.first[i] : slopes.first[i + 1]].tolist() if slopes.first.size else []
        self.seen |= dict.fromkeys(views)
        return f" and a slope in {', '.join(self.views[v].name for v in views)}" if views else ""

    def samples(self, i: int) -> str:
        """How many samples a node has."""
        n = self.tree.n_samples[i]
        return f"{n} sample{'s' if n != 1 else ''}"

    def plane(self, p: int) -> str:
        """A hyperplane as an inequality, scaled so that its first coefficient is 1."""
        tree = self.tree
        threshold = tree.threshold[p] - 0.5  # codes are rounded, so the cut lies between two integers
        terms: list[tuple[float, str, float]] = []
        for t in range(tree.first_term[p], tree.first_term[p + 1]):
            v, a = int(tree.feature[t]), float(tree.coefficient[t])
            line = self.views[v].line
            threshold -= a * line.offset
            if line.slope != 0:
                terms.append((a * line.slope, self.views[v].name, line.reach))
            self.seen[v] = None
        scale, text, _ = terms[0]
        allowed = LARGEST_SHIFT / len(terms) / abs(scale)
        for weight, name, reach in terms[1:]:
            factor = self.number(abs(weight / scale), allowed / reach)
            text += f" {'-' if weight * scale < 0 else '+'} {'' if factor == '1' else factor + ' '}{name}"
        return f"{text} {'>=' if scale > 0 else '<='} {self.number(threshold / scale, allowed)}"

    def legend(self) -> Iterator[str]:
        """What the views that appeared stand for."""
        curves: dict[str, None] = {}
        for v in self.seen:
            view = self.views[v]
            if view.kind == MEAN:
                scores = [f"{name}: {score:.{self.digits}g}" for name, score in view.scores()]
                yield f"{view.name} is {', '.join(scores)}"
            elif not view.line.straight and view.curve not in curves:
                curves[view.curve] = None
                knots, scores_at = curve_of(self.feature_maps, v)
                pairs = ", ".join(f"{self.number(x)}: {s:g}" for x, s in zip(knots, scores_at, strict=True))
                yield f"{view.curve} is linear between {pairs}"
            if view.kind == GAPS:
                yield f"{view.name} is {view.curve}, or {self.number(view.gap)} where it is missing"

    def number(self, x: float, allowed: float = inf) -> str:
        """A number in few digits, but no further off than `allowed`."""
        for digits in range(self.digits, 17):
            text = f"{x:.{digits}g}"
            if abs(float(text) - x) <= allowed:
                return text
        return repr(float(x))
