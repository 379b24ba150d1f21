"""Steps 1 to 3 in a batch of nodes: the subspace, candidate projections, and the sums that tests are chosen by."""

import numpy as np

from sublearn.kernels.columns import clear
from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import count_of
from sublearn.kernels.discriminant import INT32_MAX, Projections, add_histograms, clear_ranges, store_best, widen_ranges
from sublearn.kernels.fitting import add_products, solve_pairs
from sublearn.kernels.front import FITTED, RANGED, SIZE, part_of_node
from sublearn.kernels.layout import NO, NOUGHT, YES, Node
from sublearn.kernels.level_nodes import is_mine, kept_totals
from sublearn.kernels.nodes import kinds_of, runs_of, totals_of
from sublearn.kernels.projection import draw_vectors
from sublearn.kernels.racing import place_racers, take_evenly
from sublearn.kernels.references import refer
from sublearn.kernels.searching import is_solved, projections_of, race
from sublearn.kernels.subspace import choose_subspace, take_axis_tests
from sublearn.kernels.team import add, is_stopped, lift, lower


@inner
def clear_sums(job, shared, front, j, n_projections):
    """Let the histograms of node j begin with nothing."""
    n_channels = kept_totals(job, shared, front, j).size
    for c in range(n_projections):
        clear(front.sums[j, c], n_channels)


@inner
def open_batch(job, team, shared, front, number):
    """Make room for what the samples of nodes that do not race tell of features alone."""
    for j in range(front.flags[SIZE]):
        if is_mine(j, number, team) and not front.raced[j]:
            n_views = front.view_ranges.shape[1]
            clear_sums(job, shared, front, j, n_views)
            for v in range(n_views):
                front.view_ranges[j, v, 0] = INT32_MAX
                front.view_ranges[j, v, 1] = -INT32_MAX


@inner
def draw_racers(job, team, shared, front, number):
    """Note which samples of this partition race."""
    m = job.rules.racing_samples
    for j in range(front.flags[SIZE]):
        if is_mine(j, number, team) and front.raced[j]:
            i = front.number[j]
            runs = runs_of(shared, i)
            own_runs = front.racer_runs[j, : runs.size]
            place_racers(shared.key[i], job.order, runs, front.stretches[i], m, front.drawn[j], own_runs, j * m)


@inner
def race_batch(job, team, shared, front, number, tools):
    """Steps 1 to 3 on some samples of each node that races; its finalists are left."""
    m = job.rules.racing_samples
    for j in range(front.flags[SIZE]):
        if not is_mine(j, number, team) or not front.raced[j]:
            continue
        i = front.number[j]
        runs = runs_of(shared, i)
        kinds = kinds_of(shared, i)
        totals = totals_of(shared, i, job.samples)
        count = count_of(totals, kinds.size)
        racers = tools.racers
        if team.is_linked:
            some = refer(Node(front.racer_order, front.racer_runs[j, : runs.size], racers.totals[: totals.size]))
            n = race(job, front.racers, some, shared.key[i], kinds, count, j, front.candidates, tools)
        else:
            own_runs = racers.runs[: runs.size]
            take_evenly(shared.key[i], job.order, runs, m, racers.order, NOUGHT, own_runs)
            some = refer(Node(racers.order, own_runs, racers.totals[: totals.size]))
            n = race(job, job.samples, some, shared.key[i], kinds, count, j, front.candidates, tools)
        begin_tests(job, shared, front, j, n == 0, NOUGHT)


@inner
def begin_tests(job, shared, front, j, is_ranged, first):
    """Make room for the tests of node j's candidates from `first` on, on all its samples."""
    n = front.candidates.sizes[j]
    for c in range(first, n):
        clear(front.sums[j, c], kept_totals(job, shared, front, j).size)
    front.ranged[j] = is_ranged and first < n
    if front.ranged[j]:
        ranges = front.candidates.ranges
        for c in range(first, n):
            ranges[j, c, 0] = INT32_MAX
            ranges[j, c, 1] = -INT32_MAX
        add(front.flags, RANGED, 1)


