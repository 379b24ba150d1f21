"""The steps of the paper one by one, on nodes that a test knows all about.

These are the very functions that every driver of the engine calls, each in a thin kernel of its own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naive import Array
from sublearn.core.data.samples import NO_VIEWS
from sublearn.core.parallel import Workers
from sublearn.core.tree import feature_test
from sublearn.core.tree.decay import decaying
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.projection import Plan
from sublearn.core.tree.space import make_candidates, make_fit, make_keeping, make_partitions, make_work
from sublearn.kernels import decorrelation, partition, projection, racing, subspace
from sublearn.kernels.columns import gather_columns, gather_statistics
from sublearn.kernels.compilation import bare_kernel
from sublearn.kernels.decorrelation import Partitions
from sublearn.kernels.discriminant import add_histograms, clear_ranges, is_whole, test_projections, widen_ranges
from sublearn.kernels.fitting import add_products, solve_pairs
from sublearn.kernels.job import Rules
from sublearn.kernels.layout import CONSTANT, NO, NOUGHT, YES, Candidates, Node, Samples, Test
from sublearn.kernels.projection import Own, Urn, draw_vectors, table_size
from sublearn.kernels.references import refer
from sublearn.kernels.searching import is_solved, projections_of
from sublearn.kernels.subspace import Ranking, Ranks
from sublearn.kernels.tools import Spare

ONE_THREAD = Workers(1)
UNTOUCHED = 200  # in the cells of nodes that are not split


def rules_of(plan: Plan) -> Rules:
    """How candidates are drawn; of the other rules, which drawing does not look at, any."""
    return Rules(
        listed=plan.listed,
        n_axis=plan.n_axis,
        height=plan.height,
        rounds=plan.rounds,
        subspace_size=plan.subspace_size,
        probabilities=np.empty(0),
        max_partitions=1,
        limits=(1.0, 0.0),
        max_depth=1,
        min_split=2,
        min_loss=0.0,
        racing_samples=0,
        n_finalists=1,
        n_fitted=plan.n_fitted,
        n_candidates=plan.n_candidates,
    )


def make_ranks(n_views: int, size: int, n_seen: int = 0) -> Ranks:
    """Space for ranked features."""
    return Ranks(
        columns=np.arange(n_views, dtype=np.int32),
        by_rank=np.empty(n_views, np.int32),
        merged=np.empty(n_views, np.int32),
        seen=np.empty(n_seen, np.bool_),
        chosen=np.empty(size, np.int64),
        varies=np.empty(size, np.bool_),
    )


def size_of(node: Node) -> int:
    """Samples of a node."""
    return int(node.runs[-1] - node.runs[0])


def make_urn(n: int) -> Urn:
    """Space for draws of n things."""
    return Urn(np.empty(n, np.bool_), np.empty(n))


# --- step 1: the ranking of features, and the subspace


def rank_features(samples: Samples, nodes: Sequence[Node], test: Test, workers: Workers = ONE_THREAD) -> Ranking:
    """The test of every feature alone in every node: (n_nodes, n_features) of each."""
    found = [feature_test.rank_features(samples, node, test, workers) for node in nodes]
    return Ranking(*(np.stack(columns) for columns in zip(*found, strict=True)))


@bare_kernel
def _choose_subspaces(keys: Any, views: Any, probabilities: Any, ranking: Any, ranks: Any, urn: Any, out: Any) -> None:
    ranks = refer(ranks)
    urn = refer(urn)
    for i in range(keys.size):
        own = refer(Ranking(ranking.decrease[i], ranking.threshold[i], ranking.ranges[i]))
        subspace.choose_subspace(keys[i], views, probabilities, own, ranks, urn, out[i])


def choose_subspace(ranking: Ranking, keys: Array, size: int, how: str, decay: float, views: Array = NO_VIEWS) -> Array:
    """Features (n_nodes, size) of each node's subspace, most discriminant first, or the views they are there by."""
    n_views = ranking.decrease.shape[1]
    n_features = int(views[0].max()) + 1 if views.size else n_views
    probabilities = decaying(1.0, decay, n_features) if how == "drawn" else np.empty(0)
    ranks = make_ranks(n_views, size, n_features if views.size else 0)
    found = np.empty((len(keys), size), np.int32)
    _choose_subspaces(keys, views, probabilities, ranking, ranks, make_urn(n_views), found)
    return found


