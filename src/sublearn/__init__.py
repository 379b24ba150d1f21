"""sublearn: the Subspace Learning Machine, decision trees that cut with several sparse integer hyperplanes at once."""

from sublearn._progress import Progress
from sublearn.boost import SLMBoostClassifier, SLMBoostRegressor
from sublearn.core.losses import Loss
from sublearn.export import export_text
from sublearn.forest import SLMForestClassifier, SLMForestRegressor
from sublearn.tree import SLMClassifier, SLMRegressor
from sublearn.tuning import tune

__all__ = [
    "Loss",
    "Progress",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "export_text",
    "tune",
]
__version__ = "0.1.0"
