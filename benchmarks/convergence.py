"""How fast ensembles converge with the number of trees, as in the paper's Fig. 3, and why (Sec. III-A).

    python benchmarks/convergence.py
    python benchmarks/convergence.py --picture docs/convergence.png   # draws the curves of the chosen settings

On wine, breast cancer and Pima, in the mean over random 60/40 splits: the accuracy of SLM Forest and of a random
forest, the log loss of SLM Boost and of XGBoost at the same depth and learning rate, and for both forests the strength
of their trees (mean accuracy of one by itself) and how much they are alike (mean correlation of the errors of two).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from data_sets import CLASSES, MissingDataError
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostClassifier, SLMForestClassifier

Floats = NDArray[np.float64]

SETS = ["wine", "breast cancer", "pima"]
TREES = [1, 2, 3, 5, 10, 15, 20, 30, 50, 100]
N_TREES = TREES[-1]
TICKS = [1, 2, 5, 10, 20, 50, 100]
DEPTH, RATE = 6, 0.3  # XGBoost's defaults
# SLM Forest's settings: the paper searches its own for every set, and so does `choose`, on splits of their own
DENSE: dict[str, Any] = {"axis_projections": False, "n_coefficients": None, "subspace_size": 8, "min_samples_leaf": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "defaults, leaves of 15": {"min_samples_leaf": 15},
    "all features of S0": {**DENSE, "n_projections": 10, "envelope_height": 3.0, "envelope_decay": 0.0},
    "all features, 3 draws": {**DENSE, "n_projections": 3, "envelope_height": 5.0, "envelope_decay": 0.1},
}
COLOURS = ["#0072B2", "#D55E00"]


class Trees(NamedTuple):
    """The trees of a forest, each by itself."""

    strength: float
    correlation: float


class Curves(NamedTuple):
    """One row a split, one column a number of trees, or strength and correlation."""

    forest: Floats  # accuracy
    random_forest: Floats
    boost: Floats  # log loss
    xgboost: Floats
    slm_trees: Floats
    random_trees: Floats


def votes_curve(probabilities: Floats, y: Any) -> list[float]:
    """Accuracy of the first trees; probabilities (n_trees, n_samples, n_classes), classes 0, 1, ..."""
    means = np.cumsum(probabilities, axis=0) / np.arange(1, len(probabilities) + 1)[:, None, None]
    return [float(np.mean(means[n - 1].argmax(axis=1) == y)) for n in TREES]


def describe_trees(probabilities: Floats, y: Any) -> Trees:
    """Strength and correlation of the first 20 trees."""
    right = (probabilities[:20].argmax(axis=2) == y).astype(np.float64)
    varying = right[right.std(axis=1) > 0]
    pairs = np.corrcoef(varying)[np.triu_indices(len(varying), 1)] if len(varying) > 1 else np.ones(1)
    return Trees(float(right.mean()), float(pairs.mean()))


def choose(data: Any, n_splits: int) -> str:
    """The setting with which 20 trees are best in the mean over splits that are not reported on."""
    scores: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for seed in range(100, 100 + n_splits):
        X, X_test, y, y_test = train_test_split(*data, test_size=0.4, random_state=seed)
        for name, setting in SETTINGS.items():
            model = SLMForestClassifier(random_state=seed, **setting).fit(X, y)
            scores[name].append(model.score(X_test, y_test))
    return max(scores, key=lambda name: np.mean(scores[name]))


def measure(data: Any, setting: str, n_splits: int) -> Curves:
    """Curves over splits with the seeds 0, 1, ..."""
    from xgboost import XGBClassifier  # pip install 'sublearn[paper]'

    found: dict[str, list[Any]] = {name: [] for name in Curves._fields}
    for seed in range(n_splits):
        X, X_test, y, y_test = train_test_split(*data, test_size=0.4, random_state=seed)
        slm = SLMForestClassifier(n_estimators=N_TREES, random_state=seed, **SETTINGS[setting]).fit(X, y)
        peer = RandomForestClassifier(N_TREES, random_state=seed, n_jobs=-1).fit(X, y)
        for model, curve, trees in ((slm, "forest", "slm_trees"), (peer, "random_forest", "random_trees")):
            probabilities = np.array([tree.predict_proba(X_test) for tree in model.estimators_])
            found[curve].append(votes_curve(probabilities, y_test))
            found[trees].append(describe_trees(probabilities, y_test))
        both: dict[str, Any] = {"learning_rate": RATE, "max_depth": DEPTH, "random_state": seed}
        staged = list(SLMBoostClassifier(**both).fit(X, y).staged_predict_proba(X_test))
        found["boost"].append([log_loss(y_test, staged[n - 1]) for n in TREES])
        xgboost = XGBClassifier(**both).fit(X, y)
        ranges = [xgboost.predict_proba(X_test, iteration_range=(0, n)) for n in TREES]
        found["xgboost"].append([log_loss(y_test, probabilities) for probabilities in ranges])
    return Curves(**{name: np.array(values) for name, values in found.items()})


def report(name: str, curves: Curves) -> None:
    print(f"\n{name}\n{'trees':<24} " + " ".join(f"{n:>6d}" for n in TREES))
    rows = {
        "SLM Forest, accuracy": curves.forest,
        "random forest, accuracy": curves.random_forest,
        "SLM Boost, log loss": curves.boost,
        "XGBoost, log loss": curves.xgboost,
    }
    for label, values in rows.items():
        print(f"{label:<24} " + " ".join(f"{v:>6.3f}" for v in values.mean(axis=0)))
    first = curves.forest.mean(axis=0) >= curves.random_forest.mean(axis=0)[-1]
    at = TREES[int(np.argmax(first))] if first.any() else f"no number up to {N_TREES}"
    print(f"trees with which SLM Forest has what the random forest has at {N_TREES}: {at}")
    for label, trees in (("SLM Forest", curves.slm_trees), ("random forest", curves.random_trees)):
        strength, correlation = np.mean(trees, axis=0)
        print(f"trees of {label + ':':<15} strength {strength:.3f}, correlation of errors {correlation:.3f}")


def draw(found: dict[str, Curves], path: Path) -> None:
    figure = Figure(figsize=(10, 3 * len(found)), layout="constrained")
    axes = figure.subplots(len(found), 2, squeeze=False)
    for (name, curves), row in zip(found.items(), axes, strict=True):
        pairs = (
            ("accuracy", {"SLM Forest": curves.forest, "random forest": curves.random_forest}),
            ("log loss", {"SLM Boost": curves.boost, "XGBoost": curves.xgboost}),
        )
        for axis, (quantity, lines) in zip(row, pairs, strict=True):
            for (label, values), colour in zip(lines.items(), COLOURS, strict=True):
                axis.plot(TREES, values.mean(axis=0), "o-", color=colour, label=label, markersize=3)
            axis.set(title=name, xlabel="trees", ylabel=quantity, xscale="log")
            axis.set_xticks(TICKS, map(str, TICKS))
            axis.minorticks_off()
            axis.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    found = {}
    for name in SETS:
        try:
            data = CLASSES[name]()
        except MissingDataError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for setting in dict.fromkeys(["defaults", choose(data, 30)]):
            found[name] = measure(data, setting, arguments.splits)
            report(f"{name}, {setting}", found[name])
    if arguments.picture:
        draw(found, arguments.picture)


if __name__ == "__main__":
    main()
