"""What a tree grows from, as kernels take it: samples, how splits are tested, and how nodes are split."""

from typing import NamedTuple

from sublearn.kernels.layout import Array, Samples, Test


class Rules(NamedTuple):
    """How nodes are split, and which; see `TreeParameters`."""

    listed: Array  # int16 (n_listed, subspace_size), as in `Plan`
    n_axis: int  # how many of the listed vectors are basis vectors
    height: int  # the largest coefficient of a fitted vector
    rounds: NamedTuple  # `DrawingRounds`
    subspace_size: int
    probabilities: Array  # float64 (n_features,) of the ranks; empty: the best are taken
    max_partitions: int
    limits: tuple[float, float]  # largest squared cosine, smallest share of the best decrease
    max_depth: int
    min_split: int  # samples a node needs to be split
    min_loss: float  # the loss it needs
    racing_samples: int  # 0: no races
    n_finalists: int
    n_fitted: int
    n_candidates: int


class Job(NamedTuple):
    """What a tree grows from."""

    samples: Samples
    order: Array  # int32 (n_samples,); in the end, the samples of each leaf are together
    test: Test
    loose: Test  # for races: the minima of a split are for all samples of a node
    rules: Rules
