"""`sublearn warmup`: compile all kernels now, so that no first fit has to; for images and read-only installs."""

import os
import time
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import typer

from sublearn.command.messages import counted, progress, refuse, say


def warmup() -> None:
    """Compile all kernels of fits, predictions and explanations for this CPU, once.

    They are kept in the folder that NUMBA_CACHE_DIR names, else beside the package, else in the user's cache folder.
    Prints that folder.
    """
    begin = time.monotonic()
    folder = _folder()
    say("compiling all kernels for this CPU; with an empty cache this takes some 40 s of CPU time ...")
    models = list(_models())
    with progress("compiling", len(models)) as show:
        for i, (model, y, weights) in enumerate(models):
            _use(model, y, weights)
            show(i + 1, i + 1)
    _share()
    _explain()
    n_ready = sum(not kernel.is_new for kernel in all_kernels())
    say(f"{counted(n_ready, 'kernel')} ready after {time.monotonic() - begin:.1f} s")
    typer.echo(folder)


def all_kernels() -> list[Any]:
    """Everything that is compiled by itself."""
    import sublearn.kernels
    from sublearn.kernels.compilation import Kernel

    found: dict[int, Any] = {}
    for module in iter_modules(sublearn.kernels.__path__):
        values = vars(import_module(f"sublearn.kernels.{module.name}")).values()
        found |= {id(value): value for value in values if isinstance(value, Kernel)}
    return list(found.values())


def _folder() -> str:
    """Where compiled code is kept; refuses where that is not where the user wants it, or nowhere."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    path: str | None = all_kernels()[0].folder
    if asked and not (path and os.path.abspath(path).startswith(os.path.abspath(asked))):
        refuse(f"NUMBA_CACHE_DIR={asked} cannot be written to; choose another folder.")
    if path is None:
        refuse("No folder can be written to for compiled code; set NUMBA_CACHE_DIR to one that can.")
    return path


def _models() -> Iterator[tuple[Any, Any, Any]]:
    """Small models that use every kernel, with targets and weights."""
    import numpy as np

    import sublearn

    rng = np.random.default_rng(0)
    total = rng.normal(size=120)
    many, counts, weights = np.digitize(total, [-0.5, 0.5]), np.rint(np.abs(3 * total)), rng.uniform(0.5, 2.0, 120)
    few: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    boost: dict[str, Any] = {**few, "learning_rate": 0.1}
    drawn: dict[str, Any] = {"subspace": "drawn", "subspace_size": 3, "random_state": 0}
    yield sublearn.SLMClassifier(**drawn), many, weights
    yield sublearn.SLMRegressor(**drawn), total, None
    yield sublearn.SLMForestClassifier(bootstrap=True, voting="hard", **few), many, None
    yield sublearn.SLMForestRegressor(racing_samples=16, **few), total, None
    yield sublearn.SLMBoostClassifier(n_estimators=3, random_state=0), many > 0, None  # with trials
    yield sublearn.SLMBoostClassifier(subsample=0.5, class_weight="balanced", **boost), many, weights
    for leaf in ("constant", "linear"):
        yield sublearn.SLMBoostRegressor(leaf=leaf, racing_samples=16, **boost), total, None
        yield sublearn.SLMBoostClassifier(leaf=leaf, **boost), many, None
    for loss in ("absolute_error", "quantile", "huber", "poisson", "gamma"):
        yield sublearn.SLMBoostRegressor(loss=loss, **boost), counts + (loss == "gamma"), None
    yield sublearn.DiscriminantFeatureTest(), many, None
    yield sublearn.RelevantFeatureTest(), total, None


def _use(model: Any, y: Any, weights: Any) -> None:
    """Fit a model to small data with gaps, categories and heavy tails where it takes them, and predict."""
    import numpy as np

    rng = np.random.default_rng(1)
    X = rng.normal(size=(len(y), 6))
    X[:, 0] += np.asarray(y, float)
    X[:, 1] = np.exp(3 * X[:, 1])
    X[:, 2] = np.digitize(X[:, 2], [-1.0, 0.0, 1.0])
    if hasattr(model, "categorical_features"):
        X[::7, 3] = np.nan
        model.set_params(categorical_features=[2])
    rated = {"exposure": np.ones(len(y))} if getattr(model, "loss", None) == "poisson" else {}
    model.fit(X, y, **rated) if weights is None else model.fit(X, y, sample_weight=weights, **rated)
    if hasattr(model, "predict"):
        model.predict(X, **rated)
    for name in ("apply", "predict_proba", "decision_path"):
        if hasattr(model, name):
            getattr(model, name)(X)


def _share() -> None:
    """Grow a tree with two threads, where there are two cores."""
    import numpy as np

    import sublearn

    X = np.random.default_rng(3).normal(size=(20_000, 8))
    sublearn.SLMClassifier(max_depth=3, n_projections=16, n_jobs=2, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)


def _explain() -> None:
    """Explain predictions of a tree so deep, over so many features, that a part of them is sampled; and change rows."""
    import numpy as np

    import sublearn

    X = np.random.default_rng(2).normal(size=(600, 20))
    model = sublearn.SLMRegressor(n_coefficients=4, subspace_size=20, random_state=0).fit(X, X.sum(axis=1))
    sublearn.explain(model, X[:2], n_permutations=4)
    sublearn.counterfactual(model, X[:2], (0.0, None))
