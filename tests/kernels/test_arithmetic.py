"""Elementary functions and random numbers of the kernels."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

import naive
import naive_tree
from steps import draw_subspaces, make_urn
from sublearn.core.tree.decay import decaying
from sublearn.kernels import arithmetic
from sublearn.kernels.compilation import bare_kernel, plain
from support import assert_frequencies, keys_of

log2_, exp_, mix_, uniform_, below_ = map(
    plain, (arithmetic.log2, arithmetic.exp, arithmetic.mix, arithmetic.uniform, arithmetic.below)
)


def exact_log2(x: float) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return Decimal(x).ln() / Decimal(2).ln()


def exact_exp(x: float) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return Decimal(x).exp()


def ulps(value: float, exact: Decimal) -> float:
    """Distance from the exact value in units of the last place of the result."""
    return float(abs(Decimal(value) - exact) / Decimal(math.ulp(float(exact))))


def positive_numbers() -> list[float]:
    rng = np.random.default_rng(0)
    near_one = (1.0 + rng.uniform(-1e-3, 1e-3, 300)).tolist()
    near_root = (math.sqrt(0.5) * (1.0 + rng.uniform(-1e-12, 1e-12, 50))).tolist()
    spread = np.exp2(rng.uniform(-1000, 1000, 500)).tolist()
    return [*near_one, *near_root, *spread, *map(float, range(2, 300)), 2.0**53, 2.0**62, 1 - 2.0**-53, 1 + 2.0**-52]


def test_log2_of_powers_of_two_is_whole() -> None:
    for k in range(-1022, 1024):
        assert log2_(2.0**k) == k


def test_log2_is_right_to_four_units() -> None:
    # seven rounded operations give up to half a unit each; a result just above a power of two has the smaller units
    assert max(ulps(log2_(x), exact_log2(x)) for x in positive_numbers()) < 4


def test_exp_of_zero_is_one() -> None:
    assert exp_(0.0) == 1.0


def test_exp_is_right_to_two_units() -> None:
    rng = np.random.default_rng(0)
    points = [*rng.uniform(-700, 700, 500).tolist(), *rng.uniform(-1, 1, 300).tolist(), -700.0, 699.9, 1e-300, -1e-18]
    assert max(ulps(exp_(x), exact_exp(x)) for x in points) < 2


def test_decaying_follows_the_exponential_and_stays_positive() -> None:
    np.testing.assert_allclose(decaying(10.0, 0.5, 20), [10 * math.exp(-0.5 * d) for d in range(1, 21)], rtol=1e-15)
    np.testing.assert_array_equal(decaying(3.0, 0.0, 4), 3.0)
    assert (decaying(1.0, 50.0, 1000) > 0).all()


@bare_kernel
def both(x: Any, logarithms: Any, exponentials: Any) -> None:
    for i in range(x.size):
        logarithms[i] = arithmetic.log2(x[i])
        exponentials[i] = arithmetic.exp(600.0 / x[i] if x[i] > 1.0 else -600.0 * x[i])


@bare_kernel
def fill_exp(x: Any, n: Any, bits: Any) -> None:
    arithmetic.fill_exp(x, n, bits)


def test_compiled_functions_equal_python_to_the_bit() -> None:
    # plans are made in Python and losses in compiled code: a fused multiply-add would tell them apart
    x = np.array(positive_numbers())
    logarithms, exponentials = np.empty_like(x), np.empty_like(x)
    both(x, logarithms, exponentials)
    np.testing.assert_array_equal(logarithms, [log2_(v) for v in x.tolist()])
    arguments = [600.0 / v if v > 1.0 else -600.0 * v for v in x.tolist()]
    np.testing.assert_array_equal(exponentials, [exp_(v) for v in arguments])


def test_many_exponentials_at_once_equal_those_one_by_one_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-700, 700, 3000), rng.uniform(-1, 1, 3000), [0.0, -0.0, -699.9, 699.9, 1e-300]])
    found, bits = x.copy(), np.empty(len(x), np.int64)
    n = len(x) - 1
    fill_exp(found, n, bits)
    assert found[:n].tolist() == [exp_(v) for v in x[:n].tolist()]
    assert found[n] == x[n]  # beyond the first n


# --- random numbers


def test_mix_gives_the_published_splitmix64_sequence() -> None:
    mixed = mix_(np.zeros(3, np.uint64), np.arange(3))
    assert mixed.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_random_numbers_equal_their_twins() -> None:
    rng = np.random.default_rng(2)
    keys, values = keys_of(200), np.append(rng.integers(0, 2**40, 199), -1)
    expected = list(map(naive_tree.mix, keys.tolist(), values.tolist()))
    assert mix_(keys, values).tolist() == expected
    assert [float(uniform_(key)) for key in keys] == list(map(naive_tree.uniform, keys.tolist()))
    limits = rng.integers(1, 2**31, 200)
    found = [int(below_(key, n)) for key, n in zip(keys, limits, strict=True)]
    assert found == list(map(naive_tree.below, keys.tolist(), limits.tolist()))


def test_uniform_lies_in_the_half_open_unit_interval() -> None:
    ends = np.array([0, 1, 2**11 - 1, 2**11, 2**63, 2**64 - 1], np.uint64)
    found = [float(uniform_(key)) for key in ends]
    assert found == [0.0, 0.0, 0.0, 2.0**-53, 0.5, 1 - 2.0**-53]


def test_uniform_fills_the_unit_interval_evenly() -> None:
    keys = mix_(np.full(50_000, 7, np.uint64), np.arange(50_000))
    cells = Counter(int(20 * uniform_(key)) for key in keys)
    assert_frequencies(cells, dict.fromkeys(range(20), 1 / 20), len(keys))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 255, 2**31 - 1])
def test_below_stays_below_and_reaches_both_ends(n: int) -> None:
    assert below_(np.uint64(0), n) == 0
    assert below_(np.uint64(2**64 - 1), n) == n - 1


def test_below_is_uniform() -> None:
    keys = mix_(np.full(50_000, 8, np.uint64), np.arange(50_000))
    found = Counter(int(below_(key, 7)) for key in keys)
    assert_frequencies(found, dict.fromkeys(range(7), 1 / 7), len(keys))


def draw(probabilities: Any, size: int, n: int) -> Any:
    ranks = np.empty((n, size), np.int64)
    probabilities = np.array(probabilities, np.float64)
    draw_subspaces(keys_of(n), probabilities, make_urn(len(probabilities)), ranks)
    return ranks


@pytest.mark.parametrize(("beta", "n", "size"), [(0.5, 5, 2), (0.0, 4, 3), (1.0, 3, 1), (0.2, 6, 4)])
def test_draws_without_replacement_have_the_exact_probabilities(beta: float, n: int, size: int) -> None:
    ranks = draw(decaying(1.0, beta, n), size, 40_000)
    expected = naive.subset_probabilities(naive.selection_probabilities(beta, n), size)
    assert_frequencies(Counter(frozenset(row) for row in ranks.tolist()), expected, len(ranks))


@pytest.mark.parametrize(("beta", "n", "size"), [(0.5, 5, 2), (0.0, 4, 3), (1.0, 3, 1), (0.2, 6, 4), (0.3, 6, 6)])
def test_draws_without_replacement_equal_their_twin(beta: float, n: int, size: int) -> None:
    chances = naive.selection_probabilities(beta, n)
    keys = [naive_tree.mix(key, naive_tree.SUBSPACE) for key in keys_of(300).tolist()]
    assert draw(decaying(1.0, beta, n), size, 300).tolist() == [naive_tree.draw(key, chances, size) for key in keys]


def test_draws_are_distinct_and_ascending() -> None:
    assert (np.diff(draw(decaying(1.0, 0.3, 12), 7, 500), axis=1) > 0).all()


def test_all_positions_are_drawn_when_as_many_are_asked_for() -> None:
    np.testing.assert_array_equal(draw(decaying(1.0, 2.0, 6), 6, 50), np.tile(np.arange(6), (50, 1)))


def test_draws_are_distinct_when_probabilities_vanish() -> None:
    # after the first ones nothing but weights near 1e-304, or none at all, is left to draw from
    assert (np.diff(draw(decaying(1.0, 200.0, 40), 30, 50), axis=1) > 0).all()
    assert (np.diff(draw([1.0, 0.0, 0.0, 0.0], 3, 50), axis=1) > 0).all()
