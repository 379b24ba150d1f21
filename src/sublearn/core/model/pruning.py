"""Minimal cost-complexity pruning: the weakest link goes first, as in CART and scikit-learn."""

import heapq
from typing import NamedTuple

import numpy as np

from sublearn.core.model.flat_tree import FlatTree, offsets
from sublearn.kernels.layout import Array


class PruningPath(NamedTuple):
    """The steps of pruning to the root: alpha and total leaf loss after each, and the node cut (-1 at first)."""

    alphas: Array
    losses: Array
    nodes: Array


def pruning_path(tree: FlatTree) -> PruningPath:
    """Cut the weakest link again and again until the root is a leaf."""
    cost = tree.weight * tree.loss
    leaves, below = _subtrees(tree, cost)
    heap = [(_strength(cost, below, leaves, t), t) for t in np.flatnonzero(~tree.is_leaf).tolist()]
    heapq.heapify(heap)
    gone = tree.is_leaf.copy()
    steps = [(0.0, below[0], -1)]
    while heap:
        alpha, t = heapq.heappop(heap)
        if gone[t] or alpha != _strength(cost, below, leaves, t):
            continue  # cut with an ancestor, or weighed again since
        more, less = cost[t] - below[t], leaves[t] - 1
        for inside in _descendants(tree, t):
            gone[inside] = True
        above = t
        while above >= 0:
            below[above] += more
            leaves[above] -= less
            if not gone[above]:
                heapq.heappush(heap, (_strength(cost, below, leaves, above), above))
            above = int(tree.parent[above])
        steps.append((alpha, below[0], t))
    alphas, losses, nodes = zip(*steps, strict=True)
    return PruningPath(np.maximum.accumulate(alphas), np.array(losses), np.array(nodes))


def prune(tree: FlatTree, alpha: float) -> FlatTree:
    """The smallest subtree that no cut of cost up to `alpha` a leaf makes better."""
    path = pruning_path(tree)
    cut = path.nodes[1:][path.alphas[1:] <= alpha]
    leaf = tree.is_leaf.copy()
    leaf[cut] = True
    keep = np.ones(tree.n_nodes, np.bool_)
    for i in range(1, tree.n_nodes):  # parents come before their children
        keep[i] = keep[tree.parent[i]] and not leaf[tree.parent[i]]
    return _subtree(tree, keep, leaf)


def _subtrees(tree: FlatTree, cost: Array) -> tuple[Array, Array]:
    """Number of leaves, and their cost, below each node."""
    leaves = tree.is_leaf.astype(np.int64)
    below = np.where(tree.is_leaf, cost, 0.0)
    for i in range(tree.n_nodes - 1, 0, -1):  # children come after their parent
        leaves[tree.parent[i]] += leaves[i]
        below[tree.parent[i]] += below[i]
    return leaves, below


def _strength(cost: Array, below: Array, leaves: Array, t: int) -> float:
    return float((cost[t] - below[t]) / (leaves[t] - 1))


def _descendants(tree: FlatTree, node: int) -> list[int]:
    """The node and all below it."""
    found = [node]
    for i in found:
        first = tree.first_child[i]
        if first >= 0:
            n_cells = 1 << (tree.first_plane[i + 1] - tree.first_plane[i])
            found += [c for c in tree.children[first : first + n_cells].tolist() if c >= 0]
    return found


def _subtree(tree: FlatTree, keep: Array, leaf: Array) -> FlatTree:
    """The kept nodes of a tree, those marked as leaves without their hyperplanes."""
    split = keep & ~leaf
    n_planes = np.diff(tree.first_plane)
    plane_kept = np.repeat(split, n_planes)
    n_terms = np.diff(tree.first_term)
    term_kept = np.repeat(plane_kept, n_terms)
    n_cells = np.where(tree.is_leaf, 0, 1 << n_planes)
    children = tree.children[np.repeat(split, n_cells)]
    number = np.cumsum(keep) - 1
    first_child = np.cumsum(n_cells * split) - n_cells * split
    return FlatTree(
        parent=np.where(tree.parent < 0, -1, number[tree.parent])[keep].astype(np.int32),
        depth=tree.depth[keep],
        first_plane=offsets((n_planes * split)[keep]),
        first_child=np.where(split, first_child, -1)[keep].astype(np.int32),
        value=tree.value[keep],
        loss=tree.loss[keep],
        decrease=np.where(split, tree.decrease, 0.0)[keep],
        weight=tree.weight[keep],
        n_samples=tree.n_samples[keep],
        threshold=tree.threshold[plane_kept],
        plane_decrease=tree.plane_decrease[plane_kept],
        first_term=offsets(n_terms[plane_kept]),
        feature=tree.feature[term_kept],
        coefficient=tree.coefficient[term_kept],
        children=np.where(children < 0, -1, number[children]).astype(np.int32),
    )
