"""Baseline quality: SLM trees beside fully grown decision trees, over random 60/40 splits, with the defaults.

    python benchmarks/quality.py

Prints for each set the mean score of both, the depth of both, and the p value of Nadeau and Bengio's corrected
paired test; accuracy for classes, root mean squared error for numbers.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student
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
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import SLMClassifier, SLMRegressor

TEST_SHARE = 0.4

CLASSES: dict[str, Callable[[], Any]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "circle-and-ring": lambda: make_circles(1000, noise=0.2, factor=0.5, random_state=0),
    "2-moons": lambda: make_moons(1000, noise=0.3, random_state=0),
}
NUMBERS: dict[str, Callable[[], Any]] = {
    "friedman 1": lambda: make_friedman1(1000, 10, random_state=0),
    "friedman 2": lambda: make_friedman2(1000, random_state=0),
    "friedman 3": lambda: make_friedman3(1000, random_state=0),
    "diabetes": lambda: load_diabetes(return_X_y=True),
}


class Comparison(NamedTuple):
    """Scores (n_splits, 2) and depths (n_splits, 2) of SLM and decision tree."""

    scores: Any
    depths: Any


def compare(data: Any, slm: Any, peer: Any, n_splits: int) -> Comparison:
    X, y = data
    scores, depths = [], []
    for seed in range(n_splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
        ours = slm.set_params(random_state=seed).fit(X_train, y_train)
        theirs = peer.set_params(random_state=seed).fit(X_train, y_train)
        metric = accuracy_score if hasattr(ours, "classes_") else root_mean_squared_error
        scores.append([metric(y_test, model.predict(X_test)) for model in (ours, theirs)])
        depths.append([ours.depth_, theirs.get_depth()])
    return Comparison(np.array(scores), np.array(depths))


def corrected_p_value(differences: Any) -> float:
    """Two-sided p value of Nadeau and Bengio's corrected resampled t test."""
    n = len(differences)
    variance = differences.var(ddof=1) * (1 / n + TEST_SHARE / (1 - TEST_SHARE))
    if variance == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * student.sf(abs(differences.mean()) / np.sqrt(variance), n - 1))


def report(sets: dict[str, Callable[[], Any]], slm: Any, peer: Any, n_splits: int) -> None:
    print(f"{'set':<16} {type(slm).__name__:>14} {type(peer).__name__:>24} {'p':>8}   mean depths")
    means = []
    for name, load in sets.items():
        found = compare(load(), slm, peer, n_splits)
        ours, theirs = found.scores.mean(axis=0)
        p = corrected_p_value(found.scores[:, 0] - found.scores[:, 1])
        depths = found.depths.mean(axis=0)
        print(f"{name:<16} {ours:>14.4f} {theirs:>24.4f} {p:>8.3f}   {depths[0]:.1f} / {depths[1]:.1f}")
        means.append((ours, theirs))
    print("{:<16} {:>14.4f} {:>24.4f}".format("mean", *np.mean(means, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    splits = parser.parse_args().splits
    report(CLASSES, SLMClassifier(), DecisionTreeClassifier(criterion="entropy"), splits)
    report(NUMBERS, SLMRegressor(), DecisionTreeRegressor(), splits)


if __name__ == "__main__":
    main()
