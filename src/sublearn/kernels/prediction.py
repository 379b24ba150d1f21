"""From codes to leaves: the routes of samples through trees.

All samples go through all planes of a tree's crown, its uppermost levels, whether their routes pass there or not: the
planes are few, and vector instructions take many samples at once. From there each sample walks along its own route.
"""

from typing import NamedTuple

import numpy as np

from sublearn.kernels.compilation import bare_kernel, inner, kernel
from sublearn.kernels.layout import Array

ROWS = 256  # samples that go through all trees together, while their codes are in the cache
CROWN = 3  # levels of a crown
CELLS = 1 << CROWN  # where routes may leave it
FEW = 32  # samples for which a crown does not pay
TREES = 32  # that a single sample goes through together


class Crowns(NamedTuple):
    """The uppermost levels of trees as full binary trees, of which record 1 is the first."""

    number: Array  # float32 (n_trees, CELLS, width), as in `Routes`
    place: Array  # int64 (n_trees, CELLS, n_terms)
    record: Array  # uint32 (n_trees, 2 * CELLS), the number in `Routes`; the last are where routes go on


class Routes(NamedTuple):
    """Trees as binary trees of records that samples walk in step.

    A node of q hyperplanes becomes q levels, of which the j-th asks hyperplane j in each of up to 2^j records: where no
    child lies beyond, routes end. A record has `width` numbers, the threshold and the coefficients, and as many links:
    the first of the two next records, and the places of the codes that go with the coefficients, which are features
    times `ROWS`. An end leads to itself.
    """

    number: Array  # float32 (n_records * width,)
    link: Array  # uint32 (n_records * width,)
    width: int  # the number of coefficients is even
    answers: Array  # int32 (n_records,), nodes
    first_records: Array  # uint32 (n_trees,)
    depths: Array  # int64 (n_trees,), in records
    crowns: Crowns


class Rows(NamedTuple):
    """Scratch space for `ROWS` samples."""

    codes: Array  # float32 (n_features * ROWS,); projections stay below 2^24, where float32 counts exactly
    sums: Array  # float32 (ROWS,)
    cells: Array  # int32 (ROWS,)
    at: Array  # uint32 (ROWS,), records


@inner
def lay_out_crown(routes, t):
    """Write the uppermost levels of tree t once more: below record k come 2k and 2k + 1, and below an end, ends."""
    crowns = routes.crowns
    width = routes.width
    crowns.record[t, 1] = routes.first_records[t]
    for k in range(1, CELLS):
        here = np.int64(crowns.record[t, k])
        following = np.int64(routes.link[here * width])
        crowns.number[t, k, 0] = routes.number[here * width]
        for term in range(1, width):
            crowns.number[t, k, term] = routes.number[here * width + term]
            crowns.place[t, k, term - 1] = routes.link[here * width + term]
        crowns.record[t, 2 * k] = following
        crowns.record[t, 2 * k + 1] = following + (following != here)


@inner
def leads_on(nodes, node, q, plane, cell):
    """Whether a child lies beyond the first planes of a node of q, on the sides that the bits of `cell` tell."""
    for other in range(cell, 1 << q, 1 << plane):  # noqa: SIM110
        if nodes.children[nodes.first_child[node] + other] >= 0:
            return True
    return False


@bare_kernel
def count_records(nodes, roots):
    """Number of records that `lay_out` fills."""
    n = roots.size
    for node in range(nodes.parent.size):
        q = nodes.first_plane[node + 1] - nodes.first_plane[node]
        for plane in range(q):
            for cell in range(1 << plane):
                n += 2 * leads_on(nodes, node, q, plane, cell)
    return n


