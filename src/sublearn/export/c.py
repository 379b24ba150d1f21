"""Fitted models as C files, which compare to `predict` to the bit."""

from typing import Any

import numpy as np

from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.export.c_source import (
    ENCODING,
    EXPONENTIAL,
    FIND_NUMBER,
    FIND_TEXT,
    WALK,
    Tables,
    commented,
    is_identifier,
    number,
    quoted,
)
from sublearn.export.program import LISTED, Program, View, is_textual, programs_of, texts_of
from sublearn.kernels.layout import Array

HELLO = """/*
 * {title}, exported by sublearn.
 *
 * Plain C99 without any library. Compile it with -ffp-contract=off, and without options that let the compiler change
 * the order of floating-point operations (such as -ffast-math): then all answers are those of predict, to the bit,
 * where double is the format of 64 bits. Constant tables take {n_bytes:,} bytes.
 *
{features}
 *
 * A number that is missing is NaN. A category is the number of its level, which NAME_level_F gives; NaN is missing, and
 * any other number is a level that was not there when the model was fitted.
{answers}
 */
#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#define NAME_N_FEATURES {n_features}
#define NAME_N_ANSWERS {n_answers}

{prototypes}
"""


def to_c(model: Any, *, name: str = "model") -> str:
    """Write a fitted model as one C99 file that needs nothing else.

    Values become codes in doubles, by the operations of `predict` one by one; from there to the leaves all is integer
    arithmetic over constant tables. There is no heap, no recursion, and no function of a library: exponentials are
    sublearn's own. So answers are those of `predict` and `predict_proba` to the bit, given a 64-bit double and a
    compiler that keeps the order of operations.

    The file has the functions

    - ``void NAME_predict(const double *x, double *out)``: the number predicted for a sample of all features, or the
      probabilities of its classes;
    - ``int NAME_class(const double *x)`` and ``NAME_label(int)``: the number of the class, and the class itself;
    - ``int NAME_level_F(...)`` for each feature F that is a category: the number of a level, or -1 where it is not
      known.

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, forest, boosting or average.
    name : str, default="model"
        What the names of all functions begin with.

    Returns
    -------
    source : str
        The file.

    Raises
    ------
    ValueError
        If the model has a loss of your own with a `prediction` of its own, or the name is none of C.

    See Also
    --------
    to_onnx : As an ONNX model.
    to_sql : As a query of a database.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, to_c
    >>> X, y = load_iris(return_X_y=True)
    >>> source = to_c(SLMClassifier(random_state=0).fit(X, y), name="iris")
    >>> [line for line in source.splitlines() if line.endswith(");")][0]
    'void iris_predict(const double *x, double *out);'
    """
    if not is_identifier(name):
        raise ValueError(f"name of to_c must be a name of C, such as 'model'; got {name!r}.")
    programs = programs_of(model, "to_c")
    fitted = programs[0].model
    written = [_member(program, name, f"{name}_{i}") for i, program in enumerate(programs)]
    levels = _levels(fitted, name)
    labels = _labels(fitted, name)
    prototypes = [f"void {name}_predict(const double *x, double *out);", *(p for p, _ in (*labels, *levels))]
    head = HELLO.replace("NAME", name).format(
        title=type(model).__name__,
        n_bytes=sum(n_bytes for _, n_bytes in written),
        features=_described(fitted, name),
        answers=_described_answers(fitted),
        n_features=fitted.n_features,
        n_answers=programs[0].n_answers,
        prototypes="\n".join(prototypes),
    )
    parts = [head]
    if any(program.link in ("exponential", "logistic", "softmax") for program in programs):
        parts.append(EXPONENTIAL.replace("NAME", name))
    if any(is_textual(one) for one in fitted.levels):
        parts.append(FIND_TEXT.replace("NAME", name))
    if any(one is not None and not is_textual(one) for one in fitted.levels):
        parts.append(FIND_NUMBER.replace("NAME", name))
    parts += [text for text, _ in written]
    parts += [_predict(programs, name), *(body for _, body in (*labels, *levels))]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _described(model: FittedModel, name: str) -> str:
    """What is to be at each place of x, as lines of a comment."""
    names = model.feature_names
    lines = []
    for f in range(model.n_features):
        levels, kind = (all_[f] if all_ else None for all_ in (model.levels, model.kinds))
        what = "" if kind in (None, "numbers") else f", {kind} in seconds"
        if levels is not None:
            what = f", level by {name}_level_{f}"
        lines.append(f" * x[{f}]: {'feature ' + str(f) if names is None else commented(names[f])}{what}")
    return "\n".join(lines)


