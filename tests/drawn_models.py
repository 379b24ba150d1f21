"""Fitted models that displays are tried on: small and large ones, of all kinds."""

from functools import cache
from typing import Any

import numpy as np

from naive import Array
from sublearn import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMForestClassifier, SLMRegressor

LONG = [f"measurement of sensor number {f:3d} in the north wing, its mean" for f in range(300)]  # 60 characters
LETTERS = np.array([chr(65 + k) for k in range(26)])


@cache
def samples() -> tuple[Array, Array]:
    """Samples of 300 features, and a number that a few of them make."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 300))
    return X, X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] + 0.3 * rng.normal(size=len(X))


def classes_of(y: Array, n: int) -> Array:
    """Letters by the order of some numbers, all about as frequent."""
    return LETTERS[(y.argsort().argsort() * n // len(y))]


@cache
def mixed() -> tuple[Any, Array]:
    """A table with a category of many levels, one of two, a heavy tail, gaps, and names that mean something to TeX."""
    import pandas as pd

    rng = np.random.default_rng(1)
    n = 400
    names = ["red", "green", "a rather long name of a colour that few would use", "_blue", "violet", "white", "grey"]
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(names, n)),
            "sex": pd.Categorical(rng.choice(["m", "f"], n)),
            "income": np.exp(2 * rng.normal(size=n) + 8),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 10, n)),
            "$price$ of_it": rng.normal(size=n),
        }
    )
    y = 2 * (frame.colour.astype(str) < "green") + 0.5 * np.log(frame.income) + frame.age.fillna(20) / 10
    return frame, np.asarray(y + (frame.sex == "m") + frame["$price$ of_it"])


@cache
def models() -> dict[str, tuple[Any, Any, Any]]:
    """Fitted models with their samples and targets: small and large, of all kinds."""
    X, y = samples()
    few, all_names = X[:, :3], classes_of(y, 26)
    return {
        "3 features, 2 classes": _fit(SLMClassifier(max_depth=4, random_state=0), few, classes_of(y, 2)),
        "3 features, 26 classes": _fit(SLMClassifier(max_depth=4, random_state=0), few, all_names),
        "300 features, 2 classes": _fit(SLMClassifier(max_depth=5, random_state=0), X, classes_of(y, 2)),
        "300 features, 26 classes": _fit(SLMClassifier(max_depth=5, random_state=0), X, all_names),
        "300 features, numbers": _fit(SLMRegressor(max_depth=5, random_state=0), X, y),
        "several hyperplanes": _fit(
            SLMClassifier(max_partitions=4, max_cosine=0.9, effective_ratio=0.1, max_depth=2, random_state=0),
            X[:, :12],
            classes_of(y, 4),
        ),
        "categories and gaps": _fit(SLMRegressor(max_depth=4, min_samples_leaf=10, random_state=0), *mixed()),
        "forest": _fit(SLMForestClassifier(n_estimators=3, max_depth=5, random_state=0), X[:, :20], classes_of(y, 3)),
        "boosting of 26 classes": _fit(
            SLMBoostClassifier(n_estimators=3, learning_rate=0.2, leaf="linear", random_state=0), X[:, :20], all_names
        ),
        "boosting of numbers": _fit(
            SLMBoostRegressor(n_estimators=4, learning_rate=0.2, leaf="constant", random_state=0), *mixed()
        ),
    }


def _fit(model: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
    return model.set_params(n_jobs=1).fit(X, y), X, y


CASES = (
    "3 features, 2 classes",
    "3 features, 26 classes",
    "300 features, 2 classes",
    "300 features, 26 classes",
    "300 features, numbers",
    "several hyperplanes",
    "categories and gaps",
    "forest",
    "boosting of 26 classes",
    "boosting of numbers",
)


def tree_of(model: Any) -> int | None:
    """The number of a tree, where one must be given."""
    return None if hasattr(model, "tree_") else 1


def long_names(X: Any) -> list[str] | None:
    """Names of 60 characters for samples that have none of their own."""
    return LONG[: X.shape[1]] if isinstance(X, np.ndarray) else None
