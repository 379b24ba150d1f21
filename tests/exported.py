"""What the tests of exporters share: fitted models of every kind, each with samples that try it."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_iris, load_wine

from naive import Array
from sublearn import (
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

IRIS, WINE, DIABETES = (load(return_X_y=True) for load in (load_iris, load_wine, load_diabetes))
FEW: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "n_jobs": 1}
BOOST: dict[str, Any] = FEW | {"learning_rate": 0.3, "l2_regularization": 1.0, "max_depth": 3, "min_samples_leaf": 3}
LINEAR, CONSTANT = BOOST | {"leaf": "linear"}, BOOST | {"leaf": "constant"}


class Case(NamedTuple):
    """A fitted model, and samples to try it with."""

    model: Any
    X: Any

    def expected(self) -> Array:
        """Probabilities (n_samples, n_classes), or numbers (n_samples, 1)."""
        if hasattr(self.model, "classes_"):
            return np.asarray(self.model.predict_proba(self.X))
        return np.asarray(self.model.predict(self.X))[:, None]


def with_gaps(X: Array, seed: int = 0) -> Array:
    """The same with some values missing."""
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.15] = np.nan
    return X


def trying(X: Array, seed: int = 0) -> Array:
    """Samples as they are, moved a little, next to each other in floats, far out, at zero, and with nothing known."""
    random = np.random.default_rng(seed)
    moved = X + random.normal(size=X.shape) * np.nanstd(X, axis=0)
    ends = [np.full((1, X.shape[1]), value) for value in (0.0, -0.0, 1e300, -1e300, 5e-324, np.nan)]
    return np.concatenate([X, moved, np.nextafter(X, np.inf), np.nextafter(X, -np.inf), *ends])


def counts(y: Array) -> Array:
    """Whole numbers from others, some of them 0."""
    whole: Array = np.floor((y - y.min()) / 40.0)
    return whole


def heavy_tailed(seed: int = 0) -> tuple[Array, Array]:
    """Features over many decades, one of them constant, one nearly so; numbers as large as prices."""
    random = np.random.default_rng(seed)
    X = np.exp(random.normal(size=(300, 5)) * [3.0, 8.0, 0.1, 1.0, 1.0])
    X[:, 3], X[:, 4] = 7.5, np.where(random.random(300) < 0.02, 4.0, 1e-9)
    return X, 1e5 * np.log1p(X[:, 0]) + 1e3 * np.log(X[:, 1]) + X[:, 2]


def mixed_table(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """Text with quotes and gaps, numbers with gaps, a category of numbers, a column called like an answer."""
    random = np.random.default_rng(seed)
    towns = np.array(["O'Hara", 'say "hi"', "Zürich", "back\\slash", "a;b--", "*/ ??=", "NAME"], object)
    town = towns[random.integers(0, 7, n)]
    known = town.copy()
    known[random.random(n) < 0.1] = None
    frame = pd.DataFrame(
        {
            "town of birth": known,
            "value": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "N_VIEWS of NAME": random.normal(size=n),
            "rooms": random.integers(1, 5, n).astype(np.float64),
            "kind": np.array(["x", "y"], object)[random.integers(0, 2, n)],
        }
    )
    y = 3.0 * (town == "Zürich") + frame["rooms"] + np.nan_to_num(frame["value"]) * (frame["kind"] == "x")
    return frame, y.to_numpy(np.float64)


def trying_table() -> pd.DataFrame:
    """Rows of such a table with levels that were not there, and with nothing known."""
    frame, _ = mixed_table(seed=1)
    frame = frame.astype({"town of birth": object, "kind": object})
    frame.loc[:5, "town of birth"] = "elsewhere"
    frame.loc[3:8, "kind"] = None
    frame.loc[10:13, "rooms"] = 17.0
    frame.loc[14:16, "rooms"] = np.nan
    return frame


def _mixed(model: Any, is_classes: bool = False) -> Case:
    X, y = mixed_table()
    model.set_params(categorical_features=["town of birth", "rooms", "kind"])
    return Case(model.fit(X, np.where(y > 3.0, "many", "few") if is_classes else y), trying_table())


def _numbered(model: Any) -> Case:
    """Categories that are numbers, in an array."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 6, 200) / 10, random.normal(size=200), random.integers(-1, 2, 200)])
    X[:9, 0] = np.nan
    y = (X[:, 0] == 0.3) * 2.0 + X[:, 1] * (X[:, 2] == 0)
    tried = X.copy()
    tried[::7, 0], tried[3::7, 2] = 0.35, np.nan
    return Case(model.set_params(categorical_features=[0, 2]).fit(X, y), tried)


