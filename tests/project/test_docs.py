"""The pages of the site: their code runs, their tables are those of the source, and their links lead somewhere."""

import re
import runpy
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import sublearn
import sublearn.display
import sublearn.tuning
from clusters import closing_clusters
from documents import (
    CODE_AND_OUTPUT,
    DOCS,
    FENCED,
    NAME,
    PARAMETERS,
    README,
    ROOT,
    broken_links,
    contents,
    pages,
    pages_with_code,
    references,
    renewed_outputs,
    renewed_table,
    source_of,
)

HINT = "python tests/documents.py renews it"
# what the code of a page needs beyond the library itself
NEEDED = {"guide/tuning.md": "optuna", "guide/cluster.md": "distributed"}
LONGEST = 120
FILE = re.compile(r"`((?:src|tests|examples|benchmarks|docs|fuzz)/[\w/]+\.py)`")
MODULE = re.compile(
    r"`((?:core|kernels|_base|_files|display|dask|paper|bench)/[\w/]+\.py|(?:tree|forest|boost|selection|export|files)\.py)`"
)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in pages_with_code() if page != README], ids=name_of)
def test_code_of_a_page_runs_and_prints_what_is_shown(page: Path) -> None:
    needed = NEEDED.get(page.relative_to(DOCS).as_posix())
    if needed and find_spec(needed) is None:
        pytest.skip(f"the code of {page.name} needs {needed}")
    text = page.read_text("utf-8")
    assert len(list(CODE_AND_OUTPUT.finditer(text))) == text.count("```python")
    with closing_clusters():
        assert renewed_outputs(text) == text, HINT


def test_output_that_is_not_what_code_prints_is_found() -> None:
    page = "```python\nx = 1\n```\n\ntext\n\n```python\nprint(x + 1)\n```\n\n```text\n3\n```\n"
    assert renewed_outputs(page) == page.replace("3\n", "2\n")


def test_tables_of_parameters_are_those_of_the_source() -> None:
    text = PARAMETERS.read_text("utf-8")
    assert renewed_table(text) == text, HINT


def test_every_parameter_is_in_one_table() -> None:
    listed = re.findall(r"^\| `(\w+)` \| [^\n]*\| [^\n|]+ \|$", PARAMETERS.read_text("utf-8").split("<!-- ")[1], re.M)
    names = {
        name
        for kind in ("", "Forest", "Boost")
        for end in ("Classifier", "Regressor")
        for name in getattr(sublearn, f"SLM{kind}{end}")().get_params()
    }
    assert sorted(listed) == sorted(names)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert broken_links(page, page.read_text("utf-8")) == []


def test_broken_links_are_found() -> None:
    there = "../studies/defaults.md"
    good = f"# Head\n[b]({there}) [c]({there}#forests) `[f](x.md)` [g](https://a.b) [h](#head)\n```\n[i](y.md)\n```\n"
    bad = ["none.md", f"{there}#nowhere", "#nor-here"]
    text = good + "".join(f"[x]({target})" for target in bad)
    assert broken_links(DOCS / "guide" / "trees.md", text) == bad


def site() -> list[Path]:
    """The sources of the site's pages, but for those of the gallery."""
    return [page for page in pages() if page.is_relative_to(DOCS)] + [DOCS / "api.rst"]


def test_every_page_of_the_site_is_in_one_table_of_contents() -> None:
    listed = Counter(path for page in site() for path in contents(page))
    assert listed == Counter([*site(), ROOT / "examples" / "GALLERY_HEADER.rst"]) - Counter([DOCS / "index.md"])


def test_references_lead_to_pages_examples_and_public_names() -> None:
    found = [(name_of(page), path) for page in site() for path in references(page)]
    assert len(found) > 10
    assert [(page, path) for page, path in found if not path.is_file()] == []
    names = [(name_of(page), name) for page in site() for name in NAME.findall(page.read_text("utf-8"))]
    assert len(names) > 5
    assert [(page, name) for page, name in names if name not in reference()] == []


def test_references_to_nothing_are_found() -> None:
    there = [
        source_of(DOCS / "guide" / "index.md", name) for name in ("trees", "../api", "/index", "/gallery/partitions")
    ]
    nowhere = [source_of(DOCS / "index.md", name) for name in ("trees", "/guide", "/gallery/none")]
    assert [path.is_file() for path in there + nowhere] == [True] * 4 + [False] * 3


def reference() -> list[str]:
    """The names that the reference has a page of, in full."""
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text("utf-8"), re.M)
    return [f"sublearn.{name}" for name in listed]


def test_every_public_name_is_in_the_reference() -> None:
    records = [f"tuning.{name}" for name in sublearn.tuning.__all__ if isinstance(getattr(sublearn.tuning, name), type)]
    displays = [f"display.{name}" for name in sublearn.display.__all__]
    pytest.importorskip("distributed")
    on_cluster = [f"dask.{name}" for name in import_module("sublearn.dask").__all__]
    public = (*sublearn.__all__, *records, *displays, *on_cluster)
    assert sorted(reference()) == sorted(f"sublearn.{name}" for name in public)


def test_modules_that_pages_name_are_there() -> None:
    package = Path(sublearn.__file__).parent
    named = {(page.name, module) for page in pages() for module in MODULE.findall(page.read_text("utf-8"))}
    walk = (DOCS / "images" / "walk-light.svg").read_text("utf-8")
    named |= {("walk-light.svg", module) for module in re.findall(r"[>\s]([\w/]+\.py)", walk)}
    assert len(named) > 30
    assert sorted((page, module) for page, module in named if not (package / module).is_file()) == []


def test_names_that_the_architecture_sends_readers_to_are_used_in_the_source() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    cells = re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", text[text.index("## Where to look") :], re.M)
    names = {name.rpartition(".")[2] for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}
    source = "\n".join(path.read_text("utf-8") for path in Path(sublearn.__file__).parent.rglob("*.py"))
    uses = Counter(re.findall(r"\w+", source))
    assert len(names) > 80
    assert sorted(name for name in names if uses[name] < 2) == []  # where it is made, and where it is called


def test_files_that_pages_name_are_there() -> None:
    named = {(page.name, file) for page in pages() for file in FILE.findall(page.read_text("utf-8"))}
    assert len(named) > 60
    assert sorted((page, file) for page, file in named if not (ROOT / file).is_file()) == []


def test_pictures_of_the_walk_are_current() -> None:
    script = SimpleNamespace(**runpy.run_path(str(DOCS / "walk_picture.py")))
    for name, palette in script.PALETTES.items():
        picture = (DOCS / "images" / f"walk-{name}.svg").read_text("utf-8")
        assert script.picture(palette) == picture, "python docs/walk_picture.py renews it"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_lines_of_prose_are_short(page: Path) -> None:
    lines = FENCED.sub("", page.read_text("utf-8")).split("\n")
    assert [line for line in lines if len(line) > LONGEST and not line.startswith("|")] == []
