"""`sublearn reproduce`: what a run writes, and runs that are stopped, repeated, optimistic or short of data."""

import gzip
import json
import re
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from reports import invoke, patch_grids, patch_sources, run
from sublearn.paper import plan, runner
from sublearn.paper.datasets import MissingDataError
from sublearn.paper.plan import Order
from sublearn.paper.reproduce import reproduce

SMALL = (
    "--datasets",
    "iris,diabetes",
    "--contenders",
    "dt,slm-baseline,rf,slm-forest",
    "--only",
    "table1,table2,table3",
)


@pytest.fixture(autouse=True)
def small_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_grids(monkeypatch)
    patch_sources(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")


def report(out: Path) -> dict[str, str]:
    """All files but the records, without times."""
    files = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}
    texts = {name: path.read_text() for name, path in files.items() if name not in ("results.jsonl", "times.csv")}
    page, n_tables = re.subn(r'<table id="times">.*?</table>', "", texts["index.html"], flags=re.S)
    assert n_tables == 1
    return texts | {"index.html": page}


def test_small_run_writes_page_tables_and_values(tmp_path: Path) -> None:
    output = run(tmp_path / "new" / "out", *SMALL)
    out = tmp_path / "new" / "out"
    tables = {"pairs1", "pairs3", "table1", "table2", "shapes", "table3", "times", "choices"}
    assert {path.name for path in out.iterdir()} == {
        *(f"{name}.csv" for name in tables),
        *("index.html", "results.json", "results.jsonl"),
    }
    assert "Table III" in output
    assert "SLR Forest" in output
    assert str(out / "index.html") in output.splitlines()[-1]
    values = json.loads((out / "results.json").read_text())
    assert len(values["table1"]) == len(values["table3"]) == 4
    assert all(80 < entry["mean"] <= 100 for entry in values["table1"])
    assert len((out / "results.jsonl").read_text().splitlines()) == 2 * 2 * 4


def test_second_run_computes_nothing_and_a_fresh_one_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "a", *SMALL)
    run(tmp_path / "b", *SMALL)
    first = report(tmp_path / "a")
    assert first == report(tmp_path / "b")
    monkeypatch.setitem(runner.EXPERIMENTS, "contender", None)
    run(tmp_path / "a", *SMALL)
    assert report(tmp_path / "a") == first


def test_other_seed_is_another_report(tmp_path: Path) -> None:
    options = ("--datasets", "diabetes", "--contenders", "dt", "--only", "table3")
    run(tmp_path, *options)
    first = report(tmp_path)
    run(tmp_path, *options, "--seed", "5")
    assert report(tmp_path)["table3.csv"] != first["table3.csv"]
    run(tmp_path, *options)
    assert report(tmp_path) == first


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_stopped_run_goes_on_and_ends_as_if_never_stopped(
    stop: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--datasets", "iris", "--contenders", "dt,slm-baseline", "--only", "table1,table2")
    compute = runner.EXPERIMENTS["contender"]
    computed: list[runner.Unit] = []

    def stopping(unit: runner.Unit, folder: Path | None) -> dict[str, Any]:
        if len(computed) == 3 and not going_on:
            raise stop
        computed.append(unit)
        return compute(unit, folder)

    monkeypatch.setitem(runner.EXPERIMENTS, "contender", stopping)
    going_on = False
    stopped = invoke(tmp_path / "a", *options)
    assert stopped.exit_code == (130 if stop is KeyboardInterrupt else 1)
    assert not (tmp_path / "a" / "index.html").exists()
    going_on = True
    run(tmp_path / "a", *options)
    assert len(computed) == len(set(computed)) == 4
    run(tmp_path / "b", *options)
    assert report(tmp_path / "a") == report(tmp_path / "b")


def test_missing_set_is_left_out_in_one_line_and_the_rest_runs(tmp_path: Path) -> None:
    output = run(tmp_path, "--datasets", "iris,banknote", "--contenders", "dt", "--only", "table1")
    (line,) = [line for line in output.splitlines() if "left out" in line or "banknote" in line]
    assert line.startswith("banknote is left out")
    assert "--data-dir" in line
    assert {entry["data_set"] for entry in json.loads((tmp_path / "results.json").read_text())["table1"]} == {"iris"}
    page = (tmp_path / "index.html").read_text()
    assert f"<li>{escape(line)}</li>" in page
    assert re.search(r'class="banner">[^<]*1 of the sets[^<]* left out', page)


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"a,b\n1,2\n"), gzip.compress(b"a,target\nx,y\n"), b"a,target\n1,0\n", gzip.compress(b"a,t")[:-9]],
    ids=["no target", "no numbers", "not compressed", "cut off"],
)
def test_set_whose_file_has_another_form_is_left_out_and_the_rest_runs(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "banknote.csv.gz").write_bytes(content)
    options = ("--contenders", "dt", "--only", "table1", "--data-dir", str(tmp_path))
    output = run(tmp_path / "out", "--datasets", "iris,banknote", *options)
    assert len([line for line in output.splitlines() if line.startswith("banknote is left out")]) == 1
    assert (tmp_path / "out" / "index.html").exists()


