"""Races of the loop over levels: steps 1 to 3 look at some samples of a large node, then finalists are tested on all.

`kernels.racing` has the two steps that compiled trees share: the draw of the samples, and the choice of the finalists.
"""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.tree.criterion import describe_nodes, largest_decreases
from sublearn.core.tree.discriminant import score_projections
from sublearn.core.tree.parameters import TreeParameters
from sublearn.kernels import racing
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test


def is_raced(sizes: Array, parameters: TreeParameters) -> Array:
    """Whether nodes of these sizes are so large that candidates race."""
    least = 2 * parameters.racing_samples if parameters.racing_samples else np.inf
    raced: Array = sizes >= least
    return raced


def start_race(
    samples: Samples, level: Level, test: Test, parameters: TreeParameters, workers: Workers
) -> tuple[Level, Test]:
    """The nodes with few of their samples each, and a test that asks for no minima."""
    n_nodes, racing_samples = len(level.runs), parameters.racing_samples or 0
    order, runs = np.empty(n_nodes * racing_samples, np.int32), np.empty_like(level.runs)
    racing.draw_racers(level, racing_samples, order, runs)
    sums = describe_nodes(samples, order, runs, test, workers)
    few = Level(order, runs, sums.totals, largest_decreases(sums, test), level.keys)
    return few, test._replace(min_count=1, min_weight=1)


def end_race(
    samples: Samples, level: Level, test: Test, candidates: Candidates, n_finalists: int, workers: Workers
) -> Candidates:
    """The best candidates of each node, tested on all its samples; all of them where none was any good."""
    decided = np.empty(len(level.runs), np.bool_)
    racing.end_race(n_finalists, candidates, decided)
    most = int(candidates.sizes.max())
    finalists = candidates._replace(
        coefficients=np.ascontiguousarray(candidates.coefficients[:, :most]),
        decrease=np.ascontiguousarray(candidates.decrease[:, :most]),
        threshold=np.ascontiguousarray(candidates.threshold[:, :most]),
        ranges=np.ascontiguousarray(candidates.ranges[:, :most]),
    )
    score_projections(samples, level, test, finalists, 0, workers, decided)
    return finalists
