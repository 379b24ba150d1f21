"""The command `sublearn`: which commands there are, and how each one ends when it cannot go on."""

import errno
import os
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sublearn import __version__
from sublearn.command import evaluate, experiments, export, inspect, predict, report, train, tune, warmup
from sublearn.command.messages import Refusal, one_line, say

REFUSED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141  # exit codes; the last two are those of shells


class Commands(TyperGroup):
    """All commands; what a user can mend is one line and exit code 2, and Ctrl-C one line and 130."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Refusal as refusal:
            say(one_line(refusal))
        except MemoryError as error:
            say(f"There is not enough memory: {one_line(error)}.")
        except BrokenPipeError:  # as with `| head`: whoever reads has seen enough
            _leave_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:
            say(_words(error))
        except KeyboardInterrupt:
            say("Stopped; no file was written.")
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(REFUSED)

    def main(self, *given: Any, **options: Any) -> Any:
        """Run the command line; what is wrong with its options is one line too."""
        try:
            code = super().main(*given, **{**options, "standalone_mode": False})
        except Exception as raised:
            error: Any = raised
            if not hasattr(error, "format_message"):  # click's own errors have it; typer brings its own click, or not
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                say(_usage(error))
            code = REFUSED
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any) -> str:
    """What is wrong with the options, and where to read of them."""
    message = one_line(Exception(error.format_message()))
    path = getattr(getattr(error, "ctx", None), "command_path", "sublearn")
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {path} --help."


def _words(error: OSError) -> str:
    """An error of the system in a line."""
    if error.errno == errno.ENOSPC:
        return f"The disk is full{_at(error)}; nothing was written."
    return f"{(error.strerror or one_line(error)).removesuffix('.')}{_at(error)}."


def _at(error: OSError) -> str:
    return f": {os.fspath(error.filename)!s}" if error.filename is not None else ""


def _leave_stdout() -> None:
    """Let the last flush of a closed pipe go nowhere, so that Python does not complain of it."""
    with suppress(OSError, ValueError):  # there is none
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help takes half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def sublearn(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Trees, forests and boosting of the Subspace Learning Machine, for tables in files."""
    if show_version:
        typer.echo(f"sublearn {__version__}")
        raise typer.Exit


for _command in (
    train.train,
    predict.predict,
    evaluate.evaluate,
    inspect.inspect,
    report.report,
    export.export,
    tune.tune,
    warmup.warmup,
    experiments.reproduce,
    experiments.bench,
):
    app.command()(_command)
