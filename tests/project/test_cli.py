"""The command line: its help, what it refuses, and what its options ask for."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sublearn
from reports import invoke, patch_sources, run
from sublearn.command.app import app
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.plan import PARTS, Order
from sublearn.paper.search import PROTOCOLS
from support import PATIENCE

FROM_FILES = ("pima", "ionosphere", "banknote", "boston", "california-housing")
BLOCKED = """
import runpy, sys
sys.modules["{}"] = None
sys.argv = ["sublearn", "--help"]
runpy.run_module("sublearn", run_name="__main__")
"""

# Names on stderr what the command has imported of the libraries that take seconds.
LOADED = """
import atexit, sys
heavy = {{"joblib", "numba", "numpy", "scipy", "sklearn"}}
atexit.register(lambda: print(*heavy & sys.modules.keys(), file=sys.stderr))
sys.argv = {}
from sublearn.__main__ import main
main()
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_sources(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Order]:
    """What is ordered by options, instead of the run."""
    orders: list[Order] = []

    def note(order: Order, console: Any) -> Path:
        orders.append(order)
        return Path("page")

    def order(*options: str) -> Order:
        run(tmp_path, *options)
        return orders[-1]

    monkeypatch.setattr("sublearn.paper.reproduce.reproduce", note)
    return order


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=PATIENCE
    )


def test_module_is_the_command() -> None:
    shown = python("-m", "sublearn", "--help")
    assert shown.returncode == 0
    assert "reproduce" in shown.stdout
    assert "--version" in shown.stdout


@pytest.mark.parametrize("options", [["--help"], ["reproduce", "--help"], ["bench", "--help"], ["--version"]])
def test_help_waits_for_no_numerical_library(options: list[str]) -> None:
    shown = python("-c", LOADED.format(["sublearn", *options]))
    assert (shown.returncode, shown.stderr.split()) == (0, [])


def test_jobs_are_one_for_each_core_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    orders: list[Order] = []
    monkeypatch.setattr("joblib.cpu_count", lambda: 7)
    monkeypatch.setattr("sublearn.paper.reproduce.reproduce", lambda order, console: orders.append(order))
    for options in ([], ["--jobs", "3"]):
        assert CliRunner().invoke(app, ["reproduce", "--out", str(tmp_path), *options]).exit_code == 0
    assert [order.jobs for order in orders] == [7, 3]


def test_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"sublearn {sublearn.__version__}\n")


def test_help_names_every_option() -> None:
    text = CliRunner().invoke(app, ["reproduce", "--help"]).output
    for option in ("protocol", "out", "only", "datasets", "contenders", "data-dir", "jobs", "seed", "quick"):
        assert f"--{option}" in text


@pytest.mark.parametrize("module", ["typer"])  # rich is for progress, and for the experiments
def test_missing_library_of_the_command_is_one_line_that_names_the_extra(module: str) -> None:
    shown = python("-c", BLOCKED.format(module))
    assert shown.returncode == 1
    assert shown.stdout == ""
    (line,) = shown.stderr.splitlines()
    assert "sublearn[cli]" in line
    assert module in line


@pytest.mark.parametrize(
    ("option", "known"), [("--datasets", SOURCES), ("--contenders", CONTENDERS), ("--only", PARTS)]
)
@pytest.mark.parametrize("text", ["unknown", "{},unknown", ","])
def test_unknown_names_are_refused_before_any_work(option: str, known: Any, text: str, tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", option, text.format(next(iter(known))))
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert all(name in line for name in (option, *known))
    assert ("unknown" in line) == ("unknown" in text)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["best", "Paper", "honest,paper", ""])
