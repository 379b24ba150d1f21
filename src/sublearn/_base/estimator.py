"""What the estimators share: checking and encoding input, resolving parameters, leaving no half-fitted model."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Number
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from sublearn._base.checking import check_samples, check_target, for_numbers, is_temporal, refuse_gaps
from sublearn._base.parameters import Rule, as_count, as_limit, as_rounds, as_whole, check_parameter, number, one_of
from sublearn.core.data.codes import EXACT, FeatureMaps, code_limit, encode_samples, fit_maps
from sublearn.core.data.fixed_point import (
    UNIT,
    Targets,
    Weights,
    integer_targets,
    integer_weights,
    pack,
    times_class_weights,
)
from sublearn.core.parallel import Workers
from sublearn.core.tree.answers import Answers, ClassShares, MeanTarget
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import Plan, plan_projections
from sublearn.core.tree.task import Root, Task, class_root, number_root
from sublearn.kernels.layout import Array, Samples

SMALLEST_LIMIT = 255  # codes a feature must at least have on each side of its mean


class Response(NamedTuple):
    """What is to be learned, encoded: classes or targets."""

    classes: Array  # empty for a regression
    labels: Array  # int64 (n_samples,), positions in `classes`; empty for a regression
    targets: Targets  # empty arrays for classes

    def take(self, rows: Any) -> "Response":
        """Classes of some samples; numbers are all kept, since only class weights leave samples out."""
        return self._replace(labels=self.labels[rows]) if self.labels.size else self


class Training(NamedTuple):
    """Checked and encoded training data."""

    task: Task
    classes: Array  # empty for a regression
    maps: FeatureMaps
    rows: Array  # int64 (n_samples,), where these samples were among the given ones


class SLMEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators."""

    _rules: dict[str, Rule] = {}  # noqa: RUF012  parameters whose rule differs from the table's
    _texts: dict[str, str] = {}  # noqa: RUF012  and those whose text does
    _heaviest = np.inf  # the largest weight must not be above this, nor below its inverse

    def _workers(self) -> Workers:
        check_parameter(self, "n_jobs")  # it may have changed since the fit
        n_threads = effective_n_jobs(self.n_jobs)
        return Workers(1 if n_threads == 1 else min(n_threads, n_cores()))

    def _key(self) -> int:
        """64 random bits that everything drawn depends on."""
        high, low = check_random_state(self.random_state).randint(0, 2**32, size=2, dtype=np.uint64)
        return int(high) << 32 | int(low)

    def _check_samples(self, X: Any) -> Array:
        """Samples to predict."""
        checked: Array = check_samples(self, X, reset=False)
        return checked

    def _prepare(
        self, X: Array, y: Array, weights: Weights, workers: Workers, maps: FeatureMaps | None = None
    ) -> Training:
        """Turn checked training data into what trees grow from; rows of weight 0 are dropped before anything else.

        `maps` are given when trees of an earlier fit are kept.
        """
        rows, n_rows = weights.present(), len(X)
        X, y, weights = X[rows], y[rows], weights.take(rows)
        parameters = self._tree_parameters(weights.count(len(X)))
        plan = self._plan(parameters, X.shape[1])
        maps = maps or fit_maps(X, weights.weights, self.feature_map, code_limit(plan.coefficient_sum), workers)
        response, weights = self._encode_response(y, weights)
        weighing = weights.present()  # class weights may be 0 too
        X, response, weights = X[weighing], response.take(weighing), weights.take(weighing)
        samples = make_samples(encode_samples(X, maps, workers), response, weights)
        root = make_root(response, len(X))
        test = make_test(parameters, parameters.min_weight_fraction_leaf * weights.total(len(X)))
        task = Task(
            samples=samples, root=root, test=test, answers=make_answers(response), parameters=parameters, plan=plan
        )
        return Training(task, response.classes, maps, np.arange(n_rows)[rows][weighing])

    def _check_weights(self, sample_weight: Any, X: Array, name: str = "sample_weight") -> Weights:
        if sample_weight is None:
            return UNIT
        given = self._check_numbers(sample_weight, X, name)
        if (given < 0).any():
            at = int(np.argmax(given < 0))
            raise ValueError(
                f"{name} of {type(self).__name__}.fit must not be negative; got {given[at]:g} for sample {at}."
            )
        if not given.any():
            raise ValueError(f"{name} of {type(self).__name__}.fit must be positive somewhere; all weights are zero.")
        self._check_heaviest(name, given)
        return integer_weights(given)

    def _check_heaviest(self, name: str, weights: Array) -> None:
        """Raise ValueError if all weights together are too large or too small to be used as they are."""
        heaviest, least = float(weights.max()), 1 / self._heaviest
        if not least <= heaviest <= self._heaviest:
            raise ValueError(
                f"{name} of {type(self).__name__} must have a largest weight from {least:g} to {self._heaviest:g}; "
                f"got {heaviest:g}. Scale all weights alike."
            )

    def _check_numbers(self, given: Any, X: Any, name: str) -> Array:
        """Finite numbers, one a sample; a single number holds for all."""
        values = [given] if isinstance(given, Number) else given
        try:
            if is_temporal(getattr(values, "dtype", None)):
                raise ValueError("dates or times are none.")
            checked: Array = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name} of {type(self).__name__} must hold finite numbers: {error}") from None
        if isinstance(given, Number):
            checked = np.full(_num_samples(X), checked[0])
        if checked.ndim != 1 or len(checked) != _num_samples(X):
            raise ValueError(
                f"{name} of {type(self).__name__} must hold one number for each of {_num_samples(X)} samples; got "
                f"shape {checked.shape}."
            )
        return checked

    def _tree_parameters(self, n_samples: int, **fixed: Any) -> TreeParameters:
        """The parameters of trees; `fixed` are those that the estimator does not leave to the user."""
        given = SimpleNamespace(**self.get_params(deep=False) | fixed)
        try:
            rounds = tuple(
                DrawingRound(float(beta), float(alpha), as_limit(n))
                for beta, alpha, n in as_rounds(given.selection_decay, given.envelope_decay, given.n_coefficients)
            )
        except ValueError as error:
            raise ValueError(
                f"selection_decay, envelope_decay and n_coefficients of {type(self).__name__} must be single values "
                f"or sequences of one length; got lengths {error}."
            ) from None
        return TreeParameters(
            criterion=given.criterion,
            n_bins=int(given.n_bins),
            subspace=given.subspace,
            subspace_size=as_whole(given.subspace_size),
            n_projections=int(given.n_projections),
            selection=given.selection,
            draws_per_sample=as_limit(given.draws_per_sample),
            fitted_projections=int(given.fitted_projections),
            rounds=rounds,
            envelope_height=float(given.envelope_height),
            axis_projections=bool(given.axis_projections),
            max_partitions=int(given.max_partitions),
            max_cosine=float(given.max_cosine),
            effective_ratio=float(given.effective_ratio),
            max_depth=as_limit(given.max_depth),
            min_samples_split=max(2, as_count(given.min_samples_split, n_samples)),
            min_samples_leaf=as_count(given.min_samples_leaf, n_samples),
            min_weight_fraction_leaf=float(given.min_weight_fraction_leaf),
            min_loss=float(given.min_loss),
            racing_samples=as_limit(given.racing_samples),
            n_finalists=as_whole(given.n_finalists),
        )

    def _plan(self, parameters: TreeParameters, n_features: int) -> Plan:
        plan = plan_projections(parameters, n_features)
        if code_limit(plan.coefficient_sum) < SMALLEST_LIMIT:
            raise ValueError(
                f"envelope_height and n_coefficients of {type(self).__name__} must keep the sum of a projection's "
                f"coefficients within {EXACT // SMALLEST_LIMIT}; got up to {plan.coefficient_sum}."
            )
        if plan.n_candidates == 0:
            raise ValueError(
                f"{type(self).__name__} has no candidate projections; set axis_projections=True, or n_projections, "
                "fitted_projections and envelope_height higher."
            )
        return plan


