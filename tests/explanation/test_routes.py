"""The route of a row: its steps are those of `apply`, and its crossings are where sides change."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from exported import case, mixed_table
from sublearn import SLMClassifier, SLMRegressor, route
from sublearn.explanation.routes import Step

NAMES = [
    "tree of classes",
    "tree of three planes a node",
    "tree with gaps",
    "forest of numbers",
    "boosting of three classes",
    "linear leaves",
    "quantiles as codes",
    "tree of a mixed table",
    "boosting of a mixed table",
]


def stump() -> SLMClassifier:
    """Ten samples at 0, ten at 1."""
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    return SLMClassifier(max_partitions=1, n_projections=0, random_state=0).fit(X, np.repeat(["low", "high"], 10))


def rows_of(name: str, n: int = 12) -> tuple[Any, list[Any]]:
    """A model, and some rows as tables of one."""
    model, X = case(name)
    return model, [X.iloc[[i]] if hasattr(X, "iloc") else X[i : i + 1] for i in range(0, n * 3, 3)]


def test_a_stump_has_one_step_and_its_margin_is_the_distance_to_the_cut() -> None:
    model = stump()
    found = route(model, [0.0])
    (step,) = found.steps
    cut = float(step.text.split(" >= ")[1])
    assert step.text.startswith("x0 >= ")
    assert not step.is_true
    assert step.margin == pytest.approx(-cut, abs=1e-3)
    (crossing,) = step.crossings
    assert crossing.feature == "x0"
    assert crossing.by == crossing.values[0] == pytest.approx(cut, abs=1e-3)
    assert found.leaves == {0: int(model.apply([[0.0]])[0])}
    assert str(found).startswith(f"node 0: x0 >= {cut:.4g}: false by {-step.margin:.4g}\n  crossed by x0 at ")
    assert str(step) == ";".join(str(found).splitlines()[:2]).removeprefix("node 0: ").replace(";  ", "; ")
    assert str(found).endswith("the route ends; it answers 0, 1")


@pytest.mark.parametrize("name", NAMES)
def test_routes_end_where_apply_says(name: str) -> None:
    model, rows = rows_of(name)
    for row in rows:
        expected = np.atleast_1d(np.asarray(model.apply(row)).ravel())
        found = route(model, row)
        assert list(found.leaves.values()) == expected.tolist()
        assert route(model, row, tree=len(expected) - 1).leaves == {len(expected) - 1: expected[-1]}


@pytest.mark.parametrize("name", NAMES)
def test_answers_of_trees_add_up_to_the_prediction(name: str) -> None:
    model, rows = rows_of(name, 4)
    fitted = model._model
    for row in rows:
        total = sum(route(model, row).answers.values())
        if fitted.link == "mean":
            expected = model.predict_proba(row)[0] if hasattr(model, "predict_proba") else model.predict(row)
            np.testing.assert_allclose(total / fitted.ensemble.n_trees, expected, rtol=1e-12)
        else:
            np.testing.assert_allclose(fitted.start + total, np.atleast_1d(model._raw(row)[0]), rtol=1e-9)


def sides(model: Any, row: Any, step: Step) -> bool | None:
    """Whether the inequality of a step holds for another row; None where its route does not come by."""
    for other in route(model, row, tree=step.tree).steps:
        if (other.node, other.plane) == (step.node, step.plane):
            return other.is_true
    return None


@pytest.mark.parametrize("name", ["tree of three planes a node", "tree with gaps", "quantiles as codes"])
def test_a_crossing_is_the_nearest_number_on_the_other_side(name: str) -> None:
    model, rows = rows_of(name, 6)
    n_crossed = 0
    for row in rows:
        first = [step for step in route(model, row, tree=0).steps if step.node == 0]
        for step in first:
            for crossing in step.crossings:
                f = int(crossing.feature.removeprefix("x"))
                (value,) = crossing.values
                nearer = np.nextafter(value, row[0, f])
                crossed, uncrossed = row.copy(), row.copy()
                crossed[0, f], uncrossed[0, f] = value, nearer
                assert sides(model, crossed, step) != step.is_true
                assert sides(model, uncrossed, step) == step.is_true
                n_crossed += 1
    assert n_crossed > 5


def test_levels_of_a_crossing_are_those_that_change_the_side() -> None:
    X, y = mixed_table()
    model = SLMRegressor(random_state=0, categorical_features=["town of birth", "rooms", "kind"]).fit(X, y)
    n_tried = 0
    for i in range(6):
        row = X.iloc[[i]]
        for step in [step for step in route(model, row).steps if step.node == 0]:
            for crossing in step.crossings:
                if np.isnan(crossing.by):
                    for level in model._model.levels[list(X.columns).index(crossing.feature)] or ():
                        changed = row.assign(
                            **{crossing.feature: pd.Series([level], row.index, X[crossing.feature].dtype)}
                        )
                        is_other = sides(model, changed, step) != step.is_true
                        assert is_other == (level in crossing.values)
                        n_tried += 1
    assert n_tried > 5


def test_a_row_may_be_an_array_a_list_a_series_or_a_table() -> None:
    X, y = mixed_table()
    model = SLMRegressor(random_state=0, categorical_features=["town of birth", "rooms", "kind"]).fit(X, y)
    assert route(model, X.iloc[5]).leaves == route(model, X.iloc[[5]]).leaves
    numbers = case("tree of classes")
    expected = route(numbers.model, numbers.X[:1])
    assert str(route(numbers.model, numbers.X[0])) == str(route(numbers.model, numbers.X[0].tolist())) == str(expected)


def test_a_tree_of_one_leaf_has_no_steps() -> None:
    model, X = case("tree of one leaf")
    found = route(model, X[0])
    assert found.steps == ()
    assert found.leaves == {0: 0}


def test_bad_arguments_are_refused() -> None:
    model = stump()
    with pytest.raises(
        TypeError, match="model of route must be a fitted tree, forest, boosting or average of sublearn"
    ):
        route("tree", [0.0])
    with pytest.raises(NotFittedError):
        route(SLMClassifier(), [0.0])
    with pytest.raises(TypeError, match="must be a tree, forest or boosting; got SLMAverageClassifier"):
        route(case("average of classifiers").model, [0.0] * 13)
    with pytest.raises(ValueError, match="x of route must be one row; got 2"):
        route(model, [[0.0], [1.0]])
    with pytest.raises(ValueError, match="tree of route must be None or an int from 0 to 0; got 1"):
        route(model, [0.0], tree=1)
    with pytest.raises(ValueError, match="features"):
        route(model, [0.0, 1.0])
