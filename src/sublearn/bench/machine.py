"""What the figures were taken on: cores, processor, load, and versions of the libraries."""

import os
import platform
from pathlib import Path
from typing import Any

from joblib import cpu_count

from sublearn.bench.contenders import PEERS
from sublearn.paper.versions import installed

_DISTRIBUTIONS = ("sublearn", "numpy", "numba", *PEERS, "xgboost-cpu")


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that are installed."""
    return {"python": platform.python_version(), **installed(_DISTRIBUTIONS)}


def machine() -> dict[str, Any]:
    """Cores, processor, system, and the load of the last one, five and fifteen minutes."""
    loads = list(os.getloadavg()) if hasattr(os, "getloadavg") else []
    return {"cores": cpu_count(), "cpu": _cpu(), "system": platform.platform(), "load": loads}


def _cpu() -> str:
    """Name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
