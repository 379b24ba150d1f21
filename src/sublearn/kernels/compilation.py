"""How kernels are compiled: `kernel` and `bare_kernel` are for what Python calls, `inner` and `section` for the rest.

Compiled code is kept on disk, so that a machine compiles once: in the folder that NUMBA_CACHE_DIR names, else beside
the package, else in the user's cache folder: the first that can be written to. Code is also read from the folders
before it, which somebody else may have filled. Where no folder can be written to, every process compiles in memory what
it does not find.
"""

import gc
import hashlib
import os
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FunctionType
from typing import Any

from numba import __version__, config, njit

if config.DISABLE_JIT:
    raise ImportError("sublearn needs Numba's compiler, which NUMBA_DISABLE_JIT turns off; unset that variable.")
try:
    from sublearn.kernels.compiled_files import keep_in_files
    from sublearn.kernels.pipeline import PartCompiler, WholeCompiler

    WHOLE: dict[str, Any] = {"pipeline_class": WholeCompiler}
    PART: dict[str, Any] = {"pipeline_class": PartCompiler}
except (ImportError, AttributeError):  # a Numba whose inner parts have moved: its own way takes longer to compile
    WHOLE, PART = {}, {}

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
BARE: dict[str, Any] = {**FLAGS, "_nrt": False}  # references are not counted: compiled in a tenth less time
QUIET_SECONDS = 3.0  # seconds of compiling before the user is told what takes so long


def _sources_digest() -> str:
    """Digest of all kernel sources and of Numba's version."""
    sources = [p.read_bytes() for p in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join([*sources, __version__.encode()])).hexdigest()


_DIGEST = _sources_digest()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch garbage collection off: Numba makes millions of objects that stay, and visiting them again takes long."""
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()


class Compiler:
    """Compiles kernels one at a time, each in a thread of its own.

    Ctrl-C raises an exception between any two steps of the main thread. Inside Numba that could be swallowed, or leave
    something half done; here it ends the waiting, and the compiling goes on for whoever needs the kernel next. Tells
    the user once when compiling, over all kernels, takes longer than `QUIET_SECONDS`.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.spent = 0.0
        self.news = ["sublearn is compiling its kernels for this CPU, once; this takes some 20 s."]

    @property
    def is_busy(self) -> bool:
        """Whether a kernel is being compiled."""
        return self.lock.locked()

    def run(self, compile_kernel: Callable[[], None]) -> None:
        """Call it in another thread; its error is raised here."""
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        try:
            start_new_thread(self._work, (compile_kernel, done))
        except RuntimeError:  # there may be no further threads
            self._work(compile_kernel, done)
        error = self._wait(done)
        if error is not None:
            raise error

    def _work(self, compile_kernel: Callable[[], None], done: "SimpleQueue[BaseException | None]") -> None:
        with self.lock, _no_collection():
            began = time.monotonic()
            try:
                compile_kernel()
                done.put(None)
            except BaseException as error:
                done.put(error)
            self.spent += time.monotonic() - began

    def _wait(self, done: "SimpleQueue[BaseException | None]") -> BaseException | None:
        if self.news:
            try:
                return done.get(timeout=max(QUIET_SECONDS - self.spent, 0.0))
            except Empty:
                with suppress(IndexError):  # another thread has just told it
                    print(self.news.pop(), file=sys.stderr)
        return done.get()


COMPILER = Compiler()
if hasattr(os, "register_at_fork"):  # a child would wait for ever for a thread that only its parent has
    os.register_at_fork(
        before=COMPILER.lock.acquire, after_in_parent=COMPILER.lock.release, after_in_child=COMPILER.lock.release
    )


class Kernel:
    """A compiled function that Python calls; the first call compiles it or loads it from the cache."""

    def __init__(self, function: Callable[..., Any], flags: dict[str, Any]) -> None:
        try:
            self.dispatcher = njit(cache=True, **WHOLE, **flags)(function)
        except RuntimeError:  # no folder can be written to: compile in every process
            self.dispatcher = njit(**WHOLE, **flags)(function)
        self.folder: str | None = self.dispatcher._cache.cache_path  # where its compiled code is kept
        if WHOLE:
            keep_in_files(self.dispatcher, _DIGEST)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.is_new = True

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        if self.is_new:
            COMPILER.run(partial(self._compile, arguments))
        return self.dispatcher(*arguments)

    def _compile(self, arguments: tuple[Any, ...]) -> None:
        if self.is_new:  # no other thread has been here
            self.dispatcher.compile(tuple(self.dispatcher.typeof_pyval(a) for a in arguments))
            self.is_new = False


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` as an entry point: called from Python, releases the GIL, cached on disk."""
    return Kernel(function, FLAGS)


def bare_kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` as an entry point that allocates nothing; otherwise as `kernel` does."""
    return Kernel(function, BARE)


def entry_of(called: Any) -> Callable[..., Any]:
    """What runs the compiled code of a kernel that has just been called, for arguments of the very types of that call.

    It does not look at their types, which for a hundred arrays takes five times as long as to enter.
    """
    versions = getattr(getattr(called, "dispatcher", None), "overloads", {})
    found: Callable[..., Any] = next(iter(versions.values())).entry_point if len(versions) == 1 else called
    return found


def inner(function: Callable[..., Any]) -> Any:
    """Compile `function` as a part of the kernels that call it, and keep it on disk with these.

    Python does not call it, but for the few calls by `plain`. It allocates nothing and returns numbers alone, since
    references to arrays are not counted in it.
    """
    return njit(no_cpython_wrapper=True, **PART, **BARE)(function)


def section(function: Callable[..., Any]) -> Any:
    """Write `function` out wherever it is called: for what is called in one place, or is as short as a slice.

    Measured: forests are faster than where LLVM decides what to write out. Like `inner` it allocates nothing.
    """
    return njit(inline="always", no_cpython_wrapper=True, **BARE)(function)


def in_python(instead: Callable[..., Any]) -> Callable[[Any], Any]:
    """Tell what Python calls instead of an intrinsic, where functions run uncompiled; see `plain`."""

    def told(intrinsic: Any) -> Any:
        INSTEAD[id(intrinsic)] = intrinsic, instead
        return intrinsic

    return told


INSTEAD: dict[int, tuple[Any, Callable[..., Any]]] = {}  # intrinsics, by their identity


@cache
def plain(function: Any) -> Any:
    """The Python function behind a compiled one and those it calls.

    For the few calls that are not worth compiling; and to run steps, or a whole fit, where breakpoints fire.
    """
    python = getattr(function, "dispatcher", function).py_func
    named = {name: python.__globals__[name] for name in python.__code__.co_names if name in python.__globals__}
    own = {name: _in_python(value) for name, value in named.items()}
    return FunctionType(python.__code__, python.__globals__ | own)


def _in_python(value: Any) -> Any:
    if id(value) in INSTEAD:
        return INSTEAD[id(value)][1]
    return plain(value) if hasattr(getattr(value, "dispatcher", value), "py_func") else value
