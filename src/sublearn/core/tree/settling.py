"""Samples where a finished tree sends them.

Trees grow from codes of categories that do not know a sample's own target (`core.data.categories`). Afterwards samples
go through the tree by the codes that the model has, and nodes are described anew by those that arrive: a training
sample reaches at predict time the leaf whose value it helped to find. Targets far from all others, which trees have
grown from as if they were nearer (`core.data.outliers`), are what they are by then.
"""

import numpy as np

from sublearn.core.model.flat_ensemble import alone, apply
from sublearn.core.model.flat_tree import FlatTree, upward
from sublearn.core.parallel import Workers
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.criterion import NodeSums, describe_nodes
from sublearn.core.tree.described import describe_together
from sublearn.core.tree.task import Task
from sublearn.kernels.layout import Array, Samples, Test


def place_samples(tree: FlatTree, codes: Array, rows: Array, counts: Array, workers: Workers) -> Placed:
    """The tree with samples, of which `rows` are looked at, where their codes (n_views, n_samples) send them.

    counts: as in `Samples`.
    """
    nodes = apply(alone(tree), codes, workers)[rows, 0]
    n_samples = np.zeros_like(tree.n_samples)
    np.add.at(n_samples, nodes, counts[rows] if counts.size else 1)
    n_samples = workers.links.add(n_samples)
    ends = np.flatnonzero(n_samples)
    for below in upward(tree):
        np.add.at(n_samples, tree.parent[below], n_samples[below])
    tree = tree._replace(n_samples=n_samples)
    by_node = np.argsort(nodes, kind="stable")
    places = np.zeros((tree.n_nodes, 2), np.int64)
    places[ends] = np.column_stack([nodes[by_node].searchsorted(ends, side) for side in ("left", "right")])
    return Placed(tree, places, rows[by_node].astype(np.int32), ends)


def put_back(tree: FlatTree, task: Task, workers: Workers) -> Placed:
    """Samples of a task in the leaves of the tree that has grown from them, as growing it anew would place them."""
    order, codes = task.root.order, task.samples.codes
    nodes = apply(alone(tree), codes, workers)[order, 0] if len(order) else np.empty(0, np.int64)
    by_node = np.argsort(nodes, kind="stable")
    ends = np.cumsum(np.bincount(nodes, minlength=tree.n_nodes))
    places = np.column_stack([np.append(0, ends[:-1]), ends])  # leaves alone are asked for
    return Placed(tree, places, order[by_node].astype(np.int32))


def settled(tree: FlatTree, task: Task, codes: Array, workers: Workers) -> FlatTree:
    """The tree of a task with its nodes described by the samples that arrive there by these codes."""
    samples, root, answers = task.samples, task.root, task.answers
    at = apply(alone(tree), codes, workers)[root.order, 0]
    n_runs = root.runs.shape[1] - 1  # one a class
    labels = np.repeat(np.arange(n_runs), np.diff(root.runs[0]))
    value, loss, weight = tree.value.copy(), tree.loss.copy(), np.zeros(tree.n_nodes)
    n_samples = np.zeros_like(tree.n_samples)
    total = int(_describe(samples, root.order, root.runs, task.test, workers).weights[0])
    for depth in range(int(tree.depth[-1]), -1, -1):
        here = np.flatnonzero(tree.depth[at] == depth)
        nodes = np.flatnonzero(workers.links.add(np.bincount(at[here], minlength=tree.n_nodes)))
        if not len(nodes):
            continue
        which = nodes.searchsorted(at[here])
        counts = np.bincount(which * n_runs + labels[here], minlength=len(nodes) * n_runs)
        ends = np.concatenate([[0], np.cumsum(counts)])
        runs = ends[np.arange(len(nodes))[:, None] * n_runs + np.arange(n_runs + 1)]
        order = root.order[here[np.argsort(which, kind="stable")]]
        sums = _describe(samples, order, runs, task.test, workers)
        value[nodes], loss[nodes] = answers.values(sums), answers.losses(sums.losses)
        weight[nodes], n_samples[nodes] = answers.weights(sums.weights, total), sums.counts
        at[here] = np.maximum(tree.parent[at[here]], 0)
    settled_tree = tree._replace(value=value, loss=loss, weight=weight, n_samples=n_samples)
    return with_parents_values(settled_tree, n_samples >= task.parameters.min_samples_leaf)


def _describe(samples: Samples, order: Array, runs: Array, test: Test, workers: Workers) -> NodeSums:
    """Describe nodes by their samples, wherever these are."""
    if workers.links.n_partitions > 1:
        return describe_together(samples, order, runs, test, workers.links)
    return describe_nodes(samples, order, runs, test, workers)


def with_parents_values(tree: FlatTree, filled: Array) -> FlatTree:
    """The tree in which a node that too few samples reach has the value of the one above it."""
    value = tree.value.copy()
    for depth in range(1, int(tree.depth[-1]) + 1):
        empty = np.flatnonzero((tree.depth == depth) & ~filled)
        value[empty] = value[tree.parent[empty]]
    return tree._replace(value=value)
