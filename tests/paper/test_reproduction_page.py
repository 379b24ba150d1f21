"""docs/reproduction_tables.py: the page's tables have the numbers of a report, and all else stays."""

import csv
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from documents import ROOT
from reports import make_records, written
from sublearn.paper.contenders import PAIRS
from sublearn.paper.plan import Order

DOCS = ROOT / "docs"
PAGE = (DOCS / "reproduction.md").read_text("utf-8")
SCRIPT = SimpleNamespace(**runpy.run_path(str(DOCS / "reproduction_tables.py")))
MARK = re.compile(
    r"<!-- (\w+) (\w+): python docs/reproduction_tables.py -->\n\n(.*?)\n<!-- end of (\w+) (\w+) -->", re.S
)
NAMES = ("dt", "dt-tuned", *PAIRS, "rf", "xgboost")


def report(out: Path, protocol: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """All numbers of a small report, and its times."""
    scores = {(name, s): [0.5 + 0.01 * i, 0.61] for i, name in enumerate(NAMES) for s in ("iris", "wine", "boston")}
    shapes = {("dt", "iris"): (6, [1, 2, 4, 6]), ("slm-baseline", "iris"): (3, [1, 4, 2])}
    written(Order(protocol, out=out), make_records(scores, protocol, shapes=shapes))
    with (out / "times.csv").open(newline="") as file:
        return json.loads((out / "results.json").read_text()), list(csv.DictReader(file))


def tables_of(text: str) -> dict[tuple[str, str], str]:
    return {(protocol, name): body for protocol, name, body, *_ in MARK.findall(text)}


def test_marks_of_the_page_are_in_pairs_and_each_is_known() -> None:
    found = MARK.findall(PAGE)
    assert len(found) == PAGE.count("<!-- end of") == PAGE.count("python docs/reproduction_tables.py -->")
    assert all((protocol, name) == (again, same) for protocol, name, _, again, same in found)
    assert {name for _, name, *_ in found} <= {*SCRIPT.TABLES, "headline", "below", "times"}
    assert {name for protocol, name, *_ in found if protocol == "honest"} >= {"headline", "pairs1", "pairs3", "claims"}
    assert {name for protocol, name, *_ in found if protocol == "paper"} >= {"headline", "reached1", "table2", "claims"}


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_tables_of_one_protocol_are_renewed_and_all_else_stays(protocol: str, tmp_path: Path) -> None:
    results, times = report(tmp_path, protocol)
    text = SCRIPT.renewed(PAGE, results, times)
    assert MARK.sub("", text) == MARK.sub("", PAGE)
    before, after = tables_of(PAGE), tables_of(text)
    assert {key for key in before if before[key] != after[key]} == {key for key in before if key[0] == protocol}
    assert SCRIPT.renewed(text, results, times) == text


def test_numbers_are_those_of_the_report(tmp_path: Path) -> None:
    tables: dict[tuple[str, str], str] = {}
    for protocol in ("honest", "paper"):
        tables |= {
            key: body
            for key, body in tables_of(SCRIPT.renewed(PAGE, *report(tmp_path / protocol, protocol))).items()
            if key[0] == protocol
        }
    # means of 0.5 and 0.61, and of 0.52 and 0.61
    assert "| Iris | 56.50 / 55.50, p = " in tables["honest", "pairs1"]
    assert "SLM Baseline / DT tuned" in tables["honest", "pairs1"]
    assert "DT on 2 of 2, SLM Baseline on 2 of 2" in tables["honest", "below"]
    assert "| DT | 55.50" in tables["honest", "table1"]
    assert "(98.33)" in tables["honest", "table1"]
    assert re.search(r"\| DT tuned \| [\d.†*]+ \| [\d.†*]+ \|", tables["honest", "table1"])  # nothing is printed of it
    assert (
        "| SLR Baseline, Boston | 4.42 | 0.56 | 0.52 to 0.61 | 2 of 2 | surpassed | yes |"
        in tables["paper", "reached3"]
    )
    assert "| Iris | 10 (34)" in tables["paper", "table2"]
    assert "3.0 / 6.0 / 13.0 / 3.2" in tables["paper", "shapes"]
    assert "of 9 cells of SLM" in tables["paper", "headline"]
    assert "| does not hold |" in tables["paper", "claims"] or "| cannot be told |" in tables["paper", "claims"]


def test_quick_report_is_refused(tmp_path: Path) -> None:
    results, times = report(tmp_path, "honest")
    with pytest.raises(ValueError, match="quick report"):
        SCRIPT.renewed(PAGE, {**results, "quick": True}, times)
