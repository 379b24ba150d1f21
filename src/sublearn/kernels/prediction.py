"""From values to codes, and from codes to leaves."""

import numpy as np

from sublearn.kernels.compilation import inner, kernel

MOMENT_BITS = 15  # values are rounded to this many bits of their range for mean and deviation
HALF_RANGE = 1 << (MOMENT_BITS - 1)
ROWS = 256  # samples that go through all trees together, while their codes are in the cache
LAST = 2**31 - 1  # a threshold that no projection reaches
HALF = 32  # bits of half a word
LOW = (1 << HALF) - 1


@inner
def encode_straight(z, maps, low, out):
    """Codes of values z between the two knots of a map."""
    knot = maps.knots[low]
    slope = maps.slopes[low]
    first = np.float64(maps.levels[low])
    last = np.float64(maps.levels[low + 1])
    for i in range(out.size):
        level = slope * (z[i] - knot) + (first + 0.5)
        out[i] = np.int16(np.floor(min(max(level, first), last)))


@inner
def encode_bent(z, maps, low, high, knot, out):
    """Codes of values z between knots low and high; `knot` is space for the last one at or below each value."""
    n = out.size
    for i in range(n):
        knot[i] = low
    left = high - low
    while left > 1:
        half = left // 2
        for i in range(n):
            middle = knot[i] + half
            knot[i] = middle if z[i] >= maps.knots[np.uint64(middle)] else knot[i]
        left -= half
    for i in range(n):
        k = np.uint64(knot[i])
        first = np.float64(maps.levels[k])
        last = np.float64(maps.levels[np.uint64(min(knot[i] + 1, high))])  # a constant feature has one knot
        level = maps.slopes[k] * (z[i] - maps.knots[k]) + (first + 0.5)
        out[i] = np.int16(np.floor(min(max(level, first), last)))


@kernel
def encode(x, maps, begin, out, first, last):
    """Write the codes of rows first to last of x, C-ordered float64, to out[:, begin + row].

    The map of a feature is monotone and piecewise linear through knots and levels, and constant outside. Many rows look
    for their knots in step, by halves, since each would wait for its loads alone.
    """
    knot = np.empty(ROWS, np.int64)
    z = np.empty(ROWS)
    for start in range(first, last, ROWS):
        n = min(ROWS, last - start)
        for f in range(x.shape[1]):
            low = maps.offsets[f]
            high = maps.offsets[f + 1] - 1
            unit = maps.units[f]
            codes = out[f, begin + start : begin + start + n]
            least = maps.knots[low]
            most = maps.knots[high]
            for i in range(n):
                z[i] = min(max(x[start + i, f] * unit, least), most)
            if high - low == 1:
                encode_straight(z, maps, low, codes)
            else:
                encode_bent(z, maps, low, high, knot, codes)


@kernel
def lay_out(nodes, roots, width, words, answers, first_records, depths):
    """Write trees as binary trees of records that samples walk in step; see `Routes`.

    A node of q hyperplanes becomes q levels, of which the j-th asks hyperplane j in each of 2^j records. A record is
    `width` words of two halves each: threshold and where the first of the two next records begins; then coefficient and
    place of each term, where places are features times `ROWS`. The record of an end leads to itself.
    """
    n_records = answers.size
    plane_of = np.empty(n_records, np.int64)  # -1 at an end
    cell_of = np.empty(n_records, np.int64)
    depth_of = np.empty(n_records, np.int64)
    n = 0
    for t in range(roots.size):
        first_records[t] = n
        depths[t] = 0
        answers[n] = roots[t]
        plane_of[n] = 0
        cell_of[n] = 0
        depth_of[n] = 0
        r = n
        n += 1
        while r < n:
            node = answers[r]
            begin = nodes.first_plane[node]
            q = nodes.first_plane[node + 1] - begin
            for word in range(r * width, (r + 1) * width):
                words[word] = 0
            if plane_of[r] < 0 or q == 0:
                words[r * width] = (LAST << HALF) + r * width
                r += 1
                continue
            p = begin + plane_of[r]
            words[r * width] = (np.int64(nodes.threshold[p]) << HALF) + n * width
            for term in range(nodes.first_term[p], nodes.first_term[p + 1]):
                word = r * width + 1 + term - nodes.first_term[p]
                words[word] = (np.int64(nodes.coefficient[term]) << HALF) + np.int64(nodes.feature[term]) * ROWS
            depths[t] = max(depths[t], depth_of[r] + 1)
            for side in range(2):
                cell = cell_of[r] | side << plane_of[r]
                answers[n] = node
                plane_of[n] = plane_of[r] + 1
                cell_of[n] = cell
                depth_of[n] = depth_of[r] + 1
                if plane_of[n] == q:
                    child = nodes.children[nodes.first_child[node] + cell]
                    plane_of[n] = -1 if child < 0 else 0  # where no training sample fell, the node itself answers
                    answers[n] = node if child < 0 else child
                    cell_of[n] = 0
                n += 1
            r += 1


