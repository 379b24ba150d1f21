"""Samples in partitions, checked and encoded together: all is as of one table, and errors say where they are."""

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from linked_fits import fit_in_partitions
from sublearn import (
    DiscriminantFeatureTest,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn._base.boosting import Validation
from sublearn.core.data.samples import Given
from sublearn.core.links import Links, side_by_side
from support import assert_same_tree

N = 60
BOUNDS = {
    "one": [0, N],
    "two": [0, 30, N],
    "three": [0, 20, 40, N],
    "seven": [0, 8, 16, 24, 32, 40, 50, N],
    "uneven": [0, 1, 3, 55, N],
    "empty first": [0, 0, 25, N],
    "empty ones": [0, 7, 7, 7, N, N],
}
ANYWHERE = pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS.keys())


class Taken(NamedTuple):
    """What an estimator has made of samples."""

    given: Given
    schema: Any
    n_features: int
    names: list[str] | None


def take_in(model: Any, links: Links | None, X: Any, y: Any, sample_weight: Any = None) -> Taken:
    own = clone(model)
    if links is not None:
        own._links = links
    given = own._take_in(X, y, sample_weight)
    names = own.feature_names_in_.tolist() if hasattr(own, "feature_names_in_") else None
    return Taken(given, getattr(own, "_schema", None), own.n_features_in_, names)


def take_in_parts(model: Any, parts: list[tuple[Any, ...]]) -> list[Taken]:
    return side_by_side(lambda links: take_in(model, links, *parts[links.number]), len(parts))


def slices(bounds: list[int], *rows: Any) -> list[tuple[Any, ...]]:
    """The rows of each partition."""
    return [tuple(one[first:last] for one in rows) for first, last in pairwise(bounds)]


def assert_same_rows(parts: list[Any], whole: Any) -> None:
    """Arrays of partitions, one after the other, are that of all samples, of the same type."""
    if whole.size:
        assert {part.dtype for part in parts} == {whole.dtype}
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    else:
        assert not any(part.size for part in parts)


def assert_as_alone(model: Any, parts: list[tuple[Any, ...]], *whole: Any) -> None:
    """Partitions take in together what one table is."""
    together, alone = take_in_parts(model, parts), take_in(model, None, *whole)
    assert len(together) == len(parts)
    for taken in together:
        assert taken.schema == alone.schema
        assert taken.n_features == alone.n_features
        assert taken.names == alone.names
        for name in ("classes", "factors", "n_levels"):
            mine, wanted = getattr(taken.given, name), getattr(alone.given, name)
            assert mine.dtype == wanted.dtype
            np.testing.assert_array_equal(mine, wanted)
        assert taken.given.weights.step == alone.given.weights.step
    for name in ("X", "y"):
        assert_same_rows([getattr(taken.given, name) for taken in together], getattr(alone.given, name))
    for name in ("weights", "counts"):
        assert_same_rows([getattr(taken.given.weights, name) for taken in together], getattr(alone.given.weights, name))


def errors_of(model: Any, parts: list[tuple[Any, ...]], names: list[str] | None = None) -> str:
    """The message of the error that all partitions raise, which must be the same."""
    raised: list[Exception | None] = [None] * len(parts)

    def take(links: Links) -> None:
        links.names = names or links.names
        try:
            take_in(model, links, *parts[links.number])
        except Exception as error:
            raised[links.number] = error
        links.tell(None)  # partitions are still in step

    side_by_side(take, len(parts))
    assert len({(type(error), str(error)) for error in raised}) == 1
    assert isinstance(raised[0], ValueError | TypeError)
    return str(raised[0])


def mixed(n: int = N) -> pd.DataFrame:
    """Numbers, some missing, and categories of several forms."""
    rng = np.random.default_rng(0)
    city = pd.Series([f"city {i}" for i in rng.integers(0, 12, n)], dtype=object)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n)),
            "city": city.where(rng.random(n) > 0.1, None),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n), ["red", "green", "blue", "none"]),
            "new": rng.random(n) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
            "either": pd.Series([3, "x", 2.5, None, "a", True] * (n // 6), dtype=object),
            "code": rng.integers(0, 5, n),
        }
    )


def classes(n: int = N) -> Any:
    return np.random.default_rng(1).choice(["a", "bb", "ccc", "d"], n)


