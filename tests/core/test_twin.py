"""Whole trees with their draws against the twin, which is given the key of the root and no candidates."""

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import naive
import naive_tree
from naive import Array, Data, Vector
from naive_tree import Place
from steps import Fitted, choose_subspace, draw_projections
from sublearn.core.tree.assembling import Placed
from sublearn.core.tree.grower import grow_placed
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import plan_projections
from sublearn.kernels.layout import CONSTANT
from sublearn.kernels.subspace import Ranking
from support import KEY, ONE_THREAD, keys_of, make_data, nodes_of, parameters, task_of
from test_projection import TEST, vectors_of

TASKS = ((2, "entropy"), (3, "entropy"), (2, "gini"), (3, "gini"), (0, "squared_error"))  # classes, criterion
SELECTIONS = ("projection", "round")
KINDS = list(itertools.product(("top", "drawn"), (True, False), (1, 2, 3), ("unit", "integer"), (None, 1)))
random.Random(0).shuffle(KINDS)


# --- the twin by hand


def candidates_of(places: list[Place], n_features: int, p: TreeParameters, count: int = 100) -> list[Vector]:
    return naive_tree.candidates_of(KEY, places, n_features, count, p)


def test_the_twin_lists_all_vectors_over_two_features() -> None:
    p = parameters(n_projections=9, axis_projections=False)  # -1, 0 and 1 twice
    places = [Place(0, True), Place(1, True)]
    assert candidates_of(places, 2, p) == [(1, 0), (0, 1), (1, 1), (1, -1)]
    assert candidates_of(places, 2, replace(p, selection="round")) == [(1, 1), (0, 1), (1, -1), (1, 0)]
    assert candidates_of(places, 2, replace(p, selection="round", axis_projections=True))[:2] == [(1, 0), (0, 1)]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_twin_draws_where_there_are_more_vectors(selection: str) -> None:
    p = parameters(n_projections=2, axis_projections=False, selection=selection)
    found = candidates_of([Place(0, True), Place(1, True)], 2, p)
    assert len(found) == 2
    assert set(found) < {(1, 0), (0, 1), (1, 1), (1, -1)}
    assert len(candidates_of([Place(0, True), Place(1, True)], 2, replace(p, draws_per_sample=1), count=1)) == 1


def test_the_twin_bounds_by_place_or_by_rank() -> None:
    places = [Place(0, True), Place(3, True)]
    p = parameters(
        n_projections=30, axis_projections=False, envelope_height=3.0, rounds=(DrawingRound(0.0, 0.5, None),)
    )
    # 3 exp(-d / 2) is 1.8, 1.1, 0.7 and 0.4
    assert len(candidates_of(places, 4, p)) == 4
    assert candidates_of(places, 4, replace(p, selection="round")) == [(1, 0)]


def test_the_twin_leaves_out_features_that_do_not_vary() -> None:
    p = parameters(n_projections=9, axis_projections=False)
    places = [Place(0, True), Place(1, False)]
    assert candidates_of(places, 2, p) == candidates_of(places, 2, replace(p, selection="round")) == [(1, 0)]
    assert candidates_of(places, 2, replace(p, selection="round", n_projections=3)) == [(1, 0)]


def test_a_round_of_the_twin_selects_once_or_for_each_projection() -> None:
    p = parameters(
        n_projections=8,
        axis_projections=False,
        selection="round",
        envelope_height=9.0,
        rounds=(DrawingRound(0.0, 0.0, 2),),
    )
    places = [Place(d, True) for d in range(5)]
    each = candidates_of(places, 5, replace(p, selection="projection"))
    once = candidates_of(places, 5, p)
    assert len({d for vector in once for d, a in enumerate(vector) if a}) == 2
    assert len({d for vector in each for d, a in enumerate(vector) if a}) > 2
    assert all(sum(map(bool, vector)) <= 2 for vector in each)


# --- candidates


