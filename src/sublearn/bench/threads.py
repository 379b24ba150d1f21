"""What two threads gain over one, on whole fits of the synthetic set."""

from functools import partial
from typing import NamedTuple

from sublearn.bench.clock import Call, in_turns
from sublearn.bench.contenders import CONTENDERS, OURS, Job, fitted
from sublearn.bench.order import BenchOrder
from sublearn.bench.sets import Split

BESIDE = ("xgboost", "lightgbm")  # peers that show what the machine allows


class Speedup(NamedTuple):
    """Seconds on one thread over seconds on several."""

    contender: str
    threads: int
    one: float
    several: float
    speedup: float
    turns: dict[str, list[float]]
    loads: dict[str, list[float]]


def time_threads(split: Split, order: BenchOrder) -> list[Speedup]:
    """One thread and several take turns, for each of our estimators and two peers."""
    found = []
    threads = max(order.threads, 2)
    for name, contender in CONTENDERS.items():
        if contender.library != OURS and (name not in BESIDE or contender.library not in order.peers):
            continue
        jobs = {n: Job(split.is_classes, order.n_trees(contender.kind), n) for n in (1, threads)}
        calls: dict[str, Call] = {
            str(n): partial(fitted, contender, job, split.X_train, split.y_train) for n, job in jobs.items()
        }
        timings = in_turns(calls, order.repeats)
        one, several = timings["1"].seconds, timings[str(threads)].seconds
        turns = {n: timing.turns for n, timing in timings.items()}
        loads = {n: timing.loads for n, timing in timings.items()}
        found.append(
            Speedup(
                contender=name,
                threads=threads,
                one=one,
                several=several,
                speedup=one / several,
                turns=turns,
                loads=loads,
            )
        )
    return found