class ClassTargets:
    """Learning from classes: checks and encodes them, with class weights."""

    class_weight: Any
    _check_heaviest: Any  # that of SLMEstimator

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Array, Array]:
        X, y = check_samples(self, X, y, reset=reset)
        if reset:
            self._check_labels(y)
        elif y.dtype == np.object_:  # classes are looked up among those of the fit, which are checked
            refuse_gaps(y, type(self).__name__)
        return X, y

    def _check_labels(self, y: Array) -> None:
        name = type(self).__name__
        try:
            kind = type_of_target(y, input_name="y")
        except TypeError as error:  # they cannot be sorted
            refuse_gaps(y, name)
            raise ValueError(f"y of {name}.fit must hold classes of one kind, such as all strings: {error}.") from None
        if kind not in ("binary", "multiclass"):
            refuse_gaps(y, name)
            hint = ""
            if kind == "continuous":
                hint = f" y holds {len(np.unique(y))} distinct floats; did you mean {for_numbers(name)}?"
            raise ValueError(f"Unknown label type: {kind}. y of {name}.fit must hold one class for each sample.{hint}")

    def _encode_response(self, y: Array, weights: Weights) -> tuple[Response, Weights]:
        classes, labels = labels_of(y)
        weights = times_class_weights(weights, self._class_factors(classes, labels, weights), labels)
        return Response(classes, labels, Targets.none()), weights

    def _class_factors(self, classes: Array, labels: Array, weights: Weights) -> Array:
        """Class weights as an array."""
        given: Any = self.class_weight
        if given is None:
            return np.ones(len(classes))
        if given == "balanced":
            totals: Array = np.bincount(labels, weights.weights if weights.weights.size else None, len(classes))
            balanced: Array = totals.sum() / (len(classes) * totals)
            return balanced
        labels_of_y = classes.tolist()
        unknown = [key for key in given if key not in labels_of_y]
        if unknown and not all(c in given for c in labels_of_y):  # a fold may lack classes, a typing error leaves one
            found = ", ".join(map(repr, unknown))
            raise ValueError(f"class_weight of {type(self).__name__} must have classes of y as keys; got {found}.")
        factors = [given.get(c, 1.0) for c in labels_of_y]
        if not all(number(0.0).accepts(factor) for factor in factors) or not any(factors):
            allowed = "finite weights of at least 0 that are not all 0"
            raise ValueError(f"class_weight of {type(self).__name__} must have {allowed}; got {given!r}.")
        weights_of_classes = np.array(factors, np.float64)
        self._check_heaviest("class_weight", weights_of_classes)
        return weights_of_classes


