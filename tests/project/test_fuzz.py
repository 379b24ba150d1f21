"""The fuzz command still runs, finds what is wrong, and says how to see it again."""

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from fuzz import __main__ as command
from fuzz import interrupts, parameters, runner
from fuzz.cases import FAILED, PASSED, BrokenError, Outcome, rng_of
from fuzz.fits import ESTIMATORS, refusal
from fuzz.kinds import KINDS, run_case
from fuzz.promises import check_promises

from documents import ROOT
from sublearn import SLMForestRegressor, SLMRegressor
from sublearn._base.parameters import rule_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="cases are stopped by signals that are not there")
DATA = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize(
    ("kind", "seed", "n"), [("parameters", 2, 15), ("tables", 0, 3), ("weights", 0, 15), ("interrupts", 0, 1)]
)
def test_first_cases_do_not_fail(kind: str, seed: int, n: int) -> None:
    for number in range(n):
        outcome = run_case(kind, seed, number)
        assert outcome.status != FAILED, outcome.text


def test_command_ends_with_a_table() -> None:
    options = ["--only", "weights", "--cases", "3", "--minutes", "1"]
    done = subprocess.run([sys.executable, "-m", "fuzz", *options], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    heads, row = done.stdout.splitlines()
    assert heads.split()[:2] == ["kind", "cases"]
    assert row.split()[:2] == ["weights", "3"]


@pytest.mark.parametrize("kind", KINDS)
def test_cases_are_the_same_again(kind: str) -> None:
    texts = [KINDS[kind].draw(rng_of(kind, *case)).text for case in ((0, 0), (0, 0), (0, 1), (1, 0))]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_gets_values_that_are_allowed_and_others(estimator: Any) -> None:
    for name in inspect.signature(estimator).parameters:
        allowed = rule_of(estimator, name).accepts
        assert any(allowed(value) for value in parameters._near(estimator, name)), name
        assert not all(allowed(value) for value in parameters.OTHERS), name


def test_failures_are_told_with_how_to_run_them_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = [(7, Outcome(PASSED)), (8, Outcome(FAILED, "broken 1")), (9, Outcome(FAILED, "broken 2"))]
    monkeypatch.setattr(command, "run_cases", lambda *_: iter(outcomes))
    monkeypatch.setattr(sys, "argv", ["fuzz", "--only", "tables", "--seed", "3"])
    with pytest.raises(SystemExit) as caught:
        command.main()
    assert caught.value.code == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == ["tables 8: broken 1", "  again: python -m fuzz --only tables --seed 3 --case 8"]
    assert told[3].split() == ["tables", "3", "1", "0", "0", "2", "1"]


@pytest.mark.parametrize(
    ("code", "words"), [("print('[0, \"passed\"]'); raise SystemExit(3)", "ended with 3"), ("input()", "hangs")]
)
def test_crashes_and_hangs_are_failures(code: str, words: str) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as process:
        *passed, last = runner._outcomes(process, 2.0)
        process.kill()
    assert passed == [Outcome(PASSED)] * ("print" in code)
    assert last.status == FAILED
    assert words in last.text


@pytest.mark.parametrize("error", [OverflowError("too large"), IndexError("out of bounds"), ValueError("broadcast")])
def test_errors_from_deep_inside_are_failures(error: Exception) -> None:
    def call() -> None:
        raise error

    with pytest.raises(BrokenError, match=str(error)):
        refusal(call)


def test_refusals_are_no_failures() -> None:
    assert "n_bins" in str(refusal(lambda: SLMRegressor(n_bins=0).fit(DATA, DATA[:, 0])))
    assert "infinity" in str(refusal(lambda: SLMRegressor().fit(np.full_like(DATA, np.inf), DATA[:, 0])))


@pytest.mark.parametrize(
    ("name", "broken", "words"),
    [
        ("predict", lambda self, X: np.full(len(X), np.nan), "not finite"),
        ("predict", lambda self, X: np.zeros((len(X), 1)), "shape"),
        ("apply", lambda self, X: np.zeros((len(X), 3), int), "other leaves"),
        ("predict", lambda self, X: np.full(len(X), float(self.n_jobs or 0)), "gives another model"),
        ("_check_weights", lambda self, *_: SLMRegressor()._check_weights(None, DATA), "negative weights were taken"),
        ("_check_numbers", lambda self, given, *_: -np.ones(60) * (np.ndim(given) == 0) + 1, "what rows are"),
    ],
)
def test_broken_promises_are_found(name: str, broken: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = DATA, DATA[:, 0] + DATA[:, 1] ** 2
    model = SLMForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    check_promises(model, X, y, None, np.random.default_rng(0))
    monkeypatch.setattr(SLMForestRegressor, name, broken)
    with pytest.raises(BrokenError, match=words):
        check_promises(model, X, y, None, np.random.default_rng(0))


@pytest.mark.parametrize(("delay", "forked"), [(0.02, True), (0.15, False)])
def test_interrupt_of_the_first_forest_is_not_swallowed_by_the_compiler_and_the_next_fit_works(
    delay: float, forked: bool
) -> None:
    """It was, once in 26, or left a lock taken for ever: `RuntimeError: generator raised StopIteration`."""
    plan = {"estimator": "SLMForestClassifier", "n_jobs": 2, "call": "fit", "turn": "first"}
    outcome = interrupts._run({**plan, "forked": forked, "delays": [delay]}, cold=False)
    assert outcome.status != FAILED, outcome.text
