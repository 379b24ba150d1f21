"""Collects the parts of a growing tree and turns them into a `FlatTree`."""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import KINDS, FlatTree, offsets
from sublearn.core.tree.answers import Answers
from sublearn.core.tree.criterion import NodeSums
from sublearn.kernels.layout import Array


class Nodes(NamedTuple):
    """What is known of some nodes of a growing tree."""

    parent: Array  # int64 (n_nodes,), numbered in the order nodes are added; -1 for the root
    cell: Array  # int64 (n_nodes,), child code
    depth: Array  # int64 (n_nodes,)
    places: Array  # int64 (n_nodes, 2), where their samples begin and end
    sums: NodeSums
    n_planes: Array  # int64 (n_nodes,), 0 for a leaf
    decrease: Array  # float64 (n_nodes,)


class Planes(NamedTuple):
    """The hyperplanes of some nodes, node by node, and their terms."""

    threshold: Array
    decrease: Array
    n_terms: Array
    feature: Array
    coefficient: Array

    @classmethod
    def none(cls) -> "Planes":
        """The hyperplanes of leaves: none."""
        whole = np.empty(0, np.int64)
        return cls(whole, np.empty(0), whole, whole, whole)


class Recorded(NamedTuple):
    """Some nodes of a tree, and their hyperplanes."""

    nodes: Nodes
    planes: Planes


class Recorder:
    """Numbers nodes in the order they are added; in the end level by level."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.parts: list[Recorded] = []

    def add(self, part: Recorded) -> int:
        """Add some nodes; returns the number of the first."""
        first = sum(len(before.nodes.parent) for before in self.parts)
        self.parts.append(part)
        return first

    def finish(self) -> tuple[FlatTree, Array]:
        """The tree, and where the samples of each node are."""
        nodes, planes = self._joined()
        if len(self.parts) > 1:
            nodes, planes = level_by_level(nodes, planes)
        self.parts.clear()
        sums, is_split = nodes.sums, nodes.n_planes > 0
        n_cells = np.where(is_split, 1 << nodes.n_planes, 0)
        first_child = offsets(n_cells)
        children = np.full(first_child[-1], -1, np.int32)
        children[first_child[nodes.parent[1:]] + nodes.cell[1:]] = np.arange(1, len(is_split))
        columns = {
            "parent": nodes.parent,
            "depth": nodes.depth,
            "first_plane": offsets(nodes.n_planes),
            "first_child": np.where(is_split, first_child[:-1], -1),
            "value": self.answers.values(sums),
            "loss": self.answers.losses(sums.losses),
            "decrease": self.answers.decreases(nodes.decrease),
            "weight": self.answers.weights(sums.weights, int(sums.weights[0])),
            "n_samples": sums.counts,
            "threshold": planes.threshold,
            "plane_decrease": self.answers.decreases(planes.decrease),
            "first_term": offsets(planes.n_terms),
            "feature": planes.feature,
            "coefficient": planes.coefficient,
            "children": children,
        }
        typed: dict[str, Any] = {name: column.astype(KINDS[name].dtype) for name, column in columns.items()}
        tree = FlatTree(**typed)
        return tree, nodes.places

    def _joined(self) -> tuple[Nodes, Planes]:
        if len(self.parts) == 1:
            return self.parts[0].nodes, self.parts[0].planes
        columns = [np.concatenate(c) for c in zip(*(_flat(part.nodes) for part in self.parts), strict=True)]
        planes = Planes(*(np.concatenate(c) for c in zip(*(part.planes for part in self.parts), strict=True)))
        return _nodes(columns), planes


def _nodes(columns: list[Array]) -> Nodes:
    parent, cell, depth, places, *sums, n_planes, decrease = columns
    return Nodes(
        parent=parent, cell=cell, depth=depth, places=places, sums=NodeSums(*sums), n_planes=n_planes, decrease=decrease
    )


def _flat(nodes: Nodes) -> list[Array]:
    return [*nodes[:4], *nodes.sums, *nodes[5:]]


def level_by_level(nodes: Nodes, planes: Planes) -> tuple[Nodes, Planes]:
    """Nodes and hyperplanes numbered level by level, children in the order of their parents and child codes.

    Within a level that is the order of the nodes' samples.
    """
    old = np.lexsort((nodes.places[:, 0], nodes.depth))
    number = np.empty_like(old)
    number[old] = np.arange(len(old))
    owner = np.repeat(number, nodes.n_planes)
    plane = np.argsort(owner, kind="stable")
    term = np.argsort(np.repeat(owner, planes.n_terms), kind="stable")
    columns = [column[old] for column in _flat(nodes)]
    columns[0] = np.where(columns[0] < 0, -1, number[columns[0]])
    return (
        _nodes(columns),
        Planes(*(column[plane] for column in planes[:3]), *(column[term] for column in planes[3:])),
    )
