"""The extreme learning machine (Huang, Zhu and Siew, 2006), to which the paper compares its drawing of projections.

One hidden layer is drawn and never trained; the output layer is a ridge regression on it.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sublearn._base.parameters import check_parameters, number, whole
from sublearn.kernels.layout import Array


class ExtremeLearningMachine(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share: the hidden layer and a ridge regression on it."""

    _rules = {"n_hidden": whole(1), "alpha": number(0.0)}  # noqa: RUF012

    def __init__(self, n_hidden: int = 100, alpha: float = 1.0, random_state: Any = None) -> None:
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """Class or number predicted for each sample."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        predicted: Array = self.output_.predict(self._activate(X))
        return predicted

    def _fit_layers(self, X: Array, y: Array, output: Any) -> None:
        rng = check_random_state(self.random_state)
        self.scaler_ = StandardScaler().fit(X)
        # a neuron's input then has the spread of one feature, whatever their number
        self.hidden_coef_ = rng.normal(size=(X.shape[1], self.n_hidden)) / np.sqrt(X.shape[1])
        self.hidden_intercept_ = rng.normal(size=self.n_hidden)
        self.output_ = output.fit(self._activate(X), y)
        layers = (self.hidden_coef_, self.hidden_intercept_, self.output_.coef_, self.output_.intercept_)
        self.n_parameters_ = sum(np.size(layer) for layer in layers)

    def _activate(self, X: Array) -> Array:
        activations: Array = np.tanh(self.scaler_.transform(X) @ self.hidden_coef_ + self.hidden_intercept_)
        return activations


class ELMClassifier(ClassifierMixin, ExtremeLearningMachine):  # type: ignore[misc]
    """Extreme learning machine for classes: a drawn hidden layer and a ridge classifier on it.

    Parameters
    ----------
    n_hidden : int, default=100
        Neurons of the hidden layer, with tanh as activation.
    alpha : float, default=1.0
        Ridge penalty of the output layer.
    random_state : None, int or RandomState, default=None
        Seed of the hidden layer.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    scaler_ : StandardScaler
        What standardises the features.
    hidden_coef_ : ndarray of shape (n_features_in_, n_hidden)
        Weights of the hidden layer, normal with standard deviation 1/sqrt(n_features_in_).
    hidden_intercept_ : ndarray of shape (n_hidden,)
        Biases of the hidden layer, standard normal.
    output_ : RidgeClassifier
        The output layer.
    n_parameters_ : int
        Model size: all weights and biases; two classes need one output.

    See Also
    --------
    ELMRegressor : The machine for numbers.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu and C.-K. Siew, "Extreme learning machine: Theory and applications", 2006.

    Examples
    --------
    >>> from sublearn.paper.elm import ELMClassifier
    >>> model = ELMClassifier(random_state=0).fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the output layer to samples X (n_samples, n_features) and their classes y (n_samples,)."""
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ValueError(f"y of {type(self).__name__}.fit must hold at least two classes; got 1 class.")
        self._fit_layers(X, y, RidgeClassifier(self.alpha))
        self.classes_ = self.output_.classes_
        return self


class ELMRegressor(RegressorMixin, ExtremeLearningMachine):  # type: ignore[misc]
    """Extreme learning machine for numbers: a drawn hidden layer and a ridge regression on it.

    Ridge regression leaves its bias unpenalised and scales with the target, so the target needs no standardising.

    Parameters
    ----------
    n_hidden, alpha, random_state
        As for `ELMClassifier`.

    Attributes
    ----------
    n_features_in_, feature_names_in_, scaler_, hidden_coef_, hidden_intercept_, n_parameters_
        As for `ELMClassifier`.
    output_ : Ridge
        The output layer.

    See Also
    --------
    ELMClassifier : The machine for classes.

    Examples
    --------
    >>> from sublearn.paper.elm import ELMRegressor
    >>> model = ELMRegressor(alpha=0.01, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[2.0]]).round().tolist()
    [4.0]
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the output layer to samples X (n_samples, n_features) and their targets y (n_samples,)."""
        check_parameters(self)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._fit_layers(X, y.astype(np.float64), Ridge(self.alpha))
        return self
