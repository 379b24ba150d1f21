"""What the report claims: which printed values are reached, and whether SLM is better than its peers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reports import make_records
from sublearn.paper.claims import pair_sheet, reached_sheet
from sublearn.paper.contenders import PAIRS
from sublearn.paper.plan import Order
from sublearn.paper.report import make_sheets, write_report
from sublearn.paper.sheets import Sheet
from sublearn.paper.tables import OPTIMISTIC, Scores, collect_scores

BASELINE, FOREST, BOOST = PAIRS
N_SETTINGS = dict.fromkeys(PAIRS, 17)
NOISE = [-0.001, 0.002, -0.003, 0.001, 0.002, -0.001]  # of mean 0

Given = Mapping[tuple[str, str], Sequence[float]]


def scores_of(given: Given, is_classes: bool, protocol: str, n_test: int = 60) -> Scores:
    scores = collect_scores(make_records(given, protocol, n_test=n_test), is_classes)
    assert scores is not None
    return scores


def reached(given: Given, is_classes: bool = True, n_test: int = 60) -> Sheet:
    sheet = reached_sheet(scores_of(given, is_classes, "paper", n_test), N_SETTINGS)
    assert sheet is not None
    return sheet


def entry_of(data_set: str, values: Sequence[float], is_classes: bool, contender: str = BASELINE) -> dict[str, Any]:
    (entry,) = reached({(contender, data_set): values}, is_classes).entries
    return entry


def compared(given: Given, is_classes: bool = True) -> Sheet:
    sheet = pair_sheet(scores_of(given, is_classes, "honest"))
    assert sheet is not None
    return sheet


@pytest.mark.parametrize(
    ("n_right", "verdict"),
    [
        ((54, 60), "within"),
        ((59, 59), "within"),
        ((50, 58), "within"),
        ((50, 57), "missed"),
        ((60, 60), "within"),
    ],
)
def test_accuracy_is_reached_within_the_range_and_one_test_sample(n_right: tuple[int, int], verdict: str) -> None:
    entry = entry_of("iris", [n / 60 for n in n_right], True)  # printed: 98.33, that is 59 of 60
    assert entry["verdict"] == verdict
    assert (entry["lowest"], entry["highest"]) == pytest.approx([100 * n / 60 for n in n_right])


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((2.7, 3.0), "within"),
        ((2.894, 3.0), "within"),
        ((2.896, 3.0), "missed"),
        ((2.7, 2.886), "within"),
        ((2.7, 2.884), "surpassed"),
    ],
)
def test_error_is_reached_within_the_range_and_half_a_digit(values: tuple[float, float], verdict: str) -> None:
    assert entry_of("friedman-1", values, False)["verdict"] == verdict  # printed: 2.89


def test_place_of_the_printed_value_and_of_our_mean() -> None:
    entry = entry_of("iris", [0.9, 59 / 60, 1.0, 1.0], True)
    assert (entry["n_at_least_as_good"], entry["n_splits"], entry["mean_is_no_worse"]) == (3, 4, False)
    assert entry_of("iris", [59 / 60, 1.0], True)["mean_is_no_worse"]
    entry = entry_of("friedman-1", [2.5, 2.894, 2.896], False)
    assert (entry["n_at_least_as_good"], entry["n_splits"], entry["mean_is_no_worse"]) == (2, 3, True)
    assert not entry_of("friedman-1", [2.5, 3.4], False)["mean_is_no_worse"]


def test_value_out_of_reach_is_named_with_what_was_tried() -> None:
    sheet = reached({(FOREST, "iris"): [0.9, 0.9, 0.9], (FOREST, "wine"): [1.0, 1.0, 1.0]})
    assert [entry["verdict"] for entry in sheet.entries] == ["missed", "within"]
    assert "Of 2 printed values 1 lie within" in sheet.note
    assert "1 are missed" in sheet.note
    (sentence,) = [one for one in sheet.note.split(". ") if "Missed" in one]
    for word in ("SLM Forest", "Iris", "98.33", "better", "3 splits", "17 settings"):
        assert word in sentence
    assert "Wine" not in sentence
    assert OPTIMISTIC in sheet.note


def test_value_that_all_splits_beat_is_surpassed_and_not_missed() -> None:
    for given, is_classes in (({(FOREST, "pima"): [1.0, 1.0]}, True), ({(FOREST, "boston"): [1.0, 1.1]}, False)):
        sheet = reached(given, is_classes)
        assert [entry["verdict"] for entry in sheet.entries] == ["surpassed"]
        assert "1 are surpassed on every split" in sheet.note
        assert "Missed" not in sheet.note


def test_row_shows_what_the_verdict_rests_on() -> None:
    sheet = reached({(BASELINE, "breast-cancer"): [0.9, 1.0]}, n_test=228)
    ((label, cells),) = sheet.rows
    assert label == "SLM Baseline, B.C.W."
    # 97.23 is no multiple of one test sample of 228
    assert [cell.lines for cell in cells[:4]] == [("97.23*",), ("95.00",), ("90.00 to 100.00",), ("1 of 2",)]
    assert [cell.lines[0] for cell in cells[4:]] == ["within", "no"]
    assert [cell.is_alarming for cell in cells[4:]] == [False, False]
    assert len(sheet.header) == len(cells) + 1


def test_only_slm_is_asked_to_reach_the_paper_and_groups_are_set_apart() -> None:
    sheet = reached({(name, "iris"): [0.9] for name in ("dt", BASELINE, "rf", FOREST)})
    assert [entry["contender"] for entry in sheet.entries] == [BASELINE, FOREST]
    assert sheet.breaks == {0}


def test_report_of_the_paper_s_protocol_without_slm_has_tables_and_no_verdict(tmp_path: Path) -> None:
    order = Order("paper", True, data_sets=("iris",), contenders=("dt", "rf"), parts=("table1",), out=tmp_path)
    records = make_records({("dt", "iris"): [0.9], ("rf", "iris"): [0.9]}, "paper")
    sheets = make_sheets(order, records)
    write_report(order, records, sheets, [])
    assert [sheet.name for sheet in sheets] == ["table1", "times"]
    assert (tmp_path / "index.html").exists()


def test_better_in_the_mean_over_sets() -> None:
    sheet = compared(
        {
            (BASELINE, "iris"): [0.9, 1.0],
            ("dt", "iris"): [0.8, 0.9],
            (BASELINE, "wine"): [0.8, 0.9],
            ("dt", "wine"): [0.8, 0.94],
        }
    )
    assert "SLM Baseline is better than DT" in sheet.note
    assert "2 sets" in sheet.note
    (_, [cell]) = sheet.rows[0]
    assert cell.lines[0] == "95.00 / 85.00"
    assert "+10.00" in cell.lines[1]
    label, [mean] = sheet.rows[-1]
    assert (label, mean.lines) == ("mean", ("90.00 / 86.00",))
    assert sheet.breaks == {1}  # the line above the mean


@pytest.mark.parametrize("theirs", [[0.9, 1.0], [0.95, 1.0]])
def test_equal_or_worse_in_the_mean_is_not_better(theirs: list[float]) -> None:
    assert "NOT better" in compared({(BASELINE, "iris"): [0.9, 1.0], ("dt", "iris"): theirs}).note


@pytest.mark.parametrize(
    ("is_classes", "data_set", "title", "by"), [(True, "wine", "Wine", "10.00"), (False, "boston", "Boston", "0.10")]
)
@pytest.mark.parametrize("is_worse", [True, False])
def test_sets_on_which_slm_is_significantly_worse_are_named_with_by_how_much(
    is_classes: bool, data_set: str, title: str, by: str, is_worse: bool
) -> None:
    ours, theirs = (0.8, 0.9) if is_classes == is_worse else (0.9, 0.8)
    sheet = compared(
        {(BASELINE, data_set): [ours + x for x in NOISE], ("dt", data_set): [theirs - x for x in NOISE]}, is_classes
    )
    (entry,) = sheet.entries
    assert entry["is_significantly_worse"] == is_worse
    assert entry["p_value"] < 0.05
    assert entry["difference"] == pytest.approx((ours - theirs) * (100 if is_classes else 1))
    assert sheet.rows[0][1][0].is_alarming == is_worse
    said = sheet.note.partition("significantly worse on")[2]
    assert (title in said) == (by in said) == is_worse


@pytest.mark.parametrize(("data_set", "is_certain"), [("wine", False), ("4-new-moons", True)])
def test_difference_on_samples_drawn_anew_is_tested_without_correction(data_set: str, is_certain: bool) -> None:
    # differences of mean -2 and deviation 1: t = 3.46 with 2 degrees of freedom, corrected 2
    given = {(BASELINE, data_set): [0.87, 0.88, 0.89], ("dt", data_set): [0.9] * 3}
    (entry,) = compared(given).entries
    assert entry["p_value"] == pytest.approx(0.0742 if is_certain else 0.1835, abs=1e-4)


def test_verdict_says_that_a_decision_tree_is_not_tuned() -> None:
    both = {(name, "iris"): [0.9, 1.0] for name in (BASELINE, "dt", FOREST, "rf")}
    assert "DT is not tuned" in compared(both).note
    assert "tuned" not in compared({key: both[key] for key in both if key[0] in (FOREST, "rf")}).note


def test_baseline_is_compared_with_both_decision_trees_each_by_itself() -> None:
    given = {(name, "wine"): [share + x for x in NOISE] for name, share in ((BASELINE, 0.85), ("dt", 0.8))}
    sheet = compared({**given, ("dt-tuned", "wine"): [0.9 - x for x in NOISE]})
    assert sheet.header == ["", "SLM Baseline / DT", "SLM Baseline / DT tuned"]
    assert "SLM Baseline is better than DT in the mean over one set, and significantly worse on none." in sheet.note
    assert "SLM Baseline is NOT better than DT tuned" in sheet.note
    assert "significantly worse on Wine (by 5.00)" in sheet.note
    assert "which the paper has not" in sheet.note


def test_worse_by_chance_is_not_named() -> None:
    sheet = compared({(BASELINE, "wine"): [0.8, 1.0, 0.9], ("dt", "wine"): [1.0, 0.9, 0.81]})
    assert sheet.entries[0]["difference"] < 0
    assert not sheet.entries[0]["is_significantly_worse"]
    assert "Wine" not in sheet.note
    assert "NOT better" in sheet.note


def test_errors_of_several_sets_are_compared_by_the_geometric_mean_of_their_ratios() -> None:
    given = {(BASELINE, "friedman-1"): [2.0], ("dt", "friedman-1"): [1.0], (BASELINE, "friedman-2"): [10.0]}
    sheet = compared({**given, ("dt", "friedman-2"): [80.0]}, is_classes=False)
    assert sheet.rows[-1][1][0].lines == ("0.500",)  # sqrt(2 / 8)
    assert "SLR Baseline is better" in sheet.note
    sheet = compared({**given, ("dt", "friedman-2"): [20.0]}, is_classes=False)
    assert sheet.rows[-1][1][0].lines == ("1.000",)  # where the mean of ratios is 1.25
    assert "NOT better" in sheet.note


def test_each_slm_has_its_own_peer_and_those_without_are_left_out() -> None:
    names = [BASELINE, "dt", FOREST, BOOST, "xgboost", "svm-rbf"]  # a random forest is missing
    sheet = compared({(name, "iris"): [0.9, 1.0] for name in names})
    assert sheet.header == ["", "SLM Baseline / DT", "SLM Boost / XGBoost"]
    assert [(entry["slm"], entry["peer"]) for entry in sheet.entries] == [(BASELINE, "dt"), (BOOST, "xgboost")]
    assert all(len(cells) == 2 for _, cells in sheet.rows)


def test_no_pair_no_comparison() -> None:
    assert pair_sheet(scores_of({("dt", "iris"): [0.9], (FOREST, "iris"): [0.9]}, True, "honest")) is None


def test_comparisons_are_honest_and_reaching_is_optimistic() -> None:
    given = {(name, data_set): [0.5, 0.6] for name in (BASELINE, "dt") for data_set in ("iris", "boston")}
    for protocol, expected in (
        ("honest", ["pairs1", "table1", "table2", "pairs3", "table3", "claims", "times"]),
        ("paper", ["reached1", "table1", "table2", "reached3", "table3", "claims", "times"]),
    ):
        sheets = make_sheets(Order(protocol, contenders=(BASELINE, "dt")), make_records(given, protocol))
        assert [sheet.name for sheet in sheets] == expected
        labelled = {sheet.name for sheet in sheets if "OPTIMISTIC" in sheet.note}
        assert labelled == (set(expected) - {"times"} if protocol == "paper" else set())
