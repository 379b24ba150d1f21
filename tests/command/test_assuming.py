"""What is assumed of a table: the task, and columns that only number or name the rows."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from sublearn.command.assuming import find_counters, find_ids, find_task
from sublearn.command.messages import Refusal


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b"] * 20, "classes"),
        ([True, False] * 20, "classes"),
        ([0, 1] * 3, "classes"),
        ([0.0, 1.0] * 20, "classes"),
        ([0, 1, 2] * 10, "classes"),
        ([0, 1, 2] * 9, "numbers"),  # fewer than ten rows a class
        ([*range(21)] * 50, "numbers"),
        ([0.5, 1.5] * 20, "numbers"),
    ],
)
def test_task_goes_by_the_values(values: list[Any], expected: str) -> None:
    found = find_task(pl.Series("y", values), None, "y")
    assert found.kind == expected
    assert "overrules" in found.why or isinstance(values[0], str | bool)


def test_task_that_is_asked_for_is_taken_where_it_can_be() -> None:
    assert find_task(pl.Series([0, 1] * 20), "numbers", "y").kind == "numbers"
    assert find_task(pl.Series([0.5, 1.5]), "classes", "y").kind == "classes"
    with pytest.raises(Refusal, match="'y' holds text such as 'a'"):
        find_task(pl.Series(["a", "b"]), "numbers", "y")


def test_text_that_differs_in_every_row_is_no_target() -> None:
    with pytest.raises(Refusal, match="40 distinct values in 40 rows"):
        find_task(pl.Series([f"name {i}" for i in range(40)]), None, "y")


def test_columns_that_only_tell_rows_apart_are_found() -> None:
    n = 40
    frame = pl.DataFrame(
        {
            "Customer_ID": np.arange(n) * 7,
            "column_1": np.arange(n),
            "name": [f"n{i}" for i in range(n)],
            "day": np.arange(n) + 5,
            "acid": np.arange(n)[::-1].copy(),
            "id_twice": [*range(n - 1), 0],
            "town": ["a", "b"] * (n // 2),
        }
    )
    ids = find_ids(frame, ["column_1"])
    assert [*ids] == ["Customer_ID", "column_1", "name"]
    assert find_counters(frame, ids) == ["day"]
