"""What partitions of the samples find, put together: every partition runs the same fit on its own rows.

A fit on a cluster is one program, run once for each partition. Wherever it looks at all samples, it asks its links for
what all partitions found together: a sum of integers, a smallest or largest number, or rows in the order of the
partitions. What is decided from that is the same everywhere, so decisions are never sent. All partitions ask for the
same things in the same order. Partitions are consecutive stretches of the rows, and may be empty.
"""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any, Protocol, TypeVar

import numpy as np

from sublearn.kernels.layout import Array

T = TypeVar("T")
SHORT = 4096  # numbers that are sent to all partitions at once; of more, each partition puts a stretch together


class Stoppable(Protocol):
    """What can be told that it is no longer wanted."""

    def want(self) -> None:
        """Tell all threads to stop."""


class Journal:
    """The trees of a fit in the order in which they were grown, the same in all partitions.

    A fit that was interrupted begins anew with the journal of the one before, and does not grow what is there.
    """

    def __init__(self, trees: Sequence[Any] = ()) -> None:
        self.trees = list(trees)
        self.n_asked = 0  # trees that this run of the fit has asked for

    def known(self) -> Any:
        """The next tree, or None where it is not here."""
        if self.n_asked == len(self.trees):
            return None
        self.n_asked += 1
        return self.trees[self.n_asked - 1]

    def note(self, tree: Any) -> None:
        """Note the next tree, which was not here and has been grown."""
        self.trees.append(tree)
        self.n_asked += 1

    def begin_anew(self, links: "Links") -> None:
        """Agree with the other partitions on the longest journal, for a run that begins."""
        lengths = links.tell(len(self.trees))
        longest = lengths.index(max(lengths))
        nothing = np.empty(0, np.uint8)
        is_own = links.number == longest and min(lengths) < max(lengths)
        written = np.frombuffer(pickle.dumps(self.trees), np.uint8) if is_own else nothing
        received = links.send([written if n < max(lengths) else nothing for n in lengths])[longest]
        if len(self.trees) < max(lengths):
            self.trees = pickle.loads(received.tobytes())
        self.n_asked = 0


