"""scikit-learn's own checks, every one of them."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from sublearn import SLMClassifier, SLMRegressor


@parametrize_with_checks([SLMClassifier(), SLMRegressor()])  # type: ignore[untyped-decorator]
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    check(estimator)
