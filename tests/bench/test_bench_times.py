"""What `sublearn bench` makes of times: turns, ratios, slopes, verdicts; from clocks and figures made by hand."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sublearn.bench import contenders, goals, sets, tables
from sublearn.bench.clock import SLOW, Timing, in_turns, ratio, stopwatch
from sublearn.bench.courses import first_at
from sublearn.bench.fits import TimedFit
from sublearn.bench.goals import MET, MISSED, UNKNOWN, Goal, judge
from sublearn.bench.growth import SizedFit, power, slopes
from sublearn.bench.loss import Point, Reached
from sublearn.bench.picture import time_against_loss
from sublearn.bench.predict import Predicted
from sublearn.bench.results import Results, empty, plain
from sublearn.bench.startup import Start
from sublearn.bench.threads import Speedup

GIB = 2**30


class Clock:
    """A clock that calls set forward."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []

    def taking(self, name: str, *seconds: float) -> Callable[[], str]:
        """A call that takes so long in each turn, and returns its name and turn."""
        left = iter(enumerate(seconds))

        def call() -> str:
            turn, took = next(left)
            self.now += took
            self.order.append(name)
            return f"{name}{turn}"

        return call

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_calls_take_turns_and_the_best_counts(clock: Clock) -> None:
    calls = {"a": clock.taking("a", 3.0, 1.0, 2.0), "b": clock.taking("b", 4.0, 6.0, 5.0)}
    found = in_turns(calls, 3, stopwatch(clock))
    assert clock.order == list("ababab")
    assert found["a"].turns == [3.0, 1.0, 2.0]
    assert [found[name].seconds for name in "ab"] == [1.0, 4.0]
    assert [found[name].result for name in "ab"] == ["a1", "b0"]
    assert [len(found[name].loads) for name in "ab"] == [3, 3]
    assert ratio(found["b"].seconds, found["a"].seconds) == 4.0


def test_slow_calls_have_one_turn(clock: Clock) -> None:
    calls = {"slow": clock.taking("slow", SLOW + 1, 1.0), "fast": clock.taking("fast", 1.0, 1.0)}
    found = in_turns(calls, 2, stopwatch(clock))
    assert clock.order == ["slow", "fast", "fast"]
    assert found["slow"].seconds == SLOW + 1


def test_what_is_known_to_be_slow_is_not_run_again(clock: Clock) -> None:
    known = {"slow": Timing([SLOW + 1], [0.0], "model"), "fast": Timing([1.0], [0.0], "model")}
    calls = {"slow": clock.taking("slow"), "fast": clock.taking("fast", 2.0)}
    found = in_turns(calls, 1, stopwatch(clock), known)
    assert clock.order == ["fast"]
    assert (found["slow"].result, found["fast"].result) == ("model", "fast0")


def test_garbage_is_not_collected_inside_a_turn() -> None:
    assert gc.isenabled()
    _, inside = stopwatch()(gc.isenabled)
    assert not inside
    assert gc.isenabled()


@pytest.mark.parametrize(("theirs", "ours"), [(None, 1.0), (1.0, None)])
def test_ratio_to_the_unknown_is_unknown(theirs: float | None, ours: float | None) -> None:
    assert ratio(theirs, ours) is None


def test_goal_is_reached_at_the_first_loss_at_or_below_it() -> None:
    losses = {1: 0.9, 2: 0.5, 3: 0.6, 4: 0.4}
    assert [first_at(losses, goal) for goal in (0.95, 0.5, 0.45, 0.3)] == [1, 2, 4, None]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.7])
def test_slope_of_a_power_law_is_its_exponent(exponent: float) -> None:
    values = [10, 100, 1_000, 5_000]
    assert power(values, [3.0 * value**exponent for value in values]) == pytest.approx(exponent, abs=1e-9)


def grown(axis: str, value: int, seconds: float, peak: int | None = GIB, contender: str = "slm-boost") -> SizedFit:
    return SizedFit(
        axis=axis,
        value=value,
        contender=contender,
        n_trees=100,
        seconds=seconds,
        ratio=None,
        peak=peak,
        beyond=None if peak is None else 0,
        turns=[seconds],
        loads=[0.0],
    )