class Links(ABC):
    """How partitions are put together. Whatever carries arrays from one to the other only has to know how to `send`."""

    number: int  # of this partition, from 0
    n_partitions: int
    room: int = 256 << 20  # bytes that samples of all partitions may take in each of them
    names: Sequence[str] = ()  # of the partitions as errors have them; empty: they are numbered
    journal: Journal | None = None  # where trees are noted, if a fit may be interrupted and begin anew

    @abstractmethod
    def send(self, parts: Sequence[Array]) -> list[Array]:
        """Send parts[p] to partition p; returns what each partition has sent here, in their order.

        What others have sent may be changed; the own part is not copied, and may be changed after the next `send`.
        """

    def name_of(self, number: int) -> str:
        """The name of a partition."""
        return self.names[number] if self.names else f"partition {number}"

    def all_well(self) -> AbstractContextManager[None]:
        """What one partition raises inside, all raise, with its name; nothing may be asked of the links in there.

        Of several errors it is that of the first partition. One that all of them raise has no name.
        """
        return _all_well(self)

    def heed(self, stop: Stoppable) -> None:  # noqa: B027  most links have nobody who could end a fit
        """Have this told when the fit is to end, since another partition is gone or nobody waits for it."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """A new array of a size that grows with the samples; links may know where there is room for it."""
        return np.empty(shape, dtype)

    def gather(self, rows: Array) -> list[Array]:
        """What each partition gives, in their order; all have the same type, and may differ in their first length."""
        return self.send([rows] * self.n_partitions)

    def add(self, numbers: Array) -> Array:
        """Sums of the integers that each partition gives, place by place."""
        return self._together(numbers if numbers.dtype.itemsize == 8 else numbers.astype(np.int64), np.add)

    def least(self, numbers: Array) -> Array:
        """The smallest number at each place."""
        return self._together(numbers, np.minimum)

    def most(self, numbers: Array) -> Array:
        """The largest number at each place."""
        return self._together(numbers, np.maximum)

    def total(self, number: int) -> int:
        """Sum of an integer of each partition, such as how many samples it has."""
        return int(self.add(np.array([number], np.int64))[0])

    def every(self, is_so: Any) -> bool:
        """Whether something is so in all partitions."""
        return bool(self.least(np.array([is_so], np.int64))[0])

    def some(self, is_so: Any) -> bool:
        """Whether something is so in any partition."""
        return bool(self.most(np.array([is_so], np.int64))[0])

    def before(self, number: int) -> int:
        """Sum of an integer of the partitions before this one."""
        return sum(int(part[0]) for part in self.gather(np.array([number], np.int64))[: self.number])

    def whole(self, rows: Array) -> Array:
        """The rows of all partitions, in their order."""
        if self.n_partitions == 1:
            return rows
        return np.concatenate(self.gather(rows) if rows.dtype.kind in "biuf" else self.tell(rows))

    def __deepcopy__(self, memo: Any) -> "Links":
        """The same: there is one way to the others."""
        return self

    def tell(self, thing: Any) -> list[Any]:
        """Some small thing of each partition, in their order, such as the names of its columns."""
        told = self.gather(np.frombuffer(pickle.dumps(thing), np.uint8))
        return [pickle.loads(one.tobytes()) for one in told]

    def _together(self, numbers: Array, join: np.ufunc) -> Array:
        """Put numbers together: few at once, many a stretch a partition, so that none receives all from all."""
        if numbers.size <= SHORT or self.n_partitions == 2:  # of two, either way takes as many bytes
            return self._joined(self.gather(numbers), join)
        stretches = np.array_split(numbers.reshape(-1), self.n_partitions)
        own = self._joined(self.send(stretches), join)
        return np.concatenate(self.gather(own)).reshape(numbers.shape)

    def _joined(self, parts: list[Array], join: np.ufunc) -> Array:
        """Put parts together, in the place of one that has come from another partition: new memory takes long."""
        own = parts[self.number]
        others = [part for p, part in enumerate(parts) if p != self.number]
        found = others[0] if others else own.copy()
        for part in (own, *others[1:]) if others else ():
            join(found, part, out=found)
        return found


class Alone(Links):
    """The links of samples that are all here."""

    number, n_partitions = 0, 1

    def send(self, parts: Sequence[Array]) -> list[Array]:
        """The same part."""
        return list(parts)

    def all_well(self) -> AbstractContextManager[None]:
        """An error is raised as it is."""
        return AS_IT_IS

    def tell(self, thing: Any) -> list[Any]:
        """The same thing."""
        return [thing]

    def _together(self, numbers: Array, join: np.ufunc) -> Array:
        return numbers


AS_IT_IS = nullcontext()
ALONE = Alone()


class LostError(Exception):
    """Raised in a partition when another one has failed or is gone."""


@contextmanager
def _all_well(links: Links) -> Iterator[None]:
    own: Exception | None = None
    try:
        yield
    except LostError:
        raise
    except Exception as error:
        own = error
    told = links.tell(own and (_built_in(own), str(own)))
    for number, fault in enumerate(told):
        if fault:
            kind, text = fault
            if any(other != fault for other in told):
                text = f"In {links.name_of(number)}: {text}"
            raise kind(text) from (own if number == links.number else None)


def _built_in(error: Exception) -> type[Exception]:
    """The type of an error, or what it derives from that is known everywhere and made from a text."""
    for kind in type(error).__mro__:
        if kind.__module__ == "builtins":
            try:
                kind("")
            except TypeError:  # such as those of Unicode
                continue
            return kind
    return Exception


class _Board:
    """Where threads that are partitions lay down what they send."""

    def __init__(self, n_partitions: int) -> None:
        self.barrier = Barrier(n_partitions)
        self.sent: list[Sequence[Array]] = [()] * n_partitions

    def wait(self) -> None:
        """Wait for all partitions."""
        try:
            self.barrier.wait()
        except BrokenBarrierError:
            raise LostError("another partition has failed") from None


class Beside(Links):
    """The links of partitions that are threads of one process."""

    def __init__(self, number: int, board: _Board) -> None:
        self.number, self.n_partitions, self._board = number, len(board.sent), board

    def send(self, parts: Sequence[Array]) -> list[Array]:
        """Send parts[p] to partition p; returns what each partition has sent here, in their order."""
        self._board.sent[self.number] = parts
        self._board.wait()
        received = [np.array(sent[self.number]) for sent in self._board.sent]
        self._board.wait()
        return received


def side_by_side(work: Callable[[Links], T], n_partitions: int) -> list[T]:
    """work(links) for each of some partitions, each in a thread of its own; results in order.

    When one fails the others stop, and its error is raised.
    """
    board = _Board(n_partitions)
    results: list[Any] = [None] * n_partitions
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            results[number] = work(Beside(number, board))
        except BaseException as error:
            errors.append(error)
            board.barrier.abort()

    threads = [Thread(target=run, args=(number,), daemon=True) for number in range(n_partitions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda error: isinstance(error, LostError))
    return results
