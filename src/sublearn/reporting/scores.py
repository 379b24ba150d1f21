"""How good the model is: a sentence, what the figures are of, and a table with intervals and a baseline."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.measures import Figure, measure_classes, measure_numbers, wilson
from sublearn.reporting.study import Section, Study, help_on, paragraph, table
from sublearn.reporting.trial import AMONG, AROUND, SAME
from sublearn.reporting.wording import counted, in_hundred, listed, number_text, share_text

FEW, SUSPICIOUS = 50, 20  # rows that tell little; rows without any error from which on one wonders
SEEN = {
    SAME: "these rows seem to be those that the model was trained on: every leaf of its trees holds as many of them "
    "as it did in training",
    AMONG: "these rows seem to be some of those that the model was trained on: no leaf of its trees holds more of them "
    "than it did in training",
    AROUND: "the rows that the model was trained on seem to be among these: every leaf of its trees holds at least as "
    "many of them as it did in training",
}


class Score(NamedTuple):
    """A figure for readers."""

    name: str
    figure: Figure
    baseline: float
    is_share: bool
    words: str


def headline(study: Study) -> list[Markup]:
    """What the model is for and how good it is, in a few sentences."""
    subject, features = study.subject, counted(len(study.subject.names), "feature")
    thing = element("b", subject.thing)
    if subject.is_classifier:
        classes = f", one of {len(subject.labels)} classes ({listed(subject.labels, 6)})," if subject.labels else ""
        first = paragraph("This model predicts ", thing, f"{classes} from {features} of a row.", class_="lead")
    else:
        first = paragraph("This model predicts ", thing, f", a number, from {features} of a row.", class_="lead")
    return [first, _how_good(study), *_statement(study)]


def _how_good(study: Study) -> Markup:
    """How good it is, in a sentence."""
    if study.subject.is_classifier:
        return _how_right(study)
    errors, y = np.abs(study.errors), study.rows.y
    score = measure_numbers(y, study.predicted)[-1]
    half = number_text(float(np.median(errors)), 3)
    usual = float(np.mean(np.abs(y - np.median(y))))
    return paragraph(
        "On average its predictions are off by ",
        element("b", number_text(score.value, 3)),
        f" (likely {_interval(score, False)}); half of them are off by less than {half}. "
        f"Always answering {number_text(float(np.median(y)), 3)} would be off by {number_text(usual, 3)}.",
        class_="lead",
    )


def _how_right(study: Study) -> Markup:
    """The same for classes."""
    n, n_right = study.rows.n, int(study.is_right.sum())
    low, high = wilson(n_right, n)
    label, share = _usual_class(study)
    return paragraph(
        "It was right for ",
        element("b", f"{in_hundred(n_right / n)} rows"),
        f" ({_likely(low, high)}). Always answering “{label}” would be right for {in_hundred(share)}.",
        class_="lead",
    )


def _likely(low: float, high: float) -> str:
    """The interval of a share, for a sentence."""
    return f"likely {in_hundred(low).removesuffix(' of 100')} to {in_hundred(high)}"


def _usual_class(study: Study) -> tuple[str, float]:
    """The most frequent class of the rows that the model knows, and its share of all."""
    counts = np.bincount(study.rows.y[study.rows.y >= 0], minlength=len(study.subject.labels))
    return study.subject.labels[int(counts.argmax())], float(counts.max()) / study.rows.n


def _statement(study: Study) -> list[Markup]:
    """What the figures are of, and what speaks against them."""
    n, trial = study.rows.n, study.trial
    if trial.seen is not None:
        text = f"Do not trust these figures: {SEEN[trial.seen]}. A model looks better on such rows than it is."
        way_out = (
            " Make the report of rows that were kept apart, or by cross-validation (folds=5, or --folds 5 of the "
            "command)."
        )
        return [_banner("warning", element("b", text), way_out)]
    if trial.folds is not None:
        parts = [
            element("b", f"Measured on {counted(n, 'row')} by cross-validation in {trial.folds} parts: "),
            "each part was answered by a copy of the model that had learned from the other parts alone.",
        ]
    else:
        parts = [
            element("b", f"Measured on {counted(n, 'row')} that were given as not used in training. "),
            "The figures are honest only if that is so.",
        ]
    found = [_banner("", *parts)]
    if _is_perfect(study):
        text = (
            f"Not one error in {counted(n, 'row')} is rare. Make sure that none of them was used in training, and that "
            "no feature gives the answer away."
        )
        found.append(_banner("warning", text))
    if n < FEW:
        found.append(_banner("warning", f"{counted(n, 'row')} say little: look at the ranges, not at the figures."))
    return found


def _is_perfect(study: Study) -> bool:
    """Whether there is no error in many rows."""
    if study.rows.n < SUSPICIOUS:
        return False
    if study.subject.is_classifier:
        return bool(study.is_right.all()) and len(np.unique(study.rows.y)) > 1
    return bool(np.abs(study.errors).max() <= 1e-9 * max(float(np.ptp(study.rows.y)), 1e-300))


def _banner(kind: str, *parts: Any) -> Markup:
    return element("p", *parts, class_=f"banner {kind}".strip(), role="note")


def scores(study: Study) -> Section:
    """The section with the table."""
    found = _scores_of_classes(study) if study.subject.is_classifier else _scores_of_numbers(study)
    rows = [
        [
            one.name,
            element("b", _value(one.figure.value, one.is_share)),
            _interval(one.figure, one.is_share),
            _value(one.baseline, one.is_share),
            one.words,
        ]
        for one in found
    ]
    header = ["Score", "This model", "Likely range", "Without a model", "In plain words"]
    note = (
        "The likely range is a 95 % interval: if many other sets of so many rows of the same kind were drawn, about 19 "
        "in 20 such ranges would hold the score of the model on all rows of that kind. A wide range means that there "
        "are few rows."
    )
    more = (
        "In cross-validation the models of the parts share most of their rows, so the ranges are a little too narrow."
        if study.trial.folds
        else "Rows that depend on each other, such as those of one customer, make the ranges too narrow."
    )
    without = (
        "Without a model, one could always give the same answer. The column says what the best such answer would score "
        "on these rows. A model that is no better is of no use."
    )
    parts = [table(header, rows, "Scores", "scores"), help_on("How to read this", note + " " + more, without)]
    return Section("scores", "How good it is", parts)


def _scores_of_classes(study: Study) -> list[Score]:
    y, shares = study.rows.y, np.bincount(study.rows.y[study.rows.y >= 0]) / study.rows.n
    found = {one.name: one for one in measure_classes(y, study.trial.answers)}
    shares = shares[shares > 0]
    words = {
        "accuracy": "Share of rows whose class is predicted. 100 % is best.",
        "AUC": "Of two rows of different classes, how often the model puts them in the right order. 50 % is guessing.",
        "log loss": "How far the probabilities are from the truth, with a heavy price for being sure and wrong. "
        "0 is best.",
    }
    baselines = {"accuracy": float(shares.max()), "AUC": 0.5, "log loss": float(-(shares * np.log(shares)).sum())}
    names = {"accuracy": "Accuracy", "AUC": "AUC, order of the rows", "log loss": "Log loss"}
    return [
        Score(names[name], found[name], baselines[name], name != "log loss", words[name])
        for name in names
        if name in found
    ]


def _scores_of_numbers(study: Study) -> list[Score]:
    y = study.rows.y
    r2, rmse, mae = measure_numbers(y, study.predicted)
    return [
        Score("Mean error (MAE)", mae, _mean_distance(y), False, "How far off a prediction is on average. 0 is best."),
        Score(
            "Root mean square error (RMSE)",
            rmse,
            float(y.std()),
            False,
            "The same, where large errors count more. 0 is best.",
        ),
        Score(
            "R², explained share",
            r2,
            0.0,
            True,
            "How much of the differences between rows is explained. 100 % is best, and 0 % is no better than the mean.",
        ),
    ]


def _mean_distance(y: Array) -> float:
    """The mean error of the best constant."""
    return float(np.mean(np.abs(y - np.median(y))))


def _value(x: float, is_share: bool) -> str:
    if not np.isfinite(x):
        return "–"
    return share_text(x).replace("-", "−") if is_share else number_text(x, 3)


def _interval(one: Figure, is_share: bool) -> str:
    if not np.isfinite([one.low, one.high]).all():
        return "–"
    return f"{_value(one.low, is_share)} to {_value(one.high, is_share)}"
