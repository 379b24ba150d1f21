"""The fifteen data sets of the paper (Sec. IV and V), cleaned as the paper cleans them.

Some are made anew for every seed, some come with scikit-learn. The rest are read from a folder of `name.csv.gz` files
(a header row, the target in the last column), or fetched once with scikit-learn, which keeps what it fetches.
"""

import gzip
import os
import warnings
from collections.abc import Callable
from http.client import HTTPException
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    fetch_california_housing,
    fetch_openml,
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_circles,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_moons,
)

FOLDER_VARIABLE = "SUBLEARN_DATA"
N_EACH_CLASS = 500
N_FRIEDMAN = 1000
MOONS_GAP = 0.5  # between the two moons of make_moons
# a sample of Pima is left out where one of these is 0, that is, missing
PHYSICAL = ("glucose", "blood_pressure", "skin_thickness", "insulin", "bmi")

Floats = NDArray[np.float64]


class MissingDataError(Exception):
    """A data set is neither here nor to be fetched; the message says how to get it."""


class DataSet(NamedTuple):
    """Samples and targets; classes are 0, 1, ..."""

    X: Floats
    y: NDArray[Any]
    feature_names: list[str]


class Source(NamedTuple):
    """Where a set comes from, and what it is called in the paper."""

    title: str
    is_classes: bool
    load: Callable[[int, Path | None], DataSet]  # seed, folder
    is_bundled: bool = True  # generated or part of scikit-learn
    is_generated: bool = False  # then every seed has samples of its own


def load(name: str, seed: int = 0, folder: Path | None = None) -> DataSet:
    """A data set of the paper by its name.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    seed : int, default=0
        Generated sets are drawn from it; the others are the same for all.
    folder : Path, default=None
        Where files are; None: the folder that the variable SUBLEARN_DATA names, if any.

    Raises
    ------
    MissingDataError
        If the set is not bundled, there is no file of it, and it cannot be fetched.

    Examples
    --------
    >>> from sublearn.paper import datasets
    >>> datasets.load("wine").X.shape
    (178, 13)
    """
    return SOURCES[name].load(seed, folder)


def _circle_and_ring(seed: int, folder: Path | None) -> DataSet:
    return _plane(*make_circles(2 * N_EACH_CLASS, noise=0.2, factor=0.5, random_state=_generator_seed(seed)))


def _two_moons(seed: int, folder: Path | None) -> DataSet:
    return _plane(*make_moons(2 * N_EACH_CLASS, noise=0.3, random_state=_generator_seed(seed)))


def _four_moons(seed: int, folder: Path | None) -> DataSet:
    """Two pairs of moons, one above the other, as far apart as the two of a pair are."""
    # The circles on which the facing moons lie have radius 1 and centres (0, 0) and (1, 0.5 + rise).
    rise = sqrt((2 + MOONS_GAP) ** 2 - 1) - 0.5
    random = np.random.RandomState(_generator_seed(seed))
    low, y_low = make_moons(2 * N_EACH_CLASS, noise=0.2, random_state=random)
    high, y_high = make_moons(2 * N_EACH_CLASS, noise=0.2, random_state=random)
    return _plane(np.concatenate([low, high + np.array([0.0, rise])]), np.concatenate([y_low, y_high + 2]))


def _generator_seed(seed: int) -> int:
    """Not the seed itself, with which the samples are split afterwards."""
    return 10_000 + seed


def _plane(X: Floats, y: NDArray[Any]) -> DataSet:
    return DataSet(X, y, ["x", "y"])


def _friedman(make: Callable[..., tuple[Floats, Floats]]) -> Callable[[int, Path | None], DataSet]:
    def load(seed: int, folder: Path | None) -> DataSet:
        X, y = make(N_FRIEDMAN, random_state=_generator_seed(seed))
        return DataSet(X, y, [f"x{d + 1}" for d in range(X.shape[1])])

    return load


def _from_scikit_learn(load_bunch: Callable[[], Any]) -> Callable[[int, Path | None], DataSet]:
    def load(seed: int, folder: Path | None) -> DataSet:
        return _of_bunch(load_bunch())

    return load


def _of_bunch(bunch: Any) -> DataSet:
    return DataSet(np.asarray(bunch.data, np.float64), np.asarray(bunch.target), list(bunch.feature_names))


def _pima(seed: int, folder: Path | None) -> DataSet:
    """The 392 of 768 samples in which no measurement is missing."""
    X, y, names = read_or_fetch("pima", folder, lambda: _openml(37, is_classes=True))
    columns = names if set(PHYSICAL) <= set(names) else _PIMA_COLUMNS  # OpenML abbreviates them
    complete = (X[:, [columns.index(name) for name in PHYSICAL]] != 0).all(axis=1)
    return DataSet(X[complete], y[complete], columns)


