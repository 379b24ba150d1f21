"""benchmarks/exports.py: exports of a small table beside the model, and what counts as wrong."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
import exports


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_tree_of_iris_is_the_same_everywhere(tmp_path: Path) -> None:
    given = exports.load("iris")
    assert given is not None
    columns = exports.compare("iris", "tree", given, tmp_path).split(" | ")
    assert len(columns) == len(exports.HEAD.split(" | "))
    assert columns[0].split() == ["iris", "tree", "150"]
    assert float(columns[1]) < 1e-12
    assert columns[2:4] == ["0", "0"]
    assert float(columns[4]) < 1e-12


def test_rows_of_another_class_are_counted_where_two_classes_are_apart() -> None:
    wanted = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    model = SimpleNamespace(predict=lambda X: np.array([0, 1, 0]))
    assert exports.wrong_labels(np.array([0, 1, 1]), model, wanted, wanted) == 0
    assert exports.wrong_labels(np.array([1, 1, 1]), model, wanted, wanted) == 1


def test_differences_are_relative_to_large_numbers_alone() -> None:
    assert exports.off(np.array([200.0]), np.array([100.0])) == 1.0
    assert exports.off(np.array([0.5]), np.array([0.25])) == 0.25
