"""The arrays that travel together, as named tuples that compiled code takes as one argument.

Whatever is summed over samples is an integer, so that sums do not depend on their order.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

BLOCK = 32768  # samples handled at a time at the most; packed sums rely on it
TARGET_BITS = 29  # targets of a regression lie between -2^29 and 2^29, both excluded
CURVED_BITS = 16  # where there are curvatures, these and the magnitudes of targets are below 2^16
WEIGHT_BITS = 31  # the sum of all weights stays near or below 2^31
MOST_ROWS = 2**31 - 1  # in one place: their numbers have 32 bits
MOST_IN_ALL = 2**32 - 1  # of all partitions: sums of numbers of 30 bits have 62
NOUGHT = np.int64(0)  # in calls of compiled functions: a literal has a type of its own, for which Numba compiles anew
NO, YES = np.bool_(False), np.bool_(True)  # likewise
CONSTANT = -(2**31)  # threshold of a projection that is the same for all samples of a node


class Samples(NamedTuple):
    """The training samples. An empty array stands for what the task does not have."""

    codes: Array  # int16 (n_views, n_samples)
    targets: Array  # int32 (n_samples,), regression; boosting: minus the gradients
    remainders: Array  # int32 (n_samples,), regression: what rounding left of the targets, in 2^-30 steps
    curvatures: Array  # int32 (n_samples,), boosting: the second derivatives, all positive; empty when every one is one
    packed: Array  # int64 (n_samples,), regression, unit weights: what is added up for a sample; shifts of `columns`
    weights: Array  # int64 (n_samples,), all positive; empty when every weight is one
    counts: Array  # int64 (n_samples,), how many samples a row stands for; empty with `weights`
    n_classes: int  # 0 for regression
    views: Array  # int32 (2, n_views), the feature a column of codes is a view of, and the view preferred to this one


class Node(NamedTuple):
    """Some samples that are together: those of a node of a tree, or some of them.

    `order` lists samples, class by class within a node. A node owns the positions from runs[0] to runs[-1], and its
    class k those from runs[k] to runs[k + 1]; a node of a regression has one run:

        samples   a b c d e     labels 1 0 1 0 0
        order     b d e a c     runs [0 3 5]
    """

    order: Array  # int32
    runs: Array  # int64 (n_classes + 1,); (2,) for regression
    totals: Array  # int64 (n_channels,), see `n_channels`


class Test(NamedTuple):
    """What the discriminant feature test and the minima of a split depend on."""

    criterion: int  # ENTROPY, GINI, SQUARED_ERROR or SECOND_ORDER
    n_bins: int
    min_count: int  # samples a child needs
    min_weight: int  # weight a child needs
    l2: float  # what SECOND_ORDER adds to the weight of a set
    min_gain: float  # what a split must add to the sum of purities
    n_log_n: Array  # float64, n log2 n of small n


class Candidates(NamedTuple):
    """The candidate projections of some nodes, over the ranked features of each node's subspace."""

    subspace: Array  # int32 (n_nodes, subspace_size), feature indices, best first
    coefficients: Array  # int16 (n_nodes, n_candidates, subspace_size)
    sizes: Array  # int64 (n_nodes,), how many of the candidates there are
    decrease: Array  # float64 (n_nodes, n_candidates), of the loss, by the best threshold
    threshold: Array  # int32 (n_nodes, n_candidates)
    ranges: Array  # int32 (n_nodes, n_candidates, 2), smallest and largest projected value


def n_channels(samples: Samples) -> int:
    """How many sums describe a set of samples.

    classes, unit weights     one count a class
    classes, weighted         one weight a class, count
    regression, unit weights  count, sum of targets
    regression, weighted      weight, weighted sum of targets, count

    Boosting is a regression whose weights are weights times curvatures.
    """
    return (samples.n_classes or 2) + (1 if samples.weights.size or samples.curvatures.size else 0)


def n_features_of(samples: Samples) -> int:
    """Number of features, each of which may have several views."""
    return int(samples.views[0, -1]) + 1 if samples.views.size else len(samples.codes)
