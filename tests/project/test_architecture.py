"""Imports point down: kernels know of nothing, the core of no estimator, estimators of no experiment.

And records are made by the names of their fields, where there are more than a few.
"""

import ast
from pathlib import Path

import sublearn

ROOT = Path(sublearn.__file__).parent
MOST_BY_POSITION = 5  # fields of a record; of more, nobody sees which is which
LAYERS = [  # each may import itself and those before it
    ["kernels"],
    ["core.links", "core.parallel", "core.keys"],
    ["core.data"],
    ["core.model"],
    ["core.tree"],
    ["core.boosting"],
    ["_files"],
    ["_base"],
    ["tree", "forest", "boost", "average", "selection", "tuning", "export", "files"],
    ["explanation"],
    ["display"],
    ["reporting"],
    ["dask"],
    ["paper", "bench"],
    ["command", "__main__", "__init__"],
]


def layer_of(module: str) -> int:
    for number, names in enumerate(LAYERS):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return number
    raise AssertionError(f"{module} is in no layer")


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, without the package's name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sublearn."):
            inner = node.module.removeprefix("sublearn.")
            is_package = (ROOT / inner.replace(".", "/")).is_dir()
            found |= {f"{inner}.{alias.name}" for alias in node.names} if is_package else {inner}
    return found


def test_imports_point_down() -> None:
    paths = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).as_posix() != "core/__init__.py"]
    assert len(paths) > 80
    for path in paths:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for other in imported(path):
            assert layer_of(other) <= layer_of(module), f"{module} imports {other}"


def last_name(node: ast.expr) -> str:
    """What is called, or inherited from, without its module and arguments."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def is_record(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and bool(
        {"NamedTuple", "dataclass"} & set(map(last_name, [*node.bases, *node.decorator_list]))
    )


def wide_calls(sources: dict[str, str]) -> list[str]:
    """Where a record of some sources is made with too many fields by position."""
    trees = {name: ast.parse(text) for name, text in sources.items()}
    records = {getattr(node, "name", "") for tree in trees.values() for node in ast.walk(tree) if is_record(node)}
    return [
        f"{name}:{node.lineno} {last_name(node)}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and len(node.args) > MOST_BY_POSITION and last_name(node) in records
    ]


def test_records_of_many_fields_are_made_by_name() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.rglob("*.py")}
    assert wide_calls(sources) == []


def test_records_made_by_position_are_found() -> None:
    head = "@dataclass(frozen=True)\nclass A: ...\nclass B(typing.NamedTuple): ...\nclass C: ...\n"
    calls = "A(1, 2, 3, 4, 5)\nx.B(1, 2, 3, 4, 5, 6)\nC(1, 2, 3, 4, 5, 6)\nA(1, 2, 3, 4, 5, e=6)\n"
    assert wide_calls({"a.py": head, "b.py": calls + "A(1, 2, 3, 4, 5, 6)"}) == ["b.py:2 B", "b.py:5 A"]


LONGEST, MOST_ARGUMENTS = 100, 14


def size_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    """Lines of a function, its docstring apart, and how many arguments it has."""
    text = ast.get_docstring(function, clean=False)
    n_lines = (function.end_lineno or 0) - function.lineno + 1 - (text.count("\n") + 1 if text else 0)
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one]
    return n_lines, len([name for name in names if name not in ("self", "cls")])


def sizes_in(source: str) -> list[tuple[str, int, int]]:
    """The functions of a source, coroutines among them: names, lines and how many arguments."""
    nodes = ast.walk(ast.parse(source))
    return [(node.name, *size_of(node)) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_functions_are_short_and_take_few_arguments() -> None:
    """But for constructors, of objects and of pictures, and commands, whose arguments are their options."""
    found = []
    for path in ROOT.rglob("*.py"):
        is_command = path.parent.name == "command"
        for name, n_lines, n_arguments in sizes_in(path.read_text("utf-8")):
            is_free = is_command or name in ("__init__", "from_estimator")
            found.append((path.name, name, n_lines, 0 if is_free else n_arguments))
    assert len(found) > 2_000
    assert [one for one in found if one[2] > LONGEST or one[3] > MOST_ARGUMENTS] == []


def test_lines_and_arguments_of_functions_are_counted() -> None:
    method = 'class A:\n    def one(self, a, *b, c=1):\n        """Text."""\n        return a\n'
    source = method + "async def two():\n    pass\n"
    assert sorted(sizes_in(source)) == [("one", 2, 3), ("two", 2, 0)]
