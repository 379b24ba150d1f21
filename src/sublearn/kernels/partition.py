"""Moving the samples of a node to its children, which the sides of its hyperplanes make."""

import numpy as np

from sublearn.kernels.columns import clear
from sublearn.kernels.compilation import inner, kernel
from sublearn.kernels.team import is_stopped, meet


@inner
def sum_of(cells):
    """How many of the cells, 0 or 1, are 1."""
    n = np.int64(0)
    for i in range(cells.size):
        n += np.int64(cells[i])
    return n


@inner
def part_in_two(cells, samples, first, second, out):
    """Write the samples of cell 0 to `out` from `first` on, and those of cell 1 from `second` on.

    Both places are numbers at hand: in a table, each sample would wait until the one before it has been written there.
    """
    a = np.uint64(first)
    b = np.uint64(second)
    for i in range(cells.size):
        side = np.uint64(cells[i])
        out[b if side else a] = samples[i]
        a += np.uint64(1) - side
        b += side


@inner
def move_samples(order, begin, runs, cells, place, moved, at, first_child, new_runs, codes, pool, n_met):
    """Sort the samples of a node by child, keeping their order; fills runs and codes of children from first_child on.

        order   [a b c d e]   cells 1 0 1 3 0   gives   [b e | a c | d], child codes 0 1 3

    The node begins at position `begin`, and `runs` tells which of its samples this thread moves; their cells come one
    after the other. Space for position p is moved[p - at], for all threads. Returns (number of children, n_met).
    """
    n_classes = runs.size - 1
    clear(place, n_classes)
    for k in range(n_classes):
        part = cells[runs[k] - runs[0] : runs[k + 1] - runs[0]]
        if place.shape[0] == 2:
            place[1, k] = sum_of(part)
            place[0, k] = part.size - place[1, k]
        else:
            for i in range(part.size):
                place[part[i], k] += 1
    if pool.n_threads > 1:
        for cell in range(place.shape[0]):
            for k in range(n_classes):
                pool.sums[pool.number, cell * n_classes + k] = place[cell, k]
        n_met = meet(pool.counters, pool.stop, pool.n_threads, n_met)
        if is_stopped(pool.stop):  # what the others have written may be of another meeting
            return 0, n_met
    position = begin
    child = first_child
    for cell in range(place.shape[0]):
        start = position
        for k in range(n_classes):
            before = np.int64(0)  # samples of this cell and class that the threads before this one move
            size = place[cell, k]
            if pool.n_threads > 1:
                size = np.int64(0)
                for t in range(pool.n_threads):
                    if t == pool.number:
                        before = size
                    size += pool.sums[t, cell * n_classes + k]
            place[cell, k] = position + before
            if size > 0 and position == start:  # the first of a child
                codes[child] = cell
                for first in range(k + 1):
                    new_runs[child, first] = position
            elif position > start:
                new_runs[child, k] = position
            position += size
        if position > start:
            new_runs[child, n_classes] = position
            child += 1
    for k in range(n_classes):
        part = cells[runs[k] - runs[0] : runs[k + 1] - runs[0]]
        old = order[runs[k] : runs[k + 1]]
        if place.shape[0] == 2:
            part_in_two(part, old, place[0, k] - at, place[1, k] - at, moved)
        else:
            for i in range(part.size):
                moved[np.uint64(place[part[i], k] - at)] = old[i]
                place[part[i], k] += 1
    if pool.n_threads > 1:
        n_met = meet(pool.counters, pool.stop, pool.n_threads, n_met)
        if is_stopped(pool.stop):  # `moved` may have gaps
            return 0, n_met
    old = order[runs[0] : runs[-1]]
    new = moved[runs[0] - at : runs[-1] - at]
    for i in range(old.size):
        old[i] = new[i]
    if pool.n_threads > 1:
        n_met = meet(pool.counters, pool.stop, pool.n_threads, n_met)
    return child - first_child, n_met


@kernel
def split_samples(order, runs, cells, first_child, n_cells, first_node, last_node, pool, moved, new_runs, codes):
    """Move the samples of each node to its children.

    Children of node i are numbers first_child[i] to first_child[i + 1]; nodes without any are left alone.
    """
    place = np.empty((n_cells, runs.shape[1] - 1), np.int64)
    for i in range(first_node, last_node):
        if first_child[i] < first_child[i + 1]:
            begin = runs[i, 0]
            part = cells[begin : runs[i, -1]]
            move_samples(order, begin, runs[i], part, place, moved, 0, first_child[i], new_runs, codes, pool, 1)
