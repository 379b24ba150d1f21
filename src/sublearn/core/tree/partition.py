"""Step 5: the sign pattern of a sample is its child code; samples move to the children (paper Sec. II-B4)."""

from typing import NamedTuple

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.space import SOLO
from sublearn.kernels import partition
from sublearn.kernels.decorrelation import Partitions
from sublearn.kernels.layout import Array, Level


class Children(NamedTuple):
    """Occupied children of some nodes, node by node."""

    runs: Array  # as in `Level`
    parents: Array  # int64 (n_children,), positions among the split nodes
    codes: Array  # int64 (n_children,), bit j: side of hyperplane j


def split_samples(level: Level, partitions: Partitions, cells: Array, new_order: Array, workers: Workers) -> Children:
    """Write the order of the next level for the nodes that are split."""
    first_child = np.concatenate([[0], np.cumsum(partitions.n_children)])
    runs = np.empty((first_child[-1], level.runs.shape[1]), np.int64)
    codes = np.empty(first_child[-1], np.int64)
    n_cells = 1 << partitions.kept.shape[1]
    workers.run(
        lambda a, b: partition.split_samples(
            level.order, level.runs, cells, first_child, n_cells, a, b, SOLO, new_order, runs, codes
        ),
        level.runs[:, -1] - level.runs[:, 0],
    )
    return Children(runs, np.repeat(np.arange(len(level.runs)), partitions.n_children), codes)
