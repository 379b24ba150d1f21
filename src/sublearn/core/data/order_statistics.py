"""Quantiles of numbers, some of which may be in other partitions of the samples.

A quantile is one of the numbers: the smallest with at least a share of the weight at or below it. Where all numbers are
here, they are sorted. Partitions sort their own, and look for all quantiles together by bisection over floats in
their order: each tells how much weight it has up to some pivots, and the sums of all say between which two pivots a
quantile lies. All quantiles of a step are in one exchange, with more pivots the fewer they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublearn.core.links import ALONE, Links
from sublearn.kernels.layout import Array

ROOM = 1 << 14  # numbers in an exchange, where questions are not more
MOST_PIVOTS = 1023  # for one question: ten bits are found at a time
LARGEST = np.uint64(2**64 - 1)


class _Ordered(NamedTuple):
    """Numbers in groups, in order within each."""

    places: Array  # uint64 (n,), of the numbers among all floats
    begins: Array  # int64 (n_groups + 1,), where groups begin, and the end
    reached: Array  # int64 (n + 1,), weight before each number

    @property
    def totals(self) -> Array:
        """Weight of each group."""
        totals: Array = np.diff(self.reached[self.begins])
        return totals

    def up_to(self, groups: Array, pivots: Array) -> Array:
        """Weight of the numbers at or below pivots (n_questions, n_pivots) in these groups (n_questions,)."""
        begins = self.begins[groups][:, None]
        low = np.broadcast_to(begins, pivots.shape)
        high = np.broadcast_to(self.begins[groups + 1][:, None], pivots.shape)
        while (low < high).any():
            middle = (low + high) // 2
            is_below = (low < high) & (self.places[np.minimum(middle, len(self.places) - 1)] <= pivots)
            low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
        sums: Array = self.reached[low] - self.reached[begins]
        return sums

    def ends(self) -> tuple[Array, Array]:
        """The first and last place in each group; the largest of all and 0 where there is none."""
        filled = self.begins[:-1] < self.begins[1:]
        least, most = np.full(len(filled), LARGEST), np.zeros(len(filled), np.uint64)
        least[filled] = self.places[self.begins[:-1][filled]]
        most[filled] = self.places[self.begins[1:][filled] - 1]
        return least, most

    def above(self, groups: Array, places: Array) -> Array:
        """The first place above these in their groups; the largest of all where there is none."""
        at = self.begins[groups] + _without_weights(self).up_to(groups, places[:, None])[:, 0]
        there = at < self.begins[groups + 1]
        found = np.full(len(groups), LARGEST)
        found[there] = self.places[at[there]]
        return found


def quantiles(z: Array, weights: Array, probabilities: Array, links: Links = ALONE) -> Array:
    """Smallest values with at least these shares of the weight at or below them; `weights` are integers, or empty."""
    if links.n_partitions > 1:
        (found,) = quantiles_of_each([z], [weights], probabilities, links)
    elif weights.size:
        order = np.argsort(z, kind="stable")
        reached = np.cumsum(weights[order])
        at = np.searchsorted(reached, probabilities * reached[-1])
        found = z[order[np.minimum(at, len(z) - 1)]]
    else:
        at = np.maximum(np.ceil(probabilities * len(z)).astype(np.int64) - 1, 0)
        found = np.partition(z, at)[at]
    unsigned: Array = found + 0.0  # which of two zeros comes first would depend on the order of the rows
    return unsigned


def quantiles_of_each(columns: Sequence[Array], weights: Sequence[Array], probabilities: Array, links: Links) -> Array:
    """`quantiles` (n_columns, n_probabilities) of some columns, each with its own weights; NaN where one is empty."""
    ordered = _side_by_side([_sorted(z, w) for z, w in zip(columns, weights, strict=True)])
    groups = np.repeat(np.arange(len(columns)), len(probabilities))
    totals = links.add(ordered.totals)
    goals = (totals[:, None] * probabilities).reshape(-1)
    found, _ = _search(ordered, groups, goals, totals, links)
    return found.reshape(len(columns), len(probabilities))


def group_quantiles(
    z: Array, weights: Array, groups: Array, n_groups: int, probability: float, links: Links = ALONE
) -> Array:
    """A quantile (n_groups,) of the values in each group; the middle between two values where it just reaches the one.

    groups (n,): of each value, below n_groups; weights: integers, or empty. NaN for a group without values.
    """
    order = np.lexsort((z, groups))
    begins = np.searchsorted(groups[order], np.arange(n_groups + 1)).astype(np.int64)
    ordered = _Ordered(_places_of(z[order]), begins, _cumulated(weights[order] if weights.size else weights, len(z)))
    totals = links.add(ordered.totals)
    goals = totals * probability
    each = np.arange(n_groups)
    low, reached = _search(ordered, each, goals, totals, links)
    halfway = np.flatnonzero(reached == goals)
    if len(halfway):  # for all partitions alike
        following = links.least(ordered.above(halfway, _places_of(low[halfway])))
        there = following < LARGEST
        at = halfway[there]
        low[at] += (_floats_at(following[there]) - low[at]) / 2
    return low


def _search(ordered: _Ordered, groups: Array, goals: Array, totals: Array, links: Links) -> tuple[Array, Array]:
    """The smallest number in some groups with at least the goal of weight up to it, and the weight up to it."""
    ends = np.stack(ordered.ends())
    ends[0] = ~ends[0]
    least, most = links.most(ends)
    low, high, reached = ~least[groups], most[groups], totals[groups]
    while len(left := np.flatnonzero(low < high)):
        pivots = _pivots(low[left], high[left])
        sums = links.add(ordered.up_to(groups[left], pivots))
        enough = sums >= goals[left, None]
        at, is_found = enough.argmax(axis=1), enough.any(axis=1)
        rows = np.arange(len(left))
        before = np.where(is_found, at - 1, pivots.shape[1] - 1)
        low[left] = np.where(before >= 0, pivots[rows, before] + np.uint64(1), low[left])
        high[left] = np.where(is_found, pivots[rows, at], high[left])
        reached[left] = np.where(is_found, sums[rows, at], reached[left])
    found = _floats_at(high)
    found[low > high] = np.nan
    return found, reached


def _pivots(low: Array, high: Array) -> Array:
    """Places (n, n_pivots) from each low on, evenly spaced, below each high."""
    n = min(max(ROOM // len(low), 1), MOST_PIVOTS)
    width = (high - low)[:, None]
    step = np.maximum(width // np.uint64(n + 1), np.uint64(1))
    pivots: Array = low[:, None] + np.minimum(step * np.arange(1, n + 1, dtype=np.uint64), width) - np.uint64(1)
    return pivots


def _sorted(z: Array, weights: Array) -> _Ordered:
    """One group."""
    order = np.argsort(z, kind="stable") if weights.size else None
    z, weights = (np.sort(z), weights) if order is None else (z[order], weights[order])
    return _Ordered(_places_of(z), np.array([0, len(z)]), _cumulated(weights, len(z)))


def _side_by_side(groups: list[_Ordered]) -> _Ordered:
    """Groups put together."""
    sizes, totals = [len(one.places) for one in groups], [int(one.reached[-1]) for one in groups]
    before = np.concatenate([[0], np.cumsum(totals)])
    reached = [one.reached[:-1] + start for one, start in zip(groups, before.tolist(), strict=False)]
    return _Ordered(
        places=np.concatenate([one.places for one in groups]),
        begins=np.concatenate([[0], np.cumsum(sizes)]),
        reached=np.concatenate([*reached, before[-1:]]),
    )


def _without_weights(ordered: _Ordered) -> _Ordered:
    return ordered._replace(reached=_cumulated(np.empty(0, np.int64), len(ordered.places)))


def _cumulated(weights: Array, n: int) -> Array:
    """Weight before each of n numbers, and of all."""
    return np.concatenate([[0], np.cumsum(weights)]) if weights.size else np.arange(n + 1)


def _places_of(z: Array) -> Array:
    """Where numbers are among all floats in their order (uint64); zeros of both signs are in the middle."""
    bits = np.ascontiguousarray(z, np.float64).view(np.uint64)
    middle = np.uint64(1 << 63)
    magnitudes = bits & ~middle
    return np.where(bits >= middle, middle - magnitudes, middle + magnitudes)


def _floats_at(places: Array) -> Array:
    """The floats at these places."""
    middle = np.uint64(1 << 63)
    is_negative = places < middle
    magnitudes: Array = np.where(is_negative, middle - places, places - middle).view(np.float64)
    return np.where(is_negative, -magnitudes, magnitudes)