# --- step 2: candidates, drawn and fitted


class Fitted(NamedTuple):
    """Fitted vectors of some nodes."""

    vectors: Array  # int16 (n_nodes, n_fitted, subspace_size)
    sizes: Array  # int64 (n_nodes,), how many of the vectors there are

    @classmethod
    def none(cls, n_nodes: int, size: int) -> "Fitted":
        """What stands in for nodes without fitted vectors."""
        return cls(np.empty((n_nodes, 0, size), np.int16), np.zeros(n_nodes, np.int64))


@bare_kernel
def _fit_pairs(
    samples: Any, node: Any, key: Any, kinds: Any, features: Any, varies: Any, height: Any, work: Any, fit: Any
) -> Any:
    samples = refer(samples)
    node = refer(node)
    work = refer(work)
    fit = refer(fit)
    runs = node.runs
    first = runs[0]
    last = runs[-1]
    add_products(
        samples, node.order, runs, node.totals, kinds, key, first, last, features, work.columns, NO, work.block, fit
    )
    return solve_pairs(varies, height, fit)


def fit_projections(
    samples: Samples, nodes: Sequence[Node], keys: Array, plan: Plan, subspace: Array, ranking: Ranking
) -> Fitted:
    """The pairs of each node's subspace that explain most of its targets."""
    n_nodes, size = subspace.shape
    if plan.n_fitted == 0:
        return Fitted.none(n_nodes, size)
    fitted = Fitted(np.empty((n_nodes, plan.n_fitted, size), np.int16), np.empty(n_nodes, np.int64))
    varies = ranking.threshold[np.arange(n_nodes)[:, None], subspace] != CONSTANT
    kinds = np.arange(samples.n_classes)
    for i, node in enumerate(nodes):
        work = make_work(samples, 2, size_of(node), size, 1)
        fit = make_fit(samples, plan.n_fitted, size, work.block.projected.size)
        n = _fit_pairs(samples, node, keys[i], kinds, subspace[i], varies[i], plan.height, work, fit)
        fitted.sizes[i], fitted.vectors[i] = n, fit.vectors
    return fitted


@bare_kernel
def _draw_projections(
    keys: Any,
    counts: Any,
    losses: Any,
    test: Any,
    chosen: Any,
    varies: Any,
    rules: Any,
    fitted: Any,
    ranking: Any,
    ranks: Any,
    spare: Any,
    candidates: Any,
) -> None:
    test = refer(test)
    rules = refer(rules)
    ranks = refer(ranks)
    spare = refer(spare)
    candidates = refer(candidates)
    for i in range(keys.size):
        for d in range(chosen.shape[1]):
            ranks.chosen[d] = chosen[i, d]
            ranks.varies[d] = varies[i, d]
        own = refer(Ranking(ranking.decrease[i], ranking.threshold[i], ranking.ranges[i]))
        solved = is_solved(subspace.take_axis_tests(rules.n_axis, own, candidates, i), losses[i], test)
        vectors = candidates.coefficients[i]
        n_fitted = fitted.sizes[i]
        candidates.sizes[i] = draw_vectors(
            keys[i], counts[i], rules, solved, fitted.vectors[i], n_fitted, ranks, spare, vectors
        )


def draw_projections(
    plan: Plan, test: Test, subspace: Array, ranking: Ranking, fitted: Fitted, losses: Array, keys: Array, counts: Any
) -> Candidates:
    """Candidates of each node, of which those along the axes have their tests; nodes have so many samples."""
    n_nodes, size = subspace.shape
    n_views = ranking.decrease.shape[1]
    candidates = make_candidates(n_nodes, plan.n_candidates, size)
    for column in (candidates.threshold, candidates.ranges):
        column[:] = 0
    candidates.subspace[:] = subspace
    by_rank = np.argsort(-ranking.decrease, axis=1, kind="stable")
    chosen = np.take_along_axis(np.argsort(by_rank, axis=1), subspace.astype(np.int64), axis=1)
    varies = np.take_along_axis(ranking.threshold, subspace.astype(np.int64), axis=1) != CONSTANT
    spare = Spare(
        urn=make_urn(n_views),
        own=Own(np.empty(size, np.int64), np.empty(size)),
        chosen=np.empty(plan.n_candidates, np.bool_),
        table=np.empty(table_size(plan.n_candidates), np.int64),
        columns=np.empty(size, np.int64),
        moved=np.empty(0, np.int32),
        counts=np.empty((0, 0), np.int64),
        places=np.empty((0, 0), np.int64),
    )
    ranks, counts = make_ranks(n_views, size), np.asarray(counts, np.int64)
    losses = np.asarray(losses, np.float64)
    _draw_projections(
        keys, counts, losses, test, chosen, varies, rules_of(plan), fitted, ranking, ranks, spare, candidates
    )
    return candidates


