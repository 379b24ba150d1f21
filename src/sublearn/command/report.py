"""`sublearn report`: a page on a model for people who do not code."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sublearn.command.learning import Data, Jobs, Seed
from sublearn.command.messages import counted, one_line, refuse, say
from sublearn.command.models import Kept, load_model
from sublearn.command.predict import ModelFile
from sublearn.command.predicting import open_for
from sublearn.command.sources import STDIN
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Present, Reading, Separator, Table
from sublearn.command.truths import require_target, target_of, with_truths
from sublearn.command.writing import check_out, renamed_to


def report(
    model: ModelFile,
    data: Data,
    out: Annotated[str, typer.Option(help="File of the page, such as report.html; - is stdout.")],
    target: Annotated[str | None, typer.Option(help="Column with the truth. Default: the one of the training.")] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=50,
            help="Measure by cross-validation in so many parts, as is honest for rows of the training. Default: the "
            "rows are held out, that is, none was used in training.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    present: Present = None,
) -> None:
    """Write a page on a model: how good it is on rows it has not seen, what it goes by, and its trees."""
    check_out(out, data, model)
    kept = load_model(model)
    name = target_of(kept, target)
    kept.set_threads(jobs)
    reading = Reading(
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        no_header=no_header,
        missing=missing,
        present=present,
    )
    table = open_for(kept, data, reading, [name])
    require_target(kept, table, name, target)
    X, y = _rows(kept, table, name)
    made = _made(kept, X, y, {"folds": folds, "target": name, "title": title, "random_state": seed})
    if out == STDIN:
        typer.echo(made.html, nl=False)
    else:
        with renamed_to(out) as path:
            Path(path).write_text(made.html, "utf-8")
    say(f"{out}: measured on {counted(len(y), 'row')} of {table.name}\n  {', '.join(map(str, made.scores))}")
    if made.looks_seen:
        say(
            f"note: {model} seems to have learned from rows of {table.name}, so the figures are too good; give rows "
            "that were kept apart, or --folds 5"
        )


def _rows(kept: Kept, table: Table, name: str) -> tuple[Any, Any]:
    """All rows that have a target."""
    import numpy as np
    import polars as pl

    frames, truths = [], []
    for part in with_truths(kept, table, name, f"reading {table.name}"):
        X = part.one.X
        frames.append(X.filter(pl.Series(part.is_there)) if isinstance(X, pl.DataFrame) else X[part.is_there])
        truths += [truth for truth, there in zip(part.truths, part.is_there.tolist(), strict=True) if there]
    X = pl.concat(frames) if isinstance(frames[0], pl.DataFrame) else np.concatenate(frames)
    return X, truths


def _made(kept: Kept, X: Any, y: Any, options: dict[str, Any]) -> Any:
    """The page; what is wrong with the data is one line."""
    import sublearn

    try:
        return sublearn.report(kept.model, X, y, **options)
    except (TypeError, ValueError) as error:
        refuse(one_line(error))
