"""Starting up: compiling, its message and its cache; and that neither threads, processes nor CPUs change a model.

Compiling takes most of a minute over all these tests, so the processes that have to do it run side by side.
"""

import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from numba import njit

from alone import ALONE
from sublearn.kernels import compilation
from sublearn.kernels.compilation import COMPILER, Kernel, inner
from sublearn.kernels.pipeline import WholeCompiler
from support import PATIENCE

ALL, TREES = "99", "2"  # models: trees come first, and need half of the kernels
BOOSTED = "3"  # trees, and boosting of numbers
USUAL_CACHE = {name: value for name, value in os.environ.items() if name == "NUMBA_CACHE_DIR"}

# Prints where the package is and, for each n_jobs, the hashes of trees that use everything (quantile maps, weights,
# drawn subspaces, listed and drawn rounds, several hyperplanes a node), of boosting and of forests; or of some.
MODELS = """
import hashlib, json, sys
import numpy as np
import sublearn

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 12))
X[:, 3:6] = np.exp(3 * X[:, 3:6])
y = X[:, 0] + X[:, 1] * X[:, 2] + np.log(X[:, 3]) + rng.normal(size=6000)
labels = np.digitize(y, [-2.0, 1.0])
weights = rng.uniform(0.0, 3.0, size=6000)
rounds = {"n_coefficients": [1, 2, 4], "selection_decay": [0.2, 0.4, 0.6], "envelope_decay": [0.1, 0.2, 0.3]}
few = {"n_estimators": 3, "learning_rate": 0.1}

drawn = {"subspace": "drawn", "subspace_size": 6, **rounds}

def hash_models(n_models, n_jobs):
    hashes = []
    for model, target in (
        (sublearn.SLMClassifier(**drawn), labels),
        (sublearn.SLMRegressor(**drawn), y),
        (sublearn.SLMBoostRegressor(early_stopping=True, **few), y),
        (sublearn.SLMForestClassifier(n_estimators=3, bootstrap=True), labels),
        (sublearn.SLMForestRegressor(n_estimators=3), y),
        (sublearn.SLMForestClassifier(n_estimators=3, racing_samples=200), labels),
        (sublearn.SLMBoostClassifier(n_estimators=3, racing_samples=200), labels > 0),  # how far is found by trials
        (sublearn.SLMBoostClassifier(subsample=0.5, **few), labels),
        (sublearn.SLMBoostClassifier(class_weight="balanced", early_stopping=True, **few), labels > 0),
        (sublearn.SLMBoostRegressor(leaf="linear", **few), y),
        (sublearn.SLMBoostRegressor(loss="poisson", **few), labels),
        (sublearn.SLMBoostRegressor(loss="gamma", **few), 1.0 + labels),
        (sublearn.SLMBoostRegressor(loss="huber", **few), y),
        (sublearn.SLMBoostRegressor(loss="absolute_error", **few), y),
        (sublearn.SLMBoostRegressor(loss="quantile", quantile=0.7, **few), y),
    )[:n_models]:
        is_tree = hasattr(type(model), "tree_")
        model.set_params(max_depth=None if is_tree else 6, random_state=7, n_jobs=n_jobs).fit(X, target, weights)
        if is_tree:
            assert model.n_partitions_ > model.tree_.n_nodes - model.n_leaves_
        assert len(model.feature_maps_.knots) > 2 * 12
        nodes = model.tree_ if is_tree else model.ensemble_.nodes
        scores = (model.train_score_, model.validation_score_) if hasattr(model, "train_score_") else ()
        digest = hashlib.sha256()
        for array in (*nodes.columns().values(), *model.feature_maps_, model.predict(X), *scores):
            digest.update(np.asarray(array).tobytes())
        hashes.append(digest.hexdigest())
    return hashes

hashes = [hash_models(int(sys.argv[1]), int(n_jobs)) for n_jobs in sys.argv[2:]]
is_moved = not sublearn.kernels.compilation.WHOLE  # whether Numba's inner parts were not found
print(json.dumps({"package": sublearn.__file__, "hashes": hashes, "is_moved": is_moved}))
"""

