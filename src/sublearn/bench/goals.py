"""The aims of this project, each with what was seen and whether that meets it: `sublearn bench --goals` shows them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from sublearn.bench.contenders import CONTENDERS, OURS
from sublearn.bench.growth import slopes
from sublearn.bench.results import Results
from sublearn.bench.sets import SOURCES

FOREST_TIMES, BOOST_TIMES = 20.0, 50.0  # faster than YDF's oblique forest and boosting
N_AS_FAST, N_TWICE_AS_FAST = 4, 2  # sets on which the time to XGBoost's loss is at most XGBoost's, and half of it
ROWS_SLOPE, FEATURES_SLOPE = 1.05, 1.0
MANY_CANDIDATES, CANDIDATES_SLOPE = 100, 0.8  # "well below 1"
LARGE_ROWS, LARGE_MEMORY = 2_000_000, 6 * 2**30
THREADS, SPEEDUP = 2, 1.7
IMPORT_SECONDS, WARM_SECONDS, COLD_SECONDS = 0.15, 1.0, 20.0

_N_CLASSES = sum(source.is_classes for source in SOURCES.values())

MET, MISSED, UNKNOWN = "met", "missed", "not measured"


class Goal(NamedTuple):
    """What is aimed at."""

    name: str
    aim: str
    seen: str
    verdict: str


class Case(NamedTuple):
    """One of the measurements that a goal is about."""

    text: str
    is_met: bool


def judge(results: Results) -> list[Goal]:
    """All goals, in the order of the parts."""
    return [
        _time_to_loss(results),
        _forest(results),
        _boost(results),
        *_predictions(results),
        *_growth(results),
        _speedup(results),
        *_starts(results),
    ]


def show_goals(console: Console, goals: Sequence[Goal], quick: bool) -> None:
    """A line each: the verdict, the aim and what was seen."""
    colours = {MET: "green", MISSED: "red", UNKNOWN: "dim"}
    small = "; small data and few rounds, so that verdicts say little" if quick else ""
    console.print(f"Goals{small}", style="bold", markup=False)
    for goal in goals:
        line = Text.assemble((f"{goal.verdict:<13}", colours[goal.verdict]), f"{goal.name}: {goal.aim}")
        console.print(line.append(f". Seen: {goal.seen}." if goal.seen else "."))
    console.print()


def _goal(name: str, aim: str, cases: Iterable[Case], is_complete: bool = True) -> Goal:
    """Met where all cases are, and none is wanting; one that is missed is enough to miss it."""
    cases = list(cases)
    is_met = all(case.is_met for case in cases)
    verdict = MISSED if not is_met else MET if cases and is_complete else UNKNOWN
    return Goal(name, aim, "; ".join(case.text for case in cases), verdict)


def _time_to_loss(results: Results) -> Goal:
    aim = f"at most XGBoost's time on {N_AS_FAST} of {len(SOURCES)} sets, half of it on {N_TWICE_AS_FAST}"
    ours = {one.data_set: one for one in results.loss if one.contender == "slm-boost"}
    theirs = {one.data_set: one for one in results.loss if one.contender == "xgboost"}
    ratios = {name: theirs[name].ratio or 0.0 for name in ours if name in theirs}  # 0: the loss was not reached
    texts = [f"{name} {value:.2f}" if value else f"{name} never" for name, value in ratios.items()]
    n_as_fast = sum(value >= 1.0 for value in ratios.values())
    n_twice = sum(value >= 2.0 for value in ratios.values())
    is_met = n_as_fast >= N_AS_FAST and n_twice >= N_TWICE_AS_FAST
    seen = f"XGBoost's time over ours: {', '.join(texts)}" if texts else ""
    verdict = UNKNOWN if len(ratios) < len(SOURCES) else MET if is_met else MISSED
    return Goal("time to XGBoost's loss", aim, seen, verdict)


def _forest(results: Results) -> Goal:
    ours = {one.data_set: one for one in results.fits if one.contender == "slm-forest"}
    cases = []
    for one in results.fits:
        our_accuracy = ours[one.data_set].accuracy if one.contender == "ydf-forest" else None
        if our_accuracy is not None and one.accuracy is not None and one.ratio is not None:
            text = f"{one.data_set} {one.ratio:.1f} times, accuracy {our_accuracy:.4f} against {one.accuracy:.4f}"
            cases.append(Case(text, one.ratio >= FOREST_TIMES and our_accuracy >= one.accuracy))
    return _goal(
        "forest beside YDF's", f"{FOREST_TIMES:g} times as fast, no less accuracy", cases, len(cases) == _N_CLASSES
    )


def _boost(results: Results) -> Goal:
    ours = {one.data_set: one for one in results.fits if one.contender == "slm-boost"}
    cases = []
    for one in results.fits:
        if one.contender == "ydf-boost" and one.ratio is not None:
            our_loss = ours[one.data_set].loss
            text = f"{one.data_set} {one.ratio:.1f} times, {one.loss_name} {our_loss:.4g} against {one.loss:.4g}"
            cases.append(Case(text, one.ratio >= BOOST_TIMES and our_loss <= one.loss))
    return _goal(
        "boosting beside YDF's", f"{BOOST_TIMES:g} times as fast, no more loss", cases, len(cases) == len(SOURCES)
    )


def _predictions(results: Results) -> list[Goal]:
    """A set on which we do not reach the loss has no ratio, and misses the goal."""
    found = []
    is_complete = {one.data_set for one in results.predict} == set(SOURCES)
    for peer in ("xgboost", "lightgbm"):
        cases = [
            Case(f"{one.data_set} {one.bulk_ratio or 0.0:.2f} times", (one.bulk_ratio or 0.0) >= 1.0)
            for one in results.predict
            if one.contender == peer
        ]
        title = CONTENDERS[peer].title
        aim = f"{title}'s throughput at least, at matched loss"
        found.append(_goal(f"prediction beside {title}", aim, cases, is_complete))
    return found


def _growth(results: Results) -> list[Goal]:
    def cases(axis: str, most: float, above: int = 0) -> list[Case]:
        return [
            Case(f"{_title(one.contender)} {one.slope:.2f}", one.slope <= most)
            for one in slopes(results.growth, above)
            if one.axis == axis and CONTENDERS[one.contender].library == OURS
        ]

    memory = [
        Case(f"{_title(one.contender)} {one.peak / 2**30:.2f} GiB", one.peak <= LARGE_MEMORY)
        for one in results.growth
        if (one.axis, one.value) == ("rows", LARGE_ROWS)
        and CONTENDERS[one.contender].library == OURS
        and one.peak is not None
    ]
    many = f"above {MANY_CANDIDATES} candidates"
    return [
        _goal("growth in rows", f"slope at most {ROWS_SLOPE}", cases("rows", ROWS_SLOPE)),
        _goal("growth in features", f"slope at most {FEATURES_SLOPE}", cases("features", FEATURES_SLOPE)),
        _goal(
            "growth in candidates",
            f"slope at most {CANDIDATES_SLOPE} {many}",
            cases("candidates", CANDIDATES_SLOPE, MANY_CANDIDATES),
        ),
        _goal(f"memory of {LARGE_ROWS:,} rows", f"{LARGE_MEMORY / 2**30:g} GiB at most, input and all", memory),
    ]


def _speedup(results: Results) -> Goal:
    cases = [
        Case(f"{_title(one.contender)} {one.speedup:.2f} times", one.speedup >= SPEEDUP)
        for one in results.threads
        if CONTENDERS[one.contender].library == OURS and one.threads == THREADS
    ]
    return _goal("two threads", f"{SPEEDUP} times one thread", cases)


def _starts(results: Results) -> list[Goal]:
    ours = [one for one in results.startup if CONTENDERS[one.contender].library == OURS]
    imports = [one.own for one in ours if one.cache == "warm"]
    first = {
        cache: [(_title(one.contender), one.first_fit) for one in ours if one.cache == cache]
        for cache in ("warm", "cold")
    }
    own = [Case(f"{min(imports):.3f} s", min(imports) <= IMPORT_SECONDS)] if imports else []
    return [
        _goal("import, own share", f"{IMPORT_SECONDS} s at most", own),
        *(
            _goal(
                f"first fit, {cache} cache",
                f"{most:g} s at most",
                [Case(f"{title} {seconds:.2f} s", seconds <= most) for title, seconds in first[cache]],
            )
            for cache, most in (("warm", WARM_SECONDS), ("cold", COLD_SECONDS))
        ),
    ]


def _title(contender: str) -> str:
    return CONTENDERS[contender].title