class ClassifierPart(ClassTargets, ClassifierMixin):  # type: ignore[misc]
    """What makes an estimator a classifier: classes to learn, and the class of largest probability."""

    def predict(self, X: Any) -> Array:
        """Class of each sample: the one of largest probability, the first of several."""
        return self._classes_of(self.predict_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self.predict_proba(X))
        return logarithms

    def _classes_of(self, probabilities: Array) -> Array:
        predicted: Array = self.classes_[probabilities.argmax(axis=1)]
        return predicted


class NumberTargets:
    """Learning from numbers."""

    _rules = {"criterion": one_of("squared_error")}  # noqa: RUF012

    def _check_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Array, Array]:
        X, y = check_samples(self, X, y, reset=reset)
        return X, check_target(y, type(self).__name__)

    def _encode_response(self, y: Array, weights: Weights) -> tuple[Response, Weights]:
        empty = np.empty(0, np.int64)
        return Response(empty, empty, integer_targets(y)), weights


class RegressorPart(NumberTargets, RegressorMixin):  # type: ignore[misc]
    """What makes an estimator a regressor."""


def make_samples(codes: Array, response: Response, weights: Weights) -> Samples:
    """Samples as kernels take them."""
    targets, n_classes = response.targets, len(response.classes)
    return Samples(
        codes=codes,
        targets=targets.targets,
        remainders=targets.remainders,
        curvatures=np.empty(0, np.int32),
        packed=np.empty(0, np.int64) if n_classes or weights.weights.size else pack(targets.targets, np.empty(0)),
        weights=weights.weights,
        counts=weights.counts,
        n_classes=n_classes,
    )


def make_root(response: Response, n_samples: int) -> Root:
    """A root that holds all of them."""
    n_classes = len(response.classes)
    return class_root(response.labels, n_classes) if n_classes else number_root(np.arange(n_samples))


def make_answers(response: Response) -> Answers:
    """How the sums of a node are read."""
    return ClassShares(len(response.classes)) if len(response.classes) else MeanTarget(response.targets.units)


@cache
def n_cores() -> int:
    """Cores that this process may use, by its affinity and its share of a container."""
    return int(cpu_count())


def labels_of(y: Array) -> tuple[Array, Array]:
    """The classes in order, and the place of each sample's, for which `return_inverse` would sort all samples."""
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def n_parameters(n_partitions: int, subspace_size: int) -> int:
    """Model size by the paper's formula: a weight for each feature of S0 and a threshold for each hyperplane."""
    return n_partitions * (subspace_size + 1)


@contextmanager
def unchanged_on_error(estimator: SLMEstimator) -> Iterator[None]:
    """Give the estimator its attributes back if fitting fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
