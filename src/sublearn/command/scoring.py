"""Figures of a fitted model on rows it has not seen, beside what can be had without a model."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sublearn.command.learning import Samples
from sublearn.reporting.measures import measure_classes, measure_numbers, places_of


def score_words(fitted: Any, testing: Samples, learning: Samples) -> Iterator[str]:
    """The figures in words, with their 95 % intervals, and what a constant would have."""
    if hasattr(fitted, "classes_"):
        labels = places_of(testing.y, fitted.classes_)
        yield ", ".join(map(str, measure_classes(labels, fitted.predict_proba(testing.X))))
        known, counts = np.unique(learning.y, return_counts=True)
        usual = known[counts.argmax()]
        yield f"to compare: always {usual} has accuracy {np.mean(testing.y == usual):.4g}"
    else:
        yield ", ".join(map(str, measure_numbers(testing.y, fitted.predict(testing.X))))
        error = float(np.sqrt(np.mean((testing.y - learning.y.mean()) ** 2)))
        yield f"to compare: always the mean, {learning.y.mean():.4g}, has RMSE {error:.4g}"
