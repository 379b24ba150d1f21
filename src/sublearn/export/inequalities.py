"""Hyperplanes of a fitted model as inequalities in the units of the data: what text, pictures and reports write."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sublearn._base.frames import level_name
from sublearn.core.data.codes import DEVIATIONS, Line, curve_of, line_of
from sublearn.core.model.fitted import FittedModel

LETTERS = "abcdefgh"  # names of a node's hyperplanes
NUMBER, GAPS, MEAN = "number", "gaps", "mean"  # kinds of views
PLACES = ("middle", "low", "high")  # of what is missing
LARGEST_SHIFT = 8.0  # codes by which rounded numbers may move a cut: under a hundredth of a deviation


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


class Inequality(NamedTuple):
    """A hyperplane as it is written; its projection of codes is scale times the left side, plus offset."""

    terms: tuple[str, ...]  # the first without a sign
    relation: str
    cut: str
    scale: float
    offset: float

    @property
    def text(self) -> str:
        """All of it, on one line."""
        return f"{' '.join(self.terms)} {self.relation} {self.cut}"


class Inequalities:
    """Writes the hyperplanes of a model; `seen` are the views of features that have appeared, in order."""

    def __init__(self, model: FittedModel, names: list[str], digits: int = 4) -> None:
        self.tree, self.feature_maps, self.digits = model.ensemble.nodes, model.maps, digits
        self.views = [View(model, names, v) for v in range(model.maps.n_views)]
        self.seen: dict[int, None] = {}

    def plane(self, p: int) -> str:
        """A hyperplane as an inequality on one line."""
        return self.inequality(p).text

    def inequality(self, p: int) -> Inequality:
        """A hyperplane as an inequality, scaled so that its first coefficient is 1."""
        tree = self.tree
        offset = 0.0
        found: list[tuple[float, str, float]] = []
        for t in range(tree.first_term[p], tree.first_term[p + 1]):
            v, a = int(tree.feature[t]), float(tree.coefficient[t])
            line = self.views[v].line
            offset += a * line.offset
            if line.slope != 0:
                found.append((a * line.slope, self.views[v].name, line.reach))
            self.seen[v] = None
        scale, first, _ = found[0]
        allowed = LARGEST_SHIFT / len(found) / abs(scale)
        terms = [first]
        for weight, name, reach in found[1:]:
            factor = self.number(abs(weight / scale), allowed / reach)
            terms.append(f"{'-' if weight * scale < 0 else '+'} {'' if factor == '1' else factor + ' '}{name}")
        threshold = tree.threshold[p] - 0.5 - offset  # codes are rounded, so the cut lies between two integers
        return Inequality(
            terms=tuple(terms),
            relation=">=" if scale > 0 else "<=",
            cut=self.number(threshold / scale, allowed),
            scale=scale,
            offset=offset,
        )

    def slopes(self, i: int) -> list[str]:
        """Names of the views that the linear model of leaf i leans on."""
        slopes = self.tree.slopes
        views = slopes.feature[slopes.first[i] : slopes.first[i + 1]].tolist() if slopes.first.size else []
        self.seen |= dict.fromkeys(views)
        return [self.views[v].name for v in views]

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
