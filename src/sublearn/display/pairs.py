"""Pairs of features that hyperplanes combine: how often, and with what gain."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.model.fitted import FittedModel
from sublearn.kernels.layout import Array


class Pairs(NamedTuple):
    """Symmetric matrices over features; the diagonal is about hyperplanes of one feature alone."""

    counts: Array  # int64 (n_features, n_features), hyperplanes
    gains: Array  # float64 (n_features, n_features), shares of what all hyperplanes take from the loss


def pairs_of(estimator: Any) -> Pairs:
    """The pairs of a fitted model; of an average, those of its members together, gains by their weights."""
    members = [(estimator._model, 1.0)] if hasattr(estimator, "_model") else None
    if members is None:
        weights = estimator.weights_.tolist()
        members = [(one._model, weight) for one, weight in zip(estimator.estimators_, weights, strict=True)]
    found = [(_pairs_in(model), weight) for model, weight in members]
    total = sum(weight * pairs.gains for pairs, weight in found)
    return Pairs(sum(pairs.counts for pairs, weight in found if weight > 0), np.asarray(total))


def _pairs_in(model: FittedModel) -> Pairs:
    """A hyperplane of several features counts for each pair of them; its gain is shared among the pairs evenly."""
    tree, n = model.ensemble.nodes, model.n_features
    counts, gains = np.zeros((n, n), np.int64), np.zeros((n, n))
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_plane))
    alone = np.bincount(node, tree.plane_decrease, tree.n_nodes)
    gain = (tree.weight * tree.decrease)[node] * (tree.plane_decrease / alone[node])
    features = model.maps.features[tree.feature]
    for p in range(tree.n_planes):
        own = sorted(set(features[tree.first_term[p] : tree.first_term[p + 1]].tolist()))
        pairs = list(combinations(own, 2)) or [(own[0], own[0])]
        for f, g in pairs:
            for at in {(f, g), (g, f)}:
                counts[at] += 1
                gains[at] += gain[p] / len(pairs)
    total = np.triu(gains).sum()
    return Pairs(counts, gains / total if total > 0 else gains)
