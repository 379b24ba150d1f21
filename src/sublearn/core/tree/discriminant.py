"""Step 3: the discriminant feature test of each candidate (paper Sec. II-B1)."""

import numpy as np

from sublearn.core.parallel import TEST_OVERHEAD, Workers
from sublearn.core.tree.space import SOLO, largest_node, make_work
from sublearn.kernels import discriminant
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test


def score_projections(
    samples: Samples,
    level: Level,
    test: Test,
    candidates: Candidates,
    n_known: int,
    workers: Workers,
    in_range: Array | None = None,
) -> None:
    """Fill decrease and threshold of the candidates, but for the first `n_known`, which have theirs.

    in_range: nodes (bool) whose candidates have a range too; values outside then count to the nearest bin.
    """
    n_each = candidates.coefficients.shape[1] - n_known
    if n_each == 0:
        return
    known = np.zeros(len(level.runs), np.bool_) if in_range is None else in_range
    largest = largest_node(level.runs)

    def score(a: int, b: int) -> None:
        work = make_work(samples, test.n_bins, largest, candidates.subspace.shape[1], n_each)
        discriminant.score_candidates(samples, level, test, candidates, n_known, known, a, b, work, SOLO)

    workers.run(
        score,
        level.runs[:, -1] - level.runs[:, 0] + TEST_OVERHEAD,
        items=n_each,
    )
