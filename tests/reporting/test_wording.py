"""Numbers, shares and values as people read them."""

import math

import pytest

from sublearn._base.frames import DATES, DURATIONS, TIMES
from sublearn.reporting.markup import Markup, element, joined
from sublearn.reporting.plot import Axis, round_step, span
from sublearn.reporting.wording import in_hundred, listed, number_text, share_text, value_text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2016.0, "2016"),
        (1234567.0, "1,234,567"),
        (-12.3456, "−12.35"),
        (0.00123456, "0.001235"),
        (9.9999, "10"),
        (1e-7, "1e−07"),
        (3e18, "3e+18"),
        (math.nan, "–"),
    ],
)
def test_numbers_have_few_digits(x: float, text: str) -> None:
    assert number_text(x) == text


def test_shares_near_the_ends_are_not_rounded_to_them() -> None:
    assert [share_text(x) for x in (0, 0.0001, 0.005, 0.5, 0.987, 0.9999, 1)] == [
        "0 %",
        "under 0.1 %",
        "0.5 %",
        "50 %",
        "98.7 %",
        "over 99.9 %",
        "100 %",
    ]
    assert [in_hundred(x) for x in (0, 0.0001, 0.25, 0.996, 0.99999, 1)] == [
        "0 of 100",
        "under 0.1 of 100",
        "25 of 100",
        "99.6 of 100",
        "over 99.9 of 100",
        "100 of 100",
    ]


def test_values_are_shown_as_what_they_were() -> None:
    assert value_text(86400.0 * 366, DATES) == "1971-01-02"
    assert value_text(3600.0, DATES) == "1970-01-01 01:00"
    assert value_text(-86400.0, DATES) == "1969-12-31"
    assert value_text(1e30, DATES) == "1e+30"
    assert value_text(45296.0, TIMES) == "12:34:56"
    assert value_text(172800.0, DURATIONS) == "2 days"
    assert value_text(math.nan, None) == "missing"
    assert listed("abcdef", 4) == "a, b, c, d and 2 more"


def test_markup_escapes_what_is_not_markup() -> None:
    assert element("p", "<b>", element("i", "&"), title='"') == '<p title="&quot;">&lt;b&gt;<i>&amp;</i></p>'
    assert joined(None, ["a", Markup("<br/>")], "\x00\ud800\n") == "a<br/>\ufffd\ufffd "
    assert element("line", x1=1.23456, aria_hidden="true", hidden=False, open=True) == (
        '<line x1="1.23" aria-hidden="true" open/>'
    )


def test_ticks_are_round_and_on_the_axis() -> None:
    assert [round_step(x) for x in (0.11, 1.0, 1.1, 3.0, 7.0, 11.0)] == [0.2, 1.0, 2.0, 5.0, 10.0, 20.0]
    axis = Axis(-3.0, 17.0, 0.0, 200.0)
    assert axis.ticks() == [0.0, 5.0, 10.0, 15.0]
    assert axis.at(7.0) == 100.0
    low, high = span([5.0, 5.0])
    assert low < 5 < high
    assert span([math.nan]) == (-0.04, 1.04)
