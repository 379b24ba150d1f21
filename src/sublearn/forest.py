"""SLM Forest: trees that differ by their probabilistic projections, for classes and for numbers (paper Sec. III-A)."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from sublearn._base.ensemble import SLMEnsemble
from sublearn._base.estimator import Training, unchanged_on_error
from sublearn._base.parameters import as_count, check_parameters, documented, keep_parameters
from sublearn._base.targets import ClassifierPart, RegressorPart
from sublearn.core.data.codes import encode_samples
from sublearn.core.data.samples import Given
from sublearn.core.keys import key_below
from sublearn.core.links import Links
from sublearn.core.model.flat_ensemble import alone, apply, pack
from sublearn.core.model.flat_tree import FlatTree, feature_decreases, shares
from sublearn.core.parallel import Workers
from sublearn.core.tree.bagging import bagged, draw_bag
from sublearn.core.tree.grower import grow
from sublearn.core.tree.shared import fits_everywhere, grow_apart, known_trees
from sublearn.core.tree.task import Task
from sublearn.core.tree.threads import takes_long
from sublearn.kernels.layout import Array
from sublearn.tree import SLMClassifier, SLMRegressor, SLMTree

LARGEST = 1e300  # magnitude of y: the sum over any number of trees is still a float


class SLMForest(SLMEnsemble):
    """What the two forests share."""

    _tree_class: type[SLMTree]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples: numbers, which may be missing, and categories; see `categorical_features`.
        y : array-like of shape (n_samples,)
            Classes (strings or integers) or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each. Weight 2 is the row twice, but for bootstrap samples and races, which
            are drawn among the rows; weight 0 is its absence.

        Returns
        -------
        self : object
            The fitted forest. If fitting fails or is interrupted, the estimator stays as it was.
        """
        with unchanged_on_error(self):
            check_parameters(self)
            given = self._check_given(X, y, sample_weight)
            kept = self._kept()
            if kept:
                kept._check_settings()
                self._check_width(given.X.shape[1])
            self._check_bagging(self._links.total(len(given.X)))
            trees = kept._trees() if kept else []
            n_new = self._n_new(len(trees), 3) if kept else int(self.n_estimators)
            key = kept._drawn_from if kept else self._key()
            with self._workers() as workers:
                training = self._prepare(self._encode_targets(given), workers, kept._model.maps if kept else None)
                if kept:
                    self._check_codes(training.task.plan)
                    self._check_classes(training.coded.classes)
                trees += self._grow_trees(training, key, len(trees), n_new, workers)
                ensemble = pack(trees)
                votes = self._votes(ensemble.nodes.value)
                self._store_model(ensemble, training.coded, training.task.plan, votes=votes)
                self._drawn_from, self._settings = key, self._settings_now()
                for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
                    self.__dict__.pop(name, None)  # of an earlier fit
                if self.oob_score:
                    numbers = np.asarray(1.0 if sample_weight is None else sample_weight, np.float64)
                    weights_of_all = np.broadcast_to(numbers, len(given.X))
                    self._store_oob(given, weights_of_all, training, workers)
        return self

    @property
    def estimators_(self) -> list[SLMTree]:
        """The trees as estimators of their own."""
        check_is_fitted(self)
        return [self._as_estimator(tree) for tree in self._trees()]

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the decrease of the loss, in the mean over the trees."""
        check_is_fitted(self)
        each = [shares(feature_decreases(tree, self._model.maps.features)) for tree in self._trees()]
        return shares(np.mean(each, axis=0))

    def _settings_now(self) -> dict[str, Any]:
        return super()._settings_now() | {"bootstrap": self.bootstrap, "max_samples": self.max_samples}

    def _check_bagging(self, n_samples: int) -> None:
        name = type(self).__name__
        if self.max_samples is not None and as_count(self.max_samples, n_samples) > n_samples:
            raise ValueError(
                f"max_samples of {name} must be at most the number of samples, {n_samples}; got {self.max_samples}."
            )
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(f"max_samples of {name} must be None unless bootstrap=True; got {self.max_samples!r}.")
        if self.oob_score and not self.bootstrap:
            raise ValueError(f"oob_score of {name} must be False unless bootstrap=True, which leaves samples out.")

    def _bag(self, n_samples: int, key: int, links: Links) -> Array:
        """How often each of some samples is drawn, which are those of one of several partitions."""
        n, first = links.total(n_samples), links.before(n_samples)
        n_draws = n if self.max_samples is None else as_count(self.max_samples, n)
        return draw_bag(n, n_draws, key, first, first + n_samples)

    def _grow_trees(self, training: Training, key: int, n_kept: int, n_new: int, workers: Workers) -> list[FlatTree]:
        task, numbers = training.task, range(n_kept, n_kept + n_new)

        def draw(task: Task, number: int, links: Links) -> Task:
            bag = self._bag(task.samples.codes.shape[1], key_below(key, number), links) if self.bootstrap else None
            return task if bag is None else bagged(task, bag, links)

        def grow_one(task: Task, number: int, worker: Workers) -> FlatTree:
            return grow(draw(task, number, worker.links), key_below(key, number), worker)

        def settle(tree: FlatTree, number: int, worker: Workers) -> FlatTree:
            return training.settled(tree, worker, draw(task, number, worker.links)) if training.settles else tree

        known = known_trees(n_new, workers.links)
        trees = [settle(tree, number, workers) for number, tree in zip(numbers, known, strict=False)]
        numbers = numbers[len(known) :]
        if fits_everywhere(task, workers):
            grown = grow_apart(task, grow_one, numbers, takes_long(task), workers)
            return trees + [settle(tree, number, workers) for number, tree in zip(numbers, grown, strict=True)]

        def grow_settled(i: int, worker: Workers) -> FlatTree:
            return settle(grow_one(task, numbers[i], worker), numbers[i], worker)

        return trees + workers.each(grow_settled, len(numbers), takes_long(task))

    def _votes(self, value: Array) -> Array | None:
        """What nodes of these values contribute, if not the values themselves."""
        return None

    def _store_oob(self, given: Given, sample_weight: Array, training: Training, workers: Workers) -> None:
        """Predict every sample by the trees that have not seen it."""
        model, n_samples = self._model, len(given.X)
        codes = encode_samples(given.X, model.maps, workers)
        codes[:, training.coded.rows] = training.coded.unseen  # means of categories without the own target
        sums = np.zeros((n_samples, model.contributions.shape[1]))
        n_trees = np.zeros(n_samples)
        for t, root in enumerate(model.ensemble.roots.tolist()):
            unseen = np.ones(n_samples, np.bool_)
            bag = self._bag(len(training.coded.rows), key_below(self._drawn_from, t), self._links)
            unseen[training.coded.rows[bag > 0]] = False
            leaves = apply(model.ensemble.only(t), codes, workers)[:, 0]
            sums[unseen] += model.contributions[root + leaves[unseen]]
            n_trees[unseen] += 1
        if not self._links.every(n_trees.all()):
            text = "some samples were drawn for every tree and have no out-of-bag prediction; grow more trees."
            warnings.warn(text, stacklevel=3)
        with np.errstate(invalid="ignore"):
            predictions = self._links.whole(sums / n_trees[:, None])
        self._keep_oob(predictions)
        counted = self._links.whole((n_trees > 0) & (sample_weight > 0))
        weights = _near_one(self._links.whole(np.ascontiguousarray(sample_weight))[counted])
        y = self._links.whole(given.y)[counted]
        self.oob_score_ = self._oob_score(y, predictions[counted], weights) if counted.any() else np.nan

    def _as_estimator(self, tree: FlatTree) -> SLMTree:
        names = self._tree_class._get_param_names()
        estimator = self._tree_class(**{name: value for name, value in self.get_params().items() if name in names})
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(estimator, name, getattr(self, name))
        estimator._model = replace(self._model, ensemble=alone(tree), votes=None)
        return estimator

    def _mean(self, X: Any, check_input: bool) -> Array:
        """Mean answer of the trees."""
        X = self._check_samples(X, check_input)
        with self._workers(len(X)) as workers:
            return self._model.mean(X, workers)


@documented
class SLMForestClassifier(ClassifierPart, SLMForest):
    """SLM Forest for classes.

    Trees as `SLMClassifier` grows them. They differ by what is drawn: each node's subspace S0, and the projections over
    it. By default every tree sees all samples, as in the paper.

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
        Share of each feature in the decrease of the loss, in the mean over the trees.
    estimators_ : list of SLMClassifier
        The trees.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).
    oob_score_ : float
        Accuracy on the samples a tree has not seen; with `oob_score=True`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities by the trees that have not seen a sample; NaN where there is none.

    See Also
    --------
    SLMClassifier : One tree.
    SLMBoostClassifier : Boosting.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SLMForestClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    _tree_class = SLMClassifier

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        voting: str = "soft",
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        criterion: str = "entropy",
        n_bins: int = 16,
        subspace: str = "drawn",
        subspace_size: int = 6,
        n_projections: int = 12,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 0,
        selection: str = "projection",
        n_coefficients: Any = (2, 3, 4),
        selection_decay: Any = 0.1,
        envelope_height: float = 10.0,
        envelope_decay: Any = 0.2,
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = 16384,
        n_finalists: int = 8,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
        min_weight_fraction_leaf: float = 0.0,
        min_loss: float = 0.0,
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def predict_proba(self, X: Any, *, check_input: bool = True) -> Array:
        """Probability of each class, in the order of `classes_`: its share of the votes, hard or soft.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        return self._mean(X, check_input)

    def _votes(self, value: Array) -> Array | None:
        """One vote for the largest share of the classes, if votes are hard."""
        return np.eye(value.shape[1])[value.argmax(axis=1)] if self.voting == "hard" else None

    def _keep_oob(self, predictions: Array) -> None:
        self.oob_decision_function_ = predictions

    def _oob_score(self, y: Array, predictions: Array, weights: Array) -> float:
        return float(accuracy_score(y, self._classes_of(predictions), sample_weight=weights))


@documented
class SLMForestRegressor(RegressorPart, SLMForest):
    """SLM Forest for numbers: the mean of trees as `SLMRegressor` grows them, which differ by what is drawn.

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
        Share of each feature in the decrease of the loss, in the mean over the trees.
    estimators_ : list of SLMRegressor
        The trees.
    ensemble_ : FlatEnsemble
        The trees, as flat arrays.
    feature_maps_ : FeatureMaps
        The maps from values to integer codes.
    n_partitions_ : int
        Number of hyperplanes of all trees.
    n_parameters_ : int
        Model size by the paper's formula, `n_partitions_` times (D0 + 1).
    oob_score_ : float
        R^2 on the samples a tree has not seen; with `oob_score=True`.
    oob_prediction_ : ndarray of shape (n_samples,)
        Mean by the trees that have not seen a sample; NaN where there is none.

    See Also
    --------
    SLMRegressor : One tree.
    SLMBoostRegressor : Boosting.

    References
    ----------
    H. Fu, Y. Yang, V. K. Mishra and C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sublearn import SLMForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SLMForestRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    _tree_class = SLMRegressor

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        criterion: str = "squared_error",
        n_bins: int = 16,
        subspace: str = "drawn",
        subspace_size: int = 6,
        n_projections: int = 12,
        draws_per_sample: int | None = 4,
        fitted_projections: int = 0,
        selection: str = "projection",
        n_coefficients: Any = (2, 3, 4),
        selection_decay: Any = 0.1,
        envelope_height: float = 10.0,
        envelope_decay: Any = 0.2,
        axis_projections: bool = True,
        max_partitions: int = 1,
        max_cosine: float = 0.5,
        effective_ratio: float = 0.5,
        racing_samples: int | None = 16384,
        n_finalists: int = 8,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
        min_weight_fraction_leaf: float = 0.0,
        min_loss: float = 0.0,
        categorical_features: Any = "from_dtype",
        feature_map: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def predict(self, X: Any, *, check_input: bool = True) -> Array:
        """Number predicted for each sample: the mean over the trees.

        With `check_input=False`, X is taken as it is: a float64 array in C order. For single samples most time goes
        into checks otherwise.
        """
        return self._mean(X, check_input)[:, 0]

    def _encode_targets(self, given: Given) -> Given:
        given = super()._encode_targets(given)
        with self._links.all_well():
            if np.abs(given.y).max(initial=0.0) > LARGEST:
                raise ValueError(
                    f"y of {type(self).__name__} must lie from {-LARGEST:g} to {LARGEST:g}, so that trees can be added "
                    f"up; got numbers from {given.y.min():g} to {given.y.max():g}."
                )
        return given

    def _keep_oob(self, predictions: Array) -> None:
        self.oob_prediction_ = predictions[:, 0]

    def _oob_score(self, y: Array, predictions: Array, weights: Array) -> float:
        both = _near_one(np.concatenate([y, predictions[:, 0]]))
        with np.errstate(over="ignore"):  # minus infinity, where what varies weighs next to nothing
            return float(r2_score(both[: len(y)], both[len(y) :], sample_weight=weights))


def _near_one(numbers: Array) -> Array:
    """Numbers times a power of two, so that sums and squares of the largest neither over- nor underflow."""
    near: Array = np.ldexp(numbers, -np.frexp(np.abs(numbers).max(initial=0.0))[1])
    return near
