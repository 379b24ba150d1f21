"""The paper's own settings: SLMClassifier(**sublearn.paper.PARAMETERS) searches a node as the paper does.

FOREST and BOOST are the same for the ensembles; a forest for classes takes the paper's majority vote with
voting="hard". Left open is what the paper searches for every data set: D0, p, R, alpha_0, alpha, beta and the smallest
node.
"""

from typing import Any

PARAMETERS: dict[str, Any] = {
    "n_bins": 16,
    "subspace": "top",
    "axis_projections": False,
    "fitted_projections": 0,
    "draws_per_sample": None,
    "racing_samples": None,
    "feature_map": "linear",
}
FOREST: dict[str, Any] = {**PARAMETERS, "subspace": "drawn", "n_estimators": 20, "bootstrap": False}
BOOST: dict[str, Any] = {
    **PARAMETERS,
    "n_estimators": 100,
    "learning_rate": 0.2,
    "max_depth": 6,
    "l2_regularization": 0.0,
    "min_child_weight": 2.0,
    "min_gain": 0.0,
    "init": "zero",
}
FOREST_CLASSES: dict[str, Any] = {**FOREST, "voting": "hard"}
BOOST_CLASSES: dict[str, Any] = dict(BOOST)
