"""From a file to an estimator. Nothing of a file is run; everything is checked before it is used."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sublearn._files.errors import Fault, ModelFileError
from sublearn._files.fields import Fields
from sublearn._files.layout import AVERAGES, ESTIMATORS, is_classifier
from sublearn._files.models import read_model
from sublearn._files.reading import ModelFile, opened
from sublearn._files.training import read_training
from sublearn._files.values import from_json, parameters_from

ROUNDING = 1e-9  # by which the sum of weights may be off 1
Kinds = Mapping[str, Callable[..., Any]]  # the estimators by name


class Source:
    """A file that estimators are made from."""

    def __init__(self, file: ModelFile, kinds: Kinds) -> None:
        self._file, self._kinds = file, kinds
        self._document = Fields(file.document, "its document")
        self._library = self._document.text("library")

    def model(self) -> Any:
        """The estimator, and the fields of its model."""
        fields = self._document.fields("model")
        if fields.one_of("estimator", (*ESTIMATORS, *AVERAGES)) in AVERAGES:
            return self._average(fields), fields
        return self._predictor(fields, ""), fields

    def _make(self, name: str, parameters: dict[str, Any]) -> Any:
        """An estimator that is not fitted."""
        kind = self._kinds[name]
        known = kind._get_param_names()  # type: ignore[attr-defined]
        unknown = sorted(parameters.keys() - set(known))
        if unknown:
            raise Fault(
                f"{name} has no parameter {unknown[0][:40]!r}; the file was written by sublearn {self._library[:20]}"
            )
        n_jobs = parameters.get("n_jobs")
        if n_jobs is not None and (type(n_jobs) is not int or n_jobs == 0):  # which predictions depend on
            raise Fault(f"n_jobs of {name} must be null or a whole number that is not 0")
        try:
            return kind(**parameters)
        except TypeError:
            raise Fault(f"{name} lacks parameters") from None

    def _unfitted(self, fields: Fields, allowed: tuple[str, ...]) -> Any:
        name = fields.one_of("estimator", allowed)
        return self._make(name, parameters_from(fields, name, self._make if allowed is AVERAGES else None))

    def _predictor(self, fields: Fields, prefix: str) -> Any:
        """A fitted tree, forest or boosting."""
        estimator = self._unfitted(fields, ESTIMATORS)
        model = read_model(self._file, fields, type(estimator).__name__, prefix)
        found = read_training(self._file, fields, prefix, estimator, model)
        estimator.n_features_in_ = model.n_features
        if model.feature_names is not None:
            estimator.feature_names_in_ = model.feature_names
        vars(estimator).update(found)
        estimator._model = model
        return estimator

    def _average(self, fields: Fields) -> Any:
        """A fitted average."""
        average = self._unfitted(fields, AVERAGES)
        members = [self._predictor(one, f"members.{number}.") for number, one in enumerate(fields.each("members"))]
        weights = self._file.take("weights", "weights")
        if not members or len(weights) != len(members):
            raise Fault(f"'weights' must have an entry for each of 'members', of which there are {len(members)}")
        if not (((weights >= 0) & (weights <= 1)).all() and abs(float(weights.sum()) - 1.0) < ROUNDING):
            raise Fault("'weights' must be numbers from 0 to 1 that add up to 1")
        first = members[0]._model
        for member in members:
            if is_classifier(type(member).__name__) != is_classifier(type(average).__name__):
                raise Fault(f"{type(average).__name__} cannot have an {type(member).__name__} among its members")
            same = first.classes is None or np.array_equal(member._model.classes, first.classes)
            if member._model.n_features != first.n_features or not same:
                raise Fault("all of 'members' must have the same features and classes")
        average.estimators_, average.weights_ = members, weights
        return average


def load_with(path: Any, kinds: Kinds, tuning: Callable[[dict[str, Any]], Any]) -> Any:
    """The model of a file; kinds: the estimators by name; tuning: makes what `tune` has found of its fields."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"path of sublearn.load must be a str or a path; got {type(name).__name__}.")
    try:
        with opened(name) as file:
            model, fields = Source(file, kinds).model()
            if fields.has("tuning"):
                found = from_json(fields.raw("tuning"), "'tuning'")
                try:
                    model.tuning_ = tuning(found)
                except TypeError:
                    raise Fault("'tuning' has other fields than it should") from None
            return model
    except Fault as fault:
        raise ModelFileError(f"{name} is no model that this sublearn can read: {fault}.") from None
