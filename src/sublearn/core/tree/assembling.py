"""What threads have grown becomes a tree."""

from typing import NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.tree.answers import Answers
from sublearn.core.tree.criterion import NodeSums
from sublearn.kernels.assembling import Assembled, Places, assemble
from sublearn.kernels.layout import Array, Samples, n_channels
from sublearn.kernels.nodes import CELLS, NODES, PLANES, TERMS, Grown


class Placed(NamedTuple):
    """A tree, and where its training samples are."""

    tree: FlatTree
    places: Array  # int64 (n_nodes, 2), where the samples of each node begin and end in `order`
    order: Array  # int32 (n_samples,); those of a node ascend where those of the root do
    ends: Array | None = None  # int64, nodes in which routes end; None: all leaves

    @property
    def leaves(self) -> tuple[Array, Array]:
        """Numbers and places of the nodes in which routes end."""
        numbers = np.flatnonzero(self.tree.is_leaf) if self.ends is None else self.ends
        return numbers, self.places[numbers]


def assembled(grown: Grown, states: Array, samples: Samples, answers: Answers) -> tuple[FlatTree, Array]:
    """The tree that threads have grown, and where the samples of each node are."""
    n, n_planes, n_terms, n_cells = (sum(states[:, number].tolist()) for number in (NODES, PLANES, TERMS, CELLS))
    node, plane, term, cell, order = np.empty((5, n), np.int64)
    n_totals = n_channels(samples) - max(samples.n_classes - 1, 0)
    out = Assembled(
        parent=np.empty(n, np.int32),
        depth=np.empty(n, np.int32),
        first_plane=np.empty(n + 1, np.int32),
        first_child=np.empty(n, np.int32),
        threshold=np.empty(n_planes, np.int32),
        plane_decrease=np.empty(n_planes),
        first_term=np.empty(n_planes + 1, np.int32),
        feature=np.empty(n_terms, np.int32),
        coefficient=np.empty(n_terms, np.int16),
        children=np.empty(n_cells, np.int32),
        places=np.empty((n, 2), np.int64),
        totals=np.empty((n, n_totals), np.int64),
        shares=np.zeros((n, samples.n_classes)),  # where classes are many, little of it is ever touched
        remainder=np.empty(n, np.int64),
        loss=np.empty(n),
        decrease=np.empty(n),
    )
    found = Places(node=node, plane=plane, term=term, cell=cell, child=np.empty(n_cells, np.int64), order=order)
    assemble(grown, np.append(0, np.cumsum(states[:, NODES])), found, out)
    weights = out.totals[:, 0]
    counts = out.totals[:, -1] if samples.weights.size or samples.curvatures.size else weights
    pure = np.empty(0, np.bool_)  # a finished tree has no use for it
    sums = NodeSums(
        totals=out.totals, remainders=out.remainder, losses=out.loss, pure=pure, weights=weights, counts=counts
    )
    tree = FlatTree(
        parent=out.parent,
        depth=out.depth,
        first_plane=out.first_plane,
        first_child=out.first_child,
        value=out.shares if samples.n_classes else answers.values(sums),
        loss=answers.losses(out.loss),
        decrease=answers.decreases(out.decrease),
        weight=answers.weights(sums.weights, int(sums.weights[0])),
        n_samples=np.ascontiguousarray(sums.counts),
        threshold=out.threshold,
        plane_decrease=answers.decreases(out.plane_decrease),
        first_term=out.first_term,
        feature=out.feature,
        coefficient=out.coefficient,
        children=out.children,
    )
    return tree, out.places