def some_parameters(rng: np.random.Generator, criterion: str, selection: str, kind: Any) -> TreeParameters:
    """A few projections inside low envelopes: some rounds list all their vectors, others draw."""
    subspace, axis_projections, max_partitions, _, draws_per_sample = kind
    rounds = tuple(
        DrawingRound(float(rng.choice([0.0, 0.2, 0.6])), float(rng.choice([0.1, 0.3])), (2, 3, None)[rng.integers(3)])
        for _ in range(rng.integers(1, 4))
    )
    return parameters(
        criterion=criterion,
        n_bins=int(rng.choice([3, 8])),
        subspace=subspace,
        subspace_size=int(rng.integers(3, 7)),
        n_projections=int(rng.choice([12, 30])),
        selection=selection,
        draws_per_sample=draws_per_sample,
        rounds=rounds,
        envelope_height=float(rng.choice([1.5, 3.0, 5.0])),
        axis_projections=axis_projections,
        max_partitions=max_partitions,
        max_cosine=float(rng.choice([0.3, 0.75])),
        effective_ratio=float(rng.choice([0.0, 0.35])),
        max_depth=(2, 3, 4, None)[rng.integers(4)],
        min_samples_split=int(rng.choice([6, 12])),
        min_samples_leaf=int(rng.choice([1, 3])),
        min_weight_fraction_leaf=float(rng.choice([0.0, 0.06])),
        min_loss=float(rng.choice([0.0, 0.3])) * (100 if criterion == "squared_error" else 1),
    )


@pytest.mark.parametrize("selection", SELECTIONS)
def test_candidates_of_nodes_are_those_of_the_twin_in_their_order(selection: str) -> None:
    n_nodes, n_features = 8, 6
    for seed, kind in enumerate(KINDS):
        rng = np.random.default_rng(seed)
        p = some_parameters(rng, "squared_error", selection, kind)
        plan, keys, counts = plan_projections(p, n_features), keys_of(n_nodes), rng.integers(1, 60, n_nodes)
        order = rng.permuted(np.tile(np.arange(n_features), (n_nodes, 1)), axis=1)
        n_varying = rng.integers(1, n_features + 1, n_nodes)
        ranking = ranking_of(order, n_varying)
        decay = p.rounds[0].selection_decay
        subspace = choose_subspace(ranking, keys, plan.subspace_size, p.subspace, decay)
        fitted = Fitted.none(n_nodes, plan.subspace_size)
        losses = np.full(n_nodes, np.inf)
        found = draw_projections(plan, TEST, subspace, ranking, fitted, losses, keys, counts)
        for i, key in enumerate(keys.tolist()):
            ranks = naive_tree.choose_subspace(key, n_features, p)
            assert subspace[i].tolist() == order[i, ranks].tolist()
            places = [Place(rank, rank < n_varying[i]) for rank in ranks]
            assert vectors_of(found, i) == naive_tree.candidates_of(key, places, n_features, int(counts[i]), p)


def ranking_of(order: Array, n_varying: Array) -> Ranking:
    """Features ranked in this order, of which so many vary."""
    n_features = order.shape[1]
    ranks = np.argsort(order, axis=1)
    varies = ranks < n_varying[:, None]
    threshold = np.where(varies, 0, CONSTANT).astype(np.int32)
    return Ranking(np.where(varies, n_features - ranks, -ranks) / 1.0, threshold, np.zeros((*ranks.shape, 2), np.int32))


# --- whole trees


SOME = parameters(
    n_bins=8,
    subspace="drawn",
    subspace_size=4,
    n_projections=30,
    selection="round",
    rounds=(DrawingRound(0.3, 0.1, 3), DrawingRound(0.1, 0.1, 2)),
    envelope_height=5.0,
    axis_projections=False,
    max_partitions=3,
    effective_ratio=0.35,
    max_depth=4,
    min_samples_split=6,
)


