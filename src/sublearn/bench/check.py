"""The guard against regressions: ratios to scikit-learn in one process, each held against a floor."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from sublearn.bench.clock import Call, Measure, in_turns, per_call
from sublearn.bench.contenders import CONTENDERS, Job, fitted, predictions
from sublearn.bench.sets import synthetic

# Their time over ours: about half of what was seen on two shared cores, so that noise passes and a slowdown by a
# factor of two does not.
FLOORS: dict[str, float] = {
    "tree, fit": 4.5,
    "forest, fit": 1.2,
    "boosting, fit": 0.7,
    "boosting, many rows": 2.0,
    "boosting, one row": 1.0,
}
PAIRS = {
    "tree": ("slm-tree", "decision-tree"),
    "forest": ("slm-forest", "random-forest"),
    "boosting": ("slm-boost", "hist-boosting"),
}
N_TREES = {"tree": 1, "forest": 10, "boosting": 30}
N_ROWS, N_SINGLE, REPEATS = 10_000, 100, 5


class Checked(NamedTuple):
    """A ratio and its floor."""

    name: str
    ratio: float  # their time over ours
    floor: float

    @property
    def is_below(self) -> bool:
        """Whether this is a regression."""
        return self.ratio < self.floor


def check(
    floors: Mapping[str, float] = FLOORS, n_rows: int = N_ROWS, repeats: int = REPEATS, measure: Measure | None = None
) -> list[Checked]:
    """Each pair in turns, on one thread, on as many rows of two classes."""
    X, y = synthetic(n_rows)
    ratios: dict[str, float] = {}
    with threadpool_limits(1):
        for kind, pair in PAIRS.items():
            job = Job(True, N_TREES[kind], 1)
            for name in pair:
                fitted(CONTENDERS[name], job, X[:500], y[:500])  # compiles or loads what is needed
            fits: list[Call] = [partial(fitted, CONTENDERS[name], job, X, y) for name in pair]
            ratios[f"{kind}, fit"] = _ratio(fits, repeats, measure)
        models = [fitted(CONTENDERS[name], job, X, y) for name in PAIRS["boosting"]]
        many: list[Call] = [partial(predictions, model, X, True) for model in models]
        single: list[Call] = [per_call(partial(predictions, model, X[:1], True), N_SINGLE) for model in models]
        ratios["boosting, many rows"] = _ratio(many, repeats, measure)
        ratios["boosting, one row"] = _ratio(single, repeats, measure)
    return [Checked(name, ratios[name], floor) for name, floor in floors.items()]


def _ratio(pair: list[Call], repeats: int, measure: Measure | None) -> float:
    ours, theirs = in_turns({"ours": pair[0], "theirs": pair[1]}, repeats, measure).values()
    return theirs.seconds / ours.seconds
