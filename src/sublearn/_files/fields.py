"""The fields of a JSON object, each of which is checked when it is taken."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from sublearn._files.errors import Fault

LONGEST = 40  # characters of a value that is shown


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = repr(value[: LONGEST + 1]) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


class Fields:
    """The fields of one object; `where` is what messages call it."""

    def __init__(self, given: Any, where: str) -> None:
        if not isinstance(given, dict):
            raise Fault(f"{where} must be an object; it is {shown(given)}")
        self._given, self._where = given, where

    def has(self, name: str) -> bool:
        """Whether there is a field that is not null."""
        return self._given.get(name) is not None

    def raw(self, name: str) -> Any:
        """A field as it is."""
        if name not in self._given:
            raise Fault(f"{self._where} has no {name!r}")
        return self._given[name]

    def object(self, name: str) -> dict[str, Any]:
        """A JSON object."""
        value = self.raw(name)
        return value if isinstance(value, dict) else self._refuse(name, "an object")

    def fields(self, name: str) -> "Fields":
        """The fields of an object within."""
        return Fields(self.object(name), f"{name!r} of {self._where}")

    def list(self, name: str, n: int | None = None) -> Any:
        """A list, of n entries where these are known."""
        value = self.raw(name)
        if not isinstance(value, list) or (n is not None and len(value) != n):
            self._refuse(name, "a list" if n is None else f"a list of {n}")
        return value

    def each(self, name: str) -> Iterator["Fields"]:
        """The fields of the objects in a list."""
        for number, one in enumerate(self.list(name)):
            yield Fields(one, f"{name}[{number}] of {self._where}")

    def texts(self, name: str, n: int | None = None) -> Any:
        """A list of texts."""
        values = self.list(name, n)
        return values if all(isinstance(one, str) for one in values) else self._refuse(name, "a list of texts")

    def whole(self, name: str, low: int, high: int) -> int:
        """An integer within bounds."""
        value = self.raw(name)
        if type(value) is not int or not low <= value <= high:
            self._refuse(name, f"a whole number from {low} to {high}")
        return int(value)

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number within bounds."""
        value = self.raw(name)
        try:
            if type(value) not in (int, float) or not low <= float(value) <= high or not math.isfinite(value):
                raise OverflowError
            return float(value)
        except OverflowError:  # also of an integer that no float holds
            return float(self._refuse(name, f"a number from {low:g} to {high:g}"))

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.raw(name)
        return value if isinstance(value, bool) else bool(self._refuse(name, "true or false"))

    def text(self, name: str) -> str:
        """A text."""
        value = self.raw(name)
        return value if isinstance(value, str) else str(self._refuse(name, "a text"))

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        """One of some texts."""
        value = self.raw(name)
        if isinstance(value, str) and value in allowed:
            return value
        return str(self._refuse(name, " or ".join(map(repr, allowed))))

    def _refuse(self, name: str, words: str) -> Any:
        raise Fault(f"{name!r} of {self._where} must be {words}; it is {shown(self._given[name])}")
