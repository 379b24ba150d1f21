"""What the two boosting estimators share: samples to train and validate on, rounds, early stopping."""

import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from sublearn._base.ensemble import SLMEnsemble
from sublearn._base.estimator import ClassifierPart
from sublearn._base.parameters import PARAMETERS, either, one_of
from sublearn._base.progress import Progress, shown
from sublearn.core.boosting.auto import chances, scale_of
from sublearn.core.boosting.losses import CompiledLoss, LogLinked, Loss, as_answer, logarithms
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.boosting.rounds import Growth, Round, boost
from sublearn.core.boosting.trial import GrowthAt, Wish, rate_and_rounds
from sublearn.core.data.codes import FeatureMaps, code_limit, encode_samples, fit_maps
from sublearn.core.data.fixed_point import Weights
from sublearn.core.keys import key_below
from sublearn.core.model.flat_ensemble import add_values, pack
from sublearn.core.model.flat_tree import FlatTree, feature_decreases, shares
from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import BoostParameters
from sublearn.kernels.layout import Array

SPLIT, TRIAL = 1 << 32, 1 << 33  # what is drawn below the key, apart from rounds
NOTHING = np.empty(0)
LONGEST = 1e50  # exposure; the shortest is its inverse
FARTHEST = 1e110  # step of a leaf that no target within the limits asks for; its square is still a float
FIXED = {"criterion": "second_order", "min_loss": -np.inf, "min_weight_fraction_leaf": 0.0}


