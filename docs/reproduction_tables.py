"""Rewrites the tables of docs/reproduction.md from reports: python docs/reproduction_tables.py HONEST PAPER.

HONEST and PAPER are folders that `sublearn reproduce` wrote, one of each protocol; one alone renews its own tables.
What stands between two marks of the page is replaced, all else is left as it is.
"""

import csv
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.headline import headline
from sublearn.paper.significance import LEVEL
from sublearn.paper.tables import digits_of

PAGE = Path(__file__).parent / "reproduction.md"
Entry = dict[str, Any]


def marks(protocol: str, name: str) -> tuple[str, str]:
    """Between which a table of a protocol stands."""
    return f"<!-- {protocol} {name}: python docs/reproduction_tables.py -->\n\n", f"\n<!-- end of {protocol} {name} -->"


def renewed(text: str, results: dict[str, Any], times: Sequence[dict[str, str]] = ()) -> str:
    """The text of the page with the tables of one report; a table that the report has not stays."""
    protocol = results["protocol"]
    if results["quick"]:
        raise ValueError("A quick report is not what the page is about; got one.")
    tables = {name: make(results[name]) for name, make in TABLES.items() if results.get(name)}
    tables["headline"] = "".join(map(_bullet, headline(protocol, results)))
    if results.get("table1"):
        tables["below"] = below_printed(results["table1"])
    if times:
        tables["times"] = times_table(times)
    for name, table in tables.items():
        begin, end = marks(protocol, name)
        if begin in text:
            before, rest = text.split(begin)
            text = before + begin + table + end + rest.split(end)[1]
    return text


