"""Cuts of a tree as questions that a person can answer: of one feature in its own words, of several as a sum."""

import numpy as np

from sublearn._base.frames import NUMBERS
from sublearn.export.inequalities import LARGEST_SHIFT, Inequalities
from sublearn.kernels.layout import Array
from sublearn.reporting.subject import CATEGORIES, Feature, Subject
from sublearn.reporting.wording import value_text

MOST_LEVELS = 12  # that are named
FEWEST_DIGITS, MOST_DIGITS = 2, 9  # of numbers in questions


class Questions:
    """Writes the cuts of one member of a model, or of a tree beside it.

    Numbers are rounded, but no cut by a single feature is moved over one of `values` (n_rows, n_features): for these
    rows, whoever answers the questions goes where the model goes.
    """

    def __init__(self, features: list[Feature], inequalities: Inequalities, values: Array) -> None:
        self.features, self.inequalities, self.values = features, inequalities, values
        self.tree, self.maps = inequalities.tree, inequalities.feature_maps
        self.ordered: dict[int, Array] = {}  # values of features in order, as far as asked for

    def question(self, p: int) -> str:
        """A cut; it is positive where the answer is yes."""
        first, end = int(self.tree.first_term[p]), int(self.tree.first_term[p + 1])
        if end - first != 1:
            return self._sum(p)
        v, a = int(self.tree.feature[first]), int(self.tree.coefficient[first])
        threshold = int(self.tree.threshold[p])
        feature = self.features[int(self.maps.features[v])]
        if feature.kind == CATEGORIES:
            return self._levels(feature, v, a, threshold)
        return self._number(feature, v, a, threshold)

    def _sum(self, p: int) -> str:
        """A cut by several features."""
        text = self.inequalities.plane(p)
        for sign, shown in ((" >= ", " ≥ "), (" <= ", " ≤ ")):
            left, found, right = text.rpartition(sign)
            if found:
                return f"{left}{shown}{right.replace('-', '−')}".replace(" - ", " − ")
        return text

    def _number(self, feature: Feature, v: int, a: int, threshold: int) -> str:
        """A cut by one feature that is a number."""
        counts_as = bool(a * int(self.maps.gaps[v]) >= threshold)
        if self.maps.offsets[v + 1] - self.maps.offsets[v] == 1:  # all values were alike, but for gaps
            return f"{feature.name} is {'' if counts_as else 'not '}missing"
        code = -(-threshold // a) - 0.5 if a > 0 else threshold // a + 0.5
        levels, knots = self._curve(v)
        if not levels[0] < code < levels[-1]:  # it tells nothing but gaps from values
            return f"{feature.name} is {'' if counts_as else 'not '}missing"
        value, low, high = np.interp([code, code - LARGEST_SHIFT, code + LARGEST_SHIFT], levels, knots).tolist()
        text = f"{feature.name} {'≥' if a > 0 else '≤'} {self._rounded(value, low, high, v, a)}"
        return f"{text} (missing: {'yes' if counts_as else 'no'})" if feature.had_gaps else text

    def _curve(self, v: int) -> tuple[Array, Array]:
        """Codes of a view, and the values at which they are reached."""
        part = slice(self.maps.offsets[v], self.maps.offsets[v + 1])
        return self.maps.levels[part].astype(np.float64), self.maps.knots[part] / self.maps.units[v]

    def _rounded(self, value: float, low: float, high: float, v: int, a: int) -> str:
        """A cut in as few digits as leave it between `low` and `high`, and between the same two rows."""
        f = int(self.maps.features[v])
        kind = self.features[f].kind
        if kind != NUMBERS:
            return value_text(value, kind, MOST_DIGITS)
        if f not in self.ordered:
            there = self.values[~np.isnan(self.values[:, f]), f]
            self.ordered[f] = np.concatenate([[-np.inf], np.unique(there), [np.inf]])
        place = int(np.searchsorted(self.ordered[f], value, "left" if a > 0 else "right"))
        below, above = self.ordered[f][place - 1 : place + 1].tolist()
        for digits in range(1, MOST_DIGITS):
            step = 10.0 ** (int(np.floor(np.log10(abs(value) or 1.0))) + 1 - digits)
            for steps in (round(value / step), np.floor(value / step), np.ceil(value / step)):
                shown = float(f"{steps * step:.{MOST_DIGITS}g}")
                is_between = below < shown <= above if a > 0 else below <= shown < above
                if low <= shown <= high and is_between:
                    return value_text(shown, kind, MOST_DIGITS)
        return value_text(value, kind, 2 * MOST_DIGITS)

    def _levels(self, feature: Feature, v: int, a: int, threshold: int) -> str:
        """A cut by one category."""
        codes = self.maps.levels[self.maps.offsets[v] : self.maps.offsets[v + 1]]
        is_yes = a * codes >= threshold
        names = [
            "missing" if level is None else f"“{feature.level(i)}”" for i, level in enumerate(feature.levels or ())
        ]
        others_too = bool(a * int(self.maps.gaps[v]) >= threshold)
        named = [name for name, yes in zip(names, is_yes.tolist(), strict=False) if yes != others_too]
        shown = named[:MOST_LEVELS]
        if len(named) > len(shown):
            shown.append(f"{len(named) - len(shown):,} more")
        if not shown:
            return f"always {'yes' if others_too else 'no'}, whatever {feature.name} is"
        words = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
        return f"{feature.name} is {'not ' if others_too else ''}{words}"


def questions_of(subject: Subject, member: int, values: Array) -> Questions:
    """Those of a member of the model."""
    record = subject.members[member]._model
    return Questions(subject.features, Inequalities(record, list(subject.names), FEWEST_DIGITS), values)