def test_unknown_protocol_is_refused_like_other_names(name: str, tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", "--protocol", name)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert all(word in line for word in ("--protocol", repr(name), *PROTOCOLS))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("library", ["matplotlib", "xgboost"])
def test_missing_library_of_the_report_is_refused_before_any_work(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = "sublearn.command.experiments.find_spec"
    monkeypatch.setattr(spec, lambda name: None if name == library else find_spec(name))
    monkeypatch.setattr("sublearn.paper.reproduce.reproduce", lambda order, console: pytest.fail("work was done"))
    result = invoke(tmp_path / "out", "--datasets", "iris", "--contenders", "dt", "--only", "table1")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert library in line
    assert "sublearn[paper]" in line
    assert not (tmp_path / "out").exists()


def test_folder_of_the_report_must_not_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("mine")
    result = invoke(path, "--datasets", "iris", "--only", "table1")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert "--out" in line
    assert str(path) in line
    assert path.read_text() == "mine"


@pytest.mark.parametrize("command", ["reproduce", "bench"])
def test_folder_that_cannot_be_written_to_is_refused_before_any_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **options: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("sublearn.command.experiments.TemporaryFile", fail)
    monkeypatch.setattr("sublearn.paper.reproduce.reproduce", lambda order, console: pytest.fail("work was done"))
    monkeypatch.setattr("sublearn.bench.run.bench", lambda order, console: pytest.fail("work was done"))
    result = CliRunner().invoke(app, [command, "--quick", "--out", str(tmp_path / "out")])
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert all(words in line for words in ("--out", str(tmp_path / "out"), "Permission denied"))


@pytest.mark.skipif(sys.platform != "linux", reason="where nothing can be made is known there")
@pytest.mark.parametrize("command", ["reproduce", "bench"])
def test_folder_that_cannot_be_made_is_one_line(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--out", "/proc/none/report"])
    assert (shown.exit_code, shown.stdout) == (2, "")
    (line,) = shown.stderr.splitlines()
    assert line.startswith("--out /proc/none/report must be a folder that can be written to; got /proc: ")


@pytest.mark.parametrize("options", [["--jobs", "0"], ["--seed", "-1"]])
def test_impossible_options_are_refused(options: list[str], tmp_path: Path) -> None:
    assert invoke(tmp_path / "out", *options).exit_code == 2
    assert not (tmp_path / "out").exists()


def test_folder_of_data_must_be_one(tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", "--data-dir", str(tmp_path / "none"), "--datasets", "iris", "--only", "fig5")
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert str(tmp_path / "none") in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", list(SOURCES)),
        ("classes", list(SOURCES)[:9]),
        ("numbers", list(SOURCES)[9:]),
        ("bundled", [name for name in SOURCES if name not in FROM_FILES]),
        ("numbers, iris", ["iris", *list(SOURCES)[9:]]),
        ("wine,iris,wine", ["iris", "wine"]),
    ],
)
def test_sets_are_named_one_by_one_or_in_groups(text: str, expected: list[str], ordered: Callable[..., Order]) -> None:
    assert list(ordered("--datasets", text).data_sets) == expected


def test_claims_are_part_of_a_quick_run_only_if_named(ordered: Callable[..., Order]) -> None:
    assert set(PARTS) - set(ordered().parts) == {"claims"}
    assert ordered("--only", "claims,table1").parts == ("table1", "claims")


def test_options_become_the_order(ordered: Callable[..., Order], tmp_path: Path) -> None:
    order = ordered("--protocol", "paper", "--seed", "4", "--data-dir", str(tmp_path), "--only", "fig5,table1")
    assert order == Order(
        protocol="paper",
        quick=True,
        seed=4,
        data_sets=tuple(SOURCES),
        contenders=tuple(CONTENDERS),
        parts=("table1", "fig5"),
        out=tmp_path,
        folder=tmp_path,
        jobs=1,
    )


def test_number_of_splits_is_that_of_the_form_or_the_one_given(ordered: Callable[..., Order]) -> None:
    assert len(ordered().seeds) == 5
    assert list(ordered("--splits", "3", "--seed", "4").seeds) == [4, 5, 6]
