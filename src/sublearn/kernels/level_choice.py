"""Steps 3 and 4 in a batch of nodes: the best threshold of each candidate, and the hyperplanes that are kept."""

import numpy as np

from sublearn.kernels.columns import clear
from sublearn.kernels.compilation import inner
from sublearn.kernels.decorrelation import add_cells, begin_choosing, judge, try_side
from sublearn.kernels.discriminant import store_best
from sublearn.kernels.front import AS_IT_IS, FROM_PLANE, FROM_TRIED, SIZE, TRIED, part_of_node
from sublearn.kernels.layout import NO, NOUGHT
from sublearn.kernels.level_nodes import is_mine, kept_totals
from sublearn.kernels.nodes import kinds_of, runs_of, totals_of
from sublearn.kernels.searching import projections_of
from sublearn.kernels.team import add


@inner
def sums_by_histogram(job, shared, front, j, c):
    """Fill the sums of the two cells that candidate c makes of node j from its histogram."""
    candidates = front.candidates
    n_channels = kept_totals(job, shared, front, j).size
    tried = front.keeping.tried_sums[j]
    clear(tried[:2], n_channels)
    low = np.int64(candidates.ranges[j, c, 0])
    span = np.int64(candidates.ranges[j, c, 1]) - low
    n_bins = job.test.n_bins
    for b in range(n_bins):
        is_positive = low + (b * span + n_bins - 1) // n_bins >= candidates.threshold[j, c]
        for channel in range(n_channels):
            tried[1 if is_positive else 0, channel] += front.sums[j, c, b, channel]


@inner
def choose_batch(job, team, shared, front, number, tools):
    """Steps 3 and 4: the best threshold of each candidate, and the best hyperplane, whose cells its histogram tells."""
    candidates = front.candidates
    partitions = front.partitions
    for j in range(front.flags[SIZE]):
        if not is_mine(j, number, team):
            continue
        i = front.number[j]
        totals = totals_of(shared, i, job.samples)
        n_kinds = kinds_of(shared, i).size
        projections = projections_of(candidates, j, tools.work.columns)
        for c in range(front.first[j], candidates.sizes[j]):
            store_best(n_kinds, totals, job.test, front.sums[j, c], projections, c, tools.work.below)
        own_counts = front.own_counts[j]
        clear(own_counts, own_counts.shape[1])
        limits = job.rules.limits
        c = begin_choosing(totals, n_kinds, job.test, limits, candidates, j, front.keeping, partitions)
        front.pending[j] = FROM_PLANE
        if c >= front.first[j]:
            sums_by_histogram(job, shared, front, j, c)
            _, c = judge(totals, n_kinds, job.test, limits, candidates, j, c, front.keeping, partitions)
        try_next(front, j, totals.size, c)


@inner
def try_next(front, j, n_channels, c):
    """Let candidate c be tried in node j, or none where c is -1."""
    front.tried[j] = c
    if c >= 0:
        clear(front.keeping.tried_sums[j], n_channels)
        add(front.flags, TRIED, 1)


@inner
def renew_cells(job, front, j, begin, end, tools):
    """Let the kept cells of samples at positions begin to end of node j be those of the hyperplanes kept so far."""
    keeping = front.keeping
    kept = keeping.kept_cells
    tried = keeping.tried_cells
    pending = front.pending[j]
    if pending == FROM_PLANE:
        for p in range(begin, end):
            kept[p] = 0
        if front.partitions.n_kept[j] > 0:
            c = front.partitions.kept[j, 0]
            try_side(
                job.samples, job.order, begin, end, NOUGHT, front.candidates, j, c, NOUGHT, tools.work.block, keeping
            )
            pending = FROM_TRIED
    if pending == FROM_TRIED:
        for p in range(begin, end):
            kept[p] = tried[p]


@inner
def add_all_cells(job, team, shared, front, number, tools):
    """Step 4, over samples: add a thread's share to the sums of the cells that are tried."""
    keeping = front.keeping
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        c = front.tried[j]
        if c < 0 or begin == end:
            continue
        renew_cells(job, front, j, begin, end, tools)
        bit = front.partitions.n_kept[j]
        try_side(job.samples, job.order, begin, end, NOUGHT, front.candidates, j, c, bit, tools.work.block, keeping)
        n_channels = kept_totals(job, shared, front, j).size
        sums = tools.keeping.tried_sums[0, : 2 << bit]
        clear(sums, n_channels)
        runs = runs_of(shared, front.number[j])
        add_cells(job.samples, job.order, runs, begin, end, NOUGHT, NO, tools.work.block, keeping, sums)
        n_cells = keeping.tried_sums.shape[1]
        width = keeping.tried_sums.shape[2]
        for cell in range(2 << bit):
            for channel in range(n_channels):
                add(keeping.tried_sums, (j * n_cells + cell) * width + channel, sums[cell, channel])


@inner
def judge_batch(job, team, shared, front, number):
    """Step 4: whether what was tried is kept, and what is tried next."""
    for j in range(front.flags[SIZE]):
        c = front.tried[j]
        if is_mine(j, number, team) and c >= 0:
            i = front.number[j]
            totals = totals_of(shared, i, job.samples)
            n_kinds = kinds_of(shared, i).size
            limits = job.rules.limits
            is_kept, following = judge(
                totals, n_kinds, job.test, limits, front.candidates, j, c, front.keeping, front.partitions
            )
            front.pending[j] = FROM_TRIED if is_kept else AS_IT_IS
            add(front.flags, TRIED, -1)
            try_next(front, j, totals.size, following)
