"""The six estimators on a cluster: their local twins, with rows that stay with their workers."""

from typing import Any

from sublearn.boost import SLMBoostClassifier, SLMBoostRegressor
from sublearn.dask.twins import (
    FURTHER,
    TEXTS,
    ClassesOnDask,
    OnDask,
    constructor_like,
    documented_twin,
    fit_like,
)
from sublearn.forest import SLMForestClassifier, SLMForestRegressor
from sublearn.tree import SLMClassifier, SLMRegressor


@documented_twin
class DaskSLMClassifier(ClassesOnDask, SLMClassifier):
    """`SLMClassifier` on a cluster of Dask: one tree for classes, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMClassifier : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMClassifier
    _rules = {**SLMClassifier._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMClassifier._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMClassifier)
    fit = fit_like(SLMClassifier)


@documented_twin
class DaskSLMRegressor(OnDask, SLMRegressor):
    """`SLMRegressor` on a cluster of Dask: one tree for numbers, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMRegressor : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMRegressor
    _rules = {**SLMRegressor._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMRegressor._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMRegressor)
    fit = fit_like(SLMRegressor)


@documented_twin
class DaskSLMForestClassifier(ClassesOnDask, SLMForestClassifier):
    """`SLMForestClassifier` on a cluster of Dask: a forest for classes, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMForestClassifier : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMForestClassifier
    _rules = {**SLMForestClassifier._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMForestClassifier._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMForestClassifier)
    fit = fit_like(SLMForestClassifier)


@documented_twin
class DaskSLMForestRegressor(OnDask, SLMForestRegressor):
    """`SLMForestRegressor` on a cluster of Dask: a forest for numbers, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMForestRegressor : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMForestRegressor
    _rules = {**SLMForestRegressor._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMForestRegressor._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMForestRegressor)
    fit = fit_like(SLMForestRegressor)


@documented_twin
class DaskSLMBoostClassifier(ClassesOnDask, SLMBoostClassifier):
    """`SLMBoostClassifier` on a cluster of Dask: boosting for classes, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMBoostClassifier : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMBoostClassifier
    _rules = {**SLMBoostClassifier._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMBoostClassifier._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMBoostClassifier)
    fit = fit_like(SLMBoostClassifier)

    def decision_function(self, X: Any) -> Any:
        """Raw value of each sample; of a collection, a lazy one."""
        return self._answer("decision_function", X)


@documented_twin
class DaskSLMBoostRegressor(OnDask, SLMBoostRegressor):
    """`SLMBoostRegressor` on a cluster of Dask: boosting for numbers, the model that the local twin fits to all rows.

    Parameters
    ----------
    {parameters}

    {attributes}

    See Also
    --------
    sublearn.SLMBoostRegressor : The local twin, whose fitted attributes this one has too.
    """

    local_class = SLMBoostRegressor
    _rules = {**SLMBoostRegressor._rules, **FURTHER}  # noqa: RUF012
    _texts = {**SLMBoostRegressor._texts, **TEXTS}  # noqa: RUF012
    __init__ = constructor_like(SLMBoostRegressor)
    fit = fit_like(SLMBoostRegressor)

    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None) -> float:
        """R^2 of the predictions, with exposures where the model was fitted with such."""
        return self._score_of(self.predict(X, exposure), y, sample_weight)
