"""What is written beside the page: a file for each table and for what lies behind it, and one for all."""

import csv
import json
import re
from pathlib import Path

import pytest

from reports import make_records, untuned_records, written
from sublearn.paper import ablations, convergence, search
from sublearn.paper.plan import Order
from sublearn.paper.report import make_sheets
from sublearn.paper.tables import OPTIMISTIC

SCORES = {(name, data_set): [0.5, 0.6] for name in ("dt", "slm-baseline") for data_set in ("iris", "wine", "boston")}
TABLES = {
    "honest": {"pairs1", "pairs3", "table1", "table2", "table3", "claims", "times"},
    "paper": {"reached1", "reached3", "table1", "table2", "table3", "claims", "times"},
}


def order_for(out: Path, protocol: str = "honest") -> Order:
    return Order(protocol, True, contenders=("dt", "slm-baseline"), out=out)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def csv_files(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.csv")}


@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_numbers_of_the_files_are_those_of_the_tables(protocol: str, tmp_path: Path) -> None:
    order, records = order_for(tmp_path, protocol), make_records(SCORES, protocol)
    written(order, records)
    plain = json.loads((tmp_path / "results.json").read_text())
    assert plain["protocol"] == protocol
    assert plain["seeds"] == list(order.seeds)
    sheets = make_sheets(order, records)
    assert {sheet.name for sheet in sheets} == TABLES[protocol]
    for sheet in sheets:
        expected = [{"protocol": protocol, **entry} for entry in sheet.entries]
        assert rows_of(tmp_path / f"{sheet.name}.csv") == [
            {name: "" if value is None else str(value) for name, value in entry.items()} for entry in expected
        ]
        if not sheet.is_timing:
            assert plain[sheet.name] == sheet.entries
    assert "times" not in plain


@pytest.mark.parametrize("protocol", search.PROTOCOLS)
def test_every_file_of_numbers_says_under_which_protocol_it_was_made(protocol: str, tmp_path: Path) -> None:
    written(order_for(tmp_path, protocol), make_records(SCORES, protocol) | untuned_records())
    assert csv_files(tmp_path) == TABLES[protocol] | {"choices", "ablations", "convergence", "forests"}
    for path in tmp_path.glob("*.csv"):
        assert {row["protocol"] for row in rows_of(path)} == {protocol}, path.name


def test_file_of_all_numbers_warns_where_they_are_optimistic(tmp_path: Path) -> None:
    for protocol in search.PROTOCOLS:
        written(order_for(tmp_path, protocol), make_records(SCORES, protocol))
        plain = json.loads((tmp_path / "results.json").read_text())
        assert plain.get("warning") == (OPTIMISTIC if protocol == "paper" else None)


def test_choices_name_what_was_taken_on_each_split(tmp_path: Path) -> None:
    records = make_records(SCORES)
    for unit, record in records.items():
        record.values["setting"] = {"max_depth": unit.seed, "data": None}
    written(order_for(tmp_path), records)
    rows = rows_of(tmp_path / "choices.csv")
    assert len(rows) == len(records)
    for row in rows:
        assert json.loads(row["setting"]) == {"max_depth": int(row["seed"]), "data": None}
        assert float(row["score"]) == SCORES[row["contender"], row["data_set"]][int(row["seed"])]
    plain = json.loads((tmp_path / "results.json").read_text())["choices"]
    assert [(row["contender"], row["data_set"], row["seed"]) for row in plain] == [
        (row["contender"], row["data_set"], int(row["seed"])) for row in rows
    ]


def test_ablations_and_curves_are_written_split_by_split(tmp_path: Path) -> None:
    written(order_for(tmp_path), untuned_records(n_splits=3))
    plain = json.loads((tmp_path / "results.json").read_text())
    assert [(row["variant"], row["seed"], row["score"], row["depth"]) for row in plain["ablations"]] == [
        (ablations.GUIDED[0], seed, 0.9 + seed / 100, 3 + seed) for seed in range(3)
    ]
    assert len(rows_of(tmp_path / "ablations.csv")) == 3
    rows = rows_of(tmp_path / "convergence.csv")
    assert [(int(row["seed"]), int(row["n_trees"])) for row in rows] == [
        (seed, n) for seed in range(3) for n in convergence.TREES
    ]
    assert len(plain["convergence"]) == len(rows)
    for row, same in zip(rows, plain["convergence"], strict=True):
        for i, name in enumerate(convergence.NAMES):
            expected = i + int(row["n_trees"]) / 1000 + int(row["seed"]) / 10
            assert float(row[name]) == same[name] == pytest.approx(expected)


def test_there_is_no_file_of_what_was_not_run(tmp_path: Path) -> None:
    written(order_for(tmp_path), make_records(SCORES) | untuned_records())
    written(order_for(tmp_path), make_records({("dt", "iris"): [0.5]}))
    assert csv_files(tmp_path) == {"table1", "table2", "claims", "times", "choices"}
    written(order_for(tmp_path), {})
    assert csv_files(tmp_path) == set()


def test_files_of_the_other_protocol_go_and_those_of_others_stay(tmp_path: Path) -> None:
    foreign = [tmp_path / name for name in ("mine.csv", "table1-old.csv", "table4.csv", "notes.txt")]
    (tmp_path / "data").mkdir()
    foreign.append(tmp_path / "data" / "pairs1.csv")
    for path in foreign:
        path.write_text("mine\n")
    for protocol in ("honest", "paper", "honest"):
        written(order_for(tmp_path, protocol), make_records(SCORES, protocol))
        ours = csv_files(tmp_path) - {path.stem for path in foreign[:3]}
        assert ours == TABLES[protocol] | {"choices"}
        assert all(path.read_text() == "mine\n" for path in foreign)


def test_times_are_nowhere_but_in_their_table_and_file(tmp_path: Path) -> None:
    texts = []
    for name, seconds in (("fast", 1.0), ("slow", 1000.0)):
        written(order_for(tmp_path / name), make_records(SCORES, seconds=seconds))
        files = sorted(path for path in (tmp_path / name).iterdir() if path.name != "times.csv")
        texts.append([re.sub(r'<table id="times">.*?</table>', "", path.read_text(), flags=re.S) for path in files])
    assert texts[0] == texts[1]
