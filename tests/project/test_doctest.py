"""The examples in the docstrings print what they say."""

import doctest
from types import ModuleType

import pytest

import sublearn.export
import sublearn.selection
import sublearn.tree


@pytest.mark.parametrize(
    "module", [sublearn.tree, sublearn.export, sublearn.selection], ids=lambda module: module.__name__
)
def test_examples_print_what_they_say(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
