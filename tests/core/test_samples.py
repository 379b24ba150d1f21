"""Samples on their way in: which ones count, what maps are fitted to, and what kernels get."""

from typing import Any

import numpy as np
import pytest

from sublearn.core.data.codes import CODE_LIMIT
from sublearn.core.data.fixed_point import UNIT, Weights
from sublearn.core.data.samples import (
    NOTHING,
    Given,
    code,
    drop_weightless,
    integer_response,
    make_samples,
    response_samples,
)
from support import ONE_THREAD, fit_maps

CLASSES = np.array(["a", "b", "c"])


def weights_of(*numbers: int) -> Weights:
    return Weights(np.array(numbers), np.array(numbers))


def given_of(y: list[float], weights: Weights = UNIT, **more: Any) -> Given:
    """Samples with one feature, 0, 1, 2 and so on."""
    rows = np.arange(len(y))
    return Given(X=rows[:, None] * 1.0, y=np.array(y), weights=weights, rows=rows, **more)


def test_samples_of_weight_zero_are_dropped_with_all_that_belongs_to_them() -> None:
    given = given_of([5.0, 6.0, 7.0, 8.0], weights_of(1, 0, 2, 0), exposure=np.array([0.1, 0.2, 0.3, 0.4]))
    left = drop_weightless(given)
    np.testing.assert_array_equal(left.rows, [0, 2])
    np.testing.assert_array_equal(left.X, [[0.0], [2.0]])
    np.testing.assert_array_equal(left.y, [5.0, 7.0])
    np.testing.assert_array_equal(left.weights.weights, [1, 2])
    np.testing.assert_array_equal(left.weights.counts, [1, 2])
    np.testing.assert_array_equal(left.exposure, [0.1, 0.3])
    assert left.n_samples == 3


def test_samples_of_a_class_of_weight_zero_are_dropped_too() -> None:
    given = given_of([0, 1, 2, 1, 0], weights_of(1, 1, 0, 1, 3), classes=CLASSES, factors=np.array([2.0, 0.0, 1.0]))
    left = drop_weightless(given)
    np.testing.assert_array_equal(left.rows, [0, 4])
    np.testing.assert_array_equal(left.classes, CLASSES)  # a class that nobody has is still one


@pytest.mark.parametrize("factors", [NOTHING, np.array([0.5, 2.0, 1.0])])
def test_nothing_is_copied_where_all_samples_count(factors: Any) -> None:
    given = given_of([0, 1, 2], classes=CLASSES, factors=factors)
    assert np.shares_memory(drop_weightless(given).X, given.X)


def test_maps_are_fitted_to_samples_of_a_class_of_weight_zero_but_not_to_samples_of_weight_zero() -> None:
    given = given_of([0, 1, 2, 1, 0], weights_of(1, 1, 0, 1, 3), classes=CLASSES, factors=np.array([2.0, 0.0, 1.0]))
    learned = given.take(given.weights.present())
    coded = code(learned, None, "auto", CODE_LIMIT, ONE_THREAD)
    expected = fit_maps(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([1, 1, 1, 3]), "auto", CODE_LIMIT, ONE_THREAD)
    for found, wanted in zip(coded.maps, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert coded.codes.shape == (1, 2)
    np.testing.assert_array_equal(coded.rows, [0, 4])
    np.testing.assert_array_equal(coded.class_weights(), [2.0, 2.0])


def test_maps_that_are_given_are_used() -> None:
    wide = fit_maps(np.array([[-100.0], [100.0]]), UNIT.weights, "linear", CODE_LIMIT, ONE_THREAD)
    given = given_of([1.0, 2.0, 3.0])
    assert code(given, wide, "linear", CODE_LIMIT, ONE_THREAD).maps is wide
    own = code(given, None, "linear", CODE_LIMIT, ONE_THREAD)
    assert np.ptp(code(given, wide, "linear", CODE_LIMIT, ONE_THREAD).codes) < np.ptp(own.codes)


def test_weights_of_classes_multiply_those_of_samples() -> None:
    given = given_of([0, 1, 2, 2], weights_of(1, 2, 3, 1), classes=CLASSES, factors=np.array([1.0, 5.0, 2.0]))
    response = integer_response(given)
    np.testing.assert_array_equal(response.weights.weights, [1, 10, 6, 2])
    np.testing.assert_array_equal(response.weights.counts, [1, 2, 3, 1])  # class weights are no samples
    samples = response_samples(np.zeros((1, 4), np.int16), response)
    assert (samples.n_classes, samples.packed.size, samples.targets.size) == (3, 0, 0)
    np.testing.assert_array_equal(samples.weights, response.weights.weights)


def test_numbers_are_packed_only_without_weights() -> None:
    codes = np.zeros((1, 3), np.int16)
    plain = response_samples(codes, integer_response(given_of([1.0, 2.0, 4.0])))
    weighted = response_samples(codes, integer_response(given_of([1.0, 2.0, 4.0], weights_of(1, 2, 1))))
    assert (plain.packed.size, weighted.packed.size) == (3, 0)
    np.testing.assert_array_equal(plain.targets, weighted.targets)
    assert make_samples(codes, weights_of(1, 2, 1), packed=plain.packed).packed.size == 0
