"""Which mistakes are made: a confusion matrix of classes, residuals of numbers."""

import numpy as np

from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element, joined
from sublearn.reporting.measures import class_table, wilson
from sublearn.reporting.plot import Plot, meter, round_step, span
from sublearn.reporting.study import Section, Study, figure, help_on, paragraph, table
from sublearn.reporting.wording import counted, number_text, share_text, shortened

MOST_CLASSES = 30  # that have a row and a column of their own
MOST_MIXED = 3  # pairs of classes that are named
SHADES = 5  # of a cell
DENSE = 12  # classes from which on cells are small
MOST_DOTS, MOST_BINS = 1000, 24
OUTSIDE = 0.005  # of the errors that a histogram leaves out at both ends
LABEL = 24  # characters of a class in the head of the matrix


def mistakes(study: Study) -> Section:
    """The section."""
    if not study.subject.is_classifier:
        return Section("errors", "Where it is off", _of_numbers(study))
    return Section("errors", "Which classes it mixes up", _of_classes(study))


def _of_classes(study: Study) -> list[Markup]:
    labels, counts = confusion(study)
    cells = [
        [
            element("span", shortened(label, LABEL), title=label),
            *(_cell(int(n), row.sum(), i == j, label, labels[j]) for j, n in enumerate(row)),
            f"{row.sum():,}",
        ]
        for i, (label, row) in enumerate(zip(labels, counts, strict=True))
        if row.sum() or i < len(study.subject.labels)
    ]
    heads = [element("span", shortened(label, LABEL), title=label) for label in labels]
    return [
        _mixed_words(labels, counts),
        paragraph("Each line is a true class, each column a predicted one.", class_="note"),
        table(
            ["Truth ↓", *heads, "All"],
            cells,
            "Truth against prediction",
            "confusion dense" if len(labels) > DENSE else "confusion",
        ),
        help_on(
            "How to read this",
            "Each line has the rows of one class. The cells say how many of them were predicted as which class. On the "
            "diagonal, in blue, they were right; all other cells, in orange, are mistakes. The darker a cell, the "
            "larger its share of the line.",
        ),
        element("h3", "Class by class"),
        _by_class(study),
        help_on(
            "How to read this",
            "Found: of the rows of a class, how many were predicted as such. Reliable: of the rows predicted as a "
            "class, how many were of it. The thin line is the likely range (95 %).",
        ),
    ]


def confusion(study: Study) -> tuple[list[str], Array]:
    """Names of classes, and how many rows of one (lines) were predicted as another (columns).

    Of many classes the most frequent have lines of their own, in their order; the others share one. So do classes that
    the model does not know.
    """
    subject, truth, predicted = study.subject, study.rows.y, study.predicted
    n = len(subject.labels)
    places, labels = np.arange(n), list(subject.labels)
    if n > MOST_CLASSES:
        sizes = np.bincount(truth[truth >= 0], minlength=n)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
        places = np.full(n, MOST_CLASSES)
        places[kept] = np.arange(MOST_CLASSES)
        labels = [*(subject.labels[i] for i in kept), f"{n - MOST_CLASSES:,} others"]
    unknown = len(labels)
    if (truth < 0).any():
        labels.append("unknown to the model")
    counts = np.zeros((len(labels), len(labels)), np.int64)
    np.add.at(counts, (np.where(truth >= 0, places[np.maximum(truth, 0)], unknown), places[predicted]), 1)
    return labels, counts


def _cell(n: int, total: int, is_right: bool, truth: str, predicted: str) -> Markup:
    """A cell, shaded by its share of the line."""
    if n == 0:
        return element("span", "·", class_="none")
    shade = int(np.ceil(SHADES * n / total))
    kind = "right" if is_right else "wrong"
    title = f"{counted(n, 'row')} of {truth}, {share_text(n / total)}, predicted as {predicted}"
    return element("span", f"{n:,}", class_=f"cell {kind} shade{shade}", title=title)


