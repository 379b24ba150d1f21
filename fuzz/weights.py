"""Sample weights and class weights of all kinds."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fuzz.cases import PASSED, REFUSED, Case, Outcome, pick, shown
from fuzz.fits import ESTIMATORS, fit_refusal, is_classifier, small
from fuzz.promises import check_promises

Rng = np.random.Generator
ROWS = (1, 2, 5, 40, 40, 120)

WEIGHTS: dict[str, Callable[[Rng, int], Any]] = {
    "ones": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(0, 4, n),
    "large whole": lambda rng, n: rng.integers(0, 2**62, n),
    "fractions": lambda rng, n: rng.uniform(size=n),
    "some zero": lambda rng, n: rng.uniform(size=n) * (rng.random(n) < 0.5),
    "all but one zero": lambda rng, n: np.where(np.arange(n) == n // 2, 0.3, 0.0),
    "all zero": lambda rng, n: np.zeros(n),
    "flags": lambda rng, n: rng.random(n) < 0.7,
    "smallest": lambda rng, n: np.full(n, 5e-324),
    "tiny": lambda rng, n: 1e-320 * rng.integers(0, 3, n),
    "tiny beside ordinary": lambda rng, n: np.where(rng.random(n) < 0.5, 1e-320, 1.0),
    "huge": lambda rng, n: 1e308 * rng.uniform(size=n),
    "huge beside tiny": lambda rng, n: np.where(rng.random(n) < 0.5, 1e308, 1e-308),
    "of all sizes": lambda rng, n: 10.0 ** rng.uniform(-300, 300, n),
    "float32": lambda rng, n: rng.uniform(size=n).astype(np.float32),
    "one number": lambda rng, n: float(rng.uniform(0, 3)),
    "list": lambda rng, n: rng.uniform(size=n).tolist(),
    "pandas": lambda rng, n: pd.Series(rng.uniform(size=n), index=np.arange(n) + 4),
    "objects": lambda rng, n: rng.uniform(size=n).astype(object),
    "one NaN": lambda rng, n: np.where(np.arange(n) == 0, math.nan, 1.0),
    "one inf": lambda rng, n: np.where(np.arange(n) == 0, math.inf, 1.0),
    "one negative": lambda rng, n: np.where(np.arange(n) == 0, -1e-320, 1.0),
    "one None": lambda rng, n: [None, *[1.0] * (n - 1)],
    "one missing": lambda rng, n: np.ones(n - 1),
    "a column": lambda rng, n: np.ones((n, 1)),
    "words": lambda rng, n: ["1"] * (n - 1) + ["x"],
    "a string": lambda rng, n: "balanced",
    "complex": lambda rng, n: np.ones(n) + 1j,
    "far whole": lambda rng, n: [10**400] * n,
}
CLASS_WEIGHTS: tuple[Any, ...] = (
    None,
    "balanced",
    {},
    {0: 1.0, 1: 2.0, 2: 3.0},
    {0: 0.3},
    {0: 0, 1: 1},
    {0: 0, 1: 0, 2: 0},
    {0: 1e308, 1: 1e308, 2: 1e308},
    {0: 1e-320, 1: 1.0},
    {0: 5e-324, 1: 5e-324, 2: 5e-324},
    {0: 1e308, 1: 1e-308},
    {0: 10**400},
    {np.int64(1): np.float32(2.0)},
    {0: True},
    {0: math.nan},
    {0: -1.0},
    {0: None},
    {0: "2"},
    {7: 2.0},
    {"a": 2.0},
    [1.0, 2.0, 3.0],
)


def draw(rng: Rng) -> Case:
    """An estimator and its weights."""
    estimator: Any = pick(rng, ESTIMATORS)
    n = int(pick(rng, ROWS))
    name = pick(rng, list(WEIGHTS))
    weights = WEIGHTS[name](rng, n)
    parameters: dict[str, Any] = {}
    if is_classifier(estimator):
        parameters["class_weight"] = pick(rng, CLASS_WEIGHTS) if rng.random() < 0.5 else None
    if "bootstrap" in estimator._get_param_names() and rng.random() < 0.3:
        parameters |= {"bootstrap": True, "oob_score": True}
    if "subsample" in estimator._get_param_names() and rng.random() < 0.3:
        parameters |= {"subsample": 0.5}
    model = small(estimator, **parameters)
    return Case(f"{shown(model)}.fit of {n} rows with weights: {name}", lambda: _run(model, n, weights, rng))


def _run(model: Any, n: int, weights: Any, rng: Rng) -> Outcome:
    X = rng.normal(size=(n, 4))
    y = rng.integers(3, size=n) if is_classifier(model) else X[:, 0] + rng.normal(size=n)
    if fit_refusal(model, X, y, sample_weight=weights) is not None:
        return Outcome(REFUSED)
    check_promises(model, X, y, weights, rng)
    return Outcome(PASSED)
