"""Versions of the libraries whose results a report shows."""

from importlib.metadata import PackageNotFoundError, version

_DISTRIBUTIONS = ("sublearn", "scikit-learn", "numpy", "xgboost", "xgboost-cpu")


def _installed() -> dict[str, str]:
    found = {}
    for name in _DISTRIBUTIONS:
        try:
            found[name.removesuffix("-cpu")] = version(name)
        except PackageNotFoundError:
            continue
    return found


VERSIONS = _installed()
