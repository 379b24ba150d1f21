"""Which tree of a fitted model is asked for."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._base.parameters import whole
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.model.fitted import FittedModel
from sublearn.tree import SLMTree

AVERAGES = SLMAverageClassifier, SLMAverageRegressor


def last_step(model: Any) -> str:
    """The way out for whoever gives a whole pipeline; nothing for all others."""
    return " Give its last step." if isinstance(model, Pipeline) else ""


def fitted_model(model: Any, owner: str, called: str = "model") -> FittedModel:
    """The model of a fitted tree, forest or boosting that the function `owner` was given as the argument `called`."""
    if not isinstance(model, SLMPredictor):
        way_out = " Give one of its estimators_." if isinstance(model, AVERAGES) else last_step(model)
        got = f"{type(model).__name__}.{way_out}"
        raise TypeError(f"{called} of {owner} must be an SLM tree, forest or boosting; got {got}")
    check_is_fitted(model)
    return model._model


def tree_number(model: Any, tree: int | None, owner: str) -> int:
    """The number of a tree that `owner` was given; None serves where the model is a single one."""
    allowed = whole(0, model._model.ensemble.n_trees - 1)
    if not allowed.accepts(tree) and not (tree is None and isinstance(model, SLMTree)):
        raise ValueError(f"tree of {owner} must be {allowed.words} for this {type(model).__name__}; got {tree!r}.")
    return int(tree or 0)