@bare_kernel
def draw_subspaces(keys: Any, probabilities: Any, urn: Any, out: Any) -> None:
    """Ranks (n_keys, size), drawn without replacement by key."""
    urn = refer(urn)
    for i in range(keys.size):
        projection.draw_subspace(keys[i], probabilities, urn, out[i])


# --- races


@bare_kernel
def _take_evenly(key: Any, node: Any, n: Any, out: Any, out_runs: Any) -> None:
    racing.take_evenly(key, node.order, node.runs, n, out, NOUGHT, out_runs)


def take_evenly(key: int, node: Node, n: int) -> tuple[Array, Array]:
    """The racers of a node, and where those of each class are."""
    order, runs = np.full(n, -1, np.int32), np.full_like(node.runs, -1)
    _take_evenly(np.uint64(key), node, n, order, runs)
    return order, runs


@bare_kernel
def _keep_finalists(n_finalists: Any, candidates: Any, chosen: Any, found: Any) -> None:
    for i in range(found.size):
        found[i] = racing.keep_finalists(
            n_finalists,
            candidates.sizes[i],
            candidates.coefficients[i],
            candidates.decrease[i],
            candidates.ranges[i],
            chosen,
        )


def keep_finalists(n_finalists: int, candidates: Candidates) -> Array:
    """Move the finalists of each node to the front; returns how many there are, 0 where all candidates stay."""
    found = np.empty(len(candidates.sizes), np.int64)
    _keep_finalists(n_finalists, candidates, np.empty(candidates.decrease.shape[1], np.bool_), found)
    return found


# --- step 3: the test of candidates


@bare_kernel
def _score(samples: Any, node: Any, test: Any, candidates: Any, i: Any, first: Any, known: Any, work: Any) -> None:
    samples = refer(samples)
    node = refer(node)
    test = refer(test)
    candidates = refer(candidates)
    work = refer(work)
    projections = projections_of(candidates, i, work.columns)
    test_projections(samples, node, test, projections, first, candidates.sizes[i], known, NO, work)


def score_projections(
    samples: Samples, nodes: Sequence[Node], test: Test, candidates: Candidates, n_known: int = 0, known: bool = False
) -> None:
    """Test the candidates of each node, but for the first `n_known`; known: their ranges are given."""
    n, n_columns = candidates.coefficients.shape[1:]
    for i, node in enumerate(nodes):
        work = make_work(samples, test.n_bins, size_of(node), n_columns, max(n, 1))
        _score(samples, node, test, candidates, i, n_known, np.bool_(known), work)


@bare_kernel
def _add_stretches(
    samples: Any, node: Any, ends: Any, n_bins: Any, candidates: Any, work: Any, ranges: Any, sums: Any
) -> None:
    samples = refer(samples)
    node = refer(node)
    candidates = refer(candidates)
    work = refer(work)
    n = candidates.sizes[0]
    projections = projections_of(candidates, 0, work.columns)
    for part in range(ends.size - 1):
        clear_ranges(projections, NOUGHT, n)
        widen_ranges(samples, node.order, ends[part], ends[part + 1], projections, NOUGHT, n, work.block)
        for c in range(n):
            ranges[c, 0] = min(ranges[c, 0], projections.ranges[c, 0])
            ranges[c, 1] = max(ranges[c, 1], projections.ranges[c, 1])
    for c in range(n):
        projections.ranges[c, 0] = ranges[c, 0]
        projections.ranges[c, 1] = ranges[c, 1]
    for part in range(ends.size - 1):
        first = ends[part]
        last = ends[part + 1]
        add_histograms(
            samples, node.order, node.runs, first, last, n_bins, projections, NOUGHT, n, work.block, sums[part]
        )


