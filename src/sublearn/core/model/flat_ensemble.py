"""The fitted form of several trees: their arrays one after another, numbered through."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sublearn.core.data.codes import FeatureMaps, encode_part
from sublearn.core.model.flat_tree import KINDS, NO_SLOPES, FlatTree, LeafSlopes, offsets
from sublearn.core.parallel import Pass, Workers
from sublearn.kernels import prediction
from sublearn.kernels.layout import Array
from sublearn.kernels.slopes import add_answers

FIRST_NODE = np.zeros(1, np.int64)
STEP = 6  # what a record on a sample's route costs, in samples visited
LEANING = 12  # what a linear model costs, in samples visited
ENCODING = 4  # what it costs to encode a value, in samples visited
ENCODED = 262_144  # codes kept at a time: half of a usual second-level cache
LEAST_ENCODED = 1024  # samples encoded at a time at the least, even if their codes leave the cache


@dataclass(frozen=True, eq=False)
class FlatEnsemble:
    """All trees as one `FlatTree` with several roots."""

    nodes: FlatTree
    roots: Array  # int64 (n_trees,)

    @cached_property
    def routes(self) -> prediction.Routes:
        """The routes through all trees, which only prediction needs."""
        return find_routes(self.nodes, self.roots)

    @cached_property
    def costs(self) -> Array:
        """What a sample costs, in samples visited (1,)."""
        leaning = LEANING * self.n_trees if self.nodes.slopes.first.size else 0
        return np.array([1 + STEP * int(self.routes.depths.sum()) + leaning])

    def __getstate__(self) -> dict[str, Any]:
        """State for files and other processes, without routes: these are made again."""
        return {"nodes": self.nodes, "roots": self.roots}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    def only(self, t: int) -> "FlatEnsemble":
        """Tree number t; nothing is copied."""
        one, routes = slice(t, t + 1), self.routes
        tree = FlatEnsemble(self.nodes, self.roots[one])
        crowns = prediction.Crowns(*(column[one] for column in routes.crowns))
        tree.__dict__["routes"] = routes._replace(
            first_records=routes.first_records[one], depths=routes.depths[one], crowns=crowns
        )
        return tree


class _Start(NamedTuple):
    """Where the numbering of a tree's parts begins in an ensemble."""

    node: int
    plane: int
    term: int
    cell: int


def alone(tree: FlatTree) -> FlatEnsemble:
    """One tree as an ensemble; its arrays are not copied."""
    return FlatEnsemble(tree, FIRST_NODE)


def find_routes(nodes: FlatTree, roots: Array) -> prediction.Routes:
    """The routes through trees, as prediction takes them."""
    n_records, n_trees = int(prediction.count_records(nodes, roots)), len(roots)
    n_terms = max(int(np.diff(nodes.first_term).max(initial=0)), 2)
    n_terms += n_terms % 2
    width = 1 + n_terms
    routes = prediction.Routes(
        number=np.empty(n_records * width, np.float32),
        link=np.empty(n_records * width, np.uint32),
        width=width,
        answers=np.empty(n_records, np.int32),
        first_records=np.empty(n_trees, np.uint32),
        depths=np.empty(n_trees, np.int64),
        crowns=prediction.Crowns(
            np.empty((n_trees, prediction.CELLS, width), np.float32),
            np.empty((n_trees, prediction.CELLS, n_terms), np.int64),
            np.empty((n_trees, 2 * prediction.CELLS), np.uint32),
        ),
    )
    prediction.lay_out(nodes, roots, routes)
    return routes


def pack(trees: Sequence[FlatTree]) -> FlatEnsemble:
    """Put trees one after another; the arrays of a single one are not copied."""
    if len(trees) == 1:
        return alone(trees[0])
    sizes = [(tree.n_nodes, tree.n_planes, len(tree.feature), len(tree.children)) for tree in trees]
    starts = np.cumsum([(0, 0, 0, 0), *sizes], axis=0)
    shifted = [_shifted(tree, _Start(*start)) for tree, start in zip(trees, starts.tolist(), strict=False)]
    columns = {name: _joined([getattr(tree, name) for tree in shifted], name) for name in KINDS}
    end = _Start(*starts[-1])
    columns["first_plane"] = np.append(columns["first_plane"], np.int32(end.plane))
    columns["first_term"] = np.append(columns["first_term"], np.int32(end.term))
    return FlatEnsemble(FlatTree(**columns, slopes=_joined_slopes(trees)), starts[:-1, 0].astype(np.int64))


