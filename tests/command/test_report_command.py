"""`sublearn report`: the page of Python, from files, and what it says of the rows."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sublearn
from commands import refused, rows_of_flats, run, text_of, train, write

ROWS = rows_of_flats(140)
LEARNED, APART = ROWS[:80], ROWS[80:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def data(folder: Path) -> dict[str, str]:
    parts = {"learned": LEARNED, "apart": APART, "all": ROWS}
    return {name: write(folder / f"{name}.csv", text_of(rows)) for name, rows in parts.items()}


@pytest.fixture(scope="module")
def models(folder: Path, data: dict[str, str]) -> dict[str, str]:
    found = {"price": str(folder / "price.slm"), "town": str(folder / "town.slm")}
    for target, path in found.items():
        train(data["learned"], Path(path), target=target)
    return found


def test_page_is_that_of_python(models: dict[str, str], data: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    said = run("report", models["price"], data["apart"], "--out", out, "--title", "Flats", "--seed", 3)
    assert said.stdout == ""
    assert f"{out}: measured on 60 rows of apart.csv" in said.stderr
    assert "note" not in said.stderr
    frame = pl.read_csv(data["apart"], try_parse_dates=True).with_columns(pl.col("built").cast(pl.Datetime("us")))
    model = sublearn.load(models["price"])
    X = frame.select(model.feature_names_in_.tolist())
    made = sublearn.report(model, X, frame["price"], title="Flats", random_state=3)
    assert out.read_text("utf-8") == made.html
    assert str(made.scores[0]) in said.stderr
    assert (
        run("report", models["price"], data["apart"], "--out", "-", "--title", "Flats", "--seed", 3).stdout == made.html
    )


def test_rows_of_the_training_are_said_and_folds_are_the_way_out(
    models: dict[str, str], data: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    for name, is_seen in (("learned", True), ("apart", False)):
        said = run("report", models["town"], data[name], "--out", out).stderr
        assert ("seems to have learned from rows" in said) == is_seen
        assert ("Do not trust these figures" in out.read_text("utf-8")) == is_seen
    said = run("report", models["town"], data["all"], "--folds", 3, "--out", out).stderr
    assert "note" not in said
    assert "by cross-validation in 3 parts" in out.read_text("utf-8")


def test_rows_without_a_target_are_left_out_and_classes_may_be_new(models: dict[str, str], tmp_path: Path) -> None:
    rows = [(*row[:2], ["NA", "Rome", row[2]][min(i, 2)], *row[3:]) for i, row in enumerate(APART)]
    out = tmp_path / "report.html"
    said = run("report", models["town"], write(tmp_path / "x.csv", text_of(rows)), "--out", out).stderr
    assert "left out: 1 row without a town" in said
    assert "measured on 59 rows" in said
    assert "Rome" in out.read_text("utf-8")


def test_model_without_names_takes_columns_in_their_order(tmp_path: Path) -> None:
    x = np.arange(80.0).reshape(40, 2)
    sublearn.SLMRegressor(random_state=0).fit(x, x[:, 0]).save(tmp_path / "m.slm")
    lines = [f"{a},{b},{a}" for a, b in x + 0.5]
    data = write(tmp_path / "x.csv", "\n".join(["a,b,y", *lines, ""]))
    out = tmp_path / "report.html"
    assert "does not say which column it predicts; name it with --target." in refused(
        "report", tmp_path / "m.slm", data, "--out", out
    )
    run("report", tmp_path / "m.slm", data, "--target", "y", "--out", out)
    assert "x0" in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["price.slm", "apart.csv"], "Missing option '--out'"),
        (["price.slm", "apart.csv", "--out", "."], "is a folder"),
        (["price.slm", "apart.csv", "--out", "no/report.html"], "there is no folder"),
        (["price.slm", "apart.csv", "--out", "apart.csv"], "is the file that is read; choose another name."),
        (["price.slm", "none.csv", "--out", "r.html"], "none.csv: there is no such file."),
        (["none.slm", "apart.csv", "--out", "r.html"], "none.slm: there is no such file."),
        (["price.slm", "apart.csv", "--target", "Price", "--out", "r.html"], "Did you mean 'price'?"),
        (["price.slm", "apart.csv", "--target", "town", "--out", "r.html"], "predicts numbers; got"),
        (["price.slm", "apart.csv", "--folds", "1", "--out", "r.html"], "--folds"),
        (
            ["town.slm", "apart.csv", "--target", "area", "--out", "r.html"],
            "y of report must hold classes",
        ),
        (["price.slm", "lacking.csv", "--out", "r.html"], "lacks the columns"),
        (["price.slm", "one.csv", "--out", "r.html"], "X of report must have at least 2 rows; got 1."),
    ],
)
def test_what_a_user_gets_wrong_is_one_line_and_no_file(
    arguments: list[str],
    words: str,
    models: dict[str, str],
    data: dict[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    write(folder / "lacking.csv", "area,price\n50,700\n")
    write(folder / "one.csv", text_of(APART[:1]))
    before = sorted(path.name for path in folder.iterdir())
    assert words in refused("report", *arguments)
    assert sorted(path.name for path in folder.iterdir()) == before
