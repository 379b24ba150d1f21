"""Random subspaces and random projections, drawn by key."""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.arithmetic import GOLDEN, ONE, below, mix, uniform
from sublearn.kernels.compilation import inner, section
from sublearn.kernels.layout import Array

SUBSPACE, PROJECTION, CHILDREN, RACE, FITTED = map(np.int64, range(5))  # numbers of the keys below a node's key
FIRST = np.int64(0)
ALL = np.int64(-1)  # in the place of a draw's number: what all draws of a round share
TRIES = 8  # draws for a candidate before a place is left empty
DIVISORS = np.array([sum(1 << (k - 1) for k in range(1, 65) if a % k == 0) for a in range(64)], np.uint64)  # as bits


class Urn(NamedTuple):
    """Space for draws without replacement."""

    taken: Array  # bool (n,) for n things or fewer
    sums: Array  # float64 (n,), weights of what is left up to each of them


class Own(NamedTuple):
    """Space for what a round allows the features of a node's subspace, by their ranks."""

    bounds: Array  # int64 (subspace_size,)
    probabilities: Array  # float64 (subspace_size,)


@inner
def draw_without_replacement(key, weights, n, urn):
    """Mark in `urn.taken` n positions, drawn one after another in proportion to `weights`.

    There are no branches, which a CPU could not predict here: what is taken weighs nothing, and every sum is compared.
    """
    taken = urn.taken
    sums = urn.sums
    for d in range(weights.size):
        taken[d] = False
    for i in range(n):
        total = 0.0
        for d in range(weights.size):
            total += 0.0 if taken[d] else weights[d]
            sums[d] = total
        goal = uniform(mix(key, i)) * total
        choice = 0
        for d in range(weights.size):
            choice += sums[d] <= goal
        if choice == weights.size:  # nothing that is left weighs anything
            choice = 0
            while taken[choice]:
                choice += 1
        taken[choice] = True


@inner
def draw_subspace(key, probabilities, urn, out):
    """Fill `out` with ranks drawn without replacement, in ascending order."""
    draw_without_replacement(mix(key, SUBSPACE), probabilities, out.size, urn)
    n = 0
    for d in range(probabilities.size):
        if urn.taken[d]:
            out[n] = d
            n += 1


@section
def common_divisor(vector):
    """Greatest common divisor of the coefficients; 0 for none."""
    divisor = 0
    for d in range(vector.size):
        a = abs(np.int64(vector[d]))
        while a > 0 and divisor != 1:
            divisor, a = a, divisor % a
    return divisor


@inner
def normalise(vector):
    """Divide by the greatest common divisor and make the first coefficient positive; False if all are 0.

    Mostly the divisor is 1, as a look at a table tells.
    """
    shared = DIVISORS[0]
    largest = np.int64(0)
    first = np.int64(0)
    for d in range(vector.size):
        a = np.int64(vector[d])
        first = a if first == 0 else first
        a = abs(a)
        largest = max(largest, a)
        shared &= DIVISORS[np.uint64(min(a, DIVISORS.size - 1))]
    divisor = 1 if shared == ONE and largest < DIVISORS.size else common_divisor(vector)
    if first < 0:
        divisor = -divisor
    if divisor != 0 and divisor != 1:
        for d in range(vector.size):
            vector[d] = np.int16(np.float32(vector[d]) / np.float32(divisor))  # exact; integers would be long code
    return divisor != 0


@inner
def insert(table, vectors, index):
    """Enter vectors[index] into the hash table; False if an equal vector is there."""
    vector = vectors[index]
    key = np.uint64(0)
    for d in range(vector.size):
        key = key * GOLDEN + np.uint64(np.int64(vector[d]))
    mask = np.uint64(table.size - 1)
    slot = mix(key, FIRST) & mask
    while table[slot] >= 0:
        other = vectors[table[slot]]
        same = True
        for d in range(vector.size):
            if other[d] != vector[d]:
                same = False
                break
        if same:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = index
    return True


@section
def select(key, probabilities, n_coefficients, urn):
    """Mark in `urn.taken` the features of the subspace that a projection may use, by their probabilities."""
    if n_coefficients < probabilities.size:
        draw_without_replacement(mix(key, FIRST), probabilities, n_coefficients, urn)
    else:
        taken = urn.taken
        for d in range(probabilities.size):
            taken[d] = True


@section
def draw_vector(key, bounds, varies, urn, vector):
    """One integer vector inside the envelope, over the selected features. Those that do not vary have 0."""
    taken = urn.taken
    for d in range(vector.size):
        a = np.int16(below(mix(key, 1 + d), 2 * bounds[d] + 1) - bounds[d])
        vector[d] = a if taken[d] and varies[d] else np.int16(0)