def numbers(n: int = N) -> Any:
    return np.random.default_rng(1).normal(size=n)


def as_text(X: pd.DataFrame) -> pd.DataFrame:
    return X.drop(columns="either").astype({"city": "str"})


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda X: X,
    "pandas text": as_text,
    "pandas Arrow": lambda X: X.drop(columns="either").convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda X: pl.from_pandas(X.drop(columns="either")),
    "Arrow": lambda X: pa.Table.from_pandas(X.drop(columns="either")),
    "objects": lambda X: X.drop(columns=["colour", "city", "day", "either"]).to_numpy(object),
    "lists": lambda X: X[["size", "age", "code"]].astype(object).where(X["age"] < 2.5, None).to_numpy().tolist(),
    "floats": lambda X: X[["size", "age"]].to_numpy(),
    "singles": lambda X: X[["size", "age"]].to_numpy(np.float32),
    "frame of numbers": lambda X: X[["size", "age", "new", "code"]],
    "sparse": lambda X: csr_array(X[["size", "code"]].to_numpy()),
}


def cut(X: Any, bounds: list[int]) -> list[Any]:
    if isinstance(X, pa.Table):
        return [X.slice(first, last - first) for first, last in pairwise(bounds)]
    return [X[first:last] for first, last in pairwise(bounds)]


def test_levels_of_two_partitions_have_the_numbers_of_both_together() -> None:
    parts = [pd.DataFrame({"c": pd.Series(values, dtype=object)}) for values in (["b", None], ["a", "c"])]
    first, second = take_in_parts(SLMRegressor(), [(part, [0.0, 1.0]) for part in parts])
    assert first.given.X.ravel().tolist() == [1, 3]
    assert second.given.X.ravel().tolist() == [0, 2]
    assert first.schema.all_levels == second.schema.all_levels == (("a", "b", "c", None),)
    assert first.given.n_levels.tolist() == [4]


@ANYWHERE
@pytest.mark.parametrize("form", FORMS)
def test_tables_of_all_forms_are_as_one_table(form: str, bounds: list[int]) -> None:
    X = FORMS[form](mixed())
    assert_as_alone(SLMClassifier(), list(zip(cut(X, bounds), cut(classes(), bounds), strict=True)), X, classes())


@ANYWHERE
@pytest.mark.parametrize("chosen", [["code", "city", "either"], [7, 3, 6], None])
def test_columns_that_are_chosen_as_categories_are_as_in_one_table(chosen: Any, bounds: list[int]) -> None:
    X = mixed() if chosen else mixed()[["size", "age", "new", "day", "code"]]
    if chosen == ["code", "city", "either"]:
        X = X.drop(columns="colour")
    if chosen == [7, 3, 6]:
        X = X.assign(city=np.arange(N))
    model = SLMRegressor(categorical_features=chosen)
    assert_as_alone(model, slices(bounds, X, numbers()), X, numbers())


def test_numbers_of_an_array_may_be_levels() -> None:
    X = np.array([[3, 0.5], [1, 0.5], [np.nan, 0.5], [2, 0.5], [1, 0.5], [7, 0.5]])
    assert_as_alone(SLMRegressor(categorical_features=[0]), slices([0, 2, 3, 3, 6], X, numbers(6)), X, numbers(6))


@ANYWHERE
def test_feature_tests_take_numbers_in_partitions(bounds: list[int]) -> None:
    X = mixed()[["size", "code"]]
    assert_as_alone(DiscriminantFeatureTest(), slices(bounds, X, classes()), X, classes())


def test_declared_categories_may_be_in_another_order() -> None:
    parts = [
        pd.DataFrame({"c": pd.Categorical(["z", "b", None], ["z", "unused", "b"])}),
        pd.DataFrame({"c": pd.Categorical(["a", "z"], ["b", "a", "z"])}),
    ]
    y = [0.0, 1.0, 2.0, 3.0, 4.0]
    whole = pd.concat(parts)
    assert_as_alone(SLMRegressor(), [(parts[0], y[:3]), (parts[1], y[3:])], whole, y)


