"""The split of a node with all its draws, slow and obvious, from Section II of the paper; whole trees are judged by it.

Single steps have their twins in `naive`. Shared with the engine are parameters and random numbers: a number is a
function of a key of 64 bits, and `mix(key, v)` is the key of thing v below a key. Which key is for what is convention:

- A node's key k has below it mix(k, 0) for its subspace, mix(k, 1) for its projections, and mix(k, 2), which has the
  key of the child in cell c below it as thing c.
- Draws without replacement below a key: the i-th takes the number of thing i.
- Rounds are counted without those whose vectors are listed for all nodes. Below the key of projections is the key of a
  round, below that the key of draw c, below that the key of try t. A draw that is zero or is a candidate already, up to
  sign and multiples, is tried again, 8 times in all; then it is given up.
- Below the key of a try, thing 0 is for the selection of features and thing 1 + d for the coefficient of the feature at
  place d of the subspace, where places count from 0. Features that a round selects once a node are below thing 0 of
  thing -1 of the round.

Conventions, too, which the paper leaves open: of candidates that are equally good the earlier one is taken. First come
basis vectors in the order of ranks, then vectors listed for all nodes, fewer features first, then better ranks,
then smaller coefficients; then round by round what is listed in the node, the coefficient of the best rank changing
fastest, or drawn. A vector stands for all its multiples: its first coefficient, by rank, is positive, and none divides
all. A feature that is constant in the node has the coefficient 0. The subspace is drawn by the beta of the first round.
"""

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import naive
from naive import NOISE, Data, Plane, Vector
from sublearn.core.tree.parameters import DrawingRound, TreeParameters
from support import spread

SUBSPACE, PROJECTIONS, CHILDREN = range(3)
SELECTION, ALL = 0, -1
TRIES = 8
MOST_ORDERS = 120  # of features that rounding may rank either way

Sums = tuple[int, ...]  # samples, weight; then weight of each class, or sums of targets and of their squares


# --- random numbers


