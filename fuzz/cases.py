"""What a case is, how it is drawn and how it ends."""

import signal
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")
ENOUGH = 5.0  # seconds after which a case is stopped: some parameters ask for years
PASSED, REFUSED, UNFINISHED, FAILED = "passed", "refused", "unfinished", "failed"


class Outcome(NamedTuple):
    """How a case ended."""

    status: str
    text: str = ""  # of a failure: what was tried and what went wrong
    seconds: float = 0.0  # from an interrupt to the end


class Case(NamedTuple):
    """Something to try: in words, and as a call that returns how it ended or raises what went wrong."""

    text: str
    run: Callable[[], Outcome]


class BrokenError(Exception):
    """Raised where something is not as promised."""


class EnoughError(KeyboardInterrupt):
    """Raised in a case that takes too long."""


def rng_of(kind: str, seed: int, number: int) -> np.random.Generator:
    """Everything about a case is drawn from this."""
    return np.random.default_rng([seed, zlib.crc32(kind.encode()), number])


def pick(rng: np.random.Generator, values: Sequence[T]) -> T:
    """One of some values, as it is: NumPy would make arrays of them."""
    return values[int(rng.integers(len(values)))]


@contextmanager
def stopped_in_time() -> Iterator[None]:
    """Raise EnoughError here if this takes too long, as Ctrl-C would."""

    def stop(*_: Any) -> None:
        raise EnoughError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, ENOUGH)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def shown(value: Any, limit: int = 300) -> str:
    """In one line that is not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else f"{text[:limit]}..."
