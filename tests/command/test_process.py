"""The command as a process: pipes that close, signals, and kernels compiled ahead."""

import json
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


def lines_of(said: str) -> list[str]:
    """What was said, but for the news that kernels are compiled or loaded, which a busy machine brings about."""
    return [line for line in said.splitlines() if not line.startswith("sublearn is compiling")]


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
    assert (process.returncode, lines_of(process.stderr.decode())) == (141, ["flats.csv: not used: id"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a process there")
def test_ctrl_c_is_one_line_and_leaves_no_file(folder: Path) -> None:
    process = start(folder, "predict", "m.slm", "-", "--out", "p.csv", given=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(text_of(rows_of_flats() * 4000))  # more than a block
    process.stdin.flush()
    while process.stderr.readline() != "stdin: not used: id\n":  # and now it waits for more
        assert process.poll() is None
    while not any(name.startswith(".p.csv") for name in os.listdir(folder)):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 130  # while the pipe is still open
    out, said = process.communicate()
    assert (out, lines_of(said)) == ("", ["Stopped; no file was written."])
    assert sorted(os.listdir(folder)) == ["flats.csv", "m.slm"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a process there")
def test_ctrl_c_within_a_long_fit_is_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    write(tmp_path / "flats.csv", text_of(rows_of_flats(2000)))
    long = ("--holdout", "0", "--set", "n_estimators=1000000", "--set", "learning_rate=0.001")
    process = start(tmp_path, "train", "flats.csv", "--target", "price", "--out", "m.slm", *long)
    assert process.stderr is not None
    while "missing cell" not in process.stderr.readline():  # the last that is said before the fit
        assert process.poll() is None
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, lines_of(said)) == (130, "", ["Stopped; no file was written."])
    assert os.listdir(tmp_path) == ["flats.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="CPU time of a process is read otherwise there")
def test_help_takes_less_than_three_tenths_of_a_second_of_cpu_time() -> None:
    def cpu_seconds() -> float:
        process = subprocess.Popen([*COMMAND, "--help"], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return used.ru_utime + used.ru_stime

    times = (cpu_seconds() for _ in range(10))
    assert any(seconds < 0.3 for seconds in times)


# Prints what each kernel was compiled for, or loaded from the cache for: its name, and the types of its arguments.
SIGNATURES = """
import json
from sublearn.command.warmup import all_kernels
kernels = [kernel for kernel in all_kernels() if not kernel.is_new]
print(json.dumps([f"{kernel.__name__} {types}" for kernel in kernels for types in kernel.dispatcher.signatures]))
"""
WARMED = "from sublearn.command.warmup import warmup; warmup()" + SIGNATURES

# What people fit and predict.
USUAL = (
    """
import numpy as np
import pandas as pd
import sublearn

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
gaps = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
frame = pd.DataFrame({"a": gaps[:, 0], "b": X[:, 1].astype(np.float32), "c": np.where(X[:, 2] > 0, "yes", "no")})
total = X[:, 0] + np.abs(X[:, 1])
many = np.digitize(total, np.quantile(total, np.linspace(0.05, 0.95, 19)))
few = {"n_estimators": 3, "random_state": 0}
for table in (X, gaps, X.astype(np.float32), frame):
    for kind in (sublearn.SLMClassifier, sublearn.SLMForestClassifier, sublearn.SLMBoostClassifier):
        for y in (total > 0, many):
            model = kind(random_state=0) if kind is sublearn.SLMClassifier else kind(**few)
            model.fit(table, y).predict_proba(table[:5])
    for model in (sublearn.SLMRegressor(), sublearn.SLMForestRegressor(**few), sublearn.SLMBoostRegressor(**few)):
        model.fit(table, total, np.ones(300)).predict(table)
    sublearn.SLMBoostRegressor(leaf="linear", **few).fit(table, total).predict(table)
sublearn.SLMClassifier().fit(X, many).predict_proba(X[:1], check_input=False)
for model in (sublearn.SLMForestClassifier(voting="hard", **few), sublearn.SLMBoostClassifier(**few)):
    sublearn.explain(model.fit(frame, many), frame[:2], frame[:9])
wide = rng.normal(size=(300, 30))
model = sublearn.SLMForestRegressor(n_estimators=3, subspace_size=30, n_coefficients=8).fit(wide, wide.sum(axis=1))
assert not sublearn.explain(model, wide[:2]).is_exact
large = rng.normal(size=(20_000, 6))
sublearn.SLMBoostClassifier(n_estimators=2, learning_rate=0.1, n_jobs=2).fit(large, large[:, 0] > 0)
"""
    + SIGNATURES
)


def test_warmup_leaves_nothing_to_compile_for_usual_fits() -> None:
    """The cache knows a kernel by the types of its arguments, so what warmup has compiled need not be again."""
    commands = [[sys.executable, "-c", program] for program in (WARMED, USUAL)]
    warmed, usual = (subprocess.run(one, capture_output=True, text=True, timeout=PATIENCE) for one in commands)
    assert " kernels ready after " in warmed.stderr
    folder, ready = warmed.stdout.splitlines()
    assert Path(folder).is_dir()
    needed = json.loads(usual.stdout)
    assert len(needed) > 20
    assert sorted(set(needed) - set(json.loads(ready))) == []


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made otherwise there")
def test_warmup_refuses_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    process = start(tmp_path, "warmup", NUMBA_CACHE_DIR=str(tmp_path / "file"))
    out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, "")
    assert said == f"NUMBA_CACHE_DIR={tmp_path / 'file'} cannot be written to; choose another folder.\n"
