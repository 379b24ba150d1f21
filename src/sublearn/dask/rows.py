"""The rows of a partition on their way into a fit: blocks as they come, then one table of all of them.

A block is let go as soon as it is copied. What would fill a good part of the worker's memory is a file that is mapped
into memory: blocks that come when there are many already, the table of all of them, and its codes. Pages of files count
as memory of the worker while they are looked at; they are given back when that is much.
"""

import errno
import mmap
import os
import shutil
import sys
import tempfile
import weakref
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack

from sublearn.kernels.layout import Array

NAMES = ("X", "y", "sample_weight", "exposure")  # what a block may have
IN_MEMORY = 0.2  # of a worker's memory that a table, or its codes, may take before it is a file
WAITING = 0.1  # of a worker's memory that blocks together may take before the next ones are files
EASED = 0.6  # of a worker's memory in use, at which pages of files are given back


class Rows:
    """Blocks of samples to learn from, and of those to validate on."""

    def __init__(self) -> None:
        self._blocks: dict[str, dict[int, dict[str, Any]]] = {}  # by what for, and number
        self._files: list[weakref.ref[mmap.mmap]] = []  # each goes with the last array that looks at it
        self._kept = 0  # bytes of the matrices in blocks that are no files
        self._lock = Lock()  # of what is above: all threads of a worker take blocks

    def put(self, what_for: str, number: int, block: dict[str, Any], memory: float = 0.0, folder: str = "") -> None:
        """Keep a block; its matrix in a file, where those of others fill enough memory."""
        X = block["X"]
        size = _size_of_floats(X)
        with self._lock:
            is_file = size > 0 and 0 < memory * WAITING < self._kept + size
            self._kept += 0 if is_file else size
        if is_file:
            block["X"] = self._as_file(X, size, folder)
        with self._lock:
            self._blocks.setdefault(what_for, {})[number] = block

    def empty(self, shape: tuple[int, ...], dtype: Any, memory: float, folder: str) -> Array:
        """A new array; a file where it would take too much memory."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        is_file = 0 < memory * IN_MEMORY < size and np.dtype(dtype).kind != "O"
        return self._file(shape, dtype, size, folder) if is_file else np.empty(shape, dtype)

    def take(self, what_for: str, is_plain: bool, memory: float, folder: str) -> dict[str, Any]:
        """All blocks in their order, as one; they are no longer here.

        is_plain: whether columns of numbers are just that; memory: bytes that the worker may use, folder: its own.
        """
        with self._lock:
            numbered = self._blocks.pop(what_for, {})
        blocks = [numbered.pop(number) for number in sorted(numbered)]
        found = {}
        for name in list(blocks[0]) if blocks else ():
            parts = [block.pop(name) for block in blocks]
            found[name] = self._joined(parts, is_plain, memory, folder)
        return found

    @property
    def has_files(self) -> bool:
        """Whether there is anything to ease."""
        return bool(self._files)

    def ease(self) -> None:
        """Give memory back that pages of files take; they are read again where they are looked at again."""
        advice = getattr(mmap, "MADV_DONTNEED", None)
        if advice is None:  # on Windows, which takes such pages back by itself when others need memory
            return
        for one in tuple(self._files):
            mapped = one()
            if mapped is not None:
                mapped.madvise(advice)

    def clear(self) -> None:
        """Let go of all blocks."""
        with self._lock:
            self._blocks.clear()
            self._files.clear()
            self._kept = 0

    def _joined(self, parts: list[Any], is_plain: bool, memory: float, folder: str) -> Any:
        """Parts one below the other; the list is empty afterwards."""
        first = parts[0]
        if issparse(first):
            return vstack(_emptied(parts), format="csr")
        if not hasattr(first, "dtypes") and not hasattr(first, "iloc"):
            return self._matrix([np.asarray(part) for part in _emptied(parts)], memory, folder)
        if hasattr(first, "columns") and is_plain and (dtype := _plain_type(parts)) is not None:
            columns, make = first.columns, type(first)
            del first
            return make(self._matrix(parts, memory, folder, dtype), columns=columns, copy=False)
        from dask.dataframe.dispatch import concat

        return concat(_emptied(parts), ignore_index=True) if len(parts) > 1 else parts.pop()

    def _matrix(self, parts: list[Any], memory: float, folder: str, dtype: Any = None) -> Array:
        """Arrays, or frames of numbers, one below the other."""
        if len(parts) == 1 and isinstance(parts[0], np.ndarray):
            return np.asarray(parts.pop())
        if dtype is None:
            dtype = np.result_type(*parts)
        shape = (sum(map(len, parts)), *parts[0].shape[1:])
        out, at, part = self.empty(shape, dtype, memory, folder), 0, None
        parts.reverse()
        while parts:
            part = parts.pop()
            out[at : at + len(part)] = part
            at += len(part)
            self.ease()
        del part
        _ease_arrow()
        return out

    def _as_file(self, X: Any, size: int, folder: str) -> Any:
        """A matrix of floats, or a frame of such, with its numbers in a file."""
        matrix = self._file(X.shape, X.dtypes.iloc[0] if hasattr(X, "columns") else X.dtype, size, folder)
        matrix[:] = X
        self.ease()
        _ease_arrow()
        return type(X)(matrix, columns=X.columns, index=X.index, copy=False) if hasattr(X, "columns") else matrix

    def _file(self, shape: tuple[int, ...], dtype: Any, size: int, folder: str) -> Array:
        """An array that is a file without a name, which is gone when the array is."""
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file, size, folder or tempfile.gettempdir())
            mapped = mmap.mmap(file.fileno(), size)
        with self._lock:
            self._files = [*(one for one in self._files if one() is not None), weakref.ref(mapped)]
        return np.frombuffer(mapped, dtype).reshape(shape)


def _reserve(file: Any, size: int, folder: str) -> None:
    """Make a file so long, of room that is its own: who writes to a mapped file of which there is none is killed."""
    try:
        if not _is_reserved(file, size):
            if shutil.disk_usage(folder).free < size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            file.truncate(size)
    except OSError as error:
        text = (
            f"{folder} must have room for a file of {size:,} bytes, for rows that would fill the worker's memory: "
            f"{error.strerror}. Give workers another local_directory, or take more of them"
        )
        raise OSError(error.errno, text) from None


def _is_reserved(file: Any, size: int) -> bool:
    """Whether the system has reserved room for a file; not every system can, nor every file system."""
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is None:
        return False
    try:
        reserve(file.fileno(), 0, size)  # Linux writes a byte a page where the file system cannot
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            return False
        raise
    return True


def _ease_arrow() -> None:
    """Have Arrow, which has read files where it is there, give back memory that it keeps for later."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def _size_of_floats(X: Any) -> int:
    """Bytes of a matrix, or a frame, that holds floats of one type; 0 for any other."""
    types = set(X.dtypes) if hasattr(X, "columns") else {getattr(X, "dtype", None)}
    if issparse(X) or types not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        return 0
    return int(np.prod(X.shape)) * (4 if np.dtype(np.float32) in types else 8)


def _emptied(parts: list[Any]) -> list[Any]:
    """The parts as a list of their own, which the other one no longer holds."""
    own = parts[:]
    parts.clear()
    return own


def _plain_type(frames: list[Any]) -> np.dtype[Any] | None:
    """The type that scikit-learn gives a table of these frames of numbers; None where they are more than that."""
    types = {dtype for frame in frames for dtype in frame.dtypes}
    if not types or not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in types):
        return None
    common = np.result_type(*types)
    return common if common == np.float32 else np.dtype(np.float64)
