"""Models in files, and what a command has to know of one: its features, their kinds, and the target's name."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from sublearn.command import cells
from sublearn.command.messages import one_line, refuse

NOTES = "table"  # what the commands note in a model's file


class Kept(NamedTuple):
    """A model out of a file."""

    model: Any
    notes: dict[str, Any]
    path: str

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts classes."""
        return hasattr(self.model, "classes_")

    @property
    def first(self) -> Any:
        """The estimator itself, or the first member of an average."""
        return self.members[0]

    @property
    def members(self) -> list[Any]:
        """The members of an average, or the model itself."""
        return [self.model] if hasattr(self.model, "_model") else list(self.model.estimators_)

    def set_threads(self, n: int | None) -> None:
        """Let predictions take so many threads; None leaves it to each model."""
        for member in self.members if n is not None else ():
            member.set_params(n_jobs=n)

    @property
    def features(self) -> list[str] | None:
        """Names of the features; None where the model was fitted without names."""
        names = self.first._model.feature_names
        return None if names is None else [str(name) for name in names]

    def kinds(self) -> list[str]:
        """Kind of each feature, as cells of text are read."""
        record = self.first._model
        levels = record.levels or (None,) * record.n_features
        kinds = record.kinds or (cells.NUMBERS,) * record.n_features
        return [_kind(one, kind) for one, kind in zip(levels, kinds, strict=True)]


def _kind(levels: tuple[Any, ...] | None, kind: str | None) -> str:
    if levels is not None:
        values = [level for level in levels if level is not None]
        return cells.TEXT if not values or any(isinstance(level, str) for level in values) else cells.NUMBERS
    if kind is None:
        return cells.NOTHING
    return cells.NUMBERS if kind == cells.TEXT else kind  # text that read as numbers


def save_model(model: Any, path: str, notes: dict[str, Any]) -> None:
    """Write a model to a file, with what the commands note; there is the whole file or none."""
    from sublearn.command.writing import renamed_to

    with renamed_to(path) as name:
        try:
            model.save(name)
        except (TypeError, ValueError) as error:
            refuse(one_line(error))
        _note(name, notes)


def load_model(path: str) -> Kept:
    """The model of a file; refuses what is none."""
    import sublearn

    if os.path.isdir(path):
        refuse(f"{path} is a folder; give the path of a model.")
    try:
        model = sublearn.load(path)
    except FileNotFoundError:
        refuse(f"{path}: there is no such file.")
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}.")
    except sublearn.ModelFileError as error:
        refuse(one_line(error))
    return Kept(model, _notes_of(path), path)


def header_of(path: str) -> tuple[dict[str, Any], int]:
    """The header of a file of safetensors, and where its data begin: a length of 8 bytes, then JSON."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


def _note(path: str, notes: dict[str, Any]) -> None:
    """Add notes to the header of a file."""
    header, begin = header_of(path)
    header["__metadata__"][NOTES] = json.dumps(notes)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # data begin at a multiple of eight
    with open(path, "rb") as file:
        file.seek(begin)
        data = file.read()
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def _notes_of(path: str) -> dict[str, Any]:
    """What the commands have noted in a file; nothing where it was written by others."""
    try:
        notes = json.loads(header_of(path)[0]["__metadata__"][NOTES])
    except (KeyError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}
