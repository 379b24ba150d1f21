"""Counterfactuals: each reaches its goal, no code of a small tree is nearer, and tables stay tables."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError

from exported import BOOST, CASES, FEW, case, mixed_table
from sublearn import (
    Loss,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
    counterfactual,
)
from sublearn.core.model.flat_ensemble import apply
from sublearn.core.parallel import Workers
from sublearn.explanation import search
from sublearn.explanation.cells import roundest
from sublearn.kernels.layout import Array

CATEGORIES = ["town of birth", "rooms", "kind"]
CODE = 1 / 1024


@pytest.fixture(scope="module")
def mixed() -> Any:
    """A model of a table with categories and gaps."""
    X, y = mixed_table()
    return SLMBoostRegressor(**BOOST, categorical_features=CATEGORIES).fit(X, y)


def stump() -> SLMClassifier:
    """Ten samples at 0, ten at 1; a feature that is not used."""
    X = np.column_stack([np.repeat([0.0, 1.0], 10), np.tile([0.0, 1.0], 10)])
    y = np.repeat(["low", "high"], 10)
    return SLMClassifier(max_partitions=1, n_projections=0, random_state=0).fit(X, y)


def cut_of(model: Any) -> float:
    """The least number that goes with 1, by halves."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if model.predict([[middle, 0.0]])[0] == "low" else (low, middle)
    return high


def test_a_stump_is_crossed_at_its_cut() -> None:
    model = stump()
    found = counterfactual(model, [[0.0, 0.0], [1.0, 1.0]])
    cut, deviation = cut_of(model), 0.5
    assert found.found.all()
    assert found.before.tolist() == ["low", "high"]
    assert found.after.tolist() == ["high", "low"]
    np.testing.assert_array_equal(found.X[:, 1], [0.0, 1.0])
    assert cut <= found.X[0, 0] <= cut * 1.01 + CODE
    assert cut > found.X[1, 0] >= cut - 0.01 - CODE
    np.testing.assert_allclose(found.distance, np.abs(found.X[:, 0] - [0.0, 1.0]) / deviation)
    assert list(found.changes[0]) == ["x0"]
    assert found.changes[0]["x0"] == (0.0, found.X[0, 0])
    assert str(found).startswith("row 0: low -> high, distance ")


@pytest.mark.parametrize("name", [name for name in CASES if "mixed" not in name and "categories" not in name])
def test_every_change_reaches_its_goal_and_says_so(name: str) -> None:
    model, X = case(name)
    X = X[:6]
    target = None if hasattr(model, "classes_") else (float(np.median(model.predict(X))), None)
    found = counterfactual(model, X, target)
    now = model.predict(found.X) if found.found.all() else model.predict(np.nan_to_num(found.X))
    np.testing.assert_array_equal(found.after[found.found], now[found.found])
    if target is None:
        assert (found.after[found.found] != found.before[found.found]).all()
        assert found.found.all() or name in ("boosting of one class", "tree of one class")
    else:
        assert (found.after[found.found] >= target[0]).all()
        assert (found.distance[found.before >= target[0]] == 0).all()
    assert np.isnan(found.X[~found.found]).all()
    assert np.isnan(found.distance[~found.found]).all()
    np.testing.assert_array_equal(np.isnan(found.X[found.found]), np.isnan(X[found.found]))
    for row in np.flatnonzero(found.found):
        changed = np.flatnonzero((found.X[row] != X[row]) & ~np.isnan(X[row]))
        assert [f"x{f}" for f in changed] == list(found.changes[row])


def code_grid(model: Any, step: int) -> tuple[Array, Array]:
    """All pairs of codes of two features, a step apart, and what the tree answers there."""
    fitted = model._model
    axis = np.arange(-2500, 2500, step)
    codes = np.array(np.meshgrid(axis, axis, indexing="ij")).reshape(2, -1).astype(np.int16)
    node = apply(fitted.ensemble, codes, Workers(1))[:, 0]
    return codes, fitted.contributions[node].argmax(axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_no_pair_of_codes_is_nearer_than_what_is_found_for_a_tree_of_two_features(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 2))
    y = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * random.normal(size=300), [-0.5, 0.5])
    model = SLMClassifier(min_samples_leaf=5, random_state=seed, feature_map="linear").fit(X, y)
    codes, answers = code_grid(model, 20)
    maps = model.feature_maps_
    found = counterfactual(model, X[:40])
    assert found.found.all()
    for row in range(40):
        own = (X[row] * maps.units - maps.knots[maps.offsets[:-1]]) * maps.slopes[maps.offsets[:-1]]
        own += maps.levels[maps.offsets[:-1]]
        apart = np.abs(codes - own[:, None]).sum(axis=0) / maps.per_deviation
        assert (
            found.distance[row]
            <= 1.01 * apart[answers != model.classes_.tolist().index(found.before[row])].min() + CODE
        )


