"""Losses of a forest after each of its trees, and of boosting after each of its rounds."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sublearn._base.boosting import SLMBoost
from sublearn._base.checking import check_target
from sublearn._base.ensemble import SLMEnsemble
from sublearn.core.data.codes import encode_samples
from sublearn.core.data.samples import NOTHING
from sublearn.core.model.flat_ensemble import add_values
from sublearn.kernels.layout import Array

Metric = Callable[[Any, Any], float]
CERTAIN = 1e-15  # the least probability that a logarithm is taken of
NAMES = {"log_loss": "log loss", "error": "share of errors", "rmse": "root mean squared error"}


class LossCurve(NamedTuple):
    """The loss of one set of samples, as a model grows."""

    name: str  # of the samples, such as "training"
    counts: Array  # int64, trees or rounds
    losses: Array  # float64
    n_kept: int  # trees or rounds of the model; those behind were tried, and given up

    @property
    def best(self) -> int:
        """The place of the lowest loss."""
        return int(np.nanargmin(self.losses))


def recorded(model: SLMBoost) -> list[LossCurve]:
    """What boosting has noted while it was fitted."""
    found = [("training", model.train_score_)]
    if len(model.validation_score_):
        found.append(("validation", model.validation_score_))
    return [LossCurve(name, np.arange(len(score)), -score, model.n_iter_) for name, score in found]


def staged(model: SLMEnsemble, name: str, X: Any, y: Any, metric: str | Metric | None) -> LossCurve:
    """The loss of samples after each round, or after each tree."""
    x = model._check_samples(X)
    targets = np.asarray(y).ravel()
    if len(targets) != len(x):
        raise ValueError(f"y of RoundsDisplay must have a target for each of {len(x)} samples; got {len(targets)}.")
    measure = _measure_for(model, targets, metric)
    losses = [measure(answer) for answer in (_rounds if isinstance(model, SLMBoost) else _trees)(model, x)]
    first = 0 if isinstance(model, SLMBoost) else 1
    return LossCurve(name, np.arange(first, first + len(losses)), np.array(losses), first + len(losses) - 1)


class Grown(NamedTuple):
    """What a part of a model answers."""

    raw: Array  # (n_samples, n_outputs)
    answer: Callable[[Array], Array]  # from raw values to probabilities, or numbers


def _rounds(model: SLMBoost, x: Array) -> Iterator[Grown]:
    """Before the first round and after each."""
    fitted = model._model
    yield Grown(np.repeat(fitted.start[None], len(x), axis=0), fitted.answer)
    with model._workers() as workers:
        for raw in fitted.staged_raw(x, NOTHING, workers):
            yield Grown(raw, fitted.answer)


def _trees(model: SLMEnsemble, x: Array) -> Iterator[Grown]:
    """After each tree of a forest."""
    fitted = model._model
    with model._workers() as workers:
        codes, total = encode_samples(x, fitted.maps, workers), np.zeros((len(x), fitted.contributions.shape[1]))
        for t in range(fitted.ensemble.n_trees):
            add_values(fitted.ensemble.only(t), fitted.contributions, codes, total, workers)
            yield Grown(total / (t + 1), lambda mean: mean if fitted.classes is not None else mean[:, 0])


def usual_metric(model: SLMEnsemble) -> str:
    """What is measured unless the user says so: the model's own loss in boosting, else one of `NAMES`."""
    if isinstance(model, SLMBoost):
        return "log loss" if model._model.link in ("logistic", "softmax") else "loss"
    return "log_loss" if model._model.classes is not None else "rmse"


def _measure_for(model: SLMEnsemble, y: Array, metric: str | Metric | None) -> Callable[[Grown], float]:
    """The mean loss of a stage."""
    classes = model._model.classes
    if metric is None and not isinstance(model, SLMBoost):
        metric = usual_metric(model)
    if classes is not None:
        places = _places(classes, y)
    else:
        y = check_target(y, type(model).__name__)
    if metric is None:
        own, targets = model._loss, places.astype(np.float64) if classes is not None else y
        return lambda stage: float(
            np.mean(own.values(targets, stage.raw if stage.raw.shape[1] > 1 else stage.raw[:, 0]))
        )
    if callable(metric):
        given = metric
        return lambda stage: float(given(y, _predicted(classes, stage)))
    if metric == "log_loss":
        return lambda stage: float(-np.log(np.maximum(_own_probability(stage, places), CERTAIN)).mean())
    if metric == "error":
        return lambda stage: float((_predicted(classes, stage) != y).mean())
    return lambda stage: float(np.sqrt(((stage.answer(stage.raw) - y) ** 2).mean()))


def _own_probability(stage: Grown, places: Array) -> Array:
    return stage.answer(stage.raw)[np.arange(len(places)), places]


def _predicted(classes: Array | None, stage: Grown) -> Array:
    """What `predict` gives."""
    answer = stage.answer(stage.raw)
    return answer if classes is None else classes[answer.argmax(axis=1)]


def _places(classes: Array, y: Array) -> Array:
    """The place of each target among the classes."""
    try:
        unknown = np.setdiff1d(y, classes)
    except TypeError:  # they cannot be sorted
        unknown = np.array([one for one in set(y.tolist()) if one not in classes.tolist()], object)
    if len(unknown):
        raise ValueError(f"y of RoundsDisplay must hold the classes of the model; got {unknown[:3].tolist()} too.")
    return np.searchsorted(classes, y)
