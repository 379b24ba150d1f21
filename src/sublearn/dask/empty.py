"""Tables without rows, of the types that collections have: what a partition without blocks fits."""

from typing import Any

import dask.array as da
import numpy as np


def empty_of(given: dict[str, Any]) -> dict[str, Any]:
    """For each of some collections, or of what is here, the same without rows."""
    return {name: _empty(values) for name, values in given.items() if values is not None}


def _empty(values: Any) -> Any:
    if isinstance(values, da.Array):
        return np.empty((0, *values.shape[1:]), values.dtype)
    if hasattr(values, "_meta"):
        return values._meta
    return values[:0] if hasattr(values, "shape") else np.asarray(values)[:0]
