"""Explanations of fitted models."""

from sublearn.explanation.counterfactuals import Counterfactuals as Counterfactuals
from sublearn.explanation.counterfactuals import counterfactual as counterfactual
