"""Trees of a model in an ONNX graph: projections by matrices, leaves by the tree-ensemble operator, sums in doubles.

Trees go into the graph in parts, so that no more than some thousand projections of a row are there at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublearn.export.graph import Graph, TreeNodes
from sublearn.export.program import Program, entries_of
from sublearn.kernels.layout import Array

COLUMNS = 1024  # distinct hyperplanes of a part, unless a single tree has more
MOST_COLUMNS = 1 << 18  # of a single tree; a row then takes a megabyte
MOST_NUMBERS = 1 << 28  # of all matrices, as they are in memory: a gigabyte
MOST_TESTS = 1 << 24  # of all trees; the format ends at two gigabytes


class Part(NamedTuple):
    """Some trees, one after another."""

    tests: slice
    trees: slice
    planes: Array  # distinct, ascending
    views: Array  # those of these planes


def check_size(program: Program) -> None:
    """Raise ValueError for a model whose graph nobody could use, before any of it is made."""
    n_tests, widest, numbers = len(program.tests.plane), 0, 0
    for part in parts_of(program):
        widest, numbers = max(widest, len(part.planes)), numbers + len(part.planes) * len(part.views)
    way_out = "Grow smaller trees, as by max_depth or min_samples_leaf, or fewer; to_c has no such limit."
    for what, given, most in (
        ("tests", n_tests, MOST_TESTS),
        ("distinct hyperplanes in a tree", widest, MOST_COLUMNS),
        ("numbers in matrices of projections", numbers, MOST_NUMBERS),
    ):
        if given > most:
            raise ValueError(f"model of to_onnx must have at most {most:,} {what}; got {given:,}. {way_out}")


def parts_of(program: Program) -> Iterator[Part]:
    """The parts of a program."""
    tests = program.tests
    begin, planes = 0, np.empty(0, np.int64)
    for t in range(tests.n_trees):
        own = np.unique(tests.plane[tests.first[t] : tests.first[t + 1]])
        both = np.union1d(planes, own[own >= 0])
        if len(both) > COLUMNS and t > begin:
            yield _part(program, begin, t, planes)
            begin, both = t, own[own >= 0]
        planes = both
    if tests.n_trees:
        yield _part(program, begin, tests.n_trees, planes)


def _part(program: Program, begin: int, end: int, planes: Array) -> Part:
    first = program.tests.first
    terms, _ = entries_of(program.planes.first, planes)
    views = np.unique(program.planes.view[terms])
    return Part(slice(int(first[begin]), int(first[end])), slice(begin, end), planes, views)


def add_trees(graph: Graph, program: Program, codes: str) -> str:
    """The name of the sums (n_rows, n_values) of what trees answer, in doubles."""
    total = ""
    outputs = program.outputs_of_trees()
    for part in parts_of(program):
        more = _sums(graph, program, part, codes, None if outputs is None else outputs[part.trees])
        total = graph.node("Add", total, more) if total else more
    return total or graph.node("Add", graph.cast(graph.zeros(), np.float64), np.zeros((1, program.n_values)))


def _sums(graph: Graph, program: Program, part: Part, codes: str, outputs: Array | None) -> str:
    """Sums (n_rows, n_values) over the trees of a part."""
    tests, first = program.tests, program.tests.first[part.trees.start : part.trees.stop + 1]
    plane, threshold, below, above, leaf = (column[part.tests] for column in tests[1:])
    tree = np.repeat(np.arange(len(first) - 1), np.diff(first))
    is_end = leaf >= 0
    answering = np.unique(leaf[is_end])
    nodes = TreeNodes(
        tree=tree,
        number=np.arange(part.tests.start, part.tests.stop) - first[tree],
        feature=np.searchsorted(part.planes, plane),
        value=threshold.astype(np.float32),
        below=below - first[tree],
        above=above - first[tree],
        leaf=np.where(is_end, np.searchsorted(answering, leaf), -1),
    )
    reached = graph.cast(graph.trees(_projected(graph, program, part, codes), nodes, len(first) - 1), np.int64)
    owner = np.zeros(len(answering), np.int64)
    owner[nodes.leaf[is_end]] = tree[is_end]
    return _answers(graph, program, Reached(reached, answering, owner, len(first) - 1), codes, outputs)


def _projected(graph: Graph, program: Program, part: Part, codes: str) -> str:
    """The values (n_rows, n_columns) of a part's planes, float32.

    The matrix is kept as its entries alone; onnxruntime puts it together when it loads the model.
    """
    if not len(part.planes):
        return codes
    terms, column = entries_of(program.planes.first, part.planes)
    view, coefficient = np.searchsorted(part.views, program.planes.view[terms]), program.planes.coefficient[terms]
    if len(part.views) < len(program.views):
        codes = graph.node("Gather", codes, part.views, axis=1)
    if len(terms) == len(part.planes):  # all have one term, which is a code
        return codes
    shape = np.array([len(part.views), len(part.planes)])
    nothing = graph.node("ConstantOfShape", np.array([shape.prod()]))
    places = (view * shape[1] + column).astype(np.int32)
    entries = graph.cast(graph.constant(coefficient.astype(np.int16)), np.float32)
    matrix = graph.node("Reshape", graph.node("ScatterElements", nothing, places, entries, axis=0), shape)
    return graph.node("MatMul", codes, matrix)


class Reached(NamedTuple):
    """Leaves that rows reach in some trees."""

    name: str  # (n_rows, n_trees), numbers of leaves
    leaves: Array  # the leaf of the program that each number stands for
    tree: Array  # the tree of each
    n_trees: int


def _answers(graph: Graph, program: Program, reached: Reached, codes: str, outputs: Array | None) -> str:
    """Sums (n_rows, n_values) of what the leaves answer that rows reach."""
    n_values, value = program.n_values, program.leaves.value[reached.leaves]
    slopes = _clipped(graph, program, reached, codes) if program.leaves.is_linear else None
    if slopes is None and outputs is None:
        return graph.node("ReduceSum", graph.node("Gather", value, reached.name), np.array([1]), keepdims=0)
    if outputs is not None:  # a tree has something to say of one value only
        own = outputs[reached.tree]
        each = _scalars(graph, reached, value[np.arange(len(own)), own], slopes, own)
        if n_values == 1:
            return graph.node("ReduceSum", each, np.array([1]), keepdims=1)
        return graph.node("MatMul", each, np.eye(n_values)[outputs])
    columns = []
    for k in range(n_values):
        each = _scalars(graph, reached, value[:, k], slopes, np.full(len(value), k))
        columns.append(graph.node("ReduceSum", each, np.array([1]), keepdims=1))
    return graph.node("Concat", *columns, axis=1)


class Clipped(NamedTuple):
    """What slopes are multiplied with, for each tree and row."""

    name: str  # (n_rows, n_trees, most), float64
    place: tuple[Array, Array]  # leaf and place in it of each slope
    shape: tuple[int, int]
    slope: Array  # (n_slopes, n_values)
    mean: Array


def _clipped(graph: Graph, program: Program, reached: Reached, codes: str) -> Clipped | None:
    """Codes by which leaves lean, cut off where nothing was learned."""
    slopes = program.leaves.slopes
    at, leaf = entries_of(slopes.first, reached.leaves)
    if not len(at):
        return None
    counts = np.bincount(leaf, minlength=len(reached.leaves))
    within = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(counts), int(counts.max()))
    tables = []
    for column, dtype in ((slopes.feature, np.int64), (slopes.low, np.float32), (slopes.high, np.float32)):
        table = np.zeros(shape, dtype)
        table[leaf, within] = column[at]
        tables.append(graph.node("Gather", table, reached.name))
    flat = graph.node("Reshape", tables[0], np.array([0, reached.n_trees * shape[1]]))
    own = graph.node("GatherElements", codes, flat, axis=1)
    own = graph.node("Reshape", own, np.array([0, reached.n_trees, shape[1]]))
    own = graph.cast(graph.node("Min", graph.node("Max", own, tables[1]), tables[2]), np.float64)
    return Clipped(own, (leaf, within), shape, slopes.slope[at], slopes.mean[at])


def _scalars(graph: Graph, reached: Reached, value: Array, clipped: Clipped | None, own: Array) -> str:
    """What each tree says (n_rows, n_trees) of the value `own` of each of its leaves."""
    if clipped is None:
        return graph.node("Gather", value, reached.name)
    leaf, _ = clipped.place
    rows = np.arange(len(leaf))
    slope, mean = clipped.slope[rows, own[leaf]], clipped.mean[rows, own[leaf]]
    table = np.zeros(clipped.shape)
    table[clipped.place] = slope
    at_zero = value - np.bincount(leaf, slope * mean, len(value))
    leaning = graph.node("Mul", clipped.name, graph.node("Gather", table, reached.name))
    leaning = graph.node("ReduceSum", leaning, np.array([2]), keepdims=0)
    return graph.node("Add", graph.node("Gather", at_zero, reached.name), leaning)
