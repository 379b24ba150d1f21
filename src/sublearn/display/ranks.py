"""What displays of ranked features share: checks of what is shown, short names, sizes."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._base.parameters import whole
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.display.names import one_line

LONGEST = 30  # characters of a name
CHARACTER = 0.075  # inches


def check_fitted(estimator: Any, owner: str) -> None:
    """Raise an error for what is no fitted model of ours."""
    if not isinstance(estimator, SLMPredictor | SLMAverageClassifier | SLMAverageRegressor):
        raise TypeError(
            f"estimator of {owner} must be a fitted tree, forest, boosting or average of sublearn; got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)


def check_count(given: Any, name: str, owner: str) -> int:
    """Raise ValueError for what is no number of features."""
    if not whole(1).accepts(given):
        raise ValueError(f"{name} of {owner} must be {whole(1).words}; got {given!r}.")
    return int(given)


def names_of(estimator: Any, given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given, or those of the model, or x0, x1, ..."""
    n = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None) if given is None else given
    found = [f"x{f}" for f in range(n)] if names is None else list(map(one_line, names))
    if len(found) != n:
        raise ValueError(f"feature_names of {owner} must have a name for each of {n} features; got {len(found)}.")
    return found
