"""How ensembles converge with the number of trees (the paper's Fig. 5), on one split.

SLM Forest and SLM Boost have the paper's settings, those of the tables; what the paper searches has the library's
defaults. Beside them are both with the library's defaults throughout, a random forest and XGBoost. All forests have
trees of unlimited depth, all boosters the same depth and learning rate. Forests are measured by their accuracy,
boosters by their log loss.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from sublearn import SLMBoostClassifier, SLMForestClassifier
from sublearn.paper import BOOST_CLASSES
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.search import Split

SETS = ("wine", "breast-cancer", "pima")
TREES = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
N_TREES = TREES[-1]
N_DESCRIBED = 20  # trees of a forest whose strength and likeness are measured, as many as the paper's forest has
BOOSTING: dict[str, Any] = {
    "n_estimators": N_TREES,
    "max_depth": BOOST_CLASSES["max_depth"],
    "learning_rate": BOOST_CLASSES["learning_rate"],
}

Probabilities = NDArray[np.float64]  # (n_trees, n_samples, n_classes)


class Curves(NamedTuple):
    """Curves of one split, with a value for each of TREES."""

    forest: list[float]  # accuracy
    random_forest: list[float]
    boost: list[float]  # log loss
    xgboost: list[float]


class Trees(NamedTuple):
    """The trees of a forest, each by itself: mean accuracy, and mean correlation of the errors of two."""

    strength: float
    correlation: float


FORESTS = ("forest", "random_forest", "default_forest")
BOOSTERS = ("boost", "xgboost", "default_boost")
NAMES = (*FORESTS, *BOOSTERS)  # of the curves of a record


def ensembles(seed: int, **setting: Any) -> dict[str, Any]:
    """Those of NAMES, not fitted; `setting` has parameters of SLM Forest by the library's defaults."""
    from xgboost import XGBClassifier  # pip install 'sublearn[paper]'

    return {
        "forest": CONTENDERS["slm-forest"].make(True)(n_estimators=N_TREES, random_state=seed),
        "random_forest": RandomForestClassifier(n_estimators=N_TREES, random_state=seed),
        "default_forest": SLMForestClassifier(n_estimators=N_TREES, random_state=seed, **setting),
        "boost": CONTENDERS["slm-boost"].make(True)(**BOOSTING, random_state=seed),
        "xgboost": XGBClassifier(**BOOSTING, random_state=seed, n_jobs=1),
        "default_boost": SLMBoostClassifier(**BOOSTING, random_state=seed),
    }


def measured(parts: Split, seed: int) -> dict[str, Any]:
    """What a record has: the six curves on the test part, and the trees of each forest."""
    models = ensembles(seed)
    found: dict[str, Any] = {name: boost_curve(models[name], parts) for name in BOOSTERS}
    for name in FORESTS:
        probabilities = tree_probabilities(models[name], parts)
        found[name] = votes_curve(probabilities, parts.y_test)
        trees = describe_trees(probabilities[:N_DESCRIBED], parts.y_test)
        found |= {f"{name}_{quantity}": value for quantity, value in trees._asdict().items()}
    return found


def curves(parts: Split, seed: int, **setting: Any) -> Curves:
    """SLM by the library's defaults beside its peers; `setting` has parameters of SLM Forest."""
    models = ensembles(seed, **setting)
    forests = [models[name] for name in ("default_forest", "random_forest")]
    boosters = [models[name] for name in ("default_boost", "xgboost")]
    return Curves(
        *(votes_curve(tree_probabilities(model, parts), parts.y_test) for model in forests),
        *(boost_curve(model, parts) for model in boosters),
    )


def boost_curve(model: Any, parts: Split) -> list[float]:
    """Log loss after so many rounds."""
    model.fit(parts.X_train, parts.y_train)
    if hasattr(model, "staged_predict_proba"):
        staged = list(model.staged_predict_proba(parts.X_test))
        found = [staged[n - 1] for n in TREES]
    else:
        found = [model.predict_proba(parts.X_test, iteration_range=(0, n)) for n in TREES]
    return [float(log_loss(parts.y_test, probabilities)) for probabilities in found]


def tree_probabilities(forest: Any, parts: Split) -> Probabilities:
    """Fit a forest and ask each tree of it by itself; a tree with a hard vote is certain of its class."""
    forest.fit(parts.X_train, parts.y_train)
    found = np.array([tree.predict_proba(parts.X_test) for tree in forest.estimators_])
    if getattr(forest, "voting", "soft") == "hard":
        found = np.eye(found.shape[2])[found.argmax(axis=2)]
    return found


def votes_curve(probabilities: Probabilities, y: Any) -> list[float]:
    """Accuracy of the mean of the first trees; classes are 0, 1, ..."""
    means = np.cumsum(probabilities, axis=0) / np.arange(1, len(probabilities) + 1)[:, None, None]
    return [float(np.mean(means[n - 1].argmax(axis=1) == y)) for n in TREES]


def describe_trees(probabilities: Probabilities, y: Any) -> Trees:
    """Trees without an error, or with nothing but errors, are correlated with no other."""
    right = (probabilities.argmax(axis=2) == y).astype(np.float64)
    varying = right[right.std(axis=1) > 0]
    pairs = np.corrcoef(varying)[np.triu_indices(len(varying), 1)] if len(varying) > 1 else np.zeros(1)
    return Trees(float(right.mean()), float(pairs.mean()))
