"""What is drawn of an estimator in a plane: classes, the probability of one, numbers, or one tree of boosting."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_ensemble import alone, unpack
from sublearn.display.others import OWNER
from sublearn.export.chosen import last_step
from sublearn.kernels.layout import Array


class Asked(NamedTuple):
    """What is drawn of an estimator."""

    model: FittedModel
    labels: Array | None  # None: numbers
    column: int  # of the answers, where numbers are drawn
    name: str
    what: str


def check_estimator(estimator: Any) -> None:
    """Raise an error for what has no cells of its own."""
    if isinstance(estimator, SLMAverageClassifier | SLMAverageRegressor):
        raise TypeError(
            f"estimator of {OWNER} must be one model; got {type(estimator).__name__}, whose members have codes of "
            "their own. Draw one of its estimators_."
        )
    if not isinstance(estimator, SLMPredictor):
        got = f"{type(estimator).__name__}.{last_step(estimator)}"
        raise TypeError(f"estimator of {OWNER} must be a fitted tree, forest or boosting of sublearn; got {got}")
    check_is_fitted(estimator)


def asked_of(estimator: Any, tree: int | None, target: Any) -> Asked:
    """What is drawn: classes, the probability of one, numbers, or what one tree of boosting adds."""
    model, name = estimator._model, type(estimator).__name__
    labels = getattr(estimator, "classes_", None)
    column = _column_of(labels, target)
    what = "prediction" if labels is None or target is None else f"probability of {target}"
    whole = Asked(model, labels if target is None else None, column, name, what)
    return whole if tree is None else _one_tree(whole, labels, tree, target)


def _one_tree(whole: Asked, labels: Array | None, tree: Any, target: Any) -> Asked:
    """The same of one tree, which in boosting adds numbers to the raw values."""
    n = whole.model.ensemble.n_trees
    if isinstance(tree, bool) or not isinstance(tree, int | np.integer) or not 0 <= tree < n:
        raise ValueError(f"tree of {OWNER} must be an int from 0 to {n - 1}; got {tree!r}.")
    model = replace(whole.model, ensemble=alone(unpack(whole.model.ensemble)[tree]), votes=None)
    asked = whole._replace(model=model, name=f"tree {tree} of {whole.name}")
    if model.link == MEAN:
        return asked
    model = replace(model, link=MEAN, start=np.empty(0), trees_a_round=1)
    step = "step of the raw value"
    if model.contributions.shape[1] == 1:
        return asked._replace(model=model, labels=None, column=0, what=step)
    if labels is not None and target is None:
        raise ValueError(
            f"target of {OWNER} must be one of {labels.tolist()} with tree={tree}, which adds a number to each class; "
            "got None."
        )
    return asked._replace(model=model, what=f"{step} of {target}")


def _column_of(labels: Array | None, target: Any) -> int:
    """Where a class is in the answers."""
    if target is None:
        return 0
    if labels is None:
        raise ValueError(f"target of {OWNER} must be None for numbers; got {target!r}.")
    found = np.flatnonzero(labels == target)
    if len(found) != 1:
        raise ValueError(f"target of {OWNER} must be one of {labels.tolist()}; got {target!r}.")
    return int(found[0])