class Verdict(NamedTuple):
    """What was compared."""

    n_open: int  # nodes whose split was judged
    n_tied: int  # of which rounding could decide otherwise
    n_planes: int


def close(expected: float) -> Any:
    """Losses are sums of terms right to a few units in the last place."""
    return pytest.approx(expected, rel=1e-11, abs=1e-11)


def grow(data: Data, p: TreeParameters, key: int = KEY) -> Placed:
    """The engine's tree, with its samples."""
    return grow_placed(task_of(data, p), key, ONE_THREAD)


def judge(grown: Placed, data: Data, p: TreeParameters, key: int = KEY) -> Verdict:
    """Go down a tree with the twin: each node must have the twin's samples, loss and split.

    Where rounding could decide otherwise the split must be one of the twin's, and the twin follows it.
    """
    tree, places, order, _ = grown
    nodes = nodes_of(tree, data.codes.shape[1])
    rows_of = {id(node): sorted(order[a:b].tolist()) for node, (a, b) in zip(nodes, places.tolist(), strict=True)}
    least = math.ceil(Fraction(p.min_weight_fraction_leaf) * naive.weight_of(data))
    limits = naive.Settings(max_depth=p.max_depth, min_samples_split=p.min_samples_split, min_loss=p.min_loss)
    open_ = [(nodes[0], list(range(len(data.y))), key, 0)]
    n_open = n_tied = n_planes = 0
    for node, rows, own_key, depth in open_:
        assert rows_of[id(node)] == rows
        twin = naive.describe(data, rows, depth, p.criterion)
        assert (node.depth, node.count, node.value, node.weight) == (depth, twin.count, twin.value, twin.weight)
        assert node.loss == close(twin.loss)
        if not naive.is_open(twin, data, limits):
            assert not node.planes
            continue
        ways = naive_tree.ways_to_split(data.take(rows), own_key, p, least)
        found = [plane[:2] for plane in node.planes]
        way = next((way for way in ways if [plane[:2] for plane in way.planes] == found), None)
        assert way is not None, (found, ways)
        assert node.decrease == close(way.decrease)
        assert [plane.decrease for plane in node.planes] == [close(plane.decrease) for plane in way.planes]
        n_open, n_tied, n_planes = n_open + 1, n_tied + (len(ways) > 1), n_planes + len(found)
        below = naive.split(rows, way.codes) if found else {}
        assert sorted(below) == sorted(node.children)
        open_ += [
            (node.children[code], inside, naive_tree.child_key(own_key, code), depth + 1)
            for code, inside in below.items()
        ]
    assert len(open_) == len(nodes)
    return Verdict(n_open, n_tied, n_planes)


def some_data(rng: np.random.Generator, n_classes: int, weights: str) -> Data:
    """Labels or targets that depend on several features, with noise; one feature has few values."""
    n = int(rng.integers(30, 60))
    codes = rng.integers(-20, 21, (n, 6))
    codes[:, 4] //= 14
    signal = codes @ rng.integers(-2, 3, 6) + 10 * rng.standard_normal(n)
    y = np.argsort(np.argsort(signal)) * n_classes // n if n_classes else np.rint(signal)
    return make_data(codes, y, n_classes, rng.integers(1, 5, n) if weights == "integer" else None)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_trees_with_draws_are_those_of_the_twin(n_classes: int, criterion: str, selection: str) -> None:
    place = TASKS.index((n_classes, criterion)), SELECTIONS.index(selection)
    kinds = KINDS[sum(place) % 2 :: 2]  # the others come with the other selection, and with the next task
    verdicts = []
    for seed, kind in enumerate(kinds):
        rng = np.random.default_rng([seed, *place])
        data = some_data(rng, n_classes, kind[3])
        p = some_parameters(rng, criterion, selection, kind)
        verdicts.append(judge(grow(data, p, seed), data, p, seed))
    assert sum(verdict.n_tied == 0 for verdict in verdicts) >= 0.8 * len(kinds)  # nothing was left to the engine
    assert sum(verdict.n_open for verdict in verdicts) > 2 * len(kinds)
    assert sum(verdict.n_planes > verdict.n_open for verdict in verdicts) > len(kinds) // 5