def _joined_slopes(trees: Sequence[FlatTree]) -> LeafSlopes:
    """The slopes of trees one after another, where any has some."""
    some = [tree.slopes for tree in trees if tree.slopes.first.size]
    if not some:
        return NO_SLOPES
    counts = [np.diff(t.slopes.first) if t.slopes.first.size else np.zeros(t.n_nodes, np.int32) for t in trees]
    columns = {name: np.concatenate([getattr(one, name) for one in some]) for name in LeafSlopes._fields[1:]}
    return LeafSlopes(first=offsets(np.concatenate(counts)), **columns)


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
        tree = FlatTree(**columns, slopes=_slopes_of(nodes.slopes, start[0], end[0]))
        trees.append(_numbered_from(tree, _Start(*(-number for number in start))))
    return trees


def _slopes_of(slopes: LeafSlopes, first_node: int, end: int) -> LeafSlopes:
    """Those of some nodes."""
    if not slopes.first.size:
        return slopes
    first = slopes.first[first_node : end + 1]
    of_nodes = {name: getattr(slopes, name)[first[0] : first[-1]] for name in LeafSlopes._fields[1:]}
    return LeafSlopes(first=first - first[0], **of_nodes) if first[-1] > first[0] else NO_SLOPES


def apply(ensemble: FlatEnsemble, codes: Array, workers: Workers) -> Array:
    """Node (n_samples, n_trees) of each tree in which the route of each sample ends; codes (n_features, n_samples)."""
    routes, roots = ensemble.routes, ensemble.roots
    leaves = np.empty((codes.shape[1], ensemble.n_trees), np.int64)
    workers.run(
        lambda a, b: prediction.find_leaves(codes, routes, roots, a, b, _rows(len(codes)), leaves),
        ensemble.costs,
        items=len(leaves),
    )
    return leaves


def add_values(ensemble: FlatEnsemble, values: Array, codes: Array, out: Array, workers: Workers) -> None:
    """Add to `out` (n_samples, n_values) the values (n_nodes, n_values) that each sample reaches, over all trees."""
    workers.run(adding_values(ensemble, values, codes, out), ensemble.costs, items=len(out))


def adding_values(ensemble: FlatEnsemble, values: Array, codes: Array, out: Array) -> Pass:
    """A function that adds, for samples first to last, the values that each reaches to `out`; see `add_values`."""
    add = _adder(ensemble, values)
    return lambda first, last: add(codes, first, last, _rows(len(codes)), out)


def _adder(ensemble: FlatEnsemble, values: Array) -> Callable[..., None]:
    """The kernel that adds values, or with slopes the answers of linear models; those have kernels of their own."""
    routes, slopes = ensemble.routes, ensemble.nodes.slopes
    if slopes.first.size:
        return lambda *others: add_answers(routes, values, slopes, *others)
    return lambda *others: prediction.add_values(routes, values, *others)


def add_values_of(
    x: Array, maps: FeatureMaps, ensemble: FlatEnsemble, values: Array, out: Array, workers: Workers
) -> None:
    """`add_values` for samples x (n_samples, n_features), encoded a few at a time, so that codes stay in the cache."""
    add, n_views = _adder(ensemble, values), maps.n_views
    size = max(LEAST_ENCODED, ENCODED // n_views)

    def add_part(first: int, last: int) -> None:
        rows, codes = _rows(n_views), np.empty((n_views, min(size, last - first)), np.int16)
        for begin in range(first, last, size):
            end = min(begin + size, last)
            encode_part(x[begin:end], maps, codes)
            add(codes, 0, end - begin, rows, out[begin:end])

    workers.run(add_part, ensemble.costs + ENCODING * n_views, items=len(out))


def _rows(n_views: int) -> prediction.Rows:
    """Scratch space of one thread for prediction."""
    n = prediction.ROWS
    return prediction.Rows(
        np.zeros(n_views * n, np.float32), np.empty(n, np.float32), np.empty(n, np.int32), np.empty(n, np.uint32)
    )


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
    """Add `start` to all numbers but -1, which stands for none."""
    return np.where(numbers >= 0, numbers + start, numbers)


def _joined(parts: list[Array], name: str) -> Array:
    if not parts:
        return np.empty((0, 1) if name == "value" else 0, KINDS[name].dtype)
    return np.concatenate(parts)
