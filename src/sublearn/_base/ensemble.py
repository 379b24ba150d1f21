"""What forest and boosting share: trees kept together, predictions in one pass, growing on from an earlier fit."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMEstimator, n_parameters
from sublearn.core.data.codes import DEVIATIONS, FeatureMaps, code_limit, encode_samples
from sublearn.core.model.flat_ensemble import add_values_of, apply, pack, unpack
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.parallel import Workers
from sublearn.core.tree.projection import Plan
from sublearn.kernels.layout import Array


class SLMEnsemble(SLMEstimator):
    """Base of forest and boosting."""

    def _kept(self) -> "SLMEnsemble | None":
        """The earlier fit whose trees are kept, if there is one."""
        return self if self.warm_start and hasattr(self, "ensemble_") else None

    def _check_width(self, X: Array) -> None:
        """Raise ValueError if trees that are kept have other features."""
        name = type(self).__name__
        if X.shape[1] != self._n_features:
            raise ValueError(
                f"X of {name}.fit must have {self._n_features} features as before, since warm_start=True keeps trees; "
                f"got {X.shape[1]}."
            )

    def _check_codes(self, plan: Plan) -> None:
        """Raise ValueError if the codes of trees that are kept are too large for new projections to be exact."""
        if self.feature_maps_.per_deviation > code_limit(plan.coefficient_sum) // DEVIATIONS:
            raise ValueError(
                f"envelope_height and n_coefficients of {type(self).__name__} must not grow so far, since "
                "warm_start=True keeps trees."
            )

    def _check_classes(self, before: Array, classes: Array) -> None:
        """Raise ValueError if trees that are kept have other classes."""
        name = type(self).__name__
        if not np.array_equal(before, classes):
            raise ValueError(
                f"y of {name}.fit must hold the classes {before.tolist()} as before, since warm_start=True keeps "
                f"trees; got {classes.tolist()}."
            )

    def _n_new(self, n_kept: int, stacklevel: int) -> int:
        """How many rounds or trees are to be added; a warning is to point so many frames up."""
        if self.n_estimators == "auto" or self.n_estimators < n_kept:
            raise ValueError(
                f"n_estimators of {type(self).__name__} must be at least {n_kept}, the number there is, when "
                f"warm_start=True; got {self.n_estimators!r}."
            )
        if self.n_estimators == n_kept:
            warnings.warn(
                "fit with warm_start=True adds nothing, since n_estimators was not increased.", stacklevel=stacklevel
            )
        return int(self.n_estimators) - n_kept

    def _store_trees(self, trees: list[FlatTree], maps: FeatureMaps, subspace_size: int, key: int) -> None:
        self.ensemble_ = pack(trees)
        self.feature_maps_ = maps
        self.n_partitions_ = self.ensemble_.nodes.n_planes
        self.n_parameters_ = n_parameters(self.n_partitions_, subspace_size)
        self._n_features = self.n_features_in_
        self._drawn_from = key  # a warm start goes on with it

    def _trees(self) -> list[FlatTree]:
        """The trees, each by itself."""
        return unpack(self.ensemble_)

    def _encode(self, X: Any, workers: Workers) -> Array:
        return encode_samples(self._check_samples(X), self.feature_maps_, workers)

    def _sums(self, X: Any, values: Array, start: Array) -> Array:
        """start (n_values,) or (n_samples, n_values) plus the values (n_nodes, n_values) each sample reaches."""
        X = self._check_samples(X)
        out = np.empty((len(X), start.shape[-1]))
        out[:] = start
        with self._workers() as workers:
            add_values_of(X, self.feature_maps_, self.ensemble_, values, out, workers)
        return out

    def apply(self, X: Any) -> Array:
        """Index of the node in which the route of each sample ends, in each tree: (n_samples, n_trees)."""
        check_is_fitted(self)
        with self._workers() as workers:
            codes = self._encode(X, workers)
            return apply(self.ensemble_, codes, workers)
