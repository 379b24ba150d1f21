"""Keys of records: code that makes a number is in them, code that only shows it is not."""

import ast
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sublearn.paper import ablations, digests
from sublearn.paper.runner import Unit, key_of

CONTENDERS = ("dt", "xgboost", "elm", "ff-mlp", "bp-mlp", "slm-baseline", "slm-boost")
UNITS = {name: Unit("contender", "honest", False, "iris", name, 0) for name in CONTENDERS} | {
    "ablation": Unit("ablation", "fixed", False, "iris", ablations.GUIDED[0], 0),
    "convergence": Unit("convergence", "fixed", False, "wine", "ensembles", 0),
    "root": Unit("root", "fixed", False, "wine", "slm-baseline", 0),
    "svr": Unit("svr", "fixed", False, "friedman-2", "svm-rbf", 0),
    "growth": Unit("growth", "fixed", False, "boston", "slm-baseline", 0),
    "trees": Unit("trees", "fixed", False, "boston", "forests", 0),
}
OF_SLM = {"slm-baseline", "slm-boost", "ablation", "convergence", "root", "growth", "trees"}
# what only presents results, or runs and files them
SHOWING = {
    *("claims", "compiling", "digests", "evidence", "figures", "headline", "method", "node_figure", "page"),
    *("pictures", "plan", "printed", "report", "reproduce", "runner", "shapes", "sheets", "significance"),
    *(
        "statements",
        "statements_ensembles",
        "statements_formulas",
        "statements_nodes",
        "statements_rest",
        "statements_scores",
        "statements_trees",
    ),
    *("tables", "terminal", "verdicts"),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("digests") / "sublearn"
    shutil.copytree(digests.ROOT, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the source that may be edited by `changed_by`; what is imported stays as it is."""
    monkeypatch.setattr(digests, "ROOT", copied)
    return copied


@cache
def unedited_keys(root: Path) -> dict[str, str]:
    return {name: key_of(unit) for name, unit in UNITS.items()}


def changed_by(path: Path, edit: Callable[[str], str]) -> set[str]:
    """Which units have another key while the text of a file is edited."""
    before = unedited_keys(digests.ROOT)
    text = path.read_text()
    path.write_text(edit(text))
    digests._digest.cache_clear()
    changed = {name for name, unit in UNITS.items() if key_of(unit) != before[name]}
    path.write_text(text)
    digests._digest.cache_clear()
    return changed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("core/tree/workspace.py", OF_SLM),
        ("kernels/growing.py", OF_SLM),
        ("boost.py", OF_SLM),
        ("_base/parameters.py", OF_SLM),
        ("paper/contenders.py", OF_SLM),
        ("paper/search.py", set(UNITS)),
        ("paper/datasets.py", set(UNITS)),
        ("paper/sizes.py", set(UNITS)),
        ("paper/elm.py", {"elm"}),
        ("paper/ff_mlp.py", {"ff-mlp", "bp-mlp"}),
        ("paper/ablations.py", {"ablation", "root", "growth", "trees"}),
        ("paper/measures.py", {"root", "svr"}),
        ("display/search.py", {"root"}),
        ("paper/convergence.py", {"convergence", "growth", "trees"}),
        ("paper/tree_measures.py", {"growth", "trees"}),
        *((name, set()) for name in ("_base/spaces.py", "_files/reading.py", "files.py", "tuning.py")),
        *((name, set()) for name in ("command/app.py", "export/text.py", "bench/run.py", "display/canvas.py")),
        *((f"paper/{name}.py", set()) for name in sorted(SHOWING)),
    ],
)
def test_records_are_lost_by_edits_of_what_makes_them_and_by_no_others(
    name: str, expected: set[str], package: Path
) -> None:
    assert changed_by(package / name, lambda text: text + "\nADDED = 1\n") == expected


def test_comments_and_docstrings_change_no_key(package: Path) -> None:
    def edit(text: str) -> str:
        return text.replace('"""Split a set by a seed."""', '"""Split."""') + "\n# a comment\n"

    assert changed_by(package / "paper" / "search.py", edit) == set()


def test_every_file_of_the_experiments_is_either_in_keys_or_only_shows() -> None:
    making = {*digests.SHARED, *digests.IN_THE_KEY}
    making |= {name for names in (*digests.OWN.values(), *digests.EXPERIMENTS.values()) for name in names}
    files = {f"paper/{path.name}" for path in (digests.ROOT / "paper").glob("*.py")}
    assert files | {"display/search.py"} == making | {f"paper/{name}.py" for name in SHOWING}
    assert not making & {f"paper/{name}.py" for name in SHOWING}


def test_what_makes_numbers_imports_nothing_that_only_shows_them() -> None:
    names = {name for found in digests.EXPERIMENTS.values() for name in found} | {*digests.SHARED}
    for name in (*names, *(name for own in digests.OWN.values() for name in own)):
        tree = ast.parse((digests.ROOT / name).read_text())
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not imported & {f"sublearn.paper.{module}" for module in SHOWING}, name
