"""`sublearn bench` from end to end, in its quick form, beside scikit-learn alone; and what it refuses."""

import gc
import json
import sys
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner, Result

from reports import patch_sources
from sublearn.bench import check, child, clock, contenders, growth, order, run, startup
from sublearn.bench.contenders import PEERS
from sublearn.bench.order import PARTS
from sublearn.bench.sets import SOURCES
from sublearn.bench.threads import Speedup
from sublearn.command.app import app

TINY = order.QUICK._replace(n_rows=400, n_rounds=4, max_rounds=8, curve=(2, 4, 8), n_bulk=100, n_single=2)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(monkeypatch)


def prepare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No files, tiny sizes, no YDF, and two turns also where kernels compile on a busy machine.

    Garbage is not collected before each call, which takes most of the time of a run so small.
    """
    patch_sources(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(clock, "SLOW", float("inf"))
    monkeypatch.setattr(gc, "collect", lambda: 0)
    monkeypatch.setattr(order, "QUICK", TINY)
    monkeypatch.setattr(run, "missing", lambda library: library == "ydf")


def bench(out: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["bench", "--quick", "--out", str(out), *options])


class Outcome(NamedTuple):
    """What a run that ends well prints and writes."""

    output: str
    found: dict[str, Any]
    out: Path


def run_bench(out: Path, *options: str) -> Outcome:
    result = bench(out, *options)
    assert result.exit_code == 0, repr(result.exception)
    return Outcome(" ".join(result.output.split()), json.loads((out / "results.json").read_text()), out)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Of a run in which a set and a peer are missing."""
    options = ["--sets", "kin8nm,synthetic", "--peers", "scikit-learn,ydf", "--only", "loss,fits,predict,threads"]
    with pytest.MonkeyPatch.context() as monkeypatch:
        prepare(monkeypatch)
        return run_bench(tmp_path_factory.mktemp("bench") / "out", *options, "--repeats", "2", "--threads", "1")


def test_run_writes_results_and_a_picture(outcome: Outcome) -> None:
    found = outcome.found
    assert (outcome.out / "time-against-loss.png").stat().st_size > 1000
    assert {"numpy", "sublearn", "scikit-learn"} <= set(found["versions"])
    assert {"cores", "cpu", "load", "load_after"} <= set(found["machine"])
    assert found["options"]["repeats"] == 2
    assert {one["contender"] for one in found["loss"]} == {"slm-boost", "hist-boosting"}
    assert [one["contender"] for one in found["fits"]] == [
        "slm-tree",
        "decision-tree",
        "slm-forest",
        "random-forest",
        "slm-boost",
        "hist-boosting",
    ]
    assert all(len(one["turns"]) == len(one["loads"]) == 2 for one in found["fits"])
    assert [one["contender"] for one in found["threads"]] == ["slm-tree", "slm-forest", "slm-boost"]
    assert "growth" not in found


def test_run_prints_tables_and_load(outcome: Outcome) -> None:
    for text in (
        "Time to HistGradientBoosting's loss",
        "Whole fits: forests, 5 trees each",
        "Prediction at matched loss",
    ):
        assert text in outcome.output
    assert "load" in outcome.output


def test_goals_of_the_project_are_shown_only_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "time_threads", lambda *_: [Speedup("slm-boost", 2, 3.0, 2.0, 1.5, {}, {})])
    plain, judged = (run_bench(tmp_path, "--only", "threads", *options) for options in ([], ["--goals"]))
    assert [found["threads"][0]["speedup"] for found in (plain.found, judged.found)] == [1.5, 1.5]
    assert "goals" not in plain.found
    assert {"aim", "seen", "verdict"} < set(judged.found["goals"][0])
    seen = "two threads: 1.7 times one thread. Seen: SLM Boost 1.50 times."
    assert [seen in one.output for one in (plain, judged)] == [False, True]
    assert ["Goals" in one.output for one in (plain, judged)] == [False, True]


def test_ratios_are_their_best_turn_over_ours(outcome: Outcome) -> None:
    for kind in contenders.KINDS:
        pair = [one for one in outcome.found["fits"] if one["kind"] == kind]
        ours, theirs = (min(one["turns"]) for one in pair)
        assert [one["ratio"] for one in pair] == [1.0, theirs / ours]


