"""The shape of single trees: depth, nodes, splits and how wide a level is, beside what the paper's appendix has."""

from typing import Any

import numpy as np

from sublearn.paper import printed
from sublearn.paper.contenders import CONTENDERS
from sublearn.paper.datasets import SOURCES
from sublearn.paper.runner import Records
from sublearn.paper.sheets import Cell, Sheet
from sublearn.paper.tables import OPTIMISTIC

TREES = ("dt", "dt-tuned", "slm-baseline")
QUANTITIES = ("depth", "n_splits", "n_nodes", "nodes_a_level")


def shape_sheet(records: Records) -> Sheet | None:
    """Rows are sets; a cell has the depth, and below it splits, nodes and nodes a level."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for unit, record in sorted(records.items()):
        if unit.experiment == "contender" and unit.subject in TREES and record.values.get("nodes"):
            found.setdefault((unit.data_set, unit.subject), []).append(record.values)
    if not found:
        return None
    entries = [
        _entry(data_set, tree, found[data_set, tree])
        for data_set in SOURCES
        for tree in TREES
        if (data_set, tree) in found
    ]
    trees = [tree for tree in TREES if any(entry["contender"] == tree for entry in entries)]
    by_key = {(entry["data_set"], entry["contender"]): entry for entry in entries}
    rows = [
        (SOURCES[name].title, [_cell(by_key.get((name, tree))) for tree in trees])
        for name in SOURCES
        if any(name == data_set for data_set, _ in by_key)
    ]
    note = (
        "First line: depth, mean over the splits. Below: splits (hyperplanes of SLM), nodes, and nodes over levels. "
        "Last line: the appendix of the paper, where it has the tree."
    )
    if any(unit.protocol == "paper" for unit in records):
        note += f" {OPTIMISTIC}."
    header = ["", *(CONTENDERS[tree].title for tree in trees)]
    return Sheet(
        name="shapes", title="Shape of the trees", note=note, header=header, rows=rows, breaks=set(), entries=entries
    )


def _entry(data_set: str, tree: str, of_splits: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(values: list[float]) -> float:
        return float(np.mean(values))

    return {
        "data_set": data_set,
        "contender": tree,
        "depth": mean([one["depth"] for one in of_splits]),
        "n_splits": mean([one["n_splits"] for one in of_splits]),
        "n_nodes": mean([sum(one["nodes"]) for one in of_splits]),
        "nodes_a_level": mean([float(np.mean(one["nodes"])) for one in of_splits]),
        "paper": _of_appendix(data_set, tree),
    }


def _of_appendix(data_set: str, tree: str) -> str:
    """What is printed of a tree; of a decision tree its splits, which seem to be its nodes."""
    if data_set not in printed.APPENDIX or tree == "dt-tuned":
        return ""
    if tree == "dt":
        return f"{int(printed.N_PARAMETERS[tree][data_set]) // 2} splits"
    of_paper = printed.APPENDIX[data_set]
    n = sum(of_paper.nodes)
    return f"{of_paper.n_partitions} splits, {n} nodes, {n / len(of_paper.nodes):.1f}"


def _cell(entry: dict[str, Any] | None) -> Cell:
    if entry is None:
        return Cell(("",))
    ours = f"{entry['n_splits']:.1f} splits, {entry['n_nodes']:.1f} nodes, {entry['nodes_a_level']:.1f}"
    return Cell((f"{entry['depth']:.1f}", ours, *([entry["paper"]] if entry["paper"] else [])))