def test_whole_numbers_and_floats_are_one_kind() -> None:
    parts = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [0.5, np.nan]}), pd.DataFrame({"a": [True, False]})]
    whole = pd.concat(parts[:2])
    assert_as_alone(SLMRegressor(), [(part, [0.0, 1.0]) for part in parts[:2]], whole, [0.0, 1.0] * 2)
    taken = take_in_parts(SLMRegressor(), [(part, [0.0, 1.0]) for part in parts])
    assert [one.given.X.ravel().tolist() for one in taken][2] == [1.0, 0.0]


def test_singles_and_doubles_are_doubles() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    parts = [(X[:2].astype(np.float32), [0, 1]), (X[2:4], [1, 0]), (X[:0].astype(np.float32), [])]
    taken = take_in_parts(SLMClassifier(), parts)
    assert [one.given.X.dtype for one in taken] == [np.float64] * 3
    np.testing.assert_array_equal(taken[0].given.X, X[:2].astype(np.float32))


@pytest.mark.parametrize("missing", [[None, None], [np.nan, np.nan], pd.Series([pd.NaT, pd.NaT])])
@pytest.mark.parametrize(
    "there",
    [
        ["b", "a"],
        [1.5, 2.5],
        pd.Series(pd.to_datetime(["2024-05-01", "2023-01-01"])),
        pd.Categorical(["z", "b"]),
        pd.Series(["u", "v"], dtype="str"),
    ],
)
def test_a_column_that_is_all_missing_in_a_partition_is_what_it_is_elsewhere(missing: Any, there: Any) -> None:
    there = pd.DataFrame({"a": there})
    parts = [(pd.DataFrame({"a": missing}), [0.0, 1.0]), (there, [2.0, 3.0])]
    for at, order in enumerate((parts, parts[::-1])):
        taken = take_in_parts(SLMRegressor(), order)
        alone = take_in(SLMRegressor(), None, there, [2.0, 3.0])
        (levels,), wanted = taken[0].schema.all_levels, alone.schema.all_levels[0]
        assert levels == (None if wanted is None else (*wanted, None))
        assert taken[0].schema.kinds == taken[1].schema.kinds == alone.schema.kinds
        gaps = taken[at].given.X.ravel()
        np.testing.assert_array_equal(gaps, [np.nan] * 2 if wanted is None else [2.0] * 2)


def test_an_empty_partition_has_no_say() -> None:
    X, y = mixed(), classes()
    nothing = [
        (X[:0].astype(object), y[:0]),
        (np.empty((0, 3)), []),
        ([], []),
        (pd.DataFrame(columns=[*X.columns[::-1]]), pd.Series([], dtype=float)),
    ]
    for one in nothing:
        assert_as_alone(SLMClassifier(), [one, (X[:9], y[:9]), one, (X[9:], y[9:])], X, y)


@ANYWHERE
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "d": 0.0}])
def test_classes_and_their_weights_are_those_of_all(bounds: list[int], class_weight: Any) -> None:
    X, y = mixed()[["size"]], np.sort(classes())
    model = SLMClassifier(class_weight=class_weight)
    assert_as_alone(model, slices(bounds, X, y), X, y)
    assert_as_alone(model, slices(bounds, X, y, np.arange(N) % 3), X, y, np.arange(N) % 3)


def test_classes_are_of_the_type_of_all() -> None:
    X = np.arange(6.0)[:, None]
    for y in (["b", "b", "long", "long", "c", "c"], [1, 1, 0, 0, 5, 5], [True, True, False, False, True, True]):
        parts = [(X[:2], np.array(y[:2])), (X[2:4], np.array(y[2:4])), (X[4:], np.array(y[4:]))]
        assert_as_alone(SLMClassifier(), parts, X, np.array(y))
    mixed_types = [(X[:2], [1, 2]), (X[2:], [3.0, 1.0, 2.0, 2.0])]
    assert_as_alone(SLMClassifier(), mixed_types, X, [1.0, 2.0, 3.0, 1.0, 2.0, 2.0])


def test_a_class_all_of_whose_samples_weigh_nothing_is_none() -> None:
    X, y = np.arange(6.0)[:, None], np.array(["a", "b", "a", "c", "b", "a"])
    weights = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    assert take_in(SLMClassifier(), None, X, y, weights).given.classes.tolist() == ["a", "b"]
    assert_as_alone(SLMClassifier(), slices([0, 3, 4, 6], X, y, weights), X, y, weights)


