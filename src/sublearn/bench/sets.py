"""The data: five sets on which times to a loss are taken, and generated ones of any size for the growth."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from sublearn.kernels.layout import Array
from sublearn.paper import datasets
from sublearn.paper.datasets import FOLDER_VARIABLE, MissingDataError

TEST_SHARE = 0.25
N_SYNTHETIC, N_FEATURES = 200_000, 30


class Source(NamedTuple):
    """Where a set comes from."""

    title: str
    is_classes: bool
    load: Callable[[int | None, Path | None], tuple[Array, Array]]  # rows at most (None: all), folder


class Split(NamedTuple):
    """A set, split at random into three quarters to learn from and one to test on."""

    name: str
    title: str
    is_classes: bool
    X_train: Array
    X_test: Array
    y_train: Array
    y_test: Array

    @property
    def loss_name(self) -> str:
        """What `loss` returns."""
        return "log loss" if self.is_classes else "RMSE"

    def loss(self, predictions: Array) -> float:
        """Test loss of probabilities or numbers."""
        if not self.is_classes:
            return float(np.sqrt(np.mean((predictions - self.y_test) ** 2)))
        given = np.asarray(predictions, np.float64)[np.arange(len(self.y_test)), self.y_test]
        return float(-np.mean(np.log(np.maximum(given, 1e-15))))

    def accuracy(self, predictions: Array) -> float | None:
        """Share of the test samples whose class is right; None for numbers."""
        return float(np.mean(predictions.argmax(axis=1) == self.y_test)) if self.is_classes else None


def load(name: str, n_rows: int | None, folder: Path | None, seed: int) -> Split:
    """A set by its name, of so many rows at most; raises MissingDataError where there is no file of it."""
    source = SOURCES[name]
    X, y = source.load(n_rows, folder)
    if n_rows is not None and len(X) > n_rows:
        rows = np.random.default_rng(0).permutation(len(X))[:n_rows]
        X, y = X[rows], y[rows]
    y = y.astype(np.int64 if source.is_classes else np.float64)
    parts = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    return Split(name, source.title, source.is_classes, *parts)


def synthetic(n_rows: int) -> tuple[Array, Array]:
    """Two classes, 30 features of which half are informative."""
    X, y = make_classification(n_rows, N_FEATURES, n_informative=15, n_redundant=5, class_sep=0.8, random_state=0)
    return X, y


def many(n_rows: int, n_features: int, n_classes: int) -> tuple[Array, Array]:
    """Classes in any number of features, ten at least."""
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=min(n_features, 15),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.8,
        random_state=0,
    )
    return X, y


def _synthetic(n_rows: int | None, folder: Path | None) -> tuple[Array, Array]:
    return synthetic(N_SYNTHETIC if n_rows is None else n_rows)


def _california(n_rows: int | None, folder: Path | None) -> tuple[Array, Array]:
    data = datasets.load("california-housing", folder=folder)
    return data.X, data.y


def _file(name: str) -> Callable[[int | None, Path | None], tuple[Array, Array]]:
    def read(n_rows: int | None, folder: Path | None) -> tuple[Array, Array]:
        folder = folder or Path(os.environ.get(FOLDER_VARIABLE) or ".")
        path = folder / f"{name}.csv.gz"
        try:
            data = datasets.read_file(path)
        except (OSError, EOFError, ValueError) as error:
            raise MissingDataError(
                f"{path} is not there or not a gzipped table of numbers; name a folder that has it with --data-dir or "
                f"{FOLDER_VARIABLE}"
            ) from error
        return data.X, data.y

    return read


SOURCES: dict[str, Source] = {
    "california": Source("California", False, _california),
    "bike_sharing": Source("Bike sharing", False, _file("bike_sharing")),
    "bank_marketing": Source("Bank marketing", True, _file("bank_marketing")),
    "kin8nm": Source("kin8nm", False, _file("kin8nm")),
    "synthetic": Source("Synthetic", True, _synthetic),
}
