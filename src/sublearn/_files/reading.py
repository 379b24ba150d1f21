"""Files of safetensors, taken apart: everything that a header says is checked before anything is allocated by it.

The library itself maps a file into memory, where a file that another process cuts short ends this one, or holds it
twice. So its layout, which is simple, is read here; tests hold the two readings together.
"""

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sublearn import __version__
from sublearn._files.errors import Fault
from sublearn._files.fields import Fields, shown
from sublearn._files.layout import (
    FORMAT,
    KEY,
    MOST_CONTAINERS,
    MOST_HEADER,
    NAMES,
    OTHER_TYPES,
    TENSORS,
    TYPES,
    size_in_words,
)
from sublearn.kernels.layout import Array

LENGTH = 8  # bytes that say how long the header is


class Entry(NamedTuple):
    """Where an array is in a file, and what it is."""

    type: str
    shape: tuple[int, ...]
    begin: int  # in bytes from the end of the header
    end: int


class ModelFile(NamedTuple):
    """An open file whose header is checked."""

    file: BinaryIO
    size: int  # bytes
    data: int  # where the header ends
    entries: dict[str, Entry]
    document: Any

    def has(self, name: str) -> bool:
        """Whether there is such an array."""
        return name in self.entries

    def take(self, name: str, kind: str) -> Array:
        """An array; `kind` is its name in `TENSORS`."""
        if name not in self.entries:
            raise Fault(f"it has no array {name!r}")
        entry, wanted = self.entries[name], TENSORS[kind]
        dtype = np.dtype(wanted.dtype).newbyteorder("<")
        if TYPES.get(entry.type) != dtype:
            raise Fault(f"{name!r} must be of type {NAMES[dtype]}; it is of {entry.type}")
        if len(entry.shape) != wanted.n_dimensions:
            raise Fault(f"{name!r} must have {wanted.n_dimensions} dimensions; it has {len(entry.shape)}")
        return self._read(name, entry, dtype)

    def _read(self, name: str, entry: Entry, dtype: Any) -> Array:
        array: Array = np.empty(entry.shape, dtype)
        as_bytes = array.reshape(-1).view(np.uint8)
        self.file.seek(self.data + entry.begin)
        if self.file.readinto(as_bytes.data) != len(as_bytes):  # type: ignore[attr-defined]
            raise Fault(f"it ends within {name!r}: it has become shorter while it was read")
        if dtype == np.bool_ and (as_bytes > 1).any():
            raise Fault(f"{name!r} must hold zeros and ones; it has {int(as_bytes.max())}")
        return array.astype(dtype.newbyteorder("="), copy=False)


@contextmanager
def opened(path: str) -> Iterator[ModelFile]:
    """The file, with a header that is checked."""
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        raise Fault("it is no ordinary file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _header(file, size)
        data = LENGTH + len(header)
        fields = _parsed(header, "its header")
        document = _document(fields)
        _check_format(Fields(document, "its document"))
        yield ModelFile(file, size, data, _entries(fields, size - data), document)


def _header(file: BinaryIO, size: int) -> bytes:
    """The header as it is."""
    if size < LENGTH:
        raise Fault(f"it has {size} bytes")
    n = int.from_bytes(file.read(LENGTH), "little")
    if n > size - LENGTH:
        raise Fault(f"its header should have {size_in_words(n)}, the file has {size_in_words(size)}")
    if n > MOST_HEADER:
        most = size_in_words(MOST_HEADER)
        raise Fault(f"its header has {size_in_words(n)}, and at most {most} are read")
    header = file.read(n)
    if len(header) != n:
        raise Fault("it ends within its header: it has become shorter while it was read")
    if not header.startswith(b"{"):
        raise Fault("it has no header of safetensors")
    n_containers = header.count(b"[") + header.count(b"{")
    if n_containers > MOST_CONTAINERS:
        raise Fault(f"its header has {n_containers:,} lists and objects, and at most {MOST_CONTAINERS:,} are read")
    return header


def _document(fields: Any) -> Any:
    """What the metadata say of the model."""
    metadata = Fields(fields, "its header")
    if not metadata.has("__metadata__") or not metadata.fields("__metadata__").has(KEY):
        raise Fault(f"its header has no metadata {KEY!r}: it is another library's file")
    return _parsed(metadata.fields("__metadata__").text(KEY).encode("utf-8", "surrogatepass"), "its document")


def _check_format(document: Fields) -> None:
    """Raise Fault for a format that is newer than this library; nothing else of the file is looked at by then."""
    found = document.whole("format", 1, 1 << 62)
    if found > FORMAT:
        raise Fault(
            f"it is of format {found}, written by sublearn {document.text('library')[:20]}, and this is "
            f"sublearn {__version__}, which reads formats up to {FORMAT}. Install a newer one"
        )


def _parsed(text: bytes, where: str) -> Any:
    """Strict JSON: no name twice, no NaN, no number beyond the floats."""
    try:
        return json.loads(
            text.decode("utf-8"), object_pairs_hook=_without_twins, parse_constant=_refused, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:  # ValueError: also of what is no UTF-8, or an int of many digits
        raise Fault(f"{where} is no JSON that can be read: {shown(str(error))}") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no float")
    return number


def _entries(header: dict[str, Any], size: int) -> dict[str, Entry]:
    """The arrays of a header, which must fill `size` bytes one after another."""
    entries = {name: _entry(name, given) for name, given in header.items() if name != "__metadata__"}
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != at:
            raise Fault(f"{name!r} must begin at byte {at} of the data; it begins at {shown(entry.begin)}")
        at = entry.end
        if at > size:
            has = f"the file has {size_in_words(size)}"
            raise Fault(f"its arrays should have {size_in_words(at)} up to {name!r}, {has} of them")
    if at != size:
        raise Fault(f"its arrays have {size_in_words(at)}, the file has {size_in_words(size)} of them")
    return entries


def _entry(name: str, given: Any) -> Entry:
    """One array of a header; its size goes with its type and shape."""
    fields = Fields(given, f"{name!r} in its header")
    kind = fields.one_of("dtype", (*TYPES, *OTHER_TYPES))
    shape, places = fields.list("shape"), fields.list("data_offsets", 2)
    if not all(type(n) is int and n >= 0 for n in (*shape, *places)):
        raise Fault(f"{name!r} in its header must have a shape and places that are whole numbers of at least 0")
    n_bytes = math.prod(shape) * (TYPES[kind].itemsize if kind in TYPES else OTHER_TYPES[kind])
    if len(shape) > 8 or places[1] - places[0] != n_bytes:
        raise Fault(f"{name!r} has a shape that does not go with its place in the file")
    return Entry(kind, tuple(shape), *places)
