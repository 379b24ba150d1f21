"""The discriminant feature test of candidate projections against the twin."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from naive import Array, Data, Vector
from steps import score_projections, stretches_of
from sublearn.core.tree.criterion import TABLE_SIZE, make_test
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.space import make_below
from sublearn.kernels import columns, threshold
from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.layout import BLOCK, Candidates
from sublearn.kernels.references import refer
from support import (
    TASKS,
    WEIGHTS,
    candidates_of,
    kernel_test,
    make_data,
    nodes_with,
    parameters,
    random_data,
    random_vectors,
    samples_of,
    settings_of,
)


def score(data: Data, vectors: Any, p: TreeParameters, parts: Any = None) -> Candidates:
    nodes = nodes_with(data, p, parts)
    candidates = candidates_of(vectors, len(nodes))
    score_projections(samples_of(data), nodes, kernel_test(p, data), candidates)
    return candidates


def assert_outcome(
    data: Data, vector: Vector, p: TreeParameters, min_weight: int, decrease: float, threshold: int
) -> naive.Outcome:
    """The engine's test of one projection is as good as the twin's, and the same where rounding has no say."""
    twin_settings = settings_of(p, data)._replace(min_weight=min_weight)
    projected = naive.project(data.codes, vector)
    twin = naive.discriminant_test(projected, data, twin_settings)
    # purities are sums of terms n log2 n or s^2 / n, right to a few units in the last place of the loss
    tolerance = 1e-11 * max(1.0, float(naive.loss(data, p.criterion)))
    assert decrease == pytest.approx(twin.decrease, rel=0, abs=tolerance)
    if twin.decrease > naive.NOISE:
        side = projected >= threshold
        assert naive.split_decrease(data, side, p.criterion) == pytest.approx(twin.decrease, rel=0, abs=tolerance)
        assert naive.meet_minima(data, side, twin_settings)
        assert twin.rival or threshold == twin.threshold
    return twin


def assert_as_twin(data: Data, vectors: Sequence[Vector], p: TreeParameters, nodes: Any = None) -> list[naive.Outcome]:
    found = score(data, vectors, p, nodes)
    min_weight = kernel_test(p, data).min_weight
    twins = []
    for i, rows in enumerate([np.arange(len(data.y))] if nodes is None else nodes):
        for c, vector in enumerate(vectors):
            result = float(found.decrease[i, c]), int(found.threshold[i, c])
            twins.append(assert_outcome(data.take(rows), vector, p, min_weight, *result))
    return twins


# --- by hand


def test_five_samples_by_hand() -> None:
    # projected 0 1 2 | 6 8 in 4 bins of width 2: boundaries 2, 4, 6; those at 4 and 6 split alike, 4 is the middle
    data = make_data([0, 1, 2, 6, 8], [0, 0, 0, 1, 1], 2)
    found = score(data, [[1]], parameters(n_bins=4))
    assert found.threshold[0, 0] == 4
    # all of the loss goes, 0.97 bits
    assert found.decrease[0, 0] == pytest.approx(float(naive.loss(data, "entropy")), abs=1e-15)


def test_gini_of_a_split_by_hand() -> None:
    # boundary 5 of [0, 10]: 0 0 1 | 1: 1/2 - 3/4 (1 - 4/9 - 1/9) = 1/6
    data = make_data([0, 1, 2, 10], [0, 0, 1, 1], 2)
    found = score(data, [[1]], parameters(n_bins=2, criterion="gini"))
    assert found.threshold[0, 0] == 5
    assert found.decrease[0, 0] == pytest.approx(1 / 6, abs=1e-15)


def test_squared_error_of_a_split_by_hand() -> None:
    # means 2 and 8 around 5: the decrease is 9
    data = make_data([0, 1, 9, 10], [1, 3, 7, 9], 0)
    found = score(data, [[1]], parameters(n_bins=2, criterion="squared_error"))
    assert found.decrease[0, 0] == 9.0


def test_a_value_on_the_boundary_is_positive() -> None:
    data = make_data([0, 4, 5, 10], [0, 0, 1, 1], 2)
    assert score(data, [[1]], parameters(n_bins=2)).decrease[0, 0] == 1.0
    assert score(make_data([0, 4, 5, 10], [0, 0, 0, 1], 2), [[1]], parameters(n_bins=2)).decrease[0, 0] < 0.5


def test_a_projection_is_the_exact_sum_of_its_terms() -> None:
    codes = [[3, 1, 0], [2, 2, 1], [1, 3, 0], [0, 4, 1]]  # 2 x0 - x1 + 5 x2: 5 7 -1 1
    found = score(make_data(codes, [1, 1, 0, 0], 2), [[2, -1, 5]], parameters(n_bins=8))
    assert found.decrease[0, 0] == 1.0
    assert found.threshold[0, 0] == 3  # the boundaries 2, 3, 4 and 5 split alike


# --- against the twin


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (100, "entropy"), (100, "gini")])
def test_scores_equal_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    rng = np.random.default_rng(n_classes)
    data = random_data(rng, 250, 4, n_classes, weights)
    rows = rng.permutation(250)
    nodes = [rows[:150], rows[150:240], rows[240:]]
    twins = assert_as_twin(data, random_vectors(rng, 6, 4), parameters(criterion=criterion), nodes)
    assert sum(not t.rival and t.decrease > naive.NOISE for t in twins) > len(twins) // 2  # thresholds were compared


@pytest.mark.parametrize("n_bins", [2, 3, 5, 16, 64, 255, 256])
@pytest.mark.parametrize("limit", [3, 100, 8191])
def test_scores_equal_the_twin_for_every_number_of_bins(n_bins: int, limit: int) -> None:
    rng = np.random.default_rng(n_bins + limit)
    for n_classes, criterion in ((3, "entropy"), (0, "squared_error")):
        data = random_data(rng, 120, 3, n_classes, limit=limit)
        assert_as_twin(data, random_vectors(rng, 3, 3), parameters(n_bins=n_bins, criterion=criterion))


@pytest.mark.parametrize("min_samples_leaf", [1, 2, 10, 30, 31, 60])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_both_sides_meet_the_minima(min_samples_leaf: int, weights: str) -> None:
    rng = np.random.default_rng(min_samples_leaf)
    for n_classes, criterion in ((2, "entropy"), (0, "squared_error")):
        data = random_data(rng, 60, 2, n_classes, weights)
        p = parameters(criterion=criterion, min_samples_leaf=min_samples_leaf, n_bins=32)
        for fraction in (0.0, 0.1, 0.45):
            assert_as_twin(data, random_vectors(rng, 5, 2), replace(p, min_weight_fraction_leaf=fraction))


def test_nothing_splits_when_no_boundary_meets_the_minima() -> None:
    data = make_data([0, 0, 0, 10], [0, 0, 0, 1], 2)
    assert score(data, [[1]], parameters(min_samples_leaf=2)).decrease[0, 0] == 0.0
    heavy = make_data([0, 0, 0, 10], [0, 0, 0, 1], 2, [5, 5, 5, 1])
    assert score(heavy, [[1]], parameters(min_weight_fraction_leaf=0.1)).decrease[0, 0] == 0.0


@given(
    rows=st.lists(
        st.tuples(st.integers(-5, 5), st.integers(-40, 40), st.integers(0, 2), st.integers(1, 3)),
        min_size=1,
        max_size=25,
    ),
    vector=st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    n_bins=st.integers(2, 20),
    min_samples_leaf=st.integers(1, 4),
    task=st.sampled_from([(3, "entropy"), (3, "gini"), (0, "squared_error")]),
    weighted=st.booleans(),
)
@settings(max_examples=150)
def test_any_small_node_is_scored_as_by_the_twin(
    rows: list[tuple[int, ...]],
    vector: Vector,
    n_bins: int,
    min_samples_leaf: int,
    task: tuple[int, str],
    weighted: bool,
) -> None:
    table = np.array(rows)
    data = make_data(table[:, :2], table[:, 2], task[0], table[:, 3] if weighted else None)
    assert_as_twin(data, [vector], parameters(n_bins=n_bins, min_samples_leaf=min_samples_leaf, criterion=task[1]))


# --- ties


def test_of_equal_boundaries_the_first_wins() -> None:
    # cutting off the first sample, at 5 or 10, is worth as much as cutting off the last, at 25
    data = make_data([0, 10, 20, 30], [1, 0, 0, 1], 2)
    assert score(data, [[1]], parameters(n_bins=6)).threshold[0, 0] == 5


def test_boundaries_without_samples_between_them_give_the_middle_one() -> None:
    data = make_data([0, 1, 159, 160], [0, 0, 1, 1], 2)
    assert score(data, [[1]], parameters(n_bins=16)).threshold[0, 0] == 80  # boundaries 1 to 15 at 10, 20, ...


def test_a_neighbouring_run_that_is_worse_does_not_move_the_middle() -> None:
    # bins of width 10: samples in bins 0, 1, 5 and 9; the best cut is behind bin 1, at 20, 30, 40 or 50
    data = make_data([0, 15, 55, 100], [0, 0, 1, 1], 2)
    assert score(data, [[1]], parameters(n_bins=10)).threshold[0, 0] == 30


def test_a_mirrored_projection_is_worth_the_same() -> None:
    rng = np.random.default_rng(5)
    data = make_data(rng.integers(0, 17, (80, 2)) * 16, rng.integers(0, 3, 80), 3)
    # boundaries are multiples of 16: away from them, >= and > are the same
    data = data._replace(codes=np.where(data.codes % 256 == 0, data.codes, data.codes - 8))
    found = score(data, [[1, 0], [-1, 0], [0, 1], [0, -1]], parameters(n_bins=16))
    assert found.decrease[0, 0] == found.decrease[0, 1] > 0
    assert found.decrease[0, 2] == found.decrease[0, 3] > 0


# --- edges


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_one_sample_cannot_be_split(n_classes: int, criterion: str) -> None:
    assert score(make_data([[7, 8]], [1], n_classes), [[1, 2]], parameters(criterion=criterion)).decrease[0, 0] == 0.0


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_a_constant_projection_decreases_nothing(n_classes: int, criterion: str) -> None:
    codes = np.stack([np.arange(20), -np.arange(20), np.full(20, 5)], axis=1)
    data = make_data(codes, np.arange(20) % 2, n_classes)
    found = score(data, [[0, 0, 1], [1, 1, 0], [1, 1, 3], [0, 0, 0]], parameters(criterion=criterion))
    np.testing.assert_array_equal(found.decrease, 0.0)


def test_a_pure_node_has_no_decrease() -> None:
    data = make_data(np.arange(10), np.ones(10), 2)
    np.testing.assert_allclose(score(data, [[1]], parameters()).decrease, 0.0, atol=1e-14)
    constant = make_data(np.arange(10), np.full(10, 12345), 0)
    assert score(constant, [[1]], parameters(criterion="squared_error")).decrease[0, 0] == 0.0


@pytest.mark.parametrize("n_bins", [2, 16, 256])
def test_neighbouring_codes_are_told_apart(n_bins: int) -> None:
    data = make_data([41, 41, 42, 42], [0, 0, 1, 1], 2)
    found = score(data, [[1]], parameters(n_bins=n_bins))
    assert found.decrease[0, 0] == 1.0
    assert found.threshold[0, 0] == 42


def test_duplicated_rows_and_unit_weights_are_worth_the_same() -> None:
    rng = np.random.default_rng(9)
    data = random_data(rng, 50, 3, 3)
    vectors = random_vectors(rng, 8, 3)
    once = score(data, vectors, parameters())
    twice = score(data.take(np.repeat(np.arange(50), 2)), vectors, parameters())
    np.testing.assert_array_equal(once.threshold, twice.threshold)
    np.testing.assert_allclose(once.decrease, twice.decrease, rtol=0, atol=1e-14)  # logarithms of other numbers


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_weight_three_equals_row_three_times(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(10)
    data = random_data(rng, 90, 3, n_classes, "integer")
    repeated = data.take(np.repeat(np.arange(90), data.weights))
    repeated = make_data(repeated.codes, repeated.y, n_classes)
    vectors = random_vectors(rng, 10, 3)
    p = parameters(criterion=criterion, min_samples_leaf=12)
    weighted, rows = score(data, vectors, p), score(repeated, vectors, p)
    np.testing.assert_array_equal(weighted.threshold, rows.threshold)
    np.testing.assert_array_equal(weighted.decrease, rows.decrease)


def test_the_order_of_samples_does_not_matter() -> None:
    rng = np.random.default_rng(11)
    for n_classes, criterion in TASKS:
        data = random_data(rng, 300, 3, n_classes)
        vectors = random_vectors(rng, 10, 3)
        one = score(data, vectors, parameters(criterion=criterion))
        other = score(data.take(rng.permutation(300)), vectors, parameters(criterion=criterion))
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.decrease, other.decrease)


def test_candidates_with_a_known_score_are_left_alone() -> None:
    data = make_data([0, 1, 2, 3], [0, 0, 1, 1], 2)
    p = parameters()
    candidates = candidates_of([[1], [1], [1]])
    candidates.decrease[0], candidates.threshold[0] = [7.0, 8.0, 0.0], [70, 80, 0]
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates, 2)
    assert candidates.decrease[0].tolist() == [7.0, 8.0, 1.0]
    assert candidates.threshold[0].tolist() == [70, 80, 2]


def test_places_beyond_the_number_of_candidates_stay_empty() -> None:
    data = make_data([0, 1, 2, 3], [0, 0, 1, 1], 2)
    p = parameters()
    candidates = candidates_of([[1], [1], [1]])
    candidates.sizes[0] = 2
    score_projections(samples_of(data), nodes_with(data, p), kernel_test(p, data), candidates)
    assert candidates.decrease[0].tolist() == [1.0, 1.0, 0.0]


# --- the bins, exactly


@bare_kernel
def find_bins(values: Any, low: Any, high: Any, n_bins: Any, out: Any) -> None:
    columns.find_bins(values, values.size, low, high, n_bins, out)


def bins_of(values: Array, n_bins: int) -> Array:
    """The kernel's bins of values that include their smallest and largest one."""
    out = np.empty(values.size, np.uint8)
    find_bins(values.astype(np.int32), np.int32(values.min()), np.int32(values.max()), n_bins, out)
    return out


