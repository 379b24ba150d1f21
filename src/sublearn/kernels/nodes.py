"""Nodes of a growing tree: what is known of them, where it is written down, and which of them are open."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import class_loss, count_of, newton_loss, weight_of
from sublearn.kernels.layout import Array
from sublearn.kernels.projection import CHILDREN

# places in the state of a thread, which it keeps between calls: the number of its first node among the nodes of all
# threads; nodes, hyperplanes, terms, cells and numbers so far; the node that comes next; the shared node that it has
# claimed, and whether that is still to come; the operation that comes next, and the one before it; the meetings so far
FIRST, NODES, PLANES, TERMS, CELLS, FILLED, AT, CLAIMED, ACTIVE, OPERATION, BEFORE, MET = range(12)
N_STATES = 16  # more than are used, so that each thread has cache lines of its own


class Grown(NamedTuple):
    """Nodes that have been grown, parents before their children, with room for more; a part of a tree.

    A node has numbers for those classes only that it has samples of: of many classes, a small node has few. From its
    place `at` on come how many these are (0 for regression), runs and totals as in `Node`, with room for at least one
    class and a number more, and numbers of the classes. As an example, a node with five samples of class 0 and two of
    class 3, at positions 10 to 16; a dot is room that is not used:

        places    at   at + 1        at + 5       at + 9
        numbers   2    10 15 17 .    5 2 . .      0 3
                  n    runs          totals       classes
    """

    parent: Array  # int64, its number among the nodes of all threads; -1 for the root
    cell: Array  # int64, child code
    depth: Array  # int64
    at: Array  # int64
    numbers: Array  # int64
    remainder: Array  # int64
    loss: Array  # float64
    pure: Array  # bool
    key: Array  # uint64
    n_planes: Array  # int64, 0 for a leaf
    decrease: Array  # float64
    # hyperplanes
    threshold: Array  # int32
    plane_decrease: Array  # float64
    n_terms: Array  # int64
    # terms
    feature: Array  # int32
    coefficient: Array  # int16


@inner
def is_open(grown, i, totals, n_kinds, test, rules):
    """Whether node i may be split."""
    weight = weight_of(totals, n_kinds)
    count = count_of(totals, n_kinds)
    return (
        grown.depth[i] < rules.max_depth
        and count >= rules.min_split
        and weight >= 2 * test.min_weight
        and grown.loss[i] >= rules.min_loss
        and not grown.pure[i]
    )


@inner
def room_of(n_kinds):
    """Places for the runs of a node with so many classes, or for its totals."""
    return max(n_kinds, 1) + 2


@inner
def places_of(n_kinds):
    """How many places the numbers of a node with so many classes take in `Grown`."""
    return 1 + 2 * room_of(n_kinds) + n_kinds


@section
def runs_of(grown, i):
    """Runs of node i."""
    at = grown.at[i]
    return grown.numbers[at + 1 : at + 2 + max(grown.numbers[at], 1)]


@section
def totals_of(grown, i, samples):
    """Totals of node i."""
    at = grown.at[i]
    n_kinds = grown.numbers[at]
    first = at + 1 + room_of(n_kinds)
    n = n_kinds if n_kinds > 0 else 2
    return grown.numbers[first : first + n + (1 if samples.weights.size or samples.curvatures.size else 0)]


@section
def kinds_of(grown, i):
    """Numbers of the classes of node i."""
    at = grown.at[i]
    n_kinds = grown.numbers[at]
    first = at + 1 + 2 * room_of(n_kinds)
    return grown.numbers[first : first + n_kinds]


@inner
def n_present(counts, n_kinds):
    """How many of a node's classes have samples in a child, by their counts."""
    n = np.int64(0)
    for k in range(n_kinds):
        if counts[k] > 0:
            n += 1
    return n


@inner
def note_runs(places, end, counts, kinds, n_kinds, numbers, at):
    """Write the runs and classes of a node to its place, but for classes without samples; `n_kinds` have some.

    Samples of class k begin at places[k], those of the last one end at `end`; `counts` tells which classes there are,
    be it in other partitions.
    """
    numbers[at] = n_kinds
    n = at + 1
    if n_kinds == 0:
        numbers[n] = places[0]
        numbers[n + 1] = end
        return
    for k in range(kinds.size):
        if counts[k] > 0:
            numbers[n + 2 * room_of(n_kinds)] = kinds[k]
            numbers[n] = places[k]
            n += 1
    numbers[n] = end


@inner
def take_totals(sums, n_kinds, totals, n_own):
    """Take the totals of a child with n_own classes from the sums of its cell, in which its parent's n_kinds are."""
    if n_kinds == 0:
        for channel in range(totals.size):
            totals[channel] = sums[channel]
        return
    n = 0
    for k in range(n_kinds):
        if sums[k] > 0:
            totals[n] = sums[k]
            n += 1
    if totals.size > n_own:
        totals[n_own] = sums[n_kinds]


@inner
def judge_totals(test, n_kinds, grown, i, totals):
    """Fill remainder, loss and purity of node i where its totals tell them: not for means of numbers."""
    grown.remainder[i] = 0
    if n_kinds > 0:
        grown.loss[i], grown.pure[i] = class_loss(n_kinds, test, totals)
    else:
        grown.loss[i] = newton_loss(test, totals)
        grown.pure[i] = False


@inner
def note_above(key, depth, parent, cell, grown, i):
    """Note where node i is in the tree, and the key of its random numbers, which is below its parent's."""
    grown.parent[i] = parent
    grown.depth[i] = depth
    grown.cell[i] = cell
    grown.key[i] = mix(mix(key, CHILDREN), cell)


@inner
def note_planes(candidates, i, partitions, nodes, number, own):
    """Write the hyperplanes kept in node i of a batch for node `number` of a thread's own."""
    nodes.n_planes[number] = partitions.n_kept[i]
    nodes.decrease[number] = partitions.decrease[i]
    plane = own[PLANES]
    term = own[TERMS]
    for slot in range(partitions.n_kept[i]):
        c = partitions.kept[i, slot]
        nodes.threshold[plane] = candidates.threshold[i, c]
        nodes.plane_decrease[plane] = candidates.decrease[i, c]
        n_terms = 0
        for d in range(candidates.subspace.shape[1]):
            if candidates.coefficients[i, c, d] != 0:
                nodes.feature[term] = candidates.subspace[i, d]
                nodes.coefficient[term] = candidates.coefficients[i, c, d]
                n_terms += 1
                term += 1
        nodes.n_terms[plane] = n_terms
        plane += 1
    own[PLANES] = plane
    own[TERMS] = term
    if partitions.n_kept[i] > 0:
        own[CELLS] += 1 << partitions.n_kept[i]


@inner
def take_shared(shared, number, nodes, own):
    """Copy a shared node to a thread's own nodes; returns its number there."""
    i = own[NODES]
    at = own[FILLED]
    nodes.parent[i] = shared.parent[number]
    nodes.cell[i] = shared.cell[number]
    nodes.depth[i] = shared.depth[number]
    nodes.key[i] = shared.key[number]
    nodes.remainder[i] = shared.remainder[number]
    nodes.loss[i] = shared.loss[number]
    nodes.pure[i] = shared.pure[number]
    nodes.at[i] = at
    first = shared.at[number]
    n = places_of(shared.numbers[first])
    for k in range(n):
        nodes.numbers[at + k] = shared.numbers[first + k]
    own[NODES] += 1
    own[FILLED] += n
    return i
