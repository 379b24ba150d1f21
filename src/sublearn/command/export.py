"""`sublearn export`: a model as a program that needs no sublearn."""

import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from sublearn.command.messages import need, one_line, refuse, say
from sublearn.command.models import load_model
from sublearn.command.predict import ModelFile
from sublearn.command.writing import check_out, renamed_to

FORMS = {"onnx": ".onnx", "c": ".c", "sql": ".sql"}


def export(
    model: ModelFile,
    out: Annotated[str, typer.Option(help="File to write, such as price.onnx, price.c or price.sql.")],
    to: Annotated[
        str | None, typer.Option(metavar="[onnx|c|sql]", help="Form. Default: by the ending of --out.")
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
    from sublearn._files.layout import size_in_words

    if form == "onnx":
        need("onnx", "export --to onnx", "onnx")
    check_out(out)
    kept = load_model(model)
    try:
        text = _MAKERS[form](kept.model)
    except (TypeError, ValueError, NotImplementedError) as error:
        refuse(one_line(error))
    with renamed_to(out) as name, open(name, "wb") as file:
        file.write(text)
    say(f"{out}: {size_in_words(os.path.getsize(out))}")


def _onnx(model: Any) -> bytes:
    from sublearn import to_onnx

    return bytes(to_onnx(model).SerializeToString())


def _c(model: Any) -> bytes:
    from sublearn import to_c

    return str(to_c(model)).encode()


def _sql(model: Any) -> bytes:
    from sublearn import to_sql

    return str(to_sql(model)).encode()


_MAKERS: dict[str, Callable[[Any], bytes]] = {"onnx": _onnx, "c": _c, "sql": _sql}