@inner
def take_rows(codes, begin, n, out):
    """Copy the codes of n samples from `begin` on, feature by feature, `ROWS` places each."""
    for f in range(codes.shape[0]):
        source = codes[f, begin : begin + n]
        target = out[f * ROWS : f * ROWS + n]
        for i in range(n):
            target[i] = source[i]


@inner
def next_word(codes, words, width, at, i):
    """Where the next record of sample i begins, after that at word `at`."""
    goal = words[at]
    projected = np.int64(0)
    for t in range(1, width):
        term = words[at + np.uint64(t)]
        projected += (term >> HALF) * np.int64(codes[np.uint64(term & LOW) + i])
    return np.uint64((goal & LOW) + (width if projected >= (goal >> HALF) else 0))


@inner
def walk_together(codes, words, width, start, depth, n, at):
    """Take samples through a tree, eight at a time, so that their loads do not wait for each other."""
    one = np.uint64(1)
    for i in range(0, n, 8):
        a = b = c = d = e = f = g = h = start
        for _ in range(depth):
            j = np.uint64(i)
            a = next_word(codes, words, width, a, j)
            b = next_word(codes, words, width, b, j + one)
            c = next_word(codes, words, width, c, j + np.uint64(2))
            d = next_word(codes, words, width, d, j + np.uint64(3))
            e = next_word(codes, words, width, e, j + np.uint64(4))
            f = next_word(codes, words, width, f, j + np.uint64(5))
            g = next_word(codes, words, width, g, j + np.uint64(6))
            h = next_word(codes, words, width, h, j + np.uint64(7))
        at[i] = a
        at[i + 1] = b
        at[i + 2] = c
        at[i + 3] = d
        at[i + 4] = e
        at[i + 5] = f
        at[i + 6] = g
        at[i + 7] = h


@inner
def walk(codes, words, width, first_record, depth, n, at):
    """Take n samples through a tree; at[i] is the word with which the last record of sample i begins."""
    start = np.uint64(first_record * width)
    if (
        width == 3
    ):  # two terms, as most models of boosting have: a constant here, so that loops over terms are written out
        walk_together(codes, words, 3, start, depth, n, at)
    else:
        walk_together(codes, words, width, start, depth, n, at)


@kernel
def find_leaves(codes, routes, roots, first, last, out):
    """Fill out[i, t] with the node of tree t, counted from its root, in which the route of sample i ends."""
    at = np.empty(ROWS, np.uint64)
    rows = np.zeros(codes.shape[0] * ROWS, np.int16)
    for begin in range(first, last, ROWS):
        n = min(ROWS, last - begin)
        take_rows(codes, begin, n, rows)
        for t in range(roots.size):
            walk(rows, routes.words, routes.width, routes.first_records[t], routes.depths[t], n, at)
            for i in range(n):
                out[begin + i, t] = routes.answers[np.uint32(at[i]) // np.uint32(routes.width)] - roots[t]


@kernel
def add_values(codes, routes, values, first, last, out):
    """Add to out[i] the values of the nodes in which the routes of sample i end, tree by tree."""
    at = np.empty(ROWS, np.uint64)
    rows = np.zeros(codes.shape[0] * ROWS, np.int16)
    for begin in range(first, last, ROWS):
        n = min(ROWS, last - begin)
        take_rows(codes, begin, n, rows)
        for t in range(routes.depths.size):
            walk(rows, routes.words, routes.width, routes.first_records[t], routes.depths[t], n, at)
            if values.shape[1] == 1:
                for i in range(n):
                    answer = routes.answers[np.uint32(at[i]) // np.uint32(routes.width)]
                    out[begin + i, 0] += values[np.uint32(answer), 0]
            else:
                for i in range(n):
                    answer = routes.answers[np.uint32(at[i]) // np.uint32(routes.width)]
                    for k in range(values.shape[1]):
                        out[begin + i, k] += values[answer, k]


@kernel
def add_moments(x, weights, units, centres, factors, sums, spread):
    """Add weight times value and weight times squared value, in fixed point, to sums (n_features, 2).

    Fixed-point values lie within HALF_RANGE of 0; spread (n_features, n_bins) gets the weights by equal parts of
    this range.
    """
    n_bins = spread.shape[1]
    for i in range(x.shape[0]):
        w = weights[i] if weights.size else np.int64(1)
        for f in range(x.shape[1]):
            z = np.int64(np.floor((x[i, f] * units[f] - centres[f]) * factors[f] + 0.5))
            sums[f, 0] += w * z
            sums[f, 1] += w * z * z
            spread[f, min(((z + HALF_RANGE) * n_bins) >> MOMENT_BITS, n_bins - 1)] += w
