"""`python -m sublearn` and the command `sublearn`."""

import sys


def main() -> None:
    """Run the command line, whose libraries are an extra."""
    try:
        from sublearn.command.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit(f"The command sublearn needs {error.name}: pip install 'sublearn[cli]'")
    app(prog_name="sublearn")


if __name__ == "__main__":
    main()
