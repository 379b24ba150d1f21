"""Step 4: the best hyperplane of a node, and others that differ from it and help (paper Sec. II-B3).

Hyperplanes are tried one after the other: each sample gets the side it is on, the sums of the cells are added up, and
then it is judged whether the hyperplane is kept, and which one is tried next. What goes over samples takes any stretch
of a node, so that threads and partitions may each take a part; sums are put together before anything is judged.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.columns import add_up, clear, gather_statistics, project
from sublearn.kernels.compilation import inner
from sublearn.kernels.criterion import (
    ROUNDING,
    centre_of,
    count_of,
    meets_minima,
    n_kinds_of,
    noise_of,
    purity,
    weight_of,
)
from sublearn.kernels.layout import Array


class Partitions(NamedTuple):
    """Hyperplanes kept in some nodes and the children they make."""

    kept: Array  # int64 (n_nodes, max_partitions), numbers of the candidates kept, the best first
    n_kept: Array  # int64 (n_nodes,), 0 where a node is not split
    n_children: Array  # int64 (n_nodes,), occupied cells
    decrease: Array  # float64 (n_nodes,), of the loss, by all kept hyperplanes together


class Keeping(NamedTuple):
    """Scratch space for choosing the hyperplanes of some nodes; tried is one hyperplane more than those kept."""

    kept_cells: Array  # uint8 (n_samples,), cell of each sample by the hyperplanes kept
    tried_cells: Array  # uint8 (n_samples,), cell of each sample with one hyperplane more
    kept_sums: Array  # int64 (n_nodes, n_cells, n_channels), sums of the cells in `kept_cells`
    tried_sums: Array  # int64 (n_nodes, n_cells, n_channels), sums of the cells in `tried_cells`
    cosine: Array  # float64 (n_nodes, n_candidates), largest squared cosine with those kept; -1: no candidate any more


@inner
def squared_cosine(a, b):
    """Squared cosine between two integer vectors; the dot products are exact."""
    ab = 0
    aa = 0
    bb = 0
    for d in range(a.size):
        x = np.int64(a[d])
        y = np.int64(b[d])
        ab += x * y
        aa += x * x
        bb += y * y
    return np.float64(ab) * np.float64(ab) / (np.float64(aa) * np.float64(bb))


@inner
def project_gathered(codes, order, begin, n, features, coefficients, out):
    """`project` for samples at positions begin to begin + n of the order."""
    part = order[begin : begin + n]
    for i in range(n):
        out[i] = 0
    for d in range(features.size):
        a = np.int32(coefficients[d])
        if a != 0:
            row = codes[features[d]]
            for i in range(n):
                out[i] += a * np.int32(row[np.uint32(part[i])])


@inner
def note_sides(projected, n, threshold, bit, before, after):
    """Cells with `bit` set for samples on the positive side."""
    for i in range(n):
        after[i] = before[i] | np.uint8(np.uint8(projected[i] >= threshold) << np.uint8(bit))


@inner
def try_in_block(columns, n, candidates, i, c, bit, block, keeping):
    """`try_side` for a node that the block has, whose cells begin at position 0."""
    project(block.rows, columns, candidates.coefficients[i, c], n, block.projected)
    note_sides(block.projected, n, candidates.threshold[i, c], bit, keeping.kept_cells, keeping.tried_cells)


@inner
def try_side(samples, order, begin, end, at, candidates, i, c, bit, block, keeping):
    """Fill tried_cells of the samples at positions begin to end by candidate c of node i.

    These are kept_cells with `bit` set on the positive side. The cell of position p is at p - at.
    """
    projected = block.projected
    features = candidates.subspace[i]
    for first in range(begin, end, projected.size):
        n = min(projected.size, end - first)
        project_gathered(samples.codes, order, first, n, features, candidates.coefficients[i, c], projected)
        before = keeping.kept_cells[first - at : first - at + n]
        after = keeping.tried_cells[first - at : first - at + n]
        note_sides(projected, n, candidates.threshold[i, c], bit, before, after)


@inner
def add_cells(samples, order, runs, begin, end, at, loaded, block, keeping, sums):
    """Add the samples at positions begin to end to the sums (n_cells, n_channels) of the cells tried."""
    n_kinds = n_kinds_of(samples, runs)
    bins = block.bins
    for first in range(begin, end, bins.size):
        n = min(bins.size, end - first)
        if not loaded:
            gather_statistics(samples, order, first, n, block)
        own = keeping.tried_cells[first - at : first - at + n]
        for s in range(n):
            bins[s] = own[s]
        add_up(block, runs, n_kinds, first, n, sums)


@inner
def joint_decrease(totals, n_kinds, test, sums):
    """Loss decrease of the cells tried, how many are occupied, and whether those meet the minima."""
    n_channels = totals.size
    centre = centre_of(totals, test)
    total = 0.0
    occupied = 0
    large_enough = True
    for cell in range(sums.shape[0]):
        channels = sums[cell, :n_channels]
        weight = weight_of(channels, n_kinds)
        if weight > 0:
            occupied += 1
            total += purity(channels, weight, n_kinds, centre, test)
            large_enough = large_enough and meets_minima(weight, count_of(channels, n_kinds), test)
    weight = weight_of(totals, n_kinds)
    start = purity(totals, weight, n_kinds, centre, test)
    return (total - start) / np.float64(weight), occupied, large_enough


@inner
def most_different(decrease, cosine):
    """The candidate least aligned with those kept, by smaller loss where several are; -1 if none is left."""
    choice = np.int64(-1)
    for c in range(decrease.size):
        if cosine[c] >= 0.0:
            tied = choice >= 0 and cosine[c] == cosine[choice]
            if choice < 0 or cosine[c] < cosine[choice] or (tied and decrease[c] > decrease[choice]):
                choice = c
    return choice


@inner
def begin_choosing(totals, n_kinds, test, limits, candidates, i, keeping, partitions):
    """Keep nothing in node i yet; returns the candidate to try first, the best one, or -1 where none is good.

    limits: (largest squared cosine, smallest share of the best decrease).
    """
    partitions.n_kept[i] = 0
    partitions.n_children[i] = 0
    partitions.decrease[i] = 0.0
    decrease = candidates.decrease[i, : candidates.sizes[i]]
    best = np.int64(0)
    for c in range(decrease.size):
        if decrease[c] > decrease[best]:
            best = c
    noise = noise_of(totals, weight_of(totals, n_kinds), n_kinds, test)
    if decrease.size == 0 or decrease[best] <= noise:
        return np.int64(-1)
    effective = limits[1] * decrease[best]
    cosine = keeping.cosine[i]
    for c in range(decrease.size):
        joins = c != best and decrease[c] >= effective and decrease[c] > noise
        cosine[c] = 0.0 if joins else -1.0
    return best


@inner
def judge(totals, n_kinds, test, limits, candidates, i, c, keeping, partitions):
    """Whether candidate c, which has been tried in node i, is kept; returns that and the next to try, or -1."""
    n_channels = totals.size
    slot = partitions.n_kept[i]
    tried = keeping.tried_sums[i, : 2 << slot]
    joint, occupied, large_enough = joint_decrease(totals, n_kinds, test, tried)
    noise = noise_of(totals, weight_of(totals, n_kinds), n_kinds, test)
    falls = occupied > partitions.n_children[i] and joint > partitions.decrease[i] * (1.0 + ROUNDING) + noise
    is_kept = slot == 0 or (large_enough and falls)
    cosine = keeping.cosine[i]
    if is_kept:
        partitions.kept[i, slot] = c
        partitions.n_kept[i] = slot + 1
        partitions.decrease[i] = joint
        partitions.n_children[i] = occupied
        kept = keeping.kept_sums[i]
        for cell in range(2 << slot):
            for channel in range(n_channels):
                kept[cell, channel] = tried[cell, channel]
        if slot + 1 == partitions.kept.shape[1] or occupied == count_of(totals, n_kinds):
            return True, np.int64(-1)
        for other in range(candidates.sizes[i]):
            if cosine[other] >= 0.0:
                aligned = squared_cosine(candidates.coefficients[i, other], candidates.coefficients[i, c])
                cosine[other] = max(cosine[other], aligned)
    following = most_different(candidates.decrease[i, : candidates.sizes[i]], cosine)
    if following < 0 or cosine[following] > limits[0]:
        return is_kept, np.int64(-1)
    cosine[following] = -1.0
    return is_kept, following


@inner
def choose_in_node(samples, node, test, limits, candidates, i, loaded, columns, block, keeping, partitions):
    """Choose the hyperplanes of node i, all of whose samples are here; their cells are left in keeping.kept_cells.

    loaded: the block has the node, and the features of the subspace in `columns`.
    """
    begin = node.runs[0]
    n = node.runs[-1] - begin
    n_kinds = n_kinds_of(samples, node.runs)
    c = begin_choosing(node.totals, n_kinds, test, limits, candidates, i, keeping, partitions)
    if c >= 0:
        kept_cells = keeping.kept_cells
        tried_cells = keeping.tried_cells
        for s in range(n):
            kept_cells[s] = 0
        while c >= 0:
            bit = partitions.n_kept[i]
            sums = keeping.tried_sums[i, : 2 << bit]
            clear(sums, node.totals.size)
            if loaded:
                try_in_block(columns, n, candidates, i, c, bit, block, keeping)
            else:
                try_side(samples, node.order, begin, begin + n, begin, candidates, i, c, bit, block, keeping)
            add_cells(samples, node.order, node.runs, begin, begin + n, begin, loaded, block, keeping, sums)
            is_kept, c = judge(node.totals, n_kinds, test, limits, candidates, i, c, keeping, partitions)
            if is_kept:
                for s in range(n):
                    kept_cells[s] = tried_cells[s]
