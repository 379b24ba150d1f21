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
    MOST_CONTAINERS,
    MOST_HEADER,
    TENSORS,
    size_in_words,
)
from sublearn._files.models import fields_of, tensors_of
from sublearn._files.training import training_of, training_tensors
from sublearn._files.values import UnwritableError, is_ours, parameters_to_json, to_json
from sublearn._files.writing import write
from sublearn.kernels.layout import Array

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON
ENTRY = 300  # bytes of a header that an array takes at the most


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
    text = TEXT.sub(_without_brackets, text)
    _check_size(text, len(tensors), type(estimator).__name__)
    return tensors, text


def _without_brackets(text: re.Match[str]) -> str:
    """A text of JSON, quotes included, in which brackets are escaped: readers count those that are no text."""
    return text[0].replace("[", r"\u005b").replace("{", r"\u007b")


def _check_size(document: str, n_tensors: int, owner: str) -> None:
    """Raise ModelFileError for a document that no reader takes."""
    size = len(document) + document.count('"') + document.count("\\") + ENTRY * n_tensors  # as a text within the header
    n_containers = document.count("[") + document.count("{") + 3 * n_tensors + 2
    if size > MOST_HEADER or n_containers > MOST_CONTAINERS:
        raise ModelFileError(
            f"{owner}.save: names of features, classes and levels of categories take {size_in_words(size)} in "
            f"{n_containers:,} lists, and a file has room for {size_in_words(MOST_HEADER)} in {MOST_CONTAINERS:,}."
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
