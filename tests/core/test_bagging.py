"""Bootstrap samples: rows drawn several times, or with so many times their weight."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from naive import Array, Data
from sublearn.core.keys import key_below, keys_below
from sublearn.core.tree import bagging
from sublearn.core.tree.bagging import BAG, bagged, draw_bag, places_drawn
from sublearn.core.tree.grower import grow
from support import (
    KEY,
    ONE_THREAD,
    TASKS,
    WEIGHTS,
    assert_same_tree,
    grow_tree,
    make_data,
    parameters,
    random_data,
    task_of,
)
from test_grower import DRAWN

# --- drawing


def test_bag_of_one_sample_holds_it_every_time() -> None:
    assert draw_bag(1, 5, KEY).tolist() == [5]


@pytest.mark.parametrize(("n_samples", "n_draws"), [(1, 1), (7, 7), (7, 3), (3, 70), (1000, 1)])
def test_multiplicities_count_the_draws_one_by_one(n_samples: int, n_draws: int) -> None:
    expected = [0] * n_samples
    for i in range(n_draws):
        number = key_below(key_below(KEY, BAG), i) >> 32  # 32 random bits, as a fraction of 2^32
        expected[number * n_samples >> 32] += 1
    bag = draw_bag(n_samples, n_draws, KEY)
    assert bag.dtype == np.int64  # as weights are
    assert bag.tolist() == expected
    assert bag.sum() == n_draws


def test_multiplicities_are_those_of_a_multinomial() -> None:
    n_samples, n_draws, n_bags = 10, 25, 4000
    bags = np.array([draw_bag(n_samples, n_draws, key_below(KEY, i)) for i in range(n_bags)])
    covariance = n_draws / n_samples * (np.eye(n_samples) - 1 / n_samples)
    variance = covariance[0, 0]
    off = 5.0 / np.sqrt(n_bags)  # five standard errors
    np.testing.assert_allclose(bags.mean(axis=0), n_draws / n_samples, atol=off * np.sqrt(variance))
    np.testing.assert_allclose(np.cov(bags.T), covariance, atol=off * np.sqrt(2) * variance)
    following = np.corrcoef(bags[:-1, 0], bags[1:, 0])[0, 1]
    assert abs(following) < off  # trees whose keys are neighbours have bags of their own


def test_a_bag_depends_on_its_key_alone() -> None:
    first = draw_bag(50, 50, KEY)
    np.random.seed(3)
    np.testing.assert_array_equal(draw_bag(50, 50, KEY), first)
    assert draw_bag(50, 50, KEY + 1).tolist() != first.tolist()


def test_a_longer_bag_begins_with_the_shorter() -> None:
    added = draw_bag(50, 51, KEY) - draw_bag(50, 50, KEY)
    assert sorted(added.tolist()) == [0] * 49 + [1]


def test_partitions_count_their_own_draws_of_one_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    bag = draw_bag(50, 70, KEY)
    monkeypatch.setattr(bagging, "AT_ONCE", 8)
    cuts = [0, 0, 1, 30, 50]
    parts = [draw_bag(50, 70, KEY, first, last) for first, last in pairwise(cuts)]
    assert [len(part) for part in parts] == np.diff(cuts).tolist()
    assert np.concatenate(parts).tolist() == bag.tolist()


@pytest.mark.parametrize("n_samples", [1 << 31, (1 << 31) + 1, 10**10])
def test_draws_are_from_all_of_very_many_samples(n_samples: int) -> None:
    drawn = places_drawn(keys_below(KEY, np.arange(1000)), n_samples)
    shares = np.histogram(drawn, 10, (0, n_samples))[0]
    assert shares.sum() == 1000
    assert shares.min() > 50  # of 100, less five deviations


# --- growing from a bag


def test_three_samples_of_which_one_is_left_out_by_hand() -> None:
    codes, labels, times = [[5], [6], [7]], [1, 0, 1], np.array([2, 0, 1])
    bag = bagged(task_of(make_data(codes, labels, 2), parameters()), times)
    assert bag.samples.weights.size == bag.samples.counts.size == 0
    assert bag.root.order.tolist() == [0, 0, 2]
    assert bag.root.runs.tolist() == [[0, 0, 3]]  # class 0 is not there
    weighted = bagged(task_of(make_data(codes, labels, 2, [3, 4, 5], [1, 1, 1]), parameters()), times)
    assert weighted.samples.weights.tolist() == [6, 0, 5]
    assert weighted.samples.counts.tolist() == [2, 0, 1]
    assert weighted.root.order.tolist() == [0, 2]
    assert weighted.root.runs.tolist() == [[0, 0, 2]]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_tree_of_a_bag_is_that_of_its_multiplicities_as_weights(n_classes: int, criterion: str, weights: str) -> None:
    data = random_data(np.random.default_rng(3), 200, 5, n_classes, weights)
    given = replace(DRAWN, criterion=criterion, min_samples_leaf=2)
    times = draw_bag(200, 200, KEY)
    tree = grow(bagged(task_of(data, given), times), KEY, ONE_THREAD)
    drawn = times > 0
    assert 100 < drawn.sum() < 150  # 1 - 1/e of them
    assert_same_tree(tree, grow_tree(taken(data, times, drawn), given))
    assert tree.n_nodes > 5
    assert tree.n_samples[0] == (times * data.counts).sum()


@pytest.mark.parametrize(("n_classes", "criterion"), TASKS)
def test_tree_of_a_bag_is_that_of_its_rows_repeated(n_classes: int, criterion: str) -> None:
    data = random_data(np.random.default_rng(4), 120, 4, n_classes)
    given = replace(DRAWN, criterion=criterion)
    times = draw_bag(120, 60, KEY)
    tree = grow(bagged(task_of(data, given), times), KEY, ONE_THREAD)
    rows = np.repeat(np.arange(120), times)
    assert_same_tree(tree, grow_tree(make_data(data.codes[rows], data.y[rows], n_classes), given))


def test_a_bag_copies_no_rows_and_leaves_the_task_as_it_was() -> None:
    data = random_data(np.random.default_rng(5), 50, 4, 0, "integer")
    task = task_of(data, parameters(criterion="squared_error"))
    bag = bagged(task, draw_bag(50, 50, KEY))
    for name in ("codes", "targets", "remainders"):
        assert getattr(bag.samples, name) is getattr(task.samples, name)
    assert task.samples.weights.tolist() == data.weights.tolist()
    assert task.root.order.tolist() == list(range(50))


def test_a_bag_of_one_sample_is_a_leaf() -> None:
    data = random_data(np.random.default_rng(6), 30, 3, 3)
    times = draw_bag(30, 1, KEY)
    tree = grow(bagged(task_of(data, DRAWN), times), KEY, ONE_THREAD)
    assert tree.value.tolist() == [np.eye(3)[data.y[times.argmax()]].tolist()]
    assert tree.n_samples.tolist() == [1]


def taken(data: Data, times: Array, drawn: Array) -> Data:
    """The drawn samples with their multiplicities as weights."""
    weights, counts = (data.weights * times)[drawn], (data.counts * times)[drawn]
    return make_data(data.codes[drawn], data.y[drawn], data.n_classes, weights, counts)