@kernel
def lay_out(nodes, roots, routes):
    """Fill the routes through trees."""
    number = routes.number
    link = routes.link
    width = routes.width
    answers = routes.answers
    plane_of = np.empty(answers.size, np.int8)  # how many planes of the node are behind; -1 at an end
    cell_of = np.empty(answers.size, np.uint8)  # on which sides of these
    n = 0
    for t in range(roots.size):
        routes.first_records[t] = n
        routes.depths[t] = 0
        answers[n] = roots[t]
        plane_of[n] = 0
        cell_of[n] = 0
        r = n
        n += 1
        below = n  # the first record of the next level
        depth = 1
        while r < n:
            if r == below:
                below = n
                depth += 1
            node = answers[r]
            begin = nodes.first_plane[node]
            q = nodes.first_plane[node + 1] - begin
            plane = np.int64(plane_of[r])
            word = r * width
            for term in range(1, width):
                number[word + term] = 0.0
                link[word + term] = 0
            if plane < 0 or q == 0 or not leads_on(nodes, node, q, plane, np.int64(cell_of[r])):
                number[word] = np.inf
                link[word] = r
                r += 1
                continue
            p = begin + plane
            number[word] = nodes.threshold[p]
            link[word] = n
            for term in range(nodes.first_term[p], nodes.first_term[p + 1]):
                word += 1
                number[word] = nodes.coefficient[term]
                link[word] = np.int64(nodes.feature[term]) * ROWS
            routes.depths[t] = depth
            for side in range(2):
                cell = np.int64(cell_of[r]) | side << plane
                answers[n] = node
                plane_of[n] = plane + 1
                cell_of[n] = cell
                if plane + 1 == q:
                    child = nodes.children[nodes.first_child[node] + cell]
                    plane_of[n] = -1 if child < 0 else 0  # where no training sample fell, the node itself answers
                    answers[n] = node if child < 0 else child
                    cell_of[n] = 0
                n += 1
            r += 1
        lay_out_crown(routes, t)


@inner
def take_rows(codes, begin, n, out):
    """Copy the codes of n samples from `begin` on, feature by feature, `ROWS` places each."""
    for f in range(codes.shape[0]):
        source = codes[f, begin : begin + n]
        target = out[f * ROWS : f * ROWS + n]
        for i in range(n):
            target[i] = source[i]


@inner
def fill(values, value):
    """Set all numbers of an array to one value."""
    for i in range(values.size):
        values[i] = value


@inner
def add_two(codes, coefficients, places, term, sums):
    """Add two terms of a plane to the sums of `ROWS` samples."""
    a = coefficients[term]
    b = coefficients[term + 1]
    x = codes[places[term] : places[term] + ROWS]
    y = codes[places[term + 1] : places[term + 1] + ROWS]
    for i in range(ROWS):
        sums[i] += a * x[i] + b * y[i]


@inner
def take_sides(codes, threshold, coefficients, places, met, sums, cells):
    """Add 1 to cells that are `met` where the sums, with the last two terms, are on the positive side of a plane."""
    last = coefficients.size - 1
    a = coefficients[last - 1]
    b = coefficients[last]
    x = codes[places[last - 1] : places[last - 1] + ROWS]
    y = codes[places[last] : places[last] + ROWS]
    for i in range(ROWS):
        cells[i] += (sums[i] + (a * x[i] + b * y[i]) >= threshold) & (cells[i] == met)


@inner
def pass_crown(codes, crowns, t, sums, cells):
    """Find the cells in which the routes of `ROWS` samples leave the crown of tree t.

    At each level a sample doubles its cell, and adds 1 if it is on the positive side of the plane it meets.
    """
    n_terms = crowns.place.shape[2]
    fill(cells, 0)
    fill(sums, 0.0)
    for level in range(CROWN):
        for i in range(ROWS):
            cells[i] *= 2
        for m in range(1 << level):
            k = (1 << level) + m
            coefficients = crowns.number[t, k, 1:]
            places = crowns.place[t, k]
            if n_terms > 2:
                fill(sums, 0.0)
            for term in range(0, n_terms - 2, 2):
                add_two(codes, coefficients, places, term, sums)
            take_sides(codes, crowns.number[t, k, 0], coefficients, places, 2 * m, sums, cells)


@inner
def next_record(codes, number, link, width, at, i):
    """The record of sample i after record `at`. All is unsigned here: no index counts from the end."""
    word = at * np.uint64(width)
    projected = number[word + np.uint64(1)] * codes[np.uint64(link[word + np.uint64(1)]) + i]
    for term in range(2, width):
        projected += number[word + np.uint64(term)] * codes[np.uint64(link[word + np.uint64(term)]) + i]
    return np.uint64(link[word]) + np.uint64(projected >= number[word])


@inner
def walk_by_level(codes, number, link, width, starts, cells, depth, n, at):
    """Take samples down so many levels from starts[cells]; none waits for another's loads."""
    for i in range(np.uint64(0), np.uint64(n)):
        at[i] = starts[np.uint32(cells[i])]
    for _ in range(depth):
        for i in range(np.uint64(0), np.uint64(n)):
            at[i] = next_record(codes, number, link, width, np.uint64(at[i]), i)


