"""Samples on their way to other partitions: all that is known of them in one array, column after column.

Columns of long numbers come first, so that each begins where a number of its type may: what arrives is looked at where
it lies, not copied.
"""

from typing import Any

import numpy as np

from sublearn.kernels.layout import Array, Samples

COLUMNS = ("packed", "weights", "counts", "targets", "remainders", "curvatures")  # of 8 bytes, then of 4; codes follow


def width_of(samples: Samples) -> int:
    """Bytes of a sample."""
    columns = [getattr(samples, name) for name in COLUMNS]
    return int(samples.codes.shape[0] * samples.codes.itemsize + sum(c.itemsize for c in columns if c.size))


def room_for(like: Samples, n: int) -> Samples:
    """Room for n samples with the columns that others have."""
    room: dict[str, Any] = {name: np.empty(n, column.dtype) for name in COLUMNS if (column := getattr(like, name)).size}
    return like._replace(codes=np.empty((like.codes.shape[0], n), like.codes.dtype), **room)


def pack(samples: Samples, rows: Array, places: Array | None = None) -> Array:
    """Some samples as bytes (n_rows * width), with a place (int32) for each of them where one is given."""
    rows, n = rows.astype(np.intp), len(rows)  # once, and not for each column
    parcel = np.empty(n * (width_of(samples) + (0 if places is None else 4)), np.uint8)
    there, there_places = unpack(parcel, samples, places is not None)
    there_places[:] = 0 if places is None else places
    for name in COLUMNS:
        if (column := getattr(samples, name)).size:
            np.take(column, rows, out=getattr(there, name), mode="clip")  # other modes take a buffer
    for codes, packed in zip(samples.codes, there.codes, strict=True):
        np.take(codes, rows, out=packed, mode="clip")
    return parcel


def unpack(parcel: Array, like: Samples, has_places: bool = False) -> tuple[Samples, Array]:
    """The samples that are in a parcel, and their places; `like` has the columns. Nothing is copied."""
    n = len(parcel) // (width_of(like) + (4 if has_places else 0))
    at = 0

    def take(n_values: int, dtype: Any) -> Array:
        nonlocal at
        size = n_values * np.dtype(dtype).itemsize
        part: Array = parcel[at : at + size].view(dtype)
        at += size
        return part

    found: dict[str, Any] = {name: take(n, column.dtype) for name in COLUMNS if (column := getattr(like, name)).size}
    places = take(n if has_places else 0, np.int32)
    codes = take(n * len(like.codes), like.codes.dtype).reshape(len(like.codes), n)
    return like._replace(codes=codes, **found), places


def put(samples: Samples, at: Array | slice, into: Samples) -> None:
    """Put samples at some places among others."""
    for name in COLUMNS:
        if getattr(into, name).size:
            getattr(into, name)[at] = getattr(samples, name)
    for codes, whole in zip(samples.codes, into.codes, strict=True):
        whole[at] = codes