def _fit(model: Any, data: tuple[Array, Array], gaps: bool = False) -> Case:
    X = with_gaps(data[0]) if gaps else data[0]
    return Case(model.fit(X, data[1]), trying(X))


TWO = (IRIS[0], np.where(IRIS[1] == 0, "setosa", 'the "others"'))
COUNTS = (DIABETES[0], counts(DIABETES[1]))
CASES: dict[str, Callable[[], Case]] = {
    "tree of classes": lambda: _fit(SLMClassifier(random_state=0), IRIS),
    "tree of three planes a node": lambda: _fit(SLMRegressor(random_state=0, max_partitions=3), DIABETES),
    "tree with gaps": lambda: _fit(SLMRegressor(random_state=0, max_partitions=2), DIABETES, gaps=True),
    "tree of one leaf": lambda: _fit(SLMRegressor(min_samples_split=1000), DIABETES),
    "tree of one class": lambda: _fit(SLMClassifier(), (IRIS[0], np.zeros(150, np.int64))),
    "tree along axes": lambda: _fit(SLMClassifier(n_projections=0, fitted_projections=0, random_state=0), WINE),
    "forest of classes": lambda: _fit(SLMForestClassifier(**FEW, voting="soft"), WINE),
    "forest of hard votes": lambda: _fit(SLMForestClassifier(**FEW, voting="hard"), (WINE[0], WINE[1] * 2.0)),
    "forest of numbers": lambda: _fit(SLMForestRegressor(**FEW), heavy_tailed()),
    "forest with gaps": lambda: _fit(SLMForestClassifier(**FEW), TWO, gaps=True),
    "boosting of two classes": lambda: _fit(SLMBoostClassifier(**CONSTANT), TWO),
    "boosting of three classes": lambda: _fit(SLMBoostClassifier(**CONSTANT), WINE, gaps=True),
    "boosting of one class": lambda: _fit(SLMBoostClassifier(**CONSTANT), (IRIS[0], np.full(150, True))),
    "linear leaves of three classes": lambda: _fit(SLMBoostClassifier(**LINEAR), WINE),
    "linear leaves of a class a tree": lambda: _fit(
        SLMBoostClassifier(**LINEAR, multiclass="separate"), IRIS, gaps=True
    ),
    "linear leaves": lambda: _fit(SLMBoostRegressor(**LINEAR), heavy_tailed(), gaps=True),
    "two models of linear leaves": lambda: _fit(SLMBoostRegressor(**LINEAR, n_models=2), heavy_tailed(), gaps=True),
    "three models of three classes": lambda: _fit(SLMBoostClassifier(**LINEAR, n_models=3), WINE),
    "three models of a class a tree": lambda: _fit(
        SLMBoostClassifier(**LINEAR, n_models=3, multiclass="separate"), IRIS, gaps=True
    ),
    "constant leaves": lambda: _fit(SLMBoostRegressor(**CONSTANT), heavy_tailed()),
    "quantiles as codes": lambda: _fit(SLMBoostRegressor(**LINEAR, feature_map="quantile"), DIABETES),
    "absolute error": lambda: _fit(SLMBoostRegressor(**BOOST, loss="absolute_error"), DIABETES),
    "quantile": lambda: _fit(SLMBoostRegressor(**BOOST, loss="quantile", quantile=0.9), DIABETES),
    "huber": lambda: _fit(SLMBoostRegressor(**BOOST, loss="huber"), DIABETES),
    "poisson": lambda: _fit(SLMBoostRegressor(**BOOST, loss="poisson"), COUNTS),
    "gamma": lambda: _fit(SLMBoostRegressor(**BOOST, loss="gamma"), DIABETES),
    "tree of a mixed table": lambda: _mixed(SLMRegressor(random_state=0)),
    "forest of a mixed table": lambda: _mixed(SLMForestClassifier(**FEW), is_classes=True),
    "boosting of a mixed table": lambda: _mixed(SLMBoostRegressor(**LINEAR)),
    "categories of numbers": lambda: _numbered(SLMBoostRegressor(**CONSTANT)),
    "average of classifiers": lambda: _fit(
        SLMAverageClassifier([SLMForestClassifier(**FEW), SLMBoostClassifier(**LINEAR)], weights=[2, 1]),
        WINE,
        gaps=True,
    ),
    "average of regressors": lambda: _fit(
        SLMAverageRegressor([SLMRegressor(random_state=0), SLMBoostRegressor(**LINEAR)]), DIABETES
    ),
}


@cache
def case(name: str) -> Case:
    """One of `CASES`; fitted once."""
    return CASES[name]()
