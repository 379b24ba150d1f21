"""The fitted form of several trees: their arrays one after another, numbered through."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.flat_tree import KINDS, FlatTree, offsets
from sublearn.core.parallel import Workers
from sublearn.kernels import prediction
from sublearn.kernels.layout import Array

FIRST_NODE = np.zeros(1, np.int64)
STEP = 6  # what a record on a sample's route costs, in samples visited


class Routes(NamedTuple):
    """The trees once more, as binary trees of records for prediction; see `prediction.lay_out`."""

    words: Array  # int64 (n_records * width,)
    width: int  # words of a record
    answers: Array  # int32 (n_records,), nodes
    first_records: Array  # int64 (n_trees,)
    depths: Array  # int64 (n_trees,), in records


@dataclass(frozen=True, eq=False)
class FlatEnsemble:
    """All trees as one `FlatTree` with several roots."""

    nodes: FlatTree
    roots: Array  # int64 (n_trees,)

    @cached_property
    def routes(self) -> Routes:
        """The routes through them, which only prediction needs."""
        return find_routes(self.nodes, self.roots)

    def __getstate__(self) -> dict[str, Any]:
        """Files and other processes make routes of their own."""
        return {"nodes": self.nodes, "roots": self.roots}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    def only(self, t: int) -> "FlatEnsemble":
        """Tree number t; nothing is copied."""
        one, routes = slice(t, t + 1), self.routes
        tree = FlatEnsemble(self.nodes, self.roots[one])
        tree.__dict__["routes"] = routes._replace(first_records=routes.first_records[one], depths=routes.depths[one])
        return tree


class _Start(NamedTuple):
    """Where the numbers of a tree begin."""

    node: int
    plane: int
    term: int
    cell: int


def alone(tree: FlatTree) -> FlatEnsemble:
    """One tree as an ensemble; its arrays are not copied."""
    return FlatEnsemble(tree, FIRST_NODE)


def find_routes(nodes: FlatTree, roots: Array) -> Routes:
    """Lay trees out for prediction."""
    n_planes = np.diff(nodes.first_plane)
    n_records = len(roots) + int(np.sum(2 * ((1 << n_planes) - 1)))
    width = 1 + max(int(np.diff(nodes.first_term).max(initial=0)), 2)
    words, answers = np.empty(n_records * width, np.int64), np.empty(n_records, np.int32)
    first_records, depths = np.empty(len(roots), np.int64), np.empty(len(roots), np.int64)
    prediction.lay_out(nodes, roots, width, words, answers, first_records, depths)
    return Routes(words, width, answers, first_records, depths)


def pack(trees: Sequence[FlatTree]) -> FlatEnsemble:
    """Put trees one after another."""
    sizes = [(tree.n_nodes, tree.n_planes, len(tree.feature), len(tree.children)) for tree in trees]
    starts = np.cumsum([(0, 0, 0, 0), *sizes], axis=0)
    shifted = [_shifted(tree, _Start(*start)) for tree, start in zip(trees, starts.tolist(), strict=False)]
    columns = {name: _joined([getattr(tree, name) for tree in shifted], name) for name in FlatTree._fields}
    end = _Start(*starts[-1])
    columns["first_plane"] = np.append(columns["first_plane"], np.int32(end.plane))
    columns["first_term"] = np.append(columns["first_term"], np.int32(end.term))
    return FlatEnsemble(FlatTree(**columns), starts[:-1, 0].astype(np.int64))


def unpack(ensemble: FlatEnsemble) -> list[FlatTree]:
    """The trees, each with its own numbering."""
    nodes = ensemble.nodes
    node = np.append(ensemble.roots, nodes.n_nodes)
    plane = nodes.first_plane[node]
    n_cells = np.where(nodes.is_leaf, 0, 1 << np.diff(nodes.first_plane))
    starts = np.column_stack([node, plane, nodes.first_term[plane], offsets(n_cells)[node]]).tolist()
    trees = []
    for start, end in pairwise(starts):
        of = {owner: slice(a, b) for owner, a, b in zip(("node", "plane", "term", "cell"), start, end, strict=True)}
        columns = {name: getattr(nodes, name)[of[kind.owner]] for name, kind in KINDS.items()}
        columns["first_plane"] = np.append(columns["first_plane"], np.int32(end[1]))
        columns["first_term"] = np.append(columns["first_term"], np.int32(end[2]))
        trees.append(_numbered_from(FlatTree(**columns), _Start(*(-number for number in start))))
    return trees


def apply(ensemble: FlatEnsemble, codes: Array, workers: Workers) -> Array:
    """Node (n_samples, n_trees) of each tree in which the route of each sample ends; codes (n_features, n_samples)."""
    leaves = np.empty((codes.shape[1], ensemble.n_trees), np.int64)
    workers.run(
        lambda a, b: prediction.find_leaves(codes, ensemble.routes, ensemble.roots, a, b, leaves),
        _costs(ensemble),
        items=len(leaves),
    )
    return leaves


def add_values(ensemble: FlatEnsemble, values: Array, codes: Array, out: Array, workers: Workers) -> None:
    """Add to `out` (n_samples, n_values) the values (n_nodes, n_values) that each sample reaches, over all trees."""
    workers.run(
        lambda a, b: prediction.add_values(codes, ensemble.routes, values, a, b, out),
        _costs(ensemble),
        items=len(out),
    )


def _costs(ensemble: FlatEnsemble) -> Array:
    return np.array([1 + STEP * int(ensemble.routes.depths.sum())])


def _shifted(tree: FlatTree, start: _Start) -> FlatTree:
    """The tree numbered from `start`, without the ends of first_plane and first_term, where the next tree begins."""
    tree = _numbered_from(tree, start)
    return tree._replace(first_plane=tree.first_plane[:-1], first_term=tree.first_term[:-1])


def _numbered_from(tree: FlatTree, start: _Start) -> FlatTree:
    return tree._replace(
        parent=_plus(tree.parent, start.node),
        children=_plus(tree.children, start.node),
        first_plane=tree.first_plane + start.plane,
        first_term=tree.first_term + start.term,
        first_child=_plus(tree.first_child, start.cell),
    )


def _plus(numbers: Array, start: int) -> Array:
    """Add `start`, but to no -1."""
    return np.where(numbers >= 0, numbers + start, numbers)


def _joined(parts: list[Array], name: str) -> Array:
    if not parts:
        return np.empty((0, 1) if name == "value" else 0, KINDS[name].dtype)
    return np.concatenate(parts)
