"""Small measurements of our own, for claims of the paper that no table decides.

What the search of a root finds (Sec. II-B), and what a large C costs a support vector machine on Friedman 2 (Sec. V-B),
counted in its steps, which are the same on every machine.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sublearn.display.search import search_root
from sublearn.paper.ablations import GUIDED, OF, VARIANTS
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.search import Split

SVR_SET = "friedman-2"
C_VALUES = (1.0, 1000.0)  # of scikit-learn's default, and of the paper
ALIKE = 0.9  # absolute cosine of two vectors that are highly correlated


def measure_root(is_classes: bool, parts: Split, seed: int) -> dict[str, Any]:
    """How many candidates beat the best feature alone, and which share of their pairs is highly correlated."""
    model = CONTENDERS[OF].make(is_classes)(random_state=seed, **VARIANTS[GUIDED[-1]])
    found = search_root(model.fit(parts.X_train, parts.y_train), parts.X_train, parts.y_train)
    effective = found.vectors[found.losses < found.feature_losses.min()].astype(np.float64)
    return {"n_candidates": len(found.losses), "n_effective": len(effective), "alike": share_alike(effective)}


def share_alike(vectors: Any) -> float | None:
    """Share of the pairs of vectors with a large absolute cosine; None where there is no pair."""
    if len(vectors) < 2:
        return None
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.abs(units @ units.T)[np.triu_indices(len(units), 1)]
    return float(np.mean(cosines > ALIKE))


def measure_svr(parts: Split, seed: int) -> dict[str, Any]:
    """Steps of the solver and errors on the training and the test part, one for each of C_VALUES."""
    found: dict[str, Any] = {"n_steps": [], "training_error": [], "test_error": []}
    for value in C_VALUES:
        model = CONTENDERS["svm-rbf"].make(False)(random_state=seed, C=value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(parts.X_train, parts.y_train)
        found["n_steps"].append(int(model[-1].n_iter_))
        for name, X, y in (("training", parts.X_train, parts.y_train), ("test", parts.X_test, parts.y_test)):
            found[f"{name}_error"].append(float(np.sqrt(np.mean((model.predict(X) - y) ** 2))))
    return found
