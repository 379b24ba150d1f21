"""Whole trees: the five steps for a node and all below it, without leaving compiled code.

Several threads may do so together. On a large node all of them work at once, each on its share of the samples. Other
nodes wait in a list that all threads share, and whichever thread is free takes the next one; what is below a small node
stays with its thread.
Nodes go through the same steps as in the level-by-level loop of `core.tree.levels`, and come out the same, whatever the
number of threads.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import mix
from sublearn.kernels.compilation import bare_kernel, inner, section
from sublearn.kernels.criterion import ROUNDING, SECOND_ORDER, count_of, describe_node, newton_loss, weight_of
from sublearn.kernels.decorrelation import choose_in_node
from sublearn.kernels.discriminant import Found, Node, is_whole, test_candidates
from sublearn.kernels.fitting import fit_pairs
from sublearn.kernels.layout import CONSTANT, Array, Test
from sublearn.kernels.partition import move_samples
from sublearn.kernels.projection import CHILDREN, Own, Urn, draw_subspace, draw_vectors
from sublearn.kernels.racing import keep_finalists, take_evenly
from sublearn.kernels.team import (
    COME,
    N_CLAIMED,
    N_COMMON,
    N_FILLED,
    N_OPEN,
    N_SHARED,
    NEVER,
    Pool,
    add,
    is_stopped,
    load,
    meet,
    wait_for,
)

NEARLY = 0.75  # of the best view's loss decrease; a view that is preferred to it needs no more

# places in the state of a thread, which `grow` keeps between calls
FIRST, NODES, PLANES, TERMS, CELLS, ENTERED, AT, CLAIMED, ACTIVE, COMMON, MET, ALONE, FILLED = range(13)
N_STATES = 16  # more than are used, so that each thread has cache lines of its own
RANKING, DRAWN, FINALS = 0, 1, 2  # what is being tested: features alone, candidates, finalists of a race
OF_A_CLASS = 3  # what a class costs in a bin of a test, in samples visited


class Rules(NamedTuple):
    """How nodes are split, and which; see `TreeParameters`."""

    listed: Array  # int16 (n_listed, subspace_size), as in `Plan`
    n_axis: int  # how many of the listed vectors are basis vectors
    height: int  # the largest coefficient of a fitted vector
    rounds: NamedTuple  # `DrawingRounds`
    subspace_size: int
    probabilities: Array  # float64 (n_features,) of the ranks; empty: the best are taken
    max_partitions: int
    limits: tuple[float, float]  # largest squared cosine, smallest share of the best decrease
    max_depth: int
    min_split: int  # samples a node needs to be split
    min_loss: float  # the loss it needs
    racing_samples: int  # 0: no races
    n_finalists: int
    n_fitted: int
    n_candidates: int


class Grown(NamedTuple):
    """Nodes that have been grown, parents before their children, with room for more; a part of a tree.

    A node has numbers for those classes only that it has samples of: of many classes, a small node has few. From its
    place `at` on come how many these are (0 for regression), runs and totals as in `Level`, with room for at least one
    class and a number more, and numbers of the classes. As an example, a node with five samples of class 0 and two of
    class 3, at positions 10 to 16; a dot is room that is not used:

        places    at   at + 1        at + 5       at + 9
        numbers   2    10 15 17 .    5 2 . .      0 3
                  n    runs          totals       classes
    """

    parent: Array  # int64, its number among the nodes of all threads; -1 for the root
    cell: Array  # int64, child code
    depth: Array  # int64
    at: Array  # int64
    numbers: Array  # int64
    remainder: Array  # int64
    loss: Array  # float64
    pure: Array  # bool
    key: Array  # uint64
    n_planes: Array  # int64, 0 for a leaf
    decrease: Array  # float64
    # hyperplanes
    threshold: Array  # int32
    plane_decrease: Array  # float64
    n_terms: Array  # int64
    # terms
    feature: Array  # int32
    coefficient: Array  # int16


class Team(NamedTuple):
    """How threads work together, and what they tell each other."""

    n_threads: int
    large: int  # nodes of more samples are worked on by all threads at once
    small: int  # what is below nodes of so many samples stays with one thread
    counters: Array  # see `team`
    stop: Array  # int64 (1,), not 0 when the tree is no longer wanted
    sums: Array  # int64 (n_threads, n), as in `Pool`
    moved: Array  # int32 (n_samples,), for `move_samples`
    ready: Array  # int64, for each shared node: 0 not yet there, 1 can be taken, 2 done by all threads together
    budget: int  # samples visited, by all tests, after which a thread comes back
    comes_back: bool  # whether all threads come back once no node is large


class Ranks(NamedTuple):
    """Space for ranked features."""

    columns: Array  # int32 (n_views,), 0, 1, 2 and so on
    by_rank: Array  # int32 (n_views,)
    merged: Array  # int32 (n_views,)
    seen: Array  # bool (n_features,), whether a better view of the feature has come; empty when each has one
    chosen: Array  # int64 (subspace_size,), ranks
    varies: Array  # bool (subspace_size,)


class Spare(NamedTuple):
    """Scratch space for the steps of one node."""

    urn: Urn  # for draws of features
    own: Own
    chosen: Array  # bool (n_candidates,), finalists
    table: Array  # int64 (`table_size`,)
    columns: Array  # int64 (subspace_size,), where the block has the features of the subspace
    moved: Array  # int32 (largest,)
    place: Array  # int64 (n_cells, n_classes)
    child_runs: Array  # int64 (n_cells, n_classes + 1)
    child_cells: Array  # int64 (n_cells,)
    own_runs: Array  # int64 (n_classes + 1,), the thread's share of a node


@inner
def share_of(runs, number, n_threads, out):
    """Runs of the samples of a node that are one thread's share: about as many as each other's."""
    size = runs[-1] - runs[0]
    first = runs[0] + size * number // n_threads
    last = runs[0] + size * (number + 1) // n_threads
    for k in range(runs.size):
        out[k] = min(max(runs[k], first), last)


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
    for f in range(ranks.seen.size):
        ranks.seen[f] = False
    n = 0
    for d in range(views.shape[1]):
        v = ranks.by_rank[d]
        f = views[0, v]
        if not ranks.seen[f]:
            ranks.seen[f] = True
            other = views[1, v]
            ranks.by_rank[n] = other if decrease[other] >= NEARLY * decrease[v] else v
            n += 1
    return n


@inner
def choose_subspace(key, views, probabilities, ranking, ranks, urn, subspace):
    """Fill the subspace of a node from its ranked features; one of several views is there by its best."""
    sort_by_rank(ranking.decrease, ranks.by_rank, ranks.merged)
    n_features = ranks.columns.size
    if views.size:
        n_features = leave_best_views(views, ranking.decrease, ranks)
    if probabilities.size and subspace.size < n_features:
        draw_subspace(key, probabilities, urn, ranks.chosen)
    else:
        for d in range(subspace.size):
            ranks.chosen[d] = d
    for d in range(subspace.size):
        f = ranks.by_rank[ranks.chosen[d]]
        subspace[d] = f
        ranks.varies[d] = ranking.threshold[f] != CONSTANT


@inner
def take_axis_tests(n_axis, ranking, subspace, found):
    """Copy the tests of basis vectors, which are features alone, from the ranking; returns the largest decrease."""
    best = 0.0
    for c in range(found.decrease.size):
        found.decrease[c] = 0.0
    for d in range(n_axis):
        f = subspace[d]
        found.decrease[d] = ranking.decrease[f]
        found.threshold[d] = ranking.threshold[f]
        found.ranges[d, 0] = ranking.ranges[f, 0]
        found.ranges[d, 1] = ranking.ranges[f, 1]
        best = max(best, ranking.decrease[f])
    return best


@inner
def is_open(grown, i, totals, n_kinds, test, max_depth, min_split, min_loss):
    """Whether node i may be split."""
    weight = weight_of(totals, n_kinds)
    count = count_of(totals, n_kinds)
    return (
        grown.depth[i] < max_depth
        and count >= min_split
        and weight >= 2 * test.min_weight
        and grown.loss[i] >= min_loss
        and not grown.pure[i]
    )


@inner
def note_planes(candidates, kept, n_kept, grown, plane, term):
    """Write the kept hyperplanes to `grown`; returns where the next ones go."""
    for slot in range(n_kept):
        c = kept[0, slot]
        grown.threshold[plane] = candidates.threshold[0, c]
        grown.plane_decrease[plane] = candidates.decrease[0, c]
        grown.n_terms[plane] = 0
        for d in range(candidates.subspace.shape[1]):
            if candidates.coefficients[0, c, d] != 0:
                grown.feature[term] = candidates.subspace[0, d]
                grown.coefficient[term] = candidates.coefficients[0, c, d]
                grown.n_terms[plane] += 1
                term += 1
        plane += 1
    return plane, term


@inner
def room_of(n_kinds):
    """Places for the runs of a node with so many classes, or for its totals."""
    return max(n_kinds, 1) + 2


@inner
def places_of(n_kinds):
    """How many places the numbers of a node with so many classes take in `Grown`."""
    return 1 + 2 * room_of(n_kinds) + n_kinds


@section
def runs_of(grown, i):
    """Runs of node i."""
    at = grown.at[i]
    return grown.numbers[at + 1 : at + 2 + max(grown.numbers[at], 1)]


@section
def totals_of(grown, i, samples):
    """Totals of node i."""
    at = grown.at[i]
    n_kinds = grown.numbers[at]
    first = at + 1 + room_of(n_kinds)
    n = n_kinds if n_kinds > 0 else 2
    return grown.numbers[first : first + n + (1 if samples.weights.size or samples.curvatures.size else 0)]


@section
def kinds_of(grown, i):
    """Numbers of the classes of node i."""
    at = grown.at[i]
    n_kinds = grown.numbers[at]
    first = at + 1 + 2 * room_of(n_kinds)
    return grown.numbers[first : first + n_kinds]


@inner
def visits_of(n, n_bins, n_kinds):
    """What a test costs in a node of n samples, in samples visited."""
    return n + OF_A_CLASS * n_bins * n_kinds


@inner
def n_present(runs, n_kinds):
    """How many of a node's classes have samples in a child."""
    n = np.int64(0)
    for k in range(n_kinds):
        if runs[k + 1] > runs[k]:
            n += 1
    return n


