"""The examples in the docstrings print what they say."""

import doctest
from types import ModuleType

import pytest

import sublearn.average
import sublearn.boost
import sublearn.core.boosting.losses
import sublearn.export.c
import sublearn.export.onnx
import sublearn.export.sql
import sublearn.export.text
import sublearn.forest
import sublearn.selection
import sublearn.tree
import sublearn.tuning

MODULES = [
    sublearn.tree,
    sublearn.forest,
    sublearn.boost,
    sublearn.average,
    sublearn.core.boosting.losses,
    sublearn.selection,
    sublearn.tuning,
    sublearn.export.text,
    sublearn.export.onnx,
    sublearn.export.c,
    sublearn.export.sql,
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_print_what_they_say(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
