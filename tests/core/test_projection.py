"""Candidate projections: what is listed, what is drawn."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import naive
from naive import Vector
from steps import Fitted, draw_projections
from sublearn import SLMClassifier, SLMRegressor, paper
from sublearn.core.tree.criterion import make_test
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from sublearn.core.tree.projection import (
    Plan,
    count_vectors,
    envelope,
    list_vectors,
    normalise,
    plan_projections,
)
from sublearn.kernels import projection
from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.layout import Candidates
from sublearn.kernels.projection import TRIES
from sublearn.kernels.subspace import Ranking
from support import assert_frequencies, keys_of, parameters
from test_racing import ESTIMATORS, make, thresholds_of

BOUNDS = st.lists(st.integers(0, 3), min_size=1, max_size=4)
MANY = 10**6  # samples
N_RANKED = 6  # features
TEST = make_test(parameters(), 1.0)


def draw(plan: Plan, keys: Any, counts: Any = None) -> Candidates:
    """Candidates over features 0, 1, ... in this order, in a node for each key; of many samples if nothing is said."""
    size = plan.listed.shape[1]
    subspace = np.tile(np.arange(size, dtype=np.int32), (len(keys), 1))
    shape = len(keys), size
    ranking = Ranking(np.zeros(shape), np.zeros(shape, np.int32), np.zeros((*shape, 2), np.int32))
    counts = np.full(len(keys), MANY) if counts is None else counts
    return draw_projections(plan, TEST, subspace, ranking, Fitted.none(*shape), np.ones(len(keys)), keys, counts)


def vectors_of(candidates: Candidates, i: int) -> list[Vector]:
    return [tuple(row) for row in candidates.coefficients[i, : candidates.sizes[i]].tolist()]


# --- the envelope and what is inside


def test_the_envelope_of_the_papers_figure_by_hand() -> None:
    # alpha_0 = 10, alpha = 0.5: 6.07 3.68 2.23 1.35 0.82
    assert envelope(10.0, 0.5, 5) == [6, 3, 2, 1, 0]


@pytest.mark.parametrize("height", [0.0, 0.5, 1.0, 3.7, 10.0, 127.0])
@pytest.mark.parametrize("decay", [0.0, 0.1, 0.5, 2.0, 1000.0])
def test_the_envelope_equals_the_twin(height: float, decay: float) -> None:
    assert envelope(height, decay, 12) == naive.envelope(height, decay, 12)


def test_vectors_of_two_features_by_hand() -> None:
    assert count_vectors([1, 1], 2) == 9
    assert count_vectors([1, 1], 1) == 5  # zero and four of length one
    assert sorted(list_vectors([1, 1], 1)) == [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]


@given(bounds=BOUNDS, n_coefficients=st.integers(1, 4))
def test_listed_vectors_are_the_twins(bounds: list[int], n_coefficients: int) -> None:
    expected = naive.all_vectors(bounds, n_coefficients)
    listed = list(list_vectors(bounds, n_coefficients))
    assert len(listed) == len(set(listed)) == count_vectors(bounds, n_coefficients)
    assert set(listed) == set(expected)


@given(bounds=st.lists(st.integers(0, 127), min_size=1, max_size=10))
def test_with_all_coefficients_the_count_is_the_papers_upper_bound(bounds: list[int]) -> None:
    assert count_vectors(bounds, len(bounds)) == math.prod(2 * bound + 1 for bound in bounds)


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ((0, 0, 0), None),
        ((0, -3, 6), (0, 1, -2)),
        ((4, -6, 0), (2, -3, 0)),
        ((-1, -1, 1), (1, 1, -1)),
        ((5,), (1,)),
        ((-127, 127, 0), (1, -1, 0)),
    ],
)
def test_normalised_vectors_by_hand(vector: Vector, expected: Vector | None) -> None:
    assert normalise(vector) == naive.normalise(vector) == expected


@given(vector=st.lists(st.integers(-127, 127), min_size=1, max_size=6), factor=st.sampled_from([-3, -1, 1, 2, 5]))
def test_multiples_and_mirror_images_are_one_candidate(vector: list[int], factor: int) -> None:
    one = tuple(vector)
    assert normalise(tuple(factor * a for a in one)) == normalise(one) == naive.normalise(one)


@bare_kernel
def normalise_all(vectors: Any, kept: Any) -> None:
    for i in range(kept.size):
        kept[i] = projection.normalise(vectors[i])


def test_kernels_normalise_as_the_twin_does() -> None:
    rng = np.random.default_rng(0)
    made = [rng.integers(-bound, bound + 1, (300, 4)) for bound in (1, 3, 8, 63, 64, 127)]
    factors = rng.choice([1, 1, 2, 64, 90], (1800, 1))
    vectors = np.concatenate(made).astype(np.int16) * factors.astype(np.int16)
    found, kept = vectors.copy(), np.empty(len(vectors), np.bool_)
    normalise_all(found, kept)
    expected = [naive.normalise(tuple(v)) for v in vectors.tolist()]
    assert [tuple(v) if k else None for v, k in zip(found.tolist(), kept, strict=True)] == expected


# --- the plan


def test_a_small_search_space_is_listed() -> None:
    plan = plan_projections(parameters(subspace_size=2, n_projections=9), 5)
    assert plan.listed.tolist()[:2] == [[1, 0], [0, 1]]
    assert sorted(map(tuple, plan.listed.tolist()[2:])) == [(1, -1), (1, 1)]
    assert (plan.n_axis, plan.n_candidates, plan.rounds.n_draws.tolist()) == (2, 4, [])


def test_one_projection_less_than_the_search_space_means_drawing() -> None:
    plan = plan_projections(parameters(subspace_size=2, n_projections=8), 5)
    assert plan.listed.tolist() == [[1, 0], [0, 1]]
    assert plan.rounds.n_draws.tolist() == [8]
    assert plan.n_candidates == 10


@pytest.mark.parametrize("axis", [True, False])
@pytest.mark.parametrize(("height", "decay", "n_coefficients"), [(2.0, 0.0, None), (6.0, 0.5, 2), (5.0, 0.3, 1)])
def test_the_plan_lists_all_distinct_vectors_once(
    axis: bool, height: float, decay: float, n_coefficients: int | None
) -> None:
    rounds = (DrawingRound(0.5, decay, n_coefficients),)
    p = parameters(subspace_size=3, n_projections=10**6, rounds=rounds, envelope_height=height, axis_projections=axis)
    plan = plan_projections(p, 7)
    expected = naive.distinct_vectors(naive.envelope(height, decay, 3), n_coefficients or 3)
    listed = [tuple(row) for row in plan.listed.tolist()]
    assert len(listed) == len(set(listed)) == plan.n_candidates
    assert set(listed) == expected | ({naive.basis_vector(d, 3) for d in range(3)} if axis else set())
    assert listed[: plan.n_axis] == [naive.basis_vector(d, 3) for d in range(3)][: plan.n_axis]
    assert plan.n_axis == 3 * axis


def test_rounds_share_what_is_left() -> None:
    steep = (DrawingRound(0.5, 1.0, None), DrawingRound(0.5, 0.0, None), DrawingRound(0.1, 0.1, None))
    p = parameters(subspace_size=3, n_projections=100, rounds=steep, envelope_height=5.0)
    # envelopes 1 0 0, 5 5 5 and 4 4 3: 3 vectors of one candidate, then (100 - 1) // 2 draws, then the other 50
    plan = plan_projections(p, 3)
    assert plan.rounds.n_draws.tolist() == [49, 50]
    assert plan.rounds.bounds.tolist() == [[5, 5, 5], [4, 4, 3]]


def test_a_subspace_has_no_more_features_than_there_are() -> None:
    plan = plan_projections(parameters(subspace_size=10, rounds=(DrawingRound(0.5, 0.0, 7),)), 2)
    assert plan.listed.shape == (4, 2)


def test_a_round_inside_a_flat_envelope_has_no_candidates_of_its_own() -> None:
    p = parameters(envelope_height=0.5, axis_projections=False)
    assert plan_projections(p, 3).n_candidates == 0
    assert plan_projections(parameters(envelope_height=0.5), 3).n_candidates == 3


@pytest.mark.parametrize(("n_coefficients", "expected"), [(None, 4 + 3 + 2), (1, 4), (2, 7)])
def test_the_coefficient_sum_bounds_every_candidate(n_coefficients: int | None, expected: int) -> None:
    rounds = (DrawingRound(0.5, 0.3, n_coefficients), DrawingRound(0.5, 2.0, None))
    p = parameters(subspace_size=3, n_projections=40, rounds=rounds, envelope_height=6.0)
    plan = plan_projections(p, 3)
    assert naive.envelope(6.0, 0.3, 3) == [4, 3, 2]
    assert plan.coefficient_sum == expected
    found = np.abs(draw(plan, keys_of(200)).coefficients).sum(axis=2)
    assert found.max() <= expected


# --- what is drawn


@pytest.mark.parametrize(("n_coefficients", "size"), [(2, 6), (1, 3), (None, 4)])
def test_drawn_candidates_are_distinct_and_inside_the_envelope(n_coefficients: int | None, size: int) -> None:
    p = parameters(
        subspace_size=size, n_projections=20, rounds=(DrawingRound(0.2, 0.2, n_coefficients),), envelope_height=9.0
    )
    plan = plan_projections(p, 10)
    assert plan.rounds.n_draws.tolist() == [20]
    bounds = np.array(naive.envelope(9.0, 0.2, size))
    candidates = draw(plan, keys_of(60))
    for i in range(60):
        vectors = vectors_of(candidates, i)
        assert len(vectors) == len(set(vectors))
        assert vectors[:size] == [naive.basis_vector(d, size) for d in range(size)]
        for vector in vectors:
            assert vector == naive.normalise(vector)
            assert (np.abs(vector) <= bounds).all()
            assert np.count_nonzero(vector) <= (n_coefficients or size)
        assert (candidates.coefficients[i, candidates.sizes[i] :] == 0).all()


def test_a_drawn_candidate_has_the_exact_probabilities() -> None:
    rounds = (DrawingRound(0.6, 0.4, 2),)
    p = parameters(subspace_size=3, n_projections=1, rounds=rounds, envelope_height=3.5, axis_projections=False)
    n = 60_000
    candidates = draw(plan_projections(p, 3), keys_of(n))
    bounds = naive.envelope(3.5, 0.4, 3)
    assert bounds == [2, 1, 1]
    chances = naive.draw_probabilities(bounds, naive.selection_probabilities(0.6, 3), 2)
    zero = chances.pop(None)  # is drawn again
    expected = {vector: chance / (1 - zero) for vector, chance in chances.items()}
    assert zero**TRIES * n < 1e-2  # so nearly every node has its candidate
    assert (candidates.sizes == 1).all()
    assert_frequencies(Counter(vectors_of(candidates, i)[0] for i in range(n)), expected, n)


def draw_once(p: TreeParameters, ranks: Sequence[int], n: int) -> list[list[Vector]]:
    """Candidates of n nodes whose subspace has these ranks among all features, selected once a round."""
    plan = plan_projections(replace(p, selection="round"), N_RANKED)
    subspace = np.tile(np.array(ranks, np.int32), (n, 1))
    shape = n, N_RANKED
    falling = np.tile(-np.arange(N_RANKED, dtype=np.float64), (n, 1))
    ranking = Ranking(falling, np.zeros(shape, np.int32), np.zeros((*shape, 2), np.int32))
    fitted, counts = Fitted.none(n, len(ranks)), np.full(n, MANY)
    candidates = draw_projections(plan, TEST, subspace, ranking, fitted, np.ones(n), keys_of(n), counts)
    return [vectors_of(candidates, i) for i in range(n)]


def test_selected_once_a_round_every_feature_keeps_the_bound_of_its_rank() -> None:
    p = parameters(subspace_size=3, n_projections=60, envelope_height=10.0, axis_projections=False)
    p = replace(p, rounds=(DrawingRound(0.1, 0.5, None),))
    assert naive.envelope(10.0, 0.5, N_RANKED) == [6, 3, 2, 1, 0, 0]  # the paper's figure
    found = np.abs(list(chain(*draw_once(p, [1, 3, 4], 20)))).max(axis=0)
    assert found.tolist() == [3, 1, 0]


def test_selected_once_a_round_all_projections_have_the_same_features() -> None:
    p = parameters(subspace_size=5, n_projections=40, envelope_height=20.0, axis_projections=False)
    nodes = draw_once(replace(p, rounds=(DrawingRound(0.2, 0.0, 2),)), [0, 1, 2, 3, 5], 300)
    used = [set(np.flatnonzero(np.any(vectors, axis=0)).tolist()) for vectors in nodes]
    assert {len(features) for features in used} == {2}
    assert len({frozenset(features) for features in used}) == 10  # other nodes have others
    assert min(map(len, nodes)) > 30


def test_selected_features_have_the_papers_probabilities_by_rank() -> None:
    ranks, n = [0, 2, 5], 30_000
    p = parameters(subspace_size=3, n_projections=1, envelope_height=9.0, axis_projections=False)
    nodes = draw_once(replace(p, rounds=(DrawingRound(0.4, 0.0, 1),)), ranks, n)
    weights = [math.exp(-0.4 * (rank + 1)) for rank in ranks]
    expected = {naive.basis_vector(d, 3): weight / sum(weights) for d, weight in enumerate(weights)}
    assert_frequencies(Counter(vectors[0] for vectors in nodes), expected, n)


@pytest.mark.parametrize("n_projections", [24, 25])
def test_few_vectors_over_the_selected_features_are_all_tried(n_projections: int) -> None:
    """The envelope has 5 times 5 vectors over two features: listed in one order, or drawn in any."""
    p = parameters(subspace_size=4, n_projections=n_projections, envelope_height=2.5, axis_projections=False)
    nodes = draw_once(replace(p, rounds=(DrawingRound(0.3, 0.0, 2),)), [0, 1, 2, 3], 50)
    used = [np.flatnonzero(np.any(vectors, axis=0)) for vectors in nodes]
    over_two = [[tuple(np.take(v, pair).tolist()) for v in vectors] for vectors, pair in zip(nodes, used, strict=True)]
    assert set(over_two[0]) == {(1, 0), (0, 1), (1, 1), (1, -1), (2, 1), (1, 2), (2, -1), (1, -2)}
    assert (len(set(map(tuple, over_two))) == 1) == (n_projections == 25)


def test_a_search_space_that_is_used_up_leaves_places_empty() -> None:
    # 27 vectors are more than 20 places, but only 13 of them are distinct
    p = parameters(subspace_size=3, n_projections=20, envelope_height=1.0, axis_projections=True)
    candidates = draw(plan_projections(p, 3), keys_of(100))
    assert candidates.coefficients.shape[1] == 23
    assert (candidates.sizes <= 13).all()
    assert (candidates.sizes == 13).any()


def test_listed_candidates_come_first_and_are_not_drawn_again() -> None:
    rounds = (DrawingRound(0.5, 1.0, None), DrawingRound(0.5, 0.0, 2))
    p = parameters(subspace_size=3, n_projections=30, rounds=rounds, envelope_height=3.0)
    plan = plan_projections(p, 3)
    listed = [tuple(row) for row in plan.listed.tolist()]
    candidates = draw(plan, keys_of(50))
    for i in range(50):
        vectors = vectors_of(candidates, i)
        assert vectors[: len(listed)] == listed
        assert len(set(vectors)) == len(vectors) > len(listed)


@pytest.mark.parametrize("draws_per_sample", [1, 4, 7])
def test_a_small_node_draws_the_first_of_each_round(draws_per_sample: int) -> None:
    rounds = (
        DrawingRound(0.5, 2.0, None),
        DrawingRound(0.2, 0.0, 3),
        DrawingRound(0.2, 0.0, 4),
        DrawingRound(0.2, 0.0, None),
    )
    given = parameters(subspace_size=6, n_projections=240, rounds=rounds, envelope_height=60.0)
    plan = plan_projections(replace(given, draws_per_sample=draws_per_sample), 6)
    n_draws = plan.rounds.n_draws.tolist()
    n_listed = len(plan.listed)
    assert len(n_draws) == 3
    assert n_listed > plan.n_axis
    counts = range(1, 250)
    keys = np.repeat(keys_of(1), len(counts))
    few = draw(plan, keys, counts)
    all_drawn = vectors_of(draw(plan_projections(given, 6), keys[:1], [1]), 0)
    assert len(all_drawn) == n_listed + sum(n_draws)
    starts = [n_listed + sum(n_draws[:r]) for r in range(3)]
    for i, count in enumerate(counts):
        shares = naive.draws(n_draws, draws_per_sample, count)
        assert sum(shares) == min(sum(n_draws), draws_per_sample * count)
        drawn = [all_drawn[start : start + share] for start, share in zip(starts, shares, strict=True)]
        assert vectors_of(few, i) == all_drawn[:n_listed] + list(chain(*drawn))
    assert few.sizes[0] < few.sizes[-1] == len(all_drawn)


def test_a_node_draws_the_same_candidates_in_any_company() -> None:
    plan = plan_projections(parameters(subspace_size=6, n_projections=15, envelope_height=4.0), 6)
    keys = keys_of(30)
    together = draw(plan, keys)
    alone = draw(plan, keys[17:18])
    assert vectors_of(alone, 0) == vectors_of(together, 17)
    assert vectors_of(together, 16) != vectors_of(together, 17)


def test_a_node_that_a_basis_vector_solves_gets_no_other_candidates() -> None:
    plan = plan_projections(parameters(subspace_size=2, n_projections=9), 2)
    ranking = Ranking(np.array([[0.5, 0.1], [0.4, 0.1]]), np.zeros((2, 2), np.int32), np.zeros((2, 2, 2), np.int32))
    subspace = np.array([[0, 1], [0, 1]], np.int32)
    fitted, keys, counts = Fitted.none(2, 2), keys_of(2), np.full(2, MANY)
    candidates = draw_projections(plan, TEST, subspace, ranking, fitted, np.full(2, 0.5), keys, counts)
    assert candidates.sizes.tolist() == [2, plan.n_candidates]


def test_basis_vectors_take_their_score_from_the_ranking() -> None:
    plan = plan_projections(parameters(subspace_size=2, n_projections=9), 4)
    ranking = Ranking(
        np.array([[0.1, 0.4, 0.2, 0.3], [0.9, 0.0, 0.5, 0.6]]),
        np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.int32),
        np.arange(16, dtype=np.int32).reshape(2, 4, 2),
    )
    subspace = np.array([[1, 3], [0, 3]], np.int32)
    fitted, keys, counts = Fitted.none(2, 2), keys_of(2), np.full(2, MANY)
    candidates = draw_projections(plan, TEST, subspace, ranking, fitted, np.ones(2), keys, counts)
    assert candidates.decrease.tolist() == [[0.4, 0.3, 0.0, 0.0], [0.9, 0.6, 0.0, 0.0]]
    assert candidates.threshold.tolist() == [[2, 4, 0, 0], [5, 8, 0, 0]]
    assert candidates.ranges[:, :2].tolist() == [[[2, 3], [6, 7]], [[8, 9], [14, 15]]]


# --- estimators


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_draw_less_in_small_nodes(kind: Any) -> None:
    X, y = make_classification(400, 8, n_informative=5, flip_y=0.1, random_state=0)
    given = {"n_projections": 300, "envelope_height": 20.0}
    assert kind().draws_per_sample == 4
    unlimited = make(kind, draws_per_sample=None, **given).fit(X, y)
    same = make(kind, draws_per_sample=150, **given).fit(X, y)  # nodes have two samples at least
    np.testing.assert_array_equal(thresholds_of(unlimited), thresholds_of(same))
    for draws_per_sample in (1, 4):
        fewer = make(kind, draws_per_sample=draws_per_sample, **given).fit(X, y)
        assert not np.array_equal(thresholds_of(fewer), thresholds_of(unlimited))
        assert fewer.score(X, y) > 0.8 * unlimited.score(X, y)


@pytest.mark.parametrize("n_rounds", [1, 7, 20])
@pytest.mark.parametrize("kind", [SLMClassifier, SLMRegressor])
def test_nodes_that_may_draw_little_are_split_to_the_end(kind: Any, n_rounds: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 8)), rng.integers(0, 2, 150)
    given = {"axis_projections": False, "draws_per_sample": 1, "envelope_decay": [0.0] * n_rounds}
    assert kind(**given, n_projections=64, envelope_height=20.0, random_state=0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("preset", [paper.PARAMETERS, paper.FOREST, paper.BOOST])
def test_the_papers_settings_limit_no_draws(preset: dict[str, Any]) -> None:
    assert preset["draws_per_sample"] is None
