"""The whole command: measures part after part, prints tables (goals if asked for), writes JSON and the picture."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from threadpoolctl import threadpool_limits

from sublearn.bench import sets
from sublearn.bench.contenders import missing
from sublearn.bench.courses import Courses, find_courses
from sublearn.bench.fits import time_fits
from sublearn.bench.goals import judge, show_goals
from sublearn.bench.growth import LEFT_OUT, time_growth
from sublearn.bench.loss import time_to_loss
from sublearn.bench.machine import machine, versions
from sublearn.bench.order import BenchOrder
from sublearn.bench.picture import time_against_loss
from sublearn.bench.predict import time_predictions
from sublearn.bench.results import Results, empty, plain
from sublearn.bench.startup import time_starts
from sublearn.bench.tables import make_sheets
from sublearn.bench.threads import time_threads
from sublearn.display.canvas import save
from sublearn.paper.datasets import MissingDataError
from sublearn.paper.terminal import show_sheet

ON_SETS = ("loss", "fits", "predict")


def bench(order: BenchOrder, console: Console) -> Path:
    """Measure what is ordered; returns the path of the JSON, which is written anew after every set and part.

    Raises MissingDataError where none of the sets can be had that the order needs.
    """
    begin = machine()
    report = _Report(order, console, begin)
    order = report.order = _without_missing_peers(order, report)
    with threadpool_limits(order.threads):
        if set(order.parts) & set(ON_SETS):
            _measure_sets(order, report)
        if "growth" in order.parts:
            for library in set(order.peers) & set(LEFT_OUT):
                report.leave_out(f"{library} is left out of the growth: one fit of a large set would take hours")
            for axis in order.sizes.axes:
                report.results.growth.extend(time_growth(axis, order, report.say))
                report.write()
        if "threads" in order.parts:
            report.say("threads")
            report.results.threads.extend(
                time_threads(sets.load("synthetic", order.sizes.n_rows, None, order.seed), order)
            )
            report.write()
        if "startup" in order.parts:
            report.say("startup")
            report.results.startup.extend(time_starts(order))
    for sheet in make_sheets(order, report.results):
        show_sheet(console, sheet)
    if order.goals:
        show_goals(console, judge(report.results), order.quick)
    if report.results.loss:
        save(time_against_loss(report.results.loss), order.out, "time-against-loss")
    report.show_load()
    return report.write()


class _Report:
    """What has been measured so far, and where it is told and written."""

    def __init__(self, order: BenchOrder, console: Console, begin: dict[str, Any]) -> None:
        self.order, self._console, self._begin = order, console, begin
        self.results: Results = empty()
        self._left_out: list[str] = []
        self._started = datetime.now(UTC).isoformat(timespec="seconds")

    def say(self, line: str) -> None:
        """What is measured now."""
        self._console.print(f"measuring {line}", style="dim", soft_wrap=True, markup=False)

    def leave_out(self, line: str) -> None:
        """What cannot be measured, and why."""
        self._left_out.append(line)
        self._console.print(line, style="yellow", soft_wrap=True, markup=False)

    def show_load(self) -> None:
        """Print the load of the machine, before and after."""
        before, after = self._begin, machine()
        loads = ["/".join(f"{load:.1f}" for load in found["load"]) for found in (before, after)]
        text = (
            f"{before['cores']} cores, {before['cpu']}; load {loads[0]} before and {loads[1]} after, our own included."
        )
        self._console.print(text, style="dim", soft_wrap=True, markup=False)

    def write(self) -> Path:
        """Write all results as JSON."""
        order = self.order
        options = {
            "threads": order.threads,
            "repeats": order.repeats,
            "quick": order.quick,
            "parts": order.parts,
            "seed": order.seed,
        }
        found = {
            "started": self._started,
            "options": {**options, "sets": order.data_sets, "peers": order.peers},
            "versions": versions(),
            "machine": {**self._begin, "load_after": machine()["load"]},
            "left_out": self._left_out,
            **{part: entries for part, entries in self.results._asdict().items() if entries},
            "slopes": self.results.slopes,
            **({"goals": judge(self.results)} if order.goals else {}),
        }
        order.out.mkdir(parents=True, exist_ok=True)
        path = order.out / "results.json"
        path.write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")
        return path


def _without_missing_peers(order: BenchOrder, report: _Report) -> BenchOrder:
    for library in filter(missing, order.peers):
        report.leave_out(f"{library} is left out: it is not installed; pip install 'sublearn[bench]'")
    return order._replace(peers=tuple(library for library in order.peers if not missing(library)))


def _measure_sets(order: BenchOrder, report: _Report) -> None:
    n_found = 0
    for name in order.data_sets:
        try:
            split = sets.load(name, order.sizes.n_rows, order.folder, order.seed)
        except MissingDataError as reason:
            report.leave_out(f"{name} is left out: {reason}")
            continue
        n_found += 1
        _measure_set(split, order, report)
        report.write()
    if not n_found:
        raise MissingDataError("none of the sets can be had")


def _measure_set(split: sets.Split, order: BenchOrder, report: _Report) -> None:
    courses: Courses | None = None
    if {"loss", "predict"} & set(order.parts):
        report.say(f"loss by rounds: {split.name}")
        courses = find_courses(split, order)
        if courses is None:
            report.leave_out(f"{split.name}: no peer of boosting is there to set a loss")
    if courses and "loss" in order.parts:
        report.say(f"loss: {split.name}")
        report.results.loss.extend(time_to_loss(split, courses, order))
    if courses and "predict" in order.parts:
        report.say(f"predict: {split.name}")
        report.results.predict.extend(time_predictions(split, courses, order))
    if "fits" in order.parts:
        report.say(f"fits: {split.name}")
        found = courses.of if courses else {}
        known = {name: c.timing for name, c in found.items() if max(c.losses) == order.sizes.n_rounds}
        report.results.fits.extend(time_fits(split, order, known))
