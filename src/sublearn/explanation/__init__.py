"""What a fitted model's predictions come from: explanations of single predictions and of whole models."""

from sublearn.explanation.counterfactuals import Counterfactuals, counterfactual
from sublearn.explanation.explaining import explain
from sublearn.explanation.feature_importances import Importances, importances
from sublearn.explanation.feature_pairs import Interactions, interactions
from sublearn.explanation.record import Explanation
from sublearn.explanation.routes import Crossing, Route, Step, route

__all__ = [
    "Counterfactuals",
    "Crossing",
    "Explanation",
    "Importances",
    "Interactions",
    "Route",
    "Step",
    "counterfactual",
    "explain",
    "importances",
    "interactions",
    "route",
]
