"""Values of parameters as JSON, from which they come back as they were: tuples stay tuples, inf stays inf.

    None, bool, int, float, str   as they are
    list                          a list
    tuple                         {"tuple": [...]}
    nan, inf, -inf                {"float": "nan"}
    dict                          {"dict": [[key, value], ...]}
    an estimator                  {"estimator": name, "parameters": {...}}

Scalars of NumPy come back as Python's, arrays as lists.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sublearn._files.errors import Fault
from sublearn._files.fields import LONGEST, Fields, shown
from sublearn._files.layout import AVERAGES, DEEPEST, ESTIMATORS

Make = Callable[[str, dict[str, Any]], Any]  # an estimator from its name and parameters
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class UnwritableError(TypeError):
    """Raised for a value that JSON cannot hold."""


def to_json(value: Any, depth: int = 0) -> Any:
    """The value as JSON has it; raises UnwritableError for what it cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if depth == DEEPEST:
        raise UnwritableError("it is nested too deeply")
    if is_ours(value, (*ESTIMATORS, *AVERAGES)):
        return {"estimator": type(value).__name__, "parameters": parameters_to_json(value, depth)[0]}
    if isinstance(value, Mapping):
        return {"dict": [[to_json(key, depth + 1), to_json(one, depth + 1)] for key, one in value.items()]}
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, tuple):
        return {"tuple": [to_json(one, depth + 1) for one in value]}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview):
        return [to_json(one, depth + 1) for one in value]
    if isinstance(value, str):  # one of a class of its own
        return str(value)
    raise UnwritableError(f"a {type(value).__name__} is none of the values that a file holds")


def is_ours(estimator: Any, names: tuple[str, ...]) -> bool:
    """Whether something is an estimator of sublearn with one of these names, and not one that a user has derived."""
    kind = type(estimator)
    return kind.__name__ in names and kind.__module__.startswith("sublearn.")


def parameters_to_json(estimator: Any, depth: int = 0) -> tuple[dict[str, Any], list[str]]:
    """The parameters of an estimator, and the names of those that are left out since they are programs or states."""
    found: dict[str, Any] = {}
    left_out = []
    for name, value in estimator.get_params(deep=False).items():
        is_state = name == "random_state" and isinstance(value, np.random.RandomState | np.random.Generator)
        if value is not None and (name == "callbacks" or is_state):
            found[name] = None
            left_out.append(name)
            continue
        try:
            found[name] = to_json(value, depth + 1)
        except UnwritableError as error:
            raise UnwritableError(f"{name} of {type(estimator).__name__} cannot be saved: {error}") from None
    return found, left_out


def from_json(given: Any, where: str, make: Make | None = None, depth: int = 0) -> Any:
    """The value that JSON stands for; `make` builds estimators, where there may be some."""
    if given is None or type(given) in (bool, int, float, str):
        return given
    if depth == DEEPEST:
        raise Fault(f"{where} is nested too deeply")
    if isinstance(given, list):
        return [from_json(one, where, make, depth + 1) for one in given]
    if given.keys() == {"tuple"} and isinstance(given["tuple"], list):
        return tuple(from_json(one, where, make, depth + 1) for one in given["tuple"])
    if given.keys() == {"float"} and isinstance(given["float"], str) and given["float"] in SPECIAL:
        return SPECIAL[given["float"]]
    if given.keys() == {"dict"} and isinstance(given["dict"], list):
        return _dict_from(given["dict"], where, make, depth + 1)
    if make is not None and given.keys() == {"estimator", "parameters"}:
        name = Fields(given, where).one_of("estimator", ESTIMATORS)
        return make(name, parameters_from(Fields(given, where), where, make, depth + 1))
    raise Fault(f"{where} has a value that stands for nothing: {shown(given)}")


def parameters_from(fields: Fields, where: str, make: Make | None = None, depth: int = 0) -> dict[str, Any]:
    """The parameters of an estimator."""
    given = fields.object("parameters")
    return {name: from_json(value, f"{name[:LONGEST]} of {where}", make, depth + 1) for name, value in given.items()}


def _dict_from(pairs: list[Any], where: str, make: Make | None, depth: int) -> dict[Any, Any]:
    found = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Fault(f"{where} has {shown(pair)} in the place of a key and its value")
        key = from_json(pair[0], where, make, depth)
        try:
            hash(key)
        except TypeError:
            raise Fault(f"{where} has a key that cannot be one: {shown(pair[0])}") from None
        found[key] = from_json(pair[1], where, make, depth)
    return found
