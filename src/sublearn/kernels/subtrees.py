"""Whole subtrees: the five steps for a node and all below it, by one thread, without leaving compiled code.

Nodes wait in a list that all threads share, and whichever thread is free takes the next one; what is below a small node
stays with its thread.
"""

import numpy as np

from sublearn.kernels.compilation import bare_kernel, inner
from sublearn.kernels.criterion import SECOND_ORDER, describe_node
from sublearn.kernels.decorrelation import choose_in_node
from sublearn.kernels.layout import NOUGHT, Node
from sublearn.kernels.machine import SUBTREES
from sublearn.kernels.nodes import (
    ACTIVE,
    AT,
    CLAIMED,
    FILLED,
    FIRST,
    NODES,
    OPERATION,
    is_open,
    judge_totals,
    kinds_of,
    n_present,
    note_above,
    note_planes,
    note_runs,
    places_of,
    runs_of,
    take_shared,
    take_totals,
    totals_of,
)
from sublearn.kernels.partition import copy_back, count_cells, lay_out, move_samples
from sublearn.kernels.references import refer
from sublearn.kernels.searching import search_node
from sublearn.kernels.team import (
    COME,
    N_CLAIMED,
    N_FILLED,
    N_OPEN,
    N_SHARED,
    NEVER,
    TOGETHER,
    add,
    is_stopped,
    wait_for,
)

OF_A_CLASS = 3  # what a class costs in a bin of a test, in samples visited
OWN, CLAIMED_NOW, LATER, DONE = 0, 1, 2, 3  # where a thread's next node comes from; none now; none any more
WORKING, ALL_DONE = 0, 1  # what a thread comes back with


@inner
def visits_of(n, n_bins, n_kinds):
    """What a test costs in a node of n samples, in samples visited."""
    return n + OF_A_CLASS * n_bins * n_kinds


@inner
def next_node(team, shared, nodes, own):
    """Make sure that a thread's next node is one of its own, and say whose it was."""
    if own[AT] < own[NODES]:
        return OWN
    while True:
        if own[ACTIVE] == 0:
            own[CLAIMED] = add(team.counters, N_CLAIMED, 1)
            own[ACTIVE] = 1
        outcome = wait_for(team.counters, team.ready, own[CLAIMED], team.stop)
        if outcome != COME:
            return DONE if outcome == NEVER else LATER
        own[ACTIVE] = 0
        if team.ready[own[CLAIMED]] != TOGETHER:
            take_shared(shared, own[CLAIMED], nodes, own)
            return CLAIMED_NOW


@inner
def split_samples(job, node, n_planes, tools):
    """Step 5 for one node: its samples move to their cells, of which tools.spare gets counts and places."""
    spare = tools.spare
    begin = node.runs[0]
    end = node.runs[-1]
    n_runs = node.runs.size - 1
    counts = spare.counts[: 1 << n_planes]
    places = spare.places[: 1 << n_planes]
    cells = tools.keeping.kept_cells
    count_cells(node.runs, begin, end, cells, begin, counts)
    lay_out(begin, counts, n_runs, places)
    move_samples(job.order, node.runs, begin, end, cells, begin, places, spare.moved, begin)
    copy_back(spare.moved, begin, begin, end, job.order)
    lay_out(begin, counts, n_runs, places)


@inner
def add_child(job, team, target, is_shared, own, kinds, cell, end, tools):
    """Give the child in a cell, whose samples end at `end`, its place among nodes; returns its number."""
    counts = tools.spare.counts[cell]
    n_kinds = n_present(counts, kinds.size)
    n_places = places_of(n_kinds)
    if is_shared:
        j = add(team.counters, N_SHARED, 1)
        target.at[j] = add(team.counters, N_FILLED, n_places)
    else:
        j = own[NODES]
        target.at[j] = own[FILLED]
        own[NODES] += 1
        own[FILLED] += n_places
    note_runs(tools.spare.places[cell], end, counts, kinds, n_kinds, target.numbers, target.at[j])
    return j


