"""The page: what is on it, for every kind of model and table, and what it refuses."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

import sublearn
from sublearn import (
    SLMAverageClassifier,
    SLMAverageRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    report,
)
from sublearn.reporting.mistakes import confusion
from sublearn.reporting.picks import UNSURE, picked, unsureness
from sublearn.reporting.rows import as_rows
from sublearn.reporting.study import Study
from sublearn.reporting.subject import as_subject
from sublearn.reporting.surrogate import surrogate_of
from sublearn.reporting.trial import deal, measured, seen_before

SECTIONS = ["scores", "errors", "calibration", "importances", "dependence", "trees", "rows", "training", "settings"]
VOID = {"meta", "link"}  # elements that nothing closes
FEW: dict[str, Any] = {"n_estimators": 4, "random_state": 0, "n_jobs": 1}
NASTY = "<script>alert(1)</script> & \"x\" 'y' </style> ${a} \\u003c"


class Page(HTMLParser):
    """What is on a page: elements by their names, texts, and whether all that is opened is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, Any]]:
        return [attributes for name, attributes in self.elements if name == tag]


def table_of(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    """A table with a number, a category, gaps and a date; classes and numbers that go with it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": rng.uniform(20, 120, n).round(1),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "floor": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n)),
            "built": pd.Timestamp("2001-02-03") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
        }
    )
    price = 10 * frame["area"] + 300 * (frame["town"] == "Kiel") + rng.normal(0, 40, n)
    kind = np.where(price > 900, "dear", np.where(price > 500, "usual", "cheap"))
    return frame, pd.Series(kind, name="kind"), price.rename("price")


TRAIN, TEST = table_of(), table_of(90, 1)
MODELS: dict[str, Any] = {
    "tree of classes": SLMClassifier(random_state=0),
    "tree of numbers": SLMRegressor(max_depth=4, random_state=0),
    "forest of classes": SLMForestClassifier(**FEW),
    "forest of numbers": SLMForestRegressor(**FEW),
    "boosting of classes": SLMBoostClassifier(learning_rate=0.3, **FEW),
    "boosting of numbers": SLMBoostRegressor(learning_rate=0.3, **FEW),
    "average of classes": SLMAverageClassifier([SLMClassifier(), SLMForestClassifier(**FEW)], [1, 2]),
    "average of numbers": SLMAverageRegressor([SLMRegressor(), SLMBoostRegressor(learning_rate=0.3, **FEW)]),
}


def parts_of(name: str, table: tuple[pd.DataFrame, Any, Any]) -> tuple[pd.DataFrame, Any]:
    return table[0], table[1] if "classes" in name else table[2]


def study_of(model: Any, X: Any, y: Any) -> Study:
    subject = as_subject(model, None, None)
    rows = as_rows(subject, X, y)
    return Study(subject, rows, measured(subject, rows, None, 0), 0)


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    return {name: model.fit(*parts_of(name, TRAIN)) for name, model in MODELS.items()}


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return SLMBoostClassifier(random_state=0, n_jobs=1).fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.mark.parametrize("name", MODELS)
def test_page_of_every_model_has_all_sections_once(name: str, fitted: dict[str, Any]) -> None:
    made = report(fitted[name], *parts_of(name, TEST))
    page = Page(made.html)
    assert [one["id"] for one in page.all("section")] == SECTIONS
    assert [one["href"] for one in page.all("a")] == ["#scores", *(f"#{one}" for one in SECTIONS)]
    ids = [one["id"] for _, one in page.elements if "id" in one]
    assert len(ids) == len(set(ids))
    assert all(one.get("aria-label") or one.get("aria-hidden") == "true" for one in page.all("svg"))
    assert not any("style" in attributes for _, attributes in page.elements)
    assert "measured on 90 rows that were given as not used in training" in page.text.lower()
    assert (page.all("html")[0]["lang"], made.looks_seen) == ("en", False)
    n_panels = 1 if name.startswith("tree") else 4
    assert sum(one.get("role") == "tree" for one in page.all("ul")) == n_panels


@pytest.mark.parametrize("name", ["tree of classes", "forest of numbers", "boosting of classes", "average of numbers"])
def test_paths_of_rows_are_those_that_the_model_takes(name: str, fitted: dict[str, Any]) -> None:
    model = fitted[name]
    X, y = parts_of(name, TEST)
    html = report(model, X, y).html
    ways = json.loads(html.partition('id="ways">')[2].partition("</script>")[0])
    member = model.estimators_[0] if "average" in name else model
    nodes, roots = member._model.ensemble.nodes, member._model.ensemble.roots
    first = 0 if "tree" in name else 1  # the small tree is before it
    ended = member.apply(X).reshape(len(X), -1)
    items = set(re.findall(r'<li role="treeitem" id="(t\d+-\d+)"', html))
    assert len(ways) > 8
    for row, found in ways.items():
        for t in range(1 if "average" in name else min(3, len(roots))):
            way = found["ways"][first + t]
            assert way[-1] == ended[int(row), t]
            assert [int(nodes.parent[roots[t] + node]) - roots[t] for node in way[1:]] == way[:-1]
            assert {f"t{first + t}-{node}" for node in way} <= items


def test_scores_are_those_of_the_predictions(fitted: dict[str, Any]) -> None:
    X, y = parts_of("classes", TEST)
    model = fitted["forest of classes"]
    made = report(model, X, y)
    accuracy = made.scores[0]
    assert (accuracy.name, accuracy.value) == ("accuracy", np.mean(model.predict(X) == y))
    assert accuracy.low < accuracy.value < accuracy.high
    X, price = parts_of("numbers", TEST)
    found = {one.name: one.value for one in report(fitted["forest of numbers"], X, price).scores}
    errors = fitted["forest of numbers"].predict(X) - price
    assert np.isclose(found["MAE"], np.abs(errors).mean())
    assert np.isclose(found["RMSE"], np.sqrt((errors**2).mean()))


def test_page_is_the_same_for_the_same_seed_and_every_number_of_threads(fitted: dict[str, Any]) -> None:
    model = SLMForestClassifier(**FEW).fit(*parts_of("classes", TRAIN))
    pages = [report(model.set_params(n_jobs=n), *parts_of("classes", TEST), folds=3).html for n in (1, 2, 1)]
    assert pages[0] == pages[1] == pages[2]
    assert report(model, *parts_of("classes", TEST), folds=3, random_state=1).html != pages[0]


def test_rows_of_the_training_are_noticed(fitted: dict[str, Any]) -> None:
    for name in ("tree of classes", "forest of numbers", "boosting of classes"):
        X, y = parts_of(name, TRAIN)
        order = np.random.default_rng(0).permutation(len(y))
        made = report(fitted[name], X.iloc[order], y.iloc[order])
        assert made.looks_seen
        assert "Do not trust these figures" in made.html
    X, y = (pd.concat([one, other]) for one, other in zip(TRAIN[::2], TEST[::2], strict=True))
    whole = SLMRegressor(random_state=0).fit(*parts_of("numbers", TRAIN))
    assert "the rows that the model was trained on seem to be among these" in report(whole, X, y).html
    made = report(whole, *parts_of("numbers", TRAIN), folds=2)
    assert not made.looks_seen
    assert "Do not trust" not in made.html


def test_folds_are_answered_by_models_of_the_other_rows(fitted: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)  # nothing to learn
    model = SLMClassifier(random_state=0).fit(X, y)
    seen, folded = report(model, X, y), report(model, X, y, folds=4)
    assert seen.scores[0].value == 1.0
    assert 0.25 < folded.scores[0].value < 0.75
    assert "by cross-validation in 4 parts" in folded.html


def test_parts_of_folds_have_their_share_of_every_class() -> None:
    classes = np.repeat([0, 1, 2], [50, 23, 7])
    part = deal(classes, 5, 0)
    counts = np.array([np.bincount(classes[part == k], minlength=3) for k in range(5)])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_class_that_a_fold_has_not_learned_gets_probability_zero() -> None:
    X = np.arange(20.0)[:, None]
    y = np.array(["a"] * 10 + ["b"] * 9 + ["c"])
    made = report(SLMClassifier(random_state=0).fit(X, y), X, y, folds=2)
    assert made.scores[0].value <= 0.95  # nobody can know of the only c


def test_everything_that_a_user_names_is_escaped() -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame({NASTY: rng.normal(size=80), "level": rng.choice([NASTY, "b\x00", "c"], 80)})
    y = np.where(X[NASTY] + (X["level"] == "c") > 0, NASTY, "<b>no</b>")
    for model in (SLMClassifier(random_state=0), SLMBoostClassifier(learning_rate=0.3, **FEW)):
        html = report(model.fit(X[:50], y[:50]), X[50:], y[50:], target=NASTY, title=f"{NASTY}\ud800\x07").html
        page = Page(html)
        assert "alert" in page.text
        assert NASTY in page.text
        assert [one.get("type") for one in page.all("script")] == ["application/json", None]
        assert page.all("b") == [one for one in page.all("b") if not one]
        assert "<b>no" not in html
        html.encode()


@pytest.mark.parametrize("n_classes", [2, 5, 26, 40])
def test_confusion_counts_every_row_once(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    y = np.arange(6 * n_classes) % n_classes
    X = (y + rng.normal(0, 0.6, len(y)))[:, None]
    model = SLMClassifier(max_depth=6, random_state=0).fit(X, y)
    more, truth = np.append(X, [[0.0]], axis=0), np.append(y, 99)  # a class that the model does not know
    study = study_of(model, more, truth)
    labels, counts = confusion(study)
    assert counts.sum() == len(truth)
    assert len(labels) == min(n_classes, 31) + 1 == len(counts)
    assert (labels[-1], counts[-1].sum()) == ("unknown to the model", 1)
    if n_classes <= 30:
        assert np.trace(counts) == (model.predict(more) == truth).sum()
    assert "unknown to the model" in Page(report(model, more, truth).html).text


def test_tables_of_other_libraries_give_the_same_page(fitted: dict[str, Any]) -> None:
    X, y = parts_of("numbers", TEST)
    model = fitted["forest of numbers"]
    page = report(model, X, y).html
    other = pl.DataFrame({name: X[name].to_list() for name in X}).with_columns(pl.col("floor").fill_nan(None))
    assert report(model, other, y.to_numpy(), target="price").html == page
    assert report(model, X.set_index(np.arange(len(X))[::-1]), y.to_list(), target="price").html == page


def test_arrays_lists_and_sparse_matrices_give_the_same_page() -> None:
    rng = np.random.default_rng(6)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    y = X[:, 0] + X[:, 1]
    model = SLMRegressor(random_state=0).fit(X, y)
    page = report(model, X, y).html
    assert "x0" in page
    assert report(model, X.tolist(), y.tolist()).html == page
    assert report(model, csr_array(X), y).html == page
    assert "width" in report(model, X, y, feature_names=["length", "width", "height"]).html


def test_small_tree_says_how_well_it_imitates(fitted: dict[str, Any]) -> None:
    X = np.linspace(0, 1, 90)[:, None]
    y = np.where(X[:, 0] > 0.5, "high", "low")
    small = surrogate_of(study_of(SLMForestClassifier(**FEW).fit(X, y), X, y))
    assert small is not None
    assert (small.n_learned, small.n_tested) == (60, 30)
    assert small.fidelity.value > 0.9 > small.baseline
    text = Page(report(fitted["boosting of numbers"], *parts_of("numbers", TEST)).html).text
    assert "On 30 rows that it has not seen, it explains" in text


def test_degenerate_data_still_give_a_page() -> None:
    X = np.arange(12.0).reshape(6, 2)
    for model, y in (
        (SLMClassifier(random_state=0), np.zeros(6, int)),
        (SLMForestRegressor(**FEW), np.ones(6)),
        (SLMBoostClassifier(learning_rate=0.1, **FEW), np.array(list("aabbab"))),
    ):
        Page(report(model.fit(X, y), X[:2], y[:2]).html)
    gone = np.full((40, 2), np.nan)
    gone[:20, 0] = np.arange(20)
    y = np.arange(40) % 2
    Page(report(SLMForestClassifier(**FEW).fit(gone, y), gone, y).html)


def test_page_of_a_default_boosting_is_small(cancer: tuple[Any, Any, Any]) -> None:
    html = report(*cancer).html
    assert len(html.encode()) < 300_000
    assert "http" not in re.sub(r"http-equiv", "", html)
    assert "url(" not in html


def test_file_is_there_as_a_whole_or_not_at_all(fitted: dict[str, Any], tmp_path: Path) -> None:
    made = report(fitted["tree of classes"], *parts_of("classes", TEST))
    path = tmp_path / "report.html"
    path.write_text("old")
    made.save(path)
    assert path.read_text("utf-8") == made.html
    with pytest.raises(IsADirectoryError, match="A report is saved as a file, and this is a folder"):
        made.save(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert made._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"model": SLMClassifier()}, ValueError, "not fitted"),
        (
            {"model": 3},
            TypeError,
            "model of report must be an SLM tree, forest or boosting, or an average of them; got",
        ),
        ({"y": TEST[1][:5]}, ValueError, "y of report must have one value for each of 90 rows of X; got 5."),
        ({"y": ["?"] * 90}, ValueError, "y of report must hold classes of the model, such as 'cheap', 'dear', 'usual'"),
        ({"y": [None] * 90}, ValueError, "y contains NaN"),
        ({"X": TEST[0].drop(columns="town")}, ValueError, "feature names"),
        ({"X": TEST[0][:1], "y": TEST[1][:1]}, ValueError, "X of report must have at least 2 rows; got 1."),
        ({"folds": 1}, ValueError, "folds of report must be None or an int from 2 to 50; got 1."),
        ({"X": TEST[0][:3], "y": TEST[1][:3], "folds": 4}, ValueError, "folds of report must be at most the number of"),
        (
            {"feature_names": ["a"]},
            ValueError,
            "feature_names of report must have a name for each of 4 features; got 1",
        ),
        ({"random_state": -1}, ValueError, "random_state of report must be an int from 0 to"),
    ],
)
def test_what_a_user_gets_wrong_is_said(
    change: dict[str, Any], error: type[Exception], words: str, fitted: dict[str, Any]
) -> None:
    given = {"model": fitted["tree of classes"], "X": TEST[0], "y": TEST[1], **change}
    with pytest.raises(error, match=re.escape(words)):
        report(**given)


def test_text_where_numbers_are_predicted_is_refused(fitted: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="y of SLMRegressor must hold a finite number"):
        report(fitted["tree of numbers"], TEST[0], TEST[1])


def test_report_is_a_public_name() -> None:
    assert sublearn.report is report


def test_rows_kept_apart_are_hardly_ever_taken_for_those_of_the_training() -> None:
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, kept = (20 + 5 * seed, 10 + 7 * (seed % 9))
        X, noise = rng.normal(size=(n + kept, 3)).round(1), rng.normal(size=n + kept)
        y = X[:, 0] + noise
        model = SLMRegressor(max_depth=1 + seed % 4, random_state=0).fit(X[:n], y[:n])
        subject = as_subject(model, None, None)
        found.append(seen_before(subject, as_rows(subject, X[n:], y[n:])))
    assert found == [None] * 60


def test_rows_of_which_a_forest_is_unsure_are_those_its_trees_differ_on(fitted: dict[str, Any]) -> None:
    study = study_of(fitted["forest of numbers"], *parts_of("numbers", TEST))
    forest, ended = fitted["forest of numbers"], fitted["forest of numbers"].apply(TEST[0])
    values = forest.ensemble_.nodes.value[ended + forest.ensemble_.roots, 0]
    assert np.allclose(unsureness(study), values.std(axis=1))
    assert next(pick.row for pick in picked(study) if pick.group == UNSURE) == np.argmax(values.std(axis=1))

    study = study_of(fitted["boosting of numbers"], *parts_of("numbers", TEST))
    ended, errors = fitted["boosting of numbers"].apply(TEST[0]), np.abs(study.errors)
    row = 7
    # rows are alike that share a leaf
    alike = [np.flatnonzero((leaves == leaves[row]) & (np.arange(90) != row)) for leaves in ended.T]
    assert np.isclose(unsureness(study)[row], np.mean([errors[some].mean() for some in alike if len(some)]))

    study = study_of(fitted["boosting of classes"], *parts_of("classes", TEST))
    margins = np.sort(fitted["boosting of classes"].predict_proba(TEST[0]), axis=1)
    assert np.allclose(1 - unsureness(study), margins[:, -1] - margins[:, -2])
