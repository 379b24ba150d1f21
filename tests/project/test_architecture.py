"""Imports point down: kernels know of nothing, the core of no estimator, estimators of no experiment."""

import ast
from pathlib import Path

import sublearn

ROOT = Path(sublearn.__file__).parent
LAYERS = [  # each may import itself and those before it
    ["kernels"],
    ["core.parallel", "core.keys"],
    ["core.data"],
    ["core.model"],
    ["core.tree"],
    ["core.boosting"],
    ["_base"],
    ["tree", "forest", "boost", "selection", "tuning", "export"],
    ["paper", "bench"],
    ["cli", "__main__", "__init__"],
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
