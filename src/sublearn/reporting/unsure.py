"""The rows that the model is least sure of, and those it is furthest off, with their values."""

from sublearn.core.model.fitted import MEAN
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.picks import UNSURE, WRONG, Pick, answer_words
from sublearn.reporting.reasons import HEADS, ODDS, Reasons, reason_cell, reasons_for
from sublearn.reporting.study import Section, Study, help_on, paragraph, table
from sublearn.reporting.wording import counted, listed, number_text

MOST_FEATURES = 6


def unsure(study: Study, picks: list[Pick]) -> Section:
    """The section."""
    tables = []
    listed_rows = [pick.row for pick in picks if pick.group in (UNSURE, WRONG)]
    reasons = reasons_for(study, listed_rows)
    for group, words in ((UNSURE, _unsure_words(study)), (WRONG, _wrong_words(study))):
        rows = [pick.row for pick in picks if pick.group == group]
        if rows:
            tables += [element("h3", group), paragraph(words), _rows_table(study, rows, group, reasons)]
    if not any(pick.group == UNSURE for pick in picks):
        tables.insert(0, paragraph("The model is entirely sure of each row, so it does not tell which ones are hard."))
    if not any(pick.group == WRONG for pick in picks):
        tables.append(paragraph("It was wrong for none of these rows."))
    shown = [study.subject.names[f] for f in study.weighed.order[:MOST_FEATURES].tolist()]
    tables.append(
        help_on(
            "How to read this",
            "Rows are numbered from 1, in the order of the table that was given. Of the features, the most important "
            f"are shown: {listed(shown)}. The button lights up the path of a row through the trees above.",
            *([] if reasons is None else [_reasons_words(study, reasons)]),
        )
    )
    return Section("rows", "Rows worth a look", tables)


def _reasons_words(study: Study, reasons: Reasons) -> str:
    """What the reasons of a row are."""
    rows = f"{counted(reasons.n_background, 'row')} of this table"
    odds = "A factor of 2 turns odds of 1 to 1, or 50 %, into 2 to 1, or 67 %. " if reasons.unit == ODDS else ""
    words = (
        "“Why” has the features that move the answer most, with their values. The answer is compared with the model's "
        f"mean for {rows}, and what all features do together is shared among them fairly (Shapley values). {odds}It "
        "says what the model does, not what causes what."
    )
    return words + (" It is about the model itself, not its copies." if study.trial.folds else "")


def _unsure_words(study: Study) -> str:
    """What it means to be unsure."""
    if study.subject.is_classifier:
        return "The probabilities of the two most likely classes are closest here: a person should look at such rows."
    if len(study.subject.members) > 1:
        return "The members of the average differ most here."
    if study.subject.first.link != MEAN:
        return "The predictions are furthest off for the rows that are most like these, that is, share their leaves."
    if study.subject.n_trees > 1:
        return "The answers of the trees differ most here."
    return "The training rows of the leaf that these rows come to differed most."


def _wrong_words(study: Study) -> str:
    if study.subject.is_classifier:
        return "The answer is wrong, and the true class was given the lowest probability."
    return "The prediction is furthest from the truth."


def _rows_table(study: Study, rows: list[int], group: str, reasons: Reasons | None) -> Markup:
    shown = study.weighed.order[:MOST_FEATURES].tolist()
    header = ["Row", "In the trees", "Predicted", "Truth", *(["Error"] if not study.subject.is_classifier else [])]
    header += [HEADS[reasons.unit]] if reasons is not None else []
    cells = []
    for row in rows:
        predicted, truth = answer_words(study, row)
        error = [] if study.subject.is_classifier else [number_text(float(study.errors[row]), 3)]
        button = element(
            "button",
            "Show path",
            type="button",
            class_="way",
            data_row=row,
            aria_label=f"Show the path of row {row + 1}",
        )
        why = [reason_cell(study, reasons, row)] if reasons is not None else []
        values = [study.rows.cell(study.subject, row, f) for f in shown]
        cells.append([f"{row + 1:,}", button, predicted, truth, *error, *why, *values])
    return table([*header, *(study.subject.names[f] for f in shown)], cells, group, "rows")
