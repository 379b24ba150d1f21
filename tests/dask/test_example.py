"""The example of the gallery runs as it is read, on fewer rows."""

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

from documents import DOCS, ROOT


def test_the_example_gives_the_models_of_one_machine_and_its_picture(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "cluster.py").read_text("utf-8")
    script, picture = tmp_path / "cluster.py", tmp_path / "cluster.png"
    assert text.count("[5_000 * 2**i") == 1
    script.write_text(text.replace("[5_000 * 2**i", "[50 * 2**i"), "utf-8")
    paths = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    command = [sys.executable, str(script), str(picture)]
    done = subprocess.run(command, env=paths, capture_output=True, text=True, check=True)
    assert done.stdout == "".join(f"{n} workers: the same predictions: True\n" for n in (2, 4))
    with Image.open(picture) as new, Image.open(DOCS / "images" / "cluster.png") as shown:
        assert new.size == shown.size