@ANYWHERE
@pytest.mark.parametrize(
    "weights",
    [
        np.ones(N),
        np.r_[np.ones(40), np.full(20, 2.0)],
        np.r_[np.full(20, 3.0), np.zeros(25), np.ones(15)],
        np.r_[np.ones(50), np.full(10, 0.3)],
        np.random.default_rng(2).exponential(size=N) * 1e-9,
    ],
)
def test_weights_are_rounded_as_those_of_one_table(bounds: list[int], weights: Any) -> None:
    X = mixed()[["size"]]
    assert_as_alone(SLMRegressor(), slices(bounds, X, numbers(), weights), X, numbers(), weights)


def with_fault(X: Any, column: int, value: Any, row: int = 45) -> Any:
    X = X.copy()
    X[row, column] = value
    return X


THREE = [0, 20, 40, N]


def test_a_fault_in_one_partition_is_raised_in_all_and_says_where() -> None:
    X, y = mixed()[["size", "code"]].to_numpy(), classes()
    cases = [
        (with_fault(X, 1, np.inf), y, "X of SLMClassifier must hold finite numbers; X contains infinity in column 1"),
        (with_fault(X.astype(object), 0, "x"), y, "X contains text such as 'x' in column 0"),
        (with_fault(X.astype(object), 0, []), y, "X contains objects such as \\[\\] in column 0"),
        (X, with_fault(y.astype(object)[:, None], 0, None).ravel(), "y of SLMClassifier must hold a class"),
        (X, with_fault(y.astype(object)[:, None], 0, 3.5).ravel(), "classes of one kind"),
    ]
    for bad_X, bad_y, text in cases:
        with pytest.raises(AssertionError, match=f"^In partition 2: .*{text}"):
            raise AssertionError(errors_of(SLMClassifier(), slices(THREE, bad_X, bad_y)))
    for bad in (np.nan, -np.inf):
        text = errors_of(SLMRegressor(), slices(THREE, X, np.where(np.arange(N) == 5, bad, 1.0)))
        assert text.startswith("In partition 0: y of SLMRegressor must hold a finite number for each sample")
    text = errors_of(SLMClassifier(), slices(THREE, X, np.where(np.arange(N) == 25, 0.5, np.arange(N) % 2)))
    assert text.startswith("In partition 1: Unknown label type: continuous.")


def test_the_first_of_several_faulty_partitions_is_named_by_its_name() -> None:
    X = with_fault(with_fault(np.ones((N, 2)), 1, np.inf), 0, np.inf, 25)
    names = ["blocks 0 to 3", "blocks 4 to 6", "block 7"]
    text = errors_of(SLMRegressor(), slices(THREE, X, numbers()), names)
    assert text.startswith("In blocks 4 to 6: X of SLMRegressor must hold finite numbers; X contains infinity in colum")


@pytest.mark.parametrize("make", [SLMClassifier, SLMBoostClassifier, DiscriminantFeatureTest])
def test_columns_must_be_the_same_in_all_partitions(make: Any) -> None:
    X, y, owner = mixed()[["size", "code", "new"]].astype(float), classes(), make.__name__
    head = f"In partition 2: X of {owner} must have"
    for third, text in {
        "other order": (
            X[["code", "size", "new"]],
            f"{head} its columns in the same order as in partition 0; column 0 is 'code' here, and 'size' there.",
        ),
        "other name": (
            X.rename(columns={"new": "old"}),
            f"{head} the same columns as in partition 0; column 2 is 'old' here, and 'new' there.",
        ),
        "fewer": (X[["size", "code"]], f"{head} 3 columns, as in partition 0; got 2."),
        "no names": (X.to_numpy(), f"{head} names of columns, as in partition 0."),
    }.values():
        parts = [(X[:20], y[:20]), (X[20:40], y[20:40]), (third[40:], y[40:])]
        assert errors_of(make(), parts) == text
    parts = [(X.to_numpy()[:20], y[:20]), (X[20:], y[20:])]
    text = errors_of(make(), parts)
    assert text == f"In partition 1: X of {owner} must have no names of columns, as in partition 0."


