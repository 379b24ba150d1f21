"""to_sql: SQLite and DuckDB answer as the model does, and names and text stay names and text."""

import sqlite3
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from exported import CASES, DIABETES, Case, case, mixed_table
from naive import Array
from sublearn import SLMRegressor, to_sql
from sublearn.export.sql_dialect import DIALECTS, exact, identifier, text

duckdb = pytest.importorskip("duckdb")

CLOSE = 1e-12  # of numbers about 1: sums in another order
BASES = ("sqlite", "duckdb")
ROWS = slice(None, None, 5)
HAS_EXP = (
    sqlite3.connect(":memory:").execute("SELECT count(*) FROM pragma_function_list WHERE name = 'exp'").fetchone()[0]
)


def table_of(X: Any) -> pd.DataFrame:
    table = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    if not isinstance(X, pd.DataFrame):
        table.columns = [f"x{f}" for f in range(table.shape[1])]
    return table.assign(key=np.arange(len(table)))


def answers(base: str, query: str, table: pd.DataFrame, name: str = "samples") -> pd.DataFrame:
    """What a database answers, in the order of the rows."""
    if base == "sqlite":
        connection = sqlite3.connect(":memory:")
        table.to_sql(name, connection, index=False)
        found = pd.read_sql(query, connection)
        connection.close()
    else:
        with duckdb.connect() as connection:
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {identifier(name)} AS SELECT * FROM given")
            found = connection.execute(query).df()
    return found.sort_values("key").drop(columns="key") if "key" in found else found


def assert_same(one: Case, base: str, **settings: Any) -> None:
    found = answers(base, to_sql(one.model, dialect=base, keep=["key"], **settings), table_of(one.X))
    expected = one.expected()
    numbers: Array = found.iloc[:, -expected.shape[1] :].to_numpy(np.float64)
    assert np.abs(numbers - expected).max() <= CLOSE * max(np.abs(expected).max(), 1.0)
    if hasattr(one.model, "classes_"):
        best = np.sort(expected, axis=1)
        clear = best[:, -1] - best[:, -2] > 1e-5 if expected.shape[1] > 1 else np.ones(len(best), np.bool_)
        assert found["label"][clear].tolist() == one.model.predict(one.X)[clear].tolist()


def small(one: Case) -> Case:
    """Fewer rows."""
    return Case(one.model, one.X.iloc[ROWS] if isinstance(one.X, pd.DataFrame) else one.X[ROWS])


@pytest.mark.parametrize("base", BASES)
def test_tree_of_one_test_answers_as_read_by_hand(base: str) -> None:
    model = SLMRegressor(max_depth=1).fit([[1.0], [2.0], [4.0], [5.0]], [0.0, 0.0, 3.0, 3.0])
    table = table_of(np.array([[1.5], [4.5]]))
    assert answers(base, to_sql(model, dialect=base, keep=["key"]), table)["value"].tolist() == [0.0, 3.0]


@pytest.mark.skipif(not HAS_EXP, reason="this SQLite has no exp")
@pytest.mark.parametrize("name", CASES)
def test_sqlite_answers_as_predict_does(name: str) -> None:
    assert_same(small(case(name)), "sqlite")


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("average")][::2])
def test_duckdb_answers_as_predict_does(name: str) -> None:
    assert_same(small(case(name)), "duckdb")


@pytest.mark.parametrize("name", ["boosting of two classes", "boosting of three classes", "poisson"])
def test_raw_values_need_no_exponential(name: str) -> None:
    one = small(case(name))
    query = to_sql(one.model, keep=["key"], raw=True)
    assert "exp(" not in query
    found = answers("sqlite", query, table_of(one.X))
    if name == "poisson":
        assert np.allclose(np.exp(found["raw"]), one.model.predict(one.X), rtol=1e-12)
        return
    raw = one.model.decision_function(one.X)
    numbers = found.filter(like="raw").to_numpy().reshape(raw.shape)
    assert np.abs(numbers - raw).max() < CLOSE * np.abs(raw).max()
    assert found["label"].tolist() == one.model.predict(one.X).tolist()


