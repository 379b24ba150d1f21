"""Digests of the code that makes a number, so that a record is found again as long as that code is the same.

A record of SLM depends on the library's engine and on the paper's experiments; one of a peer on the experiments alone.
What only presents results is in no digest: a table may be laid out anew without running anything again. Comments and
docstrings do not count.
"""

import ast
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]  # the package
# folders and files that no fit goes through
NOT_ENGINE = (
    "paper",
    "bench",
    "command",
    "display",
    "__init__.py",
    "__main__.py",
    "_base/spaces.py",
    "_files",
    "export",
    "files.py",
    "selection.py",
    "tuning.py",
)

# what every experiment goes through
SHARED = ("paper/search.py", "paper/datasets.py", "paper/sizes.py")
# contenders that are files of their own
OWN = {"elm": ("paper/elm.py",), "ff-mlp": ("paper/ff_mlp.py",), "bp-mlp": ("paper/ff_mlp.py",)}
EXPERIMENTS = {
    "contender": ("paper/contenders.py",),
    "ablation": ("paper/contenders.py", "paper/ablations.py"),
    "convergence": ("paper/contenders.py", "paper/convergence.py"),
    "root": ("paper/contenders.py", "paper/ablations.py", "paper/measures.py", "display/search.py"),
    "svr": ("paper/measures.py",),
    **dict.fromkeys(
        ("growth", "trees"),
        ("paper/contenders.py", "paper/ablations.py", "paper/convergence.py", "paper/tree_measures.py"),
    ),
}
# their values are in a record's key themselves, as settings and parameters
IN_THE_KEY = ("paper/__init__.py", "paper/grids.py", "paper/presets.py", "paper/versions.py")


def code_of(experiment: str, subject: str) -> str:
    """Digest of what makes the numbers of an experiment with a contender or variant."""
    if is_of_slm(experiment, subject):
        return digest((*SHARED, *EXPERIMENTS[experiment], *engine()))
    own = OWN.get(subject, ()) if experiment == "contender" else EXPERIMENTS[experiment]
    return digest((*SHARED, *own))


def is_of_slm(experiment: str, subject: str) -> bool:
    """Whether SLM is fitted."""
    return subject.startswith("slm") if experiment == "contender" else experiment != "svr"


def engine() -> tuple[str, ...]:
    """Files of the library itself."""
    return _engine(ROOT)


@lru_cache
def _engine(root: Path) -> tuple[str, ...]:
    paths = [path.relative_to(root) for path in root.rglob("*.py")]
    return tuple(sorted(path.as_posix() for path in paths if not {path.parts[0], path.as_posix()} & {*NOT_ENGINE}))


def digest(names: tuple[str, ...]) -> str:
    """Digest of the code of some files of the package, whatever their order."""
    return _digest(ROOT, tuple(sorted(set(names))))


@lru_cache
def _digest(root: Path, names: tuple[str, ...]) -> str:
    found = sha256()
    for name in names:
        found.update(f"{name}\0{_code((root / name).read_text(encoding='utf-8'))}\0".encode())
    return found.hexdigest()[:12]


@lru_cache(maxsize=1024)
def _code(text: str) -> str:
    """The code of a file's text, without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
