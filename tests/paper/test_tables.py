"""Tables I, II and III from records made by hand."""

import re

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from reports import make_records
from sublearn.paper.contenders import of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.printed import ACCURACY
from sublearn.paper.runner import Record, Records, Unit
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.significance import corrected_p_value
from sublearn.paper.tables import OPTIMISTIC, Scores, collect_scores, score_sheet, size_sheet, time_sheet

BASELINE, FOREST = "slm-baseline", "slm-forest"
IRIS = {("dt", "iris"): [0.9, 0.95, 1.0], (BASELINE, "iris"): [0.95, 0.975, 1.0]}  # printed: 98.33 for both


def scores_of(records: Records, is_classes: bool = True) -> Scores:
    scores = collect_scores(records, is_classes)
    assert scores is not None
    return scores


def table(records: Records, is_classes: bool = True) -> Sheet:
    return score_sheet(scores_of(records, is_classes))


def cells_of(sheet: Sheet) -> dict[tuple[str, str], Cell]:
    """By row and column as they are titled."""
    return {
        (label, title): cell for label, cells in sheet.rows for title, cell in zip(sheet.header[1:], cells, strict=True)
    }


def figures(cell: Cell) -> list[str]:
    """What is in a cell, whatever stands between the printed number and the difference."""
    return [part for line in cell.lines for part in re.split(r"[,()]+ ?| (?=[(])", line) if part.strip()]


def test_cell_has_mean_and_deviation_and_below_them_the_printed_number_and_the_difference() -> None:
    cells = cells_of(table(make_records(IRIS)))
    assert figures(cells["DT", "Iris"]) == ["95.00 ± 5.00", "98.33", "-3.33"]
    assert figures(cells["SLM Baseline", "Iris"]) == ["97.50 ± 2.50", "98.33", "-0.83"]
    entry = table(make_records(IRIS)).entries[0]
    assert (entry["contender"], entry["data_set"], entry["n_splits"]) == ("dt", "iris", 3)
    assert [entry[name] for name in ("mean", "deviation", "lowest", "highest", "paper", "difference")] == pytest.approx(
        [95.0, 5.0, 90.0, 100.0, 98.33, -3.33]
    )


def test_optimistic_cell_has_the_range_and_the_place_of_the_printed_number_among_the_splits() -> None:
    cells = cells_of(table(make_records({("dt", "iris"): [0.9, 59 / 60, 1.0]}, "paper")))
    expected = ["96.11", "90.00 to 100.00", "98.33", "-2.22", "2 of 3"]  # 59 of 60 is 98.33
    assert figures(cells["DT", "Iris"]) == expected
    cells = cells_of(table(make_records({("dt", "friedman-1"): [3.0, 3.104, 3.106, 4.0]}, "paper"), is_classes=False))
    assert figures(cells["DT", "Make Friedman1"])[-3:] == ["3.10", "+0.20", "2 of 4"]  # smaller is better


def test_contender_that_the_paper_has_not_is_shown_without_a_printed_number() -> None:
    honest = cells_of(table(make_records({("elm", "iris"): [0.9, 1.0]})))["ELM", "Iris"]
    assert honest.lines == ("95.00 ± 7.07",)
    assert cells_of(table(make_records({("elm", "iris"): [0.9, 1.0]}, "paper")))["ELM", "Iris"].lines[0] == "95.00"


def test_single_split_has_no_deviation_and_no_dagger() -> None:
    cells = cells_of(table(make_records({("dt", "iris"): [0.5], (BASELINE, "iris"): [0.9]})))
    assert cells["DT", "Iris"].lines[0] == "50.00 ± 0.00"


@pytest.mark.parametrize(("is_classes", "data_set", "best"), [(True, "iris", 0.9), (False, "friedman-1", 0.1)])
def test_best_of_each_group_is_bold(is_classes: bool, data_set: str, best: float) -> None:
    scores = {(name, data_set): [0.5, 0.5] for name in ("dt", BASELINE, "rf", FOREST)}
    scores["dt", data_set] = [best, best]
    sheet = table(make_records(scores), is_classes)
    # the two ensembles are equal, and so both the best of theirs
    assert [cells[0].is_best for _, cells in sheet.rows] == [True, False, True, True]
    assert [entry["is_best_of_group"] for entry in sheet.entries] == [True, False, True, True]
    assert sheet.breaks == {1}
    assert {entry["best_contender"] for entry in sheet.entries} == {"dt"}


