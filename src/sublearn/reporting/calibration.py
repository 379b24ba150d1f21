"""Whether probabilities, or predicted numbers, are what they say on average."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.measures import NORMAL, wilson
from sublearn.reporting.plot import Plot, span
from sublearn.reporting.study import Section, Study, figure, help_on, paragraph, table
from sublearn.reporting.wording import counted, number_text, share_text

N_BINS = 10
FEWEST = 10  # rows of a group of probabilities, at the least
UNSURE = 0.05  # probabilities further from 0 and 1 than this are worth a sentence


class Bin(NamedTuple):
    """Rows with predictions that are much alike."""

    said: float  # mean prediction
    was: float  # mean truth
    low: float
    high: float
    n: int


def calibration(study: Study) -> Section:
    """The section."""
    if not study.subject.is_classifier:
        return Section("calibration", "Whether high predictions mean high values", _of_numbers(study))
    return Section("calibration", "Whether its probabilities can be believed", _of_classes(study))


def _of_classes(study: Study) -> list[Markup]:
    labels, answers = study.subject.labels, study.trial.answers
    if len(labels) == 2:
        said, was = answers[:, 1], (study.rows.y == 1).astype(float)
        what, so = f"“{labels[1]}”", f"it was “{labels[1]}”"
    else:
        said, was = answers.max(axis=1), study.is_right.astype(float)
        what, so = "its prediction", "the prediction was right"
    bins = bins_of_shares(said, was)
    off = sum(one.n * abs(one.said - one.was) for one in bins) / len(said)
    best = max(bins, key=lambda one: one.n * (UNSURE < one.said < 1 - UNSURE) + one.n / (2 * len(said)))
    words = paragraph(
        f"Where the model gave {what} about {share_text(best.said)}, {so} in {share_text(best.was)} of "
        f"{counted(best.n, 'row')}. On average over all rows, the two differ by {100 * off:.1f} percentage points."
    )
    rows = [
        [share_text(b.said), f"{b.n:,}", share_text(b.was), f"{share_text(b.low)} to {share_text(b.high)}"]
        for b in bins
    ]
    header = ["It said", "Rows", "It was so in", "Likely range"]
    return [
        words,
        element("div", _diagram(bins, what, so), _counts(said, what), class_="charts"),
        element("details", element("summary", "The figures"), table(header, rows, "Calibration")),
        help_on(
            "How to read this",
            "Rows are put into groups by the probability that the model gave, tenths of few rows "
            "together. A dot shows what share of a group it was so for, with its likely range (95 %). On the "
            "dashed line, the probabilities are right: of the rows given 80 %, it is so for 80 %. Below it the model "
            "says too much, above it too little.",
        ),
    ]


def bins_of_shares(said: Array, was: Array) -> list[Bin]:
    """Rows by tenths of the probability; tenths of few rows are put together with their neighbours."""
    place = np.minimum((said * N_BINS).astype(np.int64), N_BINS - 1)
    counts = np.bincount(place, minlength=N_BINS)
    groups = [0]  # where each begins
    for one in range(1, N_BINS):
        if counts[groups[-1] : one].sum() >= FEWEST and counts[one:].sum() >= FEWEST:
            groups.append(one)
    group = np.searchsorted(groups, place, side="right")
    found = []
    for one in np.unique(group).tolist():
        here = group == one
        n, hits = int(here.sum()), float(was[here].sum())
        low, high = wilson(hits, n)
        found.append(Bin(said=float(said[here].mean()), was=hits / n, low=low, high=high, n=n))
    return found


def _diagram(bins: list[Bin], what: str, so: str) -> Markup:
    plot = Plot((0.0, 1.0), (0.0, 1.0), share_text)
    plot.frame(f"probability that the model gave {what}", f"share for which {so}", share_text)
    plot.line([0, 1], [0, 1], "ideal")
    for one in bins:
        plot.whisker(one.said, one.low, one.high)
    for one in bins:
        title = f"said {share_text(one.said)}, was so in {share_text(one.was)} of {counted(one.n, 'row')}"
        plot.dot(one.said, one.was, "dot", 4.0, title)
    return figure("Said and found", plot.drawing("Probabilities against shares, with ranges; the figures are below"))


def _counts(said: Array, what: str) -> Markup:
    counts, edges = np.histogram(said, np.linspace(0, 1, 2 * N_BINS + 1))
    plot = Plot((0.0, 1.0), (0.0, 1.05 * float(counts.max())))
    plot.frame(f"probability that the model gave {what}", "rows", share_text)
    for a, b, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True):
        if n:
            plot.bar(a, b, n, "bar", f"{counted(n, 'row')} from {share_text(a)} to {share_text(b)}")
    return figure("How often it is how sure", plot.drawing("Histogram of the probabilities"))


def _of_numbers(study: Study) -> list[Markup]:
    said, was = study.predicted, study.rows.y
    bins = _bins_of_numbers(said, was)
    ends = [one for b in bins for one in (b.said, b.low, b.high, b.was)]
    low, high = span(ends)
    plot = Plot((low, high), (low, high))
    plot.frame("mean prediction of a group", "mean truth")
    plot.line([low, high], [low, high], "ideal")
    for one in bins:
        if np.isfinite(one.low):
            plot.whisker(one.said, one.low, one.high)
    for one in bins:
        title = f"predicted {number_text(one.said)}, found {number_text(one.was)} in {counted(one.n, 'row')}"
        plot.dot(one.said, one.was, "dot", 4.0, title)
    rows = [
        [number_text(b.said), f"{b.n:,}", number_text(b.was), f"{number_text(b.low)} to {number_text(b.high)}"]
        for b in bins
    ]
    n_held = sum(b.low <= b.said <= b.high for b in bins)
    return [
        paragraph(
            f"Rows are put into {len(bins)} groups, from the lowest predictions to the highest. In {n_held} of them "
            "the mean prediction lies within the likely range of the mean truth."
        ),
        element("div", figure("Said and found", plot.drawing("Mean predictions against mean truths")), class_="charts"),
        element(
            "details",
            element("summary", "The figures"),
            table(["Mean prediction", "Rows", "Mean truth", "Likely range"], rows, "Calibration"),
        ),
        help_on(
            "How to read this",
            "On the dashed line, predictions are right on average. A dot below it means that the model is too high "
            "there, one above it that it is too low. Lines show the likely range (95 %) of the mean truth.",
        ),
    ]


def _bins_of_numbers(said: Array, was: Array) -> list[Bin]:
    """Rows by tenths, from the lowest predictions to the highest."""
    order = np.argsort(said, kind="stable")
    found = []
    for some in np.array_split(order, min(N_BINS, max(len(said) // 5, 1))):
        truth = was[some]
        mean = float(truth.mean())
        reach = NORMAL * float(truth.std(ddof=1)) / np.sqrt(len(some)) if len(some) > 1 else float("nan")
        found.append(Bin(float(said[some].mean()), mean, mean - reach, mean + reach, len(some)))
    return found