# Fits what comes in many types, and prints how many signatures each kernel was compiled for.
TYPES = """
import json, sys
import numpy as np
import pandas as pd
import sublearn
from sublearn import SLMClassifier, SLMRegressor
from sublearn._base import cores
from sublearn.kernels.compilation import Kernel

X = np.random.default_rng(0).normal(size=(200, 5))
frozen = X.copy()
frozen.flags.writeable = False
tables = [X, X.astype(np.float32), np.asfortranarray(X), X[::-1], X[:, ::-1], frozen, X.astype(int), X > 0]
tables += [X.tolist(), pd.DataFrame(X), pd.DataFrame(X.astype(np.float32))]
tables += [pd.DataFrame({"number": X[:, 0], "whole": X[:, 1].astype(int), "flag": X[:, 2] > 0})]
total = X.sum(axis=1)
targets = {
    SLMClassifier: [total > 0, (total > 0).astype(np.int8), np.where(total > 0, "yes", "no"), pd.Series(total > 0)],
    SLMRegressor: [total, total.astype(np.float32), np.rint(total).astype(int), pd.Series(total)],
}
weights = [None, np.ones(200), np.arange(200), X[:, 0] ** 2, (X[:, 0] ** 2).astype(np.float32)]
for estimator, responses in targets.items():
    model = estimator(subspace="drawn", subspace_size=3)
    for table in tables:
        model.fit(table, responses[0]).predict(table)
    for response in responses:
        for weight in weights:
            model.fit(X, response, weight).predict(X[:1])
    estimator(n_projections=9, n_coefficients=2, envelope_height=1, n_jobs=2).fit(X, responses[0])
cores.n_cores = lambda: 2
large = np.random.default_rng(1).normal(size=(20_000, 8))
for estimator in targets:  # trees that threads share
    for values in (large[:, 0], large[:, 0] + large[:, 1]):
        estimator(max_depth=3, n_jobs=2).fit(large, np.rint(values))
many, counts = np.digitize(total, [-1.0, 1.0]), np.rint(np.abs(total))
for model, response in (
    (sublearn.SLMForestClassifier(), many),
    (sublearn.SLMForestClassifier(voting="hard", bootstrap=True, oob_score=True), many),
    (sublearn.SLMForestRegressor(bootstrap=True), total),
    (sublearn.SLMBoostClassifier(subsample=0.5), total > 0),
    (sublearn.SLMBoostClassifier(class_weight="balanced"), many),
    (sublearn.SLMBoostRegressor(early_stopping=True), total),
    (sublearn.SLMBoostRegressor(loss="absolute_error"), total),
    (sublearn.SLMBoostRegressor(loss="huber"), total),
    (sublearn.SLMBoostRegressor(loss="poisson", racing_samples=16), counts),
    (sublearn.SLMBoostRegressor(loss="gamma"), counts + 1),
    (sublearn.SLMBoostRegressor(loss="quantile", quantile=0.8), total),
):
    few = {"n_estimators": 20} if "Forest" in type(model).__name__ else {"n_estimators": 2, "learning_rate": 0.1}
    model.set_params(**few)
    for weight in weights:
        for n_jobs in (1, 2):
            model.set_params(n_jobs=n_jobs).fit(X, response, weight).predict(frozen)
        model.apply(X)
poisson = sublearn.SLMBoostRegressor(n_estimators=2, loss="poisson")  # with trials
poisson.fit(X, counts, exposure=np.arange(1, 201)).predict(X, total**2)
modules = [module for name, module in sys.modules.items() if name.startswith("sublearn")]
kernels = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Kernel)}
used = [kernel for kernel in kernels.values() if kernel.dispatcher.signatures]
print(json.dumps({kernel.__name__: len(kernel.dispatcher.signatures) for kernel in used}))
"""

# A Numba release in which what `kernels.pipeline` needs has another place.
MOVED = """
import numba.core.compiler
del numba.core.compiler.CompilerBase
"""