def test_dagger_marks_what_is_significantly_worse_than_the_best() -> None:
    noise = np.random.default_rng(0).normal(0.0, 0.01, size=(3, 10))
    noise -= noise.mean(axis=1, keepdims=True)
    means = {"dt": 0.9, BASELINE: 0.901, "rf": 0.8}
    scores = {(name, "iris"): (mean + row).tolist() for (name, mean), row in zip(means.items(), noise, strict=True)}
    sheet = table(make_records(scores))
    cells = cells_of(sheet)
    assert ["†" in cells[title, "Iris"].lines[0] for title in ("DT", "SLM Baseline", "RF")] == [False, False, True]
    p_values = {entry["contender"]: entry["p_value_against_best"] for entry in sheet.entries}
    assert p_values[BASELINE] is None
    assert p_values["rf"] < 0.05 < p_values["dt"]
    # a chosen maximum has no such test
    optimistic = table(make_records(scores, "paper"))
    assert not any("†" in line for cell in cells_of(optimistic).values() for line in cell.lines)
    assert [entry["p_value_against_best"] for entry in optimistic.entries] == [None] * 3


@pytest.mark.parametrize(
    ("data_set", "is_redrawn"),
    [("iris", False), ("2-new-moons", True), ("diabetes", False), ("friedman-3", True)],
)
def test_splits_are_corrected_for_only_where_they_share_samples(data_set: str, is_redrawn: bool) -> None:
    is_classes = SOURCES[data_set].is_classes
    values = np.random.default_rng(1).uniform(0.5, 0.9, size=(2, 6))
    values[0] += 0.1 if is_classes else -0.1  # the best
    given = dict(zip([("dt", data_set), (BASELINE, data_set)], values.tolist(), strict=True))
    (p_value,) = [
        entry["p_value_against_best"]
        for entry in table(make_records(given), is_classes).entries
        if entry["contender"] == BASELINE
    ]
    usual = ttest_1samp(values[1] - values[0], 0.0).pvalue
    assert (p_value == pytest.approx(usual)) == is_redrawn
    assert p_value == pytest.approx(corrected_p_value(values[1] - values[0], is_redrawn))


def test_errors_below_one_have_a_third_digit() -> None:
    records = make_records({("dt", "friedman-3"): [0.1, 0.12], ("dt", "friedman-2"): [30.0, 34.0]})
    cells = cells_of(table(records, is_classes=False))
    assert figures(cells["DT", "Make Friedman3"]) == ["0.110 ± 0.014", "0.11", "+0.000"]
    assert figures(cells["DT", "Make Friedman2"]) == ["32.00 ± 2.83", "33.57", "-1.57"]


def test_rows_and_columns_have_the_order_of_the_paper_whatever_that_of_the_records() -> None:
    sets = ["circle-and-ring", "wine", "iris"]
    contenders = ["slm-boost", "dt", "ff-mlp"]
    sheet = table(make_records({(name, data_set): [0.5] for data_set in sets for name in contenders}))
    assert sheet.header == ["", "Circle-and-Ring", "Iris", "Wine"]
    assert [label for label, _ in sheet.rows] == ["FF-MLP", "DT", "SLM Boost"]


def test_regressors_have_the_names_of_the_paper() -> None:
    sheet = table(make_records({(name, "boston"): [3.0] for name in of_table(False)}), is_classes=False)
    assert [label for label, _ in sheet.rows] == [
        *("ELM", "LSVR", "SVR/RBF", "DT", "DT tuned", "SLR Baseline", "RF", "XGBoost", "SLR Forest", "SLR Boost")
    ]
    assert (sheet.name, sheet.title[:9]) == ("table3", "Table III")


def test_scores_are_only_of_contenders_and_of_one_kind() -> None:
    records = make_records(IRIS)
    records[Unit("ablation", "fixed", False, "iris", "q = 1", 0)] = Record({"score": 0.0, "depth": 3}, 1.0)
    assert set(scores_of(records).values) == set(IRIS)
    assert collect_scores(records, is_classes=False) is None
    assert collect_scores({}, is_classes=True) is None


def test_splits_are_paired_by_their_seed_whatever_the_order_of_the_records() -> None:
    records = make_records(IRIS)
    assert scores_of(dict(reversed(records.items()))).values["dt", "iris"].tolist() == [90.0, 95.0, 100.0]


