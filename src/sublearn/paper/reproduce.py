"""The main job for a reader of the paper: run its experiments and show our numbers next to the printed ones."""

from functools import partial
from pathlib import Path

from rich.console import Console

from sublearn.paper import datasets
from sublearn.paper.compiling import compile_kernels
from sublearn.paper.headline import headline
from sublearn.paper.pictures import make_pictures
from sublearn.paper.plan import Order, plan
from sublearn.paper.report import make_sheets, write_report
from sublearn.paper.runner import run_units
from sublearn.paper.terminal import progress, show_sheet

ROOT_PARTS = {"claims", "fig1", "fig3"}  # for which the root of a tree is searched once more


def reproduce(order: Order, console: Console) -> Path:
    """Run what is not yet known, print the tables, and write the report; returns the path of the page.

    Raises MissingDataError where none of the sets can be had.
    """
    order = _with_data(order, console)
    if not order.data_sets:
        raise datasets.MissingDataError("none of the sets can be had")
    units = list(plan(order))
    with progress(console, units, order.jobs) as done:
        first = partial(compile_kernels, with_root=bool(ROOT_PARTS & {*order.parts}))
        records = run_units(units, order.out / "results.jsonl", order.folder, order.jobs, done, first)
    sheets = make_sheets(order, records)
    for sheet in sheets:
        show_sheet(console, sheet)
    for line in headline(order.protocol, {sheet.name: sheet.entries for sheet in sheets}):
        console.print(line, style="bold", soft_wrap=True, markup=False, highlight=False)
    pictures = make_pictures(order, records)
    write_report(order, records, sheets, pictures)
    return order.out / "index.html"


def _with_data(order: Order, console: Console) -> Order:
    """Without the sets that cannot be had; a line for each says how to get it."""
    found, left_out = [], []
    for name in order.data_sets:
        try:
            datasets.load(name, order.seed, order.folder)
            found.append(name)
        except datasets.MissingDataError as reason:
            left_out.append(f"{name} is left out: {reason}")
            console.print(left_out[-1], style="yellow", soft_wrap=True, markup=False)
    return order._replace(data_sets=tuple(found), left_out=tuple(left_out))
