"""The nodes that all threads, and all partitions, grow together: a batch at a time, all of them step by step.

The samples of a batch are divided evenly among threads, whichever node they are in. Each thread adds up by itself, and
adds its sums to those of all where its share of a node ends.
"""

from typing import NamedTuple

from sublearn.kernels.compilation import inner
from sublearn.kernels.decorrelation import Keeping, Partitions
from sublearn.kernels.layout import Array, Candidates, Samples
from sublearn.kernels.nodes import runs_of

# places in the flags of a front, in which all threads read what comes next: nodes of the batch, the next shared node,
# nodes that do not race, nodes of which ranges, products or cells are wanted, the first child of the batch, how many
# of the children are to be described by their samples, the batches so far, and the operation that follows
SIZE, NEXT_SHARED, UNRACED, RANGED, FITTED, TRIED, FIRST_CHILD, DESCRIBED, BATCHES, FOLLOWING = range(10)
N_FLAGS = 10
AS_IT_IS, FROM_TRIED, FROM_PLANE = 0, 1, 2  # what has to become of kept cells before they are used


class Front(NamedTuple):
    """A batch of nodes, n of them at the most, and what all threads find out of it."""

    flags: Array  # int64 (N_FLAGS,)
    number: Array  # int64 (n,), among the shared nodes
    offsets: Array  # int64 (n + 1,), samples of the batch before each node
    raced: Array  # bool (n,)
    ranged: Array  # bool (n,), whether ranges of candidates are to be found, since no race tells them
    first: Array  # int64 (n,), the first candidate that is tested on all samples
    solved: Array  # bool (n,)
    chosen: Array  # int64 (n, subspace_size), ranks of the subspace's features
    varies: Array  # bool (n, subspace_size)
    view_ranges: Array  # int32 (n, n_views, 2)
    candidates: Candidates
    sums: Array  # int64 (n, n_projections, n_bins, n_channels), histograms of features or of candidates
    products: Array  # int64 (n, m + 2, m + 2), as in `Fit`
    partitions: Partitions
    keeping: Keeping  # cells are by position
    tried: Array  # int64 (n,), the candidate that is tried as a hyperplane, or -1
    pending: Array  # int64 (n,), what has to become of kept cells
    counts: Array  # int64 (n_threads, n, n_cells, n_runs), samples of each thread by cell and run
    own_counts: Array  # int64 (n, n_cells, n_runs), of this partition
    whole_counts: Array  # int64 (n, n_cells, n_runs), of all partitions
    before: Array  # int64 (n, n_cells, n_runs), of the partitions before this one
    places: Array  # int64 (n, n_cells, n_runs), where they go
    moved: Array  # int32 (n_samples,)
    child_offsets: Array  # int64 (n * n_cells + 1,), samples of the children to be described before each
    described: Array  # int64 (n * n_cells, 4), sums of remainders, and of squares around a centre
    ends: Array  # int32 (n * n_cells, 2), smallest and largest target
    stretches: Array  # int64 (n_shared, 2, n_runs), of each shared node: samples of all, and of partitions before this
    racers: Samples  # those of all partitions
    racer_order: Array  # int32
    racer_runs: Array  # int64 (n, n_runs + 1), of each node
    drawn: Array  # int32 (n, racing_samples), samples of this partition that race, or -1


@inner
def share_of(total, number, n_threads):
    """The stretch of a batch's samples that a thread takes."""
    return total * number // n_threads, total * (number + 1) // n_threads


@inner
def part_of(offsets, j, low, high, begin):
    """Positions of node j, which begins at `begin`, whose samples are in the stretch low to high of the batch."""
    size = offsets[j + 1] - offsets[j]
    first = min(max(low - offsets[j], 0), size)
    last = min(max(high - offsets[j], 0), size)
    return begin + first, begin + last


@inner
def part_of_node(front, shared, j, number, n_threads):
    """Positions of node j of the batch that are a thread's share."""
    low, high = share_of(front.offsets[front.flags[SIZE]], number, n_threads)
    return part_of(front.offsets, j, low, high, runs_of(shared, front.number[j])[0])
