"""The commands on small tables: what they write, what they say, and what they refuse in one line."""

import datetime as dt
import errno
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sublearn
from commands import NAMES, refused, rows_of_flats, run, text_of, train, write
from sublearn.command import csv_text, tables
from sublearn.command.app import app

ROWS = rows_of_flats()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("command")


@pytest.fixture(scope="module")
def flats(folder: Path) -> str:
    write(folder / "no_price.csv", "\n".join(line.rpartition(",")[0] for line in text_of(ROWS).splitlines()))
    return write(folder / "flats.csv", text_of(ROWS))


@pytest.fixture(scope="module")
def model(folder: Path, flats: str) -> str:
    train(flats, folder / "price.slm")
    return str(folder / "price.slm")


@pytest.fixture(scope="module")
def towns(folder: Path, flats: str) -> str:
    train(flats, folder / "town.slm", target="town")
    return str(folder / "town.slm")


def predictions(model: str, data: str, *options: Any) -> list[str]:
    lines: list[str] = run("predict", model, data, *options).stdout.splitlines()
    return lines


def test_training_says_what_it_found_and_assumed(flats: str, tmp_path: Path) -> None:
    few = ("--set", "n_estimators=3", "--set", "learning_rate=0.1")
    said = run("train", flats, "--target", "price", "--out", tmp_path / "m.slm", *few)
    assert said.stdout == ""
    for words in (
        "flats.csv: 60 rows, 7 columns (CSV, commas, UTF-8)",
        "target price: numbers, since it has 60 distinct numbers; --task classes overrules",
        "left out: id (distinct whole numbers",
        "2 of numbers: area, floor",
        "1 of text: town",
        "missing cells",
        "a fit to 48 rows, tried on 12 others",
        "RMSE",
        "always the mean",
        f"{tmp_path / 'm.slm'}: SLMBoostRegressor of 60 rows and 5 features",
    ):
        assert words in said.stderr, words


def test_model_is_the_one_that_python_fits(model: str) -> None:
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    frame = pl.DataFrame(dict(zip(NAMES, columns, strict=True))).with_columns(
        pl.col("floor").replace("", None).cast(pl.Int64),
        pl.col("built").str.to_datetime("%Y-%m-%d", time_unit="us"),
        pl.col("lift") == "true",
    )
    X, y = frame.drop("id", "price"), frame["price"].to_numpy()
    ours = sublearn.SLMRegressor(max_depth=3, random_state=0).fit(X, y)
    assert np.array_equal(sublearn.load(model).predict(X), ours.predict(X))


def test_predictions_do_not_depend_on_how_a_table_is_written(model: str, flats: str, tmp_path: Path) -> None:
    expected = predictions(model, flats)
    german = write(tmp_path / "de.csv", "\ufeff" + text_of(ROWS, ";", ",", "\r\n"))
    assert predictions(model, german) == expected
    frame = pl.read_csv(flats, try_parse_dates=True)
    frame.write_parquet(tmp_path / "flats.parquet")
    frame.write_ipc(tmp_path / "flats.arrow")
    frame.select(reversed(frame.columns)).write_ipc_stream(tmp_path / "stream.arrow")
    for name in ("flats.parquet", "flats.arrow", "stream.arrow"):
        assert predictions(model, str(tmp_path / name)) == expected
    assert run("predict", model, "-", given=text_of(ROWS)).stdout.splitlines() == expected