@pytest.mark.parametrize(
    ("make", "load"),
    [
        (lambda: SLMClassifier(random_state=0), load_wine),
        (lambda: SLMForestClassifier(**FEW), load_wine),
        (lambda: SLMBoostClassifier(**BOOST), load_wine),
        (lambda: SLMRegressor(min_samples_leaf=5, random_state=0), load_diabetes),
        (lambda: SLMForestRegressor(**FEW), load_diabetes),
        (lambda: SLMBoostRegressor(**BOOST), load_diabetes),
    ],
)
def test_random_changes_that_are_a_tenth_nearer_do_not_reach_the_goal(make: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    model, random = make().fit(X, y), np.random.default_rng(0)
    rows = X[::45]
    target = None if hasattr(model, "classes_") else (float(np.quantile(model.predict(X), 0.75)), None)
    found = counterfactual(model, rows, target, background=X)
    deviations = X.std(axis=0)
    for row in np.flatnonzero(found.found & (found.distance > 0)):
        moves = random.dirichlet(np.full(X.shape[1], 0.2), 2000) * random.choice([-1.0, 1.0], (2000, X.shape[1]))
        tried = rows[row] + moves * deviations * (0.9 * found.distance[row]) * random.random((2000, 1))
        near = np.abs(found.X[row] - rows[row]) * random.random((2000, 1)) * (random.random(moves.shape) < 0.7)
        shrunk = rows[row] + 0.9 * near * np.sign(found.X[row] - rows[row])
        answers = model.predict(np.concatenate([tried, shrunk]))
        reached = answers != found.before[row] if target is None else answers >= target[0]
        assert reached.mean() < 0.01, row


def test_one_result_for_every_number_of_threads(divided: None) -> None:
    X, y = load_wine(return_X_y=True)
    model = SLMForestClassifier(**FEW).fit(X, y)
    one = counterfactual(model, X[:4], background=X)
    three = counterfactual(model.set_params(n_jobs=3), X[:4], background=X)
    np.testing.assert_array_equal(one.X, three.X)


def test_a_row_by_itself_has_the_same_result_with_a_background() -> None:
    X, y = load_wine(return_X_y=True)
    model = SLMForestClassifier(**FEW).fit(X, y)
    together = counterfactual(model, X[:4], background=X)
    for row in range(4):
        np.testing.assert_array_equal(counterfactual(model, X[row : row + 1], background=X).X[0], together.X[row])


def test_only_chosen_features_change_by_name_or_number() -> None:
    data = load_wine(as_frame=True)
    model = SLMForestClassifier(**FEW).fit(data.data, data.target)
    some = ["alcohol", "proline", "flavanoids"]
    by_name = counterfactual(model, data.data[:8], features=some)
    by_number = counterfactual(model, data.data[:8], features=[data.feature_names.index(name) for name in some])
    pd.testing.assert_frame_equal(by_name.X, by_number.X)
    assert by_name.found.any()
    assert {name for one in by_name.changes for name in one} <= set(some)


def test_weights_make_changes_of_a_feature_less_welcome() -> None:
    X, y = load_wine(return_X_y=True)
    model = SLMForestClassifier(**FEW).fit(X, y)
    plain, weighted = (counterfactual(model, X[:8], weights=weights) for weights in (None, {12: 50.0}))
    count = [sum("x12" in one for one in found.changes) for found in (plain, weighted)]
    assert count[1] < count[0]
    row = next(i for i, one in enumerate(plain.changes) if "x12" in one)
    assert counterfactual(model, X[row : row + 1], weights={12: 1.0}).distance[0] == plain.distance[row]


def test_ranges_are_not_left() -> None:
    X, y = load_wine(return_X_y=True)
    model = SLMForestClassifier(**FEW).fit(X, y)
    free = counterfactual(model, X[:6])
    f = max(range(13), key=lambda f: sum(f"x{f}" in one for one in free.changes))
    low, high = float(np.quantile(X[:, f], 0.45)), float(np.quantile(X[:, f], 0.55))
    bound = counterfactual(model, X[:6], ranges={f: (low, high)})
    moved = [one[f"x{f}"][1] for one in bound.changes if f"x{f}" in one]
    assert all(low <= value <= high for value in moved)
    inside = counterfactual(model, X[:6], background=X)
    for one in inside.changes:
        for name, (_, new) in one.items():
            column = X[:, int(name.removeprefix("x"))]
            assert column.min() <= new <= column.max()


def test_gaps_stay_and_categories_go_to_known_levels(mixed: Any) -> None:
    X, _ = mixed_table()
    X = X.head(16)
    found = counterfactual(mixed, X, (5.0, None))
    assert found.found.sum() > 10
    kept = found.X[found.found]
    pd.testing.assert_frame_equal(kept.isna(), X[found.found].isna())
    np.testing.assert_array_equal(mixed.predict(kept), found.after[found.found])
    for name in CATEGORIES:
        assert set(kept[name].dropna()) <= set(mixed_table()[0][name].dropna())
    assert (found.after[found.found] >= 5.0).all()
    for row in np.flatnonzero(~found.found):
        assert found.X.iloc[row].isna().all()


def test_a_single_category_is_changed_to_the_level_that_helps() -> None:
    X = pd.DataFrame({"colour": ["red", "green", "blue"] * 20, "size": np.tile([0.0, 1.0], 30)})
    model = SLMClassifier(random_state=0).fit(X, X["colour"] == "green")
    found = counterfactual(model, X[:3])
    assert [one.get("colour") for one in found.changes][:1] == [("red", "green")]
    assert found.X["colour"].tolist()[0] == "green"
    assert found.X["colour"].tolist()[1] in ("red", "blue")
    np.testing.assert_allclose(found.distance, 1.0)
    heavier = counterfactual(model, X[:3], weights={"colour": 3})
    np.testing.assert_allclose(heavier.distance, 3.0)


def typed() -> tuple[pd.DataFrame, Array]:
    """Columns of many types, each of which matters."""
    random = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(
        {
            "count": random.integers(0, 20, n),
            "flag": random.random(n) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), unit="D"),
            "kind": pd.Categorical(random.choice(["a", "b", "c"], n)),
            "amount": random.normal(size=n).astype(np.float32),
        }
    )
    y = frame["count"] / 5 + 2.0 * frame["flag"] + (frame["day"].dt.day_of_year / 100) + (frame["kind"] == "b")
    return frame, (y + frame["amount"]).to_numpy(np.float64)


