"""A small tree that imitates the model, and how well it does so on rows that it has not seen."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.reporting.measures import Figure, measure_numbers, wilson
from sublearn.reporting.study import SURROGATE_KEY, Study
from sublearn.tree import SLMClassifier, SLMRegressor

DEPTH, FEWEST, MOST_ROWS = 3, 30, 6000  # levels of the tree; rows that are needed and used
TESTED = 3  # one row in so many is kept to test on
SMALLEST = 5, 0.03  # rows in a leaf, and share of all, at the least


class Surrogate(NamedTuple):
    """The small tree and its fidelity."""

    model: Any
    fidelity: Figure  # share of equal answers, or explained share of the model's
    baseline: float  # the same of always the most frequent answer, or of the mean
    n_learned: int
    n_tested: int


def surrogate_of(study: Study) -> Surrogate | None:
    """The small tree; None where there are too few rows, or the model answers the same for all."""
    if study.rows.n < FEWEST:
        return None
    order = np.random.default_rng([study.seed, SURROGATE_KEY]).permutation(study.rows.n)[:MOST_ROWS]
    tested, learned = np.sort(order[: len(order) // TESTED]), np.sort(order[len(order) // TESTED :])
    subject = study.subject
    targets = subject.model.predict(study.rows.X)
    if len(np.unique(targets[learned])) < 2 or len(np.unique(targets[tested])) < 2:
        return None
    kind = SLMClassifier if subject.is_classifier else SLMRegressor
    tree = kind(
        max_depth=DEPTH,
        max_partitions=1,
        n_projections=0,  # one feature a question
        min_samples_leaf=max(SMALLEST[0], int(SMALLEST[1] * len(learned))),
        categorical_features=subject.members[0].categorical_features,
        random_state=study.seed,
        n_jobs=1,
    ).fit(study.rows.only(learned), targets[learned])
    said = tree.predict(study.rows.only(tested))
    if subject.is_classifier:
        n, hits = len(tested), int((said == targets[tested]).sum())
        _, counts = np.unique(targets[tested], return_counts=True)
        fidelity, baseline = Figure("fidelity", hits / n, *wilson(hits, n)), float(counts.max() / n)
    else:
        fidelity, baseline = measure_numbers(targets[tested], said)[0], 0.0
    return Surrogate(model=tree, fidelity=fidelity, baseline=baseline, n_learned=len(learned), n_tested=len(tested))
