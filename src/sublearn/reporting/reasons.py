"""Why the model answers as it does for a row: the few features whose values move the answer most, by Shapley values."""

from typing import NamedTuple

import numpy as np

from sublearn.core.model.fitted import MEAN
from sublearn.explanation import explain
from sublearn.explanation.parts import ADDITIVE
from sublearn.kernels.layout import Array
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.study import BACKGROUND_KEY, Study
from sublearn.reporting.wording import number_text, share_text

MOST_NAMED = 3  # features of a row
LEAST_NAMED = 0.05  # of what moves a row's answer most; less is not named
SMALL, LARGEST = 2_000_000, 20_000_000  # nodes times features: more is done roughly, and still more not at all
BACKGROUND, ORDERS = (50, 20), (8, 4)  # rows to compare with, and orders of features where not all can be tried


class Reasons(NamedTuple):
    """How far each feature moves the answers for some rows, from the mean answer for others."""

    places: dict[int, int]  # of the rows below
    values: Array  # (n_rows, n_features): of the predicted class, or of the number
    unit: str  # one of POINTS, ODDS, FACTOR, NUMBER
    n_background: int


POINTS, ODDS, FACTOR, NUMBER = "points", "odds", "factor", "number"
HEADS = {
    POINTS: "Why: percentage points for the answer",
    ODDS: "Why: factor on the odds of the answer",
    FACTOR: "Why: moves the answer by",
    NUMBER: "Why: moves the answer by",
}


def reasons_for(study: Study, rows: list[int]) -> Reasons | None:
    """What moves the model's answers for some rows; None where it has no sum to share, or is too large."""
    members = study.subject.members
    records = [member._model for member in members]
    size = sum(record.ensemble.nodes.n_nodes for record in records) * len(study.subject.names)
    is_sum = len(members) == 1 or all(record.link in ADDITIVE for record in records)
    if not rows or not is_sum or size > LARGEST:
        return None
    effort = int(size > SMALL)
    compared = study.sample(BACKGROUND[effort], BACKGROUND_KEY)
    own = sorted(set(rows))
    found = explain(
        study.subject.model,
        study.rows.only(np.array(own)),
        study.rows.only(compared),
        output="raw",
        n_permutations=ORDERS[effort],
        random_state=study.seed,
    )
    values = found.values if found.values.ndim == 3 else found.values[:, :, None]
    return Reasons(
        places={row: place for place, row in enumerate(own)},
        values=_of_answers(study, own, values),
        unit=_unit(study),
        n_background=len(compared),
    )


def _of_answers(study: Study, rows: list[int], values: Array) -> Array:
    """The values (n_rows, n_features) of what is predicted for each row."""
    if not study.subject.is_classifier:
        return values[:, :, 0]
    predicted = study.predicted[rows]
    if values.shape[2] == 1:  # those of the last of two classes
        signs = np.where(predicted == len(study.subject.labels) - 1, 1.0, -1.0)
        found: Array = values[:, :, 0] * signs[:, None]
        return found
    if study.subject.first.link != MEAN:
        values = values - values.mean(axis=2, keepdims=True)
    chosen: Array = values[np.arange(len(rows)), :, predicted]
    return chosen


def _unit(study: Study) -> str:
    """What the values are."""
    link = study.subject.first.link
    if study.subject.is_classifier:
        return POINTS if link == MEAN else ODDS
    return NUMBER if link in ADDITIVE else FACTOR


def amount_text(value: float, unit: str) -> str:
    """A value with its sign."""
    if unit == ODDS:
        return f"× {number_text(float(np.exp(value)), 2)}"
    sign = "+" if value > 0 else "−"
    if unit == FACTOR:
        return f"{sign}{share_text(abs(float(np.expm1(value))))}"
    return f"{sign}{number_text(abs(value) * (100 if unit == POINTS else 1), 2 if unit == POINTS else 3)}"


def reason_cell(study: Study, reasons: Reasons, row: int) -> Markup:
    """The features that move the answer for a row most, with their values."""
    values = reasons.values[reasons.places[row]]
    order = np.argsort(-np.abs(values), kind="stable")[:MOST_NAMED]
    named = [f for f in order.tolist() if abs(values[f]) > LEAST_NAMED * abs(values[order[0]])]
    lines = [
        element(
            "li",
            f"{study.subject.names[f]}: {study.rows.cell(study.subject, row, f)} ",
            element("b", f"→ {amount_text(float(values[f]), reasons.unit)}"),
        )
        for f in named
    ]
    return element("ul", *lines, class_="reasons") if lines else element("span", "nothing", class_="none")
