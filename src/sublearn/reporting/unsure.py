"""The rows that the model is least sure of, and those it is furthest off, with their values."""

from sublearn.core.model.fitted import MEAN
from sublearn.reporting.markup import Markup, element
from sublearn.reporting.picks import UNSURE, WRONG, Pick, answer_words
from sublearn.reporting.study import Section, Study, help_on, paragraph, table
from sublearn.reporting.wording import listed, number_text

MOST_FEATURES = 6


def unsure(study: Study, picks: list[Pick]) -> Section:
    """The section."""
    tables = []
    for group, words in ((UNSURE, _unsure_words(study)), (WRONG, _wrong_words(study))):
        rows = [pick.row for pick in picks if pick.group == group]
        if rows:
            tables += [element("h3", group), paragraph(words), _rows_table(study, rows, group)]
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
        )
    )
    return Section("rows", "Rows worth a look", tables)


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


def _rows_table(study: Study, rows: list[int], group: str) -> Markup:
    shown = study.weighed.order[:MOST_FEATURES].tolist()
    header = ["Row", "In the trees", "Predicted", "Truth", *(["Error"] if not study.subject.is_classifier else [])]
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
        values = [study.rows.cell(study.subject, row, f) for f in shown]
        cells.append([f"{row + 1:,}", button, predicted, truth, *error, *values])
    return table([*header, *(study.subject.names[f] for f in shown)], cells, group, "rows")
