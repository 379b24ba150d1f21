"""Shapley values by their definition: every set of features, every sample of the background, one mixed row each."""

from collections.abc import Callable
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from sublearn.kernels.layout import Array

Answer = Callable[[Any], Array]  # from samples to numbers, one or several each


def shapley_values(answer: Answer, x: Array, background: Array) -> Array:
    """Values (n_features, n_outputs) of one sample x (n_features,)."""
    n = len(x)
    game = {}
    for size in range(n + 1):
        for chosen in combinations(range(n), size):
            mixed = background.copy()
            mixed[:, list(chosen)] = x[list(chosen)]
            answers = answer(mixed)
            game[frozenset(chosen)] = answers.reshape(len(background), -1).mean(axis=0)
    values = np.zeros((n, len(game[frozenset()])))
    for without, worth in game.items():
        for f in set(range(n)) - without:
            share = factorial(len(without)) * factorial(n - len(without) - 1) / factorial(n)
            values[f] += share * (game[without | {f}] - worth)
    return values
