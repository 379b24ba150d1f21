"""The files of compiled code: how they are called, and folders that can only be read.

Numba passes over a folder in which it cannot make a file, with all the code that lies in it. An image that was warmed
when it was built, and that runs as another user or from a read-only disk, would compile everything again.
"""

from collections.abc import Callable
from contextlib import suppress
from inspect import getfile
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

READING: list[Any] = [  # Numba's ways to find a folder, without the try whether it can be written to
    type(one.__name__, (one,), {"ensure_cache_path": lambda self: None})
    for one in CompileResultCacheImpl._locator_classes
]


class Files:
    """The files of one kernel: read from several folders, written to one of them or to none."""

    def __init__(self, others: list[Any], own: Any) -> None:
        self.others, self.own = others, own

    def load(self, key: Any) -> Any:
        """Compiled code, from the first folder that has it; None if there is none."""
        for file in self.others:
            with suppress(OSError):  # such as a folder that may not be read
                found = file.load(key)
                if found is not None:
                    return found
        return None if self.own is None else self.own.load(key)

    def save(self, key: Any, code: Any) -> None:
        """Keep compiled code, if there is a folder for it."""
        if self.own is not None:
            self.own.save(key, code)

    def flush(self) -> None:
        """Forget what is kept."""
        if self.own is not None:
            self.own.flush()


class ReadingImpl(CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is read where none can be kept."""

    _locator_classes = READING


class ReadingCache(FunctionCache):  # type: ignore[misc]
    """The cache of a kernel that none can be kept of."""

    _impl_class = ReadingImpl


def keep_in_files(dispatcher: Any, digest: str) -> None:
    """Let a kernel use files that are called after a digest, and read those of folders that cannot be written to.

    Numba looks only at the kernel's own file, not at what it calls, and a process that starts while another renews the
    cache could load old code under the new stamp. With a name of its own neither can happen.
    """
    function, has_own = dispatcher.py_func, dispatcher._cache.cache_path is not None
    if not has_own:
        dispatcher._cache = ReadingCache(function)
    cache = dispatcher._cache
    base = f"{cache._impl.filename_base}-{digest[:12]}"
    folders = _folders(function)
    if has_own:
        folders = folders[: folders.index(cache.cache_path)] if cache.cache_path in folders else []
    others = [IndexDataCacheFile(folder, base, digest) for folder in folders]
    own = IndexDataCacheFile(cache.cache_path, base, digest) if has_own else None
    cache._cache_file = Files(others, own)


def _folders(function: Callable[..., Any]) -> list[str]:
    """The folders in which compiled code may lie, the one that is preferred first."""
    found = [locator.from_function(function, getfile(function)) for locator in READING]
    return [str(locator.get_cache_path()) for locator in found if locator is not None]
