"""What the estimators share: checking and encoding input, resolving parameters, leaving no half-fitted model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from sublearn._parameters import Rule, as_count, as_rounds, number, one_of
from sublearn.core.codes import EXACT, FeatureMaps, code_limit, encode_samples, fit_maps
from sublearn.core.fixed_point import (
    UNIT,
    Targets,
    Weights,
    integer_targets,
    integer_weights,
    times_class_weights,
)
from sublearn.core.parallel import Workers
from sublearn.core.parameters import Round, TreeParameters
from sublearn.core.projection import Plan, plan_projections
from sublearn.kernels.layout import Array, Samples

FLOATS = [np.float64, np.float32]
SMALLEST_LIMIT = 255  # codes a feature must at least have on each side of its mean


class Response(NamedTuple):
    """What is to be learned, encoded: classes or targets."""

    classes: Array  # empty for a regression
    labels: Array  # int64 (n_samples,), positions in `classes`; empty for a regression
    targets: Targets  # empty arrays for classes


class Training(NamedTuple):
    """Checked and encoded training data."""

    samples: Samples
    response: Response
    maps: FeatureMaps


class SLMEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators."""

    _rules: dict[str, Rule] = {}  # noqa: RUF012  parameters whose rule differs from the table's

    def _workers(self) -> Workers:
        return Workers(effective_n_jobs(self.n_jobs))

    def _key(self) -> int:
        """64 random bits that everything drawn depends on."""
        high, low = check_random_state(self.random_state).randint(0, 2**32, size=2, dtype=np.uint64)
        return int(high) << 32 | int(low)

    def _check_samples(self, X: Any) -> Array:
        """Samples to predict."""
        checked: Array = validate_data(self, X, reset=False, dtype=FLOATS)
        return checked

    def _weigh(self, X: Array, y: Array, sample_weight: Any) -> tuple[Array, Array, Weights]:
        """Weights as integers; rows of weight 0 are dropped before anything is computed from them."""
        return _drop_weightless(X, y, self._check_weights(sample_weight, X))

    def _prepare(self, X: Array, y: Array, weights: Weights, plan: Plan, workers: Workers) -> Training:
        """Turn checked training data into integers."""
        maps = fit_maps(X, weights.weights, self.feature_map, code_limit(plan.coefficient_sum))
        response, weights = self._encode_response(y, weights)
        X, labels, weights = _drop_weightless(X, response.labels, weights)
        response = response._replace(labels=labels)
        samples = Samples(
            encode_samples(X, maps, workers),
            response.targets.targets,
            response.targets.remainders,
            weights.weights,
            weights.counts,
            len(response.classes),
        )
        return Training(samples, response, maps)

    def _check_weights(self, sample_weight: Any, X: Array) -> Weights:
        if sample_weight is None:
            return UNIT
        name = type(self).__name__
        given = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if not given.any():  # older versions of scikit-learn let this pass
            raise ValueError(f"sample_weight of {name}.fit must be positive somewhere; all weights are zero.")
        if (given < 0).any():
            at = int(np.argmax(given < 0))
            raise ValueError(f"sample_weight of {name}.fit must not be negative; got {given[at]:g} for sample {at}.")
        return integer_weights(given)

    def _tree_parameters(self, n_samples: int) -> TreeParameters:
        try:
            rounds = tuple(
                Round(float(beta), float(alpha), None if n is None else int(n))
                for beta, alpha, n in as_rounds(self.selection_decay, self.envelope_decay, self.n_coefficients)
            )
        except ValueError as error:
            raise ValueError(
                f"selection_decay, envelope_decay and n_coefficients of {type(self).__name__} must be single values "
                f"or sequences of one length; got lengths {error}."
            ) from None
        return TreeParameters(
            criterion=self.criterion,
            n_bins=int(self.n_bins),
            subspace=self.subspace,
            subspace_size=int(self.subspace_size),
            n_projections=int(self.n_projections),
            rounds=rounds,
            envelope_height=float(self.envelope_height),
            axis_projections=bool(self.axis_projections),
            max_partitions=int(self.max_partitions),
            max_cosine=float(self.max_cosine),
            effective_ratio=float(self.effective_ratio),
            max_depth=None if self.max_depth is None else int(self.max_depth),
            min_samples_split=max(2, as_count(self.min_samples_split, n_samples)),
            min_samples_leaf=as_count(self.min_samples_leaf, n_samples),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
            min_loss=float(self.min_loss),
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
                f"{type(self).__name__} has no candidate projections; set axis_projections=True, or n_projections "
                "and envelope_height higher."
            )
        return plan


class ClassifierPart(ClassifierMixin):  # type: ignore[misc]
    """What makes an estimator a classifier: labels, class weights."""

    def _check_data(self, X: Any, y: Any) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=FLOATS)
        kind = type_of_target(y, input_name="y")
        if kind not in ("binary", "multiclass"):
            name = type(self).__name__
            hint = ""
            if kind == "continuous":
                hint = f" y holds {len(np.unique(y))} distinct floats; did you mean {name[:-10]}Regressor?"
            raise ValueError(f"Unknown label type: {kind}. y of {name}.fit must hold one class for each sample.{hint}")
        return X, y

    def _encode_response(self, y: Array, weights: Weights) -> tuple[Response, Weights]:
        classes, labels = np.unique(y, return_inverse=True)
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
        return np.array(factors, np.float64)


class RegressorPart(RegressorMixin):  # type: ignore[misc]
    """What makes an estimator a regressor."""

    _rules = {"criterion": one_of("squared_error")}  # noqa: RUF012

    def _check_data(self, X: Any, y: Any) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=True)
        return X, y.astype(np.float64)

    def _encode_response(self, y: Array, weights: Weights) -> tuple[Response, Weights]:
        empty = np.empty(0, np.int64)
        return Response(empty, empty, integer_targets(y)), weights


def _drop_weightless(X: Array, y: Array, weights: Weights) -> tuple[Array, Array, Weights]:
    keep = weights.weights > 0
    if keep.all():
        return X, y, weights
    return X[keep], y[keep] if y.size else y, Weights(weights.weights[keep], weights.counts[keep])


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
