"""A fitted tree as flat arrays, a part of the fitted model: pruning, importances and export read them.

Prediction walks the records that `find_routes` of `core.model.flat_ensemble` makes of them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sublearn.kernels.layout import Array


class Kind(NamedTuple):
    """What the entries of an array of a tree are."""

    owner: str  # what there is one entry of, or a row, apart from the ends of first_plane and first_term
    dtype: Any


KINDS = {
    "parent": Kind("node", np.int32),
    "depth": Kind("node", np.int32),
    "first_plane": Kind("node", np.int32),
    "first_child": Kind("node", np.int32),
    "value": Kind("node", np.float64),
    "loss": Kind("node", np.float64),
    "decrease": Kind("node", np.float64),
    "weight": Kind("node", np.float64),
    "n_samples": Kind("node", np.int64),
    "threshold": Kind("plane", np.int32),
    "plane_decrease": Kind("plane", np.float64),
    "first_term": Kind("plane", np.int32),
    "feature": Kind("term", np.int32),
    "coefficient": Kind("term", np.int16),
    "children": Kind("cell", np.int32),
}


class LeafSlopes(NamedTuple):
    """Linear models in leaves: node i has the slopes first[i] to first[i + 1].

    A node answers with its value plus slope * (code - mean) over these, where a code beyond those that were learned
    from counts as the nearest of them. So the value is the answer at the mean of the node's samples.
    """

    first: Array  # int32 (n_nodes + 1,); empty where there are no slopes at all
    feature: Array  # int32 (n_slopes,); views, where a feature has several
    slope: Array  # float64 (n_slopes, n_values)
    mean: Array  # float64 (n_slopes, n_values)
    low: Array  # int16 (n_slopes,), the lowest code that was learned from
    high: Array  # int16 (n_slopes,), the highest
    decrease: Array  # float64 (n_slopes,), of the loss, as a node's


NO_SLOPES = LeafSlopes(
    first=np.empty(0, np.int32),
    feature=np.empty(0, np.int32),
    slope=np.empty((0, 1)),
    mean=np.empty((0, 1)),
    low=np.empty(0, np.int16),
    high=np.empty(0, np.int16),
    decrease=np.empty(0),
)


class FlatTree(NamedTuple):
    """Nodes level by level, the root first; each node's hyperplanes, and each hyperplane's terms, in order.

    Node i has the hyperplanes first_plane[i] to first_plane[i + 1]. Hyperplane p is positive where
    sum(coefficient[t] * code of feature[t]) >= threshold[p] over t from first_term[p] to first_term[p + 1].
    Its side is bit p - first_plane[i] of the child code. The child is children[first_child[i] + code], or -1
    where no training sample fell: the route ends there, and the node itself answers. Decreases of a regression
    are in squared steps of its integer targets, which neither over- nor underflow.
    """

    # nodes
    parent: Array  # -1 for the root
    depth: Array
    first_plane: Array  # (n_nodes + 1,)
    first_child: Array  # -1 for a leaf
    value: Array  # (n_nodes, n_values): class shares, the mean target, or boosting's steps
    loss: Array
    decrease: Array  # of the loss, by the node's hyperplanes together; 0 for a leaf
    weight: Array  # share of all samples' weight; boosting: sum of hessians
    n_samples: Array
    # hyperplanes
    threshold: Array
    plane_decrease: Array  # of the loss, by this hyperplane alone
    first_term: Array  # (n_planes + 1,)
    # terms
    feature: Array  # views, where a feature has several
    coefficient: Array
    # 2^q entries a split node
    children: Array
    # boosting: linear models in leaves
    slopes: LeafSlopes = NO_SLOPES

    def columns(self) -> dict[str, Array]:
        """All arrays by name."""
        own = {name: getattr(self, name) for name in KINDS}
        return own | {f"slopes.{name}": column for name, column in self.slopes._asdict().items()}

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @property
    def n_planes(self) -> int:
        """Number of hyperplanes."""
        return len(self.threshold)

    @property
    def is_leaf(self) -> Array:
        """Whether each node is a leaf."""
        return self.first_child < 0


def scaled(tree: FlatTree, factor: float) -> FlatTree:
    """The tree with answers multiplied by a factor."""
    return tree._replace(value=tree.value * factor, slopes=tree.slopes._replace(slope=tree.slopes.slope * factor))


def upward(tree: FlatTree) -> Iterator[Array]:
    """The nodes level by level, the deepest first, without the root."""
    for depth in range(int(tree.depth[-1]), 0, -1):
        yield np.flatnonzero(tree.depth == depth)


def offsets(counts: Array) -> Array:
    """Where each of some consecutive pieces begins, and where the last one ends."""
    places = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=places[1:])
    return places


def decision_path(tree: FlatTree, leaves: Array) -> tuple[Array, Array]:
    """Nodes on the way to each of `leaves`, root first: (indices, indptr) of a sparse matrix by rows."""
    lengths = tree.depth[leaves] + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(indptr[-1], np.int64)
    node, at = leaves.copy(), indptr[1:] - 1
    rows = np.arange(len(leaves))
    while len(rows):
        indices[at[rows]] = node[rows]
        at[rows] -= 1
        node[rows] = tree.parent[node[rows]]
        rows = rows[node[rows] >= 0]
    return indices, indptr


def feature_decreases(tree: FlatTree, features: Array) -> Array:
    """What each feature takes from the loss, over all nodes; `features` are those of the views (n_views,).

    A node's decrease goes to its hyperplanes by what each one brings alone, and from a hyperplane to its
    features by their squared coefficients: the shares of independent features in the projection's variance. What a
    linear model in a leaf adds to that goes to the features of its slopes.
    """
    credit = plane_decreases(tree)
    plane = np.repeat(np.arange(tree.n_planes), np.diff(tree.first_term))
    squares = tree.coefficient.astype(np.float64) ** 2
    share = squares / np.bincount(plane, squares, tree.n_planes)[plane]
    decreases: Array = np.bincount(features[tree.feature], credit[plane] * share, features[-1] + 1).astype(np.float64)
    slopes = tree.slopes
    if slopes.first.size:
        decreases += np.bincount(features[slopes.feature], slope_decreases(tree), len(decreases))
    return decreases


def plane_decreases(tree: FlatTree) -> Array:
    """What each hyperplane takes from the loss: the share of its node's decrease that it has by what it brings alone.

    Times the weight of the node, so that these add up over all nodes.
    """
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_plane))
    alone = np.bincount(node, tree.plane_decrease, tree.n_nodes)
    credit: Array = (tree.weight * tree.decrease)[node] * (tree.plane_decrease / alone[node])
    return credit


def slope_decreases(tree: FlatTree) -> Array:
    """What each slope of a linear model in a leaf takes from the loss, times the weight of the leaf."""
    credit: Array = np.repeat(tree.weight, np.diff(tree.slopes.first)) * tree.slopes.decrease
    return credit


def shares(amounts: Array) -> Array:
    """Shares in the sum; zeros stay zeros."""
    total = amounts.sum()
    return amounts / total if total > 0 else amounts
