"""Versions of the libraries whose results a report shows."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from sublearn import __version__

_DISTRIBUTIONS = ("sublearn", "scikit-learn", "numpy", "numba", "xgboost", "xgboost-cpu")


def installed(distributions: Iterable[str]) -> dict[str, str]:
    """Versions of those of some distributions that are installed; of ours, that of this code."""
    found = {}
    for name in distributions:
        try:
            found[name.removesuffix("-cpu")] = __version__ if name == "sublearn" else version(name)
        except PackageNotFoundError:
            continue
    return found


VERSIONS = installed(_DISTRIBUTIONS)
