"""Slow and obvious twins of the engine, written from Sections II and V of the paper; they judge the fast steps.

Rows are samples, as in the paper's X, and a projection is a tuple of integers over all features. Sums are exact: Python
integers and fractions. Only the logarithms of the entropy are rounded, and boosting, which is in floats throughout.
"""

import copy
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Vector = tuple[int, ...]

NOISE = 1e-10  # a decrease up to this is rounding
TIE = 1e-9  # decreases closer than this share of the node's loss, or of the best, can be ordered either way by rounding


class Data(NamedTuple):
    """Samples with integer codes."""

    codes: Array  # (n_samples, n_features)
    y: Array  # class numbers, or integer targets
    weights: Array
    counts: Array  # how many samples a row stands for
    n_classes: int  # 0 for a regression
    curvatures: Array | None = None  # boosting: second derivatives, where y is minus the first; None: all one

    def take(self, rows: Any) -> "Data":
        curvatures = None if self.curvatures is None else self.curvatures[rows]
        return Data(self.codes[rows], self.y[rows], self.weights[rows], self.counts[rows], self.n_classes, curvatures)


class Settings(NamedTuple):
    """What a split and a tree depend on, under the names of the estimators' parameters."""

    criterion: str = "entropy"
    n_bins: int = 16
    min_samples_leaf: int = 1
    min_weight: int = 1
    subspace_size: int = 1_000_000
    max_partitions: int = 1
    max_cosine: float = 1.0
    effective_ratio: float = 0.0
    max_depth: int | None = None
    min_samples_split: int = 2
    min_loss: float = 0.0
    l2: float = 0.0


# --- the loss of a set and of a split


def weight_of(data: Data) -> int:
    """Sum of the weights, in boosting H: of the weighted second derivatives."""
    if data.curvatures is None:
        return int(data.weights.sum())
    return sum(w * c for w, c in zip(data.weights.tolist(), data.curvatures.tolist(), strict=True))


def sums(data: Data) -> tuple[int, ...]:
    """What the loss decrease depends on: the weight of each class, or weight and weighted sum of targets."""
    if data.n_classes:
        found = np.bincount(data.y, data.weights, data.n_classes)  # floats, exact below 2^53
        return tuple(int(weight) for weight in found)
    return weight_of(data), sum(w * y for w, y in zip(data.weights.tolist(), data.y.tolist(), strict=True))


def loss(data: Data, criterion: str, l2: float = 0.0) -> Fraction:
    """Eq. (entropy_cost) in bits, the gini index, the mean squared error of Section V, or -G^2 / (H + l2) by H."""
    total = weight_of(data)
    if criterion == "second_order":
        return -(Fraction(sums(data)[1]) ** 2) / ((total + Fraction(l2)) * total)
    if criterion == "squared_error":
        mean = Fraction(sums(data)[1], total)
        square = sum(w * y * y for w, y in zip(data.weights.tolist(), data.y.tolist(), strict=True))
        return Fraction(square, total) - mean**2
    shares = [Fraction(weight, total) for weight in sums(data) if weight]
    if criterion == "gini":
        return 1 - sum((p * p for p in shares), Fraction(0))
    return Fraction(math.fsum(-float(p) * math.log2(p) for p in shares))


def occupied(data: Data, cells: Array) -> list[Data]:
    """The samples of each cell that has any."""
    return [data.take(cells == cell) for cell in np.unique(cells)]


def joint_loss(data: Data, cells: Array, criterion: str, l2: float = 0.0) -> Fraction:
    """Eq. (weighted_entropy_cost) over all occupied cells; two for one hyperplane."""
    total = weight_of(data)
    parts = occupied(data, cells)
    return sum((Fraction(weight_of(p), total) * loss(p, criterion, l2) for p in parts), Fraction(0))


def split_decrease(data: Data, cells: Array, criterion: str, l2: float = 0.0) -> float:
    """Loss of the node less the loss of its parts."""
    return float(loss(data, criterion, l2) - joint_loss(data, cells, criterion, l2))


def tie_width(node_loss: Fraction, decreases: Iterable[float]) -> float:
    """How close decreases may be for rounding to order them either way; in boosting they may exceed the loss."""
    return TIE * max(abs(float(node_loss)), *decreases)


def meet_minima(data: Data, cells: Array, settings: Settings) -> bool:
    """Whether every occupied cell is large enough to be a child."""
    return all(
        part.counts.sum() >= settings.min_samples_leaf and weight_of(part) >= settings.min_weight
        for part in occupied(data, cells)
    )


# --- step 3: the discriminant feature test


def project(codes: Array, vector: Vector) -> Array:
    """f(a) = a.x of each sample, exactly."""
    projected: Array = codes.astype(np.int64) @ np.array(vector, np.int64)
    return projected


class Outcome(NamedTuple):
    """Result of the discriminant feature test of one projection."""

    decrease: float
    threshold: int
    rival: bool  # whether rounding could prefer another threshold
    sides: frozenset[tuple[int, ...]]  # sums of the two sides: equal ones leave nothing to rounding


