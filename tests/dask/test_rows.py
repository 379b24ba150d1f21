"""Blocks of a partition become one table, and are let go."""

import errno
import mmap
import os
import shutil
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from sublearn.dask.rows import Rows

NUMBERS = np.random.default_rng(0).random((10, 3))


def taken(parts: list[Any], is_plain: bool = True, memory: float = 0.0, folder: str = "") -> Any:
    rows = Rows()
    for number in reversed(range(len(parts))):  # they come in any order
        rows.put("fit", number, {"X": parts[number], "y": np.arange(parts[number].shape[0])})
    found = rows.take("fit", is_plain, memory, folder)
    assert rows.take("fit", is_plain, memory, folder) == {}
    return found["X"]


def test_arrays_are_put_one_below_the_other() -> None:
    np.testing.assert_array_equal(taken([NUMBERS[:4], NUMBERS[4:4], NUMBERS[4:]]), NUMBERS)
    np.testing.assert_array_equal(taken([csr_matrix(NUMBERS[:4]), csr_matrix(NUMBERS[4:])]).toarray(), NUMBERS)


@pytest.mark.parametrize("memory", [0.0, 1e12, 100.0])
@pytest.mark.parametrize("dtypes", [("f8", "i4", "f4"), ("f4", "i2", "f4")])
def test_a_frame_of_numbers_has_the_values_and_type_that_scikit_learn_gives_it(
    memory: float, dtypes: tuple[str, ...], tmp_path: Path
) -> None:
    frame = pd.DataFrame({name: (100 * NUMBERS[:, i]).astype(dtypes[i]) for i, name in enumerate("abc")})
    found = taken([frame[:4], frame[4:]], memory=memory, folder=str(tmp_path))
    assert list(found.columns) == ["a", "b", "c"]
    assert set(found.dtypes) == {np.dtype("f4" if "f8" not in dtypes else "f8")}
    np.testing.assert_array_equal(found, frame)
    assert list(tmp_path.iterdir()) == []  # a file of ours has no name


def test_categories_of_all_blocks_are_there() -> None:
    frames = [pd.DataFrame({"a": pd.Categorical(list(text)), "b": [1.0] * len(text)}) for text in ("xy", "zxx")]
    found = taken(frames)
    assert found["a"].tolist() == list("xyzxx")
    assert isinstance(found["a"].dtype, pd.CategoricalDtype)


def test_columns_that_may_be_categories_keep_their_type() -> None:
    frames = [pd.DataFrame({"a": np.arange(3, dtype="f4")})] * 2
    assert taken(frames, is_plain=False)["a"].dtype == np.float32


def test_a_large_table_is_a_file_whose_memory_can_be_given_back(tmp_path: Path) -> None:
    rows = Rows()
    for number in range(4):
        rows.put("fit", number, {"X": NUMBERS + number})
    found = rows.take("fit", True, 1.0, str(tmp_path))["X"]
    rows.ease()
    np.testing.assert_array_equal(found, np.concatenate([NUMBERS + number for number in range(4)]))
    rows.clear()
    np.testing.assert_array_equal(found[-10:], NUMBERS + 3)  # the file is there as long as the array


@pytest.mark.parametrize("as_frame", [False, True])
def test_blocks_that_come_when_there_are_many_wait_in_files(as_frame: bool, tmp_path: Path) -> None:
    rows = Rows()
    for number in range(4):
        X = NUMBERS + number
        rows.put("fit", number, {"X": pd.DataFrame(X) if as_frame else X}, 15.0 * NUMBERS.nbytes, str(tmp_path))
        assert rows.has_files == (number >= 1)
        rows.ease()
    found = rows.take("fit", True, 0.0, str(tmp_path))["X"]
    np.testing.assert_array_equal(found, np.concatenate([NUMBERS + number for number in range(4)]))
    rows.ease()  # the files of the blocks are gone with them


def test_only_floats_of_one_type_wait_in_files_so_that_no_type_changes(tmp_path: Path) -> None:
    rows = Rows()
    for number, dtype in enumerate(("f4", "i2")):
        rows.put("fit", number, {"X": pd.DataFrame(NUMBERS.astype(dtype))}, 1.0, str(tmp_path))
    assert set(rows.take("fit", True, 0.0, "")["X"].dtypes) == {np.dtype("f4")}


def test_where_memory_of_files_cannot_be_given_back_they_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)  # as on Windows
    np.testing.assert_array_equal(taken([NUMBERS[:4], NUMBERS[4:]], memory=1.0, folder=str(tmp_path)), NUMBERS)


@pytest.mark.parametrize("can_reserve", [True, False])
def test_a_folder_without_room_is_an_error_that_names_it(
    can_reserve: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reserve(file: int, first: int, size: int) -> None:
        raise OSError(errno.ENOSPC if can_reserve else errno.EOPNOTSUPP, "such as it is")

    monkeypatch.setattr(os, "posix_fallocate", reserve, raising=False)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=NUMBERS.nbytes - 1))
    text = rf"{tmp_path.name} must have room for a file of {NUMBERS.nbytes} bytes, "
    with pytest.raises(OSError, match=text) as caught:
        taken([NUMBERS[:4], NUMBERS[4:]], memory=1000.0, folder=str(tmp_path))
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("reserves", [True, False])
def test_a_file_is_there_whether_or_not_its_room_can_be_reserved(
    reserves: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not reserves:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    np.testing.assert_array_equal(taken([NUMBERS[:4], NUMBERS[4:]], memory=1.0, folder=str(tmp_path)), NUMBERS)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are not listed there")
def test_a_file_has_its_room_before_anything_is_written(tmp_path: Path) -> None:
    rows = Rows()
    codes = rows.empty((1 << 20,), np.int16, 1.0, str(tmp_path))
    assert codes.nbytes == 2 << 20
    assert sum(512 * where.stat().st_blocks for where in mapped_in(tmp_path)) >= codes.nbytes


def mapped_in(folder: Path) -> list[Path]:
    """Open files of this process that lay in a folder; they have no names any more."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if os.readlink(link).startswith(f"{folder}{os.sep}"):
                found.append(link)
    return found


def test_files_that_two_threads_make_at_once_are_both_known(tmp_path: Path) -> None:
    rows, made = Rows(), []

    def make() -> None:
        made.append(rows.empty((3, 10), np.int16, 1.0, str(tmp_path)))

    other = Thread(target=make)

    def looked_at() -> None:
        """A file that is gone; while one thread looks at it, the other one makes a file too."""
        if other.ident is None:
            other.start()
            other.join(0.2)

    rows._files.append(looked_at)  # type: ignore[arg-type]
    make()
    other.join()
    assert [one() is None for one in rows._files] == [False, False]


def test_codes_are_a_file_where_they_would_fill_the_memory(tmp_path: Path) -> None:
    rows = Rows()
    assert not rows.has_files
    codes = rows.empty((3, 10), np.int16, 100.0, str(tmp_path))
    assert rows.has_files
    codes[:] = 7
    rows.ease()
    assert (codes == 7).all()
    assert rows.empty((3, 10), np.int16, 1000.0, str(tmp_path)).shape == (3, 10)
