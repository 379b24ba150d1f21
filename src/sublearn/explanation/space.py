"""The values that features may take in a search for counterfactuals, and what it costs to move there.

A feature that is a number has a line of positions, one a code of its map; a code is a thousandth of a standard
deviation, and within one the model cannot tell values apart. A category has a position for all levels that the model
does not tell from each other.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublearn.core.data.codes import FeatureMaps, encode_samples
from sublearn.core.model.fitted import MEAN
from sublearn.core.parallel import Workers
from sublearn.explanation.members import Member
from sublearn.kernels.layout import Array
from sublearn.kernels.lines import Grid, Trees
from sublearn.kernels.prediction import ROWS
from sublearn.kernels.scanning import ADDED, EXPONENTIAL, LOG_ODDS, LOGISTIC, SOFTMAX, Members

LINKS = {"identity": ADDED, "certainty": ADDED, "exponential": EXPONENTIAL, "logistic": LOGISTIC, "softmax": SOFTMAX}
ONE = Workers(1)


class Axis(NamedTuple):
    """What is known of a feature."""

    values: Array  # float64 (n_positions,), of a category numbers of levels; of a number in the middle of codes
    place: Array  # float64 (n_positions,)
    half: float
    is_line: bool
    weight: float  # cost of a deviation, or of a change of category
    position: Array  # int64 (n_levels,), of each level of a category, -1 for what is missing


class Limits(NamedTuple):
    """What a feature's values are kept to."""

    low: float
    high: float
    step: float  # values are whole multiples of this; 0: any number
    weight: float


class Space(NamedTuple):
    """All that the search needs of a model."""

    axes: list[Axis]
    grid: Grid
    trees: Trees
    members: Members
    maps: FeatureMaps  # of the first member, by which places are measured

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.axes)

    def origins(self, x: Array) -> Array:
        """Places (n, n_features) of the values of rows; of categories, their positions, NaN for none."""
        out = np.empty(x.shape)
        for f, axis in enumerate(self.axes):
            if axis.is_line:
                out[:, f] = places_of(self.maps, f, x[:, f]) * axis.weight
            else:
                there = ~np.isnan(x[:, f])
                out[:, f] = -1.0
                out[there, f] = axis.position[x[there, f].astype(np.int64)]
                out[out[:, f] < 0, f] = np.nan
        return out

    def codes(self, x: Array, members: Sequence[Member], workers: Workers) -> Array:
        """Codes (n, n_views) of rows, those of all members side by side."""
        found = [encode_samples(x, member.model.maps, workers) for member in members]
        return np.ascontiguousarray(np.concatenate(found).T)

    def moved_codes(self, codes: Array, position: Array) -> Array:
        """Codes of rows of which some features are moved to positions; -1: not moved."""
        out = codes.copy()
        for v, f in enumerate(self.grid.feature.tolist()):
            rows = np.flatnonzero(position[:, f] >= 0)
            out[rows, v] = self.grid.code[self.grid.table[v] + position[rows, f]]
        return out

    def costs(self, position: Array, origin: Array) -> Array:
        """What moves (n, n_features) cost."""
        out = np.zeros(position.shape)
        for f, axis in enumerate(self.axes):
            rows = np.flatnonzero(position[:, f] >= 0)
            at = position[rows, f]
            if axis.is_line:
                out[rows, f] = np.maximum(np.abs(axis.place[at] - origin[rows, f]) - axis.half, 0.0)
            else:
                out[rows, f] = np.where(at == origin[rows, f], 0.0, axis.weight)
        return out

    def values(self, x: Array, position: Array) -> Array:
        """Rows with their moves made."""
        out = x.copy()
        for f, axis in enumerate(self.axes):
            rows = np.flatnonzero(position[:, f] >= 0)
            out[rows, f] = axis.values[position[rows, f]]
        return out

    def positions(self, x: Array, origin: Array) -> Array:
        """The positions (n, n_features) nearest to values; -1 where there is none."""
        out = np.full(x.shape, -1, np.int64)
        for f, axis in enumerate(self.axes):
            there = np.flatnonzero(~np.isnan(origin[:, f]))
            if not axis.is_line:
                out[there, f] = origin[there, f].astype(np.int64)
            elif len(axis.place):
                out[there, f] = nearest(axis.place, origin[there, f])
        return out


