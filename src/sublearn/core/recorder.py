"""Collects a growing tree level by level and turns it into a `FlatTree`."""

from typing import Any

import numpy as np

from sublearn.core.criterion import NodeSums
from sublearn.core.fixed_point import Units
from sublearn.core.flat_tree import FlatTree, offsets
from sublearn.core.partition import Children
from sublearn.kernels.keeping import Choice
from sublearn.kernels.layout import Array, Candidates

KINDS: dict[str, Any] = {
    # nodes
    "parent": np.int32,
    "depth": np.int32,
    "value": np.float64,
    "loss": np.float64,
    "weight": np.float64,
    "n_samples": np.int64,
    # split nodes
    "split_node": np.int32,
    "n_planes": np.int8,
    "n_cells": np.int16,
    "decrease": np.float64,
    # hyperplanes
    "threshold": np.int32,
    "plane_decrease": np.float64,
    "n_terms": np.int32,
    # terms
    "feature": np.int32,
    "coefficient": np.int16,
    # cells
    "children": np.int32,
}


class Recorder:
    """Nodes are numbered level by level in the order they are added."""

    def __init__(self, n_classes: int, units: Units) -> None:
        self.n_classes = n_classes
        self.units = units
        self.n_nodes = 0
        self.n_numbered = 1
        self.total_weight = 0.0
        self.columns: dict[str, list[Array]] = {name: [] for name in KINDS}

    def add_nodes(self, sums: NodeSums, parents: Array, depth: int) -> int:
        """Add the nodes of a level; returns the number of the first."""
        first = self.n_nodes
        if first == 0:
            self.total_weight = float(sums.weights[0])
        self.n_nodes += len(parents)
        self._add(
            parent=parents,
            depth=np.full(len(parents), depth),
            value=self._values(sums),
            loss=self.units.squares(sums.losses),
            weight=sums.weights / self.total_weight,
            n_samples=sums.counts,
        )
        return first

    def add_splits(self, nodes: Array, candidates: Candidates, choice: Choice, children: Children) -> None:
        """Add the hyperplanes of nodes of the last level; their children are to follow, in this order."""
        row, slot = np.nonzero(np.arange(choice.kept.shape[1]) < choice.n_kept[:, None])
        kept = choice.kept[row, slot]
        plane, d = np.nonzero(candidates.coefficients[row, kept])
        split = choice.n_kept > 0
        n_cells = np.where(split, 1 << choice.n_kept, 0)
        begin = np.cumsum(n_cells) - n_cells
        table = np.full(n_cells.sum(), -1)
        table[begin[children.parents] + children.codes] = self.n_numbered + np.arange(len(children.codes))
        self.n_numbered += len(children.codes)
        self._add(
            split_node=nodes[split],
            n_planes=choice.n_kept[split],
            n_cells=n_cells[split],
            decrease=choice.decrease[split],
            threshold=candidates.threshold[row, kept],
            plane_decrease=candidates.decrease[row, kept],
            n_terms=np.bincount(plane, minlength=len(row)),
            feature=candidates.subspace[row[plane], d],
            coefficient=candidates.coefficients[row[plane], kept[plane], d],
            children=table,
        )

    def finish(self) -> FlatTree:
        """The tree. Parts are given up column by column: a large tree need not fit into memory twice."""
        nodes = self._take("split_node")
        n_cells = self._take("n_cells").astype(np.int64)
        return FlatTree(
            parent=self._take("parent"),
            depth=self._take("depth"),
            first_plane=offsets(self._spread(nodes, self._take("n_planes"), 0)),
            first_child=self._spread(nodes, (np.cumsum(n_cells) - n_cells).astype(np.int32), -1),
            value=self._take("value"),
            loss=self._take("loss"),
            decrease=self._spread(nodes, self._take("decrease"), 0),
            weight=self._take("weight"),
            n_samples=self._take("n_samples"),
            threshold=self._take("threshold"),
            plane_decrease=self._take("plane_decrease"),
            first_term=offsets(self._take("n_terms")),
            feature=self._take("feature"),
            coefficient=self._take("coefficient"),
            children=self._take("children"),
        )

    def _values(self, sums: NodeSums) -> Array:
        if self.n_classes:
            return sums.totals[:, : self.n_classes] / sums.weights[:, None]
        return self.units.values(sums.totals[:, 1] / sums.weights, sums.remainders / sums.weights)[:, None]

    def _add(self, **columns: Array) -> None:
        for name, column in columns.items():
            self.columns[name].append(column.astype(KINDS[name]))

    def _take(self, name: str) -> Array:
        parts = self.columns.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, KINDS[name])

    def _spread(self, nodes: Array, values: Array, default: int) -> Array:
        """Values of split nodes as values of all nodes."""
        out = np.full(self.n_nodes, default, values.dtype)
        out[nodes] = values
        return out
