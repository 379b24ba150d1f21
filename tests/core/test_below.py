"""Small nodes of several partitions: which partition gets which, and from which size on a node is small."""

import numpy as np
import pytest

from sublearn.core.links import ALONE, Links, side_by_side
from sublearn.core.tree import below
from sublearn.core.tree.below import SHARES, Small, most_alone, waves_of
from support import parameters, random_data, task_of


def small_of(*sizes: int) -> Small:
    return Small(np.arange(len(sizes)), np.array(sizes), [])


def test_four_nodes_for_two_partitions_by_hand() -> None:
    ((first, second),) = waves_of(small_of(5, 9, 2, 3), 10, 2)
    assert (first.tolist(), second.tolist()) == ([1], [0, 2, 3])


@pytest.mark.parametrize("n_partitions", [1, 2, 5, 16])
def test_each_node_goes_to_one_partition_and_none_gets_many_more_samples(n_partitions: int) -> None:
    sizes = np.random.default_rng(n_partitions).integers(1, 100, 200)
    (given,) = waves_of(small_of(*sizes), 10, n_partitions)
    assert np.sort(np.concatenate(given)).tolist() == list(range(200))
    loads = [sizes[nodes].sum() for nodes in given]
    assert max(loads) - min(loads) <= 100


def test_no_wave_brings_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "WAVE", 1000)
    waves = waves_of(small_of(*[10] * 100), 10, 2)
    assert np.concatenate([nodes for given in waves for nodes in given]).size == 100
    assert max(len(nodes) * 10 * 10 for given in waves for nodes in given) <= 1000


def test_more_nodes_are_small_in_a_tree_of_many_levels() -> None:
    def find(links: Links) -> tuple[int, int]:
        data = random_data(np.random.default_rng(0), 1000, 5, 2)
        deep, flat = (task_of(data, parameters(max_depth=depth)) for depth in (None, 3))
        return most_alone(deep, 10_000_000, links), most_alone(flat, 10_000_000, links)

    for deep, flat in side_by_side(find, 2):
        assert deep == 10_000_000 // (2 * SHARES)
        assert 0 < flat < deep
    assert most_alone(task_of(random_data(np.random.default_rng(0), 100, 5, 2), parameters()), 100, ALONE) == 0
