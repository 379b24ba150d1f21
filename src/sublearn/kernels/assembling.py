"""Nodes, in whatever order they have grown, become a tree, level by level."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.criterion import weight_of
from sublearn.kernels.layout import Array
from sublearn.kernels.nodes import room_of


class Places(NamedTuple):
    """Space: where each node, its hyperplanes, terms and cells are in `Grown`, and the nodes in the tree's order.

    A hand is the part of `Grown` that one thread has filled.
    """

    node: Array  # int64 (n_nodes,)
    plane: Array  # int64 (n_nodes,)
    term: Array  # int64 (n_nodes,)
    cell: Array  # int64 (n_nodes,), in `child`
    child: Array  # int64 (n_cells,), numbers of children, or -1
    order: Array  # int64 (n_nodes,)


class Assembled(NamedTuple):
    """A tree as flat arrays, as in `FlatTree`, and what its values are computed from, as in `Grown`.

    For classes, the totals of a node are its weight and, where that is another number, its count. `shares` is given
    full of zeros, and gets the shares of the classes.
    """

    parent: Array
    depth: Array
    first_plane: Array
    first_child: Array
    threshold: Array
    plane_decrease: Array
    first_term: Array
    feature: Array
    coefficient: Array
    children: Array
    places: Array  # int64 (n_nodes, 2), where the samples of each node begin and end
    totals: Array  # int64 (n_nodes, n)
    shares: Array  # float64 (n_nodes, n_classes)
    remainder: Array
    loss: Array
    decrease: Array


@inner
def find_places(grown, bounds, found):
    """Fill `found`, but for the order of the nodes, of which only the root is found here; see `assemble`."""
    n_hands = bounds.size - 1
    room = grown.parent.size // n_hands
    n_cells = 0
    for hand in range(n_hands):
        plane = hand * (grown.threshold.size // n_hands)
        term = hand * (grown.feature.size // n_hands)
        for n in range(bounds[hand], bounds[hand + 1]):
            i = hand * room + n - bounds[hand]
            found.node[n] = i
            found.plane[n] = plane
            found.term[n] = term
            found.cell[n] = n_cells
            for _ in range(grown.n_planes[i]):
                term += grown.n_terms[plane]
                plane += 1
            if grown.n_planes[i] > 0:
                n_cells += 1 << grown.n_planes[i]
    for c in range(n_cells):
        found.child[c] = -1
    for n in range(found.node.size):
        parent = grown.parent[found.node[n]]
        if parent < 0:
            found.order[0] = n
        else:
            above = bounds[parent // room] + parent % room
            found.child[found.cell[above] + grown.cell[found.node[n]]] = n


@inner
def note_numbers(numbers, at, out, j):
    """Write the numbers of a node, which begin at place `at`, for node j of the tree."""
    n_kinds = numbers[at]
    room = room_of(n_kinds)
    out.places[j, 0] = numbers[at + 1]
    out.places[j, 1] = numbers[at + 1 + max(n_kinds, 1)]
    totals = numbers[at + 1 + room : at + 1 + 2 * room]
    if n_kinds == 0:
        for c in range(out.totals.shape[1]):
            out.totals[j, c] = totals[c]
        return
    weight = weight_of(totals, n_kinds)
    out.totals[j, 0] = weight
    if out.totals.shape[1] == 2:
        out.totals[j, 1] = totals[n_kinds]
    kinds = numbers[at + 1 + 2 * room : at + 1 + 2 * room + n_kinds]
    for k in range(n_kinds):
        out.shares[j, kinds[k]] = np.float64(totals[k]) / np.float64(weight)


@bare_kernel
def assemble(grown, bounds, found, out):
    """Fill `out` from `grown`, where each hand has equal room for nodes, hyperplanes and terms, in the same order.

    Nodes are numbered through hand by hand; those of hand h are numbers bounds[h] to bounds[h + 1].
    """
    find_places(grown, bounds, found)
    n_nodes = out.depth.size
    n_hands = bounds.size - 1
    room = grown.parent.size // n_hands
    n_places = grown.numbers.size // n_hands
    out.parent[0] = -1
    n_seen = 1
    n_planes = 0
    n_terms = 0
    n_cells = 0
    for j in range(n_nodes):
        n = found.order[j]
        i = found.node[n]
        out.depth[j] = grown.depth[i]
        note_numbers(grown.numbers, i // room * n_places + grown.at[i], out, j)
        out.remainder[j] = grown.remainder[i]
        out.loss[j] = grown.loss[i]
        out.decrease[j] = grown.decrease[i]
        out.first_plane[j] = n_planes
        term = found.term[n]
        for p in range(found.plane[n], found.plane[n] + grown.n_planes[i]):
            out.threshold[n_planes] = grown.threshold[p]
            out.plane_decrease[n_planes] = grown.plane_decrease[p]
            out.first_term[n_planes] = n_terms
            n_planes += 1
            for _ in range(grown.n_terms[p]):
                out.feature[n_terms] = grown.feature[term]
                out.coefficient[n_terms] = grown.coefficient[term]
                n_terms += 1
                term += 1
        out.first_child[j] = -1
        if grown.n_planes[i] > 0:
            out.first_child[j] = n_cells
            for c in range(found.cell[n], found.cell[n] + (1 << grown.n_planes[i])):
                child = found.child[c]
                out.children[n_cells] = -1
                if child >= 0:
                    out.children[n_cells] = n_seen
                    found.order[n_seen] = child
                    out.parent[n_seen] = j
                    n_seen += 1
                n_cells += 1
    out.first_plane[n_nodes] = n_planes
    out.first_term[n_planes] = n_terms
