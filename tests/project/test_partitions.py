"""The picture of the guide to trees: its geometry, and that it is current."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sklearn.tree import DecisionTreeClassifier

from documents import ROOT
from sublearn.display.canvas import COLOURS, rgb
from sublearn.display.partition_drawing import STRONGEST
from sublearn.display.polygons import clip

partitions = SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "partitions.py")))
PICTURE = ROOT / "docs" / "images" / "partitions.png"


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "partitions.png"
    partitions.save_picture(path)
    return path


def slm_caption(path: Path) -> str:
    with Image.open(path) as image:
        return str(image.info["Description"]).split("; ")[0]


def test_clip_keeps_the_positive_side() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    right = clip(square, np.array([1.0, 0.0, 0.25]))  # x >= 0.25
    assert sorted(right.tolist()) == [[0.25, 0.0], [0.25, 1.0], [1.0, 0.0], [1.0, 1.0]]
    assert len(clip(square, np.array([0.0, 1.0, 2.0]))) == 0  # y >= 2


def test_cells_of_the_decision_tree_cover_the_frame_and_each_holds_one_route() -> None:
    X, _, y, _ = partitions.circle_and_ring()
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    frame = 1.5 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (4000, 2))
    nodes = model.apply(points)
    seen = np.zeros(len(points), int)
    for polygon in partitions.cells_of_tree(model, frame):
        edges = np.roll(polygon, -1, axis=0) - polygon
        ahead = points[:, None] - polygon
        heights = edges[:, 0] * ahead[:, :, 1] - edges[:, 1] * ahead[:, :, 0]
        inside = (heights >= 0).all(axis=1) | (heights <= 0).all(axis=1)
        seen += inside
        assert len(set(nodes[inside])) <= 1
    assert (seen == 1).all()


def test_picture_is_a_png_1200_pixels_wide(picture: Path) -> None:
    with Image.open(picture) as image:
        assert (image.format, image.size) == ("PNG", (1200, 570))
        colours = image.convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert len(colours) > 100
    drawn = {colour for n, colour in colours if n > 1000}
    tints = [1.0 - STRONGEST * (1.0 - rgb(colour)) for colour in COLOURS[:2]]  # of cells that hold one class
    assert {tuple(np.rint(255 * tint).astype(int)) for tint in tints} < drawn


def test_picture_of_the_guide_is_current_and_small(picture: Path) -> None:
    hint = "python examples/partitions.py docs/images/partitions.png renews it"
    assert slm_caption(picture).startswith("SLM tree: ")
    assert slm_caption(PICTURE) == slm_caption(picture), hint
    with Image.open(PICTURE) as image, Image.open(picture) as new:
        assert image.size == new.size, hint
    assert PICTURE.stat().st_size < 200_000
