"""`sublearn evaluate`: how good a model is on a table whose targets are known."""

import json
import math
from typing import Annotated, Any

import typer

from sublearn.command.learning import Jobs
from sublearn.command.messages import counted, listed, say
from sublearn.command.models import Kept, load_model
from sublearn.command.predict import DataOrStdin, ModelFile
from sublearn.command.predicting import call, open_for
from sublearn.command.tables import Decimal, Encoding, Missing, NoHeader, Present, Reading, Separator, Table
from sublearn.command.truths import require_target, target_of, with_truths

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
    name = target_of(kept, target)
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
    require_target(kept, table, name, target)
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

    from sublearn.reporting.measures import class_table, measure_classes, measure_numbers, places_of

    truths: list[Any] = []
    answers: list[Any] = []
    for part in with_truths(kept, table, name, f"evaluating {table.name}"):
        given = part.truths if not kept.is_classifier else places_of(part.truths, kept.model.classes_)
        method = "predict_proba" if kept.is_classifier else "predict"
        truths.append(given[part.is_there])
        answers.append(call(kept, method, part.one.X)[part.is_there])
    y, answer = np.concatenate(truths), np.concatenate(answers)
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
