"""`sublearn evaluate`: how good a model is on a table whose targets are known."""

import json
import math
from typing import Annotated, Any

import typer

from sublearn.command import cells
from sublearn.command.learning import Jobs
from sublearn.command.messages import counted, listed, refuse, say
from sublearn.command.models import Kept, load_model
from sublearn.command.predict import DataOrStdin, ModelFile
from sublearn.command.predicting import answered, call, open_for
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Part, Present, Reading, Separator, Table

MOST_CLASSES = 30  # in the table; JSON has all


def evaluate(
    model: ModelFile,
    data: DataOrStdin,
    target: Annotated[str | None, typer.Option(help="Column with the truth. Default: the one of the training.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    jobs: Jobs = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    missing: Missing = None,
    present: Present = None,
) -> None:
    """Measure a model on rows whose targets are known, with 95 % intervals."""
    kept = load_model(model)
    name = target or kept.notes.get("target")
    if name is None:
        refuse(f"{model} does not say which column it predicts; name it with --target.")
    kept.set_threads(jobs)
    table = open_for(
        kept,
        data,
        Reading(
            separator=separator,
            decimal=decimal,
            encoding=encoding,
            no_header=no_header,
            missing=missing,
            present=present,
        ),
        [name],
    )
    if target is None and name not in table.columns:
        refuse(f"{table.name} has no column {name!r}, which {model} predicts; --target names another.")
    table.require([name], "--target")
    found = _measured(kept, table, name)
    typer.echo(json.dumps(_plain(found), indent=2) if as_json else "\n".join(_words(found)))


def _plain(value: Any) -> Any:
    """As JSON can hold it, which knows no nan."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _measured(kept: Kept, table: Table, name: str) -> dict[str, Any]:
    """All figures, by their names."""
    import numpy as np

    from sublearn.command.measures import class_table, measure_classes, measure_numbers

    truths, answers, n_without = [], [], 0
    for one in answered(kept, table, [name], f"evaluating {table.name}"):
        truth, is_there = _truth(kept, one.part, table, name)
        n_without += int((~is_there).sum())
        method = "predict_proba" if kept.is_classifier else "predict"
        truths.append(truth[is_there])
        answers.append(call(kept, method, one.X)[is_there])
    y, answer = np.concatenate(truths), np.concatenate(answers)
    if n_without:
        say(f"left out: {counted(n_without, 'row')} without a {name}")
    if not len(y):
        refuse(f"{table.name}: column {name!r} is empty, so there is nothing to compare with.")
    found: dict[str, Any] = {"model": kept.path, "data": table.name, "target": name, "rows": len(y)}
    if not kept.is_classifier:
        return found | {"figures": [one._asdict() for one in measure_numbers(y, answer)]}
    n_unknown = int((y < 0).sum())
    if n_unknown:
        say(f"note: {counted(n_unknown, 'row')} of classes that the model does not know count as wrong")
    classes = kept.model.classes_.tolist()
    return found | {
        "figures": [one._asdict() for one in measure_classes(y, answer)],
        "classes": [row._asdict() for row in class_table(y, answer.argmax(axis=1), classes)],
    }


def _truth(kept: Kept, part: Part, table: Table, name: str) -> tuple[Any, Any]:
    """The targets of a part, of classes their places, and whether each is there."""
    import numpy as np
    import polars as pl

    from sublearn.command.measures import places_of

    column = part.frame[name]
    if not kept.is_classifier:
        values = column
        if column.dtype == pl.String:
            strings = part.frame.select(name)
            values = cells.typed(strings, {name: cells.NUMBERS}, table.settle_decimal(strings, [name]))[name]
            bad = (values.is_null() & column.is_not_null()).arg_true()
            if len(bad):
                where = part.place(int(bad[0]), table.separator)
                refuse(f"{table.name}, {where}: {kept.path} predicts numbers; got {column[int(bad[0])]!r} in {name!r}.")
        elif not column.dtype.is_numeric():
            refuse(f"{kept.path} predicts numbers; column {name!r} of {table.name} is {column.dtype}.")
        numbers = values.cast(pl.Float64).to_numpy()
        return numbers, np.isfinite(numbers)
    return places_of(_labels(column, kept.model.classes_), kept.model.classes_), column.is_not_null().to_numpy()


def _labels(column: Any, classes: Any) -> Any:
    """The labels of a column in the form of the model's classes."""
    import polars as pl

    kind = classes.dtype.kind
    if column.dtype != pl.String:
        return column.to_list() if kind not in "OU" else column.cast(pl.String).to_list()
    if kind == "b":
        return column.to_frame().select(cells.flag(pl.col(column.name))).to_series().to_list()
    return column.cast(pl.Float64, strict=False).to_list() if kind in "iuf" else column.to_list()


def _words(found: dict[str, Any]) -> list[str]:
    """The figures as a table."""
    lines = [f"{found['model']} on {counted(found['rows'], 'row')} of {found['data']}, target {found['target']}", ""]
    lines.append(f"{'':10}{'value':>12}    95 % interval")
    for one in found["figures"]:
        has_interval = math.isfinite(one["low"]) and math.isfinite(one["high"])
        interval = f"{one['low']:.4g} to {one['high']:.4g}" if has_interval else "-"
        lines.append(f"{one['name']:10}{one['value']:>12.4g}    {interval}")
    rows = found.get("classes", [])
    if rows:
        width = max(5, *(len(str(row["label"])) for row in rows[:MOST_CLASSES]))
        lines += ["", f"{'class':{width}}  {'rows':>9}  {'predicted':>9}  {'precision':>9}  {'recall':>9}"]
        for row in rows[:MOST_CLASSES]:
            shares = "  ".join("        -" if math.isnan(row[n]) else f"{row[n]:9.3f}" for n in ("precision", "recall"))
            lines.append(f"{row['label']!s:{width}}  {row['n_rows']:>9,}  {row['n_predicted']:>9,}  {shares}")
        if len(rows) > MOST_CLASSES:
            lines.append(
                f"and {len(rows) - MOST_CLASSES:,} more, among them {listed(r['label'] for r in rows[MOST_CLASSES:])}"
            )
    return lines
