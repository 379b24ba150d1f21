"""Step 1: features of a node, ranked by their discriminant power, and its subspace S0 (paper Sec. II-B2, III-A)."""

from typing import NamedTuple

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.layout import CONSTANT, Array
from sublearn.kernels.projection import draw_subspace

NEARLY = 0.75  # of the best view's loss decrease; a view that is preferred to it needs no more


class Ranking(NamedTuple):
    """The discriminant feature test of each feature alone."""

    decrease: Array  # float64 (n_views,)
    threshold: Array  # int32 (n_views,)
    ranges: Array  # int32 (n_views, 2)


class Ranks(NamedTuple):
    """Space for ranked features."""

    columns: Array  # int32 (n_views,), 0, 1, 2 and so on
    by_rank: Array  # int32 (n_views,)
    merged: Array  # int32 (n_views,)
    seen: Array  # bool (n_features,), whether a better view of the feature has come; empty when each has one
    chosen: Array  # int64 (subspace_size,), ranks
    varies: Array  # bool (subspace_size,)


@section
def sort_by_rank(decrease, by_rank, merged):
    """Features by decrease, the largest first, ties by index: merges of ever longer stretches."""
    n = decrease.size
    for f in range(n):
        by_rank[f] = f
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            a = begin
            b = middle
            for i in range(begin, end):
                first = b >= end
                if a < middle and b < end:
                    first = decrease[by_rank[a]] >= decrease[by_rank[b]]
                if first:
                    merged[i] = by_rank[a]
                    a += 1
                else:
                    merged[i] = by_rank[b]
                    b += 1
        for i in range(n):
            by_rank[i] = merged[i]
        width *= 2


@section
def leave_best_views(views, decrease, ranks):
    """Of views in the order of their ranks, leave one of each feature; returns how many features there are.

    That is the first, or the one preferred to it where this is nearly as good.
    """
    seen = ranks.seen
    by_rank = ranks.by_rank
    for f in range(seen.size):
        seen[f] = False
    n = 0
    for d in range(views.shape[1]):
        v = by_rank[d]
        f = views[0, v]
        if not seen[f]:
            seen[f] = True
            other = views[1, v]
            by_rank[n] = other if decrease[other] >= NEARLY * decrease[v] else v
            n += 1
    return n


@inner
def choose_subspace(key, views, probabilities, ranking, ranks, urn, subspace):
    """Fill the subspace of a node from its ranked features; one of several views is there by its best one."""
    by_rank = ranks.by_rank
    chosen = ranks.chosen
    varies = ranks.varies
    sort_by_rank(ranking.decrease, by_rank, ranks.merged)
    n_features = by_rank.size
    if views.size:
        n_features = leave_best_views(views, ranking.decrease, ranks)
    if probabilities.size and subspace.size < n_features:
        draw_subspace(key, probabilities, urn, chosen)
    else:
        for d in range(subspace.size):
            chosen[d] = d
    for d in range(subspace.size):
        f = by_rank[chosen[d]]
        subspace[d] = f
        varies[d] = ranking.threshold[f] != CONSTANT


@inner
def take_axis_tests(n_axis, ranking, candidates, i):
    """Copy the tests of basis vectors, which are features alone, from the ranking; returns the largest decrease."""
    decrease = candidates.decrease[i]
    threshold = candidates.threshold[i]
    ranges = candidates.ranges[i]
    best = 0.0
    for c in range(decrease.size):
        decrease[c] = 0.0
    for d in range(n_axis):
        f = candidates.subspace[i, d]
        decrease[d] = ranking.decrease[f]
        threshold[d] = ranking.threshold[f]
        ranges[d, 0] = ranking.ranges[f, 0]
        ranges[d, 1] = ranking.ranges[f, 1]
        best = max(best, ranking.decrease[f])
    return best
