"""Scratch space for kernels, made once for many nodes; a kernel that allocates takes longer to compile."""

from typing import Any

import numpy as np

from sublearn.kernels.columns import CACHE, Block
from sublearn.kernels.decorrelation import Keeping, Partitions
from sublearn.kernels.discriminant import HISTOGRAMS, TILE, Work
from sublearn.kernels.fitting import MOST_FEATURES, Fit
from sublearn.kernels.front import N_FLAGS, Front
from sublearn.kernels.job import Rules
from sublearn.kernels.layout import BLOCK, Array, Candidates, Node, Samples, Test, n_channels, n_features_of
from sublearn.kernels.projection import Own, Urn, table_size
from sublearn.kernels.subspace import Ranking, Ranks
from sublearn.kernels.threshold import Below
from sublearn.kernels.tools import Spare, Tools

NEVER_STOPPED = np.zeros(1, np.int64)
BATCH_BYTES = 64 << 20  # of what all threads write for a batch of nodes, and partitions send each other
FINE = 4  # numbers that describe a node of means


def make_block(samples: Samples, n_columns: int, n_bins: int, largest: int) -> Block:
    """Space for blocks of nodes with at most `largest` samples."""
    size = min(max(1024, min(BLOCK, CACHE // n_columns)), max(largest, 1))
    packed, weighted = samples.packed.size > 0, samples.weights.size > 0
    n_moments = size if samples.n_classes == 0 and not packed else 0
    n_counts = size if weighted or n_moments else 0
    return Block(
        rows=np.empty((n_columns, size), np.int16),
        weights=np.empty(size if packed else n_counts, np.int64),
        moments=np.empty(n_moments, np.int64),
        counts=np.empty(n_counts, np.int64),
        projected=np.empty(size, np.int32),
        bins=np.empty(size, np.uint8),
        lanes=np.empty((4, n_bins), np.int64),
    )


def make_work(
    samples: Samples,
    n_bins: int,
    largest: int,
    n_columns: int,
    n_tested: int,
    tile: int = 0,
    stop: Array = NEVER_STOPPED,
) -> Work:
    """Space for testing candidates over n_columns features, n_tested at a time at the most; `tile` features alone."""
    channels = n_channels(samples)
    n_tested = max(1, min(n_tested, HISTOGRAMS // (n_bins * channels)))
    return Work(
        block=make_block(samples, n_columns, n_bins, largest),
        histograms=np.empty((n_tested, n_bins, channels), np.int64),
        below=make_below(channels, n_bins),
        columns=np.arange(n_columns),
        units=np.eye(tile, dtype=np.int16),
        stop=stop,
    )


def make_below(n_channels: int, n_bins: int) -> Below:
    """Space for finding a threshold."""
    weights, counts, moments = np.empty((3, n_bins), np.int64)
    return Below(
        classes=np.empty(n_channels, np.int64), weights=weights, counts=counts, moments=moments, values=np.empty(n_bins)
    )


def make_keeping(samples: Samples, n_cells_of: int, n_nodes: int, n_cells: int, n_candidates: int) -> Keeping:
    """Space for choosing hyperplanes of some nodes that make up to n_cells children; with cells of so many samples."""
    channels = n_channels(samples)
    return Keeping(
        kept_cells=np.empty(n_cells_of, np.uint8),
        tried_cells=np.empty(n_cells_of, np.uint8),
        kept_sums=np.empty((n_nodes, n_cells, channels), np.int64),
        tried_sums=np.empty((n_nodes, n_cells, channels), np.int64),
        cosine=np.empty((n_nodes, n_candidates)),
    )


def make_ranking(n: int) -> Ranking:
    """Space for tests of n features alone."""
    return Ranking(decrease=np.empty(n), threshold=np.empty(n, np.int32), ranges=np.empty((n, 2), np.int32))


def make_candidates(n_nodes: int, n: int, size: int) -> Candidates:
    """Space for n candidates in each of some nodes."""
    return Candidates(
        subspace=np.empty((n_nodes, size), np.int32),
        coefficients=np.empty((n_nodes, n, size), np.int16),
        sizes=np.empty(n_nodes, np.int64),
        decrease=np.empty((n_nodes, n)),
        threshold=np.empty((n_nodes, n), np.int32),
        ranges=np.empty((n_nodes, n, 2), np.int32),
    )


def make_fit(samples: Samples, n_fitted: int, size: int, n_block: int) -> Fit:
    """Space for n_fitted vectors over `size` features, from blocks of n_block samples."""
    m = min(size, MOST_FEATURES)
    return Fit(
        sums=np.empty((m + 2, m + 2), np.int64),
        moments=np.empty((m + 1, m + 1)),
        explained=np.empty((m, m)),
        rows=np.ones((2, n_block), np.int16),
        weights=np.empty(n_block if samples.weights.size else 0, np.int64),
        vectors=np.empty((n_fitted, size), np.int16),
    )


def make_partitions(n_nodes: int, max_partitions: int) -> Partitions:
    """No hyperplane kept yet."""
    return Partitions(
        kept=np.zeros((n_nodes, max_partitions), np.int64),
        n_kept=np.zeros(n_nodes, np.int64),
        n_children=np.zeros(n_nodes, np.int64),
        decrease=np.zeros(n_nodes),
    )


def make_tools(samples: Samples, n_bins: int, rules: Rules, largest: int, stop: Array) -> Tools:
    """Space of a thread, for nodes of at most `largest` samples."""
    n_views, size, n = samples.codes.shape[0], rules.subspace_size, rules.n_candidates
    tile, n_cells = min(TILE, n_views), 1 << rules.max_partitions
    n_runs = max(samples.n_classes, 1) + 1
    work = make_work(samples, max(n_bins, n_cells), largest, max(tile, size), max(n, tile), tile, stop)
    return Tools(
        work=work,
        keeping=make_keeping(samples, largest, 1, n_cells, n),
        ranking=make_ranking(n_views),
        ranks=Ranks(
            columns=np.arange(n_views, dtype=np.int32),
            by_rank=np.empty(n_views, np.int32),
            merged=np.empty(n_views, np.int32),
            seen=np.empty(n_features_of(samples) if samples.views.size else 0, np.bool_),
            chosen=np.empty(size, np.int64),
            varies=np.empty(size, np.bool_),
        ),
        fit=make_fit(samples, rules.n_fitted, size, work.block.projected.size),
        candidates=make_candidates(1, n, size),
        partitions=make_partitions(1, rules.max_partitions),
        racers=Node(
            order=np.empty(min(rules.racing_samples, largest), np.int32),  # smaller nodes do not race
            runs=np.empty(n_runs, np.int64),
            totals=np.empty(n_channels(samples), np.int64),
        ),
        spare=Spare(
            urn=Urn(np.empty(n_views, np.bool_), np.empty(n_views)),
            own=Own(np.empty(size, np.int64), np.empty(size)),
            chosen=np.empty(n, np.bool_),
            table=np.empty(table_size(n), np.int64),
            columns=np.empty(size, np.int64),
            moved=np.empty(largest, np.int32),
            counts=np.empty((n_cells, n_runs - 1), np.int64),
            places=np.empty((n_cells, n_runs - 1), np.int64),
        ),
    )


def batch_size(
    samples: Samples, test: Test, rules: Rules, n_threads: int, may_not_race: bool, racing_bytes: int = 0
) -> int:
    """How many nodes fit into a batch; racing_bytes: what the samples take that race in one of them."""
    n_cells, channels = 1 << rules.max_partitions, n_channels(samples)
    n_tested = max(rules.n_candidates, samples.codes.shape[0] if may_not_race else 0)
    sums = 8 * (n_tested * test.n_bins + 2 * n_cells) * channels
    counts = 8 * (n_threads + 4) * n_cells * max(samples.n_classes, 1)
    drawn = rules.n_candidates * (2 * rules.subspace_size + 32)
    return max(BATCH_BYTES // (sums + counts + drawn + racing_bytes), 1)


def no_racers(samples: Samples) -> Samples:
    """Racers of other partitions, where there are none."""
    names = ("codes", "targets", "remainders", "curvatures", "packed", "weights", "counts")
    none: dict[str, Any] = {name: getattr(samples, name)[..., :0].copy() for name in names}
    return samples._replace(**none)


def make_front(
    samples: Samples, test: Test, rules: Rules, n_threads: int, n_nodes: int, n_samples: int, may_not_race: bool
) -> Front:
    """Space for a batch of n_nodes nodes, of up to n_samples samples, that threads grow together."""
    n_views, size, n = samples.codes.shape[0], rules.subspace_size, rules.n_candidates
    n_ranked = n_views if may_not_race else 0
    n_cells, n_runs = 1 << rules.max_partitions, max(samples.n_classes, 1)
    m = min(size, MOST_FEATURES) + 2 if rules.n_fitted else 0
    counts = (n_nodes, n_cells, n_runs)
    own_counts = np.empty(counts, np.int64)
    return Front(
        flags=np.zeros(N_FLAGS, np.int64),
        number=np.empty(n_nodes, np.int64),
        offsets=np.zeros(n_nodes + 1, np.int64),
        raced=np.empty(n_nodes, np.bool_),
        ranged=np.empty(n_nodes, np.bool_),
        first=np.empty(n_nodes, np.int64),
        solved=np.empty(n_nodes, np.bool_),
        chosen=np.empty((n_nodes, size), np.int64),
        varies=np.empty((n_nodes, size), np.bool_),
        view_ranges=np.empty((n_nodes, n_ranked, 2), np.int32),
        candidates=make_candidates(n_nodes, n, size),
        sums=np.empty((n_nodes, max(n, n_ranked), test.n_bins, n_channels(samples)), np.int64),
        products=np.empty((n_nodes if may_not_race else 0, m, m), np.int64),
        partitions=make_partitions(n_nodes, rules.max_partitions),
        keeping=make_keeping(samples, n_samples, n_nodes, n_cells, n),
        tried=np.empty(n_nodes, np.int64),
        pending=np.empty(n_nodes, np.int64),
        counts=np.empty((n_threads, *counts), np.int64),
        own_counts=own_counts,
        whole_counts=own_counts,
        before=np.empty((0, n_cells, n_runs), np.int64),
        places=np.empty(counts, np.int64),
        moved=np.empty(n_samples, np.int32),
        child_offsets=np.empty(n_nodes * n_cells + 1, np.int64),
        described=np.empty((n_nodes * n_cells, FINE), np.int64),
        ends=np.empty((n_nodes * n_cells, 2), np.int32),
        stretches=np.empty((0, 2, n_runs), np.int64),
        racers=no_racers(samples),
        racer_order=np.empty(0, np.int32),
        racer_runs=np.empty((n_nodes, n_runs + 1), np.int64),
        drawn=np.empty((0, 0), np.int32),
    )