@pytest.mark.parametrize("base", BASES)
def test_names_and_levels_cannot_break_out(base: str) -> None:
    X, y = mixed_table()
    evil = 'a"; DROP TABLE samples; --'
    X = X.rename(columns={"town of birth": evil, "value": "select"})
    X.loc[::7, evil] = "'; DROP TABLE samples; --"
    model = SLMRegressor(random_state=0, categorical_features=[evil, "kind"]).fit(X, y)
    table, name = table_of(X), 'my "table"; --'
    query = to_sql(model, name, dialect=base, keep=["key", evil])
    found = answers(base, query, table, name)
    assert np.array_equal(found["value"], model.predict(X))
    assert found[evil].dropna().tolist() == X[evil].dropna().tolist()


def test_text_is_told_apart_by_case_whatever_the_column_says() -> None:
    X = pd.DataFrame({"town": ["a", "A"] * 20, "x": np.arange(40.0)})
    model = SLMRegressor(categorical_features=["town"]).fit(X, np.tile([1.0, 5.0], 20))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE samples (town TEXT COLLATE NOCASE, x REAL)")
    connection.executemany("INSERT INTO samples VALUES (?, ?)", X.to_numpy().tolist())
    assert [value for (value,) in connection.execute(to_sql(model))] == [1.0, 5.0] * 20
    connection.close()


def test_nan_is_missing_in_duckdb() -> None:
    one = case("tree with gaps")
    with duckdb.connect() as connection:
        names = [f"x{f}" for f in range(one.X.shape[1])]
        connection.execute(f"CREATE TABLE samples ({', '.join(f'{name} DOUBLE' for name in names)})")
        rows = one.X[:100].tolist()
        connection.executemany(f"INSERT INTO samples VALUES ({', '.join('?' * len(names))})", rows)
        assert connection.execute("SELECT count(*) FROM samples WHERE isnan(x0)").fetchone()[0] > 0
        found = [value for (value,) in connection.execute(to_sql(one.model, dialect="duckdb")).fetchall()]
    assert found == one.model.predict(one.X[:100]).tolist()


def test_numbers_are_exact_whichever_way_they_are_read() -> None:
    random = np.random.default_rng(0)
    numbers = [0.0, 0.5, -3.25, 0.1, 1e-300, 2.0**-1000, 2.0**1000, -1e300, 5e-324, *random.normal(size=200)]
    connection = sqlite3.connect(":memory:")
    query = "SELECT " + ", ".join(exact(x) for x in numbers)
    assert [*connection.execute(query).fetchone()] == numbers
    with duckdb.connect() as other:
        assert [*other.execute(query).fetchone()] == numbers
    connection.close()


def test_quotes_are_doubled() -> None:
    assert (identifier('a"b'), text("O'Hara")) == ('"a""b"', "'O''Hara'")
    with pytest.raises(ValueError, match="names and levels of to_sql must be text without the character of code 0"):
        identifier("a\0b")


def test_deep_trees_are_read_by_sqlite() -> None:
    X = DIABETES[0]
    model = SLMRegressor(random_state=0).fit(*DIABETES)
    assert model._model.ensemble.routes.depths.max() >= 20  # some fifteen CASE inside each other are too many
    found = answers("sqlite", to_sql(model, keep=["key"]), table_of(X))
    assert np.array_equal(found["value"], model.predict(X))


def test_large_models_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = case("forest of numbers")
    with pytest.raises(
        ValueError, match=r"at most max_size=100 tests, leaves and slopes in all trees; got [\d,]+\. Grow"
    ):
        to_sql(one.model, max_size=100)
    few = replace(DIALECTS["sqlite"], most_columns=5)
    monkeypatch.setitem(DIALECTS, "sqlite", few)
    with pytest.raises(
        ValueError, match=r"at most 5 columns at a time in sqlite; got [\d,]+\. Fit it to fewer features"
    ):
        to_sql(one.model)


def test_bad_parameters_are_refused() -> None:
    model = case("tree of classes").model
    for settings, message in (
        ({"dialect": "oracle"}, "dialect of to_sql must be one of 'sqlite', 'duckdb'; got 'oracle'"),
        ({"feature_names": ["a"]}, "feature_names of to_sql must have a name for each of 4 features; got 1"),
        ({"keep": ["label"]}, "keep of to_sql must have no name of an answer; got 'label'"),
        ({"max_size": 0}, "max_size of to_sql must be an int of at least 1; got 0"),
        ({"raw": 1}, "raw of to_sql must be True or False; got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            to_sql(model, **settings)
    with pytest.raises(ValueError, match="raw of to_sql must be False for SLMAverageClassifier"):
        to_sql(case("average of classifiers").model, raw=True)
