"""The package itself: its names are all there, and nothing heavy is imported before one of them is used."""

import ast
import json
import os
import pickle
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import sublearn
from alone import ALONE
from documents import ROOT
from support import PATIENCE

OF_EXTRAS = ("paper", "bench", "command", "dask", "__main__")  # what needs more than the wheel requires
LATE = ("display", "proportion")  # derives from a class of matplotlib's, and is imported when something is drawn
HEAVY = ("joblib", "matplotlib", "numba", "numpy", "optuna", "rich", "scipy", "sklearn", "typer", "xgboost")
LOADED = """
import json, sys
{}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


def heavy_after(code: str) -> list[str]:
    """Which of the heavy libraries a new process has imported after some code."""
    command = [sys.executable, "-c", LOADED.format(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return [name for name in json.loads(done.stdout.splitlines()[-1]) if name in HEAVY]


def typed_names() -> dict[str, str]:
    """The public names and their modules, as type checkers read them."""
    tree = ast.parse(Path(sublearn.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and node.test.__dict__.get("id"))
    found = [(alias.name, str(node.module)) for node in block.body for alias in node.names]  # type: ignore[attr-defined]
    return dict(found)


@pytest.mark.parametrize("code", ["import sublearn", "import sublearn; sublearn.paper.PARAMETERS; dir(sublearn)"])
def test_import_of_the_package_loads_no_library(code: str) -> None:
    assert heavy_after(code) == []


def test_use_of_an_estimator_loads_what_it_needs() -> None:
    loaded = heavy_after("import sublearn; sublearn.SLMClassifier")
    assert {"numba", "numpy", "sklearn"} <= set(loaded) <= {"joblib", "numba", "numpy", "scipy", "sklearn"}


def test_public_names_are_the_same_for_type_checkers() -> None:
    lazy = {name: f"sublearn.{module}" for name, module in sublearn._HOMES.items()}
    assert typed_names() == {**lazy, "display": "sublearn", "paper": "sublearn"}
    assert sublearn.__all__ == sorted(sublearn._HOMES)


@pytest.mark.parametrize("name", sublearn._HOMES)
def test_public_names_are_those_of_their_modules(name: str) -> None:
    value = getattr(sublearn, name)
    assert value is getattr(import_module(value.__module__), name)
    assert pickle.loads(pickle.dumps(value)) is value


def test_star_and_dir_have_all_public_names() -> None:
    everything: dict[str, Any] = {}
    exec("from sublearn import *", everything)
    assert everything.keys() - {"__builtins__"} == set(sublearn.__all__)
    assert {*sublearn.__all__, *sublearn._MODULES, "__version__"} <= set(dir(sublearn))


def test_paper_is_there_without_its_own_import() -> None:
    code = "import sublearn; print(sublearn.SLMClassifier(**sublearn.paper.PARAMETERS).feature_map)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("linear\n", "")


def test_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    ours = {name for name in names if name.startswith("sublearn/")}
    assert {name.partition("/")[0] for name in names - ours} == {f"sublearn-{sublearn.__version__}.dist-info"}
    package = ROOT / "src"
    paths = [path for path in package.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    assert ours == {path.relative_to(package).as_posix() for path in paths if "egg-info" not in str(path)}
    assert "sublearn/py.typed" in ours


def python_alone(wheel: Path, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """A process that has the wheel and what it requires, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    command = [sys.executable, "-c", ALONE + code]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)


def test_library_imports_nothing_that_the_wheel_does_not_require(wheel: Path, tmp_path: Path) -> None:
    package = Path(sublearn.__file__).parent
    paths = [path.relative_to(package).with_suffix("").parts for path in package.rglob("*.py")]
    library = sorted(".".join(("sublearn", *parts)) for parts in paths if parts[0] not in OF_EXTRAS and parts != LATE)
    assert len(library) > 50
    done = python_alone(wheel, tmp_path, f"import sublearn, {', '.join(library)}\nprint(sublearn.__file__)")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)


def test_import_that_is_not_required_is_found(wheel: Path, tmp_path: Path) -> None:
    done = python_alone(wheel, tmp_path, "import json, joblib, scipy.special\nimport hypothesis.strategies")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: hypothesis is not required by sublearn"


def test_version_is_written_down_once(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert "version" not in citation
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"sublearn-{sublearn.__version__}.dist-info/METADATA").decode()
    assert f"\nVersion: {sublearn.__version__}\n" in metadata


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match=r"^module 'sublearn' has no attribute 'SLMTree'$"):
        sublearn.SLMTree  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="SLMTree"):
        exec("from sublearn import SLMTree")