def test_nothing_but_missing_sets_is_an_error_in_one_line_and_no_report(tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", "--datasets", "boston,pima", "--contenders", "dt")
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["pima", "boston"]
    (line,) = result.stderr.splitlines()
    assert "none of the sets" in line
    assert not (tmp_path / "out").exists()


def test_nothing_but_missing_sets_leaves_an_earlier_report_as_it_is(tmp_path: Path) -> None:
    run(tmp_path, "--datasets", "diabetes", "--contenders", "dt", "--only", "table3")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    order = Order(data_sets=("boston",), contenders=("dt",), parts=("table3",), out=tmp_path)
    with pytest.raises(MissingDataError, match="none of the sets can be had"):
        reproduce(order, Console(file=StringIO()))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_protocol_of_the_paper_is_labelled_everywhere(tmp_path: Path) -> None:
    output = run(tmp_path, *SMALL, "--protocol", "paper")
    page = (tmp_path / "index.html").read_text()
    notes = dict(
        zip(re.findall(r'<table id="(\w+)">', page), re.findall(r'<p class="note">(.*?)</p>', page, re.S), strict=True)
    )
    assert set(notes) == {"reached1", "reached3", "table1", "table2", "shapes", "table3", "times"}
    assert {name for name, note in notes.items() if "OPTIMISTIC" not in note} == {"times"}
    assert output.count("OPTIMISTIC") == 6
    assert re.search(r'class="banner warning">[^<]*OPTIMISTIC', page)


def test_two_protocols_in_one_folder_do_not_mix(tmp_path: Path) -> None:
    options = ("--datasets", "iris,diabetes", "--contenders", "dt,slm-baseline", "--only", "table1,table2,table3")
    run(tmp_path / "paper", *options, "--protocol", "paper")
    run(tmp_path / "both", *options)
    honest, paper = report(tmp_path / "both"), report(tmp_path / "paper")
    assert honest["table1.csv"] != paper["table1.csv"]
    for protocol, alone in (("paper", paper), ("honest", honest)):
        run(tmp_path / "both", *options, "--protocol", protocol)
        both = report(tmp_path / "both")
        assert {name: both[name] for name in alone} == alone


def test_tables_of_an_earlier_run_do_not_stay_beside_those_of_another_protocol(tmp_path: Path) -> None:
    options = ("--datasets", "iris", "--contenders", "dt,slm-baseline", "--only", "table1")
    run(tmp_path, *options)
    assert (tmp_path / "pairs1.csv").exists()
    run(tmp_path, *options, "--protocol", "paper")
    assert {path.stem for path in tmp_path.glob("*.csv")} == {"reached1", "table1", "times", "choices"}


def test_claims_are_judged_alike_by_a_fresh_run_and_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "N_SPLITS_QUICK", 1)
    options = ("--datasets", "iris,friedman-2", "--contenders", "dt,slm-baseline", "--only", "claims")
    output = run(tmp_path / "a", *options)
    assert "cannot be told" in output
    run(tmp_path / "b", *options)
    first = report(tmp_path / "a")
    assert first == report(tmp_path / "b")
    assert {"claims.csv", "root.csv", "svr.csv"} <= set(first)
    monkeypatch.setattr(runner, "EXPERIMENTS", {})  # nothing is computed again
    run(tmp_path / "a", *options)
    assert report(tmp_path / "a") == first


def test_figures_are_files_and_inside_the_page(tmp_path: Path) -> None:
    options = ("--datasets", "circle-and-ring", "--contenders", "slm-baseline", "--only", "fig2,fig4")
    run(tmp_path / "a", *options)
    assert {"fig2.svg", "fig4.svg"} <= {path.name for path in (tmp_path / "a" / "figures").iterdir()}
    page = (tmp_path / "a" / "index.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 2
    assert 'id="table1"' not in page


def test_contender_that_only_a_figure_needs_is_in_no_table(tmp_path: Path) -> None:
    run(tmp_path, "--datasets", "circle-and-ring,iris", "--contenders", "dt", "--only", "table1,table2,fig4")
    values = json.loads((tmp_path / "results.json").read_text())
    assert {entry["contender"] for name in ("table1", "table2") for entry in values[name]} == {"dt"}
    assert (tmp_path / "figures" / "fig4.svg").exists()
