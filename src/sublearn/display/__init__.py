"""Displays in scikit-learn's manner: `from_estimator` computes, `plot` draws with matplotlib, the extra `plot`."""

__all__: list[str] = []