def test_cells_keep_the_types_of_their_columns() -> None:
    X, y = typed()
    model = SLMForestClassifier(**FEW).fit(X, y > np.median(y))
    found = counterfactual(model, X[:40], background=X)
    assert found.found.all()
    assert found.X.dtypes.tolist() == X.dtypes.tolist()
    assert {name for one in found.changes for name in one} >= {"count", "flag", "day"}
    assert (model.predict(found.X) == found.after).all()
    flags = [one["flag"] for one in found.changes if "flag" in one]
    assert {new for _, new in flags} <= {False, True}
    assert all(isinstance(new, bool) for _, new in flags)


def test_frames_of_other_libraries_come_back_as_they_are() -> None:
    X, y = typed()
    model = SLMForestClassifier(**FEW).fit(X, y > np.median(y))
    plain = pl.from_pandas(X[:15]).with_columns(pl.col("day").cast(pl.Date))
    expected = counterfactual(model, X[:15], background=X)
    found = counterfactual(model, plain, background=X)
    assert found.X.schema == plain.schema
    assert (model.predict(found.X) == expected.after).all()
    assert all(isinstance(new, date) for one in found.changes for name, (_, new) in one.items() if name == "day")
    arrow = counterfactual(model, plain.to_arrow(), background=X)
    assert isinstance(arrow.X, pa.Table)
    assert arrow.X.schema.names == plain.columns
    assert (model.predict(arrow.X) == arrow.after).all()


def test_arrays_of_integers_lists_and_sparse_tables() -> None:
    random = np.random.default_rng(0)
    X = random.integers(0, 30, (200, 3))
    model = SLMBoostClassifier(**BOOST).fit(X, X.sum(axis=1) > 45)
    found = counterfactual(model, X[:12])
    assert found.X.dtype == X.dtype
    assert found.found.all()
    listed = counterfactual(model, X[:12].astype(float).tolist(), background=X)
    assert isinstance(listed.X, np.ndarray)
    sparse = counterfactual(model, csr_array(X[:12].astype(float)))
    assert isinstance(sparse.X, csr_array)
    assert (model.predict(sparse.X) == sparse.after).all()


def test_what_is_not_reached_is_nan_and_flagged(mixed: Any) -> None:
    X, _ = mixed_table()
    found = counterfactual(mixed, X.head(3), (1e9, None))
    assert not found.found.any()
    assert found.X.isna().all(axis=None)
    assert np.isnan(found.distance).all()
    np.testing.assert_array_equal(found.after, found.before)
    assert str(found).splitlines()[0].endswith("and no change found")
    whole = np.arange(40).reshape(20, 2)
    model = SLMRegressor(random_state=0).fit(whole, whole[:, 0])
    assert np.isnan(counterfactual(model, whole[:2], (1e6, None)).X).all()


