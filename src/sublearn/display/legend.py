"""What stands below a picture: how features with maps are to be read, and full names of those that were cut."""

from collections.abc import Iterator

import numpy as np

from sublearn.core.data.codes import curve_of
from sublearn.display.names import elided, number, one_line, short_names
from sublearn.export.inequalities import GAPS, MEAN, Inequalities, View

SCORES = (-2.0, -1.0, 0.0, 1.0, 2.0)  # of a curve, that are told
MOST_LEVELS = 8


def map_lines(writer: Inequalities) -> Iterator[str]:
    """What g(x), m(x) and x[middle] stand for, of the features that have appeared."""
    curves: set[str] = set()
    for v in writer.seen:
        view = writer.views[v]
        if view.kind == MEAN:
            yield f"{view.name} is {_levels(view)}"
        elif not view.line.straight and view.curve not in curves:
            curves.add(view.curve)
            yield f"{view.curve} is a normal score: {_curve(writer, v)}"
        if view.kind == GAPS:
            yield f"{view.name} is {view.curve}, or {number(view.gap)} where it is missing"


def _levels(view: View) -> str:
    scores = [(elided(one_line(name), 24), score) for name, score in view.scores()]
    told = ", ".join(f"{number(score)} for {name}" for name, score in scores[:MOST_LEVELS])
    more = len(scores) - MOST_LEVELS
    return f"{told} and so on for {more} more (export_text lists all)" if more > 0 else told


def _curve(writer: Inequalities, v: int) -> str:
    """Some knots of a curve, those nearest to round scores."""
    knots, scores = curve_of(writer.feature_maps, v)
    chosen = dict.fromkeys(int(np.abs(scores - score).argmin()) for score in SCORES)
    return ", ".join(f"{number(scores[k], 2)} at {number(knots[k])}" for k in chosen)


def key_lines(writer: Inequalities, names: list[str], most: int) -> Iterator[str]:
    """Full names of the features that have appeared with short ones, each once."""
    short = short_names(names, most)
    features = dict.fromkeys(int(writer.feature_maps.features[v]) for v in writer.seen)
    for f in features:
        if short[f] != one_line(names[f]):
            yield f"{short[f]} = {one_line(names[f])}"
