"""Scratch space of a thread, made once for many nodes: kernels do not allocate."""

from typing import NamedTuple

from sublearn.kernels.decorrelation import Keeping, Partitions
from sublearn.kernels.discriminant import Work
from sublearn.kernels.fitting import Fit
from sublearn.kernels.layout import Array, Candidates, Node
from sublearn.kernels.projection import Own, Urn
from sublearn.kernels.subspace import Ranking, Ranks


class Spare(NamedTuple):
    """Space for single steps."""

    urn: Urn  # for draws of features
    own: Own
    chosen: Array  # bool (n_candidates,), finalists
    table: Array  # int64 (`table_size`,)
    columns: Array  # int64 (subspace_size,), where the block has the features of the subspace
    moved: Array  # int32 (largest,)
    counts: Array  # int64 (n_cells, n_classes), samples by cell and run
    places: Array  # int64 (n_cells, n_classes), where they go


class Tools(NamedTuple):
    """All that one thread needs to grow trees; for nodes one by one, but for what it does with a batch."""

    work: Work
    keeping: Keeping
    ranking: Ranking
    ranks: Ranks
    fit: Fit
    candidates: Candidates
    partitions: Partitions
    racers: Node
    spare: Spare
