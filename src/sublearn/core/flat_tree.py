"""The fitted form of a tree: flat arrays. Prediction, files, export and plots read only this."""

from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.kernels.layout import Array
from sublearn.kernels.prediction import find_leaves


class FlatTree(NamedTuple):
    """Nodes level by level, the root first; each node's hyperplanes, and each hyperplane's terms, in order.

    Node i has the hyperplanes first_plane[i] to first_plane[i + 1]. Hyperplane p is positive where
    sum(coefficient[t] * code of feature[t]) >= threshold[p] over t from first_term[p] to first_term[p + 1].
    Its side is bit p - first_plane[i] of the child code. The child is children[first_child[i] + code], or -1
    where no training sample fell: the route ends there, and the node itself answers. Decreases of a regression
    are in squared steps of its integer targets, which neither over- nor underflow.
    """

    # nodes
    parent: Array  # int32, -1 for the root
    depth: Array  # int32
    first_plane: Array  # int32 (n_nodes + 1,)
    first_child: Array  # int32, -1 for a leaf
    value: Array  # float64 (n_nodes, n_values): class shares or the mean target
    loss: Array  # float64
    decrease: Array  # float64, of the loss, by the node's hyperplanes together, in target steps; 0 for a leaf
    weight: Array  # float64, share of all samples' weight
    n_samples: Array  # int64
    # hyperplanes
    threshold: Array  # int32
    plane_decrease: Array  # float64, of the loss, by this hyperplane alone, in target steps
    first_term: Array  # int32 (n_planes + 1,)
    # terms
    feature: Array  # int32
    coefficient: Array  # int16
    # 2^q entries a split node
    children: Array  # int32

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


def offsets(counts: Array) -> Array:
    """Where each of some consecutive pieces begins, and where the last one ends."""
    out = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, dtype=np.int32, out=out[1:])
    return out


def apply(tree: FlatTree, codes: Array, workers: Workers) -> Array:
    """Node in which the route of each sample ends; codes (n_features, n_samples)."""
    leaves = np.empty(codes.shape[1], np.int64)
    cost = 1 + 8 * int(tree.depth[-1])
    workers.run(lambda a, b: find_leaves(codes, tree, a, b, leaves), np.array([cost]), items=len(leaves))
    return leaves


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


def feature_importances(tree: FlatTree, n_features: int) -> Array:
    """Share of each feature in the total loss decrease.

    A node's decrease goes to its hyperplanes by what each one brings alone, and from a hyperplane to its
    features by their squared coefficients: the shares of independent features in the projection's variance.
    """
    node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_plane))
    alone = np.bincount(node, tree.plane_decrease, tree.n_nodes)
    credit = (tree.weight * tree.decrease)[node] * tree.plane_decrease / alone[node]
    plane = np.repeat(np.arange(tree.n_planes), np.diff(tree.first_term))
    squares = tree.coefficient.astype(np.float64) ** 2
    share = squares / np.bincount(plane, squares, tree.n_planes)[plane]
    importances = np.bincount(tree.feature, credit[plane] * share, n_features).astype(np.float64)
    total = importances.sum()
    return importances / total if total > 0 else importances
