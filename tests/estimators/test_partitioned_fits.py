"""Whole fits whose samples are in one, two and four partitions: the model of one table, bit by bit."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from naive import Array
from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.boost import LOSSES
from sublearn.core.links import Beside, Links, side_by_side
from sublearn.core.tree import grower
from sublearn.dask.program import digest_of

RNG = np.random.default_rng(11)
N, N_EVAL = 360, 90
BOUNDS = ([0, N], [0, 100, N], [0, 7, 7, 290, N])  # uneven, and an empty one
EVAL_BOUNDS = ([0, N_EVAL], [0, 1, N_EVAL], [0, 0, 40, 40, N_EVAL])

X = RNG.normal(size=(N, 5))
X[:, 3] = RNG.integers(0, 4, N)
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * (X[:, 3] == 2)
NUMBERS = SIGNAL + 0.3 * RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(0.5 * SIGNAL)).astype(float)
TWO = np.where(SIGNAL > 0.3, "yes", "no")
THREE = np.array(["few", "many", "some"])[np.digitize(NUMBERS, [-0.5, 0.8])]
WEIGHTS = RNG.integers(0, 4, N).astype(float)
REAL_WEIGHTS = RNG.exponential(size=N)
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
MIXED = pd.DataFrame(
    {
        "number": GAPS[:, 0],
        "product": X[:, 1] * X[:, 2],
        "town": pd.Series(np.array([f"town {i}" for i in RNG.integers(0, 30, N)], object)).where(X[:, 4] > -1.5, None),
        "kind": pd.Categorical(RNG.choice(list("xyz"), N), categories=list("zyxw")),
        "is": X[:, 3] == 2,
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta((50 * X[:, 4]).astype(int), "D"),
    }
)
TARGETS: dict[str, Array] = dict.fromkeys(LOSSES, NUMBERS) | {"poisson": COUNTS, "gamma": COUNTS + 0.5}
SHORT: dict[str, Any] = {"n_estimators": 4, "learning_rate": 0.3, "random_state": 2}


def assert_same_fits(model: Any, X: Any, y: Any, evaluated: tuple[Any, Any] | None = None, **rows: Any) -> Any:
    """Fits in one, two and four partitions are that of one table; returns that one."""
    validating = {} if evaluated is None else {"eval_set": evaluated}
    alone = clone(model).fit(X, y, **rows, **validating)
    for bounds, eval_bounds in zip(BOUNDS, EVAL_BOUNDS, strict=True):
        stretches, eval_stretches = list(pairwise(bounds)), list(pairwise(eval_bounds))

        def fit(links: Links) -> Any:
            own, given = clone(model), slice(*stretches[links.number])  # noqa: B023
            validated = slice(*eval_stretches[links.number])  # noqa: B023
            own._links = links
            cut = {"eval_set": tuple(one[validated] for one in evaluated)} if evaluated else {}
            return own.fit(X[given], y[given], **{name: one[given] for name, one in rows.items()}, **cut)

        for found in side_by_side(fit, len(stretches)):
            assert_same(found, alone)
    return alone


def assert_same(found: Any, alone: Any) -> None:
    assert digest_of(found._model) == digest_of(alone._model)
    assert vars(found).keys() - {"_links"} == vars(alone).keys()
    for name in (name for name in vars(alone) if name.endswith("_") and name != "audition_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name), err_msg=name)
    for one, other in zip(getattr(found, "audition_", ()), getattr(alone, "audition_", ()), strict=True):
        for key in one.keys() - {"seconds"}:
            assert one[key] == other[key]


@pytest.fixture(params=["gathered", "divided"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small samples are gathered in each partition; divided, they stay where they are."""
    if request.param == "divided":
        divide(monkeypatch)
    return str(request.param)


@pytest.fixture
def divided_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    divide(monkeypatch)


def divide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grower, "GATHERED", 0)
    monkeypatch.setattr(Beside, "room", 0)


# --- boosting


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("loss", LOSSES)
def test_boosting_with_every_loss_is_that_of_one_table(loss: str, weights: str, divided_rows: None) -> None:
    rows: dict[str, Any] = {"none": {}, "whole": {"sample_weight": WEIGHTS}, "real": {"sample_weight": REAL_WEIGHTS}}[
        weights
    ]
    alone = assert_same_fits(SLMBoostRegressor(loss=loss, **SHORT), GAPS, TARGETS[loss], **rows)
    assert alone._model.ensemble.nodes.n_nodes > 3 * alone._model.ensemble.n_trees


@pytest.mark.parametrize("loss", LOSSES)
def test_boosting_with_every_loss_stops_early_as_with_one_table(loss: str, divided_rows: None) -> None:
    model = SLMBoostRegressor(loss=loss, early_stopping=True, n_iter_no_change=1, **SHORT | {"n_estimators": 8})
    assert_same_fits(model, X, TARGETS[loss], (X[::4], TARGETS[loss][::4]), sample_weight=WEIGHTS)


@pytest.mark.parametrize("changes", [{"quantile": 0.9}, {"loss": "huber", "quantile": 0.5}, {"init": "zero"}])
def test_losses_with_settings_of_their_own(changes: dict[str, Any], divided_rows: None) -> None:
    assert_same_fits(SLMBoostRegressor(**SHORT, **{"loss": "quantile"} | changes), X, NUMBERS)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_exposures_are_those_of_one_table(loss: str, way: str) -> None:
    assert_same_fits(SLMBoostRegressor(loss=loss, **SHORT), X, TARGETS[loss], exposure=0.1 + RNG.random(N))


