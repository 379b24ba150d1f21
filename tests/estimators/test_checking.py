"""Samples and targets that are no finite numbers: errors name the column or sample, what is in it and the way out."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

N = 20
AGES = np.arange(N, dtype=float)
LABELS = np.arange(N) % 2
GOOD = pd.DataFrame({"age": AGES, "other": AGES[::-1]})
MODELS = [SLMClassifier, SLMRegressor, SLMForestClassifier, SLMForestRegressor, SLMBoostClassifier, SLMBoostRegressor]
ALL = pytest.mark.parametrize("make", MODELS)
REGRESSORS = pytest.mark.parametrize("make", [SLMRegressor, SLMForestRegressor, SLMBoostRegressor])
CLASSIFIERS = pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
BOOSTS = pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])

ENCODE, FILL, COUNT_DAYS = "OneHotEncoder", "SimpleImputer", "days"
COLUMNS: dict[str, tuple[Any, str, str]] = {  # values, what is said of them, the way out
    "text": (["u", "v"] * 10, "text such as 'u'", ENCODE),
    "text after numbers": (["1"] * 15 + ["v"] * 5, r"text such as 'v' in column \S+ \(5 of 20 rows, .* row 15", ENCODE),
    "dates": ([datetime(2020, 1, 1)] * N, "dates or times such as 2020-01-01", COUNT_DAYS),
    "durations": ([timedelta(days=1)] * N, "dates or times such as", COUNT_DAYS),
    "gaps": ([1.0] * 7 + [None] * 3 + [2.0] * 10, r"NaN in column \S+ \(3 of 20 rows, the first is row 7", FILL),
    "infinity": ([1.0] * 19 + [-np.inf], r"infinity in column \S+ \(1 of 20 rows, the first is row 19", "Replace"),
}
COLUMN = pytest.mark.parametrize("name", COLUMNS)
FORMS: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda values: pd.DataFrame({"age": AGES, "other": values}),
    "polars": lambda values: pl.DataFrame({"age": AGES, "other": values}),
    "array": lambda values: np.array([*zip(AGES, values, strict=True)], object),
    "list": lambda values: [list(row) for row in zip(AGES, values, strict=True)],
}
FORM = pytest.mark.parametrize("form", FORMS)
FRAMES = ("pandas", "polars")
TIMES = ("dates", "durations")


def small(make: Any) -> Any:
    return make(n_estimators=3) if "n_estimators" in make().get_params() else make()


def message(make: Any, form: str, name: str, fits: bool) -> str:
    _, said, way_out = COLUMNS[name]
    if form in FRAMES and not fits and name in TIMES:
        return (
            f"X of {make.__name__} must be of the types of fit: column 'other' held numbers then, and holds {name} now"
        )
    column = "'other'" if form in ("pandas", "polars") else "1"
    said = said.replace(r"\S+", column) if r"\S+" in said else f"{said}.* in column {column} "
    return f"X of {make.__name__} must hold finite numbers; X contains {said}.*{way_out}"


def is_taken(form: str, name: str, fits: bool) -> bool:
    """Gaps are, and columns of frames whose types say what they are; a column of numbers does not become another."""
    return name == "gaps" or (form in FRAMES and fits and (name in TIMES or "text" in name))


@ALL
@COLUMN
@FORM
def test_column_that_holds_no_numbers_is_named_by_fit(make: Any, form: str, name: str) -> None:
    given = FORMS[form](COLUMNS[name][0])
    if is_taken(form, name, fits=True):
        assert len(small(make).fit(given, LABELS).predict(given)) == N
    else:
        with pytest.raises(ValueError, match=f"^{message(make, form, name, fits=True)}"):
            small(make).fit(given, LABELS)


@ALL
@COLUMN
@FORM
def test_column_that_holds_no_numbers_is_named_by_predict(make: Any, form: str, name: str) -> None:
    model = small(make).fit(GOOD if form in ("pandas", "polars") else GOOD.to_numpy(), LABELS)
    bad = FORMS[form](COLUMNS[name][0])
    calls = ["predict", "predict_proba", "apply", "decision_path", "decision_function", "staged_predict"]
    for call in (getattr(model, one) for one in calls if hasattr(model, one)):
        if is_taken(form, name, fits=False):
            assert next(iter(call(bad))) is not None
        else:
            with pytest.raises(ValueError, match=f"^{message(make, form, name, fits=False)}"):
                next(iter(call(bad)))


@BOOSTS
@COLUMN
@FORM
def test_column_that_holds_no_numbers_is_named_in_eval_set(make: Any, form: str, name: str) -> None:
    good = GOOD if form in ("pandas", "polars") else GOOD.to_numpy()
    said = f"^eval_set of {make.__name__}.fit must be like X and y: {message(make, form, name, fits=False)}"
    given = (FORMS[form](COLUMNS[name][0]), LABELS)
    if is_taken(form, name, fits=False):
        assert np.isfinite(small(make).fit(good, LABELS, eval_set=given).validation_score_).all()
    else:
        with pytest.raises(ValueError, match=said):
            small(make).fit(good, LABELS, eval_set=given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[1.0, "u", "v"]] * N, "text such as 'u' in column 1 .* and in 1 more column[.]"),
        (np.array([["u", "v", "w"]] * N, object), "text such as 'u' in column 0 .* and in 2 more columns[.]"),
        ([["u"], [None]] * 10, "text such as 'u'"),
        (pd.DataFrame({"a": pd.period_range("2020-01-01", periods=N)}), "objects such as .*Period.* column 'a'"),
        (pl.DataFrame({"a": [[1, 2]] * N}), "objects such as .* in column 'a'"),
        (pl.DataFrame({"a": [{"b": 1}] * N}), "objects such as {'b': 1} in column 'a'"),
        ([[np.datetime64("2020-01-01"), 1.0]] * N, "dates or times such as 2020-01-01 in column 0"),
        (np.array([["u" * 99]] * N), "text such as 'u{36}[.]{3} in column 0"),
        ([[1.0, 10**400]] * N, "infinity in column 1"),
        ([[1.0, {}]] * N, "objects such as {} in column 1"),
    ],
    ids=range(10),
)
def test_other_things_that_are_no_numbers_are_named(given: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"X contains {said}"):
        SLMClassifier().fit(given, LABELS)


@pytest.mark.parametrize("given", [np.array(None, object), pd.Series(["u"] * N, index=range(5, N + 5))], ids=range(2))
def test_what_is_no_table_stays_scikit_learns_error(given: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected 2D array|could not convert string to float"):
        SLMClassifier().fit(given, LABELS)


def test_nothing_but_an_unknown_column_is_told_of_names_that_do_not_match() -> None:
    model = SLMClassifier().fit(GOOD, LABELS)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*city"):
        model.predict(GOOD.assign(city="u"))


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"a": [1, pd.NA] * 10}),
        pd.DataFrame({"a": pd.array([1, None] * 10, dtype="Int64")}),
        pd.DataFrame({"a": ["u", None] * 10}),
        pd.DataFrame({"a": pd.date_range("2020-01-01", periods=N, tz="UTC")}),
        pl.DataFrame({"a": [date(2020, 1, 1)] * N}),
        np.array([["2020-01-01"]] * N, "datetime64[D]"),
        np.array([[5]] * N, "timedelta64[D]"),
        np.full((N, 1), np.nan),
        [[None, 1.0]] * N,
    ],
    ids=range(9),
)
def test_gaps_categories_and_dates_are_taken(given: Any) -> None:
    assert len(SLMClassifier().fit(given, LABELS).predict(given)) == N


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"a": [True, False] * 10, "b": ["1", "2.5"] * 10, "c": pd.Categorical([1, 2] * 10)}),
        pl.DataFrame({"a": [True, False] * 10, "b": ["1", "2.5"] * 10}),
        np.array([[1, 2.5]] * N, object),
        [[1, "2.5"]] * N,
    ],
    ids=["pandas", "polars", "array", "list"],
)
def test_what_reads_as_numbers_is_taken(given: Any) -> None:
    assert SLMClassifier().fit(given, LABELS).n_features_in_ >= 2


# ---- targets


TARGETS = [
    ([1.0, np.inf] * 10, "y contains infinity in 10 of 20 samples, the first is sample 1"),
    ([1.0] * 5 + [None] * 2 + [2.0] * 13, "y contains NaN in 2 of 20 samples, the first is sample 5"),
    ([1.0, np.nan] * 10, "y contains NaN in 10 of 20 samples, the first is sample 1"),
]
HIDDEN = pytest.mark.parametrize("dtype", [object, None], ids=["objects", "floats"])


@ALL
@HIDDEN
@pytest.mark.parametrize(("y", "said"), TARGETS, ids=["infinity", "None", "NaN"])
def test_targets_without_a_value_are_counted(make: Any, y: Any, said: str, dtype: Any) -> None:
    for given in (np.array(y, dtype), pd.Series(y, dtype=dtype), y):
        with pytest.raises(ValueError, match=f"^y of {make.__name__} must hold .* for each sample; {said}"):
            small(make).fit(GOOD, given)


@BOOSTS
@HIDDEN
@pytest.mark.parametrize(("y", "said"), TARGETS, ids=["infinity", "None", "NaN"])
def test_targets_to_validate_on_without_a_value_are_counted(make: Any, y: Any, said: str, dtype: Any) -> None:
    with pytest.raises(ValueError, match=f"^eval_set of {make.__name__}.fit must be like X and y: .*{said}"):
        small(make).fit(GOOD, LABELS, eval_set=(GOOD, np.array(y, dtype)))


@REGRESSORS
@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", "b"] * 10, "text such as 'a' in 20 of 20 samples.* Did you mean SLM(Forest|Boost|)Classifier[?]$"),
        (np.array(["2020-01-01"] * N, "datetime64[ns]"), "dates or times such as 2020-01-01.*days since"),
        (np.arange(N).astype("timedelta64[D]"), "dates or times such as 0 days"),
        ([10**400] * N, "infinity in 20 of 20"),
        ([{}] * N, "objects such as {}"),
        (np.full(N, np.longdouble("1e400")), "infinity"),
    ],
    ids=["text", "dates", "durations", "huge", "objects", "long doubles"],
)
def test_targets_of_a_regression_that_are_no_numbers_are_named(make: Any, y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^y of {make.__name__} must hold a finite number .*; y contains {said}"):
        small(make).fit(GOOD, y)


# ---- weights and exposures


NUMBERS: list[tuple[Any, str]] = [
    (np.array([1.0] * 18 + [np.nan] * 2), "NaN in 2 of 20 samples, the first is sample 18[.] Leave these samples out"),
    ([1.0] * 5 + [None] * 3 + [2.0] * 12, "NaN in 3 of 20 samples, the first is sample 5[.] Leave"),
    (pd.array([1, None] * 10, "Int64"), "NaN in 10 of 20 samples, the first is sample 1[.] Leave"),
    (pd.Series([1.0, pd.NA] * 10), "NaN in 10 of 20 samples, the first is sample 1[.] Leave"),
    (pl.Series([1.0] * 19 + [None]), "NaN in 1 of 20 samples, the first is sample 19[.] Leave"),
    ([1.0] * 7 + [-np.inf] + [1.0] * 12, "infinity in 1 of 20 samples, the first is sample 7[.] Leave"),
    ([1] * 19 + [10**400], "infinity in 1 of 20 samples, the first is sample 19[.] Leave"),
    (["1"] * 10 + ["heavy"] * 10, "text such as 'heavy' in 10 of 20 samples, the first is sample 10[.] Turn"),
    (
        np.zeros(N, "datetime64[D]"),
        "dates or times such as 1970-01-01 in 20 of 20 samples, the first is sample 0[.] Turn",
    ),
]
GIVEN = pytest.mark.parametrize(("given", "said"), NUMBERS, ids=range(len(NUMBERS)))


@ALL
@GIVEN
def test_weights_that_are_no_numbers_are_counted(make: Any, given: Any, said: str) -> None:
    message = f"^sample_weight of {make.__name__} must hold finite numbers; sample_weight contains {said}"
    with pytest.raises(ValueError, match=message):
        small(make).fit(GOOD, LABELS, sample_weight=given)


@GIVEN
def test_weights_to_validate_by_and_exposures_that_are_no_numbers_are_counted(given: Any, said: str) -> None:
    model, ones = SLMBoostRegressor(n_estimators=2, loss="poisson"), np.ones(N)
    for name, settings in {
        "eval_sample_weight": {"eval_set": (GOOD, LABELS), "eval_sample_weight": given},
        "exposure": {"exposure": given},
        "eval_exposure": {"eval_set": (GOOD, LABELS), "exposure": ones, "eval_exposure": given},
    }.items():
        message = f"^{name} of SLMBoostRegressor must hold finite numbers; {name} contains {said}"
        with pytest.raises(ValueError, match=message):
            model.fit(GOOD, LABELS, **settings)
    model.fit(GOOD, LABELS, exposure=ones)
    with pytest.raises(ValueError, match=f"^exposure of SLMBoostRegressor must .* contains {said}"):
        model.predict(GOOD, exposure=given)


@CLASSIFIERS
def test_classes_of_which_some_are_missing_are_counted(make: Any) -> None:
    for gap in (None, np.nan):
        with pytest.raises(ValueError, match="y contains NaN in 1 of 20 samples, the first is sample 19"):
            small(make).fit(GOOD, np.array(["a", "b"] * 9 + ["a", gap], object))


def test_few_samples_of_many_classes_to_validate_on_are_no_reason_to_warn() -> None:
    X, y = np.arange(120.0)[:, None], np.arange(120) // 3
    model = SLMBoostClassifier(n_estimators=2, learning_rate=0.1).fit(X, y, eval_set=(X[::3], y[::3]))
    assert len(model.validation_score_) == 3


@CLASSIFIERS
def test_classes_that_cannot_be_sorted_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=f"y of {make.__name__}.fit must hold classes of one kind"):
        small(make).fit(GOOD, np.array(["a", 1] * 10, object))
