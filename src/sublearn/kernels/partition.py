"""Step 5: the cell of a sample is its child; samples move to the children (paper Sec. II-B4)."""

import numpy as np

from sublearn.kernels.columns import clear
from sublearn.kernels.compilation import inner


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
def count_cells(runs, begin, end, cells, at, counts):
    """Fill counts (n_cells, n_runs) of the samples at positions begin to end, by cell and run.

    The cell of position p is cells[p - at].
    """
    n_runs = runs.size - 1
    clear(counts, n_runs)
    for k in range(n_runs):
        first = max(runs[k], begin)
        last = min(runs[k + 1], end)
        if first < last:
            part = cells[first - at : last - at]
            if counts.shape[0] == 2:
                counts[1, k] = sum_of(part)
                counts[0, k] = part.size - counts[1, k]
            else:
                for i in range(part.size):
                    counts[part[i], k] += 1


@inner
def lay_out(begin, counts, n_runs, places):
    """Fill places (n_cells, n_runs): where the samples of each cell and run begin, by how many there are."""
    position = begin
    for cell in range(counts.shape[0]):
        for k in range(n_runs):
            n = counts[cell, k]
            places[cell, k] = position
            position += n


@inner
def move_samples(order, runs, begin, end, cells, at, places, moved, moved_at):
    """Write the samples at positions begin to end to `moved`, those of a cell and run from its place on.

        order   [a b c d e]   cells 1 0 1 3 0   gives   [b e | a c | d]

    Samples keep their order. Space for position p is moved[p - moved_at]. Places go on with what is written.
    """
    for k in range(runs.size - 1):
        first = max(runs[k], begin)
        last = min(runs[k + 1], end)
        if first < last:
            part = cells[first - at : last - at]
            old = order[first:last]
            if places.shape[0] == 2:
                part_in_two(part, old, places[0, k] - moved_at, places[1, k] - moved_at, moved)
            else:
                for i in range(part.size):
                    moved[np.uint64(places[part[i], k] - moved_at)] = old[i]
                    places[part[i], k] += 1


@inner
def copy_back(moved, moved_at, begin, end, order):
    """Write what has moved to positions begin to end."""
    new = moved[begin - moved_at : end - moved_at]
    old = order[begin:end]
    for i in range(old.size):
        old[i] = new[i]