@pytest.mark.parametrize("n_projections", [0, 1, 5])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_trees_of_few_features_and_few_draws_are_those_of_the_twin(selection: str, n_projections: int) -> None:
    rounds = (DrawingRound(0.1, 0.1, None), DrawingRound(0.3, 0.0, 1))
    p = parameters(selection=selection, n_projections=n_projections, rounds=rounds, max_depth=3)
    for n_features in (1, 2):
        codes = np.random.default_rng(n_features).integers(-9, 10, (40, n_features + 1))
        codes[:, -1] = 3
        data = make_data(codes, np.arange(40) % 2, 2)
        assert judge(grow(data, p), data, p).n_open > 1


@pytest.mark.parametrize("selection", SELECTIONS)
def test_trees_over_features_that_become_constant_are_those_of_the_twin(selection: str) -> None:
    p = replace(SOME, selection=selection, n_projections=20, envelope_height=1.5, max_depth=None)
    n_tied = n_open = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, (50, 6))  # one split, and a feature is the same for all samples
        codes[:, 0] = rng.integers(-20, 21, 50)
        data = make_data(codes, rng.integers(0, 3, 50), 3, rng.integers(1, 100, 50), np.ones(50))
        verdict = judge(grow(data, p, seed), data, p, seed)
        n_tied, n_open = n_tied + verdict.n_tied, n_open + verdict.n_open
    assert n_open > 60
    assert n_tied <= 2


@pytest.mark.parametrize("selection", SELECTIONS)
def test_where_rounding_decides_the_split_is_one_of_the_twins(selection: str) -> None:
    p = replace(
        SOME,
        selection=selection,
        subspace_size=2,
        n_projections=6,
        rounds=(DrawingRound(0.3, 0.1, 2),),
        min_samples_split=2,
    )
    n_tied = 0
    for seed in range(12):
        codes = np.random.default_rng(seed).integers(-2, 3, (30, 3))  # so few that many splits are equally good
        data = make_data(codes, np.arange(30) % 3, 3)
        n_tied += judge(grow(data, p), data, p).n_tied
    assert n_tied >= 5


OTHER_VALUES: dict[str, Any] = {
    "criterion": "gini",
    "n_bins": 9,
    "subspace": "top",
    "subspace_size": 3,
    "n_projections": 29,
    "selection": "projection",
    "draws_per_sample": 1,
    "rounds": (DrawingRound(0.3, 0.3, 3), DrawingRound(0.1, 0.1, 2)),
    "envelope_height": 4.0,
    "axis_projections": True,
    "max_partitions": 2,
    "max_cosine": 0.3,
    "effective_ratio": 0.6,
    "max_depth": 2,
    "min_samples_split": 20,
    "min_samples_leaf": 3,
    "min_weight_fraction_leaf": 0.1,
    "min_loss": 0.9,
}


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_trees_of_other_parameters_are_not_those_of_the_twin(name: str) -> None:
    other = replace(SOME, **{name: OTHER_VALUES[name]})
    assert any(is_refused(grow(data, other), data) for data in map(three_classes, range(5)))


def test_a_tree_of_another_key_is_not_that_of_the_twin() -> None:
    for data in map(three_classes, range(5)):
        assert is_refused(grow(data, SOME, KEY + 1), data)
        assert not is_refused(grow(data, SOME), data)


def three_classes(seed: int) -> Data:
    return some_data(np.random.default_rng(seed), 3, "unit")


def is_refused(grown: Placed, data: Data) -> bool:
    """Whether the twin finds a tree to be another than that of `SOME`."""
    try:
        judge(grown, data, SOME)
    except AssertionError:
        return True
    return False