def _described_answers(model: FittedModel) -> str:
    if model.classes is None:
        return " * The answer, out[0], is the number predicted."
    shares = [f" * out[{k}]: probability of {commented(repr(one))}" for k, one in enumerate(model.classes.tolist())]
    return "\n".join(shares)


def _member(program: Program, name: str, prefix: str) -> tuple[str, int]:
    """Tables and functions of one program, and the bytes that the tables take."""
    head = f"static void {prefix}_answer(const double *x, double *out)\n{{\n"
    if program.link == "certainty":
        return f"{head}    (void) x;\n    out[0] = 1.0;\n}}\n", 0
    tables = Tables(prefix)
    _add_views(tables, program)
    _add_tests(tables, program)
    outputs = program.outputs_of_trees() if program.n_values > 1 else None
    _add_leaves(tables, program, outputs)
    functions = [text.replace("N_VIEWS", str(len(program.views))) for text in (ENCODING, WALK)]
    functions = [text.replace("NAME", prefix) for text in functions]
    body = _sum(program, outputs).replace("NAME_", f"{prefix}_") + _link(program).replace("NAME", name)
    return "\n".join([*tables.texts, *functions, head + body + "}\n"]), tables.n_bytes


def _add_views(tables: Tables, program: Program) -> None:
    views = program.views

    def joined(columns: list[Array], dtype: Any) -> Array:
        return np.concatenate([np.empty(0, dtype), *columns]).astype(dtype)

    kept = [view.knots if view.kind != LISTED else np.zeros(len(view.codes)) for view in views]
    tables.add("feature", np.array([v.feature for v in views], np.int64), "the feature that a view of it takes")
    tables.add("is_listed", np.array([v.kind == LISTED for v in views], np.int64), "whether it is a category")
    tables.add("unit", np.array([v.unit for v in views], np.float64), "by which values are multiplied")
    tables.add("missing", np.array([_missing(program, v) for v in views], np.int64), "codes of what is missing")
    tables.add("unknown", np.array([v.gap for v in views], np.int64), "codes of levels that are not known")
    tables.add("first_knot", np.cumsum([0, *map(len, kept)]), "where the knots of views begin")
    tables.add("knot", joined(kept, np.float64), "knots of the maps")
    tables.add("code", joined([v.codes for v in views], np.int64), "codes at the knots, or of levels")
    tables.add("slope", joined([_slopes(v) for v in views], np.float64), "from each knot to the next")


def _slopes(view: View) -> Array:
    """Slopes of a view; what the last knot has leads nowhere."""
    return np.append(view.slopes[:-1], 0.0) if view.kind != LISTED else np.zeros(len(view.codes))


def _missing(program: Program, view: View) -> int:
    """The code of what is missing: a level of its own, where it was in training."""
    levels = program.model.levels[view.feature] if view.kind == LISTED else None
    return int(view.codes[levels.index(None)]) if levels is not None and None in levels else view.gap


def _add_tests(tables: Tables, program: Program) -> None:
    tests, planes = program.tests, program.planes
    is_test = tests.plane >= 0
    place = np.where(is_test, np.cumsum(is_test) - 1, -1 - tests.leaf)  # leaves are negative
    tables.add("root", place[tests.first[:-1]], "the first test of each tree; leaf l is -1 - l")
    tables.add("plane", tests.plane[is_test], "the hyperplane of each test")
    tables.add("threshold", tests.threshold[is_test], "and the value from which on it is above")
    tables.add("below", place[tests.below[is_test]], "the next test, or a leaf, below")
    tables.add("above", place[tests.above[is_test]], "and above")
    tables.add("first_term", planes.first, "where the terms of hyperplanes begin")
    tables.add("view", planes.view, "terms")
    tables.add("coefficient", planes.coefficient, "and their coefficients")


