"""Step 3: the discriminant feature test of each candidate (paper Sec. II-B1)."""

from sublearn.core.parallel import TEST_OVERHEAD, Workers
from sublearn.kernels import search
from sublearn.kernels.layout import Candidates, Level, Samples, Test


def score_projections(
    samples: Samples, level: Level, test: Test, candidates: Candidates, n_known: int, workers: Workers
) -> None:
    """Fill decrease and threshold of the candidates, but for the first `n_known`, which have theirs."""
    n_each = candidates.coefficients.shape[1] - n_known
    if n_each == 0:
        return
    workers.run(
        lambda a, b: search.score_candidates(samples, level, test, candidates, n_known, a, b),
        level.runs[:, -1] - level.runs[:, 0] + TEST_OVERHEAD,
        items=n_each,
    )
