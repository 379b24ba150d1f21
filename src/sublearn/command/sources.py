"""Files as streams of bytes: paths that are none, compressed files, and texts in other encodings."""

import codecs
import gzip
import io
import os
import select
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sublearn.command.messages import refuse, say

STDIN = "-"
LOOKED_AT = 8  # bytes that tell what a file is
CSV, PARQUET, ARROW, STREAM = "CSV", "Parquet", "Arrow", "Arrow stream"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BEGINNINGS = {b"PAR1": PARQUET, b"ARROW1": ARROW, b"\xff\xff\xff\xff": STREAM}
OTHERS = {b"PK\x03\x04": "a zip archive or an Excel file", b"\xd0\xcf\x11\xe0": "an old Excel file", b"%PDF": "a PDF"}
MARK = codecs.BOM_UTF8
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ZSTD_READERS = (("compression.zstd", "ZstdFile"), ("zstandard", "open"))


@contextmanager
def undamaged(name: str) -> Iterator[None]:
    """Refuse a compressed file that is not whole."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        refuse(f"{name} is damaged or was not written to its end: {error}.")
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        refuse(f"{name} is damaged or was not written to its end: {error}.")


class Source(NamedTuple):
    """A file to read, or stdin."""

    path: str
    format: str
    n_bytes: int | None  # as it lies on disk; None: not known
    beginning: bytes

    @property
    def name(self) -> str:
        """What messages call it."""
        return "stdin" if self.path == STDIN else os.path.basename(self.path)


class Stream(NamedTuple):
    """Bytes of a text as UTF-8, and the file below them, whose position tells how far it is."""

    text: Any
    file: Any
    encoding: str

    def done(self) -> int:
        """Bytes of the file that are read."""
        return int(self.file.tell())

    def close(self) -> None:
        """Close the file; that of stdin stays open."""
        if not isinstance(self.file, _Counted):
            self.text.close()
            self.file.close()


class _Counted(io.RawIOBase):
    """Stdin, with the bytes read from it counted, and those that were looked at first given once more."""

    def __init__(self, file: BinaryIO) -> None:
        self._file: Any = getattr(file, "raw", file)
        self._n, self._first = 0, b""
        while len(self._first) < LOOKED_AT and (given := self._read(LOOKED_AT - len(self._first))):
            self._first += given
        self.beginning = self._first

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._n

    def readinto(self, buffer: Any) -> int:
        given = self._first or self._read(len(buffer))
        given, self._first = given[: len(buffer)], self._first[len(buffer) :] if self._first else b""
        buffer[: len(given)] = given
        self._n += len(given)
        return len(given)

    def _read(self, n: int) -> bytes:
        """Up to n bytes, as soon as there are some.

        Waiting for a pipe is left to `select`, which Ctrl-C ends: polars has a handler of its own for the signal, after
        which the system goes on reading.
        """
        if sys.platform != "win32" and isinstance(self._file, io.FileIO):
            select.select([self._file], [], [])
        return self._file.read(n) or b""


_STDIN: list[_Counted] = []  # what was made of it, since its beginning can be read once only


def find_source(path: str) -> Source:
    """What lies at a path; refuses what cannot be read."""
    if path == STDIN:
        _STDIN[:] = [_Counted(sys.stdin.buffer)]
        beginning, size = _STDIN[0].beginning, None
    else:
        beginning, size = _look(path)
    kind = next((kind for start, kind in BEGINNINGS.items() if beginning.startswith(start)), CSV)
    found = next((what for start, what in OTHERS.items() if beginning.startswith(start)), None)
    if found is not None:
        refuse(f"{path} is {found}; save the table as CSV, Parquet or Arrow.")
    if kind != CSV and path == STDIN:
        refuse(f"stdin must be CSV; got {kind}. Give the path of a file.")
    if kind == CSV and Path(path).suffix.lower() in (".parquet", ".arrow", ".feather", ".ipc"):
        refuse(f"{path} does not hold what its name says; rename it if it is CSV.")
    return Source(path, kind, size, beginning)


def _look(path: str) -> tuple[bytes, int]:
    """The first bytes of a file, and its size."""
    if os.path.isdir(path):
        refuse(f"{path} is a folder; give the path of a file.")
    try:
        with open(path, "rb") as file:
            beginning = file.read(LOOKED_AT)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        refuse(f"{path}: there is no such file.")
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}.")
    if not beginning:
        refuse(f"{path} is empty.")
    return beginning, size


def open_text(source: Source, encoding: str | None) -> Stream:
    """The text of a source as UTF-8, uncompressed, without a byte-order mark."""
    file: Any = _STDIN[0] if source.path == STDIN else open(source.path, "rb")  # noqa: SIM115  closed by its reader
    try:
        return _opened(source, file, encoding)
    except BaseException:
        file.close()
        raise


def _opened(source: Source, file: Any, encoding: str | None) -> Stream:
    plain = file
    if source.beginning.startswith(GZIP):
        plain = gzip.GzipFile(fileobj=file)
    elif source.beginning.startswith(ZSTD):
        plain = _zstd(file)
    text = io.BufferedReader(plain, 1 << 16)
    with undamaged(source.name):
        mark = text.peek(4)[:4]
    if encoding is None and mark.startswith(MARKS):
        encoding = "utf-16"
        say(f"{source.name} is read as UTF-16, by its byte-order mark.")
    encoding = _known(encoding or "utf-8")
    if encoding in ("utf-8", "utf-8-sig"):
        if mark.startswith(MARK):
            text.read(len(MARK))
        return Stream(text, file, "utf-8")
    return Stream(_Recoded(text, encoding), file, encoding)


def _known(encoding: str) -> str:
    """The usual name of an encoding."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        refuse(f"--encoding: unknown name {encoding!r}. Known are for example utf-8, latin-1, cp1252 and utf-16.")


def _zstd(file: Any) -> Any:
    """A reader of zstd, which Python has from 3.14 on."""
    for module, name in ZSTD_READERS:
        with suppress(ImportError):
            return getattr(import_module(module), name)(file)
    return refuse("Files compressed with zstd need zstandard: pip install 'sublearn[cli]'")


class _Recoded:
    """A text in another encoding, as UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._encoding = file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = b""

    def close(self) -> None:
        """Close what is below."""
        self._file.close()

    def read(self, n: int) -> bytes:
        """Some n bytes; nothing at the end only."""
        while not self._rest:
            given = self._file.read(n)
            try:
                self._rest = self._decoder.decode(given, final=not given).encode()
            except UnicodeDecodeError as error:
                refuse(f"The text is not {self._encoding}: {error.reason}. Pass another --encoding.")
            if not given:
                break
        given, self._rest = self._rest, b""
        return given