def test_x_and_y_must_be_of_one_length_in_each_partition() -> None:
    X, y = np.ones((N, 2)), numbers()
    for second in ((X[20:40], y[20:39]), (X[:0], y[20:40]), (X[20:40], y[:0])):
        text = errors_of(SLMRegressor(), [(X[:20], y[:20]), second, (X[40:], y[40:])])
        assert text.startswith("In partition 1: Found ")


def test_what_is_no_table_is_said_of_its_partition() -> None:
    X, y = np.ones((N, 2)), numbers()
    for second, text in [(np.ones(20), "Expected 2D array"), (np.ones((20, 0)), "In partition 1: "), (1.0, "array")]:
        error = errors_of(SLMRegressor(), [(X[:20], y[:20]), (second, y[20:40])])
        assert error.startswith("In partition 1: ")
        assert text in error


def test_what_is_wrong_everywhere_is_of_no_partition() -> None:
    X, y = np.ones((4, 1)), numbers(4)
    text = errors_of(SLMRegressor(categorical_features=["no such"]), slices([0, 2, 4], X, y))
    assert text == "categorical_features of SLMRegressor must hold names or numbers of columns; got 'no such'."


def test_all_partitions_draw_what_the_first_one_draws() -> None:
    def draw(links: Links) -> int:
        own: Any = SLMRegressor(random_state=[7, None, 8][links.number])
        own._links = links
        key: int = own._key()
        return key

    alone: Any = SLMRegressor(random_state=7)
    assert side_by_side(draw, 3) == [alone._key()] * 3


def test_all_partitions_together_must_have_samples() -> None:
    text = errors_of(SLMRegressor(), [(np.ones((0, 2)), [])] * 3)
    assert text == "X of SLMRegressor must have samples; there are none in any partition."


DAYS = pd.Series(pd.to_datetime(["2024-05-01", "2023-01-01"]))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([DAYS, [1.0, 2.0]], "numbers here, and dates there"),
        ([[np.nan, 1.0], [np.nan, np.nan], DAYS], "dates here, and numbers there"),
        ([[1, 2], ["a", "b"]], "text such as 'a' here, and numbers such as 1 there"),
        ([pd.Categorical(["a", "b"]), [0.5, 2]], "numbers such as 0.5 here, and text such as 'a' there"),
        ([["a", "b"], [None, None], [True, False]], "numbers such as 0 here, and text such as 'a' there"),
    ],
)
def test_a_column_must_hold_the_same_in_all_partitions(parts: list[Any], text: str) -> None:
    frames = [(pd.DataFrame({"b": [1.0, 2.0], "a": values}), [0.0, 1.0]) for values in parts]
    last = len(parts) - 1
    head = f"In partition {last}: X of SLMRegressor must hold the same in column 'a' as in partition 0; it holds"
    assert errors_of(SLMRegressor(), frames) == f"{head} {text}."


def test_text_that_reads_as_numbers_may_be_text_in_one_partition() -> None:
    parts = [(pd.DataFrame({"a": values}), [0.0, 1.0]) for values in ([1.0, 2.0], ["3", "4"])]
    taken = take_in_parts(SLMRegressor(categorical_features=None), parts)
    assert [one.schema.kinds for one in taken] == [("text",), ("text",)]
    assert taken[1].given.X.ravel().tolist() == [3.0, 4.0]


def test_classes_must_be_text_in_all_partitions_or_in_none() -> None:
    X = np.ones((4, 1))
    text = errors_of(SLMClassifier(), [(X[:0], []), (X[:2], ["a", "b"]), (X[2:], [1, 0])])
    start = "In partition 2: y of SLMClassifier.fit must hold classes of one kind, such as all strings; got"
    assert text == f"{start} 1 here, and 'a' in partition 1."