NO_SPLIT = Outcome(0.0, 0, False, frozenset())


def boundary(b: int, low: int, high: int, n_bins: int) -> int:
    """Smallest integer at or above the b-th of n_bins + 1 equidistant boundaries."""
    return math.ceil(low + Fraction(b * (high - low), n_bins))


def discriminant_test(
    projected: Array, data: Data, settings: Settings, bounds: tuple[int, int] | None = None
) -> Outcome:
    """Try every inner boundary; among those that split alike the middle one stands for all.

    Boundaries divide the range of the projected values, or what is given as such.
    """
    low, high = bounds or (int(projected.min()), int(projected.max()))
    if low == high:
        return NO_SPLIT
    node_loss = loss(data, settings.criterion, settings.l2)
    thresholds = [boundary(b, low, high, settings.n_bins) for b in range(settings.n_bins + 1)]
    sides = [projected >= t for t in thresholds]
    decreases: dict[int, float] = {}
    for b in range(1, settings.n_bins):
        if b > 1 and (sides[b] == sides[b - 1]).all():
            if b - 1 in decreases:
                decreases[b] = decreases[b - 1]
        elif sides[b].any() and not sides[b].all() and meet_minima(data, sides[b], settings):
            decreases[b] = float(node_loss - joint_loss(data, sides[b], settings.criterion, settings.l2))
    if not decreases or max(decreases.values()) <= 0.0:
        return NO_SPLIT
    best = max(decreases.values())
    first = min(b for b, decrease in decreases.items() if decrease == best)
    last = first
    while last + 1 < settings.n_bins and (sides[last + 1] == sides[first]).all():
        last += 1
    width = tie_width(node_loss, [best])
    near = [b for b, decrease in decreases.items() if best - decrease <= width]
    rival = len({_sums_of_sides(data, sides[b]) for b in near}) > 1
    return Outcome(best, thresholds[(first + last) // 2], rival, _sums_of_sides(data, sides[first]))


def _sums_of_sides(data: Data, side: Array) -> frozenset[tuple[int, ...]]:
    return frozenset(sums(part) for part in occupied(data, side))


# --- step 1: ranking and subspace


def basis_vector(f: int, n_features: int) -> Vector:
    return tuple(int(i == f) for i in range(n_features))


def rank(decreases: Sequence[float]) -> list[int]:
    """Eq. (new_order): features by falling decrease, ties by lower index."""
    return sorted(range(len(decreases)), key=lambda f: (-decreases[f], f))


def feature_losses(data: Data, settings: Settings) -> list[float]:
    """The loss of each feature alone: of both sides of its best threshold, or of all samples where none serves."""
    n_features, whole = data.codes.shape[1], float(loss(data, settings.criterion))
    vectors = [basis_vector(f, n_features) for f in range(n_features)]
    return [whole - discriminant_test(project(data.codes, v), data, settings).decrease for v in vectors]


def selection_probabilities(beta: float, n: int) -> list[float]:
    """P_d of Eq. (exp_p) for d = 1 to n."""
    weights = [math.exp(-beta * d) for d in range(1, n + 1)]
    return [w / math.fsum(weights) for w in weights]


def subset_probabilities(probabilities: Sequence[float], size: int) -> dict[frozenset[int], float]:
    """Probability of each set of positions when they are drawn one by one without replacement."""
    found: defaultdict[frozenset[int], float] = defaultdict(float)
    for sequence in itertools.permutations(range(len(probabilities)), size):
        chance, left = 1.0, 1.0
        for d in sequence:
            chance *= probabilities[d] / left
            left -= probabilities[d]
        found[frozenset(sequence)] += chance
    return dict(found)


# --- step 2: projections


def envelope(height: float, decay: float, size: int) -> list[int]:
    """floor(A_d) of Eq. (exp_a) for d = 1 to size."""
    return [math.floor(height * math.exp(-decay * d)) for d in range(1, size + 1)]


def all_vectors(bounds: Sequence[int], n_coefficients: int) -> list[Vector]:
    """Every vector of Eq. (dynamic) with at most n_coefficients that are not 0, zero and mirror images included."""
    ranges = [range(-bound, bound + 1) for bound in bounds]
    return [v for v in itertools.product(*ranges) if sum(a != 0 for a in v) <= n_coefficients]


def normalise(vector: Vector) -> Vector | None:
    """The representative of all multiples of a vector; None for zero."""
    leading = next((a for a in vector if a), None)
    if leading is None:
        return None
    divisor = math.gcd(*vector) * (1 if leading > 0 else -1)
    return tuple(a // divisor for a in vector)


def distinct_vectors(bounds: Sequence[int], n_coefficients: int) -> set[Vector]:
    return {v for v in map(normalise, all_vectors(bounds, n_coefficients)) if v is not None}


def draws(n_draws: Sequence[int], draws_per_sample: int, count: int) -> list[int]:
    """What each round draws in a node of so many samples: up to each round's end, the same share of what there is."""
    share = min(Fraction(1), Fraction(draws_per_sample * count, sum(n_draws)))
    ends = [0, *(math.floor(end * share) for end in itertools.accumulate(n_draws))]
    return [end - begin for begin, end in itertools.pairwise(ends)]


def draw_probabilities(
    bounds: Sequence[int], probabilities: Sequence[float], n_coefficients: int
) -> dict[Vector | None, float]:
    """Probability of each normalised vector when features are drawn by P_d and coefficients uniformly; None: zero."""
    found: defaultdict[Vector | None, float] = defaultdict(float)
    for subset, chance in subset_probabilities(probabilities, n_coefficients).items():
        inside = [bound if d in subset else 0 for d, bound in enumerate(bounds)]
        vectors = all_vectors(inside, n_coefficients)
        for vector in vectors:
            found[normalise(vector)] += chance / len(vectors)
    return dict(found)


# --- step 2, beyond the paper: projections fitted to the targets

MOST_FEATURES = 16
ALIGNED = Fraction(1, 10**9)  # a pair whose sine, squared, is not above this is one feature


class Fits(NamedTuple):
    """Pairs of features fitted by least squares, the best first."""

    vectors: list[Vector]
    tied: bool  # whether rounding could have decided otherwise


def two_groups(labels: Sequence[int], positive: Sequence[bool]) -> list[int]:
    """-1 for the first class there is, 1 for the second; of the others, 1 for those that are to be positive."""
    present = sorted(set(labels))
    group = {k: 1 if positive[k] else -1 for k in present} | dict(zip(present, (-1, 1), strict=False))
    return [group[k] for k in labels]


def rounded_targets(y: Sequence[int], bits: int) -> list[int]:
    """Targets below 2^bits in 15 bits and a sign, rounded down."""
    return [math.floor(Fraction(t, 2 ** (bits - 15))) for t in y]


def around_mean(values: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Differences to the weighted mean, times the sum of weights: integers."""
    total, moment = sum(weights), sum(w * x for w, x in zip(weights, values, strict=True))
    return [total * x - moment for x in values]


def fitted_pairs(
    columns: Sequence[Sequence[int]], targets: Sequence[int], weights: Sequence[int], n: int, height: int
) -> Fits:
    """The n pairs that explain most of the targets' square sum, as vectors over all columns.

    The larger coefficient becomes `height`, the other is rounded, halves upwards. Of pairs that explain as much the
    first is that whose second feature is first, then whose first is.
    """
    centred = [around_mean(column, weights) for column in (*columns[:MOST_FEATURES], targets)]

    def moment(x: list[int], y: list[int]) -> int:
        return sum(w * a * b for w, a, b in zip(weights, x, y, strict=True))

    target = centred.pop()
    square = moment(target, target)
    found: list[tuple[Fraction, Vector, bool]] = []
    doubtful = False
    for second, first in ((d, e) for d in range(len(centred)) for e in range(d)):
        u, v = centred[first], centred[second]
        uu, uv, vv, ut, vt = (moment(*pair) for pair in ((u, u), (u, v), (v, v), (u, target), (v, target)))
        area = uu * vv - uv * uv
        if not uu or not vv or area <= ALIGNED * uu * vv:
            continue
        doubtful = doubtful or area <= 2 * ALIGNED * uu * vv
        a, b = Fraction(vv * ut - uv * vt, area), Fraction(uu * vt - uv * ut, area)  # the normal equations, solved
        explained = a * ut + b * vt
        if explained == 0:
            doubtful = doubtful or bool(square)
            continue
        unit = height / max(abs(a), abs(b))
        vector = [0] * len(columns)
        vector[first], vector[second] = (math.floor(x * unit + Fraction(1, 2)) for x in (a, b))
        near = any(abs(x * unit % 1 - Fraction(1, 2)) < TIE for x in (a, b))
        found.append((explained / square, tuple(vector), near))
    found.sort(key=lambda fit: -fit[0])  # the order of equals is kept
    doubtful = doubtful or any(one[0] - other[0] < TIE for one, other in itertools.pairwise(found[: n + 1]))
    doubtful = doubtful or any(near or share < TIE for share, _, near in found[:n])
    return Fits([vector for _, vector, _ in found[:n]], doubtful)


# --- step 4: several hyperplanes


def squared_cosine(a: Vector, b: Vector) -> Fraction:
    def dot(u: Vector, v: Vector) -> int:
        return sum(x * y for x, y in zip(u, v, strict=True))

    return Fraction(dot(a, b) ** 2, dot(a, a) * dot(b, b))


class Kept(NamedTuple):
    """The hyperplanes of a node."""

    indices: list[int]  # candidates, first the best
    cells: Array  # child code of each sample
    decrease: float  # by all together
    tied: bool  # whether rounding could have decided otherwise


def keep_decorrelated(data: Data, vectors: Sequence[Vector], outcomes: Sequence[Outcome], settings: Settings) -> Kept:
    """The best one, then ever the effective one whose largest |cosine| with those kept is smallest."""
    if not outcomes or max(o.decrease for o in outcomes) <= NOISE:
        return Kept([], np.zeros(len(data.y), np.int64), 0.0, False)
    decreases = [o.decrease for o in outcomes]
    scale = tie_width(loss(data, settings.criterion, settings.l2), decreases)
    best = decreases.index(max(decreases))
    goal = settings.effective_ratio * decreases[best]
    near = [o for o in outcomes if decreases[best] - o.decrease <= scale]
    tied = len({o.sides for o in near}) > 1 or outcomes[best].rival
    tied = tied or any(abs(d - goal) <= scale and d != decreases[best] and goal > 0 for d in decreases)
    kept, cells = [best], _sides(data, vectors[best], outcomes[best].threshold)
    joint = split_decrease(data, cells, settings.criterion, settings.l2)
    open_ = [c for c, d in enumerate(decreases) if c != best and d >= goal and d > NOISE]
    while open_ and len(kept) < settings.max_partitions:
        cosines = {c: max(squared_cosine(vectors[c], vectors[k]) for k in kept) for c in open_}
        least = min(cosines.values())
        if math.sqrt(least) > settings.max_cosine:
            break
        equals = [c for c in open_ if cosines[c] == least]
        chosen = min(equals, key=lambda c: (-decreases[c], c))
        rivals = [c for c in equals if decreases[chosen] - decreases[c] <= scale]
        tied = tied or len({outcomes[c].sides for c in rivals}) > 1 or outcomes[chosen].rival
        open_.remove(chosen)
        trial = cells + (_sides(data, vectors[chosen], outcomes[chosen].threshold) << len(kept))
        decrease = split_decrease(data, trial, settings.criterion, settings.l2)
        if decrease > joint + NOISE and meet_minima(data, trial, settings):
            kept.append(chosen)
            cells, joint = trial, decrease
    return Kept(kept, cells, joint, tied)


def _sides(data: Data, vector: Vector, threshold: int) -> Array:
    """1 on the positive side of a hyperplane, 0 on the negative."""
    return (project(data.codes, vector) >= threshold).astype(np.int64)


# --- step 5: children


def split(rows: Sequence[int], cells: Sequence[int]) -> dict[int, list[int]]:
    """Rows of each occupied cell, by child code, in their old order."""
    return {code: [r for r, c in zip(rows, cells, strict=True) if c == code] for code in sorted(set(cells))}


# --- a whole tree


class Plane(NamedTuple):
    """Positive where vector . codes >= threshold."""

    vector: Vector
    threshold: int
    decrease: float


@dataclass
class Node:
    """A node with everything below it."""

    depth: int
    value: list[float]  # class shares, the mean target, or G / (H + l2)
    loss: float
    weight: float  # share of all weight, or H
    count: int
    rows: list[int] = field(default_factory=list)  # training samples
    planes: list[Plane] = field(default_factory=list)
    decrease: float = 0.0
    children: dict[int, "Node"] = field(default_factory=dict)  # by child code
    tied: bool = False  # whether rounding could have decided otherwise


Pool = Callable[[list[int]], list[Vector]]  # candidate projections of a node from its ranked subspace


def describe(data: Data, rows: list[int], depth: int, criterion: str, l2: float = 0.0) -> Node:
    """A node before it is split."""
    part = data.take(rows)
    weight = weight_of(part)
    if data.n_classes:
        value = [float(Fraction(w, weight)) for w in sums(part)]
    else:
        value = [float(sums(part)[1] / (weight + Fraction(l2)))]
    share = float(weight if criterion == "second_order" else Fraction(weight, weight_of(data)))
    return Node(depth, value, float(loss(part, criterion, l2)), share, int(part.counts.sum()), rows)


def is_open(node: Node, data: Data, settings: Settings) -> bool:
    """The stopping criteria of Sec. II-B4; a pure node has nothing to split."""
    responses = [data.y] if data.curvatures is None else [data.y, data.curvatures]
    return (
        (settings.max_depth is None or node.depth < settings.max_depth)
        and node.count >= settings.min_samples_split
        and node.loss >= settings.min_loss
        and any(len(set(response[node.rows].tolist())) > 1 for response in responses)
    )


def over_varying_features(vectors: list[Vector], codes: Array, order: list[int]) -> list[Vector]:
    """Vectors without the features that are constant in the node; those that become equal, up to sign, are one."""
    varies = codes.min(axis=0) < codes.max(axis=0)
    found: dict[Vector, None] = {}
    for vector in vectors:
        ranked = normalise(tuple(vector[f] if varies[f] else 0 for f in order))  # the best-ranked is positive
        if ranked is not None:
            place = dict(zip(order, ranked, strict=True))
            found[tuple(place[f] for f in range(len(order)))] = None
    return list(found)


def try_candidates(data: Data, settings: Settings, pool: Pool) -> tuple[list[Vector], list[Outcome], bool]:
    """Steps 1 to 3 in a node: its candidates, their tests, and whether rounding could have ranked otherwise."""
    n_features = data.codes.shape[1]
    alone = [
        discriminant_test(project(data.codes, basis_vector(f, n_features)), data, settings) for f in range(n_features)
    ]
    order = rank([o.decrease for o in alone])
    scale = tie_width(loss(data, settings.criterion, settings.l2), [o.decrease for o in alone])
    tied = any(
        alone[f].decrease - alone[g].decrease <= scale and alone[f].sides != alone[g].sides
        for f, g in itertools.pairwise(order)
    )
    vectors = over_varying_features(pool(order[: settings.subspace_size]), data.codes, order)
    return vectors, [discriminant_test(project(data.codes, v), data, settings) for v in vectors], tied


def grow(data: Data, settings: Settings, pool: Pool, rows: list[int] | None = None, depth: int = 0) -> Node:
    """The tree below the given rows, by recursion."""
    rows = list(range(len(data.y))) if rows is None else rows
    node = describe(data, rows, depth, settings.criterion, settings.l2)
    if not is_open(node, data, settings):
        return node
    part = data.take(node.rows)
    vectors, outcomes, tied = try_candidates(part, settings, pool)
    kept = keep_decorrelated(part, vectors, outcomes, settings)
    node.tied = tied or kept.tied
    if kept.indices:
        node.planes = [Plane(vectors[c], outcomes[c].threshold, outcomes[c].decrease) for c in kept.indices]
        node.decrease = kept.decrease
        below = split(node.rows, kept.cells.tolist())
        node.children = {code: grow(data, settings, pool, inside, depth + 1) for code, inside in below.items()}
    return node


# --- racing


def take_evenly(rows: Sequence[int], n: int, numbers: Sequence[int]) -> list[int]:
    """One of each of n equal stretches of the rows, by numbers below 2^32."""
    taken = []
    for j, number in enumerate(numbers[:n]):
        stretch = rows[j * len(rows) // n : (j + 1) * len(rows) // n]
        taken.append(stretch[number * len(stretch) // 2**32])
    return taken


def finalists(decreases: Sequence[float], n: int) -> list[int]:
    """The best n of those with a positive decrease, the first ones of equals, in their order."""
    good = [c for c, decrease in enumerate(decreases) if decrease > 0.0]
    return sorted(sorted(good, key=lambda c: (-decreases[c], c))[:n])


class Race(NamedTuple):
    """What a race leaves of the candidates of a node, tested on all samples."""

    vectors: list[Vector]
    outcomes: list[Outcome]
    tied: bool  # whether rounding could have decided otherwise
    decided: bool  # whether any candidate was good on the racers


def race(data: Data, racers: Data, settings: Settings, pool: Pool, n_finalists: int) -> Race:
    """Steps 1 to 3 with the racers, then the best candidates with all samples, within the racers' range."""
    loose = settings._replace(min_samples_leaf=1, min_weight=1)
    vectors, tests, tied = try_candidates(racers, loose, pool)
    whole = loss(racers, settings.criterion, settings.l2)
    axis = [c for c, vector in enumerate(vectors) if sum(map(bool, vector)) == 1]
    if settings.criterion != "second_order" and any(tests[c].decrease >= whole * (1 - 1e-12) for c in axis):
        vectors, tests = [vectors[c] for c in axis], [tests[c] for c in axis]
    kept = finalists([o.decrease for o in tests], n_finalists)
    if not kept:
        outcomes = [discriminant_test(project(data.codes, v), data, settings) for v in vectors]
        return Race(vectors, outcomes, tied, False)
    width = tie_width(whole, [o.decrease for o in tests])
    last = min((tests[c] for c in kept), key=lambda o: o.decrease)
    tied = tied or any(
        abs(o.decrease - last.decrease) <= width and o.sides != last.sides for o in tests if o is not last
    )
    tied = tied or (len(kept) < n_finalists and any(o.decrease <= width for o in tests))
    outcomes = []
    for c in kept:
        seen = project(racers.codes, vectors[c])
        bounds = int(seen.min()), int(seen.max())
        outcomes.append(discriminant_test(project(data.codes, vectors[c]), data, settings, bounds))
    return Race([vectors[c] for c in kept], outcomes, tied, True)


def in_level_order(root: Node) -> list[Node]:
    nodes = [root]
    for node in nodes:  # grows while it is read
        nodes += [node.children[code] for code in sorted(node.children)]
    return nodes


def route(root: Node, codes: Sequence[int]) -> Node:
    """Node in which the route of one sample ends: a leaf, or the last node before an empty cell."""
    node = root
    while node.planes:
        code = 0
        for bit, plane in enumerate(node.planes):
            projected = sum(a * int(x) for a, x in zip(plane.vector, codes, strict=True))
            code += (projected >= plane.threshold) << bit
        if code not in node.children:
            break
        node = node.children[code]
    return node


def predict(root: Node, codes: Array) -> list[list[float]]:
    return [route(root, row).value for row in codes]


# --- what is done with a grown tree


def leaves(node: Node) -> Iterator[Node]:
    if not node.children:
        yield node
    for child in node.children.values():
        yield from leaves(child)


def link_strength(node: Node) -> float:
    """(R(t) - R(T_t)) / (leaves - 1): what a leaf below the node is worth."""
    ends = list(leaves(node))
    return (node.weight * node.loss - math.fsum(e.weight * e.loss for e in ends)) / (len(ends) - 1)


def prune(root: Node, ccp_alpha: float) -> Node:
    """Minimal cost-complexity pruning: cut the weakest link while its strength is at most ccp_alpha."""
    root = copy.deepcopy(root)
    while root.children:
        weakest = min((node for node in in_level_order(root) if node.children), key=link_strength)
        if link_strength(weakest) > ccp_alpha:
            break
        weakest.children, weakest.planes, weakest.decrease = {}, [], 0.0
    return root


def feature_importances(root: Node, n_features: int) -> list[float]:
    """Share of each feature in the total decrease: by hyperplanes' own decreases, then by squared coefficients."""
    credit = [0.0] * n_features
    for node in in_level_order(root):
        alone = math.fsum(plane.decrease for plane in node.planes)
        for plane in node.planes:
            length = sum(a * a for a in plane.vector)
            for f, a in enumerate(plane.vector):
                credit[f] += node.weight * node.decrease * plane.decrease / alone * a * a / length
    total = math.fsum(credit)
    return [c / total for c in credit] if total > 0 else credit


# --- codes

DEVIATIONS = 8

Map = list[tuple[Fraction, int]]  # knots and the codes there


class Moments(NamedTuple):
    mean: Fraction
    deviation: Fraction
    reach: Fraction  # from the mean to the farthest value


def repeat(values: Sequence[float], weights: Sequence[int] | None) -> list[float]:
    """Each value as often as its weight says."""
    if weights is None:
        return list(values)
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]


def moments(values: Sequence[float]) -> Moments:
    exact = [Fraction(v) for v in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    reach = max(max(exact) - mean, mean - min(exact))
    if reach == 0:
        return Moments(mean, Fraction(0), reach)
    relative = sum((((x - mean) / reach) ** 2 for x in exact), Fraction(0)) / len(exact)
    return Moments(mean, reach * Fraction(math.sqrt(relative)), reach)


def normal_share(z: float) -> float:
    """P(Z <= z) of a normal variable."""
    return math.erfc(-z / math.sqrt(2)) / 2


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value with at least this share of the values at or below it."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def has_heavy_tails(values: Sequence[float], m: Moments) -> bool:
    """Far-reaching, or with the third of the values on one side of the median in a 64th of a deviation."""
    low, middle, high = (Fraction(quantile(values, normal_share(z))) for z in (-1, 0, 1))
    crowded = any(0 < width < m.deviation / 64 for width in (middle - low, high - middle))
    return crowded or m.reach > DEVIATIONS * m.deviation


def quantile_map(values: Sequence[float], per_deviation: int) -> Map:
    """Quantiles of the values go to the same quantiles of a normal variable, from -4 to 4 by quarters."""
    levels: defaultdict[float, list[Fraction]] = defaultdict(list)
    for quarter in range(-16, 17):
        levels[quantile(values, normal_share(quarter / 4))].append(Fraction(quarter, 4))
    levels[min(values)].append(Fraction(-17, 4))
    levels[max(values)].append(Fraction(17, 4))
    return [(Fraction(knot), round(min(found, key=abs) * per_deviation)) for knot, found in sorted(levels.items())]


def linear_map(m: Moments, per_deviation: int) -> Map:
    """The code counts deviations from the mean, wider ones where that reached further than codes go."""
    deviation = max(m.deviation, m.reach / DEVIATIONS)
    return [(m.mean + side * DEVIATIONS * deviation, side * DEVIATIONS * per_deviation) for side in (-1, 1)]


def fit_map(values: Sequence[float], weights: Sequence[int] | None, kind: str, limit: int) -> Map:
    """kind: auto, linear or quantile; limit: the largest code."""
    values = repeat(values, weights)
    if min(values) == max(values):
        return [(Fraction(values[0]), 0)]
    m = moments(values)
    if kind == "quantile" or (kind == "auto" and has_heavy_tails(values, m)):
        return quantile_map(values, limit // DEVIATIONS)
    return linear_map(m, limit // DEVIATIONS)


def level_at(value: float, knots: Map) -> Fraction:
    """The piecewise-linear map before rounding, constant outside its knots."""
    x = Fraction(value)
    if x <= knots[0][0]:
        return Fraction(knots[0][1])
    for (left, below), (right, above) in itertools.pairwise(knots):
        if x <= right:
            return below + (above - below) * (x - left) / (right - left)
    return Fraction(knots[-1][1])


def encode(value: float, knots: Map) -> int:
    """Nearest integer, halves upwards."""
    return math.floor(level_at(value, knots) + Fraction(1, 2))


# --- boosting in plain floats

GAIN_DIGITS = 9  # so many of a gain count: equal splits whose sums were taken in another order stay equal


class Boosting(NamedTuple):
    """What boosting depends on, under the names of the estimators' parameters."""

    loss: str  # squared_error, poisson, or log_loss, with one column of raw values or one a class
    learning_rate: float
    l2: float
    min_child_weight: float
    min_samples_leaf: int
    max_depth: int
    n_bins: int
    min_gain: float = 0.0


class Sloped(NamedTuple):
    """Samples with weighted gradients and second derivatives, one column an output."""

    codes: Array  # (n_samples, n_features)
    gradients: Array  # (n_samples, n_outputs)
    hessians: Array

    def take(self, rows: Array) -> "Sloped":
        return Sloped(*(column[rows] for column in self))


class Cut(NamedTuple):
    """The best threshold of a projection."""

    gain: float
    threshold: int


@dataclass
class Branch:
    """A node of a boosted tree; a leaf has no vector."""

    value: Array  # (n_outputs,)
    vector: Vector | None = None
    threshold: int = 0
    below: "list[Branch]" = field(default_factory=list)  # negative side, positive side


def softmax(raw: Array) -> Array:
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def slopes(loss: str, y: Array, raw: Array) -> tuple[Array, Array]:
    """g and h of Section III-B (n_samples, n_outputs)."""
    if loss == "squared_error":
        return raw - y[:, None], np.ones_like(raw)
    if loss == "poisson":
        return np.exp(raw) - y[:, None], np.exp(raw)
    if raw.shape[1] == 1:
        p = 1 / (1 + np.exp(-raw))
        return p - y[:, None], p * (1 - p)
    p = softmax(raw)
    return p - np.eye(raw.shape[1])[y.astype(int)], p * (1 - p)


def start_of(loss: str, y: Array, weights: Array, n_outputs: int) -> Array:
    """The best constant."""
    mean = np.average(y, weights=weights)
    if loss == "squared_error":
        return np.array([mean])
    if loss == "poisson":
        return np.log([mean])
    if n_outputs == 1:
        return np.log([mean / (1 - mean)])
    shares = np.log(np.bincount(y.astype(int), weights))
    centred: Array = shares - shares.mean()
    return centred


def worth(gradient: Array, hessian: Array, l2: float) -> Array:
    """G^2 / (H + l2) of Eq. (obj4)."""
    squares: Array = gradient**2 / (hessian + l2)
    return squares


def best_cut(projected: Array, part: Sloped, signs: Array, how: Boosting) -> Cut | None:
    """The best inner boundary for a step along `signs`; the middle one of those with nothing between them."""
    low, high = int(projected.min()), int(projected.max())
    if low == high:
        return None
    thresholds = [boundary(b, low, high, how.n_bins) for b in range(1, how.n_bins)]
    bins = np.searchsorted(thresholds, projected, side="right")
    columns = (np.ones(len(bins)), part.gradients @ signs, part.hessians.sum(axis=1))
    counts, gradients, hessians = (np.bincount(bins, c, how.n_bins).cumsum() for c in columns)
    n, g, h = (column[:-1] for column in (counts, gradients, hessians))
    all_n, all_g, all_h = counts[-1], gradients[-1], hessians[-1]
    few, light = np.minimum(n, all_n - n) < how.min_samples_leaf, np.minimum(h, all_h - h) < how.min_child_weight
    l2 = how.l2 * len(signs)
    gains = worth(g, h, l2) + worth(all_g - g, all_h - h, l2) - worth(all_g, all_h, l2)
    gains = np.array([float(f"{gain:.{GAIN_DIGITS}g}") for gain in np.where(few | light, 0.0, gains)])
    first = int(gains.argmax())
    last = int(np.flatnonzero(n == n[first])[-1])
    return Cut(gains[first], thresholds[(first + last) // 2]) if gains[first] > NOISE else None


def chance(gradients: Array, hessians: Array, weights: Array, signs: Array) -> float:
    """What an arbitrary split gains by chance along `signs`: mean square of weighted gradients to mean curvature."""
    squares, curvatures = (gradients @ signs) ** 2, hessians.sum(axis=1)
    if (weights == np.floor(weights)).all():  # so many samples
        return float(np.average(squares, weights=weights) / np.average(curvatures, weights=weights))
    return float((weights**2 * squares).sum() / (weights * curvatures).sum())


def best_plane(part: Sloped, signs: Array, how: Boosting, pool: Pool, least: float) -> tuple[Vector, int] | None:
    """The best of the candidates, which come in the order of the ranked features, if it gains more than the least."""
    alone = [best_cut(column, part, signs, how) for column in part.codes.T]
    order = rank([cut.gain if cut else 0.0 for cut in alone])
    vectors = over_varying_features(pool(order), part.codes, order)
    cuts = [(vector, best_cut(project(part.codes, vector), part, signs, how)) for vector in vectors]
    found = [(vector, cut) for vector, cut in cuts if cut and cut.gain > least]
    if not found:
        return None
    vector, cut = max(found, key=lambda pair: pair[1].gain)  # the first of equals
    return vector, cut.threshold


def grow_branch(part: Sloped, signs: Array, how: Boosting, pool: Pool, least: float, depth: int = 0) -> Branch:
    """The tree below these samples; leaves take a share of the step -G / (H + l2) of each output."""
    step = -part.gradients.sum(axis=0) / (part.hessians.sum(axis=0) + how.l2)
    most = 1.0 if how.loss == "poisson" else np.inf  # the logarithm of a mean goes no further in a round
    branch = Branch(how.learning_rate * np.clip(step, -most, most))
    found = best_plane(part, signs, how, pool, least) if depth < how.max_depth else None
    if found:
        branch.vector, branch.threshold = found
        side = project(part.codes, branch.vector) >= branch.threshold
        branch.below = [grow_branch(part.take(rows), signs, how, pool, least, depth + 1) for rows in (~side, side)]
    return branch


def values_at(branch: Branch, codes: Array) -> Array:
    """Values (n_samples, n_outputs) of the leaf of each sample."""
    if branch.vector is None:
        return np.tile(branch.value, (len(codes), 1))
    negative, positive = (values_at(child, codes) for child in branch.below)
    return np.where(project(codes, branch.vector)[:, None] >= branch.threshold, positive, negative)


def boost(codes: Array, y: Array, weights: Array, fresh: Array, signs: Array, how: Boosting, pool: Pool) -> Array:
    """Raw values (n_fresh, n_outputs) of fresh samples after all rounds; signs (n_rounds, n_outputs) are given."""
    start = start_of(how.loss, y, weights, signs.shape[1])
    raw, fresh_raw = np.tile(start, (len(codes), 1)), np.tile(start, (len(fresh), 1))
    for direction in signs:
        gradients, hessians = slopes(how.loss, y, raw)
        least = how.min_gain * chance(gradients, hessians, weights, direction)
        part = Sloped(codes, weights[:, None] * gradients, weights[:, None] * hessians)
        tree = grow_branch(part, direction, how, pool, least)
        raw += values_at(tree, codes)
        fresh_raw += values_at(tree, fresh)
    return fresh_raw


def mean_loss(loss: str, y: Array, raw: Array) -> float:
    """Half the mean square, half the mean Poisson deviance, or the mean log loss."""
    if loss == "squared_error":
        return float(((y - raw[:, 0]) ** 2).mean() / 2)
    if loss == "poisson":
        mean = np.exp(raw[:, 0])
        ideal = [c * math.log(c) - c if c else 0.0 for c in y.tolist()]
        return float((mean - y * raw[:, 0] + ideal).mean())
    if raw.shape[1] == 1:
        raw = np.column_stack([np.zeros(len(raw)), raw])
    return float(-np.log(softmax(raw)[np.arange(len(y)), y.astype(int)]).mean())


# --- linear models in leaves


class LeafModel(NamedTuple):
    """What a leaf answers for one output: value + slopes * (x - means)."""

    slopes: Array  # (n_views,)
    means: Array  # (n_views,)
    decreases: Array  # (n_views,), what each view takes from the loss, in the units of `worth`


def views_above(nodes: Sequence[Sequence[Sequence[int]]], most: int) -> list[int]:
    """The views of a leaf's model; nodes: those above it, the nearest first, each with the views of its hyperplanes."""
    found = dict.fromkeys(view for planes in nodes for views in planes for view in views)
    return list(found)[:most]


def leaf_model(x: Array, gradients: Array, hessians: Array, penalty: float, most: float) -> LeafModel:
    """Ridge regression of -g / h, weighted by h, over x (n_samples, n_views) about its mean.

    gradients, hessians: weighted. most: slopes are made smaller where they add more than this somewhere in the leaf.
    """
    means = x[0] + np.average(x - x[0], axis=0, weights=hessians)  # exact where all are alike
    roots = np.sqrt(hessians)
    rows = np.vstack([roots[:, None] * (x - means), math.sqrt(penalty) * np.eye(x.shape[1])])
    answers = np.concatenate([-gradients / roots, np.zeros(x.shape[1])])
    found = np.linalg.lstsq(rows, answers, rcond=None)[0]
    reach = (np.abs(found) * np.maximum(means - x.min(axis=0), x.max(axis=0) - means)).sum()
    share = most / reach if reach > most else 1.0
    return LeafModel(found * share, means, np.maximum(found * (rows.T @ answers), 0.0))