def _add_leaves(tables: Tables, program: Program, outputs: Array | None) -> None:
    value, slopes = program.leaves.value, program.leaves.slopes
    slope, mean = slopes.slope, slopes.mean
    if outputs is not None:
        tables.add("output", outputs, "the answer that each tree adds to")
        own = outputs[program.trees_of_leaves()]
        value = value[np.arange(len(own)), own]
        if program.leaves.is_linear:
            of_slopes = np.repeat(own, np.diff(slopes.first))
            slope, mean = (column[np.arange(len(of_slopes)), of_slopes] for column in (slope, mean))
    tables.add("value", value, "what leaves answer")
    if program.leaves.is_linear:
        tables.add("first_slope", slopes.first, "where the slopes of leaves begin")
        tables.add("slope_view", slopes.feature, "the code that a slope goes by")
        tables.add("low", slopes.low, "the lowest code that counts")
        tables.add("high", slopes.high, "and the highest")
        tables.add("leaf_slope", slope, "slopes")
        tables.add("mean", mean, "and the codes at which they add nothing")


def _sum(program: Program, outputs: Array | None) -> str:
    """The sum over all trees, as the body of a function."""
    n, n_views = program.n_values, len(program.views)
    is_linear, is_single = program.leaves.is_linear, n == 1 or outputs is not None
    start = [f"    sums[{k}] = {number(one)};" for k, one in enumerate(program.start.tolist())]
    entry = "leaf" if is_single else f"leaf * {n} + k"
    add = [f"answer = NAME_value[{entry}];"]
    if is_linear:
        of = "s" if is_single else f"s * {n} + k"
        add += [
            "for (s = NAME_first_slope[leaf]; s < NAME_first_slope[leaf + 1]; s++) {",
            "    double code = codes[NAME_slope_view[s]];",
            "    code = code < NAME_low[s] ? NAME_low[s] : code;",
            "    code = code > NAME_high[s] ? NAME_high[s] : code;",
            f"    answer += NAME_leaf_slope[{of}] * (code - NAME_mean[{of}]);",
            "}",
        ]
    target = "k" if not is_single else "0" if outputs is None else "NAME_output[t]"
    add.append(f"sums[{target}] += answer;")
    if not is_single:
        add = [f"for (k = 0; k < {n}; k++) {{", *(f"    {line}" for line in add), "}"]
    lines = [
        f"    int16_t codes[{max(n_views, 1)}];",
        f"    double sums[{n}], answer;",
        f"    int32_t t, leaf{', s' if is_linear else ''}{'' if is_single else ', k'};",
        "    NAME_encode(x, codes);",
        *start,
        f"    for (t = 0; t < {program.tests.n_trees}; t++) {{",
        "        leaf = NAME_leaf(codes, t);",
        *(f"        {line}" for line in add),
        "    }",
    ]
    return "\n".join(lines) + "\n"


def _link(program: Program) -> str:
    """From sums to answers, as the end of the body of a function."""
    n, n_trees = program.n_values, program.tests.n_trees
    if program.link == MEAN:
        divisor = f" / {n_trees}.0" if n_trees > 1 else ""
        return "".join(f"    out[{k}] = sums[{k}]{divisor};\n" for k in range(n))
    if program.link == "exponential":
        return "    out[0] = NAME_exp(sums[0]);\n"
    if program.link == "logistic":
        return (
            "    {\n"
            "        const double share = NAME_exp(sums[0] < 0.0 ? sums[0] : -sums[0]);\n"
            "        const double more = 1.0 / (1.0 + share), less = share * more;\n"
            "        out[0] = sums[0] >= 0.0 ? less : more;\n"
            "        out[1] = sums[0] >= 0.0 ? more : less;\n"
            "    }\n"
        )
    if program.link == "softmax":
        return (
            "    {\n"
            "        double largest = sums[0], total = 0.0;\n"
            f"        for (t = 1; t < {n}; t++)\n"
            "            largest = sums[t] > largest ? sums[t] : largest;\n"
            f"        for (t = 0; t < {n}; t++) {{\n"
            "            out[t] = NAME_exp(sums[t] - largest);\n"
            "            total += out[t];\n"
            "        }\n"
            f"        for (t = 0; t < {n}; t++)\n"
            "            out[t] /= total;\n"
            "    }\n"
        )
    return "    out[0] = sums[0];\n"


