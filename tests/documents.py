"""The repository's own pages: what they show of the source, as it is now.

`python tests/documents.py` writes that into the README.
"""

import re
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CODE_AND_OUTPUT = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<output>.*?)```)?", re.DOTALL)


def renewed_output(block: re.Match[str]) -> str:
    """Run a block of code; return it with what it printed in the block of text below it, if there is one."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(block["code"], "<page>", "exec"), {})
    return block[0] if block["output"] is None else f"```python\n{block['code']}```\n\n```text\n{printed.getvalue()}```"


def renewed_table(text: str) -> str:
    """A page with the parameter table of the source."""
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "parameter_table.py")))
    return str(script.with_parameter_table(text))


if __name__ == "__main__":
    README.write_text(CODE_AND_OUTPUT.sub(renewed_output, renewed_table(README.read_text("utf-8"))), "utf-8")