class RanAwayError(ValueError):
    """Raised where rounds of boosting have left the data behind."""


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

    _rules = {  # noqa: RUF012
        "n_estimators": either(one_of("auto"), PARAMETERS["n_estimators"].rule),
        "learning_rate": either(one_of("auto"), PARAMETERS["learning_rate"].rule),
        "max_depth": either(one_of("auto"), PARAMETERS["max_depth"].rule),
    }
    _heaviest = 1e50

    @property
    def _is_separate(self) -> bool:
        """Whether each class has trees of its own, where there are more than two."""
        return getattr(self, "multiclass", None) == "separate"

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
        if kept:
            self._check_settings(kept._settings)
        loss = deepcopy(kept._loss if kept else self._make_loss())  # it may keep what it has seen
        self._check_domain(loss, part.y, "")
        if validation is not None:
            self._check_domain(loss, validation.y, " in eval_set" if given else "")
        n_samples = part.weights.count(len(part.X))
        parameters = self._tree_parameters(n_samples, **FIXED | self._depth(n_samples))
        plan = self._plan(parameters, part.X.shape[1])
        if kept:
            self._check_codes(plan)
            start, trees = kept._start, kept._trees()
        else:
            start, trees = self._start_value(loss, part, n_outputs), []
        n_each = n_outputs if self._is_separate else 1
        n_kept = len(trees) // n_each
        with self._workers() as workers:
            limit = code_limit(plan.coefficient_sum)
            maps = (
                kept.feature_maps_ if kept else fit_maps(part.X, part.weights.weights, self.feature_map, limit, workers)
            )
            training = _problem(part, loss, maps, start, trees, workers)
            validating = None if validation is None else _problem(validation, loss, maps, start, trees, workers)

            def growth_at(rate: float) -> Growth:
                return Growth(parameters, plan, self._boost_parameters(part.X.shape[1], rate), key)

            rate, n_rounds = self._rate_and_rounds(kept, training, growth_at, key_below(key, TRIAL), workers)
            training.prepare()
            scores = _scores_so_far(kept, training, validating, workers)
            rounds = boost(training, validating, growth_at(rate), range(n_kept, n_rounds), workers)
            self._collect(self._on_course(rounds, loss, rate, n_kept), trees, scores, n_rounds, n_each)
        self._store_trees(trees, maps, plan.subspace_size, key)
        self._loss, self._start, self._settings = loss, start, self._loss_settings()
        self.learning_rate_ = rate
        self._warn_of_light_weights(trees, part.weights, len(part.y))
        self.n_iter_, self._n_each = len(trees) // n_each, n_each
        self.train_score_ = np.array(scores.training)
        self.validation_score_ = np.array(scores.validation)

    def _rate_and_rounds(
        self, kept: Any, training: Problem, growth_at: GrowthAt, key: int, workers: Workers
    ) -> tuple[float, int]:
        """Learning rate, and how many rounds there will be."""
        rate = None if self.learning_rate == "auto" else float(self.learning_rate)
        if kept:
            return rate or kept.learning_rate_, kept.n_iter_ + self._n_new(kept.n_iter_, 5)
        n_rounds = None if self.n_estimators == "auto" else int(self.n_estimators)
        wish = Wish(rate, n_rounds, may_try=not self.early_stopping, shares=not self._is_separate)
        return rate_and_rounds(training, growth_at, wish, key, workers)

    def _loss_settings(self) -> tuple[Any, ...]:
        """What trees that are kept depend on."""
        loss = type(self.loss).__name__ if isinstance(self.loss, Loss) else self.loss
        return loss, getattr(self, "quantile", None), self.init, getattr(self, "multiclass", None)

    def _check_settings(self, before: tuple[Any, ...]) -> None:
        names = ("loss", "quantile", "init", "multiclass")
        for name, old, new in zip(names, before, self._loss_settings(), strict=True):
            if old != new:
                owner = type(self).__name__
                raise ValueError(f"{name} of {owner} must stay {old!r}, as warm_start=True keeps trees; got {new!r}.")

    def _warn_of_light_weights(self, trees: list[FlatTree], weights: Weights, n_rows: int) -> None:
        """Warn if samples of weight 1 would have been enough to split, but those given are not."""
        total, enough = weights.total(n_rows) * weights.step, 2 * self.min_child_weight
        hessian = trees[0].weight[0] if trees and trees[0].n_nodes == 1 else np.inf
        if hessian < enough <= hessian * n_rows / total:
            warnings.warn(
                f"{type(self).__name__} has learned a constant: all samples together weigh too little to give each "
                f"child min_child_weight={self.min_child_weight:g}. Scale sample_weight up, or this parameter down.",
                stacklevel=4,
            )

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
        try:
            loss.check(y)
        except ValueError as error:
            if isinstance(self.loss, Loss):  # the user's own words
                raise
            low, high = y.min(), y.max()
            name = type(self).__name__
            raise ValueError(f"{error}; {name}.fit got numbers from {low:g} to {high:g}{where}.") from None

    def _depth(self, n_samples: int) -> dict[str, int]:
        """The largest depth, where the user does not say."""
        return {"max_depth": scale_of(n_samples).max_depth} if self.max_depth == "auto" else {}

    def _boost_parameters(self, n_features: int, rate: float) -> BoostParameters:
        return BoostParameters(
            learning_rate=rate,
            l2=float(self.l2_regularization),
            min_gain=float(self.min_gain) * chances(n_features),
            min_child_weight=float(self.min_child_weight),
            subsample=float(self.subsample),
            separate=self._is_separate,
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
                given: Any = loss.rate(y, weights, part.exposure)
            else:
                given = loss.start(y, weights)
            start += as_answer(loss, "start", given, (), start.shape)
            if not np.isfinite(start).all():
                raise ValueError(f"start of {loss!r} must be finite; got {given}.")
        return start

    def _on_course(self, rounds: Iterator[Round], loss: Loss, rate: float, n_kept: int) -> Iterator[Round]:
        """The rounds, as long as they do not run away from the data."""
        for number, added in enumerate(rounds, n_kept + 1):
            step = max(np.abs(tree.value).max() for tree in added.trees)
            if isinstance(loss, CompiledLoss) and not (step <= FARTHEST and -added.train_score <= loss.most):
                name = type(self).__name__
                raise RanAwayError(
                    f"learning_rate of {name} must be lower, or l2_regularization higher: round {number} adds up to "
                    f"{step:g} and has a training loss of {-added.train_score:g}; got {rate:g}."
                )
            yield added

    def _collect(
        self, rounds: Iterator[Round], trees: list[FlatTree], scores: Scores, n_rounds: int, n_each: int
    ) -> None:
        """Add rounds, each of n_each trees, to trees and scores until one has to be the last."""
        callbacks = [self.callbacks] if callable(self.callbacks) else self.callbacks or ()
        with shown(bool(self.verbose)) as show:
            for added in rounds:
                trees += added.trees
                scores.training.append(added.train_score)
                if added.validation_score is not None:
                    scores.validation.append(added.validation_score)
                n_iter = len(scores.training) - 1
                progress = Progress(n_iter, n_rounds, added.train_score, added.validation_score)
                show(progress)
                wishes = [callback(progress) for callback in callbacks]
                if any(isinstance(wish, bool | np.bool_) and wish for wish in wishes):
                    break
                if self.early_stopping and n_iter - scores.best >= self.n_iter_no_change:
                    break
        if self.early_stopping:
            del trees[scores.best * n_each :]

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
        try:
            X, y = self._check_data(*eval_set, reset=False)
        except ValueError as error:
            raise ValueError(f"eval_set of {name}.fit must be like X and y: {error}") from None
        weights = self._check_weights(eval_sample_weight, X, "eval_sample_weight")
        part: Part = self._part(X, y, weights, self._check_exposure(eval_exposure, X, self._make_loss(), "eval_"))
        part = part.take(weights.present())
        return part.take(part.factors > 0) if part.factors.size else part

    def _check_exposure(self, exposure: Any, X: Any, loss: Loss, prefix: str = "") -> Array:
        """Exposures as numbers; empty for ones."""
        if exposure is None:
            return NOTHING
        name = f"{prefix}exposure of {type(self).__name__}"
        if not isinstance(loss, LogLinked):
            raise ValueError(f"{name} must be None unless the loss is 'poisson' or 'gamma'.")
        given = self._check_numbers(exposure, X, f"{prefix}exposure")
        if not (given > 0).all():
            raise ValueError(f"{name} must be positive everywhere; got {given.min():g}.")
        if given.min() < 1 / LONGEST or given.max() > LONGEST:
            low, high = given.min(), given.max()
            raise ValueError(
                f"{name} must lie from {1 / LONGEST:g} to {LONGEST:g}; got {low:g} to {high:g}. Choose another unit."
            )
        return given

    def _raw(self, X: Any, exposure: Array = NOTHING) -> Array:
        """Raw values (n_samples, n_outputs) after all rounds."""
        check_is_fitted(self)
        return self._sums(X, self.ensemble_.nodes.value, _with_exposure(self._start, exposure))

    def _staged_raw(self, X: Any, exposure: Array = NOTHING) -> Iterator[Array]:
        """Raw values (n_samples, n_outputs) after each round; one array, renewed."""
        check_is_fitted(self)
        with self._workers() as workers:
            codes = self._encode(X, workers)
            raw = np.empty((codes.shape[1], len(self._start)))
            raw[:] = _with_exposure(self._start, exposure)
            for t in range(self.ensemble_.n_trees):
                tree = self.ensemble_.only(t)
                add_values(tree, tree.nodes.value, codes, raw, workers)
                if (t + 1) % self._n_each == 0:
                    yield raw


def _with_exposure(start: Array, exposure: Array) -> Array:
    """Raw values (n_outputs,) or (n_samples, n_outputs) before the first tree."""
    return start + logarithms(exposure)[:, None] if exposure.size else start


def _problem(
    part: Part, loss: Loss, maps: FeatureMaps, start: Array, trees: list[FlatTree], workers: Workers
) -> Problem:
    """Samples in the form the core takes, and what the trees so far make of them."""
    raw = np.empty((len(part.y), len(start)))
    raw[:] = _with_exposure(start, part.exposure)
    problem = make_problem(encode_samples(part.X, maps, workers), part.y, part.weights, part.factors, loss, raw)
    if trees:
        problem.add(pack(trees), workers)
    return problem


def _scores_so_far(kept: Any, training: Problem, validating: Problem | None, workers: Workers) -> Scores:
    """Scores of the rounds that are kept, or of the start."""
    if kept is None:
        return Scores([training.score(workers)], [] if validating is None else [validating.score(workers)])
    n = kept.n_iter_ + 1
    validation: list[float] = kept.validation_score_[:n].tolist()
    if validating is None:
        validation = []
    elif not validation:
        validation = [np.nan] * (n - 1) + [validating.score(workers)]
    return Scores(kept.train_score_[:n].tolist(), validation)
