"""Classes and their places, found by a table where they are whole numbers close together."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sublearn import SLMClassifier
from sublearn._base.targets import CLOSE, MANY, are_close_together, labels_of

rng = np.random.default_rng(0)
TARGETS: list[tuple[bool, Callable[[], Any]]] = [
    (True, lambda: rng.integers(0, 2, MANY)),
    (True, lambda: (rng.integers(0, 11, MANY) - 2**31).astype(np.int32)),
    (True, lambda: rng.integers(5, CLOSE, MANY).astype(np.uint64)),
    (True, lambda: np.uint64(2**64 - CLOSE) + rng.integers(0, CLOSE, MANY).astype(np.uint64)),
    (True, lambda: (2**31 - 1 - rng.integers(0, 11, MANY)).astype(np.int32)),
    (True, lambda: np.full(MANY, 3)),
    (False, lambda: rng.integers(0, 2, MANY - 1)),
    (False, lambda: np.append(rng.integers(0, 2, MANY), CLOSE)),
    (False, lambda: np.append(rng.integers(0, 2, MANY), np.iinfo(np.int64).min)),
    (False, lambda: rng.integers(0, 2, MANY).astype(bool)),
    (False, lambda: rng.integers(0, 2, MANY).astype(float)),
    (False, lambda: rng.integers(0, 2, MANY).astype(str)),
]


@pytest.mark.parametrize(("is_close", "make"), TARGETS)
def test_places_of_classes_are_those_that_sorting_finds(is_close: bool, make: Callable[[], Any]) -> None:
    y = make()
    assert are_close_together(y) == is_close
    classes, labels = labels_of(y)
    expected, places = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert labels.dtype == np.intp
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(labels, places)


def test_many_whole_numbers_grow_the_tree_that_their_names_do() -> None:
    X = rng.normal(size=(MANY, 2))
    y = 3 * (X[:, 0] > 0) + (X[:, 1] > 0)
    by_number = SLMClassifier(max_depth=3, random_state=0).fit(X, y)
    by_name = SLMClassifier(max_depth=3, random_state=0).fit(X, y.astype(str))
    assert by_number.classes_.tolist() == [0, 1, 3, 4]
    np.testing.assert_array_equal(by_number.predict(X).astype(str), by_name.predict(X))