@section
def features_of(front, tools, j, at, end):
    """Features at to end alone, as projections of node j with room for ranges and tests of a thread's own."""
    return refer(
        Projections(
            features=tools.ranks.columns[at:end],
            columns=tools.work.columns,
            coefficients=tools.work.units,
            decrease=tools.ranking.decrease[at:end],
            threshold=tools.ranking.threshold[at:end],
            ranges=tools.ranking.ranges[at:end],
        )
    )


@inner
def take_view_ranges(front, tools, j):
    """Copy the ranges of features alone in node j to a thread's own room."""
    ranges = tools.ranking.ranges
    for v in range(ranges.shape[0]):
        ranges[v, 0] = front.view_ranges[j, v, 0]
        ranges[v, 1] = front.view_ranges[j, v, 1]


@inner
def add_view_ranges(job, team, shared, front, number, tools):
    """Find the ranges of features alone by a thread's share of nodes that do not race."""
    tile = tools.work.units.shape[0]
    n_views = front.view_ranges.shape[1]
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        if front.raced[j] or begin == end:
            continue
        for at in range(0, n_views, tile):
            last = min(at + tile, n_views)
            projections = features_of(front, tools, j, at, last)
            clear_ranges(projections, NOUGHT, last - at)
            widen_ranges(job.samples, job.order, begin, end, projections, NOUGHT, last - at, tools.work.block)
            for v in range(at, last):
                lower(front.view_ranges, 2 * (j * n_views + v), projections.ranges[v - at, 0])
                lift(front.view_ranges, 2 * (j * n_views + v) + 1, projections.ranges[v - at, 1])


@inner
def flush(histograms, n, n_channels, front, j, first):
    """Add n histograms of a thread to those of node j, from `first` on."""
    n_bins = front.sums.shape[2]
    width = front.sums.shape[3]
    for c in range(n):
        place = ((j * front.sums.shape[1] + first + c) * n_bins) * width
        for b in range(n_bins):
            for channel in range(n_channels):
                if histograms[c, b, channel] != 0:
                    add(front.sums, place + b * width + channel, histograms[c, b, channel])


@inner
def add_stretch(job, shared, front, j, begin, end, projections, first, last, at, tools):
    """Add positions begin to end of node j to its histograms of projections first to last, from `at` on."""
    histograms = tools.work.histograms
    n_channels = kept_totals(job, shared, front, j).size
    runs = runs_of(shared, front.number[j])
    for start in range(first, last, histograms.shape[0]):
        stop = min(start + histograms.shape[0], last)
        for c in range(stop - start):
            clear(histograms[c], n_channels)
        add_histograms(
            job.samples,
            job.order,
            runs,
            begin,
            end,
            job.test.n_bins,
            projections,
            start,
            stop,
            tools.work.block,
            histograms,
        )
        flush(histograms, stop - start, n_channels, front, j, at + start)


@inner
def add_view_sums(job, team, shared, front, number, tools):
    """Add a thread's share of nodes that do not race to the histograms of features alone."""
    tile = tools.work.units.shape[0]
    n_views = front.view_ranges.shape[1]
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        if front.raced[j] or begin == end or is_stopped(team.stop):
            continue
        take_view_ranges(front, tools, j)
        for at in range(0, n_views, tile):
            last = min(at + tile, n_views)
            projections = features_of(front, tools, j, at, last)
            add_stretch(job, shared, front, j, begin, end, projections, NOUGHT, last - at, at, tools)


