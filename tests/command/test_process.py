"""The command as a process: pipes that close, signals, and kernels compiled ahead."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commands import rows_of_flats, text_of, train, write
from support import PATIENCE

COMMAND = [sys.executable, "-m", "sublearn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and its table."""
    folder = tmp_path_factory.mktemp("process")
    train(write(folder / "flats.csv", text_of(rows_of_flats())), folder / "m.slm")
    return folder


def start(folder: Path, *arguments: str, given: Any = None, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_pipe_that_closes_ends_the_command_quietly(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # whoever reads has seen enough before anything came
    process = subprocess.run(
        [*COMMAND, "predict", "m.slm", "flats.csv"],
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
    )
    os.close(writing)
    assert (process.returncode, process.stderr) == (141, b"flats.csv: not used: id\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a process there")
def test_ctrl_c_is_one_line_and_leaves_no_file(folder: Path) -> None:
    process = start(folder, "predict", "m.slm", "-", "--out", "p.csv", given=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(text_of(rows_of_flats() * 4000))  # more than a block
    process.stdin.flush()
    assert process.stderr.readline() == "stdin: not used: id\n"  # and now it waits for more
    while not any(name.startswith(".p.csv") for name in os.listdir(folder)):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, said) == (130, "", "Stopped; no file was written.\n")
    assert sorted(os.listdir(folder)) == ["flats.csv", "m.slm"]


def test_warmup_leaves_nothing_to_compile(tmp_path: Path) -> None:
    """In the cache of all tests, which is mostly full; the kernels left are those of the paper's node, step by step."""
    process = start(tmp_path, "warmup")
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert Path(out.strip()).is_dir()
    assert " kernels ready after " in said


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made otherwise there")
def test_warmup_refuses_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    process = start(tmp_path, "warmup", NUMBA_CACHE_DIR=str(tmp_path / "file"))
    out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, "")
    assert said == f"NUMBA_CACHE_DIR={tmp_path / 'file'} cannot be written to; choose another folder.\n"
