"""The one way in: what a user gives to `fit`, checked, as samples that trees, boosting and feature tests learn from.

An estimator checks with `_take_in`, which also finds classes and their weights (`_base.targets`), and encodes with
`_code`; both hand over to `core.data.samples`.
"""

from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from sublearn._base.checking import is_temporal, refuse_faults, refuse_negative
from sublearn._base.frames import Schema
from sublearn.core.data.codes import CODE_LIMIT, FeatureMaps
from sublearn.core.data.fixed_point import UNIT, Weights, integer_weights
from sublearn.core.data.samples import NO_LONG_INTEGERS, Coded, Given, code
from sublearn.core.links import Links
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import MOST_IN_ALL, MOST_ROWS, Array


class Intake:
    """How data come into an estimator."""

    feature_map: Any
    _links: Links  # those of SLMEstimator
    _schema: Schema  # of the table of the fit, where there may be categories
    _check_data: Any  # those of ClassTargets or NumberTargets
    _encode_targets: Any
    _heaviest = np.inf  # the largest weight must not be above this, nor below its inverse

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Given:
        """Training samples, checked, with classes as positions; those of weight 0 are gone."""
        given: Given = self._encode_targets(self._check_given(X, y, sample_weight))
        return given

    def _check_given(self, X: Any, y: Any, sample_weight: Any) -> Given:
        """All samples that a user gives to `fit`, checked, with y as it is."""
        X, y = self._check_data(X, y)
        return self._as_given(X, y, sample_weight)

    def _as_given(self, X: Array, y: Array, sample_weight: Any, name: str = "sample_weight") -> Given:
        """Samples whose X and y are checked, with their weights."""
        with self._links.all_well():
            self._check_length(len(X))
        n_rows = self._links.total(len(X))
        if n_rows > MOST_IN_ALL:
            raise ValueError(f"X of {type(self).__name__}.fit must have at most {MOST_IN_ALL} rows; got {n_rows}.")
        weights = self._check_weights(sample_weight, X, name)
        n_levels = self._schema.n_levels if "_schema" in vars(self) else NO_LONG_INTEGERS
        return Given(X=X, y=y, weights=weights, rows=np.arange(len(X)), n_levels=n_levels)

    def _check_length(self, n_rows: int) -> None:
        """Raise ValueError for more rows than have numbers."""
        if n_rows > MOST_ROWS:
            text = f"X of {type(self).__name__}.fit must have at most {MOST_ROWS} rows"
            raise ValueError(f"{text} on one machine; got {n_rows}. Use a cluster of more workers: see sublearn.dask.")

    def _code(self, given: Given, workers: Workers, maps: FeatureMaps | None = None, limit: int = CODE_LIMIT) -> Coded:
        """Codes of samples, by the maps of trees that are kept or by new ones."""
        return code(given, maps, self.feature_map, limit, workers)

    def _check_weights(self, sample_weight: Any, X: Array, name: str = "sample_weight") -> Weights:
        """Weights of samples as integers."""
        if sample_weight is None:
            return UNIT if self._links.n_partitions == 1 else integer_weights(np.ones(len(X)), self._links)
        with self._links.all_well():
            given = self._check_numbers(sample_weight, X, name)
            refuse_negative(given, name, type(self).__name__)
        heaviest = float(self._links.most(given.max(initial=0.0, keepdims=True))[0])
        if not heaviest:
            raise ValueError(f"{name} of {type(self).__name__}.fit must be positive somewhere; all weights are zero.")
        self._check_heaviest(name, heaviest)
        return integer_weights(given, self._links)

    def _check_heaviest(self, name: str, heaviest: float) -> None:
        """Raise ValueError if all weights together are too large or too small to be used as they are."""
        least = 1 / self._heaviest
        if not least <= heaviest <= self._heaviest:
            raise ValueError(
                f"{name} of {type(self).__name__} must have a largest weight from {least:g} to {self._heaviest:g}; "
                f"got {heaviest:g}. Scale all weights alike."
            )

    def _check_numbers(self, given: Any, X: Any, name: str) -> Array:
        """Finite numbers, one a sample; a single number holds for all."""
        values = [given] if isinstance(given, Number) else given
        fewest = 1 if self._links.n_partitions == 1 else 0  # a partition may be empty
        try:
            if is_temporal(getattr(values, "dtype", None)):
                raise ValueError("dates or times are none.")
            checked: Array = check_array(
                values, ensure_2d=False, dtype=np.float64, input_name=name, ensure_min_samples=fewest
            )
        except (TypeError, ValueError, OverflowError) as error:
            refuse_faults(values, name, type(self).__name__)
            raise ValueError(f"{name} of {type(self).__name__} must hold finite numbers: {error}") from None
        if isinstance(given, Number):
            checked = np.full(_num_samples(X), checked[0])
        if checked.ndim != 1 or len(checked) != _num_samples(X):
            raise ValueError(
                f"{name} of {type(self).__name__} must hold one number for each of {_num_samples(X)} samples; got "
                f"shape {checked.shape}."
            )
        return checked
