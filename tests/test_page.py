"""The page: well-formed, complete in itself, and text stays text; and what is written beside it."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports import make_records
from sublearn.paper.page import Picture, Section, page
from sublearn.paper.plan import Order
from sublearn.paper.report import make_sheets, write_report
from sublearn.paper.runner import Records
from sublearn.paper.sheets import Cell, Sheet

VOID = {"meta", "link", "img", "br", "hr", "input"}
NASTY = "<script>alert('x')</script> & \"quoted\" <b"
SCORES = {(name, data_set): [0.5, 0.6] for name in ("dt", "slm-baseline") for data_set in ("iris", "wine", "boston")}


class Checker(HTMLParser):
    """Reads a page, fails where a tag is not closed in its turn, and collects what is in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.bold: list[str] = []
        self.cells: dict[str, int] = {}  # of each table
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("href", "src", "srcset", "action"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        if tag == "td":
            self.cells[self.ids[-1]] = self.cells.get(self.ids[-1], 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data)
        if self.open[-1:] == ["b"]:
            self.bold.append(data)


def nasty_page(tmp_path: Path) -> str:
    svg = tmp_path / "any.svg"
    svg.write_text('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    cells = [Cell((NASTY, NASTY), is_best=True), Cell(("1",), is_alarming=True)]
    sheet = Sheet("table1", NASTY, NASTY, ["", NASTY, "b"], [(NASTY, cells), ("second", cells)], {0}, [])
    sections = [Section(NASTY, [NASTY], [NASTY], [sheet], [Picture(NASTY, NASTY, svg)]), Section("Empty")]
    return page(NASTY, NASTY, True, sections)


def written(order: Order, records: Records) -> str:
    write_report(order, make_sheets(order, records), [])
    return (order.out / "index.html").read_text(encoding="utf-8")


def order_for(out: Path, protocol: str = "honest") -> Order:
    return Order(protocol, True, contenders=("dt", "slm-baseline"), out=out)


def test_page_is_well_formed_and_text_stays_text(tmp_path: Path) -> None:
    found = Checker(nasty_page(tmp_path))
    assert "script" not in found.tags
    # title, heading, banner and link; section; table, its label and cells; picture
    assert found.texts.count(NASTY) == 4 + 3 + 3 + 1 + 4 + 2
    assert found.bold == [NASTY, NASTY]
    assert found.cells == {"table1": 4}


def test_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = nasty_page(tmp_path)
    found = Checker(text)
    assert not re.search(r"https?://|url\(|@import", text)
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert sum(link.startswith("data:image/svg+xml;base64,") for link in found.links) == 1
    assert len(set(found.ids)) == len(found.ids)


def test_banner_of_an_optimistic_report_is_a_warning(tmp_path: Path) -> None:
    honest = written(order_for(tmp_path / "honest"), make_records(SCORES))
    paper = written(order_for(tmp_path / "paper", "paper"), make_records(SCORES, "paper"))
    banner = re.compile(r'<p class="(banner[^"]*)">(.*?)</p>', re.S)
    (style, said) = banner.findall(paper)[0]
    assert (style, "OPTIMISTIC" in said) == ("banner warning", True)
    (style, said) = banner.findall(honest)[0]
    assert (style, "OPTIMISTIC" in honest, "honest" in said) == ("banner", False, True)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_report_is_complete(protocol: str, tmp_path: Path) -> None:
    found = Checker(written(order_for(tmp_path, protocol), make_records(SCORES, protocol)))
    claims = ["pairs1", "pairs3"] if protocol == "honest" else ["reached1", "reached3"]
    tables = {*claims, "table1", "table2", "table3", "times"}
    assert tables <= set(found.ids)
    assert found.cells["table1"] == 4
    assert {path.name for path in tmp_path.glob("*.csv")} == {f"{name}.csv" for name in tables}
    assert all(found.texts.count(word) for word in ("SLM Baseline", "SLR Baseline", "Iris", "Boston"))


def test_numbers_of_the_files_are_those_of_the_tables(tmp_path: Path) -> None:
    order, records = order_for(tmp_path), make_records(SCORES)
    written(order, records)
    plain = json.loads((tmp_path / "results.json").read_text())
    assert plain["protocol"] == "honest"
    assert plain["seeds"] == list(order.seeds)
    for sheet in make_sheets(order, records):
        with (tmp_path / f"{sheet.name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows == [{k: "" if v is None else str(v) for k, v in entry.items()} for entry in sheet.entries]
        if not sheet.is_timing:
            assert plain[sheet.name] == sheet.entries
    assert "times" not in plain


def test_times_are_nowhere_but_in_their_table_and_file(tmp_path: Path) -> None:
    texts = []
    for name, seconds in (("fast", 1.0), ("slow", 1000.0)):
        written(order_for(tmp_path / name), make_records(SCORES, seconds=seconds))
        files = sorted(path for path in (tmp_path / name).iterdir() if path.name != "times.csv")
        texts.append([re.sub(r'<table id="times">.*?</table>', "", path.read_text(), flags=re.S) for path in files])
    assert texts[0] == texts[1]


def test_order_of_the_records_does_not_change_the_report(tmp_path: Path) -> None:
    records = make_records(SCORES)
    first = written(order_for(tmp_path), records)
    assert written(order_for(tmp_path), dict(reversed(records.items()))) == first


def test_report_says_what_was_searched_and_where_the_paper_contradicts_itself(tmp_path: Path) -> None:
    said = " ".join(Checker(written(order_for(tmp_path), make_records(SCORES))).texts)
    for word in ("subspace_size", "97.23 (SLM Baseline, B.C.W.)", "461", "256"):
        assert word in said
    assert "learning_rate" not in said  # of a contender that was not asked for


def test_empty_report_is_a_page_too(tmp_path: Path) -> None:
    assert "table" not in Checker(written(order_for(tmp_path), {})).tags
