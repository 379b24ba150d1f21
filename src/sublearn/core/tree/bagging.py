"""The samples of a forest's trees: bootstrap draws, expressed as weights (paper Sec. III-A leaves them all in)."""

import numpy as np

from sublearn.core.keys import key_below, keys_below
from sublearn.core.links import ALONE, Links
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.task import Task, repeated
from sublearn.kernels.arithmetic import below
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array

BAG = 1 << 20  # number of the key below a tree's key from which its bag is drawn; those of nodes are lower
AT_ONCE = 1 << 20  # draws at a time, or as many as there are samples to count
MOST = 1 << 31  # samples, from which on `below` cannot draw


def draw_bag(n_samples: int, n_draws: int, key: int, first: int = 0, last: int | None = None) -> Array:
    """How often each of the samples first to last is drawn in n_draws draws of n_samples with replacement.

    n_samples: those of all partitions, each of which draws the same and counts its own.
    """
    last = n_samples if last is None else last
    times, bag_key, n_each = np.zeros(last - first, np.int64), key_below(key, BAG), max(AT_ONCE, last - first)
    for begin in range(0, n_draws, n_each):
        keys = keys_below(bag_key, np.arange(begin, min(begin + n_each, n_draws)))
        drawn = places_drawn(keys, n_samples)
        if len(times) < n_samples:
            drawn = drawn[(first <= drawn) & (drawn < last)] - first
        times += np.bincount(drawn, minlength=len(times))
    return times


def places_drawn(keys: Array, n_samples: int) -> Array:
    """The sample that each key draws."""
    drawn: Array = plain(below)(keys, n_samples) if n_samples < MOST else (keys % np.uint64(n_samples)).astype(np.int64)
    return drawn


def bagged(task: Task, times: Array, links: Links = ALONE) -> Task:
    """The task with each sample as often as it was drawn."""
    samples, parameters = task.samples, task.parameters
    if not links.some(samples.weights.size > 0):  # repeated samples are faster than weights
        test = make_test(parameters, parameters.min_weight_fraction_leaf * links.total(int(times.sum())))
        return task._replace(root=repeated(task.root, times), test=test)
    weights = samples.weights * times
    return task._replace(
        samples=samples._replace(weights=weights, counts=samples.counts * times),
        root=repeated(task.root, np.minimum(times, 1)),
        test=make_test(parameters, parameters.min_weight_fraction_leaf * links.total(int(weights.sum()))),
    )
