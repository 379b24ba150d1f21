"""Trees of a file: every number that compiled code follows is checked, since that code checks nothing."""

from typing import Any

import numpy as np

from sublearn._files.errors import Fault
from sublearn._files.layout import MOST_PARTITIONS, MOST_SLOPES_EACH
from sublearn._files.memory import Memory
from sublearn.core.data.codes import EXACT
from sublearn.core.model.flat_ensemble import FlatEnsemble
from sublearn.core.model.flat_tree import KINDS, FlatTree, LeafSlopes
from sublearn.kernels.layout import Array
from sublearn.kernels.prediction import CELLS, count_records

MOST = 2**31 - 1  # nodes and cells, which have numbers of 32 bits


def check_ensemble(ensemble: FlatEnsemble, reach: Array, memory: Memory) -> None:
    """Raise Fault unless trees are what they should be; reach (n_views,): the largest magnitude of codes."""
    nodes, roots = ensemble.nodes, ensemble.roots
    _check_lengths(nodes)
    _check_roots(nodes, roots)
    _check_ranges("first_plane", nodes.first_plane, nodes.n_planes, 0, MOST_PARTITIONS)
    _check_cells(nodes)
    _check_parents(nodes, roots)
    _check_children(nodes, roots)
    _check_ranges("first_term", nodes.first_term, len(nodes.feature), 1, len(reach))
    _check_terms(nodes, reach)
    memory.give(size_of_routes(ensemble))
    _check_numbers(nodes)
    if nodes.slopes.first.size:
        _check_slopes(nodes.slopes, nodes, len(reach))


def refuse_where(bad: Any, words: str, values: Array) -> None:
    """Raise Fault for the first entry that is bad; words: what it is called, and what it must be."""
    at = np.flatnonzero(bad)
    if at.size:
        first = int(at[0])
        name, _, rest = words.partition(" ")
        raise Fault(f"{name}[{first}] {rest}; it is {values[first]}")


def _check_lengths(nodes: FlatTree) -> None:
    """All arrays of one owner have as many entries."""
    owners = {"node": nodes.n_nodes, "plane": nodes.n_planes, "term": len(nodes.feature), "cell": len(nodes.children)}
    if nodes.n_nodes >= MOST:
        raise Fault(f"trees.parent must have fewer than {MOST} entries; it has {nodes.n_nodes}")
    for name, kind in KINDS.items():
        n = owners[kind.owner] + (name in ("first_plane", "first_term"))
        if len(getattr(nodes, name)) != n:
            raise Fault(f"trees.{name} must have {n} entries; it has {len(getattr(nodes, name))}")


def _check_roots(nodes: FlatTree, roots: Array) -> None:
    """Trees lie one after another, each from its root on."""
    if len(roots) == 0:
        if nodes.n_nodes:
            raise Fault("trees.roots must have a root; it is empty")
        return
    if roots[0] != 0:
        raise Fault(f"trees.roots[0] must be 0; it is {roots[0]}")
    refuse_where(np.append(False, roots[1:] <= roots[:-1]), "trees.roots must be above the one before", roots)
    refuse_where(roots >= nodes.n_nodes, f"trees.roots must be below {nodes.n_nodes}", roots)


def _check_ranges(name: str, first: Array, total: int, least: int, most: int) -> None:
    """Pieces lie one after another and have from `least` to `most` entries."""
    if first[0] != 0 or first[-1] != total:
        raise Fault(f"trees.{name} must go from 0 to {total}; it goes from {first[0]} to {first[-1]}")
    refuse_where(np.append(False, first[1:] < first[:-1]), f"trees.{name} must not be below the one before", first)
    sizes = np.diff(first)
    refuse_where((sizes < least) | (sizes > most), f"trees.{name} must be followed by {least} to {most}", sizes)


def _cells_of(nodes: FlatTree) -> Array:
    """Number of cells of each node; arrays are kept small here, since there may be many nodes."""
    n_planes = np.diff(nodes.first_plane)
    return np.where(n_planes > 0, np.int32(1) << n_planes, np.int32(0))


def _check_cells(nodes: FlatTree) -> None:
    """A node of q hyperplanes has 2^q cells, and those of one node follow those of the one before."""
    n_cells = _cells_of(nodes)
    n = int(n_cells.sum(dtype=np.int64))
    if len(nodes.children) != n or n >= MOST:
        raise Fault(f"trees.children must have {n} entries, below {MOST}; it has {len(nodes.children)}")
    expected = np.cumsum(n_cells, dtype=np.int32)
    expected -= n_cells
    expected[n_cells == 0] = -1
    wrong = nodes.first_child != expected
    refuse_where(wrong, "trees.first_child must be where the cells of the node are, or -1", nodes.first_child)