@section
def count_inside(bounds, varies, urn, most):
    """How many integer vectors over the selected features the envelope has; any number above `most` if more."""
    n = np.int64(1)
    taken = urn.taken
    for d in range(bounds.size):
        if taken[d] and varies[d] and n <= most:
            n *= 2 * bounds[d] + 1
    return n


@section
def list_vector(number, bounds, varies, urn, vector):
    """Vector `number`, from 0 on, of those that `count_inside` counts."""
    taken = urn.taken
    for d in range(vector.size):
        vector[d] = 0
        if taken[d] and varies[d]:
            n = 2 * bounds[d] + 1
            vector[d] = np.int16(number % n - bounds[d])
            number //= n


@inner
def leave_out(vector, varies):
    """Set the coefficients of features that do not vary to 0."""
    for d in range(vector.size):
        if not varies[d]:
            vector[d] = 0


def table_size(n_places: int) -> int:
    """Slots of a hash table for so many vectors."""
    return max(16, 1 << (2 * n_places - 1).bit_length())


@inner
def list_plain(solved, rules, fitted, n_fitted, varies, table, vectors):
    """Write the listed vectors, basis vectors first, and the fitted ones; returns how many there are.

    A node that a basis vector solves has no others. A feature that does not vary in the node would only blur
    predictions and explanations: its coefficient is 0 in all but its own basis vector.
    """
    listed = rules.listed
    n_axis = rules.n_axis
    n = np.int64(0)  # a literal has a type of its own, for which Numba would compile `insert` once more
    for source in range(n_axis if solved else listed.shape[0]):
        for d in range(listed.shape[1]):
            vectors[n, d] = listed[source, d]
        if source >= n_axis:
            leave_out(vectors[n], varies)
        if normalise(vectors[n]) and insert(table, vectors, n):
            n += 1
    for source in range(0 if solved else n_fitted):
        for d in range(listed.shape[1]):
            vectors[n, d] = fitted[source, d]
        if normalise(vectors[n]) and insert(table, vectors, n):
            n += 1
    return n


@inner
def draw_round(key, r, n_draws, rounds, ranks, spare, vectors, n):
    """Write what round r draws behind the first n vectors; returns how many there are then.

    With `rounds.once` the features of a round are selected once a node; where the envelope has no more vectors over
    them than the round may draw, all are candidates. Bounds and probabilities are then by rank, otherwise by the place
    in the subspace. A draw that is zero or equals an earlier candidate, up to sign and multiples, is tried again.
    """
    own = spare.own
    urn = spare.urn
    varies = ranks.varies
    bounds = rounds.bounds[r]
    probabilities = rounds.probabilities[r]
    n_inside = np.int64(0)
    if rounds.once:
        own_bounds = own.bounds
        own_probabilities = own.probabilities
        for d in range(varies.size):
            own_bounds[d] = bounds[ranks.chosen[d]]
            own_probabilities[d] = probabilities[ranks.chosen[d]]
        bounds = own_bounds
        probabilities = own_probabilities
        select(mix(mix(key, r), ALL), probabilities, rounds.n_coefficients[r], urn)
        n_inside = count_inside(bounds, varies, urn, n_draws)
        n_inside = 0 if n_inside > n_draws else n_inside
    for c in range(n_inside if n_inside > 0 else n_draws):
        for t in range(1 if n_inside > 0 else TRIES):
            drawn = mix(mix(mix(key, r), c), t)
            if not rounds.once:
                select(drawn, probabilities, rounds.n_coefficients[r], urn)
            if n_inside > 0:
                list_vector(c, bounds, varies, urn, vectors[n])
            else:
                draw_vector(drawn, bounds, varies, urn, vectors[n])
            if normalise(vectors[n]) and insert(spare.table, vectors, n):
                n += 1
                break
    return n


@inner
def draw_vectors(key, n_samples, rules, solved, fitted, n_fitted, ranks, spare, vectors):
    """Fill the candidates of a node: listed, fitted and drawn vectors, in this order; returns how many there are.

    A node that may not draw as often as all rounds would, by its number of samples, does the same share of each round.
    """
    key = mix(key, PROJECTION)
    table = spare.table
    for slot in range(table.size):
        table[slot] = -1
    n = list_plain(solved, rules, fitted, n_fitted, ranks.varies, table, vectors)
    rounds = rules.rounds
    total = np.int64(0)
    for r in range(rounds.n_draws.size):
        total += rounds.n_draws[r]
    most = min(total, rounds.draws_per_sample * n_samples)
    passed = np.int64(0)  # draws of the rounds before, of which `most` in `total` are made
    for r in range(0 if solved or total == 0 else rounds.n_draws.size):
        begin = passed * most // total
        passed += rounds.n_draws[r]
        n = draw_round(key, r, passed * most // total - begin, rounds, ranks, spare, vectors, n)
    for rest in range(n, vectors.shape[0]):
        for d in range(vectors.shape[1]):
            vectors[rest, d] = 0
    return n
