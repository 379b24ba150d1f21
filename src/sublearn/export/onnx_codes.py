"""Codes of a model's features in an ONNX graph; every step is one of `kernels.encoding`, in doubles."""

import numpy as np

from sublearn.core.model.fitted import FittedModel
from sublearn.export.graph import ML, Graph, TreeNodes
from sublearn.export.program import BENT, CONSTANT, LISTED, STRAIGHT, Program, View, is_textual, texts_of
from sublearn.kernels.layout import Array


def declare_inputs(graph: Graph, model: FittedModel) -> None:
    """Declare what goes in: one matrix, or a column for each feature."""
    if graph.features is None:
        graph.input("X", graph.number_type, model.n_features)
        return
    for name, levels in zip(graph.features, model.levels, strict=True):
        graph.input(name, np.object_ if is_textual(levels) else graph.number_type, 1)


def code_columns(graph: Graph, program: Program) -> str:
    """The name of the codes (n_rows, n_views), float32 and in the order of the program's views."""
    if not program.views:
        return graph.zeros()
    parts, order = [], []
    for kind, write in {CONSTANT: _constant, STRAIGHT: _straight, BENT: _bent}.items():
        own = [v for v, view in enumerate(program.views) if view.kind == kind]
        if own:
            views = [program.views[v] for v in own]
            x = _numbers(graph, program, [view.feature for view in views])
            gaps = np.array([[view.gap for view in views]], np.float64)
            parts.append(
                graph.cast(graph.node("Where", graph.node("IsNaN", x), gaps, write(graph, views, x)), np.float32)
            )
            order += own
    listed = [v for v, view in enumerate(program.views) if view.kind == LISTED]
    for f in dict.fromkeys(program.views[v].feature for v in listed):
        own = [v for v in listed if program.views[v].feature == f]
        parts.append(_listed(graph, program, f, [program.views[v] for v in own]))
        order += own
    codes = graph.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    return codes if order == sorted(order) else graph.node("Gather", codes, np.argsort(order), axis=1)