def test_faults_of_weights_are_those_of_a_partition_or_of_all() -> None:
    X, y = np.ones((N, 2)), numbers()
    for bad, text in [(-1.0, "must not be negative; got -1 for sample 5"), (np.nan, "contains NaN in 1 of 20 samples")]:
        weights = np.where(np.arange(N) == 25, bad, 1.0)
        error = errors_of(SLMRegressor(), slices(THREE, X, y, weights))
        assert error.startswith("In partition 1: sample_weight of SLMRegressor")
        assert text in error
    text = errors_of(SLMRegressor(), slices(THREE, X, y, np.zeros(N)))
    assert text == "sample_weight of SLMRegressor.fit must be positive somewhere; all weights are zero."
    text = errors_of(SLMRegressor(), [(X[:20], y[:20], np.ones(20)), (X[:0], y[:0], np.ones(1))])
    assert text.startswith("In partition 1: sample_weight of SLMRegressor must hold one number for each of 0 samples")
    text = errors_of(SLMBoostRegressor(), slices(THREE, X, y, np.r_[np.full(20, 1e-60), np.full(40, 1e-59)]))
    assert text.startswith(
        "sample_weight of SLMBoostRegressor must have a largest weight from 1e-50 to 1e+50; got 1e-5"
    )


def test_a_single_weight_holds_for_all_partitions() -> None:
    X, y = np.ones((4, 1)), numbers(4)
    parts = [(X[:3], y[:3], 2.0), (X[:0], y[:0], 2.0), (X[3:], y[3:], 2.0)]
    assert_as_alone(SLMRegressor(), parts, X, y, 2.0)


def test_targets_of_forests_have_a_limit_in_every_partition() -> None:
    y = np.where(np.arange(N) == 59, 1e308, 1.0)
    error = errors_of(SLMForestRegressor(), slices([0, 20, 20, N], np.ones((N, 1)), y))
    assert error.startswith("In partition 2: y of SLMForestRegressor must lie from")


MADE: list[Any] = [
    SLMClassifier(random_state=0),
    SLMRegressor(random_state=0),
    SLMForestClassifier(n_estimators=3, random_state=0),
    SLMForestRegressor(n_estimators=3, random_state=0),
    SLMBoostClassifier(n_estimators=3, learning_rate=0.3, random_state=0),
    SLMBoostRegressor(n_estimators=3, learning_rate=0.3, random_state=0),
]


@pytest.mark.parametrize("model", MADE, ids=lambda model: type(model).__name__)
def test_models_of_categories_are_those_of_one_table(model: Any) -> None:
    X = mixed(300)[["city", "colour", "either"]]
    means = (X["colour"] == "green") + 0.3 * X["city"].isin(["city 1", "city 3"])
    y = means + 0.1 * numbers(300)
    y = np.where(y > 0.5, "high", "low") if "Classifier" in type(model).__name__ else y.to_numpy()
    alone = clone(model).fit(X, y)._model
    assert alone.ensemble.nodes.n_nodes > alone.ensemble.n_trees
    for own in fit_in_partitions(model, [0, 10, 200, 300], X, y):
        assert own._model.levels == alone.levels
        assert own._model.kinds == alone.kinds
        assert_same_tree(own._model.ensemble.nodes, alone.ensemble.nodes)


def test_columns_are_those_of_the_trees_that_are_kept() -> None:
    X, y = mixed(), classes()
    model = SLMBoostClassifier(n_estimators=2, learning_rate=0.3, random_state=0, warm_start=True).fit(X[:50], y[:50])
    wanted = copy(model)._check_given(X, y, None)

    def take(links: Links) -> Given:
        first, last = [0, 10, 10, 48, N][links.number : links.number + 2]
        own = copy(model)
        own._links = links
        given: Given = own._check_given(X[first:last], y[first:last], None)
        assert own._schema == model._known_schema()
        return given

    taken = side_by_side(take, 4)
    assert_same_rows([one.X for one in taken], wanted.X)
    assert_same_rows([one.y for one in taken if len(one.y)], wanted.y)


def validate(model: Any, parts: list[tuple[Any, Any, Any]], X: Any, y: Any) -> list[Given]:
    """The samples to validate on of each partition: X, y and weights of each."""

    def check(links: Links) -> Given:
        first, last = links.number * len(X) // len(parts), (links.number + 1) * len(X) // len(parts)
        own = clone(model)
        own._links = links
        training = own._take_in(X[first:last], y[first:last], None)
        eval_X, eval_y, weights = parts[links.number]
        given: Given = own._check_validation(Validation((eval_X, eval_y), weights), training)
        return given

    return side_by_side(check, len(parts))


