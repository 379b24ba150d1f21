"""Scratch space for kernels, made once for many nodes; a kernel that allocates takes longer to compile."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.columns import CACHE, Block
from sublearn.kernels.decorrelation import Keeping, Partitions
from sublearn.kernels.discriminant import HISTOGRAMS, TILE, Found, Node, Work
from sublearn.kernels.fitting import MOST_FEATURES, Fit
from sublearn.kernels.growing import Ranks, Rules, Spare
from sublearn.kernels.layout import BLOCK, Array, Candidates, Samples, n_channels, n_features_of
from sublearn.kernels.projection import Own, Urn, table_size
from sublearn.kernels.team import Pool
from sublearn.kernels.threshold import Below

SOLO = Pool(
    n_threads=1, number=0, counters=np.zeros(1, np.int64), stop=np.zeros(1, np.int64), sums=np.empty((1, 0), np.int64)
)  # a thread that works by itself


class Scratch(NamedTuple):
    """All that one thread needs to grow trees."""

    work: Work
    keeping: Keeping
    ranking: Found
    ranks: Ranks
    fit: Fit
    candidates: Candidates
    partitions: Partitions
    racers: Node
    spare: Spare


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


def make_work(samples: Samples, n_bins: int, largest: int, n_columns: int, n_tested: int, tile: int = 0) -> Work:
    """Space for testing candidates over n_columns features, n_tested at a time at the most; `tile` features alone."""
    channels = n_channels(samples)
    n_tested = max(1, min(n_tested, HISTOGRAMS // (n_bins * channels)))
    histograms = np.empty((n_tested, n_bins, channels), np.int64)
    return Work(
        block=make_block(samples, n_columns, n_bins, largest),
        histograms=histograms,
        table=histograms.reshape(n_tested * n_bins, channels),
        below=make_below(channels, n_bins),
        columns=np.arange(n_columns),
        units=np.eye(tile, dtype=np.int16),
    )


def make_below(n_channels: int, n_bins: int) -> Below:
    """Space for finding a threshold."""
    weights, counts, moments = np.empty((3, n_bins), np.int64)
    return Below(
        classes=np.empty(n_channels, np.int64), weights=weights, counts=counts, moments=moments, values=np.empty(n_bins)
    )


def make_keeping(samples: Samples, largest: int, n_cells: int, n_candidates: int) -> Keeping:
    """Space for choosing hyperplanes that make up to n_cells children."""
    channels = n_channels(samples)
    return Keeping(
        kept_cells=np.empty(largest, np.uint8),
        tried_cells=np.empty(largest, np.uint8),
        tried_sums=np.empty((n_cells, channels), np.int64),
        kept_sums=np.empty((n_cells, channels), np.int64),
        cosine=np.empty(n_candidates),
    )


def make_found(n: int) -> Found:
    """Space for tests of n candidates."""
    return Found(decrease=np.empty(n), threshold=np.empty(n, np.int32), ranges=np.empty((n, 2), np.int32))


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


def make_scratch(samples: Samples, n_bins: int, rules: Rules, largest: int) -> Scratch:
    """Space for trees with nodes of at most `largest` samples."""
    n_views, size, n = samples.codes.shape[0], rules.subspace_size, rules.n_candidates
    tile, n_cells = min(TILE, n_views), 1 << rules.max_partitions
    n_runs = max(samples.n_classes, 1) + 1
    found = make_found(n)
    work = make_work(samples, max(n_bins, n_cells), largest, max(tile, size), max(n, tile), tile)
    return Scratch(
        work=work,
        keeping=make_keeping(samples, largest, n_cells, n),
        ranking=make_found(n_views),
        ranks=Ranks(
            columns=np.arange(n_views, dtype=np.int32),
            by_rank=np.empty(n_views, np.int32),
            merged=np.empty(n_views, np.int32),
            seen=np.empty(n_features_of(samples) if samples.views.size else 0, np.bool_),
            chosen=np.empty(size, np.int64),
            varies=np.empty(size, np.bool_),
        ),
        fit=make_fit(samples, rules.n_fitted, size, work.block.projected.size),
        candidates=Candidates(
            subspace=np.empty((1, size), np.int32),
            coefficients=np.empty((1, n, size), np.int16),
            sizes=np.empty(1, np.int64),
            decrease=found.decrease[None],
            threshold=found.threshold[None],
            ranges=found.ranges[None],
        ),
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
            place=np.empty((n_cells, n_runs - 1), np.int64),
            child_runs=np.empty((n_cells, n_runs), np.int64),
            child_cells=np.empty(n_cells, np.int64),
            own_runs=np.empty(n_runs, np.int64),
        ),
    )


def largest_node(runs: Array) -> int:
    """Samples of the largest of some nodes."""
    return int((runs[:, -1] - runs[:, 0]).max(initial=1))
