"""Interactions: which features a model combines in hyperplanes, how often, and what that gains."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.model.flat_ensemble import unpack
from sublearn.core.model.flat_tree import FlatTree, plane_decreases, slope_decreases
from sublearn.explanation.members import check_model, estimators_of
from sublearn.explanation.names import names_for
from sublearn.forest import SLMForest
from sublearn.kernels.layout import Array

OWNER = "interactions"
MOST = 10  # pairs that are printed


class Interactions(NamedTuple):
    """Matrices over pairs of features; see `interactions`.

    All are symmetric. What a pair has stands at both of its places; the diagonal is for features alone.

    Attributes
    ----------
    names : list of str
        Names of the features.
    counts : ndarray of shape (n_features, n_features)
        Hyperplanes that combine two features; on the diagonal, those of one feature.
    visits : ndarray of shape (n_features, n_features)
        The same, where each hyperplane counts by the share of the training samples that come to it.
    gains : ndarray of shape (n_features, n_features)
        Share of each pair in what all hyperplanes take from the loss; the diagonal and what is above it add up to 1.
    """

    names: list[str]
    counts: Array
    visits: Array
    gains: Array

    def pairs(self) -> list[tuple[str, str, float, float]]:
        """Pairs of features that are combined, the one of largest gain first: two names, count, gain."""
        a, b = np.triu_indices(len(self.names), 1)
        there = self.counts[a, b] > 0
        a, b = a[there], b[there]
        order = np.argsort(-self.gains[a, b], kind="stable")
        return [
            (self.names[i], self.names[j], float(self.counts[i, j]), float(self.gains[i, j]))
            for i, j in zip(a[order].tolist(), b[order].tolist(), strict=True)
        ]

    def __str__(self) -> str:
        pairs, alone = self.pairs(), float(np.trace(self.gains))
        lines = [f"{100 * alone:.3g} % of the gain by features alone, {100 * (self._total() - alone):.3g} % by pairs"]
        lines += [f"{100 * gain:6.2f} %  {count:g} x  {one}, {other}" for one, other, count, gain in pairs[:MOST]]
        return "\n".join([*lines, *([f"... and {len(pairs) - MOST} more pairs"] if len(pairs) > MOST else [])])

    def _total(self) -> float:
        return float(np.triu(self.gains).sum())


def interactions(model: Any) -> Interactions:
    """Count which features are combined in hyperplanes, and share out what these gain.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.

    Returns
    -------
    found : Interactions
        Matrices over pairs of features. ``print`` shows the pairs of largest gain.

    Notes
    -----
    The gain is what a hyperplane takes from the training loss, all of it, and not what it gains beyond its best single
    feature: models do not keep what that would have been. A hyperplane of three features or more shares its gain among
    its pairs, by the products of their squared coefficients. Linear models in leaves add to the diagonal. The trees of
    a forest count the same, and members of an average by their weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, interactions
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SLMClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> interactions(model).counts.shape
    (4, 4)
    """
    check_model(model, OWNER)
    estimators = estimators_of(model)
    weights = getattr(model, "weights_", np.ones(1)).tolist()
    counts, visits, gains = np.sum(
        [weight * np.stack(_of_estimator(one)) for one, weight in zip(estimators, weights, strict=True)], axis=0
    )
    return Interactions(names_for(estimators[0]._model), counts, visits, gains)


def _of_estimator(estimator: Any) -> tuple[Array, Array, Array]:
    """Counts, visits and gains of one fitted model."""
    model = estimator._model
    trees = unpack(model.ensemble)
    if getattr(estimator, "_has_excess", False) and len(trees) > 1:  # of a few targets far from all others
        trees = trees[1:]
    found = [_of_tree(tree, model.maps.features, model.n_features) for tree in trees]
    counts, visits = (np.sum([part[i] for part in found], axis=0) for i in range(2))
    each = [_normed(part[2]) for part in found] if isinstance(estimator, SLMForest) else [part[2] for part in found]
    return counts, visits, _normed(np.sum(each, axis=0))


def _normed(gains: Array) -> Array:
    """Gains whose diagonal and upper triangle add up to 1; zeros stay zeros."""
    total = np.triu(gains).sum()
    return gains / total if total > 0 else gains


def _of_tree(tree: FlatTree, features: Array, n_features: int) -> tuple[Array, Array, Array]:
    """Counts, visits and gains of a tree; `features` are those of views."""
    counts, visits, gains = np.zeros((3, n_features, n_features))
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_plane))
    share = tree.n_samples[node] / tree.n_samples[0]
    for p, gain in enumerate(plane_decreases(tree).tolist()):
        terms = slice(tree.first_term[p], tree.first_term[p + 1])
        squares = np.bincount(features[tree.feature[terms]], tree.coefficient[terms].astype(np.float64) ** 2)
        own = np.flatnonzero(squares)
        parts = _parts(squares[own])
        at = np.ix_(own, own)
        counts[at] += parts > 0
        visits[at] += (parts > 0) * share[p]
        gains[at] += parts * gain
    if tree.slopes.first.size:
        np.add.at(gains, (features[tree.slopes.feature],) * 2, slope_decreases(tree))
    return counts, visits, gains


def _parts(squares: Array) -> Array:
    """How a hyperplane's gain is shared among the pairs of its features, or kept by its only one."""
    if len(squares) == 1:
        return np.ones((1, 1))
    products = np.outer(squares, squares)
    np.fill_diagonal(products, 0.0)
    parts: Array = products / np.triu(products).sum()
    return parts
