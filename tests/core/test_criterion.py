"""The loss of nodes and their sums."""

import math

import numpy as np
import pytest

import naive
from naive import Data
from sublearn.core.tree.criterion import NodeSums, describe_nodes
from support import ONE_THREAD, TASKS, WEIGHTS, kernel_test, make_data, nodes_with, parameters, random_data, samples_of


def describe(data: Data, criterion: str, nodes: list[list[int]] | None = None) -> NodeSums:
    given = parameters(criterion=criterion)
    found = nodes_with(data, given, nodes)
    runs = np.stack([node.runs for node in found])
    return describe_nodes(samples_of(data), found[0].order, runs, kernel_test(given, data), ONE_THREAD)


def test_losses_of_four_samples_by_hand() -> None:
    data = make_data([0, 0, 0, 0], [0, 0, 0, 1], 2)
    assert describe(data, "gini").losses[0] == 1 - 9 / 16 - 1 / 16
    # 2 - 3/4 log2 3 bits; two roundings of numbers near 5
    assert describe(data, "entropy").losses[0] == pytest.approx(2 - 0.75 * math.log2(3), abs=1e-15)
    assert describe(make_data([0, 0, 0, 0], [1, 1, 1, 5], 0), "squared_error").losses[0] == 3.0


def test_a_weight_counts_in_the_loss() -> None:
    data = make_data([0, 0], [0, 1], 2, [3, 1])
    assert describe(data, "gini").losses[0] == 1 - 9 / 16 - 1 / 16
    assert describe(make_data([0, 0], [1, 5], 0, [3, 1]), "squared_error").losses[0] == 3.0


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), [*TASKS, (100, "entropy"), (300, "gini")])
def test_sums_and_losses_equal_the_twin(n_classes: int, criterion: str, weights: str) -> None:
    data = random_data(np.random.default_rng(0), 600, 1, n_classes, weights)
    nodes = [list(range(400)), list(range(400, 599)), [599]]
    found = describe(data, criterion, nodes)
    for i, rows in enumerate(nodes):
        part = data.take(rows)
        assert tuple(found.totals[i, : n_classes or 2].tolist()) == naive.sums(part)
        assert found.weights[i] == part.weights.sum()
        assert found.counts[i] == part.counts.sum()
        assert found.pure[i] == (len(set(part.y.tolist())) == 1)
        # entropy is a difference of terms of up to 30 bits, each right to some units in the last place
        assert found.losses[i] == pytest.approx(float(naive.loss(part, criterion)), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_a_pure_node_has_no_loss(n_classes: int, criterion: str) -> None:
    found = describe(make_data([1, 2, 3], [1, 1, 1], n_classes), criterion)
    assert found.losses[0] == 0.0
    assert found.pure[0]


def test_variance_keeps_its_digits_at_the_ends_of_the_target_range() -> None:
    top = 2**29 - 1
    data = make_data(np.zeros(6), [top, top - 1, top, top - 1, -top, -top], 0)
    near = describe(data, "squared_error", [[0, 1, 2, 3], [0, 1, 4, 5]])
    assert near.losses[0] == 0.25  # around a mean of 2^29 - 3/2, where squares need 58 bits
    assert near.losses[1] == pytest.approx(float(naive.loss(data.take([0, 1, 4, 5]), "squared_error")), rel=1e-15)


def test_variance_of_small_targets_keeps_its_digits_under_large_weights() -> None:
    data = make_data(np.zeros(4), [-3, 2, -1, 1], 0, [2**28 - 1, 2**27 - 5, 2**28 + 7, 2**27 + 3], np.ones(4))
    expected = float(naive.loss(data, "squared_error"))
    assert describe(data, "squared_error").losses[0] == pytest.approx(expected, rel=1e-13)  # from exact sums


def test_variance_of_the_largest_weights_does_not_overflow() -> None:
    top, half = 2**29 - 1, 2**30
    data = make_data([0, 0], [top, -top], 0, [half - 1, half - 1], [1, 1])
    assert describe(data, "squared_error").losses[0] == float(top**2)


@pytest.mark.parametrize(("fraction", "total", "expected"), [(0.0, 10, 1), (0.25, 10, 3), (0.5, 10, 5), (1e-9, 10, 1)])
def test_min_weight_is_the_share_rounded_up(fraction: float, total: int, expected: int) -> None:
    data = make_data(np.zeros(total), np.zeros(total), 2)
    assert kernel_test(parameters(min_weight_fraction_leaf=fraction), data).min_weight == expected