def test_slopes_are_of_one_contender_along_one_axis() -> None:
    entries = [grown("rows", n, float(n)) for n in (10, 100)] + [grown("features", n, 1.0) for n in (10, 100)]
    entries += [grown("rows", n, float(n) ** 2, contender="xgboost") for n in (10, 100)]
    found = {(one.axis, one.contender): one.slope for one in slopes(entries)}
    expected = {("rows", "slm-boost"): 1.0, ("features", "slm-boost"): 0.0, ("rows", "xgboost"): 2.0}
    assert found == pytest.approx(expected, abs=1e-9)


def test_slopes_above_a_bound_leave_out_what_is_below() -> None:
    entries = [grown("candidates", n, seconds) for n, seconds in ((8, 1.0), (128, 50.0), (1024, 100.0))]
    (found,) = slopes(entries, above=100)
    assert (found.first, found.last) == (128, 1024)
    assert found.slope == pytest.approx(np.log(2) / np.log(8))
    assert slopes(entries, above=128) == []


# --- goals


def reached(data_set: str, contender: str, ratio: float | None) -> Reached:
    point = Point(100, 1.0, 0.5)
    return Reached(
        data_set=data_set,
        contender=contender,
        loss_name="RMSE",
        pace="xgboost",
        goal=0.5,
        rounds=100,
        seconds=1.0,
        ratio=ratio,
        turns=[],
        loads=[],
        end=point,
        curve=[point],
    )


def fit(
    contender: str, kind: str, ratio: float, loss: float, accuracy: float | None, data_set: str = "synthetic"
) -> TimedFit:
    return TimedFit(
        data_set=data_set,
        kind=kind,
        contender=contender,
        n_trees=20,
        seconds=1.0,
        ratio=ratio,
        turns=[1.0],
        loads=[0.0],
        loss_name="log loss",
        loss=loss,
        accuracy=accuracy,
    )


def predicted(data_set: str, contender: str, bulk: float | None) -> Predicted:
    return Predicted(
        data_set=data_set,
        contender=contender,
        rounds=9,
        loss=0.5,
        rows_per_second=1e6,
        bulk_ratio=bulk,
        single_seconds=1e-4,
        single_ratio=1.0,
        turns=[],
        loads=[],
    )


def start(contender: str, cache: str, own: float, first_fit: float) -> Start:
    return Start(
        contender=contender,
        cache=cache,
        others=1.0,
        own=own,
        first_fit=first_fit,
        first_predict=0.0,
        ratio=1.0,
        turns=[1.0],
        loads=[0.0],
    )


def verdict(name: str, **parts: list[Any]) -> str:
    """Of the goal with this name."""
    return goal(name, **parts).verdict


def goal(name: str, **parts: list[Any]) -> Goal:
    results: Results = empty()._replace(**parts)
    (found,) = [one for one in judge(results) if one.name == name]
    return found


def test_goals_are_unknown_where_nothing_was_measured() -> None:
    assert {one.verdict for one in judge(empty())} == {UNKNOWN}


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.0, 1.0, 2.0, 2.0, 0.1], MET),
        ([0.99, 1.0, 2.0, 2.0, 0.1], MISSED),  # three sets only
        ([1.0, 1.0, 1.99, 2.0, 3.0], MET),
        ([1.0, 1.0, 1.99, 2.0, 1.0], MISSED),  # twice as fast on one
        ([None, None, 2.0, 2.0, 2.0], MISSED),  # we do not reach it on two
        ([2.0, 2.0, 2.0, 2.0], UNKNOWN),
    ],
)
def test_time_to_loss_is_judged_over_all_sets(ratios: list[float | None], expected: str) -> None:
    entries = []
    for name, value in zip(sets.SOURCES, ratios, strict=False):
        entries += [reached(name, "slm-boost", 1.0), reached(name, "xgboost", value)]
    assert verdict("time to XGBoost's loss", loss=entries) == expected