@pytest.mark.parametrize("multiclass", ["shared", "separate"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"few": 0.0, "many": 2.5}])
def test_boosting_for_classes_is_that_of_one_table(class_weight: Any, multiclass: str, way: str) -> None:
    model = SLMBoostClassifier(class_weight=class_weight, multiclass=multiclass, **SHORT)
    assert_same_fits(model, GAPS, THREE, sample_weight=WEIGHTS)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("is_given", [True, False])
def test_boosting_for_classes_stops_early_as_with_one_table(y: Array, is_given: bool, divided_rows: None) -> None:
    model = SLMBoostClassifier(early_stopping=True, n_iter_no_change=1, **SHORT | {"n_estimators": 8})
    alone = assert_same_fits(model, X, y, (X[::4], y[::4]) if is_given else None, sample_weight=WEIGHTS)
    assert len(alone.validation_score_) > 1


@pytest.mark.parametrize(
    "changes",
    [
        {"leaf": "linear"},
        {"subsample": 0.5},
        {"subsample": 0.3, "leaf": "linear"},
        {"racing_samples": 32},
        {"max_partitions": 3, "effective_ratio": 0.1},
        {"selection": "round", "subspace": "top", "n_coefficients": (1, 2)},
        {"feature_map": "quantile", "n_bins": 256},
        {"feature_map": "linear"},
        {"n_models": 2},
    ],
    ids=str,
)
def test_boosting_with_other_settings_is_that_of_one_table(changes: dict[str, Any], divided_rows: None) -> None:
    assert_same_fits(SLMBoostRegressor(**SHORT, **changes), GAPS, NUMBERS, sample_weight=WEIGHTS)


@pytest.mark.parametrize("changes", [{}, {"effort": "fast"}, {"leaf": "linear", "n_models": 2}], ids=str)
@pytest.mark.parametrize("is_class", [True, False])
def test_auditions_and_trials_choose_what_they_choose_with_one_table(is_class: bool, changes: dict[str, Any]) -> None:
    make: Any = SLMBoostClassifier if is_class else SLMBoostRegressor
    model = make(n_estimators=3, random_state=1, n_projections=2, max_depth=2, **changes)
    assert_same_fits(model, GAPS, TWO if is_class else NUMBERS)


@pytest.mark.parametrize("is_class", [True, False])
def test_boosting_of_categories_is_that_of_one_table(is_class: bool, way: str) -> None:
    make: Any = SLMBoostClassifier if is_class else SLMBoostRegressor
    frame, y = MIXED, THREE if is_class else NUMBERS
    model = make(early_stopping=True, **SHORT)
    assert_same_fits(model, frame, y, (frame[::4], y[::4]), sample_weight=REAL_WEIGHTS)


# --- trees and forests

TREES: list[tuple[Any, Array]] = [
    (SLMClassifier(random_state=1), THREE),
    (SLMClassifier(random_state=1, criterion="gini", class_weight="balanced", feature_map="quantile"), THREE),
    (SLMClassifier(random_state=1, class_weight={"yes": 3.0}, ccp_alpha=0.01, fitted_projections=3), TWO),
    (SLMRegressor(random_state=1), NUMBERS),
    (SLMRegressor(random_state=1, ccp_alpha=0.01, min_weight_fraction_leaf=0.02), NUMBERS),
    (SLMForestClassifier(n_estimators=3, random_state=1, class_weight="balanced"), THREE),
    (SLMForestClassifier(n_estimators=3, random_state=1, bootstrap=True, max_samples=0.5, voting="hard"), THREE),
    (SLMForestRegressor(n_estimators=3, random_state=1), NUMBERS),
    (SLMForestRegressor(n_estimators=3, random_state=1, bootstrap=True, racing_samples=32), NUMBERS),
]


@pytest.mark.parametrize("weights", [None, WEIGHTS, REAL_WEIGHTS], ids=["none", "whole", "real"])
@pytest.mark.parametrize(("model", "y"), TREES, ids=lambda given: repr(given)[:60])
def test_trees_and_forests_are_those_of_one_table(model: Any, y: Array, weights: Array | None, way: str) -> None:
    rows: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
    assert_same_fits(clone(model).set_params(max_depth=5), GAPS, y, **rows)


@pytest.mark.parametrize(("model", "y"), TREES[::3], ids=lambda given: repr(given)[:40])
@pytest.mark.parametrize("form", ["mixed", "sparse", "chosen"])
def test_trees_and_forests_of_all_kinds_of_tables(model: Any, y: Array, form: str, way: str) -> None:
    tables = {"mixed": MIXED, "sparse": csr_array(np.where(X > 0.5, X, 0.0)), "chosen": GAPS}
    given = clone(model).set_params(max_depth=5)
    given = given.set_params(categorical_features=[3]) if form == "chosen" else given
    assert_same_fits(given, tables[form], y)


def test_samples_out_of_the_bag_are_those_of_one_table(way: str) -> None:
    model = SLMForestRegressor(n_estimators=12, bootstrap=True, oob_score=True, max_depth=3, random_state=3)
    assert_same_fits(model, GAPS, NUMBERS, sample_weight=WEIGHTS)


def test_targets_far_from_all_others_are_those_of_one_table(way: str) -> None:
    y = NUMBERS.copy()
    y[[3, 200]] = 1e6, -1e7
    for model in (SLMRegressor(max_depth=4, random_state=0), SLMBoostRegressor(**SHORT)):
        assert_same_fits(model, X, y)


def test_rows_in_the_order_of_their_targets_are_those_of_one_table(divided_rows: None) -> None:
    order = np.argsort(NUMBERS, kind="stable")
    for model, y in (
        (SLMBoostClassifier(**SHORT), THREE),
        (SLMBoostRegressor(loss="absolute_error", **SHORT), NUMBERS),
    ):
        assert_same_fits(model, GAPS[order], y[order])
