"""Which nodes threads grow together: the root, batches of nodes, and what tells whether they are split.

Each operation reads what earlier ones have left in the front, and writes to it; `kernels.machine` has their order.
Operations over samples are divided by samples, the others by nodes, but for what the first thread does by itself.
"""

import numpy as np

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import HALF_BITS, HALF_MASK, SECOND_ORDER, centre_of, spread_of
from sublearn.kernels.discriminant import INT32_MAX
from sublearn.kernels.front import (
    BATCHES,
    DESCRIBED,
    FIRST_CHILD,
    FITTED,
    NEXT_SHARED,
    RANGED,
    SIZE,
    TRIED,
    UNRACED,
    part_of,
    share_of,
)
from sublearn.kernels.layout import NOUGHT
from sublearn.kernels.nodes import AT, is_open, judge_totals, kinds_of, runs_of, take_shared, totals_of
from sublearn.kernels.searching import is_raced
from sublearn.kernels.team import N_OPEN, N_SHARED, TOGETHER, add, lift, load, lower


@section
def is_mine(j, number, team):
    """Whether node j of a batch is a thread's, where operations are divided by nodes."""
    return j % team.n_threads == number


@inner
def rows_of(job, team, shared, front, i):
    """How many samples shared node i has, in all partitions."""
    runs = runs_of(shared, i)
    if not team.is_linked:
        return runs[-1] - runs[0]
    n = np.int64(0)
    for k in range(runs.size - 1):
        n += front.stretches[i, 0, k]
    return n


@inner
def add_root(job, team, shared, front, number, tools):
    """Add a thread's share of the samples to the totals of the root."""
    samples = job.samples
    runs = runs_of(shared, 0)
    totals = totals_of(shared, 0, samples)
    n_kinds = kinds_of(shared, 0).size
    own = tools.racers.totals[: totals.size]
    for channel in range(own.size):
        own[channel] = 0
    low, high = share_of(runs[-1] - runs[0], number, team.n_threads)
    order = job.order
    weighted = samples.weights.size > 0
    curved = samples.curvatures.size > 0
    counted = totals.size > max(n_kinds, 2 if n_kinds == 0 else 1)
    for k in range(runs.size - 1):
        for p in range(max(runs[k], runs[0] + low), min(runs[k + 1], runs[0] + high)):
            s = np.uint32(order[p])
            w = samples.weights[s] if weighted else np.int64(1)
            count = samples.counts[s] if weighted else np.int64(1)
            if n_kinds > 0:
                own[k] += w
            else:
                own[1] += w * np.int64(samples.targets[s])
                own[0] += w * np.int64(samples.curvatures[s]) if curved else w
            if counted:
                own[own.size - 1] += count
    for channel in range(own.size):
        add(totals, channel, own[channel])


@inner
def list_described(job, front, shared, first, last):
    """Let the samples of shared nodes first to last be looked at, where their totals do not tell their loss."""
    flags = front.flags
    flags[FIRST_CHILD] = first
    flags[DESCRIBED] = 0
    if job.samples.n_classes > 0 or job.test.criterion == SECOND_ORDER:
        return
    flags[DESCRIBED] = last - first
    front.child_offsets[0] = 0
    for j in range(last - first):
        runs = runs_of(shared, first + j)
        front.child_offsets[j + 1] = front.child_offsets[j] + runs[-1] - runs[0]
        for channel in range(4):
            front.described[j, channel] = 0
        front.ends[j, 0] = INT32_MAX
        front.ends[j, 1] = -INT32_MAX


@inner
def begin_root(job, shared, front):
    """Fill what the totals of the root tell, by the first thread."""
    n_kinds = kinds_of(shared, 0).size
    if n_kinds > 0 or job.test.criterion == SECOND_ORDER:
        judge_totals(job.test, n_kinds, shared, 0, totals_of(shared, 0, job.samples))
    list_described(job, front, shared, NOUGHT, NOUGHT + 1)


