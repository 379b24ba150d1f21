"""Step 2, beyond the paper: candidate projections fitted to the targets of each node by least squares."""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.projection import Fitted, Plan
from sublearn.core.tree.space import SOLO, largest_node, make_block, make_fit
from sublearn.core.tree.subspace import Ranking
from sublearn.kernels import fitting
from sublearn.kernels.layout import CONSTANT, Array, Level, Samples


def fit_projections(
    samples: Samples, level: Level, plan: Plan, subspace: Array, ranking: Ranking, workers: Workers
) -> Fitted:
    """The pairs of each node's subspace that explain most of its targets, as `plan` asks for."""
    n_nodes, size = subspace.shape
    if plan.n_fitted == 0:
        return Fitted.none(n_nodes, size)
    fitted = Fitted(np.empty((n_nodes, plan.n_fitted, size), np.int16), np.empty(n_nodes, np.int64))
    varies = ranking.threshold[np.arange(n_nodes)[:, None], subspace] != CONSTANT

    def fit(a: int, b: int) -> None:
        block = make_block(samples, size, 1, largest_node(level.runs))
        space = make_fit(samples, plan.n_fitted, size, block.projected.size)
        fitting.fit_level(
            samples, level, subspace, varies, plan.height, a, b, block, np.arange(size), space, SOLO, *fitted
        )

    workers.run(fit, (level.runs[:, -1] - level.runs[:, 0]) * size)
    return fitted
