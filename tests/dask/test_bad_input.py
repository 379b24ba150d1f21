"""Bad input on a cluster: an error that names the block where it is, an estimator that stays as it was."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from distributed import Client

from clusters import assert_nothing_is_left
from naive import Array
from sublearn.dask import DaskSLMBoostRegressor, DaskSLMClassifier, DaskSLMForestRegressor, DaskSLMRegressor
from sublearn.dask.program import digest_of

N, SIZE = 60, 10
X = np.random.default_rng(0).normal(size=(N, 3))
Y = X[:, 0] + X[:, 1]
CLASSES = np.where(Y > 0.0, "high", "low").astype(object)
FRAME = pd.DataFrame(X, columns=list("abc")).assign(kind=np.where(X[:, 2] > 0.0, "u", "v"))


def array(values: Array, size: int = SIZE) -> da.Array:
    return da.from_array(values, chunks=(size, *values.shape[1:]))


def frame(columns: Any, change: Callable[[Any], Any] = lambda block: block, at: int = 4) -> Any:
    """Blocks of a frame or series, of which one is changed."""

    def block(i: int) -> Any:
        rows = columns[i * SIZE : (i + 1) * SIZE]
        return change(rows) if i == at else rows

    return dd.from_map(block, range(len(columns) // SIZE), meta=columns[:0])


def unknown(values: Array, *sizes: int) -> da.Array:
    """Blocks of sizes that nobody knows."""
    ends = np.cumsum([0, *sizes])
    shape = (np.nan, *values.shape[1:])
    parts = [da.from_delayed(dask_value(values[a:b]), shape, values.dtype) for a, b in pairwise(ends)]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def dask_value(values: Array) -> Any:
    import dask

    return dask.delayed(values)


def with_one(values: Array, value: Any, row: int = 45) -> Array:
    values = values.copy()
    values[row] = value
    return values


def assert_refused(model: Any, text: str, *given: Any, error: Any = ValueError, **named: Any) -> None:
    """A fit raises an error that starts with a text, on one worker as on several, and changes nothing."""
    before = dict(vars(model))
    with pytest.raises(error, match=f"^{re.escape(text)}"):
        model.fit(*given, **named)
    assert vars(model) == before


@pytest.mark.parametrize("is_fitted", [False, True])
def test_an_estimator_that_was_fitted_before_keeps_its_model(client: Client, is_fitted: bool) -> None:
    model = DaskSLMRegressor(max_depth=2, random_state=0)
    if is_fitted:
        model.fit(array(X), array(Y))
    assert_refused(model, "In block 4: y of DaskSLMRegressor", array(X), array(with_one(Y, np.nan)))
    assert hasattr(model, "_model") == is_fitted


def test_numbers_of_blocks_and_rows_must_match(client: Client) -> None:
    model = DaskSLMRegressor()
    series = pd.Series(Y)
    text = "y of DaskSLMRegressor.fit must have the partitions of X; X has 6 and y 5."
    assert_refused(model, text, frame(FRAME), frame(series[:50]))
    assert_refused(model, "y of DaskSLMRegressor.fit must have the 60 rows of X; got 50.", array(X), array(Y[:50]))
    text = "X and y of DaskSLMRegressor.fit must have the same rows in each partition; in block 4 X has 10 and y 9."
    assert_refused(model, text, frame(FRAME), frame(series, lambda block: block[1:]))
    text = "X and y of DaskSLMRegressor.fit must have the same rows in each partition; in block 1 X has 20 and y 40."
    assert_refused(model, text, unknown(X, 20, 20, 20), unknown(np.r_[Y, Y], 20, 40, 20))
    text = "X and sample_weight of DaskSLMRegressor.fit must have the same rows in each partition; in block 2 "
    assert_refused(model, text, unknown(X, 20, 20, 20), unknown(Y, 20, 20, 20), unknown(np.ones(N + 1), 20, 20, 21))


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_gap_in_y_is_named_by_its_block(client: Client, gap: Any) -> None:
    model = DaskSLMClassifier()
    text = "In block 4: y of DaskSLMClassifier must hold a class for each sample; y contains NaN in 1 of 10 samples"
    assert_refused(model, text, array(X), array(with_one(CLASSES, gap)))
    assert_refused(model, text, frame(FRAME), frame(pd.Series(with_one(CLASSES, gap), dtype=object)))


def test_columns_must_be_the_same_in_all_blocks(client: Client) -> None:
    model, y = DaskSLMClassifier(), frame(pd.Series(CLASSES, dtype=object))
    text = (
        "X of DaskSLMClassifier.fit must have the same columns in each partition, in the same order; in block 4 they "
        "are ['b', 'a', 'c', 'kind'], and not ['a', 'b', 'c', 'kind']."
    )
    assert_refused(model, text, frame(FRAME, lambda block: block[["b", "a", "c", "kind"]]), y)
    for dtype in ("string", "category", "datetime64[ns]"):
        text = (
            "X of DaskSLMClassifier.fit must have columns of the types that its frame names; in block 4 column 'b' is "
            f"{pd.Series([], dtype=dtype).dtype}, and not float64."
        )
        other = {"b": pd.Series(["2020-01-01"] * SIZE, index=FRAME.index[40:50], dtype=dtype)}
        assert_refused(model, text, frame(FRAME, lambda block, other=other: block.assign(**other)), y)  # type: ignore[misc]


def test_numbers_where_others_hold_text_are_named_by_their_blocks(client: Client) -> None:
    model, y = DaskSLMClassifier(), frame(pd.Series(CLASSES, dtype=object))
    text = "X of DaskSLMClassifier.fit must have columns of the types that its frame names; in block 4 column 'kind' is"
    assert_refused(model, f"{text} int64, and not str", frame(FRAME, lambda block: block.assign(kind=3)), y)


def test_a_column_that_is_all_missing_in_a_block_may_be_of_any_type(client: Client) -> None:
    y = frame(pd.Series(Y))
    for name, missing in (("kind", np.nan), ("a", None)):
        model = DaskSLMRegressor(max_depth=3, random_state=0)
        model.fit(frame(FRAME, lambda block, gap={name: missing}: block.assign(**gap)), y)  # type: ignore[misc]
        whole = FRAME.copy()
        whole.loc[40:49, name] = None
        assert digest_of(model._model) == digest_of(model.to_local().fit(whole, Y)._model)


def test_a_level_that_one_block_alone_has_is_a_level(client: Client) -> None:
    lonely = FRAME.assign(kind=with_one(FRAME["kind"].to_numpy(object), "only here"))
    model = DaskSLMRegressor(max_depth=3, random_state=0).fit(frame(lonely), frame(pd.Series(Y)))
    assert model._model.levels[3] == ("only here", "u", "v")


def test_infinity_is_named_by_its_block_and_column(client: Client) -> None:
    model = DaskSLMForestRegressor()
    text = "In block 4: X of DaskSLMForestRegressor must hold finite numbers; X contains infinity in column "
    assert_refused(model, f"{text}1 (1 of 10 rows, the first is row 5)", array(with_one(X, [0, np.inf, 0])), array(Y))
    infinite = frame(FRAME.assign(b=with_one(FRAME["b"].to_numpy(), -np.inf)))
    assert_refused(model, f"{text}'b' (1 of 10 rows, the first is row 5)", infinite, frame(pd.Series(Y)))


def test_weights_must_be_numbers_that_are_not_negative(client: Client) -> None:
    model, ones = DaskSLMRegressor(), np.ones(N)
    text = "In block 4: sample_weight of DaskSLMRegressor.fit must not be negative; got -2 for sample 5."
    assert_refused(model, text, array(X), array(Y), array(with_one(ones, -2.0)))
    text = "In block 4: sample_weight of DaskSLMRegressor must hold finite numbers; sample_weight contains NaN"
    assert_refused(model, text, array(X), array(Y), array(with_one(ones, np.nan)))
    text = "sample_weight of SLMRegressor.fit must be positive somewhere; all weights are zero."
    assert_refused(model, text, array(X), array(Y), array(0.0 * ones))


def test_faults_of_samples_to_validate_on_are_named_too(client: Client) -> None:
    model, given = DaskSLMBoostRegressor(early_stopping=True, learning_rate=0.1), (array(X), array(Y))
    text = "In block 4 of eval_set: y of DaskSLMBoostRegressor must hold a finite number"
    assert_refused(model, text, *given, eval_set=(array(X), array(with_one(Y, np.nan))))
    text = "eval_y of DaskSLMBoostRegressor.fit must be an array or a data frame of Dask; got ndarray."
    assert_refused(model, text, *given, eval_set=(array(X), Y), error=TypeError)
    text = "eval_set of DaskSLMBoostRegressor.fit must be one pair (X, y); got Array."
    assert_refused(model, text, *given, eval_set=array(X))
    text = "eval_set of DaskSLMBoostRegressor.fit must be given with eval_sample_weight"
    assert_refused(model, text, *given, eval_sample_weight=array(Y))


def test_one_class_is_what_it_is_on_one_machine(client: Client) -> None:
    one = np.full(N, "a", object)
    model = DaskSLMClassifier(random_state=0).fit(array(X), array(one))
    assert model.to_local().classes_.tolist() == model.local_class().fit(X, one).classes_.tolist() == ["a"]


def test_an_empty_table_is_refused(client: Client) -> None:
    model = DaskSLMRegressor()
    text = "X of DaskSLMRegressor.fit must have samples; all partitions are empty."
    assert_refused(model, text, array(X[:0]), array(Y[:0]))
    nothing = frame(FRAME, lambda block: block[:0], 0).partitions[[0]]
    assert_refused(model, text, nothing, frame(pd.Series(Y), lambda block: block[:0], 0).partitions[[0]])


@pytest.mark.parametrize(
    "given", [X, FRAME, pl.from_pandas(FRAME), X.tolist()], ids=["array", "pandas", "polars", "list"]
)
def test_data_that_are_here_are_for_the_local_twin(given: Any, client: Client) -> None:
    text = f"X of DaskSLMRegressor.fit must be an array or a data frame of Dask; got {type(given).__name__}. For data"
    assert_refused(DaskSLMRegressor(), text, given, array(Y), error=TypeError)
    assert_refused(DaskSLMRegressor(), f"y{text[1:]}", array(X), given, error=TypeError)


def test_what_is_no_table_is_refused(client: Client) -> None:
    text = "X of DaskSLMRegressor.fit must have rows and columns; got 1 dimension."
    assert_refused(DaskSLMRegressor(), text, array(Y), array(Y))
    assert_refused(DaskSLMRegressor(), text, frame(FRAME)["a"], frame(pd.Series(Y)))


def test_parameters_are_checked_before_anything_is_computed(client: Client) -> None:
    touched: list[int] = []
    lazy = array(X).map_blocks(lambda block: touched.append(1) or block, meta=X[:0])  # type: ignore[func-returns-value]
    text = "max_depth of DaskSLMRegressor must be"
    assert_refused(DaskSLMRegressor(max_depth=-1), text, lazy, array(Y))
    assert_refused(DaskSLMRegressor(on_lost="wait"), "on_lost of DaskSLMRegressor must be", lazy, array(Y))
    assert_refused(DaskSLMRegressor(client="here"), "client of DaskSLMRegressor must be", lazy, array(Y))
    text = "callbacks of DaskSLMBoostRegressor must be None"
    assert_refused(DaskSLMBoostRegressor(callbacks=[print]), text, lazy, array(Y))
    assert touched == []


def test_a_block_that_fails_to_compute_is_the_users_error(client: Client) -> None:
    def fail(block: Any) -> Any:
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        DaskSLMRegressor().fit(frame(FRAME, fail), frame(pd.Series(Y)))


def test_a_client_that_is_closed_is_refused(client: Client) -> None:
    closed = Client(client.scheduler.address, set_as_default=False)
    closed.close()
    text = "client of DaskSLMRegressor must be connected; got one that is closed."
    assert_refused(DaskSLMRegressor(client=closed), text, array(X), array(Y))
    assert_nothing_is_left(client)
