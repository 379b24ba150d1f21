"""sublearn: the Subspace Learning Machine, decision trees that cut with several sparse integer hyperplanes at once."""

from sublearn.export import export_text
from sublearn.tree import SLMClassifier, SLMRegressor

__all__ = ["SLMClassifier", "SLMRegressor", "export_text"]
__version__ = "0.1.0"
