"""Tables I, II and III from the records of a run: ours beside the printed numbers, and the difference."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sublearn.paper import printed
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.runner import Records
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.significance import LEVEL, corrected_p_value

OPTIMISTIC = "OPTIMISTIC: hyper-parameters were chosen on the test part"

HALF_A_DIGIT = 0.005  # printed numbers have two decimals

Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """Scores of all contenders on the sets of one kind: accuracy in percent, or root mean squared error."""

    is_classes: bool
    protocol: str
    data_sets: list[str]
    contenders: list[str]
    values: dict[tuple[str, str], Floats]  # (contender, data set): one value a split
    n_test: dict[str, int]

    def mean(self, contender: str, data_set: str) -> float:
        """Mean score over the splits."""
        return float(self.values[contender, data_set].mean())

    def best(self, contenders: Sequence[str], data_set: str) -> str:
        """The contender with the best mean."""
        choose: Callable[..., str] = max if self.is_classes else min
        return choose(contenders, key=lambda name: self.mean(name, data_set))

    def printed(self, contender: str, data_set: str) -> str | None:
        """What the paper has in this cell."""
        return (printed.ACCURACY if self.is_classes else printed.RMSE).get(contender, {}).get(data_set)

    @property
    def sign(self) -> int:
        """Sign of a better score: 1 where more is better, else -1."""
        return 1 if self.is_classes else -1

    def n_at_least_as_good(self, contender: str, data_set: str) -> int:
        """Number of splits on which ours is at least as good as what is printed."""
        text = self.printed(contender, data_set)
        assert text is not None
        return int(np.sum(self.sign * self.values[contender, data_set] >= self.sign * float(text) - HALF_A_DIGIT))

    def p_value(self, contender: str, other: str, data_set: str) -> float:
        """p of the difference between two contenders."""
        differences = self.values[contender, data_set] - self.values[other, data_set]
        return corrected_p_value(differences, SOURCES[data_set].is_generated)

    def text(self, value: float, data_set: str, sign: bool = False) -> str:
        """A value with the digits that the paper has."""
        digits = 2 if self.is_classes else digits_of(data_set)
        return f"{value:{'+' if sign else ''}.{digits}f}"


def digits_of(data_set: str) -> int:
    """One digit more than is printed where errors are below 1: there two say little."""
    return 3 if float(printed.RMSE["dt"][data_set]) < 1 else 2


def collect_scores(records: Records, is_classes: bool) -> Scores | None:
    """Scores from the records of contenders; None where there are none of this kind."""
    values: dict[tuple[str, str], list[float]] = {}
    n_test: dict[str, int] = {}
    protocol = ""
    for unit, record in sorted(records.items()):
        if unit.experiment == "contender" and SOURCES[unit.data_set].is_classes == is_classes:
            score = record.values["score"] * (100 if is_classes else 1)
            values.setdefault((unit.subject, unit.data_set), []).append(score)
            n_test[unit.data_set] = record.values["n_test"]
            protocol = unit.protocol
    if not values:
        return None
    return Scores(
        is_classes=is_classes,
        protocol=protocol,
        data_sets=[name for name in SOURCES if name in {data_set for _, data_set in values}],
        contenders=[name for name in CONTENDERS if name in {contender for contender, _ in values}],
        values={key: np.array(found) for key, found in values.items()},
        n_test=n_test,
    )


def score_sheet(scores: Scores) -> Sheet:
    """Table I or III."""
    rows, entries = [], []
    for contender in scores.contenders:
        cells = []
        for data_set in scores.data_sets:
            entry = _score_entry(scores, contender, data_set)
            cells.append(_score_cell(scores, entry))
            entries.append(entry)
        rows.append((CONTENDERS[contender].name(scores.is_classes), cells))
    groups = [CONTENDERS[name].group for name in scores.contenders]
    return Sheet(
        name="table1" if scores.is_classes else "table3",
        title="Table I: classification accuracy (%)" if scores.is_classes else "Table III: root mean squared error",
        note=_score_note(scores),
        header=["", *(SOURCES[name].title for name in scores.data_sets)],
        rows=rows,
        breaks={i for i in range(len(groups) - 1) if groups[i] != groups[i + 1]},
        entries=entries,
    )


def _score_note(scores: Scores) -> str:
    n = max(map(len, scores.values.values()))
    if scores.protocol == "paper":
        spread = f"mean of the best test scores of {n} splits, and their range; {OPTIMISTIC}"
        place = ", and on how many splits ours is at least as good"
    else:
        spread = f"mean and standard deviation over {n} splits"
        place = (
            f". A dagger: significantly worse than the best contender on the set (corrected paired test, p < {LEVEL})"
        )
    return f"First line: ours, {spread}. Below: the paper's number and the difference{place}. Bold: best of its group."


def _score_entry(scores: Scores, contender: str, data_set: str) -> dict[str, Any]:
    values = scores.values[contender, data_set]
    group = [name for name in scores.contenders if CONTENDERS[name].group == CONTENDERS[contender].group]
    best = scores.best(scores.contenders, data_set)
    text = scores.printed(contender, data_set)
    difference = None if text is None else float(values.mean()) - float(text)
    is_tested = scores.protocol == "honest" and contender != best
    return {
        "data_set": data_set,
        "contender": contender,
        "mean": float(values.mean()),
        "deviation": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "paper": text and float(text),
        "difference": difference,
        "n_splits": len(values),
        "n_at_least_as_good_as_paper": text and scores.n_at_least_as_good(contender, data_set),
        "is_best_of_group": bool(scores.mean(scores.best(group, data_set), data_set) == values.mean()),
        "best_contender": best,
        "p_value_against_best": scores.p_value(contender, best, data_set) if is_tested else None,
    }


def _score_cell(scores: Scores, entry: dict[str, Any]) -> Cell:
    def text(name: str, sign: bool = False) -> str:
        return scores.text(entry[name], entry["data_set"], sign)

    worse = entry["p_value_against_best"] is not None and entry["p_value_against_best"] < LEVEL
    if scores.protocol == "paper":
        lines = [text("mean"), f"{text('lowest')} to {text('highest')}"]
    else:
        lines = [f"{text('mean')} ± {text('deviation')}{'†' if worse else ''}"]
    if entry["paper"] is not None:
        lines.append(f"{scores.printed(entry['contender'], entry['data_set'])} ({text('difference', sign=True)})")
        if scores.protocol == "paper":
            lines.append(f"{entry['n_at_least_as_good_as_paper']} of {entry['n_splits']}")
    return Cell(tuple(lines), entry["is_best_of_group"])


SIZES = [(name, "n_parameters") for name in printed.N_PARAMETERS] + [(name, "depth") for name in printed.DEPTH]


def size_sheet(records: Records) -> Sheet | None:
    """Table II: rows are sets, as in the paper."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for unit, record in sorted(records.items()):
        if unit.experiment == "contender" and SOURCES[unit.data_set].is_classes:
            for quantity in ("n_parameters", "depth"):
                if (unit.subject, quantity) in SIZES:
                    found.setdefault((unit.data_set, unit.subject, quantity), []).append(record.values[quantity])
    if not found:
        return None
    columns = [key for key in SIZES if any(key == (contender, quantity) for _, contender, quantity in found)]
    rows, entries = [], []
    for data_set in [name for name in SOURCES if any(name == key[0] for key in found)]:
        means = {key: float(np.mean(found[data_set, *key])) for key in columns if (data_set, *key) in found}
        smallest = min(mean for (_, quantity), mean in means.items() if quantity == "n_parameters")
        cells = []
        for key in columns:
            if key not in means:
                cells.append(Cell(("",)))
                continue
            entry = _size_entry(data_set, *key, means[key])
            cells.append(_size_cell(entry, key[1] == "n_parameters" and means[key] == smallest))
            entries.append(entry)
        rows.append((SOURCES[data_set].title, cells))
    header = [CONTENDERS[name].title + (" depth" if quantity == "depth" else "") for name, quantity in columns]
    note = "First line: ours, mean over the splits. Below: the paper's number and the difference. Bold: the smallest."
    if any(unit.protocol == "paper" for unit in records):
        note += f" {OPTIMISTIC}."
    return Sheet(
        name="table2",
        title="Table II: number of parameters, and depth",
        note=note,
        header=["", *header],
        rows=rows,
        breaks=set(),
        entries=entries,
    )