def test_rows_at_their_goal_stay_as_they_are() -> None:
    model = stump()
    found = counterfactual(model, np.array([[0.0, 0.0], [1.0, 0.0]]), "high")
    assert found.distance[1] == 0
    assert found.changes[1] == {}
    assert "high already, nothing to change" in str(found)
    assert found.after.tolist() == ["high", "high"]


def test_numbers_may_be_asked_to_lie_between_two() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = SLMForestRegressor(**FEW).fit(X, y)
    found = counterfactual(model, X[:10], (120, 130), background=X)
    assert found.found.mean() > 0.9
    assert ((found.after >= 120) & (found.after <= 130))[found.found].all()


def test_many_steps_lead_a_row_to_a_goal_that_no_other_row_has_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).random((400, 8))
    model = SLMForestRegressor(**FEW).fit(X, X.sum(axis=1))
    row = X[model.predict(X).argmin()][None]
    target = (float(np.quantile(model.predict(X), 0.97)), None)
    found = counterfactual(model, row, target)
    assert found.found.all()
    assert len(found.changes[0]) > search.STEPS
    monkeypatch.setattr(search, "CLIMBS", 0)
    assert not counterfactual(model, row, target).found.any()


def test_every_class_may_be_the_target() -> None:
    X, y = load_wine(return_X_y=True)
    model = SLMForestClassifier(**FEW).fit(X, y)
    for target in range(3):
        found = counterfactual(model, X[::30], target, background=X)
        assert (found.after[found.found] == target).all()
        assert found.found.all()


@pytest.mark.parametrize(
    ("near", "far", "expected"),
    [
        (1.2345, 1.3, 1.3),
        (1.2345, 1.24, 1.24),
        (1.2345, 1.1, 1.2),
        (-0.3, 0.2, 0.0),
        (987.0, 1200.0, 1000.0),
        (-1.2345, -1.24, -1.24),
        (2.5, 2.5, 2.5),
        (0.0031, 0.00319, 0.0031),
    ],
)
def test_the_roundest_number_is_taken(near: float, far: float, expected: float) -> None:
    assert roundest(near, far, False) == expected


def test_times_are_rounded_to_days_and_hours() -> None:
    day = 86_400.0
    assert roundest(10.3 * day, 11.4 * day, True) == 11 * day
    assert roundest(10.3 * day, 10.6 * day, True) == 10.5 * day


class OwnLoss(Loss):
    """Squared error with a prediction of its own."""

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return raw - y, np.ones_like(raw)

    def loss(self, y: Array, raw: Array) -> Array:
        return np.asarray(0.5 * (raw - y) ** 2)

    def prediction(self, raw: Array) -> Array:
        return np.asarray(2.0 * raw[:, 0])


def test_bad_arguments_are_refused() -> None:
    model, X = stump(), np.zeros((1, 2))
    numbers = case("linear leaves")
    refused: list[tuple[str, Any]] = [
        ("target of counterfactual must be None or one of \\['high', 'low'\\]; got 'middle'", {"target": "middle"}),
        ("features of counterfactual must hold names of features .* got 'age'", {"features": ["age"]}),
        ("features of counterfactual must hold .* numbers from 0 to 1; got 2", {"features": [2]}),
        ("features of counterfactual must be None or a sequence of at least one feature; got \\[\\]", {"features": []}),
        ("ranges of counterfactual must have pairs of numbers", {"ranges": {0: (2, 1)}}),
        ("ranges of counterfactual must have pairs of numbers", {"ranges": {0: 3}}),
        ("weights of counterfactual must be finite numbers above 0; got 0 for 'x0'", {"weights": {0: 0}}),
        ("weights of counterfactual must hold names of features", {"weights": {"y": 1}}),
    ]
    for message, arguments in refused:
        with pytest.raises(ValueError, match=message):
            counterfactual(model, X, **arguments)
    with pytest.raises(TypeError, match="ranges of counterfactual must be None or a dict by features; got list"):
        counterfactual(model, X, ranges=[(0, 1)])  # type: ignore[arg-type]
    for target in (None, 3, "high", (None, None), (2, 1), (1, 2, 3), ("a", "b")):
        with pytest.raises(ValueError, match="target of counterfactual must be a pair of numbers"):
            counterfactual(numbers.model, numbers.X[:1], target)
    with pytest.raises(ValueError, match="background of counterfactual must be a table like X"):
        counterfactual(model, X, background=np.zeros((4, 3)))
    with pytest.raises(TypeError, match="model of counterfactual must be a fitted tree"):
        counterfactual(print, X)
    with pytest.raises(NotFittedError):
        counterfactual(SLMClassifier(), X)
    with pytest.raises(ValueError, match="features"):
        counterfactual(model, np.zeros((1, 3)))
    with pytest.raises(ValueError, match="sample"):
        counterfactual(model, np.zeros((0, 2)))
