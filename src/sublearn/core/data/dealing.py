"""Dealing samples into parts by their content, so that a row's place does not matter and weight 2 is the row twice."""

from collections.abc import Iterable

import numpy as np

from sublearn.core.keys import keys_below
from sublearn.kernels.layout import Array


def content_keys(columns: Iterable[Array], n_samples: int, key: int) -> Array:
    """A number (uint64) for each sample that the integers (n_samples,) of its columns determine."""
    columns = list(columns)
    contents = np.zeros(n_samples, np.uint64)
    for column, factor in zip(columns, keys_below(key, np.arange(len(columns))), strict=True):
        contents += column.astype(np.uint64) * (factor | np.uint64(1))
    return keys_below(key, contents)


def deal(keys: Array, y: Array, n_parts: int) -> Array:
    """The part of each sample, so that parts are alike in y; samples of equal keys are in one part."""
    order = np.lexsort((y, keys))
    is_first = np.concatenate([[True], np.diff(keys[order]) != 0])
    first = order[is_first]  # of samples with equal keys, one with the smallest y
    ranks = np.empty(len(first), np.int64)
    ranks[np.lexsort((keys[first], y[first]))] = np.arange(len(first))
    parts = np.empty(len(order), np.int64)
    parts[order] = ranks[np.cumsum(is_first) - 1] % n_parts
    return parts
