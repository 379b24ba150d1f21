"""Collects a growing tree level by level and turns it into a `FlatTree`."""

from collections import defaultdict

import numpy as np

from sublearn.core.criterion import NodeSums
from sublearn.core.fixed_point import Units
from sublearn.core.flat_tree import FlatTree, offsets
from sublearn.core.partition import Children
from sublearn.kernels.keeping import Choice
from sublearn.kernels.layout import Array, Candidates


class Recorder:
    """Nodes are numbered level by level in the order they are added."""

    def __init__(self, n_classes: int, units: Units) -> None:
        self.n_classes = n_classes
        self.units = units
        self.n_nodes = 0
        self.n_children = 0
        self.columns: defaultdict[str, list[Array]] = defaultdict(list)
        self.total_weight = 0.0

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
        """Add the hyperplanes and children of nodes of the last level; children follow in the next level."""
        row, slot = np.nonzero(np.arange(choice.kept.shape[1]) < choice.n_kept[:, None])
        kept = choice.kept[row, slot]
        plane, d = np.nonzero(candidates.coefficients[row, kept])
        n_cells = np.where(choice.n_kept > 0, 1 << choice.n_kept, 0)
        begin = np.cumsum(n_cells) - n_cells
        table = np.full(n_cells.sum(), -1)
        table[begin[children.parents] + children.codes] = self._numbers(len(children.codes))
        split = choice.n_kept > 0
        self._add(
            split_node=nodes[split],
            n_planes=choice.n_kept[split],
            split_decrease=self.units.squares(choice.decrease[split]),
            n_cells=n_cells[split],
            threshold=candidates.threshold[row, kept],
            plane_decrease=self.units.squares(candidates.decrease[row, kept]),
            n_terms=np.bincount(plane, minlength=len(row)),
            feature=candidates.subspace[row[plane], d],
            coefficient=candidates.coefficients[row[plane], kept[plane], d],
            children=table,
        )

    def finish(self) -> FlatTree:
        """The tree so far."""
        column = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        for name in SPLIT_COLUMNS:
            column.setdefault(name, np.empty(0, np.int64))
        split = column["split_node"]
        planes, decrease = np.zeros(self.n_nodes, np.int64), np.zeros(self.n_nodes)
        planes[split], decrease[split] = column["n_planes"], column["split_decrease"]
        first_child = np.full(self.n_nodes, -1)
        first_child[split] = np.cumsum(column["n_cells"]) - column["n_cells"]
        return FlatTree(
            parent=column["parent"].astype(np.int32),
            depth=column["depth"].astype(np.int32),
            first_plane=offsets(planes),
            first_child=first_child.astype(np.int32),
            value=column["value"],
            loss=column["loss"],
            decrease=decrease,
            weight=column["weight"],
            n_samples=column["n_samples"],
            threshold=column["threshold"].astype(np.int32),
            plane_decrease=column["plane_decrease"].astype(np.float64),
            first_term=offsets(column["n_terms"]),
            feature=column["feature"].astype(np.int32),
            coefficient=column["coefficient"].astype(np.int16),
            children=column["children"].astype(np.int32),
        )

    def _numbers(self, n: int) -> Array:
        """Numbers of the next n nodes of the next level."""
        first = max(self.n_children, self.n_nodes)
        self.n_children = first + n
        return np.arange(first, first + n)

    def _values(self, sums: NodeSums) -> Array:
        if self.n_classes:
            return sums.totals[:, : self.n_classes] / sums.weights[:, None]
        return self.units.values(sums.totals[:, 1] / sums.weights, sums.remainders / sums.weights)[:, None]

    def _add(self, **columns: Array) -> None:
        for name, column in columns.items():
            self.columns[name].append(column)


SPLIT_COLUMNS = (
    "split_node",
    "n_planes",
    "split_decrease",
    "n_cells",
    "threshold",
    "plane_decrease",
    "n_terms",
    "feature",
    "coefficient",
    "children",
)
