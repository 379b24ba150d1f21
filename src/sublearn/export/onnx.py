"""Fitted models as ONNX graphs, which onnxruntime and others run without sublearn."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.export.graph import Graph, needed_onnx
from sublearn.export.onnx_codes import code_columns, declare_inputs
from sublearn.export.onnx_trees import add_trees, check_size
from sublearn.export.program import Program, is_textual, programs_of
from sublearn.kernels.layout import Array
from sublearn.kernels.losses import FARTHEST

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("double", "float")
LABEL, PROBABILITIES, VALUE = "label", "probabilities", "value"  # outputs


def to_onnx(model: Any, *, input: str = "double") -> "ModelProto":  # noqa: A002  as ONNX has it
    """Write a fitted model as an ONNX model.

    The map to codes is in doubles, projections are whole numbers below 2^24, of which single precision has all, and
    sums over trees are in doubles again. So every row reaches the leaves that `predict` finds for it, and numbers agree
    to rounding. The graph is made for onnxruntime on a CPU; it takes operators of opsets 17 and ai.onnx.ml 3.

    A model of numbers has one input, "X" (n_rows, n_features), and NaN is missing. Categories that are numbers are
    given as these numbers. Where a category has levels that are text, every feature has an input of its own
    (n_rows, 1), under its name or x0, x1, ...: text for such categories, where "" is missing unless it is a level, and
    numbers for all others. Dates and times are seconds, as in `fit`. An input that would have the name of an output
    has an underscore behind it.

    Classifiers have the outputs "label" (n_rows,) and "probabilities" (n_rows, n_classes), regressors "value"
    (n_rows,). Numbers of the outputs are doubles.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.
    input : {"double", "float"}, default="double"
        Type of the numbers that go in. Values in single precision are rounded before they come in: one that lies next
        to a border may get another code and reach another leaf. The answers are those of `predict` for the rounded
        values.

    Returns
    -------
    model : onnx.ModelProto
        The model; ``onnx.save(model, path)`` writes it to a file.

    Raises
    ------
    ValueError
        If the model has a loss of your own with a `prediction` of its own, or so many hyperplanes that the graph would
        be impractical.

    See Also
    --------
    to_c : As a C file.
    to_sql : As a query of a database.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(SLMClassifier(random_state=0).fit(X, y)).graph
    >>> [one.name for one in (*graph.input, *graph.output)]
    ['X', 'label', 'probabilities']
    """
    needed_onnx("to_onnx")
    if input not in INPUTS:
        raise ValueError(f"input of to_onnx must be 'double' or 'float'; got {input!r}.")
    programs = programs_of(model, "to_onnx")
    for program in programs:
        check_size(program)
    fitted = programs[0].model
    graph = Graph(_input_names(fitted), is_double=input == "double")
    declare_inputs(graph, fitted)
    answers = [_answers(graph, program) for program in programs]
    if len(programs) > 1:
        answers = [graph.node("Mul", a, np.float64(p.weight)) for a, p in zip(answers, programs, strict=True)]
    total = graph.node("Sum", *answers) if len(answers) > 1 else answers[0]
    if fitted.classes is None:
        graph.output(VALUE, graph.node("Squeeze", total, np.array([1])), np.float64)
    else:
        labels = _labels(fitted.classes)
        best = graph.node("ArgMax", total, axis=1, keepdims=0)
        graph.output(LABEL, graph.node("Gather", labels, best), labels.dtype)
        graph.output(PROBABILITIES, total, np.float64, len(labels))
    names = [*range(fitted.n_features)] if fitted.feature_names is None else fitted.feature_names.tolist()
    return graph.finished({"features": json.dumps(names)})


def _input_names(model: FittedModel) -> list[str] | None:
    """Names of the inputs, one a feature; None where all features come in one matrix."""
    if not any(is_textual(levels) for levels in model.levels):
        return None
    given = [f"x{f}" for f in range(model.n_features)] if model.feature_names is None else model.feature_names.tolist()
    names: list[str] = []
    for name in given:
        while name in (LABEL, PROBABILITIES, VALUE, *names):
            name = f"{name}_"
        names.append(name)
    return names


def _labels(classes: Array) -> Array:
    """Classes as ONNX has them: whole numbers, numbers or text."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(one, str) for one in classes.tolist()):
        return classes.astype(object)
    raise ValueError(
        f"classes of the model of to_onnx must be numbers or text; got {classes.tolist()[0]!r}. Fit it to one of these."
    )


def _answers(graph: Graph, program: Program) -> str:
    """The name of the program's answers (n_rows, n_answers)."""
    if program.link == "certainty":
        return graph.node("Add", graph.cast(graph.zeros(), np.float64), np.float64(1))
    raw = add_trees(graph, program, code_columns(graph, program))
    if program.link == MEAN:
        return graph.node("Div", raw, np.float64(program.tests.n_trees))
    raw = graph.node("Add", raw, program.start[None])
    if program.link == "exponential":
        return graph.node("Exp", _within(graph, raw))
    if program.link == "logistic":
        share = graph.node("Exp", graph.node("Neg", _within(graph, graph.node("Abs", raw))))
        more = graph.node("Div", np.float64(1), graph.node("Add", share, np.float64(1)))
        less = graph.node("Mul", share, more)
        both = [graph.node("Concat", *pair, axis=1) for pair in ((less, more), (more, less))]
        return graph.node("Where", graph.node("GreaterOrEqual", raw, np.float64(0)), *both)
    if program.link == "softmax":
        largest = graph.node("ReduceMax", raw, axes=[1], keepdims=1)
        below = graph.node("Max", graph.node("Sub", raw, largest), np.float64(-FARTHEST))
        shares = graph.node("Exp", below)
        return graph.node("Div", shares, graph.node("ReduceSum", shares, np.array([1]), keepdims=1))
    return raw


def _within(graph: Graph, raw: str) -> str:
    """Raw values cut off where the exponential is."""
    return graph.node("Min", graph.node("Max", raw, np.float64(-FARTHEST)), np.float64(FARTHEST))