def validate_alone(model: Any, *eval_set: Any, X: Any, y: Any) -> Given:
    own = clone(model)
    given: Given = own._check_validation(Validation(eval_set[:2], eval_set[2]), own._take_in(X, y, None))
    return given


@ANYWHERE
@pytest.mark.parametrize("is_class", [True, False])
def test_samples_to_validate_on_are_in_partitions_of_their_own(bounds: list[int], is_class: bool) -> None:
    X, y = mixed(), classes() if is_class else numbers()
    model = SLMBoostClassifier() if is_class else SLMBoostRegressor()
    other, weights = X[::-1], np.arange(N) % 3 * 0.3
    alone = validate_alone(model, other, y[::-1], weights, X=X, y=y)
    together = validate(model, slices(bounds, other, y[::-1], weights), X, y)
    assert_same_rows([one.X for one in together], alone.X)
    assert_same_rows([one.y for one in together], alone.y)
    assert_same_rows([one.weights.weights for one in together], alone.weights.weights)


def test_faults_of_samples_to_validate_on_name_their_partition() -> None:
    X, y = mixed(), classes()
    unknown = y.copy().astype(object)
    unknown[50] = "never"
    model = SLMBoostClassifier()
    head = "In partition 1: eval_set of SLMBoostClassifier.fit must hold classes of y only; got \\['never'\\] too."
    with pytest.raises(ValueError, match=head):
        validate(model, slices([0, 30, N], X, unknown, np.ones(N)), X, y)
    other_order = [(X[:30], y[:30], None), (X[30:][X.columns[::-1]], y[30:], None)]
    with pytest.raises(
        ValueError, match=r"^eval_set of .* must be like X and y: In partition 1: The feature names shou"
    ):
        validate(model, other_order, X, y)
    with pytest.raises(ValueError, match=r"^eval_set of .* there are none in any partition"):
        validate(model, [(X[:0], y[:0], None)] * 2, X, y)


def test_samples_to_validate_on_must_weigh_something_in_some_partition() -> None:
    X, y = np.arange(6.0)[:, None], np.array(["a", "b", "a", "b", "a", "b"], object)
    model = SLMBoostClassifier(class_weight={"a": 0.0})
    parts = [(X[:1], y[:1], None), (X[:0], y[:0], None), (X[1:2], y[1:2], None)]
    assert [one.y.tolist() for one in validate(model, parts, X, y)] == [[], [], [1]]
    with pytest.raises(ValueError, match=r"^eval_set of .* must hold a class whose class_weight is not 0"):
        validate(model, [parts[0], parts[1], parts[0]], X, y)


def expose(parts: list[tuple[Any, Any]], loss: str = "poisson") -> list[Any]:
    """Exposures of partitions, each with its X."""

    def check(links: Links) -> Any:
        own: Any = SLMBoostRegressor(loss=loss)
        own._links = links
        return own._check_exposure(*parts[links.number])

    return side_by_side(check, len(parts))


def test_exposures_are_checked_in_every_partition() -> None:
    X = np.ones((4, 1))
    assert [one.tolist() for one in expose([([1.0, 2.0], X[:2]), ([], X[:0]), (3.0, X[2:])])] == [[1, 2], [], [3, 3]]
    with pytest.raises(ValueError, match=r"^In partition 1: exposure of .* must be positive everywhere; got 0\."):
        expose([([1.0, 2.0], X[:2]), ([1.0, 0.0], X[2:])])
    with pytest.raises(ValueError, match=r"^In partition 0: exposure of .* must lie from .* got 1 to 1e\+60"):
        expose([([1.0, 1e60], X[:2]), ([1.0, 1.0], X[2:])])


def test_exposures_of_a_partition_without_rows_are_still_given() -> None:
    X, y = np.ones((4, 1)), np.array([1.0, 2.0, 0.0, 3.0])

    def check(links: Links) -> int:
        first, last = [0, 4, 4][links.number : links.number + 2]
        own: Any = SLMBoostRegressor(loss="poisson")
        own._links = links
        training = own._take_in(X[first:last], y[first:last], None)
        training = training._replace(exposure=own._check_exposure(np.ones(last - first), X[first:last]))
        validating = own._check_validation(Validation((X[first:last], y[first:last]), None, 2.0), training)
        return len(validating.exposure)

    assert side_by_side(check, 2) == [4, 0]
