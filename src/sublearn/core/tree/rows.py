"""Samples as rows of bytes, so that partitions send each other all that is known of a sample at once."""

from typing import Any

import numpy as np

from sublearn.kernels.layout import Array, Samples

COLUMNS = ("targets", "remainders", "curvatures", "packed", "weights", "counts")


def width_of(samples: Samples) -> int:
    """Bytes of a sample."""
    columns = [getattr(samples, name) for name in COLUMNS]
    return int(samples.codes.shape[0] * samples.codes.itemsize + sum(c.itemsize for c in columns if c.size))


def as_rows(samples: Samples, rows: Array, *further: Array) -> Array:
    """Bytes (n_rows, width) of some samples, and of further numbers, one for each of them."""
    columns = [np.ascontiguousarray(samples.codes[:, rows].T)]
    columns += [column[rows][:, None] for name in COLUMNS if (column := getattr(samples, name)).size]
    columns += [np.ascontiguousarray(numbers)[:, None] for numbers in further]
    return np.concatenate([_bytes_of(column) for column in columns], axis=1)


def from_rows(rows: Array, like: Samples, *further: Any) -> tuple[Samples, list[Array]]:
    """The samples, and the further numbers of these types, that `as_rows` made bytes of; `like` has their types."""
    at = 0

    def take(n: int, kind: Any) -> Array:
        nonlocal at
        width = n * np.dtype(kind).itemsize
        part: Array = np.ascontiguousarray(rows[:, at : at + width]).view(kind)
        at += width
        return part

    found: dict[str, Any] = {"codes": np.ascontiguousarray(take(like.codes.shape[0], like.codes.dtype).T)}
    for name in COLUMNS:
        if (column := getattr(like, name)).size:
            found[name] = take(1, column.dtype)[:, 0].copy()
    return like._replace(**found), [take(1, kind)[:, 0].copy() for kind in further]


def _bytes_of(column: Array) -> Array:
    """The bytes of numbers (n_rows, n)."""
    width = column.shape[1] * column.itemsize
    as_bytes: Array = np.ascontiguousarray(column).view(np.uint8)
    return as_bytes.reshape(len(column), width)
