"""Step 5 in a batch of nodes: children get numbers and places, and samples move to them."""

import numpy as np

from sublearn.kernels.compilation import inner
from sublearn.kernels.criterion import SECOND_ORDER
from sublearn.kernels.front import SIZE, part_of_node
from sublearn.kernels.layout import NOUGHT
from sublearn.kernels.level_choice import renew_cells
from sublearn.kernels.level_nodes import list_described
from sublearn.kernels.nodes import (
    AT,
    FIRST,
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
from sublearn.kernels.team import N_FILLED, N_OPEN, N_SHARED, TOGETHER, add, load


@inner
def count_batch(job, team, shared, front, number, tools):
    """Step 5: count a thread's share of samples by cell and run."""
    n_cells = front.own_counts.shape[1]
    n_runs = front.own_counts.shape[2]
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        used = 1 << front.partitions.n_kept[j]
        if used == 1:
            continue
        runs = runs_of(shared, front.number[j])
        counts = tools.spare.counts[:used]
        renew_cells(job, front, j, begin, end, tools)
        count_cells(runs, begin, end, front.keeping.kept_cells, NOUGHT, counts)
        own = front.counts[number, j]
        for cell in range(used):
            for k in range(runs.size - 1):
                own[cell, k] = counts[cell, k]
                if counts[cell, k] > 0:
                    add(front.own_counts, (j * n_cells + cell) * n_runs + k, counts[cell, k])


@inner
def add_shared_child(job, team, shared, front, j, parent, cell, kinds, n_runs):
    """Give the child in a cell of node j its number and place among the shared nodes."""
    i = front.number[j]
    whole = front.whole_counts[j, cell]
    places = front.places[j, cell]
    n = np.int64(0)
    for k in range(n_runs):
        n += front.own_counts[j, cell, k]
    child = add(team.counters, N_SHARED, 1)
    n_kinds = n_present(whole, kinds.size)
    shared.at[child] = add(team.counters, N_FILLED, places_of(n_kinds))
    note_runs(places, places[0] + n, whole, kinds, n_kinds, shared.numbers, shared.at[child])
    note_above(shared.key[i], shared.depth[i] + 1, parent, cell, shared, child)
    totals = totals_of(shared, child, job.samples)
    take_totals(front.keeping.kept_sums[j, cell], kinds.size, totals, n_kinds)
    if n_kinds > 0 or job.test.criterion == SECOND_ORDER:
        judge_totals(job.test, n_kinds, shared, child, totals)
    if team.is_linked:
        at = 0
        for k in range(n_runs):
            if n_kinds == 0 or whole[k] > 0:
                front.stretches[child, 0, at] = whole[k]
                front.stretches[child, 1, at] = front.before[j, cell, k]
                at += 1
    add(team.counters, N_OPEN, 1)
    team.ready[child] = 1


@inner
def end_batch(job, team, shared, front, nodes, own):
    """Note the nodes of a batch, and give their children numbers and places, by the first thread."""
    first_child = load(team.counters, N_SHARED)
    for j in range(front.flags[SIZE]):
        i = front.number[j]
        kinds = kinds_of(shared, i)
        runs = runs_of(shared, i)
        n_runs = runs.size - 1
        number = take_shared(shared, i, nodes, own)
        own[AT] += 1
        note_planes(front.candidates, j, front.partitions, nodes, number, own)
        team.ready[i] = TOGETHER
        n_kept = front.partitions.n_kept[j]
        if n_kept > 0:
            lay_out(runs[0], front.own_counts[j, : 1 << n_kept], n_runs, front.places[j])
        for cell in range(1 << n_kept if n_kept > 0 else 0):
            n = np.int64(0)
            for k in range(n_runs):
                n += front.whole_counts[j, cell, k]
            if n > 0:
                add_shared_child(job, team, shared, front, j, own[FIRST] + number, cell, kinds, n_runs)
        add(team.counters, N_OPEN, -1)
    list_described(job, front, shared, first_child, load(team.counters, N_SHARED))


@inner
def move_batch(job, team, shared, front, number, tools):
    """Step 5: write a thread's share of samples where they go, behind those of the threads before it."""
    places = tools.spare.places
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        used = 1 << front.partitions.n_kept[j]
        if used == 1 or begin == end:
            continue
        runs = runs_of(shared, front.number[j])
        for cell in range(used):
            for k in range(runs.size - 1):
                place = front.places[j, cell, k]
                for before in range(number):
                    place += front.counts[before, j, cell, k]
                places[cell, k] = place
        move_samples(job.order, runs, begin, end, front.keeping.kept_cells, NOUGHT, places[:used], front.moved, NOUGHT)


@inner
def copy_batch(job, team, shared, front, number):
    """Write what has moved back to the order."""
    for j in range(front.flags[SIZE]):
        begin, end = part_of_node(front, shared, j, number, team.n_threads)
        if front.partitions.n_kept[j] > 0:
            copy_back(front.moved, NOUGHT, begin, end, job.order)
