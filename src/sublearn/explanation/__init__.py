"""What a fitted model's predictions come from: explanations of single predictions."""

from sublearn.explanation.explaining import explain
from sublearn.explanation.record import Explanation

__all__ = ["Explanation", "explain"]
