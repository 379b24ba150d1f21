"""Settings for all tests, and what several of them begin with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# scikit-learn checks array-API input only where this is set, and it must be set before scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# threads of scikit-learn's and XGBoost's that wait for work leave the cores to the other tests; read when they start
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from documents import ROOT
from sublearn.core import parallel

# the same cases every time, and none that fails since the machine is busy
settings.register_profile("all", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("all")


pytest_plugins = ["clusters"]  # fixtures of tests/dask

N_QUICK = 3  # tests of a file, each with the first of its parameters: most files begin with what is checked by hand
SLOW = (
    "test_bench.py",
    "test_compiling.py",
    "test_fuzz.py",
    "test_interrupt.py",
    "test_quality.py",
    "test_reproduce.py",
    "test_startup.py",
)


# tests that share what takes long to make; they come first, when no process takes over what another has before it
SHARING = ("test_startup.py", "test_interrupt.py", "test_bench.py")


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """No figure of pyplot's outlives its test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only the first tests of every file that is not slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests in order, and choose some of every part where --quick asks for it."""
    items.sort(key=lambda item: item.path.name not in SHARING)
    if not config.getoption("--quick"):
        return
    taken: dict[Path, set[str]] = {}
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        names, name = taken.setdefault(item.path, set()), item.name.partition("[")[0]
        is_wanted = item.path.name not in SLOW and name not in names and len(names) < N_QUICK
        names |= {name} if is_wanted else set()
        (chosen if is_wanted else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide all work among threads."""
    for name in ("SMALL", "PART", "HANDING"):
        monkeypatch.setattr(parallel, name, 1)
    assert len(parallel.divide(np.ones(1), 30, 3)) > 3


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is given to others, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], check=True)
    (path,) = folder.iterdir()
    return path
