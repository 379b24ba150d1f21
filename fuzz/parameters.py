"""Values for every parameter of every estimator, allowed or not."""

import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from fuzz.cases import PASSED, REFUSED, BrokenError, Case, Outcome, pick, shown
from fuzz.fits import ESTIMATORS, fit_refusal, is_classifier, refusal, small
from fuzz.promises import check_promises
from sublearn._base.parameters import rule_of

WHOLE = (0, 1, -1, 2, 3, 7, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(2**63), -(10**400))
NUMBERS = (0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 5e-324, 1e-320, 1e-9, 1e9, 1e308, math.nan, math.inf, -math.inf)
OF_NUMPY = (
    np.bool_(True),
    np.int8(3),
    np.int64(2),
    np.uint64(2**63),
    np.float32(0.5),
    np.float64(math.nan),
    np.str_("auto"),
    np.array(3),
    np.array([2, 3]),
    np.array([0.1, math.nan]),
    np.array([]),
)
OTHERS = (None, True, False, "", "auto", "x", "1", b"auto", 1j, Decimal("0.5"), Fraction(1, 2), range(3), ...)
SEQUENCES: tuple[Any, ...] = ([], (), [1], (1, 2), [None], [[1]], [print])
MAPPINGS: tuple[Any, ...] = ({}, {0: 1.0}, {"a": math.nan}, {1: -1}, set(), print)
ANYTHING: tuple[Any, ...] = (*WHOLE, *NUMBERS, *OF_NUMPY, *OTHERS, *SEQUENCES, *MAPPINGS)


def draw(rng: np.random.Generator) -> Case:
    """One to four parameters of an estimator; half of the cases have allowed values alone, which meet promises."""
    estimator: Any = pick(rng, ESTIMATORS)
    names = rng.permutation(list(inspect.signature(estimator).parameters))[: rng.integers(1, 5)].tolist()
    tame = bool(rng.random() < 0.5)
    values = {name: _draw_value(rng, estimator, name, tame) for name in names}
    return Case(f"{estimator.__name__}(**{shown(values)})", lambda: _run(estimator, values, rng))


def _draw_value(rng: np.random.Generator, estimator: Any, name: str, tame: bool) -> Any:
    near = _near(estimator, name)
    if tame:
        return pick(rng, [value for value in near if rule_of(estimator, name).accepts(value)])
    return pick(rng, near if rng.random() < 0.5 else ANYTHING)


def _near(estimator: Any, name: str) -> list[Any]:
    """Values that a rule speaks of, its words and numbers, and others near them; and the default."""
    words = rule_of(estimator, name).words
    near: list[Any] = [inspect.signature(estimator).parameters[name].default, *re.findall(r"'(\w+)'", words)]
    for number in map(float, re.findall(r"\d+(?:\.\d+)?", words)):
        near += [number, number / 2, int(number) - 1, int(number), int(number) + 1, np.nextafter(number, math.inf)]
    for word, value in {"None": None, "True": True, "False": False}.items():
        if word in words:
            near.append(value)
    if "sequence" in words:
        near += [[value, value] for value in near[:3]]
    return near


def _run(estimator: Any, values: dict[str, Any], rng: np.random.Generator) -> Outcome:
    X = rng.normal(size=(40, 4))
    y: Any = rng.integers(3, size=40) if is_classifier(estimator) else np.exp(X[:, 0] + rng.normal(size=40))
    model = small(estimator, **values)
    error = fit_refusal(model, X, y)
    if error is not None:
        _check_named(error, estimator, list(values))
        return Outcome(REFUSED)
    for name, value in values.items():
        if not rule_of(estimator, name).accepts(value):
            raise BrokenError(f"{name}={shown(value)} was fitted, which is not {rule_of(estimator, name).words}")
    check_promises(model, X, y, None, rng)
    n_jobs = pick(rng, ANYTHING)
    try:
        _check_predicting(model, X, n_jobs)
    except BrokenError as error:
        raise BrokenError(f"{error}, by predict with n_jobs={shown(n_jobs, 50)}") from None
    return Outcome(PASSED)


def _check_named(error: Exception, estimator: Any, names: list[str]) -> None:
    text = str(error)
    if estimator.__name__ not in text or not any(name in text for name in names):
        raise BrokenError(f"the message does not name parameter and estimator: {shown(text)}")


def _check_predicting(model: Any, X: Any, n_jobs: Any) -> None:
    """The one parameter that a prediction reads."""
    error = refusal(lambda: model.set_params(n_jobs=n_jobs).predict(X))
    if error is not None:
        _check_named(error, type(model), ["n_jobs"])
