"""to_onnx: the graph is sound, and answers as the model does, also where there is no sublearn."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from exported import CASES, IRIS, WINE, Case, case, mixed_table
from naive import Array
from sublearn import SLMBoostClassifier, SLMClassifier, SLMForestRegressor, SLMRegressor, to_onnx
from sublearn.export import onnx_trees
from sublearn.export.program import program_of

onnx = pytest.importorskip("onnx")
numpy_helper = pytest.importorskip("onnx.numpy_helper")
runtime = pytest.importorskip("onnxruntime")

CLOSE = 1e-12  # of numbers about 1: sums in doubles, in another order


def session_of(model: Any, **settings: Any) -> Any:
    graph = to_onnx(model, **settings)
    onnx.checker.check_model(graph, full_check=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


def fed(session: Any, X: Any) -> dict[str, Any]:
    """Samples as the inputs of a graph want them."""
    kinds = {"tensor(double)": np.float64, "tensor(float)": np.float32}
    inputs = session.get_inputs()
    if inputs[0].name == "X":
        return {"X": np.ascontiguousarray(X, kinds[inputs[0].type])}
    columns: dict[str, Any] = {}
    for f, one in enumerate(inputs):
        values = X.iloc[:, f]
        if one.type == "tensor(string)":
            columns[one.name] = np.array([["" if pd.isna(value) else value] for value in values], object)
        else:
            columns[one.name] = values.to_numpy(kinds[one.type])[:, None]
    return columns


def run(session: Any, X: Any) -> tuple[Any, Array]:
    """Labels, or None, and answers (n_samples, n_answers)."""
    found = session.run(None, fed(session, X))
    return (found[0], found[1]) if len(found) == 2 else (None, found[0][:, None])


def assert_same(one: Case, session: Any, close: float = CLOSE) -> None:
    labels, answers = run(session, one.X)
    expected = one.expected()
    assert answers.dtype == np.float64
    assert answers.shape == expected.shape
    assert np.abs(answers - expected).max() <= close * max(np.abs(expected).max(), 1.0)
    if labels is not None:
        best = np.sort(expected, axis=1)[:, -2:]
        clear = best[:, -1] - best[:, 0] > 1e-5 if expected.shape[1] > 1 else np.ones(len(best), np.bool_)
        assert labels[clear].tolist() == one.model.predict(one.X)[clear].tolist()
        assert clear.mean() > 0.5


def test_tree_of_one_test_answers_as_read_by_hand() -> None:
    model = SLMRegressor(max_depth=1).fit([[1.0], [2.0], [4.0], [5.0]], [0.0, 0.0, 3.0, 3.0])
    (found,) = session_of(model).run(["value"], {"X": np.array([[1.5], [4.5]])})
    assert found.tolist() == [0.0, 3.0]


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_predict(name: str) -> None:
    one = case(name)
    assert_same(one, session_of(one.model))


@pytest.mark.parametrize(
    "name", ["tree with gaps", "boosting of a mixed table", "categories of numbers", "linear leaves"]
)
def test_single_precision_answers_as_predict_does_for_rounded_values(name: str) -> None:
    one = case(name)
    if isinstance(one.X, pd.DataFrame):
        rounded = one.X.assign(value=one.X["value"].astype(np.float32).astype(np.float64))
    else:
        within = np.nan_to_num(np.abs(one.X)).max(axis=1) < 1e30
        rounded = one.X[within].astype(np.float32)
        if name == "categories of numbers":  # levels are those of the double that is written alike
            rounded = rounded.astype(np.float64)
            rounded[:, 0] = one.X[within][:, 0]
    assert_same(Case(one.model, rounded), session_of(one.model, input="float"))


def test_leaves_are_those_of_apply_on_every_border() -> None:
    model = case("forest of numbers").model
    X = case("forest of numbers").X
    steps = np.concatenate([np.nextafter(X, np.inf), np.nextafter(X, -np.inf)])
    assert_same(Case(model, steps), session_of(model))


def test_parts_of_an_ensemble_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("forest of classes", "linear leaves of three classes", "linear leaves of a class a tree"):
        monkeypatch.setattr(onnx_trees, "COLUMNS", 7)
        graph = to_onnx(case(name).model).graph
        assert sum(node.op_type == "MatMul" and node.input[1].startswith("Reshape") for node in graph.node) > 1
        assert_same(case(name), session_of(case(name).model))


def test_equal_hyperplanes_are_projected_once() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = SLMForestRegressor(n_estimators=20, max_depth=1, random_state=0).fit(X, (X.sum(axis=1) > 0).astype(float))
    program = program_of(model._model, "test")
    assert program.tests.n_trees == 20
    assert 0 < program.planes.n < 10
    graph = to_onnx(model).graph
    shapes = [numpy_helper.to_array(one).tolist() for one in graph.initializer if one.dims == [2]]
    assert [2, program.planes.n] in shapes


def test_graph_runs_in_a_process_without_sublearn(tmp_path: Path) -> None:
    one = case("forest of a mixed table")
    onnx.save(to_onnx(one.model), tmp_path / "model.onnx")
    session = session_of(one.model)
    np.savez(
        tmp_path / "rows.npz",
        **{
            f"i{n}": column.astype(str if column.dtype == object else np.float64)
            for n, column in enumerate(fed(session, one.X).values())
        },
    )
    script = """
