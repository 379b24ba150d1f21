"""What goes wrong with files of models."""


class ModelFileError(ValueError):
    """Raised where a file holds no model that sublearn can read, or where a model cannot be written to one.

    A file that is not there, or may not be read or written, is an OSError as ever.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import sublearn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "notes.txt"
    ...     _ = path.write_text("no model at all")
    ...     try:
    ...         sublearn.load(path)
    ...     except sublearn.ModelFileError as error:
    ...         print(str(error).removeprefix(folder)[1:])
    notes.txt is no model that this sublearn can read: its header should have 7.9 EB, the file has 15 bytes.
    """


class Fault(Exception):  # noqa: N818  never leaves this package
    """What is wrong with a file, in words that follow its name."""
