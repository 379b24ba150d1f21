"""All that a run has measured, part by part; what was not asked for is empty."""

from typing import Any, NamedTuple

from sublearn.bench.fits import TimedFit
from sublearn.bench.growth import SizedFit, Slope, slopes
from sublearn.bench.loss import Reached
from sublearn.bench.predict import Predicted
from sublearn.bench.startup import Start
from sublearn.bench.threads import Speedup


class Results(NamedTuple):
    """The measurements of a run: one list a part, named after it."""

    loss: list[Reached]
    fits: list[TimedFit]
    predict: list[Predicted]
    growth: list[SizedFit]
    threads: list[Speedup]
    startup: list[Start]

    @property
    def slopes(self) -> list[Slope]:
        """Slopes of time over size, from the measurements of growth."""
        return slopes(self.growth)


def empty() -> Results:
    """Results of a run that has measured nothing yet."""
    return Results(loss=[], fits=[], predict=[], growth=[], threads=[], startup=[])


def plain(value: Any) -> Any:
    """Records as dicts, for JSON."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value
