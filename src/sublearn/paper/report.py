"""The report: its tables in order, and the page and files they are written to."""

import csv
import json
from collections.abc import Sequence

from sublearn.paper import printed, search
from sublearn.paper.claims import pair_sheet, reached_sheet
from sublearn.paper.contenders import CONTENDERS, of_table
from sublearn.paper.datasets import SOURCES
from sublearn.paper.page import Picture, Section, page
from sublearn.paper.plan import Order
from sublearn.paper.runner import Records
from sublearn.paper.sheets import Sheet
from sublearn.paper.tables import OPTIMISTIC, collect_scores, score_sheet, size_sheet, time_sheet

NAMES = ("pairs1", "reached1", "table1", "table2", "pairs3", "reached3", "table3", "times")  # of all tables


def make_sheets(order: Order, records: Records) -> list[Sheet]:
    """All tables that were asked for, claims first."""
    wanted = {unit: record for unit, record in records.items() if unit.subject in order.contenders}
    sheets: list[Sheet | None] = []
    for is_classes, part in ((True, "table1"), (False, "table3")):
        scores = collect_scores(wanted, is_classes) if part in order.parts else None
        if scores is not None:
            claims = (
                reached_sheet(scores, _n_settings(order, scores.contenders, is_classes))
                if order.protocol == "paper"
                else pair_sheet(scores)
            )
            sheets += [claims, score_sheet(scores)]
        if is_classes and "table2" in order.parts:
            sheets.append(size_sheet(wanted))
    if records:
        sheets.append(time_sheet(records))
    return [sheet for sheet in sheets if sheet is not None]


def _n_settings(order: Order, contenders: Sequence[str], is_classes: bool) -> dict[str, int]:
    return {name: len(search.settings(name, is_classes, 1000, order.protocol, order.quick)) for name in contenders}


def write_report(order: Order, sheets: Sequence[Sheet], pictures: Sequence[Picture]) -> None:
    """The page, and each table as CSV and JSON."""
    order.out.mkdir(parents=True, exist_ok=True)
    for name in NAMES:  # of an earlier run, maybe by the other protocol
        (order.out / f"{name}.csv").unlink(missing_ok=True)
    for sheet in sheets:
        with (order.out / f"{sheet.name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(sheet.entries[0]))
            writer.writeheader()
            writer.writerows(sheet.entries)
    plain = {sheet.name: sheet.entries for sheet in sheets if not sheet.is_timing}
    text = json.dumps({"protocol": order.protocol, "quick": order.quick, "seeds": list(order.seeds), **plain}, indent=1)
    (order.out / "results.json").write_text(text + "\n", encoding="utf-8")
    (order.out / "index.html").write_text(_page(order, sheets, pictures), encoding="utf-8")


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
        banner += " Quick form: small grids."
    claims = [sheet for sheet in sheets if sheet.name.startswith(("reached", "pairs"))]
    tables = [sheet for sheet in sheets if sheet.name.startswith("table")]
    timing = [sheet for sheet in sheets if sheet.is_timing]
    sections = [
        Section("Verdict", sheets=claims),
        Section("Tables", sheets=tables),
        Section("Figures", pictures=pictures),
        Section("The paper's inconsistencies", items=_inconsistencies()),
        Section("How this was made", items=_method(order)),
        Section("Times", sheets=timing),
    ]
    kept = [s for s in sections if s.items or s.sheets or s.pictures]
    return page("Subspace Learning Machine: the paper's experiments again", banner, is_paper, kept)


def _inconsistencies() -> list[str]:
    """Of the paper: what it contradicts itself in, and numbers that cannot occur."""
    cells = [
        f"{text} ({CONTENDERS[name].title}, {SOURCES[data_set].title})"
        for name, row in printed.ACCURACY.items()
        for data_set, text in row.items()
        if name != "bp-mlp" and not printed.is_multiple(text, printed.n_test(printed.N_SAMPLES[data_set]))
    ]
    return [
        *printed.INCONSISTENCIES,
        f"No multiple of one test sample: {', '.join(cells)}. "
        "BP-MLP's row is taken from the FF-MLP paper, where it is a mean.",
    ]


def _method(order: Order) -> list[str]:
    """Everything one needs to know to judge the numbers."""
    chosen = (
        "the best score on the test part itself"
        if order.protocol == "paper"
        else f"the best mean of {search.N_FOLDS} folds inside the training part"
    )
    return [
        "Sets that are generated (circle-and-ring, moons, Friedman) are drawn anew for every split, with a seed of its "
        "own; the others are split at random. 20 % and 30 % of noise are scikit-learn's parameter noise, 0.2 and 0.3.",
        "4-new-moons: two pairs of scikit-learn's moons, one above the other, so far apart that the facing moons have "
        "the distance that those of a pair have. The paper shows no formula; this one follows from geometry. Side by "
        "side instead, the moons overlap more: a random forest then has about 92 %, where the paper has 96 %.",
        f"Chosen is {chosen}; among equals the smaller model. Sets of more than {search.LARGE:,} samples are tuned on "
        f"{search.N_TUNING:,} of the training part, and then fitted on all of it.",
        "SLM has the settings of sublearn.paper (16 bins, linear codes, no axis-parallel candidates, hard votes, 20 "
        "trees, 100 rounds, no regularisation) and draws in two rounds, over pairs of features and over all of S0.",
        "A decision tree is grown until its leaves are pure, as in the paper. A linear SVR has the squared loss.",
        *_grids(order),
    ]


def _grids(order: Order) -> list[str]:
    lines: dict[str, None] = {}
    for is_classes in (True, False):
        for name in of_table(is_classes):
            grid = search.grid_of(name, is_classes)
            if name in order.contenders and grid:
                words = "; ".join(f"{parameter} {', '.join(map(str, values))}" for parameter, values in grid.items())
                n = len(search.settings(name, is_classes, 1000, order.protocol, order.quick))
                title = CONTENDERS[name].name(is_classes)
                lines[f"{title}, {n} of {search.n_combinations(grid)} combinations of: {words}."] = None
    return list(lines)