def test_blocks_give_the_predictions_of_the_whole(
    model: str, flats: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = predictions(model, flats, "--keep", "all")
    pl.read_csv(flats, try_parse_dates=True).write_parquet(tmp_path / "flats.parquet")
    monkeypatch.setattr(csv_text.blocks_of, "__defaults__", (100, 1))  # in some, floors are all whole, or all gaps
    monkeypatch.setattr(tables, "ROWS", 7)
    assert predictions(model, flats, "--keep", "all") == expected
    assert predictions(model, str(tmp_path / "flats.parquet")) == [line.rpartition(",")[2] for line in expected]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_predictions_are_written_in_every_format(
    ending: str, towns: str, flats: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_text.blocks_of, "__defaults__", (1000, 1))
    out = tmp_path / f"out.{ending}"
    said = run("predict", towns, flats, "--proba", "--keep", "id", "--out", out)
    assert "60 rows" in said.stderr
    read: Any = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}.get(ending, pl.read_csv)
    frame = read(out)
    assert frame.columns == ["id", "prediction", *(f"probability_{town}" for town in ("Bonn, West", "Kiel", "Ulm"))]
    assert frame["id"].cast(pl.Int64).to_list() == [row[0] for row in ROWS]
    assert np.allclose(frame.select(pl.sum_horizontal(frame.columns[2:])).to_numpy(), 1)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_evaluation_has_the_figures_of_the_predictions(model: str, towns: str, flats: str) -> None:
    y = np.array([row[-1] for row in ROWS])
    given = np.array([float(line) for line in predictions(model, flats)[1:]])
    found = json.loads(run("evaluate", model, flats, "--json").stdout)
    figures = {one["name"]: one for one in found["figures"]}
    assert np.isclose(figures["MAE"]["value"], np.abs(given - y).mean())
    assert figures["RMSE"]["low"] < figures["RMSE"]["value"] < figures["RMSE"]["high"]
    text = run("evaluate", towns, flats).stdout
    assert all(words in text for words in ("accuracy", "log loss", "Bonn, West", "precision"))


def test_rows_without_a_target_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [(*row[:-1], "NA" if i % 4 == 0 else row[-1]) for i, row in enumerate(ROWS)]
    data = write(tmp_path / "gaps.csv", text_of(rows))
    assert "left out: 15 rows without a price" in train(data, tmp_path / "m.slm").stderr
    found = run("evaluate", tmp_path / "m.slm", data)
    assert "45 rows" in found.stdout
    assert "left out: 15 rows" in found.stderr


def test_inspection_shows_the_model_and_its_trees(model: str, folder: Path, flats: str) -> None:
    text = run("inspect", model).stdout
    assert all(words in text for words in ("SLMRegressor", "predicts      price", "area", "3 levels", "max_depth=3"))
    found = json.loads(run("inspect", model, "--json").stdout)
    assert np.isclose(sum(one["importance"] for one in found["features"]), 1)
    assert found["trees"] == 1
    assert run("inspect", model, "--tree", 0).stdout.strip() == sublearn.export_text(sublearn.load(model))
    assert refused("inspect", model, "--tree", 1).endswith("has the trees 0 to 0; got 1.")


@pytest.mark.parametrize("kind", ["forest", "boost"])
def test_trees_of_ensembles_are_printed_one_by_one(kind: str, flats: str, tmp_path: Path) -> None:
    few = ("--set", "n_estimators=3", *(("--set", "learning_rate=0.1") if kind == "boost" else ()))
    out = tmp_path / "m.slm"
    run("train", flats, "--target", "price", "--out", out, "--holdout", 0, "--model", kind, *few)
    trees = [run("inspect", out, "--tree", t).stdout for t in range(3)]
    assert len(set(trees)) == 3
    assert all(("adds" if kind == "boost" else "value") in tree for tree in trees)


