"""The size of a model by the formulas of the paper (Sec. IV, Table II), and the shape of a tree."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

NO_LOSS = 1e-9  # what a loss of nothing may be computed as


class Size(NamedTuple):
    """Sizes of a model; None where the paper has no formula, or where a model is not one tree."""

    n_parameters: int | None
    depth: int | None
    n_splits: int | None = None  # hyperplanes of an SLM tree, cuts of a decision tree
    nodes: list[int] | None = None  # of each level, the root's first, as the appendix has them
    pure_share: float | None = None  # of the training samples, in leaves without loss


def size_of(model: Any, n_train: int) -> Size:
    """Parameters and shape of a fitted contender."""
    if isinstance(model, Pipeline):
        model = model[-1]
    if isinstance(model, SVC):
        return Size(svm_parameters(n_train, model.n_features_in_, len(model.support_)), None)
    if isinstance(model, (DecisionTreeClassifier, DecisionTreeRegressor)):
        return _size_of_decision_tree(model)
    size = Size(getattr(model, "n_parameters_", None), getattr(model, "depth_", None))
    if not hasattr(model, "tree_"):
        return size
    tree = model.tree_
    pure = pure_share(tree.loss[tree.is_leaf], tree.n_samples[tree.is_leaf])
    return size._replace(n_splits=model.n_partitions_, nodes=np.bincount(tree.depth).tolist(), pure_share=pure)


def _size_of_decision_tree(model: Any) -> Size:
    """Two parameters a split: the feature and the value."""
    tree = model.tree_
    level, nodes = np.array([0]), []
    while len(level):
        nodes.append(len(level))
        children = np.concatenate([tree.children_left[level], tree.children_right[level]])
        level = children[children >= 0]
    is_leaf = tree.children_left < 0
    pure = pure_share(tree.impurity[is_leaf], tree.n_node_samples[is_leaf])
    n_splits = int(np.sum(~is_leaf))
    return Size(2 * n_splits, int(model.get_depth()), n_splits, nodes, pure)


def pure_share(losses: Any, n_samples: Any) -> float:
    """Share of the samples that are in leaves without loss, up to rounding."""
    return float(np.sum(n_samples[losses < NO_LOSS]) / np.sum(n_samples))


def svm_parameters(n_train: int, n_features: int, n_support: int) -> int:
    """A slack variable a sample, the bias, and for each support vector its features, coefficient and class."""
    return n_train + 1 + (n_features + 2) * n_support
