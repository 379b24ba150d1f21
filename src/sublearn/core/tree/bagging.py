"""The samples of a forest's trees: bootstrap draws, expressed as weights (paper Sec. III-A leaves them all in)."""

import numpy as np

from sublearn.core.keys import key_below, keys_below
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.task import Task, repeated
from sublearn.kernels.arithmetic import below
from sublearn.kernels.compilation import plain
from sublearn.kernels.layout import Array

BAG = 1 << 20  # number of the key below a tree's key from which its bag is drawn; those of nodes are lower


def draw_bag(n_samples: int, n_draws: int, key: int) -> Array:
    """How often each of n_samples is drawn in n_draws draws with replacement."""
    keys = keys_below(key_below(key, BAG), np.arange(n_draws))
    drawn: Array = plain(below)(keys, n_samples)
    return np.bincount(drawn, minlength=n_samples)


def bagged(task: Task, times: Array) -> Task:
    """The task with each sample as often as it was drawn."""
    samples, parameters = task.samples, task.parameters
    if not samples.weights.size:  # repeated samples are faster than weights
        test = make_test(parameters, parameters.min_weight_fraction_leaf * int(times.sum()))
        return task._replace(root=repeated(task.root, times), test=test)
    weights = samples.weights * times
    return task._replace(
        samples=samples._replace(weights=weights, counts=samples.counts * times),
        root=repeated(task.root, np.minimum(times, 1)),
        test=make_test(parameters, parameters.min_weight_fraction_leaf * int(weights.sum())),
    )
