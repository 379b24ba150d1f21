"""SLM Boost: second-order gradient boosting of SLM trees, for classes and for numbers (paper Sec. III-B)."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted, validate_data

from sublearn._ensemble import SLMEnsemble
from sublearn._estimator import FLOATS, ClassifierPart, RegressorPart, unchanged_on_error
from sublearn._parameters import Rule, check_parameters, documented, either, keep_parameters, one_of
from sublearn._progress import Progress, shown
from sublearn.core.booster import Growth, Problem, Round, boost
from sublearn.core.codes import FeatureMaps, code_limit, encode_samples, fit_maps
from sublearn.core.fixed_point import Weights
from sublearn.core.flat_ensemble import FlatEnsemble, add_values
from sublearn.core.flat_tree import FlatTree, feature_decreases, shares
from sublearn.core.keys import key_below
from sublearn.core.losses import (
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
    logarithms,
)
from sublearn.core.parallel import Workers
from sublearn.core.parameters import BoostParameters
from sublearn.kernels.layout import Array

SPLIT = 1 << 32  # what is drawn below the key, apart from rounds
NOTHING = np.empty(0)
FIXED = {"criterion": "second_order", "min_loss": -np.inf, "min_weight_fraction_leaf": 0.0}


class Part(NamedTuple):
    """Checked samples, to train or to validate on."""

    X: Array
    y: Array  # float64 (n_samples,), numbers or class positions
    weights: Weights
    factors: Array  # float64 (n_samples,), weights of the samples' classes; empty for ones
    exposure: Array  # float64 (n_samples,); empty for ones

    def take(self, rows: Any) -> "Part":
        """Some of the samples."""
        factors = self.factors[rows] if self.factors.size else self.factors
        exposure = self.exposure[rows] if self.exposure.size else self.exposure
        return Part(self.X[rows], self.y[rows], self.weights.take(rows), factors, exposure)


class Scores(NamedTuple):
    """Minus the mean loss, before the first round and after each."""

    training: list[float]
    validation: list[float]  # empty where there is nothing to validate on

    @property
    def best(self) -> int:
        """Number of rounds that validate best."""
        return int(np.nanargmax(self.validation))


class SLMBoost(SLMEnsemble):
    """What the two boosting estimators share."""

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of the training loss, over all trees."""
        check_is_fitted(self)
        return shares(feature_decreases(self.ensemble_.nodes, self.n_features_in_))

    def _fit_parts(self, part: Part, validation: Part | None, n_outputs: int) -> None:
        """Fit to checked samples, of which none has weight 0."""
        kept = self._kept()
        key = kept._drawn_from if kept else self._key()
        given = validation is not None
        if validation is None and self.early_stopping:
            part, validation = self._split(part, key_below(key, SPLIT))
        loss = self._make_loss()
        if kept and isinstance(loss, Huber) and isinstance(kept._loss, Huber):
            loss = deepcopy(kept._loss)  # which knows the residuals of the first round
        self._check_domain(loss, part.y, "")
        if validation is not None:
            self._check_domain(loss, validation.y, " in eval_set" if given else "")
        parameters = self._tree_parameters(part.weights.count(len(part.X)), **FIXED)
        plan = self._plan(parameters, part.X.shape[1])
        if kept:
            maps, start, trees = kept.feature_maps_, kept._start, kept._trees()
        else:
            maps = fit_maps(part.X, part.weights.weights, self.feature_map, code_limit(plan.coefficient_sum))
            start, trees = self._start_value(loss, part, n_outputs), []
        n_kept = len(trees)
        n_rounds = n_kept + self._n_new(n_kept, 4) if kept else int(self.n_estimators)
        growth = Growth(parameters, plan, self._boost_parameters(), key)
        with self._workers() as workers:
            training = _problem(part, loss, maps, start, trees, workers)
            validating = None if validation is None else _problem(validation, loss, maps, start, trees, workers)
            training.prepare()
            scores = _scores_so_far(kept, training, validating)
            rounds = boost(training, validating, growth, range(n_kept, n_rounds), workers)
            self._collect(rounds, trees, scores, n_rounds)
        self._store_trees(trees, maps, plan.subspace_size, key)
        self._loss, self._start = loss, start
        self.n_iter_ = len(trees)
        self.train_score_ = np.array(scores.training)
        self.validation_score_ = np.array(scores.validation)

    def _split(self, part: Part, key: int) -> tuple[Part, Part]:
        """Training and validation samples."""
        rows = np.arange(len(part.y))
        stratify = part.y if isinstance(self, ClassifierPart) else None
        share = float(self.validation_fraction)
        try:
            train, test = train_test_split(rows, test_size=share, random_state=key % 2**32, stratify=stratify)
        except ValueError as error:
            raise ValueError(
                f"validation_fraction of {type(self).__name__} must leave samples, of every class, to train and to "
                f"validate on; got {share:g} of {len(rows)} samples: {error} Give more samples, or an eval_set."
            ) from None
        return part.take(np.sort(train)), part.take(np.sort(test))

    def _check_domain(self, loss: Loss, y: Array, where: str) -> None:
        if isinstance(self.loss, Loss):
            loss.check(y)
            return
        try:
            loss.check(y)
        except ValueError as error:
            low, high = y.min(), y.max()
            name = type(self).__name__
            raise ValueError(f"{error}; {name}.fit got numbers from {low:g} to {high:g}{where}.") from None

    def _boost_parameters(self) -> BoostParameters:
        return BoostParameters(
            learning_rate=float(self.learning_rate),
            l2=float(self.l2_regularization),
            min_child_weight=float(self.min_child_weight),
            subsample=float(self.subsample),
        )

    def _start_value(self, loss: Loss, part: Part, n_outputs: int) -> Array:
        """Raw values (n_outputs,) before the first round."""
        start = np.zeros(n_outputs)
        if self.init == "data":
            y, weights = part.y, part.weights.numbers(len(part.y))
            if part.factors.size:  # totals of the classes first: they are exact
                weights = np.bincount(y.astype(np.int64), weights, len(self._factors)) * self._factors
                y = np.arange(len(weights), dtype=np.float64)
            if part.exposure.size and isinstance(loss, LogLinked):
                given = np.asarray(loss.rate(y, weights, part.exposure), np.float64)
            else:
                given = np.asarray(loss.start(y, weights), np.float64)
            if given.shape not in ((), start.shape) or not np.isfinite(given).all():
                raise ValueError(f"start of {loss!r} must be a finite number, or {n_outputs} of them; got {given}.")
            start += given
        return start

    def _collect(self, rounds: Iterator[Round], trees: list[FlatTree], scores: Scores, n_rounds: int) -> None:
        """Add rounds to trees and scores until one has to be the last."""
        with shown(bool(self.verbose)) as show:
            for added in rounds:
                trees.append(added.tree)
                scores.training.append(added.train_score)
                if added.validation_score is not None:
                    scores.validation.append(added.validation_score)
                n_iter = len(scores.training) - 1
                progress = Progress(n_iter, n_rounds, added.train_score, added.validation_score)
                show(progress)
                wishes = [callback(progress) for callback in self.callbacks or ()]
                if any(isinstance(wish, bool | np.bool_) and wish for wish in wishes):
                    break
                if self.early_stopping and n_iter - scores.best >= self.n_iter_no_change:
                    break
        if self.early_stopping:
            del trees[scores.best :]

    def _validation_part(self, eval_set: Any, eval_sample_weight: Any, eval_exposure: Any = None) -> Part | None:
        """The given validation samples, checked."""
        name = type(self).__name__
        if eval_set is None:
            if eval_sample_weight is not None or eval_exposure is not None:
                raise ValueError(f"eval_set of {name}.fit must be given with eval_sample_weight or eval_exposure.")
            return None
        if isinstance(eval_set, list) and len(eval_set) == 1:  # as other libraries want it
            eval_set = eval_set[0]
        if not isinstance(eval_set, tuple | list) or len(eval_set) != 2 or isinstance(eval_set[0], tuple):
            raise ValueError(f"eval_set of {name}.fit must be one pair (X, y); got {type(eval_set).__name__}.")
        X, y = validate_data(self, *eval_set, reset=False, dtype=FLOATS)
        weights = self._check_weights(eval_sample_weight, X, "eval_sample_weight")
        part: Part = self._part(X, y, weights, self._check_exposure(eval_exposure, X, "eval_exposure"))
        part = part.take(weights.present())
        return part.take(part.factors > 0) if part.factors.size else part

    def _raw(self, X: Any, exposure: Array = NOTHING) -> Array:
        """Raw values (n_samples, n_outputs) after all rounds."""
        check_is_fitted(self)
        start = self._start + logarithms(exposure)[:, None] if exposure.size else self._start
        return self._sums(X, self.ensemble_.nodes.value, start)

    def _staged_raw(self, X: Any, exposure: Array = NOTHING) -> Iterator[Array]:
        """Raw values (n_samples, n_outputs) after each round; one array, renewed."""
        check_is_fitted(self)
        with self._workers() as workers:
            codes = self._encode(X, workers)
            raw = np.empty((codes.shape[1], len(self._start)))
            raw[:] = self._start + logarithms(exposure)[:, None] if exposure.size else self._start
            nodes, roots = self.ensemble_
            for t in range(len(roots)):
                add_values(FlatEnsemble(nodes, roots[t : t + 1]), nodes.value, codes, raw, workers)
                yield raw


