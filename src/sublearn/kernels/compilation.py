"""How kernels are compiled: one decorator for what Python calls, one for what kernels call.

Compiled code is cached on disk beside the package, or in the user's cache folder where the package is
read-only, so that a machine compiles once.
"""

import gc
import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import __version__, njit
from numba.core.caching import IndexDataCacheFile

from sublearn.kernels.pipeline import PartCompiler, WholeCompiler

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
BARE: dict[str, Any] = {**FLAGS, "_nrt": False}  # references are not counted: compiled in a tenth less time
PATIENCE = 3.0  # seconds of compiling before the user is told what takes so long


def _sources_digest() -> str:
    """Digest of all kernel sources and of Numba's version."""
    sources = [p.read_bytes() for p in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join([*sources, __version__.encode()])).hexdigest()


_DIGEST = _sources_digest()


def _name_by_digest(dispatcher: Any) -> None:
    """Let the cached file's name tell the sources it was made from.

    Numba looks only at the kernel's own file, not at what it calls, and a process that starts while another
    renews the cache could load old code under the new stamp. With a name of its own neither can happen.
    """
    cache: Any = getattr(dispatcher, "_cache", None)
    if hasattr(cache, "_cache_file"):
        base = f"{cache._impl.filename_base}-{_DIGEST[:12]}"
        cache._cache_file = IndexDataCacheFile(cache.cache_path, base, _DIGEST)


class _Compiling:
    """Tells the user once when compiling, over all kernels, takes longer than `PATIENCE`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.spent = 0.0
        self.told = False

    def __enter__(self) -> None:
        self.lock.acquire()
        self.began = time.monotonic()
        self.timer = threading.Timer(max(PATIENCE - self.spent, 0.0), self.tell)
        self.timer.daemon = True
        self.timer.start()

    def __exit__(self, *error: object) -> None:
        self.timer.cancel()
        self.spent += time.monotonic() - self.began
        self.lock.release()

    def tell(self) -> None:
        """Print the message, and never again."""
        if not self.told:
            self.told = True
            print("sublearn is compiling its kernels for this CPU, once; this takes some 20 s.", file=sys.stderr)


_COMPILING = _Compiling()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage: Numba makes millions of objects that stay, and looking at them over and over takes long."""
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()


class Kernel:
    """A compiled function that Python calls; the first call compiles it or loads it from the cache."""

    def __init__(self, function: Callable[..., Any], flags: dict[str, Any]) -> None:
        try:
            self.dispatcher = njit(cache=True, pipeline_class=WholeCompiler, **flags)(function)
        except RuntimeError:  # no folder can be written to: compile in every process
            self.dispatcher = njit(pipeline_class=WholeCompiler, **flags)(function)
        _name_by_digest(self.dispatcher)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.is_new = hasattr(self.dispatcher, "overloads")  # NUMBA_DISABLE_JIT leaves a plain function

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        if self.is_new:
            with _COMPILING, _no_collection():
                self.dispatcher.compile(tuple(self.dispatcher.typeof_pyval(a) for a in arguments))
            self.is_new = False
        return self.dispatcher(*arguments)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` as an entry point: called from Python, releases the GIL, cached on disk."""
    return Kernel(function, FLAGS)


def bare_kernel(function: Callable[..., Any]) -> Kernel:
    """`kernel` for functions that allocate nothing."""
    return Kernel(function, BARE)


def inner(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of kernels: never called from Python, cached with its callers.

    It allocates nothing and returns numbers alone: nobody counts who still refers to an array.
    """
    return njit(no_cpython_wrapper=True, pipeline_class=PartCompiler, **BARE)(function)


def section(function: Callable[..., Any]) -> Any:
    """Write `function` out in its caller: for what has a name of its own but is called in one place.

    Forests are faster so than with LLVM deciding where to write it out.
    """
    return njit(inline="always", no_cpython_wrapper=True, **BARE)(function)


@cache
def plain(function: Any) -> Any:
    """The Python function behind a compiled one and those it calls, for the few calls that are not worth compiling."""
    python = getattr(function, "py_func", function)  # NUMBA_DISABLE_JIT compiles nothing
    called = {name: python.__globals__[name] for name in python.__code__.co_names if name in python.__globals__}
    own = {name: plain(value) for name, value in called.items() if hasattr(value, "py_func")}
    return FunctionType(python.__code__, python.__globals__ | own)
