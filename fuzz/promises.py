"""What is promised of every fit that went well, one function a promise."""

import pickle
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from fuzz.cases import BrokenError
from fuzz.fits import bits, check_unchanged, fit_refusal, is_classifier, refusal

MOST = 3  # times that a row is there


def check_promises(model: Any, X: Any, y: Any, weights: Any, rng: np.random.Generator) -> None:
    """Raise BrokenError for the first promise that is not kept; the model was fitted to just that."""
    draws_rows = _draws_rows(model, MOST * len(model.apply(X)))
    checks = [
        lambda: _check_predictions(model, X),
        lambda: _check_pickle(model, X),
        lambda: _check_failed_fit(model, X, y),
    ]
    if isinstance(model.random_state, Integral):
        checks += [lambda: _check_again(model, X, y, weights)]
        if not draws_rows:
            checks += [lambda: _check_weights(model, X, y, weights, rng)]
    if weights is None and not draws_rows and getattr(model, "class_weight", None) is None:
        checks += [lambda: _check_leaves(model, X)]
    for check in checks:
        error = refusal(check)
        if error is not None:
            raise BrokenError(f"refused after a fit that went well: {error}")


def _draws_rows(model: Any, n: int) -> bool:
    """Whether something is drawn among rows, so that a row twice is drawn twice as often; n is the most there are."""
    given = model.get_params()
    racing = given["racing_samples"] is not None and 2 * given["racing_samples"] <= n
    return bool(given.get("bootstrap") or given.get("early_stopping") or given.get("subsample", 1.0) != 1.0 or racing)


def _check_predictions(model: Any, X: Any) -> None:
    n = len(model.apply(X))
    predicted = model.predict(X)
    if predicted.shape != (n,):
        raise BrokenError(f"predictions have shape {predicted.shape}")
    if not is_classifier(model):
        if not np.isfinite(predicted).all():
            raise BrokenError(f"predictions are not finite: {predicted[~np.isfinite(predicted)][:3]}")
        return
    probabilities = model.predict_proba(X)
    if probabilities.shape != (n, len(model.classes_)):
        raise BrokenError(f"probabilities have shape {probabilities.shape}")
    if not ((probabilities >= 0).all() and np.allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-9)):
        raise BrokenError("probabilities are not shares of 1")
    if not np.isin(predicted, model.classes_).all():
        raise BrokenError("classes are predicted that were not there")


def _check_pickle(model: Any, X: Any) -> None:
    try:
        stored = pickle.dumps(model)
    except (pickle.PicklingError, AttributeError, TypeError):  # of a parameter, such as a function without a name
        return
    if bits(pickle.loads(stored), X) != bits(model, X):
        raise BrokenError("a pickle predicts something else")


def _check_failed_fit(model: Any, X: Any, y: Any) -> None:
    before = dict(vars(model))
    if fit_refusal(model, X, y, sample_weight=-1.0) is None:
        raise BrokenError("negative weights were taken")
    check_unchanged(model, before)


def _check_again(model: Any, X: Any, y: Any, weights: Any) -> None:
    for n_jobs in (1, 2):
        again = clone(model).set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weights)
        if bits(again, X) != bits(model, X):
            raise BrokenError(f"another fit, with n_jobs={n_jobs}, gives another model")


def _check_weights(model: Any, X: Any, y: Any, weights: Any, rng: np.random.Generator) -> None:
    """Given weights: rows without are absent. No weights: whole numbers are rows, that many times."""
    n = len(model.apply(X))
    y = np.asarray(y) if isinstance(y, list) else y  # some rows of a list may be of another type than all
    if weights is None:
        given = rng.integers(0, MOST + 1, n)
        given[rng.integers(n)] = 2
        rows, kept = np.repeat(np.arange(n), given), None
    else:
        given = np.broadcast_to(np.asarray(weights, np.float64), n)
        rows = np.flatnonzero(given)
        kept = given[rows]
    weighted, repeated = clone(model), clone(model)
    errors = (
        fit_refusal(weighted, X, y, sample_weight=given),
        fit_refusal(repeated, _safe_indexing(X, rows), _safe_indexing(y, rows), sample_weight=kept),
    )
    if (errors[0] is None) != (errors[1] is None):
        raise BrokenError(f"weights and rows are not refused alike: {errors}")
    if errors[0] is None and bits(weighted, X) != bits(repeated, X):
        raise BrokenError("weights are not what rows are, twice or absent")


def _check_leaves(model: Any, X: Any) -> None:
    nodes, roots = (model.ensemble_.nodes, model.ensemble_.roots) if hasattr(model, "ensemble_") else (model.tree_, [0])
    reached = model.apply(X).reshape(-1, len(roots)) + np.asarray(roots)
    counts = np.bincount(reached.ravel(), minlength=nodes.n_nodes)
    for node in range(nodes.n_nodes - 1, -1, -1):  # parents come before their children
        if nodes.parent[node] >= 0:
            counts[nodes.parent[node]] += counts[node]
    if not np.array_equal(counts, nodes.n_samples):
        raise BrokenError("training rows reach other leaves than in the fit")
