"""The pictures of a report: which are drawn, what they carry, and which files they replace."""

import re
from pathlib import Path

import pytest

from reports import make_records
from sublearn.paper import search
from sublearn.paper.pictures import make_pictures
from sublearn.paper.plan import Order
from sublearn.paper.runner import Records
from sublearn.paper.tables import OPTIMISTIC

PLANES = ("circle-and-ring", "2-new-moons")


def order_for(out: Path, *parts: str, protocol: str = "honest") -> Order:
    return Order(protocol, True, parts=parts, out=out)


def planes(protocol: str) -> Records:
    return make_records({("slm-baseline", name): [0.8] for name in PLANES}, protocol)


def texts_of(svg: Path) -> str:
    """Letters are drawn as paths; what they say stands beside each text, line by line."""
    return " ".join(text.strip() for text in re.findall("<!--(.*?)-->", svg.read_text(encoding="utf-8"), re.S))


@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_picture_of_tuned_trees_warns_where_these_are_optimistic(protocol: str, tmp_path: Path) -> None:
    (picture,) = make_pictures(order_for(tmp_path, "fig4", protocol=protocol), planes(protocol))
    is_paper = protocol == "paper"
    assert "Circle-and-Ring" in texts_of(picture.svg)
    assert (OPTIMISTIC in texts_of(picture.svg)) == (OPTIMISTIC in picture.caption) == is_paper
    assert ("OPTIMISTIC" in picture.svg.read_text(encoding="utf-8")) == is_paper


def test_picture_of_the_other_protocol_is_replaced_or_goes_and_other_files_stay(tmp_path: Path) -> None:
    make_pictures(order_for(tmp_path, "fig4", protocol="paper"), planes("paper"))
    folder = tmp_path / "figures"
    assert {path.name for path in folder.iterdir()} == {"fig4.svg", "fig4.png"}
    (folder / "mine.svg").write_text("mine")
    make_pictures(order_for(tmp_path, "fig4"), planes("honest"))
    assert "OPTIMISTIC" not in (folder / "fig4.svg").read_text(encoding="utf-8")
    (picture,) = make_pictures(order_for(tmp_path, "fig2"), {})
    assert picture.svg == folder / "fig2.svg"
    assert {path.name for path in folder.iterdir()} == {"fig2.svg", "fig2.png", "mine.svg"}


def test_pictures_without_their_records_are_not_drawn(tmp_path: Path) -> None:
    assert make_pictures(order_for(tmp_path, "fig4", "fig5", "ablations", "table1"), {}) == []
    assert not (tmp_path / "figures").exists()
