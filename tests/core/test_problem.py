"""What boosting learns from: scores, slopes, and both while raw moves."""

import math
from typing import Any

import numpy as np
import pytest

from boosting import OwnSquares
from naive import Array
from sublearn.core.boosting.derivatives import Slopes
from sublearn.core.boosting.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogLoss,
    Loss,
    Poisson,
    Quantile,
    Softmax,
    SquaredError,
)
from sublearn.core.boosting.problem import Problem, make_problem
from sublearn.core.data.fixed_point import UNIT, Weights
from sublearn.core.parallel import Workers
from support import ONE_THREAD

N = 3500  # four chunks
LOSSES: dict[str, Loss] = {
    "squares": SquaredError(),
    "absolute": AbsoluteError(),
    "quantile": Quantile(0.3),
    "huber": Huber(0.9),
    "poisson": Poisson(),
    "gamma": Gamma(),
    "two classes": LogLoss(),
    "three classes": Softmax(3),
    "own": OwnSquares(),
}
AT_ONCE = {"squares", "absolute", "quantile", "poisson", "gamma", "two classes", "three classes"}


def problem_of(name: str, weights: str = "unit", factors: bool = False) -> Problem:
    rng = np.random.default_rng(3)
    n_outputs = 3 if name == "three classes" else 1
    y = rng.integers(0, max(n_outputs, 2), N).astype(float) if "classes" in name else rng.gamma(2.0, size=N)
    given = {
        "unit": UNIT,
        "integer": Weights(*(rng.integers(1, 5, N),) * 2),
        "fractional": Weights(rng.integers(1, 2**18, N), np.ones(N, np.int64), 2.0**-16),
    }[weights]
    codes, raw = np.zeros((1, N), np.int16), rng.normal(size=(N, n_outputs))
    return make_problem(codes, y, given, rng.choice([0.5, 3.0], N) if factors else np.empty(0), LOSSES[name], raw)


def signs_of(problem: Problem) -> Array:
    return np.array([1.0, -1.0, 1.0][: problem.raw.shape[1]])


def assert_same(one: tuple[Slopes, Slopes], other: tuple[Slopes, Slopes]) -> None:
    for a, b in zip((*one[0], *one[1]), (*other[0], *other[1]), strict=True):
        assert (a is None) == (b is None)
        np.testing.assert_array_equal(np.asarray(a, float), np.asarray(b, float))


@pytest.mark.parametrize("weights", ["unit", "integer", "fractional"])
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_score_and_slopes_by_the_loss_itself(name: str, weights: str, factors: bool) -> None:
    problem = problem_of(name, weights, factors)
    problem.prepare()
    numbers, scales = problem.all_weights(), problem.factors[:, None] if factors else 1.0
    values = problem.loss.values(problem.y, problem.outputs)
    assert problem.weight == pytest.approx(math.fsum(numbers), rel=1e-14)
    assert problem.score(ONE_THREAD) == pytest.approx(-math.fsum(values * numbers) / math.fsum(numbers), rel=1e-13)
    gradient, hessian = problem.loss.derivatives(problem.y, problem.outputs)
    slopes, _ = problem.slopes(signs_of(problem), ONE_THREAD)
    np.testing.assert_array_equal(slopes.gradients, gradient.reshape(N, -1) * scales)
    if hessian is None and not factors:
        assert slopes.hessians is None
    else:
        second = np.ones(problem.raw.shape) if hessian is None else hessian.reshape(N, -1)
        np.testing.assert_array_equal(np.asarray(slopes.hessians), second * scales)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("weights", ["unit", "fractional"])
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_score_and_slopes_do_not_depend_on_threads(name: str, weights: str, factors: bool) -> None:
    problem = problem_of(name, weights, factors)
    problem.prepare()
    signs = signs_of(problem)
    with Workers(3) as workers:
        assert problem.score(workers) == problem.score(ONE_THREAD)
        assert_same(problem.slopes(signs, workers), problem.slopes(signs, ONE_THREAD))


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("weights", ["unit", "fractional"])
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_score_and_slopes_while_raw_moves_are_those_after_it(
    name: str, weights: str, factors: bool, n_threads: int
) -> None:
    problem, twin = problem_of(name, weights, factors), problem_of(name, weights, factors)
    problem.prepare()
    steps = np.random.default_rng(4).normal(size=problem.raw.shape)
    parts: list[tuple[int, int]] = []

    def add(first: int, last: int) -> None:
        problem.raw[first:last] += steps[first:last]
        parts.append((first, last))

    with Workers(n_threads) as workers:
        score, slopes = problem.move(add, signs_of(problem), problem.room(), workers)
    parts.sort()
    assert len(parts) >= n_threads
    assert [first for first, _ in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == N
    np.testing.assert_array_equal(problem.raw, twin.raw + steps)
    assert score == problem.score(ONE_THREAD)
    assert (slopes is not None) == (name in AT_ONCE)
    if slopes is not None:
        assert_same(slopes, problem.slopes(signs_of(problem), ONE_THREAD))


def test_some_of_the_samples_have_their_own_weight() -> None:
    problem = problem_of("two classes", "fractional", factors=True)
    rows = np.arange(0, N, 7)
    part, rest = problem.parts(~np.isin(np.arange(N), rows))
    np.testing.assert_array_equal(part.all_weights(), problem.all_weights()[rows])
    assert part.weight == pytest.approx(math.fsum(problem.all_weights()[rows]), rel=1e-14)
    assert len(rest.y) == N - len(rows)
    part.raw[:] = 0.0
    assert (problem.raw != 0.0).all()


class Changed(OwnSquares):
    """Gives its results in another form."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def values(self, y: Array, raw: Array) -> Array:
        return self.change(super().values(y, raw))  # type: ignore[no-any-return]

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array | None]:
        return self.change(super().derivatives(y, raw)[0]), self.change(np.ones(len(y)))


def locked(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("change", [locked, lambda array: np.repeat(array, 2)[::2], np.ndarray.tolist])
def test_results_of_a_loss_of_ones_own_may_be_any_arrays(change: Any) -> None:
    plain, problem = (problem_of("own")._replace(loss=Changed(c)) for c in (np.copy, change))
    assert problem.score(ONE_THREAD) == plain.score(ONE_THREAD)
    assert_same(problem.slopes(np.ones(1), ONE_THREAD), plain.slopes(np.ones(1), ONE_THREAD))
