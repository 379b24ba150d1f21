"""From feature values to codes, against a map in exact fractions."""

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from naive import Array
from sublearn.core import parallel
from sublearn.core.data import codes, describing
from sublearn.core.data.codes import CODE_LIMIT, DEVIATIONS, FeatureMaps, code_limit, encode_samples
from sublearn.core.parallel import Workers
from support import ONE_THREAD, fit_maps

UNIT = np.empty(0, np.int64)
PER_DEVIATION = CODE_LIMIT // DEVIATIONS
KINDS = ("auto", "linear", "quantile")


def fit(x: Any, kind: str = "auto", weights: Any = UNIT, limit: int = CODE_LIMIT) -> FeatureMaps:
    x = np.asarray(x)
    return fit_maps(x.reshape(len(x), -1), np.asarray(weights, np.int64), kind, limit, Workers(1))


def encode(x: Any, maps: FeatureMaps) -> Array:
    """Codes of one feature, or (n_features, n_samples) of several."""
    x = np.asarray(x)
    found = encode_samples(x.reshape(len(x), -1), maps, ONE_THREAD)
    return found if x.ndim == 2 else found[0]


def assert_same_maps(one: FeatureMaps, other: FeatureMaps) -> None:
    for name, a, b in zip(FeatureMaps._fields, one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def knots_of(maps: FeatureMaps, f: int = 0) -> naive.Map:
    """The engine's map as the twin has it."""
    part = slice(int(maps.offsets[f]), int(maps.offsets[f + 1]))
    unit = Fraction(float(maps.units[f]))
    return [(Fraction(k) / unit, c) for k, c in zip(maps.knots[part].tolist(), maps.levels[part].tolist(), strict=True)]


# --- by hand


def test_four_values_in_deviations_by_hand() -> None:
    # mean 0 and deviation sqrt(5): 3 / sqrt(5) = 1.3416 and 1 / sqrt(5) = 0.4472 times 1,024
    x = [-3.0, -1.0, 1.0, 3.0]
    assert encode(x, fit(x)).tolist() == [-1374, -458, 458, 1374]


def test_a_rare_one_among_zeros_by_hand() -> None:
    # 9.95 deviations from the mean; of the quarters those above 0.99 = P(Z <= 2.33) belong to it: 2.5 is the nearest
    x = [0.0] * 99 + [1.0]
    assert encode(x, fit(x)).tolist() == [0] * 99 + [2.5 * PER_DEVIATION]


def test_quantile_knots_of_a_thousand_values_by_hand() -> None:
    # values 1 to 1000: the quantile of z is the ceil(1000 P(Z <= z))-th, so 500 is in the middle
    x = np.arange(1.0, 1001.0)
    found = encode(x, fit(x, "quantile"))
    assert found[499] == 0
    assert found[math.ceil(1000 * naive.normal_share(1.0)) - 1] == PER_DEVIATION
    assert found[math.ceil(1000 * naive.normal_share(-2.0)) - 1] == -2 * PER_DEVIATION


@pytest.mark.parametrize("n_zeros", [1, 50, 63, 65, 80, 1000])
def test_beyond_eight_deviations_the_map_follows_quantiles(n_zeros: int) -> None:
    # one value among zeros lies sqrt(n_zeros) deviations from the mean; only a linear map has codes below it
    x = [0.0] * n_zeros + [1.0]
    found = encode(x, fit(x))
    if n_zeros > 64:
        assert found[0] == 0
    else:
        assert found[0] < 0
        assert found[-1] == pytest.approx(math.sqrt(n_zeros) * PER_DEVIATION, abs=4)  # deviation from 15 bits


def test_the_table_of_the_normal_distribution_is_right() -> None:
    expected = [naive.normal_share(z) for z in np.arange(-16, 17) / 4]
    np.testing.assert_allclose(codes.PROBABILITIES, expected, rtol=0, atol=1e-12)  # written with 12 digits
    np.testing.assert_allclose(codes.NORMAL_TAIL, expected[:16][::-1], rtol=1e-11)


# --- against the twin

RNG = np.random.default_rng(0)
FEATURES: dict[str, Array] = {
    "normal": RNG.normal(3.0, 2.0, 400),
    "uniform": RNG.uniform(-1.0, 5.0, 400),
    "exponential": RNG.exponential(1.0, 400),
    "lognormal": np.exp(3.0 * RNG.standard_normal(600)),
    "cauchy": RNG.standard_cauchy(600),
    "ten decades": 10.0 ** RNG.uniform(0, 10, 400),
    "280 decades": 10.0 ** RNG.uniform(-140, 140, 400),
    "both tails": RNG.choice([-1, 1], 500) * 10.0 ** RNG.uniform(-12, 12, 500),
    "counts": np.floor(np.exp(2.0 * RNG.standard_normal(500))),
    "mostly zero": np.where(RNG.uniform(size=500) < 0.98, 0.0, RNG.pareto(1.0, 500)),
    "rare flag": (RNG.uniform(size=900) < 0.005).astype(float),
    "two values": RNG.choice([-7.0, 12.0], 50),
    "few integers": RNG.integers(0, 5, 100).astype(float),
    "far from zero": 1e9 + RNG.standard_normal(300),
    "tiny": 1e-30 * RNG.standard_normal(300),
    "huge": 1e30 * RNG.standard_normal(300),
    "1e300": 1e300 * RNG.uniform(-1, 1, 300),
    "whole range of floats": np.append(1.79e308 * RNG.uniform(-1, 1, 100), [-1.79e308, 1.79e308]),
    "denormal": 1e-315 * RNG.uniform(-1, 1, 300),
    "tails at 1e300": 1e290 * RNG.standard_cauchy(500),
    "neighbouring floats": 1.0 + np.spacing(1.0) * RNG.integers(0, 9, 100),
    "one sample": np.array([42.0]),
    "two samples": np.array([1.0, 2.0]),
}


def rounding_of_moments(values: list[float]) -> float:
    """Largest error of a linear map's codes: its mean and deviation come from values rounded to 2^-14 of their range.

    Rounding moves values, and so their mean and deviation, by up to half of that. The two knots are floats besides.
    """
    m = naive.moments(values)
    deviation = max(m.deviation, m.reach / DEVIATIONS)
    moved = (Fraction(max(values)) - Fraction(min(values))) / 2**15
    moved += Fraction(float(np.spacing(max(map(abs, values)))))
    return float(PER_DEVIATION * moved / deviation * (1 + m.reach / deviation))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FEATURES)
