"""What a model is measured by: its answers for rows it has not learned from, and whether that may be doubted."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from sklearn.base import clone

from sublearn.kernels.layout import Array
from sublearn.reporting.measures import places_of
from sublearn.reporting.rows import Rows
from sublearn.reporting.subject import Subject

FOLDS_KEY, MOST_TREES = 1, 50  # below a seed; trees that are asked whether they have seen the rows
CHANCE = 1e-3  # with which other rows may fall into the leaves as training rows do, before it is taken for no chance
SAME, AMONG, AROUND = "same", "among", "around"  # rows are those of training, some of them, or more than them


class Trial(NamedTuple):
    """Answers that are measured, and where they come from."""

    answers: Array  # probabilities (n_rows, n_classes), or numbers (n_rows, 1)
    folds: int | None  # parts, each answered by a model of the others; None: all rows are answered by the model itself
    seen: str | None  # SAME, AMONG or AROUND where the model seems to have learned from the rows


def measured(subject: Subject, rows: Rows, folds: int | None, seed: int) -> Trial:
    """The model's answers, or those of copies of it that have learned from other rows."""
    if folds is None:
        return Trial(subject.answers(rows.X), None, seen_before(subject, rows))
    return Trial(_answers_of_others(subject, rows, folds, seed), folds, None)


def _answers_of_others(subject: Subject, rows: Rows, folds: int, seed: int) -> Array:
    """For each row, what a copy of the model answers that has learned from the other parts."""
    part = deal(rows.y if subject.is_classifier else np.zeros(rows.n, np.int64), folds, seed)
    answers = np.zeros((rows.n, len(subject.labels) or 1))
    for fold in range(folds):
        own, others = np.flatnonzero(part == fold), np.flatnonzero((part != fold) & (rows.y >= 0))
        if not subject.is_classifier:
            others = np.flatnonzero(part != fold)
            answers[own, 0] = clone(subject.model).fit(rows.only(others), rows.y[others]).predict(rows.only(own))
            continue
        copy = clone(subject.model).fit(rows.only(others), subject.model.classes_[rows.y[others]])
        places = places_of(copy.classes_, subject.model.classes_)
        answers[np.ix_(own, places)] = copy.predict_proba(rows.only(own))
    return answers


def deal(classes: Array, folds: int, seed: int) -> Array:
    """The part (n_rows,) of each row: drawn, and as many of each class in each part as can be."""
    order = np.random.default_rng([seed, FOLDS_KEY]).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    part = np.empty(len(classes), np.int64)
    part[order] = np.arange(len(classes)) % folds
    return part


def seen_before(subject: Subject, rows: Rows) -> str | None:
    """Whether the model seems to have learned from these rows, by how many of them fall into each leaf.

    Rows of the training fall where they fell then. So, of the same rows, every leaf holds as many as in training; of
    some of them none holds more; of more than them none holds less. It counts where other rows would hardly do so.
    """
    found = {SAME, AMONG, AROUND}
    chances = dict.fromkeys(found, 1.0)
    for before, now in _in_leaves(subject, rows):
        found &= _relations(before, now)
        for relation in found:
            chances[relation] = min(chances[relation], _chance(relation, before, int(now.sum())))
        if not found:
            return None
    return next((one for one in (SAME, AMONG, AROUND) if one in found and chances[one] < CHANCE), None)


def _in_leaves(subject: Subject, rows: Rows) -> Iterator[tuple[Array, Array]]:
    """How many rows ended in each node of a tree in training, and how many do now."""
    for m, member in enumerate(subject.members):
        ensemble = member._model.ensemble
        bounds = np.append(ensemble.roots, ensemble.nodes.n_nodes)[: MOST_TREES + 1].tolist()
        ended = subject.leaves(rows.X, m, range(len(bounds) - 1))
        for (begin, end), nodes in zip(pairwise(bounds), ended, strict=True):
            is_leaf = ensemble.nodes.is_leaf[begin:end]
            before = np.where(is_leaf, ensemble.nodes.n_samples[begin:end], 0)
            yield before, np.bincount(nodes, minlength=end - begin)


def _relations(before: Array, now: Array) -> set[str]:
    """How rows may be related to those of training, by the numbers of both in nodes."""
    found = set()
    if (now == before).all():
        found.add(SAME)
    elif (now <= before).all():
        found.add(AMONG)
    elif (now >= before).all():
        found.add(AROUND)
    return found


def _chance(relation: str, before: Array, m: int) -> float:
    """About the chance that m other rows fall so into the nodes of a tree."""
    share = before / before.sum()
    if relation == SAME:
        each = binom.pmf(before, m, share)
    elif relation == AMONG:
        each = binom.cdf(before, m, share)
    else:
        each = binom.sf(before - 1, m, share)
    return float(np.prod(each))
