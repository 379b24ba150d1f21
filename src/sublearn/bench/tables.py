"""The tables of a run: ratios first, theirs over ours, and what they are made of below them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sublearn.bench.clock import SLOW
from sublearn.bench.contenders import CONTENDERS, KINDS
from sublearn.bench.growth import SizedFit, Slope
from sublearn.bench.order import BenchOrder
from sublearn.bench.results import Results
from sublearn.bench.sets import SOURCES
from sublearn.paper.sheets import Cell, Sheet

THEIRS = "First line: their time over ours, so that more than 1 is a time longer than ours."
TITLES = {"tree": "one tree", "forest": "forests", "boost": "boosting"}
MB = 1_000_000


def make_sheets(order: BenchOrder, results: Results) -> list[Sheet]:
    """All tables that there are results for."""
    fits = [_fit_sheet(order, results, kind) for kind in KINDS]
    axes = dict.fromkeys(one.axis for one in results.growth)
    growth = [_growth_sheet(order, results, axis) for axis in axes]
    sheets = [_loss_sheet(order, results), *fits, _predict_sheet(results), *growth]
    sheets += [_thread_sheet(results), _start_sheet(results)]
    return [sheet for sheet in sheets if sheet.rows]


def _by_set(name: str, title: str, note: str, entries: Sequence[Any], lines: Callable[[Any], Iterable[str]]) -> Sheet:
    """A row a contender, a column a set."""
    data_sets = list(dict.fromkeys(one.data_set for one in entries))
    contenders = [key for key in CONTENDERS if key in {one.contender for one in entries}]
    found = {(one.contender, one.data_set): one for one in entries}
    rows = []
    for contender in contenders:
        cells = [
            Cell(tuple(lines(found[contender, data_set])) if (contender, data_set) in found else ("",))
            for data_set in data_sets
        ]
        rows.append((CONTENDERS[contender].title, cells))
    header = ["", *(SOURCES[data_set].title for data_set in data_sets)]
    return Sheet(name=name, title=title, note=note, header=header, rows=rows, breaks=set(), entries=[], is_timing=True)


def _times(ratio: float | None) -> str:
    return "no ratio" if ratio is None else f"{ratio:.2f}"


def _seconds(seconds: float, turns: Sequence[float]) -> str:
    """A star where there was one turn only because it was slow."""
    return f"{seconds:.3g} s" + ("*" if len(turns) == 1 and seconds > SLOW else "")


def _loss_sheet(order: BenchOrder, results: Results) -> Sheet:
    pace = CONTENDERS[results.loss[0].pace].title if results.loss else ""
    note = (
        f"{THEIRS} Whole fits with as many rounds as reach the test loss that {pace} has after {order.sizes.n_rounds}, "
        f"up to {order.sizes.max_rounds}; {_best_of(order)}"
    )

    def lines(one: Any) -> list[str]:
        if one.rounds is None:
            return ["never", f"{one.end.loss:.4g} after {one.end.rounds}", f"goal {one.goal:.4g}"]
        return [_times(one.ratio), _seconds(one.seconds, one.turns), f"{one.rounds} rounds"]

    return _by_set("loss", f"Time to {pace}'s loss", note, results.loss, lines)


def _fit_sheet(order: BenchOrder, results: Results, kind: str) -> Sheet:
    entries = [one for one in results.fits if one.kind == kind]

    def lines(one: Any) -> list[str]:
        reached = (
            f"{one.loss_name} {one.loss:.4g}" if one.accuracy is None or kind == "boost" else f"{one.accuracy:.4f}"
        )
        return [_times(one.ratio), _seconds(one.seconds, one.turns), reached]

    n = f", {order.n_trees(kind)} trees each" if kind != "tree" else ""
    note = f"{THEIRS} Below: accuracy or loss on the test part; {_best_of(order)}"
    return _by_set(f"fits-{kind}", f"Whole fits: {TITLES[kind]}{n}", note, entries, lines)


def _best_of(order: BenchOrder) -> str:
    return f"best of {order.repeats}, in turns. A star: one turn, since it takes longer than {SLOW:g} s."


def _predict_sheet(results: Results) -> Sheet:
    def lines(one: Any) -> list[str]:
        single = f"one row {_times(one.single_ratio)}"
        return [
            _times(one.bulk_ratio),
            f"{one.rows_per_second:,.0f} rows/s",
            single,
            f"{1e6 * one.single_seconds:,.0f} us",
        ]

    note = f"{THEIRS} Models with the rounds that reach the same loss: many rows at once, and one row by itself."
    return _by_set("predict", "Prediction at matched loss", note, results.predict, lines)


def _growth_sheet(order: BenchOrder, results: Results, axis: str) -> Sheet:
    entries = [one for one in results.growth if one.axis == axis]
    found = {(one.value, one.contender): one for one in entries}
    values = list(dict.fromkeys(one.value for one in entries))
    contenders = [key for key in CONTENDERS if key in {one.contender for one in entries}]
    rows = [
        (f"{value:,} {axis}", [_grown_cell(found[value, key], found[values[0], key]) for key in contenders])
        for value in values
    ]
    slopes = {one.contender: one for one in results.slopes if one.axis == axis}
    rows.append(("slope", [_slope_cell(slopes.get(key)) for key in contenders]))
    note = (
        f"First line: the time of a fit over that with {values[0]:,} {axis}. Of peers also their time over that of SLM "
        "Boost. Last: peak memory of the process, and above its input."
    )
    sizes = f"{order.sizes.n_growth:,} rows where they do not grow"
    header = ["", *(CONTENDERS[key].title for key in contenders)]
    title = f"Growth in {axis}; {sizes}" if axis != "rows" else "Growth in rows"
    return Sheet(
        name=f"growth-{axis}",
        title=title,
        note=note,
        header=header,
        rows=rows,
        breaks={len(values) - 1},
        entries=[],
        is_timing=True,
    )


def _grown_cell(one: SizedFit, first: SizedFit) -> Cell:
    beside = [] if one.ratio is None else [f"{one.ratio:.2f} of ours"]
    return Cell(
        (
            f"{one.seconds / first.seconds:.2f} x",
            _seconds(one.seconds, one.turns),
            *beside,
            _memory(one),
        )
    )


def _memory(one: SizedFit) -> str:
    if one.peak is None or one.beyond is None:
        return "memory unknown"
    return f"{one.peak / MB:,.0f} MB, +{one.beyond / MB:,.0f}"


def _slope_cell(slope: Slope | None) -> Cell:
    return Cell(("" if slope is None else f"{slope.slope:.2f}",))


def _thread_sheet(results: Results) -> Sheet:
    rows = [
        (CONTENDERS[one.contender].title, [Cell((f"{one.speedup:.2f}", f"{one.one:.3g} s, {one.several:.3g} s"))])
        for one in results.threads
    ]
    n = results.threads[0].threads if results.threads else 2
    note = "The time on one thread over that on several, whole fits; peers show what the machine allows."
    return Sheet(
        name="threads",
        title=f"{n} threads on the synthetic set",
        note=note,
        header=["", "times"],
        rows=rows,
        breaks=set(),
        entries=[],
        is_timing=True,
    )


def _start_sheet(results: Results) -> Sheet:
    rows = []
    for one in results.startup:
        cells = [
            Cell((_times(one.ratio),)),
            *(Cell((f"{seconds:.3f}",)) for seconds in (one.others, one.own, one.first_fit, one.first_predict)),
        ]
        rows.append((f"{CONTENDERS[one.contender].title}, {one.cache} cache", cells))
    note = "Ratio: own import and first fit over those of SLM Boost. Seconds; 500 rows by 20, each in a new process."
    header = ["", "ratio", "import of others", "own import", "first fit", "first predict"]
    return Sheet(
        name="startup",
        title="Starting up",
        note=note,
        header=header,
        rows=rows,
        breaks=set(),
        entries=[],
        is_timing=True,
    )