@inner
def walk_in_step(codes, number, link, starts, cells, depth, n, at):
    """`walk_by_level` for records of two terms, eight samples at a time, which is a tenth faster."""
    for i in range(np.uint64(0), np.uint64(n), np.uint64(8)):
        a = np.uint64(starts[np.uint32(cells[i])])
        b = np.uint64(starts[np.uint32(cells[i + np.uint64(1)])])
        c = np.uint64(starts[np.uint32(cells[i + np.uint64(2)])])
        d = np.uint64(starts[np.uint32(cells[i + np.uint64(3)])])
        e = np.uint64(starts[np.uint32(cells[i + np.uint64(4)])])
        f = np.uint64(starts[np.uint32(cells[i + np.uint64(5)])])
        g = np.uint64(starts[np.uint32(cells[i + np.uint64(6)])])
        h = np.uint64(starts[np.uint32(cells[i + np.uint64(7)])])
        for _ in range(depth):
            a = next_record(codes, number, link, 3, a, i)
            b = next_record(codes, number, link, 3, b, i + np.uint64(1))
            c = next_record(codes, number, link, 3, c, i + np.uint64(2))
            d = next_record(codes, number, link, 3, d, i + np.uint64(3))
            e = next_record(codes, number, link, 3, e, i + np.uint64(4))
            f = next_record(codes, number, link, 3, f, i + np.uint64(5))
            g = next_record(codes, number, link, 3, g, i + np.uint64(6))
            h = next_record(codes, number, link, 3, h, i + np.uint64(7))
        at[i] = a
        at[i + np.uint64(1)] = b
        at[i + np.uint64(2)] = c
        at[i + np.uint64(3)] = d
        at[i + np.uint64(4)] = e
        at[i + np.uint64(5)] = f
        at[i + np.uint64(6)] = g
        at[i + np.uint64(7)] = h


@inner
def walk(rows, routes, t, n):
    """Take n samples through tree t, to the last records on their routes."""
    depth = routes.depths[t]
    starts = routes.first_records[t : t + 1]
    if n <= FEW:
        fill(rows.cells, 0)
    else:
        pass_crown(rows.codes, routes.crowns, t, rows.sums, rows.cells)
        starts = routes.crowns.record[t, CELLS:]
        depth -= CROWN
    if routes.width == 3:
        walk_in_step(rows.codes, routes.number, routes.link, starts, rows.cells, depth, n, rows.at)
    else:
        walk_by_level(rows.codes, routes.number, routes.link, routes.width, starts, rows.cells, depth, n, rows.at)


@inner
def walk_trees(rows, routes, t, n):
    """Take the first sample through n trees from tree t on, to the last records on its routes.

    A level of all trees at a time: the routes of one sample through large trees are waits for memory, which are over
    sooner side by side.
    """
    number = routes.number
    link = routes.link
    width = routes.width
    depth = 0
    for k in range(n):
        rows.at[k] = routes.first_records[t + k]
        depth = max(depth, routes.depths[t + k])
    for _ in range(depth):
        for k in range(np.uint64(0), np.uint64(n)):
            if width == 3:
                rows.at[k] = next_record(rows.codes, number, link, 3, np.uint64(rows.at[k]), np.uint64(0))
            else:
                rows.at[k] = next_record(rows.codes, number, link, width, np.uint64(rows.at[k]), np.uint64(0))


@bare_kernel
def find_leaves(codes, routes, roots, first, last, rows, out):
    """Fill out[i, t] with the node of tree t, counted from its root, in which the route of sample i ends."""
    for begin in range(first, last, ROWS):
        n = min(ROWS, last - begin)
        take_rows(codes, begin, n, rows.codes)
        for t in range(roots.size):
            walk(rows, routes, t, n)
            for i in range(n):
                out[begin + i, t] = routes.answers[rows.at[i]] - roots[t]


@bare_kernel
def add_values(routes, values, codes, first, last, rows, out):
    """Add to out[i] the values of the nodes in which the routes of sample i end, tree by tree."""
    n_trees = routes.depths.size
    if last - first == 1:
        take_rows(codes, first, 1, rows.codes)
        for t in range(0, n_trees, TREES):
            n = min(TREES, n_trees - t)
            walk_trees(rows, routes, t, n)
            for j in range(n):
                answer = routes.answers[rows.at[j]]
                for k in range(values.shape[1]):
                    out[first, k] += values[answer, k]
        return
    for begin in range(first, last, ROWS):
        n = min(ROWS, last - begin)
        take_rows(codes, begin, n, rows.codes)
        for t in range(routes.depths.size):
            walk(rows, routes, t, n)
            if values.shape[1] == 1:
                part = out[begin : begin + n, 0]
                for i in range(n):
                    part[i] += values[np.uint32(routes.answers[rows.at[i]]), 0]
            else:
                for i in range(n):
                    answer = routes.answers[rows.at[i]]
                    for k in range(values.shape[1]):
                        out[begin + i, k] += values[answer, k]