def test_full_table_has_a_cell_for_each_printed_number() -> None:
    classes = [name for name, source in SOURCES.items() if source.is_classes]
    sheet = table(make_records({(name, data_set): [0.9] for name in of_table(True) for data_set in classes}))
    assert len(sheet.entries) == 12 * 9
    printed = {(entry["contender"], entry["data_set"]): entry["paper"] for entry in sheet.entries}
    assert all(
        printed[name, data_set] == float(text) for name, row in ACCURACY.items() for data_set, text in row.items()
    )


def test_sizes_are_means_over_the_splits_beside_the_printed_ones() -> None:
    sizes = {("dt", "iris"): (30, 5), (BASELINE, "iris"): (15, 3), ("lsvm", "iris"): (1235, None)}
    records = make_records({key: [0.9] for key in (*sizes, ("rf", "iris"))}, sizes=sizes)
    other = {("dt", "iris"): (31, 8), (BASELINE, "iris"): (15, 2), ("lsvm", "iris"): (1235, None)}
    for unit, record in make_records({key: [0.0, 0.9] for key in (*sizes, ("rf", "iris"))}, sizes=other).items():
        records.setdefault(unit, record)
    sheet = size_sheet(records)
    assert sheet is not None
    cells = {title: cell for (_, title), cell in cells_of(sheet).items()}
    assert {title: cell.lines for title, cell in cells.items()} == {
        "LSVM": ("1,235", "235 (+1,000)"),
        "DT": ("30", "34 (-4)"),  # 30.5 and -3.5, rounded to even
        "SLM Baseline": ("15", "20 (-5)"),
        "DT depth": ("6.5", "6 (+0.5)"),
        "SLM Baseline depth": ("2.5", "3 (-0.5)"),
    }
    assert [title for title, cell in cells.items() if cell.is_best] == ["SLM Baseline"]
    assert {entry["mean"]: entry["difference"] for entry in sheet.entries} == {
        1235.0: 1000.0,
        30.5: -3.5,
        15.0: -5.0,
        6.5: 0.5,
        2.5: -0.5,
    }


def test_size_that_is_missing_leaves_its_own_cell_empty() -> None:
    keys = [("lsvm", "iris"), (BASELINE, "iris"), ("dt", "wine"), (BASELINE, "wine")]
    sizes = {key: (10 * i + 10, i + 1) for i, key in enumerate(keys)}
    sheet = size_sheet(make_records({key: [0.9] for key in keys}, sizes=sizes))
    assert sheet is not None
    assert sheet.header == ["", "LSVM", "DT", "SLM Baseline", "DT depth", "SLM Baseline depth"]
    shown = {label: [cell.lines[0] for cell in cells] for label, cells in sheet.rows}
    assert shown == {"Iris": ["10", "", "20", "", "2.0"], "Wine": ["", "30", "40", "3.0", "4.0"]}
    assert [title for (_, title), cell in cells_of(sheet).items() if cell.is_best] == ["LSVM", "DT"]
    assert len(sheet.entries) == 3 + 4


def test_size_table_has_rows_of_sets_and_only_columns_that_were_run() -> None:
    sheet = size_sheet(make_records({("dt", name): [0.9] for name in ("wine", "iris")}))
    assert sheet is not None
    assert sheet.header == ["", "DT", "DT depth"]
    assert [label for label, _ in sheet.rows] == ["Iris", "Wine"]


def test_there_is_no_size_table_without_sizes() -> None:
    assert size_sheet({}) is None
    assert size_sheet(make_records({("rf", "iris"): [0.9]})) is None
    assert size_sheet(make_records({("dt", "diabetes"): [60.0]})) is None


def test_notes_of_an_optimistic_report_all_say_so() -> None:
    records = make_records(IRIS, "paper")
    sizes = size_sheet(records)
    assert sizes is not None
    assert OPTIMISTIC in table(records).note
    assert OPTIMISTIC in sizes.note
    assert not any(
        "OPTIMISTIC" in sheet.note for sheet in (table(make_records(IRIS)), size_sheet(make_records(IRIS))) if sheet
    )


def test_shares_of_the_time_add_up() -> None:
    records = make_records({("dt", "iris"): [0.9, 0.9]}, seconds=1.0) | make_records(
        {("rf", "iris"): [0.9]}, seconds=6.0
    )
    sheet = time_sheet(records)
    assert {label: [cell.lines[0] for cell in cells] for label, cells in sheet.rows if label in ("DT", "RF")} == {
        "DT": ["2.0", "25.0 %"],
        "RF": ["6.0", "75.0 %"],
    }
    assert sheet.is_timing
