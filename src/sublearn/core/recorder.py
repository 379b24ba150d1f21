"""Collects a growing tree level by level and turns it into a `FlatTree`."""

from typing import Any

import numpy as np

from sublearn.core.answers import Answers
from sublearn.core.criterion import NodeSums
from sublearn.core.flat_tree import KINDS, FlatTree, offsets
from sublearn.core.partition import Children
from sublearn.kernels.keeping import Choice
from sublearn.kernels.layout import Array, Candidates

COLUMNS: dict[str, Any] = {name: kind.dtype for name, kind in KINDS.items()} | {
    # of split nodes and of hyperplanes, in the place of the indices into other arrays
    "split_node": np.int32,
    "n_planes": np.int8,
    "n_cells": np.int16,
    "n_terms": np.int32,
}


class Recorder:
    """Nodes are numbered level by level in the order they are added."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.n_nodes = 0
        self.n_numbered = 1
        self.total_weight = 0
        self.columns: dict[str, list[Array]] = {name: [] for name in COLUMNS}

    def add_nodes(self, sums: NodeSums, parents: Array, depth: int) -> int:
        """Add the nodes of a level; returns the number of the first."""
        first = self.n_nodes
        if first == 0:
            self.total_weight = int(sums.weights[0])
        self.n_nodes += len(parents)
        self._add(
            parent=parents,
            depth=np.full(len(parents), depth),
            value=self.answers.values(sums),
            loss=self.answers.losses(sums.losses),
            weight=self.answers.weights(sums.weights, self.total_weight),
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
            decrease=self.answers.decreases(choice.decrease[split]),
            threshold=candidates.threshold[row, kept],
            plane_decrease=self.answers.decreases(candidates.decrease[row, kept]),
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

    def _add(self, **columns: Array) -> None:
        for name, column in columns.items():
            self.columns[name].append(column.astype(COLUMNS[name]))

    def _take(self, name: str) -> Array:
        parts = self.columns.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, COLUMNS[name])

    def _spread(self, nodes: Array, values: Array, default: int) -> Array:
        """Values of split nodes as values of all nodes."""
        out = np.full(self.n_nodes, default, values.dtype)
        out[nodes] = values
        return out
