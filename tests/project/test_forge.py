"""Files for those who work on sublearn and for a public forge: they can be read, and agree with the package."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from documents import ROOT
from support import PATIENCE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOW = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(WORKFLOW.glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps_of(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_workflows_have_jobs_of_steps_that_run_or_use_something() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests"]
    for path in WORKFLOWS:
        found = read(path)
        assert found[True]  # "on", which YAML takes for a truth
        assert all(("run" in step) != ("uses" in step) for step in steps_of(found))
        jobs = [job for job in found["jobs"].values() if "uses" not in job]  # which is a workflow that has its own
        assert all({"runs-on", "timeout-minutes", "steps"} <= set(job) for job in jobs)


def test_nothing_is_published_before_all_tests_have_passed() -> None:
    jobs = read(WORKFLOW / "release.yml")["jobs"]
    tests = jobs["tests"]["uses"]
    assert "workflow_call" in read(ROOT / tests)[True]
    assert set(jobs["publish"]["needs"]) == {"tests", "build"}
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]


def script_of(name: str) -> str:
    """What a step of the release runs."""
    (script,) = [step["run"] for step in steps_of(read(WORKFLOW / "release.yml")) if step.get("name") == name]
    return str(script)


@pytest.mark.skipif(sys.platform == "win32", reason="releases are made on Linux")
@pytest.mark.parametrize(("urls", "expected"), [('Paper = "a"', 1), ('Source = "b"', 0)])
def test_release_fails_in_words_while_the_source_has_no_address(urls: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project.urls]\n{urls}\n")
    script = script_of("The package says where its source is").replace("python -", f"{sys.executable} -")
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == expected
    assert ("[project.urls] of pyproject.toml has no Source" in done.stderr) == bool(expected)


@pytest.mark.skipif(sys.platform == "win32", reason="releases are made on Linux")
def test_scripts_of_the_release_are_bash() -> None:
    for step in steps_of(read(WORKFLOW / "release.yml")):
        done = subprocess.run(["bash", "-n"], input=step.get("run", ""), capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_that_the_makefile_has(path: Path) -> None:
    commands = "\n".join(step.get("run", "") for step in steps_of(read(path)))
    called = re.findall(r"^make ([\w-]+)$", commands, re.MULTILINE)
    assert set(called) <= set(TARGETS)
    assert called or path.stem == "release"


def test_forms_ask_for_something() -> None:
    assert len(FORMS) == 2
    for path in FORMS:
        form = read(path)
        assert {"name", "description", "body"} <= set(form)
        assert all({"type", "id", "attributes"} <= set(field) for field in form["body"])
        assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_pythons_that_are_tested_are_those_that_the_package_names() -> None:
    names = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python :: 3." in line]
    tested = read(WORKFLOW / "tests.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert tested == names
    assert PROJECT["project"]["requires-python"] == f">={names[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == names[0]


def test_hooks_have_the_ruff_of_the_project() -> None:
    repositories = read(ROOT / ".pre-commit-config.yaml")["repos"]
    (rev,) = [one["rev"] for one in repositories if one["repo"].endswith("ruff-pre-commit")]
    (pin,) = [one for one in PROJECT["project"]["optional-dependencies"]["dev"] if one.startswith("ruff==")]
    assert rev == f"v{pin.removeprefix('ruff==')}"


def test_citation_names_the_paper_and_the_licence() -> None:
    found = read(ROOT / "CITATION.cff")
    assert found["license"] == PROJECT["project"]["license"]
    paper = found["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Fu", "Yang", "Mishra", "Kuo"]
    assert paper["url"] == PROJECT["project"]["urls"]["Paper"]


def test_guide_names_targets_that_are_there() -> None:
    targets = re.findall(r"`make ([\w-]+)", GUIDE)
    assert {"quick", "test", "check", "docs"} <= set(targets) <= set(TARGETS)


def test_guide_names_files_and_functions_that_are_there() -> None:
    names = re.findall(r"`([\w./-]+/[\w.-]*|[\w-]+\.(?:md|py|toml|yaml|cff))`", GUIDE)
    assert len(names) > 20
    assert [name for name in names if not (ROOT / name).exists()] == []
    places = re.findall(r"`([\w.]+)` in\s+`([\w./]+\.py)`", GUIDE)
    assert len(places) > 10
    missing = [place for place in places if not re.search(rf"\b{place[0]}\b", (ROOT / place[1]).read_text("utf-8"))]
    assert missing == []
