"""Tables, time left and progress on the terminal."""

import re
from functools import cache
from io import StringIO

import pytest
from rich.console import Console

from reports import make_records
from sublearn.paper.contenders import PAIRS, of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.plan import Order
from sublearn.paper.report import make_sheets
from sublearn.paper.runner import Record, Unit
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.terminal import Forecast, progress, show_sheet

UNITS = [Unit("contender", "honest", False, "iris", name, seed) for seed in range(3) for name in ("dt", "rf")]


@cache
def full_report(protocol: str) -> list[Sheet]:
    """All tables of all sets, as wide as they come."""
    scores = {
        (contender, name): [0.8123, 1.0] if source.is_classes else [98.12, 138.43]
        for name, source in SOURCES.items()
        for contender in of_table(source.is_classes)
    }
    sizes = dict.fromkeys(scores, (12345, 15))
    return make_sheets(Order(protocol), make_records(scores, protocol, sizes=sizes))


def shown(sheet: Sheet, width: int) -> str:
    file = StringIO()
    show_sheet(Console(width=width, file=file), sheet)
    return file.getvalue()


def words_of(sheet: Sheet) -> list[str]:
    texts = [*sheet.header, *(label for label, _ in sheet.rows)]
    texts += [line for _, cells in sheet.rows for cell in cells for line in cell.lines]
    return words(" ".join(texts))


def words(text: str) -> list[str]:
    return [word.strip(":") for word in text.split()]


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_width_loses_or_cuts_a_word_of_a_table(width: int, protocol: str) -> None:
    for sheet in full_report(protocol):
        text = shown(sheet, width)
        assert "…" not in text, sheet.name
        assert set(words_of(sheet)) <= {*words(text), "claim"}, sheet.name  # which is plain in a list of claims
        assert set(words(sheet.note)) <= set(words(text)), sheet.name
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [20, 40, 300])
def test_every_column_is_shown_once_in_its_order_with_all_rows(width: int) -> None:
    titles = [f"c{i}" for i in range(11)]
    rows = [(label, [Cell((f"{label}{i}",)) for i in range(11)]) for label in ("r", "s")]
    text = shown(Sheet("any", "Title", "note", ["", *titles], rows, {0}, []), width)
    assert re.findall(r"\bc\d+", text) == titles
    for label in ("r", "s"):
        assert re.findall(rf"\b{label}\d+", text) == [f"{label}{i}" for i in range(11)]
    assert text.count("Title") == 1
    n_parts = text.count("┏")  # one below the other, each with its labels
    assert len(re.findall(r"│ r +│", text)) == n_parts
    assert (n_parts > 1) == (width < 300)


def test_best_is_bold_and_alarming_is_red() -> None:
    file = StringIO()
    console = Console(width=80, file=file, force_terminal=True, color_system="standard")
    cells = [Cell(("1.0", "small"), is_best=True), Cell(("2.0",), is_alarming=True), Cell(("3.0",))]
    show_sheet(console, Sheet("any", "Title", "note", ["", "a", "b", "c"], [("row", cells)], set(), []))
    text = file.getvalue()
    assert "\x1b[1m1.0\x1b[0m" in text
    assert "\x1b[31m2.0\x1b[0m" in text
    assert "\x1b[2msmall\x1b[0m" in text
    assert re.search(r" 3\.0 ", text)


def test_forecast_is_silent_until_something_is_done() -> None:
    assert Forecast(UNITS, 1).seconds_left() is None


def test_time_left_is_that_of_the_same_contender_and_else_the_usual_one() -> None:
    forecast = Forecast(UNITS, 1)
    forecast.note(UNITS[0], Record({}, 1.0))  # a decision tree; of it two are left, and three forests are unknown
    assert forecast.seconds_left() == pytest.approx(5 * 1.0)
    forecast.note(UNITS[1], Record({}, 10.0))
    assert forecast.seconds_left() == pytest.approx(2 * 1.0 + 2 * 10.0)
    forecast.note(UNITS[2], Record({}, 2.0))
    assert forecast.seconds_left() == pytest.approx(1 * 1.5 + 2 * 10.0)


def test_contenders_not_yet_seen_take_the_mean_of_the_kinds_seen() -> None:
    other = UNITS[0]._replace(data_set="wine")
    forecast = Forecast([*UNITS[:3], other], 1)
    for unit, seconds in zip(UNITS, (1.0, 10.0, 3.0), strict=False):
        forecast.note(unit, Record({}, seconds))
    assert forecast.seconds_left() == pytest.approx((2.0 + 10.0) / 2)  # not the mean of the three units


def test_jobs_share_the_time_left_and_at_the_end_there_is_none() -> None:
    forecast = Forecast(UNITS, 4)
    for unit in UNITS[:-1]:
        forecast.note(unit, Record({}, 8.0))
    assert forecast.seconds_left() == pytest.approx(2.0)
    forecast.note(UNITS[-1], Record({}, 8.0))
    assert forecast.seconds_left() == 0.0


@pytest.mark.parametrize(("seconds", "said"), [(10.0, "about 50 s left"), (60.0, "about 5 min left")])
def test_bar_counts_units_and_says_the_time_left(seconds: float, said: str) -> None:
    file = StringIO()
    with progress(Console(width=100, file=file), UNITS, 1) as done:
        done(UNITS[0], Record({}, seconds))
    (line,) = file.getvalue().splitlines()  # no terminal, so the bar is shown in the end
    for word in ("1 of 6", said, "iris, dt"):
        assert word in line


def test_every_slm_has_a_row_of_its_own_in_the_verdict() -> None:
    (sheet,) = [sheet for sheet in full_report("paper") if sheet.name == "reached1"]
    assert len(sheet.rows) == 9 * len(PAIRS)
