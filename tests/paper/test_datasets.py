"""The fifteen data sets of the paper: their sizes, their geometry, and where they come from."""

import gzip
from math import pi
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.utils import Bunch

from files import FOLDER, path_of
from sublearn.paper import datasets
from sublearn.paper.datasets import SOURCES, MissingDataError, load, read_file

NOISY = ["circle-and-ring", "2-new-moons", "4-new-moons", "friedman-1", "friedman-2", "friedman-3"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise AssertionError("a test must not fetch anything")

    monkeypatch.setattr(datasets, "fetch_openml", fail)
    monkeypatch.setattr(datasets, "fetch_california_housing", fail)
    monkeypatch.delenv("SUBLEARN_DATA", raising=False)


def is_at_hand(name: str) -> bool:
    return SOURCES[name].is_bundled or path_of(name.replace("-", "_")).exists()


def write_set(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def fetched(bunch: Any, asked: list[int]) -> Any:
    def fetch_openml(*, data_id: int, **options: Any) -> Any:
        asked.append(data_id)
        return bunch

    return fetch_openml


@pytest.mark.parametrize(
    ("name", "n_samples", "n_features", "counts"),
    [
        ("circle-and-ring", 1000, 2, [500, 500]),
        ("2-new-moons", 1000, 2, [500, 500]),
        ("4-new-moons", 2000, 2, [500, 500, 500, 500]),
        ("iris", 150, 4, [50, 50, 50]),
        ("wine", 178, 13, [59, 71, 48]),
        ("breast-cancer", 569, 30, [212, 357]),
        ("pima", 392, 8, [262, 130]),
        ("ionosphere", 351, 33, [126, 225]),
        ("banknote", 1372, 4, [762, 610]),
        ("friedman-1", 1000, 10, None),
        ("friedman-2", 1000, 4, None),
        ("friedman-3", 1000, 4, None),
        ("boston", 506, 13, None),
        ("california-housing", 20640, 8, None),
        ("diabetes", 442, 10, None),
    ],
)
def test_set_has_the_size_that_the_paper_says(
    name: str, n_samples: int, n_features: int, counts: list[int] | None
) -> None:
    if not is_at_hand(name):
        pytest.skip(f"no file of {name}; name a folder that has it with SUBLEARN_DATA")
    data = load(name, folder=FOLDER)
    assert data.X.shape == (n_samples, n_features) == (len(data.y), len(data.feature_names))
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    if counts is None:
        assert not SOURCES[name].is_classes
        assert data.y.dtype == np.float64
    else:
        assert np.bincount(data.y).tolist() == counts


def test_there_are_nine_sets_of_classes_and_six_of_numbers() -> None:
    assert [source.is_classes for source in SOURCES.values()] == [True] * 9 + [False] * 6
    assert [name for name, source in SOURCES.items() if source.is_generated] == NOISY


def test_ranges_of_targets_are_those_of_the_paper() -> None:
    for name, low, high in (("boston", 5, 50), ("california-housing", 0.15, 5), ("diabetes", 25, 346)):
        if is_at_hand(name):
            y = load(name, folder=FOLDER).y
            assert [y.min(), y.max()] == pytest.approx([low, high], abs=0.001)


def test_circle_and_ring_have_noise_of_a_fifth_about_their_radii() -> None:
    data = load("circle-and-ring")
    radii = np.hypot(*data.X.T)
    ring, circle = radii[data.y == 0], radii[data.y == 1]
    assert np.median(ring) == pytest.approx(1.0, abs=0.05)
    assert np.median(circle) == pytest.approx(0.5, abs=0.08)
    assert ring.std() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("name", "noise"), [("2-new-moons", 0.3), ("4-new-moons", 0.2)])
def test_noise_of_moons_adds_to_their_variance(name: str, noise: float) -> None:
    # along an arc sin t has variance 1 / 2 - 4 / pi^2; ten seeds make the error of the estimate 2 %
    found = [load(name, seed).X[load(name, seed).y == label, 1].var() for seed in range(10) for label in (0, 1)]
    assert np.mean(found) == pytest.approx(0.5 - 4 / pi**2 + noise**2, abs=0.01)


def test_facing_moons_of_two_pairs_are_half_a_unit_apart_as_those_of_a_pair_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(datasets, "make_moons", lambda n, noise, random_state: make_moons(n, random_state=random_state))
    data = load("4-new-moons")
    moons = [data.X[data.y == label] for label in range(4)]
    nearest = {(i, j): cdist(moons[i], moons[j]).min() for i in range(4) for j in range(i)}
    closest = sorted(nearest, key=lambda pair: nearest[pair])[:3]
    assert set(closest) == {(1, 0), (3, 2), (3, 0)}  # the pairs, and the two that face each other
    assert [nearest[pair] for pair in closest] == pytest.approx([0.5] * 3, abs=1e-3)  # points are 0.006 apart
    assert min(value for pair, value in nearest.items() if pair not in closest) > 0.6
    assert moons[2][:, 1].min() > moons[0][:, 1].max()


def test_friedman_targets_are_the_formulas_without_noise() -> None:
    X, y, _ = load("friedman-1")
    expected = 10 * np.sin(pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    np.testing.assert_allclose(y, expected)
    for name in ("friedman-2", "friedman-3"):
        X, y, _ = load(name)
        reactance = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
        expected = np.hypot(X[:, 0], reactance) if name == "friedman-2" else np.arctan(reactance / X[:, 0])
        np.testing.assert_allclose(y, expected)
        np.testing.assert_allclose(X.max(axis=0), [100, 560 * pi, 1, 11], rtol=0.02)  # scikit-learn's ranges


@pytest.mark.parametrize("name", [*NOISY, "iris", "diabetes"])
def test_generated_sets_follow_their_seed_and_others_do_not(name: str) -> None:
    first, again, other = load(name, 0), load(name, 0), load(name, 1)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert np.array_equal(first.X, other.X) != SOURCES[name].is_generated


def test_file_has_a_header_and_its_target_in_the_last_column(tmp_path: Path) -> None:
    data = read_file(write_set(tmp_path, "any", "b,a,target\n1,2.5,1\n-3,4e2,0\n"))
    assert data.feature_names == ["b", "a"]
    np.testing.assert_array_equal(data.X, [[1.0, 2.5], [-3.0, 400.0]])
    assert data.y.tolist() == [1, 0]
    assert data.y.dtype == np.int64


def test_file_of_numbers_keeps_their_fractions(tmp_path: Path) -> None:
    data = read_file(write_set(tmp_path, "any", "a,target\n1,0.5\n2,3\n"))
    assert data.y.tolist() == [0.5, 3.0]


def test_file_of_one_row_is_a_table(tmp_path: Path) -> None:
    assert read_file(write_set(tmp_path, "any", "a,b,target\n1,2,3\n")).X.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("text", ["a,b,c\n1,2,3\n", "1,2,3\n4,5,6\n", "a,target\n1,2,3\n", "target,a\n1,2\n"])
def test_file_without_a_proper_header_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="must have a header row whose last name is target"):
        read_file(write_set(tmp_path, "any", text))


def test_folder_given_goes_before_the_variable_and_that_before_fetching(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_set(tmp_path / "given", "banknote", "a,target\n1,0\n")
    write_set(tmp_path / "named", "banknote", "a,target\n2,0\n")
    monkeypatch.setenv("SUBLEARN_DATA", str(tmp_path / "named"))
    assert load("banknote", folder=tmp_path / "given").X.tolist() == [[1.0]]
    assert load("banknote").X.tolist() == [[2.0]]


def test_pima_rows_with_a_missing_measurement_are_left_out_but_not_those_without_pregnancies(tmp_path: Path) -> None:
    header = "pregnancies,glucose,blood_pressure,skin_thickness,insulin,bmi,pedigree,age,target\n"
    rows = [[0, 1, 1, 1, 1, 1, 0, 20, 1]] + [[1, *(int(i != j) for i in range(5)), 1, 30, 0] for j in range(5)]
    write_set(tmp_path, "pima", header + "".join(",".join(map(str, row)) + "\n" for row in rows))
    data = load("pima", folder=tmp_path)
    np.testing.assert_array_equal(data.X, [rows[0][:-1]])
    assert data.y.tolist() == [1]


def test_constant_feature_of_ionosphere_is_left_out_with_its_name(tmp_path: Path) -> None:
    write_set(tmp_path, "ionosphere", "f1,f2,f3,target\n1,0,3,0\n2,0,3.5,1\n")
    data = load("ionosphere", folder=tmp_path)
    assert data.feature_names == ["f1", "f3"]
    assert data.X.tolist() == [[1.0, 3.0], [2.0, 3.5]]


def test_numbers_that_openml_has_as_categories_are_numbers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    bunch = Bunch(
        data=np.array([[0.1, 4.0, 1.0], [0.2, 0.0, 0.0]]),
        target=np.array([24.0, 21.6]),
        feature_names=["CRIM", "RAD", "CHAS"],
        categories={"RAD": ["1", "2", "3", "5", "24"], "CHAS": ["0", "1"]},
    )
    monkeypatch.setattr(datasets, "fetch_openml", fetched(bunch, asked))
    data = load("boston")
    assert data.X.tolist() == [[0.1, 24.0, 1.0], [0.2, 1.0, 0.0]]
    assert data.y.tolist() == [24.0, 21.6]
    assert asked == [531]


def test_labels_of_openml_become_zero_and_one_and_its_column_names_the_usual_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    bunch = Bunch(
        data=np.array([[0.0, 1, 1, 1, 1, 1, 1, 1], [9.0, 1, 1, 1, 0, 1, 1, 1], [5.0, 1, 1, 1, 1, 1, 1, 1]]),
        target=np.array(["tested_positive", "tested_positive", "tested_negative"], object),
        feature_names=["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age"],
        categories={"class": ["tested_negative", "tested_positive"]},
    )
    monkeypatch.setattr(datasets, "fetch_openml", fetched(bunch, asked))
    data = load("pima", folder=tmp_path)  # a folder without the file
    assert data.X[:, 0].tolist() == [0.0, 5.0]
    assert data.y.tolist() == [1, 0]
    assert data.feature_names[4] == "insulin"
    assert asked == [37]


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if not source.is_bundled])
@pytest.mark.parametrize("error", [URLError("no network"), ConnectionResetError(), ValueError("no such data")])
def test_set_that_is_nowhere_is_missed_in_one_line_that_says_how_to_get_it(
    name: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(datasets, "fetch_openml", fail)
    monkeypatch.setattr(datasets, "fetch_california_housing", fail)
    for folder in (None, tmp_path):
        with pytest.raises(MissingDataError) as caught:
            load(name, folder=folder)
        message = str(caught.value)
        assert "\n" not in message
        for word in (
            f"{name.replace('-', '_')}.csv.gz",
            "--data-dir",
            "SUBLEARN_DATA",
            *([str(folder)] * bool(folder)),
        ):
            assert word in message
