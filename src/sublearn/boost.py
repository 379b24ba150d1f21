"""SLM Boost: second-order gradient boosting of SLM trees, for classes and for numbers (paper Sec. III-B)."""

from collections.abc import Callable, Iterator
from typing import Any, Self

from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from sublearn._base.boosting import SLMBoost, Validation
from sublearn._base.estimator import unchanged_on_error
from sublearn._base.parameters import Rule, check_parameters, documented, either, keep_parameters, one_of
from sublearn._base.targets import ClassifierPart, RegressorPart
from sublearn.core.boosting.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogLinked,
    LogLoss,
    Loss,
    OneClass,
    Poisson,
    Quantile,
    Softmax,
    SquaredError,
)
from sublearn.core.data.samples import NOTHING
from sublearn.kernels.layout import Array


@documented
class SLMBoostClassifier(ClassifierPart, SLMBoost):
    """SLM Boost for classes.

    Every round grows a tree to the gradients and second derivatives of the loss at the predictions so far, and adds
    `learning_rate` times its answers. With more than two classes, a tree answers for all of them: its nodes tell two
    groups of classes apart, drawn anew each round, and its leaves have a value for each class.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the training loss, over all trees.
    n_iter_ : int
        Rounds in the model.
    learning_rate_ : float
        The learning rate, given or found; of `effort="best"`, that of the first of its models.
    settings_ : dict
        Depth, leaves, regularisation, share of the rows and number of models, given or found, by parameter. Given to
        another estimator together with the learning rate and the rounds, they make the same model; with
        `effort="best"` they are those of the first of its models.
    audition_ : list of dict
        The settings that were tried, the usual one first; empty where nothing was. Each has a `name`, its `settings`,
        its best `scores` on samples held out (minus the mean loss, for each part it was tried on; all were on the
        first one), the `seconds` it took, and `n_chosen`: how many of the models whose answers are averaged have it.
    train_score_ : ndarray
        Minus the mean training loss, before the first round and after each that was tried.
    validation_score_ : ndarray
        Minus the mean loss of validation samples, before the first round and after each; empty where there are none.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).

    See Also
    --------
    SLMForestClassifier : Trees side by side.
    SLMBoostRegressor : Boosting for numbers.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    def __init__(
        self,
        *,
        effort: str = "usual",
        n_models: Any = "auto",
        n_estimators: Any = "auto",
        learning_rate: Any = "auto",
        loss: Any = "log_loss",
        multiclass: str = "shared",
        l2_regularization: Any = "auto",
        min_child_weight: float = 0.2,
        min_gain: float = 1.0,
        subsample: Any = "auto",
        leaf: str = "auto",
        init: str = "data",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_bins: int = 64,
        subspace: str = "drawn",
        subspace_size: int = 8,
        n_projections: int = 6,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 3,
        selection: str = "projection",
        n_coefficients: Any = (2, 3, 4),
        selection_decay: Any = 0.1,
        envelope_height: float = 20.0,
        envelope_decay: Any = 0.3,
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = 512,
        n_finalists: int = 8,
        max_depth: Any = "auto",
        min_samples_split: float = 2,
        min_samples_leaf: Any = "auto",
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, eval_sample_weight: Any = None
    ) -> Self:
        """Fit round by round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples: numbers, which may be missing, and categories; see `categorical_features`.
        y : array-like of shape (n_samples,)
            Classes (strings or integers).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, but for what is drawn among the rows to
            validate on; weight 0 is its absence.
        eval_set : pair (X, y), default=None
            Samples to validate on after each round; with `early_stopping`, in the place of a part of the training
            samples.
        eval_sample_weight : array-like, default=None
            Weights of the samples to validate on.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            self._fit(X, y, sample_weight, Validation(eval_set, eval_sample_weight))
        return self

    def predict_proba(self, X: Any, *, check_input: bool = True) -> Array:
        """Probability of each class, in the order of `classes_`.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        raw = self._raw(X, check_input=check_input)
        return self._model.answer(raw)

    def decision_function(self, X: Any) -> Array:
        """Raw value of each sample: the log-odds of the second of two classes, or one value a class."""
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Class of each sample after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield self._classes_of(probabilities)

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Probability of each class after each round."""
        for raw in self._staged_raw(X):
            yield self._model.answer(raw)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Raw value of each sample after each round."""
        for raw in self._staged_raw(X):
            yield raw[:, 0].copy() if raw.shape[1] == 1 else raw.copy()

    def _make_loss(self, n_classes: int) -> Loss:
        if n_classes == 1:
            return OneClass()
        if isinstance(self.loss, Loss):
            return self.loss
        return LogLoss() if n_classes == 2 else Softmax(n_classes)


LOSSES: dict[str, Callable[[float | None], Loss]] = {
    "squared_error": lambda quantile: SquaredError(),
    "absolute_error": lambda quantile: AbsoluteError(),
    "quantile": lambda quantile: Quantile(0.5 if quantile is None else float(quantile)),
    "huber": lambda quantile: Huber(0.9 if quantile is None else float(quantile)),
    "poisson": lambda quantile: Poisson(),
    "gamma": lambda quantile: Gamma(),
}
LONGEST = 1e50  # exposure; the shortest is its inverse
WITH_QUANTILE = ("quantile", "huber")


@documented
class SLMBoostRegressor(RegressorPart, SLMBoost):
    """SLM Boost for numbers.

    Every round grows a tree to the gradients and second derivatives of the loss at the predictions so far, and adds
    `learning_rate` times its answers.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the training loss, over all trees.
    n_iter_ : int
        Rounds in the model.
    learning_rate_ : float
        The learning rate, given or found; of `effort="best"`, that of the first of its models.
    settings_ : dict
        Depth, leaves, regularisation, share of the rows and number of models, given or found, by parameter. Given to
        another estimator together with the learning rate and the rounds, they make the same model; with
        `effort="best"` they are those of the first of its models.
    audition_ : list of dict
        The settings that were tried, the usual one first; empty where nothing was. Each has a `name`, its `settings`,
        its best `scores` on samples held out (minus the mean loss, for each part it was tried on; all were on the
        first one), the `seconds` it took, and `n_chosen`: how many of the models whose answers are averaged have it.
    train_score_ : ndarray
        Minus the mean training loss, before the first round and after each that was tried.
    validation_score_ : ndarray
        Minus the mean loss of validation samples, before the first round and after each; empty where there are none.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).

    See Also
    --------
    SLMForestRegressor : Trees side by side.
    SLMBoostClassifier : Boosting for classes.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import SLMBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SLMBoostRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    _usual_l2 = 5.0
    _rules = {  # noqa: RUF012
        **SLMBoost._rules,
        "loss": either(one_of(*LOSSES), Rule("a sublearn.Loss", lambda v: isinstance(v, Loss))),
    }

    def __init__(
        self,
        *,
        effort: str = "usual",
        n_models: Any = "auto",
        n_estimators: Any = "auto",
        learning_rate: Any = "auto",
        loss: Any = "squared_error",
        quantile: float | None = None,
        l2_regularization: Any = "auto",
        min_child_weight: float = 0.2,
        min_gain: float = 1.0,
        subsample: Any = "auto",
        leaf: str = "auto",
        init: str = "data",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_bins: int = 64,
        subspace: str = "drawn",
        subspace_size: int = 8,
        n_projections: int = 6,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 3,
        selection: str = "projection",
        n_coefficients: Any = (2, 3, 4),
        selection_decay: Any = 0.1,
        envelope_height: float = 20.0,
        envelope_decay: Any = 0.3,
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = 512,
        n_finalists: int = 8,
        max_depth: Any = "auto",
        min_samples_split: float = 2,
        min_samples_leaf: Any = "auto",
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        exposure: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_exposure: Any = None,
    ) -> Self:
        """Fit round by round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples: numbers, which may be missing, and categories; see `categorical_features`.
        y : array-like of shape (n_samples,)
            Numbers, all 0 or the largest of a magnitude from 1e-100 to 1e100 (for 'gamma' each from 1e-100 to 1e100). A
            loss of your own may take others.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, but for what is drawn among the rows to
            validate on; weight 0 is its absence.
        eval_set : pair (X, y), default=None
            Samples to validate on after each round; with `early_stopping`, in the place of a part of the training
            samples.
        eval_sample_weight : array-like, default=None
            Weights of the samples to validate on.
        exposure : array-like of shape (n_samples,), default=None
            What each y was counted over (time, area, people), from 1e-50 to 1e50, for the losses 'poisson' and 'gamma':
            the model learns the rate, y / exposure.
        eval_exposure : array-like, default=None
            Exposures of the samples to validate on.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            self._check_quantile()
            self._fit(X, y, sample_weight, Validation(eval_set, eval_sample_weight, eval_exposure), exposure)
        return self

    def predict(self, X: Any, exposure: Any = None, *, check_input: bool = True) -> Array:
        """Number predicted for each sample: the rate times the exposure, where there is one.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        raw = self._raw(X, self._exposure_of(exposure, X), check_input)
        return self._model.answer(raw)

    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None) -> float:
        """R^2 of the predictions, with exposures where the model was fitted with such."""
        return float(r2_score(y, self.predict(X, exposure), sample_weight=sample_weight))

    def staged_predict(self, X: Any, exposure: Any = None) -> Iterator[Array]:
        """Number predicted for each sample after each round."""
        check_is_fitted(self)
        for raw in self._staged_raw(X, self._exposure_of(exposure, X)):
            yield self._model.answer(raw)

    def _check_quantile(self) -> None:
        if self.quantile is not None and (isinstance(self.loss, Loss) or self.loss not in WITH_QUANTILE):
            known = " or ".join(map(repr, WITH_QUANTILE))
            raise ValueError(
                f"quantile of {type(self).__name__} must be None unless the loss is {known}; got {self.quantile!r}."
            )

    def _make_loss(self, n_classes: int = 0) -> Loss:
        return self.loss if isinstance(self.loss, Loss) else LOSSES[self.loss](self.quantile)

    def _check_exposure(self, exposure: Any, X: Any, prefix: str = "") -> Array:
        return self._exposures(exposure, X, isinstance(self._make_loss(), LogLinked), prefix)

    def _exposure_of(self, exposure: Any, X: Any) -> Array:
        """Exposures of samples to predict."""
        if exposure is None:
            return NOTHING
        check_is_fitted(self)
        return self._exposures(exposure, X, self._model.link == "exponential")

    def _exposures(self, exposure: Any, X: Any, has_rate: bool, prefix: str = "") -> Array:
        """Exposures as numbers, for a loss that has a rate; empty for ones."""
        if exposure is None:
            return NOTHING
        name = f"{prefix}exposure of {type(self).__name__}"
        if not has_rate:
            raise ValueError(f"{name} must be None unless the loss is 'poisson' or 'gamma'.")
        with self._links.all_well():
            given = self._check_numbers(exposure, X, f"{prefix}exposure")
            low, high = (given.min(), given.max()) if given.size else (1.0, 1.0)  # a partition may be empty
            if not low > 0:
                raise ValueError(f"{name} must be positive everywhere; got {low:g}.")
            if low < 1 / LONGEST or high > LONGEST:
                raise ValueError(
                    f"{name} must lie from {1 / LONGEST:g} to {LONGEST:g}; got {low:g} to {high:g}. Choose another "
                    "unit."
                )
        return given
