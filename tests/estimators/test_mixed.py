"""Tables with gaps, categories and dates, as frames of several libraries: all promises hold, and errors are clear."""

import pickle
import re
from datetime import date, datetime, time, timedelta
from typing import Any

import narwhals
import narwhals.stable.v1
import narwhals.stable.v2
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    export_text,
    tune,
)

REGRESSORS = [SLMRegressor, SLMForestRegressor, SLMBoostRegressor]
CLASSIFIERS = [SLMClassifier, SLMForestClassifier, SLMBoostClassifier]
ALL = pytest.mark.parametrize("make", [*REGRESSORS, *CLASSIFIERS])
N = 400


def small(make: Any, **given: Any) -> Any:
    """A model that is fitted soon, and that draws nothing among the rows; boosting tries no rates."""
    if "n_estimators" in make().get_params():
        given = {"n_estimators": 8, **given}
    if "learning_rate" in make().get_params():
        given = {"learning_rate": 0.3, **given}
    return make(**{"random_state": 0, "racing_samples": None, **given})


def tried(make: Any) -> dict[str, str]:
    """For boosting that finds out how fast to learn, which must keep all promises too."""
    return {"learning_rate": "auto"} if "learning_rate" in make().get_params() else {}


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Numbers, one with gaps, categories of three and of thirty levels, gaps among these, and flags."""
    rng = np.random.default_rng(seed)
    city = pd.Series([f"city {i:02d}" for i in rng.integers(0, 30, n)], dtype=object)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n)),
            "city": city.where(rng.random(n) > 0.1, None),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "new": rng.random(n) < 0.5,
        }
    )


def numbers_of(X: pd.DataFrame) -> Any:
    """A target that needs every column."""
    effect = X["city"].map(lambda c: -1.0 if c is None else (hash_of(c) % 7) / 3.0)
    y = X["size"] + effect + 1.5 * (X["colour"] == "green") + 2.0 * X["age"].isna() + X["new"]
    return y.to_numpy(np.float64)


def hash_of(text: str) -> int:
    return sum(map(ord, text)) * 7919


def target_of(make: Any, X: pd.DataFrame) -> Any:
    y = numbers_of(X)
    return y if make in REGRESSORS else np.where(y > 3, "high", np.where(y > 1, "middle", "low"))


def answers(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


X = table()


def frames(given: pd.DataFrame) -> dict[str, Any]:
    """One table in many forms."""
    plain = pl.from_pandas(given)
    return {
        "pandas": given,
        "nullable": given.convert_dtypes(),
        "arrow-backed": given.convert_dtypes(dtype_backend="pyarrow"),
        "polars": plain,
        "polars-strings": plain.with_columns(pl.col("colour").cast(pl.String)),
        "polars-enum": plain.with_columns(pl.col("colour").cast(pl.Enum(["red", "green", "blue"]))),
        "arrow": plain.to_arrow(),
        "arrow-strings": plain.with_columns(pl.col("colour").cast(pl.String)).to_arrow(),
        "objects": given.astype(object).to_numpy(),
        "lists": given.astype(object).where(given.notna(), None).to_numpy().tolist(),
    }


@ALL
def test_all_forms_of_a_table_give_the_same_answers(make: Any) -> None:
    fresh = table(50, seed=1)
    y = target_of(make, X)
    by_name = small(make).fit(X, y)
    expected = answers(by_name, fresh)
    forms = frames(fresh)
    for name, form in frames(X).items():
        chosen = {"categorical_features": [2, 3]} if name in ("objects", "lists") else {}
        model = small(make, **chosen).fit(form, y)
        np.testing.assert_array_equal(answers(model, forms[name]), expected, err_msg=name)
        if not chosen:
            np.testing.assert_array_equal(answers(by_name, forms[name]), expected, err_msg=name)


@ALL
def test_the_model_does_not_depend_on_the_number_of_threads(make: Any) -> None:
    large = table(3000)
    y = target_of(make, large)
    one, three = (small(make, n_jobs=n, **tried(make)).fit(large, y) for n in (1, 3))
    np.testing.assert_array_equal(answers(one, X), answers(three, X))


@ALL
def test_weight_two_equals_row_twice_with_gaps_and_categories(make: Any) -> None:
    y = target_of(make, X)
    weights = np.random.default_rng(2).integers(0, 3, N)
    rows = np.repeat(np.arange(N), weights)
    weighted = small(make, **tried(make)).fit(X, y, sample_weight=weights.astype(float))
    repeated = small(make, **tried(make)).fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(answers(weighted, X), answers(repeated, X))


@ALL
def test_rows_in_another_order_give_the_same_model(make: Any) -> None:
    y = target_of(make, X)
    order = np.random.default_rng(3).permutation(N)
    one, other = (small(make, **tried(make)).fit(*rows) for rows in ((X, y), (X.iloc[order], y[order])))
    np.testing.assert_array_equal(answers(one, X), answers(other, X))


@pytest.mark.parametrize("make", [SLMRegressor, SLMClassifier])
@pytest.mark.parametrize("max_partitions", [1, 3])
def test_nodes_hold_the_training_samples_that_predict_sends_there(make: Any, max_partitions: int) -> None:
    y = target_of(make, X)
    model = make(random_state=0, max_partitions=max_partitions, min_samples_leaf=5).fit(X, y)
    tree, reached = model.tree_, np.asarray(model.decision_path(X).sum(axis=0)).ravel()
    np.testing.assert_array_equal(tree.n_samples, reached)
    ends = model.apply(X)
    for end in np.unique(ends[tree.is_leaf[ends]]):
        here = y[ends == end]
        expected = [here.mean()] if make is SLMRegressor else [(here == c).mean() for c in model.classes_]
        if len(here) < 5:  # too few for a value of their own
            expected = tree.value[tree.parent[end]]
        np.testing.assert_allclose(tree.value[end], expected, rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_the_training_score_of_boosting_is_that_of_its_predictions(loss: str) -> None:
    y = numbers_of(X)
    model = SLMBoostRegressor(n_estimators=30, learning_rate=0.2, loss=loss, random_state=0).fit(X, y)
    errors = np.abs(model.predict(X) - y)
    expected = np.mean(errors**2) / 2 if loss == "squared_error" else np.mean(errors)
    assert -model.train_score_[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("make", [SLMForestRegressor, SLMBoostRegressor, SLMBoostClassifier])
def test_a_warm_start_gives_the_model_of_one_fit(make: Any) -> None:
    y = target_of(make, X)
    fixed = {"learning_rate": 0.2} if "learning_rate" in make().get_params() else {}
    whole = small(make, n_estimators=9, **fixed).fit(X, y)
    model = small(make, n_estimators=4, warm_start=True, **fixed).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(answers(model, X), answers(whole, X))


@ALL
def test_gaps_and_levels_that_training_had_not_are_answered(make: Any) -> None:
    whole = X.dropna().reset_index(drop=True)
    model = small(make).fit(whole, target_of(make, whole))
    strange = whole.iloc[[0, 1, 2, 0]].copy()
    strange["size"] = [np.nan, 0.0, 1.0, np.nan]
    strange["colour"] = ["purple", None, "red", "purple"]
    strange["city"] = ["nowhere", "city 01", None, "nowhere"]
    found = answers(model, strange)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[0], found[3])


def test_a_gap_that_training_had_not_counts_as_the_middle() -> None:
    x = np.linspace(-1, 1, 101)[:, None]
    model = SLMRegressor(random_state=0).fit(x, x[:, 0] ** 3)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])


@pytest.mark.parametrize("make", REGRESSORS)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_gaps_can_be_told_from_all_values(make: Any, sign: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    x[rng.random(300) < 0.4, 1] = np.nan
    y = sign * np.isnan(x[:, 1])
    model = small(make, max_depth=1, min_samples_leaf=1).fit(x, y)
    assert np.corrcoef(model.predict(x), y)[0, 1] > 0.99


@pytest.mark.parametrize("make", REGRESSORS)
@pytest.mark.parametrize("side", [-2.0, 0.0, 2.0])
def test_gaps_go_with_the_values_they_resemble(make: Any, side: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 1))
    gone = rng.random(600) < 0.3
    y = np.where(gone, side, x[:, 0] > 0)
    given = np.where(gone[:, None], np.nan, x)
    model = small(make, min_samples_leaf=5, **({"learning_rate": 0.5} if make is SLMBoostRegressor else {}))
    assert np.abs(model.fit(given, y).predict(given) - y).mean() < 0.1


@ALL
def test_pickles_and_clones(make: Any) -> None:
    model = small(make).fit(X, target_of(make, X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answers(again, X), answers(model, X))
    assert clone(model).get_params() == model.get_params()


def test_validation_samples_may_have_new_levels() -> None:
    y = numbers_of(X)
    fresh = table(100, seed=5)
    fresh["city"] = "elsewhere"
    model = SLMBoostRegressor(n_estimators=30, early_stopping=True, random_state=0)
    model.fit(X, y, eval_set=(fresh, numbers_of(fresh)))
    assert np.isfinite(model.validation_score_).all()


def test_importances_are_one_a_column() -> None:
    model = small(SLMForestRegressor).fit(X, numbers_of(X))
    assert model.feature_importances_.shape == (5,)
    assert (model.feature_importances_ > 0.01).all()


# ---- which columns are categories


def test_columns_can_be_chosen_by_name_number_or_flag() -> None:
    codes = X.assign(city=X["city"].map(lambda c: np.nan if c is None else int(c[-2:])), colour=X["colour"].cat.codes)
    y = numbers_of(X)
    expected = small(SLMRegressor, categorical_features=["city", "colour"]).fit(codes, y).predict(codes)
    flags = [False, False, True, True, False]
    names = ["city", "colour"]
    for chosen in (
        *([2, 3], (2, 3), range(2, 4), np.array([2, 3], np.uint8), pd.Index([2, 3]), pl.Series([2, 3])),
        *(
            names,
            tuple(names),
            np.array(names),
            np.array(names, object),
            pd.Index(names),
            pd.Series(names, index=[7, 8]),
        ),
        *(
            pl.Series(names),
            pd.array(names),
            codes.columns[2:4],
            flags,
            np.array(flags),
            pd.Series(flags, codes.columns),
        ),
        *(pl.Series(flags), pa.array(names)),
    ):
        model = small(SLMRegressor, categorical_features=chosen).fit(codes, y)
        np.testing.assert_array_equal(model.predict(codes), expected)
    array = codes.to_numpy(float)
    model = small(SLMRegressor, categorical_features=[2, 3]).fit(array, y)
    np.testing.assert_array_equal(model.predict(array), expected)
    as_numbers = small(SLMRegressor).fit(codes, y)
    assert as_numbers.feature_maps_.n_views < model.feature_maps_.n_views


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (pd.Index(["town"]), "categorical_features of SLMRegressor must hold names or numbers of columns; got 'town'."),
        (["town"], "categorical_features of SLMRegressor must hold names or numbers of columns; got 'town'."),
        ([7], "categorical_features of SLMRegressor must hold names or numbers of columns; got 7."),
        ([True], "categorical_features of SLMRegressor must have a flag for each of 5 columns; got 1."),
    ],
)
def test_columns_that_are_not_there_are_named(chosen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        SLMRegressor(categorical_features=chosen).fit(X, numbers_of(X))


def test_dates_and_durations_are_numbers() -> None:
    n = 200
    days = [date(2024, 1, 1) + timedelta(days=i) for i in range(n)]
    moments = [datetime(2024, 1, 1) + timedelta(minutes=i) for i in range(n)]
    frame = pl.DataFrame({"day": days, "moment": moments, "lasts": [timedelta(seconds=i) for i in range(n)]})
    y = np.arange(n) > 100
    expected = SLMClassifier(random_state=0).fit(frame, y)
    assert (expected.predict(frame) == y).all()
    for other in (
        frame.to_arrow(),
        frame.to_pandas().assign(day=frame.to_arrow().column("day").to_pandas(date_as_object=False)),
    ):
        model = SLMClassifier(random_state=0).fit(other, y)
        assert (model.predict(frame) == y).all()
    seconds = frame.select("moment").to_numpy().astype("datetime64[us]")
    assert (SLMClassifier(random_state=0).fit(seconds, y).predict(seconds) == y).all()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [1.0, 2.0], "deep": [[1], [2, 3]]}),
        pa.table({"x": [1.0, 2.0], "deep": [[1], [2, 3]]}),
        pl.DataFrame({"x": [1.0, 2.0], "deep": [{"a": 1}, {"a": 2}]}),
    ],
    ids=["list", "arrow-list", "struct"],
)
def test_a_column_of_another_type_is_named(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"^X of SLMClassifier must hold .* objects such as .* in column 'deep' "):
        SLMClassifier().fit(frame, [0, 1])


@ALL
def test_text_in_a_column_that_is_no_category_is_named(make: Any) -> None:
    with pytest.raises(ValueError, match=r"X contains text such as 'city .*' in column 'city' .*categorical_"):
        small(make, categorical_features=["colour"]).fit(X, target_of(make, X))


@ALL
def test_infinity_is_named_with_its_column(make: Any) -> None:
    bad = X.assign(age=np.where(np.arange(N) == 7, np.inf, X["age"]))
    with pytest.raises(ValueError, match=r"infinity in column 'age' \(1 of 400 rows, the first is row 7\)"):
        small(make).fit(bad, target_of(make, X))


def test_columns_in_another_order_are_refused() -> None:
    model = small(SLMRegressor).fit(X, numbers_of(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["age", "size", "city", "colour", "new"]])


@pytest.mark.parametrize("values", [["a"] * 60, [None] * 60, [f"{i}" for i in range(60)], ["a"] * 59 + ["b"]])
@pytest.mark.parametrize("make", REGRESSORS)
def test_columns_of_one_level_of_none_and_of_as_many_as_rows_work(make: Any, values: list[Any]) -> None:
    frame = pd.DataFrame({"x": np.arange(60.0), "c": pd.Series(values, dtype=object)})
    model = small(make).fit(frame, np.arange(60.0))
    assert np.isfinite(model.predict(frame)).all()
    only = small(make).fit(frame[["c"]], np.arange(60.0))
    assert np.isfinite(only.predict(frame[["c"]])).all()


def test_a_random_column_of_many_levels_does_little_harm() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    x = rng.normal(size=(n, 4))
    y = x[:, 0] + np.sin(2 * x[:, 1]) + 0.5 * rng.normal(size=n)
    plain = pd.DataFrame(x, columns=list("abcd"))
    noisy = plain.assign(noise=[f"{i}" for i in rng.integers(0, 1000, n)])
    train, test = np.arange(n) < 1800, np.arange(n) >= 1800
    errors = []
    for frame in (plain, noisy):
        model = SLMBoostRegressor(random_state=0).fit(frame[train], y[train])
        errors.append(np.mean((model.predict(frame[test]) - y[test]) ** 2))
    assert errors[1] < 1.04 * errors[0]  # of squares: 2 % of the loss


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_tune_takes_frames(form: str) -> None:
    pytest.importorskip("optuna")
    given = frames(X)[form]
    model = tune(SLMRegressor(random_state=0), given, numbers_of(X), budget=1.0, verbose=False)
    assert np.isfinite(model.predict(given)).all()


def test_a_table_as_an_array_of_objects_can_be_tuned() -> None:
    pytest.importorskip("optuna")
    start = SLMRegressor(random_state=0, categorical_features=[2, 3])
    assert tune(start, frames(X)["objects"], numbers_of(X), budget=1.0, verbose=False).tuning_.n_settings >= 1


@pytest.mark.parametrize("make", [SLMRegressor, SLMClassifier])
def test_text_of_a_tree_says_what_gaps_and_levels_stand_for(make: Any) -> None:
    text = export_text(make(max_depth=3, random_state=0).fit(X, target_of(make, X)))
    assert re.search(r"[+(a: ]m\d?\(city\)", text)
    assert re.search(r"^m\d?\(city\) is 'city 00': -?[0-9.]+, .*missing: .*any other: ", text, re.M)
    assert "[colour = 'green']" in text or "(colour)" in text
    gappy = set(re.findall(r"(?:^| )(\S+)\[(?:low|middle|high)\] ", text, re.M))
    assert gappy in ({"age"}, {"g(age)"})
    for name in gappy:
        said = rf"^{re.escape(name)}\[(low|middle|high)\] is {re.escape(name)}, or -?[0-9.]+ where it is missing$"
        assert re.search(said, text, re.M)


def test_levels_named_like_what_is_missing_are_told_from_it() -> None:
    levels = ["missing", "any other", "it's", 3, 2.5, 10**16 + 1, None]
    frame = pd.DataFrame({"c": pd.Series(levels * 30, dtype=object)})
    text = export_text(SLMRegressor(random_state=0).fit(frame, np.arange(210) % 7 * 1.0))
    names = re.search(r"^m\(c\) is (.*)$", text, re.M)
    assert names is not None
    found = [one.rsplit(": ", 1)[0] for one in names[1].split(", ")]
    assert found == ["2.5", "3", "10000000000000001", "'any other'", '"it\'s"', "'missing'", "missing", "any other"]


# ---- what a column is, in fit and later


DAYS = pd.date_range("2024-01-01", periods=N)
COLUMNS: dict[str, tuple[Any, str | None]] = {  # values, and what an error calls them; None: an error of another kind
    "floats": (np.arange(N) * 1.0, "numbers"),
    "ints": (np.arange(N), "numbers"),
    "flags": (np.arange(N) % 2 > 0, "numbers"),
    "dates": (DAYS, "dates"),
    "zoned dates": (DAYS.tz_localize("UTC"), "dates"),
    "days": (pd.array(DAYS.date, pd.ArrowDtype(pa.date32())), "dates"),
    "durations": (DAYS - DAYS[0], "durations"),
    "times": (pd.array([time(i % 24) for i in range(N)], pd.ArrowDtype(pa.time64("us"))), "times of a day"),
    "digits": (pd.array([f"{i}" for i in range(N)], "string"), "text"),
    "categories": (pd.Categorical([f"{i % 9}" for i in range(N)]), "text"),
}


@pytest.mark.parametrize("now", COLUMNS)
@pytest.mark.parametrize("before", [name for name, (_, kind) in COLUMNS.items() if kind != "text"])
@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_a_column_that_holds_another_kind_of_values_than_in_fit_is_named(form: str, before: str, now: str) -> None:
    as_form = {"pandas": lambda x: x, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[form]
    one, other = (as_form(pd.DataFrame({"x": np.zeros(N), "c": COLUMNS[name][0]})) for name in (before, now))
    was, is_now = COLUMNS[before][1], COLUMNS[now][1]
    model = SLMRegressor(max_depth=1, random_state=0).fit(one, np.arange(N) * 1.0)
    if was == is_now:
        assert np.isfinite(model.predict(other)).all()
        return
    said = f"X of SLMRegressor must be of the types of fit: column 'c' held {was} then, and holds {is_now} now."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        model.predict(other)


@ALL
def test_an_array_of_numbers_is_not_taken_for_dates(make: Any) -> None:
    dates = np.arange(N).astype("datetime64[D]")[:, None]
    model = small(make).fit(dates, np.arange(N) % 2)
    with pytest.raises(ValueError, match="column 0 held dates then, and holds numbers now"):
        model.predict(np.arange(N)[:, None])
    np.testing.assert_array_equal(model.predict(dates.astype("datetime64[ns]")), model.predict(dates))


def test_a_column_of_which_nothing_is_there_may_be_of_any_type() -> None:
    frame = pd.DataFrame({"x": np.arange(N), "when": DAYS, "city": X["city"], "none": np.nan})
    model = SLMRegressor(random_state=0).fit(frame.assign(none=pd.Series([None] * N)), np.arange(N) * 1.0)
    for nothing in (np.nan, None, pd.NaT):
        assert np.isfinite(model.predict(frame.assign(when=nothing, city=nothing))).all()
    model = SLMRegressor(random_state=0).fit(pl.DataFrame({"x": np.arange(N), "none": [None] * N}), np.arange(N) * 1.0)
    assert np.isfinite(model.predict(pl.DataFrame({"x": np.arange(N), "none": DAYS.to_numpy()}))).all()


def test_text_that_was_read_as_numbers_may_become_numbers() -> None:
    digits = pd.DataFrame({"x": pd.array([f"{i}" for i in range(N)], "string")})
    model = SLMRegressor(categorical_features=None, random_state=0).fit(digits, np.arange(N) * 1.0)
    np.testing.assert_array_equal(model.predict(digits.astype(float)), model.predict(digits))


def test_a_column_to_validate_on_is_of_the_type_of_fit() -> None:
    x = pd.DataFrame({"x": np.arange(N)})
    with pytest.raises(ValueError, match=r"eval_set .* column 'x' held numbers then, and holds dates now"):
        SLMBoostRegressor(n_estimators=2).fit(x, np.arange(N), eval_set=(x.assign(x=DAYS), np.arange(N)))


@pytest.mark.parametrize("change", [lambda x: x.assign(more=1.0), lambda x: x.drop(columns="new")])
@pytest.mark.parametrize("make", [SLMForestRegressor, SLMBoostRegressor])
def test_a_warm_start_with_another_number_of_columns_is_refused(make: Any, change: Any) -> None:
    model = small(make, warm_start=True).fit(X, numbers_of(X))
    with pytest.raises(ValueError, match="must have 5 features as before, since warm_start=True keeps trees"):
        model.set_params(n_estimators=9).fit(change(X), numbers_of(X))


@pytest.mark.parametrize(
    ("before", "now"),
    [("from_dtype", ["city"]), (["city"], ["colour"]), (pd.Index(["city", "colour"]), None), ([2], [3])],
)
@pytest.mark.parametrize("make", [SLMForestRegressor, SLMForestClassifier, SLMBoostRegressor, SLMBoostClassifier])
def test_a_warm_start_keeps_the_choice_of_categories(make: Any, before: Any, now: Any) -> None:
    codes = X.assign(city=X["city"].map(hash_of, na_action="ignore").astype(float), colour=X["colour"].cat.codes)
    y = target_of(make, X)
    model = small(make, warm_start=True, n_estimators=2, categorical_features=before).fit(codes, y)
    said = re.escape(
        f"categorical_features of {make.__name__} must stay {before if isinstance(before, str) else [*before]}"
    )
    with pytest.raises(
        ValueError, match=said.replace("from_dtype", "'from_dtype'") + ", as warm_start=True keeps trees"
    ):
        model.set_params(n_estimators=3, categorical_features=now).fit(codes, y)
    same = before if isinstance(before, str) else np.array(before)
    assert len(model.set_params(categorical_features=same).fit(codes, y).predict(codes)) == N


@pytest.mark.parametrize("form", ["arrow", "pandas"])
@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns", "UTC")])
def test_all_dates_of_arrow_are_the_same_seconds(form: str, kind: Any) -> None:
    days = [day if i % 9 else None for i, day in enumerate(DAYS.to_pydatetime())]
    expected = pl.DataFrame({"day": days})
    given = pa.table({"day": pa.array(days, kind)})
    given = given if form == "arrow" else given.to_pandas(types_mapper=pd.ArrowDtype)
    y = np.arange(N) * 1.0
    for one, other in ((given, expected), (expected, given)):
        model = SLMRegressor(random_state=0).fit(one, y)
        np.testing.assert_array_equal(model.predict(other), model.predict(one))


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")])
def test_all_times_of_arrow_are_the_same_seconds(kind: Any) -> None:
    times = [time(i % 24) if i % 5 else None for i in range(N)]
    y = np.arange(N) % 24 * 1.0
    model = SLMRegressor(random_state=0).fit(pl.DataFrame({"t": times}), y)
    given = pa.table({"t": pa.array(times, kind)})
    np.testing.assert_array_equal(model.predict(given), model.predict(pl.DataFrame({"t": times})))


def test_whole_numbers_that_are_no_floats_are_rounded_in_every_frame() -> None:
    day = timedelta(days=1)
    columns: dict[str, list[Any]] = {
        "id": [10**17 + i for i in range(40)],
        "until": [datetime(9999, 12, 31), *(datetime(2000, 1, 1) + i * day for i in range(39))],
        "long": [i * 200 * day for i in range(40)],
    }
    kinds = {"id": pa.int64(), "until": pa.timestamp("us"), "long": pa.duration("ns")}
    for gaps in (0, 3):
        given = {name: [None] * gaps + values[gaps:] for name, values in columns.items()}
        table = pa.table({name: pa.array(values, kinds[name]) for name, values in given.items()})
        backed = table.to_pandas(types_mapper=pd.ArrowDtype)
        frames = (table, backed, pl.from_arrow(table))
        answers = [SLMRegressor(random_state=0).fit(X, np.arange(40.0)).predict(X) for X in frames]
        np.testing.assert_array_equal(answers[0], answers[1])
        np.testing.assert_array_equal(answers[0], answers[2])


def test_a_column_of_dates_in_an_array_is_named_beside_categories() -> None:
    X = np.array([[i, "ab"[i % 2], datetime(2000, 1, 1)] for i in range(40)], object)
    with pytest.raises(ValueError, match=r"dates or times such as .* in column 2"):
        SLMRegressor(categorical_features=[1]).fit(X, np.arange(40.0))


def test_other_types_of_arrow_are_named() -> None:
    spans = pa.table({"span": pa.array([pa.MonthDayNano([i, 1, 1]) for i in range(4)])})
    with pytest.raises(ValueError, match=r"objects such as MonthDayNano.* in column 'span'"):
        SLMRegressor().fit(spans, np.arange(4.0))


@pytest.mark.parametrize("wrap", [narwhals.from_native, narwhals.stable.v1.from_native, narwhals.stable.v2.from_native])
@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_frames_of_narwhals_are_what_is_inside(form: str, wrap: Any) -> None:
    frame, y = frames(X)[form], numbers_of(X)
    model = small(SLMRegressor).fit(wrap(frame), y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(model.predict(wrap(frame)), small(SLMRegressor).fit(frame, y).predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(wrap(frames(X[["age", "size", "city", "colour", "new"]])[form]))


# ---- which levels are one


SAME = {
    "ints": np.arange(6),
    "short ints": np.arange(6, dtype=np.int8),
    "floats": np.arange(6.0),
    "short floats": np.arange(6, dtype=np.float32),
    "nullable": pd.array(range(6), "Int64"),
    "arrow": pd.array(range(6), pd.ArrowDtype(pa.int32())),
    "categories": pd.Categorical(range(6)),
    "float categories": pd.Categorical(np.arange(6, dtype=np.float32)),
    "objects": np.array([0, 1.0, np.int8(2), np.float32(3), np.float64(4), 5], object),
}


def coded(values: Any) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({"c": values})] * 40, ignore_index=True)


@pytest.mark.parametrize("now", SAME)
@pytest.mark.parametrize("before", SAME)
def test_levels_that_are_written_alike_are_one(before: str, now: str) -> None:
    y = np.tile([3.0, 1.0, 4.0, 1.5, 9.0, 2.0], 40)
    one, other = coded(SAME[before]), coded(SAME[now])
    model = SLMRegressor(categorical_features=["c"], random_state=0).fit(one, y)
    np.testing.assert_array_equal(model.predict(other), y)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(pd.DataFrame({"c": other["c"].astype(float)}))), y)


@pytest.mark.parametrize("kinds", [(np.float32, np.float64), (np.float64, np.float32), (np.float16, np.float32)])
def test_levels_of_single_and_of_double_precision_are_one(kinds: Any) -> None:
    y = np.tile([3.0, 1.0, 4.0, 1.5], 40)
    one, other = (coded(np.array([0.1, 0.2, 0.7, np.nan], kind)) for kind in kinds)
    model = SLMRegressor(categorical_features=[0], random_state=0).fit(one, y)
    np.testing.assert_array_equal(model.predict(other), y)
    array = SLMRegressor(categorical_features=[0], random_state=0).fit(one.to_numpy(), y)
    np.testing.assert_array_equal(array.predict(other.to_numpy()), y)
    frame = pl.DataFrame({"c": other["c"].to_numpy().astype(np.float32)})
    for later in (frame, frame.to_arrow(), frame.to_pandas().astype("category"), frame.to_pandas().astype("Float32")):
        np.testing.assert_array_equal(model.predict(later), y)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (["1", "2"], [1, 2], "held text such as '1' then, and holds numbers such as 1 now"),
        ([1, 2], ["1", "2"], "held numbers such as 1 then, and holds text such as '1' now"),
        (["a", "b"], [2.5, None], "held text such as 'a' then, and holds numbers such as 2.5 now"),
        ([7, None], ["b", None], "held numbers such as 7 then, and holds text such as 'b' now"),
        (["a", "b"], ["c", "d"], None),
        ([1, 2], [3, 4], None),
        (["a", "b"], [1, "a"], None),
        (["a", 1], [2, 3], None),
        (["a", "b"], [None, None], None),
    ],
)
@ALL
def test_text_in_the_place_of_numbers_is_named_where_no_level_is_known(
    make: Any, before: Any, now: Any, said: str | None
) -> None:
    one, other = (pd.DataFrame({"c": pd.Series(values * 30, dtype=object)}) for values in (before, now))
    model = small(make, categorical_features=["c"]).fit(one, np.arange(60) % 2)
    if said is None:
        assert len(model.predict(other)) == 60
        return
    with pytest.raises(ValueError, match=f"X of {make.__name__} must be of the types of fit: column 'c' {said}[.]$"):
        model.predict(other)


def test_a_lazy_frame_is_to_be_collected() -> None:
    with pytest.raises(TypeError, match="X must be a table that is there; got LazyFrame"):
        SLMRegressor().fit(pl.from_pandas(X).lazy(), numbers_of(X))


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Null])
def test_a_column_of_nothing_is_taken(kind: Any) -> None:
    frame = pl.DataFrame({"x": np.arange(30.0), "c": pl.Series([None] * 30, dtype=kind)})
    for given in (frame, frame.to_arrow()):
        model = SLMRegressor(random_state=0).fit(given, np.arange(30.0))
        assert np.isfinite(model.predict(given)).all()


# ---- means of categories


def levels_and_numbers(n_levels: int, n: int, noise: float) -> tuple[pd.DataFrame, Any]:
    """One column of levels, each with an effect of its own."""
    rng = np.random.default_rng(6)
    level, effect = rng.integers(0, n_levels, n), rng.normal(size=n_levels)
    return pd.DataFrame({"level": [f"{i:03d}" for i in level]}), effect[level] + noise * rng.normal(size=n)


@pytest.mark.parametrize("make", REGRESSORS)
@pytest.mark.parametrize("nested", [False, True])
def test_levels_are_learned_where_all_rows_of_a_level_are_alike(make: Any, nested: bool) -> None:
    frame, y = levels_and_numbers(20, 1000, 0.1)
    if nested:
        frame["group"] = frame["level"].str[1]
    model = make(random_state=0).fit(frame[:600], y[:600])
    assert model.score(frame[600:], y[600:]) > 0.9


def test_out_of_bag_scores_do_not_know_the_own_target() -> None:
    frame, y = levels_and_numbers(60, 600, 3.0)
    frame["x"] = np.random.default_rng(7).normal(size=600)
    model = SLMForestRegressor(n_estimators=60, bootstrap=True, oob_score=True, random_state=0)
    model.fit(frame[:400], y[:400])
    assert model.oob_score_ < model.score(frame[400:], y[400:]) + 0.1


def test_a_warm_start_with_more_rows_grows_from_means_without_the_own_target() -> None:
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"noise": [f"{i}" for i in rng.integers(0, 60, 1520)], "x": rng.normal(size=1520)})
        y = rng.normal(size=1520)
        scores = []
        for n in (1500, 1520):
            model = SLMBoostRegressor(n_estimators=20, learning_rate=0.1, warm_start=True, random_state=0)
            model.fit(frame[:1500], y[:1500])
            model.set_params(n_estimators=120).fit(frame[:n], y[:n])
            scores.append(model.score(frame[:1500], y[:1500]))
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) < 0.03  # twice that where they do


def test_large_whole_numbers_are_levels_of_their_own() -> None:
    ids = np.array([2**53, 2**53 + 1, 2**53 + 2] * 40)
    frame = pd.DataFrame({"id": ids, "x": np.zeros(120)})
    model = SLMRegressor(categorical_features=["id"], random_state=0).fit(frame, ids % 3 * 1.0)
    assert (model.predict(frame) == ids % 3).all()


@pytest.mark.parametrize(
    "values",
    [[10**400, "a"], [b"x", b"y"], [date(2020, 1, 1), date(2021, 1, 1)], [("a", 1), ("b", 2)], [1, "1"], [True, 2.5]],
    ids=["huge", "bytes", "days", "pairs", "number and text", "flag and number"],
)
def test_levels_of_many_kinds_are_told_apart(values: list[Any]) -> None:
    frame = pd.DataFrame({"c": pd.Series(values * 30, dtype=object), "x": np.zeros(60)})
    y = np.arange(60) % 2
    assert (SLMClassifier(random_state=0).fit(frame, y).predict(frame) == y).all()


def test_times_of_arrow_in_pandas_may_be_missing() -> None:
    times = pd.array([time(1), None] * 30, dtype=pd.ArrowDtype(pa.time64("us")))
    model = SLMClassifier(random_state=0).fit(pd.DataFrame({"t": times}), np.arange(60) % 2)
    assert model.score(pd.DataFrame({"t": times}), np.arange(60) % 2) == 1.0


def test_an_array_is_predicted_by_a_model_of_named_categories() -> None:
    model = small(SLMRegressor, categorical_features=["city", "colour"]).fit(X, numbers_of(X))
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(model.predict(X.to_numpy()), model.predict(X))


def test_classes_that_are_missing_are_counted_beside_categories() -> None:
    with pytest.raises(ValueError, match="y contains NaN in 200 of 400 samples"):
        SLMClassifier().fit(X, pd.array(["a", None] * 200, dtype="string"))
