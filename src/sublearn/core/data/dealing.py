"""Dealing samples into parts by their content, so that a row's place does not matter and weight 2 is the row twice.

Of few samples, parts are alike in y, for which all samples are looked at together. Of many, each sample's part is told
by its content alone: chance makes the parts alike, and partitions of the samples need not send any.
"""

from collections.abc import Iterable

import numpy as np

from sublearn.core.data.order_statistics import group_quantiles
from sublearn.core.keys import keys_below
from sublearn.core.links import ALONE, Links
from sublearn.kernels.layout import Array

MANY = 50_000  # samples
NO_WEIGHTS = np.empty(0, np.int64)


def content_keys(columns: Iterable[Array], n_samples: int, key: int) -> Array:
    """A number (uint64) for each sample that the integers (n_samples,) of its columns determine."""
    columns = list(columns)
    contents = np.zeros(n_samples, np.uint64)
    for column, factor in zip(columns, keys_below(key, np.arange(len(columns))), strict=True):
        contents += column.astype(np.uint64) * (factor | np.uint64(1))
    return keys_below(key, contents)


def n_different(keys: Array, most: int, links: Links = ALONE) -> int:
    """How many different keys there are, or `most` where there are more."""
    own = np.unique(keys)[:most]
    return min(len(np.unique(links.whole(own))), most)


def deal(keys: Array, y: Array, n_parts: int, n_samples: int, links: Links = ALONE) -> Array:
    """The part of each sample; samples of equal keys are in one part. n_samples: of all partitions."""
    if n_samples >= MANY:
        return (keys % np.uint64(n_parts)).astype(np.int64)
    first = links.before(len(y))
    parts = _deal_alike(links.whole(keys), links.whole(y), n_parts)
    return parts[first : first + len(y)]


def _deal_alike(keys: Array, y: Array, n_parts: int) -> Array:
    """The part of each sample, so that parts are alike in y."""
    order = np.lexsort((y, keys))
    is_first = np.concatenate([[True], np.diff(keys[order]) != 0])
    first = order[is_first]  # of samples with equal keys, one with the smallest y
    ranks = np.empty(len(first), np.int64)
    ranks[np.lexsort((keys[first], y[first]))] = np.arange(len(first))
    parts = np.empty(len(order), np.int64)
    parts[order] = ranks[np.cumsum(is_first) - 1] % n_parts
    return parts


def split_off(labels: Array, n_classes: int, share: float, key: int, links: Links = ALONE) -> Array:
    """Which of many rows (bool) are split off, drawn by their places: this share of each class, though at least one.

    ValueError where a class has no row left.
    """
    first = links.before(len(labels))
    drawn = keys_below(key, np.arange(first, first + len(labels))) / 2.0**64
    split = drawn <= group_quantiles(drawn, NO_WEIGHTS, labels, n_classes, share, links)[labels]
    left = links.add(np.bincount(labels[~split], minlength=n_classes))
    if not left.all():
        raise ValueError(f"class {int(left.argmin())} in order has too few samples.")
    return split
