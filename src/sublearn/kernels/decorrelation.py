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


class Choice(NamedTuple):
    """Hyperplanes kept in some nodes and the children they make."""

    kept: Array  # int64 (n_nodes, max_partitions), candidates, first the best
    n_kept: Array  # int64 (n_nodes,), 0 where a node is not split
    n_children: Array  # int64 (n_nodes,), occupied cells
    decrease: Array  # float64 (n_nodes,), of the loss, by all kept hyperplanes together


class Trial(NamedTuple):
    """Scratch space for one node's choice."""

    cells: Array  # uint8 (largest,), cell of each sample by what is kept
    trial: Array  # uint8 (largest,), cell with one more hyperplane
    sums: Array  # int64 (n_cells, n_channels), by `trial`
    kept_sums: Array  # int64 (n_cells, n_channels), by `cells`
    cosine: Array  # float64 (n_candidates,), largest squared cosine with those kept; -1: out


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
def add_side(codes, node, features, coefficients, threshold, bit, loaded, block, columns, trial):
    """trial.trial = trial.cells, with `bit` set where a sample is on the positive side of the hyperplane."""
    projected = block.projected
    for begin in range(node.runs[0], node.runs[-1], projected.size):
        n = min(projected.size, node.runs[-1] - begin)
        if loaded:
            project(block.rows, columns, coefficients, n, projected)
        else:
            project_gathered(codes, node.order, begin, n, features, coefficients, projected)
        at = begin - node.runs[0]
        before = trial.cells[at : at + n]
        after = trial.trial[at : at + n]
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
def joint_decrease(samples, node, test, loaded, block, trial, n_cells, pool, n_met):
    """(loss decrease of the cells in `trial.trial`, how many are occupied, whether those meet the minima, n_met)."""
    sums = trial.sums[:n_cells]
    n_kinds = n_kinds_of(samples, node.runs)
    n_channels = node.totals.size
    clear(sums, n_channels)
    for begin in range(node.runs[0], node.runs[-1], block.bins.size):
        n = min(block.bins.size, node.runs[-1] - begin)
        if not loaded:
            gather_statistics(samples, node.order, begin, n, block)
        own = trial.trial[begin - node.runs[0] : begin - node.runs[0] + n]
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
def keep(candidates, i, c, slot, trial, n, n_channels, choice):
    """Note candidate c as kept, and renew the cosines of the others."""
    choice.kept[i, slot] = c
    choice.n_kept[i] = slot + 1
    for s in range(n):
        trial.cells[s] = trial.trial[s]
    for cell in range(2 << slot):
        for channel in range(n_channels):
            trial.kept_sums[cell, channel] = trial.sums[cell, channel]
    if slot + 1 == choice.kept.shape[1]:
        return
    for other in range(trial.cosine.size):
        if trial.cosine[other] >= 0.0:
            cosine = squared_cosine(candidates.coefficients[i, other], candidates.coefficients[i, c])
            trial.cosine[other] = max(trial.cosine[other], cosine)


@section
def choose_in_node(samples, node, test, candidates, i, limits, loaded, block, columns, trial, choice, pool, n_met):
    """The best candidate, then ever the effective one least aligned with those kept.

    limits: (largest squared cosine, smallest share of the best decrease). `loaded`: the block holds the node, and
    the features of the subspace in `columns`. Threads may have divided the samples, as in `test_candidates`.
    """
    decrease = candidates.decrease[i, : candidates.sizes[i]]
    n = node.runs[-1] - node.runs[0]
    n_kinds = n_kinds_of(samples, node.runs)
    count = count_of(node.totals, n_kinds)
    max_partitions = choice.kept.shape[1]
    best = 0
    for c in range(decrease.size):
        if decrease[c] > decrease[best]:
            best = c
    noise = noise_of(node.totals, weight_of(node.totals, n_kinds), n_kinds, test)
    if decrease.size == 0 or decrease[best] <= noise:
        return n_met
    effective = limits[1] * decrease[best]
    for c in range(trial.cosine.size):
        trial.cosine[c] = -1.0
    for c in range(decrease.size):
        if c != best and decrease[c] >= effective and decrease[c] > noise:
            trial.cosine[c] = 0.0
    for s in range(n):
        trial.cells[s] = 0
    c = best
    while True:
        slot = choice.n_kept[i]
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
            trial,
        )
        joint, occupied, large_enough, n_met = joint_decrease(
            samples, node, test, loaded, block, trial, 2 << slot, pool, n_met
        )
        falls = occupied > choice.n_children[i] and joint > choice.decrease[i] * (1.0 + ROUNDING) + noise
        if c == best or (large_enough and falls):
            keep(candidates, i, c, slot, trial, n, node.totals.size, choice)
            choice.decrease[i] = joint
            choice.n_children[i] = occupied
        if choice.n_kept[i] == max_partitions or choice.n_children[i] == count:
            return n_met
        c = most_different(decrease, trial.cosine)
        if c < 0 or trial.cosine[c] > limits[0]:
            return n_met
        trial.cosine[c] = -1.0


@kernel
def keep_decorrelated(
    samples, level, test, candidates, limits, first_node, last_node, work, trial, pool, choice, cells
):
    """Choose the hyperplanes of nodes; cells[position] tells the child of each sample."""
    block = work.block
    for i in range(first_node, last_node):
        node = node_of(level, i)
        choose_in_node(samples, node, test, candidates, i, limits, False, block, work.columns, trial, choice, pool, 1)
        begin = level.runs[i, 0]
        n = level.runs[i, -1] - begin
        if choice.n_kept[i] > 0:
            for s in range(n):
                cells[begin + s] = trial.cells[s]
