"""What explanations see of a fitted model: its members, which are one model each, and what they answer together."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.checking import check_samples
from sublearn._base.estimator import SLMPredictor
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array

ALLOWED = "a fitted tree, forest, boosting or average of sublearn"


class Member(NamedTuple):
    """One fitted model, and how much it counts."""

    model: FittedModel
    weight: float

    def answers(self, x: Array, workers: Workers) -> Array:
        """Probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        if self.model.link == MEAN:
            return self.model.mean(x, workers)
        answers = self.model.answer(self.model.raw(x, np.empty(0), workers))
        return answers if answers.ndim == 2 else answers[:, None]


def check_model(model: Any, owner: str) -> None:
    """Raise an error for what is no fitted model of ours."""
    if not isinstance(model, SLMPredictor | SLMAverageClassifier | SLMAverageRegressor):
        raise TypeError(f"model of {owner} must be {ALLOWED}; got {type(model).__name__}.")
    check_is_fitted(model)


def estimators_of(model: Any) -> list[SLMPredictor]:
    """The members of an average, or the model itself."""
    return [model] if isinstance(model, SLMPredictor) else list(model.estimators_)


def members_of(model: Any, owner: str) -> list[Member]:
    """The members of a model; an average without those of weight 0."""
    check_model(model, owner)
    if isinstance(model, SLMPredictor):
        return [Member(model._model, 1.0)]
    pairs = zip(model.estimators_, model.weights_.tolist(), strict=True)
    return [Member(one._model, weight) for one, weight in pairs if weight > 0]


def answers_of(members: list[Member], x: Array, workers: Workers) -> Array:
    """Probabilities (n_samples, n_classes), or numbers (n_samples, 1), of all members together."""
    total = np.zeros(())
    for member in members:
        total = total + member.weight * member.answers(x, workers)
    return total


def numbers_of(model: Any, X: Any) -> Array:
    """The table X as a matrix of numbers (n_samples, n_features), checked as `predict` does."""
    checked: Array = np.require(check_samples(estimators_of(model)[0], X, reset=False), np.float64, ["C", "W"])
    return checked
