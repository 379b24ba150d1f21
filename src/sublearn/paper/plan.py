"""What a report is made of: parts, sets, contenders and splits, and the units of work these need."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sublearn.paper import ablations, convergence, measures, printed
from sublearn.paper.contenders import CONTENDERS, of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.digests import is_of_slm
from sublearn.paper.runner import Unit

PARTS = ("table1", "table2", "table3", "claims", "fig1", "fig2", "fig3", "fig4", "fig5", "ablations")
PLANES = ("circle-and-ring", "2-new-moons", "4-new-moons")
N_SPLITS, N_SPLITS_QUICK = 10, 5


class Order(NamedTuple):
    """What is to be reproduced."""

    protocol: str = "honest"
    quick: bool = False
    seed: int = 0  # of the first split
    data_sets: tuple[str, ...] = tuple(SOURCES)
    contenders: tuple[str, ...] = tuple(CONTENDERS)
    parts: tuple[str, ...] = PARTS
    out: Path = Path("report")
    folder: Path | None = None
    jobs: int = 1
    left_out: tuple[str, ...] = ()  # a line for each set that cannot be had
    n_splits: int | None = None  # None: as many as usual

    @property
    def seeds(self) -> range:
        """Seeds of the splits, one for each."""
        usual = N_SPLITS_QUICK if self.quick else N_SPLITS
        return range(self.seed, self.seed + (usual if self.n_splits is None else self.n_splits))


def plan(order: Order) -> Iterator[Unit]:
    """Split by split, so that what a stopped run has is a report of fewer splits, and the time left is soon known.

    A quick run, where compiling takes a part of the time that counts, has all peers of SLM before SLM: while they run,
    one process compiles SLM's kernels for the others.
    """
    units = _split_by_split(order)
    yield from sorted(units, key=lambda unit: is_of_slm(unit.experiment, unit.subject)) if order.quick else units


def _split_by_split(order: Order) -> Iterator[Unit]:
    kinds = _kinds(order)
    for seed in order.seeds:
        for (experiment, data_set, subject), on_all_splits in kinds.items():
            if not on_all_splits and seed != order.seed:
                continue
            if experiment == "contender":
                yield Unit(
                    experiment=experiment,
                    protocol=order.protocol,
                    quick=order.quick,
                    data_set=data_set,
                    subject=subject,
                    seed=seed,
                )
            else:  # nothing is tuned there
                yield Unit(
                    experiment=experiment, protocol="fixed", quick=False, data_set=data_set, subject=subject, seed=seed
                )


def _kinds(order: Order) -> dict[tuple[str, str, str], bool]:
    """Experiment, data set and subject of all that is wanted, and whether on all splits or on the first alone."""
    kinds: dict[tuple[str, str, str], bool] = {}
    is_judged = "claims" in order.parts  # by all that is measured
    sizes = set(printed.N_PARAMETERS) | set(printed.DEPTH)
    for data_set in order.data_sets:
        is_classes = SOURCES[data_set].is_classes
        for name in of_table(is_classes):
            wanted = is_judged or ("table1" if is_classes else "table3") in order.parts
            wanted |= "table2" in order.parts and is_classes and name in sizes
            if wanted and name in order.contenders:
                kinds["contender", data_set, name] = True
        if "fig4" in order.parts and data_set in PLANES:
            kinds.setdefault(("contender", data_set, "slm-baseline"), False)
        if (is_judged or "fig5" in order.parts) and data_set in convergence.SETS:
            kinds["convergence", data_set, "ensembles"] = True
        if is_judged or "ablations" in order.parts:
            kinds |= {("ablation", data_set, name): True for name in ablations.VARIANTS}
        if is_judged:
            kinds["root", data_set, ablations.OF] = True
        if is_judged and not is_classes:
            kinds["growth", data_set, ablations.OF] = True
        if is_judged and (not is_classes or data_set in convergence.SETS):
            kinds["trees", data_set, "forests"] = True
        if is_judged and data_set == measures.SVR_SET:
            kinds["svr", data_set, "svm-rbf"] = True
    return kinds
