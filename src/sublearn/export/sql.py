"""Fitted models as a query of a database: single trees and small ensembles."""

from collections.abc import Sequence
from typing import Any

from sublearn._base.parameters import whole
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.export.inequalities import names_of_features
from sublearn.export.program import Program, programs_of
from sublearn.export.sql_codes import Columns, code_columns, input_columns, level_columns, scaled_columns
from sublearn.export.sql_dialect import DIALECTS, Dialect, identifier, number, text
from sublearn.export.sql_trees import answer_columns, leaf_columns, sum_columns

MOST_PARTS = 10_000
LABEL, PROBABILITY, VALUE, RAW = "label", "probability", "value", "raw"


def to_sql(
    model: Any,
    table: str = "samples",
    *,
    dialect: str = "sqlite",
    feature_names: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    raw: bool = False,
    max_size: int = MOST_PARTS,
) -> str:
    """Write a fitted model as a query that answers for every row of a table.

    The query goes step by step, each a common table expression: values, codes, the sum over trees as nested CASE, and
    answers. Every row reaches the leaves that `predict` finds for it, and numbers agree to rounding. NULL is missing,
    and so is NaN in DuckDB. Categories are compared as they are; dates and times are to be numbers of seconds, as in
    `fit`.

    The columns of the answer are those of `keep`, then "label" and "probability_..." for each class, or "value".

    Parameters
    ----------
    model : SLM estimator
        A fitted tree, a small forest or boosting, or an average of such.
    table : str, default="samples"
        Name of the table.
    dialect : {"sqlite", "duckdb"}, default="sqlite"
        What the query is written for. SQLite must be of version 3.35 or newer.
    feature_names : sequence of str, default=None
        Names of the columns, one for each feature; None: those seen in fit, or x0, x1, ...
    keep : sequence of str, default=()
        Columns of the table that the answer has too, such as that of a key.
    raw : bool, default=False
        Whether boosting's raw values take the place of probabilities, or of what the link makes of them. These need no
        exponential, which SQLite has only if it was built with mathematical functions.
    max_size : int, default=10000
        Tests, leaves and slopes of leaves, over all trees, that a model may have: databases take seconds to read longer
        queries, and minutes for some.

    Returns
    -------
    query : str
        The query, without a semicolon.

    Raises
    ------
    ValueError
        If the model is too large, or has a loss of your own with a `prediction` of its own.

    See Also
    --------
    to_onnx : As an ONNX model.
    to_c : As a C file.

    Examples
    --------
    >>> import sqlite3
    >>> from sublearn import SLMRegressor, to_sql
    >>> model = SLMRegressor(max_depth=1).fit([[1.0], [2.0], [4.0], [5.0]], [0.0, 0.0, 3.0, 3.0])
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE samples (id INTEGER, x0 REAL)")
    >>> _ = base.execute("INSERT INTO samples VALUES (1, 1.5), (2, 4.5)")
    >>> base.execute(to_sql(model, keep=["id"])).fetchall()
    [(1, 0.0), (2, 3.0)]
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect of to_sql must be one of {', '.join(map(repr, DIALECTS))}; got {dialect!r}.")
    if not isinstance(raw, bool):
        raise ValueError(f"raw of to_sql must be True or False; got {raw!r}.")
    if not whole(1).accepts(max_size):
        raise ValueError(f"max_size of to_sql must be {whole(1).words}; got {max_size!r}.")
    programs = programs_of(model, "to_sql")
    _check_size(programs, max_size)
    fitted, of = programs[0].model, DIALECTS[dialect]
    is_raw = raw and _has_raw(programs, type(model).__name__)
    names = names_of_features(fitted, feature_names, "to_sql")
    kept = {f"k{i}": f"t.{identifier(name)}" for i, name in enumerate(keep)}
    steps = _steps(programs, kept, input_columns(programs, names, of), of, is_raw)
    _check_columns(steps, of, dialect)
    titles = [f"{identifier(table)} AS t", *steps]
    ctes = [
        f"{title} AS MATERIALIZED (\n{_select(columns, source)}\n)"
        for (title, columns), source in zip(steps.items(), titles, strict=False)
    ]
    answers = {identifier(name): f"k{i}" for i, name in enumerate(keep)}
    for name, one in _answers(fitted, is_raw, of).items():
        if identifier(name) in answers:
            raise ValueError(f"keep of to_sql must have no name of an answer; got {name!r}. Rename that column.")
        answers[identifier(name)] = one
    return f"WITH {(',' + chr(10)).join(ctes)}\n{_select(answers, titles[-1])}"


def _steps(programs: list[Program], kept: Columns, inputs: Columns, of: Dialect, is_raw: bool) -> dict[str, Columns]:
    """The common table expressions: what each selects from the one before."""
    keep, features = _same(kept), _same(kept | inputs)
    codes = code_columns(programs, of)
    leaves = leaf_columns(programs)
    steps = {
        "inputs": kept | inputs,
        "scaled": features | scaled_columns(programs, of),
        "levels": features | level_columns(programs, of),
        "codes": keep | codes,
        "leaves": _same(keep | codes) | leaves,
        "sums": keep | sum_columns(programs, of),
        "answers": keep | answer_columns(programs, of, is_raw),
    }
    return steps if leaves else {title: columns for title, columns in steps.items() if title != "leaves"}


def _same(columns: Columns) -> Columns:
    """Columns handed on as they are."""
    return {name: name for name in columns}


def _select(columns: Columns, source: str) -> str:
    body = ",\n".join(f"  {one if one == name else f'{one} AS {name}'}" for name, one in columns.items())
    return f"SELECT\n{body or '  NULL AS nothing'}\nFROM {source}"


def _answers(model: FittedModel, is_raw: bool, of: Dialect) -> Columns:
    """What the query gives out."""
    if model.classes is None:
        return {RAW if is_raw else VALUE: "a0"}
    classes = model.classes.tolist()
    labels = [_literal(one) for one in classes]
    if is_raw and len(classes) == 2:
        return {LABEL: f"CASE WHEN a0 > 0e0 THEN {labels[1]} ELSE {labels[0]} END", RAW: "a0"}
    names = [f"a{k}" for k in range(len(classes))]
    tests = [f"WHEN {name} THEN {label}" for name, label in zip(names[:-1], labels[:-1], strict=True)]
    best = f"CASE {of.greatest}({', '.join(names)}) {' '.join(tests)} ELSE {labels[-1]} END" if tests else labels[0]
    word = RAW if is_raw else PROBABILITY
    return {LABEL: best} | {f"{word}_{one}": name for one, name in zip(classes, names, strict=True)}


def _literal(one: Any) -> str:
    """A class as it is written."""
    if isinstance(one, str):
        return text(one)
    return number(one) if isinstance(one, float) else str(int(one))


def _has_raw(programs: list[Program], owner: str) -> bool:
    """Whether there are raw values; raises ValueError for an average, whose members are averaged after the link."""
    has = any(program.link not in (MEAN, "identity", "certainty") for program in programs)
    if has and len(programs) > 1:
        raise ValueError(f"raw of to_sql must be False for {owner}, which averages probabilities; got True.")
    return has


def _check_size(programs: list[Program], most: int) -> None:
    n = sum(len(program.tests.plane) + len(program.leaves.slopes.feature) for program in programs)
    if n > most:
        raise ValueError(
            f"model of to_sql must have at most max_size={most:,} tests, leaves and slopes in all trees; got {n:,}. "
            "Grow smaller or fewer trees, or set max_size higher; to_onnx and to_c take large models."
        )


def _check_columns(steps: dict[str, Columns], of: Dialect, dialect: str) -> None:
    n = max(map(len, steps.values()))
    if n > of.most_columns:
        raise ValueError(
            f"model of to_sql must need at most {of.most_columns:,} columns at a time in {dialect}; got {n:,}. Fit it "
            "to fewer features, or grow fewer trees."
        )