@inner
def describe(job, team, shared, front, number):
    """Add a thread's share of the samples to what describes nodes of means: remainders, and squares around a centre."""
    samples = job.samples
    order = job.order
    targets = samples.targets
    flags = front.flags
    weighted = samples.weights.size > 0
    low, high = share_of(front.child_offsets[flags[DESCRIBED]], number, team.n_threads)
    for j in range(flags[DESCRIBED]):
        i = flags[FIRST_CHILD] + j
        begin, end = part_of(front.child_offsets, j, low, high, runs_of(shared, i)[0])
        centre = centre_of(totals_of(shared, i, samples), job.test)
        remainder = np.int64(0)
        high_high = np.int64(0)
        high_low = np.int64(0)
        low_low = np.int64(0)
        least = INT32_MAX
        most = -INT32_MAX
        for p in range(begin, end):
            s = np.uint32(order[p])
            w = samples.weights[s] if weighted else np.int64(1)
            least = min(least, targets[s])
            most = max(most, targets[s])
            if samples.remainders.size:
                remainder += w * np.int64(samples.remainders[s])
            e = abs(np.int64(targets[s]) - centre)
            high_high += w * ((e >> HALF_BITS) * (e >> HALF_BITS))
            high_low += w * ((e >> HALF_BITS) * (e & HALF_MASK))
            low_low += w * ((e & HALF_MASK) * (e & HALF_MASK))
        if begin < end:
            add(front.described, 4 * j, remainder)
            add(front.described, 4 * j + 1, high_high)
            add(front.described, 4 * j + 2, high_low)
            add(front.described, 4 * j + 3, low_low)
            lower(front.ends, 2 * j, least)
            lift(front.ends, 2 * j + 1, most)


@inner
def end_described(job, shared, front):
    """Fill loss and purity of the nodes that have been described."""
    flags = front.flags
    for j in range(flags[DESCRIBED]):
        i = flags[FIRST_CHILD] + j
        totals = totals_of(shared, i, job.samples)
        sums = front.described[j]
        shared.remainder[i] = sums[0]
        shared.loss[i] = spread_of(totals, centre_of(totals, job.test), sums[1], sums[2], sums[3])
        shared.pure[i] = front.ends[j, 0] == front.ends[j, 1]
    flags[DESCRIBED] = 0


@inner
def note_leaf(team, shared, nodes, own, i):
    """Note a shared node that is not split."""
    number = take_shared(shared, i, nodes, own)
    own[AT] += 1
    nodes.n_planes[number] = 0
    nodes.decrease[number] = 0.0
    team.ready[i] = TOGETHER
    add(team.counters, N_OPEN, -1)


@inner
def begin_batch(job, team, shared, front, nodes, own):
    """Take the next open nodes that are large, by the first thread; others are leaves, or left for one thread."""
    end_described(job, shared, front)
    flags = front.flags
    flags[BATCHES] += 1
    flags[UNRACED] = 0
    flags[RANGED] = 0
    flags[FITTED] = 0
    flags[TRIED] = 0
    front.offsets[0] = 0
    n = 0
    i = flags[NEXT_SHARED]
    last = load(team.counters, N_SHARED)
    while i < last and n < front.number.size:
        runs = runs_of(shared, i)
        n_rows = rows_of(job, team, shared, front, i)
        if n_rows > team.large:
            totals = totals_of(shared, i, job.samples)
            if is_open(shared, i, totals, kinds_of(shared, i).size, job.test, job.rules):
                front.number[n] = i
                front.offsets[n + 1] = front.offsets[n] + runs[-1] - runs[0]
                front.raced[n] = is_raced(job.rules, n_rows)
                front.first[n] = 0 if front.raced[n] else job.rules.n_axis
                flags[UNRACED] += 0 if front.raced[n] else 1
                n += 1
            else:
                note_leaf(team, shared, nodes, own, i)
        i += 1
    flags[NEXT_SHARED] = i
    flags[SIZE] = n


@section
def kept_totals(job, shared, front, j):
    """Totals of node j of the batch."""
    return totals_of(shared, front.number[j], job.samples)
