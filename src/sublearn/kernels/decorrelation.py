"""Choosing the hyperplanes of a node: the best one, and others that differ from it and help."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.columns import add_up, clear, gather_statistics, project
from sublearn.kernels.compilation import inner, kernel, section
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
from sublearn.kernels.discriminant import node_of
from sublearn.kernels.layout import Array
from sublearn.kernels.team import pool_sums


class Partitions(NamedTuple):
    """Hyperplanes kept in some nodes and the children they make."""

    kept: Array  # int64 (n_nodes, max_partitions), numbers of the candidates kept, the best first
    n_kept: Array  # int64 (n_nodes,), 0 where a node is not split
    n_children: Array  # int64 (n_nodes,), occupied cells
    decrease: Array  # float64 (n_nodes,), of the loss, by all kept hyperplanes together


class Keeping(NamedTuple):
    """Scratch space for choosing the hyperplanes of one node; tried is one hyperplane more than those kept."""

    kept_cells: Array  # uint8 (largest,), cell of each sample by the hyperplanes kept
    tried_cells: Array  # uint8 (largest,), cell of each sample with one hyperplane more
    tried_sums: Array  # int64 (n_cells, n_channels), sums of the cells in `tried_cells`
    kept_sums: Array  # int64 (n_cells, n_channels), sums of the cells in `kept_cells`
    cosine: Array  # float64 (n_candidates,), largest squared cosine with those kept; -1: no candidate any more


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


@section
def add_side(codes, node, features, coefficients, threshold, bit, loaded, block, columns, keeping):
    """Fill keeping.tried_cells: keeping.kept_cells with `bit` set on the positive side of the hyperplane."""
    projected = block.projected
    for begin in range(node.runs[0], node.runs[-1], projected.size):
        n = min(projected.size, node.runs[-1] - begin)
        if loaded:
            project(block.rows, columns, coefficients, n, projected)
        else:
            project_gathered(codes, node.order, begin, n, features, coefficients, projected)
        at = begin - node.runs[0]
        before = keeping.kept_cells[at : at + n]
        after = keeping.tried_cells[at : at + n]
        for i in range(n):
            after[i] = before[i] | np.uint8(np.uint8(projected[i] >= threshold) << np.uint8(bit))


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


@section
def joint_decrease(samples, node, test, loaded, block, keeping, n_cells, pool, n_met):
    """(loss decrease of the cells tried, how many are occupied, whether those meet the minima, n_met)."""
    sums = keeping.tried_sums[:n_cells]
    n_kinds = n_kinds_of(samples, node.runs)
    n_channels = node.totals.size
    clear(sums, n_channels)
    for begin in range(node.runs[0], node.runs[-1], block.bins.size):
        n = min(block.bins.size, node.runs[-1] - begin)
        if not loaded:
            gather_statistics(samples, node.order, begin, n, block)
        own = keeping.tried_cells[begin - node.runs[0] : begin - node.runs[0] + n]
        for i in range(n):
            block.bins[i] = own[i]
        add_up(block, node.runs, n_kinds, begin, n, sums)
    n_met = pool_sums(pool, sums, n_channels, n_met)
    centre = centre_of(node.totals, test)
    total = 0.0
    occupied = 0
    large_enough = True
    for cell in range(n_cells):
        channels = sums[cell, :n_channels]
        weight = weight_of(channels, n_kinds)
        if weight > 0:
            occupied += 1
            total += purity(channels, weight, n_kinds, centre, test)
            large_enough = large_enough and meets_minima(weight, count_of(channels, n_kinds), test)
    weight = weight_of(node.totals, n_kinds)
    start = purity(node.totals, weight, n_kinds, centre, test)
    return (total - start) / np.float64(weight), occupied, large_enough, n_met


@inner
def most_different(decrease, cosine):
    """The candidate least aligned with those kept, by smaller loss where several are; -1 if none is left."""
    choice = -1
    for c in range(cosine.size):
        if cosine[c] >= 0.0:
            tied = choice >= 0 and cosine[c] == cosine[choice]
            if choice < 0 or cosine[c] < cosine[choice] or (tied and decrease[c] > decrease[choice]):
                choice = c
    return choice


@section
def keep(candidates, i, c, slot, keeping, n, n_channels, partitions):
    """Note candidate c as kept, and renew the cosines of the others."""
    partitions.kept[i, slot] = c
    partitions.n_kept[i] = slot + 1
    for s in range(n):
        keeping.kept_cells[s] = keeping.tried_cells[s]
    for cell in range(2 << slot):
        for channel in range(n_channels):
            keeping.kept_sums[cell, channel] = keeping.tried_sums[cell, channel]
    if slot + 1 == partitions.kept.shape[1]:
        return
    for other in range(keeping.cosine.size):
        if keeping.cosine[other] >= 0.0:
            cosine = squared_cosine(candidates.coefficients[i, other], candidates.coefficients[i, c])
            keeping.cosine[other] = max(keeping.cosine[other], cosine)


@section
def choose_in_node(
    samples, node, test, candidates, i, limits, loaded, block, columns, keeping, partitions, pool, n_met
):
    """Keep the best candidate, then again and again the effective one that is least aligned with those kept.

    limits: (largest squared cosine, smallest share of the best decrease). `loaded`: the block holds the node, and
    the features of the subspace in `columns`. Threads may have divided the samples, as in `test_candidates`.
    """
    decrease = candidates.decrease[i, : candidates.sizes[i]]
    n = node.runs[-1] - node.runs[0]
    n_kinds = n_kinds_of(samples, node.runs)
    count = count_of(node.totals, n_kinds)
    max_partitions = partitions.kept.shape[1]
    best = 0
    for c in range(decrease.size):
        if decrease[c] > decrease[best]:
            best = c
    noise = noise_of(node.totals, weight_of(node.totals, n_kinds), n_kinds, test)
    if decrease.size == 0 or decrease[best] <= noise:
        return n_met
    effective = limits[1] * decrease[best]
    for c in range(keeping.cosine.size):
        keeping.cosine[c] = -1.0
    for c in range(decrease.size):
        if c != best and decrease[c] >= effective and decrease[c] > noise:
            keeping.cosine[c] = 0.0
    for s in range(n):
        keeping.kept_cells[s] = 0
    c = best
    while True:
        slot = partitions.n_kept[i]
        add_side(
            samples.codes,
            node,
            candidates.subspace[i],
            candidates.coefficients[i, c],
            candidates.threshold[i, c],
            slot,
            loaded,
            block,
            columns,
            keeping,
        )
        joint, occupied, large_enough, n_met = joint_decrease(
            samples, node, test, loaded, block, keeping, 2 << slot, pool, n_met
        )
        falls = occupied > partitions.n_children[i] and joint > partitions.decrease[i] * (1.0 + ROUNDING) + noise
        if c == best or (large_enough and falls):
            keep(candidates, i, c, slot, keeping, n, node.totals.size, partitions)
            partitions.decrease[i] = joint
            partitions.n_children[i] = occupied
        if partitions.n_kept[i] == max_partitions or partitions.n_children[i] == count:
            return n_met
        c = most_different(decrease, keeping.cosine)
        if c < 0 or keeping.cosine[c] > limits[0]:
            return n_met
        keeping.cosine[c] = -1.0


@kernel
def keep_decorrelated(
    samples, level, test, candidates, limits, first_node, last_node, work, keeping, pool, partitions, cells
):
    """Choose the hyperplanes of nodes; cells[position] tells the child of each sample."""
    block = work.block
    for i in range(first_node, last_node):
        node = node_of(level, i)
        choose_in_node(
            samples, node, test, candidates, i, limits, False, block, work.columns, keeping, partitions, pool, 1
        )
        begin = level.runs[i, 0]
        n = level.runs[i, -1] - begin
        if partitions.n_kept[i] > 0:
            for s in range(n):
                cells[begin + s] = keeping.kept_cells[s]
