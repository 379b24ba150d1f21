"""Step 2: candidate projections, integer vectors inside the envelope over ranked features (paper Sec. II-B2).

What can be listed is listed once for all nodes, since it depends on ranks alone; the rest is drawn in each node.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import numpy as np

from sublearn.core.tree.decay import decaying
from sublearn.core.tree.parameters import TreeParameters
from sublearn.kernels.fitting import MOST_FEATURES
from sublearn.kernels.layout import Array

Vector = tuple[int, ...]


class DrawingRounds(NamedTuple):
    """The rounds that draw, as `draw_vectors` in `kernels.projection` takes them."""

    bounds: Array  # int64 (n_rounds, subspace_size), or (n_rounds, n_features) by rank
    probabilities: Array  # float64, of the shape of `bounds`
    n_coefficients: Array  # int64 (n_rounds,)
    n_draws: Array  # int64 (n_rounds,)
    draws_per_sample: int  # of the node, by all rounds together, at the most
    once: bool  # whether a round selects its features once a node; what it allows is then by rank


class Plan(NamedTuple):
    """How candidates are made; the same for all nodes."""

    listed: Array  # int16 (n_listed, subspace_size), basis vectors first
    n_axis: int  # how many of those are basis vectors
    rounds: DrawingRounds
    n_fitted: int
    height: int  # the largest coefficient of a fitted vector
    n_candidates: int
    coefficient_sum: int  # the largest sum of magnitudes a candidate can have

    @property
    def subspace_size(self) -> int:
        """D0, or the number of features where that is smaller."""
        return int(self.listed.shape[1])


@lru_cache(maxsize=32)
def plan_projections(parameters: TreeParameters, n_features: int) -> Plan:
    """Decide round by round whether all vectors are listed or some are drawn.

    What depends on the features that a round selects in a node is listed there, by `draw_vectors` in
    `kernels.projection`.
    """
    size = min(parameters.subspace_size, n_features)
    once = parameters.selection == "round"
    n_ranks = n_features if once else size
    n_axis = size if parameters.axis_projections else 0
    listed: dict[Vector, None] = {}
    drawn: list[tuple[Array, Array, int, int]] = []
    left = parameters.n_projections
    draws_per_sample = parameters.draws_per_sample or max(left, 1)  # all of them for one sample is no limit
    height = int(parameters.envelope_height)
    n_pairs = min(size, MOST_FEATURES) * (min(size, MOST_FEATURES) - 1) // 2
    n_fitted = min(parameters.fitted_projections, n_pairs) if height else 0
    coefficient_sum = max(1, 2 * height if n_fitted else 0)
    for number, draw in enumerate(parameters.rounds):
        share = left // (len(parameters.rounds) - number)
        bounds = envelope(parameters.envelope_height, draw.envelope_decay, n_ranks)
        n_coefficients = min(draw.n_coefficients or size, size)
        coefficient_sum = max(coefficient_sum, sum(sorted(bounds)[-n_coefficients:]))
        if not once and count_vectors(bounds, n_coefficients) <= share:
            vectors = dict.fromkeys(filter(None, map(normalise, list_vectors(bounds, n_coefficients))))
            left -= len(vectors)
            listed |= {v: None for v in vectors if not n_axis or np.count_nonzero(v) > 1}
        else:
            left -= share
            probabilities = decaying(1.0, draw.selection_decay, n_ranks)
            drawn.append((np.array(bounds, np.int64), probabilities, n_coefficients, share))
    others = np.array(list(listed), np.int16).reshape(len(listed), size)
    return Plan(
        listed=np.concatenate([np.eye(n_axis, size, dtype=np.int16), others]),
        n_axis=n_axis,
        rounds=_pack(drawn, n_ranks, draws_per_sample, once),
        n_fitted=n_fitted,
        height=height,
        n_candidates=n_axis + len(listed) + n_fitted + sum(n_draws for *_, n_draws in drawn),
        coefficient_sum=coefficient_sum,
    )


def envelope(height: float, decay: float, size: int) -> list[int]:
    """floor(A_d) for d = 1 to size."""
    return [int(bound) for bound in np.floor(decaying(height, decay, size))]


def count_vectors(bounds: list[int], n_coefficients: int) -> int:
    """Number of integer vectors inside the envelope with at most n_coefficients that are not 0.

    With all coefficients selected this is the paper's U.B. = L.B. = prod(2 A_d + 1).
    """
    choices = [2 * bound for bound in bounds if bound]
    if n_coefficients >= len(choices):
        return prod(n + 1 for n in choices)
    ways = [1] + [0] * n_coefficients  # ways[r]: vectors over the features so far with r non-zero
    for n in choices:
        for r in range(n_coefficients, 0, -1):
            ways[r] += ways[r - 1] * n
    return sum(ways)


def list_vectors(bounds: list[int], n_coefficients: int) -> Iterator[Vector]:
    """All vectors that `count_vectors` counts."""
    usable = [d for d, bound in enumerate(bounds) if bound]
    for r in range(min(n_coefficients, len(usable)) + 1):
        for where in combinations(usable, r):
            for values in product(*([a for a in range(-bounds[d], bounds[d] + 1) if a] for d in where)):
                vector = [0] * len(bounds)
                for d, a in zip(where, values, strict=True):
                    vector[d] = a
                yield tuple(vector)


def normalise(vector: Vector) -> Vector | None:
    """The one of a vector's multiples and mirror images that stands for all; None for zero."""
    divisor = int(np.gcd.reduce(vector))
    if divisor == 0:
        return None
    if next(a for a in vector if a) < 0:
        divisor = -divisor
    return tuple(a // divisor for a in vector)


def _pack(drawn: list[tuple[Array, Array, int, int]], n_ranks: int, draws_per_sample: int, once: bool) -> DrawingRounds:
    return DrawingRounds(
        bounds=np.array([bounds for bounds, *_ in drawn], np.int64).reshape(len(drawn), n_ranks),
        probabilities=np.array([probabilities for _, probabilities, *_ in drawn]).reshape(len(drawn), n_ranks),
        n_coefficients=np.array([n_coefficients for *_, n_coefficients, _ in drawn], np.int64),
        n_draws=np.array([n_draws for *_, n_draws in drawn], np.int64),
        draws_per_sample=draws_per_sample,
        once=once,
    )
