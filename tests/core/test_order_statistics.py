"""Quantiles: by hand, of numbers in any partitions as of all, and by groups."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

import naive
from naive import Array
from sublearn.core.data import order_statistics
from sublearn.core.data.codes import PROBABILITIES
from sublearn.core.data.order_statistics import group_quantiles, quantiles, quantiles_of_each
from sublearn.core.links import Links, side_by_side

NONE = np.empty(0, np.int64)
RNG = np.random.default_rng(0)
NUMBERS: dict[str, Array] = {
    "normal": RNG.normal(size=700),
    "ties": RNG.integers(-2, 3, 700).astype(float),
    "600 decades": RNG.choice([-1, 1], 700) * 10.0 ** RNG.uniform(-300, 300, 700),
    "neighbouring floats": 1.0 + np.spacing(1.0) * RNG.integers(0, 9, 700),
    "denormal": 1e-320 * RNG.integers(-50, 50, 700),
    "zeros of both signs": RNG.choice([-0.0, 0.0], 700),
    "all there are": np.array([-1.79e308, 1.79e308, 5e-324, -5e-324, 0.0]),
    "one": np.array([42.0]),
}
BOUNDS = ([0], [0, 0.4], [0, 0, 0.01, 0.5, 1.0])  # where partitions begin, as shares of the rows


def parts_of(starts: Sequence[float], n: int) -> list[slice]:
    """Stretches of n rows."""
    ends = [math.floor(start * n) for start in [*starts, 1.0]]
    return [slice(a, b) for a, b in pairwise(ends)]


def together(z: Array, weights: Array, probabilities: Array, starts: Sequence[float]) -> list[Array]:
    """What each partition finds."""
    parts = parts_of(starts, len(z))

    def find(links: Links) -> Array:
        own = parts[links.number]
        return quantiles(z[own], weights[own], probabilities, links)

    return side_by_side(find, len(parts))


def middle_quantile(values: Sequence[float], share: float) -> float:
    """The smallest value with at least this share up to it; halfway to the next where it is exactly this share."""
    ordered = sorted(values)
    reached = [k for k in range(1, len(ordered) + 1) if ordered[k - 1] < [*ordered, math.inf][k]]  # ends of ties
    k = next(k for k in reached if k >= share * len(ordered))
    return ordered[k - 1] + ((ordered[k] - ordered[k - 1]) / 2 if k == share * len(ordered) < len(ordered) else 0.0)


def test_quantiles_by_hand() -> None:
    z = np.array([30.0, 10.0, 20.0, 40.0])
    shares = np.array([0.0, 0.25, 0.26, 0.5, 1.0])
    assert quantiles(z, NONE, shares).tolist() == [10.0, 10.0, 20.0, 20.0, 40.0]
    assert quantiles(z, np.array([1, 2, 4, 1]), shares).tolist() == [10.0, 10.0, 20.0, 20.0, 40.0]
    for found in together(z, NONE, shares, [0, 0.5]):
        assert found.tolist() == [10.0, 10.0, 20.0, 20.0, 40.0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("starts", BOUNDS[1:])
@pytest.mark.parametrize("name", NUMBERS)
def test_partitions_find_the_quantiles_of_all_rows(name: str, starts: list[float], weighted: bool) -> None:
    z = NUMBERS[name]
    weights = RNG.integers(1, 6, len(z)) if weighted else NONE
    values = naive.repeat(z.tolist(), weights.tolist() or None)
    expected = np.array([naive.quantile(values, p) for p in PROBABILITIES]) + 0.0
    for found in [quantiles(z, weights, PROBABILITIES), *together(z, weights, PROBABILITIES, starts)]:
        assert found.tobytes() == expected.tobytes()


def test_columns_of_a_step_are_found_together_each_with_its_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [NUMBERS["normal"], NUMBERS["ties"][:300], NUMBERS["denormal"][:1]]
    weights = [RNG.integers(1, 4, len(z)) for z in columns]
    shares = np.array([0.1, 0.5, 0.9])
    expected = [quantiles(*given, shares) for given in zip(columns, weights, strict=True)]

    def find(links: Links) -> Array:
        own = [parts_of([0, 0.3], len(z))[links.number] for z in columns]
        return quantiles_of_each(
            [z[rows] for z, rows in zip(columns, own, strict=True)],
            [w[rows] for w, rows in zip(weights, own, strict=True)],
            shares,
            links,
        )

    for room in (order_statistics.ROOM, 1):  # one pivot a question is the least
        monkeypatch.setattr(order_statistics, "ROOM", room)
        for found in side_by_side(find, 2):
            np.testing.assert_array_equal(found, expected)


def test_few_exchanges_find_a_median(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    add = Links.add

    def counted(self: Links, numbers: Array) -> Array:
        asked.append((self.number, numbers.size))
        return add(self, numbers)

    monkeypatch.setattr(Links, "add", counted)
    together(NUMBERS["600 decades"], NONE, np.array([0.5]), [0, 0.5])
    sizes = [size for number, size in asked if number == 0]
    assert len(sizes) <= 8  # the sum of the weights, and 64 bits by ten
    assert max(sizes) <= order_statistics.ROOM


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("name", ["normal", "ties", "600 decades"])
def test_quantiles_of_groups_are_those_of_each_by_itself(name: str, share: float, weighted: bool) -> None:
    z, n_groups = NUMBERS[name], 60
    groups = RNG.integers(0, n_groups - 1, len(z))  # nothing is in the last group
    weights = RNG.integers(1, 4, len(z)) if weighted else NONE
    members = [
        (z[groups == g].tolist(), weights[groups == g].tolist() if weighted else None) for g in range(n_groups - 1)
    ]
    expected = [middle_quantile(naive.repeat(*one), share) for one in members]

    def find(links: Links) -> Array:
        own = parts_of([0, 0.1, 0.9], len(z))[links.number]
        return group_quantiles(z[own], weights[own], groups[own], n_groups, share, links)

    for found in [group_quantiles(z, weights, groups, n_groups, share), *side_by_side(find, 3)]:
        np.testing.assert_array_equal(found, [*expected, np.nan])


def test_a_group_s_quantile_is_halfway_where_a_value_just_reaches_the_share() -> None:
    z, groups = np.array([1.0, 4.0, 2.0, 9.0, 7.0]), np.array([0, 0, 1, 1, 1])
    assert group_quantiles(z, NONE, groups, 2, 0.5).tolist() == [2.5, 7.0]

    def find(links: Links) -> Array:
        own = slice(0, 1) if links.number == 0 else slice(1, 5)
        return group_quantiles(z[own], NONE, groups[own], 2, 0.5, links)

    assert [found.tolist() for found in side_by_side(find, 2)] == [[2.5, 7.0]] * 2


def test_nothing_at_all_has_no_quantile() -> None:
    empty = np.empty(0)
    found = side_by_side(lambda links: quantiles(empty, NONE, np.array([0.5]), links), 2)
    assert np.isnan(found).all()
    assert np.isnan(group_quantiles(empty, NONE, NONE, 2, 0.5)).all()
