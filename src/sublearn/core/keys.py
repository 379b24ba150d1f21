"""Keys of random numbers: each says what is drawn, so that it does not matter when or by whom.

A key is a number of 64 bits. Below each key there are others, one for each numbered thing: `mix(key, number)`. The
numbers in use:

    below the key of       number           is for                               written down in
    a fit                  0, 1, 2, ...     trees of a forest, rounds of boosting
                           SPLIT, 2^32      samples held out for early stopping  `_base.boosting`
                           TRIAL, 2^33      the trials of "auto"                 `_base.boosting`
                           MEMBERS, 2^34    models that are averaged, from      `_base.boosting`
                                            there on; the first has the fit's key
    all trials             0, 1, 2, ...     each part; each feature, to deal     `core.boosting.audition`
    an explanation         0, 1, 2, ...     trees, or pairs of orders, and then  `kernels.sampling`
                                            pairs; features to be ordered        `explanation.answers`
                           BACKGROUND, 2^32 samples to compare with              `explanation.explaining`
                           MEMBERS, 2^34    members of an average, from there    `explanation.explaining`
                                            on; the first has the explanation's
    a tree of a forest     BAG, 2^20        its bootstrap sample                 `core.tree.bagging`
    a round of boosting    SUBSAMPLE, 2^32  rows that are drawn, by contents     `core.boosting.rounds`
                           SIGNS, 2^33      signs of the outputs, the same       `core.boosting.rounds`
                           SEPARATE, 2^34   a tree a class, the same             `core.boosting.rounds`
    a node                 0 to 4           subspace, projections, children,     `kernels.projection`
                                            race, groups of classes for fits

The key of a root is that of its tree: of the fit for a single tree, of the round where it has one tree. So the numbers
below a tree or a round begin far above 4.
"""

from collections.abc import Iterator

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array

STRETCH = 1000  # keys found at a time: one by one each takes as long as fifty


def keys_below(key: int, numbers: Array) -> Array:
    """Keys (uint64) of the numbered things below a key."""
    keys: Array = plain(mix)(np.array([key], np.uint64), numbers)
    return keys


def keys_in_turn(key: int, numbers: range) -> Iterator[int]:
    """Keys of the numbered things below a key, one by one: there may be many."""
    for begin in range(numbers.start, numbers.stop, STRETCH):
        yield from keys_below(key, np.arange(begin, min(begin + STRETCH, numbers.stop))).tolist()


def key_below(key: int, number: int) -> int:
    """Key of the numbered thing below a key."""
    return int(keys_below(key, np.array([number]))[0])
