"""Trees of a model in SQL, as nested CASE over codes, and what becomes of their sums."""

from collections.abc import Callable

import numpy as np

from sublearn.core.model.fitted import MEAN
from sublearn.export.program import Program
from sublearn.export.sql_codes import Columns
from sublearn.export.sql_dialect import Dialect, number
from sublearn.kernels.losses import FARTHEST

GROUP = 8  # terms that are added up without parentheses


def leaf_columns(programs: list[Program]) -> Columns:
    """Numbers of leaves, for trees of which several sums are told by leaves that do not lean."""
    columns = {}
    for m, program in enumerate(programs):
        if _tells_leaves(program):
            for t in range(program.tests.n_trees):
                columns[f"t{m}_{t}"] = _tree(program, m, t, str)
    return columns


def _tells_leaves(program: Program) -> bool:
    return program.n_values > 1 and not program.leaves.is_linear and program.outputs_of_trees() is None


def _tree(program: Program, m: int, t: int, tell: Callable[[int], str]) -> str:
    """A tree; `tell` says what stands at a leaf.

    One CASE goes down a whole branch, and only what turns off from it has a CASE of its own. Branches are chosen so
    that few are inside each other, since databases bound that: seldom more than ten.
    """
    tests, begin = program.tests, int(program.tests.first[t])
    branching = _branching(program, t)

    def at(i: int) -> str:
        whens = []
        while tests.plane[i] >= 0:
            below, above = int(tests.below[i]), int(tests.above[i])
            goes_above = branching[above - begin] >= branching[below - begin]
            turn, sign = (below, "<") if goes_above else (above, ">=")
            plane = _plane(program, m, int(tests.plane[i]))
            whens.append(f"WHEN {plane} {sign} {tests.threshold[i]} THEN {at(turn)}")
            i = above if goes_above else below
        last = tell(int(tests.leaf[i]))
        return f"CASE {' '.join(whens)} ELSE {last} END" if whens else last

    return at(begin)


def _branching(program: Program, t: int) -> list[int]:
    """How deep branches must lie inside each other below each test of a tree (the Strahler number)."""
    tests = program.tests
    begin, end = int(tests.first[t]), int(tests.first[t + 1])
    out = [0] * (end - begin)
    for i in range(end - 1, begin - 1, -1):  # those below come later
        if tests.plane[i] >= 0:
            a, b = out[tests.below[i] - begin], out[tests.above[i] - begin]
            out[i - begin] = max(a, b) + (a == b)
    return out


def _plane(program: Program, m: int, p: int) -> str:
    planes = program.planes
    out = ""
    for i in range(planes.first[p], planes.first[p + 1]):
        a = int(planes.coefficient[i])
        sign = ("- " if a < 0 else "+ ") if out else ("-" if a < 0 else "")
        out += f"{' ' if out else ''}{sign}{'' if abs(a) == 1 else f'{abs(a)} * '}c{m}_{planes.view[i]}"
    return out


def sum_columns(programs: list[Program], of: Dialect) -> Columns:
    """The sums of all trees."""
    columns = {}
    for m, program in enumerate(programs):
        outputs = program.outputs_of_trees()
        for k in range(program.n_values):
            trees = range(program.tests.n_trees) if outputs is None else np.flatnonzero(outputs == k).tolist()
            say = _told if _tells_leaves(program) else _spoken
            told = [say(program, m, t, k, of) for t in trees]
            columns[f"s{m}_{k}"] = _added([number(program.start[k]), *told])
    return columns


def _told(program: Program, m: int, t: int, k: int, of: Dialect) -> str:
    """What the leaf that was found in a tree says of one sum."""
    leaves = program.tests.leaf[program.tests.first[t] : program.tests.first[t + 1]]
    says = [(leaf, program.leaves.value[leaf, k]) for leaf in leaves.tolist() if leaf >= 0]
    tests = [f"WHEN {leaf} THEN {number(value)}" for leaf, value in says if value]
    return " ".join([f"CASE t{m}_{t}", *tests, "ELSE 0e0 END"]) if tests else "0e0"


def _spoken(program: Program, m: int, t: int, k: int, of: Dialect) -> str:
    """What a tree says of one sum, with the answers at its leaves."""
    return _tree(program, m, t, lambda leaf: _answer(program, m, leaf, k, of))


def _answer(program: Program, m: int, leaf: int, k: int, of: Dialect) -> str:
    """What a leaf answers; what its slopes say of their means is part of its value."""
    slopes, value = program.leaves.slopes, float(program.leaves.value[leaf, k])
    if not program.leaves.is_linear:
        return number(value)
    out = ""
    for s in range(slopes.first[leaf], slopes.first[leaf + 1]):
        code = of.within(f"c{m}_{slopes.feature[s]}", str(slopes.low[s]), str(slopes.high[s]))
        value -= float(slopes.slope[s, k] * slopes.mean[s, k])
        out += f" + {number(slopes.slope[s, k])} * {code}"
    return number(value) + out


def _added(terms: list[str]) -> str:
    """A sum in groups: databases bound how deep terms may be, and take long over deep ones."""
    if len(terms) <= GROUP:
        return " + ".join(terms)
    return _added([f"({_added(terms[i : i + GROUP])})" for i in range(0, len(terms), GROUP)])


def answer_columns(programs: list[Program], of: Dialect, raw: bool) -> Columns:
    """Answers, of all members together."""
    each = [_answers(program, m, of, raw) for m, program in enumerate(programs)]
    if len(each) == 1:
        return {f"a{k}": one for k, one in enumerate(each[0])}
    weights = [number(program.weight) for program in programs]
    return {
        f"a{k}": _added([f"{weight} * ({own[k]})" for weight, own in zip(weights, each, strict=True)])
        for k in range(len(each[0]))
    }


def _answers(program: Program, m: int, of: Dialect, raw: bool) -> list[str]:
    """From sums to answers."""
    sums = [f"s{m}_{k}" for k in range(program.n_values)]
    if program.link == "certainty":
        return ["1e0"]
    if program.link == MEAN:
        return [f"{one} / {program.tests.n_trees}e0" for one in sums]
    if raw or program.link == "identity":
        return sums
    if program.link == "exponential":
        return [_exp(sums[0], of)]
    if program.link == "logistic":
        return [f"1e0 / (1e0 + {_exp(one, of)})" for one in (sums[0], f"-{sums[0]}")]
    largest = f"{of.greatest}({', '.join(sums)})"
    shares = [_exp(f"{one} - {largest}", of) for one in sums]
    return [f"{share} / ({' + '.join(shares)})" for share in shares]


def _exp(x: str, of: Dialect) -> str:
    return f"exp({of.within(x, number(-FARTHEST), number(FARTHEST))})"
