"""`sublearn export`: a model as a program that needs no sublearn."""

import os
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer

from sublearn.command.messages import need, one_line, refuse, say
from sublearn.command.models import load_model
from sublearn.command.predict import ModelFile
from sublearn.command.tables import names_in
from sublearn.command.writing import check_out, renamed_to

FORMS = {"onnx": ".onnx", "c": ".c", "sql": ".sql"}
IN_OPTIONS = {  # what functions call things, as a pattern, and what the command line calls them
    r"\b(keep|table|dialect) of to_sql": r"--\1",
    r" of to_(onnx|c|sql)\b": "",
    r"\bto_(onnx|c|sql)\b": r"--to \1",
    r"\bmax_size=": "--max-size ",
    r"\bmax_size\b": "--max-size",
}
TABLE, DIALECT = "samples", "sqlite"  # where --table and --dialect say nothing


def export(
    model: ModelFile,
    out: Annotated[str, typer.Option(help="File to write, such as price.onnx, price.c or price.sql.")],
    to: Annotated[
        str | None, typer.Option(metavar="[onnx|c|sql]", help="Form. Default: by the ending of --out.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help=f"Of SQL: table that the query asks. Default: {TABLE}.", show_default=False)
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="[sqlite|duckdb]", help=f"Of SQL: database. Default: {DIALECT}.")
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Of SQL: columns of the table that the answer has too, such as an id."),
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Of SQL: tests and leaves that a model may have. Default: 10000.")
    ] = None,
) -> None:
    """Write a model as ONNX, as a C program, or as an SQL query."""
    form = to or next((name for name, ending in FORMS.items() if out.lower().endswith(ending)), None)
    if form not in FORMS:
        allowed = ", ".join(FORMS)
        refuse(
            f"--to: unknown name {to!r}. Known: {allowed}."
            if to
            else f"--out {out} must end in {', '.join(FORMS.values())}, or --to must say one of {allowed}."
        )
    asked = {"--table": table, "--dialect": dialect, "--keep": keep, "--max-size": max_size}
    given = {option: value for option, value in asked.items() if value is not None}
    if given and form != "sql":
        refuse(f"{next(iter(given))} goes with --to sql; got --to {form}.")
    _check_query(table, dialect)
    from sublearn._files.layout import size_in_words

    if form == "onnx":
        need("onnx", "export --to onnx", "onnx")
    check_out(out, model)
    kept = load_model(model)
    try:
        text = _MAKERS[form](kept.model, asked)
    except (TypeError, ValueError) as error:
        refuse(f"--to {form}: {_in_options(one_line(error))}")
    with renamed_to(out) as name, open(name, "wb") as file:
        file.write(text)
    say(f"{out}: {size_in_words(os.path.getsize(out))}")


def _check_query(table: str | None, dialect: str | None) -> None:
    """Refuse what no query can be written for, before a model is read."""
    from sublearn.export.sql_dialect import DIALECTS

    if dialect is not None and dialect not in DIALECTS:
        refuse(f"--dialect: unknown name {dialect!r}. Known: {', '.join(DIALECTS)}.")
    if table is not None and not table.strip():
        refuse("--table must be the name of a table; got none.")


def _in_options(message: str) -> str:
    """What a function says of its parameters, for those who have options."""
    for words, option in IN_OPTIONS.items():
        message = re.sub(words, option, message)
    return message


def _onnx(model: Any, asked: dict[str, Any]) -> bytes:
    from sublearn import to_onnx

    return bytes(to_onnx(model).SerializeToString())


def _c(model: Any, asked: dict[str, Any]) -> bytes:
    from sublearn import to_c

    return str(to_c(model)).encode()


def _sql(model: Any, asked: dict[str, Any]) -> bytes:
    from sublearn import to_sql

    size = {} if asked["--max-size"] is None else {"max_size": asked["--max-size"]}
    query = to_sql(
        model,
        asked["--table"] or TABLE,
        dialect=asked["--dialect"] or DIALECT,
        keep=names_in(asked["--keep"]),
        **size,
    )
    return f"{query};\n".encode()  # as a script, which shells of databases run as it is


_MAKERS: dict[str, Callable[[Any, dict[str, Any]], bytes]] = {"onnx": _onnx, "c": _c, "sql": _sql}
