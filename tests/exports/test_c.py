"""to_c: the file compiles without a warning, and answers as the model does, to the bit."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from exported import CASES, IRIS, Case, case
from naive import Array
from sublearn import SLMBoostRegressor, SLMClassifier, SLMRegressor, to_c
from sublearn.core.boosting.losses import Loss

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
MANY = """
void m_many(const double *x, double *out, long n)
{
    long i;
    for (i = 0; i < n; i++)
        m_predict(x + i * m_N_FEATURES, out + i * m_N_ANSWERS);
}
"""


def compiled(source: str, folder: Path) -> Any:
    """The functions of a C file."""
    path = folder / "m.c"
    path.write_text(source, "ascii")
    library = folder / "m.so"
    command = [str(COMPILER), *FLAGS, "-shared", "-fPIC", str(path), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def as_numbers(one: Case, functions: Any) -> Array:
    """Samples as C takes them; levels by the functions of the file."""
    table, columns = pd.DataFrame(one.X), []
    fitted = one.model.estimators_[0] if hasattr(one.model, "weights_") else one.model
    for f, levels in enumerate(fitted._model.levels):
        values = table.iloc[:, f]
        if levels is None:
            columns.append(values.to_numpy(np.float64))
            continue
        number_of = level_function(functions, f, any(isinstance(level, str) for level in levels))
        columns.append(np.array([np.nan if pd.isna(value) else number_of(value) for value in values]))
    return np.ascontiguousarray(np.column_stack(columns))


def level_function(functions: Any, f: int, is_text: bool) -> Callable[[Any], float]:
    function = getattr(functions, f"m_level_{f}")
    function.argtypes = [ctypes.c_char_p if is_text else ctypes.c_double]
    return lambda value: float(function(value.encode() if is_text else value))


def answers_of(functions: Any, X: Array, n: int) -> Array:
    out = np.empty((len(X), n))
    functions.m_many(X.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(X)))
    return out


@needs_compiler
def test_tree_of_one_test_answers_as_read_by_hand(tmp_path: Path) -> None:
    model = SLMRegressor(max_depth=1).fit([[1.0], [2.0], [4.0], [5.0]], [0.0, 0.0, 3.0, 3.0])
    functions = compiled(to_c(model, name="m") + MANY, tmp_path)
    assert answers_of(functions, np.array([[1.5], [4.5]]), 1).ravel().tolist() == [0.0, 3.0]


@needs_compiler
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_predict_to_the_bit(name: str, tmp_path: Path) -> None:
    one = case(name)
    functions = compiled(to_c(one.model, name="m") + MANY, tmp_path)
    expected = one.expected()
    assert np.array_equal(answers_of(functions, as_numbers(one, functions), expected.shape[1]), expected)


@needs_compiler
def test_classes_and_labels_are_those_of_predict(tmp_path: Path) -> None:
    one = case("forest with gaps")
    functions = compiled(to_c(one.model, name="m"), tmp_path)
    functions.m_class.argtypes, functions.m_label.restype = [ctypes.c_void_p], ctypes.c_char_p
    X = np.ascontiguousarray(one.X)
    found = [functions.m_label(functions.m_class(row.ctypes.data)).decode() for row in X]
    assert found == one.model.predict(one.X).tolist()


@needs_compiler
def test_labels_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    for name, kind, labels in (
        ("tree of classes", ctypes.c_long, [0, 1, 2]),
        ("forest of hard votes", ctypes.c_double, [0.0, 2.0, 4.0]),
    ):
        folder = tmp_path / kind.__name__
        folder.mkdir()
        functions = compiled(to_c(case(name).model, name="m"), folder)
        functions.m_label.restype = kind
        assert [functions.m_label(k) for k in range(3)] == labels


@needs_compiler
def test_levels_that_are_not_known_have_no_number(tmp_path: Path) -> None:
    model = case("tree of a mixed table").model
    functions = compiled(to_c(model, name="m"), tmp_path)
    town, rooms = level_function(functions, 0, True), level_function(functions, 3, False)
    levels = model._model.levels[0]
    assert [town(level) for level in levels if level is not None] == [*range(len(levels) - 1)]
    assert (town("elsewhere"), town(""), town("O'Har"), rooms(3.0), rooms(3.5)) == (-1, -1, -1, 2, -1)


@needs_compiler
def test_each_of_thousands_of_levels_is_found(tmp_path: Path) -> None:
    texts = sorted({f"{'é' if i % 3 else 'z'} {i % 97} {i}" for i in range(3000)} | {"", "a", "aa"})
    X = pd.DataFrame({"text": texts, "number": np.arange(len(texts)) * 1.5})
    model = SLMRegressor(max_depth=1, categorical_features=["text", "number"], random_state=0)
    functions = compiled(to_c(model.fit(X, np.arange(len(X)) % 7), name="m"), tmp_path)
    text, number = level_function(functions, 0, True), level_function(functions, 1, False)
    assert [text(one) for one in texts] == [number(one) for one in X["number"]] == [*range(len(texts))]
    assert {text(one) for one in ("b", "aaa", "z", "\U0001f600")} == {-1}
    assert {number(one) for one in (-1.0, 1.0, 1e9, np.nan, np.inf)} == {-1}


def test_file_is_plain_text_without_libraries_or_heap() -> None:
    source = to_c(case("boosting of a mixed table").model)
    assert source.isascii()
    assert re.findall(r"#include (\S+)", source) == ["<stdint.h>"]
    assert "malloc" not in source
    assert max(map(len, source.splitlines())) < 200


def test_tables_are_as_large_as_the_file_says() -> None:
    source = to_c(case("forest of numbers").model)
    sizes = {"double": 8, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4}
    tables = re.findall(r"static const (\w+) \w+\[(\d+)\]", source)
    said = re.search(r"tables take ([\d,]+) bytes", source)
    assert said is not None
    assert sum(sizes[kind] * int(n) for kind, n in tables) == int(said[1].replace(",", ""))


@pytest.mark.parametrize("name", ["", "1st", "two words", "int", "a-b", "_own", 3])
def test_name_must_be_one_of_c(name: Any) -> None:
    with pytest.raises(ValueError, match="name of to_c must be a name of C"):
        to_c(case("tree of classes").model, name=name)


class Own(Loss):
    """Half the squared error."""

    def values(self, y: Array, raw: Array) -> Array:
        halves: Array = 0.5 * (y - raw) ** 2
        return halves

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return raw - y, np.ones_like(raw)


class Doubled(Own):
    """The same, of which twice the raw value is predicted."""

    def prediction(self, raw: Array) -> Array:
        return 2.0 * raw


def test_what_is_no_fitted_model_is_refused() -> None:
    with pytest.raises(TypeError, match="model of to_c must be a fitted tree, forest, boosting or average"):
        to_c("model")
    with pytest.raises(NotFittedError):
        to_c(SLMClassifier())
    with pytest.raises(ValueError, match="model of to_c must have a loss whose predictions sublearn knows"):
        to_c(SLMBoostRegressor(loss=Doubled(), n_estimators=2, learning_rate=0.1).fit(*IRIS))


@needs_compiler
def test_own_loss_without_own_predictions_is_exported(tmp_path: Path) -> None:
    model = SLMBoostRegressor(loss=Own(), n_estimators=2, learning_rate=0.1).fit(*IRIS)
    functions = compiled(to_c(model, name="m") + MANY, tmp_path)
    assert np.array_equal(answers_of(functions, np.ascontiguousarray(IRIS[0]), 1)[:, 0], model.predict(IRIS[0]))
