"""What forest and boosting share: trees kept together, and growing on from an earlier fit."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn.core.data.codes import DEVIATIONS, code_limit
from sublearn.core.model.flat_ensemble import FlatEnsemble, unpack
from sublearn.core.model.flat_tree import FlatTree
from sublearn.core.tree.projection import Plan
from sublearn.kernels.layout import Array


class SLMEnsemble(SLMPredictor):
    """Base of forest and boosting."""

    _drawn_from: int  # the key that all trees were drawn from; a warm start goes on with it
    _settings: dict[str, Any]  # parameters of the fit that must stay where trees are kept

    @property
    def ensemble_(self) -> FlatEnsemble:
        """The trees, as flat arrays."""
        check_is_fitted(self)
        return self._model.ensemble

    def apply(self, X: Any) -> Array:
        """Index of the node in which the route of each sample ends, in each tree: (n_samples, n_trees)."""
        X = self._check_samples(X)
        with self._workers() as workers:
            return self._model.apply(X, workers)

    def _kept(self) -> "SLMEnsemble | None":
        """The earlier fit whose trees are kept, if there is one."""
        return self if self._keeps_trees() else None

    def _trees(self) -> list[FlatTree]:
        """The trees, each by itself."""
        return unpack(self._model.ensemble)

    def _settings_now(self) -> dict[str, Any]:
        """Parameters that must stay where trees are kept."""
        given = self.categorical_features
        is_sequence = given is not None and not isinstance(given, str)
        return {"categorical_features": np.asarray(given).tolist() if is_sequence else given}

    def _check_settings(self) -> None:
        """Raise ValueError if a parameter that must stay has changed."""
        for name, new in self._settings_now().items():
            old = self._settings[name]
            if old != new:
                owner = type(self).__name__
                raise ValueError(f"{name} of {owner} must stay {old!r}, as warm_start=True keeps trees; got {new!r}.")

    def _check_width(self, n_features: int) -> None:
        """Raise ValueError if trees that are kept have another number of features."""
        before = self._model.n_features
        if n_features != before:
            raise ValueError(
                f"X of {type(self).__name__}.fit must have {before} features as before, since warm_start=True keeps "
                f"trees; got {n_features}."
            )

    def _check_codes(self, plan: Plan) -> None:
        """Raise ValueError if the codes of trees that are kept are too large for new projections to be exact."""
        if self._model.maps.per_deviation > code_limit(plan.coefficient_sum) // DEVIATIONS:
            raise ValueError(
                f"envelope_height and n_coefficients of {type(self).__name__} must not grow so far, since "
                "warm_start=True keeps trees."
            )

    def _check_classes(self, classes: Array) -> None:
        """Raise ValueError if trees that are kept have other classes."""
        before = self._model.classes
        if before is not None and not np.array_equal(before, classes):
            raise ValueError(
                f"y of {type(self).__name__}.fit must hold the classes {before.tolist()} as before, since "
                f"warm_start=True keeps trees; got {classes.tolist()}."
            )

    def _n_new(self, n_kept: int, stacklevel: int) -> int:
        """How many rounds or trees are to be added; stacklevel: frames from here up to the user's call."""
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
