"""The page: well-formed, complete in itself, and text stays text; and what it says of how it was made."""

import re
from html import unescape
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

import pytest

import sublearn
from reports import make_records, written
from sublearn.paper import BOOST_CLASSES, FOREST_CLASSES, PARAMETERS, search
from sublearn.paper.contenders import CONTENDERS, of_table
from sublearn.paper.method import QUICK_TRIALS
from sublearn.paper.page import Picture, Section, page
from sublearn.paper.plan import N_SPLITS, Order
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.versions import VERSIONS

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


def items_of(text: str, title: str) -> list[str]:
    """The list of one section."""
    (items,) = re.findall(rf"<h2>{title}</h2>\n<ul>(.*?)</ul>", text, re.S)
    return [unescape(item) for item in re.findall("<li>(.*?)</li>", items, re.S)]


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
    tables = {*claims, "table1", "table2", "table3", "claims", "times"}
    assert tables <= set(found.ids)
    assert found.cells["table1"] == 4
    assert all(found.texts.count(word) for word in ("SLM Baseline", "SLR Baseline", "Iris", "Boston"))


def test_order_of_the_records_does_not_change_the_report(tmp_path: Path) -> None:
    records = make_records(SCORES)
    first = written(order_for(tmp_path), records)
    assert written(order_for(tmp_path), dict(reversed(records.items()))) == first


def test_report_says_what_was_searched_and_with_which_versions(tmp_path: Path) -> None:
    made = items_of(written(order_for(tmp_path), make_records(SCORES)), "How this was made")
    assert any("subspace_size" in item for item in made)
    assert not any(item.startswith("XGBoost, ") for item in made)  # a contender that was not asked for
    (versions,) = [item for item in made if item.startswith("Versions")]
    assert {"sublearn", "scikit-learn", "numpy", "xgboost"} <= set(VERSIONS)
    assert f"sublearn {sublearn.__version__}" in versions
    assert all(f"{name} {version(name)}" in versions for name in ("scikit-learn", "numpy"))
    assert f"xgboost {VERSIONS['xgboost']}" in versions


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("is_classes", [True, False])
def test_every_value_that_is_tried_is_on_the_page(is_classes: bool, quick: bool, tmp_path: Path) -> None:
    made = items_of(written(Order(quick=quick, out=tmp_path), {}), "How this was made")
    untold = []
    for name in of_table(is_classes):
        title = CONTENDERS[name].name(is_classes)
        said = " ".join(item for item in made if item.startswith(f"{title}, "))
        for setting in search.settings(name, "honest", quick):
            for parameter, value in setting.items():
                if not re.search(rf"\b{parameter}\b[^;]*? {re.escape(str(value))}\b(?!\.\d)", said):
                    untold.append((title, parameter, value))
    assert untold == []


def test_report_says_where_the_paper_contradicts_itself(tmp_path: Path) -> None:
    said = items_of(written(order_for(tmp_path), make_records(SCORES)), "The paper&#x27;s inconsistencies")
    assert all(any(word in item for item in said) for word in ("461", "256"))
    (impossible,) = [item for item in said if "97.23" in item]
    assert re.findall(r"[\d.]+ \([^)]*\)", impossible) == [
        "97.23 (SLM Baseline, B.C.W.)",
        "79.00 (RF, Pima)",
        "79.00 (SLM Forest, Pima)",
        "95.71 (SLM Forest, Ionosphere)",
        "98.83 (SLM Boost, B.C.W.)",
    ]


def test_report_describes_the_presets_as_they_are(tmp_path: Path) -> None:
    made = items_of(written(order_for(tmp_path), make_records(SCORES)), "How this was made")
    (said,) = [item for item in made if "settings of sublearn.paper" in item]
    for preset in (PARAMETERS, FOREST_CLASSES, BOOST_CLASSES):
        assert not [name for name, value in preset.items() if f"{name} {value}" not in said]


def test_printed_splits_of_decision_trees_are_held_against_our_nodes(tmp_path: Path) -> None:
    records = make_records(SCORES, shapes={("dt", "iris"): (6, [1, 2, 4, 6])})
    for shown, ours in ((records, "13 for 17 on Iris"), (make_records(SCORES), "")):
        text = written(order_for(tmp_path), shown)
        (said,) = [item for item in items_of(text, "The paper&#x27;s inconsistencies") if "are odd" in item]
        assert "(175, 143, 149, 17, 13, 27, 65, 25, 39)" in said
        assert "smaller model on 4 of 9 sets, and not on 6 as printed" in said
        assert ours in said
        assert ("Our trees" in said) == bool(ours)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_verdict_on_pairs_says_that_a_decision_tree_is_not_tuned(protocol: str, tmp_path: Path) -> None:
    text = written(order_for(tmp_path, protocol), make_records(SCORES, protocol))
    notes = [note for note in re.findall(r'<p class="note">(.*?)</p>', text, re.S) if "DT is not tuned" in note]
    assert len(notes) == (2 if protocol == "honest" else 0)


def test_sets_that_are_left_out_are_counted_in_the_banner_and_named_below(tmp_path: Path) -> None:
    lines = ("pima is left out: no <file>", "boston is left out: no network")
    text = written(order_for(tmp_path)._replace(left_out=lines), make_records(SCORES))
    (banner,) = re.findall(r'<p class="banner">(.*?)</p>', text, re.S)
    assert "2 of the sets that were asked for are left out" in banner
    assert items_of(text, "How this was made")[:2] == list(lines)
    whole = written(order_for(tmp_path), make_records(SCORES))
    assert "left out;" not in re.findall(r'<p class="banner">(.*?)</p>', whole, re.S)[0]
    assert "pima" not in whole


def test_banner_of_a_quick_report_says_what_it_is_of(tmp_path: Path) -> None:
    order = order_for(tmp_path)._replace(quick=True, data_sets=("iris", "boston"), parts=("table1",))
    records = make_records(SCORES)
    (banner,) = re.findall(r'<p class="banner">(.*?)</p>', written(order, records), re.S)
    assert f"A quick run: 2 of 15 sets, {len(order.seeds)} splits instead of {N_SPLITS}" in banner
    assert "ensembles have one setting, and are not searched" in banner
    assert "claims of the paper&#x27;s text are not judged" in banner
    assert QUICK_TRIALS in items_of(written(order, records), "How this was made")
    assert "not judged" not in written(order._replace(parts=("claims",)), records)
    assert "quick run" not in written(order._replace(quick=False), records)


def test_empty_report_is_a_page_too(tmp_path: Path) -> None:
    assert "table" not in Checker(written(order_for(tmp_path), {})).tags
