"""The demo: its tables, its geometry and its picture."""

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).parent.parent
README_PICTURE = ROOT / "docs" / "partitions.png"
SETS = ["two moons", "circle and ring", "iris", "wine", "breast cancer", "digits", "diabetes"]

demo = SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "demo.py")))


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "new" / "partitions.png"
    demo.save_picture(path)
    return path


def slm_caption(path: Path) -> str:
    with Image.open(path) as image:
        return str(image.info["Description"]).split("; ")[0]


def test_tree_table_has_an_aligned_row_for_each_set() -> None:
    _, _, rule, *rows = demo.tree_table(n_splits=1)
    assert [row[:17].strip() for row in rows] == SETS
    assert {len(row) for row in rows} == {len(rule)}
    for row in rows:
        numbers = [float(word) for word in row[31:].replace("±", " ").split()]
        assert len(numbers) == 8  # two scores with their deviations, two sizes, two depths
        assert min(numbers[4:]) >= 1


def test_ensemble_table_has_an_aligned_row_for_each_set() -> None:
    names, _, rule, *rows = demo.ensemble_table(n_splits=1)
    assert len(names) == len(rule)
    assert [row[:17].strip() for row in rows] == SETS
    assert {len(row) for row in rows} == {len(rule)}
    for row, data in zip(rows, demo.data_sets(), strict=True):
        numbers = np.array(row[31:].replace("±", " ").split(), float).reshape(4, 3)  # score, deviation, seconds
        assert (numbers[:, 1] == 0).all()
        assert (numbers[:, 2] >= 0).all()
        assert_learned(data, numbers[:, 0], 1.0)


def test_both_trees_learn_every_set() -> None:
    for data in demo.data_sets():
        scores = demo.compare(data, 1, demo.trees, demo.try_tree)[:, 0, 0]
        assert_learned(data, scores, 1.3)  # leaves of one sample: the noise of y counts twice


def assert_learned(data: Any, scores: NDArray[Any], allowed: float) -> None:
    if data.is_regression:
        assert (scores < allowed * data.y.std()).all()
    else:
        assert (scores > 75).all()
        assert (scores <= 100).all()


def test_decision_tree_counts_two_parameters_a_split() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 0])
    model = DecisionTreeClassifier().fit(X, y)  # 0 0 | 1 | 0
    assert demo.measure(model, demo.DataSet("", X, y), X, y) == (100.0, 4, 2)


def test_clip_keeps_the_positive_side() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    right = demo.clip(square, np.array([1.0, 0.0, 0.25]))  # x >= 0.25
    assert sorted(right.tolist()) == [[0.25, 0.0], [0.25, 1.0], [1.0, 0.0], [1.0, 1.0]]
    assert len(demo.clip(square, np.array([0.0, 1.0, 2.0]))) == 0  # y >= 2


@pytest.mark.parametrize("which", [0, 1], ids=["SLM tree", "decision tree"])
def test_cells_cover_the_frame_and_each_holds_one_route(which: int) -> None:
    data = demo.circle_and_ring()
    X, _, y, _ = demo.split_samples(data, 0)
    model = demo.trees(data, 0)[which].fit(X, y)
    splits = [demo.slm_splits, demo.decision_tree_splits][which](model)
    frame = 1.5 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (4000, 2))
    nodes = model.apply(points)
    seen = np.zeros(len(points), int)
    alike = 0
    for polygon in demo.cells(splits, frame):
        edges = np.roll(polygon, -1, axis=0) - polygon
        ahead = points[:, None] - polygon
        inside = (edges[:, 0] * ahead[:, :, 1] >= edges[:, 1] * ahead[:, :, 0]).all(axis=1)
        seen += inside
        alike += np.bincount(nodes[inside]).max() if inside.any() else 0
    assert (seen == 1).all()
    assert alike >= 0.99 * len(points)  # codes are rounded to 1/1024 deviation, which moves a border by about that


def test_picture_is_a_png_1200_pixels_wide(picture: Path) -> None:
    with Image.open(picture) as image:
        assert (image.format, image.size) == ("PNG", (1200, 570))
        colours = image.convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert len(colours) > 100
    drawn = {colour for n, colour in colours if n > 1000}
    assert {tuple(bytes.fromhex(tint[1:])) for tint in demo.TINTS} < drawn


def test_picture_of_the_readme_is_current_and_small(picture: Path) -> None:
    hint = "python examples/demo.py --picture docs/partitions.png renews it"
    assert slm_caption(picture).startswith("SLM tree: ")
    assert slm_caption(README_PICTURE) == slm_caption(picture), hint
    with Image.open(README_PICTURE) as image, Image.open(picture) as new:
        assert image.size == new.size, hint
    assert README_PICTURE.stat().st_size < 200_000
