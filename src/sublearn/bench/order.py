"""What a run is asked for: its parts, sets and peers, and how large everything is."""

from pathlib import Path
from typing import NamedTuple

from sublearn.bench.contenders import PEERS
from sublearn.bench.sets import SOURCES

PARTS = ("loss", "fits", "predict", "growth", "threads", "startup")


class Sizes(NamedTuple):
    """How much is measured."""

    n_rows: int | None  # of a set, at most; None: all
    n_forest: int  # trees
    n_rounds: int  # of boosting
    max_rounds: int  # for who has not reached the loss by then
    curve: tuple[int, ...]  # rounds at which points of the curves lie
    n_bulk: int  # rows predicted at once
    n_single: int  # single rows predicted, one after the other
    axes: dict[str, tuple[int, ...]]  # what grows, from the first value to the last
    n_growth: int  # rows where something else grows
    with_cold: bool  # starting up without a cache takes some 20 s each time


FULL = Sizes(
    n_rows=None,
    n_forest=20,
    n_rounds=100,
    max_rounds=400,
    curve=(10, 20, 40, 70, 100, 200, 400),
    n_bulk=50_000,
    n_single=200,
    axes={
        "rows": (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000),
        "features": (10, 30, 100, 300, 1_000),
        "classes": (2, 5, 10, 30, 100),
        "candidates": (8, 32, 128, 256, 512, 1_024),
    },
    n_growth=10_000,
    with_cold=True,
)
QUICK = Sizes(
    n_rows=1_200,
    n_forest=5,
    n_rounds=10,
    max_rounds=40,
    curve=(2, 5, 10, 20, 40),
    n_bulk=2_000,
    n_single=20,
    axes={"rows": (500, 2_000), "candidates": (128, 256)},
    n_growth=500,
    with_cold=False,
)


class BenchOrder(NamedTuple):
    """What is to be measured."""

    parts: tuple[str, ...] = PARTS
    data_sets: tuple[str, ...] = tuple(SOURCES)
    peers: tuple[str, ...] = PEERS
    threads: int = 2
    repeats: int = 3
    out: Path = Path("bench")
    folder: Path | None = None
    quick: bool = False
    seed: int = 0  # of the split into samples to learn from and to test on
    goals: bool = False  # whether to judge what was measured by the aims of this project

    @property
    def sizes(self) -> Sizes:
        """Small ones in the quick form."""
        return QUICK if self.quick else FULL

    def n_trees(self, kind: str) -> int:
        """Number of trees of a contender of this kind."""
        return {"tree": 1, "forest": self.sizes.n_forest, "boost": self.sizes.n_rounds}[kind]