def test_codes_equal_the_twin(name: str, kind: str, weighted: bool) -> None:
    x = FEATURES[name]
    weights = np.random.default_rng(1).integers(1, 5, len(x)) if weighted else UNIT
    twin = naive.fit_map(x.tolist(), weights.tolist() if weighted else None, kind, CODE_LIMIT)
    maps = fit(x, kind, weights)
    assert len(maps.knots) == len(twin)
    linear = len(twin) == 2 and twin[0][1] == -twin[1][1]
    assert linear or knots_of(maps) == twin
    tolerance = 0.5 + 1e-9  # half a code is rounding; floats of codes up to 2^13 are right to 1e-12 before
    if linear:
        tolerance += rounding_of_moments(naive.repeat(x.tolist(), weights.tolist() or None))
    for value, code in zip(x.tolist(), encode(x, maps).tolist(), strict=True):
        assert abs(code - naive.level_at(value, twin)) <= tolerance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FEATURES)
def test_codes_follow_the_stored_map_exactly(name: str, kind: str) -> None:
    x = FEATURES[name]
    maps = fit(x, kind)
    inside = np.random.default_rng(2).choice(x, 60)
    values = np.concatenate([x, inside / 1.5 + np.roll(inside, 1) / 3.0])  # values of training and others
    for value, code in zip(values.tolist(), encode(values, maps).tolist(), strict=True):
        level = naive.level_at(value, knots_of(maps))
        if abs(level - math.floor(level) - Fraction(1, 2)) > 1e-9:  # halves can go either way
            assert code == math.floor(level + Fraction(1, 2))


