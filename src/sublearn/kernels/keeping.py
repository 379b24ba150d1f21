"""Choosing the hyperplanes of a node, and moving its samples to the children they make."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.columns import Block, add_up, clear, gather_statistics, make_block
from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.criterion import (
    ROUNDING,
    centre_of,
    count_of,
    meets_minima,
    noise_of,
    purity,
    weight_of,
)
from sublearn.kernels.layout import Array
from sublearn.kernels.search import largest_node, node_of


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
    block: Block
    sums: Array  # int64 (n_cells, n_channels)
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


@inner
def add_side(codes, node, features, coefficients, threshold, bit, trial):
    """trial.trial = trial.cells, with `bit` set where a sample is on the positive side of the hyperplane."""
    projected = trial.block.projected
    for begin in range(node.runs[0], node.runs[-1], projected.size):
        n = min(projected.size, node.runs[-1] - begin)
        for i in range(n):
            projected[i] = 0
        for d in range(features.size):
            a = np.int32(coefficients[d])
            if a != 0:
                row = codes[features[d]]
                for i in range(n):
                    projected[i] += a * np.int32(row[node.order[begin + i]])
        at = begin - node.runs[0]
        for i in range(n):
            positive = np.uint8(projected[i] >= threshold)
            trial.trial[at + i] = trial.cells[at + i] | (positive << np.uint8(bit))


@inner
def joint_decrease(samples, node, test, trial, n_cells):
    """(loss decrease of the cells in `trial.trial`, how many are occupied, whether those meet the minima)."""
    block = trial.block
    sums = trial.sums[:n_cells]
    clear(sums)
    for begin in range(node.runs[0], node.runs[-1], block.bins.size):
        n = min(block.bins.size, node.runs[-1] - begin)
        gather_statistics(samples, node.order, begin, n, block)
        for i in range(n):
            block.bins[i] = trial.trial[begin - node.runs[0] + i]
        add_up(block, node.runs, samples.n_classes, begin, n, sums)
    n_classes = samples.n_classes
    centre = centre_of(node.totals, test)
    total = 0.0
    occupied = 0
    large_enough = True
    for cell in range(n_cells):
        weight = weight_of(sums[cell], n_classes)
        if weight > 0:
            occupied += 1
            total += purity(sums[cell], weight, n_classes, centre, test)
            large_enough = large_enough and meets_minima(weight, count_of(sums[cell], n_classes), test)
    weight = weight_of(node.totals, n_classes)
    start = purity(node.totals, weight, n_classes, centre, test)
    return (total - start) / np.float64(weight), occupied, large_enough


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


@inner
def keep(candidates, i, c, slot, trial, n, choice):
    """Note candidate c as kept, and renew the cosines of the others."""
    choice.kept[i, slot] = c
    choice.n_kept[i] = slot + 1
    for s in range(n):
        trial.cells[s] = trial.trial[s]
    for other in range(trial.cosine.size):
        if trial.cosine[other] >= 0.0:
            cosine = squared_cosine(candidates.coefficients[i, other], candidates.coefficients[i, c])
            trial.cosine[other] = max(trial.cosine[other], cosine)


@inner
def choose_in_node(samples, node, test, candidates, i, limits, trial, choice):
    """The best candidate, then ever the effective one least aligned with those kept."""
    decrease = candidates.decrease[i, : candidates.sizes[i]]
    n = node.runs[-1] - node.runs[0]
    max_partitions = choice.kept.shape[1]
    best = 0
    for c in range(decrease.size):
        if decrease[c] > decrease[best]:
            best = c
    noise = noise_of(node.totals, weight_of(node.totals, samples.n_classes), samples.n_classes, test)
    if decrease.size == 0 or decrease[best] <= noise:
        return
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
            trial,
        )
        joint, occupied, large_enough = joint_decrease(samples, node, test, trial, 2 << slot)
        falls = occupied > choice.n_children[i] and joint > choice.decrease[i] * (1.0 + ROUNDING) + noise
        if c == best or (large_enough and falls):
            keep(candidates, i, c, slot, trial, n, choice)
            choice.decrease[i] = joint
            choice.n_children[i] = occupied
        if choice.n_kept[i] == max_partitions or choice.n_children[i] == n:
            return
        c = most_different(decrease, trial.cosine)
        if c < 0 or trial.cosine[c] > limits[0]:
            return
        trial.cosine[c] = -1.0


@kernel
def keep_decorrelated(samples, level, test, candidates, limits, first_node, last_node, choice, cells):
    """Choose the hyperplanes of nodes; cells[position] tells the child of each sample.

    limits: (largest squared cosine, smallest share of the best decrease).
    """
    largest = largest_node(level, first_node, last_node)
    n_cells = 1 << choice.kept.shape[1]
    trial = Trial(
        np.empty(largest, np.uint8),
        np.empty(largest, np.uint8),
        make_block(1, n_cells, largest, samples),
        np.empty((n_cells, level.totals.shape[1]), np.int64),
        np.empty(candidates.coefficients.shape[1], np.float64),
    )
    for i in range(first_node, last_node):
        choose_in_node(samples, node_of(level, i), test, candidates, i, limits, trial, choice)
        begin = level.runs[i, 0]
        n = level.runs[i, -1] - begin
        if choice.n_kept[i] > 0:
            for s in range(n):
                cells[begin + s] = trial.cells[s]


@kernel
def split_samples(order, runs, cells, first_child, n_cells, first_node, last_node, new_order, new_runs, codes):
    """Move the samples of each node to its children, keeping their order.

        order   [a b c d e]   cells 1 0 1 3 0   gives   [b e | a c | d], child codes 0 1 3

    Children of node i are numbers first_child[i] to first_child[i + 1]; nodes without any are left alone.
    """
    n_classes = runs.shape[1] - 1
    place = np.empty((n_cells, n_classes), np.int64)
    for i in range(first_node, last_node):
        if first_child[i] == first_child[i + 1]:
            continue
        clear(place)
        for k in range(n_classes):
            for p in range(runs[i, k], runs[i, k + 1]):
                place[cells[p], k] += 1
        position = runs[i, 0]
        child = first_child[i]
        for cell in range(n_cells):
            begin = position
            for k in range(n_classes):
                size = place[cell, k]
                place[cell, k] = position
                position += size
            if position > begin:
                codes[child] = cell
                for k in range(n_classes):
                    new_runs[child, k] = place[cell, k]
                new_runs[child, n_classes] = position
                child += 1
        for k in range(n_classes):
            for p in range(runs[i, k], runs[i, k + 1]):
                new_order[place[cells[p], k]] = order[p]
                place[cells[p], k] += 1
