"""Blocks of collections: those of X, y and the rest belong together."""

from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask
from sublearn.dask.blocks import table_of

TABLE = pd.DataFrame({name: np.arange(60.0) + place for place, name in enumerate("abcdefy")})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for number in range(6):
        TABLE[10 * number : 10 * number + 10].to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_columns_of_files_are_in_the_same_blocks(files: Path, filesystem: str) -> None:
    """Dask by itself reads six files into three blocks where one of seven columns is wanted."""
    frame = dd.read_parquet(files, filesystem=filesystem)
    given = {"X": frame[list("abcdef")], "y": frame["y"], "sample_weight": frame["a"] + 1.0}
    assert frame["y"].optimize().npartitions < 6
    table = table_of("DaskSLMRegressor", given)
    assert len(table.blocks) == 6
    found = dask.compute(*table.blocks)
    for block in found:  # files may come in any order
        assert block["X"].columns.tolist() == list("abcdef")
        assert block["y"].tolist() == (block["X"]["a"] + 6.0).tolist()
        assert block["sample_weight"].tolist() == (block["X"]["a"] + 1.0).tolist()
    assert sorted(value for block in found for value in block["y"]) == TABLE["y"].tolist()


def test_only_columns_that_are_wanted_are_read(files: Path) -> None:
    frame = dd.read_parquet(files)
    assert frame["y"].simplify().expr.frame.operand("columns") == ["y"]