# --- what holds for every feature


NUMBERS = st.floats(-1e100, 1e100).filter(lambda value: value == 0 or abs(value) > 1e-100)


@given(
    x=st.lists(NUMBERS, min_size=1, max_size=60),
    kind=st.sampled_from(KINDS),
    more=st.lists(st.floats(-1e120, 1e120), max_size=20),
    limit=st.sampled_from([255, 1000, CODE_LIMIT]),
)
@settings(max_examples=200)
def test_codes_rise_with_values_and_stay_within_the_limit(
    x: list[float], kind: str, more: list[float], limit: int
) -> None:
    maps = fit(x, kind, limit=limit)
    found = encode(np.sort(np.array(x + more)), maps).astype(np.int64)
    assert (np.diff(found) >= 0).all()
    assert np.abs(found).max() <= limit


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FEATURES)
def test_weight_two_equals_row_twice(name: str, kind: str) -> None:
    x = FEATURES[name]
    weights = np.random.default_rng(3).integers(1, 4, len(x))
    repeated = np.random.default_rng(4).permutation(np.repeat(x, weights))
    assert_same_maps(fit(x, kind, weights), fit(repeated, kind))
    assert_same_maps(fit(x, kind, np.ones(len(x))), fit(x, kind))


@pytest.mark.parametrize("exponent", [-900, -40, 3, 800])
def test_a_power_of_two_as_unit_changes_no_code(exponent: int) -> None:
    for name in ("normal", "lognormal", "ten decades", "counts"):
        x = FEATURES[name]
        scaled = np.ldexp(x, exponent)
        for kind in KINDS:
            np.testing.assert_array_equal(encode(scaled, fit(scaled, kind)), encode(x, fit(x, kind)))


def test_features_of_all_scales_side_by_side_have_the_codes_they_have_alone() -> None:
    n = 300
    features = [x[:n] for x in FEATURES.values() if len(x) >= n and np.abs(x).max() < 1e140]
    columns = [scale * x for x in features for scale in (1.0, 1e12)]
    together = np.stack([*columns, np.full(n, 5.0)], axis=1)
    found = encode(together, fit(together))
    for f, column in enumerate(together.T):
        np.testing.assert_array_equal(found[f], encode(column, fit(column)))


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    x = np.stack([FEATURES[name][:300] for name in ("normal", "lognormal", "counts", "1e300")], axis=1)
    weights = rng.integers(1, 4, 300)
    order = rng.permutation(300)
    for kind in KINDS:
        assert_same_maps(fit(x, kind), fit(x[order], kind))
        assert_same_maps(fit(x, kind, weights), fit(x[order], kind, weights[order]))


# --- edges


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -1e300, 1e-320, 1.79e308])
@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_feature_has_code_zero_everywhere(value: float, kind: str) -> None:
    maps = fit(np.full(5, value), kind)
    assert encode([value, -1e308, 0.0, 1e308], maps).tolist() == [0, 0, 0, 0]


def test_values_beyond_the_knots_take_the_outermost_codes() -> None:
    x = FEATURES["normal"]
    assert encode([-1e300, -1e4, 1e4, 1e300], fit(x)).tolist() == [-CODE_LIMIT, -CODE_LIMIT, CODE_LIMIT, CODE_LIMIT]
    heavy = FEATURES["ten decades"]
    maps = fit(heavy, "quantile")
    beyond = encode([-1e300, 1e300], maps).tolist()
    assert beyond == [encode(heavy, maps).min(), encode(heavy, maps).max()]


