"""Files that are there as a whole or not at all, and predictions written block by block."""

import errno
import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sublearn.command.messages import one_line, refuse
from sublearn.command.sources import ARROW, CSV, PARQUET, STDIN

ENDINGS = {".csv": CSV, ".parquet": PARQUET, ".arrow": ARROW, ".feather": ARROW, ".ipc": ARROW}


def check_out(path: str, *read: str) -> None:
    """Refuse a path at which no file can be written, or lies one that is read, before any work is done."""
    if path == STDIN:
        return
    if os.path.isdir(path):
        refuse(f"--out {path} is a folder; give the path of a file.")
    if _is_special(path):
        return
    for other in read:
        if _is_same(path, other):
            refuse(f"--out {path} is the file that is read; choose another name.")
    folder = Path(path).absolute().parent
    if not os.path.isdir(folder):
        refuse(f"--out {path}: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        refuse(f"--out {path} cannot be written: {error.strerror}.")


def check_model_out(path: str, *read: str) -> None:
    """Refuse a path at which no model can be written; models go to files alone."""
    if path == STDIN or (_is_special(path) and not os.path.isdir(path)):
        refuse(f"--out {path} is no file; give the path of one, such as model.slm.")
    check_out(path, *read)


def _is_same(path: str, other: str) -> bool:
    """Whether both are one file, by whatever names."""
    try:
        return os.path.samefile(path, other)
    except OSError:  # one is not there
        return False


def _is_special(path: str) -> bool:
    """Whether there is something other than a file, such as a pipe or a device, that is written to as it is."""
    return os.path.exists(path) and not os.path.isfile(path)


@contextmanager
def renamed_to(path: str) -> Iterator[str]:
    """A path to write to, which becomes `path` when all is done, and is removed when anything fails."""
    if _is_special(path):
        yield path
        return
    target = Path(path).absolute()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        yield name
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as of any new file; temporary ones are for their owner alone
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def format_of(path: str) -> str:
    """The format of a file to write, by the ending of its name."""
    name = os.path.basename(path).lower()
    if path == STDIN or _is_special(path):
        return CSV
    for ending, kind in ENDINGS.items():
        if name.endswith(ending) or (kind == CSV and name.endswith(f"{ending}.gz")):
            return kind
    return refuse(f"--out {path} must end in {', '.join(ENDINGS)} or .csv.gz, which tells the format.")


@contextmanager
def writer(path: str) -> Iterator[Any]:
    """An object whose `write` takes frames, one block after the other."""
    kind = format_of(path)
    if path == STDIN:
        yield _Csv(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with renamed_to(path) as name:
        if kind == CSV:
            opened = gzip.open if path.lower().endswith(".gz") else open
            with opened(name, "wb") as file:
                yield _Csv(file)
            return
        with tempfile.TemporaryDirectory(prefix=".sublearn.", suffix=".part", dir=Path(name).parent) as folder:
            parts = _Parts(folder)
            yield parts
            parts.join(name, kind)


class _Csv:
    """Writes CSV: commas, points, UTF-8, names first."""

    def __init__(self, file: Any) -> None:
        self._file, self._is_new = file, True

    def write(self, frame: Any) -> None:
        """Write one block."""
        self._file.write(frame.write_csv(include_header=self._is_new).encode())
        self._is_new = False


class _Parts:
    """Keeps blocks as files and joins them at the end, since a file of columns cannot grow by rows."""

    def __init__(self, folder: str) -> None:
        self._folder, self._paths = folder, []  # type: tuple[str, list[str]]

    def write(self, frame: Any) -> None:
        """Write one block."""
        path = os.path.join(self._folder, f"{len(self._paths):09}.arrow")
        self._paths.append(path)
        _guarded(lambda: frame.write_ipc(path))

    def join(self, path: str, kind: str) -> None:
        """Make one file of all blocks, without holding more than a few of them."""
        import polars as pl

        lazy = pl.scan_ipc(self._paths)
        _guarded(lambda: lazy.sink_parquet(path) if kind == PARQUET else lazy.sink_ipc(path))


def _guarded(write: Any) -> None:
    """Call it; polars tells of a full disk in errors of its own, and in words."""
    import polars as pl

    try:
        write()
    except (pl.exceptions.PolarsError, OSError) as error:
        text = one_line(error)
        raise OSError(errno.ENOSPC if "No space left" in text else errno.EIO, text) from None
