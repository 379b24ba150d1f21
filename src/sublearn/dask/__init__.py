"""The six estimators on a cluster of Dask."""

try:
    import dask.array as _array  # noqa: F401
    import dask.dataframe as _dataframe  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f"sublearn.dask needs dask and distributed: pip install 'sublearn[dask]' ({error})") from None

from sublearn.dask.errors import WorkerLostError
from sublearn.dask.estimators import (
    DaskSLMBoostClassifier,
    DaskSLMBoostRegressor,
    DaskSLMClassifier,
    DaskSLMForestClassifier,
    DaskSLMForestRegressor,
    DaskSLMRegressor,
)

__all__ = [
    "DaskSLMBoostClassifier",
    "DaskSLMBoostRegressor",
    "DaskSLMClassifier",
    "DaskSLMForestClassifier",
    "DaskSLMForestRegressor",
    "DaskSLMRegressor",
    "WorkerLostError",
]
