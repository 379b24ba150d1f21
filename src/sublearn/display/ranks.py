"""What displays of ranked features share: how many are shown, their names, sizes."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._base.parameters import whole
from sublearn.display.names import one_line
from sublearn.explanation.members import ALLOWED
from sublearn.export.chosen import AVERAGES, last_step

CHARACTER = 0.075  # inches


def check_estimator(given: Any, owner: str) -> None:
    """Raise an error for what is no fitted model of ours."""
    if not isinstance(given, (SLMPredictor, *AVERAGES)):
        raise TypeError(f"estimator of {owner} must be {ALLOWED}; got {type(given).__name__}.{last_step(given)}")
    check_is_fitted(given)


def check_count(given: Any, name: str, owner: str) -> int:
    """Raise ValueError for what is no number of features."""
    if not whole(1).accepts(given):
        raise ValueError(f"{name} of {owner} must be {whole(1).words}; got {given!r}.")
    return int(given)


def renamed(names: Sequence[str], given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given, or else those there are."""
    chosen = names if given is None else given
    if len(chosen) != len(names):
        raise ValueError(
            f"feature_names of {owner} must have a name for each of {len(names)} features; got {len(chosen)}."
        )
    return list(map(one_line, chosen))
