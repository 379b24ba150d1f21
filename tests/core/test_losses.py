"""The training losses of boosting: values, derivatives, the best constants, and what is predicted."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import log_loss, mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

from naive import Array
from sublearn.core.boosting.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogLinked,
    LogLoss,
    Loss,
    OneClass,
    Poisson,
    Quantile,
    Softmax,
    SquaredError,
    weighted_quantile,
)
from sublearn.core.data.fixed_point import UNIT, integer_weights
from sublearn.core.model.links import logarithms

N = 60
NUDGES = (1e-4, 1e-2, 1.0)


class Case(NamedTuple):
    """A loss, and how its y is drawn."""

    make: Callable[[], Loss]
    draw: Callable[[np.random.Generator], Array]
    n_outputs: int = 1


def classes(n: int) -> Callable[[np.random.Generator], Array]:
    return lambda rng: np.concatenate([np.arange(n), rng.integers(0, n, N - n)]).astype(np.float64)


def numbers(rng: np.random.Generator) -> Array:
    return 3.0 * rng.normal(size=N)


def huber() -> Loss:
    loss = Huber(0.9)
    loss.parameter = 1.5
    return loss


CURVED = {
    "log loss": Case(LogLoss, classes(2)),
    "softmax of 3": Case(lambda: Softmax(3), classes(3), 3),
    "softmax of 5": Case(lambda: Softmax(5), classes(5), 5),
    "poisson": Case(Poisson, lambda rng: rng.poisson(2.0, N).astype(np.float64)),
    "gamma": Case(Gamma, lambda rng: rng.gamma(2.0, size=N)),
}
FLAT = {
    "squared error": Case(SquaredError, numbers),
    "absolute error": Case(AbsoluteError, numbers),
    "quantile 0.1": Case(lambda: Quantile(0.1), numbers),
    "quantile 0.5": Case(lambda: Quantile(0.5), numbers),
    "quantile 0.93": Case(lambda: Quantile(0.93), numbers),
    "huber": Case(huber, numbers),
}
CASES = CURVED | FLAT


def sample(case: Case, seed: int = 0) -> tuple[Array, Array]:
    """y, and raw values in the shape a loss takes; no residual is near a kink."""
    rng = np.random.default_rng(seed)
    y = case.draw(rng)
    raw = 2.0 * rng.normal(size=(N, case.n_outputs))
    raw = raw[:, 0] if case.n_outputs == 1 else raw
    if case in FLAT.values():
        near = np.min(np.abs(np.abs(y - raw)[:, None] - [0.0, 1.5]), axis=1) < 1e-3
        raw = raw + 0.01 * near
    return y, raw


def slope(function: Callable[[Array], Array], raw: Array) -> Array:
    """Central differences of a function of each sample's raw values, by each of these."""
    step = 1e-5
    if raw.ndim == 1:
        return (function(raw + step) - function(raw - step)) / (2 * step)
    unit = step * np.eye(raw.shape[1])
    return np.stack([(function(raw + e) - function(raw - e)) / (2 * step) for e in unit], axis=1)


def first_of(loss: Loss, y: Array, raw: Array) -> Array:
    return loss.derivatives(y, raw)[0]


def second_of(loss: Loss, y: Array, raw: Array) -> Array:
    second = loss.derivatives(y, raw)[1]
    assert second is not None
    return second


def slope_of_first(loss: Loss, y: Array, raw: Array) -> Array:
    """Slope of each column of the gradient by its own raw value."""
    if raw.ndim == 1:
        return slope(lambda r: first_of(loss, y, r), raw)
    by_all = [slope(lambda r: first_of(loss, y, r)[:, k], raw) for k in range(raw.shape[1])]  # noqa: B023
    return np.stack([columns[:, k] for k, columns in enumerate(by_all)], axis=1)


def mean_loss(loss: Loss, y: Array, raw: Any, weights: Array) -> float:
    values = loss.values(y, np.ascontiguousarray(np.broadcast_to(raw, (len(y), *np.shape(raw)))))
    return math.fsum(weights * values) / math.fsum(weights)


# --- values


