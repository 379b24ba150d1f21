"""Step 4: keep the best hyperplane and others that differ from it and help (paper Sec. II-B3)."""

import numpy as np

from sublearn.core.parallel import Workers
from sublearn.core.parameters import TreeParameters
from sublearn.kernels import keeping
from sublearn.kernels.keeping import Choice
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test


def keep_decorrelated(
    samples: Samples,
    level: Level,
    test: Test,
    candidates: Candidates,
    parameters: TreeParameters,
    cells: Array,
    workers: Workers,
) -> Choice:
    """Choose each node's hyperplanes; fills `cells` with the child code of each sample."""
    n = len(level.runs)
    choice = Choice(
        np.zeros((n, parameters.max_partitions), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    )
    limits = (parameters.max_cosine * parameters.max_cosine, parameters.effective_ratio)
    workers.run(
        lambda a, b: keeping.keep_decorrelated(samples, level, test, candidates, limits, a, b, choice, cells),
        level.runs[:, -1] - level.runs[:, 0],
    )
    return choice