def _size_entry(data_set: str, contender: str, quantity: str, mean: float) -> dict[str, Any]:
    paper = int((printed.N_PARAMETERS if quantity == "n_parameters" else printed.DEPTH)[contender][data_set])
    named = {"data_set": data_set, "contender": contender, "quantity": quantity}
    return {**named, "mean": mean, "paper": paper, "difference": mean - paper}


def _size_cell(entry: dict[str, Any], is_smallest: bool) -> Cell:
    digits = 0 if entry["quantity"] == "n_parameters" else 1
    paper = f"{entry['paper']:,} ({entry['difference']:+,.{digits}f})"
    return Cell((f"{entry['mean']:,.{digits}f}", paper), is_smallest)


def time_sheet(records: Records) -> Sheet:
    """What each contender took, of the time of all."""
    seconds = {contender.title: 0.0 for contender in CONTENDERS.values()}
    for unit, record in sorted(records.items()):
        name = CONTENDERS[unit.subject].title if unit.experiment == "contender" else unit.experiment
        seconds[name] = seconds.get(name, 0.0) + record.seconds
    seconds = {name: found for name, found in seconds.items() if found > 0}
    total = sum(seconds.values())
    entries: list[dict[str, Any]] = [
        {"contender": name, "seconds": found, "share": found / total} for name, found in seconds.items()
    ]
    rows = [
        (name, [Cell((f"{found:,.1f}",)), Cell((f"{100 * found / total:.1f} %",))]) for name, found in seconds.items()
    ]
    rows.append(("all", [Cell((f"{total:,.1f}",)), Cell(("100.0 %",))]))
    note = "Search, fit and prediction, on one core each."
    return Sheet(
        name="times",
        title="Share of the time",
        note=note,
        header=["", "seconds", "share"],
        rows=rows,
        breaks=set(),
        entries=entries,
        is_timing=True,
    )
