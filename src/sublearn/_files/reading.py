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
    MOST_HEADER,
    MOST_PARSED,
    NAMES,
    OTHER_TYPES,
    TENSORS,
    TYPES,
    size_in_words,
    size_when_parsed,
)
from sublearn._files.memory import Memory
from sublearn.kernels.layout import Array

LENGTH = 8  # bytes that say how long the header is
MOST_DIMENSIONS = 8
LARGEST = 1 << 62  # of lengths and places


class Entry(NamedTuple):
    """Where an array is in a file, and what it is."""

    type: str
    shape: tuple[int, ...]
    begin: int  # in bytes from the end of the header
    end: int


class ModelFile(NamedTuple):
    """An open file whose header is checked."""

    file: BinaryIO
    data: int  # where the header ends
    entries: dict[str, Entry]
    document: Any
    memory: Memory

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
        text, data, parsed = _header(file, size)
        fields = _parsed(text, "its header")
        del text  # which may be large, as is the document
        document = _document(fields)
        _check_format(Fields(document, "its document"))
        yield ModelFile(
            file=file,
            data=data,
            entries=_entries(fields, size - data),
            document=document,
            memory=Memory(size, parsed),
        )


def _header(file: BinaryIO, size: int) -> tuple[str, int, int]:
    """The header as it is, where it ends, and what it takes to read."""
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
    needed = size_when_parsed(header)
    if needed > MOST_PARSED:
        most = size_in_words(MOST_PARSED)
        raise Fault(f"its header would take {size_in_words(needed)} of memory, and at most {most} are given to it")
    try:
        return header.decode("utf-8"), LENGTH + n, needed
    except UnicodeDecodeError:
        raise Fault("its header is no JSON that can be read: it is no UTF-8") from None


def _document(fields: Any) -> Any:
    """What the metadata say of the model."""
    metadata = Fields(fields, "its header")
    if not metadata.has("__metadata__") or not metadata.fields("__metadata__").has(KEY):
        raise Fault(f"its header has no metadata {KEY!r}: it is another library's file")
    text = metadata.fields("__metadata__").text(KEY)
    fields["__metadata__"].clear()
    return _parsed(text, "its document")


def _check_format(document: Fields) -> None:
    """Raise Fault for a format that is newer than this library; nothing else of the file is looked at by then."""
    found = document.whole("format", 1, 1 << 62)
    if found > FORMAT:
        raise Fault(
            f"it is of format {found}, written by sublearn {document.text('library')[:20]}, and this is "
            f"sublearn {__version__}, which reads formats up to {FORMAT}. Install a newer one"
        )


def _parsed(text: str, where: str) -> Any:
    """Strict JSON: no name twice, no NaN, no number beyond the floats."""
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # ValueError: also of an int of many digits
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
            raise Fault(f"{shown(name)} must begin at byte {at} of the data; it begins at {shown(entry.begin)}")
        at = entry.end
        if at > size:
            has = f"the file has {size_in_words(size)}"
            raise Fault(f"its arrays should have {size_in_words(at)} up to {shown(name)}, {has} of them")
    if at != size:
        raise Fault(f"its arrays have {size_in_words(at)}, the file has {size_in_words(size)} of them")
    return entries


def _entry(name: str, given: Any) -> Entry:
    """One array of a header; its size goes with its type and shape."""
    fields = Fields(given, f"{shown(name)} in its header")
    kind = fields.one_of("dtype", (*TYPES, *OTHER_TYPES))
    shape, places = fields.list("shape"), fields.list("data_offsets", 2)
    if len(shape) > MOST_DIMENSIONS:
        raise Fault(f"{shown(name)} must have at most {MOST_DIMENSIONS} dimensions; it has {len(shape)}")
    if not all(type(n) is int and 0 <= n < LARGEST for n in (*shape, *places)):
        raise Fault(f"{shown(name)} in its header must have a shape and places that are whole numbers from 0 to 2^62")
    n_bytes = math.prod(shape) * (TYPES[kind].itemsize if kind in TYPES else OTHER_TYPES[kind])
    if places[1] - places[0] != n_bytes:
        raise Fault(f"{shown(name)} has a shape that does not go with its place in the file")
    return Entry(kind, tuple(shape), *places)