def _predict(programs: list[Program], name: str) -> str:
    """The function that answers."""
    if len(programs) == 1:
        return f"void {name}_predict(const double *x, double *out)\n{{\n    {name}_0_answer(x, out);\n}}\n"
    n = programs[0].n_answers
    adding = [
        f"    {name}_{i}_answer(x, one);\n    for (k = 0; k < {n}; k++)\n"
        f"        out[k] {'+' if i else ''}= {number(program.weight)} * one[k];\n"
        for i, program in enumerate(programs)
    ]
    head = f"void {name}_predict(const double *x, double *out)\n{{\n    double one[{n}];\n    int k;\n"
    return f"{head}{''.join(adding)}}}\n"


def _labels(model: FittedModel, name: str) -> list[tuple[str, str]]:
    """Prototypes and bodies of what tells classes."""
    if model.classes is None:
        return []
    n, labels = len(model.classes), model.classes.tolist()
    choose = (
        f"int {name}_class(const double *x)\n{{\n    double out[{n}];\n    int k, best = 0;\n"
        f"    {name}_predict(x, out);\n"
        f"    for (k = 1; k < {n}; k++)\n        best = out[k] > out[best] ? k : best;\n    return best;\n}}\n"
    )
    kind, entries = "const char *", [quoted(str(one)) for one in labels]
    if all(isinstance(one, int) and abs(one) < 2**31 for one in labels):
        kind, entries = "long ", [str(int(one)) for one in labels]
    elif all(isinstance(one, float) for one in labels):
        kind, entries = "double ", [number(one) for one in labels]
    own = "static const char *const" if kind.startswith("const char") else f"static const {kind.strip()}"
    tell = (
        f"{kind}{name}_label(int k)\n{{\n    {own} labels[{n}] = {{{', '.join(entries)}}};\n    return labels[k];\n}}\n"
    )
    return [(f"int {name}_class(const double *x);", choose), (f"{kind}{name}_label(int k);", tell)]


def _levels(model: FittedModel, name: str) -> list[tuple[str, str]]:
    """Prototypes and bodies of what tells the numbers of levels.

    Levels are tables that are searched: a feature may have ten thousand, and compilers take minutes for as many ifs.
    """
    functions = []
    for f, levels in enumerate(model.levels):
        if levels is None:
            continue
        table = f"{name}_levels_{f}"
        if is_textual(levels):
            places = {text: i for i, text in enumerate(texts_of(levels, f, "to_c")) if text is not None}
            head, kind = f"int {name}_level_{f}(const char *text)", f"struct {name}_text"
            entries = [f"{{{quoted(text)}, {places[text]}}}" for text in sorted(places, key=str.encode)]
            found = f"{name}_find_text({table}, {len(entries)}, text)"
        else:
            head, kind = f"int {name}_level_{f}(double value)", "double"
            entries = [number(level) for level in levels if isinstance(level, float | int)]  # before what is missing
            found = f"{name}_find_number({table}, {len(entries)}, value)"
        rows = ",\n".join(f"    {entry}" for entry in entries or ["0.0"])  # arrays of C have at least one entry
        array = f"static const {kind} {table}[{max(len(entries), 1)}] = {{\n{rows}\n}};"
        functions.append((f"{head};", f"{array}\n\n{head}\n{{\n    return {found};\n}}\n"))
    return functions
