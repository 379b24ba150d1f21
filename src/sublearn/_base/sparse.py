"""Sparse tables: maps of features need all values of a column, zeros too, so a table becomes dense here, once."""

import os
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sublearn.kernels.layout import Array

GIB = 2**30


def dense_of(X: Any, owner: str) -> Any:
    """A sparse matrix or array as a dense one of floats; anything else as it is.

    Raises MemoryError where the machine has not the memory for it.
    """
    if not issparse(X):
        return X
    dtype = np.dtype(np.float64) if X.dtype.kind in "biuf" and X.dtype != np.float32 else X.dtype
    needed, there = int(np.prod(X.shape, dtype=object)) * dtype.itemsize, _memory()
    if there is not None and needed > there:
        raise MemoryError(
            f"X of {owner} is sparse, and as a dense table it takes {needed / GIB:,.1f} GiB of memory, of which there "
            f"are {there / GIB:,.1f}. Give fewer features, for example by scikit-learn's SelectKBest or TruncatedSVD, "
            "or fewer samples."
        )
    dense: Array = X.astype(dtype, copy=False).toarray()
    return dense


def _memory() -> int | None:
    """Bytes of memory that the machine has; None where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
