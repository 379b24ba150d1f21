"""Data that is hard for defaults: useless features, rare or many classes, few samples, one feature that dominates.

    python benchmarks/stress.py

Mean log loss or RMSE over three draws, all with their defaults; `prior` predicts shares of classes, or the mean. Peers
that are not installed are left out, and CatBoost, which takes hours with 100 classes.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.dummy import DummyClassifier, DummyRegressor

from defaults import is_missing, make, scores

CONTENDERS = ["slm-boost", "slm-forest", "extra-trees", "xgboost", "lightgbm"]
N_DRAWS, N_TEST = 3, 5_000

Draw = Callable[[np.random.RandomState], tuple[Any, Any]]  # training samples first, then N_TEST to test on


def friedman(n: int, n_useless: int) -> Draw:
    """Five useful features."""

    def draw(random: np.random.RandomState) -> tuple[Any, Any]:
        return make_friedman1(n + N_TEST, 5 + n_useless, noise=1.0, random_state=random)  # type: ignore[no-any-return]

    return draw


def classes(n: int, **settings: Any) -> Draw:
    def draw(random: np.random.RandomState) -> tuple[Any, Any]:
        return make_classification(n + N_TEST, random_state=random, **settings)  # type: ignore[no-any-return]

    return draw


def dominated(n: int) -> Draw:
    """One feature says nearly everything, ten others say the rest."""

    def draw(random: np.random.RandomState) -> tuple[Any, Any]:
        X = random.normal(size=(n + N_TEST, 11))
        return X, 20.0 * X[:, 0] + np.sin(2.0 * X[:, 1:]).sum(axis=1) + random.normal(size=len(X))

    return draw


CASES: dict[str, tuple[int, Draw]] = {  # training samples, draw
    "5 useful features, 2,000 samples": (2_000, friedman(2_000, 0)),
    "and 500 useless ones": (2_000, friedman(2_000, 500)),
    "5 useful of two classes, 2,000 samples": (
        2_000,
        classes(2_000, n_features=5, n_informative=5, n_redundant=0, n_clusters_per_class=4),
    ),
    "and 500 useless features": (
        2_000,
        classes(2_000, n_features=505, n_informative=5, n_redundant=0, n_clusters_per_class=4),
    ),
    "a class of 1 %, 10,000 samples": (
        10_000,
        classes(10_000, n_features=10, n_informative=6, weights=[0.99], flip_y=0.002),
    ),
    "100 classes, 5,000 samples": (
        5_000,
        classes(5_000, n_features=20, n_informative=15, n_redundant=0, n_classes=100, n_clusters_per_class=1),
    ),
    "50 samples, 1,000 features": (50, classes(50, n_features=1_000, n_informative=10, class_sep=2.0)),
    "one feature dominates, 2,000 samples": (2_000, dominated(2_000)),
}


def main() -> None:
    contenders = [name for name in CONTENDERS if not is_missing(name)]
    print(f"{'':<40}{'prior':>10}" + "".join(f"{name:>15}" for name in contenders))
    for title, (n, draw) in CASES.items():
        found: dict[str, list[float]] = {}
        for seed in range(N_DRAWS):
            X, y = draw(np.random.RandomState(seed))
            is_classes = y.dtype.kind == "i"
            prior = DummyClassifier(strategy="prior") if is_classes else DummyRegressor()
            for name in ["prior", *contenders]:
                model = prior if name == "prior" else make(name, is_classes, seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of names of features, and sums of probabilities in float32
                    model.fit(X[:n], y[:n])
                    given = scores(model, X[n:], y[n:], is_classes)
                found.setdefault(name, []).append(given["log_loss" if is_classes else "rmse"])
        means = {name: float(np.mean(values)) for name, values in found.items()}
        prior_text = f"{means.pop('prior'):>10.4f}"
        print(f"{title:<40}{prior_text}" + "".join(f"{mean:>15.4f}" for mean in means.values()), flush=True)


if __name__ == "__main__":
    main()
