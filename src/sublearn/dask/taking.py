"""The task by which a worker takes a block: checked by itself, so that an error names the block."""

from typing import Any, NamedTuple

import numpy as np
from distributed import get_worker
from distributed.worker import thread_state
from pandas.api.types import is_numeric_dtype
from scipy.sparse import issparse

from sublearn._base.checking import refuse_faults, refuse_gaps, refuse_infinity, refuse_negative
from sublearn.dask.blocks import Recipe
from sublearn.dask.session import session_of


class Want(NamedTuple):
    """What the client says of a block."""

    fit: str
    run: int
    what_for: str  # "fit" or "eval_set"
    number: int
    columns: list[Any] | None  # names, where X is a frame
    types: dict[Any, Any]  # of the columns of a frame, by name
    owner: str  # name of the estimator


def take_block(want: Want, names: list[str], *values: Any) -> int:
    """Keep a block for the fit; returns how many rows it has."""
    worker = get_worker()
    block = dict(zip(names, values, strict=True))
    check_block(want, block)
    block["X"] = _typed(want, block["X"])
    run = session_of(worker, want.fit).run
    if run.number == want.run:
        run.keys.add(thread_state.key)
        run.rows.put(want.what_for, want.number, block, run.memory, worker.local_directory)
    return len(block["y"])


def make_block(want: Want, names: list[str], recipe: Recipe) -> int:
    """Make a block, and keep it."""
    return take_block(want, names, *recipe.made())


def check_block(want: Want, block: dict[str, Any]) -> None:
    """Raise ValueError for a block that does not match others, or is faulty by itself; the rest the fit checks."""
    place = f"in block {want.number}" + (" of eval_set" if want.what_for == "eval_set" else "")
    _check_rows(want, block, place)
    _check_columns(want, block["X"], place)
    try:
        if not issparse(block["X"]):
            refuse_infinity(block["X"], want.owner)
        if _has_gaps(block["y"]):
            refuse_gaps(block["y"], want.owner)
        if "sample_weight" in block:
            _check_weights(np.asarray(block["sample_weight"]), want)
    except ValueError as error:
        raise ValueError(f"{place.capitalize()}: {error}") from None


def _check_rows(want: Want, block: dict[str, Any], place: str) -> None:
    n_rows = block["X"].shape[0]
    for name, values in block.items():
        if len(values.shape) and values.shape[0] != n_rows:
            raise ValueError(
                f"X and {name} of {want.owner}.fit must have the same rows in each partition; {place} X has {n_rows} "
                f"and {name} {values.shape[0]}."
            )


def _check_columns(want: Want, X: Any, place: str) -> None:
    found = list(X.columns) if hasattr(X, "columns") else None
    if found != want.columns:
        raise ValueError(
            f"X of {want.owner}.fit must have the same columns in each partition, in the same order; {place} they are "
            f"{found}, and not {want.columns}."
        )
    for name, dtype in want.types.items():
        column = X[name]
        if _is_other(column.dtype, dtype) and bool(np.asarray(column.notna()).any()):
            raise ValueError(
                f"X of {want.owner}.fit must have columns of the types that its frame names; {place} column {name!r} "
                f"is {column.dtype}, and not {dtype}."
            )


def _typed(want: Want, X: Any) -> Any:
    """A block whose columns are of the types that its frame names, where they are not since all is missing."""
    others = {name: dtype for name, dtype in want.types.items() if _is_other(X[name].dtype, dtype)}
    return X.astype(others) if others else X


def _is_other(dtype: Any, named: Any) -> bool:
    """Whether one type is of numbers and another is not."""
    return bool(is_numeric_dtype(dtype) != is_numeric_dtype(named))


def _check_weights(weights: Any, want: Want) -> None:
    refuse_faults(weights, "sample_weight", want.owner)
    if weights.dtype.kind in "if":
        refuse_negative(weights, "sample_weight", want.owner)


def _has_gaps(y: Any) -> bool:
    """Whether a sample has no target; a quick look, for `refuse_gaps` takes long over text."""
    if hasattr(y, "isna"):
        return bool(np.asarray(y.isna()).any())
    values = np.asarray(y)
    if values.dtype.kind not in "fO":
        return False
    return bool((values != values).any()) or (values.dtype.kind == "O" and any(v is None for v in values.ravel()))