@inner
def describe_child(job, grown, j, kinds, cell, tools):
    """Fill what is known of child j, whose samples are here."""
    samples = job.samples
    totals = totals_of(grown, j, samples)
    n_own = kinds_of(grown, j).size
    if kinds.size > 0 or job.test.criterion == SECOND_ORDER:
        take_totals(tools.keeping.kept_sums[0, cell], kinds.size, totals, n_own)
        judge_totals(job.test, n_own, grown, j, totals)
    else:
        found = describe_node(samples, job.order, runs_of(grown, j), job.test, totals)
        grown.remainder[j], grown.loss[j], grown.pure[j] = found


@inner
def add_children(job, team, shared, nodes, own, i, kinds, n_planes, tools):
    """Note the children of a thread's node i: large ones for all threads, the others for itself."""
    n_runs = max(kinds.size, 1)
    counts = tools.spare.counts
    places = tools.spare.places
    for cell in range(1 << n_planes):
        n = np.int64(0)
        for k in range(n_runs):
            n += counts[cell, k]
        if n == 0:
            continue
        is_shared = n > team.small
        target = shared if is_shared else nodes
        j = add_child(job, team, target, is_shared, own, kinds, cell, places[cell, 0] + n, tools)
        note_above(nodes.key[i], nodes.depth[i] + 1, own[FIRST] + i, cell, target, j)
        describe_child(job, target, j, kinds, cell, tools)
        if is_shared:
            add(team.counters, N_OPEN, 1)
            add(team.ready, j, 1)


@inner
def grow_node(job, team, shared, nodes, own, i, tools):
    """Take a thread's node i through the five steps, and note its children."""
    partitions = tools.partitions
    keeping = tools.keeping
    candidates = tools.candidates
    runs = runs_of(nodes, i)
    kinds = kinds_of(nodes, i)
    totals = totals_of(nodes, i, job.samples)
    partitions.n_kept[0] = 0
    partitions.decrease[0] = 0.0
    if is_open(nodes, i, totals, kinds.size, job.test, job.rules):
        node = refer(Node(job.order, runs, totals))
        loaded = search_node(job, node, nodes.key[i], kinds, nodes.loss[i], NOUGHT, candidates, tools)
        if is_stopped(team.stop):
            return
        choose_in_node(
            job.samples,
            node,
            job.test,
            job.rules.limits,
            candidates,
            NOUGHT,
            loaded,
            tools.spare.columns,
            tools.work.block,
            keeping,
            partitions,
        )
        if partitions.n_kept[0] > 0:
            split_samples(job, node, partitions.n_kept[0], tools)
    note_planes(candidates, NOUGHT, partitions, nodes, i, own)
    if partitions.n_kept[0] > 0:
        add_children(job, team, shared, nodes, own, i, kinds, partitions.n_kept[0], tools)


@inner
def grow_subtrees(job, team, shared, nodes, own, tools):
    """Grow what is below shared nodes; returns `ALL_DONE`, or `WORKING` where there is more: long work comes back."""
    visited = 0
    n_tests = job.rules.n_candidates + tools.ranks.columns.size
    while visited <= team.budget and not is_stopped(team.stop):
        source = next_node(team, shared, nodes, own)
        if source >= LATER:
            return ALL_DONE if source == DONE else WORKING
        i = own[AT]
        own[AT] += 1
        runs = runs_of(nodes, i)
        visited += visits_of(runs[-1] - runs[0], job.test.n_bins, kinds_of(nodes, i).size) * n_tests
        grow_node(job, team, shared, nodes, own, i, tools)
        if source == CLAIMED_NOW:
            add(team.counters, N_OPEN, -1)
    return WORKING


@bare_kernel
def grow_below(job, team, shared, nodes, own, tools):
    """Grow what is below shared nodes; a thread that is alone, the whole tree, for which it needs no other kernel.

    Arguments and what is returned are those of `grow` of `kernels.growing`.
    """
    job = refer(job)
    team = refer(team)
    shared = refer(shared)
    nodes = refer(nodes)
    tools = refer(tools)
    if own[OPERATION] != SUBTREES:  # it begins with the root
        shared.remainder[0], shared.loss[0], shared.pure[0] = describe_node(
            job.samples, job.order, runs_of(shared, 0), job.test, totals_of(shared, 0, job.samples)
        )
        own[OPERATION] = SUBTREES
    return grow_subtrees(job, team, shared, nodes, own, tools)
