"""Draw the picture of a report, from the page of `examples/report.py`: `python docs/report_picture.py`.

It needs Chromium, and Pillow, which comes with matplotlib.
"""

import runpy
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import chromium  # noqa: E402  it is beside the tests

WIDTH, HEIGHT, GAP = 760, 1180, 8  # of each half of the picture, and around it
SCALE, COLOURS = 0.7, 128


def main() -> None:
    """Write the picture."""
    made = runpy.run_path(str(ROOT / "examples" / "report.py"))["made"]
    with tempfile.TemporaryDirectory() as folder, chromium() as tab:
        page, picture = Path(folder) / "report.html", Path(folder) / "report.png"
        made.save(page)
        tab.open(page, WIDTH)
        tab.picture(picture)
        head = Image.open(picture).convert("RGB")
        tab.click("button[data-row]")
        top = int(tab.ask("document.getElementById('trees').getBoundingClientRect().top + scrollY")) + 2
        tab.picture(picture)
        trees = Image.open(picture).convert("RGB")
    both = Image.new("RGB", (2 * WIDTH + 3 * GAP, HEIGHT + 2 * GAP), "#9aa4ad")
    both.paste(head.crop((0, 0, WIDTH, HEIGHT)), (GAP, GAP))
    both.paste(trees.crop((0, top, WIDTH, top + HEIGHT)), (WIDTH + 2 * GAP, GAP))
    small = both.resize((int(both.width * SCALE), int(both.height * SCALE)), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(ROOT / "docs" / "images" / "report.png", optimize=True)


if __name__ == "__main__":
    main()