@inner
def note_runs(runs, kinds, n_kinds, numbers, at):
    """Write the runs and classes of a node to its place, but for classes that have no samples; `n_kinds` have some."""
    numbers[at] = n_kinds
    n = at + 1
    if n_kinds == 0:
        numbers[n] = runs[0]
        numbers[n + 1] = runs[1]
        return
    for k in range(kinds.size):
        if runs[k + 1] > runs[k]:
            numbers[n + 2 * room_of(n_kinds)] = kinds[k]
            numbers[n] = runs[k]
            n += 1
    numbers[n] = runs[kinds.size]


@inner
def describe_child(samples, order, test, sums, key, depth, parent, grown, i):
    """Fill what is known of node i, whose runs and cell are noted; `sums` are those of its cell."""
    grown.parent[i] = parent
    grown.depth[i] = depth
    grown.key[i] = mix(mix(key, CHILDREN), grown.cell[i])
    totals = totals_of(grown, i, samples)
    if test.criterion == SECOND_ORDER:
        for channel in range(totals.size):
            totals[channel] = sums[grown.cell[i], channel]
        grown.remainder[i] = 0
        grown.loss[i] = newton_loss(test, totals)
        grown.pure[i] = False
    else:
        runs = runs_of(grown, i)
        grown.remainder[i], grown.loss[i], grown.pure[i] = describe_node(samples, order, runs, test, totals)


