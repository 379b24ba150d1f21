"""Small models of all six estimators, and digests of all their bits.

The data come from integer arithmetic, so that no library can change them. `python tests/pinned.py` writes the digests
of the models that this source fits into tests/pinned.json: for a change that is meant to change models.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naive import Array
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

PINNED = Path(__file__).with_suffix(".json")
MAPPED = ("units", "offsets", "knots", "levels", "slopes", "per_deviation")  # of the maps of numbers
N, N_FEATURES = 600, 8
FEW: dict[str, Any] = {"n_estimators": 3, "learning_rate": 0.1, "max_depth": 4}
TRIED: dict[str, Any] = {"n_estimators": 5, "max_depth": 3}  # how far to learn is found by trials
ROUNDS: dict[str, Any] = {
    "n_coefficients": [1, 2, 4],
    "selection_decay": [0.2, 0.4, 0.6],
    "envelope_decay": [0.1, 0.2, 0.3],
}


class Given(NamedTuple):
    """Samples with several kinds of targets."""

    X: Array
    numbers: Array
    two: Array
    three: Array
    counts: Array
    weights: Array


def scrambled(n: int, seed: int) -> Array:
    """Numbers from 0 up to 1, in steps of 2**-24, that look drawn: the upper bits of splitmix64."""
    z = np.arange(seed << 32, (seed << 32) + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    shares: Array = ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype(np.float64) * 2.0**-24
    return shares


def given() -> Given:
    X = np.stack([scrambled(N, seed) - 0.5 for seed in range(1, N_FEATURES + 1)], axis=1)
    X[:, 3] = np.ldexp(X[:, 3], (16.0 * scrambled(N, 21)).astype(np.int32))  # heavy tails
    X[:, 4] = np.floor(4.0 * X[:, 4])
    noise = scrambled(N, 22) - 0.5
    numbers = X[:, 0] + 4.0 * X[:, 1] * X[:, 2] + 0.25 * X[:, 4] + 0.5 * noise
    two, three = (numbers > 0.0).astype(np.int64), (numbers > -0.25).astype(np.int64) + (numbers > 0.25)
    counts = np.floor(8.0 * scrambled(N, 23) * (numbers - numbers.min()))
    return Given(X, numbers, two, three, counts, weights=np.floor(8.0 * scrambled(N, 24)) * 0.375)


def models(data: Given) -> dict[str, tuple[Any, Array, Array | None]]:
    """Estimators by name, each with its targets and weights."""
    counts, numbers, two, three = data.counts, data.numbers, data.two, data.three
    losses = {"squared_error": numbers, "absolute_error": numbers, "huber": numbers, "poisson": counts}
    losses |= {"quantile": numbers, "gamma": 1.0 + counts}
    drawn: dict[str, Any] = {"subspace": "drawn", "subspace_size": 5, "max_partitions": 3, **ROUNDS}
    return {
        "tree, three classes": (SLMClassifier(), three, None),
        "tree, gini": (SLMClassifier(criterion="gini", class_weight="balanced"), two, None),
        "tree, classes, weights and rounds": (SLMClassifier(**drawn), three, data.weights),
        "tree, numbers": (SLMRegressor(), numbers, None),
        "tree, numbers, weights and rounds": (SLMRegressor(**drawn), numbers, data.weights),
        "forest, classes": (SLMForestClassifier(n_estimators=3), three, None),
        "forest, bags and hard votes": (
            SLMForestClassifier(n_estimators=8, bootstrap=True, voting="hard", max_depth=4),
            three,
            data.weights,
        ),
        "forest, races of classes": (SLMForestClassifier(n_estimators=3, racing_samples=100), two, data.weights),
        "forest, bags of numbers": (SLMForestRegressor(n_estimators=3, bootstrap=True, max_samples=0.5), numbers, None),
        "forest, races of numbers": (SLMForestRegressor(n_estimators=3, racing_samples=100), numbers, data.weights),
        "boosting, two classes": (SLMBoostClassifier(**FEW), two, data.weights),
        "boosting, two classes, by trials": (SLMBoostClassifier(**TRIED), two, None),
        "boosting, classes together": (SLMBoostClassifier(subsample=0.5, **FEW), three, data.weights),
        "boosting, classes apart": (SLMBoostClassifier(multiclass="separate", **FEW), three, None),
        "boosting, races": (SLMBoostClassifier(racing_samples=100, **FEW), three, None),
        "boosting, stopped early": (SLMBoostRegressor(early_stopping=True, **FEW), numbers, None),
        "boosting, numbers, by trials": (SLMBoostRegressor(**TRIED), numbers, data.weights),
        **{f"boosting, {loss}": (SLMBoostRegressor(loss=loss, **FEW), y, data.weights) for loss, y in losses.items()},
    }


def digest(model: Any, X: Array) -> str:
    """Of the trees, the maps, the scores of rounds and the predictions; integers of any width are the same."""
    predicted = [getattr(model, name)(X) for name in ("predict", "predict_proba") if hasattr(model, name)]
    scores = [model.train_score_, model.validation_score_] if hasattr(model, "train_score_") else []
    trees = model.ensemble_.nodes if hasattr(model, "ensemble_") else model.tree_
    found = sha256()
    maps = [getattr(model.feature_maps_, name) for name in MAPPED]
    columns = [column for name, column in trees.columns().items() if column.size or "." not in name]
    for array in map(np.asarray, (*columns, *maps, *scores, *predicted)):
        wide = array.astype("<f8" if array.dtype.kind == "f" else "<i8")
        found.update(f"{wide.shape}".encode() + wide.tobytes())
    return found.hexdigest()[:16]


def digests() -> dict[str, str]:
    data = given()
    return {
        name: digest(model.set_params(random_state=7, n_jobs=1).fit(data.X, y, weights), data.X)
        for name, (model, y, weights) in models(data).items()
    }


if __name__ == "__main__":
    PINNED.write_text(json.dumps(digests(), indent=1) + "\n", "utf-8")
