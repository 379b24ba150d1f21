"""Settings for all tests, and what several of them begin with."""

import os
import subprocess
import sys
from pathlib import Path

# scikit-learn checks array-API input only where this is set, and it must be set before scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from documents import ROOT
from sublearn.core import parallel

# the same cases every time, and none that fails since the machine is busy
settings.register_profile("all", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("all")


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide all work among threads."""
    for name in ("SMALL", "PART"):
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
