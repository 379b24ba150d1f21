"""Settings for all tests."""

import os

# scikit-learn checks array-API input only where this is set, and it must be set before scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from sublearn.core import parallel
from sublearn.kernels.compilation import Kernel


@pytest.fixture(scope="session", autouse=True)
def _typed_kernels() -> Iterator[None]:
    """Kernels take arguments for what they were compiled for; here every call is held to it."""
    call = Kernel.__call__

    def checked(self: Kernel, *arguments: Any) -> Any:
        if isinstance(self.dispatcher, Dispatcher):
            assert set(self.dispatcher.overloads) <= {self.types_of(arguments)}, self.__name__
        return call(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", checked)
        yield


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide all work among threads."""
    for name in ("SMALL", "PART"):
        monkeypatch.setattr(parallel, name, 1)
    assert len(parallel.divide(np.ones(1), 30, 3)) > 3
