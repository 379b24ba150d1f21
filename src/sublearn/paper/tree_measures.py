"""Measurements of single trees, for claims of the paper that no table decides.

How the error of an SLR tree falls level by level (Sec. V-A), what a bag of samples takes from the trees of SLM Forest
(Sec. III-A), and how strong and how alike the trees of SLR Forest are (Sec. V-B).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from sublearn.core.model.flat_tree import FlatTree
from sublearn.paper.ablations import GUIDED, OF, VARIANTS
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.convergence import N_DESCRIBED, describe_trees, tree_probabilities
from sublearn.paper.search import Split

Floats = NDArray[np.float64]

FORESTS = ("bagged", "slr", "rf")  # whose trees a record may tell of


def grown_tree(seed: int) -> Any:
    """The SLR tree whose levels are measured, not fitted."""
    return CONTENDERS[OF].make(False)(random_state=seed, **VARIANTS[GUIDED[-1]])


def measure_growth(parts: Split, seed: int) -> dict[str, Any]:
    """Mean squared error of the training part when the tree ends at each level, over that of the root."""
    tree = grown_tree(seed).fit(parts.X_train, parts.y_train).tree_
    return {"errors": [float(error) for error in errors_by_level(tree)]}


def errors_by_level(tree: FlatTree) -> Floats:
    """Of the nodes that are leaves when everything below a level is cut off, level by level; 1 for the root."""
    total = tree.weight * tree.loss
    levels = range(int(tree.depth.max()) + 1)
    found = [total[(tree.depth == d) | (tree.is_leaf & (tree.depth < d))].sum() for d in levels]
    shares: Floats = np.array(found) / found[0]
    return shares


def bagged_forest(seed: int) -> Any:
    """SLM Forest as the paper has it, but on bootstrap samples."""
    return CONTENDERS["slm-forest"].make(True)(bootstrap=True, random_state=seed)


def number_forests(seed: int) -> dict[str, Any]:
    """SLR Forest as the paper has it, and a random forest of as many trees."""
    return {
        "slr": CONTENDERS["slm-forest"].make(False)(n_estimators=N_DESCRIBED, random_state=seed),
        "rf": RandomForestRegressor(n_estimators=N_DESCRIBED, random_state=seed),
    }


def measure_trees(is_classes: bool, parts: Split, seed: int) -> dict[str, Any]:
    """Error of a tree and correlation of two: of the bagged forest for classes, of SLR Forest and RF for numbers.

    The error is the share of samples that are wrong, or the root mean squared error.
    """
    if is_classes:
        trees = describe_trees(tree_probabilities(bagged_forest(seed), parts)[:N_DESCRIBED], parts.y_test)
        return {"bagged_error": 1 - trees.strength, "bagged_correlation": trees.correlation}
    found: dict[str, Any] = {}
    for name, forest in number_forests(seed).items():
        forest.fit(parts.X_train, parts.y_train)
        residuals = np.array([tree.predict(parts.X_test) for tree in forest.estimators_]) - parts.y_test
        found |= {f"{name}_error": mean_error(residuals), f"{name}_correlation": mean_correlation(residuals)}
    return found


def mean_error(residuals: Floats) -> float:
    """Root mean squared error of a tree, in the mean over the trees (n_trees, n_samples)."""
    return float(np.sqrt((residuals**2).mean(axis=1)).mean())


def mean_correlation(residuals: Floats) -> float:
    """Correlation of the residuals of two trees, in the mean over all pairs."""
    correlations: Floats = np.atleast_2d(np.corrcoef(residuals))
    return float(correlations[np.triu_indices(len(residuals), 1)].mean())
