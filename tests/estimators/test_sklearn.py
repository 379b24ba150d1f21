"""scikit-learn's own checks, every one of them."""

from typing import Any
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sublearn import (
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

ESTIMATORS = [
    SLMClassifier(),
    SLMRegressor(),
    SLMForestClassifier(n_estimators=10),  # checks fit hundreds of forests; more trees are more of the same
    SLMForestRegressor(n_estimators=10),
    SLMBoostClassifier(),
    SLMBoostRegressor(),
    SLMAverageClassifier([SLMClassifier(n_bins=8), SLMClassifier(random_state=1)], [1, 2]),
    SLMAverageRegressor([SLMRegressor(n_bins=8), SLMRegressor(random_state=1)]),
]


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as reason:
        pytest.fail(f"none may be skipped, but: {reason}")
