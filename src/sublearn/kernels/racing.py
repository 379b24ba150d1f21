"""Racing: in a large node all candidates are tested on some of its samples, and the best few on all of them."""

import numpy as np

from sublearn.kernels.arithmetic import below, mix
from sublearn.kernels.compilation import inner
from sublearn.kernels.projection import RACE


@inner
def take_evenly(key, order, runs, n, out, begin, out_runs):
    """Write n samples of a node to `out` from position `begin` on: one, drawn by key, from each of n equal stretches.

    They stay in order, so the classes stay together; out_runs tells where they are.
    """
    size = runs[-1] - runs[0]
    key = mix(key, RACE)
    k = 0
    out_runs[0] = begin
    for j in range(n):
        low = j * size // n
        position = runs[0] + low + below(mix(key, j), (j + 1) * size // n - low)
        while position >= runs[k + 1]:
            k += 1
            out_runs[k] = begin + j
        out[begin + j] = order[position]
    for rest in range(k + 1, runs.size):
        out_runs[rest] = begin + n


@inner
def keep_finalists(n_finalists, size, coefficients, decrease, ranges, chosen):
    """Move the candidates of the largest decrease to the front, in their order; returns how many.

    Of equal ones the first are taken, and those that do not decrease the loss are not; 0 if none does, and all stay.
    """
    for c in range(size):
        chosen[c] = False
    n = 0
    for _ in range(n_finalists):
        best = -1
        for c in range(size):
            if not chosen[c] and decrease[c] > 0.0 and (best < 0 or decrease[c] > decrease[best]):
                best = c
        if best < 0:
            break
        chosen[best] = True
        n += 1
    if n == 0:
        return 0
    place = 0
    for c in range(size):
        decrease[c] = 0.0
        if chosen[c]:
            for d in range(coefficients.shape[1]):
                coefficients[place, d] = coefficients[c, d]
            ranges[place, 0] = ranges[c, 0]
            ranges[place, 1] = ranges[c, 1]
            place += 1
    for c in range(n, size):
        for d in range(coefficients.shape[1]):
            coefficients[c, d] = 0
    return n


@inner
def place_racers(key, order, runs, stretches, n, drawn, out_runs, begin):
    """Fill `drawn` with this partition's samples among those that `take_evenly` takes of a node, -1 for the others.

    stretches (2, n_runs): how many samples of each run all partitions have, and those before this one. The racers of
    all partitions, in their order, have the positions from `begin` on; out_runs tells where those of each run are.
    """
    key = mix(key, RACE)
    n_runs = runs.size - 1
    size = np.int64(0)
    for k in range(n_runs):
        size += stretches[0, k]
    k = 0
    first = np.int64(0)  # position among all samples of the node at which run k begins
    out_runs[0] = begin
    for j in range(n):
        low = j * size // n
        position = low + below(mix(key, j), (j + 1) * size // n - low)
        while position >= first + stretches[0, k]:
            first += stretches[0, k]
            k += 1
            out_runs[k] = begin + j
        own = position - first - stretches[1, k]
        drawn[j] = order[runs[k] + own] if 0 <= own < runs[k + 1] - runs[k] else -1
    for rest in range(k + 1, n_runs + 1):
        out_runs[rest] = begin + n
