"""The paper's own settings: SLMClassifier(**sublearn.paper.PARAMETERS) searches a node as the paper does."""

from typing import Any

PARAMETERS: dict[str, Any] = {
    "n_bins": 16,
    "subspace": "top",
    "axis_projections": False,
    "feature_map": "linear",
}
