"""Weights and targets as integers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.data import fixed_point
from sublearn.core.data.fixed_point import (
    UNIT,
    Weights,
    exact_mean,
    integer_targets,
    integer_weights,
    times_class_weights,
)
from sublearn.kernels.layout import TARGET_BITS, WEIGHT_BITS


def as_lists(weights: Weights) -> tuple[list[int], list[int]]:
    return weights.weights.tolist(), weights.counts.tolist()


def assert_weights_are_right(given_weights: list[float]) -> None:
    """Whole weights with a small sum are kept; others are right to half of 2^-30 of the sum, rounded up to 2^k.

    Positive weights below half of that step become one step, so that no row is lost.
    """
    found = integer_weights(np.array(given_weights))
    total = math.fsum(given_weights)
    whole = all(w == math.floor(w) for w in given_weights) and total < 2**WEIGHT_BITS
    step = Fraction(1) if whole else Fraction(2) ** (math.frexp(total)[1] - 30)
    for w, n, count in zip(given_weights, *as_lists(found), strict=True):
        tiny = 0 < Fraction(w) < step / 2
        assert n == 1 if tiny else abs(n * step - Fraction(w)) <= (0 if whole else step / 2)
        assert count == (n if whole else 1)
    assert found.weights.sum() < 2**WEIGHT_BITS


# --- weights


def test_unit_weights_are_none() -> None:
    assert as_lists(integer_weights(np.ones(5))) == ([], [])


def test_whole_weights_stay_and_count() -> None:
    assert as_lists(integer_weights(np.array([1.0, 3.0, 0.0, 7.0]))) == ([1, 3, 0, 7], [1, 3, 0, 7])


def test_fractional_weights_count_once() -> None:
    # their sum, 3.75, lies below 4: steps of 4 / 2^30
    found = integer_weights(np.array([0.5, 1.5, 1.75]))
    assert as_lists(found) == ([2**27, 3 * 2**27, 7 * 2**26], [1, 1, 1])


@given(weights=st.lists(st.floats(0.0, 1e200), min_size=1, max_size=50).filter(lambda w: math.fsum(w) > 1e-290))
def test_any_weights_are_right_to_two_to_the_minus_30_of_their_sum(weights: list[float]) -> None:
    if any(w != 1.0 for w in weights):
        assert_weights_are_right(weights)


@given(weights=st.lists(st.integers(0, 2**26), min_size=1, max_size=40))
def test_whole_weights_are_exact_until_their_sum_is_large(weights: list[int]) -> None:
    if any(weights) and any(w != 1 for w in weights):
        assert_weights_are_right([float(w) for w in weights])


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-30, 1e30, 1e300])
def test_weights_of_any_magnitude_keep_their_ratios(scale: float) -> None:
    found = integer_weights(np.array([1.0, 2.0, 5.0]) * scale)
    assert found.counts.tolist() == [1, 1, 1]
    ratios = found.weights / found.weights[0]
    # of denormal weights, 1e-320 has eleven bits
    np.testing.assert_allclose(ratios, [1, 2, 5], rtol=1e-3 if scale < 1e-310 else 1e-8)


def test_many_small_weights_do_not_overflow() -> None:
    found = integer_weights(np.full(300_000, 0.1))
    assert found.weights.sum() < 2**WEIGHT_BITS
    assert len(set(found.weights.tolist())) == 1


def test_the_step_is_what_a_weight_of_one_stands_for() -> None:
    for given_weights in ([0.5, 1.5, 1.75], [2.0, 3.0], [1e-300, 3e-300]):
        found = integer_weights(np.array(given_weights))
        np.testing.assert_allclose(found.weights * found.step, given_weights, rtol=1e-8)
    weights = times_class_weights(integer_weights(np.array([0.5, 1.5])), np.array([0.3, 7.0]), np.array([0, 1]))
    np.testing.assert_allclose(weights.weights * weights.step, [0.15, 10.5], rtol=1e-8)


def test_weights_are_taken_and_added_up_with_their_counts() -> None:
    weights = Weights(np.array([4, 0, 6]), np.array([1, 1, 1]), 0.25)
    assert (weights.total(3), weights.count(3)) == (10, 3)
    assert weights.present().tolist() == [True, False, True]
    assert as_lists(weights.take(weights.present())) == ([4, 6], [1, 1])
    assert weights.take(np.array([2])).step == 0.25
    assert (UNIT.total(3), UNIT.count(3), UNIT.present(), UNIT.take([0])) == (3, 3, slice(None), UNIT)


# --- class weights


def test_whole_class_weights_multiply() -> None:
    weights = Weights(np.array([1, 2, 3]), np.array([1, 2, 3]))
    found = times_class_weights(weights, np.array([2.0, 5.0]), np.array([0, 1, 0]))
    assert as_lists(found) == ([2, 10, 6], [1, 2, 3])


def test_class_weights_alone_make_rows_count_once() -> None:
    assert as_lists(times_class_weights(UNIT, np.array([2.0, 5.0]), np.array([0, 1, 0]))) == ([2, 5, 2], [1, 1, 1])


def test_class_weights_of_one_change_nothing() -> None:
    weights = Weights(np.array([4, 5]), np.array([4, 5]))
    assert times_class_weights(weights, np.ones(2), np.array([0, 1])) is weights
    assert times_class_weights(UNIT, np.ones(2), np.array([0, 1])) is UNIT


@pytest.mark.parametrize("factors", [[0.1, 0.7, 12.5], [1e-3, 1.0, 1e3], [1e9, 2e9, 3e9], [1e-300, 2e-300, 0.5e-300]])
def test_fractional_class_weights_keep_their_ratios(factors: list[float]) -> None:
    found = times_class_weights(UNIT, np.array(factors), np.array([0, 1, 2]))
    ratios = found.weights / found.weights.max()
    # factors are rounded to 2^-29 of the largest or better
    np.testing.assert_allclose(ratios, np.array(factors) / max(factors), rtol=0, atol=2**-29)


def test_twice_the_row_stays_twice_the_weight_under_class_weights() -> None:
    rng = np.random.default_rng(0)
    weights, labels, factors = rng.integers(1, 100, 50), rng.integers(0, 3, 50), np.array([0.3, 1.7, 2.2])
    once = times_class_weights(Weights(weights, weights), factors, labels)
    twice = times_class_weights(Weights(2 * weights, 2 * weights), factors, labels)
    np.testing.assert_array_equal(twice.weights, 2 * once.weights)


def test_the_largest_weights_of_both_kinds_do_not_overflow() -> None:
    weights = integer_weights(np.full(2, 2.0**30 - 1))
    found = times_class_weights(weights, np.array([0.999, 0.123]), np.array([0, 0]))
    assert (found.weights > 0).all()
    assert found.weights.sum() > 0


# --- targets


def restored(y: Array) -> list[Fraction]:
    """What the integers stand for, exactly."""
    found = integer_targets(y)
    factor = Fraction(2) ** found.units.exponent
    centre, step = Fraction(found.units.centre), Fraction(found.units.step)
    pairs = zip(found.targets.tolist(), found.remainders.tolist(), strict=True)
    return [factor * (centre + step * (t + Fraction(r, 2**30))) for t, r in pairs]


def assert_restored(y: Array) -> None:
    tolerance = (Fraction(float(y.max())) - Fraction(float(y.min()))) / 2**59
    for value, found in zip(y.tolist(), restored(y), strict=True):
        assert abs(Fraction(value) - found) <= tolerance


def test_three_targets_by_hand() -> None:
    found = integer_targets(np.array([1.0, 2.0, 3.0]))
    # the range, 2, lies below 4: steps of 4 / 2^29 around 2
    assert found.units == (2.0, 2.0**-27, 0)
    assert found.targets.tolist() == [-(2**27), 0, 2**27]
    assert found.remainders.tolist() == [0, 0, 0]


TARGETS = {
    "normal": np.random.default_rng(0).standard_normal(200),
    "far from zero": 1e9 + np.random.default_rng(1).standard_normal(200),
    "neighbouring floats": 1.0 + np.spacing(1.0) * np.arange(10),
    "one large": np.array([1e12, 1e-3, 2e-3, -5e-4]),
    "1e300": 1e300 * np.random.default_rng(2).uniform(-1, 1, 100),
    "whole range of floats": np.array([-1.79e308, 1.79e308, 1e300, 0.0]),
    "1e-300": 1e-300 * np.random.default_rng(3).uniform(-1, 1, 100),
    "denormal": 1e-318 * np.random.default_rng(4).uniform(-1, 1, 100),
    "integers": np.arange(-50.0, 51.0),
    "one": np.array([7.25]),
    "zeros": np.zeros(3),
    "constant": np.full(4, -1e-7),
    "constant at the largest float": np.full(4, 1.79e308),
    "constant denormal": np.full(4, 1e-320),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_restored_to_two_to_the_minus_59_of_their_range(name: str) -> None:
    assert_restored(TARGETS[name])


@given(y=st.lists(st.floats(-1e300, 1e300).filter(lambda v: v == 0 or abs(v) > 1e-250), min_size=1, max_size=40))
def test_any_targets_are_restored_to_two_to_the_minus_59_of_their_range(y: list[float]) -> None:
    assert_restored(np.array(y))


@given(y=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40))
def test_targets_leave_room_for_the_sum_over_a_block(y: list[float]) -> None:
    # packed sums take up to 2^15 targets, each moved up by 2^29, into 45 bits
    found = integer_targets(np.array(y))
    assert np.abs(found.targets.astype(np.int64)).max() < 2**TARGET_BITS
    assert np.abs(found.remainders.astype(np.int64)).max() <= 2**29


def test_the_range_is_spread_over_at_least_a_quarter_of_the_integers() -> None:
    for y in (TARGETS["normal"], TARGETS["1e300"], TARGETS["far from zero"]):
        targets = integer_targets(y).targets.astype(np.int64)
        assert targets.max() - targets.min() >= 2 ** (TARGET_BITS - 1)


def test_equal_targets_get_equal_integers() -> None:
    y = np.random.default_rng(5).choice([0.1, 0.2, 0.3], 50)
    found = integer_targets(y)
    assert len(set(zip(y.tolist(), found.targets.tolist(), found.remainders.tolist(), strict=True))) == 3
    constant = integer_targets(np.full(5, 0.1))
    assert not constant.targets.any()
    assert not constant.remainders.any()
    assert constant.units.centre == 0.1


@pytest.mark.parametrize("exponent", [-600, -3, 7, 800])
def test_a_power_of_two_as_unit_changes_no_target(exponent: int) -> None:
    y = TARGETS["normal"]
    one, other = integer_targets(y), integer_targets(np.ldexp(y, exponent))
    np.testing.assert_array_equal(one.targets, other.targets)
    np.testing.assert_array_equal(one.remainders, other.remainders)


def test_the_order_of_targets_does_not_matter() -> None:
    y = TARGETS["normal"]
    order = np.random.default_rng(6).permutation(len(y))
    one, other = integer_targets(y), integer_targets(y[order])
    np.testing.assert_array_equal(one.targets[order], other.targets)
    assert one.units == other.units


@pytest.mark.parametrize("name", TARGETS)
def test_units_give_the_values_back(name: str) -> None:
    y = TARGETS[name]
    found = integer_targets(y)
    values = found.units.values(found.targets, found.remainders)
    # one rounding, and 2^-59 of the range
    assert np.abs(values / 2 - y / 2).max() <= np.spacing(np.abs(y).max())


def test_squares_are_in_the_units_of_y() -> None:
    found = integer_targets(np.array([1.0, 2.0, 3.0]))
    variance = np.var(found.targets.astype(np.float64))
    assert found.units.squares(np.array([variance]))[0] == pytest.approx(2 / 3, rel=1e-15)


# --- means


def test_a_weighted_mean_by_hand() -> None:
    assert exact_mean(np.array([1.0, 2.0, 6.0]), integer_weights(np.array([1.0, 2.0, 1.0]))) == 2.75
    assert exact_mean(np.array([0.1]), integer_weights(np.array([3.0]))) == 0.1
    assert exact_mean(np.full(7, 0.1), UNIT) == 0.1


def mean_inputs(name: str) -> tuple[Array, Array]:
    y = TARGETS[name]
    return y, np.random.default_rng(8).integers(1, 6, len(y)).astype(np.float64)


@pytest.mark.parametrize("name", TARGETS)
def test_weight_two_is_the_row_twice_for_a_mean_in_any_order(name: str) -> None:
    y, weights = mean_inputs(name)
    repeated = np.random.default_rng(9).permutation(np.repeat(y, weights.astype(int)))
    mean = exact_mean(y, integer_weights(weights))
    assert mean == exact_mean(repeated, UNIT)
    order = np.random.default_rng(10).permutation(len(y))
    assert mean == exact_mean(y[order], integer_weights(weights[order]))


@pytest.mark.parametrize("name", TARGETS)
def test_means_are_right_to_rounding(name: str) -> None:
    y, weights = mean_inputs(name)
    total = sum(Fraction(w) * Fraction(v) for w, v in zip(weights.tolist(), y.tolist(), strict=True))
    expected = float(total / Fraction(weights.sum()))
    # some units in the last place of the largest value
    assert abs(exact_mean(y, integer_weights(weights)) - expected) <= 4 * np.spacing(np.abs(y).max())


def test_means_under_fractional_weights_agree_with_sums_of_floats() -> None:
    rng = np.random.default_rng(11)
    y, weights = rng.normal(size=500), rng.uniform(size=500)
    expected = math.fsum(y * weights) / math.fsum(weights)
    mean = exact_mean(y, integer_weights(weights))
    assert mean == pytest.approx(expected, abs=500 * 2**-30)  # weights are right to 2^-30 of the sum


def test_weights_of_so_many_rows_that_little_is_left_of_each_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(0).random(100)
    assert integer_weights(weights).weights.size == 100
    monkeypatch.setattr(fixed_point, "LEAST_PARTS", 2**25)  # as for a million times the rows
    assert integer_weights(np.ones(100)) is UNIT
    assert integer_weights(np.full(100, 3.0)).weights.tolist() == [3] * 100
    with pytest.raises(ValueError, match="got others for 100, which would be rounded"):
        integer_weights(weights)