def mix(key: int, value: int) -> int:
    """Key of thing `value` below a key: the generator of Steele, Lea and Flood (splitmix64)."""
    z = (key + (value + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def uniform(key: int) -> float:
    """A number in [0, 1): the upper 53 bits."""
    return (key >> 11) / 2**53


def below(key: int, n: int) -> int:
    """An integer in [0, n): the upper 32 bits, as a share of n."""
    return (key >> 32) * n >> 32


def draw(key: int, weights: Sequence[float], n: int) -> list[int]:
    """Positions, in ascending order, drawn one after another in proportion to weights, without replacement."""
    left = list(range(len(weights)))
    for i in range(n):
        ends = list(itertools.accumulate(weights[d] for d in left))
        goal = uniform(mix(key, i)) * ends[-1]
        if min(abs(end - goal) for end in ends) < 1e-12 * ends[-1]:
            raise ArithmeticError("Rounding decides what is drawn.")
        del left[next(place for place, end in enumerate(ends) if end > goal)]
    return sorted(set(range(len(weights))) - set(left))


# --- step 1: the subspace


def choose_subspace(key: int, n_features: int, p: TreeParameters) -> list[int]:
    """Ranks of the features of S0, from 0 on."""
    size = min(p.subspace_size, n_features)
    if p.subspace == "top" or size == n_features:
        return list(range(size))
    chances = naive.selection_probabilities(p.rounds[0].selection_decay, n_features)
    return draw(mix(key, SUBSPACE), chances, size)


# --- step 2: candidates


class Plan(NamedTuple):
    """What is the same in all nodes."""

    listed: list[Vector]  # over the places of the subspace
    drawn: list[tuple[DrawingRound, int]]  # with how many projections each may have


@functools.lru_cache
def plan_rounds(size: int, p: TreeParameters) -> Plan:
    """Share p among the rounds; those with no more vectors than their share list them, and leave the rest to others."""
    listed: list[Vector] = []
    drawn = []
    left = p.n_projections
    for number, one in enumerate(p.rounds):
        share = left // (len(p.rounds) - number)
        vectors = few_vectors(one, size, p, share) if p.selection == "projection" else None
        if vectors is None:
            drawn.append((one, share))
        else:
            listed += vectors
        left -= share if vectors is None else len({naive.normalise(v) for v in vectors} - {None})
    return Plan(listed, drawn)


def few_vectors(one: DrawingRound, size: int, p: TreeParameters, most: int) -> list[Vector] | None:
    """All vectors of a round, zero and mirror images included; None if there are more than `most`."""
    bounds = naive.envelope(p.envelope_height, one.envelope_decay, size)
    if math.prod(2 * bound + 1 for bound in bounds) > 10**4:
        return None  # far more than any share here
    vectors = naive.all_vectors(bounds, min(one.n_coefficients or size, size))
    return sorted(vectors, key=_fewest_features_first) if len(vectors) <= most else None


def _fewest_features_first(vector: Vector) -> tuple[int, list[int], Vector]:
    used = [d for d, a in enumerate(vector) if a]
    return len(used), used, vector


class Place(NamedTuple):
    """A feature of a node's subspace."""

    rank: int  # among all features, from 0 on
    varies: bool


class Allowed(NamedTuple):
    """What a round allows each place of the subspace."""

    bounds: list[int]  # floor(A_d)
    chances: list[float]  # P_d


@functools.lru_cache
def allow(one: DrawingRound, ranks: tuple[int, ...], n_ranks: int, p: TreeParameters) -> Allowed:
    bounds = naive.envelope(p.envelope_height, one.envelope_decay, n_ranks)
    chances = naive.selection_probabilities(one.selection_decay, n_ranks)
    return Allowed([bounds[d] for d in ranks], [chances[d] for d in ranks])


def select(key: int, allowed: Allowed, one: DrawingRound) -> list[int]:
    """The R places that may be used."""
    size = len(allowed.chances)
    if one.n_coefficients is None or one.n_coefficients >= size:
        return list(range(size))
    return draw(mix(key, SELECTION), allowed.chances, one.n_coefficients)


def draw_vector(key: int, allowed: Allowed, selected: Sequence[int]) -> Vector:
    """Coefficients from -A_d to A_d, all alike."""
    return tuple(
        below(mix(key, 1 + d), 2 * bound + 1) - bound if d in selected else 0 for d, bound in enumerate(allowed.bounds)
    )


def candidates_of(key: int, places: Sequence[Place], n_features: int, count: int, p: TreeParameters) -> list[Vector]:
    """Candidates over the places of the subspace, in a node of so many samples."""
    size = len(places)
    pool = Pool(places)
    if p.axis_projections:
        pool.found |= {naive.basis_vector(d, size): None for d in range(size)}
    listed, drawn = plan_rounds(size, p)
    for vector in listed:
        pool.add(vector)
    n_draws = [share for _, share in drawn]
    if sum(n_draws) and p.draws_per_sample is not None:
        n_draws = naive.draws(n_draws, p.draws_per_sample, count)
    for number, (one, _) in enumerate(drawn):
        own_key = mix(mix(key, PROJECTIONS), number)
        if p.selection == "round":
            allowed = allow(one, tuple(place.rank for place in places), n_features, p)
            selected = select(mix(own_key, ALL), allowed, one)
            pool.list_or_draw(own_key, allowed, selected, n_draws[number])
        else:
            pool.draw_each(own_key, allow(one, tuple(range(size)), size, p), one, n_draws[number])
    return list(pool.found)


class Pool:
    """The candidates of a node."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self.found: dict[Vector, None] = {}

    def add(self, vector: Vector) -> bool:
        """Whether it is a new candidate."""
        varying = tuple(a if place.varies else 0 for a, place in zip(vector, self.places, strict=True))
        normal = naive.normalise(varying)
        if normal is None or normal in self.found:
            return False
        self.found[normal] = None
        return True

    def list_or_draw(self, key: int, allowed: Allowed, selected: Sequence[int], n: int) -> None:
        """All vectors over the selected features that vary, or n draws where there are more."""
        bounds = [bound if d in selected and self.places[d].varies else 0 for d, bound in enumerate(allowed.bounds)]
        if math.prod(2 * bound + 1 for bound in bounds) <= n:
            for vector in sorted(naive.all_vectors(bounds, len(bounds)), key=lambda v: v[::-1]):
                self.add(vector)
            return
        for c in range(n):
            keys = [mix(mix(key, c), t) for t in range(TRIES)]
            any(self.add(draw_vector(one, allowed, selected)) for one in keys)  # up to the first that is new

    def draw_each(self, key: int, allowed: Allowed, one: DrawingRound, n: int) -> None:
        """n draws, each over features of its own."""
        for c in range(n):
            keys = [mix(mix(key, c), t) for t in range(TRIES)]
            any(self.add(draw_vector(own, allowed, select(own, allowed, one))) for own in keys)


# --- step 3: the discriminant feature test


class Cut(NamedTuple):
    """A threshold of a candidate."""

    decrease: float
    threshold: int
    positive: tuple[bool, ...]  # side of each sample
    sums: frozenset[Sums]  # of the two sides: equal ones leave nothing to rounding


@functools.cache
def loss_of(sums: Sums, criterion: str) -> Fraction:
    """Eq. (entropy_cost) in bits, the gini index or the mean squared error."""
    weight, *weighted = sums[1:]
    if criterion == "squared_error":
        total, squares = weighted
        return Fraction(squares, weight) - Fraction(total, weight) ** 2
    shares = [Fraction(of_class, weight) for of_class in weighted if of_class]
    if criterion == "gini":
        return 1 - sum((share**2 for share in shares), Fraction(0))
    return Fraction(math.fsum(-float(share) * math.log2(share) for share in shares))


def weight_of(sums: Sums) -> int:
    return sums[1]


class Part:
    """The samples of a node, as plain numbers."""

    def __init__(self, data: Data, p: TreeParameters, min_weight: int) -> None:
        self.codes, self.p, self.min_weight = data.codes, p, min_weight
        self.terms: list[Sums] = []  # of each sample
        for y, w, count in zip(data.y.tolist(), data.weights.tolist(), data.counts.tolist(), strict=True):
            weighted = [w * (y == k) for k in range(data.n_classes)] if data.n_classes else [w * y, w * y * y]
            self.terms.append((count, w, *weighted))
        (self.all,) = self.sums([0] * len(self.terms))
        self.loss = loss_of(self.all, p.criterion)
        self.tests: dict[Vector, list[Cut]] = {}

    def sums(self, codes: Sequence[int]) -> list[Sums]:
        """Sums of each occupied cell."""
        cells: defaultdict[int, list[Sums]] = defaultdict(list)
        for terms, code in zip(self.terms, codes, strict=True):
            cells[code].append(terms)
        return [tuple(map(sum, zip(*inside, strict=True))) for inside in cells.values()]

    def decrease(self, cells: Sequence[Sums]) -> float:
        """Loss less Eq. (weighted_entropy_cost), which is over all occupied cells."""
        after = sum((weight_of(sums) * loss_of(sums, self.p.criterion) for sums in cells), Fraction(0))
        return float(self.loss - after / weight_of(self.all))

    def is_allowed(self, cells: Sequence[Sums]) -> bool:
        """Whether all cells are large enough."""
        return all(count >= self.p.min_samples_leaf and weight >= self.min_weight for count, weight, *_ in cells)

    def test(self, vector: Vector) -> list[Cut]:
        """The best threshold, then others that rounding may prefer; none if no threshold lowers the loss."""
        if vector not in self.tests:
            self.tests[vector] = self._test(vector)
        return self.tests[vector]

    def _test(self, vector: Vector) -> list[Cut]:
        projected = naive.project(self.codes, vector).tolist()
        low, high = min(projected), max(projected)
        alike: dict[tuple[bool, ...], list[int]] = {}  # thresholds of each split
        for b in range(1, self.p.n_bins):
            threshold = naive.boundary(b, low, high, self.p.n_bins)
            alike.setdefault(tuple(f >= threshold for f in projected), []).append(threshold)
        cuts = []
        for positive, thresholds in alike.items():
            sides = self.sums(positive)
            if len(sides) == 2 and self.is_allowed(sides):
                middle = thresholds[(len(thresholds) - 1) // 2]
                cuts.append(Cut(self.decrease(sides), middle, positive, frozenset(sides)))
        best = max((cut.decrease for cut in cuts), default=0.0)
        if best <= 0.0:
            return []
        return self.rivals(sorted(cuts, key=lambda cut: -cut.decrease), best)

    def rivals(self, cuts: Sequence[Cut], best: float) -> list[Cut]:
        """Those as good as the best as far as rounding can tell; of equal sums the first."""
        found: dict[frozenset[Sums], Cut] = {}
        for cut in cuts:
            if best - cut.decrease <= self.tie:
                found.setdefault(cut.sums, cut)
        return list(found.values())

    @property
    def tie(self) -> float:
        return naive.TIE * float(self.loss)


# --- step 4: hyperplanes


class Way(NamedTuple):
    """A way to split a node; without planes it is a leaf."""

    planes: tuple[Plane, ...]
    codes: tuple[int, ...]  # cell of each sample
    decrease: float


class Search:
    """The hyperplanes of a node from its tested candidates, and what else they may be by rounding."""

    def __init__(self, part: Part, vectors: Sequence[Vector]) -> None:
        self.part, self.p, self.vectors = part, part.p, vectors
        self.cuts = [part.test(vector) for vector in vectors]
        self.alone = [cuts[0].decrease if cuts else 0.0 for cuts in self.cuts]

    def ways(self) -> Iterator[Way]:
        """First the candidate of the smallest loss."""
        best = max(self.alone, default=0.0)
        nothing = (0,) * len(self.part.terms)
        if best <= NOISE:
            yield Way((), nothing, 0.0)
            return
        for c, cut in self.first_of_equals(range(len(self.vectors)), best):
            goal = self.p.effective_ratio * cut.decrease
            others = [d for d, alone in enumerate(self.alone) if d != c and alone > NOISE]
            surely = [d for d in others if self.alone[d] >= goal + self.part.tie or goal == 0.0]
            perhaps = [d for d in others if self.alone[d] >= goal - self.part.tie]
            way = self.split(Way((), nothing, 0.0), c, cut)
            for effective in [surely] if surely == perhaps or goal == 0.0 else [surely, perhaps]:
                yield from self.further(way, effective)

    def further(self, way: Way, left: list[int]) -> Iterator[Way]:
        """Ever the one whose largest |cosine| with those kept is smallest, if the loss falls by it."""
        cosines = {c: max(self.cosine(c, plane) for plane in way.planes) for c in left}
        least = min(cosines.values(), default=Fraction(1))
        if not left or len(way.planes) == self.p.max_partitions or math.sqrt(least) > self.p.max_cosine:
            yield way
            return
        equals = [c for c in left if cosines[c] == least]
        for c, cut in self.first_of_equals(equals, max(self.alone[c] for c in equals)):
            more = self.split(way, c, cut)
            falls = more.decrease > way.decrease + NOISE and self.part.is_allowed(self.part.sums(more.codes))
            yield from self.further(more if falls else way, [d for d in left if d != c])

    def first_of_equals(self, among: Sequence[int], best: float) -> Iterator[tuple[int, Cut]]:
        """Candidates as good as the best as far as rounding can tell; of equal sums the first."""
        seen: set[frozenset[Sums]] = set()
        for c in among:
            for cut in self.cuts[c]:
                if best - cut.decrease <= self.part.tie and cut.sums not in seen:
                    seen.add(cut.sums)
                    yield c, cut

    def cosine(self, c: int, plane: Plane) -> Fraction:
        return naive.squared_cosine(self.vectors[c], plane.vector)

    def split(self, way: Way, c: int, cut: Cut) -> Way:
        """The cells with one more hyperplane."""
        bit = len(way.planes)
        codes = tuple(code | positive << bit for code, positive in zip(way.codes, cut.positive, strict=True))
        decrease = self.part.decrease(self.part.sums(codes))
        return Way((*way.planes, Plane(self.vectors[c], cut.threshold, cut.decrease)), codes, decrease)


# --- all of it


def rankings(part: Part) -> list[list[int]]:
    """Eq. (new_order), ties by lower index; other orders too where rounding may rank either way."""
    n_features = part.codes.shape[1]
    tests = [part.test(naive.basis_vector(f, n_features)) for f in range(n_features)]
    alone = [cuts[0].decrease if cuts else 0.0 for cuts in tests]
    sums = [frozenset(cut.sums for cut in cuts) for cuts in tests]
    groups: list[list[int]] = []
    for f in naive.rank(alone):
        if groups and alone[groups[-1][-1]] - alone[f] <= part.tie:
            groups[-1].append(f)
        else:
            groups.append([f])
    orders = [list(_orders(group, sums)) for group in groups]
    if math.prod(map(len, orders)) > MOST_ORDERS:
        raise ArithmeticError("Rounding decides how features are ranked.")
    return [[f for group in order for f in group] for order in itertools.product(*orders)]


def _orders(group: list[int], sums: Sequence[frozenset[frozenset[Sums]]]) -> Iterator[tuple[int, ...]]:
    """Orders of features in which those with equal sums are by index."""
    for kinds in set(itertools.permutations([sums[f] for f in group])):
        left = {kind: iter(sorted(f for f in group if sums[f] == kind)) for kind in kinds}
        yield tuple(next(left[kind]) for kind in kinds)


def ways_to_split(data: Data, key: int, p: TreeParameters, min_weight: int) -> list[Way]:
    """The split of an open node with these samples; several ones where rounding may decide either way."""
    part = Part(data, p, min_weight)
    n_features = data.codes.shape[1]
    varies = (data.codes.min(axis=0) < data.codes.max(axis=0)).tolist()
    ways: dict[tuple[tuple[Vector, int], ...], Way] = {}
    ranks = choose_subspace(key, n_features, p)
    tried = set()
    for order in rankings(part):
        places = [Place(rank, varies[order[rank]]) for rank in ranks]
        features = tuple(order[rank] for rank in ranks)
        if features in tried:
            continue
        tried.add(features)
        vectors = candidates_of(key, places, n_features, int(data.counts.sum()), p)
        full = [spread(vector, features, n_features) for vector in vectors]
        for way in Search(part, full).ways():
            ways[tuple((plane.vector, plane.threshold) for plane in way.planes)] = way
    return list(ways.values())


def child_key(key: int, code: int) -> int:
    return mix(mix(key, CHILDREN), code)