@inner
def take_shared(shared, number, own, i, at):
    """Copy a shared node to node i of a thread's own, whose numbers begin at `at`; returns the next free place."""
    own.parent[i] = shared.parent[number]
    own.cell[i] = shared.cell[number]
    own.depth[i] = shared.depth[number]
    own.key[i] = shared.key[number]
    own.remainder[i] = shared.remainder[number]
    own.loss[i] = shared.loss[number]
    own.pure[i] = shared.pure[number]
    own.at[i] = at
    first = shared.at[number]
    n = places_of(shared.numbers[first])
    for k in range(n):
        own.numbers[at + k] = shared.numbers[first + k]
    return at + n


@bare_kernel
def grow(
    samples,
    order,
    test,
    rules,
    team,
    shared,
    number,
    nodes,
    own,
    work,
    keeping,
    ranking,
    ranks,
    fit,
    candidates,
    partitions,
    racers,
    spare,
):
    """Grow a tree with the other threads of the team. Returns whether that is done: long work comes back in between.

    All threads come back at the same node while they work together, and once more when they no longer do if the team
    asks for it.

    `shared` (`Grown`) has the nodes that any thread may take, the root first; `nodes` are those that this thread has
    grown, and `own` is its state. First all threads together take large nodes through the steps, and the first thread
    notes what comes out. In the end every node is with one thread, and in `order` the samples of each leaf are
    together.

    Three names run through all steps. `n_met` is the number of the threads' next meeting (`meet` of `team`): a step in
    which they may meet takes it and returns the next. `loaded` tells that the block holds the node's columns already,
    so that they need not be gathered. `known` tells that the ranges of candidates are known from a race.

    The arguments from `work` on are scratch space. All tests of features and candidates are one call in a loop over
    what is to be tested: written out in several places, they would take several times as long to compile.
    """
    entered = own[ENTERED] != 0
    own[ENTERED] = 1
    counters = team.counters
    if number == 0 and not entered:
        shared.remainder[0], shared.loss[0], shared.pure[0] = describe_node(
            samples, order, runs_of(shared, 0), test, totals_of(shared, 0, samples)
        )
    together = team.n_threads > 1 and own[ALONE] == 0
    n_views = samples.codes.shape[0]
    tile = work.units.shape[0]
    size = rules.subspace_size
    block = work.block
    columns = spare.columns
    child_runs = spare.child_runs
    tests = Found(candidates.decrease[0], candidates.threshold[0], candidates.ranges[0])
    loose = Test(  # for races: the minima of a split are for all samples of a node
        criterion=test.criterion,
        n_bins=test.n_bins,
        min_count=1,
        min_weight=1,
        l2=test.l2,
        min_gain=0.0,
        n_log_n=test.n_log_n,
    )
    all_threads = Pool(team.n_threads, number, counters, team.stop, team.sums)
    one_thread = Pool(1, 0, counters, team.stop, team.sums)
    visited = 0
    n_met = own[MET] + 1
    common = own[COMMON]
    while visited <= team.budget and not is_stopped(team.stop):
        # the next node, which is number i in `grown`
        is_shared = True
        if together:
            common = own[COMMON]
            own[COMMON] += 1
            if number == 0:
                counters[N_COMMON] = load(counters, N_SHARED)  # which grows further once a thread is alone
            n_met = meet(counters, team.stop, team.n_threads, n_met)
            if common == load(counters, N_COMMON):
                together = False
                own[ALONE] = 1
                if team.comes_back:
                    return False
                continue
            i = common
            grown = shared
            runs = runs_of(grown, i)
            n = runs[-1] - runs[0]
            if n <= team.large:
                continue
        else:
            grown = nodes
            is_shared = own[AT] == own[NODES]
            if is_shared:
                if own[ACTIVE] == 0:
                    own[CLAIMED] = add(counters, N_CLAIMED, 1)
                    own[ACTIVE] = 1
                outcome = wait_for(counters, team.ready, own[CLAIMED], team.stop)
                if outcome != COME:
                    return outcome == NEVER
                own[ACTIVE] = 0
                if team.ready[own[CLAIMED]] == 2:
                    continue
                own[FILLED] = take_shared(shared, own[CLAIMED], nodes, own[NODES], own[FILLED])
                own[NODES] += 1
            i = own[AT]
            own[AT] += 1
            runs = runs_of(grown, i)
            n = runs[-1] - runs[0]
        kinds = kinds_of(grown, i)
        n_kinds = kinds.size
        totals = totals_of(grown, i, samples)
        visited += visits_of(n, test.n_bins, n_kinds) * (rules.n_candidates + n_views)
        opened = is_open(grown, i, totals, n_kinds, test, rules.max_depth, rules.min_split, rules.min_loss)
        begin = runs[0]
        key = grown.key[i]
        pool = all_threads if together else one_thread
        own_runs = spare.own_runs[: runs.size]
        share_of(runs, pool.number, pool.n_threads, own_runs)
        node = Node(order, own_runs, totals)
        some = Node(racers.order, racers.runs[: runs.size], racers.totals[: totals.size])
        # steps 1 to 3: features are ranked tile by tile, then candidates drawn and tested; where these race, finalists
        # follow. A race is so short that each thread runs it whole
        loss = grown.loss[i]
        raced = rules.racing_samples > 0 and n >= 2 * rules.racing_samples
        source = some if raced else node
        used = loose if raced else test
        used_pool = one_thread if raced else pool
        if raced and opened:
            take_evenly(key, order, runs, rules.racing_samples, some.order, 0, some.runs)
            _, loss, _ = describe_node(samples, some.order, some.runs, test, some.totals)
        if test.criterion == SECOND_ORDER:
            loss = np.inf
        at = 0
        step = RANKING
        known = np.bool_(False)
        loaded = np.bool_(False)
        while opened:
            if step == RANKING:
                end = min(at + tile, n_views)
                found = Found(ranking.decrease[at:end], ranking.threshold[at:end], ranking.ranges[at:end])
                features = ranks.columns[at:end]
                coefficients = work.units
                first = 0
                last = end - at
                used_columns = work.columns
                at = end
            else:
                found = tests
                features = candidates.subspace[0]
                coefficients = candidates.coefficients[0]
                first = 0 if step == FINALS else rules.n_axis
                last = candidates.sizes[0]
                used_columns = columns
            n_met = test_candidates(
                samples,
                source,
                used,
                features,
                used_columns,
                coefficients,
                first,
                last,
                known,
                loaded,
                work,
                found,
                used_pool,
                n_met,
            )
            if is_stopped(team.stop):
                opened = False
                break
            if last > first:
                loaded = used_pool.n_threads == 1 and is_whole(source, block)  # with what was tested just now
            if step == RANKING and at < n_views:
                loaded = np.bool_(False)
                continue
            if step == RANKING:
                subspace = candidates.subspace[0]
                choose_subspace(key, samples.views, rules.probabilities, ranking, ranks, spare.urn, subspace)
                best = take_axis_tests(rules.n_axis, ranking, subspace, tests)
                solved = best >= loss * (1.0 - ROUNDING)
                loaded = loaded and n_views <= tile
                for d in range(size):
                    columns[d] = subspace[d] if loaded else d
                n_fitted = np.int64(0)
                if fit.vectors.shape[0] > 0 and not solved:
                    n_fitted, n_met = fit_pairs(
                        samples,
                        source,
                        kinds,
                        key,
                        subspace,
                        columns,
                        ranks.varies,
                        rules.height,
                        loaded,
                        block,
                        fit,
                        used_pool,
                        n_met,
                    )
                candidates.sizes[0] = draw_vectors(
                    key,
                    count_of(totals, n_kinds),
                    rules.listed,
                    rules.n_axis,
                    solved,
                    fit.vectors,
                    n_fitted,
                    ranks.varies,
                    ranks.chosen,
                    rules.rounds,
                    spare.table,
                    spare.own,
                    spare.urn,
                    candidates.coefficients[0],
                )
                step = DRAWN
            elif step == DRAWN and raced:
                n_finalists = keep_finalists(
                    rules.n_finalists,
                    candidates.sizes[0],
                    candidates.coefficients[0],
                    candidates.decrease[0],
                    candidates.ranges[0],
                    spare.chosen,
                )
                known = n_finalists > 0
                if known:
                    candidates.sizes[0] = n_finalists
                source = node
                used = test
                used_pool = pool
                loaded = False
                for d in range(size):
                    columns[d] = d
                step = FINALS
            else:
                break
        # steps 4 and 5
        partitions.n_kept[0] = 0
        partitions.n_children[0] = 0
        partitions.decrease[0] = 0.0
        if opened:
            n_met = choose_in_node(
                samples,
                node,
                test,
                candidates,
                0,
                rules.limits,
                loaded,
                block,
                columns,
                keeping,
                partitions,
                pool,
                n_met,
            )
        n_children = 0
        if partitions.n_kept[0] > 0:
            moved = team.moved if together else spare.moved
            n_children, n_met = move_samples(
                order,
                begin,
                own_runs,
                keeping.kept_cells,
                spare.place[: 1 << partitions.n_kept[0]],
                moved,
                0 if together else begin,
                0,
                child_runs,
                spare.child_cells,
                pool,
                n_met,
            )
        if together:
            if number > 0:
                continue
            i = own[NODES]  # from here on it is one of the first thread's own
            own[FILLED] = take_shared(shared, common, nodes, i, own[FILLED])
            own[NODES] += 1
            own[AT] += 1
            team.ready[common] = 2
        nodes.n_planes[i] = partitions.n_kept[0]
        nodes.decrease[i] = partitions.decrease[0]
        own[PLANES], own[TERMS] = note_planes(
            candidates, partitions.kept, partitions.n_kept[0], nodes, own[PLANES], own[TERMS]
        )
        if n_children > 0:
            own[CELLS] += 1 << partitions.n_kept[0]
        depth = nodes.depth[i] + 1
        for child in range(n_children):
            its_runs = child_runs[child, : max(n_kinds, 1) + 1]
            to_share = together or its_runs[-1] - its_runs[0] > team.small
            target = shared if to_share else nodes
            j = add(counters, N_SHARED, 1) if to_share else own[NODES]
            target.cell[j] = spare.child_cells[child]
            n_own = n_present(its_runs, n_kinds)
            n_places = places_of(n_own)
            target.at[j] = add(counters, N_FILLED, n_places) if to_share else own[FILLED]
            note_runs(its_runs, kinds, n_own, target.numbers, target.at[j])
            describe_child(samples, order, test, keeping.kept_sums, key, depth, own[FIRST] + i, target, j)
            if to_share:
                add(counters, N_OPEN, 1)
                add(team.ready, j, 1)
            else:
                own[NODES] += 1
                own[FILLED] += n_places
        if is_shared:
            add(counters, N_OPEN, -1)
    own[MET] = n_met - 1
    return False