@pytest.mark.parametrize(
    ("times", "accuracy", "expected"), [(20.0, 0.9, MET), (19.9, 0.9, MISSED), (20.0, 0.9001, MISSED)]
)
def test_forest_must_be_faster_and_as_accurate(times: float, accuracy: float, expected: str) -> None:
    entries = [fit("slm-forest", "forest", 1.0, 9.0, None, "kin8nm")]
    entries += [fit("ydf-forest", "forest", 1.0, 1.0, None, "kin8nm")]  # of numbers, which the goal is not about
    for name in ("bank_marketing", "synthetic"):
        entries += [fit("slm-forest", "forest", 1.0, 0.5, 0.9, name)]
        entries += [fit("ydf-forest", "forest", times, 0.5, accuracy, name)]
    assert verdict("forest beside YDF's", fits=entries) == expected


@pytest.mark.parametrize(("times", "loss", "expected"), [(50.0, 0.5, MET), (49.0, 0.5, MISSED), (50.0, 0.49, MISSED)])
def test_boosting_must_be_faster_and_lose_no_more(times: float, loss: float, expected: str) -> None:
    entries = []
    for name in sets.SOURCES:
        entries += [fit("slm-boost", "boost", 1.0, 0.5, None, name), fit("ydf-boost", "boost", times, loss, None, name)]
    found = goal("boosting beside YDF's", fits=entries)
    assert found.verdict == expected
    assert f"{times:.1f} times" in found.seen


@pytest.mark.parametrize(("bulk", "expected"), [(1.0, MET), (0.99, MISSED), (None, MISSED)])
def test_prediction_must_be_as_fast_on_every_set(bulk: float | None, expected: str) -> None:
    entries = [predicted(name, "xgboost", bulk if name == "kin8nm" else 2.0) for name in sets.SOURCES]
    assert verdict("prediction beside XGBoost", predict=entries) == expected
    assert verdict("prediction beside LightGBM", predict=entries) == UNKNOWN


def test_goals_that_are_met_on_a_part_of_the_sets_are_not_met() -> None:
    forest = [fit("slm-forest", "forest", 1.0, 0.5, 0.9), fit("ydf-forest", "forest", 99.0, 0.5, 0.8)]
    boost = [fit("slm-boost", "boost", 1.0, 0.5, 0.9), fit("ydf-boost", "boost", 99.0, 0.6, 0.8)]
    assert verdict("forest beside YDF's", fits=forest) == UNKNOWN
    assert verdict("boosting beside YDF's", fits=boost) == UNKNOWN
    assert verdict("prediction beside XGBoost", predict=[predicted("kin8nm", "xgboost", 9.0)]) == UNKNOWN
    assert verdict("prediction beside XGBoost", predict=[predicted("kin8nm", "xgboost", 0.9)]) == MISSED


@pytest.mark.parametrize(
    ("axis", "most", "values"),
    [
        ("rows", goals.ROWS_SLOPE, (10, 100)),
        ("features", goals.FEATURES_SLOPE, (10, 100)),
        ("candidates", goals.CANDIDATES_SLOPE, (8, 128, 1024)),
    ],
)
def test_growth_is_judged_by_our_slopes(axis: str, most: float, values: tuple[int, ...]) -> None:
    for slope, expected in ((most - 0.01, MET), (most + 0.01, MISSED)):
        entries = [grown(axis, n, float(n) ** slope) for n in values]
        peers = [grown(axis, n, float(n) ** 3, contender="xgboost") for n in values]
        assert verdict(f"growth in {axis}", growth=entries + peers) == expected


@pytest.mark.parametrize(("peak", "expected"), [(6 * GIB, MET), (6 * GIB + 1, MISSED), (None, UNKNOWN)])
def test_memory_is_judged_at_two_million_rows(peak: int | None, expected: str) -> None:
    entries = [grown("rows", 2_000_000, 1.0, peak), grown("rows", 1_000_000, 1.0, 99 * GIB)]
    assert verdict("memory of 2,000,000 rows", growth=entries) == expected


