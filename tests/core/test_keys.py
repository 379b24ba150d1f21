"""Keys of random numbers."""

import numpy as np
import pytest

from sublearn.core.keys import key_below, keys_below


def test_keys_are_the_published_sequence_of_splitmix64() -> None:
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert keys_below(1234567, np.arange(5)).tolist() == published


@pytest.mark.parametrize("key", [0, 1, 2**63, 2**64 - 1])
def test_a_key_depends_on_its_number_alone(key: int) -> None:
    numbers = np.array([7, 0, 2**40, 7])
    found = keys_below(key, numbers)
    assert found.dtype == np.uint64
    assert found.tolist() == [key_below(key, number) for number in numbers.tolist()]
    assert found[0] == found[3]


def test_keys_below_a_key_are_all_different() -> None:
    assert len(set(keys_below(5, np.arange(100_000)).tolist())) == 100_000


def test_keys_two_levels_below_differ_by_their_path() -> None:
    assert len({key_below(key_below(5, a), b) for a in range(50) for b in range(50)}) == 2500
