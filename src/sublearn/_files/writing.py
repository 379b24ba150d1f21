"""Writing a file so that its name always stands for a whole one: the old one until the new one is complete."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np
from safetensors.numpy import save

from sublearn.kernels.layout import Array


def write(path: str, tensors: dict[str, Array], metadata: dict[str, str]) -> None:
    """Write arrays and metadata to a file, in the place of one that may be there."""
    write_bytes(path, save({name: np.ascontiguousarray(array) for name, array in tensors.items()}, metadata), "model")


def write_bytes(path: str, data: bytes, what: str) -> None:
    """Write a file, in the place of one that may be there; `what` is in it, for errors."""
    target = os.path.realpath(path)  # a link stays one
    mode = _mode_of(target, what)
    with _beside(target) as temporary:
        with open(temporary, "wb") as file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        _to_disk(temporary, os.O_RDWR)
        os.replace(temporary, target)
    if sys.platform != "win32":  # where folders cannot be opened
        with suppress(OSError):  # some file systems cannot do this
            _to_disk(os.path.dirname(target), os.O_RDONLY)


def _mode_of(target: str, what: str) -> int | None:
    """Permissions of the file that is replaced; None where there is none."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(21, f"A {what} is saved as a file, and this is a folder", target)
    if not stat.S_ISREG(found):
        raise OSError(f"{target} is no ordinary file, which a {what} could take the place of.")
    return stat.S_IMODE(found)


@contextmanager
def _beside(target: str) -> Iterator[str]:
    """The name of a new, empty file in the folder of another; it is gone afterwards, unless it has another name."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".sublearn-{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))  # with the usual permissions
    except OSError as error:
        text = f"{error.strerror}; to save {os.path.basename(target)}, a new file is made in this folder"
        raise OSError(error.errno, text, folder) from None
    try:
        yield temporary
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _to_disk(path: str, flags: int) -> None:
    """Wait until what was written is on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
