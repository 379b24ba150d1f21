"""Lines through models: what the kernel finds along each feature is what predictions say, one by one."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from exported import CASES, case
from sublearn.core.parallel import Workers
from sublearn.explanation.counterfactuals import TIE
from sublearn.explanation.members import Member, answers_of, members_of, numbers_of
from sublearn.explanation.moves import Goal, Moves, Rows
from sublearn.explanation.search import Search
from sublearn.explanation.space import Limits, Space, ends_of, make_space, nearest, places_of, values_at
from sublearn.kernels.layout import Array
from sublearn.kernels.scanning import AVOIDED, NUMBER, Found

ONE = Workers(1)
BUDGET = 2.0  # deviations
N_TRIED = 40  # positions of a line


class Looked(NamedTuple):
    """What was seen from some rows."""

    space: Space
    members: list[Member]
    search: Search
    states: Moves
    found: Found


def searching(name: str, n: int) -> Search:
    """A search from some rows, for another class or for more than the median."""
    model, X = case(name)
    members = members_of(model, "the test")
    x = np.ascontiguousarray(numbers_of(model, X)[::7][:n])
    maps = members[0].model.maps
    space = make_space(members, [Limits(*ends_of(maps, f), 0.0, 1.0) for f in range(x.shape[1])])
    answers, origin = answers_of(members, x, ONE), space.origins(x)
    goal = Goal(AVOIDED, answers.argmax(axis=1), 0.0, 0.0, TIE)
    if members[0].model.classes is None:
        goal = Goal(NUMBER, np.zeros(n, np.int64), float(np.median(answers)), np.inf, TIE * np.abs(answers).max())
    rows = Rows(x, space.codes(x, members, ONE), origin, ~np.isnan(origin))
    return Search(space, members, rows, goal, ONE)


def states_of(search: Search, is_moved: bool) -> Moves:
    """The rows as they are, or with every second feature moved somewhere."""
    position = np.full(search.rows.x.shape, -1, np.int64)
    if is_moved:
        random = np.random.default_rng(0)
        for f, axis in enumerate(search.space.axes):
            if f % 2 == 0 and len(axis.place):
                position[:, f] = random.integers(0, len(axis.place), len(position))
        position[~search.rows.may_move] = -1
    return Moves(np.arange(len(position)), position)


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("name", [name for name in CASES if name != "boosting of one class"])
def test_the_nearest_position_at_the_goal_is_the_one_that_predictions_find(name: str, is_moved: bool) -> None:
    search = searching(name, 3)
    space, states = search.space, states_of(search, is_moved)
    budget = search.costs(states).sum(axis=1) + BUDGET
    found, random = search.look(states, budget), np.random.default_rng(0)
    for row in range(len(states.row)):
        others = search.costs(states)[row].sum() - search.costs(states)[row]
        for f, axis in enumerate(space.axes):
            if not search.rows.may_move[row, f] or not len(axis.place):
                assert found.position[row, f] == -1
                continue
            tried = np.tile(states.position[row], (len(axis.place), 1))
            tried[:, f] = np.arange(len(axis.place))
            cost = space.costs(tried, np.tile(search.rows.origin[row], (len(tried), 1)))[:, f]
            near = np.flatnonzero(cost < budget[row] - others[f])
            near = random.choice(near, N_TRIED, replace=False) if len(near) > N_TRIED else near
            own = found.position[row, f]
            near = np.append(near, own) if own >= 0 else near
            if not len(near):
                continue
            met = search.are_met(Moves(np.full(len(near), row), tried[near]))
            if own >= 0:
                assert met[-1]
                assert found.cost[row, f] == pytest.approx(cost[own])
            assert cost[near][met].min(initial=np.inf) >= found.cost[row, f] - 1e-12


def test_margins_are_above_0_where_the_goal_is_met() -> None:
    for name in ("forest of classes", "linear leaves", "average of classifiers"):
        search = searching(name, 12)
        for is_moved in (False, True):
            states = states_of(search, is_moved)
            margin = search.look(states, np.zeros(len(states.row))).margin
            np.testing.assert_array_equal(margin > 0, search.are_met(states))


def test_places_and_values_are_inverse() -> None:
    for name in ("tree of classes", "forest of numbers", "quantiles as codes"):
        maps = case(name).model.feature_maps_
        for f in range(maps.n_features):
            low, high = ends_of(maps, f)
            values = np.linspace(low, high, 50) if low < high else np.array([low])
            np.testing.assert_allclose(values_at(maps, f, places_of(maps, f, values)), values, rtol=1e-6, atol=1e-9)


def test_nearest_is_the_nearest_of_all() -> None:
    places = np.array([-1.0, 0.0, 0.5, 4.0])
    wanted = np.linspace(-3, 6, 91)
    expected: Array = np.abs(wanted[:, None] - places).min(axis=1)
    np.testing.assert_allclose(np.abs(places[nearest(places, wanted)] - wanted), expected)
    assert nearest(np.array([2.0]), np.array([-1.0, 7.0])).tolist() == [0, 0]


def test_a_row_that_may_not_move_has_no_lines() -> None:
    search = searching("forest of classes", 3)
    search.rows = search.rows._replace(may_move=np.zeros_like(search.rows.may_move))
    found: Any = search.look(states_of(search, False), np.full(3, 9.0))
    assert (found.position == -1).all()
    assert (found.steepest == -1).all()