def stretches_of(
    samples: Samples, node: Node, n_bins: int, candidates: Candidates, ends: Sequence[int]
) -> tuple[Array, Array]:
    """Ranges (n, 2), found stretch by stretch, and histograms (n_stretches, n, n_bins, n_channels) of candidates."""
    n, n_columns = candidates.coefficients.shape[1:]
    work = make_work(samples, n_bins, size_of(node), n_columns, n)
    ranges = np.tile(np.array([2**31 - 1, 1 - 2**31], np.int32), (n, 1))
    sums = np.zeros((len(ends) - 1, n, n_bins, len(node.totals)), np.int64)
    _add_stretches(samples, node, np.array(ends), n_bins, candidates, work, ranges, sums)
    return ranges, sums


# --- step 4: the hyperplanes of a node


@bare_kernel
def _keep(
    samples: Any,
    node: Any,
    test: Any,
    limits: Any,
    candidates: Any,
    i: Any,
    has: Any,
    work: Any,
    keeping: Any,
    out: Any,
) -> None:
    samples = refer(samples)
    node = refer(node)
    test = refer(test)
    candidates = refer(candidates)
    work = refer(work)
    keeping = refer(keeping)
    out = refer(out)
    block = work.block
    n = node.runs[-1] - node.runs[0]
    loaded: Any = NO
    if has and is_whole(node, block):
        gather_columns(samples.codes, node.order, node.runs[0], n, candidates.subspace[i], block)
        gather_statistics(samples, node.order, node.runs[0], n, block)
        loaded = YES
    decorrelation.choose_in_node(samples, node, test, limits, candidates, i, loaded, work.columns, block, keeping, out)


def keep_decorrelated(
    samples: Samples,
    nodes: Sequence[Node],
    test: Test,
    candidates: Candidates,
    given: TreeParameters,
    loaded: bool = False,
) -> tuple[Partitions, list[Array]]:
    """The hyperplanes of each node, and the cells of its samples, in their order there.

    loaded: small nodes are in the block already, as they are where one thread grows a node.
    """
    n_cells, n, n_columns = 1 << given.max_partitions, *candidates.coefficients.shape[1:]
    partitions, cells = make_partitions(len(nodes), given.max_partitions), []
    limits = (given.max_cosine * given.max_cosine, given.effective_ratio)
    for i, node in enumerate(nodes):
        work = make_work(samples, n_cells, size_of(node), n_columns, 1)
        keeping = make_keeping(samples, size_of(node), len(nodes), n_cells, n)
        keeping.kept_cells[:] = UNTOUCHED
        _keep(samples, node, test, limits, candidates, i, np.bool_(loaded), work, keeping, partitions)
        cells.append(keeping.kept_cells)
    return partitions, cells


# --- step 5: samples move to the children


@bare_kernel
def _split(order: Any, runs: Any, cells: Any, ends: Any, counts: Any, places: Any, moved: Any) -> None:
    n_runs = runs.size - 1
    begin = runs[0]
    whole = counts[-1]
    for part in range(ends.size - 1):
        partition.count_cells(runs, ends[part], ends[part + 1], cells, begin, counts[part])
        for cell in range(whole.shape[0]):
            for k in range(n_runs):
                whole[cell, k] += counts[part, cell, k]
    partition.lay_out(begin, whole, n_runs, places)
    for part in range(ends.size - 1):
        first = ends[part]
        last = ends[part + 1]
        partition.move_samples(order, runs, first, last, cells, begin, places, moved, begin)
        if places.shape[0] == 2:  # whose places are numbers at hand, and stay
            for cell in range(2):
                for k in range(n_runs):
                    places[cell, k] += counts[part, cell, k]
    partition.copy_back(moved, begin, begin, runs[-1], order)
    partition.lay_out(begin, whole, n_runs, places)


def split_samples(order: Any, runs: Any, cells: Any, n_planes: int, n_stretches: int = 1) -> tuple[Array, Array, Array]:
    """New order of a node's samples, and counts and places (n_cells, n_runs) of its children.

    cells: those of the node's samples alone. Stretches of the node may move one after the other.
    """
    order, runs, cells = np.array(order, np.int32), np.array(runs, np.int64), np.array(cells, np.uint8)
    n = runs[-1] - runs[0]
    ends = runs[0] + np.arange(n_stretches + 1) * n // n_stretches
    counts = np.zeros((n_stretches + 1, 1 << n_planes, len(runs) - 1), np.int64)
    places = np.empty(counts.shape[1:], np.int64)
    _split(order, runs, cells, ends, counts, places, np.empty(n, np.int32))
    return order, counts[-1], places
