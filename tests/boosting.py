"""What the tests of boosting share: tasks with data, quick settings, comparisons."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.datasets import load_iris

from naive import Array
from sublearn import Loss, SLMBoostClassifier, SLMBoostRegressor
from sublearn.core.keys import key_below
from support import same_trees

IRIS = load_iris(return_X_y=True)
QUICK: dict[str, Any] = {
    "n_estimators": 8,
    "learning_rate": 0.3,
    "l2_regularization": 1.0,
    "min_child_weight": 1.0,
    "min_gain": 0.0,
    "subsample": 1.0,
    "leaf": "constant",
    "max_depth": 3,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "n_bins": 16,
    "subspace": "top",
    "subspace_size": 8,
    "n_projections": 40,
    "fitted_projections": 0,
    "n_coefficients": 2,
    "selection_decay": 0.5,
    "envelope_height": 2.5,
    "envelope_decay": 0.2,
    "max_partitions": 1,
    "random_state": 0,
}
LOSSES = ("squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma")
TASKS = (*LOSSES, "two classes", "three classes")
N = 200
STUMP: dict[str, Any] = {
    "n_estimators": 1,
    "learning_rate": 0.5,
    "l2_regularization": 1.0,
    "min_child_weight": 0.0,
    "min_gain": 0.0,
    "subsample": 1.0,
    "leaf": "constant",
    "max_depth": 1,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "n_bins": 16,
    "init": "data",
    "random_state": 0,
}
FOUR = np.arange(4.0)[:, None]


def make(task: str, **changes: Any) -> Any:
    """An estimator for one of `TASKS`."""
    settings = QUICK | changes
    if task in LOSSES:
        return SLMBoostRegressor(**{"loss": task} | settings)
    return SLMBoostClassifier(**settings)


def data_for(task: str, seed: int = 0, n: int = N) -> tuple[Array, Array]:
    """Friedman's first function, as numbers, counts, amounts or classes; four features matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 5))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3]
    if task == "poisson":
        return X, rng.poisson(np.exp((signal - 8) / 4)).astype(float)
    if task == "gamma":
        return X, np.exp((signal - 8) / 4) * rng.gamma(2.0, 0.5, n)
    if task == "two classes":
        return X, (signal + 2 * rng.normal(size=n) > 9).astype(int)
    if task == "three classes":
        return X, np.digitize(signal + 1.5 * rng.normal(size=n), [7, 11])
    return X, signal + rng.normal(size=n)


def noise_for(task: str, n: int = 400) -> tuple[Array, Array]:
    """Features that say nothing of the target."""
    X, y = data_for(task, n=n)
    return np.random.default_rng(7).uniform(size=X.shape), y


def raw_of(model: Any, X: Any) -> Array:
    """What is compared to the bit."""
    raw: Array = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return raw


def same_model(a: Any, b: Any, X: Any) -> bool:
    """Whether two fitted models are equal to the last bit."""
    pairs = [(a.ensemble_.roots, b.ensemble_.roots), *zip(a.feature_maps_, b.feature_maps_, strict=True)]
    pairs += [(raw_of(a, X), raw_of(b, X)), (a.n_iter_, b.n_iter_)]
    return same_trees(a.ensemble_.nodes, b.ensemble_.nodes) and all(np.array_equal(x, y) for x, y in pairs)


def same_scores(a: Any, b: Any) -> bool:
    return np.array_equal(a.train_score_, b.train_score_) and np.array_equal(a.validation_score_, b.validation_score_)


def key_of_round(model: Any, number: int) -> int:
    """Key of what is drawn in a round."""
    return key_below(model._drawn_from, number)


def below(nodes: Any, node: int, leaves: Array) -> Array:
    """Which samples reach a node, when they end in these leaves."""
    reached: Array = leaves == node
    at = leaves
    while (at >= 0).any():
        at = np.where(at >= 0, nodes.parent[at], -1)
        reached = reached | (at == node)
    return reached


class OwnSquares(Loss):
    """As a user would write it."""

    def values(self, y: Array, raw: Array) -> Array:
        values: Array = 0.5 * (y - raw) ** 2
        return values

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return raw - y, None


class Focal(Loss):
    """-(1 - p)^2 log p, p the probability of the sample's class; for the curvature that of log loss stands in."""

    def probabilities(self, raw: Array) -> Array:
        two: Array = np.column_stack([-raw / 2, raw / 2]) if raw.ndim == 1 else raw
        shares: Array = softmax(two, axis=1)
        return shares

    def values(self, y: Array, raw: Array) -> Array:
        p = self.probabilities(raw)[np.arange(len(y)), y.astype(int)]
        values: Array = -((1 - p) ** 2) * np.log(p)
        return values

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        all_p = self.probabilities(raw)
        p = all_p[np.arange(len(y)), y.astype(int)]
        by_p = 2 * (1 - p) * np.log(p) - (1 - p) ** 2 / p
        if raw.ndim == 1:
            return by_p * p * (1 - p) * (2 * y - 1), p * (1 - p)
        own = np.eye(raw.shape[1])[y.astype(int)]
        return (by_p * p)[:, None] * (own - all_p), all_p * (1 - all_p)


class OwnError(Exception):
    pass


def failing(at: int) -> Callable[[Any], Any]:
    """A function that gives back what it gets, and raises at the given call."""
    calls = []

    def answer(right: Any) -> Any:
        calls.append(1)
        if len(calls) == at:
            raise OwnError("mine")
        return right

    return answer


class Recorder(OwnSquares):
    """Notes the targets that it is asked about."""

    def __init__(self) -> None:
        self.trained: set[float] = set()
        self.measured: set[float] = set()

    def values(self, y: Array, raw: Array) -> Array:
        self.measured |= set(y.tolist())
        return super().values(y, raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        self.trained |= set(y.tolist())
        return super().derivatives(y, raw)