def test_memory_that_is_unknown_is_shown_as_such() -> None:
    texts = [tables._memory(grown("rows", 10, 1.0, peak)) for peak in (3_000_000, None)]
    assert texts == ["3 MB, +0", "memory unknown"]


@pytest.mark.parametrize(("speedup", "expected"), [(1.7, MET), (1.69, MISSED)])
def test_threads_are_judged_for_all_of_ours(speedup: float, expected: str) -> None:
    entries = [
        Speedup(contender=name, threads=2, one=2.0, several=1.0, speedup=found, turns={}, loads={})
        for name, found in (("slm-tree", 1.9), ("slm-boost", speedup))
    ]
    peer = Speedup(contender="xgboost", threads=2, one=1.0, several=1.0, speedup=1.0, turns={}, loads={})
    assert verdict("two threads", threads=[*entries, peer]) == expected


def test_starts_are_judged_by_cache() -> None:
    slow = [
        start("slm-tree", "warm", 0.15, 1.0),
        start("slm-tree", "cold", 9.0, 20.1),
        start("xgboost", "warm", 9.0, 9.0),
    ]
    assert verdict("import, own share", startup=slow) == MET
    assert verdict("first fit, warm cache", startup=slow) == MET
    assert verdict("first fit, cold cache", startup=slow) == MISSED
    assert verdict("first fit, warm cache", startup=[start("slm-tree", "warm", 0.1, 1.01)]) == MISSED
    assert verdict("import, own share", startup=[start("slm-tree", "warm", 0.151, 0.1)]) == MISSED


# --- losses, contenders, picture


def test_losses_of_a_set_by_hand() -> None:
    X = np.zeros((2, 1))
    classes = sets.Split(name="a", title="A", is_classes=True, X_train=X, X_test=X, y_train=X, y_test=np.array([0, 1]))
    given = np.array([[0.5, 0.5], [0.75, 0.25]])
    assert classes.loss(given) == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert classes.accuracy(given) == 0.5
    numbers = classes._replace(is_classes=False, y_test=np.array([1.0, 5.0]))
    assert numbers.loss(np.array([1.0, 2.0])) == pytest.approx(np.sqrt(4.5))
    assert numbers.accuracy(given) is None


@pytest.mark.parametrize("name", [name for name, c in contenders.CONTENDERS.items() if c.staged])
@pytest.mark.parametrize("is_classes", [True, False], ids=["classes", "numbers"])
def test_last_stage_is_the_prediction(name: str, is_classes: bool) -> None:
    contender = contenders.CONTENDERS[name]
    if contenders.missing(contender.library):
        pytest.skip(f"{contender.library} is not installed")
    X, y = sets.synthetic(300)
    job = contenders.Job(is_classes, 5, 1)
    model = contenders.fitted(contender, job, X, y if is_classes else X[:, 0] + y)
    assert contender.staged is not None
    stages = list(contender.staged(model, X[:50], is_classes))
    assert len(stages) == 5
    np.testing.assert_allclose(stages[-1], contenders.predictions(model, X[:50], is_classes), rtol=1e-5, atol=1e-6)
    assert np.abs(stages[0] - stages[-1]).max() > 1e-3


def test_picture_has_a_curve_for_every_contender() -> None:
    curve = [Point(10, 0.1, 0.9), Point(100, 1.0, 0.5)]
    entries = [reached("kin8nm", name, 1.0)._replace(curve=curve) for name in ("slm-boost", "xgboost")]
    entries += [reached("kin8nm", "ydf-boost", None)._replace(curve=[])]
    figure: Any = time_against_loss(entries)
    (axes,) = figure.axes
    lines = {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}
    assert lines["SLM Boost"] == lines["XGBoost"] == [0.1, 1.0]
    assert lines["YDF oblique boosting"] == [1.0]
    assert "goal: XGBoost at its end" in lines
    assert axes.get_xscale() == "log"


def test_records_become_plain_for_json() -> None:
    assert plain({"a": [Point(1, 2.0, 3.0)], "b": ("x", None)}) == {
        "a": [{"rounds": 1, "seconds": 2.0, "loss": 3.0}],
        "b": ["x", None],
    }
