"""The README is a landing page whose code runs; code within the lines of all pages works after the import."""

import json
import re
import subprocess
import sys
from pathlib import Path

from PIL import Image

import sublearn
from documents import CODE_AND_OUTPUT, PICTURE, README, draw_picture, pages, renewed_outputs
from support import PATIENCE

INLINE = re.compile(r"`([^`\n]+)`")
OURS = re.compile(rf"sublearn\.|({'|'.join(sublearn.__all__)})\b")
# In a process of its own, where nothing was imported by others; prints what went wrong with which code.
EVALUATED = """
import json, sys
import sublearn
from sublearn import *

wrong = {}
for code in json.load(sys.stdin):
    try:
        eval(code)
    except Exception as error:
        wrong[code] = repr(error)
print(json.dumps(wrong))
"""
MOST_LINES = 150
HINT = "python tests/documents.py renews it"


def test_code_runs_and_prints_what_is_shown() -> None:
    text = README.read_text("utf-8")
    blocks = list(CODE_AND_OUTPUT.finditer(text))
    assert len(blocks) == text.count("```python") > 0
    assert all(block["output"] for block in blocks)
    assert renewed_outputs(text) == text, HINT


def test_picture_is_current_and_small(tmp_path: Path) -> None:
    titles = draw_picture(tmp_path / "new.png")
    text = " ".join(README.read_text("utf-8").split())
    assert [title for title in titles if title not in text] == []
    with Image.open(PICTURE) as image, Image.open(tmp_path / "new.png") as new:
        assert image.info["Description"] == new.info["Description"], HINT
    assert PICTURE.stat().st_size < 250_000


def test_readme_is_a_landing_page() -> None:
    text = README.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    assert f"version = {{{sublearn.__version__}}}" in text  # of the software's citation


def inline_code(text: str) -> list[str]:
    """Code within lines that is about this package: it begins with a public name."""
    return [code for code in INLINE.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)) if OURS.match(code)]


def wrong_code(codes: list[str]) -> dict[str, str]:
    command = [sys.executable, "-c", EVALUATED]
    done = subprocess.run(
        command, input=json.dumps(codes), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    wrong: dict[str, str] = json.loads(done.stdout)
    return wrong


def test_inline_code_works_after_nothing_but_the_import() -> None:
    codes = sorted({code for page in pages() for code in inline_code(page.read_text("utf-8"))})
    assert {"SLMClassifier(**sublearn.paper.PARAMETERS)", "sublearn.paper.FOREST", "sublearn.Progress"} < set(codes)
    assert wrong_code(codes) == {}


def test_inline_code_that_is_wrong_is_found() -> None:
    codes = inline_code("`tune`, `sublearn.papers`, `SLMClassifier(depth=3)`, `sublearn bench`\n```text\n`tune()`\n```")
    assert codes == ["tune", "sublearn.papers", "SLMClassifier(depth=3)"]
    assert list(wrong_code(codes)) == codes[1:]
