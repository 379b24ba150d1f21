"""From an estimator to a file."""

import json
import os
import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sublearn import __version__
from sublearn._files.errors import ModelFileError
from sublearn._files.layout import (
    AVERAGES,
    ESTIMATORS,
    FORMAT,
    KEY,
    MOST_HEADER,
    MOST_PARSED,
    PARSED,
    TENSORS,
    size_in_words,
    size_when_parsed,
)
from sublearn._files.memory import memory_for
from sublearn._files.models import fields_of, tensors_of
from sublearn._files.training import training_of, training_tensors
from sublearn._files.trees import size_of_routes
from sublearn._files.values import UnwritableError, is_ours, parameters_to_json, to_json
from sublearn._files.writing import write
from sublearn.kernels.layout import Array

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON
MARKS = re.compile(f"[{re.escape(b''.join(PARSED).decode())}]")
ENTRY = '"{}": {{"dtype": "F64", "shape": [{}, 1], "data_offsets": [{}, {}]}}, '.format("x" * 60, *3 * [1 << 40])


class Saved:
    """What can be saved: trees, forests, boosting and averages."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, from which `sublearn.load` reads it.

        The file has arrays and texts, and no program: unlike a pickle it can be loaded without trust. It is written
        beside the one that may be there, and takes its place when it is complete. Not kept are `callbacks` and a
        `random_state` that is a generator; both are None afterwards.

        Parameters
        ----------
        path : str or path
            Where to; the customary ending is .slm.

        Raises
        ------
        ModelFileError
            Where the model has something that no file holds, such as a loss of your own.
        OSError
            Where the file cannot be written; one that was there is as it was.
        """
        check_is_fitted(self)
        name = os.fspath(path)
        if not isinstance(name, str):
            raise TypeError(f"path of {type(self).__name__}.save must be a str or a path; got {type(name).__name__}.")
        tensors, document = _described(self)
        write(name, tensors, {KEY: document})


def _described(estimator: Any) -> tuple[dict[str, Array], str]:
    """The arrays of a file, and its document."""
    try:
        tensors, model = _average_parts(estimator) if type(estimator).__name__ in AVERAGES else _parts(estimator, "")
        model["tuning"] = to_json(estimator.tuning_._asdict()) if hasattr(estimator, "tuning_") else None
    except UnwritableError as error:
        raise ModelFileError(f"{type(estimator).__name__}.save: {error}.") from None
    text = json.dumps({"format": FORMAT, "library": __version__, "model": model}, allow_nan=False)
    text = TEXT.sub(_without_marks, text)
    parsed = _check_header(text, len(tensors), type(estimator).__name__)
    _check_routes(estimator, parsed, len(text) + sum(array.nbytes for array in tensors.values()))
    return tensors, text


def _without_marks(text: re.Match[str]) -> str:
    """A text of JSON, quotes included, in which what readers count is escaped, since it is no mark there."""
    return MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text[0])


def _check_header(document: str, n_tensors: int, owner: str) -> int:
    """What a header takes to read; raises ModelFileError for a document that no reader takes."""
    header = json.dumps({"__metadata__": {KEY: document}}).encode()
    entries = n_tensors * ENTRY.encode()
    size, parsed = len(header) + len(entries), size_when_parsed(header) + size_when_parsed(entries)
    if size > MOST_HEADER or parsed > MOST_PARSED:
        raise ModelFileError(
            f"{owner}.save: names of features, classes and levels of categories take {size_in_words(size)}, and to "
            f"read them {size_in_words(parsed)}; a file may have {size_in_words(MOST_HEADER)} of them, and reading may "
            f"take {size_in_words(MOST_PARSED)}. Make rare levels one, or pickle the model."
        )
    return parsed


def _check_routes(estimator: Any, parsed: int, size: int) -> None:
    """Raise ModelFileError for trees that no reader takes; size: bytes, of which the file has no fewer."""
    members = estimator.estimators_ if hasattr(estimator, "weights_") else [estimator]
    needed = sum(size_of_routes(member._model.ensemble) for member in members)
    if parsed + needed > memory_for(size):
        raise ModelFileError(
            f"{type(estimator).__name__}.save: its trees take {size_in_words(needed)} to predict with, and "
            f"{size_in_words(size)} in a file, for which readers allow {size_in_words(memory_for(size))} in all. Fit "
            "with fewer max_partitions or n_coefficients, or pickle it."
        )


def _parts(estimator: Any, prefix: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and fields of a tree, a forest or boosting."""
    name = type(estimator).__name__
    _check_ours(estimator, ESTIMATORS)
    parameters, left_out = parameters_to_json(estimator)
    training = training_of(estimator, name)
    fields = {
        "estimator": name,
        "parameters": parameters,
        "left_out": left_out,
        **fields_of(estimator._model),
        "training": training,
    }
    tensors = tensors_of(estimator._model, prefix) | training_tensors(estimator, prefix)
    return {name: _as_kept(name, prefix, array) for name, array in tensors.items()}, fields


def _average_parts(estimator: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and fields of an average, with those of its members."""
    _check_ours(estimator, AVERAGES)
    parameters, left_out = parameters_to_json(estimator)
    tensors: dict[str, Array] = {"weights": estimator.weights_}
    members = []
    for number, member in enumerate(estimator.estimators_):
        own, fields = _parts(member, f"members.{number}.")
        tensors |= own
        members.append(fields)
    fields = {"estimator": type(estimator).__name__, "parameters": parameters, "left_out": left_out}
    return tensors, {**fields, "members": members}


def _check_ours(estimator: Any, names: tuple[str, ...]) -> None:
    """Raise UnwritableError for an estimator of a class of the user's own."""
    if not is_ours(estimator, names):
        name = type(estimator).__qualname__
        raise UnwritableError(f"{name} is a class of your own, and a file holds no programs. Pickle it")


def _as_kept(name: str, prefix: str, array: Array) -> Array:
    """An array as the layout says."""
    tensor = TENSORS[name.removeprefix(prefix)]
    kept: Array = np.ascontiguousarray(array, np.dtype(tensor.dtype).newbyteorder("<"))
    return kept
