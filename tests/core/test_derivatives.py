"""The derivatives of a loss: the largest of them, in a direction, and as integers."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import Array
from sublearn.core.boosting.derivatives import (
    CURVATURE_BITS,
    Derivatives,
    Rounded,
    Slopes,
    find_slopes,
    fine_steps,
    integer_derivatives,
)
from sublearn.core.data.fixed_point import UNIT, Weights, pack
from sublearn.core.parallel import Workers
from sublearn.kernels.layout import CURVED_BITS, TARGET_BITS
from support import ONE_THREAD

N = 30_001
MOST = 2**CURVED_BITS - 1
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def column(numbers: Array | list[float]) -> Array:
    return np.array(numbers)[:, None]


def slopes_of(gradients: Array, hessians: Array | None) -> Slopes:
    return find_slopes(gradients, hessians, np.ones(gradients.shape[1]), ONE_THREAD)[0]


def rounded(gradient: Array | list[float], hessian: Array | list[float] | None) -> Derivatives:
    """Integers for derivatives by one output, of samples of weight 1."""
    curves = None if hessian is None else column(hessian)
    return integer_derivatives(slopes_of(column(gradient), curves), UNIT, ONE_THREAD)


# --- the largest, and directions


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("n_outputs", [1, 4])
@pytest.mark.parametrize("curved", [False, True])
def test_slopes_of_many_samples_on_any_threads(n_outputs: int, curved: bool) -> None:
    rng = np.random.default_rng(0)
    gradients, hessians = rng.normal(size=(N, n_outputs)), rng.random((N, n_outputs))
    gradients[-1, 0], gradients[0, -1], gradients[5], hessians[0, -1] = -9.0, 1e9, -0.0, 7.0
    signs = np.array([1.0, -1.0, -1.0, 1.0][:n_outputs])
    ones = hessians if curved else np.ones((N, n_outputs))
    with Workers(3) as workers:
        found = [find_slopes(gradients, hessians if curved else None, signs, each) for each in (ONE_THREAD, workers)]
    for slopes, line in found:
        assert slopes.gradients is gradients
        np.testing.assert_array_equal(slopes.largest, np.stack([np.abs(gradients), ones], axis=2).max(axis=0))
        np.testing.assert_allclose(line.gradients[:, 0], gradients @ signs, rtol=1e-12, atol=1e-12)
        curves = np.ones((N, 1)) if line.hessians is None else line.hessians
        np.testing.assert_allclose(curves[:, 0], ones.sum(axis=1), rtol=1e-12)
        assert line.largest.tolist() == [[np.abs(line.gradients).max(), curves.max()]]
    for one, other in zip(*(itertools.chain(*pair) for pair in found), strict=True):
        assert (one is None) == (other is None)
        np.testing.assert_array_equal(np.asarray(one, float), np.asarray(other, float))


@given(numbers=st.lists(st.tuples(FINITE, FINITE.map(abs)), min_size=1, max_size=30))
def test_the_largest_of_any_derivatives(numbers: list[tuple[float, float]]) -> None:
    gradient, hessian = np.array(numbers).T
    assert slopes_of(column(gradient), column(hessian)).largest.tolist() == [[np.abs(gradient).max(), hessian.max()]]


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_derivatives_are_looked_at_once_they_are_written(n_outputs: int) -> None:
    gradients, hessians = np.full((2, N, n_outputs), np.nan)

    def fill(first: int, last: int) -> None:
        gradients[first:last] = -np.arange(first, last)[:, None]
        hessians[first:last] = 3.0

    with Workers(3) as workers:
        slopes, line = find_slopes(gradients, hessians, np.ones(n_outputs), workers, fill)
    assert slopes.largest.tolist() == [[N - 1.0, 3.0]] * n_outputs
    assert line.largest.tolist() == [[n_outputs * (N - 1.0), n_outputs * 3.0]]


def test_direction_adds_gradients_by_their_signs() -> None:
    gradients, hessians = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5, 0.25, 0.125]])

    def line(signs: list[float], hessians: Array | None) -> list[list[list[float]] | None]:
        found = find_slopes(gradients, hessians, np.array(signs), ONE_THREAD)[1]
        return [None if part is None else part.tolist() for part in found]

    assert line([1.0, -1.0, 1.0], hessians) == [[[3.0]], [[0.875]], [[3.0, 0.875]]]
    assert line([-1.0, -1.0, 1.0], None) == [[[1.0]], [[3.0]], [[1.0, 3.0]]]


# --- integers


def test_three_derivatives_by_hand() -> None:
    found = rounded([3.0, -1.0, 0.5], [0.25, 0.0, 0.125])
    # the largest gradient lies below 4, the largest hessian below 1/2
    assert (found.target_step, found.curvature_step) == (4 / 2**16, 0.5 / 2**16)
    assert found.targets.tolist() == [-3 * 2**14, 2**14, -(2**13)]
    assert found.curvatures.tolist() == [2**15, 1, 2**14]
    assert found.packed.tolist() == pack(found.targets, found.curvatures).tolist()


def test_steps_of_exact_sums_are_finer_than_those_of_the_search() -> None:
    one = np.ones((1, 2))
    slopes = Slopes(one, one, np.array([[5.0, 0.25], [0.1, 1.0]]))
    assert fine_steps(slopes).tolist() == [[8 / 2**28, 0.5 / 2**30], [0.125 / 2**28, 2 / 2**30]]
    assert fine_steps(slopes._replace(hessians=None)).tolist() == [[8 / 2**28, 1.0], [0.125 / 2**28, 1.0]]


def test_no_hessian_stands_for_ones() -> None:
    found = rounded([1.0, -2.0], None)
    assert found.curvatures.size == 0
    assert found.curvature_step == 1.0
    assert (found.targets * found.target_step).tolist() == [-1.0, 2.0]
    assert found.target_step == 4 / 2**28
    assert found.packed.tolist() == pack(found.targets, found.curvatures).tolist()


def assert_derivatives_are_right(gradient: Array, hessian: Array) -> Derivatives:
    """Half a step, exactly, but for hessians that would be 0 and for what would be 2^16 steps."""
    found = rounded(gradient, hessian)
    for step in (found.target_step, found.curvature_step):
        assert math.frexp(step)[0] == 0.5  # a power of two
        assert step >= math.ldexp(1.0, -900 - CURVED_BITS)
    for g, t in zip(gradient.tolist(), found.targets.tolist(), strict=True):
        exact = -Fraction(g) / Fraction(found.target_step)
        assert abs(t) == MOST if abs(exact) > MOST else abs(t - exact) <= Fraction(1, 2)
        assert t * exact >= 0
    for h, c in zip(hessian.tolist(), found.curvatures.tolist(), strict=True):
        exact = Fraction(h) / Fraction(found.curvature_step)
        assert c == min(max(c, 1), MOST)
        assert abs(c - min(max(exact, 1), MOST)) <= Fraction(1, 2)
    assert found.targets.dtype == found.curvatures.dtype == np.int32
    assert found.packed.tolist() == pack(found.targets, found.curvatures).tolist()
    return found


@given(pairs=st.lists(st.tuples(FINITE, FINITE.map(abs)), min_size=1, max_size=20))
def test_any_derivatives_are_right_to_half_a_step(pairs: list[tuple[float, float]]) -> None:
    assert_derivatives_are_right(*np.array(pairs).T)


@pytest.mark.parametrize("scale", [1e-250, 1e-9, 1.0, 1e9, 1.7e308])
def test_the_largest_derivatives_keep_their_bits(scale: float) -> None:
    rng = np.random.default_rng(7)
    gradient, hessian = scale * rng.uniform(-1, 1, 100), scale * rng.uniform(0, 1, 100)
    found = assert_derivatives_are_right(gradient, hessian)
    assert found.target_step <= np.abs(gradient).max() / 2 ** (CURVED_BITS - 1)
    assert found.curvature_step <= hessian.max() / 2 ** (CURVED_BITS - 1)
    alone = rounded(gradient, None)
    assert np.abs(alone.targets * alone.target_step + gradient).max() <= alone.target_step / 2
    assert alone.target_step <= np.abs(gradient).max() / 2 ** (TARGET_BITS - 2)
    fine = fine_steps(slopes_of(column(gradient), column(hessian)))
    assert fine.tolist() == [[alone.target_step, math.ldexp(found.curvature_step, CURVED_BITS - CURVATURE_BITS)]]


def test_the_largest_derivatives_are_cut_off_below_two_to_the_16() -> None:
    near = np.nextafter(1.0, 0.0)
    found = rounded([near, -near, 0.5], [near, 0.5, 0.0])
    assert found.targets.tolist() == [-MOST, MOST, -(2**15)]
    assert found.curvatures.tolist() == [MOST, 2**15, 1]


WEIGHTS = {
    "unit": UNIT,
    "counts": Weights(*(np.random.default_rng(3).integers(1, 5, N),) * 2),
    "fractions": Weights(np.random.default_rng(4).integers(1, 2**18, N), np.ones(N, np.int64), 2.0**-16),
}


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("curved", [False, True])
def test_room_of_the_round_before_leaves_no_trace(curved: bool) -> None:
    rng = np.random.default_rng(9)
    room, seen = Rounded.of(N), np.zeros(N, np.int64)

    def see(first: int, last: int) -> None:
        seen[first:last] += 1

    for n_rounds in (1, 2):
        slopes = slopes_of(rng.normal(size=(N, 1)), rng.uniform(size=(N, 1)) if curved else None)
        with Workers(3) as workers:
            found = integer_derivatives(slopes, UNIT, workers, room, see)
        for a, b in zip(found, integer_derivatives(slopes, UNIT, ONE_THREAD), strict=True):
            np.testing.assert_array_equal(a, b)
        assert found.packed is room.packed
        assert (seen == n_rounds).all()


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_derivatives_do_not_depend_on_threads(curved: bool, weights: str) -> None:
    rng = np.random.default_rng(8)
    slopes = slopes_of(rng.normal(size=(N, 1)), rng.uniform(size=(N, 1)) if curved else None)
    one = integer_derivatives(slopes, WEIGHTS[weights], ONE_THREAD)
    with Workers(3) as workers:
        other = integer_derivatives(slopes, WEIGHTS[weights], workers)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_noise_by_hand() -> None:
    found = rounded([1.0, -2.0], [1.0, 0.5])
    square, curvature = (2.0 / found.target_step) ** 2, 1.0 / found.curvature_step
    assert found.noise == pytest.approx((square / 4 + square) / (1.5 * curvature), rel=1e-12)
    flat = rounded([1.0, -2.0], None)
    assert flat.noise == pytest.approx(2.5 / flat.target_step**2, rel=1e-12)


def test_noise_of_the_largest_gradients_has_room() -> None:
    n = 200_000
    for gradient in (1.0, -1.0):
        flat, curved = rounded(np.full(n, gradient), None), rounded(np.full(n, gradient), np.ones(n))
        assert flat.noise * flat.target_step**2 == 1.0
        assert curved.noise * curved.target_step**2 / curved.curvature_step == pytest.approx(1.0, rel=1e-12)


def test_one_large_gradient_is_nearly_all_of_the_noise() -> None:
    gradient = np.full(100_000, 1e-9)
    gradient[7] = 1.0
    found = rounded(gradient, None)
    assert found.noise * found.target_step**2 == pytest.approx(1e-5, rel=1e-4)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_noise_is_the_mean_square_to_the_mean_curvature(curved: bool, weights: str) -> None:
    rng = np.random.default_rng(9)
    given_weights = WEIGHTS[weights]
    slopes = slopes_of(rng.normal(size=(N, 1)), rng.uniform(size=(N, 1)) if curved else None)
    with Workers(3) as workers:
        found = integer_derivatives(slopes, given_weights, workers)
    numbers, counts = (given_weights.weights, given_weights.counts) if weights != "unit" else np.ones((2, N))
    squares = found.targets.astype(float) ** 2 * numbers**2 / counts
    expected = math.fsum(squares) / math.fsum((found.curvatures if curved else 1) * numbers)
    # without curvature and weights, squares are of 16 bits
    assert found.noise == pytest.approx(expected, rel=1e-13 if curved or weights != "unit" else 1e-5)


def test_derivatives_that_are_zero_or_denormal_make_no_step_vanish() -> None:
    for tiny in (0.0, 5e-324, 1e-310):
        found = assert_derivatives_are_right(np.array([tiny, -tiny]), np.array([tiny, tiny]))
        assert found.targets.tolist() == [0, 0]
        assert found.curvatures.tolist() == [1, 1]
