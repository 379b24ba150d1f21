"""How the answer goes with the features that matter most."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.plot import HEIGHT, WIDTH, Axis, Plot, span
from sublearn.reporting.study import SAMPLE_KEY, Section, Study, figure, help_on, paragraph
from sublearn.reporting.subject import CATEGORIES
from sublearn.reporting.wording import number_text, share_text, shortened, value_text

MOST_DRAWN = 6  # features
MOST_ROWS, MOST_POINTS, MOST_CURVES, MOST_RUG = 200, 24, 12, 100
MOST_LEVELS, MOST_CLASSES = 10, 3
LABEL_WIDTH, LINE_HEIGHT, SIGNS = 138.0, 22.0, 17  # of a chart of levels; signs of a label
GUTTER = 64.0
ENDS = 0.01  # of the values that is left out at both ends of an axis


class Effect(NamedTuple):
    """The mean answer for some values of a feature, all else as it is."""

    donors: Array  # (n_points,), rows whose values these are
    means: Array  # (n_points, n_outputs)
    curves: Array  # (n_points, n_rows, n_outputs)


def dependence(study: Study) -> Section:
    """The section on how the answer goes with the most important features."""
    some = study.sample(MOST_ROWS)
    drawn = [f for f in study.weighed.order[:MOST_DRAWN].tolist() if len(_donors(study, f)) > 1]
    charts = [_chart(study, f, some) for f in drawn]
    what = _outputs(study)
    lines = (
        "The thick line is the mean over these rows, and the thin ones are some of them one by one: where these are "
        "not parallel, the effect depends on other features."
        if len(what) == 1
        else "Each line is the mean over these rows for one class; of many classes those that change most are shown."
    )
    parts = [
        paragraph(
            "What the model answers if one feature is changed and all others stay as they are, on "
            f"{study.of_rows(len(some))}."
        ),
        element("div", *charts, class_="charts"),
        help_on(
            "How to read this",
            f"{lines} Short strokes on the axis show where rows have values: where there are none, the model guesses. "
            "A mark at the right stands for a missing value. This is what the model has learned, not what would happen "
            "if somebody changed the feature.",
        ),
    ]
    if not charts:
        parts = [paragraph("No feature that the model uses has two values in these rows.")]
    return Section("dependence", "How the answer goes with a feature", parts)


def _outputs(study: Study) -> list[int]:
    """Columns of answers that may be drawn."""
    n = len(study.subject.labels)
    return [0] if n == 0 else [1] if n == 2 else list(range(n))


def _donors(study: Study, f: int) -> Array:
    """Rows whose values of a feature are tried: levels by their frequency, or numbers in order."""
    values = study.rows.values[:, f]
    if study.subject.features[f].kind == CATEGORIES:
        _, first, counts = np.unique(values, return_index=True, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        return np.asarray(first[order])
    there = np.flatnonzero(~np.isnan(values))
    order = there[np.argsort(values[there], kind="stable")]
    if not len(order):
        return order
    places = np.unique(np.rint(np.linspace(ENDS, 1 - ENDS, MOST_POINTS) * (len(order) - 1)).astype(np.int64))
    distinct, first = np.unique(values[there], return_index=True)
    if len(distinct) <= MOST_POINTS:
        return np.asarray(there[first])
    _, kept = np.unique(values[order[places]], return_index=True)
    return np.asarray(order[places][kept])


def effect_of(study: Study, f: int, donors: Array, some: Array) -> Effect:
    """What is answered for some rows if they have the values of others in one feature."""
    rows, given = np.tile(some, len(donors)), np.repeat(donors, len(some))
    answers = study.subject.answers(study.rows.with_other(rows, f, given))
    curves = answers.reshape(len(donors), len(some), -1)
    return Effect(donors, curves.mean(axis=1), curves)


def _chart(study: Study, f: int, some: Array) -> Markup:
    donors = _donors(study, f)
    effect = effect_of(study, f, donors, some)
    moves = np.ptp(effect.means, axis=0)
    outputs = _outputs(study)
    if len(outputs) > 1:
        outputs = sorted(sorted(outputs, key=lambda k: (-moves[k], k))[:MOST_CLASSES])
    name = study.subject.names[f]
    if study.subject.features[f].kind == CATEGORIES:
        drawing = _levels(study, f, effect, outputs)
    else:
        drawing = _curve(study, f, effect, outputs, some)
    return figure(name, drawing, _legend(study, outputs))


def _legend(study: Study, outputs: list[int]) -> Markup | None:
    """Which line is of which class."""
    if len(outputs) == 1:
        return None
    keys = [
        element("span", element("span", class_=f"key series{i}"), study.subject.labels[k], class_="entry")
        for i, k in enumerate(outputs)
    ]
    return paragraph(*keys, class_="legend")


def _answer_name(study: Study) -> str:
    labels = study.subject.labels
    if not labels:
        return f"predicted {study.subject.thing}"
    return f"probability of “{shortened(labels[1], 24)}”" if len(labels) == 2 else "probability"


def _curve(study: Study, f: int, effect: Effect, outputs: list[int], some: Array) -> Markup:
    """A feature that is a number."""
    kind, values = study.subject.features[f].kind, study.rows.values[:, f]
    xs = values[effect.donors]
    curves = effect.curves[:, :MOST_CURVES, outputs[0]] if len(outputs) == 1 else np.empty((len(xs), 0))
    gaps = np.flatnonzero(np.isnan(values))
    missing = effect_of(study, f, gaps[:1], some).means[0] if len(gaps) else None
    heights = [*effect.means[:, outputs].ravel(), *curves.ravel(), *([] if missing is None else missing[outputs])]
    size = (WIDTH, HEIGHT - 16)
    words = share_text if study.subject.is_classifier else number_text
    plot = Plot(span(xs.tolist()), span(heights), words, size, GUTTER if missing is not None else 0.0)
    plot.frame("", _answer_name(study), lambda x: value_text(x, kind, 3))
    for curve in curves.T:
        plot.line(xs.tolist(), curve.tolist(), "ghost")
    for i, k in enumerate(outputs):
        plot.line(xs.tolist(), effect.means[:, k].tolist(), f"curve series{i}")
    sample = values[study.sample(MOST_RUG, SAMPLE_KEY)]
    plot.rug(x for x in sample.tolist() if plot.x.low <= x <= plot.x.high)
    if missing is not None:
        place = plot.x.low + (plot.x.high - plot.x.low) * (1 + (GUTTER / 2 + 8) / (plot.x.end - plot.x.begin))
        for i, k in enumerate(outputs):
            plot.dot(place, float(missing[k]), f"dot series{i}", 4.0)
        plot.text(plot.x.at(place), plot.height - 27, "missing", "tick middle")
    first, last = effect.means[0, outputs[0]], effect.means[-1, outputs[0]]
    said = f"{_answer_name(study)} from {words(float(first))} at {value_text(float(xs[0]), kind)} to "
    return plot.drawing(f"{said}{words(float(last))} at {value_text(float(xs[-1]), kind)} of {study.subject.names[f]}")


def _levels(study: Study, f: int, effect: Effect, outputs: list[int]) -> Markup:
    """A category: a line for each level."""
    feature, n = study.subject.features[f], len(effect.donors)
    plot = Plot((0.0, 1.0), (0.0, 1.0), size=(360.0, 70.0 + n * LINE_HEIGHT))
    axis = Axis(*span(effect.means[:, outputs].ravel().tolist(), 0.08), LABEL_WIDTH, plot.width - 16)
    words = share_text if study.subject.is_classifier else number_text
    bottom = plot.height - 44
    for value in axis.ticks(4):
        place = axis.at(value)
        plot.parts.append(element("line", class_="grid", x1=place, x2=place, y1=22.0, y2=bottom))
        plot.text(place, bottom + 17, words(value), "tick middle")
    for i, row in enumerate(effect.donors.tolist()):
        y = 34.0 + i * LINE_HEIGHT
        label = feature.level(float(study.rows.values[row, f]))
        short = element(
            "text", shortened(label, SIGNS), element("title", label), class_="tick end", x=LABEL_WIDTH - 10, y=y + 4
        )
        plot.parts += [short, element("line", class_="grid", x1=LABEL_WIDTH, x2=axis.end, y1=y, y2=y)]
        for j, k in enumerate(outputs):
            value = float(effect.means[i, k])
            title = element("title", f"{label}: {words(value)}")
            plot.parts.append(element("circle", title, class_=f"dot series{j}", cx=axis.at(value), cy=y, r=5.0))
    plot.text(axis.end, plot.height - 6, _answer_name(study), "name end")
    return plot.drawing(f"{_answer_name(study)} for each level of {feature.name}")
