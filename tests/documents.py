"""The pages of the repository: their code, their outputs and their links.

`python tests/documents.py` writes what code prints, the table of parameters and the picture of the README.
"""

import os
import re
import runpy
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PARAMETERS = DOCS / "parameters.md"
PICTURE = DOCS / "images" / "oblique_boundary.png"
GENERATED = ("api", "gallery")  # folders of docs/ that Sphinx writes
CODE_AND_OUTPUT = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<output>.*?)```)?", re.DOTALL)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGE = re.compile(r"\{doc\}`([^`<]+)`|^:link: (\S+)$", re.MULTILINE)
NAME = re.compile(r"\{(?:class|func)\}`~?([\w.]+)`")
TARGET = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)


def pages() -> list[Path]:
    """The Markdown pages of the repository: those at its root, and those of the site."""
    site = (path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in GENERATED)
    return sorted([*ROOT.glob("*.md"), *site])


def pages_with_code() -> list[Path]:
    """Those that have blocks of Python."""
    return [path for path in pages() if "```python\n" in path.read_text("utf-8")]


def renewed_outputs(text: str) -> str:
    """Run the blocks of a page one after another, as one program; return it with what they print."""
    names: dict[str, Any] = {}

    def renewed(block: re.Match[str]) -> str:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(block["code"], "<page>", "exec"), names)
        output = "" if block["output"] is None else f"\n\n```text\n{printed.getvalue()}```"
        return f"```python\n{block['code']}```{output}"

    return CODE_AND_OUTPUT.sub(renewed, text)


def renewed_table(text: str) -> str:
    """The page of parameters with the tables of the source."""
    script = SimpleNamespace(**runpy.run_path(str(DOCS / "parameter_table.py")))
    return str(script.with_parameter_tables(text))


def links(text: str) -> Iterator[str]:
    """Targets of the links and pictures of a page, outside of its code."""
    for markdown, html in LINK.findall(re.sub(r"`[^`\n]+`", "", FENCED.sub("", text))):
        yield markdown or html


def anchors(text: str) -> set[str]:
    """What a link to a place in a page may name: its headings, as GitHub and Sphinx write them, and targets."""
    headings = HEADING.findall(FENCED.sub("", text))
    return {slug(heading) for heading in headings} | set(TARGET.findall(text))


def slug(heading: str) -> str:
    """The anchor of a heading: lower case, hyphens for spaces, without punctuation."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def broken_links(path: Path, text: str) -> list[str]:
    """Links of a page that lead to no file, or to no heading, of the repository; the web is not asked."""
    broken = []
    for target in links(text):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        file = (path.parent / name).resolve() if name else path
        is_there = file.is_file() and file.is_relative_to(ROOT)
        if not is_there or (anchor and anchor not in anchors(text if file == path else file.read_text("utf-8"))):
            broken.append(target)
    return broken


def contents(page: Path) -> list[Path]:
    """Sources of the pages that a page of the site has in its tables of contents."""
    lines = [line.strip() for tree in TOCTREE.findall(page.read_text("utf-8")) for line in tree.splitlines()]
    return [source_of(page, line) for line in lines if line and not line.startswith(":")]


def references(page: Path) -> list[Path]:
    """Sources of the pages that a page of the site refers to by their names."""
    return [source_of(page, one or other) for one, other in PAGE.findall(page.read_text("utf-8"))]


def source_of(page: Path, name: str) -> Path:
    """The file that a name stands for, there or not; the pages of the gallery come from the examples."""
    path = Path(os.path.normpath(DOCS / name[1:] if name.startswith("/") else page.parent / name))
    if path.parent == DOCS / "gallery":
        return ROOT / "examples" / ("GALLERY_HEADER.rst" if path.name == "index" else f"{path.name}.py")
    return next((path.with_name(path.name + end) for end in (".md", ".rst") if Path(f"{path}{end}").is_file()), path)


def draw_picture(path: Path) -> list[str]:
    """Save the picture of the README; return what is written above its panels."""
    with plt.rc_context({"backend": "agg"}), redirect_stdout(StringIO()):
        runpy.run_path(str(ROOT / "examples" / "oblique_boundary.py"))
    figure = plt.gcf()
    titles = [f"{axes.get_title('left')}: {axes.get_title('right')}" for axes in figure.axes]
    figure.savefig(path, dpi=110, metadata={"Description": "; ".join(titles)})
    plt.close(figure)
    return titles


if __name__ == "__main__":
    draw_picture(PICTURE)
    PARAMETERS.write_text(renewed_table(PARAMETERS.read_text("utf-8")), "utf-8")
    for page in pages_with_code():
        page.write_text(renewed_outputs(page.read_text("utf-8")), "utf-8")
