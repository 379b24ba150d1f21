"""Shapley values of a sum over trees: tree by tree, exact but for ends on very long paths."""

import numpy as np

from sublearn.core.model.fitted import MEAN
from sublearn.core.parallel import Workers
from sublearn.explanation.parts import Credits, Draw, Part
from sublearn.kernels.layout import Array
from sublearn.kernels.paths import MOST, Paths
from sublearn.kernels.prediction import ROWS, Rows
from sublearn.kernels.sampling import Draws, Sampling, Sums, add_sampled, count_far_players
from sublearn.kernels.shapley import PLACES, SLOTS, Linear, Space, Trees, add_credits
from sublearn.kernels.sides import BLOCK, FEW, Sides

WALKING = 600  # what a tree of depth 1 costs with a block of the background, in samples visited


def credit_raw(part: Part, draw: Draw, workers: Workers) -> Credits:
    """Credits of a model's raw values, or of the mean over its trees."""
    model, own = part.model, np.ascontiguousarray(part.own.T)
    n_background, ensemble = part.background.shape[1], model.ensemble
    shape = (len(own), model.n_features, model.contributions.shape[1])
    values, variances = np.zeros(shape), np.zeros(shape)
    trees = Trees(_ends(part), model.maps.features, _in_blocks(part.background), n_background)

    def add_part(first: int, last: int) -> None:
        space = _space(part)
        add_credits(ensemble.routes, trees, model.contributions, ensemble.nodes.slopes, own, first, last, space, values)

    costs = WALKING * int((ensemble.routes.depths.astype(np.int64) ** 2).sum())  # more ways to more ends
    workers.run(add_part, np.array([costs * len(trees.codes)]), items=len(own))
    n_far = np.zeros(ensemble.n_trees, np.int64)
    count_far_players(
        ensemble.routes, trees.ends, trees.features, ensemble.nodes.slopes, _paths(part), _draws(part, draw), n_far
    )
    if n_far.any():
        _add_far(part, own, n_far, draw, values, variances, workers)
    scale = n_background * (ensemble.n_trees if model.link == MEAN else 1)
    return Credits(values / scale, variances / scale**2, not n_far.any())


def _add_far(
    part: Part, own: Array, n_far: Array, draw: Draw, values: Array, variances: Array, workers: Workers
) -> None:
    """Add what is sampled; n_far (n_trees,): players on the ways to ends that the exact way leaves out."""
    model, routes = part.model, part.model.ensemble.routes
    n_background = part.background.shape[1]
    steps = int(((n_far + 1) * routes.depths)[n_far > 0].sum())

    def add_part(first: int, last: int) -> None:
        rows = Rows(
            np.zeros(model.maps.n_views * ROWS, np.float32),
            np.empty(ROWS, np.float32),
            np.empty(ROWS, np.int32),
            np.empty(ROWS, np.uint32),
        )
        n_values = values.shape[2]
        sums = Sums(*(np.zeros((n, n_values)) for n in (1, 1)), *(np.zeros(values.shape[1:]) for _ in range(3)))
        args = model.contributions, model.ensemble.nodes.slopes, own, part.background, first, last
        space = Sampling(paths=_paths(part), draws=_draws(part, draw), rows=rows, sums=sums)
        add_sampled(routes, _ends(part), model.maps.features, n_far, *args, space, values, variances)

    workers.run(add_part, np.array([2 * draw.n_pairs * steps * n_background]), items=len(own))


def _ends(part: Part) -> Array:
    """Where the records of each tree end."""
    routes = part.model.ensemble.routes
    return np.append(routes.first_records[1:].astype(np.int64), len(routes.answers))


def _in_blocks(codes: Array) -> Array:
    """Codes (n_views, n) as (n_blocks, n_views, BLOCK); places at the end that are left are 0."""
    n_views, n = codes.shape
    out = np.zeros((-(-n // BLOCK), n_views, BLOCK), np.int16)
    for b, block in enumerate(out):
        here = codes[:, b * BLOCK : (b + 1) * BLOCK]
        block[:, : here.shape[1]] = here
    return out


def _sizes(part: Part) -> tuple[int, int]:
    """Records of the largest tree, and terms of a hyperplane."""
    routes = part.model.ensemble.routes
    return int((_ends(part) - routes.first_records).max()), routes.width - 1


def _paths(part: Part) -> Paths:
    """Space for the paths of the largest tree."""
    n, n_terms = _sizes(part)
    return Paths(
        n_players=np.empty(n, np.int64),
        number=np.empty((n, n_terms), np.int64),
        first_term=np.empty((n, n_terms + 1), np.int64),
        column=np.empty((n, n_terms), np.int64),
        coefficient=np.empty((n, n_terms), np.int32),
        length=np.empty(n, np.int64),
        feature=np.empty((n, MOST), np.int64),
        slope_number=np.empty((n, SLOTS), np.int64),
    )


def _space(part: Part) -> Space:
    """Space of one thread for exact credits."""
    n, _ = _sizes(part)
    depth = int(part.model.ensemble.routes.depths.max())
    return Space(
        paths=_paths(part),
        sides=Sides(np.empty(n, np.int64), np.empty(n, np.int64)),
        slopes=np.empty(n, np.int64),
        todo=np.empty((depth + 2, 3), np.int64),
        heads=np.zeros(4, np.uint64),
        bounds=np.empty((3, BLOCK), np.int32),
        least=np.empty(1 << FEW, np.int32),
        credit=np.zeros(PLACES),
        linear=Linear(
            slope=np.zeros(SLOTS),
            own=np.zeros(SLOTS),
            number=np.zeros(SLOTS, np.uint64),
            sums=np.zeros(SLOTS, np.int32),
            parts=np.zeros(SLOTS),
            loose=np.zeros(SLOTS),
            credit=np.zeros(SLOTS),
        ),
    )


def _draws(part: Part, draw: Draw) -> Draws:
    """Space for what is drawn."""
    n_features = part.model.n_features
    return Draws(
        np.uint64(draw.key),
        draw.n_pairs,
        np.empty(n_features, np.int64),
        np.empty(_sizes(part)[0], np.bool_),
        np.empty(n_features, np.bool_),
    )