def test_values_spread_over_ten_decades_do_not_share_a_code() -> None:
    decades = 10.0 ** np.random.default_rng(0).uniform(0, 10, 10_000)
    _, shared = np.unique(encode(decades, fit(decades, "linear")), return_counts=True)
    assert shared.max() > 5000  # so it would be in deviations, of which they reach less than eight
    _, shared = np.unique(encode(decades, fit(decades)), return_counts=True)
    assert shared.max() < 100


def test_a_linear_map_stays_straight_beyond_the_training_samples() -> None:
    maps = fit([-1.0, 1.0], "linear")  # deviation 1
    assert encode([2.0, 4.0, 7.5, -3.25], maps).tolist() == [2048, 4096, 7680, -3328]


def test_most_values_of_a_heavy_tail_have_a_code_of_their_own() -> None:
    # 301 values over thirty decades: a linear map would put nearly all of them into one code
    x = 10.0 ** (np.linspace(-1, 1, 301) ** 3 * 15)
    assert len(set(encode(x, fit(x)).tolist())) > 280
    assert len(set(encode(x, fit(x, "linear")).tolist())) < 20


@pytest.mark.parametrize("x", [[0.0, 5e-223, 4e84], sorted(10.0 ** np.random.default_rng(3).uniform(-200, 200, 200))])
def test_a_feature_over_hundreds_of_decades_is_encoded_without_warning(x: list[float]) -> None:
    maps = fit(x, "quantile")
    assert np.isfinite(maps.slopes).all()
    assert (np.diff(encode(x, maps).astype(np.int64)) >= 0).all()


@pytest.mark.parametrize("name", ["normal", "lognormal", "counts", "both tails"])
def test_float32_and_other_layouts_give_the_same_codes(name: str) -> None:
    narrow = FEATURES[name][:300].reshape(100, 3).astype(np.float32)
    wide = narrow.astype(np.float64)
    for kind in KINDS:
        maps = fit(wide, kind)
        for x in (narrow, np.asfortranarray(wide), np.asfortranarray(narrow), np.repeat(wide, 2, axis=0)[::2]):
            assert_same_maps(fit(x, kind), maps)
            np.testing.assert_array_equal(encode(x, maps), encode(wide, maps))


def test_small_blocks_and_threads_give_the_same_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.stack([FEATURES[name][:300] for name in ("normal", "lognormal", "counts")], axis=1)
    weights = np.random.default_rng(6).integers(1, 4, 300)
    maps, expected = fit(x, "auto", weights), encode(x, fit(x, "auto", weights))
    monkeypatch.setattr(describing, "BLOCK_VALUES", 50)
    monkeypatch.setattr(describing, "SHARED", 1)
    monkeypatch.setattr(parallel, "SMALL", 1)
    with Workers(3) as workers:
        assert_same_maps(fit_maps(x, weights, "auto", CODE_LIMIT, workers), maps)
        np.testing.assert_array_equal(encode_samples(x, maps, workers), expected)


@pytest.mark.parametrize("coefficient_sum", [0, 1, 100, 2047, 2048, 2049, 65792, 10**6])
def test_projections_of_codes_at_the_limit_stay_exact_in_float32(coefficient_sum: int) -> None:
    limit = code_limit(coefficient_sum)
    assert limit == CODE_LIMIT or limit * coefficient_sum < 2**24 <= (limit + 1) * coefficient_sum
    assert limit * coefficient_sum < 2**24
    assert limit <= np.iinfo(np.int16).max


@pytest.mark.parametrize("n_features", [1, 3, 2000])
@pytest.mark.parametrize("n_samples", [1, 2, 341, 342, 1024, 1500])
@pytest.mark.parametrize("order", ["C", "F"])
def test_extremes_are_those_of_all_samples(n_samples: int, n_features: int, order: Literal["C", "F"]) -> None:
    x = np.asarray(np.random.default_rng(n_samples).normal(size=(n_samples, n_features)), order=order)
    low, high = describing.extremes(x)
    np.testing.assert_array_equal(low, np.min(x, axis=0))
    np.testing.assert_array_equal(high, np.max(x, axis=0))
