"""What a search for counterfactuals works on: rows, their goals, and moves of their features."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.layout import Array
from sublearn.kernels.scanning import NUMBER, WANTED


class Goal(NamedTuple):
    """What the answers of rows are to be."""

    kind: int
    classes: Array  # int64 (n_rows,), wanted or avoided
    low: float  # of numbers, as scores are
    high: float
    slack: float  # ties within this may count

    def is_met(self, answers: Array, rows: Array) -> Array:
        """Whether answers for some rows are as wanted."""
        if self.kind == NUMBER:
            return (answers[:, 0] >= self.low) & (answers[:, 0] <= self.high)
        met: Array = (answers.argmax(axis=1) == self.classes[rows]) == (self.kind == WANTED)
        return met


class Rows(NamedTuple):
    """The rows that are searched from."""

    x: Array  # float64 (n_rows, n_features)
    codes: Array  # int16 (n_rows, n_views)
    origin: Array  # float64 (n_rows, n_features)
    may_move: Array  # bool (n_rows, n_features)


class Moves(NamedTuple):
    """States: rows with some features moved to positions."""

    row: Array  # int64 (n_states,)
    position: Array  # int64 (n_states, n_features), -1: not moved

    def take(self, chosen: Array) -> "Moves":
        """Some of them."""
        return Moves(self.row[chosen], self.position[chosen])


def joined(parts: list[Moves]) -> Moves:
    """All states of several."""
    return Moves(np.concatenate([p.row for p in parts]), np.concatenate([p.position for p in parts]))


def firsts(sorted_: Array) -> Array:
    """Whether each of some sorted numbers is the first of its kind."""
    return np.append(True, sorted_[1:] != sorted_[:-1])[: len(sorted_)]
