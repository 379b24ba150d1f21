"""Rows worth a look: those that the model is least sure of, its worst errors, and usual ones."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sublearn.core.model.fitted import MEAN
from sublearn.kernels.layout import Array
from sublearn.reporting.study import Study
from sublearn.reporting.wording import number_text, share_text

MOST_UNSURE, MOST_WRONG, MOST_USUAL = 10, 10, 4
MOST_TREES = 100  # that are asked which rows are alike
UNSURE, WRONG, USUAL = "Least sure", "Furthest off", "Usual"


class Pick(NamedTuple):
    """A row, and why it is shown."""

    row: int
    group: str


def unsureness(study: Study) -> Array:
    """How unsure the model is of each row, 0 where it is certain."""
    if study.subject.is_classifier:
        answers = np.sort(study.trial.answers, axis=1)
        second = answers[:, -2] if answers.shape[1] > 1 else np.zeros(len(answers))
        close: Array = 1.0 + second - answers[:, -1]
        return close
    members = study.subject.members
    if len(members) > 1:
        return _spread(member.predict(study.rows.X) for member in members)
    record = members[0]._model
    if record.link != MEAN:
        return _errors_of_alike(study)
    nodes, roots = record.ensemble.nodes, record.ensemble.roots[:MOST_TREES].tolist()
    ended = study.subject.leaves(study.rows.X, 0, range(len(roots)))
    if len(roots) == 1:
        return np.asarray(np.sqrt(np.maximum(nodes.loss[next(ended)], 0.0)))
    return _spread(nodes.value[root + own, 0] for root, own in zip(roots, ended, strict=True))


def _spread(answers: Iterable[Array]) -> Array:
    """The standard deviation (n_rows,) of answers that come one after another."""
    mean, squares, n = np.zeros(()), np.zeros(()), 0
    for n, answer in enumerate(answers, 1):
        off = answer - mean
        mean = mean + off / n
        squares = squares + off * (answer - mean)
    return np.asarray(np.sqrt(squares / n))


def _errors_of_alike(study: Study) -> Array:
    """For each row, how far off the model is for the other rows that share its leaves, on average over trees."""
    n_trees = min(study.subject.first.ensemble.n_trees, MOST_TREES)
    errors, total, n_with = np.abs(study.errors), np.zeros(study.rows.n), np.zeros(study.rows.n)
    for leaves in study.subject.leaves(study.rows.X, 0, range(n_trees)):
        others = np.bincount(leaves)[leaves] - 1
        total += np.where(others > 0, (np.bincount(leaves, errors)[leaves] - errors) / np.maximum(others, 1), 0.0)
        n_with += others > 0
    return np.asarray(total / np.maximum(n_with, 1))


def badness(study: Study) -> Array:
    """How wrong each row's answer is: one minus the probability of the truth, or the size of the error."""
    if not study.subject.is_classifier:
        return np.asarray(np.abs(study.errors))
    y, answers = study.rows.y, study.trial.answers
    given = np.where(y >= 0, answers[np.arange(len(y)), np.maximum(y, 0)], 0.0)
    return np.asarray(np.where(study.is_right, -1.0, 1.0 - given))


def picked(study: Study) -> list[Pick]:
    """The rows, group by group; a row may be in two."""
    unsure, wrong = unsureness(study), badness(study)
    found = [Pick(row, UNSURE) for row in _largest(unsure, MOST_UNSURE) if unsure[row] > 0]
    found += [Pick(row, WRONG) for row in _largest(wrong, MOST_WRONG) if wrong[row] > 0]
    return found + [Pick(row, USUAL) for row in _usual(study, wrong)]


def _largest(amounts: Array, most: int) -> list[int]:
    order: list[int] = np.argsort(-amounts, kind="stable")[:most].tolist()
    return order


def _usual(study: Study, wrong: Array) -> list[int]:
    """Rows that are answered well: the surest of each of some classes, or those at quarters of the predictions."""
    if study.subject.is_classifier:
        sure = study.trial.answers.max(axis=1)
        classes = [k for k in range(len(study.subject.labels)) if (study.is_right & (study.rows.y == k)).any()]
        return [
            int(np.argmax(np.where(study.is_right & (study.rows.y == k), sure, -1.0))) for k in classes[:MOST_USUAL]
        ]
    order = np.argsort(study.predicted, kind="stable")
    parts = np.array_split(order, min(MOST_USUAL, len(order)))
    return [int(part[np.argmin(wrong[part])]) for part in parts]


def answer_words(study: Study, row: int) -> tuple[str, str]:
    """What was predicted for a row, and what it was."""
    if not study.subject.is_classifier:
        return number_text(float(study.predicted[row])), study.rows.truth(row)
    place = int(study.predicted[row])
    share = share_text(float(study.trial.answers[row, place]))
    return f"{study.subject.labels[place]} ({share})", study.rows.truth(row)
