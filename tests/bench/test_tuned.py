"""benchmarks/tuned.py: parts, the search of peers, its time, and what is left out."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tables
import tuned
from defaults import Cell
from sublearn import tuning
from tuned import Job, Part, Peer

Y = np.linspace(0.0, 1.0, 100)


class Constant:
    """A model that always says the same."""

    def __init__(self, value: float) -> None:
        self.value = value

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


class Fake:
    """A library with one setting, whose fits move a clock."""

    def __init__(self, patch: pytest.MonkeyPatch, seconds: float = 1.0) -> None:
        self.now, self.seconds = 0.0, seconds
        self.tried: list[float] = []
        patch.setattr(tuned, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.peer = Peer(self.suggest, self.stopped, self.whole)

    def suggest(self, trial: Any) -> dict[str, Any]:
        return {"value": trial.suggest_float("value", 0.0, 1.0)}

    def stopped(self, job: Job, settings: dict[str, Any], part: Part, end: float) -> tuple[Any, int]:
        self.now = min(self.now + self.seconds, max(end, self.now))
        self.tried.append(settings.get("value", 5.0))
        return Constant(self.tried[-1]), 50

    def whole(self, job: Job, settings: dict[str, Any], n_rounds: int) -> Any:
        assert n_rounds == 50
        self.now += self.seconds / 2
        return Constant(settings.get("value", 5.0))


def job(budget: float) -> Job:
    return Job(Y[:, None], Y, False, 0, budget, budget)


def test_search_begins_with_the_defaults_and_finds_the_best_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    fake = Fake(monkeypatch)
    model = tuned.search(fake.peer, job(200.0))
    assert fake.tried[:5] == [5.0] * 5
    assert abs(model.value - 0.5) == min(abs(value - 0.5) for value in fake.tried) < 0.05
    assert 190 < fake.now <= 200


def test_defaults_are_fitted_where_there_is_time_for_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    fake = Fake(monkeypatch, seconds=100.0)
    assert tuned.search(fake.peer, job(20.0)).value == 5.0
    assert fake.tried[:5] == [5.0] * 5
    assert len(fake.tried) < 8  # what comes later is cut short, and dropped
    assert 10 + 50 <= fake.now <= 20 + 50  # half of the budget for five parts; the last fit takes what it takes


def test_parts_are_those_of_tune(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tuned.parts_of(job(1.0))
    assert [len(part.y) for part in parts] == [80] * 5
    assert sorted(np.concatenate([part.testing[1] for part in parts])) == Y.tolist()
    monkeypatch.setattr(tuning, "MANY", 100)
    assert len(tuned.parts_of(job(1.0))) == 1


def test_results_of_other_budgets_are_others() -> None:
    assert tuned.stamp("slm-boost", 20.0) != tuned.stamp("slm-boost", 600.0)
    assert tuned.stamp("slm-boost", 600.0).endswith(" in 600 s")


def test_sets_are_ten_and_known() -> None:
    assert len(set(tuned.SETS)) == 10
    assert set(tuned.SETS) <= set(tables.GROUPS["hand"])


def test_sets_without_a_file_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = SimpleNamespace(sets="wine,letter", first=1, splits=2, budget=20.0)
    cells = list(tuned.cells_of(arguments, ["slm-boost"], (tmp_path,)))
    assert [(cell.table, cell.seed) for cell in cells] == [("wine", 1), ("wine", 2)]
    assert "letter is left out" in capsys.readouterr().out


def test_report_has_losses_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    results = {
        Cell("wine", 0, "slm-boost", "1"): {"seconds": 19.0, "log_loss": 0.5},
        Cell("wine", 0, "catboost", "2"): {"seconds": 20.0, "log_loss": 0.25},
    }
    tuned.report(["slm-boost", "catboost"], results, 20.0)
    out = capsys.readouterr().out
    assert "tuned for 20 s" in out
    assert "0.25*" in out
    assert "slm-boost 2.00  catboost 1.00" in out
