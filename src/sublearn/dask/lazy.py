"""Answers of a fitted model for collections: computed block by block, when they are asked for."""

from numbers import Number
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

import dask
from sublearn.kernels.layout import Array


def answers(model: Any, method: str, X: Any, *given: Any, **named: Any) -> Any:
    """What a method of a local model answers for each row of an array or frame."""
    sample = _sample(model, method)
    shared = dask.delayed(model, pure=False, traverse=False)
    rows = [values for values in (*given, named.pop("exposure", None)) if values is not None]
    if rows and isinstance(rows[0], Number):  # one exposure for all
        named["exposure"] = rows.pop()
    if rows and not isinstance(rows[0], da.Array | dd.Series):
        raise TypeError(
            f"exposure of {type(model).__name__}.{method} must be a number, or a collection of Dask like X; got "
            f"{type(rows[0]).__name__}."
        )
    if isinstance(X, da.Array):
        return _of_array(shared, method, X, rows, named, sample)
    meta = _framed(sample, X._meta.index)
    return X.map_partitions(_answer_frame, *rows, shared, method, named, sample, meta=meta, align_dataframes=False)


def _of_array(shared: Any, method: str, X: da.Array, rows: list[Any], named: dict[str, Any], sample: Array) -> da.Array:
    """The same for an array: blocks have all columns, and rows stay where they are."""
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    rows = [one.rechunk({0: X.chunks[0]}) if one.chunks[0] != X.chunks[0] else one for one in rows]
    indices = [("ij", X), *(("i", one) for one in rows)]
    parts = [part for labels, one in indices for part in (one, labels)]
    return da.blockwise(
        _answer_block,
        "i" if sample.ndim == 1 else "ik",
        *parts,
        model=shared,
        method=method,
        named=named,
        sample=sample,
        new_axes={"k": sample.shape[1]} if sample.ndim == 2 else None,
        concatenate=True,
        dtype=sample.dtype,
        meta=sample[:0],
    )


def _answer_block(X: Any, *rows: Any, model: Any, method: str, named: dict[str, Any], sample: Array) -> Array:
    """The answers for a block; none for one without rows, which models refuse."""
    if not X.shape[0]:
        return sample[:0]
    found: Array = getattr(model, method)(X, *rows, **named)
    return found


def _answer_frame(X: Any, *given: Any) -> Any:
    """The answers for a partition of a frame, with its index."""
    *rows, model, method, named, sample = given
    return _framed(_answer_block(X, *rows, model=model, method=method, named=named, sample=sample), X.index)


def _framed(found: Array, index: Any) -> Any:
    """Answers as a series, or as a frame with a column for each class or tree."""
    found = found[: len(index)]
    return pd.Series(found, index, name="prediction") if found.ndim == 1 else pd.DataFrame(found, index)


def _sample(model: Any, method: str) -> Array:
    """An answer without rows: its type, and how many columns it has."""
    fitted = model._model
    if method == "apply":
        width = getattr(model, "ensemble_", None)
        return np.empty((0, width.n_trees) if width is not None else 0, np.int64)
    if fitted.classes is None:
        return np.empty(0)
    if method == "predict":
        return np.empty(0, fitted.classes.dtype)
    n_classes = len(fitted.classes)
    return np.empty(0 if method == "decision_function" and n_classes <= 2 else (0, n_classes))
