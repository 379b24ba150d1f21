"""Averages of estimators: what `tune` gives back where it may keep several settings, and what anyone may fit."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._files.saving import Saved
from sublearn.kernels.layout import Array

__all__ = ["SLMAverageClassifier", "SLMAverageRegressor"]


class _Average(Saved, BaseEstimator):  # type: ignore[misc]
    """What the two averages share."""

    estimators: Any
    weights: Any
    estimators_: list[Any]
    weights_: Array

    def __init__(self, estimators: Any, weights: Any = None) -> None:
        self.estimators = estimators
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a clone of every estimator to all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples, as the estimators take them.
        y : array-like of shape (n_samples,)
            Classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each.

        Returns
        -------
        self : object
            The fitted average. If a fit fails or is interrupted, it stays as it was.
        """
        self._check_parameters()
        weighing = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._hold([clone(estimator).fit(X, y, **weighing) for estimator in self.estimators])

    @property
    def feature_importances_(self) -> Array:
        """Weighted mean of the members' shares of each feature."""
        return self._mean_of("feature_importances_")

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        check_is_fitted(self)
        return int(self.estimators_[0].n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, where X had them."""
        check_is_fitted(self)
        names: Array = self.estimators_[0].feature_names_in_
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return "estimators_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        for name in ("sparse", "allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, True)
        return tags

    def _hold(self, fitted: list[Any]) -> Self:
        """Be the average of fitted estimators."""
        self.estimators_ = fitted
        given = np.ones(len(fitted)) if self.weights is None else np.asarray(self.weights, np.float64)
        self.weights_ = given / given.sum()
        return self

    def _mean_of(self, name: str, *X: Any) -> Array:
        """Weighted mean of what the members have, or answer, by a name."""
        check_is_fitted(self)
        found = [getattr(member, name) for member in self.estimators_]
        total: Array = np.zeros(())
        for weight, one in zip(self.weights_.tolist(), found, strict=True):
            total = total + weight * (one(*X) if X else one)
        return total

    def _check_parameters(self) -> None:
        name, given, weights = type(self).__name__, self.estimators, self.weights
        ours = "classifiers" if is_classifier(self) else "regressors"
        if not isinstance(given, list | tuple) or not given:
            raise ValueError(f"estimators of {name} must be a list of at least one estimator; got {given!r}.")
        for one in given:
            if not isinstance(one, SLMPredictor) or is_classifier(one) != is_classifier(self):
                raise ValueError(f"estimators of {name} must be SLM {ours}; got {type(one).__name__}.")
        if weights is not None and not _are_weights(weights, len(given)):
            allowed = f"None or {len(given)} finite numbers of at least 0 that are not all 0"
            raise ValueError(f"weights of {name} must be {allowed}; got {weights!r}.")


def _are_weights(given: Any, n: int) -> bool:
    if not isinstance(given, list | tuple | np.ndarray) or len(given) != n:
        return False
    if any(isinstance(one, bool) or not isinstance(one, Real) for one in given):
        return False
    weights = np.asarray(given, np.float64)
    return bool(np.isfinite(weights).all() and (weights >= 0).all() and 0 < weights.sum() < np.inf)


class SLMAverageClassifier(ClassifierMixin, _Average):  # type: ignore[misc]
    """Weighted average of classifiers: the mean of their probabilities.

    `tune` with ``ensemble=True`` gives one back. Made by hand, it fits every estimator to all samples.

    Parameters
    ----------
    estimators : list of SLM classifiers
        What to average: trees, forests, boosting, or some of each. They are cloned, and not changed.
    weights : list of numbers, default=None
        How much each one counts; None: all the same.

    Attributes
    ----------
    estimators_ : list of SLM classifiers
        The fitted members.
    weights_ : ndarray of shape (n_estimators,)
        Their weights, which add up to 1.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Weighted mean of the members' shares of each feature.

    See Also
    --------
    tune : Finds settings, and weights for the best of them.
    SLMAverageRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMAverageClassifier, SLMClassifier, SLMForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [SLMForestClassifier(n_estimators=5, random_state=0), SLMClassifier(random_state=0)]
    >>> model = SLMAverageClassifier(members, weights=[3, 1]).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        check_is_fitted(self)
        classes: Array = self.estimators_[0].classes_
        return classes

    def predict(self, X: Any) -> Array:
        """Class of each sample: the one of largest probability, the first of several."""
        predicted: Array = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class: the weighted mean of the members', in the order of `classes_`."""
        return self._mean_of("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self.predict_proba(X))
        return logarithms


class SLMAverageRegressor(RegressorMixin, _Average):  # type: ignore[misc]
    """Weighted average of regressors: the mean of their predictions.

    `tune` with ``ensemble=True`` gives one back. Made by hand, it fits every estimator to all samples.

    Parameters
    ----------
    estimators : list of SLM regressors
        What to average: trees, forests, boosting, or some of each. They are cloned, and not changed.
    weights : list of numbers, default=None
        How much each one counts; None: all the same.

    Attributes
    ----------
    estimators_ : list of SLM regressors
        The fitted members.
    weights_ : ndarray of shape (n_estimators,)
        Their weights, which add up to 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Weighted mean of the members' shares of each feature.

    See Also
    --------
    tune : Finds settings, and weights for the best of them.
    SLMAverageClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import SLMAverageRegressor, SLMForestRegressor, SLMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [SLMForestRegressor(n_estimators=5, random_state=0), SLMRegressor(random_state=0)]
    >>> model = SLMAverageRegressor(members, weights=[3, 1]).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    def predict(self, X: Any) -> Array:
        """Number predicted for each sample: the weighted mean of the members' predictions."""
        return self._mean_of("predict", X)
