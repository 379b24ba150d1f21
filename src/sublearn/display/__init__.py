"""Displays in scikit-learn's manner: `from_estimator` computes, `plot` draws with matplotlib, the extra `plot`."""

from sublearn.display.tree import TreeDisplay

__all__ = ["TreeDisplay"]
