"""The paper's presets: every parameter of every estimator is pinned, and the page shows where each comes from."""

import runpy
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

import sublearn
from documents import ROOT
from sublearn import paper
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.grids import GRIDS
from sublearn.paper.presets import ANY, BY_TARGET, OPEN, PINS, SEARCHED

DOCS = ROOT / "docs"
CASES = [
    (sublearn.SLMClassifier, paper.PARAMETERS, "tree"),
    (sublearn.SLMRegressor, paper.PARAMETERS, "tree"),
    (sublearn.SLMForestClassifier, paper.FOREST_CLASSES, "forest"),
    (sublearn.SLMForestRegressor, paper.FOREST, "forest"),
    (sublearn.SLMBoostClassifier, paper.BOOST_CLASSES, "boosting"),
    (sublearn.SLMBoostRegressor, paper.BOOST, "boosting"),
]
# written down once more, so that no edit of the table changes a model unseen
NODE = {
    "n_bins": 16,
    "subspace_size": 8,
    "n_projections": 64,
    "selection": "round",
    "n_coefficients": (1, 2, 3, None),
    "selection_decay": 0.5,
    "envelope_height": 10.0,
    "envelope_decay": 0.5,
    "axis_projections": False,
    "fitted_projections": 0,
    "draws_per_sample": None,
    "racing_samples": None,
    "max_partitions": 2,
    "max_cosine": 0.5,
    "effective_ratio": 0.5,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "feature_map": "linear",
}
GROWN = {"max_depth": None, "min_weight_fraction_leaf": 0.0, "min_loss": 0.0}
TREE = {**NODE, **GROWN, "subspace": "top", "ccp_alpha": 0.0}
FOREST = {
    **NODE,
    **GROWN,
    "subspace": "drawn",
    "n_estimators": 20,
    "bootstrap": False,
    "max_samples": None,
}
BOOST = {
    **NODE,
    "subspace": "top",
    "max_depth": 6,
    "n_estimators": 100,
    "learning_rate": 0.3,
    "l2_regularization": 0.0,
    "min_gain": 0.0,
    "min_child_weight": 0.0,
    "subsample": 1.0,
    "leaf": "constant",
    "n_models": 1,
    "init": "zero",
    "early_stopping": False,
}


def test_presets_are_these() -> None:
    assert paper.PARAMETERS == TREE
    assert paper.FOREST == FOREST
    assert {**FOREST, "voting": "hard", "class_weight": None} == paper.FOREST_CLASSES
    assert paper.BOOST == BOOST
    assert {**BOOST, "multiclass": "separate", "class_weight": None} == paper.BOOST_CLASSES


@pytest.mark.parametrize(("estimator", "preset", "kind"), CASES)
def test_every_parameter_of_every_estimator_has_its_source(estimator: Any, preset: Any, kind: str) -> None:
    given = estimator(**preset).get_params()
    is_numbers = estimator.__name__.endswith("Regressor")
    for name, value in given.items():
        pin = PINS[name]
        expected = BY_TARGET[name] if is_numbers and name in BY_TARGET else pin.values[kind]
        assert value == expected, name
        assert pin.words, name
        assert (pin.standing == ANY) == (not pin.place), name
    only = {"numbers" if is_numbers else "classes", ""}
    assert set(given) == {name for name, pin in PINS.items() if kind in pin.values and pin.only in only}


def test_what_the_paper_searches_is_in_the_grids() -> None:
    searched = {name for name, pin in PINS.items() if pin.standing == SEARCHED}
    assert set(GRIDS["slm-baseline"]) == searched
    assert set(GRIDS["slm-forest"]) == searched
    assert set(GRIDS["slm-boost"]) == searched | set(GRIDS["xgboost"])
    assert {name for name, pin in PINS.items() if pin.standing == OPEN} == {
        "n_coefficients",
        "max_depth",
        "learning_rate",
        "multiclass",
        "max_partitions",
        "max_cosine",
        "effective_ratio",
        "min_loss",
        "feature_map",
    }


@pytest.mark.parametrize(("estimator", "preset", "kind"), CASES)
def test_preset_learns_and_has_leaves_of_one_sample_and_two_hyperplanes(estimator: Any, preset: Any, kind: str) -> None:
    is_numbers = estimator.__name__.endswith("Regressor")
    X, y = load_diabetes(return_X_y=True) if is_numbers else load_wine(return_X_y=True)
    model = estimator(**preset, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > (-0.5 if is_numbers else 0.85)
    nodes = model.tree_ if kind == "tree" else model.ensemble_.nodes
    assert nodes.n_samples[nodes.is_leaf].min() == 1
    assert np.diff(nodes.first_plane).max() == 2
    if kind == "boosting" and not is_numbers:
        assert model.ensemble_.n_trees == 3 * 100


def test_page_shows_the_table_of_the_source() -> None:
    script = runpy.run_path(str(DOCS / "preset_table.py"))
    text = (DOCS / "presets.md").read_text("utf-8")
    assert script["with_preset_table"](text) == text, "python docs/preset_table.py renews it"


def test_code_of_the_page_runs() -> None:
    text = (DOCS / "presets.md").read_text("utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "presets.md", "exec"), {})


@pytest.mark.parametrize("name", ["slm-baseline", "slm-forest", "slm-boost", "dt-tuned", "rf"])
@pytest.mark.parametrize("is_classes", [True, False])
def test_no_axis_of_a_grid_is_inert(name: str, is_classes: bool) -> None:
    """Every two values of every axis make different models, the others being those of one usual setting."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 40))  # so many features that all sizes of S0 differ
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + rng.normal(size=800)
    target = np.digitize(y, [0.0, 1.5]) if is_classes else y
    grid, make = GRIDS[name], CONTENDERS[name].make(is_classes)
    usual = {axis: values[len(values) // 2] for axis, values in grid.items()}
    if "envelope_decay" in grid:
        usual["envelope_decay"] = 0.02  # where it is high, features of low rank have no coefficients
    if CONTENDERS[name].group == 1:
        usual["n_estimators"] = 5
    for axis, values in grid.items():
        models = [make(random_state=0, **{**usual, axis: value}).fit(X, target) for value in values]
        found = [model.predict_proba(X) if is_classes else model.predict(X) for model in models]
        for (one, first), (other, second) in combinations(zip(values, found, strict=True), 2):
            assert not np.array_equal(first, second), (axis, one, other)
