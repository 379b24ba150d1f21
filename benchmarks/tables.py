"""Real tables for `benchmarks/defaults.py`: those of scikit-learn, and files wherever they are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from files import FOLDER
from sublearn.paper.datasets import read_file

TEST_SHARE = 0.25


class Table(NamedTuple):
    """Samples and what is to be told of them."""

    X: Any
    y: Any  # classes are 0, 1, ...
    is_classes: bool


BUNDLED: dict[str, tuple[bool, Callable[..., Any]]] = {  # name: whether it has classes, loader
    "iris": (True, load_iris),
    "wine": (True, load_wine),
    "breast_cancer": (True, load_breast_cancer),
    "digits": (True, load_digits),
    "diabetes": (False, load_diabetes),
}
AT_HAND: dict[str, bool] = {  # files of the data folder: whether they have classes
    "pima": True,
    "ionosphere": True,
    "banknote": True,
    "bank_marketing": True,
    "higgs_sample": True,
    "spambase": True,
    "usps": True,
    "boston": False,
    "california_housing": False,
    "abalone": False,
    "bike_sharing": False,
    "kin8nm": False,
}
STUDIED: dict[str, bool] = {  # files that benchmarks/further.py writes, on which defaults were chosen too
    "german": True,
    "magic": True,
    "phoneme": True,
    "penbased": True,
    "splice": True,
    "mlc_churn": True,
    "diamonds": False,
    "concrete": False,
    "wage": False,
    "flights": False,
    "vehicle": True,
    "vowel": True,
    "banana": True,
    "chess": True,
    "saheart": True,
    "movement_libras": True,
    "leaf_id_flavia": True,
    "computers": False,
    "gapminder": False,
    "auto": False,
    "college": False,
    "car_prices": False,
    "biomass": False,
    "bdims": False,
    "airfare": False,
    "dietox": False,
    "deliveries": False,
    "produc": False,
}
CHECKED: dict[str, bool] = {  # and on which none was
    "letter": True,
    "satimage": True,
    "segment": True,
    "contraceptive": True,
    "page_blocks0": True,
    "caravan": True,
    "attrition": True,
    "cells": True,
    "ames": False,
    "sacramento": False,
    "optdigits": True,
    "texture": True,
    "ring": True,
    "twonorm": True,
    "marketing": True,
    "pd_speech": True,
    "oj": True,
    "hpc_data": True,
    "lending_club": True,
    "flchain": True,
    "australian": True,
    "led7digit": True,
    "mammographic": True,
    "tic_tac_toe": True,
    "wisconsin": True,
    "sonar": True,
    "hotel_rates": False,
    "saratogahouses": False,
    "credit": False,
    "hitters": False,
    "remifentanil": False,
    "budgetfood": False,
    "sza": False,
    "cigar": False,
    "carseats": False,
    "exam": False,
    "males": False,
    "weather": False,
}
FURTHER = STUDIED | CHECKED
GROUPS = {"hand": [*BUNDLED, *AT_HAND], "study": list(STUDIED), "check": list(CHECKED)}


def load(name: str, folders: list[Path]) -> Table | None:
    """A table by name; None if there is no file of it."""
    if name in BUNDLED:
        is_classes, loader = BUNDLED[name]
        X, y = loader(return_X_y=True)
    else:
        is_classes = AT_HAND[name] if name in AT_HAND else FURTHER[name]
        path = next((f / f"{name}.csv.gz" for f in [FOLDER, *folders] if (f / f"{name}.csv.gz").exists()), None)
        if path is None:
            return None
        X, y, _ = read_file(path)
    y = np.unique(y, return_inverse=True)[1] if is_classes else np.asarray(y, np.float64)
    return Table(np.asarray(X, np.float64), y, is_classes)


def split(table: Table, seed: int) -> tuple[Any, Any, Any, Any]:
    """Training and test samples, training and test targets."""
    stratify = table.y if table.is_classes else None
    X_train, X_test, y_train, y_test = train_test_split(
        table.X, table.y, test_size=TEST_SHARE, random_state=seed, stratify=stratify
    )
    return X_train, X_test, y_train, y_test


def n_splits(table: Table, most: int) -> int:
    """Fewer where there are many rows to test on, and fits take long."""
    n_rows = len(table.y)
    return min(most, 10 if n_rows < 2_000 else 5 if n_rows < 15_000 and table.X.size < 1_000_000 else 3)
