"""The paper's data sets, for benchmarks and tests of quality: generated, scikit-learn's, or from files.

Files are read from the folder that SUBLEARN_DATA names, by default shared/data beside the project.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import (
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

FOLDER = Path(os.environ.get("SUBLEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))
PHYSICAL = ["glucose", "blood_pressure", "skin_thickness", "insulin", "bmi"]

Load = Callable[[], tuple[Any, Any]]


class MissingDataError(Exception):
    """A file is not there."""


@cache
def read(name: str) -> pd.DataFrame:
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        raise MissingDataError(f"{path} is not there; SUBLEARN_DATA can name another folder")
    return pd.read_csv(path)


def from_file(name: str) -> tuple[Any, Any]:
    table = read(name)
    return table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy()


def pima() -> tuple[Any, Any]:
    """The 392 rows of the paper: none of what is physically positive is missing."""
    X, y = from_file("pima")
    rows = (read("pima")[PHYSICAL] != 0).all(axis=1).to_numpy()
    return X[rows], y[rows]


def ionosphere() -> tuple[Any, Any]:
    """Without the feature that is the same for all."""
    X, y = from_file("ionosphere")
    return X[:, X.std(axis=0) > 0], y


def four_moons() -> tuple[Any, Any]:
    """Four interleaving moons in a row, 500 samples each."""
    X, y = make_moons(1000, noise=0.2, random_state=0)
    X_next, y_next = make_moons(1000, noise=0.2, random_state=1)
    return np.concatenate([X, X_next + np.array([2.0, 0.0])]), np.concatenate([y, y_next + 2])


CLASSES: dict[str, Load] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "pima": pima,
    "ionosphere": ionosphere,
    "banknote": lambda: from_file("banknote"),
    "circle-and-ring": lambda: make_circles(1000, noise=0.2, factor=0.5, random_state=0),
    "2-moons": lambda: make_moons(1000, noise=0.3, random_state=0),
    "4-moons": four_moons,
}
NUMBERS: dict[str, Load] = {
    "friedman 1": lambda: make_friedman1(1000, 10, random_state=0),
    "friedman 2": lambda: make_friedman2(1000, random_state=0),
    "friedman 3": lambda: make_friedman3(1000, random_state=0),
    "boston": lambda: from_file("boston"),
    "california": lambda: from_file("california_housing"),
    "diabetes": lambda: load_diabetes(return_X_y=True),
}