def _problem(
    part: Part, loss: Loss, maps: FeatureMaps, start: Array, trees: list[FlatTree], workers: Workers
) -> Problem:
    """Samples in the form the core takes, and what the trees so far make of them."""
    raw = np.empty((len(part.y), len(start)))
    raw[:] = start + logarithms(part.exposure)[:, None] if part.exposure.size else start
    problem = Problem(encode_samples(part.X, maps, workers), part.y, part.weights, part.factors, loss, raw)
    if trees:
        problem.add(trees, workers)
    return problem


def _scores_so_far(kept: Any, training: Problem, validating: Problem | None) -> Scores:
    """Scores of the rounds that are kept, or of the start."""
    if kept is None:
        return Scores([training.score()], [] if validating is None else [validating.score()])
    n = kept.n_iter_ + 1
    validation: list[float] = kept.validation_score_[:n].tolist()
    if validating is None:
        validation = []
    elif not validation:
        validation = [np.nan] * (n - 1) + [validating.score()]
    return Scores(kept.train_score_[:n].tolist(), validation)


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
    train_score_ : ndarray
        Minus the mean training loss, before the first round and after each that was tried.
    validation_score_ : ndarray
        The same on validation samples; empty where there are none.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, n_partitions_ times (D0 + 1).

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
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        loss: Any = "log_loss",
        l2_regularization: float = 1.0,
        min_child_weight: float = 2.0,
        subsample: float = 1.0,
        init: str = "data",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_bins: int = 16,
        subspace: str = "drawn",
        subspace_size: int = 8,
        n_projections: int = 12,
        n_coefficients: Any = (2, None),
        selection_decay: Any = 0.1,
        envelope_height: float = 20.0,
        envelope_decay: Any = (0.6, 0.3),
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        max_depth: int | None = 6,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
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
        X : array-like of shape (n_samples, n_features)
            Samples; numbers without NaN or infinity.
        y : array-like of shape (n_samples,)
            Classes (strings or integers).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, weight 0 its absence.
        eval_set : pair (X, y), default=None
            Samples to validate on after each round; with `early_stopping`, in the place of a part of the training
            samples.
        eval_sample_weight : array-like, default=None
            Weights of those.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            X, y = self._check_data(X, y)
            weights = self._check_weights(sample_weight, X)
            rows = weights.present()
            X, y, weights = X[rows], y[rows], weights.take(rows)
            classes, labels = np.unique(y, return_inverse=True)
            kept = self._kept()
            if kept:
                self._check_width(X)
                self._check_classes(kept.classes_, classes)
            self.classes_ = classes
            self._factors = self._class_factors(classes, labels, weights)
            part = self._part(X, y, weights, NOTHING)
            if part.factors.size:
                part = part.take(part.factors > 0)
            validation = self._validation_part(eval_set, eval_sample_weight)
            self._fit_parts(part, validation, len(classes) if len(classes) > 2 else 1)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""
        return self._probabilities(self._raw(X))

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
            yield self._probabilities(raw)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Raw value of each sample after each round."""
        for raw in self._staged_raw(X):
            yield raw[:, 0].copy() if raw.shape[1] == 1 else raw.copy()

    def _make_loss(self) -> Loss:
        n_classes = len(self.classes_)
        if n_classes == 1:
            return OneClass()
        if isinstance(self.loss, Loss):
            return self.loss
        return LogLoss() if n_classes == 2 else Softmax(n_classes)

    def _part(self, X: Array, y: Array, weights: Weights, exposure: Array) -> Part:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            name = type(self).__name__
            raise ValueError(f"eval_set of {name}.fit must hold classes of y only; got {unknown.tolist()} too.")
        labels = np.searchsorted(self.classes_, y)
        factors = NOTHING if (self._factors == 1.0).all() else self._factors[labels]
        if factors.size and not factors.any():
            raise ValueError(f"eval_set of {type(self).__name__}.fit must hold a class whose class_weight is not 0.")
        return Part(X, labels.astype(np.float64), weights, factors, exposure)

    def _check_exposure(self, exposure: Any, X: Any, parameter: str = "exposure") -> Array:
        return NOTHING

    def _probabilities(self, raw: Array) -> Array:
        n_classes = len(self.classes_)
        loss: Loss = self._loss
        if type(loss).prediction is Loss.prediction:  # a loss of the user's that leaves this to us
            loss = LogLoss() if n_classes == 2 else Softmax(n_classes)
        given = np.asarray(loss.prediction(raw[:, 0] if raw.shape[1] == 1 else raw), np.float64)
        return np.column_stack([1.0 - given, given]) if given.ndim == 1 else given


LOSSES: dict[str, Callable[[float | None], Loss]] = {
    "squared_error": lambda quantile: SquaredError(),
    "absolute_error": lambda quantile: AbsoluteError(),
    "quantile": lambda quantile: Quantile(0.5 if quantile is None else float(quantile)),
    "huber": lambda quantile: Huber(0.9 if quantile is None else float(quantile)),
    "poisson": lambda quantile: Poisson(),
    "gamma": lambda quantile: Gamma(),
}


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
    train_score_ : ndarray
        Minus the mean training loss, before the first round and after each that was tried.
    validation_score_ : ndarray
        The same on validation samples; empty where there are none.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, n_partitions_ times (D0 + 1).

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

    _rules = {"loss": either(one_of(*LOSSES), Rule("a sublearn.Loss", lambda v: isinstance(v, Loss)))}  # noqa: RUF012

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        loss: Any = "squared_error",
        quantile: float | None = None,
        l2_regularization: float = 1.0,
        min_child_weight: float = 2.0,
        subsample: float = 1.0,
        init: str = "data",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        callbacks: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_bins: int = 16,
        subspace: str = "drawn",
        subspace_size: int = 8,
        n_projections: int = 12,
        n_coefficients: Any = (2, None),
        selection_decay: Any = 0.1,
        envelope_height: float = 20.0,
        envelope_decay: Any = (0.6, 0.3),
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        max_depth: int | None = 6,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
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
        X : array-like of shape (n_samples, n_features)
            Samples; numbers without NaN or infinity.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, weight 0 its absence.
        eval_set : pair (X, y), default=None
            Samples to validate on after each round; with `early_stopping`, in the place of a part of the training
            samples.
        eval_sample_weight : array-like, default=None
            Weights of those.
        exposure : array-like of shape (n_samples,), default=None
            What each y was counted over (time, area, people), for the losses 'poisson' and 'gamma': the model learns
            the rate, y / exposure.
        eval_exposure : array-like, default=None
            Exposures of the samples to validate on.

        Returns
        -------
        self : object
            The fitted estimator. If fitting fails or is interrupted, it stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            X, y = self._check_data(X, y)
            weights = self._check_weights(sample_weight, X)
            if self._kept():
                self._check_width(X)
            if eval_set is not None and (exposure is None) != (eval_exposure is None):
                name = type(self).__name__
                raise ValueError(f"exposure and eval_exposure of {name}.fit must both be given, or neither.")
            part = self._part(X, y, weights, self._check_exposure(exposure, X)).take(weights.present())
            self._fit_parts(part, self._validation_part(eval_set, eval_sample_weight, eval_exposure), 1)
        return self

    def predict(self, X: Any, exposure: Any = None) -> Array:
        """Number predicted for each sample: the rate times the exposure, where there is one."""
        check_is_fitted(self)
        return self._predictions(self._raw(X, self._check_exposure(exposure, X)))

    def staged_predict(self, X: Any, exposure: Any = None) -> Iterator[Array]:
        """Number predicted for each sample after each round."""
        check_is_fitted(self)
        for raw in self._staged_raw(X, self._check_exposure(exposure, X)):
            yield self._predictions(raw)

    def _make_loss(self) -> Loss:
        return self.loss if isinstance(self.loss, Loss) else LOSSES[self.loss](self.quantile)

    def _part(self, X: Array, y: Array, weights: Weights, exposure: Array) -> Part:
        return Part(X, np.asarray(y, np.float64), weights, NOTHING, exposure)

    def _check_exposure(self, exposure: Any, X: Any, parameter: str = "exposure") -> Array:
        """Exposures as numbers; empty for ones."""
        if exposure is None:
            return NOTHING
        name = type(self).__name__
        if self.loss not in ("poisson", "gamma"):
            raise ValueError(f"{parameter} of {name} must be None unless the loss is 'poisson' or 'gamma'.")
        given = self._check_numbers(exposure, X, parameter)
        if not (given > 0).all():
            raise ValueError(f"{parameter} of {name} must be positive everywhere; got {given.min():g}.")
        return given

    def _predictions(self, raw: Array) -> Array:
        loss: Loss = self._loss
        return np.array(loss.prediction(raw[:, 0]), np.float64)