import json, sys
sys.modules["sublearn"] = None
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
rows = np.load("rows.npz")
feed = {one.name: rows[f"i{n}"].astype(object) if "string" in one.type else rows[f"i{n}"]
        for n, one in enumerate(session.get_inputs())}
label, probabilities = session.run(["label", "probabilities"], feed)
json.dump([label.tolist(), probabilities.tolist()], open("answers.json", "w"))
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    labels, answers = json.loads((tmp_path / "answers.json").read_text())
    assert np.abs(np.array(answers) - one.expected()).max() <= CLOSE
    assert labels == one.model.predict(one.X).tolist()


def test_inputs_and_outputs_have_their_names() -> None:
    graph = to_onnx(case("tree of a mixed table").model).graph
    assert [one.name for one in graph.input] == ["town of birth", "value_", "N_VIEWS of NAME", "rooms", "kind"]
    assert [one.name for one in graph.output] == ["value"]
    kinds = [one.type.tensor_type.elem_type for one in graph.input]
    assert kinds == [onnx.TensorProto.STRING, *[onnx.TensorProto.DOUBLE] * 3, onnx.TensorProto.STRING]
    graph = to_onnx(case("boosting of two classes").model, input="float").graph
    assert [one.name for one in (*graph.input, *graph.output)] == ["X", "label", "probabilities"]
    assert graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT


def test_empty_text_is_a_level_where_it_was_one() -> None:
    X, y = mixed_table()
    X["kind"] = np.where(X["kind"] == "x", "", X["kind"])
    X.loc[::9, "kind"] = None
    model = SLMRegressor(random_state=0, categorical_features=["town of birth", "kind"]).fit(X, y)
    rows = X[X["kind"].notna()]
    assert_same(Case(model, rows), session_of(model))


def test_dates_go_in_as_seconds() -> None:
    days = pd.date_range("2020-01-01", periods=60, unit="s")
    table = pd.DataFrame({"day": days, "x": np.arange(60.0) % 7})
    model = SLMRegressor(random_state=0).fit(table, np.arange(60.0))
    seconds = days.to_numpy().astype("datetime64[s]").astype(np.int64)
    (found,) = session_of(model).run(["value"], {"X": np.column_stack([seconds, table["x"]])})
    assert np.array_equal(found, model.predict(table))


def test_one_row_and_no_row_are_answered() -> None:
    session, X = session_of(case("linear leaves").model), case("linear leaves").X
    assert run(session, X[:1])[1].shape == (1, 1)
    assert run(session, X[:0])[1].shape == (0, 1)


def test_graph_too_large_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SLMClassifier(random_state=0).fit(*IRIS)
    monkeypatch.setattr(onnx_trees, "MOST_COLUMNS", 3)
    with pytest.raises(
        ValueError, match=r"model of to_onnx must have at most 3 distinct hyperplanes in a tree; got \d+"
    ):
        to_onnx(model)
    monkeypatch.setattr(onnx_trees, "MOST_TESTS", 5)
    with pytest.raises(ValueError, match=r"at most 5 tests; got \d+\. Grow smaller trees"):
        to_onnx(model)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="input of to_onnx must be 'double' or 'float'; got 'int8'"):
        to_onnx(case("tree of classes").model, input="int8")
    with pytest.raises(TypeError, match="model of to_onnx must be a fitted tree"):
        to_onnx(WINE)


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sublearn.export.graph.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"to_onnx needs onnx: pip install 'sublearn\[onnx\]'"):
        to_onnx(case("tree of classes").model)


def test_classes_that_onnx_has_no_type_for_are_refused() -> None:
    model = SLMBoostClassifier(n_estimators=1, learning_rate=0.1).fit(*IRIS)
    model._model = replace(model._model, classes=np.array([b"a", b"b", b"c"], object))
    with pytest.raises(ValueError, match="classes of the model of to_onnx must be numbers or text; got b'a'"):
        to_onnx(model)