@pytest.mark.parametrize(("name", "first"), [("m.c", b"/*"), ("m.onnx", b"\x08")])
def test_models_are_exported_by_the_ending_of_the_name(name: str, first: bytes, model: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    assert name in run("export", model, "--out", tmp_path / name).stderr
    assert (tmp_path / name).read_bytes().startswith(first)


def test_query_gives_the_predictions_of_the_model(model: str, towns: str, flats: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    base, names = sqlite3.connect(":memory:"), ", ".join(NAMES)
    days = [(*row[:3], row[3] or None, _seconds(row[4]), row[5] == "true", row[6]) for row in ROWS]
    base.execute(f"CREATE TABLE homes ({names})")
    base.executemany(f"INSERT INTO homes VALUES ({', '.join('?' * len(NAMES))})", days)
    run("export", model, "--out", tmp_path / "m.sql", "--table", "homes", "--keep", "id")
    found = base.execute((tmp_path / "m.sql").read_text()).fetchall()
    assert [row[0] for row in found] == [row[0] for row in ROWS]
    assert np.allclose([row[1] for row in found], [float(line) for line in predictions(model, flats)[1:]])

    run("export", towns, "--out", tmp_path / "towns.txt", "--to", "sql", "--dialect", "duckdb")
    samples = pl.DataFrame(days, schema=list(NAMES), orient="row").with_columns(pl.col("floor").cast(pl.Int64))
    with duckdb.connect() as other:
        other.register("samples", samples.to_arrow())
        labels = [row[0] for row in other.execute((tmp_path / "towns.txt").read_text()).fetchall()]
    assert [f'"{one}"' if "," in one else one for one in labels] == predictions(towns, flats)[1:]


def _seconds(day: str) -> float:
    return dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC).timestamp()


def test_model_that_is_too_large_for_a_query_says_what_to_do(model: str, tmp_path: Path) -> None:
    line = refused("export", model, "--out", tmp_path / "m.sql", "--max-size", 2)
    assert line.startswith("--to sql: model must have at most --max-size 2 tests, leaves and slopes in all trees; got")
    assert line.endswith("or set --max-size higher; --to onnx and --to c take large models.")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_read_are_not_written_over(model: str, flats: str, folder: Path) -> None:
    before = Path(flats).read_bytes(), Path(model).read_bytes()
    again = folder / "again.csv"
    again.symlink_to(flats)
    said = [
        refused("train", flats, "--target", "price", "--out", flats),
        refused("train", flats, "--target", "price", "--out", again),
        refused("predict", model, flats, "--out", flats),
        refused("export", model, "--to", "c", "--out", model),
    ]
    again.unlink()
    assert all(line.endswith("is the file that is read; choose another name.") for line in said), said
    assert (Path(flats).read_bytes(), Path(model).read_bytes()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "none.csv", "--target", "price", "--out", "m.slm"], "none.csv: there is no such file."),
        (["train", ".", "--target", "price", "--out", "m.slm"], ". is a folder"),
        (["train", "flats.csv", "--target", "Price", "--out", "m.slm"], "Did you mean 'price'?"),
        (["train", "flats.csv", "--target", "price", "--out", "no/m.slm"], "there is no folder"),
        (["train", "flats.csv", "--target", "price", "--out", "."], "is a folder"),
        (["train", "flats.csv", "--target", "price", "--out", "-"], "--out - is no file; give the path of one"),
        (["train", "flats.csv", "--target", "price", "--out", os.devnull], "is no file; give the path of one"),
        (["predict", "price.slm"], "Missing argument 'DATA'"),
        (["train", "flats.csv", "--target", "price"], "Missing option '--out'"),
        (["train", "flats.csv", "--target", "price", "--out", "m.slm", "--model", "bost"], "unknown name 'bost'"),
        (["train", "flats.csv", "--target", "price", "--out", "m.slm", "--set", "depth=3"], "no parameter 'depth'"),
        (["train", "flats.csv", "--target", "price", "--out", "m.slm", "--set", "max_depth=0"], "; got 0."),
        (["train", "flats.csv", "--target", "price", "--out", "m.slm", "--weight", "town"], "--weight: column 'town'"),
        (
            ["train", "flats.csv", "--target", "price", "--out", "m.slm", "--ignore", "price"],
            "both name column 'price'",
        ),
        (["train", "flats.csv", "--target", "price", "--out", "m.slm", "--effort", "most"], "--effort must be"),
        (["train", "flats.csv", "--target", "built", "--out", "m.slm"], "dates or times"),
        (["predict", "flats.csv", "flats.csv"], "is no model that this sublearn can read"),
        (["predict", "none.slm", "flats.csv"], "none.slm: there is no such file."),
        (["predict", "price.slm", "flats.csv", "--out", "p.xlsx"], "must end in .csv, .parquet"),
        (["predict", "price.slm", "flats.csv", "--proba"], "predicts numbers"),
        (["predict", "price.slm", "flats.csv", "--keep", "towns"], "Did you mean 'town'?"),
        (["predict", "price.slm", "flats.csv", "--jobs", "0"], "--jobs"),
        (["predict", "price.slm", "flats.csv", "--nothing"], "No such option: --nothing"),
        (["predict", "price.slm", "flats.csv", "--encoding", "utf-9"], "--encoding: unknown name 'utf-9'"),
        (["predict", "price.slm", "flats.csv", "--decimal", "x"], "--decimal must be . or ,"),
        (["predict", "price.slm", "flats.csv", "--separator", "::"], "--separator must be one character"),
        (["export", "price.slm", "--out", "m.txt"], "must end in .onnx, .c, .sql"),
        (["export", "price.slm", "--out", "m.c", "--to", "java"], "unknown name 'java'"),
        (["export", "price.slm", "--out", "m.c", "--table", "flats"], "--table goes with --to sql; got --to c."),
        (["export", "price.slm", "--out", "m.sql", "--dialect", "oracle"], "--dialect: unknown name 'oracle'"),
        (["export", "price.slm", "--out", "m.sql", "--table", " "], "--table must be the name of a table"),
        (["export", "price.slm", "--out", "m.sql", "--keep", "value"], "--keep must have no name of an"),
        (["evaluate", "price.slm", "no_price.csv"], "no_price.csv has no column 'price', which price.slm predicts;"),
        (["evaluate", "price.slm", "flats.csv", "--target", "cost"], "--target: flats.csv has no column 'cost'."),
        (["tune", "flats.csv", "--target", "price", "--out", "m.slm", "--minutes", "0"], "--minutes must be above 0"),
        (["tran"], "No such command 'tran'"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(
    arguments: list[str], words: str, model: str, flats: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    assert words in refused(*arguments)
    assert sorted(os.listdir(folder)) == before


def test_tables_that_do_not_go_with_the_model_are_refused(model: str, tmp_path: Path) -> None:
    lacking = write(tmp_path / "a.csv", "area,town\n50,Ulm\n")
    assert "lacks the columns 'floor', 'built', 'lift'" in refused("predict", model, lacking)
    rows = [ROWS[0], (2, "large", *ROWS[1][2:])]
    other = write(tmp_path / "b.csv", text_of(rows))
    line = refused("predict", model, other)
    assert line.startswith("b.csv, line 3: column 'area' holds numbers in the model; got 'large'.")
    assert len(predictions(model, other, "--missing", "large")) == 3


def test_numbers_that_were_whole_may_have_decimals_later(model: str, tmp_path: Path) -> None:
    rows = [(*row[:3], "1.5", *row[4:]) for row in ROWS[:3]]
    assert len(predictions(model, write(tmp_path / "a.csv", text_of(rows)))) == 4


def test_full_disk_leaves_no_half_file(model: str, flats: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for ending, place in (("csv", "_Csv"), ("parquet", "_Parts")):
        monkeypatch.setattr(f"sublearn.command.writing.{place}.write", fail)
        line = refused("predict", model, flats, "--out", tmp_path / f"p.{ending}")
        assert line == "The disk is full; nothing was written."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_device_that_is_full_is_one_line(model: str, flats: str) -> None:
    assert "disk is full" in refused("predict", model, flats, "--out", "/dev/full")


def test_interrupt_is_one_line_and_leaves_no_file(
    model: str, flats: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sublearn.command.predict.call", interrupt)
    result = CliRunner().invoke(app, ["predict", model, flats, "--out", str(tmp_path / "p.csv")])
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "Stopped; no file was written.")
    assert list(tmp_path.iterdir()) == []


def test_model_without_names_takes_columns_in_their_order(flats: str, tmp_path: Path) -> None:
    x = np.arange(40.0).reshape(20, 2)
    sublearn.SLMRegressor(random_state=0).fit(x, x[:, 0]).save(tmp_path / "m.slm")
    data = write(tmp_path / "x.csv", "a,b\n0,1\n10,11\n")
    assert predictions(str(tmp_path / "m.slm"), data) == ["prediction", "0.0", "10.0"]
    assert "knows 2 features by their order alone" in refused("predict", tmp_path / "m.slm", flats)


def test_tuned_average_is_a_model_like_others(flats: str, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    out = tmp_path / "m.slm"
    said = run("tune", flats, "--target", "price", "--out", out, "--minutes", 0.02, "--ensemble", "--model", "tree")
    assert "tried: RMSE" in said.stderr
    assert "SLMAverageRegressor" in run("inspect", out).stdout
    assert len(predictions(str(out), flats)) == 61