_PIMA_COLUMNS = ["pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age"]


def _ionosphere(seed: int, folder: Path | None) -> DataSet:
    """Without the feature that is the same for all samples."""
    X, y, names = read_or_fetch("ionosphere", folder, lambda: _openml(59, is_classes=True))
    varies = X.min(axis=0) < X.max(axis=0)
    return DataSet(X[:, varies], y, [name for name, kept in zip(names, varies, strict=True) if kept])


def _banknote(seed: int, folder: Path | None) -> DataSet:
    return read_or_fetch("banknote", folder, lambda: _openml(1462, is_classes=True))


def _boston(seed: int, folder: Path | None) -> DataSet:
    return read_or_fetch("boston", folder, lambda: _openml(531, is_classes=False))


def _california(seed: int, folder: Path | None) -> DataSet:
    # OpenML's copy has other columns than the 8 of the paper
    return read_or_fetch("california_housing", folder, lambda: _of_bunch(fetch_california_housing()))


def read_or_fetch(name: str, folder: Path | None, fetch: Callable[[], DataSet]) -> DataSet:
    """A set from its file if there is one, else from where scikit-learn gets it."""
    if folder is None and FOLDER_VARIABLE in os.environ:
        folder = Path(os.environ[FOLDER_VARIABLE])
    if folder is not None and (path := folder / f"{name}.csv.gz").exists():
        try:
            return read_file(path)
        except (OSError, EOFError, ValueError) as error:
            raise MissingDataError(f"{path} is not a gzipped table of numbers ({error})") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a second try
            return fetch()
    except (OSError, ValueError, HTTPException) as error:  # no network, or an answer that is not the data
        looked = f"not in {folder}" if folder else "no folder is named"
        raise MissingDataError(
            f"{name}.csv.gz: {looked}, and scikit-learn cannot fetch it ({type(error).__name__}); name a folder that "
            f"has it with --data-dir or {FOLDER_VARIABLE}, or connect to the network"
        ) from error


def read_file(path: Path) -> DataSet:
    """A gzipped CSV: a header row, numbers, the target in the last column."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        *names, target = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    if target != "target" or table.shape[1] != len(names) + 1:
        raise ValueError(f"{path} must have a header row whose last name is target; got {target!r}.")
    y = table[:, -1]
    is_whole = (y == np.floor(y)).all()
    return DataSet(np.ascontiguousarray(table[:, :-1]), y.astype(np.int64) if is_whole else y, names)


def _openml(data_id: int, *, is_classes: bool) -> DataSet:
    bunch = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", n_retries=1)
    X = np.array(bunch.data, np.float64)
    for name, values in (bunch.categories or {}).items():  # numbers that OpenML has as categories come as their codes
        if name in bunch.feature_names:
            column = bunch.feature_names.index(name)
            X[:, column] = np.array(values, np.float64)[X[:, column].astype(np.int64)]
    y = np.unique(bunch.target, return_inverse=True)[1] if is_classes else np.asarray(bunch.target, np.float64)
    return DataSet(X, y, list(bunch.feature_names))


SOURCES: dict[str, Source] = {
    "circle-and-ring": Source("Circle-and-Ring", True, _circle_and_ring, is_generated=True),
    "2-new-moons": Source("2-new-moons", True, _two_moons, is_generated=True),
    "4-new-moons": Source("4-new-moons", True, _four_moons, is_generated=True),
    "iris": Source("Iris", True, _from_scikit_learn(load_iris)),
    "wine": Source("Wine", True, _from_scikit_learn(load_wine)),
    "breast-cancer": Source("B.C.W.", True, _from_scikit_learn(load_breast_cancer)),
    "pima": Source("Pima", True, _pima, is_bundled=False),
    "ionosphere": Source("Ionosphere", True, _ionosphere, is_bundled=False),
    "banknote": Source("Banknote", True, _banknote, is_bundled=False),
    "friedman-1": Source("Make Friedman1", False, _friedman(make_friedman1), is_generated=True),
    "friedman-2": Source("Make Friedman2", False, _friedman(make_friedman2), is_generated=True),
    "friedman-3": Source("Make Friedman3", False, _friedman(make_friedman3), is_generated=True),
    "boston": Source("Boston", False, _boston, is_bundled=False),
    "california-housing": Source("California_housing", False, _california, is_bundled=False),
    "diabetes": Source("Diabetes", False, _from_scikit_learn(load_diabetes)),
}