def _bullet(line: str) -> str:
    """A line of a list, in lines that a diff can show."""
    lines = wrap(line, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], is_text: bool = False) -> str:
    """Figures are aligned to the right."""
    rule = ["---"] + ["---" if is_text else "---:"] * (len(header) - 1)
    lines = [header, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    body = "\n".join(f"| {' | '.join(line)} |" if line is not rule else f"|{'|'.join(line)}|" for line in lines)
    return body + "\n"


def _unique(entries: Sequence[Entry], *names: str) -> list[Any]:
    """Values of one field, or of several together, in their order."""
    return list(
        dict.fromkeys(entry[names[0]] if len(names) == 1 else tuple(entry[n] for n in names) for entry in entries)
    )


def _text(value: float, data_set: str) -> str:
    return f"{value:.{2 if SOURCES[data_set].is_classes else digits_of(data_set)}f}"


def _name(contender: str, data_set: str) -> str:
    return CONTENDERS[contender].name(SOURCES[data_set].is_classes)


def pair_table(entries: Sequence[Entry]) -> str:
    """SLM's mean, its peer's, and p; below, the mean of all sets."""
    pairs = _unique(entries, "slm", "peer")
    sets = _unique(entries, "data_set")
    found = {(entry["data_set"], entry["slm"], entry["peer"]): entry for entry in entries}
    header = ["set", *(f"{_name(slm, sets[0])} / {CONTENDERS[peer].title}" for slm, peer in pairs)]
    rows = [
        [SOURCES[data_set].title, *(_pair(found[data_set, *pair]) for pair in pairs if (data_set, *pair) in found)]
        for data_set in sets
    ]
    is_classes = SOURCES[sets[0]].is_classes
    means = []
    for pair in pairs:
        ours, theirs = (np.array([found[s, *pair][of] for s in sets]) for of in ("slm_mean", "peer_mean"))
        ratio = f"**{np.exp(np.log(ours / theirs).mean()):.3f}**"
        means.append(f"**{ours.mean():.2f} / {theirs.mean():.2f}**" if is_classes else ratio)
    return _table(header, [*rows, ["**mean**" if is_classes else "**mean ratio**", *means]])


def _pair(entry: Entry) -> str:
    ours, theirs = (_text(entry[of], entry["data_set"]) for of in ("slm_mean", "peer_mean"))
    p_value = entry["p_value"]
    return f"{ours} / {theirs}, " + ("p < 0.001" if p_value < 0.0005 else f"p = {p_value:.3f}")


def score_table(entries: Sequence[Entry]) -> str:
    """Tables I and III: ours, and in brackets what is printed."""
    sets = _unique(entries, "data_set")
    found = {(entry["contender"], entry["data_set"]): entry for entry in entries}
    rows = [
        [
            _name(name, sets[0]),
            *(_score(found[name, data_set]) if (name, data_set) in found else "" for data_set in sets),
        ]
        for name in _unique(entries, "contender")
    ]
    return _table(["", *(SOURCES[name].title for name in sets)], rows)


def _score(entry: Entry) -> str:
    mean = _text(entry["mean"], entry["data_set"])
    p_value = entry["p_value_against_best"]
    worse = "†" if p_value is not None and p_value < LEVEL else ""
    paper = "" if entry["paper"] is None else f" ({entry['paper']:.2f})"
    return (f"**{mean}**" if entry["is_best_of_group"] else mean) + worse + paper


def below_printed(entries: Sequence[Entry]) -> str:
    """On how many sets of classes our mean is below the printed number."""
    told = []
    for name in _unique(entries, "contender"):
        differences = [entry["difference"] for entry in entries if entry["contender"] == name and entry["paper"]]
        if differences:
            n = sum(difference < 0 for difference in differences)
            told.append(f"{CONTENDERS[name].title} on {n} of {len(differences)}")
    return _bullet(f"Our mean accuracy is below the printed one: {', '.join(told)} sets.")


def reached_table(entries: Sequence[Entry]) -> str:
    """Protocol "paper": each printed value of SLM, and the range of our splits."""
    rows = []
    for entry in entries:
        data_set = entry["data_set"]
        text = {name: _text(entry[name], data_set) for name in ("mean", "lowest", "highest")}
        rows.append(
            [
                f"{_name(entry['contender'], data_set)}, {SOURCES[data_set].title}",
                f"{entry['paper']:.2f}" + ("" if entry["is_multiple_of_a_sample"] else "*"),
                text["mean"],
                f"{text['lowest']} to {text['highest']}",
                f"{entry['n_at_least_as_good']} of {entry['n_splits']}",
                entry["verdict"],
                "yes" if entry["mean_is_no_worse"] else "no",
            ]
        )
    return _table(["", "paper", "our mean", "our range", "at least as good", "printed value", "mean no worse"], rows)


def size_table(entries: Sequence[Entry]) -> str:
    """Table II."""
    columns = _unique(entries, "contender", "quantity")
    found = {(entry["data_set"], entry["contender"], entry["quantity"]): entry for entry in entries}
    header = [CONTENDERS[name].title + (" depth" if quantity == "depth" else "") for name, quantity in columns]
    rows = []
    for data_set in _unique(entries, "data_set"):
        cells = []
        for column in columns:
            entry = found.get((data_set, *column))
            digits = 1 if column[1] == "depth" else 0
            cells.append("" if entry is None else f"{entry['mean']:,.{digits}f} ({entry['paper']:,})")
        rows.append([SOURCES[data_set].title, *cells])
    return _table(["", *header], rows)


def shape_table(entries: Sequence[Entry]) -> str:
    """Depth, splits, nodes and nodes over levels of single trees."""
    trees = _unique(entries, "contender")
    found = {(entry["data_set"], entry["contender"]): entry for entry in entries}
    rows = [
        [SOURCES[name].title, *(_shape(found[name, tree]) if (name, tree) in found else "" for tree in trees)]
        for name in _unique(entries, "data_set")
    ]
    return _table(["", *(CONTENDERS[tree].title for tree in trees)], rows)


def _shape(entry: Entry) -> str:
    return " / ".join(f"{entry[name]:.1f}" for name in ("depth", "n_splits", "n_nodes", "nodes_a_level"))


def claim_table(entries: Sequence[Entry]) -> str:
    """The paper's claims; the rules are in the report itself."""
    names = ("claim", "section", "verdict", "figures", "seen_in")
    return _table([*names[:4], "seen in"], [[entry[name] for name in names] for entry in entries], is_text=True)


def times_table(rows: Sequence[dict[str, str]]) -> str:
    """Seconds and shares."""
    shown = [[row["contender"], f"{float(row['seconds']):,.0f}", f"{100 * float(row['share']):.1f} %"] for row in rows]
    return _table(["", "seconds", "share"], shown)


TABLES: dict[str, Callable[[Sequence[Entry]], str]] = {
    **dict.fromkeys(("pairs1", "pairs3"), pair_table),
    **dict.fromkeys(("table1", "table3"), score_table),
    **dict.fromkeys(("reached1", "reached3"), reached_table),
    "table2": size_table,
    "shapes": shape_table,
    "claims": claim_table,
}


def main(folders: Sequence[str]) -> None:
    """Renew the page from some reports."""
    text = PAGE.read_text("utf-8")
    for folder in map(Path, folders):
        with (folder / "times.csv").open(newline="", encoding="utf-8") as file:
            times = list(csv.DictReader(file))
        text = renewed(text, json.loads((folder / "results.json").read_text("utf-8")), times)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
