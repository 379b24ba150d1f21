"""The memory that a file may ask for: to read its header, and to predict with its trees."""

from sublearn._files.errors import Fault
from sublearn._files.layout import FACTOR, MOST_PARSED, size_in_words


def memory_for(file_size: int) -> int:
    """Bytes beyond the file that reading and predicting may take, but for the table and the answers."""
    return max(MOST_PARSED, FACTOR * file_size)


class Memory:
    """What a file has asked for so far."""

    def __init__(self, file_size: int, spent: int) -> None:
        self._size, self._spent = file_size, spent

    def give(self, needed: int) -> None:
        """Raise Fault for trees that take so many bytes to predict with, if that is too much."""
        self._spent += needed
        if self._spent > memory_for(self._size):
            raise Fault(
                f"its trees would take {size_in_words(needed)} to predict with, which is too much for a file of "
                f"{size_in_words(self._size)}"
            )