@inner
def choose_subspaces(job, team, shared, front, number, tools):
    """Step 1 in nodes that do not race: features ranked by their histograms, and the subspace."""
    rules = job.rules
    ranking = tools.ranking
    ranks = tools.ranks
    for j in range(front.flags[SIZE]):
        if not is_mine(j, number, team) or front.raced[j]:
            continue
        i = front.number[j]
        totals = totals_of(shared, i, job.samples)
        take_view_ranges(front, tools, j)
        projections = features_of(front, tools, j, NOUGHT, ranking.decrease.size)
        for v in range(ranking.decrease.size):
            store_best(kinds_of(shared, i).size, totals, job.test, front.sums[j, v], projections, v, tools.work.below)
        subspace = front.candidates.subspace[j]
        views = job.samples.views
        choose_subspace(shared.key[i], views, rules.probabilities, ranking, ranks, tools.spare.urn, subspace)
        best = take_axis_tests(rules.n_axis, ranking, front.candidates, j)
        front.solved[j] = is_solved(best, shared.loss[i], job.test)
        for d in range(subspace.size):
            front.chosen[j, d] = ranks.chosen[d]
            front.varies[j, d] = ranks.varies[d]
        if tools.fit.vectors.shape[0] > 0 and not front.solved[j]:
            clear(front.products[j], front.products.shape[2])
            add(front.flags, FITTED, 1)


@inner
def add_all_products(job, team, shared, front, number, tools):
    """Add a thread's share to the products of features and targets, where pairs are to be fitted."""
    fit = tools.fit
    size = front.products.shape[1]
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        if front.raced[j] or front.solved[j] or begin == end:
            continue
        i = front.number[j]
        add_products(
            job.samples,
            job.order,
            runs_of(shared, i),
            totals_of(shared, i, job.samples),
            kinds_of(shared, i),
            shared.key[i],
            begin,
            end,
            front.candidates.subspace[j],
            tools.work.columns,
            NO,
            tools.work.block,
            fit,
        )
        for d in range(size):
            for e in range(d + 1):
                add(front.products, (j * size + d) * size + e, fit.sums[d, e])


@inner
def draw_batch(job, team, shared, front, number, tools):
    """Step 2 in nodes that do not race: fitted and drawn candidates."""
    rules = job.rules
    ranks = tools.ranks
    fit = tools.fit
    for j in range(front.flags[SIZE]):
        if not is_mine(j, number, team) or front.raced[j]:
            continue
        i = front.number[j]
        for d in range(ranks.chosen.size):
            ranks.chosen[d] = front.chosen[j, d]
            ranks.varies[d] = front.varies[j, d]
        n_fitted = np.int64(0)
        if fit.vectors.shape[0] > 0 and not front.solved[j]:
            for d in range(fit.sums.shape[0]):
                for e in range(d + 1):
                    fit.sums[d, e] = front.products[j, d, e]
            n_fitted = solve_pairs(ranks.varies, rules.height, fit)
        count = count_of(totals_of(shared, i, job.samples), kinds_of(shared, i).size)
        front.candidates.sizes[j] = draw_vectors(
            shared.key[i],
            count,
            rules,
            front.solved[j],
            fit.vectors,
            n_fitted,
            ranks,
            tools.spare,
            front.candidates.coefficients[j],
        )
        begin_tests(job, shared, front, j, YES, rules.n_axis)


@inner
def add_ranges(job, team, shared, front, number, tools):
    """Find the ranges of candidates by a thread's share, where no race has told them."""
    candidates = front.candidates
    n_each = candidates.ranges.shape[1]
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        first = front.first[j]
        last = candidates.sizes[j]
        if begin == end or not front.ranged[j]:
            continue
        projections = refer(
            Projections(
                features=candidates.subspace[j],
                columns=tools.work.columns,
                coefficients=candidates.coefficients[j],
                decrease=candidates.decrease[j],
                threshold=candidates.threshold[j],
                ranges=tools.candidates.ranges[0],
            )
        )
        clear_ranges(projections, first, last)
        widen_ranges(job.samples, job.order, begin, end, projections, first, last, tools.work.block)
        for c in range(first, last):
            lower(candidates.ranges, 2 * (j * n_each + c), projections.ranges[c, 0])
            lift(candidates.ranges, 2 * (j * n_each + c) + 1, projections.ranges[c, 1])


@inner
def add_sums(job, team, shared, front, number, tools):
    """Step 3, over samples: add a thread's share to the histograms of candidates."""
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        if begin < end and not is_stopped(team.stop):
            projections = projections_of(front.candidates, j, tools.work.columns)
            first = front.first[j]
            last = front.candidates.sizes[j]
            add_stretch(job, shared, front, j, begin, end, projections, first, last, NOUGHT, tools)
