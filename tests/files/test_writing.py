"""Saving: a name stands for the old file or the new one, whatever happens, and errors say what to do."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sublearn
from documents import ROOT
from sublearn import SLMClassifier
from sublearn._files import writing
from support import PATIENCE

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] > X[:, 1]
N_KILLS = 20
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions, links and signals of POSIX")

# forks again and again what saves two models by turns, and kills it; prints what is in the file then
KILLER = """
import collections, json, os, random, signal, sys, time
import numpy as np
import sublearn
X = np.random.default_rng(0).normal(size=(300, 5))
models = [sublearn.SLMForestClassifier(n_estimators=n, n_jobs=1).fit(X, X[:, 0] > X[:, 1]) for n in (5, 60)]
path, n_kills = sys.argv[1], int(sys.argv[2])
models[0].save(path)
draw = random.Random(0)
found = collections.Counter()
for _ in range(n_kills):
    child = os.fork()
    if not child:
        while True:
            for model in models:
                model.save(path)
    time.sleep(draw.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    model = sublearn.load(path)
    before = models[model.n_estimators > 5]
    assert (model.predict_proba(X) == before.predict_proba(X)).all()
    found[model.n_estimators] += 1
print(json.dumps(found))
"""


@pytest.fixture
def model() -> Any:
    return SLMClassifier(random_state=0).fit(X, Y)


@POSIX
def test_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "model.slm"
    command = [sys.executable, "-c", KILLER, str(path), str(N_KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(found.values()) == N_KILLS
    leftovers = [other.name for other in tmp_path.iterdir() if other != path]
    assert all(name.startswith(".sublearn-") and name.endswith(".tmp") for name in leftovers)


@pytest.mark.parametrize("step", ["save", "_to_disk", "replace"])
def test_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    step: str, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.slm"
    model.save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*((os, step) if step == "replace" else (writing, step)), fail)
    with pytest.raises(KeyboardInterrupt):
        SLMClassifier(random_state=1, max_depth=1).fit(X, Y).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_order_of_writing_is_the_one_that_survives_a_power_cut(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    for module, name in ((writing, "save"), (os, "fsync"), (os, "replace")):
        usual = getattr(module, name)

        def noted(*given: Any, usual: Any = usual, name: str = name) -> Any:
            steps.append(name)
            return usual(*given)

        monkeypatch.setattr(module, name, noted)
    model.save(tmp_path / "model.slm")
    assert steps == ["save", "fsync", "replace"] + ["fsync"] * (sys.platform != "win32")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the size of files are Linux's")
def test_full_disk_is_an_error_of_the_system_and_leaves_the_old_file(model: Any, tmp_path: Path) -> None:
    import resource

    path = tmp_path / "model.slm"
    model.save(path)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            model.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@POSIX
def test_permissions_are_the_usual_ones_or_those_of_the_file_before(model: Any, tmp_path: Path) -> None:
    path, usual = tmp_path / "model.slm", tmp_path / "usual"
    usual.touch()
    model.save(path)
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o640


@POSIX
def test_a_link_stays_a_link(model: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.slm", tmp_path / "there" / "model.slm"
    link.symlink_to(target)
    for _ in range(2):  # it leads nowhere at first
        model.save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert sublearn.load(link).get_params() == model.get_params()
    assert sorted(other.name for other in target.parent.iterdir()) == ["model.slm"]


def test_paths_are_texts_or_paths(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model.save("model.slm")
    model.save(tmp_path / "any name at all")
    assert (tmp_path / "model.slm").read_bytes() == (tmp_path / "any name at all").read_bytes()
    model.save("x" * 255)
    assert sublearn.load(Path("x" * 255)).n_leaves_ == model.n_leaves_
    for wrong in (b"model.slm", 3, None):
        with pytest.raises(TypeError):
            model.save(wrong)
        with pytest.raises(TypeError):
            sublearn.load(wrong)  # type: ignore[arg-type]


def test_errors_of_the_system_name_the_folder_or_file(model: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"to save model.slm, a new file is made in this folder: .*nowhere"):
        model.save(tmp_path / "nowhere" / "model.slm")
    with pytest.raises(IsADirectoryError, match="A model is saved as a file"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        sublearn.load(tmp_path / "none.slm")
    with pytest.raises(IsADirectoryError if sys.platform != "win32" else PermissionError):
        sublearn.load(tmp_path)


@POSIX
def test_what_is_no_ordinary_file_is_left_alone(model: Any, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is no ordinary file"):
        model.save(pipe)
    with pytest.raises(sublearn.ModelFileError, match="it is no ordinary file"):
        sublearn.load(pipe)


@POSIX
def test_folder_that_cannot_be_written_to_is_named(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "temporary")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match=f"Permission denied; to save model.slm, .*: '{tmp_path}'"):
        model.save(tmp_path / "model.slm")


def test_several_threads_may_save_to_one_name(tmp_path: Path) -> None:
    path = tmp_path / "model.slm"
    models = [SLMClassifier(max_depth=depth, random_state=0).fit(X, Y) for depth in (1, 2, 3)]
    models[0].save(path)
    threads = [threading.Thread(target=lambda one=one: [one.save(path) for _ in range(10)]) for one in models]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert sublearn.load(path).max_depth in (1, 2, 3)
    assert list(tmp_path.iterdir()) == [path]
