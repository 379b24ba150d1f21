"""How kernels are compiled: one decorator for what Python calls, one for what kernels call.

Compiled code is cached on disk beside the package, or in the user's cache folder where the package is
read-only, so that a machine compiles once.
"""

import hashlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

FLAGS = {"nogil": True, "error_model": "numpy"}
PATIENCE = 3.0  # seconds of silence before the user is told what takes so long

_patience_left = PATIENCE


def _sources_digest() -> bytes:
    """Digest of all kernel sources: Numba looks only at a kernel's own file, not at what it calls."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join(p.read_bytes() for p in sorted(folder.glob("*.py")))).digest()


_DIGEST = _sources_digest()


def _tell() -> None:
    print(
        "sublearn compiles its kernels for this CPU; this happens once and takes some 20 seconds.",
        file=sys.stderr,
        flush=True,
    )


class _Kernel:
    """A compiled function that Python calls; the first call compiles it or loads it from the cache."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self.dispatcher = njit(cache=True, no_cfunc_wrapper=True, **FLAGS)(function)
        except RuntimeError:  # no folder can be written to: compile in every process
            self.dispatcher = njit(**FLAGS)(function)
        cache_file = getattr(self.dispatcher._cache, "_cache_file", None)
        if cache_file is not None:
            cache_file._source_stamp = _DIGEST
        self.ready = False
        self.lock = threading.Lock()
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *arguments: Any) -> Any:
        if not self.ready:
            self._prepare(arguments)
        return self.dispatcher(*arguments)

    def _prepare(self, arguments: tuple[Any, ...]) -> None:
        with self.lock:
            if self.ready:
                return
            with _compiling:
                self.dispatcher.compile(tuple(self.dispatcher.typeof_pyval(a) for a in arguments))
            self.ready = True


class _Compiling:
    """Tells the user once when compiling, over all kernels, takes longer than `PATIENCE`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.left = PATIENCE
        self.timer: threading.Timer | None = None
        self.began = 0.0

    def __enter__(self) -> None:
        import time

        self.lock.acquire()
        if self.left > 0:
            self.began = time.monotonic()
            self.timer = threading.Timer(self.left, _tell)
            self.timer.daemon = True
            self.timer.start()

    def __exit__(self, *exception: object) -> None:
        import time

        if self.timer is not None:
            self.timer.cancel()
            self.left -= time.monotonic() - self.began
            self.timer = None
        self.lock.release()


_compiling = _Compiling()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` as an entry point: called from Python, releases the GIL, cached on disk."""
    return _Kernel(function)


def inner(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of kernels: never called from Python, cached with its callers."""
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **FLAGS)(function)