def twin_bins(values: Array, n_bins: int) -> Array:
    low, span = int(values.min()), int(values.max()) - int(values.min())
    return np.minimum((values.astype(np.int64) - low) * n_bins // span, n_bins - 1)


@pytest.mark.parametrize("n_bins", [2, 3, 16, 97, 255, 256])
def test_every_value_below_the_float32_limit_finds_its_bin(n_bins: int) -> None:
    largest = (columns.EXACT_FLOAT32 - 1) // n_bins  # the largest span for which float32 is used
    for span in {1, 2, 3, n_bins - 1, n_bins, n_bins + 1, 7 * n_bins, largest // 3, largest - 1, largest}:
        values = np.arange(span + 1) - span // 3
        np.testing.assert_array_equal(bins_of(values, n_bins), twin_bins(values, n_bins))


@pytest.mark.parametrize("n_bins", [2, 3, 16, 97, 255, 256])
def test_values_next_to_boundaries_find_their_bin_above_the_float32_limit(n_bins: int) -> None:
    smallest = -(-columns.EXACT_FLOAT32 // n_bins)  # the smallest span for which float64 is used
    for span in (smallest, smallest + 1, 3 * smallest + 1, 2**24 - 1, 2**25 - 2):
        edges = np.arange(n_bins + 1) * span // n_bins
        near = np.clip(np.concatenate([edges - 1, edges, edges + 1, edges + 2]), 0, span)
        values = near - 2**24 + 1
        np.testing.assert_array_equal(bins_of(values, n_bins), twin_bins(values, n_bins))


@pytest.mark.parametrize("n_bins", [4, 16, 256])
def test_scores_equal_the_twin_on_both_sides_of_the_float32_limit(n_bins: int) -> None:
    rng = np.random.default_rng(n_bins)
    for span in (columns.EXACT_FLOAT32 // n_bins - 1, columns.EXACT_FLOAT32 // n_bins + 1):
        # codes -8000 to 8000 and coefficients that spread them over the span, with samples on many boundaries
        edges = (np.arange(300) % (n_bins + 1)) * span // n_bins + rng.integers(-1, 2, 300)
        values = np.clip(edges, 0, span)
        values[:2] = 0, span
        high, low = np.divmod(values, 8000)
        codes = np.stack([high, low], axis=1)
        y = (values > rng.integers(0, span, 300)).astype(np.int64)
        assert_as_twin(make_data(codes, y, 2), [(8000, 1)], parameters(n_bins=n_bins))


def test_the_extremes_of_int16_codes_are_projected_exactly() -> None:
    rng = np.random.default_rng(12)
    codes = rng.choice([-32768, -32767, -1, 0, 1, 32766, 32767], (200, 9))
    y = rng.integers(0, 3, 200)
    # sums of up to 511 coefficients times 2^15: as far as projections go
    vectors = [(127, -128, 0, 0, 0, 0, 1, 0, 255), (511,) + (0,) * 8, (56, -57, 57, -57, 57, -57, 57, -57, 56)]
    for n_classes, criterion in ((3, "entropy"), (0, "squared_error")):
        assert_as_twin(make_data(codes, y, n_classes), vectors, parameters(criterion=criterion))


@pytest.mark.parametrize("n_terms", range(1, 10))
def test_any_number_of_terms_is_added_up(n_terms: int) -> None:
    rng = np.random.default_rng(n_terms)
    data = random_data(rng, 80, 11, 2, limit=8191)
    vector = np.zeros(11, np.int64)
    vector[rng.permutation(11)[:n_terms]] = rng.integers(1, 9, n_terms)
    assert_as_twin(data, [tuple(vector.tolist())], parameters())


# --- large nodes


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [(3, "entropy"), (0, "squared_error")])
def test_nodes_of_many_blocks_are_scored_as_by_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    rng = np.random.default_rng(13)
    n = 2 * BLOCK + 77
    data = random_data(rng, n + 60, 2, n_classes, weights)
    rows = rng.permutation(n + 60)
    nodes = [rows[:30], rows[30 : n + 30], rows[n + 30 :]]  # small, large and small again in one level
    assert_as_twin(data, [(1, 0), (1, 1)], parameters(criterion=criterion, n_bins=8), nodes)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1])
def test_nodes_near_the_size_of_a_block_lose_no_sample(n: int) -> None:
    codes = np.arange(n) % 2
    for n_classes, criterion in ((2, "entropy"), (0, "squared_error")):
        found = score(make_data(codes, codes, n_classes), [[1]], parameters(criterion=criterion))
        # every sample counts: the loss of the node is gone
        loss = float(naive.loss(make_data(codes, codes, n_classes), criterion))
        assert found.decrease[0, 0] == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize(("n_classes", "criterion"), [(4, "gini"), (0, "squared_error")])
def test_many_columns_make_small_blocks_with_the_same_scores(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(14)
    n_features = 300  # blocks of 1,024 samples
    assert columns.CACHE // n_features < 1024
    data = random_data(rng, 2500, n_features, n_classes)
    assert_as_twin(data, random_vectors(rng, 5, n_features, bound=1), parameters(criterion=criterion))


def test_a_few_candidates_at_a_time_when_histograms_are_large() -> None:
    rng = np.random.default_rng(15)
    data = random_data(rng, BLOCK + 500, 2, 100)  # 256 bins x 100 classes: two histograms fit
    assert_as_twin(data, random_vectors(rng, 3, 2), parameters(n_bins=256, criterion="gini"))


@pytest.mark.parametrize("n_samples", [BLOCK - 1, BLOCK, 2 * BLOCK])
@pytest.mark.parametrize("target", [2**29 - 1, 1 - 2**29])
def test_sums_hold_the_largest_targets_of_a_block(n_samples: int, target: int) -> None:
    # layout.TARGET_BITS: the ends of the range of targets
    codes = np.arange(n_samples + 1) // n_samples
    data = make_data(codes, np.where(codes, 0, target), 0)
    found = score(data, [[1]], parameters(criterion="squared_error"))
    assert found.decrease[0, 0] == pytest.approx(float(naive.loss(data, "squared_error")), rel=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [(3, "entropy"), (0, "squared_error")])
def test_stretches_of_a_node_have_together_what_the_node_has(n_classes: int, criterion: str, weights: str) -> None:
    """Ranges by minimum and maximum, histograms by sum: threads and partitions each take a stretch of the samples."""
    rng = np.random.default_rng(16)
    n, p = BLOCK + 400, parameters(criterion=criterion)
    data = random_data(rng, n, 3, n_classes, weights)
    (node,), vectors = nodes_with(data, p), random_vectors(rng, 7, 3)
    samples, whole = samples_of(data), score(data, vectors, p)
    candidates = candidates_of(vectors)
    _, (expected,) = stretches_of(samples, node, 16, candidates_of(vectors), [0, n])
    for ends in (
        [0, n],
        [0, 0, 1, n // 2, n // 2, n],
        [0, BLOCK, n - 1, n],
        np.linspace(0, n, 17).astype(int).tolist(),
    ):
        ranges, sums = stretches_of(samples, node, 16, candidates, ends)
        np.testing.assert_array_equal(ranges, whole.ranges[0])
        np.testing.assert_array_equal(sums.sum(axis=0), expected)
        assert sums.any(axis=(1, 2, 3)).tolist() == (np.diff(ends) > 0).tolist()
    np.testing.assert_array_equal(expected.sum(axis=1), np.tile(node.totals, (7, 1)))


def test_histograms_of_three_samples_by_hand() -> None:
    data = make_data([0, 3, 8], [0, 1, 1], 2)  # bins of width 2
    (node,) = nodes_with(data, parameters())
    ranges, (first, second) = stretches_of(samples_of(data), node, 4, candidates_of([[1]]), [0, 2, 3])
    assert ranges.tolist() == [[0, 8]]
    assert first.tolist() == [[[1, 0], [0, 1], [0, 0], [0, 0]]]
    assert second.tolist() == [[[0, 0], [0, 0], [0, 0], [0, 1]]]


@bare_kernel
def find_threshold(histogram: Any, totals: Any, test: Any, below: Any, out: Any) -> None:
    test = refer(test)
    below = refer(below)
    out[0], out[1] = threshold.find_threshold(histogram, totals, totals.size, test, below)


@pytest.mark.parametrize("size", [5, 40, TABLE_SIZE - 1, TABLE_SIZE, 3 * TABLE_SIZE])
@pytest.mark.parametrize("min_samples_leaf", [1, 7])
def test_two_classes_have_the_thresholds_of_three_of_which_one_is_empty(size: int, min_samples_leaf: int) -> None:
    """They are found by a loop of their own, which takes its logarithms from a table."""
    rng, n_bins = np.random.default_rng(size), 16
    test = make_test(parameters(n_bins=n_bins, min_samples_leaf=min_samples_leaf), 1.0)
    n_splits = 0
    for _ in range(30):
        cuts = np.sort(rng.integers(0, size + 1, 2 * n_bins - 1))
        cells = np.diff(cuts, prepend=0, append=size).reshape(n_bins, 2)
        three = np.concatenate([cells, np.zeros((n_bins, 1), np.int64)], axis=1)
        found, expected = np.zeros((2, 2))
        for histogram, out in ((cells.copy(), found), (three, expected)):
            n_classes = histogram.shape[1]
            find_threshold(histogram, histogram.sum(axis=0), test, make_below(n_classes, n_bins), out)
        assert found.tolist() == expected.tolist()
        n_splits += int(found[0] > 0)
    assert n_splits > 0 or size < 2 * min_samples_leaf
