"""`sublearn predict`: what a model says of the rows of a table, however many there are."""

import time
from typing import Annotated, Any

import typer

from sublearn.command.learning import Jobs
from sublearn.command.messages import counted, refuse, say
from sublearn.command.models import Kept, load_model
from sublearn.command.predicting import Answered, answered, call, open_for
from sublearn.command.sources import STDIN
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Present, Reading, Separator, Table, names_in
from sublearn.command.writing import check_out, format_of, writer

PREDICTION, PROBABILITY = "prediction", "probability_{}"
ALL = "all"

ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="File of a model.")]
DataOrStdin = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV (also .gz, .zst), Parquet or Arrow file; - is CSV from stdin.")
]


def predict(
    model: ModelFile,
    data: DataOrStdin,
    out: Annotated[
        str, typer.Option(help="File of the predictions: .csv, .csv.gz, .parquet or .arrow; - is CSV to stdout.")
    ] = STDIN,
    proba: Annotated[bool, typer.Option("--proba", help="Probability of each class, too.")] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="Columns of the table to write beside, such as an id; or all.")
    ] = None,
    jobs: Jobs = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    present: Present = None,
) -> None:
    """Predict the rows of a table, block by block, to a file or to stdout."""
    check_out(out, data, model)
    format_of(out)
    kept = load_model(model)
    if proba and not kept.is_classifier:
        refuse(f"--proba: {model} predicts numbers, which have no probabilities.")
    kept.set_threads(jobs)
    target = [kept.notes["target"]] if kept.notes.get("target") else []
    reading = Reading(
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        no_header=no_header,
        missing=missing,
        present=present,
    )
    table = open_for(kept, data, reading, target if keep == ALL else [*target, *names_in(keep)])
    wanted = _kept_columns(table, kept, keep, proba)
    begin = time.monotonic()
    n_rows = 0
    with writer(out) as file:
        for one in answered(kept, table, [*target, *wanted], f"predicting {table.name}"):
            file.write(_answers(kept, one, wanted, proba))
            n_rows += len(one.part.frame)
    if out != STDIN:
        seconds = time.monotonic() - begin
        say(f"{out}: {counted(n_rows, 'row')} in {seconds:.1f} s ({n_rows / max(seconds, 1e-9):,.0f} rows/s)")


def _kept_columns(table: Table, kept: Kept, keep: str | None, proba: bool) -> list[str]:
    """Columns of the table that are written beside the predictions."""
    names = table.columns if keep == ALL and ALL not in table.columns else names_in(keep)
    table.require(names, "--keep")
    new = {PREDICTION, *(PROBABILITY.format(label) for label in kept.model.classes_)} if proba else {PREDICTION}
    both = sorted(new & set(names))
    if both:
        refuse(f"--keep: column {both[0]!r} has the name of what is written; leave it out or rename it.")
    return list(dict.fromkeys(names))


def _answers(kept: Kept, one: Answered, wanted: list[str], proba: bool) -> Any:
    """What is written for a part of the table."""
    import numpy as np
    import polars as pl

    columns: dict[str, Any] = {}
    if proba:
        probabilities = call(kept, "predict_proba", one.X)
        columns[PREDICTION] = kept.model.classes_[probabilities.argmax(axis=1)]
        for i, label in enumerate(kept.model.classes_.tolist()):
            columns[PROBABILITY.format(label)] = np.ascontiguousarray(probabilities[:, i])
    else:
        columns[PREDICTION] = call(kept, "predict", one.X)
    found = columns[PREDICTION]
    if found.dtype.kind in "OU":
        columns[PREDICTION] = found.tolist()
    return pl.concat([one.part.frame.select(wanted), pl.DataFrame(columns)], how="horizontal")
