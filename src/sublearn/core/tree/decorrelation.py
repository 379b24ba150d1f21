"""Step 4: keep the best hyperplane and others that differ from it and help (paper Sec. II-B3)."""

from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import TreeParameters
from sublearn.core.tree.space import SOLO, largest_node, make_keeping, make_partitions, make_work
from sublearn.kernels import decorrelation
from sublearn.kernels.decorrelation import Partitions
from sublearn.kernels.layout import Array, Candidates, Level, Samples, Test


def keep_decorrelated(
    samples: Samples,
    level: Level,
    test: Test,
    candidates: Candidates,
    parameters: TreeParameters,
    cells: Array,
    workers: Workers,
) -> Partitions:
    """Choose each node's hyperplanes; fills `cells` with the child code of each sample."""
    partitions = make_partitions(len(level.runs), parameters.max_partitions)
    limits = (parameters.max_cosine * parameters.max_cosine, parameters.effective_ratio)
    largest, n_cells = largest_node(level.runs), 1 << parameters.max_partitions

    def keep(a: int, b: int) -> None:
        work = make_work(samples, n_cells, largest, 1, 1)
        keeping = make_keeping(samples, largest, n_cells, candidates.coefficients.shape[1])
        decorrelation.keep_decorrelated(
            samples, level, test, candidates, limits, a, b, work, keeping, SOLO, partitions, cells
        )

    workers.run(keep, level.runs[:, -1] - level.runs[:, 0])
    return partitions