def test_loss_is_reached_with_the_rounds_that_the_curve_says(outcome: Outcome) -> None:
    goal = outcome.found["loss"][0]["goal"]
    pace = next(one for one in outcome.found["loss"] if one["contender"] == "hist-boosting")
    assert pace["rounds"] == TINY.n_rounds
    assert pace["curve"][-1]["loss"] == pace["end"]["loss"] == goal
    assert {one["contender"] for one in outcome.found["predict"]} == {"slm-boost", "hist-boosting"}
    for one in outcome.found["predict"]:
        assert one["loss"] <= goal


def test_missing_peer_is_left_out_with_a_line(outcome: Outcome) -> None:
    assert "ydf is left out" in outcome.output
    assert "sublearn[bench]" in outcome.output
    assert outcome.found["options"]["peers"] == ["scikit-learn"]
    assert any("ydf" in line for line in outcome.found["left_out"])


def test_missing_set_is_left_out_with_a_line(outcome: Outcome) -> None:
    assert "kin8nm is left out" in outcome.output
    assert "--data-dir" in outcome.output
    assert {one["data_set"] for one in outcome.found["fits"]} == {"synthetic"}


def test_growth_is_measured_in_processes_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "QUICK", TINY._replace(axes={"candidates": (8, 16)}, n_growth=300))
    monkeypatch.setattr(growth, "growing", lambda *_: {"slm-boost": contenders.CONTENDERS["slm-boost"]})
    found = run_bench(tmp_path, "--only", "growth").found
    assert [(one["axis"], one["value"]) for one in found["growth"]] == [("candidates", 8), ("candidates", 16)]
    for one in found["growth"]:
        assert one["seconds"] > 0
        if sys.platform == "win32":  # where nobody asks for it
            assert (one["peak"], one["beyond"]) == (None, None)
        else:
            assert one["peak"] > one["beyond"] >= 0
            assert one["peak"] > 20_000_000  # Python and NumPy alone take more
    assert [one["contender"] for one in found["slopes"]] == ["slm-boost"]


def test_memory_is_unknown_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(child, "STATUS", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "resource", None)
    assert child._peak() is None


def test_first_fit_of_a_new_process_is_measured() -> None:
    times = startup._start("slm-tree", order.BenchOrder(quick=True), None)
    assert set(times) == {"others", "own", "first_fit", "first_predict"}
    assert min(times.values()) > 0
    assert times["others"] > times["own"]  # numba, SciPy and scikit-learn are not ours


def test_no_set_at_all_is_an_error(tmp_path: Path) -> None:
    result = bench(tmp_path, "--sets", "kin8nm", "--only", "fits")
    assert result.exit_code == 1
    assert "Nothing was measured" in result.stderr


@pytest.mark.parametrize(("option", "known"), [("--only", PARTS), ("--sets", SOURCES), ("--peers", PEERS)])
@pytest.mark.parametrize("text", ["unknown", "{},unknown", ","])
def test_unknown_names_are_refused_before_any_work(option: str, known: Any, text: str, tmp_path: Path) -> None:
    result = bench(tmp_path / "out", option, text.format(next(iter(known))))
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert all(name in line for name in (option, *known))
    assert ("unknown" in line) == ("unknown" in text)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [["--threads", "0"], ["--repeats", "0"]])
def test_impossible_options_are_refused(options: list[str], tmp_path: Path) -> None:
    assert bench(tmp_path / "out", *options).exit_code == 2


def test_check_fails_where_a_floor_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = cycle([2.0, 1.0])  # ours, theirs
    half_as_fast = partial(check.check, n_rows=600, repeats=1, measure=lambda call: (next(seconds), None))

    def invoke(floors: dict[str, float]) -> Result:
        monkeypatch.setattr(check, "check", lambda: half_as_fast(floors))
        return CliRunner().invoke(app, ["bench", "--check"])

    floors = dict.fromkeys(check.FLOORS, 0.5)
    low = invoke(floors)
    assert (low.exit_code, low.stderr) == (0, "")
    assert len(low.stdout.splitlines()) == len(check.FLOORS)
    raised = invoke({**floors, "forest, fit": 0.51})
    assert raised.exit_code == 1
    (line,) = raised.stderr.splitlines()
    assert line == "forest, fit: 0.50 times ours, floor 0.51: too slow."