# Compiles one small kernel, or finds it, and prints where compiled code is kept.
ONE_KERNEL = """
import json
import numpy as np
import sublearn
from sublearn.kernels.exact_sums import WIDTH, add_exactly as kernel

kernel(np.ones(3), np.empty(0), 0, 3, np.zeros(WIDTH, np.int64))
n_found = sum(kernel.dispatcher.stats.cache_hits.values())
print(json.dumps({"package": sublearn.__file__, "folder": kernel.folder, "found": n_found}))
"""


def start(program: str, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    """A new process; its environment differs from this one's by `environment`."""
    return _started(program, arguments, environment, None)


def start_bound(program: str, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    """A new process that the modes of files bind even if it is root's."""
    return _started(program, arguments, environment, _without_privilege)


def _started(
    program: str, arguments: tuple[str, ...], environment: dict[str, str], first: Callable[[], None] | None
) -> "subprocess.Popen[str]":
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**variables, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=first,
    )


def _without_privilege() -> None:
    """Take from root, before a program starts, the right to write where modes forbid it; others have no such right."""
    change_bounds, write_anywhere = 24, 1  # PR_CAPBSET_DROP and CAP_DAC_OVERRIDE of Linux
    ctypes.CDLL(None).prctl(change_bounds, write_anywhere, 0, 0, 0)


def is_bound(folder: Path) -> bool:
    """Whether a process that is bound cannot write to a folder."""
    program = "import os, sys; print(int(os.access(sys.argv[1], os.W_OK)))"
    return start_bound(program, str(folder)).communicate(timeout=PATIENCE)[0] == "0\n"


class Outcome:
    """What a process printed, once it has ended."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.out, self.err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, self.err
        self.result = json.loads(self.out)


def read_only_package(wheel: Path, folder: Path) -> Path:
    """The built package, installed so that its folders take no cache, not even from root; what to put on the path."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    package = folder / "sublearn"
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for path in folders:
        (path / "__pycache__").write_text("a file where a folder would have to be")
    for path in folders:
        path.chmod(0o555)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("startup")


@pytest.fixture(scope="module")
def read_only(wheel: Path, folder: Path) -> Iterator[dict[str, str]]:
    """Environment in which neither the package nor the home folder can be written to."""
    path = read_only_package(wheel, folder / "install")
    (folder / "file").write_text("no folder")
    nowhere = str(folder / "file" / "home")
    yield {
        "PYTHONPATH": str(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": nowhere,
        "XDG_CACHE_HOME": nowhere,
    }
    for place in (path / "sublearn").rglob("*"):
        if place.is_dir():
            place.chmod(0o755)
    (path / "sublearn").chmod(0o755)


@pytest.fixture(scope="module")
def cache(folder: Path) -> dict[str, str]:
    """Environment with a cache that is empty until `compiled` has run."""
    return {"NUMBA_CACHE_DIR": str(folder / "cache")}


@pytest.fixture(scope="module")
def compiled(cache: dict[str, str], read_only: dict[str, str]) -> dict[str, Outcome]:
    """Processes that have to compile, all at once.

    Two have one cold cache, and one has no cache, compiles for any CPU, and has another Numba. What need not be seen
    with all models is seen with the first few.
    """
    processes = {
        "cold": start(MODELS, BOOSTED, "1", **cache),
        "cold too": start(MODELS, TREES, "1", **cache),
        "read-only": start(MOVED + ALONE + MODELS, ALL, "2", NUMBA_CPU_NAME="generic", **read_only),
    }
    return {name: Outcome(process) for name, process in processes.items()}


@pytest.fixture(scope="module")
def warm(compiled: dict[str, Outcome], cache: dict[str, str]) -> Outcome:
    """A process that finds all kernels in the cache."""
    return Outcome(start(MODELS, BOOSTED, "1", **cache))


@pytest.fixture(scope="module")
def usual() -> Outcome:
    """A process that has the cache of all tests, mostly full, and fits with several numbers of threads."""
    return Outcome(start(MODELS, ALL, "1", "2", "3", **USUAL_CACHE))


def first_hashes(outcome: Outcome, n: str = ALL) -> list[str]:
    """Of the first models that a process has fitted, with the first number of threads."""
    found: list[str] = outcome.result["hashes"][0]
    return found[: int(n)]


def test_slow_compiling_is_announced_once(compiled: dict[str, Outcome]) -> None:
    for outcome in compiled.values():
        lines = outcome.err.splitlines()
        assert len(lines) == 1, outcome.err
        assert lines[0].startswith("sublearn")
        assert "compil" in lines[0]


def test_warm_cache_is_silent(warm: Outcome) -> None:
    assert warm.err == ""


def test_processes_that_start_at_once_with_a_cold_cache_agree(compiled: dict[str, Outcome]) -> None:
    assert first_hashes(compiled["cold too"]) == first_hashes(compiled["cold"], TREES)


def test_model_is_the_same_for_any_number_of_threads(usual: Outcome) -> None:
    one, *others = usual.result["hashes"]
    assert len(set(one)) == len(one) > 10
    assert others == [one] * 2


def test_model_is_the_same_in_every_process(warm: Outcome, usual: Outcome, compiled: dict[str, Outcome]) -> None:
    assert first_hashes(compiled["cold"]) == first_hashes(warm) == first_hashes(usual, BOOSTED)


def test_model_is_the_same_for_native_and_generic_cpu(usual: Outcome, compiled: dict[str, Outcome]) -> None:
    assert first_hashes(compiled["read-only"]) == first_hashes(usual)


def test_wheel_without_any_writable_folder_and_with_its_requirements_alone_fits_the_same_model(
    usual: Outcome, compiled: dict[str, Outcome], folder: Path
) -> None:
    outcome = compiled["read-only"]
    assert Path(outcome.result["package"]).is_relative_to(folder)
    assert first_hashes(outcome) == first_hashes(usual)


def test_numba_that_moves_its_compiler_gives_the_same_model(usual: Outcome, compiled: dict[str, Outcome]) -> None:
    assert compiled["read-only"].result["is_moved"]
    assert first_hashes(compiled["read-only"]) == first_hashes(usual)


def test_disabled_numba_is_told_at_import() -> None:
    process = start("from sublearn import SLMClassifier", NUMBA_DISABLE_JIT="1")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("ImportError: sublearn needs Numba's compiler, which NUMBA_DISABLE_JIT")


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME names the cache of the user there")
def test_read_only_install_keeps_compiled_code_in_the_user_cache(read_only: dict[str, str], folder: Path) -> None:
    place = folder / "user"
    outcome = Outcome(start(ONE_KERNEL, **{**read_only, "XDG_CACHE_HOME": str(place)}))
    assert Path(outcome.result["package"]).is_relative_to(folder)
    assert Path(outcome.result["folder"]).is_relative_to(place)
    assert any(Path(outcome.result["folder"]).glob("*.nbc"))


@pytest.mark.skipif(sys.platform != "linux", reason="root can be kept from writing there")
def test_compiled_code_is_found_in_a_folder_that_cannot_be_written_to(read_only: dict[str, str], folder: Path) -> None:
    place = folder / "warmed"
    first = Outcome(start(ONE_KERNEL, **{**read_only, "NUMBA_CACHE_DIR": str(place)}))
    assert first.result["found"] == 0
    files = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    for path in (place, *place.iterdir()):
        path.chmod(0o555)
    try:
        if not is_bound(place):
            pytest.skip("nobody can be kept from writing here")
        nowhere = Outcome(start_bound(ONE_KERNEL, **{**read_only, "NUMBA_CACHE_DIR": str(place)}))
        home = {"XDG_CACHE_HOME": str(folder / "home")}
        elsewhere = Outcome(start_bound(ONE_KERNEL, **{**read_only, **home, "NUMBA_CACHE_DIR": str(place)}))
        other = {"NUMBA_CPU_NAME": "generic"}  # for which nothing has been compiled
        missed = Outcome(start_bound(ONE_KERNEL, **{**read_only, **other, "NUMBA_CACHE_DIR": str(place)}))
    finally:
        for path in (place, *place.iterdir()):
            path.chmod(0o755)
    assert (nowhere.result["found"], nowhere.result["folder"]) == (1, None)
    assert elsewhere.result["found"] == 1
    assert Path(elsewhere.result["folder"]).is_relative_to(folder / "home")
    assert missed.result["found"] == 0
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == files


@pytest.mark.usefixtures("usual")  # which fills the cache
def test_every_kernel_is_compiled_for_one_signature() -> None:
    signatures = Outcome(start(TYPES, **USUAL_CACHE)).result
    assert signatures == dict.fromkeys(signatures, 1)
    assert {"grow", "grow_below", "add_values", "find_leaves", "round_derivatives"} <= set(signatures)


def blocked_kernel() -> tuple[Kernel, threading.Event]:
    """A kernel that doubles a number, and what lets it finish compiling."""
    may_end = threading.Event()
    kernel = Kernel(lambda x: x, {})
    kernel.dispatcher = Mock(side_effect=lambda x: 2 * x, compile=lambda signature: may_end.wait(PATIENCE))
    return kernel, may_end


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread there")
def test_interrupt_during_the_first_fit_does_not_make_the_next_one_hang() -> None:
    kernel, may_end = blocked_kernel()

    def interrupt() -> None:
        while not COMPILER.is_busy:
            time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us without it
    start_new_thread(interrupt, ())
    with pytest.raises(KeyboardInterrupt):  # though compiling has not ended
        kernel(1)
    signal.signal(signal.SIGINT, before)
    assert COMPILER.is_busy
    threading.Timer(0.05, may_end.set).start()
    assert kernel(1) == 2
    assert not kernel.is_new
    with COMPILER.lock:
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked there")
def test_process_forked_while_a_kernel_compiles_can_compile_too() -> None:
    kernel, may_end = blocked_kernel()
    start_new_thread(kernel, (1,))
    while not COMPILER.is_busy:
        time.sleep(0.001)
    threading.Timer(0.05, may_end.set).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forking with threads, which is what is tried
        child = os.fork()
    if child == 0:
        os._exit(1 if COMPILER.is_busy else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert not COMPILER.is_busy


def test_kernel_compiles_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "start_new_thread", Mock(side_effect=RuntimeError("can't start new thread")))
    kernel, may_end = blocked_kernel()
    may_end.set()
    assert kernel(1) == 2
    assert not COMPILER.is_busy


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_collected_again_after_compiling(was_on: bool) -> None:
    seen = []

    def fails() -> None:
        seen.append(gc.isenabled())
        raise RuntimeError("no kernel")

    kernel = Kernel(lambda x: x, {})
    kernel.dispatcher = Mock(compile=lambda signature: fails())
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(RuntimeError, match="no kernel"):
            kernel(1)
        assert (seen, gc.isenabled()) == ([False], was_on)
    finally:
        (gc.enable if before else gc.disable)()


def test_functions_that_only_kernels_call_have_no_machine_code() -> None:
    @inner
    def double(x: Any) -> Any:
        return 2 * x

    @inner
    def double_twice(x: Any) -> Any:
        return double(double(x))

    dispatcher = njit(pipeline_class=WholeCompiler)(lambda x: double_twice(x) + double(x))
    assert dispatcher(7) == 42
    for part in (double, double_twice):
        (compiled,) = part.overloads.values()
        assert compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name) == 0
        with pytest.raises(KeyError, match=part.py_func.__name__):
            part(1)  # a mistake that must not go unseen


def test_functions_that_only_kernels_call_may_print_and_raise(capfd: pytest.CaptureFixture[str]) -> None:
    @inner
    def check(x: Any) -> Any:
        print("checking", x)
        if x < 0:
            raise ValueError("negative")
        return x

    dispatcher = njit(pipeline_class=WholeCompiler)(lambda x: check(x) + 1)
    assert dispatcher(1) == 2
    with pytest.raises(ValueError, match="negative"):
        dispatcher(-1)
    assert capfd.readouterr().out == "checking 1\nchecking -1\n"
