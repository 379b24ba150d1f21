"""Cuts of a tree as questions that a person can answer: of one feature in its own words, of several as a sum."""

import numpy as np

from sublearn._base.frames import NUMBERS
from sublearn.core.data.codes import FeatureMaps
from sublearn.export.inequalities import LARGEST_SHIFT, Inequalities
from sublearn.reporting.subject import CATEGORIES, Feature, Subject
from sublearn.reporting.wording import value_text

MOST_LEVELS = 12  # that are named
FEWEST_DIGITS, MOST_DIGITS = 2, 9  # of numbers in questions


class Questions:
    """Writes the cuts of one member of a model, or of a tree beside it."""

    def __init__(self, features: list[Feature], inequalities: Inequalities) -> None:
        self.features, self.inequalities = features, inequalities
        self.tree, self.maps = inequalities.tree, inequalities.feature_maps

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
        value = _rounded(*_cut(self.maps, v, a, threshold), feature.kind)
        text = f"{feature.name} {'≥' if a > 0 else '≤'} {value}"
        return f"{text} (missing: {'yes' if counts_as else 'no'})" if feature.had_gaps else text

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
            return f"{feature.name} is anything"
        words = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
        return f"{feature.name} is {'not ' if others_too else ''}{words}"


def _cut(maps: FeatureMaps, v: int, a: int, threshold: int) -> tuple[float, float, float]:
    """The value of a feature between the two codes that a cut tells apart, and how far it may be moved down and up."""
    middle = -(-threshold // a) - 0.5 if a > 0 else threshold // a + 0.5
    part = slice(maps.offsets[v], maps.offsets[v + 1])
    levels, knots = maps.levels[part].astype(np.float64), maps.knots[part]
    codes = [middle, middle - LARGEST_SHIFT, middle + LARGEST_SHIFT]
    value, low, high = (np.interp(codes, levels, knots) / maps.units[v]).tolist()
    return value, low, high


def _rounded(value: float, low: float, high: float, kind: str) -> str:
    """A value in as few digits as bring it nowhere beyond `low` and `high`."""
    if kind == NUMBERS:
        for digits in range(1, MOST_DIGITS):
            rounded = float(f"{value:.{digits}g}")
            if low <= rounded <= high:
                return value_text(rounded, kind, digits)
    return value_text(value, kind, MOST_DIGITS)


def questions_of(subject: Subject, member: int) -> Questions:
    """Those of a member of the model."""
    record = subject.members[member]._model
    return Questions(subject.features, Inequalities(record, list(subject.names), FEWEST_DIGITS))
