"""Codes of a model's features in SQL; every step is one of `kernels.encoding`, in doubles."""

from collections.abc import Iterator

from sublearn.export.program import BENT, CONSTANT, LISTED, STRAIGHT, Program, View, is_textual, texts_of
from sublearn.export.sql_dialect import Dialect, exact, identifier, number, text

Columns = dict[str, str]  # expressions by the names of what they become


def input_columns(programs: list[Program], names: list[str], of: Dialect) -> Columns:
    """The features that programs use, as numbers or text."""
    columns = {}
    levels = programs[0].model.levels
    for f in sorted({view.feature for program in programs for view in program.views}):
        given = f"t.{identifier(names[f])}"
        is_text = bool(levels) and is_textual(levels[f])
        columns[f"f{f}"] = f"CAST({given} AS {of.text_type})" if is_text else of.missing.format(x=given)
    return columns


def _views(programs: list[Program], *kinds: str) -> Iterator[tuple[str, View, Program]]:
    """Views of some kinds, with what tells their columns."""
    for m, program in enumerate(programs):
        for v, view in enumerate(program.views):
            if view.kind in kinds:
                yield f"{m}_{v}", view, program


def scaled_columns(programs: list[Program], of: Dialect) -> Columns:
    """Values in units; those of bent maps are cut off at the ends."""
    columns = {}
    for name, view, _ in _views(programs, STRAIGHT, BENT):
        z = f"f{view.feature} * {exact(view.unit)}"
        is_bent = view.kind == BENT
        columns[f"z{name}"] = of.within(z, exact(view.knots[0]), exact(view.knots[-1])) if is_bent else z
    return columns


def level_columns(programs: list[Program], of: Dialect) -> Columns:
    """Codes before they are rounded down."""
    columns = {}
    for name, view, _ in _views(programs, STRAIGHT, BENT):
        pieces = [_piece(view, k, f"z{name}", of) for k in range(len(view.knots) - 1)]
        borders = [f"z{name} < {exact(knot)}" for knot in view.knots[1:-1].tolist()]
        columns[f"l{name}"] = _by_halves(borders, pieces)
    return columns


def _piece(view: View, k: int, z: str, of: Dialect) -> str:
    first, last = float(view.codes[k]), float(view.codes[k + 1])
    level = f"{exact(view.slopes[k])} * ({z} - {exact(view.knots[k])}) + {number(first + 0.5)}"
    return of.within(level, number(first), number(last))


def _by_halves(borders: list[str], pieces: list[str]) -> str:
    """The piece before the first border that holds; borders hold from some place on."""
    if not borders:
        return pieces[0]
    half = len(borders) // 2
    low, high = _by_halves(borders[:half], pieces[: half + 1]), _by_halves(borders[half + 1 :], pieces[half + 1 :])
    return f"CASE WHEN {borders[half]} THEN {low} ELSE {high} END"


def code_columns(programs: list[Program], of: Dialect) -> Columns:
    """Codes of all views."""
    columns = {}
    for name, view, program in _views(programs, CONSTANT, STRAIGHT, BENT, LISTED):
        if view.kind == LISTED:
            columns[f"c{name}"] = _listed(view, program, of)
            continue
        code = str(view.codes[0]) if view.kind == CONSTANT else of.floor.format(x=f"l{name}")
        columns[f"c{name}"] = f"CASE WHEN f{view.feature} IS NULL THEN {view.gap} ELSE {code} END"
    return columns


def _listed(view: View, program: Program, of: Dialect) -> str:
    """The code of a category by its level."""
    levels = program.model.levels[view.feature] or ()
    if is_textual(levels):
        names = [None if one is None else text(one) for one in texts_of(levels, view.feature, "to_sql")]
        given = f"f{view.feature}{of.collation}"
    else:
        names = [None if level is None else exact(float(level)) for level in levels]
        given = f"f{view.feature}"
    missing, tests = view.gap, []
    for name, code in zip(names, view.codes.tolist(), strict=False):
        if name is None:
            missing = code
        elif code != view.gap:
            tests.append(f"WHEN {given} = {name} THEN {code}")
    return " ".join([f"CASE WHEN f{view.feature} IS NULL THEN {missing}", *tests, f"ELSE {view.gap} END"])
