"""The size of a model, by the formulas of the paper (Sec. IV, Table II)."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier


class Size(NamedTuple):
    """None where the paper has no formula, or a model no depth."""

    n_parameters: int | None
    depth: int | None


def size_of(model: Any, n_train: int) -> Size:
    """Parameters and depth of a fitted contender."""
    if isinstance(model, Pipeline):
        model = model[-1]
    if isinstance(model, SVC):
        return Size(svm_parameters(n_train, model.n_features_in_, len(model.support_)), None)
    if isinstance(model, DecisionTreeClassifier):
        return Size(int(2 * (model.tree_.node_count - model.get_n_leaves())), int(model.get_depth()))
    return Size(getattr(model, "n_parameters_", None), getattr(model, "depth_", None))


def svm_parameters(n_train: int, n_features: int, n_support: int) -> int:
    """A slack variable a sample, the bias, and for each support vector its features, coefficient and class."""
    return n_train + 1 + (n_features + 2) * n_support
