"""The report: its tables in order, and the page and files they are written to."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sublearn.paper import search
from sublearn.paper.claims import pair_sheet, reached_sheet
from sublearn.paper.convergence import FORESTS, TREES, Trees
from sublearn.paper.convergence import NAMES as CURVES
from sublearn.paper.datasets import SOURCES
from sublearn.paper.grids import N_QUICK
from sublearn.paper.headline import headline
from sublearn.paper.method import inconsistencies, method
from sublearn.paper.page import Picture, Section, page
from sublearn.paper.plan import N_SPLITS, Order
from sublearn.paper.runner import Records
from sublearn.paper.shapes import shape_sheet
from sublearn.paper.sheets import Sheet
from sublearn.paper.statements import claim_sheet
from sublearn.paper.tables import OPTIMISTIC, collect_scores, score_sheet, size_sheet, time_sheet
from sublearn.paper.tree_measures import FORESTS as MEASURED

# of all CSV files that a report may have
SHEETS = ("pairs1", "reached1", "table1", "table2", "shapes", "pairs3", "reached3", "table3", "claims", "times")
DETAILS = ("choices", "ablations", "convergence", "forests", "root", "svr", "growth", "trees")
NAMES = (*SHEETS, *DETAILS)


def make_sheets(order: Order, records: Records) -> list[Sheet]:
    """All tables that were asked for."""
    wanted = {unit: record for unit, record in records.items() if unit.subject in order.contenders}
    sheets: list[Sheet | None] = []
    for is_classes, part in ((True, "table1"), (False, "table3")):
        scores = collect_scores(wanted, is_classes) if part in order.parts else None
        if scores is not None:
            verdict = (
                reached_sheet(scores, _n_settings(order, scores.contenders))
                if order.protocol == "paper"
                else pair_sheet(scores)
            )
            sheets += [verdict, score_sheet(scores)]
        if is_classes and "table2" in order.parts:
            sheets += [size_sheet(wanted), shape_sheet(wanted)]
    if "claims" in order.parts and records:
        others = {unit: record for unit, record in records.items() if unit.experiment != "contender"}
        sheets.append(claim_sheet(wanted | others, order.protocol))
    if records:
        sheets.append(time_sheet(records))
    return [sheet for sheet in sheets if sheet is not None]


def _n_settings(order: Order, contenders: Sequence[str]) -> dict[str, int]:
    return {name: len(search.settings(name, order.protocol, order.quick)) for name in contenders}


def write_report(order: Order, records: Records, sheets: Sequence[Sheet], pictures: Sequence[Picture]) -> None:
    """The page, and each table as CSV and, but for times, in one JSON."""
    order.out.mkdir(parents=True, exist_ok=True)
    for name in NAMES:  # of an earlier run, maybe by the other protocol
        (order.out / f"{name}.csv").unlink(missing_ok=True)
    entries = {sheet.name: sheet.entries for sheet in sheets} | _details(records)
    for name, rows in entries.items():
        if rows:
            _write_csv(order.out / f"{name}.csv", [{"protocol": order.protocol, **row} for row in rows])
    of_all: dict[str, Any] = {"protocol": order.protocol, "quick": order.quick, "seeds": list(order.seeds)}
    if order.protocol == "paper":
        of_all["warning"] = OPTIMISTIC
    of_all["headline"] = headline(order.protocol, entries)
    plain = {name: rows for name, rows in entries.items() if name not in {s.name for s in sheets if s.is_timing}}
    text = json.dumps({**of_all, **plain}, indent=1)
    (order.out / "results.json").write_text(text + "\n", encoding="utf-8")
    (order.out / "index.html").write_text(_page(order, sheets, pictures), encoding="utf-8")


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _details(records: Records) -> dict[str, list[dict[str, Any]]]:
    """What lies behind tables and figures: each split by itself."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in DETAILS}
    for unit, record in sorted(records.items()):
        at = {"data_set": unit.data_set, "seed": unit.seed}
        score = record.values.get("score")
        if unit.experiment == "contender":
            chosen = json.dumps(record.values["setting"])
            size = {name: record.values.get(name) for name in ("n_parameters", "pure_share")}
            found["choices"].append({**at, "contender": unit.subject, "score": score, **size, "setting": chosen})
        elif unit.experiment == "ablation":
            depth = record.values["depth"]
            found["ablations"].append({**at, "variant": unit.subject, "score": score, "depth": depth})
        elif unit.experiment in ("root", "svr", "growth"):
            found[unit.experiment].append({**at, **record.values})
        elif unit.experiment == "trees":
            found["trees"] += [
                {**at, "forest": name, **{of: record.values[f"{name}_{of}"] for of in ("error", "correlation")}}
                for name in MEASURED
                if f"{name}_error" in record.values
            ]
        else:
            curves = zip(TREES, *(record.values[name] for name in CURVES), strict=True)
            titles = ("n_trees", *CURVES)
            found["convergence"] += [{**at, **dict(zip(titles, values, strict=True))} for values in curves]
            found["forests"] += [
                {**at, "forest": name, **{of: record.values[f"{name}_{of}"] for of in Trees._fields}}
                for name in FORESTS
            ]
    return found


def _quick_line(order: Order) -> str:
    """That the run is a quick one, and what it is of."""
    judged = "" if "claims" in order.parts else "; the claims of the paper's text are not judged"
    return (
        f" A quick run: {len(order.data_sets)} of {len(SOURCES)} sets, {len(order.seeds)} splits instead of "
        f"{N_SPLITS}, at most {N_QUICK} settings of a contender; ensembles have one setting, and are not "
        f"searched{judged}."
    )


def _page(order: Order, sheets: Sequence[Sheet], pictures: Sequence[Picture]) -> str:
    is_paper = order.protocol == "paper"
    n = len(order.seeds)
    splits = f"{n} random 60/40 splits, seeds {order.seeds[0]} to {order.seeds[-1]}"
    if is_paper:
        banner = f'Protocol "paper". {OPTIMISTIC}, as the paper appears to have done; {splits}.'
    else:
        banner = (
            f'Protocol "honest": hyper-parameters are chosen by cross-validation inside the training part; {splits}.'
        )
    if order.quick:
        banner += _quick_line(order)
    if order.left_out:
        banner += f" {len(order.left_out)} of the sets that were asked for are left out; the end of the page says why."
    of_sheets = {sheet.name: sheet.entries for sheet in sheets}
    verdict = [sheet for sheet in sheets if sheet.name.startswith(("reached", "pairs"))]
    claims = [sheet for sheet in sheets if sheet.is_text]
    tables = [sheet for sheet in sheets if sheet.name.startswith(("table", "shapes"))]
    timing = [sheet for sheet in sheets if sheet.is_timing]
    sections = [
        Section("Verdict", headline(order.protocol, of_sheets), sheets=verdict),
        Section("The paper's claims", sheets=claims),
        Section("Tables", sheets=tables),
        Section("Figures", pictures=pictures),
        Section("The paper's inconsistencies", items=inconsistencies(of_sheets.get("shapes", []))),
        Section("How this was made", items=method(order)),
        Section("Times", sheets=timing),
    ]
    kept = [s for s in sections if s.items or s.sheets or s.pictures]
    return page("Subspace Learning Machine: the paper's experiments again", banner, is_paper, kept)
