"""Models from files: `load` reads what the `save` of an estimator has written."""

import os
from typing import Any

from sublearn._files.loading import load_with
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.boost import SLMBoostClassifier, SLMBoostRegressor
from sublearn.forest import SLMForestClassifier, SLMForestRegressor
from sublearn.tree import SLMClassifier, SLMRegressor

__all__ = ["load"]

KINDS = {
    kind.__name__: kind
    for kind in (
        SLMClassifier,
        SLMRegressor,
        SLMForestClassifier,
        SLMForestRegressor,
        SLMBoostClassifier,
        SLMBoostRegressor,
        SLMAverageClassifier,
        SLMAverageRegressor,
    )
}


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that the `save` of an estimator has written.

    Nothing in the file is run, and all of it is checked before it is used: a file from anywhere gives a model or an
    error. The model predicts as the saved one did, to the bit, and with `warm_start` its training goes on.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : SLM estimator
        A fitted estimator of the class that was saved, or an `SLMAverageClassifier` or `SLMAverageRegressor`.

    Raises
    ------
    ModelFileError
        Where the file is damaged, is none of a model, or is of a format that a newer sublearn writes.
    OSError
        Where there is no such file, or it may not be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import sublearn
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sublearn.SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "iris.slm")
    ...     again = sublearn.load(Path(folder) / "iris.slm")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    return load_with(path, KINDS, _tuning_from)


def _tuning_from(found: Any) -> Any:
    """What `tune` has found; raises TypeError for other fields."""
    from sublearn.tuning import Tuning

    if not isinstance(found, dict):
        raise TypeError("no fields")
    return Tuning(**found)