def _check_parents(nodes: FlatTree, roots: Array) -> None:
    """Nodes of a tree come level by level, after their parents."""
    n = nodes.n_nodes
    is_root = np.zeros(n, np.bool_)
    is_root[roots] = True
    first = np.repeat(roots.astype(np.int32), np.diff(np.append(roots, n)))
    parent, depth = nodes.parent, nodes.depth
    refuse_where(is_root & (parent != -1), "trees.parent must be -1 for a root", parent)
    outside = ~is_root & ((parent < first) | (parent >= np.arange(n, dtype=np.int32)))
    refuse_where(outside, "trees.parent must be an earlier node of the tree", parent)
    refuse_where((depth < 0) | (depth >= max(n, 1)), "trees.depth must be from 0 to the number of nodes", depth)
    expected = np.where(is_root, 0, depth[parent] + 1) if n else depth
    refuse_where(depth != expected, "trees.depth must be one more than the parent's, and 0 for a root", depth)
    falling = np.append(False, (depth[1:] < depth[:-1]) & ~is_root[1:])
    refuse_where(falling[:n], "trees.depth must not be below that of the node before", depth)


def _check_children(nodes: FlatTree, roots: Array) -> None:
    """Every node but a root is in one cell, which is its parent's; so no route goes in circles."""
    n, children = nodes.n_nodes, nodes.children
    refuse_where((children < -1) | (children >= n), f"trees.children must be a node below {n}, or -1", children)
    there = children >= 0
    owner = np.repeat(np.arange(n, dtype=np.int32), _cells_of(nodes))
    strange = np.zeros(len(children), np.bool_)
    strange[there] = nodes.parent[children[there]] != owner[there]
    refuse_where(strange, "trees.children must be a node whose parent it is", children)
    is_met = np.zeros(n, np.bool_)
    is_met[children[there]] = True
    if not is_met.sum() == there.sum() == n - len(roots):
        raise Fault("trees.children must have every node once, but for the roots")


def _check_terms(nodes: FlatTree, reach: Array) -> None:
    """Hyperplanes are over codes that there are, and what they add up stays exact."""
    feature, coefficient = nodes.feature, nodes.coefficient
    refuse_where((feature < 0) | (feature >= len(reach)), f"trees.feature must be from 0 to {len(reach) - 1}", feature)
    refuse_where(coefficient == 0, "trees.coefficient must not be 0", coefficient)
    if nodes.n_planes:
        sums = np.add.reduceat(np.abs(coefficient.astype(np.int64)) * reach[feature], nodes.first_term[:-1])
        refuse_where(sums > EXACT, f"trees.coefficient must keep sums within {EXACT} in all hyperplanes", sums)
    threshold = nodes.threshold
    far = (threshold < -EXACT - 1) | (threshold > EXACT + 1)
    refuse_where(far, f"trees.threshold must be from {-EXACT - 1} to {EXACT + 1}", threshold)


def size_of_routes(ensemble: FlatEnsemble) -> int:
    """Bytes that `find_routes` takes, with what `lay_out` needs meanwhile."""
    nodes = ensemble.nodes
    n_terms = max(int(np.diff(nodes.first_term).max(initial=0)), 2)
    width = n_terms + n_terms % 2 + 1
    n_records = int(count_records(nodes, ensemble.roots))
    if n_records >= MOST:
        raise Fault(f"its trees would have {n_records} records to predict with, and at most {MOST} are possible")
    return n_records * (8 * width + 6) + ensemble.n_trees * (CELLS * (12 * width + 8) + 12)


def _check_numbers(nodes: FlatTree) -> None:
    """Answers are finite, and what else there is are numbers."""
    refuse_where(~np.isfinite(nodes.value).all(axis=1), "trees.value must be finite", nodes.value)
    for name in ("loss", "decrease", "weight", "plane_decrease"):
        numbers = getattr(nodes, name)
        refuse_where(np.isnan(numbers), f"trees.{name} must be a number", numbers)
    refuse_where(nodes.n_samples < 0, "trees.n_samples must be at least 0", nodes.n_samples)


def _check_slopes(slopes: LeafSlopes, nodes: FlatTree, n_views: int) -> None:
    """Linear models in leaves are over codes that there are."""
    n = len(slopes.feature)
    shapes: dict[str, tuple[Any, ...]] = {
        "first": (nodes.n_nodes + 1,),
        "slope": (n, nodes.value.shape[1]),
        "mean": (n, nodes.value.shape[1]),
        "low": (n,),
        "high": (n,),
        "decrease": (n,),
    }
    for name, shape in shapes.items():
        if getattr(slopes, name).shape != shape:
            raise Fault(f"slopes.{name} must have shape {shape}; it has {getattr(slopes, name).shape}")
    first, feature = slopes.first, slopes.feature
    if first[0] != 0 or first[-1] != n:
        raise Fault(f"slopes.first must go from 0 to {n}; it goes from {first[0]} to {first[-1]}")
    refuse_where(np.append(False, first[1:] < first[:-1]), "slopes.first must not be below the one before", first)
    sizes = np.diff(first)
    refuse_where(sizes > MOST_SLOPES_EACH, f"slopes.first must be followed by at most {MOST_SLOPES_EACH}", sizes)
    refuse_where((feature < 0) | (feature >= n_views), f"slopes.feature must be from 0 to {n_views - 1}", feature)
    refuse_where(slopes.low > slopes.high, "slopes.low must not be above slopes.high", slopes.low)
    for name in ("slope", "mean"):
        numbers = getattr(slopes, name)
        refuse_where(~np.isfinite(numbers).all(axis=1), f"slopes.{name} must be finite", numbers)
    refuse_where(np.isnan(slopes.decrease), "slopes.decrease must be a number", slopes.decrease)
