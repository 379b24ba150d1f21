"""Settings for all tests."""

import os

# scikit-learn checks array-API input only where this is set, and it must be set before scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

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
