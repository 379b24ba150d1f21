"""Names of features, and features as users name them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sublearn.core.model.fitted import FittedModel
from sublearn.export.inequalities import names_of_features
from sublearn.kernels.layout import Array


def feature_of(given: Any, model: FittedModel, names: Sequence[str], what: str, owner: str) -> int:
    """The number of a feature."""
    if isinstance(given, str) and given in names:
        return list(names).index(given)
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and 0 <= given < model.n_features:
        return int(given)
    known = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    raise ValueError(
        f"{what} of {owner} must hold names of features ({known}) or numbers from 0 to {model.n_features - 1}; got "
        f"{given!r}."
    )


def chosen_features(given: Any, model: FittedModel, names: Sequence[str], owner: str) -> Array:
    """Whether each feature is chosen; None: all are."""
    if given is None:
        return np.ones(model.n_features, np.bool_)
    if isinstance(given, str) or not hasattr(given, "__len__") or not len(given):
        raise ValueError(f"features of {owner} must be None or a sequence of at least one feature; got {given!r}.")
    chosen = np.zeros(model.n_features, np.bool_)
    chosen[[feature_of(one, model, names, "features", owner) for one in given]] = True
    return chosen


def per_feature(given: Any, model: FittedModel, names: Sequence[str], what: str, owner: str) -> dict[int, Any]:
    """What a dictionary has for features, by their numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} of {owner} must be None or a dict by features; got {type(given).__name__}.")
    return {feature_of(name, model, names, what, owner): value for name, value in given.items()}


def names_for(model: FittedModel) -> list[str]:
    """Names of the features, those seen in fit, or x0, x1, ..."""
    return names_of_features(model, None, "")
