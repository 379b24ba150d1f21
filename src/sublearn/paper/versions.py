"""Versions of the libraries whose results a report shows."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

_DISTRIBUTIONS = ("sublearn", "scikit-learn", "numpy", "numba", "xgboost", "xgboost-cpu")


def installed(distributions: Iterable[str]) -> dict[str, str]:
    """Versions of those of some distributions that are installed."""
    found = {}
    for name in distributions:
        try:
            found[name.removesuffix("-cpu")] = version(name)
        except PackageNotFoundError:
            continue
    return found


VERSIONS = installed(_DISTRIBUTIONS)