def _mixed_words(labels: list[str], counts: Array) -> Markup:
    """The most frequent mistakes in words."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MIXED]
    found = [
        (labels[i], labels[j], int(wrong[i, j])) for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
    ]
    words = [f"“{a}” taken for “{b}” ({counted(n, 'row')})" for a, b, n in found if n]
    if not words:
        return paragraph("There is no mistake in these rows.")
    return paragraph(f"The most frequent mistakes: {'; '.join(words)}.")


def _by_class(study: Study) -> Markup:
    rows = []
    for one in class_table(study.rows.y, study.predicted, study.subject.labels):
        n_hits = 0 if np.isnan(one.recall) else round(one.recall * one.n_rows)
        cells = [
            joined(meter(hits / n, *wilson(hits, n)), " ", share_text(hits / n)) if n else "–"
            for hits, n in ((n_hits, one.n_rows), (n_hits, one.n_predicted))
        ]
        rows.append([str(one.label), f"{one.n_rows:,}", cells[0], f"{one.n_predicted:,}", cells[1]])
    return table(["Class", "Rows", "Found", "Predicted", "Reliable"], rows, "Class by class", "meters")


def _of_numbers(study: Study) -> list[Markup]:
    errors = study.errors
    over = float(np.mean(errors > 0))
    low, high = np.quantile(errors, [0.05, 0.95])
    return [
        paragraph(
            f"Nine errors in ten lie between {number_text(float(low), 3)} and {number_text(float(high), 3)}. "
            f"The prediction is too high for {share_text(over)} of the rows."
        ),
        element("div", _residuals(study), _histogram(study), class_="charts"),
        help_on(
            "How to read this",
            "An error is the prediction minus the truth: above zero, the prediction is too high. On the left, dots "
            "should lie around zero everywhere: a slope or a curve means that high or low predictions are off in one "
            "direction, and a funnel that large predictions are less certain. On the right, errors should pile up near "
            "zero.",
        ),
    ]


def _residuals(study: Study) -> Markup:
    some = study.sample(MOST_DOTS)
    x, errors = study.predicted[some], study.errors[some]
    plot = Plot(span(x.tolist()), span([*errors.tolist(), 0.0]))
    plot.frame(f"predicted {study.subject.thing}", "error of the prediction")
    plot.line([plot.x.low, plot.x.high], [0, 0], "ideal")
    for a, b in zip(x.tolist(), errors.tolist(), strict=True):
        plot.dot(a, b, "dot faint", 2.5)
    words = f"Errors against predictions, for {study.of_rows(len(some))}"
    note = [paragraph(f"A sample: {study.of_rows(len(some))}.", class_="note")] if len(some) < study.rows.n else []
    return figure("Errors by prediction", plot.drawing(words), *note)


def _histogram(study: Study) -> Markup:
    errors = study.errors
    low, high = np.quantile(errors, [OUTSIDE, 1 - OUTSIDE]).tolist()
    step = round_step(max((high - low) / MOST_BINS, 1e-12 * max(abs(low), abs(high), 1e-100)))
    first, last = int(np.floor(low / step)), int(np.ceil(high / step))
    edges = step * np.arange(first, max(last, first + 1) + 1)
    counts, _ = np.histogram(errors, edges)
    plot = Plot((float(edges[0]), float(edges[-1])), (0.0, 1.05 * float(counts.max())))
    plot.frame("error of the prediction", "rows")
    for a, b, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True):
        if n:
            plot.bar(a, b, n, "bar", f"{counted(n, 'row')} from {number_text(a)} to {number_text(b)}")
    plot.upright(0.0, "ideal")
    beyond = int(len(errors) - counts.sum())
    note = [paragraph(f"{counted(beyond, 'row')} beyond these ends.", class_="note")] if beyond else []
    return figure("How large errors are", plot.drawing("Histogram of the errors"), *note)
