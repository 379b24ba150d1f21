"""Displays in scikit-learn's manner: `from_estimator` computes, `plot` draws with matplotlib, the extra `plot`."""

from sublearn.display.envelope import EnvelopeDisplay
from sublearn.display.feature_test import FeatureTestDisplay
from sublearn.display.importances import ImportancesDisplay
from sublearn.display.interactions import InteractionsDisplay
from sublearn.display.node import NodeDisplay
from sublearn.display.partition import PartitionDisplay
from sublearn.display.rounds import RoundsDisplay
from sublearn.display.tree import TreeDisplay

__all__ = [
    "EnvelopeDisplay",
    "FeatureTestDisplay",
    "ImportancesDisplay",
    "InteractionsDisplay",
    "NodeDisplay",
    "PartitionDisplay",
    "RoundsDisplay",
    "TreeDisplay",
]
