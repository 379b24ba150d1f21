"""How ensembles converge with the number of trees (the paper's Fig. 3), on one split.

SLM Forest against a random forest: accuracy, depth unlimited in both. SLM Boost against XGBoost: log loss, at the same
depth and learning rate. What is not said has the library's defaults.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from sublearn import SLMBoostClassifier, SLMForestClassifier
from sublearn.paper.search import Split

SETS = ("wine", "breast-cancer", "pima")
TREES = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
N_TREES = TREES[-1]
BOOSTING: dict[str, Any] = {
    "n_estimators": N_TREES,
    "max_depth": 6,
    "learning_rate": 0.3,
}  # the last two are XGBoost's defaults

Probabilities = NDArray[np.float64]  # (n_trees, n_samples, n_classes)


class Curves(NamedTuple):
    """One value for each of TREES."""

    forest: list[float]  # accuracy
    random_forest: list[float]
    boost: list[float]  # log loss
    xgboost: list[float]


def curves(parts: Split, seed: int, **setting: Any) -> Curves:
    """The four curves on the test part; `setting` has parameters of SLM Forest."""
    from xgboost import XGBClassifier  # pip install 'sublearn[paper]'

    slm = SLMForestClassifier(n_estimators=N_TREES, random_state=seed, **setting)
    peer = RandomForestClassifier(n_estimators=N_TREES, random_state=seed)
    boost = SLMBoostClassifier(**BOOSTING, random_state=seed).fit(parts.X_train, parts.y_train)
    staged = list(boost.staged_predict_proba(parts.X_test))
    xgboost = XGBClassifier(**BOOSTING, random_state=seed, n_jobs=1).fit(parts.X_train, parts.y_train)
    ranges = [xgboost.predict_proba(parts.X_test, iteration_range=(0, n)) for n in TREES]
    return Curves(
        votes_curve(tree_probabilities(slm, parts), parts.y_test),
        votes_curve(tree_probabilities(peer, parts), parts.y_test),
        [float(log_loss(parts.y_test, staged[n - 1])) for n in TREES],
        [float(log_loss(parts.y_test, probabilities)) for probabilities in ranges],
    )


def tree_probabilities(forest: Any, parts: Split) -> Probabilities:
    """Fit a forest and ask each tree of it by itself."""
    forest.fit(parts.X_train, parts.y_train)
    return np.array([tree.predict_proba(parts.X_test) for tree in forest.estimators_])


def votes_curve(probabilities: Probabilities, y: Any) -> list[float]:
    """Accuracy of the mean of the first trees; classes are 0, 1, ..."""
    means = np.cumsum(probabilities, axis=0) / np.arange(1, len(probabilities) + 1)[:, None, None]
    return [float(np.mean(means[n - 1].argmax(axis=1) == y)) for n in TREES]
