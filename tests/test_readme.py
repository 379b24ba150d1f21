"""The README shows what the package does: its code runs, its outputs and its table are the current ones.

`python tests/test_readme.py` rewrites what comes from the source.
"""

import re
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CODE_AND_OUTPUT = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<output>.*?)```)?", re.DOTALL)
HINT = "python tests/test_readme.py renews it"


def renewed_table(text: str) -> str:
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "parameter_table.py")))
    return str(script.with_parameter_table(text))


def renewed_output(block: re.Match[str]) -> str:
    """Run a block of code; return it with what it printed in the block of text below it, if there is one."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(block["code"], str(README), "exec"), {})
    return block[0] if block["output"] is None else f"```python\n{block['code']}```\n\n```text\n{printed.getvalue()}```"


def test_code_runs_and_prints_what_is_shown() -> None:
    text = README.read_text("utf-8")
    blocks = list(CODE_AND_OUTPUT.finditer(text))
    assert len(blocks) == text.count("```python") > 0
    for block in blocks:
        assert renewed_output(block) == block[0], HINT


def test_parameter_table_is_the_one_of_the_source() -> None:
    text = README.read_text("utf-8")
    assert text.count("| `max_partitions` | `q` |") == 1
    assert renewed_table(text) == text, HINT


def test_links_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8"))
    assert targets
    assert not [target for target in targets if not (ROOT / target).is_file()]


if __name__ == "__main__":
    README.write_text(CODE_AND_OUTPUT.sub(renewed_output, renewed_table(README.read_text("utf-8"))), "utf-8")
