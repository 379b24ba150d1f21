"""The model that a report is on: its members, its features and what it answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sublearn._base.estimator import SLMPredictor
from sublearn._base.frames import NUMBERS, level_name
from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
from sublearn.core.data.codes import FeatureMaps, encode_samples
from sublearn.core.model.fitted import MEAN, FittedModel
from sublearn.core.model.flat_ensemble import apply
from sublearn.export.inequalities import names_of_features
from sublearn.kernels.layout import Array
from sublearn.reporting.wording import label_text

CATEGORIES = "categories"
USUAL = 1  # deviations around the middle that a feature's usual values reach: those of two rows in three, about


class Feature(NamedTuple):
    """What a model knows of one of its features."""

    name: str
    kind: str  # one of `COLUMNS`, or categories
    levels: tuple[Any, ...] | None  # of a category, in the order of their numbers; None: missing
    had_gaps: bool  # in training
    low: float  # its usual values in training; nan of a category
    high: float

    def level(self, number: float) -> str:
        """The name of a level by its number."""
        if self.levels is None or np.isnan(number):
            return "missing or unknown"
        return label_text(self.levels[int(number)])

    def quoted(self) -> list[str]:
        """The levels, texts in quotes."""
        return [level_name(level) for level in self.levels or ()]


class Place(NamedTuple):
    """Where a tree is: in which member, and which of its trees."""

    member: int
    tree: int


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model with the names of its features and of what it predicts."""

    model: Any
    names: tuple[str, ...]
    target: str | None

    @property
    def members(self) -> list[Any]:
        """The members of an average, or the model itself."""
        return [self.model] if isinstance(self.model, SLMPredictor) else list(self.model.estimators_)

    @property
    def first(self) -> FittedModel:
        """The record of the model, or of the first member of an average."""
        record: FittedModel = self.members[0]._model
        return record

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self.model).__name__

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts classes."""
        return bool(is_classifier(self.model))

    @cached_property
    def labels(self) -> list[str]:
        """Names of the classes; none where it predicts numbers."""
        return [label_text(label) for label in self.model.classes_.tolist()] if self.is_classifier else []

    @property
    def is_single_tree(self) -> bool:
        """Whether it is one tree that answers by itself."""
        return self.n_trees == 1 and self.first.link == MEAN

    @property
    def n_trees(self) -> int:
        """Trees of all members."""
        return sum(member._model.ensemble.n_trees for member in self.members)

    @property
    def thing(self) -> str:
        """What the target is called in a sentence."""
        return self.target or "the target"

    @cached_property
    def features(self) -> list[Feature]:
        """The features, in their order."""
        return [self._feature(f) for f in range(len(self.names))]

    def _feature(self, f: int) -> Feature:
        record = self.first
        levels = record.levels[f] if record.levels else None
        views = np.flatnonzero(record.maps.features == f)
        if levels is not None:
            nan = float("nan")
            return Feature(self.names[f], CATEGORIES, levels, had_gaps=None in levels, low=nan, high=nan)
        low, high = _usual(record.maps, int(views[0]))
        return Feature(
            name=self.names[f],
            kind=(record.kinds[f] if record.kinds else None) or NUMBERS,
            levels=None,
            had_gaps=bool(record.maps.gaps[views].any()) or len(views) > 1,
            low=low,
            high=high,
        )

    def answers(self, X: Any) -> Array:
        """Probabilities (n_rows, n_classes), or numbers (n_rows, 1)."""
        if self.is_classifier:
            probabilities: Array = self.model.predict_proba(X)
            return probabilities
        numbers: Array = self.model.predict(X)[:, None]
        return numbers

    def leaves(self, X: Any, member: int, trees: range) -> Iterator[Array]:
        """For some trees of a member, the node (n_rows,) in which each row's route ends, counted from the root.

        Tree by tree, since the nodes of all trees may not fit into memory.
        """
        estimator = self.members[member]
        record: FittedModel = estimator._model
        with estimator._workers() as workers:
            codes = encode_samples(estimator._check_samples(X), record.maps, workers)
            for t in trees:
                yield apply(record.ensemble.only(t), codes, workers)[:, 0]


def _usual(maps: FeatureMaps, v: int) -> tuple[float, float]:
    """The values between which a feature mostly was in training."""
    part = slice(maps.offsets[v], maps.offsets[v + 1])
    knots, levels = maps.knots[part] / maps.units[v], maps.levels[part].astype(np.float64)
    if len(knots) == 1:
        return float(knots[0]), float(knots[0])
    ends = np.interp([-USUAL * maps.per_deviation, USUAL * maps.per_deviation], levels, knots)
    return float(ends[0]), float(ends[1])


def as_subject(model: Any, feature_names: Sequence[str] | None, target: str | None) -> Subject:
    """The model that is given to `report`, checked."""
    if not isinstance(model, SLMPredictor | SLMAverageClassifier | SLMAverageRegressor):
        raise TypeError(
            "model of report must be an SLM tree, forest or boosting, or an average of them; "
            f"got {type(model).__name__}."
        )
    check_is_fitted(model)
    record = model._model if isinstance(model, SLMPredictor) else model.estimators_[0]._model
    names = names_of_features(record, feature_names, "report")
    return Subject(model=model, names=tuple(names), target=target)
