"""A model as what its answers are made of: one fitted model, or the members of an average, each with its weight."""

from typing import Any, NamedTuple

import numpy as np

from sublearn._base.estimator import SLMPredictor
from sublearn.core.data.codes import encode_samples
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_ensemble import add_values
from sublearn.core.parallel import Workers
from sublearn.explanation.members import check_model
from sublearn.kernels.layout import Array

ADDITIVE = (MEAN, "identity")  # links by which an answer is a sum over trees


class Draw(NamedTuple):
    """What is drawn where a game is too large for all of its sets: pairs, each of an order and its reverse."""

    key: int
    n_pairs: int


class Credits(NamedTuple):
    """What each feature of each sample is worth, and how sure that is."""

    values: Array  # float64 (n_samples, n_features, n_outputs)
    variances: Array  # the same shape; 0 where values are exact
    is_exact: bool


class Part(NamedTuple):
    """A fitted model that counts with a weight, and all samples as it sees them: to explain, and of the background."""

    weight: float
    model: FittedModel
    own: Array  # int16 (n_views, n_samples), codes
    background: Array  # int16 (n_views, n_background)

    @property
    def is_additive(self) -> bool:
        """Whether its answers are sums over trees."""
        return self.model.link in ADDITIVE

    @property
    def used(self) -> Array:
        """The features that some hyperplane or some leaf uses."""
        nodes = self.model.ensemble.nodes
        views = np.concatenate([nodes.feature[nodes.coefficient != 0], nodes.slopes.feature])
        features: Array = np.unique(self.model.maps.features[views])
        return features

    def raw(self, codes: Array, workers: Workers) -> Array:
        """Raw values (n, n_outputs) of samples by their codes, or the mean over trees."""
        model, contributions = self.model, self.model.contributions
        is_mean = model.link == MEAN
        out = np.empty((codes.shape[1], contributions.shape[1]))
        out[:] = 0.0 if is_mean else model.start
        add_values(model.ensemble, contributions, codes, out, workers)
        return out / model.ensemble.n_trees if is_mean else out

    def answer(self, codes: Array, workers: Workers) -> Array:
        """Answers (n, n_answers): probabilities, or one number."""
        raw = self.raw(codes, workers)
        return raw if self.model.link == MEAN else self.model.answer(raw).reshape(len(raw), -1)


def members_of(model: Any) -> list[tuple[float, SLMPredictor]]:
    """Fitted estimators with their weights, which add up to 1; an average without those of weight 0."""
    check_model(model, "explain")
    if isinstance(model, SLMPredictor):
        return [(1.0, model)]
    pairs = zip(model.weights_.tolist(), model.estimators_, strict=True)
    return [(weight, member) for weight, member in pairs if weight > 0]


def make_parts(members: list[tuple[float, SLMPredictor]], X: Any, background: Any, workers: Workers) -> list[Part]:
    """Check the samples as each member would to predict them, and encode them."""
    parts = []
    for weight, member in members:
        own = member._check_samples(X)
        try:
            others = member._check_samples(background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background of explain must be a table like X: {error}") from None
        maps = member._model.maps
        codes = (encode_samples(some, maps, workers) for some in (own, others))
        parts.append(Part(weight, member._model, *codes))
    return parts
