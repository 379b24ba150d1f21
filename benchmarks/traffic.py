"""What partitions send each other in a fit, as formulas; `benchmarks/scale.py` holds them against fits.

An exchange is a round in which all partitions send. Bytes are those that one of P partitions sends.
"""

from typing import Any, NamedTuple

import numpy as np

from sublearn.core.links import SHORT
from sublearn.core.tree.below import SHARES, WAVE

SCORE = 71  # numbers of an exact sum
SPREAD = 1024 + 3  # numbers of a feature's moments and spread
NODE, PLANE, TERM = 73 + 8 * 8, 20, 6  # bytes of a node that a partition tells, of its hyperplane, of a coefficient


class Traffic(NamedTuple):
    """Exchanges, and bytes that a partition sends."""

    exchanges: float
    n_bytes: float

    def __add__(self, other: Any) -> "Traffic":
        return Traffic(self.exchanges + other.exchanges, self.n_bytes + other.n_bytes)

    def times(self, n: float) -> "Traffic":
        return Traffic(n * self.exchanges, n * self.n_bytes)


NOTHING = Traffic(0, 0)


class Shape(NamedTuple):
    """What a tree's traffic depends on, but for its nodes."""

    n_samples: int
    n_features: int
    n_candidates: int
    n_finalists: int
    n_bins: int
    n_channels: int  # sums that describe a node
    n_classes: int  # 1 for numbers, as boosting has them
    width: int  # bytes of a sample
    racers: int  # of a node that races
    n_levels: int  # the deepest there may be

    def most_alone(self, n_partitions: int) -> int:
        """Samples of nodes that one partition grows alone."""
        sums = 16 * max(self.n_candidates, self.n_features) * self.n_bins * self.n_channels
        least = sums // self.width
        if self.n_samples * self.width <= sums << min(self.n_levels, self.n_samples.bit_length()):
            least = max(least, self.n_samples // (SHARES * n_partitions))
        return min(least, WAVE // self.width)


def gather(n_bytes: float, P: int) -> Traffic:
    """Everything to everybody."""
    return Traffic(1, (P - 1) * n_bytes)


def add(n: float, P: int, size: int = 8) -> Traffic:
    """Numbers put together: few at once, many a stretch a partition, which are then gathered."""
    if n <= SHORT or P == 2:
        return gather(size * n, P)
    return Traffic(2, 2 * (P - 1) / P * size * n)


def level(shape: Shape, n_nodes: float, is_raced: bool, P: int) -> Traffic:
    """A level of a tree, of which so many nodes are grown together."""
    s = shape
    histogram = s.n_bins * s.n_channels
    found = gather(8 * 2 * n_nodes * s.n_classes, P)  # counts
    if is_raced:
        racers = gather(n_nodes * s.racers * (s.width + 4) / P, P)
        return found + racers + add(n_nodes * s.n_finalists * histogram, P)
    views = add(2 * n_nodes * s.n_features, P, 4) + add(n_nodes * s.n_features * histogram, P)
    return found + views + add(2 * n_nodes * s.n_candidates, P, 4) + add(n_nodes * s.n_candidates * histogram, P)


def below(shape: Shape, n_small: float, n_roots: float, n_nodes: float, n_terms: float, P: int) -> Traffic:
    """Samples of small nodes sent to one partition each, their places sent back, and what has grown told to all."""
    if not n_roots:
        return NOTHING
    n_waves = int(n_small * shape.width // (WAVE * P)) + 1
    there = (n_small * (shape.width + 4) + 8 * n_roots * shape.n_classes * P) * (P - 1) / P**2
    told = (n_nodes * NODE + n_nodes / 2 * (PLANE + TERM * n_terms)) / P
    return Traffic(2 * n_waves, there) + Traffic(n_waves, (P - 1) * told)


def tree(
    shape: Shape, nodes_by_level: list[tuple[float, bool]], small: tuple[float, float, float, float], P: int
) -> Traffic:
    """A tree; small: samples and number of small nodes, nodes below them, and terms of a hyperplane."""
    found = add(shape.n_channels, P) + gather(48, P) + gather(8 * shape.n_classes, P)  # the root; what there is
    for n_nodes, is_raced in nodes_by_level:
        found += level(shape, n_nodes, is_raced, P)
    return found + below(shape, *small, P)


def round_of_boosting(n_outputs: int, n_leaves: float, P: int) -> Traffic:
    """What a round of boosting sends beside its tree: extremes and sums of slopes, leaves, and the score."""
    numbers = (2 * (n_outputs + 1), 1, 3, SCORE, 2 * n_leaves * n_outputs)
    return sum((add(n, P) for n in numbers), NOTHING)


def preparing(n_features: int, P: int) -> Traffic:
    """Maps of features; everything else before the first tree is a dozen of exchanges of some bytes."""
    return add(3 * n_features, P) + add(SPREAD * n_features, P) + gather(60, P).times(14)


def shared_forest(shape: Shape, n_bytes_of_trees: float, n_waves: int, P: int) -> Traffic:
    """A forest whose rows all partitions have once: each grows whole trees, and tells them."""
    rows = gather(shape.n_samples / P * shape.width, P) + gather(shape.n_samples / P * 4, P)
    return rows + gather(48, P).times(5) + Traffic(n_waves, (P - 1) * n_bytes_of_trees / P)


def levels_of(nodes: Any, first: int, last: int, shape: Shape, P: int) -> tuple[list[tuple[float, bool]], Any]:
    """What `tree` is told of nodes first to last of a fitted model."""
    depth, n, parent = nodes.depth[first:last], nodes.n_samples[first:last], nodes.parent[first:last] - first
    alone = shape.most_alone(P)
    is_inner = np.diff(nodes.first_plane)[first:last] > 0
    is_large = (n > alone) & (is_inner | (depth < shape.n_levels))
    levels = [int((is_large & (depth == d)).sum()) for d in range(int(depth.max()) + 1)]
    roots = (n <= alone) & ((parent < 0) | (n[np.maximum(parent, 0)] > alone))
    terms = float(np.mean(np.diff(nodes.first_term)))
    small = float(n[roots].sum()), int(roots.sum()), int((n <= alone).sum()), terms
    raced = shape.racers > 0
    return [(count, raced) for count in levels if count], small


SMALL_LINK, LATENCY = 10e9 / 8, 100e-6  # bytes a second of a worker, and seconds of a message


def seconds(traffic: Traffic, P: int) -> float:
    """How long partitions send: all bytes by one line each, and messages one after the other."""
    return traffic.n_bytes / SMALL_LINK + traffic.exchanges * (P - 1) * LATENCY
