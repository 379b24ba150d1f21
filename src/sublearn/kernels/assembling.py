"""Nodes, in whatever order they have grown, become a tree, level by level."""

from typing import NamedTuple

from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.layout import Array


class Places(NamedTuple):
    """Space for where what belongs to a node is, and for the nodes in order."""

    plane: Array  # int64 (n_nodes,)
    term: Array  # int64 (n_nodes,)
    cell: Array  # int64 (n_nodes,), in `child`
    child: Array  # int64 (n_cells,), numbers of children, or -1
    order: Array  # int64 (n_nodes,)


class Assembled(NamedTuple):
    """What is known of a tree, as in `FlatTree`; the last ones as in `Grown`."""

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
    totals: Array
    remainder: Array
    loss: Array
    decrease: Array


@bare_kernel
def assemble(grown, found, out):
    """Fill `out`, which has as many nodes, from `grown`; hyperplanes there are in the order of their nodes."""
    n_nodes = out.depth.size
    n_planes = 0
    n_terms = 0
    n_cells = 0
    for i in range(n_nodes):
        found.plane[i] = n_planes
        found.term[i] = n_terms
        found.cell[i] = n_cells
        for _ in range(grown.n_planes[i]):
            n_terms += grown.n_terms[n_planes]
            n_planes += 1
        if grown.n_planes[i] > 0:
            n_cells += 1 << grown.n_planes[i]
    for c in range(n_cells):
        found.child[c] = -1
    for i in range(n_nodes):
        if grown.parent[i] < 0:
            found.order[0] = i
            out.parent[0] = -1
        else:
            found.child[found.cell[grown.parent[i]] + grown.cell[i]] = i
    n_seen = 1
    n_planes = 0
    n_terms = 0
    n_cells = 0
    for j in range(n_nodes):
        i = found.order[j]
        out.depth[j] = grown.depth[i]
        out.places[j, 0] = grown.runs[i, 0]
        out.places[j, 1] = grown.runs[i, -1]
        for c in range(out.totals.shape[1]):
            out.totals[j, c] = grown.totals[i, c]
        out.remainder[j] = grown.remainder[i]
        out.loss[j] = grown.loss[i]
        out.decrease[j] = grown.decrease[i]
        out.first_plane[j] = n_planes
        term = found.term[i]
        for p in range(found.plane[i], found.plane[i] + grown.n_planes[i]):
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
            for c in range(found.cell[i], found.cell[i] + (1 << grown.n_planes[i])):
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