def nearest(places: Array, wanted: Array) -> Array:
    """The nearest of ascending places to each of some others."""
    after = np.clip(np.searchsorted(places, wanted), 1, max(len(places) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(places) - 1)
    return np.where(places[after] - wanted < wanted - places[before], after, before)


def places_of(maps: FeatureMaps, f: int, x: Array) -> Array:
    """Where values of a number lie, in standard deviations (or normal scores), before codes are rounded."""
    v = int(np.searchsorted(maps.features, f))
    part = slice(int(maps.offsets[v]), int(maps.offsets[v + 1]))
    out: Array = np.interp(x * maps.units[v], maps.knots[part], maps.levels[part]) / maps.per_deviation
    return out


def values_at(maps: FeatureMaps, f: int, places: Array) -> Array:
    """The values that lie there."""
    v = int(np.searchsorted(maps.features, f))
    part = slice(int(maps.offsets[v]), int(maps.offsets[v + 1]))
    out: Array = np.interp(places * maps.per_deviation, maps.levels[part], maps.knots[part]) / maps.units[v]
    return out


def ends_of(maps: FeatureMaps, f: int) -> tuple[float, float]:
    """The least and the largest value that a map tells apart from those beyond."""
    v = int(np.searchsorted(maps.features, f))
    knots = maps.knots[maps.offsets[v] : maps.offsets[v + 1]] / maps.units[v]
    return float(knots[0]), float(knots[-1])


def make_space(members: list[Member], limits: list[Limits]) -> Space:
    """The space of a model, by the limits of its features."""
    maps = members[0].model.maps
    axes, tables = [], []
    starts = np.concatenate([[0], np.cumsum([member.model.maps.n_views for member in members])])
    for f, limit in enumerate(limits):
        listed = bool(maps.listed[np.searchsorted(maps.features, f)])
        axis, codes = (_category if listed else _line)(members, f, limit)
        axes.append(axis)
        tables.append(codes)  # (n_views of the feature over all members, n_positions)
    feature = np.concatenate([member.model.maps.features for member in members])
    table = np.zeros(len(feature), np.int64)
    flat, size = [], 0
    for f, codes in enumerate(tables):
        for v, row in zip(np.flatnonzero(feature == f).tolist(), codes, strict=True):
            table[v] = size
            flat.append(row)
            size += len(row)
    grid = Grid(
        first=np.concatenate([[0], np.cumsum([len(axis.place) for axis in axes])]).astype(np.int64),
        place=np.concatenate([axis.place for axis in axes]),
        half=np.array([axis.half for axis in axes]),
        is_line=np.array([axis.is_line for axis in axes]),
        cost=np.array([axis.weight for axis in axes]),
        feature=feature,
        table=table,
        code=np.concatenate(flat).astype(np.int16),
    )
    return Space(axes, grid, _trees(members, starts), _members(members, grid, starts), maps)


def _line(members: list[Member], f: int, limit: Limits) -> tuple[Axis, Array]:
    maps = members[0].model.maps
    low, high = places_of(maps, f, np.array([limit.low, limit.high])) * maps.per_deviation
    codes = np.arange(np.floor(low + 0.5), np.floor(high + 0.5) + 1) if limit.low <= limit.high else np.empty(0)
    values, half = values_at(maps, f, codes / maps.per_deviation), 0.5
    if len(codes) and ends_of(maps, f)[0] == ends_of(maps, f)[1]:  # a constant: nothing to choose
        codes, values = codes[:0], values[:0]
    place = codes / maps.per_deviation
    if limit.step:
        values = np.unique(np.rint(values / limit.step)) * limit.step
        values = values[(values >= limit.low) & (values <= limit.high)]
        place, half = places_of(maps, f, values), 0.0
    x = np.zeros((len(values), members[0].model.n_features))
    x[:, f] = values
    rows = []
    for number, member in enumerate(members):
        own = member.model.maps.features == f
        found = encode_samples(x, member.model.maps, ONE)[own] if len(x) else np.empty((own.sum(), 0), np.int16)
        rows.append(np.tile(codes, (own.sum(), 1)) if number == 0 and not limit.step else found)
    axis = Axis(
        values=values,
        place=place * limit.weight,
        half=half / maps.per_deviation * limit.weight,
        is_line=True,
        weight=limit.weight,
        position=np.empty(0, np.int64),
    )
    return axis, np.concatenate(rows)


def _category(members: list[Member], f: int, limit: Limits) -> tuple[Axis, Array]:
    levels = members[0].model.levels[f] or ()
    known = np.array([i for i, level in enumerate(levels) if level is not None], np.int64)
    x = np.zeros((len(known), members[0].model.n_features))
    x[:, f] = known
    codes = np.concatenate(
        [encode_samples(x, member.model.maps, ONE)[member.model.maps.features == f] for member in members]
        if len(known)
        else [np.empty(((member.model.maps.features == f).sum(), 0), np.int16) for member in members]
    )
    _, first, kind = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    position = np.full(len(levels), -1, np.int64)
    position[known] = kind.ravel() if len(known) else kind[:0]
    axis = Axis(
        values=known[first].astype(np.float64),
        place=np.arange(len(first), dtype=np.float64),
        half=0.0,
        is_line=False,
        weight=limit.weight,
        position=position,
    )
    return axis, codes[:, first]


def _trees(members: list[Member], starts: Array) -> Trees:
    """The trees of all members, one after another; what members contribute is divided by how many trees it is of."""
    routes = [member.model.ensemble.routes for member in members]
    width = max(one.width for one in routes)
    n_values = max(member.model.contributions.shape[1] for member in members)
    records = np.concatenate([[0], np.cumsum([len(one.answers) for one in routes])])
    nodes = np.concatenate([[0], np.cumsum([member.model.ensemble.nodes.n_nodes for member in members])])
    columns = _columns(members)
    threshold = np.zeros(records[-1], np.int64)
    coefficient, views = np.zeros((2, records[-1], width - 1), np.int32)
    link = np.empty(records[-1], np.int64)
    value = np.zeros((nodes[-1], n_values))
    for m, (one, member) in enumerate(zip(routes, members, strict=True)):
        rows = slice(records[m], records[m + 1])
        numbers, links = one.number.reshape(-1, one.width), one.link.reshape(-1, one.width).astype(np.int64)
        is_end = links[:, 0] == np.arange(len(links))
        threshold[rows] = np.where(is_end, 0.0, numbers[:, 0]).astype(np.int64)
        coefficient[rows, : one.width - 1] = numbers[:, 1:]
        views[rows, : one.width - 1] = links[:, 1:] // ROWS + starts[m]
        link[rows] = links[:, 0] + records[m]
        own, n_trees = member.model.contributions, member.model.ensemble.n_trees
        value[nodes[m] : nodes[m + 1], : own.shape[1]] = own / (n_trees if member.model.link == MEAN else 1)
    feature = np.concatenate([member.model.maps.features for member in members])[views].astype(np.int32)
    return Trees(
        threshold=threshold,
        coefficient=coefficient,
        feature=feature,
        joint=_joint(coefficient, feature),
        views=views,
        link=link,
        answer=np.concatenate([one.answers + n for one, n in zip(routes, nodes[:-1], strict=True)]).astype(np.int64),
        root=np.concatenate([one.first_records.astype(np.int64) + n for one, n in zip(routes, records, strict=False)]),
        column=np.repeat(columns[:-1], [member.model.ensemble.n_trees for member in members]),
        value=value,
        depth=int(max(one.depths.max() for one in routes)),
        **_slopes(members, nodes, starts, n_values),
    )


def _joint(coefficient: Array, feature: Array) -> Array:
    """As in `Trees`."""
    out = np.zeros_like(coefficient)
    for term in range(coefficient.shape[1]):
        same = (feature == feature[:, term : term + 1]) & (coefficient != 0)
        is_first = (coefficient[:, term] != 0) & ~same[:, :term].any(axis=1)
        out[:, term] = np.where(is_first, (coefficient * same).sum(axis=1), 0)
    return out


def _slopes(members: list[Member], nodes: Array, starts: Array, n_values: int) -> dict[str, Array]:
    """The linear models in leaves of all members."""
    found = [member.model.ensemble.nodes.slopes for member in members]
    has_some = any(one.first.size for one in found)
    counts = [
        np.diff(one.first) if one.first.size else np.zeros(n, np.int64)
        for one, n in zip(found, np.diff(nodes).tolist(), strict=True)
    ]

    def padded(name: str) -> Array:
        parts = [getattr(one, name) for one in found]
        parts = [np.pad(part, ((0, 0), (0, n_values - part.shape[1]))) for part in parts]
        return np.ascontiguousarray(np.concatenate(parts), np.float64)

    shifted = [one.feature + n for one, n in zip(found, starts[:-1], strict=True)]
    return {
        "first_slope": np.append(0, np.cumsum(np.concatenate(counts))) if has_some else np.empty(0, np.int64),
        "slope_view": np.concatenate(shifted).astype(np.int64),
        "slope": padded("slope"),
        "mean": padded("mean"),
        "low": np.concatenate([one.low for one in found]).astype(np.float64),
        "high": np.concatenate([one.high for one in found]).astype(np.float64),
    }


def _columns(members: list[Member]) -> Array:
    """Where the raw values of each member begin."""
    return np.concatenate([[0], np.cumsum([m.model.contributions.shape[1] for m in members])]).astype(np.int64)


def _members(members: list[Member], grid: Grid, starts: Array) -> Members:
    columns = _columns(members)
    is_alone = len(members) == 1
    links, start = [], []
    for member in members:
        model = member.model
        link = ADDED if model.link == MEAN else LINKS[str(model.link)]
        if is_alone and link == SOFTMAX:
            link = ADDED  # the order of classes is that of raw values
        if is_alone and link == LOGISTIC:
            link = LOG_ODDS
        links.append(link)
        start.append(np.zeros(model.contributions.shape[1]) if model.link == MEAN else model.start)
    table = np.zeros((columns[-1], len(grid.half)), np.int64)
    for m in range(len(members)):
        for v in range(int(starts[m]), int(starts[m + 1]))[::-1]:
            table[columns[m] : columns[m + 1], grid.feature[v]] = grid.table[v]
    classes = members[0].model.classes
    return Members(
        column=columns,
        link=np.array(links, np.int64),
        weight=np.array([member.weight for member in members]),
        start=np.concatenate(start),
        table=table,
        n_scores=1 if classes is None else len(classes),
    )