def test_values_by_hand() -> None:
    y, raw = np.array([0.0, 1.0]), np.array([0.0, math.log(3.0)])
    np.testing.assert_allclose(LogLoss().values(y, raw), [math.log(2), math.log(4 / 3)], rtol=1e-15)
    three = np.log([[1.0, 2.0, 5.0], [2.0, 1.0, 1.0]])
    np.testing.assert_allclose(Softmax(3).values(y, three), [math.log(8), math.log(4)], rtol=1e-15)
    y, raw = np.array([1.0, 1.0, 1.0]), np.array([0.0, 3.0, 5.0])
    assert SquaredError().values(y, raw).tolist() == [0.5, 2.0, 8.0]
    assert AbsoluteError().values(y, raw).tolist() == [1.0, 2.0, 4.0]
    assert Quantile(0.25).values(y, raw).tolist() == [0.25, 1.5, 3.0]
    loss = Huber(0.9)
    loss.parameter = 2.0
    assert loss.values(y, raw).tolist() == [0.5, 2.0, 6.0]  # half the square, then 2 (4 - 1)
    y, raw = np.array([0.0, 1.0, math.e]), np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(Poisson().values(y, raw), [1.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(Gamma().values(y[1:], np.zeros(2)), [0.0, math.e - 2.0], atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_mean_values_are_the_metrics_of_scikit_learn(seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, N)

    def mean(name: str) -> tuple[float, Array, Array]:
        loss, (y, raw) = CASES[name].make(), sample(CASES[name], seed)
        return float(np.average(loss.values(y, raw), weights=weights)), y, raw

    found, y, raw = mean("log loss")
    assert found == pytest.approx(log_loss(y, expit(raw), sample_weight=weights), rel=1e-13)
    for name in ("softmax of 3", "softmax of 5"):
        found, y, raw = mean(name)
        assert found == pytest.approx(log_loss(y, softmax(raw, axis=1), sample_weight=weights), rel=1e-13)
    for alpha in (0.1, 0.5, 0.93):
        found, y, raw = mean(f"quantile {alpha}")
        assert found == pytest.approx(mean_pinball_loss(y, raw, alpha=alpha, sample_weight=weights), rel=1e-13)
    found, y, raw = mean("poisson")
    assert 2 * found == pytest.approx(mean_poisson_deviance(y, np.exp(raw), sample_weight=weights), rel=1e-13)
    found, y, raw = mean("gamma")
    assert 2 * found == pytest.approx(mean_gamma_deviance(y, np.exp(raw), sample_weight=weights), rel=1e-13)


# --- derivatives


def test_derivatives_by_hand() -> None:
    y, raw = np.array([0.0, 1.0]), np.array([0.0, math.log(3.0)])
    np.testing.assert_allclose(first_of(LogLoss(), y, raw), [0.5, -0.25], rtol=1e-15)
    np.testing.assert_allclose(second_of(LogLoss(), y, raw), [0.25, 3 / 16], rtol=1e-15)
    y, raw = np.array([2.0]), np.log([[1.0, 2.0, 5.0]])
    np.testing.assert_allclose(first_of(Softmax(3), y, raw), [[1 / 8, 1 / 4, -3 / 8]], rtol=1e-14)
    np.testing.assert_allclose(second_of(Softmax(3), y, raw), [[7 / 64, 3 / 16, 15 / 64]], rtol=1e-14)
    y, raw = np.array([1.0, 1.0]), np.array([0.0, math.log(4.0)])
    np.testing.assert_allclose(first_of(Poisson(), y, raw), [0.0, 3.0], rtol=1e-15)
    np.testing.assert_allclose(second_of(Poisson(), y, raw), [1.0, 4.0], rtol=1e-15)
    np.testing.assert_allclose(first_of(Gamma(), y, raw), [0.0, 0.75], rtol=1e-15)
    np.testing.assert_allclose(second_of(Gamma(), y, raw), [1.0, 0.25], rtol=1e-15)
    y, raw = np.array([1.0, 1.0, 1.0]), np.array([0.0, 1.0, 4.0])
    assert first_of(SquaredError(), y, raw).tolist() == [-1.0, 0.0, 3.0]
    assert first_of(AbsoluteError(), y, raw).tolist() == [-1.0, 0.0, 1.0]
    assert first_of(Quantile(0.25), y, raw).tolist() == [-0.25, 0.0, 0.75]
    assert first_of(huber(), y, raw).tolist() == [-1.0, 0.0, 1.5]


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_the_slope_of_the_values(name: str) -> None:
    loss, (y, raw) = CASES[name].make(), sample(CASES[name])
    gradient = first_of(loss, y, raw)
    assert gradient.shape == raw.shape
    # differences over 2e-5: the third derivative times 1e-10, and rounding
    np.testing.assert_allclose(gradient, slope(lambda r: loss.values(y, r), raw), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", CURVED)
def test_the_second_derivative_is_the_slope_of_the_gradient(name: str) -> None:
    loss, (y, raw) = CASES[name].make(), sample(CASES[name])
    hessian = second_of(loss, y, raw)
    assert hessian.shape == raw.shape
    np.testing.assert_allclose(hessian, slope_of_first(loss, y, raw), rtol=1e-8, atol=1e-8)
    assert (hessian > 0).all()


@pytest.mark.parametrize("name", FLAT)
def test_losses_without_a_useful_second_derivative_say_so(name: str) -> None:
    loss, (y, raw) = CASES[name].make(), sample(CASES[name])
    assert loss.derivatives(y, raw)[1] is None
    if name == "squared error":  # none stands for ones
        np.testing.assert_allclose(slope_of_first(loss, y, raw), 1.0, rtol=1e-9)


# --- extremes


@pytest.mark.parametrize("size", [1e3, 700.0, 500.0, 37.0, 1e-17, 1e-300, 5e-324, 0.0])
@pytest.mark.parametrize("name", CASES)
def test_extreme_raw_values_give_finite_results(name: str, size: float) -> None:
    case = CASES[name]
    loss, (y, raw) = case.make(), sample(case)
    raw = np.copysign(size, raw)
    gradient, hessian = loss.derivatives(y, raw)
    found = [loss.values(y, raw), gradient, loss.prediction(raw)] + ([] if hessian is None else [hessian])
    assert all(np.isfinite(array).all() for array in found)
    assert hessian is None or (hessian >= 0).all()
    # for counts and amounts the values are differences of numbers near 1e3 times y
    assert loss.values(y, raw).min() >= -1e-12 * max(size, 1.0)


def test_sure_predictions_cost_their_raw_value_when_wrong_and_nothing_when_right() -> None:
    y, raw = np.array([0.0, 1.0, 0.0, 1.0]), np.array([1e3, 1e3, -1e3, -1e3])
    assert LogLoss().values(y, raw).tolist() == [1e3, 0.0, 0.0, 1e3]
    assert first_of(LogLoss(), y, raw).tolist() == pytest.approx([1.0, 0.0, 0.0, -1.0], abs=1e-200)
    two = np.column_stack([-raw / 2, raw / 2])
    assert Softmax(2).values(y, two).tolist() == [1e3, 0.0, 0.0, 1e3]


def test_second_derivatives_of_log_loss_keep_their_digits_far_out() -> None:
    # p (1 - p) taken from p alone would be 0 from raw = 37 on
    raw = np.array([-300.0, -40.0, 40.0, 300.0])
    np.testing.assert_allclose(second_of(LogLoss(), np.zeros(4), raw), np.exp(-np.abs(raw)), rtol=1e-13)


# --- the constant to start from


def weights_of(kind: str) -> Array:
    rng = np.random.default_rng(5)
    return {"unit": np.ones(N), "whole": rng.integers(1, 5, N).astype(float), "any": rng.uniform(0.1, 3.0, N)}[kind]


@pytest.mark.parametrize(
    ("loss", "y", "start"),
    [
        (SquaredError(), [1.0, 2.0, 6.0, 6.0], 3.75),  # the last two are one row of weight 2
        (AbsoluteError(), [1.0, 2.0, 6.0, 6.0], 4.0),
        (Quantile(0.2), [1.0, 2.0, 6.0, 6.0], 1.0),
        (Huber(0.9), [1.0, 2.0, 6.0, 6.0], 4.0),
        (Poisson(), [0.0, 1.0, 3.0, 3.0], math.log(7 / 4)),
        (Gamma(), [0.5, 1.0, 3.0, 3.0], math.log(7.5 / 4)),
        (LogLoss(), [0.0, 1.0, 1.0, 1.0], math.log(3.0)),
    ],
)
def test_starts_by_hand(loss: Loss, y: list[float], start: float) -> None:
    assert loss.start(np.array(y), np.ones(4)) == pytest.approx(start, rel=1e-15)
    assert loss.start(np.array(y[:3]), np.array([1.0, 1.0, 2.0])) == loss.start(np.array(y), np.ones(4))


@pytest.mark.parametrize("kind", ["unit", "whole", "any"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "huber"])
def test_no_other_constant_is_better_than_the_start(name: str, kind: str) -> None:
    loss, (y, _), weights = CASES[name].make(), sample(CASES[name]), weights_of(kind)
    start = np.atleast_1d(loss.start(y, weights))
    assert len(start) == CASES[name].n_outputs
    raw = start if len(start) > 1 else start[0]
    least = mean_loss(loss, y, raw, weights)
    for nudge in NUDGES:
        for k in range(len(start)):
            for sign in (-1, 1):
                moved = start.copy()
                moved[k] += sign * nudge
                other = mean_loss(loss, y, moved if len(start) > 1 else moved[0], weights)
                assert other >= least - 1e-15  # the mean's own rounding


def test_huber_starts_from_the_median() -> None:
    y, weights = sample(CASES["huber"])[0], weights_of("any")
    assert Huber(0.9).start(y, weights) == AbsoluteError().start(y, weights)


@pytest.mark.parametrize("name", CASES)
def test_weight_two_equals_row_twice_for_the_start(name: str) -> None:
    loss, (y, _), weights = CASES[name].make(), sample(CASES[name]), weights_of("whole")
    repeated = np.random.default_rng(6).permutation(np.repeat(y, weights.astype(int)))
    np.testing.assert_array_equal(loss.start(y, weights), loss.start(repeated, np.ones(len(repeated))))


def test_starts_of_many_classes_have_mean_zero() -> None:
    y = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(Softmax(3).start(y, np.ones(7)), np.log([0.5, 1.0, 2.0]), atol=1e-15)


def test_class_without_weight_leaves_the_start_finite() -> None:
    assert np.isfinite(LogLoss().start(np.zeros(3), np.ones(3)))
    assert np.isfinite(Softmax(4).start(np.array([0.0, 2.0]), np.ones(2))).all()


# --- rates


def test_rates_by_hand() -> None:
    y, exposure = np.array([1.0, 9.0]), np.array([1.0, 3.0])
    assert Poisson().rate(y, UNIT, exposure) == pytest.approx(math.log(10 / 4), rel=1e-15)
    assert Gamma().rate(y, UNIT, exposure) == pytest.approx(math.log((1 + 3) / 2), rel=1e-15)


@pytest.mark.parametrize("kind", ["unit", "whole", "any"])
@pytest.mark.parametrize("loss", [Poisson(), Gamma()])
def test_no_other_constant_rate_is_better(loss: LogLinked, kind: str) -> None:
    rng, weights = np.random.default_rng(7), weights_of(kind)
    exposure = rng.uniform(0.1, 5.0, N)
    y = (rng.poisson(2 * exposure) if isinstance(loss, Poisson) else 2 * exposure * rng.gamma(1.5, size=N)) * 1.0
    rate = loss.rate(y, integer_weights(weights), exposure)
    least = np.average(loss.values(y, rate + np.log(exposure)), weights=weights)
    for nudge in (-1.0, -1e-2, -1e-4, 1e-4, 1e-2, 1.0):
        assert np.average(loss.values(y, rate + nudge + np.log(exposure)), weights=weights) > least


@pytest.mark.parametrize("loss", [Poisson(), Gamma()])
def test_rate_is_right_to_rounding_whatever_the_exposures(loss: LogLinked) -> None:
    rng, weights = np.random.default_rng(8), weights_of("whole")
    exposure = np.exp(3.0 * rng.normal(size=N))
    y = rng.poisson(2 * exposure) + 1.0
    if isinstance(loss, Poisson):
        expected = math.fsum(weights * y) / math.fsum(weights * exposure)
    else:
        expected = math.fsum(weights * y / exposure) / math.fsum(weights)
    assert loss.rate(y, integer_weights(weights), exposure) == pytest.approx(math.log(expected), abs=1e-13)


@pytest.mark.parametrize("loss", [Poisson(), Gamma()])
def test_weight_two_equals_row_twice_for_the_rate(loss: LogLinked) -> None:
    rng, weights = np.random.default_rng(9), weights_of("whole")
    exposure = rng.uniform(0.1, 5.0, N)
    y = rng.poisson(2 * exposure) + 1.0
    order = rng.permutation(np.repeat(np.arange(N), weights.astype(int)))
    assert loss.rate(y, integer_weights(weights), exposure) == loss.rate(y[order], UNIT, exposure[order])


# --- the constant of a leaf


@pytest.mark.parametrize("kind", ["unit", "whole", "any"])
@pytest.mark.parametrize("name", ["absolute error", "quantile 0.1", "quantile 0.5", "quantile 0.93"])
def test_no_other_value_of_a_leaf_is_better(name: str, kind: str) -> None:
    loss, (y, raw), weights = CASES[name].make(), sample(CASES[name]), weights_of(kind)
    value = loss.leaf_value(y, raw, weights)
    assert value is not None
    least = np.average(loss.values(y, raw + value), weights=weights)
    for nudge in NUDGES:
        for sign in (-1, 1):
            assert np.average(loss.values(y, raw + value + sign * nudge), weights=weights) >= least - 1e-15


@pytest.mark.parametrize("kind", ["unit", "whole", "any"])
def test_huber_leaf_is_a_step_down_from_the_median(kind: str) -> None:
    loss, (y, raw), weights = huber(), sample(CASES["huber"], 1), weights_of(kind)

    def mean(value: float) -> float:
        return float(np.average(loss.values(y, raw + value), weights=weights))

    value, median = loss.leaf_value(y, raw, weights), weighted_quantile(y - raw, integer_weights(weights), 0.5)
    assert value is not None
    clipped = np.clip(y - raw - median, -1.5, 1.5)
    assert value == pytest.approx(median + np.average(clipped, weights=weights), rel=1e-7)  # weights keep 30 bits
    best = min(mean(v) for v in np.linspace(median - 2, median + 2, 2001))
    assert mean(value) - best < 0.5 * (mean(median) - best)


def test_huber_leaf_without_far_residuals_is_their_mean() -> None:
    loss = Huber(0.9)
    loss.parameter = 100.0
    y = np.array([1.0, 2.0, 6.0])
    assert loss.leaf_value(y, np.ones(3), np.array([1.0, 1.0, 2.0])) == pytest.approx(15 / 4 - 1, rel=1e-15)


@pytest.mark.parametrize("name", [*CURVED, "squared error"])
def test_smooth_losses_leave_the_leaf_to_the_second_order_step(name: str) -> None:
    y, raw = sample(CASES[name])
    assert CASES[name].make().leaf_value(y, raw, np.ones(N)) is None


def test_huber_squares_the_errors_of_its_share() -> None:
    loss = Huber(0.5)
    loss.prepare(np.array([1.0, -2.0, 3.0, 10.0, 50.0]), np.zeros(5), np.ones(5))
    assert loss.parameter == 3.0
    loss.prepare(np.array([1.0, -2.0, 3.0, 10.0, 50.0]), np.zeros(5), np.array([1.0, 1.0, 1.0, 1.0, 9.0]))
    assert loss.parameter == 50.0


# --- quantiles


def test_quantiles_by_hand() -> None:
    values = np.array([3.0, 1.0, 2.0, 10.0])
    assert weighted_quantile(values, UNIT, 0.5) == 2.5  # two at or below 2 just reach the half
    assert weighted_quantile(values, UNIT, 0.6) == 3.0
    assert weighted_quantile(values, UNIT, 0.25) == 1.5
    assert weighted_quantile(values, UNIT, 0.999) == 10.0
    assert weighted_quantile(values, UNIT, 0.001) == 1.0
    assert weighted_quantile(values, integer_weights(np.array([1.0, 1.0, 1.0, 5.0])), 0.5) == 10.0
    assert weighted_quantile(values, integer_weights(np.array([0.5, 0.25, 0.25, 1.0])), 0.5) == 6.5
    assert weighted_quantile(np.array([7.0]), integer_weights(np.array([0.3])), 0.5) == 7.0


@pytest.mark.parametrize("share", [1 / 16, 0.25, 0.5, 0.625, 0.75, 0.97])
@pytest.mark.parametrize("n", [1, 2, 7, 16, 64, 101])
def test_quantiles_of_unit_weights_are_those_of_numpy(n: int, share: float) -> None:
    values = np.random.default_rng(n).integers(0, 30, n).astype(float)  # with ties
    expected = np.quantile(values, share, method="averaged_inverted_cdf")
    assert weighted_quantile(values, UNIT, share) == expected


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_weight_two_equals_row_twice_for_a_quantile(share: float) -> None:
    rng = np.random.default_rng(10)
    values, weights = rng.normal(size=41), rng.integers(1, 5, 41)
    repeated = rng.permutation(np.repeat(values, weights))
    weighted = weighted_quantile(values, integer_weights(weights * 1.0), share)
    assert weighted == weighted_quantile(repeated, UNIT, share)


def test_middle_of_the_largest_floats_does_not_overflow() -> None:
    assert weighted_quantile(np.array([1.7e308, 1.6e308]), UNIT, 0.5) == pytest.approx(1.65e308, rel=1e-15)


# --- predictions


def test_predictions_by_hand() -> None:
    np.testing.assert_allclose(LogLoss().prediction(np.array([0.0, math.log(3)])), [[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(Softmax(3).prediction(np.log([[1.0, 2.0, 5.0]])), [[1 / 8, 1 / 4, 5 / 8]])
    np.testing.assert_allclose(Poisson().prediction(np.array([0.0, 1.0])), [1.0, math.e], rtol=1e-15)
    assert OneClass().prediction(np.zeros(2)).tolist() == [[1.0], [1.0]]
    raw = np.array([1.0, -2.0])
    assert all(loss.prediction(raw) is raw for loss in (SquaredError(), AbsoluteError(), Quantile(0.1), Huber(0.9)))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 300.0])
def test_probabilities_are_those_of_scipy_and_sum_to_one(scale: float) -> None:
    rng = np.random.default_rng(11)
    raw = scale * rng.uniform(-1, 1, 1000)
    two = LogLoss().prediction(raw)
    np.testing.assert_allclose(two[:, 1], expit(raw), rtol=2e-15)  # a few units in the last place
    np.testing.assert_allclose(two.sum(axis=1), 1.0, rtol=4e-16)
    for k in (2, 3, 7):
        raw = scale * rng.uniform(-1, 1, (1000, k))
        many = Softmax(k).prediction(raw)
        # a few units in the last place; logarithms below -500 count as -500
        np.testing.assert_allclose(many, softmax(raw, axis=1), rtol=4e-15, atol=np.exp(-500.0))
        np.testing.assert_allclose(many.sum(axis=1), 1.0, rtol=1e-15)


def test_equal_raw_values_give_equal_probabilities_to_the_bit() -> None:
    for k in (3, 4, 10):
        assert len(set(Softmax(k).prediction(np.full((1, k), 1.234))[0].tolist())) == 1


def test_two_classes_are_mirror_images_to_the_bit() -> None:
    raw = np.random.default_rng(12).normal(size=100) * 20
    np.testing.assert_array_equal(LogLoss().prediction(raw), LogLoss().prediction(-raw)[:, ::-1])


def test_means_and_logarithms_undo_each_other() -> None:
    x = np.exp(np.random.default_rng(13).uniform(-400, 400, 500))
    np.testing.assert_allclose(logarithms(x), np.log(x), rtol=1e-14, atol=1e-15)
    # an error of one unit in the last place of a logarithm near 400
    np.testing.assert_allclose(Gamma().prediction(logarithms(x)), x, rtol=400 * 4e-16)


# --- domains


@pytest.mark.parametrize(
    ("loss", "bad", "good"),
    [
        (Poisson(), [1.0, -0.5], [0.0, 0.5]),
        (Gamma(), [1.0, 0.0], [1.0, 1e-9]),
        (Gamma(), [1.0, -1.0], [1e9, 1.0]),
    ],
)
def test_losses_know_their_domain(loss: Loss, bad: list[float], good: list[float]) -> None:
    loss.check(np.array(good))
    with pytest.raises(ValueError, match="y must"):
        loss.check(np.array(bad))


def test_loss_of_ones_own_needs_values_and_derivatives_only() -> None:
    loss, y = Loss(), np.array([1.0, 2.0])
    for method in (loss.values, loss.derivatives):
        with pytest.raises(NotImplementedError):
            method(y, y)
    assert loss.start(y, y) == 0.0
    assert loss.prediction(y) is y
    assert loss.leaf_value(y, y, y) is None
    loss.check(y)
    loss.prepare(y, y, y)
