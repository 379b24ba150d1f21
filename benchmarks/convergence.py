"""How fast ensembles converge with the number of trees, as in the paper's Fig. 5, and why (Sec. III-A).

    python benchmarks/convergence.py
    python benchmarks/convergence.py --picture docs/convergence.png   # draws the curves of the chosen settings

The curves are those of `sublearn reproduce`, in the mean over random 60/40 splits, for the defaults of SLM Forest and
for the best of four settings. For both forests also the strength of their trees (mean accuracy of one by itself) and
how much they are alike (mean correlation of the errors of two).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from files import sets_of
from sublearn import SLMForestClassifier
from sublearn.paper import figures, search
from sublearn.paper.convergence import N_TREES, SETS, TREES, Curves, curves, tree_probabilities
from sublearn.paper.datasets import SOURCES, DataSet

Floats = NDArray[np.float64]

# SLM Forest's settings: the paper searches its own for every set, and so does `choose`, on splits of their own
DENSE: dict[str, Any] = {"axis_projections": False, "n_coefficients": None, "subspace_size": 8, "min_samples_leaf": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "defaults, leaves of 15": {"min_samples_leaf": 15},
    "all features of S0": {**DENSE, "n_projections": 10, "envelope_height": 3.0, "envelope_decay": 0.0},
    "all features, 3 draws": {**DENSE, "n_projections": 3, "envelope_height": 5.0, "envelope_decay": 0.1},
}
N_DESCRIBED = 20  # trees whose strength and correlation are shown


class Trees(NamedTuple):
    """The trees of a forest, each by itself."""

    strength: float
    correlation: float


class Results(NamedTuple):
    """Curves, arrays (n_splits, n_numbers), and the trees of both forests, (n_splits, 2)."""

    curves: dict[str, Floats]  # by the fields of Curves
    slm_trees: Floats
    random_trees: Floats


def choose(data: DataSet, n_splits: int) -> str:
    """The setting with which 20 trees are best in the mean over splits that are not reported on."""
    scores: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for seed in range(100, 100 + n_splits):
        parts = search.split(data, seed)
        for name, setting in SETTINGS.items():
            model = SLMForestClassifier(random_state=seed, **setting).fit(parts.X_train, parts.y_train)
            scores[name].append(model.score(parts.X_test, parts.y_test))
    return max(scores, key=lambda name: np.mean(scores[name]))


def measure(data: DataSet, setting: dict[str, Any], n_splits: int) -> Results:
    """Over splits with the seeds 0, 1, ..."""
    drawn, slm, peer = [], [], []
    for seed in range(n_splits):
        parts = search.split(data, seed)
        drawn.append(curves(parts, seed, **setting))
        few: dict[str, Any] = {"n_estimators": N_DESCRIBED, "random_state": seed}
        slm.append(describe_trees(SLMForestClassifier(**few, **setting), parts))
        peer.append(describe_trees(RandomForestClassifier(**few), parts))
    by_name = zip(Curves._fields, zip(*drawn, strict=True), strict=True)
    return Results({name: np.array(values) for name, values in by_name}, np.array(slm), np.array(peer))


def describe_trees(forest: Any, parts: search.Split) -> Trees:
    right = (tree_probabilities(forest, parts).argmax(axis=2) == parts.y_test).astype(np.float64)
    varying = right[right.std(axis=1) > 0]
    pairs = np.corrcoef(varying)[np.triu_indices(len(varying), 1)] if len(varying) > 1 else np.ones(1)
    return Trees(float(right.mean()), float(pairs.mean()))


def report(name: str, results: Results) -> None:
    print(f"\n{name}\n{'trees':<24} " + " ".join(f"{n:>6d}" for n in TREES))
    means = {field: values.mean(axis=0) for field, values in results.curves.items()}
    rows = {
        "SLM Forest, accuracy": means["forest"],
        "random forest, accuracy": means["random_forest"],
        "SLM Boost, log loss": means["boost"],
        "XGBoost, log loss": means["xgboost"],
    }
    for label, values in rows.items():
        print(f"{label:<24} " + " ".join(f"{v:>6.3f}" for v in values))
    reached = means["forest"] >= means["random_forest"][-1]
    at = TREES[int(np.argmax(reached))] if reached.any() else f"no number up to {N_TREES}"
    print(f"trees with which SLM Forest has what the random forest has at {N_TREES}: {at}")
    for label, trees in (("SLM Forest", results.slm_trees), ("random forest", results.random_trees)):
        strength, correlation = trees.mean(axis=0)
        print(f"trees of {label + ':':<15} strength {strength:.3f}, correlation of errors {correlation:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    chosen: list[figures.Convergence] = []
    for name, data in sets_of(SETS):
        for setting in dict.fromkeys(["defaults", choose(data, 30)]):
            results = measure(data, SETTINGS[setting], arguments.splits)
            report(f"{name}, {setting}", results)
        chosen.append(figures.Convergence(SOURCES[name].title, np.array(TREES), **results.curves))
    if arguments.picture:
        figures.convergence(chosen).savefig(arguments.picture, dpi=100)


if __name__ == "__main__":
    main()