def _numbers(graph: Graph, program: Program, features: list[int]) -> str:
    """Columns of numbers (n_rows, n_columns), in doubles."""
    if graph.features is None:
        x = "X"
        if features != [*range(program.model.n_features)]:
            x = graph.node("Gather", x, np.array(features), axis=1)
    else:
        columns = [graph.features[f] for f in features]
        x = graph.node("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
    return x if graph.number_type is np.float64 else graph.cast(x, np.float64)


def _constant(graph: Graph, views: list[View], x: str) -> str:
    """Codes of features that had one value."""
    return graph.constant(np.array([[view.codes[0] for view in views]], np.float64))


def _straight(graph: Graph, views: list[View], x: str) -> str:
    """Codes by maps of two knots."""
    unit, knot, slope, first, last = (
        np.array([column], np.float64)
        for column in zip(*((v.unit, v.knots[0], v.slopes[0], v.codes[0], v.codes[1]) for v in views), strict=True)
    )
    return _on_line(graph, graph.node("Mul", x, unit), knot, slope, first, last)


def _on_line(graph: Graph, z: str, *line: "str | Array") -> str:
    """floor(min(max(slope * (z - knot) + (first + 0.5), first), last))."""
    knot, slope, first, last = line
    half = first + 0.5 if isinstance(first, np.ndarray) else graph.node("Add", first, np.float64(0.5))
    level = graph.node("Add", graph.node("Mul", slope, graph.node("Sub", z, knot)), half)
    return graph.node("Floor", graph.node("Min", graph.node("Max", level, first), last))


def _bent(graph: Graph, views: list[View], x: str) -> str:
    """Codes by maps of several knots; the last knot at or below a value is found by a tree for each view."""
    least, most, unit = (
        np.array([column], np.float64)
        for column in zip(*((v.knots[0], v.knots[-1], v.unit) for v in views), strict=True)
    )
    z = graph.node("Min", graph.node("Max", graph.node("Mul", x, unit), least), most)
    begins = np.cumsum([0, *(len(v.knots) - 1 for v in views)])
    knot = graph.cast(_search(graph, z, [v.knots[1:-1] for v in views], begins), np.int64)
    pieces = [
        ([v.knots[:-1] for v in views], [v.slopes[:-1] for v in views]),
        ([v.codes[:-1] for v in views], [v.codes[1:] for v in views]),
    ]
    line = [graph.node("Gather", np.concatenate(p).astype(np.float64), knot) for pair in pieces for p in pair]
    return _on_line(graph, z, *line)


def _search(graph: Graph, z: str, borders: list[Array], begins: Array) -> str:
    """For each column the number of borders at or below its value, plus where its pieces begin."""
    rows: list[list[float]] = []

    def add(tree: int, low: int, high: int, number: int) -> int:
        """Add what tells the pieces low to high apart, from node `number` on; return the next free number."""
        middle = (low + high + 1) // 2
        row = [tree, number, 0.0, -1, -1, begins[tree] + low]
        rows.append(row)
        if low == high:
            return number + 1
        following = add(tree, low, middle - 1, number + 1)
        row[2:] = [borders[tree][middle - 1], number + 1, following, -1]
        return add(tree, middle, high, following)

    for tree, border in enumerate(borders):
        add(tree, 0, len(border), 0)
    tree_, number, value, below, above, leaf = np.array(rows).T
    nodes = TreeNodes(
        tree=tree_.astype(np.int64),
        number=number.astype(np.int64),
        feature=tree_.astype(np.int64),
        value=value,
        below=below.astype(np.int64),
        above=above.astype(np.int64),
        leaf=leaf.astype(np.int64),
    )
    return graph.trees(z, nodes, len(borders))


def _listed(graph: Graph, program: Program, f: int, views: list[View]) -> str:
    """Codes of a category by the level it has."""
    levels = program.model.levels[f] or ()
    gaps = np.array([view.gap for view in views], np.float32)
    table = np.array([view.codes for view in views], np.float32).T[: len(levels)]  # (n_levels, n_views)
    if is_textual(levels) and graph.features is not None:
        return _listed_text(graph, graph.features[f], texts_of(levels, f, "to_onnx"), np.vstack([table, gaps]))
    there = np.array([level is not None for level in levels], np.bool_)
    numbers = np.array([level for level in levels if level is not None], np.float64)
    x = _numbers(graph, program, [f])
    if graph.number_type is np.float32:
        numbers = numbers.astype(np.float32).astype(np.float64)
    if len(np.unique(numbers)) < len(numbers):
        raise ValueError(
            f"levels of feature {f} of the model of to_onnx must differ as {graph.number_type.__name__}; some "
            "are one there."
        )
    is_level = [graph.node("Equal", x, numbers[None])] if len(numbers) else []
    flags = [graph.cast(one, np.float32) for one in (*is_level, graph.node("IsNaN", x))]
    known = graph.node("Concat", *flags, axis=1) if len(flags) > 1 else flags[0]
    missing = table[~there] if (~there).any() else gaps[None]
    return graph.node("Add", graph.node("MatMul", known, np.vstack([table[there], missing]) - gaps), gaps)


def _listed_text(graph: Graph, name: str, texts: list[str | None], table: Array) -> str:
    """The same where levels are text; the last row of the table is of what is not known."""
    keys = ["" if text is None and "" not in texts else text for text in texts]
    pairs = [(key, place) for place, key in enumerate(keys) if key is not None]
    place = graph.node(
        "LabelEncoder",
        name,
        domain=ML,
        keys_strings=[key for key, _ in pairs],
        values_int64s=[place for _, place in pairs],
        default_int64=len(texts),
    )
    return graph.node("Gather", table, graph.node("Squeeze", place, np.array([1])), axis=0)
